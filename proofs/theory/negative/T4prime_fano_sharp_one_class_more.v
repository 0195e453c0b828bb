(* False: for x > 0 this is above the bound of T4prime_fano. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World L5 T4 T4_moreover.
From LPF Require Import T4prime.
Import ListNotations.
Open Scope R_scope.

Theorem T4prime_fano_sharp_one_class_more : forall (n : nat) (x : R), (2 <= n)%nat -> 0 <= x <= 1 ->
  exists W : world nat unit, is_world W /\ length (classes W) = n /\ In O (classes W) /\
    error W (fun _ => O) = x /\ residual_entropy W = fano_bound (S n) x.
Proof.
  intros n x n2 Hx. assert (n2' : 2 <= INR n) by (apply (le_INR 2); easy).
  assert (in0 : 0 < / (INR n - 1)) by (apply Rinv_0_lt_compat; lra).
  set (p := fun y : nat => if decide (y = O) then 1 - x else x / (INR n - 1)).
  set (W := World (seq 0 n) [tt] 0 tt (fun y (_ : list unit) => p y)).
  assert (I : In O (seq 0 n)) by (apply in_seq; lia). assert (N : NoDup (seq 0 n)) by apply seq_NoDup.
  assert (S : sum (seq 0 n) p = 1).
  { unfold p. rewrite (sum_ext _ _ (fun y => 1 * (if decide (y = O) then 1 - x else x / (INR n - 1))))
    by (intros; ring).
    rewrite (sum_two_values (seq 0 n) O (fun _ => 1)) by easy. rewrite sum_const, seq_length. field. lra. }
  assert (M : mass W [] = 1) by exact S.
  exists W. split; [|split; [apply seq_length | split; [exact I | split]]].
  - split; [exact N|]. split; [repeat constructor; simpl; tauto|]. split.
    + intros y e _ _. simpl. unfold p. destruct (decide (y = O)); [lra | apply Rmult_le_pos; lra].
    + simpl. rewrite (sum_ext _ _ p) by (intros; ring). exact S.
  - unfold error. simpl. unfold p. destruct (decide (O = O)); [ring | easy].
  - unfold residual_entropy. change (evidence W) with [@nil unit]. cbn [sum]. rewrite M.
    unfold entropy, posterior. rewrite M.
    change (classes W) with (seq 0 n).
      change (fun y => joint W y [] / 1 * ln (joint W y [] / 1)) with (fun y => p y / 1 * ln (p y / 1)).
    rewrite (sum_ext _ _ (fun y => 1 * (if decide (y = O) then (1 - x) * ln (1 - x)
      else x / (INR n - 1) * ln (x / (INR n - 1))))).
    + rewrite (sum_two_values (seq 0 n) O (fun _ => 1)) by easy. rewrite sum_const, seq_length.
      unfold fano_bound.
      destruct (proj1 Hx) as [x0| <-]; [|unfold Rdiv; ring].
      unfold Rdiv at 2. rewrite ln_mult, ln_Rinv by lra. field. lra.
    + intros y _. replace (p y / 1) with (p y) by field. unfold p. destruct (decide (y = O)); ring.
Qed.
