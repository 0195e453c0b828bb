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

(* "C^2/eps^2 items suffice"; some bins and some choice among ties are enough for the claim, and it is made
   only for factors that do vary. Factors are exactly calibrated, so that eps_base of appendix B.6 is 0. *)
Definition theorem_6_sufficient (wt : nat -> R) (C : R -> R -> nat -> R) : Prop :=
  forall (Y A : Type) (W : world Y A) (Phi : nat -> A -> Y -> R) (s2 eps delta : R),
    setting_6 W Phi s2 -> 0 < s2 -> 0 < eps -> 0 < delta < 1 ->
    INR (items W) >= C s2 delta (length (classes W)) ^ 2 / eps ^ 2 ->
    exists bin hat, picks W (product_6 wt W Phi) hat /\ ece W bin (product_6 wt W Phi) hat <= eps.
(* "C^2/eps^2 items are needed": whoever has the error eps, with any bins and choices, has so many items. *)
Definition theorem_6_necessary (wt : nat -> R) (C : R -> R -> nat -> R) : Prop :=
  forall (Y A : Type) (W : world Y A) (Phi : nat -> A -> Y -> R) (s2 eps delta : R),
    setting_6 W Phi s2 -> 0 < eps -> 0 < delta < 1 ->
    (forall bin hat, picks W (product_6 wt W Phi) hat -> ece W bin (product_6 wt W Phi) hat <= eps) ->
    INR (items W) >= C s2 delta (length (classes W)) ^ 2 / eps ^ 2.

(* Items that say little: the prior is (3/5, 2/5), and an item, one way or the other with probability 1/2
   each, moves it to (13/20, 7/20) or to (11/20, 9/20). The factors vary by 1/400. *)
Definition lean_lik (_ : nat) (a y : bool) := match a, y with
  true, true => 13 / 24 | true, false => 7 / 16 | false, true => 11 / 24 | false, false => 9 / 16 end.
Definition lean_phi (_ : nat) (a y : bool) := match a, y with
  true, true => 13 / 20 | true, false => 7 / 20 | false, true => 11 / 20 | false, false => 9 / 20 end.
Definition lean K := product_world [true; false] [true; false] K true p35 lean_lik.
Lemma lean_distribution i y : distribution [true; false] (fun a => lean_lik i a y).
Proof. split; [intros [] _; destruct y; simpl; lra | destruct y; simpl; lra]. Qed.
Lemma lean_phi_range i a y : 7 / 20 <= lean_phi i a y <= 13 / 20.
Proof. destruct a, y; simpl; lra. Qed.
Lemma lean_joint K i a y : (i < K)%nat -> item_joint (lean K) i a y = p35 y * lean_lik i a y.
Proof.
  intros Hi. apply (product_item_joint [true; false] [true; false] K true p35 lean_lik);
    auto using bools, lean_distribution; [destruct a | destruct y]; simpl; tauto.
Qed.
Lemma lean_world K : is_world (lean K).
Proof. apply product_is_world; auto using bools, p35_distribution, lean_distribution. Qed.
Lemma lean_mean K i (h : bool -> R) : (i < K)%nat ->
  sum (evidence (lean K)) (fun e => mass (lean K) e * h (item (lean K) i e)) = (h true + h false) / 2.
Proof.
  intros Hi. rewrite (sum_ext _ _ (fun e => h (item (lean K) i e) * mass (lean K) e)) by (intros; ring).
  rewrite (sum_by_item (lean K) i h (mass (lean K)) (lean_world K) Hi).
  rewrite (sum_ext _ _ (fun a => h a * / 2)); [simpl; lra|]. intros a Ha. f_equal.
  transitivity (sum (classes (lean K)) (item_joint (lean K) i a)).
  - unfold item_joint, mass. rewrite sum_swap. apply sum_ext; intros e _. now rewrite sum_scal.
  - change (classes (lean K)) with [true; false]. cbn [sum]. rewrite !lean_joint by easy.
    destruct a; simpl; lra.
Qed.
Lemma lean_setting_6 K : (1 <= K)%nat -> setting_6 (lean K) lean_phi (/ 400).
Proof.
  intros K1. split; [apply lean_world|].
  split; [apply product_A1; auto using bools, p35_distribution, lean_distribution|].
  split; [exact K1|]. split; [|split; [|split]].
  - intros i a. split; [intros y _; pose proof (lean_phi_range i a y); lra | destruct a; simpl; lra].
  - intros i a y _. pose proof (lean_phi_range i a y). simpl. lra.
  - apply exact_calibrated; [apply lean_world|]. intros i a y Hi Ha Hy.
    change (classes (lean K)) with [true; false]. cbn [sum]. rewrite !lean_joint by easy.
    destruct a, y; simpl; lra.
  - intros i y Hi _. unfold factor_variance.
    rewrite (lean_mean K i (fun a => (lean_phi i a y - factor_mean (lean K) lean_phi i y) ^ 2) Hi).
    unfold factor_mean. rewrite (lean_mean K i (fun a => lean_phi i a y) Hi). destruct y; simpl; lra.
Qed.
(* Every factor leans to the first class, so the product is ever surer of it. *)
Lemma lean_sure K e : 8 <= INR K * ln (11 / 9) ->
  9 / 10 <= product_6 (fun _ => 1) (lean K) lean_phi e true /\
  product_6 (fun _ => 1) (lean K) lean_phi e false <= / 10.
Proof.
  intros H. unfold product_6, pool. simpl classes. simpl items. rewrite !normalize_bools.
  set (s := fun y => sum (seq 0 K) (fun i => 1 * ln (lean_phi i (item (lean K) i e) y))).
  fold (s true). fold (s false).
  assert (L : INR K * ln (11 / 9) + s false <= s true).
  { unfold s. replace (INR K * ln (11 / 9)) with (sum (seq 0 K) (fun _ => ln (11 / 9)))
      by now rewrite sum_const, seq_length.
    rewrite <- sum_plus. apply sum_le; intros i _. rewrite !Rmult_1_l.
    pose proof (lean_phi_range i (item (lean K) i e) false). rewrite <- ln_mult by lra.
    destruct (item (lean K) i e); simpl; [left; apply ln_increasing; lra | right; f_equal; lra]. }
  pose proof (exp_pos (s false)) as p.
  assert (T : 9 * exp (s false) <= exp (s true)).
  { assert (exp 8 * exp (s false) <= exp (s true)).
    { rewrite <- exp_plus. assert (8 + s false <= s true) as [h|h] by lra;
        [left; now apply exp_increasing | rewrite h; lra]. }
    pose proof (exp_ineq1 8 ltac:(lra)). nra. }
  split; apply Rmult_le_reg_r with (exp (s true) + exp (s false)); try lra;
    unfold Rdiv; rewrite ?Rmult_assoc, ?Rinv_l by lra; lra.
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
    No number of items suffices: with the prior (3/5, 2/5) and exact factors (13/20, 7/20) or (11/20, 9/20),
    weights 1, the product is ever surer of the first class, and its calibration error stays above 1/5 for all
    large K. For every C. Paper: theorem 6, section 3.6. *)
Theorem T6_refuted_sufficient : forall C, ~ theorem_6_sufficient (fun _ => 1) C.
Proof.
  intros C H. set (l := ln (11 / 9)).
  assert (l0 : 0 < l) by (unfold l; rewrite <- ln_1; apply ln_increasing; lra).
  destruct (enough (C (/ 400) (/ 2) 2%nat) (/ 5) (8 / l)) as (K & K1 & Kl & HK); [lra|].
  pose proof (lean_world K) as HW.
  destruct (H bool bool (lean K) lean_phi (/ 400) (/ 5) (/ 2) (lean_setting_6 K K1) ltac:(lra) ltac:(lra)
    ltac:(lra) HK) as (bin & hat & Hh & B).
  set (P := product_6 (fun _ => 1) (lean K) lean_phi) in *.
  assert (S : forall e, 9 / 10 <= P e true /\ P e false <= / 10).
  { intros e. apply (lean_sure K e). fold l. assert (8 = 8 / l * l) by (field; lra). nra. }
  assert (T : forall e, In e (evidence (lean K)) -> hat e = true).
  { intros e He. destruct (Hh e He) as [_ q]. specialize (q true (or_introl eq_refl)). specialize (S e).
    destruct (hat e); [easy | lra]. }
  pose proof (ece_ge (lean K) HW bin P hat (fun e He => proj1 (Hh e He))) as G.
  assert (G1 : sum (evidence (lean K)) (fun e => joint (lean K) (hat e) e) = 3 / 5).
  { transitivity (prior (lean K) true).
    - apply sum_ext; intros e He. now rewrite T.
    - apply (product_prior [true; false] [true; false] K true p35 lean_lik);
        [intros; apply lean_distribution | simpl; tauto]. }
  assert (G2 : 9 / 10 <= sum (evidence (lean K)) (fun e => mass (lean K) e * conf P hat e)).
  { rewrite <- (Rmult_1_l (9 / 10)), <- (mass_total _ HW), <- sum_scal_r. apply sum_le; intros e He.
    apply Rmult_le_compat_l; [now apply mass_nonneg|]. unfold conf. rewrite T by easy. apply S. }
  rewrite Rabs_left1 in G by lra. lra.
Qed.

(** claim: T6 | refutes | caveats: reals, population-ece
    Nor with normalized weights 1/K: a fair coin and items right three times in four, factors exact; the
    error stays above 1/10 for all large K. For every C. Paper: theorem 6, section 3.6. *)
Theorem T6_refuted_sufficient_normalized : forall C, ~ theorem_6_sufficient (fun K => / INR K) C.
Proof.
  intros C H. destruct (enough (C (/ 16) (/ 2) 2%nat) (/ 10) 21) as (K & K1 & K21 & HK); [lra|].
  destruct (H bool bool (coin K) (fun _ => p34) (/ 16) (/ 10) (/ 2) (coin_setting_6 K K1) ltac:(lra)
    ltac:(lra) ltac:(lra) HK)
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
