(* The whole pipeline in the number M of draws and the number K of items: if all K factors are estimated from
   M draws each, and factors and estimates are at least p > 0 (as a floor of the decoder, assumption A6,
   ensures), then with probability at least 1 - delta the aggregated prediction from the estimates is within 2
   tanh(1/2 sum w_i ln(1+r/p)) of the one from the true factors in L1, where r = sqrt(ln(2|Y|K/delta)/(2M)).
   The paper bounds the factors only. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums T5prime Probability L1 L2 T2.
Import ListNotations.
Open Scope R_scope.

(* Factors that are all close and bounded away from zero have products that are close. *)
Lemma pool_close {I Y} (ys : list Y) (items : list I) (w : I -> R) (f g : I -> Y -> R) (low r : R) :
  ys <> [] -> 0 < low -> 0 <= r -> (forall i, In i items -> 0 <= w i) ->
  (forall i y, In i items -> In y ys -> low <= f i y) -> (forall i y, In i items -> In y ys -> low <=
    g i y) ->
  (forall i y, In i items -> In y ys -> Rabs (g i y - f i y) <= r) ->
  Sums.L1 ys (pool ys items w f) (pool ys items w g) <= 2 * tanh (/ 2 * sum items (fun i => w i * ln (1 +
    r / low))).
Proof.
  intros ne l0 r0 w0 ff fg H. set (B := sum items (fun i => w i * ln (1 + r / low))).
  assert (F : filter (fun _ : I => true) items = items).
  { clear. induction items; simpl; congruence. }
  assert (Z : 0 < sum ys (unnormalized items w f)).
  { destruct ys as [|y t]; [easy|]. cbn [sum].
    assert (0 < unnormalized items w f y).
    { apply prod_pos. intros i Hi. apply power_pos. specialize (ff i y Hi (or_introl eq_refl)). lra. }
    assert (0 <= sum t (unnormalized items w f)); [|lra].
    apply sum_nonneg. intros z _. apply prod_nonneg. intros; apply power_nonneg. }
  assert (RP : replacement ys items (fun _ => true) w f g).
  { repeat split; auto.
    - intros i y Hi Hy. specialize (ff i y Hi Hy). lra.
    - intros i y Hi Hy. specialize (fg i y Hi Hy). lra.
    - intros _. specialize (fg i y). intuition lra.
    - intros _. specialize (ff i y). intuition lra.
    - intros; easy. }
  unfold Sums.L1. rewrite (sum_ext ys _ (fun y => Rabs (pool ys items w f y
    - shifted ys (pool ys items w f) (log_shift items (fun _ => true) w f g) y)))
    by (intros y Hy; f_equal; f_equal; now apply (pool_shifted ys items (fun _ => true) w f g RP)).
  replace (/ 2 * B) with ((B - - B) / 4) by field. apply robust_L1; [now apply pool_distribution|].
  intros y Hy. unfold log_shift. rewrite F.
  assert (L : forall i, In i items -> - ln (1 + r / low) <= ln (g i y / f i y) <= ln (1 + r / low)).
  { intros i Hi. specialize (ff i y Hi Hy). specialize (fg i y Hi Hy). specialize (H i y Hi Hy).
    assert (x0 : 0 <= r / low) by (apply Rmult_le_pos; [easy | left; now apply Rinv_0_lt_compat]).
    assert (xl : r / low * low = r) by (field; lra).
    assert (U : forall a b, low <= a -> low <= b -> b - a <= r -> ln (b / a) <= ln (1 + r / low)).
    { intros a b Ha Hb Hab. apply ln_mono; [apply Rdiv_lt_0_compat; lra|].
      apply Rmult_le_reg_r with a; [lra|]. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra. nra. }
    unfold Rabs in H. destruct (Rcase_abs (g i y - f i y)).
    - split; [|apply U; lra]. replace (g i y / f i y) with (/ (f i y / g i y)) by (field; lra).
      rewrite ln_Rinv by (apply Rdiv_lt_0_compat; lra). apply Ropp_le_contravar, U; lra.
    - split; [|apply U; lra]. replace (g i y / f i y) with (/ (f i y / g i y)) by (field; lra).
      rewrite ln_Rinv by (apply Rdiv_lt_0_compat; lra). apply Ropp_le_contravar, U; lra. }
  unfold B. replace (- sum items (fun i => w i * ln (1 + r / low)))
    with (sum items (fun i => w i * - ln (1 + r / low))).
  - split; apply sum_le; intros i Hi; apply Rmult_le_compat_l; auto; now apply L.
  - rewrite (sum_ext items _ (fun i => -1 * (w i * ln (1 + r / low)))), sum_scal by (intros; ring). ring.
Qed.

(* The aggregated prediction is a random variable when the factors are, if they stay above the floor: below
   it, a continuous function takes the place of ln and of the reciprocal. *)
Definition clamp (low x : R) := / 2 * (x + low + Rabs (x - low)).
Lemma clamp_ge low x : low <= clamp low x.
Proof. unfold clamp, Rabs. destruct Rcase_abs; lra. Qed.
Lemma clamp_above low x : low <= x -> clamp low x = x.
Proof. unfold clamp, Rabs. destruct Rcase_abs; lra. Qed.
Lemma clamp_continuity low : continuity (clamp low).
Proof.
  assert (Ci : continuity (fun x => x)) by apply derivable_continuous, derivable_id.
  assert (Cc : forall c, continuity (fun _ => c)) by (intros c; apply continuity_const; now intros ? ?).
  apply (continuity_mult (fun _ => / 2)); [apply Cc|].
  apply (continuity_plus (fun x => x + low)); [apply (continuity_plus (fun x => x)); auto|].
  apply (continuity_comp (fun x => x - low) Rabs); [|apply Rcontinuity_abs].
  apply (continuity_minus (fun x => x)); auto.
Qed.
Lemma rv_ln {S : space} (X : outcome S -> R) low : 0 < low -> rv X -> (forall o, low <= X o) ->
  rv (fun o => ln (X o)).
Proof.
  intros l0 HX H. apply (rv_ext (fun o => ln (clamp low (X o)))); [intros; now rewrite clamp_above|].
  apply (rv_comp S (fun x => ln (clamp low x))); [|easy]. intros x.
  apply (continuity_pt_comp (clamp low) ln); [apply clamp_continuity|].
  apply derivable_continuous_pt. exists (/ clamp low x). apply derivable_pt_lim_ln.
    pose proof (clamp_ge low x). lra.
Qed.
Lemma rv_inv {S : space} (X : outcome S -> R) low : 0 < low -> rv X -> (forall o, low <= X o) ->
  rv (fun o => / X o).
Proof.
  intros l0 HX H. apply (rv_ext (fun o => / clamp low (X o))); [intros; now rewrite clamp_above|].
  apply (rv_comp S (fun x => / clamp low x)); [|easy]. intros x.
  apply (continuity_pt_inv (clamp low)); [apply clamp_continuity|]. pose proof (clamp_ge low x). lra.
Qed.

Lemma rv_pool {S : space} {I Y} (ys : list Y) (items : list I) (w : I -> R) (g : outcome S -> I -> Y ->
  R) low y :
  In y ys -> 0 < low -> (forall i, In i items -> 0 <= w i) ->
  (forall i z, In i items -> In z ys -> rv (fun o => g o i z)) ->
  (forall o i z, In i items -> In z ys -> low <= g o i z) ->
  rv (fun o => pool ys items w (g o) y).
Proof.
  intros Hy l0 w0 HR H.
  assert (UR : forall z, In z ys -> rv (fun o => unnormalized items w (g o) z)).
  { intros z Hz. apply (rv_prod items (fun i o => power (g o i z) (w i))). intros i Hi.
    apply (rv_ext (fun o => exp (w i * ln (g o i z)))).
    - intros o. rewrite power_Rpower; [easy|]. specialize (H o i z Hi Hz). lra.
    - apply rv_exp, rv_scal. apply (rv_ln (fun o => g o i z) low); auto. }
  apply rv_mult; [now apply UR|].
  apply (rv_inv (fun o => sum ys (unnormalized items w (g o))) (prod items (fun i => power low (w i)))).
  - apply prod_pos. intros. now apply power_pos.
  - apply (rv_sum ys (fun z o => unnormalized items w (g o) z)). auto.
  - intros o. assert (P : forall z, In z ys -> prod items (fun i => power low (w i)) <=
      unnormalized items w (g o) z).
    { intros z Hz. apply prod_le. intros i Hi. split; [apply power_nonneg|].
      specialize (H o i z Hi Hz). rewrite !power_Rpower by lra. unfold Rpower. apply exp_le.
      apply Rmult_le_compat_l; [auto | now apply ln_mono]. }
    clear - P Hy. assert (N : forall z, In z ys -> 0 <= unnormalized items w (g o) z).
    { intros z _. apply prod_nonneg. intros. apply power_nonneg. }
    induction ys as [|z t IH]; [easy|]. cbn [sum].
    assert (0 <= sum t (unnormalized items w (g o))) by (apply sum_nonneg; intros; apply N; now right).
    destruct Hy as [->|Hy].
    + assert (prod items (fun i => power low (w i)) <= unnormalized items w (g o) y) by (apply P; now left).
        lra.
    + assert (0 <= unnormalized items w (g o) z) by (apply N; now left).
      assert (prod items (fun i => power low (w i)) <= sum t (unnormalized items w (g o))); [|lra].
      apply IH; auto; intros; [apply P | apply N]; now right.
Qed.

(* A decoder with a floor keeps factors and estimates above it. *)
Lemma floor_kept {S Q : space} (M : nat) (z : nat -> outcome S -> outcome Q) (p : outcome Q -> R) (low : R) :
  (0 < M)%nat -> rv p -> (forall q, low <= p q) -> low <= soft_factor p /\ forall o, low <= estimate M z p o.
Proof.
  intros HM Hp H. assert (M0 : 0 < INR M) by now apply lt_0_INR. split.
  - unfold soft_factor. rewrite <- (@E_const Q low). apply E_le; [apply rv_const | easy | easy].
  - intros o. unfold estimate. apply Rmult_le_reg_l with (INR M); [easy|].
    rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
    replace (INR M * low) with (sum (seq 0 M) (fun _ => low)) by (rewrite sum_const, seq_length; ring).
    apply sum_le. intros; apply H.
Qed.

(** claim: E4 | proves | caveats: bounded-variables
    Each of K items has its own posterior Q_i, decoder and M draws (the items' draws may depend on each
    other). If true factors and estimates are at least low > 0, the prediction from the estimates is within 2
    tanh(1/2 sum w_i ln(1 + r/low)) of the one from the true factors, r = sqrt(ln(2 K |Y| / delta)/(2M)), with
    probability at least 1 - delta. Joins theorem 2 (section 3.2) and T5' to the whole of LPF-SPN (section
    1.2). *)
Theorem E4_pipeline (S : space) (I Y : Type) (items : list I) (ys : list Y) (Q : I -> space) (M : nat)
  (w : I -> R) (low delta : R) (z : forall i : I, nat -> outcome S -> outcome (Q i))
  (decode : forall i : I, outcome (Q i) -> Y -> R) :
  let true_factor i y := soft_factor (fun q => decode i q y) in
  let estimated o i y := estimate M (z i) (fun q => decode i q y) o in
  let r := sqrt (ln (2 * INR (length items * length ys) / delta) / (2 * INR M)) in
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
