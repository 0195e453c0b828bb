(* False: K_eff >= ceil(K/2) fails for the weights 1, 1/10, 1/10, where K_eff = 24/17. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World.
From LPF Require Import T1_Keff.
Import ListNotations.
Open Scope R_scope.

Theorem T1_Keff_bounds_half : forall (K : nat) (w : nat -> R),
  (forall i, (i < K)%nat -> 0 <= w i) -> (exists i, (i < K)%nat /\ w i <> 0) ->
    INR ((K + 1) / 2) <= K_eff K w <= INR K.
Proof.
  intros K w H (i & Hi & n0).
  assert (H' : forall j, In j (seq 0 K) -> 0 <= w j) by (intros j Hj; apply in_seq in Hj; apply H; lia).
  assert (P : 0 < sum (seq 0 K) (fun i => w i ^ 2)).
  { apply (sum_pos _ _ i); [intros; apply pow2_ge_0 | apply in_seq; lia |].
    rewrite <- Rsqr_pow2. now apply Rlt_0_sqr. }
  pose proof (square_sum_ge (seq 0 K) w H') as L. pose proof (square_sum_le (seq 0 K) w) as U.
  rewrite seq_length in U. unfold K_eff.
  split; apply Rmult_le_reg_r with (sum (seq 0 K) (fun i => w i ^ 2)); try easy;
    unfold Rdiv; rewrite ?Rmult_assoc, ?Rinv_l by lra; lra.
Qed.
