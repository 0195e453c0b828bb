(* False: if the noise may be any quantity, take 1 for it, and c2 = 1: no calibration error is larger. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1 L5 T4.
From LPF Require Import T4_moreover.
Import ListNotations.
Open Scope R_scope.

Theorem T4_moreover_refuted_any_noise : forall nz c1 c2 a b, True -> ~ theorem_4_moreover nz c1 c2 a b.
Proof.
  intros nz c1 c2 a b Hn H. set (d1 := Rmax (c1 2%nat) 0). set (d2 := Rmax (c2 2%nat) 0).
  assert (Hd1 : 0 <= d1 /\ c1 2%nat <= d1) by (split; [apply Rmax_r | apply Rmax_l]).
  assert (Hd2 : 0 <= d2 /\ c2 2%nat <= d2) by (split; [apply Rmax_r | apply Rmax_l]).
  set (l := ln (3 / 2)). assert (l0 : 0 < l) by (unfold l; rewrite <- ln_1; apply ln_increasing; lra).
  set (h := entropy [true; false] p35).
  assert (h0 : 0 < h).
  { unfold h, entropy. simpl. assert (ln (3 / 5) < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
    assert (ln (2 / 5) < 0) by (rewrite <- ln_1; apply ln_increasing; lra). lra. }
  assert (ih : 0 < / h) by now apply Rinv_0_lt_compat.
  destruct (exists_nat_above (760 * (d1 * / h))) as (m & m1 & Hm).
  assert (i1 : 1 <= INR m) by (apply (le_INR 1); easy).
  set (B := 400 * b 2%nat ^ 2). assert (B0 : 0 <= B) by (unfold B; pose proof (pow2_ge_0 (b 2%nat)); lra).
  assert (il : 0 < 8 / l) by (apply Rdiv_lt_0_compat; lra).
  assert (dm : 0 <= d2 * INR m) by (apply Rmult_le_pos; lra).
  destruct (exists_nat_above (2 + 2 * INR m + 120 * (d2 * INR m) + B + 8 / l)) as (K & K1 & HK).
  assert (mK : (m <= K)%nat) by (apply INR_le; lra).
  assert (K2 : (2 <= K)%nat) by (apply INR_le; simpl INR at 1; lra).
  set (A := 400 * a 2%nat ^ 2). assert (A0 : 0 <= A) by (unfold A; pose proof (pow2_ge_0 (a 2%nat)); lra).
  destruct (exists_nat_above A) as (M & M1 & HM).
  destruct (H bool bool (mixed m K) (phi_at m) M (mixed_setting m K K2) M1) as (bin & hat & Hh & E). clear H.
  destruct (mixed_setting m K K2) as [HW _].
  set (P := plain_product bool bool (mixed m K) (phi_at m)) in *.
  assert (S : forall e, 9 / 10 <= P e true /\ P e false <= / 10).
  { intros e. apply mixed_sure; [easy|]. fold l.
    assert (8 = 8 / l * l) by (field; lra). assert (8 / l < INR K - 2 * INR m) by lra. nra. }
  assert (T : forall e, In e (evidence (mixed m K)) -> hat e = true).
  { intros e He. destruct (Hh e He) as [_ q]. specialize (q true (or_introl eq_refl)). destruct (S e).
    destruct (hat e); [easy | lra]. }
  assert (PR : forall y, prior (mixed m K) y = p35 y).
  { intros y. apply (product_prior [true; false] [true; false] K true p35 (lik_at m));
      [intros; apply lik_at_distribution | destruct y; simpl; tauto]. }
  pose proof (ece_ge (mixed m K) HW bin P hat (fun e He => proj1 (Hh e He))) as G.
  assert (G1 : sum (evidence (mixed m K)) (fun e => joint (mixed m K) (hat e) e) = 3 / 5).
  { rewrite (sum_ext _ _ (fun e => joint (mixed m K) true e)) by (intros e He; now rewrite T). apply (PR true). }
  assert (G2 : 9 / 10 <= sum (evidence (mixed m K)) (fun e => mass (mixed m K) e * conf P hat e)).
  { rewrite <- (Rmult_1_l (9 / 10)), <- (mass_total _ HW), <- sum_scal_r. apply sum_le; intros e He.
    apply Rmult_le_compat_l; [now apply mass_nonneg|]. unfold conf. rewrite T by easy. apply S. }
  rewrite G1, Rabs_left1 in G by lra.
  change (length (classes (mixed m K))) with 2%nat in E. cbv zeta in E. change (items (mixed m K)) with K in E.
  assert (EH : entropy (classes (mixed m K)) (prior (mixed m K)) = h).
  { change (classes (mixed m K)) with [true; false]. unfold h, entropy. cbn [sum]. now rewrite !PR. }
  rewrite EH in E.
  (* each of the four terms is below 1/20 *)
  assert (T1 : c1 2%nat * (residual_entropy (mixed m K) / h) <= / 20).
  { pose proof (mixed_residual m K mK) as R1. pose proof (bernoulli (/ 19) m ltac:(lra)) as Be.
    assert (R0 : 0 <= residual_entropy (mixed m K)).
    { apply sum_nonneg. intros e He. destruct (mass_nonneg _ HW e He) as [p| <-]; [|lra].
      apply Rmult_le_pos; [lra|]. apply entropy_nonneg.
      apply (normalize_distribution (classes (mixed m K)) (fun y => joint (mixed m K) y e)); [|easy].
      intros. now apply joint_nonneg. }
    assert (Q : (19 / 20) ^ m <= 19 * / INR m).
    { replace (19 / 20) with (/ (1 + / 19)) by lra. rewrite pow_inv. replace (19 * / INR m) with (/ (INR m * / 19)) by (field; lra).
      apply Rinv_le_contravar; lra. }
    apply Rle_trans with (d1 * (38 * / INR m * / h)).
    - apply Rle_trans with (d1 * (residual_entropy (mixed m K) / h)).
      + apply Rmult_le_compat_r; [|lra]. apply Rmult_le_pos; lra.
      + apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_r; lra.
    - apply Rmult_le_reg_r with (INR m); [lra|].
      replace (d1 * (38 * / INR m * / h) * INR m) with (38 * (d1 * / h)) by (field; lra). lra. }
  assert (T2 : c2 2%nat * nz bool bool (mixed m K) (phi_at m) <= / 20).
  { destruct (mixed_noise nz m K Hn mK K2) as [N0 N1].
    apply Rle_trans with (d2 * (6 * INR m / (INR K - 1))).
    - apply Rle_trans with (d2 * nz bool bool (mixed m K) (phi_at m)).
      + apply Rmult_le_compat_r; lra.
      + apply Rmult_le_compat_l; lra.
    - apply Rmult_le_reg_r with (INR K - 1); [lra|].
      replace (d2 * (6 * INR m / (INR K - 1)) * (INR K - 1)) with (6 * (d2 * INR m)) by (field; lra). lra. }
  assert (T3 : a 2%nat / sqrt (INR M) < / 20) by (apply over_sqrt; unfold A in *; lra).
  assert (T4 : b 2%nat / sqrt (INR K) < / 20) by (apply over_sqrt; unfold B in *; lra).
  lra.
Qed.
