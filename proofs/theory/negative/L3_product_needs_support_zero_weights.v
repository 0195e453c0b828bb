(* False: with exponents 0 the normalized product is uniform, a distribution. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums T5prime.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import L3.


Theorem L3_product_needs_support_zero_weights : forall w : bool -> R, (forall i, 0 <= w i) ->
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
