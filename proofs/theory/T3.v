(* Theorem 3 of the paper (section 3.3): the generalization bound of lemma 7, for the learned aggregator with
   d_eff effective parameters, trained on N evidence sets. The theorem names no property of the aggregator but
   d_eff; it is read here as lemma 7 is, for any class of VC dimension d and any regularized empirical risk
   minimization over it (the paper's table calls d_eff the VC dimension). The learner that memorizes (L7.v)
   refutes it, also at the printed N = 4200 and d_eff = 1335, with delta = 0.05. *)
Require Import Reals List Lra Psatz Arith.
From LPF Require Import IntegerInterval.
From LPF Require Import Sums T5prime L7.
Open Scope R_scope.

Definition theorem_3 (N d : nat) (delta : R) : Prop := lemma_7 N d delta.

(** claim: T3 | refutes | caveats: reals, vc-dimension, any-learner
    At the numbers of the paper's experiment, N = 4200 and d = 1335 (sections 3.3 and 6.3), and delta = 0.05
    (as in section 3.1; none is printed for theorem 3), the bound does not hold. *)
Theorem T3_refuted_as_printed : ~ theorem_3 4200 1335 (1 / 20).
Proof.
  assert (E : INR 4200 = 4200) by (rewrite INR_IZR_INZ; reflexivity).
  assert (F : INR 1335 = 1335) by (rewrite INR_IZR_INZ; reflexivity).
  apply L7_refuted; [split; apply Nat.leb_le; reflexivity | lra | |]; unfold complexity; rewrite E, F;
    enclose.
Qed.

(** claim: T3 | refutes | caveats: reals, vc-dimension, any-learner
    Nor does it hold for any confidence 1 - delta and any ratio r >= 1 of examples to parameters, once there
    are many parameters: for every d with d >= 2 (1 + ln r + ln(2/delta))/(1 - delta)^2 and d < N <= r d. *)
Theorem T3_refuted_at_every_ratio : forall (r delta : R) (N d : nat), 1 <= r -> 0 < delta < 1 ->
  (3 <= d < N)%nat ->
  INR N <= r * INR d -> 2 * (1 + ln r + ln (2 / delta)) <= (1 - delta) ^ 2 * INR d -> ~ theorem_3 N d delta.
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
