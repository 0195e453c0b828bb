(* False: the draws are divided by M + 1; for one draw and p = 1 the mean would be 1/2 and not 1. *)
Require Import Reals List Lra.
From LPF Require Import Sums Probability L1.
Import ListNotations.
Open Scope R_scope.

Theorem L1_reparametrized_divided_by_M_plus_1 (S N : space) (Z : Type) (M : nat) (e : nat -> outcome S ->
  outcome N)
  (h : outcome N -> Z) (p : Z -> R) :
  (0 < M)%nat -> draws (seq 0 M) e -> @rv (law N h) p ->
  E (fun o => / INR (M + 1) * sum (seq 0 M) (fun m => p (h (e m o)))) = E (fun noise => p (h noise)).
Proof.
  intros HM He Hp.
  exact (L1_unbiased S (law N h) M (fun m o => h (e m o)) p HM (transformed_draws M e h He) Hp).
Qed.
