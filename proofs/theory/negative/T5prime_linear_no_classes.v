(* False: 1/n in place of n. One item of weight 1 over two classes whose factor moves by delta moves the
   prediction by delta, not by at most delta/2. *)
Require Import Reals List Lra Psatz Arith.
From LPF Require Import Sums T5prime.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import T5.


Theorem T5prime_linear_no_classes : forall (n : nat) (E : Type) (factor : E -> nat -> R) (K : nat)
  (bad : nat -> bool)
  (w : nat -> R) (e e' : nat -> E) (delta : R),
  (0 < n)%nat -> A6 n factor -> (forall i, (i < K)%nat -> 0 <= w i) ->
  (forall i, (i < K)%nat -> bad i = false -> e' i = e i) ->
  (forall i, (i < K)%nat -> L1 (classes n) (factor (e i)) (factor (e' i)) <= delta) -> 0 <= delta ->
  L1 (classes n) (pool (classes n) (items K) w (fun i => factor (e i)))
     (pool (classes n) (items K) w (fun i => factor (e' i)))
  <= / INR n * delta * sum (filter bad (items K)) w.
Proof.
  intros n E factor K bad w e e' delta n0 HA w0 Hb Hd d0.
  assert (N : 0 < INR n) by now apply lt_0_INR.
  assert (low : 0 < / (2 * INR n)) by (apply Rinv_0_lt_compat; lra).
  assert (iK : forall i, In i (items K) -> (i < K)%nat) by (intros i Hi; apply in_seq in Hi; lia).
  eapply Rle_trans.
  - apply (T5prime_floor nat nat (classes n) (items K) bad w _ _ (/ (2 * INR n)) (fun _ => delta)); auto.
    + destruct n; [lia | easy].
    + intros; apply HA.
    + intros; apply HA.
    + intros; now apply HA.
    + intros; now apply HA.
    + intros i y Hi _ Bi. now rewrite Hb by auto.
  - set (x := sum _ _).
    assert (D : delta / (2 * / (2 * INR n)) = INR n * delta) by (field; lra).
    assert (X : 0 <= x <= INR n * delta * sum (filter bad (items K)) w).
    { unfold x. rewrite D. split.
      - apply sum_nonneg; intros i Hi. apply filter_In in Hi. apply Rmult_le_pos; [apply w0, iK; tauto|].
        rewrite <- ln_1. apply ln_mono; nra.
      - rewrite <- sum_scal. apply sum_le; intros i Hi. apply filter_In in Hi. rewrite Rmult_comm.
        apply Rmult_le_compat_r; [apply w0, iK; tauto|]. apply ln_1p_le. nra. }
    pose proof (tanh_le (x / 2)). lra.
Qed.
