(* False: half of delta; for n = 1 the limit V(0) = 1 - delta, V(1) = 1 is valid, and q just above V(0) has a
   tail of nearly delta. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums Probability T3prime T3prime_sharp.
Import ListNotations.
Open Scope R_scope.

Theorem T3prime_sharp_half_of_delta (n : nat) (delta : R) (V : nat -> R) :
  (forall i j, (i <= j)%nat -> V i <= V j) ->
  (forall (S : space) (X : nat -> outcome S -> R) (p : R), 0 <= p <= 1 -> test_errors n X p ->
    1 - delta <= E (fun o => ind (Rle_dec p (V (count (seq 0 n) X o))))) ->
  forall k q, 0 <= q <= 1 -> V k < q -> binomial_tail n q k <= delta / 2.
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
