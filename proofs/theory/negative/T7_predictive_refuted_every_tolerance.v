(* False: a tolerance of 1/2 is enough, for both variances lie between 0 and 1/2. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums Probability T7.
Import ListNotations.
Open Scope R_scope.

Theorem T7_predictive_refuted_every_tolerance : forall t, t < 1 -> ~ theorem_7_predictive t.
Proof.
  intros t Ht H.
  (* d: how far a is above 1/2; the mixture has variance 1/2 - 2 d^2 *)
  set (d := Rmin (/ 4) ((/ 2 - t) / 2)).
  assert (d0 : 0 < d <= / 4) by (unfold d, Rmin; destruct Rle_dec; lra).
  assert (dt : d <= (/ 2 - t) / 2) by apply Rmin_r.
  set (r := (/ 2 - d) / (/ 2 + d)).
  assert (r0 : 0 < r) by (unfold r; apply Rdiv_lt_0_compat; lra).
  assert (r1 : r < 1).
  { unfold r. apply Rmult_lt_reg_r with (/ 2 + d); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  destruct (pow_lt_1_zero r (Rabs_def1 _ _ r1 ltac:(lra)) ((/ 2 - t) / 4) ltac:(lra)) as [n Hn].
  set (K := S n). set (phi := fun (_ : nat) (y : bool) => if y then / 2 + d else / 2 - d).
  destruct (H K (fun _ => 1) phi) as [alpha [[_ A] G]]; [unfold K; lia | intros; lra | |].
  { intros i. split; [split; [intros [] _; simpl; lra | simpl; lra] | intros []; simpl; lra]. }
  (* the mixture *)
  rewrite <- T7_draws in G by easy.
  assert (M : class_variance two (mixture (seq 0 K) alpha phi) = / 2 - 2 * d ^ 2).
  { unfold class_variance, mixture, two, phi; cbn [sum]. rewrite !sum_scal_r, A. field. }
  (* the product *)
  set (x := r ^ K). assert (x0 : 0 < x) by now apply pow_lt.
  assert (xs : x < (/ 2 - t) / 4).
  { specialize (Hn K ltac:(unfold K; lia)). rewrite Rabs_pos_eq in Hn by (left; exact x0). exact Hn. }
  assert (F : forall y, exp (sum (seq 0 K) (fun i => 1 * ln (phi i y))) = (if y then / 2 + d else / 2 - d) ^
    K).
  { intros y. rewrite (sum_ext _ _ (fun _ => ln (if y then / 2 + d else / 2 - d))) by (intros; unfold phi;
      ring).
    rewrite sum_const, seq_length, exp_INR, exp_ln; [easy | destruct y; lra]. }
  assert (P : class_variance two (spn K (fun _ => 1) phi) <= 2 * x).
  { unfold class_variance, spn, two, normalize; cbn [sum]. rewrite !F. fold K.
    set (b := (/ 2 + d) ^ K). assert (b0 : 0 < b) by (apply pow_lt; lra).
    assert (c : (/ 2 - d) ^ K = b * x).
    { unfold b, x. rewrite <- Rpow_mult_distr. f_equal. unfold r. field. lra. }
    rewrite c. replace (_ + (_ + 0)) with (2 * x / (1 + x) ^ 2) by (field; split; nra).
    apply Rmult_le_reg_r with ((1 + x) ^ 2); [nra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by nra. nra. }
  rewrite M in G. rewrite Rabs_minus_sym in G.
  pose proof (Rle_abs (/ 2 - 2 * d ^ 2 - class_variance two (spn K (fun _ => 1) phi))). nra.
Qed.
