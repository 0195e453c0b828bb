(* False: without the second term; two draws of a fair coin are equal with probability 1/2, and then V = 0
   while the mean is off by 1/2. *)
Require Import Reals List Lra Psatz Lia Permutation.
From Coquelicot Require Import Coquelicot.
From LPF Require Import Sums Probability L1 L2 T2 Matching T2prime.
Import ListNotations.
Open Scope R_scope.

Theorem T2prime_empirical_bernstein_variance_term_only (S : space) (n : nat) (X : nat -> outcome S ->
  R) (delta : R) :
  let L := ln (3 / delta) in
  (2 <= n)%nat -> 0 < delta < 1 -> sample n X ->
  1 - delta <= prob_le
    (fun o => Rabs (mean n X o - E (X O)) - sqrt (2 * sample_variance n X o * L / INR n))
    (0 * L / (3 * (INR n - 1))).
Proof.
  intros L Hn Hd HX.
  assert (A : 1 < 3 / delta).
  { apply Rmult_lt_reg_r with delta; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (L0 : 0 < L) by (unfold L; rewrite <- ln_1; apply ln_increasing; lra).
  rewrite (prob_le_gt (fun o => Rabs (mean n X o - E (X O)) - sqrt (2 * sample_variance n X o * L / INR n)))
    by now apply deviation_rv.
  pose proof (empirical_failure n X Hn HX L L0) as F.
  replace (3 * exp (- L)) with delta in F; [lra|].
  unfold L. rewrite exp_Ropp, exp_ln by lra. field. lra.
Qed.
