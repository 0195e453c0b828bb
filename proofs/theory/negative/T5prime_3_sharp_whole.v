(* False: the distance 2 ln(1 + delta/p) exceeds what part 3 allows. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import T5prime.


Theorem T5prime_3_sharp_whole : forall low delta : R, 0 < low -> 0 <= delta -> 3 * low + delta / 2 <= 1 ->
  exists p q : nat -> R, let ys := [0; 1; 2]%nat in
    distribution ys p /\ distribution ys q /\ L1 ys p q = delta /\
    (forall y, In y ys -> low <= p y) /\ (forall y, In y ys -> low <= q y) /\
    hilbert ys p q = 2 * ln (1 + delta / low).
Proof.
  intros low delta l0 d0 H.
  set (p := fun y : nat => match y with O => low | S O => low + delta / 2 | _ => 1 - 2 * low - delta / 2 end).
  set (q := fun y : nat => match y with O => low + delta / 2 | S O => low | _ => 1 - 2 * low - delta / 2 end).
  exists p, q. intros ys.
  assert (fp : forall y, In y ys -> low <= p y) by (intros [|[|y]] _; unfold p; lra).
  assert (fq : forall y, In y ys -> low <= q y) by (intros [|[|y]] _; unfold q; lra).
  assert (dp : distribution ys p) by (split; [intros y Hy; specialize (fp y Hy); lra | unfold ys, p; simpl;
    lra]).
  assert (dq : distribution ys q) by (split; [intros y Hy; specialize (fq y Hy); lra | unfold ys, q; simpl;
    lra]).
  assert (L : L1 ys p q = delta).
  { unfold L1, ys, p, q; simpl.
    replace (low - (low + delta / 2)) with (- (delta / 2)) by ring.
    replace (low + delta / 2 - low) with (delta / 2) by ring.
    rewrite Rminus_diag_eq by easy. rewrite Rabs_R0, Rabs_Ropp, Rabs_pos_eq; lra. }
  repeat split; try apply dp; try apply dq; auto.
  apply Rle_antisym; [apply T5prime_3; auto; lra|].
  set (x := delta / (2 * low)).
  assert (0 <= x) by (unfold x; apply Rmult_le_pos; [easy | left; apply Rinv_0_lt_compat; lra]).
  unfold hilbert. set (D := fun y => ln (q y / p y)).
  replace (2 * ln (1 + x)) with (D 0%nat - D 1%nat).
  - apply range_ge; apply in_support; (split; [unfold ys; simpl; auto | unfold p; lra]).
  - unfold D, p, q. replace ((low + delta / 2) / low) with (1 + x) by (unfold x; field; lra).
    replace (low / (low + delta / 2)) with (/ (1 + x)) by (unfold x; field; lra).
    rewrite ln_Rinv; lra.
Qed.
