(* Theorem 6 of the paper (section 3.6), sample complexity: for a calibration error of at most eps, LPF
   "requires" at least C^2/eps^2 items. Read as "so many suffice" it is false for every C, with weights 1
   and with weights 1/K; read as "so many are needed" it is false for every C that is not zero. C may depend
   on the variance of the factors, on delta and on the number of classes, as the paper's does. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1 L5 T4 T4_moreover.
Import ListNotations.
Open Scope R_scope.

(* The variance of the prediction Phi_i(y) over the population. *)
Definition factor_mean {Y A} (W : world Y A) (Phi : nat -> A -> Y -> R) i y :=
  sum (evidence W) (fun e => mass W e * Phi i (item W i e) y).
Definition factor_variance {Y A} (W : world Y A) Phi i y :=
  sum (evidence W) (fun e => mass W e * (Phi i (item W i e) y - factor_mean W Phi i y) ^ 2).
(* Exactly calibrated factors above the floor of assumption 6, assumption 1, and s2 the variance of every
   factor. *)
Definition setting_6 {Y A} (W : world Y A) (Phi : nat -> A -> Y -> R) (s2 : R) : Prop :=
  is_world W /\ A1 W /\ (1 <= items W)%nat /\
  (forall i a, distribution (classes W) (Phi i a)) /\
  (forall i a y, In y (classes W) -> / (2 * INR (length (classes W))) <= Phi i a y) /\ calibrated W Phi 0 /\
  (forall i y, (i < items W)%nat -> In y (classes W) -> factor_variance W Phi i y = s2).
(* LPF's product where each of K items has the weight [wt K]: 1, or 1/K. *)
Definition product_6 (wt : nat -> R) {Y A} (W : world Y A) Phi := pool W Phi (fun _ _ => wt (items W)).

(* "C^2/eps^2 items suffice"; some bins and some choice among ties are enough for the claim. *)
Definition theorem_6_sufficient (wt : nat -> R) (C : R -> R -> nat -> R) : Prop :=
  forall (Y A : Type) (W : world Y A) (Phi : nat -> A -> Y -> R) (s2 eps delta : R),
    setting_6 W Phi s2 -> 0 < eps -> 0 < delta < 1 ->
    INR (items W) >= C s2 delta (length (classes W)) ^ 2 / eps ^ 2 ->
    exists bin hat, picks W (product_6 wt W Phi) hat /\ ece W bin (product_6 wt W Phi) hat <= eps.
(* "C^2/eps^2 items are needed": whoever has the error eps, with any bins and choices, has so many items. *)
Definition theorem_6_necessary (wt : nat -> R) (C : R -> R -> nat -> R) : Prop :=
  forall (Y A : Type) (W : world Y A) (Phi : nat -> A -> Y -> R) (s2 eps delta : R),
    setting_6 W Phi s2 -> 0 < eps -> 0 < delta < 1 ->
    (forall bin hat, picks W (product_6 wt W Phi) hat -> ece W bin (product_6 wt W Phi) hat <= eps) ->
    INR (items W) >= C s2 delta (length (classes W)) ^ 2 / eps ^ 2.

(* Items that say nothing do not vary. *)
Lemma dull_setting_6 K : (1 <= K)%nat -> setting_6 (mixed 0 K) (phi_at 0) 0.
Proof.
  intros K1. assert (HW : is_world (mixed 0 K)).
  { apply product_is_world; auto using bools, p35_distribution, lik_at_distribution. }
  split; [exact HW|]. split; [apply product_A1; auto using bools, p35_distribution, lik_at_distribution|].
  split; [exact K1|]. split; [|split; [|split]].
  - intros i a. exact p35_distribution.
  - intros i a y _. pose proof (phi_range 0 i a y). simpl. lra.
  - apply exact_calibrated; [exact HW|]. intros i a y Hi Ha Hy.
    assert (E : forall z, item_joint (mixed 0 K) i a z = p35 z * lik_at 0 i a z).
    { intros z. apply (product_item_joint [true; false] [true; false] K true p35 (lik_at 0));
      auto using bools, lik_at_distribution. destruct z; simpl; tauto. }
    change (classes (mixed 0 K)) with [true; false]. cbn [sum]. rewrite !E. unfold phi_at, lik_at.
    destruct y; simpl; lra.
  - intros i y _ _. assert (M : factor_mean (mixed 0 K) (phi_at 0) i y = p35 y).
    { unfold factor_mean, phi_at. simpl. rewrite sum_scal_r, (mass_total _ HW). ring. }
    unfold factor_variance. rewrite M, (sum_ext _ _ (fun _ => 0)); [apply sum_0|].
    intros e _. unfold phi_at. simpl. ring.
Qed.
(* Items right three times in four vary by 1/16. *)
Lemma coin_setting_6 K : (1 <= K)%nat -> setting_6 (coin K) (fun _ => p34) (/ 16).
Proof.
  intros K1. destruct (coin_world K) as [HW HA]. split; [exact HW|]. split; [exact HA|]. split; [exact K1|].
  split; [|split; [|split]].
  - intros i a. split; [intros y _; pose proof (p34_range a y); lra | destruct a; simpl; lra].
  - intros i a y _. pose proof (p34_range a y). simpl. lra.
  - apply coin_factor_calibrated.
  - intros i y Hi Hy. assert (M : factor_mean (coin K) (fun _ => p34) i y = / 2).
    { unfold factor_mean.
      rewrite (sum_ext _ _ (fun e => p34 (item (coin K) i e) y * mass (coin K) e)) by (intros; ring).
      rewrite (sum_by_item (coin K) i (fun a => p34 a y) (mass (coin K)) HW Hi).
      rewrite (sum_ext _ _ (fun a => p34 a y * / 2)).
      - change (outcomes (coin K)) with [true; false]. destruct y; simpl; lra.
      - intros a Ha. f_equal. transitivity (sum (classes (coin K)) (item_joint (coin K) i a)).
        + unfold item_joint, mass. rewrite sum_swap. apply sum_ext; intros e _. now rewrite sum_scal.
        + assert (E : forall z, item_joint (coin K) i a z = / 2 * p34 a z).
          { intros z. apply (product_item_joint [true; false] [true; false] K true (fun _ => / 2)
            (fun _ => p34));
            auto using bools, p34_distribution. destruct z; simpl; tauto. }
          change (classes (coin K)) with [true; false]. cbn [sum]. rewrite !E. destruct a; simpl; lra. }
    unfold factor_variance. rewrite M, (sum_ext _ _ (fun e => / 16 * mass (coin K) e)).
    + rewrite sum_scal, (mass_total _ HW). ring.
    + intros e _. destruct (item (coin K) i e), y; simpl; field.
Qed.
Lemma enough c eps x : 0 < eps -> exists K : nat, (1 <= K)%nat /\ x < INR K /\ INR K >= c ^ 2 / eps ^ 2.
Proof.
  intros e0. destruct (exists_nat_above (Rabs x + c ^ 2 / eps ^ 2)) as (K & K1 & H). exists K.
  assert (0 <= c ^ 2 / eps ^ 2).
  { apply Rmult_le_pos; [apply pow2_ge_0 | left; apply Rinv_0_lt_compat, pow_lt; easy]. }
  pose proof (Rle_abs x). pose proof (Rabs_pos x). repeat split; [easy | lra | lra].
Qed.

(** claim: T6 | refutes | caveats: reals, population-ece
    No number of items suffices: with items that say nothing and the prior (3/5, 2/5), factors exact, the
    product is ever surer, and its calibration error stays above 1/5 for all large K. For every C. Paper:
    theorem 6, section 3.6. *)
Theorem T6_refuted_sufficient : forall C, ~ theorem_6_sufficient (fun _ => 1) C.
Proof.
  intros C H. set (l := ln (3 / 2)).
    assert (l0 : 0 < l) by (unfold l; rewrite <- ln_1; apply ln_increasing; lra).
  destruct (enough (C 0 (/ 2) 2%nat) (/ 5) (8 / l)) as (K & K1 & Kl & HK); [lra|].
  destruct (dull_setting_6 K K1) as [HW _].
  destruct (H bool bool (mixed 0 K) (phi_at 0) 0 (/ 5) (/ 2) (dull_setting_6 K K1) ltac:(lra) ltac:(lra) HK)
    as (bin & hat & Hh & B).
  set (P := product_6 (fun _ => 1) (mixed 0 K) (phi_at 0)) in *.
  assert (S : forall e, 9 / 10 <= P e true).
  { intros e. apply (mixed_sure 0 K e); [lia|]. simpl INR. fold l.
    assert (8 = 8 / l * l) by (field; lra). nra. }
  pose proof (ece_ge (mixed 0 K) HW bin P hat (fun e He => proj1 (Hh e He))) as G.
  assert (G1 : sum (evidence (mixed 0 K)) (fun e => joint (mixed 0 K) (hat e) e) <= 3 / 5).
  { assert (J : forall y e, joint (mixed 0 K) y e = p35 y * (/ 2) ^ K).
    { intros y e. simpl. unfold lik_at. simpl. now rewrite prod_const, seq_length. }
    rewrite <- (Rmult_1_l (3 / 5)), <- (mass_total _ HW), <- sum_scal_r. apply sum_le; intros e _.
    change (mass (mixed 0 K) e) with (joint (mixed 0 K) true e + (joint (mixed 0 K) false e + 0)). rewrite !J.
    assert (0 < (/ 2) ^ K) by (apply pow_lt; lra). destruct (hat e); simpl p35; lra. }
  assert (G2 : 9 / 10 <= sum (evidence (mixed 0 K)) (fun e => mass (mixed 0 K) e * conf P hat e)).
  { rewrite <- (Rmult_1_l (9 / 10)), <- (mass_total _ HW), <- sum_scal_r. apply sum_le; intros e He.
    apply Rmult_le_compat_l; [now apply mass_nonneg|]. destruct (Hh e He) as [_ q].
    specialize (q true (or_introl eq_refl)). specialize (S e). unfold conf. lra. }
  rewrite Rabs_left1 in G by lra. lra.
Qed.

(** claim: T6 | refutes | caveats: reals, population-ece
    Nor with normalized weights 1/K: a fair coin and items right three times in four, factors exact; the
    error stays above 1/10 for all large K. For every C. Paper: theorem 6, section 3.6. *)
Theorem T6_refuted_sufficient_normalized : forall C, ~ theorem_6_sufficient (fun K => / INR K) C.
Proof.
  intros C H. destruct (enough (C (/ 16) (/ 2) 2%nat) (/ 10) 21) as (K & K1 & K21 & HK); [lra|].
  destruct (H bool bool (coin K) (fun _ => p34) (/ 16) (/ 10) (/ 2) (coin_setting_6 K K1) ltac:(lra)
    ltac:(lra) HK)
    as (bin & hat & Hh & B).
  assert (/ 8 <= ece (coin K) bin (product_6 (fun K => / INR K) (coin K) (fun _ => p34)) hat); [|lra].
  now apply coin_mean_error.
Qed.

(** claim: T6 | refutes | caveats: reals, population-ece
    Nor is any number of items needed: one item with an exact factor, (3/4, 1/4) or (1/4, 3/4), has no
    calibration error at all, so that it meets every eps > 0. For every C that is not zero at this variance,
    1/16, and any weights that give a single item the weight 1. Paper: theorem 6, section 3.6. *)
Theorem T6_refuted_necessary : forall wt C delta, wt 1%nat = 1 -> 0 < delta < 1 ->
  C (/ 16) delta 2%nat <> 0 ->
  ~ theorem_6_necessary wt C.
Proof.
  intros wt C delta W1 Hd c0 H. set (c := C (/ 16) delta 2%nat) in *. set (eps := Rabs c / 2).
  assert (a0 : 0 < Rabs c) by now apply Rabs_pos_lt. destruct (coin_world 1) as [HW _].
  specialize (H bool bool (coin 1) (fun _ => p34) (/ 16) eps delta (coin_setting_6 1 (le_n 1))).
  change (C (/ 16) delta (length (classes (coin 1)))) with c in H. change (INR (items (coin 1))) with 1 in H.
  assert (E : c ^ 2 / eps ^ 2 = 4).
  { unfold eps. rewrite <- (Rsqr_pow2 c), Rsqr_abs, Rsqr_pow2. field. lra. }
  rewrite E in H. assert (1 >= 4); [|lra]. apply H; [unfold eps; lra | easy |].
  intros bin hat Hh. rewrite ece_posterior; [unfold eps; lra | easy | intros; now apply Hh |].
  intros e He _. rewrite <- coin_product. unfold product_6, plain_product.
    change (items (coin 1)) with 1%nat. now rewrite W1.
Qed.

(* The paper's own C, sqrt(2 s2 ln(2 n/delta)), is not zero there. *)
Example T6_refuted_necessary_paper : forall delta, 0 < delta < 1 ->
  ~ theorem_6_necessary (fun _ => 1) (fun s2 d n => sqrt (2 * s2 * ln (2 * INR n / d))).
Proof.
  intros d Hd. apply (T6_refuted_necessary _ _ d); auto. apply Rgt_not_eq, sqrt_lt_R0.
  assert (1 < 2 * INR 2 / d).
  { simpl INR. apply Rmult_lt_reg_r with d; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (0 < ln (2 * INR 2 / d)) by (rewrite <- ln_1; apply ln_increasing; lra). lra.
Qed.
