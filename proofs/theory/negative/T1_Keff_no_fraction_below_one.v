(* False: K_eff is never below 1 for positive weights (T1_Keff_bounds). *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World.
From LPF Require Import T1_Keff.
Import ListNotations.
Open Scope R_scope.

Theorem T1_Keff_no_fraction_below_one : forall c, 0 < c ->
  exists (K : nat) (w : nat -> R), (1 <= K)%nat /\ (forall i, 0 < w i <= 1) /\ K_eff K w < 1.
Proof.
  intros c c0. destruct (exists_nat_above (4 / c)) as (K & K1 & HK).
  assert (I1 : 1 <= INR K) by (apply (le_INR 1); easy).
  set (d := / INR K). assert (d0 : 0 < d) by (apply Rinv_0_lt_compat; lra).
  assert (Kd : INR K * d = 1) by (apply Rinv_r; lra).
  exists (S K), (fun i => match i with O => 1 | _ => d end). split; [lia|]. split.
  - intros []; [lra|]. split; [lra|]. unfold d. rewrite <- Rinv_1. apply Rinv_le_contravar; lra.
  - unfold K_eff. rewrite !sum_seq_S, !sum_const, seq_length, Kd, S_INR.
    assert (4 < c * INR K).
    { apply Rmult_lt_compat_r with (r := c) in HK; [|easy]. unfold Rdiv in HK.
      rewrite Rmult_assoc, Rinv_l in HK by lra. lra. }
    assert (D : 1 <= 1 ^ 2 + INR K * d ^ 2) by nra.
    apply Rle_lt_trans with 4; [|nra]. apply Rmult_le_reg_r with (1 ^ 2 + INR K * d ^ 2); [lra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.
