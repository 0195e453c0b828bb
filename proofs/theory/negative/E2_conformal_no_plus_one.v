(* False: k >= (1 - alpha) n is not enough. With n = k = 1 and alpha = 0 it would say that of two exchangeable
   scores the second is never the larger. *)
Require Import Reals List Lra Psatz Arith Permutation.
From LPF Require Import Sums T5prime.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import E2.


Theorem E2_conformal_no_plus_one : forall (O : Type) (os : list O) (prob : O -> R) (n k : nat)
  (S : O -> nat -> R) (alpha : R)
  (q : O -> R),
  distribution os prob -> exchangeable os prob n S -> (k <= n)%nat -> (1 - alpha) * INR n <= INR k ->
  (forall o, In o os -> kth_smallest k (map (S o) (seq 0 n)) (q o)) ->
  1 - alpha <= probability os prob (fun o => at_most (S o n) (q o)).
Proof.
  intros O os prob n k S alpha q D X kn Hk Q. pose proof (rank os prob n S k D X ltac:(lia)) as R.
  pose proof (pos_INR n) as n0.
  assert (B : 1 - alpha <= probability os prob (fun o => Nat.ltb
    (count (fun j => below (S o j) (S o n)) (seq 0 (n + 1))) k)).
  { apply Rmult_le_reg_l with (INR n + 1); lra. }
  eapply Rle_trans; [exact B|]. apply probability_le; [apply D|]. intros o Ho H.
  apply Nat.ltb_lt in H. apply at_most_spec. destruct (Rle_lt_dec (S o n) (q o)) as [|C]; [easy|]. exfalso.
  destruct (Q o Ho) as [_ [_ K]]. rewrite count_map in K.
  assert (W : (count (fun j => at_most (S o j) (q o)) (seq 0 n) <= count (fun j => below (S o j) (S o n))
    (seq 0 (n + 1)))%nat).
  { rewrite seq_app. unfold count at 2. rewrite filter_app, app_length. etransitivity; [|apply Nat.le_add_r].
    apply count_le. intros j _ Hj. apply at_most_spec in Hj. apply below_spec. lra. }
  lia.
Qed.
