(* False: for convex losses the claim holds with C = 2, so it cannot be refuted for every C. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import L6.


Theorem L6_refuted_convex : forall C, ~ (forall (losses : list (R -> R)) (last : R -> R) (L lambda w w' : R),
    losses <> [] -> 0 < lambda -> (forall f, In f (losses ++ [last]) -> lipschitz L f /\
      forall x y t, 0 <= t <= 1 -> f (t * x + (1 - t) * y) <= t * f x + (1 - t) * f y) ->
    minimizes (objective (losses ++ [last]) lambda) w -> minimizes (objective losses lambda) w' ->
    Rabs (w - w') <= C * L / (lambda * INR (length (losses ++ [last])))).
Proof.
  intros C H. destruct (large (Rabs C)) as [n Hn]. pose proof (Rle_abs C) as C1.
  pose proof (pos_INR n) as n0.
  specialize (H (repeat valleys (S n) ++ [left_pull]) right_pull 1 (1 / 2) 1 (-1)).
  assert (B : Rabs (1 - -1) <= C * 1 / (1 / 2 * (INR n + 3))).
  { rewrite <- length_all. apply H; [simpl; easy | lra | apply losses_lipschitz | apply minimizer_all | apply
      minimizer_less]. }
  rewrite Rabs_pos_eq in B by lra.
  apply (Rmult_le_compat_r (1 / 2 * (INR n + 3))) in B; [|lra]. unfold Rdiv at 2 in B.
  rewrite (Rmult_assoc (C * 1)), Rinv_l in B by lra. lra.
Qed.
