(* False: for any graph. The product of a leaf with itself squares the sum of the likelihoods. *)
Require Import Reals List Lra Psatz Arith Permutation FunctionalExtensionality.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import A4.


Theorem A4_graph_likelihoods_not_decomposable : forall (states_of : nat -> nat) (nodes : list node)
  (vs : list nat) (lik : nat -> nat -> R),
  nodes <> [] -> NoDup vs -> same_scope vs (root_scope nodes) ->
  evaluate (under states_of lik) nodes =
  sum (states states_of vs) (fun x => evaluate (at_state x) nodes * prod vs (fun v => lik v (x v))).
Proof.
  intros states_of nodes vs lik V N S. destruct (graph_is_tree nodes V) as (Vt & Es & Ev & _).
  rewrite Ev, (pass_is_weighted states_of lik _ Vt).
  rewrite (weighted_scope states_of lik _ vs); [|now apply scope_NoDup | easy | rewrite Es; intros v;
    symmetry; apply S].
  apply sum_ext; intros x _. now rewrite Ev.
Qed.
