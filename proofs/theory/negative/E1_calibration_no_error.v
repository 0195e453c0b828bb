(* False: a fair coin and two copies of an item right three times in four: the product is sure to 9/10 and
   right three times in four. *)
Require Import Reals List Lra Lia Psatz Classical.
From Coquelicot Require Import Coquelicot.
From LPF Require Import Sums T5prime World L5 T1prime T4 T4_moreover T4prime T6prime.
From LPF Require Import E1.
Import ListNotations.
Open Scope R_scope.

Theorem E1_calibration_no_error : forall (Y A : Type) (W : world Y A), is_world W ->
  (forall y, In y (classes W) ->
  0 < prior W y) ->
  forall bin hat, picks W (corrected W (prior W) (item_posterior W)) hat ->
  ece W bin (corrected W (prior W) (item_posterior W)) hat <= 0.
Proof.
  intros Y A W HW Hpi bin hat Hh. destruct (E1_divergence Y A W HW Hpi) as [[_ B] _].
  eapply Rle_trans; [now apply corrected_ece|]. apply sqrt_le_1_alt. lra.
Qed.
