(* False: if the noise may be any quantity, take 1 for it, and c2 = 1: no calibration error is larger. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1 L5 T4.
From LPF Require Import T4_moreover.
Import ListNotations.
Open Scope R_scope.

Theorem T4_moreover_refuted_any_noise : forall nz c1 c2 a b, True ->
  ~ theorem_4_moreover (fun _ => 1) nz c1 c2 a b.
Proof.
  intros nz c1 c2 a b Hn H.
  set (l := ln (3 / 2)). assert (l0 : 0 < l) by (unfold l; rewrite <- ln_1; apply ln_increasing; lra).
  set (h := entropy [true; false] p35).
  assert (h0 : 0 < h).
  { unfold h, entropy. simpl. assert (ln (3 / 5) < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
    assert (ln (2 / 5) < 0) by (rewrite <- ln_1; apply ln_increasing; lra). lra. }
  assert (il : 0 < 8 / l) by (apply Rdiv_lt_0_compat; lra).
  destruct (terms_small (c1 2%nat) (c2 2%nat) (a 2%nat) (b 2%nat) h (2 + 8 / l) h0) as (m & K & M & m1 & mK
    & K2 & M1 & HK & T4).
  destruct (H bool bool (mixed m K) (phi_at m) M (mixed_setting m K K2) M1) as (bin & hat & Hh & E). clear H.
  destruct (mixed_setting m K K2) as [HW _].
  set (P := moreover_product (fun _ => 1) (mixed m K) (phi_at m)) in *.
  assert (S : forall e, 9 / 10 <= P e true /\ P e false <= / 10).
  { intros e. apply mixed_sure; [easy|]. fold l.
    assert (8 = 8 / l * l) by (field; lra). assert (8 / l < INR K - 2 * INR m) by nra. nra. }
  assert (T : forall e, In e (evidence (mixed m K)) -> hat e = true).
  { intros e He. destruct (Hh e He) as [_ q]. specialize (q true (or_introl eq_refl)). destruct (S e).
    destruct (hat e); [easy | lra]. }
  assert (PR : forall y, prior (mixed m K) y = p35 y).
  { intros y. apply (product_prior [true; false] [true; false] K true p35 (lik_at m));
      [intros; apply lik_at_distribution | destruct y; simpl; tauto]. }
  pose proof (ece_ge (mixed m K) HW bin P hat (fun e He => proj1 (Hh e He))) as G.
  assert (G1 : sum (evidence (mixed m K)) (fun e => joint (mixed m K) (hat e) e) = 3 / 5).
  { rewrite (sum_ext _ _ (fun e => joint (mixed m K) true e)) by (intros e He; now rewrite T).
    apply (PR true). }
  assert (G2 : 9 / 10 <= sum (evidence (mixed m K)) (fun e => mass (mixed m K) e * conf P hat e)).
  { rewrite <- (Rmult_1_l (9 / 10)), <- (mass_total _ HW), <- sum_scal_r. apply sum_le; intros e He.
    apply Rmult_le_compat_l; [now apply mass_nonneg|]. unfold conf. rewrite T by easy. apply S. }
  rewrite G1, Rabs_left1 in G by lra.
  change (length (classes (mixed m K))) with 2%nat in E. cbv zeta in E.
    change (items (mixed m K)) with K in E.
  assert (EH : entropy (classes (mixed m K)) (prior (mixed m K)) = h).
  { change (classes (mixed m K)) with [true; false]. unfold h, entropy. cbn [sum]. now rewrite !PR. }
  rewrite EH in E.
  specialize (T4 (residual_entropy (mixed m K)) (nz bool bool (mixed m K) (phi_at m))
    (conj (residual_nonneg _ HW) (mixed_residual m K mK)) (mixed_noise nz m K Hn mK K2)). lra.
Qed.
