(* False: for two classes this bound is 0, but one item that is right three times in four leaves an error of
   1/4. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1 T4prime.
From LPF Require Import T6prime.
Import ListNotations.
Open Scope R_scope.

Theorem T6prime_exponential_n_minus_2 : forall (Y A : Type) (ys : list Y) (xs : list A) (K : nat) (d : A)
  (pi : Y -> R)
    (lik : A -> Y -> R) (s : Y -> Y -> R) (C : R),
  NoDup ys -> NoDup xs -> distribution ys pi -> (forall y, In y ys -> distribution xs (fun a => lik a y)) ->
  (forall y z, 0 <= s y z <= 1) ->
  (forall y z, In y ys -> In z ys -> y <> z ->
    affinity xs (s y z) (fun a => lik a y) (fun a => lik a z) <= exp (- C)) ->
  let W := product_world ys xs K d pi (fun _ => lik) in
  forall best, picks W (fun e y => joint W y e) best ->
    error W best <= (INR (length ys) - 2) * exp (- (INR K * C)).
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
