(* False: for three equally probable classes and no evidence the entropy is ln 3 = 1.0986, and this bound,
   at x = 2/3, 0.6365. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World L5 T4 T4_moreover.
From LPF Require Import T4prime.
Import ListNotations.
Open Scope R_scope.

Theorem T4prime_fano_one_class_less : forall (Y A : Type) (W : world Y A) (decision : list A -> Y),
  is_world W -> (2 <= length (classes W))%nat ->
    (forall e, In e (evidence W) -> In (decision e) (classes W)) ->
  residual_entropy W <= fano_bound (length (classes W) - 1) (error W decision).
Proof.
  intros Y A W d HW n2 D. set (x := error W d). destruct (error_range W d HW D) as [x0 x1]. fold x in x0, x1.
  set (n := INR (length (classes W))). assert (n2' : 2 <= n) by (apply (le_INR 2); easy).
  pose proof (proj1 HW) as ND. pose proof (mass_total W HW) as T.
  (* the predictor that trusts the decision as much as it deserves *)
  set (Q := fun e y => if decide (y = d e) then 1 - x else x / (n - 1)).
  assert (in0 : 0 < / (n - 1)) by (apply Rinv_0_lt_compat; lra).
  assert (PQ : predicts W Q).
  { intros e He. split.
    - intros y _. unfold Q. destruct (decide (y = d e)); [lra|]. apply Rmult_le_pos; lra.
    - rewrite (sum_ext _ _ (fun y => 1 * (if decide (y = d e) then 1 - x else x / (n - 1)))) by (intros;
      unfold Q; ring).
      rewrite (sum_two_values (classes W) (d e) (fun _ => 1)) by auto. rewrite sum_const. fold n. field.
        lra. }
  assert (A1 : sum (evidence W) (fun e => joint W (d e) e) = 1 - x) by (unfold x, error; lra).
  assert (A2 : sum (evidence W) (fun e => mass W e - joint W (d e) e) = x) by (rewrite sum_minus, A1, T; lra).
  assert (C : covers W Q).
  { intros e y He Hy j. unfold Q. destruct (decide (y = d e)) as [->|N].
    - assert (joint W (d e) e <= 1 - x); [|lra]. rewrite <- A1.
      apply (sum_ge_one (evidence W) (fun e => joint W (d e) e)); auto. intros. apply joint_nonneg; auto.
    - assert (L : joint W y e <= mass W e - joint W (d e) e).
      { unfold mass. pose proof (sum_two_values (classes W) (d e) (fun y => joint W y e) 0 1 ND (D e He))
        as S.
        rewrite Rmult_0_l, Rmult_1_l, Rplus_0_l in S. rewrite <- S.
        replace (joint W y e) with (joint W y e * (if decide (y = d e) then 0 else 1))
          by (destruct (decide (y = d e)); [easy | ring]).
        apply (sum_ge_one (classes W) (fun y => joint W y e * (if decide (y = d e) then 0 else 1))); [|easy].
        intros z Hz. pose proof (joint_nonneg W HW z e Hz He). destruct (decide (z = d e)); lra. }
      assert (joint W y e <= x).
      { rewrite <- A2. eapply Rle_trans; [exact L|].
        apply (sum_ge_one (evidence W) (fun e => mass W e - joint W (d e) e)); auto.
        intros e' He'. pose proof (joint_le_mass W HW (d e') e' (D e' He') He'). lra. }
      apply Rmult_lt_0_compat; lra. }
  destruct (T4prime_log_loss Y A W Q HW PQ C) as (_ & _ & B). eapply Rle_trans; [exact B|]. right.
  unfold log_loss.
  rewrite (sum_ext _ _ (fun e => - ln (1 - x) * joint W (d e) e + - ln (x / (n - 1)) * (mass W e - joint W
    (d e) e))).
  - rewrite sum_plus, !sum_scal, A1, A2. unfold fano_bound. fold n. destruct x0 as [x0| <-]; [|lra].
    unfold Rdiv. rewrite ln_mult, ln_Rinv; lra.
  - intros e He.
    rewrite (sum_ext _ _ (fun y => joint W y e * (if decide (y = d e) then - ln (1 - x) else - ln (x / (n -
      1))))).
    + rewrite (sum_two_values (classes W) (d e) (fun y => joint W y e)) by auto. easy.
    + intros y _. unfold Q. destruct (decide (y = d e)); easy.
Qed.
