(* T4', in place of theorem 4 and lemma 5 of the paper (section 3.4, appendix A.5): what remains unknown is
   paid in log loss and in errors, not in calibration. The log loss of any predictor is H(Y|E) plus its mean
   divergence from the posterior; and Fano's inequality bounds the error of any decision from below. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World L5 T4 T4_moreover.
Import ListNotations.
Open Scope R_scope.

(* Gibbs' inequality: the divergence from q is not negative, for any q of total mass at most 1 that is
   positive where p is; and it is zero only where q = p. *)
Lemma ln_lt_minus u : 0 < u -> u <> 1 -> ln u < u - 1.
Proof.
  intros H N. assert (ln u <> 0) by (intros E; apply N; rewrite <- (exp_ln u), E, exp_0 by easy; easy).
  pose proof (exp_ineq1 (ln u) H0) as E. rewrite exp_ln in E by easy. lra.
Qed.
Lemma KL_term p q : 0 <= p -> 0 <= q -> (0 < p -> 0 < q) -> p - q <= p * ln (p / q).
Proof.
  intros [Hp| <-] Hq S; [|lra]. specialize (S Hp).
  assert (E : ln (p / q) = - ln (q / p)).
  { rewrite <- ln_Rinv by (now apply Rdiv_lt_0_compat). f_equal. field. lra. }
  pose proof (ln_le_minus (q / p) ltac:(now apply Rdiv_lt_0_compat)).
  assert (p * (q / p) = q) by (field; lra). rewrite E. nra.
Qed.
Lemma KL_term_equal p q : 0 <= p -> 0 <= q -> (0 < p -> 0 < q) -> p * ln (p / q) = p - q -> p = q.
Proof.
  intros [Hp| <-] Hq S E; [|lra]. specialize (S Hp). destruct (Req_dec (q / p) 1) as [e|n].
  - replace q with (q / p * p) by (field; lra). rewrite e. lra.
  - exfalso. assert (F : ln (p / q) = - ln (q / p)).
    { rewrite <- ln_Rinv by (now apply Rdiv_lt_0_compat). f_equal. field. lra. }
    pose proof (ln_lt_minus (q / p) ltac:(now apply Rdiv_lt_0_compat) n).
    assert (p * (q / p) = q) by (field; lra). rewrite F in E. nra.
Qed.
Lemma gibbs {Y} (ys : list Y) p q : distribution ys p -> (forall y, In y ys -> 0 <= q y) -> sum ys q <= 1 ->
  (forall y, In y ys -> 0 < p y -> 0 < q y) -> 0 <= KL ys p q.
Proof.
  intros [p0 p1] q0 q1 S. apply Rle_trans with (sum ys (fun y => p y - q y)); [rewrite sum_minus; lra|].
  apply sum_le; intros y Hy. apply KL_term; auto.
Qed.
Lemma gibbs_equal {Y} (ys : list Y) p q : distribution ys p -> distribution ys q ->
  (forall y, In y ys -> 0 < p y -> 0 < q y) -> KL ys p q = 0 -> forall y, In y ys -> p y = q y.
Proof.
  intros [p0 p1] [q0 q1] S E y Hy.
  assert (Z : p y * ln (p y / q y) - (p y - q y) = 0).
  { apply (sum_zero_all ys (fun y => p y * ln (p y / q y) - (p y - q y))); auto.
    - intros x Hx. pose proof (KL_term (p x) (q x) (p0 x Hx) (q0 x Hx) (S x Hx)). lra.
    - rewrite !sum_minus. unfold KL in E. lra. }
  apply KL_term_equal; auto. lra.
Qed.

(* The expected log loss of a predictor, and its mean divergence from the posterior. A predictor that gives
   no probability to what can happen has an infinite log loss; it is excluded by [covers]. *)
Definition log_loss {Y A} (W : world Y A) (Q : list A -> Y -> R) :=
  sum (evidence W) (fun e => sum (classes W) (fun y => joint W y e * - ln (Q e y))).
Definition divergence {Y A} (W : world Y A) (Q : list A -> Y -> R) :=
  sum (evidence W) (fun e => mass W e * KL (classes W) (posterior W e) (Q e)).
Definition covers {Y A} (W : world Y A) (Q : list A -> Y -> R) :=
  forall e y, In e (evidence W) -> In y (classes W) -> 0 < joint W y e -> 0 < Q e y.
Definition predicts {Y A} (W : world Y A) (Q : list A -> Y -> R) :=
  forall e, In e (evidence W) -> distribution (classes W) (Q e).

Lemma log_loss_split {Y A} (W : world Y A) Q : is_world W -> covers W Q ->
  log_loss W Q = residual_entropy W + divergence W Q.
Proof.
  intros HW C. unfold log_loss, residual_entropy, divergence. rewrite <- sum_plus. apply sum_ext; intros e He.
  unfold entropy, KL, posterior. rewrite <- Rmult_plus_distr_l, Rplus_comm.
  fold (Rminus (sum (classes W) (fun y => joint W y e / mass W e * ln (joint W y e / mass W e / Q e y)))
    (sum (classes W) (fun y => joint W y e / mass W e * ln (joint W y e / mass W e)))).
  rewrite <- sum_minus, <- sum_scal. apply sum_ext; intros y Hy.
  destruct (joint_nonneg W HW y e Hy He) as [j| <-]; [|unfold Rdiv; lra].
  assert (m : 0 < mass W e) by (pose proof (joint_le_mass W HW y e Hy He); lra).
  specialize (C e y He Hy j).
  assert (p0 : 0 < joint W y e / mass W e) by now apply Rdiv_lt_0_compat.
  assert (E : ln (joint W y e / mass W e / Q e y) = ln (joint W y e / mass W e) - ln (Q e y)).
  { unfold Rdiv at 1. rewrite ln_mult, ln_Rinv by (auto using Rinv_0_lt_compat). easy. }
  rewrite E. field. lra.
Qed.
Lemma posterior_dist {Y A} (W : world Y A) e : is_world W -> In e (evidence W) -> 0 < mass W e ->
  distribution (classes W) (posterior W e).
Proof.
  intros HW He m. apply (normalize_distribution (classes W) (fun y => joint W y e)); [|exact m].
  intros. now apply joint_nonneg.
Qed.
Lemma posterior_pos {Y A} (W : world Y A) e y : 0 < mass W e -> 0 < posterior W e y -> 0 < joint W y e.
Proof. intros m p. unfold posterior in p.
  replace (joint W y e) with (joint W y e / mass W e * mass W e) by (field; lra). nra. Qed.
Lemma divergence_terms {Y A} (W : world Y A) Q : is_world W -> covers W Q -> predicts W Q ->
  forall e, In e (evidence W) -> 0 <= mass W e * KL (classes W) (posterior W e) (Q e).
Proof.
  intros HW C D e He. destruct (mass_nonneg W HW e He) as [m| <-]; [|lra]. apply Rmult_le_pos; [lra|].
  destruct (D e He) as [q0 q1]. apply gibbs; auto using posterior_dist; [lra|].
  intros y Hy p. apply C; auto. now apply posterior_pos.
Qed.

(** claim: T4' | proves | caveats: reals, finite-evidence
    Part 1. The expected log loss of any predictor is H(Y|E) plus the mean divergence of the posterior from
    it, hence at least H(Y|E). *)
Theorem T4prime_log_loss : forall (Y A : Type) (W : world Y A) (Q : list A -> Y -> R),
  is_world W -> predicts W Q -> covers W Q ->
  log_loss W Q = residual_entropy W + divergence W Q /\ 0 <= divergence W Q /\
  residual_entropy W <= log_loss W Q.
Proof.
  intros Y A W Q HW D C. assert (0 <= divergence W Q) by (apply sum_nonneg; now apply divergence_terms).
  pose proof (log_loss_split W Q HW C). repeat split; lra.
Qed.

(** claim: T4' | sharpens | caveats: reals, finite-evidence
    Part 1 is attained exactly by the posterior: a predictor has the log loss H(Y|E) if and only if it
    equals the posterior at all evidence that can occur. *)
Theorem T4prime_equality : forall (Y A : Type) (W : world Y A) (Q : list A -> Y -> R),
  is_world W -> predicts W Q -> covers W Q ->
  (log_loss W Q = residual_entropy W <->
   forall e y, In e (evidence W) -> 0 < mass W e -> In y (classes W) -> Q e y = posterior W e y).
Proof.
  intros Y A W Q HW D C. rewrite (log_loss_split W Q HW C). split.
  - intros E e y He m Hy. assert (Z : mass W e * KL (classes W) (posterior W e) (Q e) = 0).
    { apply (sum_zero_all (evidence W) (fun e => mass W e * KL (classes W) (posterior W e) (Q e)));
        [now apply divergence_terms | unfold divergence in E; lra | easy]. }
    symmetry. apply (gibbs_equal (classes W)); auto using posterior_dist; [|nra].
    intros x Hx p. apply C; auto. now apply posterior_pos.
  - intros E. replace (divergence W Q) with 0; [lra|]. unfold divergence. rewrite <- (sum_0 (evidence W)).
    apply sum_ext; intros e He. destruct (mass_nonneg W HW e He) as [m| <-]; [|lra].
    replace (KL (classes W) (posterior W e) (Q e)) with 0; [lra|]. unfold KL. rewrite <- (sum_0 (classes W)).
    apply sum_ext; intros y Hy. rewrite E by easy.
    destruct (posterior_dist W e HW He m) as [p0 _]. destruct (p0 y Hy) as [p| <-]; [|lra].
    unfold Rdiv. rewrite Rinv_r, ln_1; lra.
Qed.

Lemma sum_split_one {Y} (ys : list Y) d (f : Y -> R) b : NoDup ys -> In d ys ->
  sum ys (fun y => f y * (if decide (y = d) then 0 else b)) = b * (sum ys f - f d).
Proof.
  intros N H. rewrite (sum_ext _ _ (fun y => b * f y - one (y = d) * (b * f y))).
  - rewrite sum_minus, sum_scal, (sum_pick ys d (fun y => b * f y)) by easy. ring.
  - intros y _. unfold one. destruct (decide (y = d)); ring.
Qed.
Lemma sum_two_values {Y} (ys : list Y) d (f : Y -> R) a b : NoDup ys -> In d ys ->
  sum ys (fun y => f y * (if decide (y = d) then a else b)) = a * f d + b * (sum ys f - f d).
Proof.
  intros N H. rewrite <- sum_split_one by easy.
    rewrite <- (sum_pick ys d (fun y => a * f y)), <- sum_plus by easy.
  apply sum_ext; intros y _. unfold one. destruct (decide (y = d)); ring.
Qed.
(* The probability that a decision is wrong; h(x) + x ln(n-1). *)
Definition error {Y A} (W : world Y A)
  (decision : list A -> Y) := 1 - sum (evidence W) (fun e => joint W (decision e) e).
Definition fano_bound (n : nat) (x : R) := - (x * ln x) - (1 - x) * ln (1 - x) + x * ln (INR n - 1).

Lemma error_range {Y A} (W : world Y A) decision : is_world W ->
  (forall e, In e (evidence W) -> In (decision e) (classes W)) -> 0 <= error W decision <= 1.
Proof.
  intros HW D. unfold error. pose proof (mass_total W HW) as T. split.
  - assert (sum (evidence W) (fun e => joint W (decision e) e) <= sum (evidence W) (mass W)); [|lra].
    apply sum_le. intros e He. apply joint_le_mass; auto.
  - assert (0 <= sum (evidence W) (fun e => joint W (decision e) e)); [|lra].
    apply sum_nonneg. intros e He. apply joint_nonneg; auto.
Qed.

(** claim: T4' | proves | caveats: reals, finite-evidence
    Part 2 (Fano). Whatever function of the evidence decides among n >= 2 classes, with x the probability
    that it is wrong, H(Y|E) <= h(x) + x ln(n-1), where h(x) = -x ln x - (1-x) ln(1-x). *)
Theorem T4prime_fano : forall (Y A : Type) (W : world Y A) (decision : list A -> Y),
  is_world W -> (2 <= length (classes W))%nat ->
    (forall e, In e (evidence W) -> In (decision e) (classes W)) ->
  residual_entropy W <= fano_bound (length (classes W)) (error W decision).
Proof.
  intros Y A W d HW n2 D. set (x := error W d). destruct (error_range W d HW D) as [x0 x1]. fold x in x0, x1.
  set (n := INR (length (classes W))). assert (n2' : 2 <= n) by (apply (le_INR 2); easy).
  pose proof (proj1 HW) as ND. pose proof (mass_total W HW) as T.
  (* the predictor that trusts the decision as much as it deserves *)
  set (Q := fun e y => if decide (y = d e) then 1 - x else x / (n - 1)).
  assert (in0 : 0 < / (n - 1)) by (apply Rinv_0_lt_compat; lra).
  assert (PQ : predicts W Q).
  { intros e He. split.
    - intros y _. unfold Q. destruct (decide (y = d e)); [lra|]. apply Rmult_le_pos; lra.
    - rewrite (sum_ext _ _ (fun y => 1 * (if decide (y = d e) then 1 - x else x / (n - 1)))) by (intros;
      unfold Q; ring).
      rewrite (sum_two_values (classes W) (d e) (fun _ => 1)) by auto. rewrite sum_const. fold n. field.
        lra. }
  assert (A1 : sum (evidence W) (fun e => joint W (d e) e) = 1 - x) by (unfold x, error; lra).
  assert (A2 : sum (evidence W) (fun e => mass W e - joint W (d e) e) = x) by (rewrite sum_minus, A1, T; lra).
  assert (C : covers W Q).
  { intros e y He Hy j. unfold Q. destruct (decide (y = d e)) as [->|N].
    - assert (joint W (d e) e <= 1 - x); [|lra]. rewrite <- A1.
      apply (sum_ge_one (evidence W) (fun e => joint W (d e) e)); auto. intros. apply joint_nonneg; auto.
    - assert (L : joint W y e <= mass W e - joint W (d e) e).
      { unfold mass. pose proof (sum_two_values (classes W) (d e) (fun y => joint W y e) 0 1 ND (D e He))
        as S.
        rewrite Rmult_0_l, Rmult_1_l, Rplus_0_l in S. rewrite <- S.
        replace (joint W y e) with (joint W y e * (if decide (y = d e) then 0 else 1))
          by (destruct (decide (y = d e)); [easy | ring]).
        apply (sum_ge_one (classes W) (fun y => joint W y e * (if decide (y = d e) then 0 else 1))); [|easy].
        intros z Hz. pose proof (joint_nonneg W HW z e Hz He). destruct (decide (z = d e)); lra. }
      assert (joint W y e <= x).
      { rewrite <- A2. eapply Rle_trans; [exact L|].
        apply (sum_ge_one (evidence W) (fun e => mass W e - joint W (d e) e)); auto.
        intros e' He'. pose proof (joint_le_mass W HW (d e') e' (D e' He') He'). lra. }
      apply Rmult_lt_0_compat; lra. }
  destruct (T4prime_log_loss Y A W Q HW PQ C) as (_ & _ & B). eapply Rle_trans; [exact B|]. right.
  unfold log_loss.
  rewrite (sum_ext _ _ (fun e => - ln (1 - x) * joint W (d e) e + - ln (x / (n - 1)) * (mass W e - joint W
    (d e) e))).
  - rewrite sum_plus, !sum_scal, A1, A2. unfold fano_bound. fold n. destruct x0 as [x0| <-]; [|lra].
    unfold Rdiv. rewrite ln_mult, ln_Rinv; lra.
  - intros e He.
    rewrite (sum_ext _ _ (fun y => joint W y e * (if decide (y = d e) then - ln (1 - x) else - ln (x / (n -
      1))))).
    + rewrite (sum_two_values (classes W) (d e) (fun y => joint W y e)) by auto. easy.
    + intros y _. unfold Q. destruct (decide (y = d e)); easy.
Qed.

(** claim: T4' | sharpens | caveats: reals
    Part 2 is attained: for every n >= 2 and x in [0, 1], without any evidence, when one class has the
    probability 1-x and the others share x evenly, deciding for that class. *)
Theorem T4prime_fano_sharp : forall (n : nat) (x : R), (2 <= n)%nat -> 0 <= x <= 1 ->
  exists W : world nat unit, is_world W /\ length (classes W) = n /\ In O (classes W) /\
    error W (fun _ => O) = x /\ residual_entropy W = fano_bound n x.
Proof.
  intros n x n2 Hx. assert (n2' : 2 <= INR n) by (apply (le_INR 2); easy).
  assert (in0 : 0 < / (INR n - 1)) by (apply Rinv_0_lt_compat; lra).
  set (p := fun y : nat => if decide (y = O) then 1 - x else x / (INR n - 1)).
  set (W := World (seq 0 n) [tt] 0 tt (fun y (_ : list unit) => p y)).
  assert (I : In O (seq 0 n)) by (apply in_seq; lia). assert (N : NoDup (seq 0 n)) by apply seq_NoDup.
  assert (S : sum (seq 0 n) p = 1).
  { unfold p. rewrite (sum_ext _ _ (fun y => 1 * (if decide (y = O) then 1 - x else x / (INR n - 1))))
    by (intros; ring).
    rewrite (sum_two_values (seq 0 n) O (fun _ => 1)) by easy. rewrite sum_const, seq_length. field. lra. }
  assert (M : mass W [] = 1) by exact S.
  exists W. split; [|split; [apply seq_length | split; [exact I | split]]].
  - split; [exact N|]. split; [repeat constructor; simpl; tauto|]. split.
    + intros y e _ _. simpl. unfold p. destruct (decide (y = O)); [lra | apply Rmult_le_pos; lra].
    + simpl. rewrite (sum_ext _ _ p) by (intros; ring). exact S.
  - unfold error. simpl. unfold p. destruct (decide (O = O)); [ring | easy].
  - unfold residual_entropy. change (evidence W) with [@nil unit]. cbn [sum]. rewrite M.
    unfold entropy, posterior. rewrite M.
    change (classes W) with (seq 0 n).
      change (fun y => joint W y [] / 1 * ln (joint W y [] / 1)) with (fun y => p y / 1 * ln (p y / 1)).
    rewrite (sum_ext _ _ (fun y => 1 * (if decide (y = O) then (1 - x) * ln (1 - x)
      else x / (INR n - 1) * ln (x / (INR n - 1))))).
    + rewrite (sum_two_values (seq 0 n) O (fun _ => 1)) by easy. rewrite sum_const, seq_length.
      unfold fano_bound.
      destruct (proj1 Hx) as [x0| <-]; [|unfold Rdiv; ring].
      unfold Rdiv at 2. rewrite ln_mult, ln_Rinv by lra. field. lra.
    + intros y _. replace (p y / 1) with (p y) by field. unfold p. destruct (decide (y = O)); ring.
Qed.
