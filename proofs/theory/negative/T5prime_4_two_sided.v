(* False: the formula of part 3, which needs a floor under both factors. (1/4, 3/4) and (1/8, 7/8) with p =
   delta = 1/4 have distance ln(7/3) > 2 ln(3/2). *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import T5prime.


Theorem T5prime_4_two_sided : forall (Y : Type) (ys : list Y) (p q : Y -> R) (low delta : R),
  distribution ys p -> distribution ys q -> 0 < low -> L1 ys p q <= delta < 2 * low ->
  (forall y, In y ys -> low <= p y) ->
  hilbert ys p q <= 2 * ln (1 + delta / (2 * low)).
Proof.
  intros Y ys p q low delta dp dq l0 [Hd D2] fp.
  assert (L0 : 0 <= L1 ys p q) by (apply sum_nonneg; intros; apply Rabs_pos).
  assert (i0 : 0 < / low) by now apply Rinv_0_lt_compat.
  set (x := delta / (2 * low)).
  assert (Hx : x * low = delta / 2) by (unfold x; field; lra).
  assert (x0 : 0 <= x) by (unfold x, Rdiv; rewrite Rinv_mult; nra).
  assert (x1 : x < 1) by nra.
  assert (M : forall y, In y ys -> ln (1 - x) <= ln (q y / p y) <= ln (1 + x)).
  { intros y Hy. pose proof (entry_le_half_L1 ys p q y dp dq Hy) as A. specialize (fp y Hy).
    assert (Q : (1 - x) * p y <= q y <= (1 + x) * p y)
      by (unfold Rabs in A; destruct (Rcase_abs (p y - q y)); nra).
    assert (0 < (1 - x) * p y) by nra.
    unfold Rdiv. rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; lra).
    destruct Q as [Q1 Q2]. apply ln_mono in Q2; [|lra]. apply ln_mono in Q1; [|easy].
    rewrite ln_mult in Q1, Q2 by lra. lra. }
  apply range_le.
  - assert (ln (1 - x) <= ln (1 + x)) by (apply ln_mono; lra). lra.
  - intros y y' Hy Hy'. apply in_support in Hy; apply in_support in Hy'.
    pose proof (M y (proj1 Hy)). pose proof (M y' (proj1 Hy')). lra.
Qed.
