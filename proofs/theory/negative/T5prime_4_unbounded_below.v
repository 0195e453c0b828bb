(* False: delta >= p in place of delta >= 2p. Below 2p, part 4 itself is a bound. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import T5prime.


Theorem T5prime_4_unbounded_below : forall low delta B : R, 0 < low <= 1 / 2 -> low <= delta ->
  exists p q : bool -> R, distribution [true; false] p /\ distribution [true; false] q /\
    L1 [true; false] p q <= delta /\ (forall y, low <= p y) /\ (forall y, 0 < q y) /\
    B < hilbert [true; false] p q.
Proof.
  intros low delta B [l0 l1] Hd. set (t := exp (- Rabs B - 1)).
  assert (t0 : 0 < t) by apply exp_pos.
  assert (t1 : t < 1) by (rewrite <- exp_0; apply exp_increasing; pose proof (Rabs_pos B); lra).
  exists (fun y : bool => if y then low else 1 - low), (fun y : bool => if y then low * t else 1 - low * t).
  repeat split; try (intros []; intros; nra); try (simpl; lra).
  - unfold L1; simpl. replace (1 - low - (1 - low * t)) with (- (low - low * t)) by ring.
    rewrite Rabs_Ropp, Rabs_pos_eq; nra.
  - unfold hilbert.
    match goal with |- _ < range ?l ?d => set (D := d); set (s := l) end.
    assert (S : forall y, In y s).
    { intros y. apply in_support. split; [destruct y; simpl; auto | destruct y; lra]. }
    eapply Rlt_le_trans; [|apply (range_ge s D false true); apply S].
    unfold D. replace (low * t / low) with t by (field; lra). unfold t at 2. rewrite ln_exp.
    assert (0 <= ln ((1 - low * t) / (1 - low))).
    { rewrite <- ln_1. apply ln_mono; [lra|]. apply Rmult_le_reg_r with (1 - low); [lra|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra. }
    pose proof (Rle_abs B). lra.
Qed.
