(* Theorem 7 (section 3.7): total variance = epistemic + aleatoric. The identity holds for the mixture of the
   decoded distributions over any posterior, and exactly for any number M of weighted draws. Two things that
   the theorem says besides do not hold: that the aleatoric part stays approximately constant in K (item 2),
   and that it is the predictive variance of LPF-SPN, whose prediction is a product of factors and not the
   mixture. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums Probability.
Import ListNotations.
Open Scope R_scope.

(* The variance of a class drawn from m, as one-hot vector: the paper's sum over the classes of m(y)(1 -
   m(y)). *)
Definition class_variance {Y} (ys : list Y) (m : Y -> R) := sum ys (fun y => m y * (1 - m y)).
(* The variance of a random variable. *)
Definition Var {Q : space} (X : outcome Q -> R) := E (fun q => (X q - E X) ^ 2).

Lemma Var_moments {Q : space} (X : outcome Q -> R) : rv X -> Var X = E (fun q => X q ^ 2) - E X ^ 2.
Proof.
  intros H. unfold Var. set (m := E X).
  rewrite (E_ext _ (fun q => (X q ^ 2 + (-2 * m) * X q) + m ^ 2)) by (intros; ring).
  rewrite (E_plus Q (fun q => X q ^ 2 + (-2 * m) * X q) (fun _ => m ^ 2)), E_const.
  - rewrite (E_plus Q (fun q => X q ^ 2) (fun q => (-2 * m) * X q)), E_scal; [fold m; ring | easy | |];
      [now apply rv_pow | now apply rv_scal].
  - apply rv_plus; [now apply rv_pow | now apply rv_scal].
  - apply rv_const.
Qed.

(** claim: T7 | proves | caveats: bounded-variables, identity-only
    The identity of theorem 7. For any posterior Q and decoder p, the class variance of the mixture is the
    sum over the classes of the variance of the decoded probability (epistemic) plus the mean class variance
    of the decoded distribution (aleatoric). Paper: theorem 7, section 3.7, in the terms of appendix B.7. *)
Theorem T7_identity (Q : space) (Y : Type) (ys : list Y) (p : outcome Q -> Y -> R) :
  (forall y, In y ys -> rv (fun z => p z y)) ->
  class_variance ys (fun y => E (fun z => p z y)) =
  sum ys (fun y => Var (fun z => p z y)) + E (fun z => class_variance ys (p z)).
Proof.
  intros H. unfold class_variance.
  rewrite (E_sum ys (fun y z => p z y * (1 - p z y))).
  - rewrite <- sum_plus. apply sum_ext; intros y Hy. specialize (H y Hy).
    rewrite (Var_moments (fun z => p z y)) by easy.
    rewrite (E_ext (fun z => p z y * (1 - p z y)) (fun z => p z y - p z y ^ 2)) by (intros; ring).
    rewrite E_minus; [ring | easy | now apply rv_pow].
  - intros y Hy. specialize (H y Hy). apply rv_mult; [easy|]. apply rv_minus; [apply rv_const | easy].
Qed.

(** claim: T7 | proves | caveats: bounded-variables, identity-only
    The same for a number v(y) given to each class: Var[v(Y)] = Var_Z[E[v(Y)|Z]] + E_Z[Var[v(Y)|Z]] for Y
    drawn from the mixture. Paper: theorem 7, section 3.7, as printed there for a numeric Y. *)
Theorem T7_identity_values (Q : space) (Y : Type) (ys : list Y) (p : outcome Q -> Y -> R) (v : Y -> R) :
  (forall y, In y ys -> rv (fun z => p z y)) -> (forall z, distribution ys (p z)) ->
  variance ys (fun y => E (fun z => p z y)) v =
  Var (fun z => expect ys (p z) v) + E (fun z => variance ys (p z) v).
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

(* M draws zs with weights w: the parts as the paper computes them in appendix B.7. *)
Definition mixture {Z Y} (zs : list Z) (w : Z -> R) (p : Z -> Y -> R) (y : Y) :=
  sum zs (fun z => w z * p z y).
Definition epistemic {Z Y} (zs : list Z) (w : Z -> R) (ys : list Y) (p : Z -> Y -> R) :=
  sum ys (fun y => variance zs w (fun z => p z y)).
Definition aleatoric {Z Y} (zs : list Z) (w : Z -> R) (ys : list Y) (p : Z -> Y -> R) :=
  expect zs w (fun z => class_variance ys (p z)).

(** claim: T7 | proves | caveats: reals, identity-only
    Computed from any number of draws with any weights that add up to one, the two parts add up to the class
    variance of the averaged prediction without any error. Paper: theorem 7, section 3.7, and step 3 of
    appendix B.7. *)
Theorem T7_draws (Z Y : Type) (zs : list Z) (ys : list Y) (w : Z -> R) (p : Z -> Y -> R) :
  sum zs w = 1 -> class_variance ys (mixture zs w p) = epistemic zs w ys p + aleatoric zs w ys p.
Proof.
  intros w1. unfold epistemic, aleatoric, class_variance, expect.
  rewrite (sum_ext zs (fun z => w z * sum ys (fun y => p z y * (1 - p z y)))
    (fun z => sum ys (fun y => w z * (p z y * (1 - p z y))))) by (intros; now rewrite sum_scal).
  rewrite sum_swap, <- sum_plus. apply sum_ext; intros y _.
  change (mixture zs w p y) with (expect zs w (fun z => p z y)).
  unfold variance. set (m := expect zs w (fun z => p z y)). rewrite <- sum_plus.
  rewrite (sum_ext zs _ (fun z => (1 - 2 * m) * (w z * p z y) + m ^ 2 * w z)) by (intros; ring).
  rewrite sum_plus, !sum_scal, w1. fold (expect zs w (fun z => p z y)). fold m. ring.
Qed.

(* K items in equal parts, item i decoding to phi i. *)
Definition equal_parts (K : nat) (_ : nat) := / INR K.
Definition two := [true; false].

(* Item 2 with a tolerance t: for every sequence of items with probabilities of at least the floor of
   assumption A6, the aleatoric variance after K items is within t of that after one. *)
Definition theorem_7_aleatoric (floor t : R) : Prop :=
  forall phi : nat -> bool -> R,
  (forall i, distribution two (phi i) /\ forall y, floor <= phi i y) ->
  forall K, (1 <= K)%nat ->
  Rabs (aleatoric (seq 0 K) (equal_parts K) two phi - aleatoric (seq 0 1) (equal_parts 1) two phi) <= t.

Lemma unbounded (x : R) : exists n : nat, x < INR n.
Proof.
  destruct (archimed x) as [H _]. destruct (Z_le_gt_dec 0 (up x)) as [P|P].
  - exists (Z.to_nat (up x)). now rewrite INR_IZR_INZ, Z2Nat.id.
  - exists O. simpl. apply Rlt_trans with (IZR (up x)); [lra|]. apply IZR_lt. lia.
Qed.

(** claim: T7.aleatoric | refutes | caveats: reals, one-entity
    A first item decoding to (1 - floor, floor) and further ones to (1/2, 1/2) move the aleatoric variance by
    as near to (1 - 2 floor)^2 / 2 as one likes: by 1/2, all that two classes allow, without a floor, and by
    1/8 with the floor 1/4 of A6. No smaller tolerance makes it "approximately constant". The posterior given
    K items is their mixture in equal parts, as in section 6.7. Paper: theorem 7, item 2. *)
Theorem T7_aleatoric_refuted : forall floor t, 0 <= floor < / 2 -> t < (1 - 2 * floor) ^ 2 / 2 ->
  ~ theorem_7_aleatoric floor t.
Proof.
  intros f t Hf Ht H. set (D := (1 - 2 * f) ^ 2 / 2) in *.
  set (phi := fun (i : nat) (y : bool) => match i with O => if y then 1 - f else f | S _ => / 2 end).
  destruct (unbounded (D / (D - t))) as [n Hn].
  assert (D0 : 0 < D) by (unfold D; nra).
  assert (n0 : 0 < INR n).
  { eapply Rlt_trans; [|exact Hn]. apply Rdiv_lt_0_compat; lra. }
  assert (A : forall k, (1 <= k)%nat ->
    sum (seq 0 k) (fun i => class_variance two (phi i)) = 2 * f * (1 - f) + (INR k - 1) * / 2).
  { intros [|k]; [lia|]. intros _. cbn [seq sum]. rewrite <- seq_shift, sum_map, S_INR.
    rewrite (sum_ext _ _ (fun _ => / 2)) by (intros; unfold class_variance; simpl; field).
    rewrite sum_const, seq_length. unfold class_variance; simpl. ring. }
  assert (n1 : (1 <= n)%nat) by (destruct n; [simpl in n0; lra | lia]).
  specialize (H phi). assert (G : Rabs (/ INR n * (2 * f * (1 - f) + (INR n - 1) * / 2) - 2 * f * (1 - f)) <=
    t).
  { unfold aleatoric, equal_parts, expect in H.
    specialize (H ltac:(
      intros [|i]; (split; [split; [intros [] _; simpl; lra | simpl; lra] | intros []; simpl; lra])) n n1).
    rewrite !sum_scal, !A in H by lia. simpl (INR 1) in H.
    replace (/ 1 * (2 * f * (1 - f) + (1 - 1) * / 2)) with (2 * f * (1 - f)) in H by field. exact H. }
  replace (/ INR n * (2 * f * (1 - f) + (INR n - 1) * / 2) - 2 * f * (1 - f)) with (D - D / INR n) in G
    by (unfold D; field; lra).
  pose proof (Rle_abs (D - D / INR n)) as P.
  assert (B : D < INR n * (D - t)).
  { apply Rmult_lt_compat_r with (r := D - t) in Hn; [|lra]. unfold Rdiv in Hn.
    rewrite Rmult_assoc, Rinv_l in Hn; lra. }
  assert (D / INR n < D - t).
  { apply Rmult_lt_reg_r with (INR n); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  lra.
Qed.

(* What is left of item 2: on average over entities whose items are alike in law, the aleatoric part does not
   depend on K. (a i: the class variance of the entity's i-th item, a random variable over entities.) *)
Lemma aleatoric_constant_on_average (S : space) (a : nat -> outcome S -> R) (c : R) (K : nat) :
  (1 <= K)%nat -> (forall i, rv (a i)) -> (forall i, E (a i) = c) ->
  E (fun o => expect (seq 0 K) (equal_parts K) (fun i => a i o)) = c.
Proof.
  intros HK HR HE. assert (0 < INR K) by (apply lt_0_INR; lia). unfold expect, equal_parts.
  rewrite (E_sum (seq 0 K) (fun i o => / INR K * a i o)) by (intros; now apply rv_scal).
  rewrite (sum_ext _ _ (fun _ => / INR K * c)) by (intros; rewrite E_scal, HE by easy; easy).
  rewrite sum_const, seq_length. field. lra.
Qed.

(* LPF-SPN's prediction (stage 4): proportional to exp(sum_i w_i ln phi_i(y)). *)
Definition spn (K : nat) (w : nat -> R) (phi : nat -> bool -> R) : bool -> R :=
  normalize two (fun y => exp (sum (seq 0 K) (fun i => w i * ln (phi i y)))).

(* Theorem 7 about the prediction of LPF-SPN, with a tolerance t, read as kindly as possible: the mixture may
   give the items whatever parts it likes, and the items keep the floor 1/(2|Y|) = 1/4 of assumption A6. *)
Definition theorem_7_predictive (t : R) : Prop :=
  forall (K : nat) (w : nat -> R) (phi : nat -> bool -> R),
  (1 <= K)%nat -> (forall i, 0 <= w i <= 1) ->
  (forall i, distribution two (phi i) /\ forall y, / 4 <= phi i y) ->
  exists alpha, distribution (seq 0 K) alpha /\
  Rabs (class_variance two (spn K w phi)
    - (epistemic (seq 0 K) alpha two phi + aleatoric (seq 0 K) alpha two phi)) <= t.

Lemma exp_INR n x : exp (INR n * x) = exp x ^ n.
Proof.
  induction n as [|n IH]; [simpl; rewrite Rmult_0_l; apply exp_0|].
  rewrite S_INR, Rmult_plus_distr_r, exp_plus, IH, Rmult_1_l. simpl. ring.
Qed.

(** claim: T7.predictive | refutes | caveats: reals, lpf-spn
    Many items that all decode to (a, 1 - a), a just above 1/2, have a product that is nearly certain, while
    epistemic plus aleatoric variance stays at 2a(1 - a): for every tolerance t below 1/2, the largest
    variance of two classes, the two differ by more than t. Paper: theorem 7, section 3.7, read for LPF-SPN
    (stage 4, section 1.2). *)
Theorem T7_predictive_refuted : forall t, t < / 2 -> ~ theorem_7_predictive t.
Proof.
  intros t Ht H.
  (* d: how far a is above 1/2; the mixture has variance 1/2 - 2 d^2 *)
  set (d := Rmin (/ 4) ((/ 2 - t) / 2)).
  assert (d0 : 0 < d <= / 4) by (unfold d, Rmin; destruct Rle_dec; lra).
  assert (dt : d <= (/ 2 - t) / 2) by apply Rmin_r.
  set (r := (/ 2 - d) / (/ 2 + d)).
  assert (r0 : 0 < r) by (unfold r; apply Rdiv_lt_0_compat; lra).
  assert (r1 : r < 1).
  { unfold r. apply Rmult_lt_reg_r with (/ 2 + d); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  destruct (pow_lt_1_zero r (Rabs_def1 _ _ r1 ltac:(lra)) ((/ 2 - t) / 4) ltac:(lra)) as [n Hn].
  set (K := S n). set (phi := fun (_ : nat) (y : bool) => if y then / 2 + d else / 2 - d).
  destruct (H K (fun _ => 1) phi) as [alpha [[_ A] G]]; [unfold K; lia | intros; lra | |].
  { intros i. split; [split; [intros [] _; simpl; lra | simpl; lra] | intros []; simpl; lra]. }
  (* the mixture *)
  rewrite <- T7_draws in G by easy.
  assert (M : class_variance two (mixture (seq 0 K) alpha phi) = / 2 - 2 * d ^ 2).
  { unfold class_variance, mixture, two, phi; cbn [sum]. rewrite !sum_scal_r, A. field. }
  (* the product *)
  set (x := r ^ K). assert (x0 : 0 < x) by now apply pow_lt.
  assert (xs : x < (/ 2 - t) / 4).
  { specialize (Hn K ltac:(unfold K; lia)). rewrite Rabs_pos_eq in Hn by (left; exact x0). exact Hn. }
  assert (F : forall y, exp (sum (seq 0 K) (fun i => 1 * ln (phi i y))) = (if y then / 2 + d else / 2 - d) ^
    K).
  { intros y. rewrite (sum_ext _ _ (fun _ => ln (if y then / 2 + d else / 2 - d))) by (intros; unfold phi;
      ring).
    rewrite sum_const, seq_length, exp_INR, exp_ln; [easy | destruct y; lra]. }
  assert (P : class_variance two (spn K (fun _ => 1) phi) <= 2 * x).
  { unfold class_variance, spn, two, normalize; cbn [sum]. rewrite !F. fold K.
    set (b := (/ 2 + d) ^ K). assert (b0 : 0 < b) by (apply pow_lt; lra).
    assert (c : (/ 2 - d) ^ K = b * x).
    { unfold b, x. rewrite <- Rpow_mult_distr. f_equal. unfold r. field. lra. }
    rewrite c. replace (_ + (_ + 0)) with (2 * x / (1 + x) ^ 2) by (field; split; nra).
    apply Rmult_le_reg_r with ((1 + x) ^ 2); [nra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by nra. nra. }
  rewrite M in G. rewrite Rabs_minus_sym in G.
  pose proof (Rle_abs (/ 2 - 2 * d ^ 2 - class_variance two (spn K (fun _ => 1) phi))). nra.
Qed.
