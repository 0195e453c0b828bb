(* False: with a single class the softmax is 1, above the floor of 1/2. *)
Require Import Reals List Lra Psatz.
From LPF Require Import IntegerInterval.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import A6_excludes.


Theorem A6_softmax_one_class : forall (n : nat) (T : R), (1 <= n)%nat -> 0 < T ->
  exists logit : nat -> R, ~ floored (seq 0 n) (normalize (seq 0 n) (fun y => exp (logit y / T))).
Proof.
  intros [|[|n]] T Hn T0; try lia. set (N := S (S n)). pose proof (pos_INR N) as N0.
  exists (fun y => if Nat.eqb y 0 then T * ln (2 * INR N) else 0). intros [_ F].
  specialize (F 1%nat). rewrite seq_length in F. specialize (F ltac:(unfold N; simpl; auto)).
  assert (L : 0 < INR N) by (unfold N; rewrite !S_INR; pose proof (pos_INR n); lra).
  unfold normalize in F. simpl Nat.eqb in F. unfold Rdiv at 1 2 in F. rewrite !Rmult_0_l, exp_0,
    Rmult_1_l in F.
  assert (S1 : 2 * INR N + 1 <= sum (seq 0 N) (fun y => exp
    ((if Nat.eqb y 0 then T * ln (2 * INR N) else 0) / T))).
  { unfold N at 2. cbn [seq sum Nat.eqb]. replace (T * ln (2 * INR N) / T) with (ln (2 * INR N)) by
      (field; lra).
    rewrite exp_ln by lra. unfold Rdiv at 1. rewrite Rmult_0_l, exp_0.
    match goal with |- _ <= _ + (_ + ?s) => assert (0 <= s) end; [|lra].
    apply sum_nonneg; intros. left. apply exp_pos. }
  set (s := sum _ _) in *.
  assert (/ s < / (2 * INR N)) by (apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; lra | lra]).
  lra.
Qed.
