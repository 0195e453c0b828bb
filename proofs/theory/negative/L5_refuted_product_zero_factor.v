(* False: with the constant zero the claim says that the error is not negative, which is true. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1.
From LPF Require Import L5.
Import ListNotations.
Open Scope R_scope.

Theorem L5_refuted_product_zero_factor : forall c, (forall n, 0 <= c n) -> ~ lemma_5_for plain_product c.
Proof.
  intros c c0 H. destruct (coin_world 2) as [HW _].
  destruct (H bool bool (coin 2) (fun _ => p34) (coin_setting 2 (le_n 2))) as (bin & hat & Hh & B).
  rewrite ece_posterior in B; [|easy | intros; now apply Hh | intros; apply coin_product].
  pose proof (Rmult_lt_0_compat _ _ (c0 (length (classes (coin 2)))) coin_noise). lra.
Qed.
