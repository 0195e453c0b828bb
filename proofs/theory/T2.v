(* Theorem 2 (section 3.2): the Monte Carlo error of a soft factor. With probability at least 1 - delta the
   largest error over the classes is at most sqrt(ln(2|Y|/delta) / (2M)). It holds as stated: any posterior,
   any decoder, any M >= 1, any number of classes, any delta. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums Probability L1 L2.
Import ListNotations.
Open Scope R_scope.

(* One class: Hoeffding's inequality for the M decoded probabilities. *)
Lemma estimate_tail {S Q : space} (M : nat) (z : nat -> outcome S -> outcome Q) (p : outcome Q -> R) (r : R) :
  (0 < M)%nat -> draws (seq 0 M) z -> rv p -> (forall q, 0 <= p q <= 1) -> 0 < r ->
  prob_gt (fun o => Rabs (estimate M z p o - soft_factor p)) r <= 2 * exp (- (2 * INR M * r ^ 2)).
Proof.
  intros HM Hz Hp H01 r0. pose proof Hz as [Hd _]. assert (M0 : 0 < INR M) by now apply lt_0_INR.
  pose proof (L2_hoeffding S nat (seq 0 M) (fun m o => p (z m o)) 0 1 r) as H. cbv beta zeta in H.
  rewrite seq_length in H.
  rewrite (sum_ext _ (fun i => E (fun o => p (z i o))) (fun _ => E p)) in H by (intros m Hm;
    now apply (Hd m p)).
  rewrite sum_const, seq_length in H. unfold estimate, soft_factor.
  replace (2 * INR M * r ^ 2) with (2 * INR M * r ^ 2 / (1 - 0) ^ 2) by field.
  replace (/ INR M * (INR M * E p)) with (E p) in H by (field; lra).
  apply H; try lra.
  - destruct M; [inversion HM | easy].
  - intros m Hm. now apply (Hd m p).
  - intros m _ o. apply H01.
  - now apply draws_independent.
Qed.

(* The radius of the theorem for n events at once. *)
Definition radius (n M : nat) (delta : R) := sqrt (ln (2 * INR n / delta) / (2 * INR M)).

Lemma radius_tail (n M : nat) (delta : R) : (0 < n)%nat -> (0 < M)%nat -> 0 < delta < 1 ->
  0 < radius n M delta /\ 2 * exp (- (2 * INR M * radius n M delta ^ 2)) = delta / INR n.
Proof.
  intros Hn HM Hd. assert (n1 : 1 <= INR n) by (apply (le_INR 1); lia).
  assert (M0 : 0 < INR M) by now apply lt_0_INR.
  assert (d0 : 0 < / delta) by (apply Rinv_0_lt_compat; lra).
  assert (A : 1 < 2 * INR n / delta).
  { apply Rmult_lt_reg_r with delta; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (L : 0 < ln (2 * INR n / delta)) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (Q : 0 < ln (2 * INR n / delta) / (2 * INR M)) by (apply Rdiv_lt_0_compat; lra).
  unfold radius. split; [now apply sqrt_lt_R0|].
  rewrite pow2_sqrt by lra.
  replace (2 * INR M * (ln (2 * INR n / delta) / (2 * INR M))) with (ln (2 * INR n / delta)) by (field; lra).
  rewrite exp_Ropp, exp_ln by lra. field. lra.
Qed.

Lemma distribution_le_1 {A} (ys : list A) p y : distribution ys p -> In y ys -> 0 <= p y <= 1.
Proof.
  intros [p0 p1] Hy. split; [auto|]. rewrite <- p1. clear p1. induction ys as [|x t IH]; [easy|]. simpl.
  destruct Hy as [->|Hy].
  - assert (0 <= sum t p) by (apply sum_nonneg; intros; apply p0; now right). lra.
  - assert (0 <= p x) by (apply p0; now left).
    assert (p y <= sum t p) by (apply IH; [intros; apply p0; now right | easy]). lra.
Qed.

(** claim: T2 | proves | caveats: bounded-variables
    With M independent draws from any posterior and any decoder into distributions over the classes ys, all
    errors |estimate - soft factor| are at most sqrt(ln(2|Y|/delta)/(2M)) at once, with probability at least 1
    - delta. Paper: theorem 2, section 3.2. *)
Theorem T2_monte_carlo (S Q : space) (Y : Type) (ys : list Y) (M : nat) (delta : R)
  (z : nat -> outcome S -> outcome Q) (decode : outcome Q -> Y -> R) :
  (0 < M)%nat -> 0 < delta < 1 -> draws (seq 0 M) z ->
  (forall q, distribution ys (decode q)) -> (forall y, In y ys -> rv (fun q => decode q y)) ->
  1 - delta <= prob_le
    (fun o => largest ys (fun y =>
      Rabs (estimate M z (fun q => decode q y) o - soft_factor (fun q => decode q y))))
    (sqrt (ln (2 * INR (length ys) / delta) / (2 * INR M))).
Proof.
  intros HM Hd Hz HD HR. fold (radius (length ys) M delta).
  set (err := fun y o => Rabs (estimate M z (fun q => decode q y) o - soft_factor (fun q => decode q y))).
  assert (RE : forall y, In y ys -> rv (err y)).
  { intros y Hy. apply rv_abs, rv_minus; [apply estimate_rv; auto | apply rv_const]. }
  rewrite (prob_le_gt (fun o => largest ys (fun y => err y o))) by now apply rv_largest.
  destruct ys as [|y0 t] eqn:EY.
  - (* no classes: nothing can err *)
    cbn [largest]. unfold prob_gt. rewrite (E_ext _ (fun _ => 0)); [rewrite E_const; lra|].
    intros o. unfold ind. destruct Rlt_dec as [G|]; [|easy]. unfold radius in G.
    match type of G with sqrt ?x < _ => pose proof (sqrt_pos x) end. lra.
  - rewrite <- EY in *. assert (Hn : (0 < length ys)%nat) by (rewrite EY; simpl; apply Nat.lt_0_succ).
    destruct (radius_tail (length ys) M delta Hn HM Hd) as [r0 T].
    assert (n0 : 0 < INR (length ys)) by now apply lt_0_INR.
    pose proof (union_bound ys err (radius (length ys) M delta) (Rlt_le _ _ r0) RE) as U.
    assert (B : sum ys (fun y => prob_gt (err y) (radius (length ys) M delta)) <=
      sum ys (fun _ => delta / INR (length ys))).
    { apply sum_le. intros y Hy. rewrite <- T. apply estimate_tail; auto.
      intros q. now apply (distribution_le_1 ys). }
    rewrite sum_const in B. replace (INR (length ys) * (delta / INR (length ys))) with delta in B by (field;
      lra).
    lra.
Qed.
