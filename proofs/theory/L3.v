(* Lemma 3 of the paper (appendix A.3): weighted sums and normalized products of distributions are
   distributions. Any number of components and classes. The paper states the product without exponents; LPF
   uses it with weights (section 1.2), so it is proved here with any real exponents w_i >= 0, where 0^0 = 1
   and 0^w = 0 for w > 0. The product needs one class that no factor excludes; the paper takes it from
   assumption 6. For sum-product networks as a whole see A4.v. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums T5prime.
Import ListNotations.
Open Scope R_scope.

(** claim: L3 | proves | caveats: reals
    Part 1: a weighted sum of distributions, with weights that are not negative and sum to one, is a
    distribution. Paper: lemma 3, item 1, appendix A.3. *)
Theorem L3_sum : forall (I Y : Type) (items : list I) (ys : list Y) (w : I -> R) (f : I -> Y -> R),
  (forall i, In i items -> 0 <= w i) -> sum items w = 1 -> (forall i, In i items -> distribution ys (f i)) ->
  distribution ys (fun y => sum items (fun i => w i * f i y)).
Proof.
  intros I Y items ys w f w0 w1 Hf. split.
  - intros y Hy. apply sum_nonneg; intros i Hi. apply Rmult_le_pos; [auto|]. now apply Hf.
  - rewrite <- sum_swap. transitivity (sum items w); [|exact w1]. apply sum_ext; intros i Hi.
    rewrite sum_scal. destruct (Hf i Hi) as [_ ->]. ring.
Qed.

Lemma sum_pos_at {A} (l : list A) f x : (forall y, In y l -> 0 <= f y) -> In x l -> 0 < f x -> 0 < sum l f.
Proof.
  induction l as [|a t IH]; [easy|]. intros H0 Hx Px. simpl.
  assert (0 <= f a) by auto with datatypes. assert (0 <= sum t f) by (apply sum_nonneg; auto with datatypes).
  destruct Hx as [->|Hx]; [lra|]. assert (0 < sum t f) by (apply IH; auto with datatypes). lra.
Qed.

(** claim: L3 | proves | caveats: reals
    Part 2, with real exponents: the normalized product of factors f_i^(w_i) is a distribution, if some class
    has positive probability under every factor. The exponents may be any real numbers, the factors need not
    be normalized. Paper: lemma 3, item 2, appendix A.3 (there with all exponents 1). *)
Theorem L3_product : forall (I Y : Type) (items : list I) (ys : list Y) (w : I -> R) (f : I -> Y -> R),
  (exists y, In y ys /\ forall i, In i items -> 0 < f i y) ->
  distribution ys (pool ys items w f).
Proof.
  intros I Y items ys w f [y [Hy P]]. apply pool_distribution. apply sum_pos_at with y; [|exact Hy|].
  - intros y' _. apply prod_nonneg; intros. apply power_nonneg.
  - apply prod_pos; intros i Hi. now apply power_pos, P.
Qed.

(** claim: L3 | proves | caveats: reals
    As the paper states it, with all exponents 1 and assumption 6 (all entries at least 1/(2|Y|)): the
    normalized product of distributions is a distribution. *)
Theorem L3_product_paper : forall (I Y : Type) (items : list I) (ys : list Y) (f : I -> Y -> R),
  ys <> [] -> (forall i, In i items -> distribution ys (f i)) ->
  (forall i y, In i items -> In y ys -> / (2 * INR (length ys)) <= f i y) ->
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

(** claim: L3 | sharpens | caveats: reals
    The condition on the product cannot be dropped: two distributions that exclude each other's class have no
    normalized product, whatever positive exponents they get. So item 2 of the lemma, which names no
    condition, needs the assumption 6 of its proof. *)
Theorem L3_product_needs_support : forall w : bool -> R, (forall i, 0 < w i) ->
  exists f : bool -> bool -> R, (forall i, distribution [true; false] (f i)) /\
    ~ distribution [true; false] (pool [true; false] [true; false] w f).
Proof.
  intros w w0. exists (fun i y => if Bool.eqb i y then 1 else 0). split.
  - intros []; (split; [intros [] _; simpl; lra | simpl; lra]).
  - assert (P : forall i, power 0 (w i) = 0).
    { intros i. specialize (w0 i). unfold power. destruct (Req_EM_T (w i) 0); [lra|]. destruct (Rlt_dec 0 0);
        lra. }
    intros [_ H]. unfold pool, normalize, unnormalized in H. simpl in H. rewrite !P in H. unfold Rdiv in H.
    rewrite !Rmult_0_l, !Rmult_0_r, !Rmult_0_l in H. lra.
Qed.
