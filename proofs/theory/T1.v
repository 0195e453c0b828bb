(* Theorem 1 of the paper (section 3.1), "SPN calibration preservation": if every soft factor is
   eps-calibrated and assumptions 1 to 4 hold, the expected calibration error of LPF's product is at most
   eps + C/sqrt(K_eff). It is false for every C, even one that may depend on delta and on the number of
   classes, whatever function of the posterior's variance gives the weights, and whether or not the weights
   are normalized to the sum 1. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World.
Import ListNotations.
Open Scope R_scope.

(* How weights come from f, a function of the variance: as they are, or divided by their sum. *)
Definition weighting := forall Y A, world Y A -> pipeline Y A -> (R -> R) -> nat -> list A -> R.
Definition raw : weighting := @raw_weight.
Definition normalized : weighting := @normalized_weight.

(* Theorem 1. Assumption 4 (the product is computed exactly) is built in; assumption 6 is granted as well.
   The claim is made as weak as it can be: some bins and some choice among equally probable classes are
   enough for it, and K_eff is the same positive number at all evidence. Assumption 5 (at most K_max items)
   is not one of the theorem's: K may be any number, and C does not depend on it. (For K of 5 or less and
   delta = 0.05, the bound with the paper's C is above 1 and says nothing.) All here is about the whole
   population, so nothing is left to chance, and "with probability at least 1 - delta" has no effect for
   delta < 1; only C may depend on delta. [family] is the kind of the encoder's posteriors: the paper's are
   Gaussian. *)
Definition theorem_1 (family : ((R -> R) -> R) -> Prop) (weights : weighting) (f : R -> R)
    (C : R -> nat -> R) : Prop :=
  forall (Y A : Type) (W : world Y A) (L : pipeline Y A) (eps delta k : R),
    is_world W -> (1 <= items W)%nat -> is_pipeline W L -> (forall i a, family (encoder L i a)) ->
    0 <= eps -> 0 < delta < 1 -> 0 < k ->
    A1 W -> A2 L -> A3 W L eps -> A6 W L -> calibrated W (factor L) eps ->
    (forall e, In e (evidence W) -> K_eff (items W) (fun i => weights Y A W L f i e) = k) ->
    let P := pool W (factor L) (weights Y A W L f) in
    exists bin hat, picks W P hat /\ ece W bin P hat <= eps + C delta (length (classes W)) / sqrt k.

(* First world: the items say nothing, the prior is (3/5, 2/5), every factor is exactly right. The product
   multiplies the prior with itself. *)
Definition p35 (y : bool) := if y then 3 / 5 else 2 / 5.
Definition dull (K : nat) := product_world [true; false] [tt] K tt p35 (fun _ _ _ => 1).
Definition dull_lpf (q : (R -> R) -> R) : pipeline bool unit := Pipeline (fun _ _ => q) (fun _ => p35).

Lemma dull_world K : is_world (dull K) /\ A1 (dull K).
Proof.
  assert (N : NoDup [tt]) by (repeat constructor; simpl; tauto).
  assert (D : distribution [true; false] p35) by (split; [intros []; simpl; lra | simpl; lra]).
  assert (E : forall i (y : bool), (i < K)%nat -> In y [true; false] ->
    distribution [tt] (fun a : unit => 1)).
  { split; [intros; lra | simpl; lra]. }
  split; [apply product_is_world | apply product_A1]; auto using bools.
Qed.
Lemma dull_joint K y e : joint (dull K) y e = p35 y.
Proof. simpl. rewrite prod_const, pow1. lra. Qed.
Lemma dull_mass K e : mass (dull K) e = 1.
Proof.
  unfold mass. rewrite (sum_ext _ _ p35) by (intros; apply dull_joint). simpl. lra.
Qed.
(** claim: T1 | refutes | caveats: reals, population-ece
    With items that say nothing, exact factors (3/5, 2/5) and equal weights, the product is ever surer while
    it is right three times in five: its calibration error tends to 2/5 and the bound to 0. For every C,
    whatever posterior q the encoder gives (a Gaussian, say), and every function f that gives it a positive
    weight. Paper: theorem 1, section 3.1. *)
Theorem T1_refuted : forall (family : ((R -> R) -> R) -> Prop) q f C,
  family q -> expectation q -> 0 < f (spread_of q) -> ~ theorem_1 family raw f C.
Proof.
  intros family q f C Fq Hq w0 H. set (v := spread_of q) in *. set (w := f v) in *.
  set (c := C (/ 2) 2%nat). set (l := ln (3 / 2)).
  assert (l0 : 0 < l) by (unfold l; rewrite <- ln_1; apply ln_increasing; lra).
  destruct (exists_nat_above (25 * c ^ 2 + 3 / (w * l))) as (K & K1 & HK).
  assert (K0 : 1 <= INR K) by (apply (le_INR 1); easy).
  assert (wl : 0 < w * l) by now apply Rmult_lt_0_compat.
  assert (q0 : 0 < 3 / (w * l)) by (apply Rdiv_lt_0_compat; lra).
  pose proof (pow2_ge_0 c) as c2.
  destruct (dull_world K) as [HW HA].
  destruct (H bool unit (dull K) (dull_lpf q) 0 (/ 2) (INR K)) as (bin & hat & Hhat & B); try easy.
  - split; [easy|]. split; [intros []; simpl; lra | simpl; lra].
  - lra.
  - lra.
  - lra.
  - exists v. intros. apply Rle_refl.
  - intros i y r Hi Hy. cbv zeta. rewrite Rmult_0_l, <- sum_scal, <- sum_minus.
    rewrite (sum_ext _ _ (fun _ => 0)); [rewrite sum_0, Rabs_R0; lra|].
    intros e He. rewrite dull_joint, dull_mass. simpl. rewrite expectation_const by easy.
    destruct (one_cases (p35 y = r)) as [[-> ->]|[_ ->]]; lra.
  - intros z [] Hy; simpl; lra.
  - intros i y r Hi Hy. cbv zeta. rewrite Rmult_0_l, <- sum_scal, <- sum_minus.
    rewrite (sum_ext _ _ (fun _ => 0)); [rewrite sum_0, Rabs_R0; lra|].
    intros e He. rewrite dull_joint, dull_mass. unfold factor. simpl. rewrite expectation_const by easy.
    destruct (one_cases (p35 y = r)) as [[-> ->]|[_ ->]]; lra.
  - intros e He. rewrite (K_eff_ext _ _ (fun _ => w)); [apply K_eff_equal; [easy|lra]|].
    intros i Hi. easy.
  - set (P := pool (dull K) (factor (dull_lpf q)) (raw bool unit (dull K) (dull_lpf q) f)) in *.
    assert (HP : forall e, 4 / 5 <= P e true).
    { intros e. unfold P, pool. simpl classes. simpl items. rewrite normalize_bools.
      assert (E : forall y, sum (seq 0 K) (fun i => raw bool unit (dull K) (dull_lpf q) f i e *
        ln (factor (dull_lpf q) i (item (dull K) i e) y)) = INR K * (w * ln (p35 y))).
      { intros y. rewrite (sum_ext _ _ (fun _ => w * ln (p35 y))); [now rewrite sum_const, seq_length|].
        intros i _. unfold raw, raw_weight, factor. simpl. rewrite expectation_const by easy. easy. }
      rewrite !E. simpl p35.
      replace (ln (3 / 5)) with (l + ln (2 / 5)).
      2: { unfold l. rewrite <- ln_mult by lra. f_equal. lra. }
      replace (INR K * (w * (l + ln (2 / 5)))) with (INR K * (w * l) + INR K * (w * ln (2 / 5))) by ring.
      rewrite exp_plus. set (a := exp (INR K * (w * l))). set (b := exp (INR K * (w * ln (2 / 5)))).
      assert (b0 : 0 < b) by apply exp_pos.
      assert (a4 : 4 <= a).
      { unfold a. eapply Rle_trans; [|left; apply exp_ineq1].
        - assert (3 < INR K * (w * l)); [|lra].
          apply Rmult_lt_reg_r with (/ (w * l)); [now apply Rinv_0_lt_compat|].
          rewrite Rmult_assoc, Rinv_r by lra. unfold Rdiv in *. lra.
        - apply Rgt_not_eq. apply Rmult_lt_0_compat; lra. }
      apply Rmult_le_reg_r with (a * b + b); [nra|].
      unfold Rdiv at 2. rewrite Rmult_assoc, Rinv_l by nra. nra. }
    pose proof (ece_ge (dull K) HW bin P hat (fun e He => proj1 (Hhat e He))) as G.
    assert (G1 : sum (evidence (dull K)) (fun e => joint (dull K) (hat e) e) <= 3 / 5).
    { replace (3 / 5) with (sum (evidence (dull K)) (mass (dull K)) * (3 / 5)) by (rewrite mass_total
      by easy; lra).
      rewrite <- sum_scal_r. apply sum_le; intros e He. rewrite dull_joint, dull_mass.
        destruct (hat e); simpl; lra. }
    assert (G2 : 4 / 5 <= sum (evidence (dull K)) (fun e => mass (dull K) e * conf P hat e)).
    { replace (4 / 5) with (sum (evidence (dull K)) (mass (dull K)) * (4 / 5)) by (rewrite mass_total
      by easy; lra).
      rewrite <- sum_scal_r. apply sum_le; intros e He. rewrite dull_mass. unfold conf.
      destruct (Hhat e He) as [_ M]. specialize (M true (or_introl eq_refl)). specialize (HP e). lra. }
    assert (T : c / sqrt (INR K) < / 5) by (apply over_sqrt; lra).
    change (C (/ 2) (length (classes (dull K)))) with c in B.
    rewrite Rabs_left1 in G by lra. lra.
Qed.

(* Second world: a fair coin, and items that report it rightly three times in four. *)
Definition p34 (a y : bool) := match a, y with true, true | false, false => 3 / 4 | _, _ => / 4 end.
Definition coin (K : nat) := product_world [true; false] [true; false] K true (fun _ => / 2) (fun _ => p34).
Definition center (v : R) (a : bool) := if a then 1 + sqrt v else - (1 + sqrt v).
Definition coin_lpf (v : R) : pipeline bool bool :=
  Pipeline (fun _ a => two_points (center v a) (sqrt v))
           (fun z => p34 (if decide (0 < z) then true else false)).

Lemma p34_distribution y : distribution [true; false] (fun a => p34 a y).
Proof. split; [intros [] _; destruct y; simpl; lra | destruct y; simpl; lra]. Qed.
Lemma p34_range a y : / 4 <= p34 a y <= 3 / 4.
Proof. destruct a, y; simpl; lra. Qed.
Lemma coin_world K : is_world (coin K) /\ A1 (coin K).
Proof.
  assert (D : distribution [true; false] (fun _ : bool => / 2)) by (split; [intros; lra | simpl; lra]).
  split; [apply product_is_world | apply product_A1]; auto using bools, p34_distribution.
Qed.
Lemma coin_sign v a s : -1 <= s <= 1 -> (if decide (0 < center v a + s * sqrt v) then true else false) = a.
Proof.
  intros Hs. unfold center. pose proof (sqrt_pos v).
  assert (0 <= (1 + s) * sqrt v) by (apply Rmult_le_pos; lra).
  assert (0 <= (1 - s) * sqrt v) by (apply Rmult_le_pos; lra). destruct a.
  - destruct (decide _) as [_|n]; [easy|]. exfalso; apply n. lra.
  - destruct (decide _) as [p|_]; [exfalso; lra | easy].
Qed.
Lemma coin_encode v i a (h : bool -> R) :
  encoder (coin_lpf v) i a (fun z => h (if decide (0 < z) then true else false)) = h a.
Proof.
  simpl. unfold two_points.
  replace (center v a - sqrt v) with (center v a + -1 * sqrt v) by ring.
  replace (center v a + sqrt v) with (center v a + 1 * sqrt v) by ring.
  rewrite !coin_sign by lra. lra.
Qed.
Lemma coin_factor v i a y : factor (coin_lpf v) i a y = p34 a y.
Proof. exact (coin_encode v i a (fun a => p34 a y)). Qed.
Lemma coin_spread v i a : 0 <= v -> spread (coin_lpf v) i a = v.
Proof. intros H. unfold spread, spread_of. simpl. unfold two_points. pose proof (sqrt_sqrt v H). nra. Qed.
(* Each factor is the posterior given its item. *)
Lemma coin_calibrated K i y (g : bool -> R) : (i < K)%nat -> In y [true; false] ->
  sum (evidence (coin K)) (fun e => g (item (coin K) i e) * joint (coin K) y e) =
  sum (evidence (coin K)) (fun e => g (item (coin K) i e) * (p34 (item (coin K) i e) y * mass (coin K) e)).
Proof.
  intros Hi Hy. set (x := item (coin K) i). set (ev := evidence (coin K)).
  (* both sides by the value of the item *)
  assert (S : forall F, sum ev (fun e => g (x e) * F e) =
    sum [true; false] (fun a => g a * sum ev (fun e => one (x e = a) * F e))).
  { intros F. erewrite (sum_ext [true; false]); [|intros a _; rewrite <- sum_scal; reflexivity].
    rewrite sum_swap. apply sum_ext; intros e _. simpl. destruct (x e).
    - rewrite one_true, one_false by easy. lra.
    - rewrite one_false, one_true by easy. lra. }
  assert (J : forall a z, sum ev (fun e => one (x e = a) * joint (coin K) z e) = / 2 * p34 a z).
  { intros a z. apply (product_item_joint [true; false] [true; false] K true (fun _ => / 2) (fun _ => p34));
    auto using bools, p34_distribution; [destruct a | destruct z]; simpl; tauto. }
  rewrite !S. apply sum_ext; intros a _. f_equal. rewrite J.
  rewrite (sum_ext ev _ (fun e => p34 a y * sum [true; false] (fun z => one (x e = a) * joint (coin K) z e))).
  - rewrite sum_scal, sum_swap. rewrite (sum_ext [true; false] _ _ (fun z _ => J a z)).
    destruct a, y; simpl; lra.
  - intros e _. rewrite sum_scal. fold (mass (coin K) e).
    destruct (one_cases (x e = a)) as [[-> ->]|[_ ->]]; unfold mass; simpl; lra.
Qed.
Lemma coin_joint K y e : joint (coin K) y e = / 2 * exp (sum (seq 0 K) (fun i => ln (p34 (item (coin K) i
  e) y))).
Proof.
  simpl. f_equal. rewrite exp_sum. apply prod_ext; intros i _. rewrite exp_ln; [easy|].
  pose proof (p34_range (item (coin K) i e) y). lra.
Qed.
(* The less probable class has little mass at any evidence. *)
Lemma coin_less K e y z : y <> z -> joint (coin K) y e <= joint (coin K) z e ->
  joint (coin K) y e <= / 2 * (7 / 16) ^ K.
Proof.
  intros N H.
  assert (E : joint (coin K) y e * joint (coin K) z e = / 4 * (3 / 16) ^ K).
  { simpl. replace (/ 4) with (/ 2 * / 2) by lra.
    replace ((3 / 16) ^ K) with (prod (seq 0 K) (fun _ => 3 / 16)) by (now rewrite prod_const, seq_length).
    rewrite (prod_ext (seq 0 K) (fun _ => 3 / 16) (fun i => p34 (nth i e true) y * p34 (nth i e true) z)).
    - rewrite prod_mult. ring.
    - intros i _. destruct (nth i e true), y, z; simpl; try lra; now destruct N. }
  assert (Q : (3 / 16) ^ K <= (7 / 16) ^ K * (7 / 16) ^ K).
  { rewrite <- Rpow_mult_distr. apply pow_incr. lra. }
  assert (0 < joint (coin K) y e).
  { rewrite coin_joint. pose proof (exp_pos (sum (seq 0 K) (fun i => ln (p34 (item (coin K) i e) y)))). lra. }
  assert (0 < (7 / 16) ^ K) by (apply pow_lt; lra). nra.
Qed.

(* The geometric mean of the factors in this world: sure to 3/4 at most, but almost always right. *)
Lemma coin_mean_error K Phi w : 21 < INR K -> (forall i a y, Phi i a y = p34 a y) ->
  (forall i e, w i e = / INR K) ->
  forall bin hat, picks (coin K) (pool (coin K) Phi w) hat ->
    / 8 <= ece (coin K) bin (pool (coin K) Phi w) hat.
Proof.
  intros HK HF WT bin hat Hhat. destruct (coin_world K) as [HW _].
    pose proof (mass_total (coin K) HW) as one_mass.
  assert (R0 : 0 < / INR K) by (apply Rinv_0_lt_compat; lra). set (P := pool (coin K) Phi w) in *.
  set (s := fun e y => sum (seq 0 K) (fun i => ln (p34 (item (coin K) i e) y))).
  assert (HP : forall e y, P e y = exp (/ INR K * s e y) / (exp (/ INR K * s e true) + exp (/ INR K * s e
    false))).
  { intros e y. unfold P, pool. simpl classes. rewrite normalize_bools. simpl items.
    assert (E : forall z, sum (seq 0 K) (fun i => w i e *
      ln (Phi i (item (coin K) i e) z)) = / INR K * s e z).
    { intros z. unfold s. rewrite <- sum_scal. apply sum_ext; intros. now rewrite WT, HF. }
    now rewrite !E. }
  (* it is never surer than 3/4 *)
  assert (HC : forall e y, P e y <= 3 / 4).
  { intros e y. rewrite HP.
    assert (T : exp (/ INR K * s e y) <= 3 * exp (/ INR K * s e (negb y))).
    { replace 3 with (exp (ln 3)) by (apply exp_ln; lra). rewrite <- exp_plus.
      assert (s e y <= INR K * ln 3 + s e (negb y)).
      { unfold s. replace (INR K * ln 3) with (sum (seq 0 K) (fun _ => ln 3))
        by now rewrite sum_const, seq_length.
        rewrite <- sum_plus. apply sum_le; intros i _.
        set (a := item (coin K) i e). pose proof (p34_range a y). pose proof (p34_range a (negb y)).
        rewrite <- ln_mult by lra. destruct (Rle_lt_or_eq_dec (p34 a y) (3 * p34 a (negb y)));
          [destruct a, y; simpl; lra | left; apply ln_increasing; lra | right; now f_equal]. }
      assert (Hm : / INR K * s e y <= ln 3 + / INR K * s e (negb y)).
      { apply Rmult_le_reg_l with (INR K); [lra|].
        rewrite Rmult_plus_distr_l, <- !Rmult_assoc, !Rinv_r by lra. lra. }
      destruct (Rle_lt_or_eq_dec _ _ Hm) as [h|h]; [left; now apply exp_increasing | right; now f_equal]. }
    pose proof (exp_pos (/ INR K * s e true)). pose proof (exp_pos (/ INR K * s e false)).
    apply Rmult_le_reg_r with (exp (/ INR K * s e true) + exp (/ INR K * s e false)); [lra|].
    unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra. destruct y; simpl in T; lra. }
  (* and almost always right *)
  assert (HJ : forall e, In e (evidence (coin K)) ->
    mass (coin K) e - / 2 * (7 / 16) ^ K <= joint (coin K) (hat e) e).
  { intros e He. assert (M : joint (coin K) (negb (hat e)) e <= joint (coin K) (hat e) e).
    { destruct (Hhat e He) as [_ M]. specialize (M (negb (hat e))). rewrite !HP in M.
      rewrite !coin_joint. fold (s e (hat e)). fold (s e (negb (hat e))).
      destruct (Rle_or_lt (s e (negb (hat e))) (s e (hat e))) as [[l|E]|l]; [|rewrite E; lra|].
      - apply Rmult_le_compat_l; [lra|]. left. now apply exp_increasing.
      - exfalso. assert (L : exp (/ INR K * s e (hat e)) < exp (/ INR K * s e (negb (hat e)))).
        { apply exp_increasing. now apply Rmult_lt_compat_l. }
        pose proof (exp_pos (/ INR K * s e true)). pose proof (exp_pos (/ INR K * s e false)).
        assert (D : 0 < / (exp (/ INR K * s e true) + exp (/ INR K * s e false)))
          by (apply Rinv_0_lt_compat; lra).
        apply (Rmult_lt_compat_r _ _ _ D) in L. unfold Rdiv in M.
        assert (I : In (negb (hat e)) (classes (coin K))) by (simpl; destruct (hat e); simpl; tauto).
        specialize (M I). lra. }
    assert (N : negb (hat e) <> hat e) by now destruct (hat e).
    pose proof (coin_less K e _ _ N M).
    change (mass (coin K) e) with (joint (coin K) true e + (joint (coin K) false e + 0)).
    destruct (hat e); simpl negb in *; lra. }
  pose proof (ece_ge (coin K) HW bin P hat (fun e He => proj1 (Hhat e He))) as G.
  assert (G1 : 1 - / 2 * (7 / 8) ^ K <= sum (evidence (coin K)) (fun e => joint (coin K) (hat e) e)).
  { rewrite <- one_mass. replace (/ 2 * (7 / 8) ^ K)
    with (sum (evidence (coin K)) (fun e => / 2 * (7 / 16) ^ K)).
    - rewrite <- sum_minus. now apply sum_le.
    - rewrite sum_scal. f_equal.
      rewrite (sum_ext _ _ (fun e => prod (seq 0 K) (fun i => (fun _ _ => 7 / 16) i (nth i e true)))).
      + unfold evidence. simpl items. simpl outcomes.
        rewrite (sum_tuples_prod [true; false] true K (fun _ _ => 7 / 16)), prod_const, seq_length.
          f_equal. simpl. lra.
      + intros e _. now rewrite prod_const, seq_length. }
  assert (G2 : sum (evidence (coin K)) (fun e => mass (coin K) e * conf P hat e) <= 3 / 4).
  { rewrite <- (Rmult_1_l (3 / 4)), <- one_mass, <- sum_scal_r. apply sum_le; intros e He.
    apply Rmult_le_compat_l; [now apply mass_nonneg | apply HC]. }
  assert (G3 : (7 / 8) ^ K <= / 4).
  { pose proof (bernoulli (/ 7) K ltac:(lra)) as Be. replace (7 / 8) with (/ (1 + / 7)) by lra.
    rewrite pow_inv. apply Rinv_le_contravar; lra. }
  rewrite Rabs_pos_eq in G by lra. lra.
Qed.

(** claim: T1 | refutes | caveats: reals, population-ece, two-point-posteriors
    Normalized weights do not save it. A fair coin, items right three times in four, exact factors, equal
    weights 1/K: the product is a geometric mean, never surer than 3/4, while it is almost always right for
    large K, so that its calibration error stays above 1/4 and the bound tends to 0. Paper: theorem 1, section 3.1,
    with the weights of lemma 4. *)
Theorem T1_refuted_normalized : forall f C, (exists v, 0 <= v /\ 0 < f v) ->
  ~ theorem_1 (fun q => exists m s, q = two_points m s) normalized f C.
Proof.
  intros f C (v & v0 & w0) H. set (c := C (/ 2) 2%nat).
  destruct (exists_nat_above (64 * c ^ 2 + 21)) as (K & K1 & HK). pose proof (pow2_ge_0 c) as c2.
  destruct (coin_world K) as [HW HA]. pose proof (mass_total (coin K) HW) as one_mass.
  assert (R0 : 0 < / INR K) by (apply Rinv_0_lt_compat; lra).
  assert (WT : forall i e, normalized bool bool (coin K) (coin_lpf v) f i e = / INR K).
  { intros. unfold normalized, normalized_weight, raw_weight. rewrite coin_spread by easy.
    rewrite (sum_ext _ _ (fun _ => f v)) by (intros; now rewrite coin_spread).
    rewrite sum_const, seq_length. simpl items. field. lra. }
  destruct (H bool bool (coin K) (coin_lpf v) 0 (/ 2) (INR K)) as (bin & hat & Hhat & B); try easy.
  - split; [intros; apply two_points_expectation|]. intros z. simpl.
    destruct (decide (0 < z)); (split; [intros [] _; simpl; lra | simpl; lra]).
  - intros i a. now exists (center v a), (sqrt v).
  - lra.
  - lra.
  - lra.
  - exists v. intros. rewrite coin_spread; lra.
  - intros i y q Hi Hy. cbv zeta. rewrite Rmult_0_l, <- sum_scal.
    rewrite (sum_ext _ (fun e => encoder (coin_lpf v) i (item (coin K) i e) _ * joint (coin K) y e)
      (fun e => one (p34 (item (coin K) i e) y = q) * joint (coin K) y e)).
    2: { intros e _. f_equal. exact (coin_encode v i (item (coin K) i e) (fun a => one (p34 a y = q))). }
    rewrite (coin_calibrated K i y (fun a => one (p34 a y = q))), <- sum_minus by easy.
    rewrite (sum_ext _ _ (fun _ => 0)); [rewrite sum_0, Rabs_R0; lra|]. intros e _.
    pose proof (coin_encode v i (item (coin K) i e) (fun a => one (p34 a y = q))) as E. simpl in E |- *.
      rewrite E.
    match goal with |- context [one ?p] => destruct (one_cases p) as [[-> ->]|[_ ->]] end; lra.
  - intros z y _. simpl. pose proof (p34_range (if decide (0 < z) then true else false) y). lra.
  - intros i y q Hi Hy. cbv zeta. rewrite Rmult_0_l, <- sum_scal.
    rewrite (coin_calibrated K i y (fun a => one (factor (coin_lpf v) i a y = q))), <- sum_minus by easy.
    rewrite (sum_ext _ _ (fun _ => 0)); [rewrite sum_0, Rabs_R0; lra|]. intros e _. rewrite coin_factor.
    match goal with |- context [one ?p] => destruct (one_cases p) as [[-> ->]|[_ ->]] end; lra.
  - intros e He. rewrite (K_eff_ext _ _ (fun _ => / INR K)); [apply K_eff_equal; [easy|lra]|]. intros.
    apply WT.
  - assert (G : / 8 <= ece (coin K) bin (pool (coin K) (factor (coin_lpf v)) (normalized bool bool (coin K)
    (coin_lpf v) f)) hat).
    { apply coin_mean_error; [lra | intros; apply coin_factor | exact WT | exact Hhat]. }
    assert (T : c / sqrt (INR K) < / 8) by (apply over_sqrt; lra).
    change (C (/ 2) (length (classes (coin K)))) with c in B. lra.
Qed.
