(* False: for (1/2 + h, 1/2 - h) and (1/2, 1/2) the square of L1 is 4 h^2 and the divergence about 2 h^2. *)
Require Import Reals List Lra Lia Psatz Classical.
From Coquelicot Require Import Coquelicot.
From LPF Require Import Sums T5prime World L5 T1prime T4 T4_moreover T4prime T6prime.
From LPF Require Import E1.
Import ListNotations.
Open Scope R_scope.

Theorem E1_pinsker_without_two : forall (Y : Type) (ys : list Y) (p q : Y -> R), distribution ys p ->
  distribution ys q ->
  (forall y, In y ys -> 0 < p y -> 0 < q y) -> L1 ys p q ^ 2 <= KL ys p q.
Proof. intros. now apply pinsker. Qed.

(** claim: E1 | proves | caveats: reals, finite-evidence, population-ece
    The expected calibration error of the prior-corrected product of exact factors, with any bins and any
    choice among ties, is at most sqrt(TC/2), TC the total correlation of the items given the class, in
    nats. *)
Theorem E1_calibration : forall (Y A : Type) (W : world Y A), is_world W -> (forall y, In y (classes W) ->
  0 < prior W y) ->
  forall bin hat, picks W (corrected W (prior W) (item_posterior W)) hat ->
  ece W bin (corrected W (prior W) (item_posterior W)) hat <= sqrt (total_correlation W / 2).
Proof.
  intros Y A W HW Hpi bin hat Hh. destruct (E1_divergence Y A W HW Hpi) as [[_ B] _].
  eapply Rle_trans; [now apply corrected_ece|]. apply sqrt_le_1_alt. lra.
Qed.
