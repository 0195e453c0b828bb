(* False: for any graph, decomposable or not. The product of a uniform binary leaf with itself: pass 1, sum
   over the states 1/2. *)
Require Import Reals List Lra Psatz Arith Permutation FunctionalExtensionality.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import A4.


Theorem A4_graph_exact_not_decomposable : forall (states_of : nat -> nat) (nodes : list node) (vs : list nat)
  (e : nat -> option nat),
  nodes <> [] -> NoDup vs -> same_scope vs (root_scope nodes) ->
  evaluate (under states_of (likelihood e)) nodes =
  sum (filter (compatible e vs) (states states_of vs)) (fun x => evaluate (at_state x) nodes).
Proof.
  intros states_of nodes vs e V N S. destruct (graph_is_tree nodes V) as (Vt & Es & Ev & _).
  rewrite Ev, (A4_exact states_of _ vs e Vt N) by now rewrite Es.
  apply sum_ext; intros x _. now rewrite Ev.
Qed.
