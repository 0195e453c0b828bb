(* T3' cannot be improved: a limit that depends on the number of errors alone, and does not decrease with it,
   is valid for every error probability only if beyond it the binomial tail is at most delta. Up to the choice
   between "below" and "at most" delta this is the property that defines the limit of Clopper and Pearson. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums Probability T3prime.
Import ListNotations.
Open Scope R_scope.

(* n independent errors of any probability p exist. *)
Lemma coin_distribution (p : R) : 0 <= p <= 1 -> distribution [true; false] (fun b :
  bool => if b then p else 1 - p).
Proof. intros Hp. split; [intros [] _; lra | simpl; lra]. Qed.
Lemma errors_exist (n : nat) (p : R) : 0 <= p <= 1 ->
  exists (S : space) (X : nat -> outcome S -> R), test_errors n X p.
Proof.
  intros Hp. set (D := coin_distribution p Hp).
  exists (finite (tuples [true; false] n) _ (tuples_distribution _ _ n D)).
  set (f := fun b : bool => if b then 1 else 0). exists (fun i t => f (nth i t true)).
  assert (R0 : @rv (finite [true; false] _ D) f).
  { exists 1. intros []; unfold f; rewrite Rabs_pos_eq; lra. }
  destruct (finite_draws true [true; false] _ D n) as [D1 D2]. repeat split.
  - intros i Hi. now apply D1.
  - intros i _ o. unfold f. destruct nth; tauto.
  - intros i Hi. destruct (D1 i f Hi R0) as [_ E1]. etransitivity; [exact E1|]. simpl. unfold expect, f.
      simpl. ring.
  - exact (@draws_independent _ (finite [true; false] _ D) nat (seq 0 n) _ f (finite_draws true _ _ D n) R0).
Qed.

(** claim: T3' | sharpens | caveats: none
    If a limit V, growing with the number of errors, holds with probability at least 1 - delta for every error
    probability, then every q above V(k) has P(Binomial(n, q) <= k) <= delta: V lies nowhere below the limit
    of Clopper and Pearson at any larger level. *)
Theorem T3prime_sharp (n : nat) (delta : R) (V : nat -> R) :
  (forall i j, (i <= j)%nat -> V i <= V j) ->
  (forall (S : space) (X : nat -> outcome S -> R) (p : R), 0 <= p <= 1 -> test_errors n X p ->
    1 - delta <= E (fun o => ind (Rle_dec p (V (count (seq 0 n) X o))))) ->
  forall k q, 0 <= q <= 1 -> V k < q -> binomial_tail n q k <= delta.
Proof.
  intros HV HC k q Hq L. destruct (errors_exist n q Hq) as [S [X T]]. specialize (HC S X q Hq T).
  destruct (errors_binomial n X q (fun j => ind (Rle_dec q (V j))) T) as [_ E1]. rewrite E1 in HC.
  rewrite <- tail_binomial. unfold tail.
  assert (ONE : forall m, count_mean m q (fun _ => 1) = 1) by (induction m; simpl; [easy | rewrite IHm;
    ring]).
  assert (MIN : forall m h, count_mean m q (fun j => 1 - h j) = count_mean m q (fun _ => 1) - count_mean m q
    h).
  { induction m; intros h; simpl; [easy|]. rewrite !IHm. ring. }
  pose proof (count_mean_le n q (fun j => ind (Rle_dec q (V j))) (fun j => 1 - (if le_dec j k then 1 else 0))
    Hq) as LE.
  rewrite MIN, ONE in LE. enough (count_mean n q (fun j => ind (Rle_dec q (V j))) <=
    1 - count_mean n q (fun j => if le_dec j k then 1 else 0)) by lra.
  apply LE. intros j. unfold ind. destruct (le_dec j k) as [J|J]; destruct Rle_dec as [G|G]; try lra.
  specialize (HV j k J). lra.
Qed.
