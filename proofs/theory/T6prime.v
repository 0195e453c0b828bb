(* T6', in place of theorem 6 of the paper (section 3.6): with items independent given the class, the error
   of the best decision falls exponentially in K (Chernoff's bound, any number of classes); so many items as
   the bound asks for suffice. From below, for two classes, it is at least pi1 pi2 rho^(2K): the exponent of
   that floor is twice that of the bound, so the floor does not show that the bound is sharp. A closer count
   does, for one pair of classes. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1 T4prime.
Import ListNotations.
Open Scope R_scope.

(* u^(1-s) v^s, and 0 where u or v is zero. *)
Definition between (s u v : R) : R := if decide (0 < u /\ 0 < v) then Rpower u (1 - s) * Rpower v s else 0.
Lemma between_pos s u v : 0 < u -> 0 < v -> between s u v = Rpower u (1 - s) * Rpower v s.
Proof. intros. unfold between. destruct (decide _); tauto. Qed.
Lemma between_zero s u v : ~ (0 < u /\ 0 < v) -> between s u v = 0.
Proof. intros. unfold between. destruct (decide _); tauto. Qed.
Lemma between_nonneg s u v : 0 <= between s u v.
Proof.
  unfold between. destruct (decide _); [|lra]. unfold Rpower. left. apply Rmult_lt_0_compat; apply exp_pos.
Qed.
Lemma between_mult s u v u' v' : 0 <= u -> 0 <= v -> 0 <= u' -> 0 <= v' ->
  between s (u * u') (v * v') = between s u v * between s u' v'.
Proof.
  intros [pu| <-] [pv| <-] [pu'| <-] [pv'| <-];
    try (rewrite (between_zero s (_ * _)) by lra; rewrite ?(between_zero s 0) by lra;
      rewrite ?(between_zero s _ 0) by lra; lra).
  rewrite !between_pos by (try apply Rmult_lt_0_compat; easy). unfold Rpower. rewrite !ln_mult by easy.
  rewrite <- !exp_plus. f_equal. ring.
Qed.
Lemma between_prod {A} s (l : list A) f g : (forall x, In x l -> 0 <= f x) ->
  (forall x, In x l -> 0 <= g x) -> between s (prod l f) (prod l g) = prod l (fun x => between s (f x) (g x)).
Proof.
  induction l; simpl; intros F G.
  - rewrite between_pos by lra. unfold Rpower. rewrite ln_1, !Rmult_0_r, exp_0. lra.
  - rewrite between_mult, IHl; auto; apply prod_nonneg; auto.
Qed.
Lemma between_bounds s u v : 0 <= s <= 1 -> 0 <= u -> 0 <= v -> Rmin u v <= between s u v <= u + v.
Proof.
  intros Hs Hu Hv. pose proof (between_nonneg s u v) as B.
  destruct Hu as [pu| <-]; [|rewrite between_zero, Rmin_left by lra; lra].
  destruct Hv as [pv| <-]; [|rewrite between_zero, Rmin_right by lra; lra].
  rewrite between_pos by easy. unfold Rpower. rewrite <- exp_plus.
  assert (E : forall a b, ln a <= ln b -> 0 < a -> 0 < b -> exp ((1 - s) * ln a + s * ln b) <= b /\
    a <= exp ((1 - s) * ln a + s * ln b)).
  { intros a b L a0 b0. rewrite <- (exp_ln b) at 2 by easy. rewrite <- (exp_ln a) at 2 by easy.
    assert (M : forall x y, x <= y -> exp x <= exp y).
    { intros x y [h| ->]; [left; now apply exp_increasing | lra]. }
    split; apply M; nra. }
  destruct (Rle_or_lt (ln u) (ln v)) as [L|L].
  - destruct (E u v L pu pv). split; [|lra]. eapply Rle_trans; [apply Rmin_l|]. easy.
  - assert (F : exp ((1 - s) * ln u + s * ln v) <= u /\ v <= exp ((1 - s) * ln u + s * ln v)).
    { rewrite <- (exp_ln u) at 2 by easy. rewrite <- (exp_ln v) at 2 by easy.
      assert (M : forall x y, x <= y -> exp x <= exp y).
      { intros x y [h| ->]; [left; now apply exp_increasing | lra]. }
      split; apply M; nra. }
    destruct F. split; [|lra]. eapply Rle_trans; [apply Rmin_r|]. easy.
Qed.
Lemma sqrt_between u v : 0 <= u -> 0 <= v -> sqrt (u * v) = between (/ 2) u v.
Proof.
  intros [u0| <-] [v0| <-]; rewrite ?Rmult_0_l, ?Rmult_0_r, ?sqrt_0; try (rewrite between_zero; lra).
  rewrite between_pos, sqrt_mult by lra. replace (1 - / 2) with (/ 2) by lra. now rewrite !Rpower_sqrt.
Qed.
(* rho_s(P, Q) = sum over the outcomes of P^(1-s) Q^s. *)
Definition affinity {A} (xs : list A) (s : R) (p q : A -> R) : R := sum xs (fun a => between s (p a) (q a)).

(* Sum over the pairs of places i < j of a list. *)
Fixpoint sum_pairs {Y} (ys : list Y) (f : Y -> Y -> R) : R :=
  match ys with [] => 0 | y :: t => sum t (f y) + sum_pairs t f end.
Lemma sum_pairs_plus {Y} (ys : list Y) f : ys <> [] ->
  sum_pairs ys (fun y z => f y + f z) = (INR (length ys) - 1) * sum ys f.
Proof.
  induction ys as [|y t IH]; [easy|]. intros _. destruct t as [|y' t'] eqn:E; [simpl; lra|].
    rewrite <- E in *.
  change (sum_pairs (y :: t) (fun y z => f y + f z))
    with (sum t (fun z => f y + f z) + sum_pairs t (fun y z => f y + f z)).
  rewrite IH by (rewrite E; easy). rewrite sum_plus, sum_const. simpl length. rewrite S_INR. simpl sum. ring.
Qed.
Lemma sum_pairs_le {Y} (ys : list Y) f g : (forall y z, In y ys -> In z ys -> f y z <= g y z) ->
  sum_pairs ys f <= sum_pairs ys g.
Proof.
  induction ys as [|y t IH]; simpl; intros H; [lra|].
    apply Rplus_le_compat; [apply sum_le; auto | apply IH; auto].
Qed.
Lemma sum_pairs_le_distinct {Y} (ys : list Y) f g : NoDup ys ->
  (forall y z, In y ys -> In z ys -> y <> z -> f y z <= g y z) -> sum_pairs ys f <= sum_pairs ys g.
Proof.
  induction 1 as [|y t N D IH]; simpl; intros H; [lra|].
  apply Rplus_le_compat; [apply sum_le; intros z Hz; apply H; auto; now intros -> | apply IH; auto].
Qed.
Lemma sum_pairs_nonneg {Y} (ys : list Y) f : (forall y z, In y ys -> In z ys -> 0 <= f y z) ->
  0 <= sum_pairs ys f.
Proof.
  induction ys as [|y t IH]; simpl; intros H; [lra|].
  apply Rplus_le_le_0_compat; [apply sum_nonneg; auto | apply IH; auto].
Qed.
Lemma sum_sum_pairs {Y E} (es : list E) (ys : list Y) f :
  sum es (fun e => sum_pairs ys (f e)) = sum_pairs ys (fun y z => sum es (fun e => f e y z)).
Proof.
  induction ys as [|y t IH]; simpl; [apply sum_0|]. now rewrite sum_plus, IH, sum_swap.
Qed.
Lemma sum_pairs_scal {Y} (ys : list Y) f c : sum_pairs ys (fun y z => f y z * c) = sum_pairs ys f * c.
Proof. induction ys as [|y t IH]; simpl; [ring|]. rewrite IH, sum_scal_r. ring. Qed.
(* All but the largest add up to no more than the smaller ones of all pairs. *)
Lemma all_but_largest {Y} (ys : list Y) (a : Y -> R) b : (forall y, In y ys -> 0 <= a y) -> In b ys ->
  (forall y, In y ys -> a y <= a b) -> sum ys a - a b <= sum_pairs ys (fun y z => Rmin (a y) (a z)).
Proof.
  induction ys as [|y t IH]; simpl; [easy|]. intros P [->|I] M.
  - assert (sum t a <= sum t (fun z => Rmin (a b) (a z))).
    { apply sum_le; intros z Hz. rewrite Rmin_right by auto. lra. }
    assert (0 <= sum_pairs t (fun y z => Rmin (a y) (a z))).
    { apply sum_pairs_nonneg. intros. apply Rmin_glb; auto. }
    lra.
  - assert (a y <= sum t (fun z => Rmin (a y) (a z))).
    { replace (a y) with (Rmin (a y) (a b)) at 1 by (apply Rmin_left; auto).
      apply (sum_ge_one t (fun z => Rmin (a y) (a z))); [|easy]. intros. apply Rmin_glb; auto. }
    assert (sum t a - a b <= sum_pairs t (fun y z => Rmin (a y) (a z))) by (apply IH; auto). lra.
Qed.

Section Chernoff.
Context {Y A : Type} (ys : list Y) (xs : list A) (K : nat) (d : A) (pi : Y -> R) (lik : nat -> A -> Y -> R).
Hypotheses (Ny : NoDup ys) (Nx : NoDup xs) (Hpi : distribution ys pi).
Hypothesis Hlik : forall i y, (i < K)%nat -> In y ys -> distribution xs (fun a => lik i a y).
Let W := product_world ys xs K d pi lik.

Lemma sum_between s y z : In y ys -> In z ys ->
  sum (evidence W) (fun e => between s (joint W y e) (joint W z e)) =
  between s (pi y) (pi z) * prod (seq 0 K) (fun i => affinity xs s (fun a => lik i a y) (fun a => lik i a z)).
Proof.
  intros Hy Hz. destruct Hpi as [p0 _].
  assert (L : forall e i v, In e (evidence W) -> In i (seq 0 K) -> In v ys -> 0 <= lik i (nth i e d) v).
  { intros e i v He Hi Hv. apply in_seq in Hi. apply (Hlik i v); [lia | easy |].
    apply (in_item xs K); [exact He | lia]. }
  transitivity (sum (evidence W) (fun e => between s (pi y) (pi z) *
    prod (seq 0 K) (fun i => (fun i a => between s (lik i a y) (lik i a z)) i (nth i e d)))).
  - apply sum_ext; intros e He. simpl. rewrite between_mult; auto.
    + f_equal. apply between_prod; auto.
    + apply prod_nonneg; auto.
    + apply prod_nonneg; auto.
  - rewrite sum_scal. f_equal. exact (sum_tuples_prod xs d K (fun i a => between s (lik i a y) (lik i a z))).
Qed.

Lemma chernoff best (s : Y -> Y -> R) : picks W (fun e y => joint W y e) best ->
  (forall y z, 0 <= s y z <= 1) ->
  error W best <= sum_pairs ys (fun y z => between (s y z) (pi y) (pi z) *
    prod (seq 0 K) (fun i => affinity xs (s y z) (fun a => lik i a y) (fun a => lik i a z))).
Proof.
  intros Hb Hs. assert (HW : is_world W) by now apply product_is_world.
  unfold error. rewrite <- (mass_total W HW), <- sum_minus.
  apply Rle_trans with (sum (evidence W) (fun e => sum_pairs ys (fun y z => between (s y z) (joint W y e)
    (joint W z e)))).
  - apply sum_le; intros e He. destruct (Hb e He) as [I M].
    eapply Rle_trans; [apply (all_but_largest ys (fun y => joint W y e) (best e)); auto|].
    + intros. now apply joint_nonneg.
    + apply sum_pairs_le. intros y z Hy Hz. apply between_bounds; auto; now apply joint_nonneg.
  - rewrite sum_sum_pairs. apply sum_pairs_le. intros y z Hy Hz. right. now apply sum_between.
Qed.
End Chernoff.

(** claim: T6' | proves | caveats: reals, finite-evidence
    Part 1. For any number of classes and items independent given the class, the error of a decision for the
    most probable class is at most the sum over the pairs of classes of pi_y^(1-s) pi_z^s times the product
    over the items of rho_s(P(.|y), P(.|z)), for any s in [0,1], which may differ from pair to pair. *)
Theorem T6prime_chernoff : forall (Y A : Type) (ys : list Y) (xs : list A) (K : nat) (d : A) (pi : Y -> R)
    (lik : nat -> A -> Y -> R),
  NoDup ys -> NoDup xs -> distribution ys pi ->
  (forall i y, (i < K)%nat -> In y ys -> distribution xs (fun a => lik i a y)) ->
  let W := product_world ys xs K d pi lik in
  forall best s, picks W (fun e y => joint W y e) best -> (forall y z, 0 <= s y z <= 1) ->
  error W best <= sum_pairs ys (fun y z => between (s y z) (pi y) (pi z) *
    prod (seq 0 K) (fun i => affinity xs (s y z) (fun a => lik i a y) (fun a => lik i a z))).
Proof. intros. now apply chernoff. Qed.

Lemma affinity_nonneg {A} (xs : list A) s p q : 0 <= affinity xs s p q.
Proof. apply sum_nonneg. intros. apply between_nonneg. Qed.

(** claim: T6' | proves | caveats: reals, finite-evidence
    Part 1 for items drawn alike. If every two different classes have the Chernoff information C or more
    (rho_s at most e^-C for some s), the error of the best decision from K items is at most (n-1) e^(-K C):
    exponential in K. *)
Theorem T6prime_exponential : forall (Y A : Type) (ys : list Y) (xs : list A) (K : nat) (d : A) (pi : Y -> R)
    (lik : A -> Y -> R) (s : Y -> Y -> R) (C : R),
  NoDup ys -> NoDup xs -> distribution ys pi -> (forall y, In y ys -> distribution xs (fun a => lik a y)) ->
  (forall y z, 0 <= s y z <= 1) ->
  (forall y z, In y ys -> In z ys -> y <> z ->
    affinity xs (s y z) (fun a => lik a y) (fun a => lik a z) <= exp (- C)) ->
  let W := product_world ys xs K d pi (fun _ => lik) in
  forall best, picks W (fun e y => joint W y e) best ->
    error W best <= (INR (length ys) - 1) * exp (- (INR K * C)).
Proof.
  intros Y A ys xs K d pi lik s C Ny Nx Hpi Hl Hs HC W best Hb.
  assert (Hn : ys <> []) by (intros ->; destruct Hpi as [_ p1]; simpl in p1; lra).
  eapply Rle_trans; [apply (chernoff ys xs K d pi (fun _ => lik)); eauto|].
  replace (INR (length ys) - 1) with ((INR (length ys) - 1) * sum ys pi) by (rewrite (proj2 Hpi); ring).
  rewrite <- sum_pairs_plus, <- sum_pairs_scal by easy. apply sum_pairs_le_distinct; [easy|].
    intros y z Hy Hz N.
  destruct Hpi as [p0 _]. apply Rmult_le_compat.
  - apply between_nonneg.
  - apply prod_nonneg. intros. apply affinity_nonneg.
  - apply between_bounds; auto.
  - rewrite prod_const, seq_length. replace (exp (- (INR K * C))) with (exp (- C) ^ K).
    + apply pow_incr. split; [apply affinity_nonneg | auto].
    + rewrite <- Rpower_pow by apply exp_pos. unfold Rpower. rewrite ln_exp. f_equal. ring.
Qed.

(** claim: T6' | proves | caveats: reals, finite-evidence
    What theorem 6 wanted to say: ln((n-1)/eps)/C items suffice for an error of at most eps. *)
Theorem T6prime_sufficient : forall (Y A : Type) (ys : list Y) (xs : list A) (K : nat) (d : A) (pi : Y -> R)
    (lik : A -> Y -> R) (s : Y -> Y -> R) (C eps : R),
  NoDup ys -> (2 <= length ys)%nat -> NoDup xs -> distribution ys pi ->
  (forall y, In y ys -> distribution xs (fun a => lik a y)) -> (forall y z, 0 <= s y z <= 1) ->
  (forall y z, In y ys -> In z ys -> y <> z ->
    affinity xs (s y z) (fun a => lik a y) (fun a => lik a z) <= exp (- C)) ->
  0 < C -> 0 < eps -> ln ((INR (length ys) - 1) / eps) / C <= INR K ->
  let W := product_world ys xs K d pi (fun _ => lik) in
  forall best, picks W (fun e y => joint W y e) best -> error W best <= eps.
Proof.
  intros Y A ys xs K d pi lik s C eps Ny n2 Nx Hpi Hl Hs HC c0 e0 HK W best Hb.
  eapply Rle_trans; [apply (T6prime_exponential Y A ys xs K d pi lik s C); auto|].
  assert (n1 : 0 < INR (length ys) - 1) by (apply (le_INR 2) in n2; simpl in n2; lra).
  set (n := INR (length ys) - 1) in *. assert (q0 : 0 < n / eps) by now apply Rdiv_lt_0_compat.
  assert (L : ln (n / eps) <= INR K * C).
  { apply Rmult_le_compat_r with (r := C) in HK; [|lra]. unfold Rdiv in HK.
    rewrite Rmult_assoc, Rinv_l in HK by lra. unfold Rdiv. lra. }
  assert (E : n / eps <= exp (INR K * C)).
  { rewrite <- (exp_ln (n / eps)) by easy. destruct L as [h| ->]; [left; now apply exp_increasing | lra]. }
  rewrite exp_Ropp. pose proof (exp_pos (INR K * C)) as x0.
    apply Rmult_le_reg_r with (exp (INR K * C)); [easy|].
  rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. replace n with (eps * (n / eps)) by (field; lra).
  apply Rmult_le_compat_l; lra.
Qed.

Lemma cauchy_schwarz {A} (l : list A) x y : sum l (fun i => x i * y i) ^ 2 <= sum l (fun i => x i ^ 2) *
  sum l (fun i => y i ^ 2).
Proof.
  set (S := sum l (fun i => x i * y i)). set (X := sum l (fun i => x i ^ 2)).
    set (Q := sum l (fun i => y i ^ 2)).
  assert (P : forall t, 0 <= t ^ 2 * X - 2 * t * S + Q).
  { intros t. replace (t ^ 2 * X - 2 * t * S + Q) with (sum l (fun i => (t * x i - y i) ^ 2)).
    - apply sum_nonneg. intros. apply pow2_ge_0.
    - rewrite (sum_ext _ _ (fun i => t ^ 2 * x i ^ 2 - 2 * t * (x i * y i) + y i ^ 2)) by (intros; ring).
      rewrite sum_plus, sum_minus, !sum_scal. easy. }
  assert (X0 : 0 <= X) by (apply sum_nonneg; intros; apply pow2_ge_0). destruct X0 as [X0|X0].
  - specialize (P (S / X)). apply Rmult_le_compat_l with (r := X) in P; [|lra]. rewrite Rmult_0_r in P.
    replace (X * ((S / X) ^ 2 * X - 2 * (S / X) * S + Q)) with (X * Q - S ^ 2) in P by (field; lra). lra.
  - assert (S = 0); [|rewrite H, <- X0; lra].
    assert (E : forall i, In i l -> x i = 0).
    { intros i Hi. assert (Z : x i ^ 2 = 0).
      { apply (sum_zero_all l (fun i => x i ^ 2)); auto. intros. apply pow2_ge_0. }
      apply Rsqr_0_uniq. now rewrite Rsqr_pow2. }
    unfold S. rewrite <- (sum_0 l). apply sum_ext; intros i Hi. rewrite E by easy. ring.
Qed.

(** claim: T6' | proves | caveats: reals, finite-evidence
    Part 2. For two classes, with rho = rho_(1/2), any decision whatever from K items is wrong with
    probability at least (1 - sqrt(1 - 4 pi1 pi2 rho^(2K)))/2, which is at least pi1 pi2 rho^(2K). *)
Theorem T6prime_floor : forall (Y A : Type) (y1 y2 : Y) (xs : list A) (K : nat) (d : A)
  (pi : Y -> R) (lik : A -> Y -> R),
  y1 <> y2 -> NoDup xs -> distribution [y1; y2] pi ->
    (forall y, In y [y1; y2] -> distribution xs (fun a => lik a y)) ->
  let W := product_world [y1; y2] xs K d pi (fun _ => lik) in
  let rho := affinity xs (/ 2) (fun a => lik a y1) (fun a => lik a y2) in
  let x := pi y1 * pi y2 * rho ^ (2 * K) in
  forall decision, (forall e, In e (evidence W) -> In (decision e) [y1; y2]) ->
  x <= (1 - sqrt (1 - 4 * x)) / 2 <= error W decision.
Proof.
  intros Y A y1 y2 xs K d pi lik N Nx Hpi Hl W rho x dec Hd.
  assert (ND : NoDup [y1; y2]) by (repeat constructor; simpl; intuition congruence).
  assert (HW : is_world W) by (apply product_is_world; auto).
  set (u := fun e => joint W y1 e). set (v := fun e => joint W y2 e).
  assert (u0 : forall e, In e (evidence W) -> 0 <= u e) by (intros; apply joint_nonneg; simpl; auto).
  assert (v0 : forall e, In e (evidence W) -> 0 <= v e) by (intros; apply joint_nonneg; simpl; auto).
  assert (MS : forall e, mass W e = u e + v e) by (intros; unfold mass, u, v; simpl; ring).
  assert (a0 : forall e, In e (evidence W) -> 0 <= Rmin (u e) (v e)) by (intros; apply Rmin_glb; auto).
  assert (b0 : forall e, In e (evidence W) -> 0 <= Rmax (u e) (v e)).
  { intros e He. pose proof (Rmax_l (u e) (v e)). specialize (u0 e He). lra. }
  set (m := sum (evidence W) (fun e => Rmin (u e) (v e))).
  assert (T : sum (evidence W) (fun e => Rmax (u e) (v e)) = 1 - m).
  { unfold m. rewrite <- (mass_total W HW), <- sum_minus. apply sum_ext; intros e _. rewrite MS.
    unfold Rmin, Rmax. destruct (Rle_dec (u e) (v e)); ring. }
  assert (m0 : 0 <= m) by (apply sum_nonneg; intros; apply Rmin_glb; auto).
  assert (m1 : m <= 1 - m).
  { rewrite <- T. apply sum_le; intros e _. unfold Rmin, Rmax. destruct (Rle_dec (u e) (v e)); lra. }
  assert (ER : m <= error W dec).
  { unfold error. rewrite <- (mass_total W HW), <- sum_minus. apply sum_le; intros e He. rewrite MS.
    destruct (Hd e He) as [<-|[<-|[]]]; fold (u e); fold (v e);
      [pose proof (Rmin_r (u e) (v e)) | pose proof (Rmin_l (u e) (v e))]; lra. }
  assert (X : x <= m * (1 - m)).
  { assert (S : sum (evidence W) (fun e => sqrt (Rmin (u e) (v e)) * sqrt (Rmax (u e) (v e))) =
      between (/ 2) (pi y1) (pi y2) * rho ^ K).
    { rewrite (sum_ext _ _ (fun e => between (/ 2) (joint W y1 e) (joint W y2 e))).
      - unfold W. rewrite (sum_between [y1; y2] xs K d pi (fun _ => lik)); simpl; auto.
        now rewrite prod_const, seq_length.
      - intros e He. fold (u e). fold (v e).
        transitivity (sqrt (u e * v e)).
        + rewrite <- sqrt_mult by auto. f_equal. unfold Rmin, Rmax. destruct (Rle_dec (u e) (v e)); ring.
        + apply sqrt_between; auto. }
    pose proof (cauchy_schwarz (evidence W) (fun e => sqrt (Rmin (u e) (v e))) (fun e => sqrt (Rmax (u e)
      (v e)))) as CS.
    cbv beta in CS. rewrite S in CS.
    rewrite (sum_ext _ (fun i => sqrt (Rmin (u i) (v i)) ^ 2) (fun e => Rmin (u e) (v e))) in CS
      by (intros; apply pow2_sqrt; auto).
    rewrite (sum_ext _ (fun i => sqrt (Rmax (u i) (v i)) ^ 2) (fun e => Rmax (u e) (v e))) in CS
      by (intros; apply pow2_sqrt; auto).
    rewrite T in CS. fold m in CS. destruct Hpi as [p0 _].
    rewrite <- sqrt_between in CS by (apply p0; simpl; auto).
    replace x with ((sqrt (pi y1 * pi y2) * rho ^ K) ^ 2); [easy|].
    rewrite Rpow_mult_distr, pow2_sqrt by (apply Rmult_le_pos; apply p0; simpl; auto).
    unfold x. rewrite <- pow_mult. f_equal. f_equal. lia. }
  assert (x0 : 0 <= x).
  { unfold x. destruct Hpi as [p0 _]. apply Rmult_le_pos; [apply Rmult_le_pos; apply p0; simpl; auto|].
    apply pow_le. apply affinity_nonneg. }
  assert (Q : 0 <= 1 - 4 * x) by nra. pose proof (sqrt_pos (1 - 4 * x)) as r0.
    pose proof (sqrt_sqrt _ Q) as rr.
  set (r := sqrt (1 - 4 * x)) in *. split; [nra|]. apply Rle_trans with m; [|exact ER].
  assert (1 - 2 * m <= r); [|lra]. apply Rnot_lt_le; intros L. nra.
Qed.

(* The floor does not show that the bound is sharp: its exponent is twice as large. For the pair (3/4, 1/4),
   (1/4, 3/4) and an even prior the bound is rho^K / 2 and the floor at most rho^(2K) / 2, so their quotient
   tends to zero. *)
Lemma floor_far_below_bound (rho : R) (K : nat) : 0 < rho < 1 ->
  let x := / 4 * rho ^ (2 * K) in (1 - sqrt (1 - 4 * x)) / 2 <= rho ^ K * (rho ^ K / 2).
Proof.
  intros H x. assert (P : 0 < rho ^ K <= 1).
  { split; [apply pow_lt; lra|]. rewrite <- (pow1 K). apply pow_incr. lra. }
  assert (E : 4 * x = rho ^ K * rho ^ K) by (unfold x; replace (2 * K)%nat with (K + K)%nat by lia;
    rewrite pow_add; lra).
  rewrite E. set (q := rho ^ K) in *. assert (Q : 0 <= 1 - q * q) by nra.
  pose proof (sqrt_pos (1 - q * q)). pose proof (sqrt_sqrt _ Q). nra.
Qed.

(* How often an item says "true", and the number of tuples in which k of K do. *)
Fixpoint heads (e : list bool) : nat := match e
  with [] => 0 | true :: t => S (heads t) | false :: t => heads t end.
Definition tuples_with (K k : nat) := sum (tuples [true; false] K) (fun e => one (heads e = k)).
Lemma tuples_with_S K k : tuples_with (S K) (S k) = tuples_with K k + tuples_with K (S k).
Proof.
  unfold tuples_with. rewrite sum_tuples. cbn [sum]. rewrite Rplus_0_r.
  f_equal. apply sum_ext; intros e _. apply one_iff. simpl. lia.
Qed.
Lemma tuples_with_0 K : tuples_with K 0 = 1.
Proof.
  induction K; [unfold tuples_with; simpl; rewrite one_true by easy; lra|].
  unfold tuples_with in *. rewrite sum_tuples. cbn [sum]. rewrite Rplus_0_r.
  rewrite (sum_ext _ (fun e => one (heads (true :: e) = 0%nat)) (fun _ => 0)).
  - rewrite sum_0, Rplus_0_l. exact IHK.
  - intros e _. apply one_false. simpl. lia.
Qed.
Lemma tuples_with_more K k : (K < k)%nat -> tuples_with K k = 0.
Proof.
  intros H. unfold tuples_with. rewrite <- (sum_0 (tuples [true; false] K)). apply sum_ext; intros e He.
    apply one_false.
  apply in_tuples in He. destruct He as [L _]. assert (heads e <= length e)%nat; [|lia]. clear.
  induction e as [|[] e IH]; simpl; lia.
Qed.
Lemma tuples_with_fact K : forall k, (k <= K)%nat ->
  tuples_with K k * (INR (fact k) * INR (fact (K - k))) = INR (fact K).
Proof.
  induction K; intros k H.
  - replace k with 0%nat by lia. rewrite tuples_with_0. simpl. lra.
  - destruct k as [|k]; [rewrite tuples_with_0, Nat.sub_0_r; simpl fact at 1; simpl INR at 1; lra|].
    rewrite tuples_with_S. replace (S K - S k)%nat with (K - k)%nat by lia.
    pose proof (IHK k ltac:(lia)) as E1. rewrite !fact_simpl, !mult_INR.
    destruct (Nat.eq_dec k K) as [->|N].
    + rewrite (tuples_with_more K (S K)) by lia.
      transitivity (INR (S K) * (tuples_with K K * (INR (fact K) * INR (fact (K - K)))));
        [ring | now rewrite E1].
    + pose proof (IHK (S k) ltac:(lia)) as E2. replace (K - k)%nat with (S (K - S k))%nat in * by lia.
      rewrite fact_simpl, mult_INR in E1, E2 |- *.
      replace (INR (S K)) with (INR (S k) + INR (S (K - S k))) by (rewrite <- plus_INR; f_equal; lia).
      set (a := INR (S k)) in *. set (b := INR (S (K - S k))) in *. set (f := INR (fact k)) in *.
      set (g := INR (fact (K - S k))) in *.
      transitivity (a * (tuples_with K k * (f * (b * g))) + b * (tuples_with K (S k) * (a * f * g))); [ring|].
      rewrite E1, E2. ring.
Qed.
Lemma central m : 4 ^ m * (INR (fact m) * INR (fact m)) <= (INR (2 * m) + 1) * INR (fact (2 * m)).
Proof.
  induction m; [simpl; lra|]. replace (2 * S m)%nat with (S (S (2 * m))) by lia.
  rewrite !fact_simpl, !mult_INR, !S_INR. rewrite mult_INR in *. change (INR 2) with 2 in *.
  pose proof (pos_INR m) as m0. pose proof (pos_INR (fact (2 * m))) as f0.
  set (x := INR m) in *. set (F := INR (fact (2 * m))) in *. set (G := INR (fact m)) in *.
  replace (4 ^ S m * ((x + 1) * G * ((x + 1) * G))) with (4 * (x + 1) ^ 2 * (4 ^ m * (G * G))) by (simpl;
    ring).
  eapply Rle_trans; [apply Rmult_le_compat_l; [|exact IHm]; nra|].
  assert (0 <= (2 * x + 1) * F) by (apply Rmult_le_pos; lra).
  replace ((2 * x + 1 + 1 + 1) * ((2 * x + 1 + 1) * ((2 * x + 1) * F)))
    with ((2 * x + 3) * (2 * x + 2) * ((2 * x + 1) * F)) by ring.
  apply Rmult_le_compat_r; nra.
Qed.
Lemma half_heads m : 4 ^ m / (INR (2 * m) + 1) <= tuples_with (2 * m) m.
Proof.
  pose proof (tuples_with_fact (2 * m) m ltac:(lia)) as E. replace (2 * m - m)%nat with m in E by lia.
  pose proof (central m) as C. pose proof (pos_INR (2 * m)) as k0. pose proof (INR_fact_lt_0 m) as f0.
  set (G := INR (fact m)) in *. assert (g0 : 0 < G * G) by now apply Rmult_lt_0_compat.
  apply Rmult_le_reg_r with ((INR (2 * m) + 1) * (G * G)); [apply Rmult_lt_0_compat; lra|].
  replace (4 ^ m / (INR (2 * m) + 1) * ((INR (2 * m) + 1) * (G * G))) with (4 ^ m * (G * G)) by (field; lra).
  eapply Rle_trans; [exact C|]. rewrite <- E. right. ring.
Qed.
Lemma heads_prod e : prod (seq 0 (length e)) (fun i => p34 (nth i e true) true) = (3 / 4) ^ heads e * (/ 4)
  ^ (length e - heads e) /\
  prod (seq 0 (length e)) (fun i => p34 (nth i e true) false) = (/ 4) ^ heads e * (3 / 4) ^ (length e -
    heads e) /\
  (heads e <= length e)%nat.
Proof.
  induction e as [|[] e (E1 & E2 & L)]; [simpl; repeat split; [lra | lra | lia] | |];
    simpl length; rewrite !prod_seq_S; simpl nth; rewrite E1, E2; simpl heads.
  - replace (S (length e) - S (heads e))%nat with (length e - heads e)%nat by lia. simpl.
    repeat split; [ring | ring | lia].
  - replace (S (length e) - heads e)%nat with (S (length e - heads e)) by lia. simpl.
    repeat split; [ring | ring | lia].
Qed.

(** claim: T6' | sharpens | caveats: reals
    The exponent of part 1 cannot be improved: for a fair coin and 2m items right three times in four, where
    part 1 gives rho^(2m)/2, any decision whatever is wrong with probability at least rho^(2m) / (2 (2m+1)).
    *)
Theorem T6prime_rate : forall m : nat,
  let rho := affinity [true; false] (/ 2) (fun a => p34 a true) (fun a => p34 a false) in
  forall decision : list bool -> bool,
  / (2 * (INR (2 * m) + 1)) * rho ^ (2 * m) <= error (coin (2 * m)) decision.
Proof.
  intros m rho dec. set (W := coin (2 * m)). destruct (coin_world (2 * m)) as [HW _]. fold W in HW.
  assert (R : rho * rho = 3 / 4).
  { unfold rho, affinity. cbn [sum]. rewrite <- !sqrt_between by (simpl; lra). simpl p34.
    rewrite (Rmult_comm (/ 4) (3 / 4)), Rplus_0_r.
    replace ((sqrt (3 / 4 * / 4) + sqrt (3 / 4 * / 4)) * (sqrt (3 / 4 * / 4) + sqrt (3 / 4 * / 4)))
      with (4 * (sqrt (3 / 4 * / 4) * sqrt (3 / 4 * / 4))) by ring.
    rewrite sqrt_sqrt; lra. }
  assert (E : rho ^ (2 * m) = 4 ^ m * (3 / 16) ^ m).
  { rewrite pow_mult, <- Rpow_mult_distr. f_equal. simpl. rewrite Rmult_1_r, R. lra. }
  assert (P : 0 < (3 / 16) ^ m) by (apply pow_lt; lra).
  apply Rle_trans with (/ 2 * (3 / 16) ^ m * tuples_with (2 * m) m).
  - pose proof (half_heads m) as B. pose proof (pos_INR (2 * m)) as k0. rewrite E.
    replace (/ (2 * (INR (2 * m) + 1)) * (4 ^ m * (3 / 16) ^ m))
      with (/ 2 * (3 / 16) ^ m * (4 ^ m / (INR (2 * m) + 1))) by (field; lra).
    apply Rmult_le_compat_l; lra.
  - unfold error. rewrite <- (mass_total W HW), <- sum_minus. unfold tuples_with. rewrite <- sum_scal.
    apply sum_le; intros e He. destruct (one_cases (heads e = m)) as [[h ->]|[_ ->]].
    + assert (L : length e = (2 * m)%nat) by (now apply in_tuples in He).
      destruct (heads_prod e) as (E1 & E2 & _). rewrite L, h in E1, E2.
        replace (2 * m - m)%nat with m in E1, E2 by lia.
      rewrite <- Rpow_mult_distr in E1, E2. replace (/ 4 * (3 / 4)) with (3 / 16) in E2 by lra.
      replace (3 / 4 * / 4) with (3 / 16) in E1 by lra.
      assert (J : forall y, joint W y e = / 2 * (3 / 16) ^ m).
      { intros []; unfold W, coin; cbn [joint product_world]; f_equal; easy. }
      change (mass W e) with (joint W true e + (joint W false e + 0)). rewrite !J. lra.
    + pose proof (joint_le_mass W HW (dec e) e ltac:(destruct (dec e); simpl; tauto) He). lra.
Qed.
