(* False: the product without the correction counts the prior K times; with items that say nothing, prior
   (3/5, 2/5) and K = 2 it gives 9/13 instead of 3/5. *)
Require Import Reals List Lra Lia Psatz Classical.
From LPF Require Import Sums T5prime World.
From LPF Require Import T1prime.
Import ListNotations.
Open Scope R_scope.

Theorem T1prime_calibrated_uncorrected : forall (Y A : Type) (W : world Y A), is_world W -> A1 W ->
  (forall y, In y (classes W) -> 0 < prior W y) ->
  forall bin hat, picks W (corrected W (fun _ => 1) (item_posterior W)) hat ->
  ece W bin (corrected W (fun _ => 1) (item_posterior W)) hat = 0.
Proof.
  intros Y A W HW HA Hpi bin hat H. apply ece_posterior; [easy | intros; now apply H |].
  intros e He m. apply corrected_exact; auto. now apply H.
Qed.
