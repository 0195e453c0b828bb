(* False: with equal weights 1/K and C = 2 the claim holds (T5_equal_weights_true), so it cannot be refuted.
   *)
Require Import Reals List Lra Psatz Arith.
From LPF Require Import Sums T5prime.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import T5.


Theorem T5_refuted_equal_weights :
  A6 2 slope /\ (forall z z', L1 (classes 2) (slope z) (slope z') <= Rabs (z - z')) /\
  forall C gamma, gamma < 1 -> ~ theorem_5 2 slope equal_weights C gamma.
Proof.
  split; [exact slope_A6|]. split; [intros; rewrite slope_L1; apply clip_lipschitz|].
  intros C gamma g H. pose proof (pow2_ge_0 C).
  destruct (large (4 * C ^ 2 + 4)) as [K [K4 _]]. set (d := / INR K).
  assert (d0 : 0 < d) by (apply Rinv_0_lt_compat; lra).
  assert (d1 : d < / 4) by (apply Rinv_lt_contravar; lra).
  assert (B := theorem_5_here _ _ _ H g K (fun _ => true) (fun _ => 1) (fun _ => d) 1 d).
  assert (F : forall l : list nat, filter (fun _ => true) l = l) by (induction l; simpl; congruence).
  rewrite F in B. unfold items in B at 1 2. rewrite !seq_length in B.
  assert (N := all_moved K). fold d in N.
  assert (3 / 5 <= C * 1 * d * sqrt (INR K)).
  { eapply Rle_trans; [apply N; lra|]. apply B; try lra; try easy.
    - intros i _; lra.
    - intros _. rewrite clip_id, Rabs_pos_eq; lra. }
  set (s := sqrt (INR K)) in *.
  assert (ss : s * s = INR K) by (apply sqrt_sqrt; lra).
  assert (s0 : 0 < s) by (apply sqrt_lt_R0; lra).
  assert (Kd : INR K * d = 1) by (apply Rinv_r; lra).
  assert (d * s * s = 1) by nra.
  assert (2 * C < s) by nra.
  assert (C * d * s <= / 2) by (apply Rmult_le_reg_r with s; [lra|]; nra).
  lra.
Qed.
