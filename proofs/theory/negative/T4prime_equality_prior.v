(* False: the least log loss is that of the posterior, which is not the prior where the evidence tells
   something. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World L5 T4 T4_moreover.
From LPF Require Import T4prime.
Import ListNotations.
Open Scope R_scope.

Theorem T4prime_equality_prior : forall (Y A : Type) (W : world Y A) (Q : list A -> Y -> R),
  is_world W -> predicts W Q -> covers W Q ->
  (log_loss W Q = residual_entropy W <->
   forall e y, In e (evidence W) -> 0 < mass W e -> In y (classes W) -> Q e y = prior W y).
Proof.
  intros Y A W Q HW D C. rewrite (log_loss_split W Q HW C). split.
  - intros E e y He m Hy. assert (Z : mass W e * KL (classes W) (posterior W e) (Q e) = 0).
    { apply (sum_zero_all (evidence W) (fun e => mass W e * KL (classes W) (posterior W e) (Q e)));
        [now apply divergence_terms | unfold divergence in E; lra | easy]. }
    symmetry. apply (gibbs_equal (classes W)); auto using posterior_dist; [|nra].
    intros x Hx p. apply C; auto. now apply posterior_pos.
  - intros E. replace (divergence W Q) with 0; [lra|]. unfold divergence. rewrite <- (sum_0 (evidence W)).
    apply sum_ext; intros e He. destruct (mass_nonneg W HW e He) as [m| <-]; [|lra].
    replace (KL (classes W) (posterior W e) (Q e)) with 0; [lra|]. unfold KL. rewrite <- (sum_0 (classes W)).
    apply sum_ext; intros y Hy. rewrite E by easy.
    destruct (posterior_dist W e HW He m) as [p0 _]. destruct (p0 y Hy) as [p| <-]; [|lra].
    unfold Rdiv. rewrite Rinv_r, ln_1; lra.
Qed.
