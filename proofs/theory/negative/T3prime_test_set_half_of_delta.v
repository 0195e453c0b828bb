(* False: half of delta; with n = 1 and p just above U(0) = 1 - delta the limit fails with probability nearly delta. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums Probability L2 T3prime.
Import ListNotations.
Open Scope R_scope.

Theorem T3prime_test_set_half_of_delta (S : space) (n : nat) (X : nat -> outcome S -> R) (p delta : R) (U : nat -> R) :
  0 <= delta -> 0 <= p <= 1 -> test_errors n X p -> upper_limit n delta U ->
  1 - delta / 2 <= E (fun o => ind (Rle_dec p (U (count (seq 0 n) X o)))).
Proof.
  intros d0 Hp HX HU.
  (* the counts at which the limit fails lie below the largest k with a tail below delta *)
  assert (K : (forall k, (k <= n)%nat -> p <= U k) \/
    exists k, (k <= n)%nat /\ binomial_tail n p k < delta /\ forall j, (j <= n)%nat -> U j < p -> (j <= k)%nat).
  { assert (G : forall m, (forall k, (k < m)%nat -> (k <= n)%nat -> p <= U k) \/
      exists k, (k <= n)%nat /\ U k < p /\ forall j, (j < m)%nat -> (j <= n)%nat -> U j < p -> (j <= k)%nat).
    { induction m as [|m IH]; [left; lia|].
      destruct (le_dec m n) as [Hm|Hm]; [destruct (Rlt_dec (U m) p) as [L|L]|].
      - right. exists m. repeat split; try easy. intros; lia.
      - destruct IH as [IH|[k [A [B D]]]].
        + left. intros k Hk Hn. destruct (Nat.eq_dec k m) as [->|]; [lra | apply IH; lia].
        + right. exists k. repeat split; try easy. intros j Hj Hn Lj.
          destruct (Nat.eq_dec j m) as [->|]; [lra | apply D; lia || easy].
      - destruct IH as [IH|[k [A [B D]]]].
        + left. intros k Hk Hn. apply IH; lia.
        + right. exists k. repeat split; try easy. intros j Hj Hn Lj. apply D; lia || easy. }
    destruct (G (Datatypes.S n)) as [A|[k [A [B D]]]].
    - left. intros k Hk. apply A; lia.
    - right. exists k. repeat split; try easy; [now apply HU|]. intros j Hj. apply D; lia. }
  destruct (errors_binomial n X p (fun k => ind (Rle_dec p (U k))) HX) as [_ ->].
  assert (ONE : count_mean n p (fun _ => 1) = 1).
  { clear. induction n; simpl; [easy|]. rewrite IHn. ring. }
  destruct K as [K|[k [Hk [T M]]]].
  - rewrite (count_mean_ext n p _ (fun _ => 1)); [lra|].
    intros j Hj. unfold ind. destruct Rle_dec; [easy|]. specialize (K j Hj). contradiction.
  - apply Rle_trans with (count_mean n p (fun j => 1 - (if le_dec j k then 1 else 0))).
    + assert (MIN : forall m h, count_mean m p (fun j => 1 - h j) = count_mean m p (fun _ => 1) - count_mean m p h).
      { clear. induction m; intros h; simpl; [easy|]. rewrite !IHm. ring. }
      rewrite MIN, ONE. rewrite <- tail_binomial in T. unfold tail in T. lra.
    + apply Rle_trans with (count_mean n p (fun j => if le_dec j n then ind (Rle_dec p (U j)) else 1)).
      * apply count_mean_le; [easy|]. intros j. unfold ind.
        destruct (le_dec j n) as [Hj|]; destruct (le_dec j k), (Rle_dec p (U j)); try lra.
        exfalso. assert (U j < p) by lra. specialize (M j Hj H). lia.
      * right. apply count_mean_ext. intros j Hj. now destruct le_dec.
Qed.
