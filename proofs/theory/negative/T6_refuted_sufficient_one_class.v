(* False: with a single class every prediction is right and certain: no error, so any number of items
   suffices. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1 L5 T4 T4_moreover.
From LPF Require Import T6.
Import ListNotations.
Open Scope R_scope.

Theorem T6_refuted_sufficient_one_class : forall C,
  ~ (forall (Y A : Type) (W : world Y A) (Phi : nat -> A -> Y ->
    R) (s2 eps delta : R), length (classes W) = 1%nat ->
    setting_6 W Phi s2 -> 0 < eps -> 0 < delta < 1 ->
    INR (items W) >= C s2 delta (length (classes W)) ^ 2 / eps ^ 2 ->
    exists bin hat, picks W (product_6 (fun _ => 1) W Phi) hat /\ ece W bin (product_6 (fun _ => 1) W Phi)
      hat <= eps).
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
