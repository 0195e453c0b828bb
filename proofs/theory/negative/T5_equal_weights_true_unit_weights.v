(* False: for weights between 0 and 1 the claim is refuted for every constant (T5_refuted). *)
Require Import Reals List Lra Psatz Arith.
From LPF Require Import Sums T5prime.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import T5.


Theorem T5_equal_weights_true_unit_weights : forall (n : nat) (E : Type) (factor : E -> nat -> R) (gamma : R),
  (0 < n)%nat -> A6 n factor -> 0 <= gamma -> theorem_5 n factor unit_weights (INR n) gamma.
Proof.
  intros n E factor gamma n0 HA g O os prob label K ev att bad w eps delta dp _ _ He Hd Hw Hm Hb Hl.
  cbv zeta. destruct dp as [p0 p1]. unfold probability.
  rewrite (sum_ext os _ prob); [lra|]. intros o Ho. destruct (Rle_dec _ _) as [y|N]; [easy|]. exfalso;
    apply N.
  destruct K as [|K].
  { unfold L1, pool, normalize, unnormalized, items; simpl. rewrite sqrt_0, Rmult_0_r.
    rewrite (sum_ext _ _ (fun _ => 0)), sum_0; [lra|]. intros y _. rewrite Rminus_diag_eq by easy.
      apply Rabs_R0. }
  assert (k1 : 1 <= INR (S K)) by (rewrite S_INR; pose proof (pos_INR K); lra).
  set (k := INR (S K)) in *.
  apply Rle_trans with (INR n * delta * eps).
  - unfold L1. rewrite (sum_ext _ _ (fun y => Rabs
      (pool (classes n) (items (S K)) w (fun i => factor (ev o i)) y
      - pool (classes n) (items (S K)) w (fun i => factor (att o i)) y))) by (intros; apply Rabs_minus_sym).
    eapply Rle_trans; [apply (T5prime_linear n E factor (S K) (bad o) w (ev o) (att o) delta); auto|].
    + intros i Hi. rewrite Hw by easy. left. apply Rinv_0_lt_compat. fold k. lra.
    + lra.
    + apply Rmult_le_compat_l; [apply Rmult_le_pos; [apply pos_INR | lra]|].
      rewrite (sum_ext _ _ (fun _ => / k * 1)).
      * rewrite sum_scal. assert (C1 : forall l : list nat, sum l (fun _ => 1) = INR (length l)).
        { induction l; [easy|]. cbn [sum length]. rewrite IHl, S_INR. lra. }
        rewrite C1. destruct (Hm o Ho) as [M _]. apply Rmult_le_reg_l with k; [lra|].
        rewrite <- Rmult_assoc, Rinv_r by lra. fold k in M. lra.
      * intros i Hi. apply filter_In in Hi. destruct Hi as [Hi _]. apply in_seq in Hi. rewrite Hw by lia.
          fold k. lra.
  - assert (1 <= sqrt k) by (rewrite <- sqrt_1; apply sqrt_le_1; lra).
    assert (0 <= INR n * delta * eps) by (repeat apply Rmult_le_pos; try apply pos_INR; lra).
    replace (INR n * eps * delta * sqrt k) with (INR n * delta * eps * sqrt k) by ring. nra.
Qed.
