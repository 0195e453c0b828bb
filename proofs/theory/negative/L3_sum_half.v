(* False: weights that sum to 1/2 give a total of 1/2. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums T5prime.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import L3.


Theorem L3_sum_half : forall (I Y : Type) (items : list I) (ys : list Y) (w : I -> R) (f : I -> Y -> R),
  (forall i, In i items -> 0 <= w i) -> sum items w = 1 / 2 -> (forall i, In i items -> distribution ys (f i))
    ->
  distribution ys (fun y => sum items (fun i => w i * f i y)).
Proof.
  intros I Y items ys w f w0 w1 Hf. split.
  - intros y Hy. apply sum_nonneg; intros i Hi. apply Rmult_le_pos; [auto|]. now apply Hf.
  - rewrite <- sum_swap. transitivity (sum items w); [|exact w1]. apply sum_ext; intros i Hi.
    rewrite sum_scal. destruct (Hf i Hi) as [_ ->]. ring.
Qed.
