(* False: with delta = exp(-10000000) the bound exceeds 1, the largest loss, so the claim is true. *)
Require Import Reals List Lra Psatz Arith.
From LPF Require Import IntegerInterval.
From LPF Require Import Sums T5prime L7.
Open Scope R_scope.
From LPF Require Import T3.


Theorem T3_refuted_as_printed_tiny_delta : ~ theorem_3 4200 1335 (exp (- 10000000)).
Proof.
  assert (E : INR 4200 = 4200) by (rewrite INR_IZR_INZ; reflexivity).
  assert (F : INR 1335 = 1335) by (rewrite INR_IZR_INZ; reflexivity).
  apply L7_refuted; [split; apply Nat.leb_le; reflexivity | lra | |]; unfold complexity; rewrite E, F;
    enclose.
Qed.
