(* False: a tenth of the radius; one item, one draw that decodes to (3/4, 1/4) or (1/4, 3/4) evenly, delta =
   0.99: L1 is 1/2 surely, and 0.29 is claimed. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums T5prime Probability L1 L2 T2 E4.
Import ListNotations.
Open Scope R_scope.

Theorem E4_pipeline_a_tenth_of_the_radius (S : space) (I Y : Type) (items : list I) (ys : list Y) (Q : I ->
  space) (M : nat)
  (w : I -> R) (low delta : R) (z : forall i : I, nat -> outcome S -> outcome (Q i))
  (decode : forall i : I, outcome (Q i) -> Y -> R) :
  let true_factor i y := soft_factor (fun q => decode i q y) in
  let estimated o i y := estimate M (z i) (fun q => decode i q y) o in
  let r := sqrt (ln (2 * INR (length items * length ys) / delta) / (200 * INR M)) in
  (0 < M)%nat -> 0 < delta < 1 -> items <> [] -> ys <> [] -> 0 < low ->
  (forall i, In i items -> 0 <= w i) ->
  (forall i, In i items -> draws (seq 0 M) (z i)) ->
  (forall i q, In i items -> distribution ys (decode i q)) ->
  (forall i y, In i items -> In y ys -> rv (fun q => decode i q y)) ->
  (forall i y, In i items -> In y ys -> low <= true_factor i y /\ forall o, low <= estimated o i y) ->
  1 - delta <= prob_le (fun o => Sums.L1 ys (pool ys items w true_factor) (pool ys items w (estimated o)))
    (2 * tanh (/ 2 * sum items (fun i => w i * ln (1 + r / low)))).
Proof.
  intros tf es r HM Hd ni ny l0 w0 Hz HD HR HF.
  set (err := fun (iy : I * Y) o => Rabs (es o (fst iy) (snd iy) - tf (fst iy) (snd iy))).
  set (pairs := list_prod items ys). assert (LP : length pairs = (length items * length ys)%nat)
    by apply prod_length.
  assert (RE : forall iy, In iy pairs -> rv (err iy)).
  { intros [i y] H. apply in_prod_iff in H as [Hi Hy].
    apply rv_abs, rv_minus; [apply (estimate_rv M (z i)); auto | apply rv_const]. }
  assert (N0 : (0 < length items * length ys)%nat).
  { destruct items; [easy|]. destruct ys; [easy|]. simpl. apply Nat.lt_0_succ. }
  destruct (radius_tail _ M delta N0 HM Hd) as [r0 T]. change (radius _ M delta) with r in r0, T.
  assert (n0 : 0 < INR (length items * length ys)) by now apply lt_0_INR.
  assert (U : prob_gt (fun o => largest pairs (fun iy => err iy o)) r <= delta).
  { eapply Rle_trans; [apply union_bound; [lra | easy]|].
    apply Rle_trans with (sum pairs (fun _ => delta / INR (length items * length ys))).
    - apply sum_le. intros [i y] H. apply in_prod_iff in H as [Hi Hy]. rewrite <- T.
      apply (estimate_tail M (z i) (fun q => decode i q y)); auto.
      intros q. apply (distribution_le_1 ys); auto.
    - rewrite sum_const, LP. right. field. lra. }
  assert (RL : rv (fun o => Sums.L1 ys (pool ys items w tf) (pool ys items w (es o)))).
  { apply (rv_sum ys (fun y o => Rabs (pool ys items w tf y - pool ys items w (es o) y))). intros y Hy.
    apply rv_abs, rv_minus; [apply rv_const|]. apply (rv_pool ys items w es low); auto.
    - intros i x Hi Hx. apply (estimate_rv M (z i)); auto.
    - intros o i x Hi Hx. now apply HF. }
  apply Rle_trans with (prob_le (fun o => largest pairs (fun iy => err iy o)) r).
  - rewrite prob_le_gt by now apply rv_largest. lra.
  - apply E_le; [now apply rv_le, rv_largest | now apply rv_le |]. intros o. unfold ind at 1.
    destruct Rle_dec as [G|_]; [|apply ind_01]. unfold ind. destruct Rle_dec as [|N]; [lra|].
    exfalso; apply N. apply pool_close; auto; try lra.
    + intros i y Hi Hy. now apply HF.
    + intros i y Hi Hy. now apply HF.
    + intros i y Hi Hy. eapply Rle_trans; [|exact G].
      apply (le_largest pairs (fun iy => err iy o) (i, y)). now apply in_prod.
Qed.
