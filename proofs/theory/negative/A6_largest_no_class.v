(* False: (n+1)/(2n) is attained, so the smaller n/(2n) = 1/2 is no bound. *)
Require Import Reals List Lra Psatz.
From LPF Require Import IntegerInterval.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import A6_excludes.


Theorem A6_largest_no_class : forall (Y : Type) (ys : list Y) (p : Y -> R) (y : Y), floored ys p -> In y ys ->
  p y <= (INR (length ys) + 0) / (2 * INR (length ys)).
Proof.
  intros Y ys p y [[_ p1] F] Hy. pose proof (length_pos ys y Hy) as L.
  destruct (in_split _ _ Hy) as [a [b E]].
  assert (app : forall f : Y -> R, sum ys f = f y + sum (a ++ b) f).
  { intros f. rewrite E. clear. induction a; simpl; lra. }
  assert (G : sum (a ++ b) (fun _ => / (2 * INR (length ys))) <= sum (a ++ b) p).
  { apply sum_le; intros x Hx. apply F. rewrite E. apply in_app_iff in Hx. apply in_app_iff. simpl. tauto. }
  assert (N : INR (length ys) = INR (length (a ++ b)) + 1).
  { rewrite E, !app_length. simpl. rewrite <- S_INR. f_equal. apply Nat.add_succ_r. }
  rewrite app in p1. rewrite sum_const in G. set (n := INR (length ys)) in *.
  assert (I : / (2 * n) * (2 * n) = 1) by (apply Rinv_l; lra).
  replace ((n + 1) / (2 * n)) with (1 - (n - 1) * / (2 * n)) by (field; lra).
  replace (INR (length (a ++ b))) with (n - 1) in G by lra. lra.
Qed.
