(* False: for any tree with normalized leaves. The product of a uniform binary leaf with itself sums to 1/2
   over the states. *)
Require Import Reals List Lra Psatz Arith Permutation FunctionalExtensionality.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import A4.


Theorem A4_distribution_any_tree : forall (states_of : nat -> nat) (t : spn) (vs : list nat),
  t <> Prod [] -> normalized states_of t -> NoDup vs -> same_scope vs (scope t) ->
  distribution (states states_of vs) (polynomial t) /\ value (under states_of (likelihood nothing)) t = 1.
Proof. intros. split; [now apply polynomial_distribution | now apply pass_nothing]. Qed.
