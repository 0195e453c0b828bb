(* False: (N + 1)^2 in place of N^2. At N = d = 3 and delta = 0.05 both conditions hold, but the bound exceeds
   1, the largest loss, so the claim is true there. *)
Require Import Reals List Lra Psatz Arith.
From LPF Require Import IntegerInterval.
From LPF Require Import Sums T5prime.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import L7.


Theorem L7_refuted_n_plus_one : forall (N d : nat) (delta : R), (1 <= d <= N)%nat -> 0 < delta < 1 ->
  2 * complexity N d delta < (INR N + 1) ^ 2 -> 2 * complexity N d delta < ((1 - delta) * (INR d + 1)) ^ 2 ->
  ~ lemma_7 N d delta.
Proof.
  intros N d delta [d1 dN] [e0 e1] C1 C2 H.
  assert (N0 : 1 <= INR N) by (apply (le_INR 1); lia). assert (D0 : 1 <= INR d) by (apply (le_INR 1); lia).
  assert (C0 : 0 <= complexity N d delta).
  { unfold complexity. assert (0 <= ln (exp 1 * INR N / INR d)).
    { rewrite <- ln_1. apply ln_mono; [lra|]. pose proof (exp_ineq1 1 ltac:(lra)). apply le_INR in dN.
      apply Rmult_le_reg_r with (INR d); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra. }
    assert (0 <= ln (2 / delta)).
    { rewrite <- ln_1. apply ln_mono; [lra|]. apply Rmult_le_reg_r with delta; [lra|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    assert (0 <= INR d * ln (exp 1 * INR N / INR d)) by (apply Rmult_le_pos; lra). lra. }
  set (g := gap 0 N d delta).
  assert (G : g = sqrt (2 * complexity N d delta) / INR N).
  { unfold g, gap. replace (2 * (0 + / INR N) * complexity N d delta / INR N)
      with (2 * complexity N d delta / (INR N * INR N)) by (field; lra).
    rewrite sqrt_div by nra. now rewrite sqrt_square by lra. }
  assert (S : forall a, 0 <= a -> 2 * complexity N d delta < a ^ 2 -> sqrt (2 * complexity N d delta) < a).
  { intros a a0 Ha. rewrite <- (sqrt_pow2 a a0). apply sqrt_lt_1_alt. lra. }
  set (r := sqrt (2 * complexity N d delta)) in *. assert (r0 : 0 <= r) by apply sqrt_pos.
  assert (r1 : r < INR N) by (apply S; lra).
  assert (p0 : 0 < (1 - delta) * (INR d + 1)) by nra.
  assert (r2 : r < (1 - delta) * (INR d + 1)) by (apply S; lra).
  set (top := Rmin (INR N) ((1 - delta) * (INR d + 1))).
  assert (rt : r < top) by (apply Rmin_glb_lt; easy).
  assert (t1 : top <= INR N) by apply Rmin_l. assert (t2 : top <= (1 - delta) * (INR d + 1)) by apply Rmin_r.
  set (u := (r + top) / 2). set (q := u / INR N).
  assert (u0 : r < u < top) by (unfold u; lra).
  assert (Nq : INR N * q = u) by (unfold q; field; lra).
  assert (i0 : 0 < / INR N) by (apply Rinv_0_lt_compat; lra).
  assert (q01 : 0 < q <= 1) by (unfold q, Rdiv; split; [nra|]; apply Rmult_le_reg_r with (INR N); [lra|];
    rewrite Rmult_assoc, Rinv_l by lra; lra).
  assert (gq : g < q) by (rewrite G; unfold q, Rdiv; nra).
  (* so many fresh values that the share d/m of the memorized ones does not matter *)
  destruct (archimed_cor1 ((q - g) / INR d)) as [m0 [Hm0 m00]]; [apply Rdiv_lt_0_compat; lra|].
  set (m := (m0 + d)%nat). assert (M : 1 <= INR m) by (apply (le_INR 1); unfold m; lia).
  assert (m0p : 0 < INR m0) by (apply lt_0_INR; lia).
  assert (dm : INR d / INR m < q - g).
  { apply Rle_lt_trans with (INR d * / INR m0).
    - apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; [lra|]. apply le_INR. unfold m. lia.
    - apply Rmult_lt_reg_l with (/ INR d); [apply Rinv_0_lt_compat; lra|].
      rewrite <- Rmult_assoc, Rinv_l by lra. unfold Rdiv in Hm0. lra. }
  assert (dm0 : 0 <= INR d / INR m) by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]).
  pose proof (claim_gives N d m q ltac:(lia) ltac:(unfold m; lia) ltac:(unfold m; lia) ltac:(lra) delta H)
    as K.
  fold g in K. assert (g < q * (1 - INR d / INR m)) by nra. specialize (K H0). lra.
Qed.
