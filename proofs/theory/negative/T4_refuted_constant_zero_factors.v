(* False: with the constants zero the claim says that the error is not negative, which is true. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1 L5.
From LPF Require Import T4.
Import ListNotations.
Open Scope R_scope.

Theorem T4_refuted_constant_zero_factors : forall nz c1 c2, some_noise nz ->
  (forall n, 0 <= c1 n) -> (forall n, 0 <= c2 n) -> (forall n, 0 <= c1 n + c2 n) ->
  ~ theorem_4_any_choice even nz c1 c2.
Proof.
  intros nz c1 c2 Hn p1 p2 p H. destruct (coin_world 2) as [HW _].
  assert (P : picks (coin 2) (even _ _ (coin 2) (fun _ => p34)) (fun _ => true)).
  { intros e _. split; [simpl; tauto|]. intros y _. unfold even. lra. }
  destruct (H bool bool (coin 2) (fun _ => p34) _ (coin_setting 2 (le_n 2)) P) as [bin B].
  rewrite (ece_constant _ HW bin _ _ (/ 2)) in B; [|intros e _; unfold conf, even; simpl; lra].
  assert (T : sum (evidence (coin 2)) (fun e => joint (coin 2) true e) = / 2) by apply (coin_prior 2 true).
  rewrite T, Rminus_diag_eq, Rabs_R0 in B by easy.
  pose proof (coin_bound_positive nz c1 c2 Hn p1 p2 p (length (classes (coin 2)))). cbv zeta in B. lra.
Qed.
