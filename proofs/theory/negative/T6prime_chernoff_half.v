(* False: without items and with two classes of probability 1/2 the error is 1/2, and so is the bound; half
   of it is too small. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1 T4prime.
From LPF Require Import T6prime.
Import ListNotations.
Open Scope R_scope.

Theorem T6prime_chernoff_half : forall (Y A : Type) (ys : list Y) (xs : list A) (K : nat) (d : A) (pi : Y
  -> R)
    (lik : nat -> A -> Y -> R),
  NoDup ys -> NoDup xs -> distribution ys pi ->
  (forall i y, (i < K)%nat -> In y ys -> distribution xs (fun a => lik i a y)) ->
  let W := product_world ys xs K d pi lik in
  forall best s, picks W (fun e y => joint W y e) best -> (forall y z, 0 <= s y z <= 1) ->
  error W best <= / 2 * sum_pairs ys (fun y z => between (s y z) (pi y) (pi z) *
    prod (seq 0 K) (fun i => affinity xs (s y z) (fun a => lik i a y) (fun a => lik i a z))).
Proof. intros. now apply chernoff. Qed.

Lemma affinity_nonneg {A} (xs : list A) s p q : 0 <= affinity xs s p q.
Proof. apply sum_nonneg. intros. apply between_nonneg. Qed.

(** claim: T6' | proves | caveats: reals, finite-evidence
    Part 1 for items drawn alike. If every two different classes have the Chernoff information C or more
    (rho_s at most e^-C for some s), the error of the best decision from K items is at most (n-1) e^(-K C):
    exponential in K. *)
Theorem T6prime_exponential : forall (Y A : Type) (ys : list Y) (xs : list A) (K : nat) (d : A) (pi : Y -> R)
    (lik : A -> Y -> R) (s : Y -> Y -> R) (C : R),
  NoDup ys -> NoDup xs -> distribution ys pi -> (forall y, In y ys -> distribution xs (fun a => lik a y)) ->
  (forall y z, 0 <= s y z <= 1) ->
  (forall y z, In y ys -> In z ys -> y <> z ->
    affinity xs (s y z) (fun a => lik a y) (fun a => lik a z) <= exp (- C)) ->
  let W := product_world ys xs K d pi (fun _ => lik) in
  forall best, picks W (fun e y => joint W y e) best ->
    error W best <= (INR (length ys) - 1) * exp (- (INR K * C)).
Proof.
  intros Y A ys xs K d pi lik s C Ny Nx Hpi Hl Hs HC W best Hb.
  assert (Hn : ys <> []) by (intros ->; destruct Hpi as [_ p1]; simpl in p1; lra).
  eapply Rle_trans; [apply (chernoff ys xs K d pi (fun _ => lik)); eauto|].
  replace (INR (length ys) - 1) with ((INR (length ys) - 1) * sum ys pi) by (rewrite (proj2 Hpi); ring).
  rewrite <- sum_pairs_plus, <- sum_pairs_scal by easy. apply sum_pairs_le_distinct; [easy|].
    intros y z Hy Hz N.
  destruct Hpi as [p0 _]. apply Rmult_le_compat.
  - apply between_nonneg.
  - apply prod_nonneg. intros. apply affinity_nonneg.
  - apply between_bounds; auto.
  - rewrite prod_const, seq_length. replace (exp (- (INR K * C))) with (exp (- C) ^ K).
    + apply pow_incr. split; [apply affinity_nonneg | auto].
    + rewrite <- Rpower_pow by apply exp_pos. unfold Rpower. rewrite ln_exp. f_equal. ring.
Qed.
