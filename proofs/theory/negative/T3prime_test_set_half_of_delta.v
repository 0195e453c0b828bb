(* False: half of delta; with n = 1 and p just above U(0) = 1 - delta the limit fails with probability nearly
   delta. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums Probability L2 T3prime.
Import ListNotations.
Open Scope R_scope.

Theorem T3prime_test_set_half_of_delta (S : space) (n : nat) (X : nat -> outcome S -> R) (p delta : R) (U :
  nat -> R) :
  0 <= delta -> 0 <= p <= 1 -> test_errors n X p -> upper_limit n delta U ->
  1 - delta / 2 <= E (fun o => ind (Rle_dec p (U (count (seq 0 n) X o)))).
Proof.
  intros d0 Hp HX HU. destruct (errors_binomial n X p (fun k => ind (Rle_dec p (U k))) HX) as [_ ->].
  now apply limit_covers.
Qed.
