(* False: the epistemic part counted twice; it is not zero where draws decode differently. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums Probability T7.
Import ListNotations.
Open Scope R_scope.

Theorem T7_identity_epistemic_twice (Q : space) (Y : Type) (ys : list Y) (p : outcome Q -> Y -> R) :
  (forall y, In y ys -> rv (fun z => p z y)) ->
  class_variance ys (fun y => E (fun z => p z y)) =
  2 * sum ys (fun y => Var (fun z => p z y)) + E (fun z => class_variance ys (p z)).
Proof.
  intros H. unfold class_variance.
  rewrite (E_sum ys (fun y z => p z y * (1 - p z y))).
  - rewrite <- sum_plus. apply sum_ext; intros y Hy. specialize (H y Hy).
    rewrite (Var_moments (fun z => p z y)) by easy.
    rewrite (E_ext (fun z => p z y * (1 - p z y)) (fun z => p z y - p z y ^ 2)) by (intros; ring).
    rewrite E_minus; [ring | easy | now apply rv_pow].
  - intros y Hy. specialize (H y Hy). apply rv_mult; [easy|]. apply rv_minus; [apply rv_const | easy].
Qed.
