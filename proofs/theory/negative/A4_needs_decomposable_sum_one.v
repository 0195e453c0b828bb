(* False: the values of this network at the states sum to 1/2, not to 1. *)
Require Import Reals List Lra Psatz Arith Permutation FunctionalExtensionality.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import A4.


Theorem A4_needs_decomposable_sum_one :
  let nodes := [NLeaf 0 (fun _ => / 2); NProd [0; 0]%nat] in
  same_scope [0]%nat (root_scope nodes) /\ (forall n, In n nodes -> node_normalized (fun _ => 2%nat) n) /\
  evaluate (under (fun _ => 2%nat) (likelihood nothing)) nodes = 1 /\
  sum (states (fun _ => 2%nat) [0%nat]) (fun x => evaluate (at_state x) nodes) = 1.
Proof.
  intros nodes. repeat split.
  - simpl; intuition.
  - simpl; intuition.
  - intros n [<-|[<-|[]]]; simpl; [|easy]. split; [intros; lra | simpl; lra].
  - unfold evaluate; simpl. unfold total, times, under, likelihood, nothing; simpl. lra.
  - unfold evaluate; simpl. unfold total, times, at_state; simpl. lra.
Qed.
