(* Worlds of evidence: a class Y and K items of evidence with finitely many outcomes, of any joint
   distribution. Prior, posteriors, assumption 1 (items independent given the class), LPF's pipeline (an
   encoder's posterior in a latent space, a decoder, weights, the weighted product of section 1.2), and the
   expected calibration error, with any bins or none. The paper's setting: sections 1 and 2. Nothing of the
   paper is claimed here. *)
Require Import Reals List Lra Lia Psatz Classical.
Require ClassicalDedekindReals.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.

(* Any statement is true or false; [one P] is 1 where P is true and 0 elsewhere. *)
Definition decide (P : Prop) : {P} + {~ P}.
Proof. destruct (ClassicalDedekindReals.sig_not_dec P); [left; now apply NNPP | now right]. Defined.
Definition one (P : Prop) : R := if decide P then 1 else 0.

Lemma one_true (P : Prop) : P -> one P = 1.
Proof. intros H. unfold one. destruct (decide P); tauto. Qed.
Lemma one_false (P : Prop) : ~ P -> one P = 0.
Proof. intros H. unfold one. destruct (decide P); tauto. Qed.
Lemma one_cases (P : Prop) : (P /\ one P = 1) \/ (~ P /\ one P = 0).
Proof. unfold one. destruct (decide P); tauto. Qed.
Lemma one_range (P : Prop) : 0 <= one P <= 1.
Proof. destruct (one_cases P) as [[_ ->]|[_ ->]]; lra. Qed.
Lemma one_iff (P Q : Prop) : (P <-> Q) -> one P = one Q.
Proof. intros H. destruct (one_cases P) as [[h ->]|[h ->]], (one_cases Q) as [[k ->]|[k ->]]; tauto. Qed.

(* More about sums and products. *)
Lemma sum_app {A} (l m : list A) f : sum (l ++ m) f = sum l f + sum m f.
Proof. induction l; simpl; lra. Qed.
Lemma sum_map {A B} (g : A -> B) l f : sum (map g l) f = sum l (fun x => f (g x)).
Proof. induction l; simpl; [easy|]. now rewrite IHl. Qed.
Lemma sum_flat_map {A B} (g : A -> list B) l f : sum (flat_map g l) f = sum l (fun x => sum (g x) f).
Proof. induction l; simpl; [easy|]. now rewrite sum_app, IHl. Qed.
Lemma sum_const {A} (l : list A) c : sum l (fun _ => c) = INR (length l) * c.
Proof. induction l; [simpl; lra|]. simpl sum. rewrite IHl. simpl length. rewrite S_INR. lra. Qed.
Lemma sum_abs {A} (l : list A) f : Rabs (sum l f) <= sum l (fun x => Rabs (f x)).
Proof.
  induction l; simpl; [rewrite Rabs_R0; lra|].
  eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.
Lemma sum_ge_one {A} (l : list A) f x : (forall y, In y l -> 0 <= f y) -> In x l -> f x <= sum l f.
Proof.
  induction l; simpl; [easy|]. intros H [->|i].
  - assert (0 <= sum l f) by (apply sum_nonneg; auto). lra.
  - assert (f x <= sum l f) by auto. assert (0 <= f a) by auto. lra.
Qed.
Lemma sum_zero_all {A} (l : list A) f x : (forall y, In y l -> 0 <= f y) -> sum l f = 0 -> In x l -> f x = 0.
Proof. intros H s i. pose proof (sum_ge_one l f x H i). specialize (H x i). lra. Qed.
Lemma sum_pos {A} (l : list A) f x : (forall y, In y l -> 0 <= f y) -> In x l -> 0 < f x -> 0 < sum l f.
Proof. intros H i p. pose proof (sum_ge_one l f x H i). lra. Qed.
(* Of distinct elements, [one (x = a)] picks one. *)
Lemma sum_pick {A} (l : list A) a f : NoDup l -> In a l -> sum l (fun x => one (x = a) * f x) = f a.
Proof.
  induction 1 as [|x l N D IH]; simpl; [easy|]. intros [->|i].
  - rewrite one_true by easy. rewrite (sum_ext l _ (fun _ => 0)); [rewrite sum_0; lra|].
    intros y Hy. rewrite one_false; [lra|]. now intros ->.
  - rewrite one_false by (now intros ->). rewrite IH by easy. lra.
Qed.
Lemma prod_ext {A} (l : list A) f g : (forall x, In x l -> f x = g x) -> prod l f = prod l g.
Proof. induction l; simpl; intros H; [easy|]. rewrite H, IHl; auto. Qed.
Lemma prod_const {A} (l : list A) c : prod l (fun _ => c) = c ^ length l.
Proof. induction l; simpl; [easy|]. now rewrite IHl. Qed.
Lemma prod_mult {A} (l : list A) f g : prod l (fun x => f x * g x) = prod l f * prod l g.
Proof. induction l; simpl; [lra|]. rewrite IHl. lra. Qed.
Lemma prod_le {A} (l : list A) f g : (forall x, In x l -> 0 <= f x <= g x) -> prod l f <= prod l g.
Proof.
  induction l as [|x l IH]; simpl; intros H; [lra|].
  pose proof (H x (or_introl eq_refl)). assert (prod l f <= prod l g) by auto.
  assert (0 <= prod l f) by (apply prod_nonneg; intros; now apply H; right).
  apply Rmult_le_compat; lra.
Qed.
Lemma prod_map {A B} (g : A -> B) l f : prod (map g l) f = prod l (fun x => f (g x)).
Proof. induction l; simpl; [easy|]. now rewrite IHl. Qed.
Lemma prod_zero {A} (l : list A) f x : In x l -> f x = 0 -> prod l f = 0.
Proof. induction l; simpl; [easy|]. intros [->|i] e; [rewrite e; lra|]. rewrite IHl by easy. lra. Qed.
Lemma exp_sum {A} (l : list A) f : exp (sum l f) = prod l (fun x => exp (f x)).
Proof. induction l; simpl; [apply exp_0|]. now rewrite exp_plus, IHl. Qed.
Lemma ln_prod {A} (l : list A) f : (forall x, In x l -> 0 < f x) -> ln (prod l f) = sum l (fun x => ln (f x)).
Proof.
  induction l; simpl; intros H; [apply ln_1|]. rewrite ln_mult, IHl; auto. apply prod_pos; auto.
Qed.
Lemma normalize_ext {A} (l : list A) u v y : (forall x, In x l -> u x = v x) -> In y l ->
  normalize l u y = normalize l v y.
Proof. intros H i. unfold normalize. now rewrite (sum_ext l u v), (H y i). Qed.
Lemma normalize_scal {A} (l : list A) u c y : c <> 0 -> sum l u <> 0 ->
  normalize l (fun x => c * u x) y = normalize l u y.
Proof. intros. unfold normalize. rewrite sum_scal. now field. Qed.

(* All lists of K outcomes. *)
Fixpoint tuples {A} (xs : list A) (K : nat) : list (list A) :=
  match K with O => [[]] | S k => flat_map (fun a => map (cons a) (tuples xs k)) xs end.
Lemma sum_tuples {A} (xs : list A) k f :
  sum (tuples xs (S k)) f = sum xs (fun a => sum (tuples xs k) (fun e => f (a :: e))).
Proof. simpl. rewrite sum_flat_map. apply sum_ext; intros. apply sum_map. Qed.
Lemma in_tuples {A} (xs : list A) K e : In e (tuples xs K) -> length e = K /\ forall a, In a e -> In a xs.
Proof.
  revert e; induction K; simpl; intros e H.
  - destruct H as [<-|[]]. simpl. tauto.
  - apply in_flat_map in H. destruct H as [a [Ha H]]. apply in_map_iff in H. destruct H as [t [<- H]].
    apply IHK in H. destruct H as [l H]. split; [simpl; lia|]. intros b [<-|i]; auto.
Qed.
Lemma in_item {A} (xs : list A) K e d i : In e (tuples xs K) -> (i < K)%nat -> In (nth i e d) xs.
Proof. intros H L. apply in_tuples in H. destruct H as [l H]. apply H, nth_In. lia. Qed.
Lemma prod_seq_S k f : prod (seq 0 (S k)) f = f 0%nat * prod (seq 0 k) (fun i => f (S i)).
Proof. simpl. now rewrite <- seq_shift, prod_map. Qed.
Lemma sum_seq_S k f : sum (seq 0 (S k)) f = f 0%nat + sum (seq 0 k) (fun i => f (S i)).
Proof. simpl. now rewrite <- seq_shift, sum_map. Qed.
(* A sum over all tuples of a product over the items is the product of the sums. *)
Lemma sum_tuples_prod {A} (xs : list A) d K : forall f : nat -> A -> R,
  sum (tuples xs K) (fun e => prod (seq 0 K) (fun i => f i (nth i e d))) =
  prod (seq 0 K) (fun i => sum xs (f i)).
Proof.
  induction K; intros f; [simpl; lra|]. rewrite sum_tuples, prod_seq_S, <- (IHK (fun i => f (S i))).
  rewrite <- sum_scal_r. apply sum_ext; intros a _. rewrite <- sum_scal. apply sum_ext; intros e _.
  now rewrite prod_seq_S.
Qed.

(* A world: the classes, the outcomes of an item, the number K of items, and the joint distribution of the
   class and the list of the K outcomes. [blank] is the outcome named for an item beyond the K-th; it plays
   no part. *)
Record world (Y A : Type) := World
  { classes : list Y; outcomes : list A; items : nat; blank : A; joint : Y -> list A -> R }.
Arguments World {Y A}. Arguments classes {Y A}. Arguments outcomes {Y A}. Arguments items {Y A}.
Arguments blank {Y A}. Arguments joint {Y A}.

Section World.
Context {Y A : Type} (W : world Y A).
Definition evidence := tuples (outcomes W) (items W).
Definition item (i : nat) (e : list A) := nth i e (blank W).
Definition is_world :=
  NoDup (classes W) /\ NoDup (outcomes W) /\
  (forall y e, In y (classes W) -> In e evidence -> 0 <= joint W y e) /\
  sum (classes W) (fun y => sum evidence (joint W y)) = 1.
(* P(y), P(e), P(y | e) *)
Definition prior y := sum evidence (joint W y).
Definition mass e := sum (classes W) (fun y => joint W y e).
Definition posterior e y := joint W y e / mass e.
(* P(Y = y, E_i = a), P(E_i = a | y), P(y | E_i = a) *)
Definition item_joint i a y := sum evidence (fun e => one (item i e = a) * joint W y e).
Definition likelihood i a y := item_joint i a y / prior y.
Definition item_posterior i a y := item_joint i a y / sum (classes W) (item_joint i a).
(* Assumption 1: P(y, e) = P(y) P(e_1 | y) ... P(e_K | y). *)
Definition A1 := forall y e, In y (classes W) -> In e evidence ->
  joint W y e = prior y * prod (seq 0 (items W)) (fun i => likelihood i (item i e) y).

(* LPF's product of weighted factors, normalized (section 1.2, stage 4). *)
Definition pool (Phi : nat -> A -> Y -> R) (w : nat -> list A -> R) (e : list A) : Y -> R :=
  normalize (classes W)
    (fun y => exp (sum (seq 0 (items W)) (fun i => w i e * ln (Phi i (item i e) y)))).

(* A predictor Q gives a distribution for each evidence; [hat] names a most probable class, [conf] its
   probability. *)
Definition picks (Q : list A -> Y -> R) (hat : list A -> Y) := forall e, In e evidence ->
  In (hat e) (classes W) /\ forall y, In y (classes W) -> Q e y <= Q e (hat e).
Definition conf (Q : list A -> Y -> R) (hat : list A -> Y) e := Q e (hat e).
(* Expected calibration error: the mean over the evidence of |accuracy - confidence| within the same bin.
   The bin of a confidence is any real number: [fun c => c] gives the error without bins. *)
Definition same_bin (bin : R -> R) Q hat e e' := one (bin (conf Q hat e') = bin (conf Q hat e)).
Definition bin_mass bin Q hat e := sum evidence (fun e' => same_bin bin Q hat e e' * mass e').
Definition accuracy_in bin Q hat e :=
  sum evidence (fun e' => same_bin bin Q hat e e' * joint W (hat e') e') / bin_mass bin Q hat e.
Definition confidence_in bin Q hat e :=
  sum evidence (fun e' => same_bin bin Q hat e e' * (mass e' * conf Q hat e')) / bin_mass bin Q hat e.
Definition ece (bin : R -> R) (Q : list A -> Y -> R) (hat : list A -> Y) : R :=
  sum evidence (fun e => mass e * Rabs (accuracy_in bin Q hat e - confidence_in bin Q hat e)).
(* Every factor is eps-calibrated: among the evidence with Phi_i(y) = c the class is y with a probability
   within eps of c. *)
Definition calibrated (Phi : nat -> A -> Y -> R) (eps : R) :=
  forall i y c, (i < items W)%nat -> In y (classes W) ->
  let at_c e := one (Phi i (item i e) y = c) in
  Rabs (sum evidence (fun e => at_c e * joint W y e) - c * sum evidence (fun e => at_c e * mass e))
  <= eps * sum evidence (fun e => at_c e * mass e).

Hypothesis HW : is_world.
Lemma joint_nonneg y e : In y (classes W) -> In e evidence -> 0 <= joint W y e.
Proof. destruct HW as (_ & _ & H & _). auto. Qed.
Lemma mass_nonneg e : In e evidence -> 0 <= mass e.
Proof. intros. apply sum_nonneg. intros. now apply joint_nonneg. Qed.
Lemma mass_total : sum evidence mass = 1.
Proof. destruct HW as (_ & _ & _ & H). unfold mass. rewrite sum_swap. exact H. Qed.
Lemma joint_le_mass y e : In y (classes W) -> In e evidence -> joint W y e <= mass e.
Proof. intros. apply (sum_ge_one _ (fun y => joint W y e)); [|easy]. intros. now apply joint_nonneg. Qed.
Lemma prior_distribution : distribution (classes W) prior.
Proof.
  split; [|apply HW]. intros y Hy. apply sum_nonneg. intros. now apply joint_nonneg.
Qed.

Section Ece.
Variables (bin : R -> R) (Q : list A -> Y -> R) (hat : list A -> Y).
Hypothesis Hhat : forall e, In e evidence -> In (hat e) (classes W).
Let gap e := joint W (hat e) e - mass e * conf Q hat e.
Let M := bin_mass bin Q hat.
Let S := same_bin bin Q hat.

Lemma bin_mass_nonneg e : 0 <= M e.
Proof.
  apply sum_nonneg. intros e' H. apply Rmult_le_pos; [apply one_range | now apply mass_nonneg].
Qed.
Lemma bin_mass_zero e : In e evidence -> M e = 0 -> mass e = 0.
Proof.
  intros H Z. assert (T : S e e * mass e = 0).
  { apply (sum_zero_all evidence (fun e' => S e e' * mass e')); [|exact Z|exact H].
    intros e' H'. apply Rmult_le_pos; [apply one_range | now apply mass_nonneg]. }
  unfold S, same_bin in T. rewrite one_true in T by easy. lra.
Qed.
Lemma in_bin_gap e : accuracy_in bin Q hat e - confidence_in bin Q hat e = sum evidence (fun e' => S e e' *
  gap e') / M e.
Proof.
  unfold accuracy_in, confidence_in. fold M. unfold Rdiv. rewrite <- Rmult_minus_distr_r, <- sum_minus.
  f_equal. apply sum_ext; intros. fold S. unfold gap. ring.
Qed.
Lemma same_bin_sym e e' : S e e' * / M e = S e' e * / M e'.
Proof.
  unfold S, same_bin. destruct (one_cases (bin (conf Q hat e') = bin (conf Q hat e))) as [[h ->]|[h ->]].
  - rewrite one_true by easy. f_equal. f_equal. unfold M, bin_mass. apply sum_ext; intros.
    unfold same_bin. now rewrite h.
  - rewrite one_false by congruence. lra.
Qed.
Lemma bin_total h : (forall e, In e evidence -> mass e = 0 -> h e = 0) ->
  sum evidence (fun e => mass e * (sum evidence (fun e' => S e e' * h e') / M e)) = sum evidence h.
Proof.
  intros Hh.
  transitivity (sum evidence (fun e' => h e' * sum evidence (fun e => (S e' e * mass e) * / M e'))).
  - erewrite sum_ext; [|intros e _; unfold Rdiv; rewrite <- sum_scal_r, <- sum_scal; reflexivity].
    rewrite sum_swap. apply sum_ext; intros e' _. rewrite <- sum_scal. apply sum_ext; intros e _.
    replace (mass e * (S e e' * h e' * / M e)) with (mass e * h e' * (S e e' * / M e)) by ring.
    rewrite same_bin_sym. ring.
  - apply sum_ext; intros e H. rewrite sum_scal_r. change (h e * (M e * / M e) = h e).
    destruct (Req_dec (M e) 0) as [z|n]; [|field; easy].
    rewrite Hh; [lra|easy|]. now apply bin_mass_zero.
Qed.
Lemma gap_zero e : In e evidence -> mass e = 0 -> gap e = 0.
Proof.
  intros H z. unfold gap. pose proof (joint_nonneg (hat e) e (Hhat e H) H).
  pose proof (joint_le_mass (hat e) e (Hhat e H) H). rewrite z in *. lra.
Qed.
(* With any bins: |accuracy - mean confidence| <= ECE <= mean of |P(hat | e) - confidence|. *)
Lemma ece_ge : Rabs (sum evidence (fun e => joint W (hat e) e) - sum evidence (fun e => mass e * conf Q hat
  e))
  <= ece bin Q hat.
Proof.
  rewrite <- sum_minus. change (Rabs (sum evidence gap) <= ece bin Q hat).
  rewrite <- (bin_total gap gap_zero). eapply Rle_trans; [apply sum_abs|]. apply sum_le; intros e H.
  rewrite Rabs_mult, (Rabs_pos_eq (mass e)) by now apply mass_nonneg.
  right. f_equal. f_equal. symmetry. apply in_bin_gap.
Qed.
Lemma ece_le_gap : ece bin Q hat <= sum evidence (fun e => Rabs (gap e)).
Proof.
  rewrite <- (bin_total (fun e => Rabs (gap e))).
  2: { intros e H z. rewrite gap_zero by easy. apply Rabs_R0. }
  apply sum_le; intros e H. apply Rmult_le_compat_l; [now apply mass_nonneg|].
  rewrite in_bin_gap. unfold Rdiv. rewrite Rabs_mult.
  assert (I : 0 <= / M e).
  { destruct (bin_mass_nonneg e) as [p|<-]; [left; now apply Rinv_0_lt_compat | rewrite Rinv_0; lra]. }
  rewrite (Rabs_pos_eq (/ M e)) by easy. apply Rmult_le_compat_r; [easy|].
  eapply Rle_trans; [apply sum_abs|]. apply sum_le; intros e' _. rewrite Rabs_mult.
  rewrite Rabs_pos_eq; [lra | apply one_range].
Qed.
Lemma ece_le t : (forall e, In e evidence -> 0 < mass e -> Rabs (posterior e (hat e) - conf Q hat e) <= t) ->
  ece bin Q hat <= t.
Proof.
  intros H. eapply Rle_trans; [apply ece_le_gap|].
  rewrite <- (Rmult_1_l t), <- mass_total, <- sum_scal_r. apply sum_le; intros e He.
  destruct (mass_nonneg e He) as [p|z].
  - specialize (H e He p). unfold posterior in H.
    replace (gap e) with (mass e * (joint W (hat e) e / mass e - conf Q hat e)) by (unfold gap; field; lra).
    rewrite Rabs_mult, (Rabs_pos_eq (mass e)) by lra. apply Rmult_le_compat_l; lra.
  - rewrite gap_zero by easy. rewrite <- z, Rabs_R0. lra.
Qed.
Lemma ece_nonneg : 0 <= ece bin Q hat.
Proof. eapply Rle_trans; [|apply ece_ge]. apply Rabs_pos. Qed.
(* The posterior, and every predictor that equals it where the evidence is possible, is perfectly
   calibrated. *)
Lemma ece_posterior : (forall e, In e evidence -> 0 < mass e -> Q e (hat e) = posterior e (hat e)) ->
  ece bin Q hat = 0.
Proof.
  intros H. apply Rle_antisym; [|apply ece_nonneg]. apply ece_le. intros e He p. unfold conf.
  rewrite H by easy. rewrite Rminus_diag_eq, Rabs_R0 by easy. lra.
Qed.
(* One confidence for all: the ECE is |accuracy - confidence|. *)
Lemma ece_constant c : (forall e, In e evidence -> conf Q hat e = c) ->
  ece bin Q hat = Rabs (sum evidence (fun e => joint W (hat e) e) - c).
Proof.
  intros H. assert (T : forall h e, In e evidence -> sum evidence (fun e' => S e e' * h e') = sum evidence h).
  { intros h e He. apply sum_ext; intros e' He'. unfold S, same_bin.
    rewrite one_true by (now rewrite !H). lra. }
  unfold ece. erewrite sum_ext.
  2: { intros e He. rewrite in_bin_gap, T by easy. unfold M, bin_mass. fold S. rewrite T, mass_total by easy.
       reflexivity. }
  rewrite sum_scal_r, mass_total, Rmult_1_l. f_equal. unfold Rdiv. rewrite Rinv_1, Rmult_1_r.
  unfold gap. rewrite sum_minus. f_equal.
  rewrite (sum_ext _ _ (fun e => mass e * c)) by (intros; now rewrite H). rewrite sum_scal_r, mass_total. lra.
Qed.
End Ece.
End World.

(* The world of a prior and of items drawn independently given the class: assumption 1 holds. *)
Definition product_world {Y A} (ys : list Y) (xs : list A) (K : nat) (d : A) (pi : Y -> R)
  (lik : nat -> A -> Y -> R) :=
  World ys xs K d (fun y e => pi y * prod (seq 0 K) (fun i => lik i (nth i e d) y)).

Lemma prod_single K i c : (i < K)%nat -> prod (seq 0 K) (fun j => if Nat.eqb j i then c else 1) = c.
Proof.
  revert i; induction K; intros i H; [lia|]. rewrite prod_seq_S. destruct i; simpl.
  - rewrite prod_const, pow1. lra.
  - rewrite IHK by lia. lra.
Qed.

Section Product.
Context {Y A : Type} (ys : list Y) (xs : list A) (K : nat) (d : A) (pi : Y -> R) (lik : nat -> A -> Y -> R).
Hypotheses (Ny : NoDup ys) (Nx : NoDup xs) (Hpi : distribution ys pi).
Hypothesis Hlik : forall i y, (i < K)%nat -> In y ys -> distribution xs (fun a => lik i a y).
Let W := product_world ys xs K d pi lik.

Lemma product_nonneg y e : In y ys -> In e (evidence W) -> 0 <= joint W y e.
Proof.
  intros Hy He. apply Rmult_le_pos; [now apply Hpi|]. apply prod_nonneg. intros i Hi. apply in_seq in Hi.
  apply (Hlik i y); [lia|easy|]. apply (in_item xs K); [exact He | lia].
Qed.
Lemma product_prior y : In y ys -> prior W y = pi y.
Proof.
  intros Hy. unfold prior. simpl. rewrite sum_scal. unfold evidence. simpl.
  rewrite (sum_tuples_prod xs d K (fun i a => lik i a y)).
  rewrite (prod_ext _ _ (fun _ => 1)), prod_const, pow1; [lra|].
  intros i Hi. apply in_seq in Hi. now apply Hlik.
Qed.
Lemma product_item_joint i a y : (i < K)%nat -> In a xs -> In y ys -> item_joint W i a y = pi y * lik i a y.
Proof.
  intros Hi Ha Hy. unfold item_joint, evidence, item. simpl.
  rewrite (sum_ext _ _ (fun e => pi y * prod (seq 0 K) (fun j =>
    (if Nat.eqb j i then one (nth j e d = a) else 1) * lik j (nth j e d) y))).
  2: { intros e _. rewrite prod_mult.
       replace (prod (seq 0 K) (fun j => if Nat.eqb j i then one (nth j e d = a) else 1))
         with (one (nth i e d = a)); [ring|].
       rewrite <- (prod_single K i (one (nth i e d = a))) by easy. apply prod_ext; intros j _.
       destruct (Nat.eqb_spec j i); [now subst | easy]. }
  rewrite sum_scal, (sum_tuples_prod xs d K (fun j x => (if Nat.eqb j i then one (x = a) else 1) * lik j x
    y)).
  f_equal. rewrite <- (prod_single K i (lik i a y)) by easy. apply prod_ext; intros j Hj. apply in_seq in Hj.
  destruct (Nat.eqb_spec j i) as [->|_].
  - apply (sum_pick xs a (fun x => lik i x y)); easy.
  - transitivity (sum xs (fun x => lik j x y)); [apply sum_ext; intros; lra|]. apply Hlik; [lia|easy].
Qed.
Lemma product_is_world : is_world W.
Proof.
  repeat split; [exact Ny | exact Nx | exact product_nonneg |].
  destruct Hpi as [_ <-]. apply sum_ext; intros. now apply product_prior.
Qed.
Lemma product_A1 : A1 W.
Proof.
  intros y e Hy He. rewrite product_prior by easy. destruct (Req_dec (pi y) 0) as [z|n].
  - simpl. rewrite z. lra.
  - simpl. f_equal. apply prod_ext; intros i Hi. apply in_seq in Hi. unfold likelihood.
    assert (In (item W i e) xs) by (apply (in_item xs K); [exact He | lia]).
    rewrite product_prior, product_item_joint; try easy; try lia. unfold item. simpl. field. easy.
Qed.
End Product.

(* LPF's first stages. The encoder's posterior q(z | e_i) is an expectation: a positive, normalized, linear
   functional of those functions of the latent variable z that grow no faster than a square, which is all that
   means and variances need. It is asked of no other functions: there a Gaussian has no finite expectation. So
   Gaussians are covered (their integral, extended to functions that are not measurable) as well as finite
   distributions. One latent dimension is enough for what is refuted. The weight of an item is a function f of
   its posterior's variance. *)
Record pipeline (Y A : Type) := Pipeline
  { encoder : nat -> A -> (R -> R) -> R; decoder : R -> Y -> R }.
Arguments Pipeline {Y A}. Arguments encoder {Y A}. Arguments decoder {Y A}.
Definition moderate (f : R -> R) := exists c, forall z, Rabs (f z) <= c * (1 + z ^ 2).
Definition expectation (q : (R -> R) -> R) :=
  q (fun _ => 1) = 1 /\
  (forall f g, moderate f -> moderate g -> (forall z, f z <= g z) -> q f <= q g) /\
  (forall a b f g, moderate f -> moderate g -> q (fun z => a * f z + b * g z) = a * q f + b * q g).

Lemma moderate_const c : moderate (fun _ => c).
Proof. exists (Rabs c). intros z. pose proof (Rabs_pos c). pose proof (pow2_ge_0 z). nra. Qed.
Lemma expectation_const q c : expectation q -> q (fun _ => c) = c.
Proof.
  intros (n & mono & lin).
  pose proof (lin c 0 (fun _ => 1) (fun _ => 1) (moderate_const 1) (moderate_const 1)) as E. rewrite n in E.
  assert (q (fun _ => c) <= q (fun _ => c * 1 + 0 * 1))
    by (apply mono; [apply moderate_const | apply moderate_const | intros; lra]).
  assert (q (fun _ => c * 1 + 0 * 1) <= q (fun _ => c))
    by (apply mono; [apply moderate_const | apply moderate_const | intros; lra]). lra.
Qed.
Definition spread_of (q : (R -> R) -> R) := q (fun z => (z - q (fun z => z)) ^ 2).
(* Between two points at the distance s from m, each with probability 1/2: a posterior of variance s^2. *)
Definition two_points (m s : R) (h : R -> R) := (h (m - s) + h (m + s)) / 2.
Lemma two_points_expectation m s : expectation (two_points m s).
Proof.
  unfold expectation, two_points. repeat split; [lra | | intros; lra].
  intros f g _ _ H. pose proof (H (m - s)). pose proof (H (m + s)). lra.
Qed.

Section Pipeline.
Context {Y A : Type} (W : world Y A) (L : pipeline Y A).
Definition factor i a y := encoder L i a (fun z => decoder L z y).
Definition spread i a := spread_of (encoder L i a).
Definition raw_weight (f : R -> R) i (e : list A) := f (spread i (item W i e)).
Definition normalized_weight f i e := raw_weight f i e / sum (seq 0 (items W)) (fun j => raw_weight f j e).
(* Assumption 2: the variance of the posteriors is bounded. *)
Definition A2 := exists s, forall i a, spread i a <= s.
(* Assumption 3, with an error eps for its "approximately": where the decoder gives y the probability c at
   the latent point drawn, the class is y with a probability within eps of c. *)
Definition A3 (eps : R) := forall i y c, (i < items W)%nat -> In y (classes W) ->
  let at_c e := encoder L i (item W i e) (fun z => one (decoder L z y = c)) in
  Rabs (sum (evidence W) (fun e => at_c e * joint W y e) - c * sum (evidence W) (fun e => at_c e * mass W e))
  <= eps * sum (evidence W) (fun e => at_c e * mass W e).
(* Assumption 6: the decoder gives every class at least 1/(2|Y|). *)
Definition A6 := forall z y, In y (classes W) -> / (2 * INR (length (classes W))) <= decoder L z y.
Definition is_pipeline := (forall i a, expectation (encoder L i a)) /\ (forall z, distribution (classes W)
  (decoder L z)).
End Pipeline.

(* Kish's effective number of items. *)
Definition K_eff (K : nat) (w : nat -> R) := sum (seq 0 K) w ^ 2 / sum (seq 0 K) (fun i => w i ^ 2).
Lemma K_eff_equal K c : (1 <= K)%nat -> c <> 0 -> K_eff K (fun _ => c) = INR K.
Proof.
  intros H c0. unfold K_eff. rewrite !sum_const, seq_length. apply le_INR in H. simpl in H. field. lra.
Qed.
Lemma K_eff_ext K v w : (forall i, (i < K)%nat -> v i = w i) -> K_eff K v = K_eff K w.
Proof.
  intros H. unfold K_eff. rewrite (sum_ext _ v w), (sum_ext _ (fun i => v i ^ 2) (fun i => w i ^ 2)); auto;
  intros i Hi; apply in_seq in Hi; rewrite H by lia; easy.
Qed.

(* Small tools of the refutations. *)
(* Some number of items, at least 1, is above any bound. *)
Lemma exists_nat_above x : exists K : nat, (1 <= K)%nat /\ x < INR K.
Proof.
  destruct (archimed (Rmax x 1)) as [H _]. exists (Z.to_nat (up (Rmax x 1))).
  pose proof (Rmax_l x 1). pose proof (Rmax_r x 1).
  assert (Z : (0 < up (Rmax x 1))%Z) by (apply lt_IZR; simpl; lra).
  split; [lia|]. rewrite INR_IZR_INZ, Z2Nat.id by lia. lra.
Qed.
Lemma over_sqrt C c k : 0 < c -> 0 < k -> C ^ 2 < c ^ 2 * k -> C / sqrt k < c.
Proof.
  intros c0 k0 H. pose proof (sqrt_lt_R0 k k0) as s0. pose proof (sqrt_sqrt k (Rlt_le _ _ k0)) as ss.
  apply Rmult_lt_reg_r with (sqrt k); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra.
  apply Rnot_le_lt; intros G. assert (c * sqrt k * (c * sqrt k) <= C * C) by (apply Rmult_le_compat; nra).
  assert (c * sqrt k * (c * sqrt k) = c ^ 2 * k) by (rewrite <- ss at 3; ring). nra.
Qed.
Lemma bernoulli x n : -1 <= x -> 1 + INR n * x <= (1 + x) ^ n.
Proof.
  intros Hx. induction n; [simpl; lra|]. rewrite S_INR. simpl. assert (0 <= INR n) by apply pos_INR. nra.
Qed.
Lemma bools : NoDup [true; false].
Proof. repeat constructor; simpl; intuition congruence. Qed.
Lemma normalize_bools (u : bool -> R) y : normalize [true; false] u y = u y / (u true + u false).
Proof. unfold normalize. simpl. now rewrite Rplus_0_r. Qed.

(* A sum over the evidence of a function of one item and of the rest, by the outcome of that item. *)
Lemma sum_by_item {Y A} (W : world Y A) i (g : A -> R) F : is_world W -> (i < items W)%nat ->
  sum (evidence W) (fun e => g (item W i e) * F e) =
  sum (outcomes W) (fun a => g a * sum (evidence W) (fun e => one (item W i e = a) * F e)).
Proof.
  intros (_ & N & _) Hi. erewrite (sum_ext (outcomes W)); [|intros a _; rewrite <- sum_scal; reflexivity].
  rewrite sum_swap. apply sum_ext; intros e He.
  transitivity (sum (outcomes W) (fun a => one (a = item W i e) * (g a * F e))).
  - rewrite (sum_pick _ (item W i e) (fun a => g a * F e)); auto. now apply (in_item _ (items W)).
  - apply sum_ext; intros a _. rewrite (one_iff (item W i e = a) (a = item W i e)) by (split; congruence).
    ring.
Qed.
(* Factors that are the posteriors given their items are calibrated without error. *)
Lemma exact_calibrated {Y A} (W : world Y A) Phi : is_world W ->
  (forall i a y, (i < items W)%nat -> In a (outcomes W) -> In y (classes W) ->
    Phi i a y * sum (classes W) (item_joint W i a) = item_joint W i a y) -> calibrated W Phi 0.
Proof.
  intros HW H i y c Hi Hy. cbv zeta.
  rewrite !(sum_by_item W i (fun a => one (Phi i a y = c))), Rmult_0_l, <- sum_scal, <- sum_minus by easy.
  rewrite (sum_ext _ _ (fun _ => 0)); [rewrite sum_0, Rabs_R0; lra|]. intros a Ha.
  fold (item_joint W i a y). specialize (H i a y Hi Ha Hy).
  replace (sum (evidence W) (fun e => one (item W i e = a) * mass W e))
    with (sum (classes W) (item_joint W i a)).
  - destruct (one_cases (Phi i a y = c)) as [[<- ->]|[_ ->]]; lra.
  - unfold item_joint, mass. rewrite sum_swap. apply sum_ext; intros e _. apply sum_scal.
Qed.
