(* T1'', part 1, in place of theorem 1: calibration after the fact, with a bound that needs no assumption on
   the model. Scores are cut into bins fixed beforehand; n held-out pairs (score, right or wrong), drawn
   independently from the distribution that the model will meet, give N_b points and K_b hits in each bin. All
   true rates pi_b of the bins lie between their limits of Clopper and Pearson at level delta/B at once, with
   probability at least 1 - delta, and a predictor that answers within the limits has an expected calibration
   error of at most the widest of them. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums Probability T3prime.
Import ListNotations.
Open Scope R_scope.

(** * Points in a bin, and hits among them *)

(* The mean of h(points in the bin, hits among them) over n draws; w: probability of the bin, p: rate of hits
   in it. *)
Fixpoint bin_mean (n : nat) (w p : R) (h : nat -> nat -> R) : R :=
  match n with
  | O => h O O
  | S m => (1 - w) * bin_mean m w p h +
      w * (p * bin_mean m w p (fun N K => h (S N) (S K)) + (1 - p) * bin_mean m w p (fun N K => h (S N) K))
  end.

Lemma bin_mean_linear n w p a b h g :
  bin_mean n w p (fun N K => a * h N K + b * g N K) = a * bin_mean n w p h + b * bin_mean n w p g.
Proof.
  revert h g. induction n as [|n IH]; intros h g; simpl; [easy|].
  rewrite IH, (IH (fun N K => h (S N) (S K)) (fun N K => g (S N) (S K))),
    (IH (fun N K => h (S N) K) (fun N K => g (S N) K)). ring.
Qed.
Lemma count_mean_linear n p a b h g :
  count_mean n p (fun k => a * h k + b * g k) = a * count_mean n p h + b * count_mean n p g.
Proof.
  revert h g. induction n as [|n IH]; intros h g; simpl; [easy|].
  rewrite IH, (IH (fun k => h (S k)) (fun k => g (S k))). ring.
Qed.

(* What holds on average for every number of points in the bin holds on average. *)
Lemma bin_mean_ge n w p h c : 0 <= w <= 1 ->
  (forall N, (N <= n)%nat -> c <= count_mean N p (h N)) -> c <= bin_mean n w p h.
Proof.
  intros Hw. revert h. induction n as [|n IH]; intros h H; [exact (H O (le_n 0))|].
  cbn [bin_mean]. rewrite <- bin_mean_linear.
  assert (A : c <= bin_mean n w p h) by (apply IH; intros; apply H; lia).
  assert (B : c <= bin_mean n w p (fun N K => p * h (S N) (S K) + (1 - p) * h (S N) K)).
  { apply IH. intros N HN. rewrite (count_mean_linear N p p (1 - p) (fun k => h (S N) (S k)) (h (S N))).
    pose proof (H (S N) ltac:(lia)) as G. cbn [count_mean] in G. lra. }
  nra.
Qed.

Lemma count_mean_reflect n p h : count_mean n p h = count_mean n (1 - p) (fun k => h (n - k)%nat).
Proof.
  revert h. induction n as [|n IH]; intros h; [easy|]. cbn [count_mean].
  rewrite (IH h), (IH (fun k => h (S k))).
  rewrite (count_mean_ext n (1 - p) (fun k => h (S n - k)%nat) (fun k => h (S (n - k))))
    by (intros k Hk; f_equal; lia).
  rewrite (count_mean_ext n (1 - p) (fun k => h (S n - S k)%nat) (fun k => h (n - k)%nat)) by (intros;
    f_equal; lia).
  ring.
Qed.

Section Bin.
Context {S Q : space} (z : nat -> outcome S -> outcome Q) (inside hit : outcome Q -> R) (w p : R).
Hypothesis (Ri : rv inside) (Rh : rv hit).
Hypothesis (I01 : forall q, inside q = 0 \/ inside q = 1) (H01 : forall q, hit q = 0 \/ hit q = 1).
Hypothesis (Ew : E inside = w) (Ep : E (fun q => inside q * hit q) = p * w).

Definition points (l : list nat) := count l (fun i o => inside (z i o)).
Definition hits (l : list nat) := count l (fun i o => inside (z i o) * hit (z i o)).

Lemma bin_step i t o (h : nat -> nat -> R) : let a := inside (z i o) in let b := hit (z i o) in
  h (points (i :: t) o) (hits (i :: t) o) =
  (1 - a) * h (points t o) (hits t o) + (a * b) * h (Datatypes.S (points t o)) (Datatypes.S (hits t o)) +
  (a * (1 - b)) * h (Datatypes.S (points t o)) (hits t o).
Proof.
  unfold points, hits. cbn [count]. fold (points t o) (hits t o).
  destruct (I01 (z i o)) as [-> | ->], (H01 (z i o)) as [-> | ->]; destruct Req_EM_T; try lra;
    destruct Req_EM_T; lra.
Qed.

Lemma rv_parts : rv (fun q => 1 - inside q) /\ rv (fun q => inside q * hit q) /\ rv (fun q => inside q *
  (1 - hit q)).
Proof.
  assert (rv (fun q => 1 - hit q)) by (apply rv_minus; [apply rv_const | easy]).
  repeat split; [apply rv_minus; [apply rv_const | easy] | now apply rv_mult | now apply rv_mult].
Qed.

Lemma bin_rv (l : list nat) (h : nat -> nat -> R) :
  (forall i f, In i l -> rv f -> rv (fun o => f (z i o))) -> rv (fun o => h (points l o) (hits l o)).
Proof.
  revert h. induction l as [|i t IH]; intros h Hz; [exact (rv_const S (h O O))|].
  destruct rv_parts as [R1 [R2 R3]].
  assert (Hi : forall f, rv f -> rv (fun o => f (z i o))) by (intros; apply Hz; [now left | easy]).
  assert (Ht : forall g : nat -> nat -> R, rv (fun o => g (points t o) (hits t o))).
  { intros g. apply IH. intros j f Hj. apply Hz. now right. }
  eapply rv_ext; [intros o; symmetry; apply bin_step|]. cbv zeta.
  apply rv_plus; [apply rv_plus|]; apply rv_mult.
  - exact (Hi _ R1).
  - apply Ht.
  - exact (Hi _ R2).
  - apply (Ht (fun N K => h (Datatypes.S N) (Datatypes.S K))).
  - exact (Hi _ R3).
  - apply (Ht (fun N K => h (Datatypes.S N) K)).
Qed.

(* The law of points and hits; functions f of earlier draws may stand before. *)
Lemma bin_law (l k : list nat) (f : nat -> outcome Q -> R) (h : nat -> nat -> R) :
  NoDup (k ++ l) -> (forall i, rv (f i)) ->
  (forall i f, In i (k ++ l) -> rv f -> rv (fun o => f (z i o)) /\ E (fun o => f (z i o)) = E f) ->
  (forall f : nat -> outcome Q -> R, (forall i, rv (f i)) ->
    E (fun o => prod (k ++ l) (fun i => f i (z i o))) = prod (k ++ l) (fun i => E (fun o => f i (z i o)))) ->
  E (fun o => prod k (fun i => f i (z i o)) * h (points l o) (hits l o)) =
  prod k (fun i => E (f i)) * bin_mean (length l) w p h.
Proof.
  revert k f h. induction l as [|i t IH]; intros k f h ND Hf Hz HI.
  - cbn [length bin_mean]. rewrite app_nil_r in *.
    rewrite (E_ext _ (fun o => h O O * prod k (fun i => f i (z i o)))) by (intros; unfold points, hits; simpl;
      ring).
    rewrite (E_scal S (h O O) (fun o => prod k (fun i => f i (z i o)))), (HI f Hf).
    + rewrite (prod_ext k _ (fun i => E (f i))) by (intros j Hj; now apply (Hz j)). ring.
    + apply (rv_prod k (fun i o => f i (z i o))). intros j Hj. now apply (Hz j).
  - destruct rv_parts as [R1 [R2 R3]].
    assert (ND2 : NoDup ((k ++ [i]) ++ t)) by now rewrite <- app_assoc.
    assert (Nk : ~ In i k). { intros F. apply NoDup_remove_2 in ND. apply ND, in_or_app. now left. }
    assert (Hi : forall u, rv u -> rv (fun o => u (z i o))).
    { intros u Hu. apply Hz; [apply in_or_app; right; now left | easy]. }
    assert (Ht : forall g : nat -> nat -> R, rv (fun o => g (points t o) (hits t o))).
    { intros g. apply bin_rv. intros j u Hj Hu. apply Hz; [apply in_or_app; right; now right | easy]. }
    assert (Rk : rv (fun o => prod k (fun i => f i (z i o)))).
    { apply (rv_prod k (fun i o => f i (z i o))). intros j Hj. apply Hz; [apply in_or_app; now left | easy]. }
    assert (ST : forall u, rv u -> forall g : nat -> nat -> R,
      E (fun o => prod k (fun i => f i (z i o)) * u (z i o) * g (points t o) (hits t o)) =
      prod k (fun i => E (f i)) * E u * bin_mean (length t) w p g).
    { intros u Hu g. set (f' := fun j => if Nat.eq_dec j i then u else f j).
      assert (FK : forall j, In j k -> f' j = f j).
      { intros j Hj. unfold f'. destruct Nat.eq_dec as [->|]; [contradiction|easy]. }
      assert (FI : f' i = u) by (unfold f'; destruct Nat.eq_dec; [easy|contradiction]).
      assert (PR : forall a : nat -> R, prod (k ++ [i]) a = prod k a * a i).
      { intros a. clear. induction k as [|x k IH]; simpl; [ring|]. rewrite IH. ring. }
      pose proof (IH (k ++ [i]) f' g ND2) as G. rewrite PR, FI in G.
      rewrite (prod_ext k _ (fun j => E (f j))) in G by (intros j Hj; now rewrite FK).
      rewrite <- G.
      - apply E_ext. intros o. rewrite PR, FI. f_equal. f_equal. apply prod_ext. intros j Hj. now rewrite FK.
      - intros j. unfold f'. destruct Nat.eq_dec; auto.
      - rewrite <- app_assoc. exact Hz.
      - rewrite <- app_assoc. exact HI. }
    rewrite (E_ext _ (fun o => prod k (fun i => f i (z i o)) * (1 - inside (z i o)) * h (points t o) (hits t
      o) +
      prod k (fun i => f i (z i o)) * (inside (z i o) * hit (z i o)) * h (Datatypes.S (points t o))
        (Datatypes.S (hits t o)) +
      prod k (fun i => f i (z i o)) * (inside (z i o) * (1 - hit (z i o))) * h (Datatypes.S (points t o))
        (hits t o))).
    2:{ intros o. rewrite (bin_step i t o h). cbv zeta. ring. }
    assert (T1 := ST _ R1 h). assert (T2 := ST _ R2 (fun N K => h (Datatypes.S N) (Datatypes.S K))).
    assert (T3 := ST _ R3 (fun N K => h (Datatypes.S N) K)). cbv beta in T1, T2, T3.
    assert (V1 : rv (fun o => prod k (fun i => f i (z i o)) * (1 - inside (z i o)) * h (points t o) (hits t
      o))).
    { apply rv_mult; [apply rv_mult; [easy | exact (Hi _ R1)] | apply Ht]. }
    assert (V2 : rv (fun o => prod k (fun i => f i (z i o)) * (inside (z i o) * hit (z i o)) *
      h (Datatypes.S (points t o)) (Datatypes.S (hits t o)))).
    { apply rv_mult; [apply rv_mult; [easy | exact (Hi _ R2)] | apply (Ht (fun N K => h (Datatypes.S N)
        (Datatypes.S K)))]. }
    assert (V3 : rv (fun o => prod k (fun i => f i (z i o)) * (inside (z i o) * (1 - hit (z i o))) *
      h (Datatypes.S (points t o)) (hits t o))).
    { apply rv_mult; [apply rv_mult; [easy | exact (Hi _ R3)] | apply (Ht (fun N K => h (Datatypes.S N) K))].
        }
    rewrite E_plus, E_plus, T1, T2, T3; try easy; [|now apply rv_plus].
    rewrite (E_minus (fun _ => 1)), E_const, Ew, Ep by (easy || apply rv_const).
    rewrite (E_ext (fun q => inside q * (1 - hit q)) (fun q => inside q - inside q * hit q)) by (intros;
      ring).
    rewrite E_minus, Ew, Ep by easy. cbn [length bin_mean]. ring.
Qed.

Lemma bin_expectation (n : nat) (h : nat -> nat -> R) : draws (seq 0 n) z ->
  rv (fun o => h (points (seq 0 n) o) (hits (seq 0 n) o)) /\
  E (fun o => h (points (seq 0 n) o) (hits (seq 0 n) o)) = bin_mean n w p h.
Proof.
  intros [D1 D2]. split; [apply bin_rv; intros i f Hi Hf; now apply D1|].
  pose proof (bin_law (seq 0 n) [] (fun _ _ => 0) h) as F. rewrite seq_length in F. cbn [prod app] in F.
  rewrite Rmult_1_l in F. rewrite <- F; try easy.
  - apply E_ext. intros. ring.
  - apply seq_NoDup.
  - intros. apply rv_const.
Qed.
End Bin.

(** * All bins at once *)

Lemma bonferroni {A} (l : list A) (x : A -> R) : (forall a, In a l -> 0 <= x a <= 1) ->
  0 <= prod l x <= 1 /\ 1 - sum l (fun a => 1 - x a) <= prod l x.
Proof.
  induction l as [|a t IH]; intros H; simpl; [lra|].
  assert (Ha : 0 <= x a <= 1) by (apply H; now left).
  destruct IH as [[P0 P1] Q]; [intros; apply H; now right|]. split; [split|]; nra.
Qed.

(* Held-out data: n independent draws of a pair, cut into disjoint bins that cover everything; pi b is the
   rate of hits in bin b, and mass b its probability. *)
Definition binned {S Q : space} {B} (n : nat) (z : nat -> outcome S -> outcome Q) (bins : list B)
  (inside : B -> outcome Q -> R) (hit : outcome Q -> R) (pi : B -> R) :=
  draws (seq 0 n) z /\ rv hit /\ (forall q, hit q = 0 \/ hit q = 1) /\
  (forall b, In b bins -> rv (inside b)) /\ (forall b q, inside b q = 0 \/ inside b q = 1) /\
  (forall q, sum bins (fun b => inside b q) = 1) /\
  (forall b, In b bins -> 0 <= pi b <= 1 /\ E (fun q => inside b q * hit q) = pi b * E (inside b)).

(* The limits for N points with K hits: U upwards, and by counting misses downwards. *)
Definition lower (U : nat -> nat -> R) (N K : nat) := 1 - U N (N - K)%nat.
Definition covers (U : nat -> nat -> R) (N K : nat) (p : R) :=
  ind (Rle_dec (lower U N K) p) * ind (Rle_dec p (U N K)).

Lemma covers_01 U N K p : 0 <= covers U N K p <= 1.
Proof.
  unfold covers. pose proof (ind_01 (Rle_dec (lower U N K) p)). pose proof (ind_01 (Rle_dec p (U N K))). nra.
Qed.

(* One bin, whatever the number of points that fall into it. *)
Lemma covers_mean (N : nat) (p level : R) (U : nat -> nat -> R) : 0 <= level -> 0 <= p <= 1 ->
  upper_limit N level (U N) -> 1 - 2 * level <= count_mean N p (fun K => covers U N K p).
Proof.
  intros l0 Hp HU. pose proof (limit_covers N p level (U N) l0 Hp HU) as A.
  pose proof (limit_covers N (1 - p) level (U N) l0 ltac:(lra) HU) as B.
  assert (B2 : 1 - level <= count_mean N p (fun K => ind (Rle_dec (lower U N K) p))).
  { rewrite count_mean_reflect. eapply Rle_trans; [exact B|]. right. apply count_mean_ext. intros k Hk.
    unfold lower. replace (N - (N - k))%nat with k by lia. unfold ind. destruct Rle_dec, Rle_dec; lra. }
  assert (O1 : count_mean N p (fun _ => 1) = 1).
  { clear. induction N; simpl; [easy|]. rewrite IHN. ring. }
  set (lo := fun K => ind (Rle_dec (lower U N K) p)) in *. set (up := fun K => ind (Rle_dec p (U N K))) in *.
  assert (L : count_mean N p (fun K => 1 * (1 * lo K + 1 * up K) + -1 * (fun _ => 1) K) =
    count_mean N p lo + count_mean N p up - 1).
  { rewrite (count_mean_linear N p 1 (-1) (fun K => 1 * lo K + 1 * up K) (fun _ => 1)), O1,
      (count_mean_linear N p 1 1 lo up). ring. }
  apply Rle_trans with (count_mean N p (fun K => 1 * (1 * lo K + 1 * up K) + -1 * (fun _ => 1) K)); [lra|].
  apply count_mean_le; [easy|]. intros K. unfold covers, lo, up, ind. destruct Rle_dec, Rle_dec; lra.
Qed.

(** claim: T1'' | proves | caveats: bounded-variables, fixed-bins
    With bins fixed beforehand and limits at level delta/(2B) on each side, all true rates pi_b lie between
    their limits at once, with probability at least 1 - delta, for every n, whatever the model and the
    distribution. Replaces theorem 1 (section 3.1). *)
Theorem T1second_bins (S Q : space) (B : Type) (n : nat) (z : nat -> outcome S -> outcome Q) (bins : list B)
  (inside : B -> outcome Q -> R) (hit : outcome Q -> R) (pi : B -> R) (U : nat -> nat -> R) (delta : R) :
  0 <= delta -> binned n z bins inside hit pi ->
  (forall N, (N <= n)%nat -> upper_limit N (delta / (2 * INR (length bins))) (U N)) ->
  1 - delta <= E (fun o => prod bins (fun b =>
    covers U (points z (inside b) (seq 0 n) o) (hits z (inside b) hit (seq 0 n) o) (pi b))).
Proof.
  intros d0 [HD [Rh [H01 [Ri [I01 [I1 HP]]]]]] HU.
  set (cov := fun b o => covers U (points z (inside b) (seq 0 n) o) (hits z (inside b) hit (seq 0 n) o) (pi
    b)).
  assert (HB : forall b, In b bins -> rv (cov b) /\ 1 - delta / INR (length bins) <= E (cov b)).
  { intros b Hb. destruct (HP b Hb) as [P01 P2].
    destruct (bin_expectation z (inside b) hit (E (inside b)) (pi b) (Ri b Hb) Rh (I01 b) H01 eq_refl P2 n
      (fun N K => covers U N K (pi b)) HD) as [R1 E1].
    split; [exact R1|]. unfold cov. rewrite E1.
    assert (nb : 0 < INR (length bins)).
    { apply lt_0_INR. destruct bins; [easy | simpl; lia]. }
    apply bin_mean_ge.
    - split; [apply E_pos; [now apply Ri | intros q; destruct (I01 b q); lra]|].
      rewrite <- (@E_const Q 1). apply E_le; [now apply Ri | apply rv_const | intros q; destruct (I01 b q);
        lra].
    - intros N HN. pose proof (covers_mean N (pi b) (delta / (2 * INR (length bins))) U) as C.
      replace (delta / INR (length bins)) with (2 * (delta / (2 * INR (length bins)))) by (field; lra).
      apply C; [|easy | now apply HU]. apply Rmult_le_pos; [easy | left; apply Rinv_0_lt_compat; lra]. }
  assert (RP : rv (fun o => prod bins (fun b => cov b o))) by (apply rv_prod; intros b Hb; now apply HB).
  assert (RC : forall b, In b bins -> rv (fun o => 1 - cov b o)).
  { intros b Hb. apply rv_minus; [apply rv_const | now apply HB]. }
  apply Rle_trans with (E (fun o => 1 - sum bins (fun b => 1 - cov b o))).
  - rewrite (E_minus (fun _ => 1)), E_const by (apply rv_const || now apply (rv_sum bins (fun b o =>
      1 - cov b o))).
    rewrite (E_sum bins (fun b o => 1 - cov b o)) by easy.
    assert (LE : sum bins (fun b => E (fun o => 1 - cov b o)) <= delta); [|lra].
    apply Rle_trans with (sum bins (fun _ => delta / INR (length bins))).
    + apply sum_le. intros b Hb. destruct (HB b Hb) as [R1 E1].
      rewrite (E_minus (fun _ => 1)), E_const by (easy || apply rv_const). lra.
    + rewrite sum_const. destruct bins as [|b t]; [simpl; lra|].
      right. field. apply not_0_INR. simpl. lia.
  - apply E_le; [|easy|].
    + apply rv_minus; [apply rv_const | now apply (rv_sum bins (fun b o => 1 - cov b o))].
    + intros o. apply bonferroni. intros b _. apply covers_01.
Qed.

(** claim: T1'' | proves | caveats: bounded-variables, fixed-bins
    A predictor that answers, in each bin, any value between the bin's limits has an expected calibration
    error sum_b P(bin b) |answer_b - pi_b| of at most the widest distance of the limits, with probability at
    least 1 - delta. Replaces theorem 1 (section 3.1). *)
Theorem T1second_calibration (S Q : space) (B : Type) (n : nat) (z : nat -> outcome S -> outcome Q)
  (bins : list B) (inside : B -> outcome Q -> R) (hit : outcome Q -> R) (pi : B -> R) (U : nat -> nat -> R)
  (delta : R) (answer : nat -> nat -> R) :
  let N b o := points z (inside b) (seq 0 n) o in
  let K b o := hits z (inside b) hit (seq 0 n) o in
  0 <= delta -> binned n z bins inside hit pi ->
  (forall N, (N <= n)%nat -> upper_limit N (delta / (2 * INR (length bins))) (U N)) ->
  (forall N K, (K <= N <= n)%nat -> lower U N K <= answer N K <= U N K) ->
  1 - delta <= prob_le (fun o => sum bins (fun b => E (inside b) * Rabs (answer (N b o) (K b o) - pi b))
    - largest bins (fun b => U (N b o) (K b o) - lower U (N b o) (K b o))) 0.
Proof.
  intros N K d0 HB HU HA. eapply Rle_trans; [exact (T1second_bins S Q B n z bins inside hit pi U delta d0 HB
    HU)|].
  destruct HB as [HD [Rh [H01 [Ri [I01 [I1 HP]]]]]].
  assert (RV : forall b (h : nat -> nat -> R), In b bins -> rv (fun o => h (N b o) (K b o))).
  { intros b h Hb. apply (bin_rv z (inside b) hit (Ri b Hb) Rh (I01 b) H01). intros i f Hi Hf. now apply HD. }
  assert (NK : forall b o, (K b o <= N b o <= n)%nat).
  { intros b o. unfold K, N, hits, points. split.
    - generalize (seq 0 n) as l. induction l as [|i t IH]; [easy|]. cbn [count].
      destruct (I01 b (z i o)) as [-> | ->]; destruct Req_EM_T; try (destruct Req_EM_T; lia || lra);
        lra || lia.
    - eapply Nat.le_trans; [apply count_le | now rewrite seq_length]. }
  assert (W1 : sum bins (fun b => E (inside b)) = 1).
  { rewrite <- (E_sum bins inside) by easy. rewrite (E_ext _ (fun _ => 1)) by easy. apply E_const. }
  assert (W0 : forall b, In b bins -> 0 <= E (inside b)).
  { intros b Hb. apply E_pos; [now apply Ri | intros q; destruct (I01 b q); lra]. }
  apply E_le.
  - apply (rv_prod bins (fun b o => covers U (N b o) (K b o) (pi b))). intros b Hb.
    apply (RV b (fun N K => covers U N K (pi b)) Hb).
  - apply rv_le, rv_minus.
    + apply (rv_sum bins (fun b o => E (inside b) * Rabs (answer (N b o) (K b o) - pi b))). intros b Hb.
      apply rv_scal. apply (RV b (fun N K => Rabs (answer N K - pi b)) Hb).
    + apply (rv_largest bins (fun b o => U (N b o) (K b o) - lower U (N b o) (K b o))). intros b Hb.
      apply (RV b (fun N K => U N K - lower U N K) Hb).
  - intros o. fold (N) (K). set (big := largest bins _).
    assert (CASE : (forall b, In b bins -> lower U (N b o) (K b o) <= pi b <= U (N b o) (K b o)) \/
      prod bins (fun b => covers U (N b o) (K b o) (pi b)) = 0).
    { generalize bins as l. induction l as [|b t IH]; [now left|]. simpl. destruct IH as [IH| ->];
        [|right; ring].
      destruct (Rle_dec (lower U (N b o) (K b o)) (pi b)) as [L|L];
        [destruct (Rle_dec (pi b) (U (N b o) (K b o))) as [G|G]|].
      - left. intros c [<-|Hc]; auto.
      - right. unfold covers, ind. destruct (Rle_dec (pi b)); [contradiction | ring].
      - right. unfold covers, ind. destruct (Rle_dec (lower U (N b o) (K b o))); [contradiction | ring]. }
    destruct CASE as [C|C].
    + eapply Rle_trans; [apply (bonferroni bins (fun b => covers U (N b o) (K b o) (pi b))); intros;
        apply covers_01|].
      unfold ind. destruct Rle_dec as [|F]; [lra|]. exfalso; apply F.
      enough (sum bins (fun b => E (inside b) * Rabs (answer (N b o) (K b o) - pi b)) <= big) by lra.
      rewrite <- (Rmult_1_l big), <- W1, <- sum_scal_r. apply sum_le. intros b Hb.
      apply Rmult_le_compat_l; [auto|].
      eapply Rle_trans; [|apply (le_largest bins (fun b => U (N b o) (K b o) - lower U (N b o) (K b o)) b
        Hb)].
      destruct (C b Hb). destruct (HA (N b o) (K b o) (NK b o)). unfold Rabs. destruct Rcase_abs; lra.
    + change (prod bins (fun b => covers U (N b o) (K b o) (pi b)) <= ind (Rle_dec
        (sum bins (fun b => E (inside b) * Rabs (answer (N b o) (K b o) - pi b)) - big) 0)).
      rewrite C. apply ind_01.
Qed.
