(* False: the values of this network at the states sum to 2, not to 1. *)
Require Import Reals List Lra Psatz Arith Permutation FunctionalExtensionality.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import A4.


Theorem A4_needs_complete_sum_one :
  let nodes := [NLeaf 0 (fun _ => / 2); NLeaf 1 (fun _ => / 2); NSum [(/ 2, 0%nat); (/ 2, 1%nat)]] in
  (forall n, In n nodes -> node_normalized (fun _ => 2%nat) n) /\
  evaluate (under (fun _ => 2%nat) (likelihood nothing)) nodes = 1 /\
  sum (states (fun _ => 2%nat) [0; 1]%nat) (fun x => evaluate (at_state x) nodes) = 1.
Proof.
  intros nodes. repeat split.
  - intros n Hn. destruct Hn as [<-|[<-|[<-|[]]]]; simpl.
    + split; [intros; lra | simpl; lra].
    + split; [intros; lra | simpl; lra].
    + split; [intros w c [E|[E|[]]]; inversion E; lra | lra].
  - unfold evaluate; simpl. unfold total, times, under, likelihood, nothing; simpl. lra.
  - unfold evaluate; simpl. unfold total, times, at_state; simpl. lra.
Qed.
