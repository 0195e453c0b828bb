(* Lemma 4 (appendix A.4): a weighted average of independent variables with |X_i| <= 1 concentrates at the
   rate of Kish's effective count n_eff = (sum w)^2 / sum w^2. It holds as stated. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums Probability L2.
Import ListNotations.
Open Scope R_scope.

(* The effective sample size of the paper's lemma 4. *)
Definition n_eff {I} (l : list I) (w : I -> R) := sum l w ^ 2 / sum l (fun i => w i ^ 2).

Lemma sum_squares_pos {I} (l : list I) (w : I -> R) : sum l w = 1 -> 0 < sum l (fun i => w i ^ 2).
Proof.
  intros H. assert (N : 0 <= sum l (fun i => w i ^ 2)) by (apply sum_nonneg; intros; apply pow2_ge_0).
  destruct N as [N|N]; [easy|]. exfalso.
  assert (Z : forall i, In i l -> w i = 0).
  { clear H. induction l as [|x t IH]; [easy|]. cbn [sum] in N. pose proof (pow2_ge_0 (w x)) as P.
    assert (0 <= sum t (fun i => w i ^ 2)) by (apply sum_nonneg; intros; apply pow2_ge_0).
    intros i [<-|Hi]; [|apply IH; [lra | easy]].
    assert (w x ^ 2 = 0) as W by lra. destruct (Req_dec (w x) 0); [easy|].
    pose proof (pow_nonzero (w x) 2). tauto. }
  rewrite (sum_ext _ _ (fun _ => 0)), sum_0 in H by easy. lra.
Qed.

(** claim: L4 | proves | caveats: bounded-variables
    For independent X_i with |X_i| <= 1 and weights w_i >= 0 that add up to one, the weighted average is
    further than eps from its mean with probability at most 2 exp(-2 n_eff eps^2 / 4). Paper: lemma 4,
    appendix A.4. *)
Theorem L4_weighted (S : space) (I : Type) (l : list I) (X : I -> outcome S -> R) (w : I -> R) (eps : R) :
  0 < eps -> (forall i, In i l -> rv (X i)) -> (forall i, In i l -> forall o, Rabs (X i o) <= 1) ->
  independent l X -> (forall i, In i l -> 0 <= w i) -> sum l w = 1 ->
  prob_gt (fun o => Rabs (sum l (fun i => w i * X i o) - sum l (fun i => w i * E (X i)))) eps
  <= 2 * exp (- (2 * n_eff l w * eps ^ 2 / 4)).
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
