(* False: 2 tanh(K eta) cannot be reached for eta > 0: it is above the bound of T1prime_2. *)
Require Import Reals List Lra Lia Psatz Classical.
From LPF Require Import Sums T5prime World.
From LPF Require Import T1prime.
Import ListNotations.
Open Scope R_scope.

Theorem T1prime_sharp_twice : forall (K : nat) (eta : R), (1 <= K)%nat -> 0 <= eta ->
  exists (W : world bool bool) (Phi : nat -> bool -> bool -> R) (e : list bool),
    items W = K /\ is_world W /\ A1 W /\ (forall y, In y (classes W) -> 0 < prior W y) /\
    In e (evidence W) /\ 0 < mass W e /\
    (forall i a, distribution (classes W) (Phi i a)) /\
    (forall i y, (i < K)%nat -> In y (classes W) ->
      log_close eta (Phi i (item W i e) y) (item_posterior W i (item W i e) y)) /\
    L1 (classes W) (posterior W e) (corrected W (prior W) Phi e) = 2 * tanh (INR K * eta).
Proof.
  intros K eta K1 H. set (t := exp eta).
    assert (t1 : 1 <= t) by (unfold t; rewrite <- exp_0; now apply exp_le).
  set (s := / (1 + t)). assert (s0 : 0 < s) by (apply Rinv_0_lt_compat; lra).
  assert (st : 1 - s = s * t) by (unfold s; field; lra).
  set (lik := fun (_ : nat) (a y : bool) => match a, y
    with true, true | false, false => s | _, _ => 1 - s end).
  set (W := product_world [true; false] [true; false] K true (fun _ => / 2) lik).
  assert (st0 : 0 < s * t) by nra.
  assert (D : distribution [true; false] (fun _ : bool => / 2)) by (split; [intros; lra | simpl; lra]).
  assert (Dl : forall i y, (i < K)%nat -> In y [true; false] ->
    distribution [true; false] (fun a => lik i a y)).
  { intros i y _ _. split; [intros [] _; destruct y; simpl; lra | destruct y; simpl; lra]. }
  assert (HW : is_world W) by (apply product_is_world; auto using bools).
  assert (HP : forall y, In y [true; false] -> prior W y = / 2).
  { intros. now apply (product_prior [true; false] [true; false] K true (fun _ => / 2) lik). }
  set (e := repeat true K).
  assert (It : forall i, item W i e = true) by (intros; unfold item, e; simpl; apply nth_repeat).
  assert (HI : forall i y, (i < K)%nat -> item_posterior W i true y = lik i true y).
  { intros i y Hi. assert (E : forall z, item_joint W i true z = / 2 * lik i true z).
    { intros z. apply (product_item_joint [true; false] [true; false] K true (fun _ => / 2) lik);
      auto using bools; [now left | destruct z; simpl; tauto]. }
    unfold item_posterior. simpl classes. simpl sum. rewrite !E. destruct y; simpl; field; lra. }
  assert (J : forall y, joint W y e = / 2 * lik O true y ^ K).
  { intros y. simpl. f_equal. rewrite (prod_ext _ _ (fun _ => lik O true y)).
    - now rewrite prod_const, seq_length.
    - intros i _. unfold e. now rewrite nth_repeat. }
  assert (M : mass W e = / 2 * s ^ K + / 2 * (s * t) ^ K).
  { change (mass W e) with (joint W true e + (joint W false e + 0)). rewrite !J. simpl lik. rewrite st. lra. }
  assert (sK : 0 < s ^ K) by now apply pow_lt. assert (tK : 1 <= t ^ K) by now apply pow_R1_Rle.
  exists W, (fun i a => lik i (negb a)), e. split; [easy|]. split; [exact HW|]. split.
  { now apply (product_A1 [true; false] [true; false] K true (fun _ => / 2) lik); auto using bools. }
  split; [intros y Hy; rewrite HP by exact Hy; lra|].
  split; [apply in_tuples_repeat; simpl; tauto|].
  split; [rewrite M, Rpow_mult_distr; nra|]. split.
  { intros i a. split; [intros [] _; destruct a; simpl; lra | destruct a; simpl; lra]. }
  split.
  - intros i y Hi Hy. right. rewrite It, HI by easy.
    assert (L : ln (s * t) - ln s = eta) by (rewrite ln_mult by lra; unfold t; rewrite ln_exp; ring).
    destruct y; simpl; rewrite st; repeat split; try lra.
    + rewrite L, Rabs_pos_eq; lra.
    + rewrite <- (Ropp_involutive (ln s - _)), Ropp_minus_distr, L, Rabs_Ropp, Rabs_pos_eq; lra.
  - assert (C : forall y, corrected W (prior W) (fun i a => lik i (negb a)) e y =
      lik O false y ^ K / (lik O false true ^ K + lik O false false ^ K)).
    { intros y. unfold corrected. simpl classes.
      rewrite (normalize_ext _ _ (fun y => / 2 * 2 ^ K * lik O false y ^ K) y).
      - assert (0 < 2 ^ K) by (apply pow_lt; lra). rewrite normalize_scal; [apply normalize_bools | lra |].
        simpl. rewrite st, Rpow_mult_distr. nra.
      - intros x Hx. unfold corrected_score. rewrite HP by exact Hx.
        rewrite (prod_ext _ _ (fun _ => 2 * lik O false x)).
        + rewrite prod_const, seq_length, Rpow_mult_distr. simpl items. ring.
        + intros i _. rewrite It. simpl. field.
      - destruct y; simpl; tauto. }
    assert (Q : forall y, posterior W e y = / 2 * lik O true y ^ K / (/ 2 * s ^ K + / 2 * (s * t) ^ K)).
    { intros y. unfold posterior. now rewrite J, M. }
    assert (T : tanh (INR K * eta / 2) = (t ^ K - 1) / (t ^ K + 1)).
    { replace (INR K * eta / 2) with ((2 * (INR K * eta) - 0) / 4) by lra. rewrite tanh_quarter.
      replace (0 / 2) with 0 by lra. rewrite exp_0. replace (2 * (INR K * eta) / 2) with (INR K * eta) by lra.
      replace (exp (INR K * eta)) with (t ^ K); [easy|]. unfold t. rewrite <- Rpower_pow by apply exp_pos.
      unfold Rpower. now rewrite ln_exp. }
    unfold L1. simpl classes. simpl sum. rewrite !C, !Q, T. simpl lik. rewrite st, !Rpow_mult_distr.
    set (p := s ^ K) in *. set (r := t ^ K) in *.
    assert (0 <= (r - 1) / (r + 1)) by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]).
    match goal with |- Rabs ?u + (Rabs ?v + 0) = _ =>
      replace u with (- ((r - 1) / (r + 1))) by (field; repeat split; nra);
      replace v with ((r - 1) / (r + 1)) by (field; repeat split; nra) end.
    rewrite Rabs_Ropp, Rabs_pos_eq by easy. ring.
Qed.
