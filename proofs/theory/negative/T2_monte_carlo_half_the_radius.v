(* False: half the radius; one draw of a fair decoder that is certain errs by 1/2 surely, but at delta = 0.9
   it would be 0.43. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums Probability L1 L2 T2.
Import ListNotations.
Open Scope R_scope.

Theorem T2_monte_carlo_half_the_radius (S Q : space) (Y : Type) (ys : list Y) (M : nat) (delta : R)
  (z : nat -> outcome S -> outcome Q) (decode : outcome Q -> Y -> R) :
  (0 < M)%nat -> 0 < delta < 1 -> draws (seq 0 M) z ->
  (forall q, distribution ys (decode q)) -> (forall y, In y ys -> rv (fun q => decode q y)) ->
  1 - delta <= prob_le
    (fun o => largest ys (fun y =>
      Rabs (estimate M z (fun q => decode q y) o - soft_factor (fun q => decode q y))))
    (sqrt (ln (2 * INR (length ys) / delta) / (8 * INR M))).
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
