(* False: 2 tanh(R/3) in place of 2 tanh(R/2): T1prime_sharp attains 2 tanh(K eta/2). *)
Require Import Reals List Lra Lia Psatz Classical.
From LPF Require Import Sums T5prime World.
From LPF Require Import T1prime.
Import ListNotations.
Open Scope R_scope.

Theorem T1prime_2_third : forall (Y A : Type) (W : world Y A) (pi : Y -> R)
  (Phi : nat -> A -> Y -> R) (eta zeta : R),
  is_world W -> A1 W -> (1 <= items W)%nat -> (forall y, In y (classes W) -> 0 < prior W y) ->
  (forall y, In y (classes W) -> 0 < pi y /\ Rabs (ln (pi y) - ln (prior W y)) <= zeta) ->
  forall e, In e (evidence W) -> 0 < mass W e ->
  (forall i y, (i < items W)%nat -> In y (classes W) ->
    log_close eta (Phi i (item W i e) y) (item_posterior W i (item W i e) y)) ->
  L1 (classes W) (posterior W e) (corrected W pi Phi e)
  <= 2 * tanh ((INR (items W) * eta + (INR (items W) - 1) * zeta) / 3).
Proof. intros. now apply corrected_L1. Qed.
