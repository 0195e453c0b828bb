(* Probability without measure theory, general enough for Gaussian posteriors and for finite ones.

   A probability space is here what can be done with its expectation: a class of bounded random variables,
   closed under what bounded measurable functions are closed under (constants, sums, products, continuous
   functions, indicators of "X > c"), and an expectation on them that is linear, positive and maps 1 to 1. The
   bounded measurable functions of any probability space, Gaussian ones among them, form such a class with
   their integral. Every theorem about [space] therefore holds for each of them; finite distributions are
   built below, so that no statement is empty. Nothing here needs limits, so countable additivity is not asked
   for. *)
Require Import Reals List Lra Psatz FunctionalExtensionality.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.

Record space := Space {
  outcome : Type;
  rv : (outcome -> R) -> Prop;                       (* the bounded random variables *)
  E : (outcome -> R) -> R;                           (* expectation *)
  rv_bounded : forall X, rv X -> exists b, forall o, Rabs (X o) <= b;
  rv_const : forall c, rv (fun _ => c);
  rv_plus : forall X Y, rv X -> rv Y -> rv (fun o => X o + Y o);
  rv_mult : forall X Y, rv X -> rv Y -> rv (fun o => X o * Y o);
  rv_comp : forall g X, continuity g -> rv X -> rv (fun o => g (X o));
  rv_above : forall X c, rv X -> rv (fun o => if Rlt_dec c (X o) then 1 else 0);
  E_one : E (fun _ => 1) = 1;
  E_plus : forall X Y, rv X -> rv Y -> E (fun o => X o + Y o) = E X + E Y;
  E_scal : forall c X, rv X -> E (fun o => c * X o) = c * E X;
  E_pos : forall X, rv X -> (forall o, 0 <= X o) -> 0 <= E X }.
Arguments rv {s}. Arguments E {s}.

(* The indicator of a decidable statement. *)
Definition ind {A B : Prop} (d : {A} + {B}) : R := if d then 1 else 0.
(* P(X > c), P(X >= c), P(X <= c), P(X < c). *)
Definition prob_gt {S : space} (X : outcome S -> R) (c : R) := E (fun o => ind (Rlt_dec c (X o))).
Definition prob_ge {S : space} (X : outcome S -> R) (c : R) := E (fun o => ind (Rle_dec c (X o))).
Definition prob_le {S : space} (X : outcome S -> R) (c : R) := E (fun o => ind (Rle_dec (X o) c)).
Definition prob_lt {S : space} (X : outcome S -> R) (c : R) := E (fun o => ind (Rlt_dec (X o) c)).

(* The variables X_i, i in l, are independent: expectations of products of (continuous) functions of them
   factor. *)
Definition independent {S : space} {I} (l : list I) (X : I -> outcome S -> R) :=
  forall g : I -> R -> R, (forall i, continuity (g i)) ->
  E (fun o => prod l (fun i => g i (X i o))) = prod l (fun i => E (fun o => g i (X i o))).

(* z_i, i in l, are independent draws from Q: each has the law of Q, and expectations of products factor.
   Q may be any space over any set of values, such as a Gaussian over R^d. *)
Definition draws {S Q : space} {I} (l : list I) (z : I -> outcome S -> outcome Q) :=
  (forall i f, In i l -> rv f -> rv (fun o => f (z i o)) /\ E (fun o => f (z i o)) = E f) /\
  (forall f : I -> outcome Q -> R, (forall i, rv (f i)) ->
    E (fun o => prod l (fun i => f i (z i o))) = prod l (fun i => E (fun o => f i (z i o)))).

(* The largest value of a non-negative f over a list; 0 for the empty one. *)
Fixpoint largest {A} (l : list A) (f : A -> R) : R :=
  match l with [] => 0 | x :: t => Rmax (f x) (largest t f) end.

Lemma largest_gt {A} (l : list A) f c : 0 <= c -> c < largest l f -> exists x, In x l /\ c < f x.
Proof.
  intros c0. induction l as [|x t IH]; simpl; [lra|].
  unfold Rmax. destruct Rle_dec; intros H.
  - destruct (IH H) as [y [? ?]]. eauto.
  - eauto.
Qed.
Lemma le_largest {A} (l : list A) f x : In x l -> f x <= largest l f.
Proof.
  induction l as [|y t IH]; simpl; [easy|]. intros [->|H]; [apply Rmax_l|].
  eapply Rle_trans; [now apply IH | apply Rmax_r].
Qed.
Lemma largest_le {A} (l : list A) f c : 0 <= c -> (forall x, In x l -> f x <= c) -> largest l f <= c.
Proof. intros c0. induction l; simpl; intros H; [easy|]. apply Rmax_lub; auto. Qed.

Lemma sum_const {A} (l : list A) c : sum l (fun _ => c) = INR (length l) * c.
Proof. induction l; cbn [sum length]; [simpl; ring | rewrite IHl, S_INR; ring]. Qed.
Lemma ind_01 {A B : Prop} (d : {A} + {B}) : 0 <= ind d <= 1.
Proof. unfold ind. destruct d; lra. Qed.

Section Space.
Context {S : space}.
Implicit Types X Y : outcome S -> R.

Lemma rv_ext X Y : (forall o, X o = Y o) -> rv X -> rv Y.
Proof. intros H. now rewrite (functional_extensionality X Y H). Qed.
Lemma E_ext X Y : (forall o, X o = Y o) -> E X = E Y.
Proof. intros H. now rewrite (functional_extensionality X Y H). Qed.
Lemma rv_scal c X : rv X -> rv (fun o => c * X o).
Proof. intros. apply (rv_mult S (fun _ => c)); [apply rv_const | easy]. Qed.
Lemma rv_opp X : rv X -> rv (fun o => - X o).
Proof. intros H. apply (rv_ext (fun o => -1 * X o)); [intros; ring | now apply rv_scal]. Qed.
Lemma rv_minus X Y : rv X -> rv Y -> rv (fun o => X o - Y o).
Proof. intros. apply (rv_plus S X (fun o => - Y o)); [easy | now apply rv_opp]. Qed.
Lemma rv_sum {A} (l : list A) (f : A -> outcome S -> R) :
  (forall i, In i l -> rv (f i)) -> rv (fun o => sum l (fun i => f i o)).
Proof.
  induction l as [|i t IH]; simpl; intros H; [apply rv_const|].
  apply (rv_plus S (f i)); [|apply IH]; auto.
Qed.
Lemma rv_prod {A} (l : list A) (f : A -> outcome S -> R) :
  (forall i, In i l -> rv (f i)) -> rv (fun o => prod l (fun i => f i o)).
Proof.
  induction l as [|i t IH]; simpl; intros H; [apply rv_const|].
  apply (rv_mult S (f i)); [|apply IH]; auto.
Qed.
Lemma rv_abs X : rv X -> rv (fun o => Rabs (X o)).
Proof. apply (rv_comp S Rabs), Rcontinuity_abs. Qed.
Lemma rv_exp X : rv X -> rv (fun o => exp (X o)).
Proof. apply (rv_comp S exp), derivable_continuous, derivable_exp. Qed.
Lemma rv_pow X n : rv X -> rv (fun o => X o ^ n).
Proof. apply (rv_comp S (fun x => x ^ n)), derivable_continuous, derivable_pow. Qed.
Lemma rv_max X Y : rv X -> rv Y -> rv (fun o => Rmax (X o) (Y o)).
Proof.
  intros. apply (rv_ext (fun o => / 2 * ((X o + Y o) + Rabs (X o - Y o)))).
  - intros o. unfold Rmax, Rabs. destruct Rle_dec, Rcase_abs; lra.
  - apply rv_scal, rv_plus; [now apply rv_plus | now apply rv_abs, rv_minus].
Qed.
Lemma rv_largest {A} (l : list A) (f : A -> outcome S -> R) :
  (forall i, In i l -> rv (f i)) -> rv (fun o => largest l (fun i => f i o)).
Proof. induction l; simpl; intros H; [apply rv_const|]. apply rv_max; auto. Qed.
Lemma rv_gt X c : rv X -> rv (fun o => ind (Rlt_dec c (X o))).
Proof. apply rv_above. Qed.
Lemma rv_le X c : rv X -> rv (fun o => ind (Rle_dec (X o) c)).
Proof.
  intros H. apply (rv_ext (fun o => 1 - ind (Rlt_dec c (X o)))).
  - intros o. unfold ind. destruct Rlt_dec, Rle_dec; lra.
  - apply rv_minus; [apply rv_const | now apply rv_gt].
Qed.
Lemma rv_lt X c : rv X -> rv (fun o => ind (Rlt_dec (X o) c)).
Proof.
  intros H. apply (rv_ext (fun o => ind (Rlt_dec (- c) (- X o)))).
  - intros o. unfold ind. destruct (Rlt_dec (- c)), Rlt_dec; lra.
  - apply (rv_gt (fun o => - X o)). now apply rv_opp.
Qed.
Lemma rv_ge X c : rv X -> rv (fun o => ind (Rle_dec c (X o))).
Proof.
  intros H. apply (rv_ext (fun o => ind (Rle_dec (- X o) (- c)))).
  - intros o. unfold ind. destruct (Rle_dec (- X o)), Rle_dec; lra.
  - apply (rv_le (fun o => - X o)). now apply rv_opp.
Qed.

Lemma E_const c : E (fun _ : outcome S => c) = c.
Proof.
  rewrite (E_ext _ (fun o => c * (fun _ => 1) o)) by (intros; ring).
  rewrite (E_scal S c (fun _ => 1)), E_one; [ring | apply rv_const].
Qed.
Lemma E_opp X : rv X -> E (fun o => - X o) = - E X.
Proof. intros H. rewrite (E_ext _ (fun o => -1 * X o)), E_scal; intros; [ring | easy | ring]. Qed.
Lemma E_minus X Y : rv X -> rv Y -> E (fun o => X o - Y o) = E X - E Y.
Proof.
  intros HX HY. unfold Rminus. rewrite <- E_opp by easy.
  apply (E_plus S X (fun o => - Y o)); [easy | now apply rv_opp].
Qed.
Lemma E_le X Y : rv X -> rv Y -> (forall o, X o <= Y o) -> E X <= E Y.
Proof.
  intros HX HY H. assert (0 <= E (fun o => Y o - X o)) as G.
  { apply E_pos; [now apply rv_minus | intros o; specialize (H o); lra]. }
  rewrite E_minus in G by easy. lra.
Qed.
Lemma E_sum {A} (l : list A) (f : A -> outcome S -> R) :
  (forall i, In i l -> rv (f i)) -> E (fun o => sum l (fun i => f i o)) = sum l (fun i => E (f i)).
Proof.
  induction l as [|i t IH]; simpl; intros H; [apply E_const|].
  rewrite (E_plus S (f i) (fun o => sum t (fun i => f i o))), IH; auto. apply rv_sum; auto.
Qed.

Lemma prob_le_gt X c : rv X -> prob_le X c = 1 - prob_gt X c.
Proof.
  intros H. unfold prob_le, prob_gt.
  rewrite (E_ext _ (fun o => 1 - ind (Rlt_dec c (X o)))).
  - rewrite (E_minus (fun _ => 1)), E_const; [easy | apply rv_const | now apply rv_gt].
  - intros o. unfold ind. destruct Rlt_dec, Rle_dec; lra.
Qed.
Lemma prob_gt_le_ge X c : rv X -> prob_gt X c <= prob_ge X c.
Proof.
  intros H. apply E_le; [now apply rv_gt | now apply rv_ge |]. intros o. unfold ind.
  destruct Rlt_dec, Rle_dec; lra.
Qed.

(* Markov's inequality. *)
Theorem markov X c : rv X -> (forall o, 0 <= X o) -> 0 < c -> prob_ge X c <= E X / c.
Proof.
  intros H X0 c0. unfold Rdiv. rewrite Rmult_comm, <- E_scal by easy.
  apply E_le; [now apply rv_ge | now apply rv_scal |].
  intros o. unfold ind. specialize (X0 o). assert (0 < / c) by now apply Rinv_0_lt_compat.
  destruct Rle_dec; [|nra]. rewrite <- (Rinv_l c) by lra. apply Rmult_le_compat_l; lra.
Qed.

(* The union bound: the largest of several variables exceeds c at most as often as they do together. *)
Theorem union_bound {A} (l : list A) (f : A -> outcome S -> R) c :
  0 <= c -> (forall i, In i l -> rv (f i)) ->
  prob_gt (fun o => largest l (fun i => f i o)) c <= sum l (fun i => prob_gt (f i) c).
Proof.
  intros c0 H. unfold prob_gt. rewrite <- (E_sum l (fun i o => ind (Rlt_dec c (f i o)))).
  - apply E_le.
    + now apply rv_gt, rv_largest.
    + apply rv_sum; intros. apply rv_gt; auto.
    + intros o. assert (G : 0 <= sum l (fun i => ind (Rlt_dec c (f i o)))).
      { apply sum_nonneg; intros. apply ind_01. }
      unfold ind at 1. destruct Rlt_dec as [L|]; [|easy].
      destruct (largest_gt _ _ _ c0 L) as [x [Hx Lx]]. clear - Hx Lx.
      induction l as [|y t IH]; [easy|]. simpl. destruct Hx as [->|Hx].
      * unfold ind at 1. destruct Rlt_dec; [|easy].
        assert (0 <= sum t (fun i => ind (Rlt_dec c (f i o)))) by (apply sum_nonneg; intros; apply ind_01).
          lra.
      * specialize (IH Hx). pose proof (ind_01 (Rlt_dec c (f y o))). lra.
  - intros. apply rv_gt; auto.
Qed.

(* Functions of independent variables are independent. *)
Lemma independent_comp {I} (l : list I) (X : I -> outcome S -> R) (h : I -> R -> R) :
  (forall i, continuity (h i)) -> independent l X -> independent l (fun i o => h i (X i o)).
Proof.
  intros Hh H g Hg. apply (H (fun i x => g i (h i x))). intros i.
  apply (continuity_comp (h i) (g i)); auto.
Qed.
End Space.

(* Decoded draws are independent variables with the mean of the posterior. *)
Lemma draws_independent {S Q : space} {I} (l : list I) (z : I -> outcome S -> outcome Q) (f : outcome Q ->
  R) :
  draws l z -> rv f -> independent l (fun i o => f (z i o)).
Proof. intros [_ H] Hf g Hg. apply (H (fun i q => g i (f q))). intros. now apply rv_comp. Qed.

(* The law of h(noise): expectation of f is the noise's expectation of f(h). With standard normal noise and
   h(e) = mu + Sigma^(1/2) e it is the Gaussian of the paper's stage 1. *)
Definition law (N : space) {Z} (h : outcome N -> Z) : space.
Proof.
  refine (Space Z (fun f => rv (fun o => f (h o)) /\ exists b, forall z, Rabs (f z) <= b)
    (fun f => E (fun o => f (h o))) _ _ _ _ _ _ _ _ _ _).
  - easy.
  - intros c. split; [apply rv_const | exists (Rabs c); intros; lra].
  - intros X Y [HX [b Hb]] [HY [d Hd]]. split; [now apply (rv_plus N)|]. exists (b + d). intros z.
    eapply Rle_trans; [apply Rabs_triang|]. now apply Rplus_le_compat.
  - intros X Y [HX [b Hb]] [HY [d Hd]]. split; [now apply (rv_mult N)|]. exists (b * d). intros z.
    rewrite Rabs_mult. apply Rmult_le_compat; auto; apply Rabs_pos.
  - intros g X Hg [HX [b Hb]]. split; [now apply (rv_comp N)|].
    destruct (Rle_lt_dec (- b) b) as [B|B].
    + destruct (continuity_ab_maj (fun x => Rabs (g x)) (- b) b B) as [m [Hm _]].
      { intros c _. apply (continuity_pt_comp g Rabs); [apply Hg | apply Rcontinuity_abs]. }
      exists (Rabs (g m)). intros z. apply Hm. specialize (Hb z). unfold Rabs in Hb.
      destruct (Rcase_abs (X z)); lra.
    + exists 0. intros z. specialize (Hb z). pose proof (Rabs_pos (X z)). lra.
  - intros X c [HX _]. split; [now apply (rv_above N (fun o => X (h o)))|]. exists 1. intros z.
    destruct Rlt_dec; rewrite Rabs_pos_eq; lra.
  - apply E_one.
  - intros X Y [HX _] [HY _]. now apply (E_plus N).
  - intros c X [HX _]. now apply (E_scal N).
  - intros X [HX _] P. apply E_pos; auto.
Defined.

(* The finite distribution p on the list ys. *)
Definition finite {A} (ys : list A) (p : A -> R) (H : distribution ys p) : space.
Proof.
  refine (Space A (fun f => exists b, forall z, Rabs (f z) <= b) (expect ys p) _ _ _ _ _ _ _ _ _ _).
  - easy.
  - intros c. exists (Rabs c); intros; lra.
  - intros X Y [b Hb] [d Hd]. exists (b + d). intros z.
    eapply Rle_trans; [apply Rabs_triang|]. now apply Rplus_le_compat.
  - intros X Y [b Hb] [d Hd]. exists (b * d). intros z.
    rewrite Rabs_mult. apply Rmult_le_compat; auto; apply Rabs_pos.
  - intros g X Hg [b Hb].
    destruct (Rle_lt_dec (- b) b) as [B|B].
    + destruct (continuity_ab_maj (fun x => Rabs (g x)) (- b) b B) as [m [Hm _]].
      { intros c _. apply (continuity_pt_comp g Rabs); [apply Hg | apply Rcontinuity_abs]. }
      exists (Rabs (g m)). intros z. apply Hm. specialize (Hb z). unfold Rabs in Hb.
      destruct (Rcase_abs (X z)); lra.
    + exists 0. intros z. specialize (Hb z). pose proof (Rabs_pos (X z)). lra.
  - intros X c _. exists 1. intros z. destruct Rlt_dec; rewrite Rabs_pos_eq; lra.
  - destruct H as [_ H]. unfold expect. transitivity (sum ys p); [apply sum_ext; intros; ring | easy].
  - intros X Y _ _. unfold expect. rewrite <- sum_plus. apply sum_ext; intros; ring.
  - intros c X _. unfold expect. rewrite <- sum_scal. apply sum_ext; intros; ring.
  - intros X _ P. apply sum_nonneg; intros y Hy. apply Rmult_le_pos; [now apply H | apply P].
Defined.

(* All n-tuples of values, each with the product of the probabilities: n independent draws. *)
Fixpoint tuples {A} (ys : list A) (n : nat) : list (list A) :=
  match n with O => [[]] | Datatypes.S n => flat_map (fun y => map (cons y) (tuples ys n)) ys end.

Lemma sum_app {A} (l m : list A) f : sum (l ++ m) f = sum l f + sum m f.
Proof. induction l; simpl; lra. Qed.
Lemma sum_map {A B} (l : list A) (h : A -> B) f : sum (map h l) f = sum l (fun x => f (h x)).
Proof. induction l; simpl; congruence. Qed.
Lemma sum_flat_map {A B} (l : list A) (h : A -> list B) f :
  sum (flat_map h l) f = sum l (fun x => sum (h x) f).
Proof. induction l; simpl; [easy|]. rewrite sum_app. congruence. Qed.
Lemma prod_ext {A} (l : list A) f g : (forall x, In x l -> f x = g x) -> prod l f = prod l g.
Proof. induction l; simpl; intros H; [easy|]. rewrite H, IHl; auto. Qed.
Lemma prod_map {A B} (l : list A) (h : A -> B) f : prod (map h l) f = prod l (fun x => f (h x)).
Proof. induction l; simpl; congruence. Qed.
Lemma prod_mult {A} (l : list A) f g : prod l (fun x => f x * g x) = prod l f * prod l g.
Proof. induction l; simpl; [ring|]. rewrite IHl; ring. Qed.

Lemma tuples_expect {A} (d : A) (ys : list A) (p : A -> R) n (f : nat -> A -> R) :
  sum (tuples ys n) (fun t => prod t p * prod (seq 0 n) (fun i => f i (nth i t d))) =
  prod (seq 0 n) (fun i => sum ys (fun y => p y * f i y)).
Proof.
  revert f. induction n as [|n IH]; intros f; [simpl; ring|].
  cbn [tuples]. rewrite sum_flat_map. cbn [seq]. rewrite <- seq_shift.
  cbn [prod]. rewrite prod_map, <- (IH (fun i => f (Datatypes.S i))).
  rewrite <- sum_scal_r. apply sum_ext; intros y _. rewrite sum_map, <- sum_scal.
  apply sum_ext; intros t _. cbn [prod nth]. rewrite prod_map. cbn [nth]. ring.
Qed.

Lemma tuples_distribution {A} (ys : list A) p n :
  distribution ys p -> distribution (tuples ys n) (fun t => prod t p).
Proof.
  intros [p0 p1]. split.
  - induction n as [|n IH]; cbn [tuples].
    + intros y [<-|[]]. simpl. lra.
    + intros t Ht. apply in_flat_map in Ht as [y [Hy Ht]]. apply in_map_iff in Ht as [u [<- Hu]].
      simpl. apply Rmult_le_pos; auto.
  - destruct ys as [|d ys']; [simpl in p1; lra|]. set (ys := d :: ys') in *.
    pose proof (tuples_expect d ys p n (fun _ _ => 1)) as H.
    assert (U : forall m k, prod (seq k m) (fun _ => 1) = 1) by (induction m; intros; simpl; [|rewrite IHm];
      ring).
    rewrite (sum_ext _ _ (fun t => prod t p)) in H by (intros; rewrite U; ring).
    rewrite H. transitivity (prod (seq 0 n) (fun _ => 1)); [|apply U]. apply prod_ext; intros.
    transitivity (sum ys p); [apply sum_ext; intros; ring | easy].
Qed.

(* Any number of independent draws from any finite distribution exist: [draws] and [independent] are not
   empty. *)
Theorem finite_draws {A} (d : A) (ys : list A) (p : A -> R) (H : distribution ys p) (n : nat) :
  @draws (finite (tuples ys n) _ (tuples_distribution ys p n H)) (finite ys p H) nat
    (seq 0 n) (fun i t => nth i t d).
Proof.
  assert (U : forall m k (a : nat -> R), (forall i, In i (seq k m) -> a i = 1) -> prod (seq k m) a = 1).
  { clear. induction m; intros k a Ha; simpl; [easy|]. rewrite Ha by (left; easy).
    rewrite IHm; [ring|]. intros; apply Ha; now right. }
  assert (P1 : forall i f, In i (seq 0 n) ->
    sum (tuples ys n) (fun t => prod t p * f (nth i t d)) = sum ys (fun y => p y * f y)).
  { intros i f Hi. destruct H as [_ p1].
    pose proof (tuples_expect d ys p n (fun j y => if Nat.eq_dec j i then f y else 1)) as T.
    assert (V : forall m k (a : nat -> R), In i (seq k m) ->
      prod (seq k m) (fun j => if Nat.eq_dec j i then a j else 1) = a i).
    { clear. induction m; intros k a Hk; [easy|]. simpl. simpl in Hk.
      destruct (Nat.eq_dec k i) as [->|ne].
      - assert (G : forall j, ~ In i (seq (Datatypes.S i + j) m)) by (intros j G; apply in_seq in G; lia).
        rewrite (prod_ext _ _ (fun _ => 1)).
        + replace (prod (seq (Datatypes.S i) m) (fun _ => 1)) with 1; [ring|].
          clear. generalize (Datatypes.S i). induction m; intros k; simpl; [easy|]. rewrite <- IHm; ring.
        + intros x Hx. destruct (Nat.eq_dec x i) as [->|]; [|easy]. specialize (G 0%nat).
          rewrite Nat.add_0_r in G. contradiction.
      - destruct Hk as [?|Hk]; [easy|]. rewrite IHm by easy. ring. }
    rewrite (sum_ext _ _ (fun t => prod t p * f (nth i t d))) in T.
    - rewrite T. rewrite (prod_ext _ _ (fun j => if Nat.eq_dec j i then sum ys (fun y => p y * f y) else 1)).
      + exact (V n 0%nat (fun _ => sum ys (fun y => p y * f y)) Hi).
      + intros j _. destruct Nat.eq_dec; [easy|].
        transitivity (sum ys p); [apply sum_ext; intros; ring | easy].
    - intros t _. f_equal. exact (V n 0%nat (fun j => f (nth j t d)) Hi). }
  split.
  - intros i f Hi [b Hb]. split; [exists b; intros; apply Hb | now apply P1].
  - intros f _. simpl. unfold expect.
    rewrite (tuples_expect d ys p n f). apply prod_ext; intros i Hi. symmetry. now apply P1.
Qed.
