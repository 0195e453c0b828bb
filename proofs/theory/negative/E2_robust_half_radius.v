(* False: with half the radius. One item of weight 1 over two classes that is shifted by d against the label
   raises its score by all of d. *)
Require Import Reals List Lra Psatz Arith Permutation.
From LPF Require Import Sums T5prime.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import E2.


Theorem E2_robust_half_radius : forall (O I : Type) (os : list O) (prob : O -> R) (n k : nat)
  (S : O -> nat -> R) (alpha : R)
  (q : O -> R) (classes : list nat) (label : O -> nat) (items : list I) (w : O -> I -> R)
    (clean attacked : O -> I -> nat -> R)
  (m : nat) (d W : R),
  distribution os prob -> exchangeable os prob n S -> (k <= n)%nat -> (1 - alpha) * (INR n + 1) <= INR k ->
  (forall o, In o os -> kth_smallest k (map (S o) (seq 0 n)) (q o)) ->
  (forall o, In o os -> In (label o) classes /\ S o n = lead classes items (w o) (clean o) (label o)) ->
  0 <= d -> (forall o, In o os -> corrupted classes items m d (clean o) (attacked o)) ->
  (forall o i, In o os -> In i items -> 0 <= w o i) ->
  (forall o bad, In o os -> (count bad items <= m)%nat -> sum (filter bad items) (w o) <= W) ->
  1 - alpha <= probability os prob (fun o => at_most (lead classes items (w o) (attacked o) (label o))
    (q o + d * W / 2)).
Proof.
  intros O I os prob n k S alpha q classes label items w clean attacked m d W D X kn Hk Q HS d0 HC w0 HW.
  eapply Rle_trans; [apply (E2_conformal O os prob n k S alpha q D X kn Hk Q)|].
  apply probability_le; [apply D|]. intros o Ho H. apply at_most_spec in H. apply at_most_spec.
  destruct (HS o Ho) as [Hl E]. rewrite E in H.
  pose proof (lead_moves classes items (w o) (clean o) (attacked o) m d W (label o) Hl) as L.
  eapply Rle_trans; [apply L; auto|]. lra.
Qed.
