(* False: the divergence of the evidence is subtracted; it is positive for two items that are copies of one
   another. *)
Require Import Reals List Lra Lia Psatz Classical.
From Coquelicot Require Import Coquelicot.
From LPF Require Import Sums T5prime World L5 T1prime T4 T4_moreover T4prime T6prime.
From LPF Require Import E1.
Import ListNotations.
Open Scope R_scope.

Theorem E1_identity_plus : forall (Y A : Type) (W : world Y A), is_world W -> (forall y, In y (classes W) ->
  0 < prior W y) ->
  divergence W (corrected W (prior W) (item_posterior W)) = total_correlation W + evidence_divergence W.
Proof. intros. now apply dependence_identity. Qed.

(** claim: E1 | proves | caveats: reals, finite-evidence
    Hence it is at most the total correlation, and both are zero under assumption 1. *)
Theorem E1_divergence : forall (Y A : Type) (W : world Y A), is_world W -> (forall y, In y (classes W) ->
  0 < prior W y) ->
  0 <= divergence W (corrected W (prior W) (item_posterior W)) <= total_correlation W /\
  (A1 W -> total_correlation W = 0).
Proof.
  intros Y A W HW Hpi. pose proof (dependence_identity W HW Hpi).
    pose proof (evidence_divergence_nonneg W HW Hpi).
  pose proof (corrected_divergence_nonneg W HW Hpi). split; [lra | now apply total_correlation_zero].
Qed.
