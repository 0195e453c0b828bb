(* False: takes [-1, 1] to have width 1; a fair sign is surely 1 from its mean, but at eps = 0.99 the bound
   would be 0.29. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums Probability L2 L4.
Import ListNotations.
Open Scope R_scope.

Theorem L4_weighted_range_of_width_1 (S : space) (I : Type) (l : list I) (X : I -> outcome S -> R) (w : I ->
  R) (eps : R) :
  0 < eps -> (forall i, In i l -> rv (X i)) -> (forall i, In i l -> forall o, Rabs (X i o) <= 1) ->
  independent l X -> (forall i, In i l -> 0 <= w i) -> sum l w = 1 ->
  prob_gt (fun o => Rabs (sum l (fun i => w i * X i o) - sum l (fun i => w i * E (X i)))) eps
  <= 2 * exp (- (2 * n_eff l w * eps ^ 2 / 1)).
Proof.
  intros e0 HX HR HI w0 w1. pose proof (sum_squares_pos l w w1) as V0.
  pose proof (L2_ranges S I l (fun i o => w i * X i o) (fun i => - w i) w eps) as H. cbv beta zeta in H.
  rewrite (sum_ext l (fun i => (w i - - w i) ^ 2) (fun i => 4 * w i ^ 2)), sum_scal in H by (intros; ring).
  rewrite (sum_ext l (fun i => E (fun o => w i * X i o)) (fun i => w i * E (X i))) in H
    by (intros i Hi; apply E_scal; auto).
  replace (2 * n_eff l w * eps ^ 2 / 4) with (2 * eps ^ 2 / (4 * sum l (fun i => w i ^ 2))).
  - apply H; [easy | lra | | |].
    + intros i Hi. apply rv_scal. auto.
    + intros i Hi o. specialize (HR i Hi o). specialize (w0 i Hi). unfold Rabs in HR.
      destruct (Rcase_abs (X i o)); split; nra.
    + apply (independent_comp l X (fun i x => w i * x)); [|easy]. intros i.
      apply derivable_continuous. apply derivable_mult; [apply derivable_const | apply derivable_id].
  - unfold n_eff. rewrite w1. field. lra.
Qed.
