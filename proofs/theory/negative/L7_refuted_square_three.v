(* False: at N = d = 3 the bound is 1.22, more than the largest loss, so the claim is true there. *)
Require Import Reals List Lra Psatz Arith.
From LPF Require Import IntegerInterval.
From LPF Require Import Sums T5prime.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import L7.


Theorem L7_refuted_square_three : forall N : nat, (3 <= N)%nat -> ~ lemma_7 N N (1 / 20).
Proof.
  intros N H. assert (4 <= INR N) by (apply le_INR in H; simpl in H; lra).
  assert (C : complexity N N (1 / 20) = INR N + ln 40).
  { unfold complexity. replace (exp 1 * INR N / INR N) with (exp 1) by (field; lra). rewrite ln_exp.
    replace (2 / (1 / 20)) with 40 by lra. ring. }
  assert (L : ln 40 < 3.69) by enclose.
  apply L7_refuted; [lia | lra | |]; rewrite C; nra.
Qed.
