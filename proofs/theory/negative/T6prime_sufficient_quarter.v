(* False: two classes of probability 1/2, eps = 1: no item is asked for, and the error without items is 1/2,
   not 1/4. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1 T4prime.
From LPF Require Import T6prime.
Import ListNotations.
Open Scope R_scope.

Theorem T6prime_sufficient_quarter : forall (Y A : Type) (ys : list Y) (xs : list A) (K : nat) (d : A) (pi
  : Y -> R)
    (lik : A -> Y -> R) (s : Y -> Y -> R) (C eps : R),
  NoDup ys -> (2 <= length ys)%nat -> NoDup xs -> distribution ys pi ->
  (forall y, In y ys -> distribution xs (fun a => lik a y)) -> (forall y z, 0 <= s y z <= 1) ->
  (forall y z, In y ys -> In z ys -> y <> z ->
    affinity xs (s y z) (fun a => lik a y) (fun a => lik a z) <= exp (- C)) ->
  0 < C -> 0 < eps -> ln ((INR (length ys) - 1) / eps) / C <= INR K ->
  let W := product_world ys xs K d pi (fun _ => lik) in
  forall best, picks W (fun e y => joint W y e) best -> error W best <= eps / 4.
Proof.
  intros Y A ys xs K d pi lik s C eps Ny n2 Nx Hpi Hl Hs HC c0 e0 HK W best Hb.
  eapply Rle_trans; [apply (T6prime_exponential Y A ys xs K d pi lik s C); auto|].
  assert (n1 : 0 < INR (length ys) - 1) by (apply (le_INR 2) in n2; simpl in n2; lra).
  set (n := INR (length ys) - 1) in *. assert (q0 : 0 < n / eps) by now apply Rdiv_lt_0_compat.
  assert (L : ln (n / eps) <= INR K * C).
  { apply Rmult_le_compat_r with (r := C) in HK; [|lra]. unfold Rdiv in HK.
    rewrite Rmult_assoc, Rinv_l in HK by lra. unfold Rdiv. lra. }
  assert (E : n / eps <= exp (INR K * C)).
  { rewrite <- (exp_ln (n / eps)) by easy. destruct L as [h| ->]; [left; now apply exp_increasing | lra]. }
  rewrite exp_Ropp. pose proof (exp_pos (INR K * C)) as x0.
    apply Rmult_le_reg_r with (exp (INR K * C)); [easy|].
  rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. replace n with (eps * (n / eps)) by (field; lra).
  apply Rmult_le_compat_l; lra.
Qed.
