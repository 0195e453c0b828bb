(* False: without the second term; two draws of a fair decoder that is certain are equal with probability 1/2,
   and then V = 0 while the error is 1/2. *)
Require Import Reals List Lra Psatz Lia Permutation.
From Coquelicot Require Import Coquelicot.
From LPF Require Import Sums Probability L1 L2 T2 Matching T2prime.
Import ListNotations.
Open Scope R_scope.

Theorem T2prime_monte_carlo_variance_term_only (S Q : space) (Y : Type) (ys : list Y) (M : nat) (delta : R)
  (z : nat -> outcome S -> outcome Q) (decode : outcome Q -> Y -> R) :
  let L := ln (3 * INR (length ys) / delta) in
  (2 <= M)%nat -> 0 < delta < 1 -> ys <> [] -> draws (seq 0 M) z ->
  (forall q, distribution ys (decode q)) -> (forall y, In y ys -> rv (fun q => decode q y)) ->
  1 - delta <= prob_le
    (fun o => largest ys (fun y =>
      Rabs (estimate M z (fun q => decode q y) o - soft_factor (fun q => decode q y))
      - sqrt (2 * sample_variance M (fun k o => decode (z k o) y) o * L / INR M)))
    (0 * L / (3 * (INR M - 1))).
Proof.
  intros L HM Hd ny Hz HD HR.
  assert (N1 : 1 <= INR (length ys)) by (apply (le_INR 1); destruct ys; [easy | simpl; lia]).
  assert (A : 1 < 3 * INR (length ys) / delta).
  { apply Rmult_lt_reg_r with delta; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (L0 : 0 < L) by (unfold L; rewrite <- ln_1; apply ln_increasing; lra).
  assert (M2 : 2 <= INR M) by now apply (le_INR 2).
  set (dev := fun y o => Rabs (estimate M z (fun q => decode q y) o - soft_factor (fun q => decode q y))
      - sqrt (2 * sample_variance M (fun k o => decode (z k o) y) o * L / INR M)).
  destruct Hz as [Hz1 Hz2].
  assert (I0 : In O (seq 0 M)) by (apply in_seq; lia).
  assert (SM : forall y, In y ys -> sample M (fun k o => decode (z k o) y)).
  { intros y Hy. repeat split.
    - intros i Hi. now apply (Hz1 i (fun q => decode q y)), HR.
    - now apply (distribution_le_1 ys).
    - now apply (distribution_le_1 ys).
    - intros i g Hi Hg. assert (R0 : rv (fun q => g (decode q y))) by now apply (rv_comp Q g), HR.
      destruct (Hz1 i _ Hi R0) as [_ ->]. now destruct (Hz1 O _ I0 R0) as [_ ->].
    - apply (draws_independent (seq 0 M) z (fun q => decode q y)); [easy | now apply HR]. }
  assert (EQ : forall y, In y ys -> soft_factor (fun q => decode q y) = E (fun o => decode (z O o) y)).
  { intros y Hy. symmetry. now apply (Hz1 O (fun q => decode q y)), HR. }
  assert (RD : forall y, In y ys -> rv (dev y)).
  { intros y Hy. unfold dev. rewrite (EQ y Hy). exact (deviation_rv M _ HM (SM y Hy) L). }
  assert (r0 : 0 < 7 * L / (3 * (INR M - 1))) by (apply Rdiv_lt_0_compat; lra).
  rewrite (prob_le_gt (fun o => largest ys (fun y => dev y o))) by now apply rv_largest.
  pose proof (union_bound ys dev (7 * L / (3 * (INR M - 1))) (Rlt_le _ _ r0) RD) as U.
  assert (B : sum ys (fun y => prob_gt (dev y) (7 * L / (3 * (INR M - 1)))) <= sum ys (fun _ => 3 *
    exp (- L))).
  { apply sum_le. intros y Hy. unfold dev. rewrite (EQ y Hy). exact (empirical_failure M _ HM (SM y Hy) L L0).
      }
  rewrite sum_const in B. replace (INR (length ys) * (3 * exp (- L))) with delta in B; [lra|].
  unfold L. rewrite exp_Ropp, exp_ln by lra. field. lra.
Qed.
