(* False: at N = d = 3 the bound is 1.22, more than the largest loss, so the claim is true there. *)
Require Import Reals List Lra Psatz Arith.
From Interval Require Import Tactic.
From LPF Require Import Sums T5prime L7.
Open Scope R_scope.
From LPF Require Import T3.


Theorem T3_refuted_as_printed_three : ~ theorem_3 3 3 (1 / 20).
Proof.
  assert (E : INR 4200 = 4200) by (rewrite INR_IZR_INZ; reflexivity).
  assert (F : INR 1335 = 1335) by (rewrite INR_IZR_INZ; reflexivity).
  apply L7_refuted; [split; apply Nat.leb_le; reflexivity | lra | |]; unfold complexity; rewrite E, F; interval.
Qed.
