(* False: each factor has a positive class of its own, not a common one. Two factors that exclude each other
   have no normalized product. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums T5prime.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import L3.


Theorem L3_product_some_class_each : forall (I Y : Type) (items : list I) (ys : list Y) (w : I -> R)
  (f : I -> Y -> R),
  (exists y, In y ys /\ exists i, In i items /\ 0 < f i y) ->
  distribution ys (pool ys items w f).
Proof.
  intros I Y items ys w f [y [Hy P]]. apply pool_distribution. apply sum_pos_at with y; [|exact Hy|].
  - intros y' _. apply prod_nonneg; intros. apply power_nonneg.
  - apply prod_pos; intros i Hi. now apply power_pos, P.
Qed.
