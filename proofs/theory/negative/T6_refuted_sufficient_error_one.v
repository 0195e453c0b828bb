(* False: no calibration error exceeds 1, so for eps >= 1 any number of items suffices. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1 L5 T4 T4_moreover.
From LPF Require Import T6.
Import ListNotations.
Open Scope R_scope.

Theorem T6_refuted_sufficient_error_one : forall C,
  ~ (forall (Y A : Type) (W : world Y A) (Phi : nat -> A -> Y -> R) (s2 eps delta : R),
    setting_6 W Phi s2 -> 0 < s2 -> 1 <= eps -> 0 < delta < 1 ->
    INR (items W) >= C s2 delta (length (classes W)) ^ 2 / eps ^ 2 ->
    exists bin hat, picks W (product_6 (fun _ => 1) W Phi) hat /\
      ece W bin (product_6 (fun _ => 1) W Phi) hat <= eps).
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
