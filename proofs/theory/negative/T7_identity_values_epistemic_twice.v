(* False: the epistemic part counted twice; it is not zero where draws decode differently. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums Probability T7.
Import ListNotations.
Open Scope R_scope.

Theorem T7_identity_values_epistemic_twice (Q : space) (Y : Type) (ys : list Y) (p : outcome Q -> Y -> R) (v :
  Y -> R) :
  (forall y, In y ys -> rv (fun z => p z y)) -> (forall z, distribution ys (p z)) ->
  variance ys (fun y => E (fun z => p z y)) v =
  2 * Var (fun z => expect ys (p z) v) + E (fun z => variance ys (p z) v).
Proof.
  intros H D. set (m := fun y => E (fun z => p z y)).
  assert (RM : forall g, rv (fun z => expect ys (p z) g)).
  { intros g. apply (rv_sum ys (fun y z => p z y * g y)). intros y Hy. apply rv_mult;
      [now apply H | apply rv_const]. }
  assert (EM : forall g, E (fun z => expect ys (p z) g) = expect ys m g).
  { intros g. unfold expect. rewrite (E_sum ys (fun y z => p z y * g y)).
    - apply sum_ext; intros y Hy. rewrite (E_ext _ (fun z => g y * p z y)) by (intros; ring).
      rewrite E_scal by now apply H. unfold m; ring.
    - intros y Hy. apply rv_mult; [now apply H | apply rv_const]. }
  assert (m1 : sum ys m = 1).
  { unfold m. rewrite <- (E_sum ys (fun y z => p z y)) by easy.
    rewrite (E_ext _ (fun _ => 1)); [apply E_const|]. intros z. apply D. }
  assert (V : forall q, sum ys q = 1 -> variance ys q v = expect ys q (fun y => v y ^ 2) - expect ys q v ^ 2).
  { intros q q1. unfold variance. set (c := expect ys q v).
    rewrite (sum_ext ys _ (fun y => (q y * v y ^ 2 - (2 * c) * (q y * v y)) + c ^ 2 * q y)) by (intros; ring).
    rewrite sum_plus, sum_minus, !sum_scal, q1. fold (expect ys q v). fold c. unfold expect. ring. }
  rewrite (V m m1), (Var_moments (fun z => expect ys (p z) v)) by apply RM.
  rewrite (E_ext (fun z => variance ys (p z) v)
    (fun z => expect ys (p z) (fun y => v y ^ 2) - expect ys (p z) v ^ 2)) by (intros z; apply V, D).
  rewrite E_minus, !EM; [ring | apply RM | now apply rv_pow].
Qed.
