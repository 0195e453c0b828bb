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
