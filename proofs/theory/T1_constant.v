(* The constant of theorem 1 (section 3.1, and again in appendix B.1): the paper gives
   C = sqrt(2 log(2|Y|/delta)) and prints 2.42 for |Y| = 3 and delta = 0.05. *)
Require Import Reals Lra.
From LPF Require Import IntegerInterval.
Open Scope R_scope.

Definition constant (classes delta : R) : R := sqrt (2 * ln (2 * classes / delta)).

(** claim: T1.constant | refutes | caveats: reals
    The formula gives 3.0943, which is more than 0.67 above the printed 2.42; so it does with the logarithm to
    base 2 (3.717), and to base 10 it gives 2.039, which is more than 0.38 below. *)
Theorem T1_constant_refuted :
  3.0943 <= constant 3 0.05 <= 3.0944 /\ 2.42 < constant 3 0.05 - 0.67 /\
  2.42 < sqrt (2 * (ln (2 * 3 / 0.05) / ln 2)) - 1.29 /\
  sqrt (2 * (ln (2 * 3 / 0.05) / ln 10)) < 2.42 - 0.38.
Proof. unfold constant. repeat split; enclose. Qed.
