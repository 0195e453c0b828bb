(* False: the draws are divided by M + 1; for one draw and p = 1 the mean would be 1/2 and not 1. *)
Require Import Reals List Lra.
From LPF Require Import Sums Probability L1.
Import ListNotations.
Open Scope R_scope.

Theorem L1_unbiased_divided_by_M_plus_1 (S Q : space) (M : nat) (z : nat -> outcome S -> outcome Q) (p :
  outcome Q -> R) :
  (0 < M)%nat -> draws (seq 0 M) z -> rv p ->
  E (fun o => / INR (M + 1) * sum (seq 0 M) (fun m => p (z m o))) = soft_factor p.
Proof.
  intros HM Hz Hp. assert (M0 : 0 < INR M) by now apply lt_0_INR. pose proof Hz as [Hd _].
  assert (Hr : forall m, In m (seq 0 M) -> rv (fun o => p (z m o))) by (intros m Hm; now apply (Hd m p)).
  unfold estimate, soft_factor.
  rewrite (E_scal S (/ INR M) (fun o => sum (seq 0 M) (fun m => p (z m o)))).
  - rewrite (E_sum (seq 0 M) (fun m o => p (z m o))) by easy.
    rewrite (sum_ext _ _ (fun _ => E p)) by (intros m Hm; now apply (Hd m p)).
    rewrite sum_const, seq_length. field. lra.
  - now apply (rv_sum (seq 0 M) (fun m o => p (z m o))).
Qed.
