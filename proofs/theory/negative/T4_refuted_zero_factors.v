(* False: with the constants zero the claim says that the error is not negative, which is true. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1 L5.
From LPF Require Import T4.
Import ListNotations.
Open Scope R_scope.

Theorem T4_refuted_zero_factors : forall nz c1 c2, some_noise nz -> (forall n, 0 <= c1 n) ->
  (forall n, 0 <= c2 n) ->
  ~ theorem_4 nz c1 c2.
Proof.
  intros nz c1 c2 Hn p1 p2 H. apply (T4_refuted_product nz c1 c2); auto.
  - intros n. specialize (p1 n). lra.
  - intros n. specialize (p2 n). lra.
  - intros n. specialize (p1 n). specialize (p2 n). lra.
Qed.
