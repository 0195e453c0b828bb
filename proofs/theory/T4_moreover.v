(* Theorem 4 of the paper (section 3.4), second part ("moreover"): LPF's calibration error is at most
   c1 H(Y|E)/H(Y) + c2 noise + O(1/sqrt M) + O(1/sqrt K). False for all constants, those hidden in the O's included: a
   few informative items decide the class, the other items say nothing and repeat the prior, and the product counts it
   K times. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1 L5 T4.
Import ListNotations.
Open Scope R_scope.

(* The claim, for the product with weights 1 and exact factors. (A decoder that is constant on the posterior of each item
   gives the exact factor from any M samples, so the claim is made for every M.) Assumptions 1, 3 and 6 are granted;
   some bins and some choice among ties are enough for the claim. *)
Definition theorem_4_moreover nz (c1 c2 a b : nat -> R) : Prop :=
  forall (Y A : Type) (W : world Y A) (Phi : nat -> A -> Y -> R) (M : nat), setting W Phi -> (1 <= M)%nat ->
    let n := length (classes W) in
    exists bin hat, picks W (plain_product Y A W Phi) hat /\
      ece W bin (plain_product Y A W Phi) hat <=
        c1 n * (residual_entropy W / entropy (classes W) (prior W)) + c2 n * nz Y A W Phi
        + a n / sqrt (INR M) + b n / sqrt (INR (items W)).

(* Entropy of two classes: h(x, y) <= 2 sqrt(x y). *)
Lemma ln_le_minus u : 0 < u -> ln u <= u - 1.
Proof. intros H. pose proof (exp_ineq1_le (ln u)) as E. rewrite exp_ln in E by easy. lra. Qed.
Lemma xlnx x : 0 <= x -> - (x * ln x) <= 2 * (sqrt x - x).
Proof.
  intros [H|<-]; [|rewrite sqrt_0; lra].
  pose proof (sqrt_lt_R0 x H) as s0. pose proof (sqrt_sqrt x (Rlt_le _ _ H)) as ss.
  assert (E : ln x = - (2 * ln (/ sqrt x))) by (rewrite ln_Rinv by easy; rewrite <- ss at 1; rewrite ln_mult by easy; lra).
  pose proof (ln_le_minus (/ sqrt x) (Rinv_0_lt_compat _ s0)) as L. rewrite E.
  assert (I : x * / sqrt x = sqrt x) by (rewrite <- ss at 1; field; lra). nra.
Qed.
Lemma two_class_entropy x y : 0 <= x -> 0 <= y -> x + y = 1 -> - (x * ln x) - y * ln y <= 2 * sqrt (x * y).
Proof.
  intros Hx Hy E. pose proof (xlnx x Hx). pose proof (xlnx y Hy). rewrite sqrt_mult by easy.
  pose proof (sqrt_pos x). pose proof (sqrt_pos y). pose proof (sqrt_sqrt x Hx). pose proof (sqrt_sqrt y Hy).
  assert (sqrt x + sqrt y <= 1 + sqrt x * sqrt y); [|lra].
  assert (Q : (sqrt x + sqrt y) * (sqrt x + sqrt y) <= (1 + sqrt x * sqrt y) * (1 + sqrt x * sqrt y)).
  { assert (0 <= sqrt x * sqrt y) by (now apply Rmult_le_pos). nra. }
  apply Rnot_lt_le; intros L. assert (0 <= sqrt x * sqrt y) by (now apply Rmult_le_pos). nra.
Qed.
Lemma sqrt_prod {A} (l : list A) f : (forall x, In x l -> 0 <= f x) -> sqrt (prod l f) = prod l (fun x => sqrt (f x)).
Proof.
  induction l; simpl; intros H; [apply sqrt_1|]. rewrite sqrt_mult, IHl; auto. apply prod_nonneg; auto.
Qed.
Lemma prod_first m K q : (m <= K)%nat -> prod (seq 0 K) (fun i => if (i <? m)%nat then q else 1) = q ^ m.
Proof.
  revert m; induction K; intros [|m] H; try lia; [easy | |].
  - rewrite (prod_ext _ _ (fun _ => 1)) by easy. rewrite prod_const, pow1. easy.
  - rewrite prod_seq_S. simpl. change (fun i => if (S i <? S m)%nat then q else 1) with (fun i => if (i <? m)%nat then q else 1).
    rewrite IHK by lia. easy.
Qed.
Lemma sum_first m K q : (m <= K)%nat -> sum (seq 0 K) (fun i => if (i <? m)%nat then q else 0) = INR m * q.
Proof.
  revert m; induction K; intros [|m] H; try lia; [simpl; lra | |].
  - rewrite (sum_ext _ _ (fun _ => 0)) by easy. rewrite sum_0. simpl. lra.
  - rewrite sum_seq_S, S_INR. change (fun i => if (S i <? S m)%nat then q else 0) with (fun i => if (i <? m)%nat then q else 0).
    rewrite IHK by lia. simpl. lra.
Qed.

(* The world: prior (3/5, 2/5); m items right with probability 2/3, the other K - m without information. *)
Definition lik_at (m i : nat) (a y : bool) :=
  if (i <? m)%nat then match a, y with true, true | false, false => 2 / 3 | _, _ => / 3 end else / 2.
Definition mixed m K := product_world [true; false] [true; false] K true p35 (lik_at m).
Definition phi_at (m i : nat) (a y : bool) :=
  if (i <? m)%nat then match a, y with true, true => 3 / 4 | true, false => / 4 | false, true => 3 / 7 | _, _ => 4 / 7 end
  else p35 y.
Lemma lik_at_distribution m i y : distribution [true; false] (fun a => lik_at m i a y).
Proof. unfold lik_at. split; [intros [] _|]; destruct (i <? m)%nat, y; simpl; lra. Qed.
Lemma p35_distribution : distribution [true; false] p35.
Proof. split; [intros []; simpl; lra | simpl; lra]. Qed.
Lemma phi_range m i a y : / 4 <= phi_at m i a y <= 3 / 4.
Proof. unfold phi_at. destruct (i <? m)%nat, a, y; simpl; lra. Qed.
Lemma mixed_setting m K : (2 <= K)%nat -> setting (mixed m K) (phi_at m).
Proof.
  intros K2. assert (HW : is_world (mixed m K)) by (apply product_is_world; auto using bools, p35_distribution, lik_at_distribution).
  split; [exact HW|]. split; [apply product_A1; auto using bools, p35_distribution, lik_at_distribution|].
  split; [exact K2|]. split; [|split].
  - intros i a _ _. split; [intros y _; pose proof (phi_range m i a y); lra|].
    unfold phi_at. destruct (i <? m)%nat, a; simpl; lra.
  - intros i a y _. pose proof (phi_range m i a y). simpl. lra.
  - apply exact_calibrated; [exact HW|]. intros i a y Hi Ha Hy.
    assert (E : forall z, item_joint (mixed m K) i a z = p35 z * lik_at m i a z).
    { intros z. apply (product_item_joint [true; false] [true; false] K true p35 (lik_at m));
      auto using bools, lik_at_distribution. destruct z; simpl; tauto. }
    change (classes (mixed m K)) with [true; false]. unfold sum. rewrite !E. unfold phi_at, lik_at.
    destruct (i <? m)%nat, a, y; simpl; lra.
Qed.

(* What is left unknown vanishes as m grows. *)
Lemma mixed_residual m K : (m <= K)%nat -> residual_entropy (mixed m K) <= 2 * (19 / 20) ^ m.
Proof.
  intros H. assert (HW : is_world (mixed m K)) by (apply product_is_world; auto using bools, p35_distribution, lik_at_distribution).
  assert (LP : forall i a y, 0 < lik_at m i a y) by (intros i [] []; unfold lik_at; destruct (i <? m)%nat; simpl; lra).
  assert (JP : forall y e, 0 < joint (mixed m K) y e).
  { intros y e. simpl. apply Rmult_lt_0_compat; [destruct y; simpl; lra|]. apply prod_pos. auto. }
  assert (B : forall e, mass (mixed m K) e * entropy [true; false] (posterior (mixed m K) e) <=
    2 * sqrt (joint (mixed m K) true e * joint (mixed m K) false e)).
  { intros e. set (W := mixed m K). assert (E : mass W e = joint W true e + joint W false e).
    { change (mass W e) with (joint W true e + (joint W false e + 0)). lra. }
    pose proof (JP true e) as u0. pose proof (JP false e) as v0. fold W in u0, v0.
    assert (m0 : 0 < mass W e) by lra. unfold posterior, entropy. cbn [sum].
    set (u := joint W true e) in *. set (v := joint W false e) in *. set (w := mass W e) in *.
    assert (0 < u / w) by (now apply Rdiv_lt_0_compat). assert (0 < v / w) by (now apply Rdiv_lt_0_compat).
    pose proof (two_class_entropy (u / w) (v / w)) as T.
    assert (S : w * sqrt (u / w * (v / w)) = sqrt (u * v)).
    { replace (u * v) with (w * w * (u / w * (v / w))) by (field; lra).
      rewrite (sqrt_mult (w * w)), sqrt_square; nra. }
    assert (u / w + v / w = 1) by (rewrite E; field; lra). specialize (T ltac:(lra) ltac:(lra) H2). rewrite <- S.
    rewrite <- Rmult_assoc, (Rmult_comm 2 w), Rmult_assoc. apply Rmult_le_compat_l; lra. }
  unfold residual_entropy. change (classes (mixed m K)) with [true; false].
  eapply Rle_trans; [apply sum_le; intros e _; apply B|]. rewrite sum_scal. apply Rmult_le_compat_l; [lra|].
  apply Rle_trans with (sum (evidence (mixed m K)) (fun e => prod (seq 0 K)
    (fun i => (fun i a => sqrt (lik_at m i a true * lik_at m i a false)) i (nth i e true)))).
  - apply sum_le; intros e _. simpl joint.
    rewrite <- sqrt_prod by (intros i _; left; apply Rmult_lt_0_compat; apply LP).
    apply sqrt_le_1_alt. rewrite prod_mult.
    assert (0 < prod (seq 0 K) (fun i => lik_at m i (nth i e true) true)) by (apply prod_pos; auto).
    assert (0 < prod (seq 0 K) (fun i => lik_at m i (nth i e true) false)) by (apply prod_pos; auto).
    assert (0 < prod (seq 0 K) (fun i => lik_at m i (nth i e true) true) * prod (seq 0 K) (fun i => lik_at m i (nth i e true) false))
      by now apply Rmult_lt_0_compat. lra.
  - unfold evidence. simpl items. simpl outcomes.
    rewrite (sum_tuples_prod [true; false] true K (fun i a => sqrt (lik_at m i a true * lik_at m i a false))).
    rewrite <- (prod_first m K (19 / 20)) by easy. apply prod_le. intros i _. split.
    + apply sum_nonneg. intros. apply sqrt_pos.
    + simpl sum. unfold lik_at. destruct (i <? m)%nat.
      * rewrite (Rmult_comm (/ 3)). assert (sqrt (2 / 3 * / 3) <= 19 / 40); [|lra].
        rewrite <- (sqrt_square (19 / 40)) by lra. apply sqrt_le_1_alt. lra.
      * rewrite sqrt_square by lra. lra.
Qed.
Lemma KL_floor p q : (forall y : bool, / 4 <= p y <= 3 / 4) -> (forall y, / 4 <= q y <= 3 / 4) -> KL [true; false] p q <= 3.
Proof.
  intros Hp Hq. assert (B : forall y, p y * ln (p y / q y) <= 3 / 2).
  { intros y. specialize (Hp y). specialize (Hq y).
    assert (0 < p y / q y) by (apply Rdiv_lt_0_compat; lra).
    assert (p y / q y <= 3).
    { apply Rmult_le_reg_r with (q y); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    pose proof (ln_le_minus (p y / q y) H). assert (ln (p y / q y) <= 2) by lra.
    destruct (Rle_or_lt (ln (p y / q y)) 0); nra. }
  unfold KL. simpl. pose proof (B true). pose proof (B false). lra.
Qed.
(* Only pairs with one of the m informative items conflict. *)
Lemma mixed_pairs m K e : (m <= K)%nat ->
  sum (seq 0 K) (fun i => sum (seq 0 K) (fun j =>
    KL [true; false] (phi_at m i (item (mixed m K) i e)) (phi_at m j (item (mixed m K) j e)))) <= 6 * INR m * INR K.
Proof.
  intros H. apply Rle_trans with (sum (seq 0 K) (fun i => sum (seq 0 K) (fun j =>
    (if (i <? m)%nat then 3 else 0) + (if (j <? m)%nat then 3 else 0)))).
  - apply sum_le; intros i _. apply sum_le; intros j _.
    assert (KL [true; false] (phi_at m i (item (mixed m K) i e)) (phi_at m j (item (mixed m K) j e)) <= 3)
      by (apply KL_floor; intros; apply phi_range).
    destruct (i <? m)%nat eqn:Ei, (j <? m)%nat eqn:Ej; try lra.
    unfold phi_at. rewrite Ei, Ej. unfold KL. simpl.
    assert (Z : forall p, p <> 0 -> ln (p / p) = 0) by (intros; unfold Rdiv; rewrite Rinv_r, ln_1; easy).
    rewrite !Z by lra. lra.
  - erewrite sum_ext; [|intros i _; rewrite sum_plus, sum_const, seq_length, sum_first by easy; reflexivity].
    rewrite sum_plus, sum_scal, sum_const, seq_length, sum_first by easy. lra.
Qed.
Lemma KL_nonneg_2 p q : distribution [true; false] p -> distribution [true; false] q ->
  (forall y, 0 < p y) -> (forall y, 0 < q y) -> 0 <= KL [true; false] p q.
Proof.
  intros [_ p1] [_ q1] Hp Hq. simpl in *. unfold KL. simpl.
  assert (B : forall y, p y - q y <= p y * ln (p y / q y)).
  { intros y. specialize (Hp y). specialize (Hq y).
    assert (E : ln (p y / q y) = - ln (q y / p y)).
    { rewrite <- ln_Rinv by (now apply Rdiv_lt_0_compat). f_equal. field. lra. }
    pose proof (ln_le_minus (q y / p y) ltac:(now apply Rdiv_lt_0_compat)).
    assert (p y * (q y / p y) = q y) by (field; lra). rewrite E. nra. }
  pose proof (B true). pose proof (B false). lra.
Qed.
Lemma mixed_noise nz m K : some_noise nz -> (m <= K)%nat -> (2 <= K)%nat ->
  0 <= nz bool bool (mixed m K) (phi_at m) <= 6 * INR m / (INR K - 1).
Proof.
  intros Hn H K2. assert (k2 : 2 <= INR K) by (apply (le_INR 2); easy).
  assert (HW : is_world (mixed m K)) by (apply product_is_world; auto using bools, p35_distribution, lik_at_distribution).
  pose proof (pos_INR m) as m0.
  assert (N : forall e i j, 0 <= KL [true; false] (phi_at m i (item (mixed m K) i e)) (phi_at m j (item (mixed m K) j e))).
  { intros e i j. destruct (mixed_setting m K K2) as (_ & _ & _ & D & _).
    apply KL_nonneg_2; try (intros y; match goal with |- 0 < phi_at ?a ?b ?c ?d => pose proof (phi_range a b c d) end; lra);
      (split; [intros y _; match goal with |- 0 <= phi_at ?a ?b ?c ?d => pose proof (phi_range a b c d) end; lra|];
       unfold phi_at; match goal with |- context [(?x <? m)%nat] => destruct (x <? m)%nat end;
       [destruct (item _ _ _)|]; simpl; lra). }
  assert (T : forall g : list bool -> R, (forall e, 0 <= g e <= 6 * INR m / (INR K - 1)) ->
    0 <= sum (evidence (mixed m K)) (fun e => mass (mixed m K) e * g e) <= 6 * INR m / (INR K - 1)).
  { intros g Hg. split.
    - apply sum_nonneg. intros e He. apply Rmult_le_pos; [now apply mass_nonneg | apply Hg].
    - set (B := 6 * INR m / (INR K - 1)) in *. rewrite <- (Rmult_1_l B), <- (mass_total _ HW), <- sum_scal_r.
      apply sum_le; intros e He. apply Rmult_le_compat_l; [now apply mass_nonneg | apply Hg]. }
  assert (I : 0 < / (INR K - 1)) by (apply Rinv_0_lt_compat; lra).
  destruct Hn as [-> | ->]; apply T; intros e; pose proof (mixed_pairs m K e H) as P.
  - unfold conflict. simpl items. simpl classes.
    assert (Q : 0 <= sum (seq 0 K) (fun i => sum (seq 0 K) (fun j => if (i =? j)%nat then 0 else
      KL [true; false] (phi_at m i (item (mixed m K) i e)) (phi_at m j (item (mixed m K) j e)))) <= 6 * INR m * INR K).
    { split.
      - apply sum_nonneg; intros i _; apply sum_nonneg; intros j _. destruct (i =? j)%nat; [lra | apply N].
      - eapply Rle_trans; [|exact P]. apply sum_le; intros i _; apply sum_le; intros j _. pose proof (N e i j).
        destruct (i =? j)%nat; lra. }
    replace (6 * INR m / (INR K - 1)) with (/ (INR K * (INR K - 1)) * (6 * INR m * INR K)) by (field; lra).
    assert (0 < / (INR K * (INR K - 1))) by (apply Rinv_0_lt_compat; nra). split; [apply Rmult_le_pos; lra|].
    apply Rmult_le_compat_l; lra.
  - simpl items. simpl classes.
    assert (Q : 0 <= sum (seq 0 K) (fun i => sum (seq 0 K) (fun j =>
      KL [true; false] (phi_at m i (item (mixed m K) i e)) (phi_at m j (item (mixed m K) j e))))).
    { apply sum_nonneg; intros i _; apply sum_nonneg; intros j _. apply N. }
    assert (J : 0 < / INR K ^ 2) by (apply Rinv_0_lt_compat; apply pow_lt; lra). split; [apply Rmult_le_pos; lra|].
    apply Rle_trans with (/ INR K ^ 2 * (6 * INR m * INR K)); [apply Rmult_le_compat_l; lra|].
    replace (/ INR K ^ 2 * (6 * INR m * INR K)) with (6 * INR m * / INR K) by (field; lra).
    unfold Rdiv. apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
Qed.
(* The product is ever surer of the first class. *)
Lemma mixed_sure m K e : (m <= K)%nat -> 8 <= (INR K - 2 * INR m) * ln (3 / 2) ->
  9 / 10 <= plain_product _ _ (mixed m K) (phi_at m) e true /\
  plain_product _ _ (mixed m K) (phi_at m) e false <= / 10.
Proof.
  intros H B. unfold plain_product, pool. simpl classes. rewrite !normalize_bools. simpl items.
  set (s := fun y => sum (seq 0 K) (fun i => 1 * ln (phi_at m i (item (mixed m K) i e) y))). fold (s true). fold (s false).
  assert (D : 8 <= s true - s false).
  { eapply Rle_trans; [exact B|]. unfold s. rewrite <- sum_minus. set (l := ln (3 / 2)).
    replace ((INR K - 2 * INR m) * l) with (sum (seq 0 K) (fun i => l - (if (i <? m)%nat then 2 * l else 0))).
    - apply sum_le; intros i _. rewrite !Rmult_1_l. unfold Rminus at 2. rewrite <- ln_Rinv, <- ln_mult
        by (try apply Rinv_0_lt_compat; match goal with |- context [phi_at ?a ?b ?c ?d] => pose proof (phi_range a b c d) end; lra).
      assert (L : - l = ln (2 / 3)) by (unfold l; rewrite <- ln_Rinv by lra; f_equal; lra).
      unfold phi_at. destruct (i <? m)%nat.
      + replace (l - 2 * l) with (ln (2 / 3)) by lra. left. apply ln_increasing; [lra|].
        destruct (item (mixed m K) i e); simpl; lra.
      + right. unfold l. rewrite Rminus_0_r. f_equal. simpl. lra.
    - rewrite sum_minus, sum_const, seq_length, sum_first by easy. ring. }
  assert (E : 9 * exp (s false) <= exp (s true)).
  { replace (exp (s true)) with (exp (s true - s false) * exp (s false)) by (rewrite <- exp_plus; f_equal; lra).
    apply Rmult_le_compat_r; [left; apply exp_pos|]. pose proof (exp_ineq1_le (s true - s false)). lra. }
  pose proof (exp_pos (s true)). pose proof (exp_pos (s false)).
  split; apply Rmult_le_reg_r with (exp (s true) + exp (s false)); try lra;
    unfold Rdiv; rewrite ?Rmult_assoc, Rinv_l by lra; lra.
Qed.

(** claim: T4.moreover | refutes | caveats: reals, population-ece
    LPF's calibration error is not bounded by residual entropy, conflict, 1/sqrt M and 1/sqrt K: with prior (3/5, 2/5), m
    informative items and K - m without information, all factors exact, the four tend to zero, and the error to 2/5. For
    all constants and both readings of the noise. Paper: theorem 4, section 3.4, second part. *)
Theorem T4_moreover_refuted : forall nz c1 c2 a b, some_noise nz -> ~ theorem_4_moreover nz c1 c2 a b.
Proof.
  intros nz c1 c2 a b Hn H. set (d1 := Rmax (c1 2%nat) 0). set (d2 := Rmax (c2 2%nat) 0).
  assert (Hd1 : 0 <= d1 /\ c1 2%nat <= d1) by (split; [apply Rmax_r | apply Rmax_l]).
  assert (Hd2 : 0 <= d2 /\ c2 2%nat <= d2) by (split; [apply Rmax_r | apply Rmax_l]).
  set (l := ln (3 / 2)). assert (l0 : 0 < l) by (unfold l; rewrite <- ln_1; apply ln_increasing; lra).
  set (h := entropy [true; false] p35).
  assert (h0 : 0 < h).
  { unfold h, entropy. simpl. assert (ln (3 / 5) < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
    assert (ln (2 / 5) < 0) by (rewrite <- ln_1; apply ln_increasing; lra). lra. }
  assert (ih : 0 < / h) by now apply Rinv_0_lt_compat.
  destruct (exists_nat_above (760 * (d1 * / h))) as (m & m1 & Hm).
  assert (i1 : 1 <= INR m) by (apply (le_INR 1); easy).
  set (B := 400 * b 2%nat ^ 2). assert (B0 : 0 <= B) by (unfold B; pose proof (pow2_ge_0 (b 2%nat)); lra).
  assert (il : 0 < 8 / l) by (apply Rdiv_lt_0_compat; lra).
  assert (dm : 0 <= d2 * INR m) by (apply Rmult_le_pos; lra).
  destruct (exists_nat_above (2 + 2 * INR m + 120 * (d2 * INR m) + B + 8 / l)) as (K & K1 & HK).
  assert (mK : (m <= K)%nat) by (apply INR_le; lra).
  assert (K2 : (2 <= K)%nat) by (apply INR_le; simpl INR at 1; lra).
  set (A := 400 * a 2%nat ^ 2). assert (A0 : 0 <= A) by (unfold A; pose proof (pow2_ge_0 (a 2%nat)); lra).
  destruct (exists_nat_above A) as (M & M1 & HM).
  destruct (H bool bool (mixed m K) (phi_at m) M (mixed_setting m K K2) M1) as (bin & hat & Hh & E). clear H.
  destruct (mixed_setting m K K2) as [HW _].
  set (P := plain_product bool bool (mixed m K) (phi_at m)) in *.
  assert (S : forall e, 9 / 10 <= P e true /\ P e false <= / 10).
  { intros e. apply mixed_sure; [easy|]. fold l.
    assert (8 = 8 / l * l) by (field; lra). assert (8 / l < INR K - 2 * INR m) by lra. nra. }
  assert (T : forall e, In e (evidence (mixed m K)) -> hat e = true).
  { intros e He. destruct (Hh e He) as [_ q]. specialize (q true (or_introl eq_refl)). destruct (S e).
    destruct (hat e); [easy | lra]. }
  assert (PR : forall y, prior (mixed m K) y = p35 y).
  { intros y. apply (product_prior [true; false] [true; false] K true p35 (lik_at m));
      [intros; apply lik_at_distribution | destruct y; simpl; tauto]. }
  pose proof (ece_ge (mixed m K) HW bin P hat (fun e He => proj1 (Hh e He))) as G.
  assert (G1 : sum (evidence (mixed m K)) (fun e => joint (mixed m K) (hat e) e) = 3 / 5).
  { rewrite (sum_ext _ _ (fun e => joint (mixed m K) true e)) by (intros e He; now rewrite T). apply (PR true). }
  assert (G2 : 9 / 10 <= sum (evidence (mixed m K)) (fun e => mass (mixed m K) e * conf P hat e)).
  { rewrite <- (Rmult_1_l (9 / 10)), <- (mass_total _ HW), <- sum_scal_r. apply sum_le; intros e He.
    apply Rmult_le_compat_l; [now apply mass_nonneg|]. unfold conf. rewrite T by easy. apply S. }
  rewrite G1, Rabs_left1 in G by lra.
  change (length (classes (mixed m K))) with 2%nat in E. cbv zeta in E. change (items (mixed m K)) with K in E.
  assert (EH : entropy (classes (mixed m K)) (prior (mixed m K)) = h).
  { change (classes (mixed m K)) with [true; false]. unfold h, entropy. cbn [sum]. now rewrite !PR. }
  rewrite EH in E.
  (* each of the four terms is below 1/20 *)
  assert (T1 : c1 2%nat * (residual_entropy (mixed m K) / h) <= / 20).
  { pose proof (mixed_residual m K mK) as R1. pose proof (bernoulli (/ 19) m ltac:(lra)) as Be.
    assert (R0 : 0 <= residual_entropy (mixed m K)).
    { apply sum_nonneg. intros e He. destruct (mass_nonneg _ HW e He) as [p| <-]; [|lra].
      apply Rmult_le_pos; [lra|]. apply entropy_nonneg.
      apply (normalize_distribution (classes (mixed m K)) (fun y => joint (mixed m K) y e)); [|easy].
      intros. now apply joint_nonneg. }
    assert (Q : (19 / 20) ^ m <= 19 * / INR m).
    { replace (19 / 20) with (/ (1 + / 19)) by lra. rewrite pow_inv. replace (19 * / INR m) with (/ (INR m * / 19)) by (field; lra).
      apply Rinv_le_contravar; lra. }
    apply Rle_trans with (d1 * (38 * / INR m * / h)).
    - apply Rle_trans with (d1 * (residual_entropy (mixed m K) / h)).
      + apply Rmult_le_compat_r; [|lra]. apply Rmult_le_pos; lra.
      + apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_r; lra.
    - apply Rmult_le_reg_r with (INR m); [lra|].
      replace (d1 * (38 * / INR m * / h) * INR m) with (38 * (d1 * / h)) by (field; lra). lra. }
  assert (T2 : c2 2%nat * nz bool bool (mixed m K) (phi_at m) <= / 20).
  { destruct (mixed_noise nz m K Hn mK K2) as [N0 N1].
    apply Rle_trans with (d2 * (6 * INR m / (INR K - 1))).
    - apply Rle_trans with (d2 * nz bool bool (mixed m K) (phi_at m)).
      + apply Rmult_le_compat_r; lra.
      + apply Rmult_le_compat_l; lra.
    - apply Rmult_le_reg_r with (INR K - 1); [lra|].
      replace (d2 * (6 * INR m / (INR K - 1)) * (INR K - 1)) with (6 * (d2 * INR m)) by (field; lra). lra. }
  assert (T3 : a 2%nat / sqrt (INR M) < / 20) by (apply over_sqrt; unfold A in *; lra).
  assert (T4 : b 2%nat / sqrt (INR K) < / 20) by (apply over_sqrt; unfold B in *; lra).
  lra.
Qed.
