(* False: a floor of zero. Two factors that exclude each other have no normalized product. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums T5prime.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import L3.


Theorem L3_product_paper_no_floor : forall (I Y : Type) (items : list I) (ys : list Y) (f : I -> Y -> R),
  ys <> [] -> (forall i, In i items -> distribution ys (f i)) ->
  (forall i y, In i items -> In y ys -> 0 <= f i y) ->
  distribution ys (normalize ys (fun y => prod items (fun i => f i y))).
Proof.
  intros I Y items ys f ne Hf F. assert (L : 0 < / (2 * INR (length ys))).
  { apply Rinv_0_lt_compat. destruct ys; [easy|]. cbn [length]. rewrite S_INR. pose proof
      (pos_INR (length ys)). lra. }
  apply normalize_distribution.
  - intros y Hy. apply prod_nonneg; intros i Hi. now apply Hf.
  - destruct ys as [|y t]; [easy|]. apply sum_pos_at with y; [|now left|].
    + intros y' Hy. apply prod_nonneg; intros i Hi. now apply Hf.
    + apply prod_pos; intros i Hi. apply Rlt_le_trans with (1 := L). apply F; [easy | now left].
Qed.
