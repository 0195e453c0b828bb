(* False: two items that are copies of one another have a positive total correlation. *)
Require Import Reals List Lra Lia Psatz Classical.
From Coquelicot Require Import Coquelicot.
From LPF Require Import Sums T5prime World L5 T1prime T4 T4_moreover T4prime T6prime.
From LPF Require Import E1.
Import ListNotations.
Open Scope R_scope.

Theorem E1_divergence_always_zero : forall (Y A : Type) (W : world Y A), is_world W ->
  (forall y, In y (classes W) ->
  0 < prior W y) ->
  0 <= divergence W (corrected W (prior W) (item_posterior W)) <= total_correlation W /\
  total_correlation W = 0.
Proof.
  intros Y A W HW Hpi. pose proof (dependence_identity W HW Hpi).
    pose proof (evidence_divergence_nonneg W HW Hpi).
  pose proof (corrected_divergence_nonneg W HW Hpi). split; [lra | now apply total_correlation_zero].
Qed.
