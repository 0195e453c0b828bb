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
