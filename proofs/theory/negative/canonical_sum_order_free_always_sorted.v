(* Wrong: more than sixteen entries are added exactly and rounded once, not after each addition in sorted order. The two
   differ for seventeen times the double 0.1: 1.7000000000000002 is not 1.7000000000000004. *)
Require Import Reals List Lra Lia Psatz ZArith Permutation Sorted.
From Flocq Require Import Core Relative Plus_error.
From LPF Require Import Sums CanonicalSum.
Import ListNotations.
Open Scope R_scope.

Theorem canonical_sum_order_free : forall l m : list R, Permutation l m -> canonical_sum l = fsum 0 (sort m).
Proof.
  intros l m P. unfold canonical_sum. rewrite (Permutation_length P).
  destruct (length m <=? 16)%nat; [|now rewrite (sum_perm l m P)]. f_equal.
  apply ascending_unique; [apply sort_ascending | apply sort_ascending |].
  apply perm_trans with l; [apply Permutation_sym, sort_perm|]. apply perm_trans with (1 := P), sort_perm.
Qed.
