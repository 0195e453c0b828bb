(* False: with the mean of the average in the place of E[X_j] this is Hoeffding's inequality, which holds. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums Probability L2.
Import ListNotations.
Open Scope R_scope.

Theorem L2_printed_refuted_right_mean : ~ forall (S : space) (n : nat) (X : nat -> outcome S -> R) (a b eps : R),
  let l := seq 0 n in
  (0 < n)%nat -> a < b -> 0 < eps ->
  (forall i, In i l -> rv (X i)) -> (forall i, In i l -> forall o, a <= X i o <= b) -> independent l X ->
  exists j, In j l /\
  prob_gt (fun o => Rabs (/ INR n * sum l (fun i => X i o) - / INR n * sum l (fun i => E (X i)))) eps
  <= 2 * exp (- (2 * INR n * eps ^ 2 / (b - a) ^ 2)).
Proof.
  intros H. destruct (H point 8%nat half 0 1 (4 / 10)) as [j [Hj G]]; try lra; try (apply Nat.lt_0_succ).
  - intros i _. exists 1. intros []. unfold half. destruct Nat.ltb; rewrite Rabs_pos_eq; lra.
  - intros i _ o. unfold half. destruct Nat.ltb; lra.
  - intros g _. cbn. ring.
  - assert (B : 2 * exp (- (2 * INR 8 * (4 / 10) ^ 2 / (1 - 0) ^ 2)) < 1).
    { replace (- (2 * INR 8 * (4 / 10) ^ 2 / (1 - 0) ^ 2)) with (- (256 / 100)) by (simpl; field).
      rewrite exp_Ropp. pose proof (exp_tangent (256 / 100) 0) as T. rewrite exp_0 in T.
      assert (/ exp (256 / 100) < / 2) by (apply Rinv_lt_contravar; lra). lra. }
    apply (Rlt_irrefl 1). eapply Rle_lt_trans; [|exact B]. eapply Rle_trans; [|exact G].
    assert (Ej : E (half j : outcome point -> R) = if Nat.ltb j 4 then 0 else 1).
    { change (1 * half j tt + 0 = if Nat.ltb j 4 then 0 else 1). unfold half. destruct Nat.ltb; ring. }
    rewrite Ej. unfold prob_gt. rewrite (E_ext _ (fun _ => 1)); [rewrite E_const; lra|].
    intros o. replace (sum (seq 0 8) (fun i => half i o)) with 4 by (unfold half; simpl; ring).
    replace (/ INR 8 * 4) with (1 / 2) by (simpl; field). unfold ind.
    destruct Nat.ltb, Rlt_dec as [|N]; try easy; exfalso; apply N; unfold Rabs; destruct Rcase_abs; lra.
Qed.
