(* False: weights that add up to two; one draw of weight 2 decoding to (1/2, 1/2) gives 0 on the left and 2 on
   the right. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums Probability T7.
Import ListNotations.
Open Scope R_scope.

Theorem T7_draws_weights_add_up_to_two (Z Y : Type) (zs : list Z) (ys : list Y) (w : Z -> R) (p : Z -> Y ->
  R) :
  sum zs w = 2 -> class_variance ys (mixture zs w p) = epistemic zs w ys p + aleatoric zs w ys p.
Proof.
  intros w1. unfold epistemic, aleatoric, class_variance, expect.
  rewrite (sum_ext zs (fun z => w z * sum ys (fun y => p z y * (1 - p z y)))
    (fun z => sum ys (fun y => w z * (p z y * (1 - p z y))))) by (intros; now rewrite sum_scal).
  rewrite sum_swap, <- sum_plus. apply sum_ext; intros y _.
  change (mixture zs w p y) with (expect zs w (fun z => p z y)).
  unfold variance. set (m := expect zs w (fun z => p z y)). rewrite <- sum_plus.
  rewrite (sum_ext zs _ (fun z => (1 - 2 * m) * (w z * p z y) + m ^ 2 * w z)) by (intros; ring).
  rewrite sum_plus, !sum_scal, w1. fold (expect zs w (fun z => p z y)). fold m. ring.
Qed.
