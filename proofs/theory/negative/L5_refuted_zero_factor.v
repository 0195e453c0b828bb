(* False: with the constant zero the claim says that the error is not negative, which is true. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1.
From LPF Require Import L5.
Import ListNotations.
Open Scope R_scope.

Theorem L5_refuted_zero_factor : forall c, (forall n, 0 <= c n) -> ~ lemma_5 c.
Proof. intros c c0 H. exact (L5_refuted_product c c0 (H plain_product)). Qed.
