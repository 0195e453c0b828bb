(* False: with the constant zero the claim says that the error is not negative, which is true. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1.
From LPF Require Import L5.
Import ListNotations.
Open Scope R_scope.

Theorem L5_refuted_constant_zero_factor : forall c, (forall n, 0 <= c n) -> ~ lemma_5_any_choice even c.
Proof.
  intros c c0 H. destruct (coin_world 2) as [HW _].
  assert (P : picks (coin 2) (even _ _ (coin 2) (fun _ => p34)) (fun _ => true)).
  { intros e _. split; [simpl; tauto|]. intros y _. unfold even. lra. }
  destruct (H bool bool (coin 2) (fun _ => p34) _ (coin_setting 2 (le_n 2)) P) as [bin B].
  rewrite (ece_constant _ HW bin _ _ (/ 2)) in B.
  - assert (T : sum (evidence (coin 2)) (fun e => joint (coin 2) true e) = / 2).
    { apply (product_prior [true; false] [true; false] 2 true (fun _ => / 2) (fun _ => p34));
      [intros; apply p34_distribution | simpl; tauto]. }
    rewrite T, Rminus_diag_eq, Rabs_R0 in B by easy.
    pose proof (Rmult_lt_0_compat _ _ (c0 (length (classes (coin 2)))) coin_noise). lra.
  - intros e _. unfold conf, even. simpl. lra.
Qed.
