(* False: with a single class every prediction is right and certain, so the bound holds with C = 0. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World.
From LPF Require Import T1.
Import ListNotations.
Open Scope R_scope.

Theorem T1_refuted_one_class : forall (family : ((R -> R) -> R) -> Prop) q f C,
  family q -> expectation q -> 0 < f (spread_of q) ->
  ~ (forall (Y A : Type) (W : world Y A) (L : pipeline Y A) (eps delta k : R), length (classes W) = 1%nat ->
    is_world W -> (1 <= items W)%nat -> is_pipeline W L -> (forall i a, family (encoder L i a)) ->
    0 <= eps -> 0 < delta < 1 -> 0 < k ->
    A1 W -> A2 L -> A3 W L eps -> A6 W L -> calibrated W (factor L) eps ->
    (forall e, In e (evidence W) -> K_eff (items W) (fun i => raw Y A W L f i e) = k) ->
    let P := pool W (factor L) (raw Y A W L f) in
    exists bin hat, picks W P hat /\ ece W bin P hat <= eps + C delta (length (classes W)) / sqrt k).
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
