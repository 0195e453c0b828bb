(* False: 4 in the place of 2; one fair coin is surely 1/2 from its mean, but at eps = 0.49 the bound would be
   0.77. *)
Require Import Reals List Lra Psatz.
From Coquelicot Require Import Coquelicot.
From LPF Require Import Sums Probability L2.
Import ListNotations.
Open Scope R_scope.

Theorem L2_hoeffding_exponent_doubled (S : space) (I : Type) (l : list I) (X : I -> outcome S -> R) (a b eps :
  R) :
  let n := INR (length l) in
  l <> [] -> a < b -> 0 < eps ->
  (forall i, In i l -> rv (X i)) -> (forall i, In i l -> forall o, a <= X i o <= b) -> independent l X ->
  prob_gt (fun o => Rabs (/ n * sum l (fun i => X i o) - / n * sum l (fun i => E (X i)))) eps
  <= 2 * exp (- (4 * n * eps ^ 2 / (b - a) ^ 2)).
Proof.
  intros n Hl ab e0 HX HR HI.
  assert (n0 : 0 < n) by (unfold n; destruct l; [easy | apply lt_0_INR; simpl; apply Nat.lt_0_succ]).
  assert (w0 : 0 < (b - a) ^ 2) by (apply pow_lt; lra).
  pose proof (L2_ranges S I l X (fun _ => a) (fun _ => b) (n * eps)) as H. cbv beta zeta in H.
  rewrite sum_const in H. fold n in H.
  replace (2 * n * eps ^ 2 / (b - a) ^ 2) with (2 * (n * eps) ^ 2 / (n * (b - a) ^ 2)) by (field; lra).
  eapply Rle_trans; [|apply H; try easy; nra].
  right. apply E_ext. intros o. rewrite <- Rmult_minus_distr_l, Rabs_mult, (Rabs_pos_eq (/ n))
    by (left; now apply Rinv_0_lt_compat).
  set (d := Rabs _). unfold ind.
  assert (dn : d = n * (/ n * d)) by (field; lra). set (x := / n * d) in *.
  destruct Rlt_dec, Rlt_dec; try easy; exfalso; rewrite dn in *; nra.
Qed.
