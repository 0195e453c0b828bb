(* False: if the noise may be any quantity, take 1 for it, and c2 = 1: no calibration error is larger. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1 L5 T4.
From LPF Require Import T4_moreover.
Import ListNotations.
Open Scope R_scope.

Theorem T4_moreover_refuted_normalized_any_noise : forall nz c1 c2 a b, True ->
  ~ theorem_4_moreover (fun K => / INR K) nz c1 c2 a b.
Proof.
  intros nz c1 c2 a b Hn H.
  set (l := ln (3 / 2)). assert (l0 : 0 < l) by (unfold l; rewrite <- ln_1; apply ln_increasing; lra).
  assert (q0 : 0 < ln 3) by (rewrite <- ln_1; apply ln_increasing; lra).
  destruct (terms_small (c1 2%nat) (c2 2%nat) (a 2%nat) (b 2%nat) (ln 2) (ln 3 / l) ln2_pos)
    as (m & K & M & m1 & mK & K2 & M1 & HK & T4).
  destruct (H bool bool (fair m K) (fair_at m) M (fair_setting m K K2) M1) as (bin & hat & Hh & E). clear H.
  destruct (fair_setting m K K2) as [HW _]. pose proof (mass_total _ HW) as one_mass.
  set (P := moreover_product (fun K => / INR K) (fair m K) (fair_at m)) in *.
  assert (k2 : 2 <= INR K) by (apply (le_INR 2); easy).
  assert (R0 : 0 < / INR K) by (apply Rinv_0_lt_compat; lra).
  assert (mono : forall x y, x <= y -> exp x <= exp y).
  { intros x y [L| ->]; [left; now apply exp_increasing | lra]. }
  set (s := fun e y => sum (seq 0 K) (fun i => ln (fair_at m i (item (fair m K) i e) y))).
  assert (HP : forall e y, P e y = exp (/ INR K * s e y) / (exp (/ INR K * s e true) + exp (/ INR K * s e
    false))).
  { intros e y. unfold P, moreover_product, pool. change (classes (fair m K)) with [true; false].
    rewrite normalize_bools.
    change (items (fair m K)) with K. rewrite !sum_scal. easy. }
  (* it is never surer than 3/5 *)
  assert (HC : forall e y, P e y <= 3 / 5).
  { intros e y. rewrite HP.
    assert (T : exp (/ INR K * s e y) <= 3 / 2 * exp (/ INR K * s e (negb y))).
    { replace (3 / 2) with (exp l) by (apply exp_ln; lra). rewrite <- exp_plus. apply mono.
      assert (D : s e y <= INR m * ln 3 + s e (negb y)).
      { unfold s. rewrite <- (sum_first m K (ln 3)), <- sum_plus by easy. apply sum_le; intros i _.
        unfold fair_at.
        destruct (i <? m)%nat; [|lra]. set (x := item (fair m K) i e). pose proof (p34_range x (negb y)).
        pose proof (p34_range x y). rewrite <- ln_mult by lra.
        destruct (Rle_lt_or_eq_dec (p34 x y) (3 * p34 x (negb y)));
          [destruct x, y; simpl; lra | left; apply ln_increasing; lra | right; now f_equal]. }
      assert (B : INR m * ln 3 <= INR K * l).
      { assert (ln 3 = ln 3 / l * l) by (field; lra). assert (0 < ln 3 / l) by now apply Rdiv_lt_0_compat.
        nra. }
      apply Rmult_le_reg_l with (INR K); [lra|].
        rewrite Rmult_plus_distr_l, <- !Rmult_assoc, !Rinv_r by lra. lra. }
    pose proof (exp_pos (/ INR K * s e true)). pose proof (exp_pos (/ INR K * s e false)).
    apply Rmult_le_reg_r with (exp (/ INR K * s e true) + exp (/ INR K * s e false)); [lra|].
    unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra. destruct y; simpl in T; lra. }
  (* and almost always right *)
  assert (HJ : forall e, In e (evidence (fair m K)) ->
    mass (fair m K) e - sqrt (joint (fair m K) true e * joint (fair m K) false e) <= joint (fair m K) (hat
      e) e).
  { intros e He. assert (Q : joint (fair m K) (negb (hat e)) e <= joint (fair m K) (hat e) e).
    { destruct (Hh e He) as [_ q]. specialize (q (negb (hat e)) ltac:(simpl; destruct (hat e); simpl; tauto)).
      rewrite !HP in q. rewrite !fair_joint. fold (s e (hat e)). fold (s e (negb (hat e))).
      destruct (Rle_or_lt (s e (negb (hat e))) (s e (hat e))) as [L|L]; [apply Rmult_le_compat_l;
        [lra | now apply mono]|].
      exfalso. assert (L' : exp (/ INR K * s e (hat e)) < exp (/ INR K * s e (negb (hat e)))).
      { apply exp_increasing. now apply Rmult_lt_compat_l. }
      pose proof (exp_pos (/ INR K * s e true)). pose proof (exp_pos (/ INR K * s e false)).
      assert (D : 0 < / (exp (/ INR K * s e true) + exp (/ INR K * s e false))) by (apply Rinv_0_lt_compat;
        lra).
      apply (Rmult_lt_compat_r _ _ _ D) in L'. unfold Rdiv in q. lra. }
    assert (J : forall y, 0 < joint (fair m K) y e).
    { intros y. rewrite fair_joint. apply Rmult_lt_0_compat; [lra | apply exp_pos]. }
    change (mass (fair m K) e) with (joint (fair m K) true e + (joint (fair m K) false e + 0)).
    pose proof (J true) as j1. pose proof (J false) as j2.
    set (u := joint (fair m K) true e) in *. set (v := joint (fair m K) false e) in *.
    assert (G : forall x y, 0 < x -> 0 < y -> x <= y -> x <= sqrt (x * y)).
    { intros x y x0 y0 L. rewrite <- (sqrt_square x) at 1 by lra. apply sqrt_le_1_alt. nra. }
    destruct (hat e); simpl negb in Q; fold u v in Q |- *.
    - pose proof (G v u j2 j1 Q). rewrite (Rmult_comm u v). lra.
    - pose proof (G u v j1 j2 Q). lra. }
  pose proof (ece_ge (fair m K) HW bin P hat (fun e He => proj1 (Hh e He))) as G.
  assert (G3 : (7 / 8) ^ m <= / 4).
  { pose proof (bernoulli (/ 7) m ltac:(lra)) as Be. replace (7 / 8) with (/ (1 + / 7)) by lra.
    rewrite pow_inv. apply Rinv_le_contravar; lra. }
  assert (G1 : 7 / 8 <= sum (evidence (fair m K)) (fun e => joint (fair m K) (hat e) e)).
  { pose proof (fair_sqrt m K mK). apply Rle_trans with (sum (evidence (fair m K)) (fun e =>
      mass (fair m K) e - sqrt (joint (fair m K) true e * joint (fair m K) false e))); [|now apply sum_le].
    rewrite sum_minus, one_mass. lra. }
  assert (G2 : sum (evidence (fair m K)) (fun e => mass (fair m K) e * conf P hat e) <= 3 / 5).
  { rewrite <- (Rmult_1_l (3 / 5)), <- one_mass, <- sum_scal_r. apply sum_le; intros e He.
    apply Rmult_le_compat_l; [now apply mass_nonneg | apply HC]. }
  rewrite Rabs_pos_eq in G by lra.
  change (length (classes (fair m K))) with 2%nat in E. cbv zeta in E. change (items (fair m K)) with K in E.
  assert (EH : entropy (classes (fair m K)) (prior (fair m K)) = ln 2).
  { apply entropy_fair. intros y.
    apply (product_prior [true; false] [true; false] K true (fun _ => / 2) (fair_at m));
      [intros; apply fair_likelihood | destruct y; simpl; tauto]. }
  assert (RE : residual_entropy (fair m K) <= 2 * (19 / 20) ^ m).
  { assert ((7 / 8) ^ m <= (19 / 20) ^ m) by (apply pow_incr; lra).
    assert (0 < (7 / 8) ^ m) by (apply pow_lt; lra).
    pose proof (fair_sqrt m K mK). eapply Rle_trans; [apply residual_le; [easy|]|]; [|lra].
    intros y e. rewrite fair_joint. apply Rmult_lt_0_compat; [lra | apply exp_pos]. }
  assert (NS : 0 <= nz bool bool (fair m K) (fair_at m) <= 6 * INR m / (INR K - 1)).
  { apply (noise_small (fair m K)); auto using fair_factor, fair_range.
    intros i j x y z Hi Hj. unfold fair_at. now rewrite Hi, Hj. }
  rewrite EH in E. specialize (T4 _ _ (conj (residual_nonneg _ HW) RE) NS). lra.
Qed.
