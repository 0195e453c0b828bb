(* False: 2 tanh(r/2) exceeds what part 1 allows. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import T5prime.


Theorem T5prime_1_sharp_half : forall r : R, 0 <= r ->
  let D := fun y : bool => if y then r else 0 in
  let P := normalize [true; false] (fun y : bool => if y then exp (- r / 2) else 1) in
  distribution [true; false] P /\ range (support [true; false] P) D = r /\
  L1 [true; false] P (shifted [true; false] P D) = 2 * tanh (r / 2).
Proof.
  intros r H D P. pose proof (exp_pos (- r / 2)).
  assert (dP : distribution [true; false] P) by (apply normalize_distribution; [intros []; lra | simpl; lra]).
  assert (pos : forall y, 0 < P y).
  { intros []; unfold P, normalize; simpl; apply Rmult_lt_0_compat; try lra; apply Rinv_0_lt_compat; lra. }
  repeat split; try apply dP.
  - apply Rle_antisym.
    + apply range_le; [easy|]. intros [] [] _ _; unfold D; lra.
    + replace r with (D true - D false) at 1 by (unfold D; lra).
      apply range_ge; apply in_support; split; simpl; auto.
  - replace (r / 4) with ((r - 0) / 4) by lra. rewrite tanh_quarter.
    unfold L1, shifted, normalize, P, D, normalize; simpl.
    replace (0 / 2) with 0 by lra. rewrite exp_0.
    assert (e1 : exp (- r / 2) = / exp (r / 2)) by (rewrite <- exp_Ropp; f_equal; lra).
    assert (e2 : exp r = exp (r / 2) * exp (r / 2)) by (symmetry; apply exp_half).
    assert (g : 1 <= exp (r / 2)) by (rewrite <- exp_0; apply exp_le; lra).
    rewrite e1, e2. set (s := exp (r / 2)) in *.
    assert (0 < / s) by (apply Rinv_0_lt_compat; lra).
    match goal with |- Rabs ?x + (Rabs ?y + 0) = _ =>
      replace x with (- ((s - 1) / (s + 1))) by (field; repeat split; nra);
      replace y with ((s - 1) / (s + 1)) by (field; repeat split; nra) end.
    assert (0 <= (s - 1) / (s + 1)) by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]).
    rewrite Rabs_Ropp, Rabs_pos_eq by easy. lra.
Qed.
