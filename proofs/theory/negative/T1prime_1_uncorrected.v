(* False: the product without the correction counts the prior K times; with items that say nothing, prior
   (3/5, 2/5) and K = 2 it gives 9/13 instead of 3/5. *)
Require Import Reals List Lra Lia Psatz Classical.
From LPF Require Import Sums T5prime World.
From LPF Require Import T1prime.
Import ListNotations.
Open Scope R_scope.

Theorem T1prime_1_uncorrected : forall (Y A : Type) (W : world Y A), is_world W -> A1 W ->
  (forall y, In y (classes W) -> 0 < prior W y) ->
  forall e y, In e (evidence W) -> 0 < mass W e -> In y (classes W) ->
  corrected W (fun _ => 1) (item_posterior W) e y = posterior W e y.
Proof. intros. now apply corrected_exact. Qed.

(** claim: T1' | proves | caveats: reals, finite-evidence, population-ece
    Part 1, what follows: that product is perfectly calibrated. Its expected calibration error is zero with
    any bins or none, and however ties are broken. *)
Theorem T1prime_calibrated : forall (Y A : Type) (W : world Y A), is_world W -> A1 W ->
  (forall y, In y (classes W) -> 0 < prior W y) ->
  forall bin hat, picks W (corrected W (prior W) (item_posterior W)) hat ->
  ece W bin (corrected W (prior W) (item_posterior W)) hat = 0.
Proof.
  intros Y A W HW HA Hpi bin hat H. apply ece_posterior; [easy | intros; now apply H |].
  intros e He m. apply corrected_exact; auto. now apply H.
Qed.
