(* False: with the constants zero the claim says that the error is not negative, which is true. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1 L5.
From LPF Require Import T4.
Import ListNotations.
Open Scope R_scope.

Theorem T4_refuted_product_zero_factors : forall nz c1 c2, some_noise nz ->
  (forall n, 0 <= c1 n) -> (forall n, 0 <= c2 n) -> (forall n, 0 <= c1 n + c2 n) ->
  ~ theorem_4_for plain_product nz c1 c2.
Proof.
  intros nz c1 c2 Hn p1 p2 p H. destruct (coin_world 2) as [HW _].
  destruct (H bool bool (coin 2) (fun _ => p34) (coin_setting 2 (le_n 2))) as (bin & hat & Hh & B).
  rewrite ece_posterior in B; [|easy | intros; now apply Hh | intros; apply coin_product].
  pose proof (coin_bound_positive nz c1 c2 Hn p1 p2 p (length (classes (coin 2)))). cbv zeta in B. lra.
Qed.
