(* Lemma 5 of the paper (appendix A.5), the evidence conflict lower bound: any aggregation has a calibration
   error of at least c times the mean Kullback-Leibler divergence between the factors of an entity, with a
   constant c > 0 that depends on the number of classes. False for every such c: calibration asks that
   confidence and accuracy agree, not that the items agree. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1.
Import ListNotations.
Open Scope R_scope.

Definition KL {Y} (ys : list Y) (p q : Y -> R) := sum ys (fun y => p y * ln (p y / q y)).
(* The mean over the ordered pairs of different items; at one evidence, and over the population. *)
Definition conflict {Y A} (W : world Y A) (Phi : nat -> A -> Y -> R) (e : list A) :=
  / (INR (items W) * (INR (items W) - 1)) *
  sum (seq 0 (items W)) (fun i => sum (seq 0 (items W)) (fun j =>
    if Nat.eqb i j then 0 else KL (classes W) (Phi i (item W i e)) (Phi j (item W j e)))).
Definition noise {Y A} (W : world Y A) Phi := sum (evidence W) (fun e => mass W e * conflict W Phi e).

(* Lemma 5 for one predictor Q of the evidence. The constant may depend on the number of classes. The claim
   is made as weak as it can be: assumptions 1 and 6 are granted, and some bins and some choice among ties
   are enough for it. *)
Definition setting {Y A} (W : world Y A) (Phi : nat -> A -> Y -> R) : Prop :=
  is_world W /\ A1 W /\ (2 <= items W)%nat /\
  (forall i a, (i < items W)%nat -> In a (outcomes W) -> distribution (classes W) (Phi i a)) /\
  (forall i a y, In y (classes W) -> / (2 * INR (length (classes W))) <= Phi i a y) /\
  calibrated W Phi 0.
Definition predictor := forall Y A, world Y A -> (nat -> A -> Y -> R) -> list A -> Y -> R.
Definition lemma_5_for (Q : predictor) (c : nat -> R) : Prop :=
  forall (Y A : Type) (W : world Y A) (Phi : nat -> A -> Y -> R), setting W Phi ->
    exists bin hat, picks W (Q Y A W Phi) hat /\ ece W bin (Q Y A W Phi) hat >= c (length (classes W)) *
      noise W Phi.
Definition lemma_5 (c : nat -> R) : Prop := forall Q, lemma_5_for Q c.
(* The same for any choice among ties. *)
Definition lemma_5_any_choice (Q : predictor) (c : nat -> R) : Prop :=
  forall (Y A : Type) (W : world Y A) (Phi : nat -> A -> Y -> R) hat, setting W Phi ->
    picks W (Q Y A W Phi) hat ->
    exists bin, ece W bin (Q Y A W Phi) hat >= c (length (classes W)) * noise W Phi.

(* LPF's own product, all weights 1; and the predictor that gives every class the same probability. *)
Definition plain_product Y A (W : world Y A) Phi (e : list A) : Y -> R := pool W Phi (fun _ _ => 1) e.
Definition even Y A (W : world Y A)
  (Phi : nat -> A -> Y -> R) (e : list A) (y : Y) := / INR (length (classes W)).

(* The fair coin and two items, each right three times in four (see T1.v). *)
Lemma coin_factor_calibrated K : calibrated (coin K) (fun _ => p34) 0.
Proof.
  intros i y q Hi Hy. cbv zeta. rewrite Rmult_0_l, <- sum_scal.
  rewrite (coin_calibrated K i y (fun a => one (p34 a y = q))), <- sum_minus by easy.
  rewrite (sum_ext _ _ (fun _ => 0)); [rewrite sum_0, Rabs_R0; lra|]. intros e _.
  match goal with |- context [one ?p] => destruct (one_cases p) as [[-> ->]|[_ ->]] end; lra.
Qed.
(* The prior is even, so the product of exact factors is the posterior. *)
Lemma coin_product K e y : plain_product _ _ (coin K) (fun _ => p34) e y = posterior (coin K) e y.
Proof.
  unfold plain_product, pool. simpl classes. rewrite normalize_bools. unfold posterior.
  change (mass (coin K) e) with (joint (coin K) true e + (joint (coin K) false e + 0)). rewrite !coin_joint.
  simpl items. set (s := fun y => sum (seq 0 K) (fun i => ln (p34 (item (coin K) i e) y))).
  rewrite !(sum_ext (seq 0 K) (fun i => 1 * ln (p34 (item (coin K) i e) _)) _ (fun i _ => Rmult_1_l _)).
  fold (s y). fold (s true). fold (s false). pose proof (exp_pos (s true)). pose proof (exp_pos (s false)).
    field. lra.
Qed.
Lemma coin_noise : 0 < noise (coin 2) (fun _ => p34).
Proof.
  assert (L : ln (/ 4 / (3 / 4)) = - ln 3) by (rewrite <- ln_Rinv by lra; f_equal; lra).
  assert (L' : ln (3 / 4 / / 4) = ln 3) by (f_equal; lra).
  assert (l3 : 0 < ln 3) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (E : forall a b, KL [true; false] (p34 a) (p34 b) = if Bool.eqb a b then 0 else / 2 * ln 3).
  { intros a b. unfold KL, sum. assert (Z : forall p, p <> 0 -> ln (p / p) = 0).
    { intros. unfold Rdiv. rewrite Rinv_r, ln_1; easy. }
    destruct a, b; simpl; rewrite ?Z, ?L, ?L'; lra. }
  unfold noise, evidence. simpl items. simpl outcomes. unfold tuples. simpl flat_map. unfold sum at 1.
  unfold conflict, mass. simpl. unfold item. simpl. rewrite !E. simpl. lra.
Qed.

Lemma coin_setting K : (2 <= K)%nat -> setting (coin K) (fun _ => p34).
Proof.
  intros K2. destruct (coin_world K) as [HW HA].
    repeat split; try apply HW; try easy; try apply coin_factor_calibrated.
  - intros y _. pose proof (p34_range a y). lra.
  - destruct a; simpl; lra.
  - intros i a y _. pose proof (p34_range a y). simpl. lra.
Qed.

(** claim: L5 | refutes | caveats: reals, population-ece
    LPF's own product violates it. A fair coin and two items that report it rightly three times in four: the
    items disagree in three cases of eight, so the conflict is positive, but the product of the factors is
    the posterior and has no calibration error at all. For every c > 0. Paper: lemma 5, appendix A.5. *)
Theorem L5_refuted_product : forall c, (forall n, 0 < c n) -> ~ lemma_5_for plain_product c.
Proof.
  intros c c0 H. destruct (coin_world 2) as [HW _].
  destruct (H bool bool (coin 2) (fun _ => p34) (coin_setting 2 (le_n 2))) as (bin & hat & Hh & B).
  rewrite ece_posterior in B; [|easy | intros; now apply Hh | intros; apply coin_product].
  pose proof (Rmult_lt_0_compat _ _ (c0 (length (classes (coin 2)))) coin_noise). lra.
Qed.

(** claim: L5 | refutes | caveats: reals, population-ece
    So does the predictor that always answers (1/2, 1/2) and names the first class: it is right half of the
    time, and confident to one half. *)
Theorem L5_refuted_constant : forall c, (forall n, 0 < c n) -> ~ lemma_5_any_choice even c.
Proof.
  intros c c0 H. destruct (coin_world 2) as [HW _].
  assert (P : picks (coin 2) (even _ _ (coin 2) (fun _ => p34)) (fun _ => true)).
  { intros e _. split; [simpl; tauto|]. intros y _. unfold even. lra. }
  destruct (H bool bool (coin 2) (fun _ => p34) _ (coin_setting 2 (le_n 2)) P) as [bin B].
  rewrite (ece_constant _ HW bin _ _ (/ 2)) in B.
  - assert (T : sum (evidence (coin 2)) (fun e => joint (coin 2) true e) = / 2).
    { apply (product_prior [true; false] [true; false] 2 true (fun _ => / 2) (fun _ => p34));
      [intros; apply p34_distribution | simpl; tauto]. }
    rewrite T, Rminus_diag_eq, Rabs_R0 in B by easy.
    pose proof (Rmult_lt_0_compat _ _ (c0 (length (classes (coin 2)))) coin_noise). lra.
  - intros e _. unfold conf, even. simpl. lra.
Qed.

(** claim: L5 | refutes | caveats: reals, population-ece
    The lemma as stated, for any aggregation. *)
Theorem L5_refuted : forall c, (forall n, 0 < c n) -> ~ lemma_5 c.
Proof. intros c c0 H. exact (L5_refuted_product c c0 (H plain_product)). Qed.
