(* False: 4 in the place of 2; one fair coin is surely 1/2 from its mean, but at t = 0.49 the bound would be
   0.77. *)
Require Import Reals List Lra Psatz.
From Coquelicot Require Import Coquelicot.
From LPF Require Import Sums Probability L2.
Import ListNotations.
Open Scope R_scope.

Theorem L2_ranges_exponent_doubled (S : space) (I : Type) (l : list I) (X : I -> outcome S -> R) (a b : I ->
  R) (t : R) :
  let V := sum l (fun i => (b i - a i) ^ 2) in
  0 < t -> 0 < V ->
  (forall i, In i l -> rv (X i)) -> (forall i, In i l -> forall o, a i <= X i o <= b i) -> independent l X ->
  prob_gt (fun o => Rabs (sum l (fun i => X i o) - sum l (fun i => E (X i)))) t
  <= 2 * exp (- (4 * t ^ 2 / V)).
Proof. intros V t0 V0 HX HR HI. now apply ranges_tail. Qed.
