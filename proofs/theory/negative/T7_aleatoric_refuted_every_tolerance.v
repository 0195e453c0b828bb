(* False: a tolerance of (1 - 2 floor)^2 / 2 is enough, for class variances lie between 2 floor (1 - floor)
   and 1/2. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums Probability T7.
Import ListNotations.
Open Scope R_scope.

Theorem T7_aleatoric_refuted_every_tolerance : forall floor t, 0 <= floor < / 2 -> t < (1 - 2 * floor) ^ 2 ->
  ~ theorem_7_aleatoric floor t.
Proof.
  intros f t Hf Ht H. set (D := (1 - 2 * f) ^ 2 / 2) in *.
  set (phi := fun (i : nat) (y : bool) => match i with O => if y then 1 - f else f | S _ => / 2 end).
  destruct (unbounded (D / (D - t))) as [n Hn].
  assert (D0 : 0 < D) by (unfold D; nra).
  assert (n0 : 0 < INR n).
  { eapply Rlt_trans; [|exact Hn]. apply Rdiv_lt_0_compat; lra. }
  assert (A : forall k, (1 <= k)%nat ->
    sum (seq 0 k) (fun i => class_variance two (phi i)) = 2 * f * (1 - f) + (INR k - 1) * / 2).
  { intros [|k]; [lia|]. intros _. cbn [seq sum]. rewrite <- seq_shift, sum_map, S_INR.
    rewrite (sum_ext _ _ (fun _ => / 2)) by (intros; unfold class_variance; simpl; field).
    rewrite sum_const, seq_length. unfold class_variance; simpl. ring. }
  assert (n1 : (1 <= n)%nat) by (destruct n; [simpl in n0; lra | lia]).
  specialize (H phi). assert (G : Rabs (/ INR n * (2 * f * (1 - f) + (INR n - 1) * / 2) - 2 * f * (1 - f)) <=
    t).
  { unfold aleatoric, equal_parts, expect in H.
    specialize (H ltac:(
      intros [|i]; (split; [split; [intros [] _; simpl; lra | simpl; lra] | intros []; simpl; lra])) n n1).
    rewrite !sum_scal, !A in H by lia. simpl (INR 1) in H.
    replace (/ 1 * (2 * f * (1 - f) + (1 - 1) * / 2)) with (2 * f * (1 - f)) in H by field. exact H. }
  replace (/ INR n * (2 * f * (1 - f) + (INR n - 1) * / 2) - 2 * f * (1 - f)) with (D - D / INR n) in G
    by (unfold D; field; lra).
  pose proof (Rle_abs (D - D / INR n)) as P.
  assert (B : D < INR n * (D - t)).
  { apply Rmult_lt_compat_r with (r := D - t) in Hn; [|lra]. unfold Rdiv in Hn.
    rewrite Rmult_assoc, Rinv_l in Hn; lra. }
  assert (D / INR n < D - t).
  { apply Rmult_lt_reg_r with (INR n); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  lra.
Qed.
