(* False: the condition leaves out delta. For delta = exp(-1000), d = 8 and N = 9 the bound exceeds 1, so the
   claim is true there. *)
Require Import Reals List Lra Psatz Arith.
From LPF Require Import IntegerInterval.
From LPF Require Import Sums T5prime L7.
Open Scope R_scope.
From LPF Require Import T3.


Theorem T3_refuted_at_every_ratio_no_confidence : forall (r delta : R) (N d : nat), 1 <= r -> 0 < delta < 1 ->
  (3 <= d < N)%nat ->
  INR N <= r * INR d -> 2 * (1 + ln r) <= (1 - delta) ^ 2 * INR d -> ~ theorem_3 N d delta.
Proof.
  intros r delta N d r1 [e0 e1] [d3 dN] HN Hd.
  assert (D : 3 <= INR d) by (apply le_INR in d3; simpl in d3; lra).
  assert (L : INR d + 1 <= INR N) by (rewrite <- S_INR; apply le_INR; lia).
  assert (A : ln (exp 1 * INR N / INR d) <= 1 + ln r).
  { rewrite <- (ln_exp 1) at 2. rewrite <- ln_mult by (try apply exp_pos; lra). pose proof (exp_pos 1).
    apply ln_mono; [apply Rdiv_lt_0_compat; nra|]. apply Rmult_le_reg_r with (INR d); [lra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra. }
  assert (B : 0 <= ln (2 / delta)).
  { rewrite <- ln_1. apply ln_mono; [lra|]. apply Rmult_le_reg_r with delta; [lra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (C : 2 * complexity N d delta <= (1 - delta) ^ 2 * INR d * INR d).
  { unfold complexity. assert (INR d * ln (exp 1 * INR N / INR d) <= INR d * (1 + ln r)) by
      (apply Rmult_le_compat_l; lra).
    assert (ln (2 / delta) <= INR d * ln (2 / delta)) by nra.
    assert (2 * (1 + ln r + ln (2 / delta)) * INR d <= (1 - delta) ^ 2 * INR d * INR d) by
      (apply Rmult_le_compat_r; lra).
    lra. }
  assert (E : (1 - delta) ^ 2 * INR d * INR d < ((1 - delta) * (INR d + 1)) ^ 2).
  { assert (0 < (1 - delta) ^ 2) by (apply pow_lt; lra). nra. }
  apply L7_refuted; [lia | lra | | lra].
  apply Rle_lt_trans with (1 := C). assert (0 < (1 - delta) ^ 2 < 1) by (split; [apply pow_lt; lra | nra]).
    nra.
Qed.
