(* False: a predictor other than the posterior has a larger log loss than H(Y|E). *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World L5 T4 T4_moreover.
From LPF Require Import T4prime.
Import ListNotations.
Open Scope R_scope.

Theorem T4prime_log_loss_at_most : forall (Y A : Type) (W : world Y A) (Q : list A -> Y -> R),
  is_world W -> predicts W Q -> covers W Q ->
  log_loss W Q = residual_entropy W + divergence W Q /\ 0 <= divergence W Q /\
  log_loss W Q <= residual_entropy W.
Proof.
  intros Y A W Q HW D C. assert (0 <= divergence W Q) by (apply sum_nonneg; now apply divergence_terms).
  pose proof (log_loss_split W Q HW C). repeat split; lra.
Qed.
