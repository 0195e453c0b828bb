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
