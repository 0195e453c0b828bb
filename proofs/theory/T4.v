(* Theorem 4 of the paper (section 3.4), first part: the calibration error of any predictor is at least c1
   H(Y|E)/H(Y) + c2 noise, with constants c1, c2 > 0. False for every such pair, and already for each of the
   two summands alone. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1 L5.
Import ListNotations.
Open Scope R_scope.

(* Entropies in nats; only their quotient matters. H(Y|E) is the mean entropy of the posterior. *)
Definition entropy {Y} (ys : list Y) (p : Y -> R) := - sum ys (fun y => p y * ln (p y)).
Definition residual_entropy {Y A} (W : world Y A) := sum (evidence W) (fun e => mass W e * entropy (classes
  W) (posterior W e)).
(* The mean divergence over all ordered pairs of items, the items drawn independently, so that the two may
   be equal: theorem 4 writes an expectation over i and j. (Over different pairs only it is larger: lemma
   5.) *)
Definition noise_all {Y A} (W : world Y A) (Phi : nat -> A -> Y -> R) :=
  sum (evidence W) (fun e => mass W e * (/ INR (items W) ^ 2 *
    sum (seq 0 (items W)) (fun i => sum (seq 0 (items W)) (fun j =>
      KL (classes W) (Phi i (item W i e)) (Phi j (item W j e)))))).

(* Theorem 4's lower bound for a predictor Q; c1 and c2 may depend on the number of classes. [nz] is one of
   the two readings of the noise. As in lemma 5, assumptions 1, 3 and 6 are granted, and some bins are
   enough for the claim. *)
Definition theorem_4_for (Q : predictor)
  (nz : forall Y A, world Y A -> (nat -> A -> Y -> R) -> R) (c1 c2 : nat -> R) :=
  forall (Y A : Type) (W : world Y A) (Phi : nat -> A -> Y -> R), setting W Phi ->
    let n := length (classes W) in
    exists bin hat, picks W (Q Y A W Phi) hat /\
      ece W bin (Q Y A W Phi) hat >= c1 n * (residual_entropy W / entropy (classes W) (prior W)) + c2 n *
        nz Y A W Phi.
Definition theorem_4 nz c1 c2 : Prop := forall Q, theorem_4_for Q nz c1 c2.
(* The same for any choice among ties. *)
Definition theorem_4_any_choice (Q : predictor)
  (nz : forall Y A, world Y A -> (nat -> A -> Y -> R) -> R) (c1 c2 : nat -> R) :=
  forall (Y A : Type) (W : world Y A) (Phi : nat -> A -> Y -> R) hat, setting W Phi ->
    picks W (Q Y A W Phi) hat ->
    let n := length (classes W) in exists bin,
      ece W bin (Q Y A W Phi) hat >= c1 n * (residual_entropy W / entropy (classes W) (prior W)) + c2 n *
        nz Y A W Phi.

Lemma entropy_nonneg {Y} (ys : list Y) p : distribution ys p -> 0 <= entropy ys p.
Proof.
  intros [p0 p1]. unfold entropy. rewrite <- Ropp_0. apply Ropp_le_contravar.
  rewrite <- (sum_0 ys). apply sum_le; intros y Hy. pose proof (sum_ge_one ys p y p0 Hy). rewrite p1 in H.
  destruct (p0 y Hy) as [q|<-]; [|lra].
  assert (ln (p y) <= 0) by (rewrite <- ln_1; destruct H as [h| ->]; [left;
    now apply ln_increasing | lra]). nra.
Qed.
Lemma entropy_fair p : (forall y : bool, p y = / 2) -> entropy [true; false] p = ln 2.
Proof. intros H. unfold entropy. simpl. rewrite !H, ln_Rinv by lra. lra. Qed.
Lemma ln2_pos : 0 < ln 2.
Proof. rewrite <- ln_1. apply ln_increasing; lra. Qed.
Lemma coin_prior K y : prior (coin K) y = / 2.
Proof.
  apply (product_prior [true; false] [true; false] K true (fun _ => / 2) (fun _ => p34));
    [intros; apply p34_distribution | destruct y; simpl; tauto].
Qed.
(* Two items that disagree leave the coin open. *)
Lemma coin_residual : 0 < residual_entropy (coin 2) / entropy (classes (coin 2)) (prior (coin 2)).
Proof.
  destruct (coin_world 2) as [HW _]. pose proof ln2_pos.
  change (classes (coin 2)) with [true; false]. rewrite (entropy_fair (prior (coin 2)) (coin_prior 2)).
    apply Rdiv_lt_0_compat; [|easy].
  assert (M : forall e, 0 < mass (coin 2) e).
  { intros e. change (mass (coin 2) e) with (joint (coin 2) true e + (joint (coin 2) false e + 0)).
    rewrite !coin_joint. pose proof (exp_pos (sum (seq 0 2) (fun i => ln (p34 (item (coin 2) i e) true)))).
    pose proof (exp_pos (sum (seq 0 2) (fun i => ln (p34 (item (coin 2) i e) false)))). lra. }
  apply (sum_pos _ _ [true; false]).
  - intros e He. apply Rmult_le_pos; [left; apply M|]. apply entropy_nonneg.
    apply (normalize_distribution (classes (coin 2)) (fun y => joint (coin 2) y e)); [|apply M].
    intros. now apply joint_nonneg.
  - simpl. tauto.
  - apply Rmult_lt_0_compat; [apply M|].
    change (classes (coin 2)) with [true; false].
      rewrite (entropy_fair (posterior (coin 2) [true; false])); [easy|].
    intros []; unfold posterior, mass; simpl; field.
Qed.
Lemma coin_noise_all : 0 < noise_all (coin 2) (fun _ => p34).
Proof.
  assert (L : ln (/ 4 / (3 / 4)) = - ln 3) by (rewrite <- ln_Rinv by lra; f_equal; lra).
  assert (L' : ln (3 / 4 / / 4) = ln 3) by (f_equal; lra).
  assert (l3 : 0 < ln 3) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (E : forall a b, KL [true; false] (p34 a) (p34 b) = if Bool.eqb a b then 0 else / 2 * ln 3).
  { intros a b. unfold KL, sum. assert (Z : forall p, p <> 0 -> ln (p / p) = 0).
    { intros. unfold Rdiv. rewrite Rinv_r, ln_1; easy. }
    destruct a, b; simpl; rewrite ?Z, ?L, ?L'; lra. }
  unfold noise_all, evidence. simpl items. simpl outcomes. unfold tuples. simpl flat_map. unfold sum at 1.
  unfold mass. simpl. unfold item. simpl. rewrite !E. simpl. lra.
Qed.

(* The two readings of the noise. *)
Definition some_noise
  (nz : forall Y A, world Y A -> (nat -> A -> Y -> R) -> R) := nz = @noise \/ nz = @noise_all.
Lemma coin_some_noise nz : some_noise nz -> 0 < nz bool bool (coin 2) (fun _ => p34).
Proof. intros [->| ->]; [apply coin_noise | apply coin_noise_all]. Qed.

Lemma coin_bound_positive nz c1 c2 : some_noise nz ->
  (forall n, 0 <= c1 n) -> (forall n, 0 <= c2 n) -> (forall n, 0 < c1 n + c2 n) -> forall n : nat,
  0 < c1 n * (residual_entropy (coin 2) / entropy (classes (coin 2)) (prior (coin 2))) + c2 n * nz _ _
    (coin 2) (fun _ => p34).
Proof.
  intros Hn p1 p2 p n. pose proof (coin_some_noise nz Hn) as N. pose proof coin_residual as E.
  specialize (p1 n). specialize (p2 n). specialize (p n).
  set (x := residual_entropy _ / _) in *. set (y := nz _ _ _ _) in *.
  assert (0 <= c2 n * y) by (apply Rmult_le_pos; lra). assert (0 <= c1 n * x) by (apply Rmult_le_pos; lra).
  destruct p1 as [q|q].
  - assert (0 < c1 n * x) by (apply Rmult_lt_0_compat; lra). lra.
  - assert (0 < c2 n * y) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

(** claim: T4 | refutes | caveats: reals, population-ece
    LPF's own product violates the lower bound. A fair coin, two items right three times in four: much
    remains unknown and the items conflict, yet the product of the factors is the posterior and its
    calibration error is zero. For all c1, c2 that are not negative and not both zero. Paper: theorem 4,
    section 3.4. *)
Theorem T4_refuted_product : forall nz c1 c2, some_noise nz ->
  (forall n, 0 <= c1 n) -> (forall n, 0 <= c2 n) -> (forall n, 0 < c1 n + c2 n) ->
  ~ theorem_4_for plain_product nz c1 c2.
Proof.
  intros nz c1 c2 Hn p1 p2 p H. destruct (coin_world 2) as [HW _].
  destruct (H bool bool (coin 2) (fun _ => p34) (coin_setting 2 (le_n 2))) as (bin & hat & Hh & B).
  rewrite ece_posterior in B; [|easy | intros; now apply Hh | intros; apply coin_product].
  pose proof (coin_bound_positive nz c1 c2 Hn p1 p2 p (length (classes (coin 2)))). cbv zeta in B. lra.
Qed.

(** claim: T4 | refutes | caveats: reals, population-ece
    So does the predictor that always answers (1/2, 1/2) and names the first class. *)
Theorem T4_refuted_constant : forall nz c1 c2, some_noise nz ->
  (forall n, 0 <= c1 n) -> (forall n, 0 <= c2 n) -> (forall n, 0 < c1 n + c2 n) ->
  ~ theorem_4_any_choice even nz c1 c2.
Proof.
  intros nz c1 c2 Hn p1 p2 p H. destruct (coin_world 2) as [HW _].
  assert (P : picks (coin 2) (even _ _ (coin 2) (fun _ => p34)) (fun _ => true)).
  { intros e _. split; [simpl; tauto|]. intros y _. unfold even. lra. }
  destruct (H bool bool (coin 2) (fun _ => p34) _ (coin_setting 2 (le_n 2)) P) as [bin B].
  rewrite (ece_constant _ HW bin _ _ (/ 2)) in B; [|intros e _; unfold conf, even; simpl; lra].
  assert (T : sum (evidence (coin 2)) (fun e => joint (coin 2) true e) = / 2) by apply (coin_prior 2 true).
  rewrite T, Rminus_diag_eq, Rabs_R0 in B by easy.
  pose proof (coin_bound_positive nz c1 c2 Hn p1 p2 p (length (classes (coin 2)))). cbv zeta in B. lra.
Qed.

(** claim: T4 | refutes | caveats: reals, population-ece
    The lower bound as stated, for any predictor and positive constants. *)
Theorem T4_refuted : forall nz c1 c2, some_noise nz -> (forall n, 0 < c1 n) -> (forall n, 0 < c2 n) ->
  ~ theorem_4 nz c1 c2.
Proof.
  intros nz c1 c2 Hn p1 p2 H. apply (T4_refuted_product nz c1 c2); auto.
  - intros n. specialize (p1 n). lra.
  - intros n. specialize (p2 n). lra.
  - intros n. specialize (p1 n). specialize (p2 n). lra.
Qed.
