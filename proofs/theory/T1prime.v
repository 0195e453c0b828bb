(* T1', in place of theorem 1 of the paper (section 3.1): the product that divides out the repeated prior,
   pi(y)^(1-K) times the product of the factors, is the posterior when the items are independent given the
   class (assumption 1) and the factors are exact; hence it is perfectly calibrated. With factors whose
   logarithms are off by at most eta and a prior whose logarithm is off by at most zeta, it is off by 2
   tanh((K eta + (K-1) zeta)/2) in L1, and its calibration error is at most half of that. *)
Require Import Reals List Lra Lia Psatz Classical.
From LPF Require Import Sums T5prime World.
Import ListNotations.
Open Scope R_scope.

(* pi(y) * product of Phi_i(y) / pi(y), normalized: each factor is freed of the prior, which is then counted
   once. *)
Definition corrected_score {Y A} (W : world Y A) (pi : Y -> R) (Phi : nat -> A -> Y -> R) e y :=
  pi y * prod (seq 0 (items W)) (fun i => Phi i (item W i e) y / pi y).
Definition corrected {Y A} (W : world Y A) pi Phi (e : list A) : Y -> R :=
  normalize (classes W) (corrected_score W pi Phi e).

(* p and q are both zero, or both positive with logarithms at most d apart. *)
Definition log_close (d p q : R) := (p = 0 /\ q = 0) \/ (0 < p /\ 0 < q /\ Rabs (ln p - ln q) <= d).

(* The same as pi^(1-K) times the product of the factors. *)
Lemma corrected_score_power {Y A} (W : world Y A) pi Phi e y : (1 <= items W)%nat -> pi y <> 0 ->
  corrected_score W pi Phi e y = / pi y ^ (items W - 1) * prod (seq 0 (items W)) (fun i => Phi i (item W i
    e) y).
Proof.
  intros H p. unfold corrected_score, Rdiv. rewrite prod_mult, prod_const, seq_length.
  destruct (items W) as [|k]; [lia|]. simpl. rewrite Nat.sub_0_r, pow_inv. field. auto using pow_nonzero.
Qed.

Lemma Rabs_def2_le x b : Rabs x <= b -> - b <= x <= b.
Proof. unfold Rabs. destruct (Rcase_abs x); lra. Qed.

Section Facts.
Context {Y A : Type} (W : world Y A).
Hypotheses (HW : is_world W) (HA : A1 W) (Hpi : forall y, In y (classes W) -> 0 < prior W y).
Variable e : list A.
Hypotheses (He : In e (evidence W)) (Hm : 0 < mass W e).
Let K := items W.
Let a i := item W i e.

Lemma item_joint_nonneg i x y : In y (classes W) -> 0 <= item_joint W i x y.
Proof.
  intros Hy. apply sum_nonneg; intros e' He'. apply Rmult_le_pos; [apply one_range | now apply joint_nonneg].
Qed.
Lemma item_joint_ge i y : In y (classes W) -> joint W y e <= item_joint W i (a i) y.
Proof.
  intros Hy. replace (joint W y e) with (one (item W i e = a i) * joint W y e) by (rewrite one_true;
    [ring|easy]).
  apply (sum_ge_one _ (fun e' => one (item W i e' = a i) * joint W y e')); [|exact He].
  intros e' He'. apply Rmult_le_pos; [apply one_range | now apply joint_nonneg].
Qed.
Lemma item_mass_pos i : 0 < sum (classes W) (item_joint W i (a i)).
Proof. eapply Rlt_le_trans; [exact Hm|]. apply sum_le. intros. now apply item_joint_ge. Qed.
Lemma posterior_distribution : distribution (classes W) (posterior W e).
Proof.
  apply (normalize_distribution (classes W) (fun y => joint W y e)); [|exact Hm].
  intros. now apply joint_nonneg.
Qed.
(* The score of exact factors is the joint probability, up to a constant. *)
Lemma exact_score : exists c, 0 < c /\ forall y, In y (classes W) ->
  corrected_score W (prior W) (item_posterior W) e y = c * joint W y e.
Proof.
  exists (prod (seq 0 K) (fun i => / sum (classes W) (item_joint W i (a i)))). split.
  - apply prod_pos. intros. apply Rinv_0_lt_compat, item_mass_pos.
  - intros y Hy. rewrite (HA y e Hy He). unfold corrected_score. fold K.
    rewrite (prod_ext _ _ (fun i => / sum (classes W) (item_joint W i (a i)) * likelihood W i (a i) y)).
    + rewrite prod_mult. unfold a. ring.
    + intros i _. unfold item_posterior, likelihood. fold (a i). pose proof (item_mass_pos i).
      pose proof (Hpi y Hy).
      field. lra.
Qed.
Lemma corrected_exact y : In y (classes W) -> corrected W (prior W) (item_posterior W) e y = posterior W e y.
Proof.
  intros Hy. destruct exact_score as (c & c0 & E). unfold corrected.
  rewrite (normalize_ext _ _ _ y E Hy), normalize_scal; [easy | lra |]. fold (mass W e). lra.
Qed.

Variables (pi : Y -> R) (Phi : nat -> A -> Y -> R) (eta zeta : R).
Hypothesis Hprior : forall y, In y (classes W) -> 0 < pi y /\ Rabs (ln (pi y) - ln (prior W y)) <= zeta.
Hypothesis HPhi : forall i y, (i < K)%nat -> In y (classes W) ->
  log_close eta (Phi i (a i) y) (item_posterior W i (a i) y).
Hypothesis K1 : (1 <= K)%nat.
Let z y := ln (pi y) - ln (prior W y).
Let x i y := ln (Phi i (a i) y) - ln (item_posterior W i (a i) y).
Let D y := sum (seq 0 K) (fun i => x i y) - (INR K - 1) * z y.

Lemma score_shift y : In y (classes W) ->
  corrected_score W pi Phi e y = corrected_score W (prior W) (item_posterior W) e y * exp (D y).
Proof.
  intros Hy. destruct (Hprior y Hy) as [p0 _]. pose proof (Hpi y Hy) as q0.
  destruct (classic (exists i, (i < K)%nat /\ item_posterior W i (a i) y = 0)) as [(i & Hi & Z)|N].
  - assert (In i (seq 0 (items W))) by (apply in_seq; unfold K in Hi; lia).
    assert (Z' : Phi i (a i) y = 0) by (destruct (HPhi i y Hi Hy) as [[]|(_ & ? & _)]; [easy | lra]).
    unfold corrected_score. rewrite !(prod_zero _ _ i); auto; [ring | |]; fold (a i).
    + rewrite Z. unfold Rdiv. ring.
    + rewrite Z'. unfold Rdiv. ring.
  - assert (P : forall i, In i (seq 0 K) -> 0 < Phi i (a i) y /\ 0 < item_posterior W i (a i) y).
    { intros i Hi. apply in_seq in Hi. assert (Hi' : (i < K)%nat) by lia.
      destruct (HPhi i y Hi' Hy) as [[_ b]|(? & ? & _)]; [|easy]. exfalso; apply N. now exists i. }
    assert (E : pi y = prior W y * exp (z y)).
    { unfold z, Rminus. rewrite exp_plus, exp_Ropp, !exp_ln by easy. field. lra. }
    unfold corrected_score. fold K.
    rewrite (prod_ext _ _ (fun i => item_posterior W i (a i) y / prior W y * exp (x i y - z y))).
    + rewrite prod_mult, <- exp_sum. rewrite E at 1. unfold D.
      rewrite sum_minus, sum_const, seq_length.
      replace (sum (seq 0 K) (fun i => x i y) - (INR K - 1) * z y)
        with (z y + (sum (seq 0 K) (fun i => x i y) - INR K * z y)) by ring.
      rewrite exp_plus. unfold a. ring.
    + intros i Hi. destruct (P i Hi) as [u v]. fold (a i).
      assert (F : Phi i (a i) y = item_posterior W i (a i) y * exp (x i y)).
      { unfold x, Rminus. rewrite exp_plus, exp_Ropp, !exp_ln by easy. field. lra. }
      unfold Rminus. rewrite exp_plus, exp_Ropp, E, F. pose proof (exp_pos (z y)). field. split; lra.
Qed.
Lemma shift_bound y : In y (classes W) -> 0 < posterior W e y ->
  - (INR K * eta + (INR K - 1) * zeta) <= D y <= INR K * eta + (INR K - 1) * zeta.
Proof.
  intros Hy Py. destruct (Hprior y Hy) as [_ zb]. fold (z y) in zb.
  assert (k1 : 1 <= INR K) by (apply (le_INR 1); exact K1).
  assert (J : 0 < joint W y e).
  { unfold posterior in Py. replace (joint W y e) with (joint W y e / mass W e * mass W e) by (field; lra).
    nra. }
  assert (xb : forall i, In i (seq 0 K) -> Rabs (x i y) <= eta).
  { intros i Hi. apply in_seq in Hi. destruct (HPhi i y ltac:(lia) Hy) as [[_ q]|(_ & _ & ?)]; [|easy].
    exfalso. pose proof (item_joint_ge i y Hy). pose proof (item_mass_pos i). unfold item_posterior in q.
    assert (0 < item_joint W i (a i) y / sum (classes W) (item_joint W i (a i)))
      by (apply Rdiv_lt_0_compat; lra). lra. }
  assert (S : Rabs (sum (seq 0 K) (fun i => x i y)) <= INR K * eta).
  { eapply Rle_trans; [apply sum_abs|]. rewrite <- (seq_length K 0) at 2. rewrite <- sum_const.
    now apply sum_le. }
  unfold D. apply Rabs_def2_le in S. apply Rabs_def2_le in zb. split; nra.
Qed.
Lemma corrected_shifted : exists c, 0 < c /\ forall y, In y (classes W) ->
  corrected_score W pi Phi e y = c * (posterior W e y * exp (D y)).
Proof.
  destruct exact_score as (c & c0 & E). exists (c * mass W e). split; [now apply Rmult_lt_0_compat|].
  intros y Hy. rewrite score_shift, E by easy. unfold posterior. field. lra.
Qed.
Lemma shifted_pos : 0 < sum (classes W) (fun y => posterior W e y * exp (D y)).
Proof.
  destruct posterior_distribution as [p0 p1].
  assert (T : ~ forall y, In y (classes W) -> posterior W e y = 0).
  { intros Z. rewrite (sum_ext _ _ (fun _ => 0) Z), sum_0 in p1. lra. }
  apply not_all_ex_not in T. destruct T as [y T]. apply imply_to_and in T. destruct T as [Hy n].
  apply (sum_pos _ _ y); [|easy|].
  - intros x' Hx. apply Rmult_le_pos; [auto | left; apply exp_pos].
  - apply Rmult_lt_0_compat; [specialize (p0 y Hy); lra | apply exp_pos].
Qed.
Lemma corrected_L1 : L1 (classes W) (posterior W e) (corrected W pi Phi e)
  <= 2 * tanh ((INR K * eta + (INR K - 1) * zeta) / 2).
Proof.
  set (B := INR K * eta + (INR K - 1) * zeta). destruct corrected_shifted as (c & c0 & E).
  replace (B / 2) with ((B - - B) / 4) by lra.
  replace (L1 (classes W) (posterior W e) (corrected W pi Phi e))
    with (L1 (classes W) (posterior W e) (shifted (classes W) (posterior W e) D)).
  - apply robust_L1_support; [apply posterior_distribution | exact shift_bound].
  - unfold L1. apply sum_ext; intros y Hy. f_equal. f_equal. unfold corrected.
    rewrite (normalize_ext _ _ _ y E Hy), normalize_scal; [easy | lra |]. pose proof shifted_pos. lra.
Qed.
Lemma corrected_distribution : distribution (classes W) (corrected W pi Phi e).
Proof.
  destruct corrected_shifted as (c & c0 & E). pose proof shifted_pos as S. apply normalize_distribution.
  - intros y Hy. rewrite E by easy. destruct posterior_distribution as [p0 _]. specialize (p0 y Hy).
    pose proof (exp_pos (D y)). apply Rmult_le_pos; [lra|]. nra.
  - rewrite (sum_ext _ _ _ E), sum_scal. now apply Rmult_lt_0_compat.
Qed.
End Facts.

(** claim: T1' | proves | caveats: reals, finite-evidence
    Part 1. If the items are independent given the class and no class has probability zero, the
    prior-corrected product of the exact single-item posteriors is the posterior given all items, at all
    evidence that can occur. *)
Theorem T1prime_1 : forall (Y A : Type) (W : world Y A), is_world W -> A1 W ->
  (forall y, In y (classes W) -> 0 < prior W y) ->
  forall e y, In e (evidence W) -> 0 < mass W e -> In y (classes W) ->
  corrected W (prior W) (item_posterior W) e y = posterior W e y.
Proof. intros. now apply corrected_exact. Qed.

(** claim: T1' | proves | caveats: reals, finite-evidence, population-ece
    Part 1, what follows: that product is perfectly calibrated. Its expected calibration error is zero with
    any bins or none, and however ties are broken. *)
Theorem T1prime_calibrated : forall (Y A : Type) (W : world Y A), is_world W -> A1 W ->
  (forall y, In y (classes W) -> 0 < prior W y) ->
  forall bin hat, picks W (corrected W (prior W) (item_posterior W)) hat ->
  ece W bin (corrected W (prior W) (item_posterior W)) hat = 0.
Proof.
  intros Y A W HW HA Hpi bin hat H. apply ece_posterior; [easy | intros; now apply H |].
  intros e He m. apply corrected_exact; auto. now apply H.
Qed.

(** claim: T1' | proves | caveats: reals, finite-evidence
    Part 2. If the logarithms of the factors are off by at most eta and that of the prior by at most zeta,
    the prior-corrected product is within 2 tanh((K eta + (K-1) zeta)/2) of the posterior in L1. With the
    exact prior zeta = 0. *)
Theorem T1prime_2 : forall (Y A : Type) (W : world Y A) (pi : Y -> R)
  (Phi : nat -> A -> Y -> R) (eta zeta : R),
  is_world W -> A1 W -> (1 <= items W)%nat -> (forall y, In y (classes W) -> 0 < prior W y) ->
  (forall y, In y (classes W) -> 0 < pi y /\ Rabs (ln (pi y) - ln (prior W y)) <= zeta) ->
  forall e, In e (evidence W) -> 0 < mass W e ->
  (forall i y, (i < items W)%nat -> In y (classes W) ->
    log_close eta (Phi i (item W i e) y) (item_posterior W i (item W i e) y)) ->
  L1 (classes W) (posterior W e) (corrected W pi Phi e)
  <= 2 * tanh ((INR (items W) * eta + (INR (items W) - 1) * zeta) / 2).
Proof. intros. now apply corrected_L1. Qed.

(** claim: T1' | proves | caveats: reals, finite-evidence, population-ece
    Part 3. Its expected calibration error, with any bins, is then at most tanh((K eta + (K-1) zeta)/2). *)
Theorem T1prime_3 : forall (Y A : Type) (W : world Y A) (pi : Y -> R)
  (Phi : nat -> A -> Y -> R) (eta zeta : R),
  is_world W -> A1 W -> (1 <= items W)%nat -> (forall y, In y (classes W) -> 0 < prior W y) ->
  (forall y, In y (classes W) -> 0 < pi y /\ Rabs (ln (pi y) - ln (prior W y)) <= zeta) ->
  (forall e i y, In e (evidence W) -> 0 < mass W e -> (i < items W)%nat -> In y (classes W) ->
    log_close eta (Phi i (item W i e) y) (item_posterior W i (item W i e) y)) ->
  forall bin hat, picks W (corrected W pi Phi) hat ->
  ece W bin (corrected W pi Phi) hat <= tanh ((INR (items W) * eta + (INR (items W) - 1) * zeta) / 2).
Proof.
  intros Y A W pi Phi eta zeta HW HA K1 Hpi Hp HPhi bin hat H. apply ece_le; [easy | intros; now apply H |].
  intros e He m. unfold conf. pose proof (H e He) as [Hh _].
  assert (F : forall i y, (i < items W)%nat -> In y (classes W) ->
    log_close eta (Phi i (item W i e) y) (item_posterior W i (item W i e) y)) by auto.
  pose proof (corrected_L1 W HW HA Hpi e He m pi Phi eta zeta Hp F K1).
  pose proof (entry_le_half_L1 (classes W) (posterior W e) (corrected W pi Phi e) (hat e)
    (posterior_distribution W HW e He m) (corrected_distribution W HW HA Hpi e He m pi Phi eta zeta Hp F
      K1) Hh). lra.
Qed.

Lemma in_tuples_repeat {A} (xs : list A) a K : In a xs -> In (repeat a K) (tuples xs K).
Proof.
  intros H. induction K; simpl; [now left|]. apply in_flat_map. exists a. split; [easy|]. now apply in_map.
Qed.

(** claim: T1' | sharpens | caveats: reals
    Part 2 cannot be improved: for every K and eta there are a world with two classes, factors off by
    exactly eta and evidence at which the bound is reached. *)
Theorem T1prime_sharp : forall (K : nat) (eta : R), (1 <= K)%nat -> 0 <= eta ->
  exists (W : world bool bool) (Phi : nat -> bool -> bool -> R) (e : list bool),
    items W = K /\ is_world W /\ A1 W /\ (forall y, In y (classes W) -> 0 < prior W y) /\
    In e (evidence W) /\ 0 < mass W e /\
    (forall i a, distribution (classes W) (Phi i a)) /\
    (forall i y, (i < K)%nat -> In y (classes W) ->
      log_close eta (Phi i (item W i e) y) (item_posterior W i (item W i e) y)) /\
    L1 (classes W) (posterior W e) (corrected W (prior W) Phi e) = 2 * tanh (INR K * eta / 2).
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
