(* False: with equal weights 1/K and C = 2 the claim holds (T5_equal_weights_true), so it cannot be refuted.
   *)
Require Import Reals List Lra Psatz Arith.
From LPF Require Import Sums T5prime.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import T5.


Theorem T5_normalized_refuted_equal_weights : forall C gamma, gamma < 1 ->
  ~ theorem_5 2 slope equal_weights C gamma.
Proof.
  intros C gamma g H. pose proof (pow2_ge_0 C).
  destruct (large (4 * C ^ 2 + 4)) as [[|K] [K4 _]]; [simpl in K4; lra|].
  assert (k0 : 0 < INR (S K)) by lra.
  set (z := fun i => if Nat.eqb i 0 then / 2 else 0).
  assert (B := theorem_5_here _ _ _ H g (S K) (fun i => Nat.eqb i 0) first_only z (/ INR (S K)) (/ 2)).
  assert (i0 : 0 < / INR (S K)) by now apply Rinv_0_lt_compat.
  assert (i1 : / INR (S K) <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  assert (F : filter (fun i => Nat.eqb i 0) (items (S K)) = [0%nat]).
  { unfold items. simpl. f_equal. rewrite <- seq_shift. induction (seq 0 K); simpl; auto. }
  assert (S0 : forall z y, 0 <= slope z y).
  { intros x y. pose proof (clip_range x). unfold slope. destruct y; lra. }
  assert (L : / 2 <= C * / INR (S K) * / 2 * sqrt (INR (S K))).
  { eapply Rle_trans; [|apply B; clear B].
    - rewrite L1_two. unfold pool, normalize. unfold classes; cbn [seq sum].
      rewrite !first_only_pool by (intros; apply S0). unfold slope, z. cbn [Nat.eqb].
      rewrite !clip_id by lra.
      match goal with |- _ <= Rabs ?x + Rabs ?y => replace x with (/ 4) by field; replace y with (- / 4)
        by field end.
      rewrite Rabs_Ropp, Rabs_pos_eq; lra.
    - lra.
    - lra.
    - split; [|apply first_only_sum]. intros i _. unfold first_only. destruct (Nat.eqb i 0); lra.
    - rewrite F. simpl length. rewrite Rinv_l by lra. simpl. lra.
    - intros i Hi. unfold z. now rewrite Hi.
    - intros i. unfold z. destruct (Nat.eqb i 0); rewrite clip_id by lra;
        [rewrite Rabs_pos_eq; lra | rewrite Rabs_R0; lra]. }
  set (k := INR (S K)) in *. set (s := sqrt k) in *.
  assert (ss : s * s = k) by (apply sqrt_sqrt; lra).
  assert (s0 : 0 < s) by (apply sqrt_lt_R0; lra).
  assert (kk : / k * k = 1) by (apply Rinv_l; lra).
  assert (2 * C < s) by nra.
  assert (C * / k * s <= / 2).
  { apply Rmult_le_reg_r with s; [lra|]. replace (C * / k * s * s) with (C * (/ k * k)) by
      (rewrite <- ss at 2; ring).
    rewrite kk. lra. }
  lra.
Qed.
