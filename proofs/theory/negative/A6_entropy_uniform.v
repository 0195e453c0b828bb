(* False: the entropy of the uniform distribution is the largest, not the smallest. *)
Require Import Reals List Lra Psatz.
From LPF Require Import IntegerInterval.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import A6_excludes.


Theorem A6_entropy_uniform : forall (Y : Type) (ys : list Y) (p : Y -> R), floored ys p ->
  ln (INR (length ys)) <= entropy ys p.
Proof.
  intros Y ys p H. pose proof H as [[_ p1] F].
  destruct ys as [|y0 l]; [simpl in p1; lra|]. set (ys := y0 :: l) in *.
  pose proof (length_pos ys y0 (or_introl eq_refl)) as L.
  assert (B := fun y => A6_largest Y ys p y H). set (n := INR (length ys)) in *.
  set (c := / (2 * n)) in *. set (M := (n + 1) / (2 * n)) in *.
  assert (c0 : 0 < c) by (apply Rinv_0_lt_compat; lra).
  assert (D : M = c + / 2) by (unfold M, c; field; lra).
  assert (nc : n * c = / 2) by (unfold c; field; lra).
  unfold least_entropy. fold c M. unfold entropy.
  apply Rle_trans with (sum ys (fun y => - (c * ln c) + (- (M * ln M) + c * ln c) * (2 * p y - 2 * c))).
  - right. rewrite sum_plus, sum_const, sum_scal, sum_minus, sum_scal, sum_const, p1. fold n.
    replace (2 * 1 - n * (2 * c)) with 1 by lra. ring.
  - apply sum_le; intros y Hy. specialize (F y Hy). specialize (B y Hy).
    pose proof (chord_xlnx c M (2 * p y - 2 * c) (p y) c0) as X. assert (0 < M) by lra.
    assert (E : p y = (2 * p y - 2 * c) * M + (1 - (2 * p y - 2 * c)) * c) by (rewrite D; field).
    specialize (X H0). assert (0 <= 2 * p y - 2 * c <= 1) by lra. specialize (X H1 E). nra.
Qed.
