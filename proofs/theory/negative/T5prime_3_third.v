(* False: delta/(3p) in place of delta/(2p). Moving delta/2 from one class to another attains the bound with
   2p. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import T5prime.


Theorem T5prime_3_third : forall (Y : Type) (ys : list Y) (p q : Y -> R) (low delta : R),
  distribution ys p -> distribution ys q -> 0 < low -> L1 ys p q <= delta ->
  (forall y, In y ys -> low <= p y) -> (forall y, In y ys -> low <= q y) ->
  hilbert ys p q <= 2 * ln (1 + delta / (3 * low)).
Proof.
  intros Y ys p q low delta dp dq l0 Hd fp fq.
  assert (L0 : 0 <= L1 ys p q) by (apply sum_nonneg; intros; apply Rabs_pos).
  assert (i0 : 0 < / low) by now apply Rinv_0_lt_compat.
  set (x := delta / (2 * low)).
  assert (Hx : x * low = delta / 2) by (unfold x; field; lra).
  assert (x0 : 0 <= x) by (unfold x, Rdiv; rewrite Rinv_mult; nra).
  assert (M : forall y, In y ys -> Rabs (ln (q y / p y)) <= ln (1 + x)).
  { intros y Hy. pose proof (entry_le_half_L1 ys p q y dp dq Hy) as A.
    specialize (fp y Hy); specialize (fq y Hy). unfold Rdiv.
    rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; lra).
    assert (ln (q y) <= ln (p y) + ln (1 + x)).
    { rewrite <- ln_mult by lra. apply ln_mono; [lra|].
      unfold Rabs in A; destruct (Rcase_abs (p y - q y)); nra. }
    assert (ln (p y) <= ln (q y) + ln (1 + x)).
    { rewrite <- ln_mult by lra. apply ln_mono; [lra|].
      unfold Rabs in A; destruct (Rcase_abs (p y - q y)); nra. }
    unfold Rabs; destruct (Rcase_abs (ln (q y) + - ln (p y))); lra. }
  apply range_le.
  - rewrite <- (Rmult_0_r 2), <- ln_1. apply Rmult_le_compat_l; [lra|]. apply ln_mono; lra.
  - intros y y' Hy Hy'. apply in_support in Hy; apply in_support in Hy'.
    pose proof (M y (proj1 Hy)). pose proof (M y' (proj1 Hy')).
    pose proof (Rle_abs (ln (q y / p y))). pose proof (Rle_abs (- ln (q y' / p y'))).
    rewrite Rabs_Ropp in *. lra.
Qed.
