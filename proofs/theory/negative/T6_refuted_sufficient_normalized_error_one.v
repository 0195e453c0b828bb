(* False: no calibration error exceeds 1, so for eps >= 1 any number of items suffices. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1 L5 T4 T4_moreover.
From LPF Require Import T6.
Import ListNotations.
Open Scope R_scope.

Theorem T6_refuted_sufficient_normalized_error_one : forall C,
  ~ (forall (Y A : Type) (W : world Y A) (Phi : nat -> A -> Y -> R) (s2 eps delta : R),
    setting_6 W Phi s2 -> 0 < s2 -> 1 <= eps -> 0 < delta < 1 ->
    INR (items W) >= C s2 delta (length (classes W)) ^ 2 / eps ^ 2 ->
    exists bin hat, picks W (product_6 (fun K => / INR K) W Phi) hat /\
      ece W bin (product_6 (fun K => / INR K) W Phi) hat <= eps).
Proof.
  intros C H. destruct (enough (C (/ 16) (/ 2) 2%nat) (/ 10) 21) as (K & K1 & K21 & HK); [lra|].
  destruct (H bool bool (coin K) (fun _ => p34) (/ 16) (/ 10) (/ 2) (coin_setting_6 K K1) ltac:(lra)
    ltac:(lra) ltac:(lra) HK)
    as (bin & hat & Hh & B).
  assert (/ 8 <= ece (coin K) bin (product_6 (fun K => / INR K) (coin K) (fun _ => p34)) hat); [|lra].
  now apply coin_mean_error.
Qed.
