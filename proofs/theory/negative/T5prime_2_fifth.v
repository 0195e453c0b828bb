(* False: H/5 in place of H/4. One item of weight 1 over two classes attains the bound with H/4. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import T5prime.


Theorem T5prime_2_fifth : forall (I Y : Type) (ys : list Y) (items : list I) (bad : I -> bool) (w : I -> R)
  (f g : I -> Y -> R),
  replacement ys items bad w f g ->
  let P := pool ys items w f in
  let D := log_shift items bad w f g in
  let H := sum (filter bad items) (fun i => w i * hilbert ys (f i) (g i)) in
  (forall y, In y ys -> pool ys items w g y = shifted ys P D y) /\
  range (support ys P) D <= H /\
  L1 ys P (pool ys items w g) <= 2 * tanh (H / 5).
Proof.
  intros I Y ys items bad w f g R P D H.
  assert (E : forall y, In y ys -> pool ys items w g y = shifted ys P D y) by
    (intros; now apply pool_shifted).
  assert (B : range (support ys P) D <= H) by now apply log_shift_range.
  repeat split; [exact E | exact B |].
  apply Rle_trans with (2 * tanh (range (support ys P) D / 4)).
  - unfold L1. rewrite (sum_ext ys _ (fun y => Rabs (P y - shifted ys P D y))) by (intros; now rewrite E).
    apply T5prime_1, pool_distribution, R.
  - apply Rmult_le_compat_l; [lra|]. apply tanh_mono. lra.
Qed.
