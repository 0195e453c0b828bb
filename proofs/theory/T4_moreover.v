(* Theorem 4 of the paper (section 3.4), second part ("moreover"): LPF's calibration error is at most c1
   H(Y|E)/H(Y) + c2 noise + O(1/sqrt M) + O(1/sqrt K). False for all constants, those hidden in the O's
   included: a few informative items decide the class, and the other items say nothing. With weights 1 the
   product counts the prior K times; with weights 1/K it hardly hears the informative items.

   H(Y|E) is the entropy given all K items of an entity, as the theorem defines it. The paper computes the
   mean entropy of single factors in its place. With that quantity the bound is not refuted here: assumption 6
   keeps it above H(Y)/2, so that c1 = 2 makes the bound larger than 1, and it says nothing. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1 L5 T4.
Import ListNotations.
Open Scope R_scope.

(* The claim, for the product where each of K items has the weight [wt K] (1, or 1/K), and exact factors. (A
   decoder that is constant on the posterior of each item gives the exact factor from any M samples, so the
   claim is made for every M.) Assumptions 1, 3 and 6 are granted; some bins and some choice among ties are
   enough for the claim. *)
Definition moreover_product (wt : nat -> R) {Y A} (W : world Y A) Phi := pool W Phi (fun _ _ => wt (items W)).
Definition theorem_4_moreover (wt : nat -> R) nz (c1 c2 a b : nat -> R) : Prop :=
  forall (Y A : Type) (W : world Y A) (Phi : nat -> A -> Y -> R) (M : nat), setting W Phi -> (1 <= M)%nat ->
    let n := length (classes W) in
    exists bin hat, picks W (moreover_product wt W Phi) hat /\
      ece W bin (moreover_product wt W Phi) hat <=
        c1 n * (residual_entropy W / entropy (classes W) (prior W)) + c2 n * nz Y A W Phi
        + a n / sqrt (INR M) + b n / sqrt (INR (items W)).

(* Entropy of two classes: h(x, y) <= 2 sqrt(x y). *)
Lemma ln_le_minus u : 0 < u -> ln u <= u - 1.
Proof. intros H. pose proof (exp_ineq1_le (ln u)) as E. rewrite exp_ln in E by easy. lra. Qed.
Lemma xlnx x : 0 <= x -> - (x * ln x) <= 2 * (sqrt x - x).
Proof.
  intros [H|<-]; [|rewrite sqrt_0; lra].
  pose proof (sqrt_lt_R0 x H) as s0. pose proof (sqrt_sqrt x (Rlt_le _ _ H)) as ss.
  assert (E : ln x = - (2 * ln (/ sqrt x))) by (rewrite ln_Rinv by easy; rewrite <- ss at 1;
    rewrite ln_mult by easy; lra).
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
Lemma sqrt_prod {A} (l : list A) f : (forall x, In x l -> 0 <= f x) ->
  sqrt (prod l f) = prod l (fun x => sqrt (f x)).
Proof.
  induction l; simpl; intros H; [apply sqrt_1|]. rewrite sqrt_mult, IHl; auto. apply prod_nonneg; auto.
Qed.
Lemma prod_first m K q : (m <= K)%nat -> prod (seq 0 K) (fun i => if (i <? m)%nat then q else 1) = q ^ m.
Proof.
  revert m; induction K; intros [|m] H; try lia; [easy | |].
  - rewrite (prod_ext _ _ (fun _ => 1)) by easy. rewrite prod_const, pow1. easy.
  - rewrite prod_seq_S. simpl. change (fun i => if (S i <? S m)%nat then q else 1)
    with (fun i => if (i <? m)%nat then q else 1).
    rewrite IHK by lia. easy.
Qed.
Lemma sum_first m K q : (m <= K)%nat -> sum (seq 0 K) (fun i => if (i <? m)%nat then q else 0) = INR m * q.
Proof.
  revert m; induction K; intros [|m] H; try lia; [simpl; lra | |].
  - rewrite (sum_ext _ _ (fun _ => 0)) by easy. rewrite sum_0. simpl. lra.
  - rewrite sum_seq_S, S_INR. change (fun i => if (S i <? S m)%nat then q else 0)
    with (fun i => if (i <? m)%nat then q else 0).
    rewrite IHK by lia. simpl. lra.
Qed.

(* The world: prior (3/5, 2/5); m items right with probability 2/3, the other K - m without information. *)
Definition lik_at (m i : nat) (a y : bool) :=
  if (i <? m)%nat then match a, y with true, true | false, false => 2 / 3 | _, _ => / 3 end else / 2.
Definition mixed m K := product_world [true; false] [true; false] K true p35 (lik_at m).
Definition phi_at (m i : nat) (a y : bool) :=
  if (i <? m)%nat then match a, y
    with true, true => 3 / 4 | true, false => / 4 | false, true => 3 / 7 | _, _ => 4 / 7 end
  else p35 y.
Lemma lik_at_distribution m i y : distribution [true; false] (fun a => lik_at m i a y).
Proof. unfold lik_at. split; [intros [] _|]; destruct (i <? m)%nat, y; simpl; lra. Qed.
Lemma p35_distribution : distribution [true; false] p35.
Proof. split; [intros []; simpl; lra | simpl; lra]. Qed.
Lemma phi_range m i a y : / 4 <= phi_at m i a y <= 3 / 4.
Proof. unfold phi_at. destruct (i <? m)%nat, a, y; simpl; lra. Qed.
Lemma mixed_setting m K : (2 <= K)%nat -> setting (mixed m K) (phi_at m).
Proof.
  intros K2. assert (HW : is_world (mixed m K)) by (apply product_is_world;
    auto using bools, p35_distribution, lik_at_distribution).
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

(* In a world of two classes the residual entropy is at most twice the sum of sqrt(P(true, e) P(false, e)). *)
Lemma residual_le (W : world bool bool) : classes W = [true; false] -> (forall y e, 0 < joint W y e) ->
  residual_entropy W <= 2 * sum (evidence W) (fun e => sqrt (joint W true e * joint W false e)).
Proof.
  intros HC JP. unfold residual_entropy. rewrite <- sum_scal. apply sum_le; intros e _.
  assert (E : mass W e = joint W true e + joint W false e) by (unfold mass; rewrite HC; cbn [sum]; lra).
  pose proof (JP true e) as u0. pose proof (JP false e) as v0.
  assert (m0 : 0 < mass W e) by lra. rewrite HC. unfold posterior, entropy. cbn [sum].
  set (u := joint W true e) in *. set (v := joint W false e) in *. set (w := mass W e) in *.
  assert (0 < u / w) by (now apply Rdiv_lt_0_compat). assert (0 < v / w) by (now apply Rdiv_lt_0_compat).
  pose proof (two_class_entropy (u / w) (v / w)) as T.
  assert (S : w * sqrt (u / w * (v / w)) = sqrt (u * v)).
  { replace (u * v) with (w * w * (u / w * (v / w))) by (field; lra).
    rewrite (sqrt_mult (w * w)), sqrt_square; nra. }
  assert (T1 : u / w + v / w = 1) by (rewrite E; field; lra). specialize (T ltac:(lra) ltac:(lra) T1).
    rewrite <- S.
  rewrite <- Rmult_assoc, (Rmult_comm 2 w), Rmult_assoc. apply Rmult_le_compat_l; lra.
Qed.
(* For a world of independent items, that sum is a product over the items. *)
Lemma sqrt_sum_le K pi lik (m : nat) r : 0 <= pi true -> 0 <= pi false -> (forall i a y, 0 < lik i a y) ->
  (m <= K)%nat ->
  (forall i, sum [true; false] (fun a => sqrt (lik i a true * lik i a false)) <= if (i <? m)%nat then r
    else 1) ->
  let W := product_world [true; false] [true; false] K true pi lik in
  sum (evidence W) (fun e => sqrt (joint W true e * joint W false e)) <= sqrt (pi true * pi false) * r ^ m.
Proof.
  intros p1 p2 LP H B W.
  assert (PP : forall e y, 0 < prod (seq 0 K) (fun i => lik i (nth i e true) y)) by (intros;
    apply prod_pos; auto).
  apply Rle_trans with (sqrt (pi true * pi false) * sum (evidence W) (fun e => prod (seq 0 K)
    (fun i => (fun i a => sqrt (lik i a true * lik i a false)) i (nth i e true)))).
  - rewrite <- sum_scal. right. apply sum_ext; intros e _. cbn [joint W product_world].
    rewrite <- sqrt_prod by (intros i _; left; apply Rmult_lt_0_compat; apply LP).
    rewrite <- sqrt_mult, prod_mult; [f_equal; ring | now apply Rmult_le_pos |].
    left. rewrite prod_mult. now apply Rmult_lt_0_compat.
  - apply Rmult_le_compat_l; [apply sqrt_pos|]. unfold evidence. cbn [items outcomes W product_world].
    rewrite (sum_tuples_prod [true; false] true K (fun i a => sqrt (lik i a true * lik i a false))).
    rewrite <- (prod_first m K r) by easy. apply prod_le. intros i _. split; [|apply B].
    apply sum_nonneg. intros. apply sqrt_pos.
Qed.
(* What is left unknown vanishes as m grows. *)
Lemma mixed_residual m K : (m <= K)%nat -> residual_entropy (mixed m K) <= 2 * (19 / 20) ^ m.
Proof.
  intros H.
  assert (LP : forall i a y, 0 < lik_at m i a y) by (intros i [] []; unfold lik_at; destruct (i <? m)%nat;
    simpl; lra).
  eapply Rle_trans; [apply residual_le; [easy|]|].
  - intros y e. apply Rmult_lt_0_compat; [destruct y; simpl; lra | apply prod_pos; auto].
  - apply Rmult_le_compat_l; [lra|].
    eapply Rle_trans; [apply (sqrt_sum_le K p35 (lik_at m) m (19 / 20)); auto; simpl; lra || idtac|].
    + intros i. cbn [sum]. unfold lik_at. destruct (i <? m)%nat.
      * rewrite (Rmult_comm (/ 3)). assert (sqrt (2 / 3 * / 3) <= 19 / 40); [|lra].
        rewrite <- (sqrt_square (19 / 40)) by lra. apply sqrt_le_1_alt. lra.
      * rewrite sqrt_square by lra. lra.
    + assert (0 < (19 / 20) ^ m) by (apply pow_lt; lra). simpl p35.
      assert (sqrt (3 / 5 * (2 / 5)) <= 1) by (rewrite <- sqrt_1; apply sqrt_le_1_alt; lra). nra.
Qed.
Lemma KL_floor p q : (forall y : bool, / 4 <= p y <= 3 / 4) -> (forall y, / 4 <= q y <= 3 / 4) ->
  KL [true; false] p q <= 3.
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
(* Only pairs with one of the m informative items conflict; so the noise is small where m is small beside K.
   *)
Section Noise.
Variables (W : world bool bool) (phi : nat -> bool -> bool -> R) (m : nat).
Hypotheses (HW : is_world W)
  (HC : classes W = [true; false]) (mK : (m <= items W)%nat) (K2 : (2 <= items W)%nat).
Hypothesis Hphi : forall i a, distribution [true; false] (phi i a).
Hypothesis Hrange : forall i a y, / 4 <= phi i a y <= 3 / 4.
Hypothesis Hrest : forall i j a b y, (i <? m)%nat = false -> (j <? m)%nat = false -> phi i a y = phi j b y.
Let K := items W.
Let kl e i j := KL [true; false] (phi i (item W i e)) (phi j (item W j e)).

Lemma kl_nonneg e i j : 0 <= kl e i j.
Proof.
  apply KL_nonneg_2; auto; intros y;
    [pose proof (Hrange i (item W i e) y) | pose proof (Hrange j (item W j e) y)]; lra.
Qed.
Lemma pairs_le e : sum (seq 0 K) (fun i => sum (seq 0 K) (fun j => kl e i j)) <= 6 * INR m * INR K.
Proof.
  apply Rle_trans with (sum (seq 0 K) (fun i => sum (seq 0 K) (fun j =>
    (if (i <? m)%nat then 3 else 0) + (if (j <? m)%nat then 3 else 0)))).
  - apply sum_le; intros i _. apply sum_le; intros j _.
    assert (kl e i j <= 3) by (apply KL_floor; auto).
    destruct (i <? m)%nat eqn:Ei, (j <? m)%nat eqn:Ej; try lra.
    unfold kl, KL. cbn [sum]. rewrite !(Hrest i j (item W i e) (item W j e)) by easy.
    assert (Z : forall y, ln (phi j (item W j e) y / phi j (item W j e) y) = 0).
    { intros y. pose proof (Hrange j (item W j e) y). unfold Rdiv. rewrite Rinv_r, ln_1; lra. }
    rewrite !Z. lra.
  - erewrite sum_ext; [|intros i _; rewrite sum_plus, sum_const, seq_length, sum_first by easy; reflexivity].
    rewrite sum_plus, sum_scal, sum_const, seq_length, sum_first by easy. lra.
Qed.
Lemma noise_small nz : some_noise nz -> 0 <= nz bool bool W phi <= 6 * INR m / (INR K - 1).
Proof.
  intros Hn. assert (k2 : 2 <= INR K) by (apply (le_INR 2); easy). pose proof (pos_INR m) as m0.
  assert (T : forall g : list bool -> R, (forall e, 0 <= g e <= 6 * INR m / (INR K - 1)) ->
    0 <= sum (evidence W) (fun e => mass W e * g e) <= 6 * INR m / (INR K - 1)).
  { intros g Hg. split.
    - apply sum_nonneg. intros e He. apply Rmult_le_pos; [now apply mass_nonneg | apply Hg].
    - set (B := 6 * INR m / (INR K - 1)) in *. rewrite <- (Rmult_1_l B), <- (mass_total _ HW), <- sum_scal_r.
      apply sum_le; intros e He. apply Rmult_le_compat_l; [now apply mass_nonneg | apply Hg]. }
  assert (I : 0 < / (INR K - 1)) by (apply Rinv_0_lt_compat; lra).
  destruct Hn as [-> | ->]; apply T; intros e; pose proof (pairs_le e) as P.
  - unfold conflict. rewrite HC. fold K. fold (kl e).
    assert (Q : 0 <= sum (seq 0 K) (fun i => sum (seq 0 K) (fun j => if (i =? j)%nat then 0 else kl e i j))
      <= 6 * INR m * INR K).
    { split.
      - apply sum_nonneg; intros i _; apply sum_nonneg; intros j _.
        destruct (i =? j)%nat; [lra | apply kl_nonneg].
      - eapply Rle_trans; [|exact P]. apply sum_le; intros i _; apply sum_le; intros j _.
        pose proof (kl_nonneg e i j).
        destruct (i =? j)%nat; lra. }
    unfold kl in Q. replace (6 * INR m / (INR K - 1))
      with (/ (INR K * (INR K - 1)) * (6 * INR m * INR K)) by (field; lra).
    assert (0 < / (INR K * (INR K - 1))) by (apply Rinv_0_lt_compat; nra). split; [apply Rmult_le_pos; lra|].
    apply Rmult_le_compat_l; lra.
  - rewrite HC. fold K.
    assert (Q : 0 <= sum (seq 0 K) (fun i => sum (seq 0 K) (fun j => kl e i j))).
    { apply sum_nonneg; intros i _; apply sum_nonneg; intros j _. apply kl_nonneg. }
    unfold kl in P, Q.
    assert (J : 0 < / INR K ^ 2) by (apply Rinv_0_lt_compat; apply pow_lt; lra).
      split; [apply Rmult_le_pos; lra|].
    apply Rle_trans with (/ INR K ^ 2 * (6 * INR m * INR K)); [apply Rmult_le_compat_l; lra|].
    replace (/ INR K ^ 2 * (6 * INR m * INR K)) with (6 * INR m * / INR K) by (field; lra).
    unfold Rdiv. apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; lra.
Qed.
End Noise.
Lemma mixed_noise nz m K : some_noise nz -> (m <= K)%nat -> (2 <= K)%nat ->
  0 <= nz bool bool (mixed m K) (phi_at m) <= 6 * INR m / (INR K - 1).
Proof.
  intros Hn H K2. apply (noise_small (mixed m K)); auto.
  - apply (mixed_setting m K K2).
  - intros i a. split; [intros y _; pose proof (phi_range m i a y); lra|].
    unfold phi_at. destruct (i <? m)%nat, a; simpl; lra.
  - intros. apply phi_range.
  - intros i j a b y Hi Hj. unfold phi_at. now rewrite Hi, Hj.
Qed.
(* With weights 1 the product is ever surer of the first class. *)
Lemma mixed_sure m K e : (m <= K)%nat -> 8 <= (INR K - 2 * INR m) * ln (3 / 2) ->
  9 / 10 <= plain_product _ _ (mixed m K) (phi_at m) e true /\
  plain_product _ _ (mixed m K) (phi_at m) e false <= / 10.
Proof.
  intros H B. unfold plain_product, pool. simpl classes. rewrite !normalize_bools. simpl items.
  set (s := fun y => sum (seq 0 K) (fun i => 1 * ln (phi_at m i (item (mixed m K) i e) y))). fold (s true).
    fold (s false).
  assert (D : 8 <= s true - s false).
  { eapply Rle_trans; [exact B|]. unfold s. rewrite <- sum_minus. set (l := ln (3 / 2)).
    replace ((INR K - 2 * INR m) * l) with (sum (seq 0 K) (fun i => l - (if (i <? m)%nat then 2 * l else 0))).
    - apply sum_le; intros i _. rewrite !Rmult_1_l. unfold Rminus at 2. rewrite <- ln_Rinv, <- ln_mult
        by (try apply Rinv_0_lt_compat;
          match goal with |- context [phi_at ?a ?b ?c ?d] => pose proof (phi_range a b c d) end; lra).
      assert (L : - l = ln (2 / 3)) by (unfold l; rewrite <- ln_Rinv by lra; f_equal; lra).
      unfold phi_at. destruct (i <? m)%nat.
      + replace (l - 2 * l) with (ln (2 / 3)) by lra. left. apply ln_increasing; [lra|].
        destruct (item (mixed m K) i e); simpl; lra.
      + right. unfold l. rewrite Rminus_0_r. f_equal. simpl. lra.
    - rewrite sum_minus, sum_const, seq_length, sum_first by easy. ring. }
  assert (E : 9 * exp (s false) <= exp (s true)).
  { replace (exp (s true)) with (exp (s true - s false) * exp (s false)) by (rewrite <- exp_plus; f_equal;
    lra).
    apply Rmult_le_compat_r; [left; apply exp_pos|]. pose proof (exp_ineq1_le (s true - s false)). lra. }
  pose proof (exp_pos (s true)). pose proof (exp_pos (s false)).
  split; apply Rmult_le_reg_r with (exp (s true) + exp (s false)); try lra;
    unfold Rdiv; rewrite ?Rmult_assoc, Rinv_l by lra; lra.
Qed.

(* The four terms can be made small together, whatever the constants, with as many more items than
   informative ones as is needed. *)
Lemma terms_small c1 c2 a b h x : 0 < h -> exists m K M : nat,
  21 < INR m /\ (m <= K)%nat /\ (2 <= K)%nat /\ (1 <= M)%nat /\ x * (INR m + 1) < INR K /\
  forall res noise, 0 <= res <= 2 * (19 / 20) ^ m -> 0 <= noise <= 6 * INR m / (INR K - 1) ->
  c1 * (res / h) + c2 * noise + a / sqrt (INR M) + b / sqrt (INR K) < / 5.
Proof.
  intros h0. set (d1 := Rmax c1 0). set (d2 := Rmax c2 0).
  assert (Hd1 : 0 <= d1 /\ c1 <= d1) by (split; [apply Rmax_r | apply Rmax_l]).
  assert (Hd2 : 0 <= d2 /\ c2 <= d2) by (split; [apply Rmax_r | apply Rmax_l]).
  assert (ih : 0 < / h) by now apply Rinv_0_lt_compat.
  assert (dh : 0 <= d1 * / h) by (apply Rmult_le_pos; lra).
  destruct (exists_nat_above (760 * (d1 * / h) + 21)) as (m & m1 & Hm).
  assert (B0 : 0 <= 400 * b ^ 2) by (pose proof (pow2_ge_0 b); lra).
  assert (dm : 0 <= d2 * INR m) by (apply Rmult_le_pos; lra).
  pose proof (Rle_abs (x * (INR m + 1))) as X. pose proof (Rabs_pos (x * (INR m + 1))) as X0.
  destruct (exists_nat_above (2 + INR m + 120 * (d2 * INR m) + 400 * b ^ 2 + Rabs (x * (INR m + 1)))) as (K
    & K1 & HK).
  assert (A0 : 0 <= 400 * a ^ 2) by (pose proof (pow2_ge_0 a); lra).
  destruct (exists_nat_above (400 * a ^ 2)) as (M & M1 & HM).
  exists m, K, M. split; [lra|]. split; [apply INR_le; lra|]. split; [apply INR_le; simpl INR at 1; lra|].
  split; [easy|]. split; [lra|]. intros res noise R1 N1.
  assert (T1 : c1 * (res / h) <= / 20).
  { pose proof (bernoulli (/ 19) m ltac:(lra)) as Be.
    assert (Q : (19 / 20) ^ m <= 19 * / INR m).
    { replace (19 / 20) with (/ (1 + / 19)) by lra. rewrite pow_inv.
      replace (19 * / INR m) with (/ (INR m * / 19)) by (field; lra). apply Rinv_le_contravar; lra. }
    apply Rle_trans with (d1 * (38 * / INR m * / h)).
    - apply Rle_trans with (d1 * (res / h)).
      + apply Rmult_le_compat_r; [|lra]. apply Rmult_le_pos; lra.
      + apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_r; lra.
    - apply Rmult_le_reg_r with (INR m); [lra|].
      replace (d1 * (38 * / INR m * / h) * INR m) with (38 * (d1 * / h)) by (field; lra). lra. }
  assert (T2 : c2 * noise <= / 20).
  { apply Rle_trans with (d2 * (6 * INR m / (INR K - 1))).
    - apply Rle_trans with (d2 * noise); [apply Rmult_le_compat_r; lra | apply Rmult_le_compat_l; lra].
    - apply Rmult_le_reg_r with (INR K - 1); [lra|].
      replace (d2 * (6 * INR m / (INR K - 1)) * (INR K - 1)) with (6 * (d2 * INR m)) by (field; lra). lra. }
  assert (T3 : a / sqrt (INR M) < / 20) by (apply over_sqrt; lra).
  assert (T4 : b / sqrt (INR K) < / 20) by (apply over_sqrt; lra). lra.
Qed.
Lemma residual_nonneg {Y A} (W : world Y A) : is_world W -> 0 <= residual_entropy W.
Proof.
  intros HW. apply sum_nonneg. intros e He. destruct (mass_nonneg _ HW e He) as [p| <-]; [|lra].
  apply Rmult_le_pos; [lra|]. apply entropy_nonneg.
  apply (normalize_distribution (classes W) (fun y => joint W y e)); [|easy]. intros. now apply joint_nonneg.
Qed.

(** claim: T4.moreover | refutes | caveats: reals, population-ece, all-items
    LPF's calibration error is not bounded by residual entropy, conflict, 1/sqrt M and 1/sqrt K: with prior
    (3/5, 2/5), m informative items and K - m without information, all factors exact, the four tend to zero,
    and the error to 2/5. For all constants and both readings of the noise. Paper: theorem 4, section 3.4,
    second part. *)
Theorem T4_moreover_refuted : forall nz c1 c2 a b, some_noise nz ->
  ~ theorem_4_moreover (fun _ => 1) nz c1 c2 a b.
Proof.
  intros nz c1 c2 a b Hn H.
  set (l := ln (3 / 2)). assert (l0 : 0 < l) by (unfold l; rewrite <- ln_1; apply ln_increasing; lra).
  set (h := entropy [true; false] p35).
  assert (h0 : 0 < h).
  { unfold h, entropy. simpl. assert (ln (3 / 5) < 0) by (rewrite <- ln_1; apply ln_increasing; lra).
    assert (ln (2 / 5) < 0) by (rewrite <- ln_1; apply ln_increasing; lra). lra. }
  assert (il : 0 < 8 / l) by (apply Rdiv_lt_0_compat; lra).
  destruct (terms_small (c1 2%nat) (c2 2%nat) (a 2%nat) (b 2%nat) h (2 + 8 / l) h0) as (m & K & M & m1 & mK
    & K2 & M1 & HK & T4).
  destruct (H bool bool (mixed m K) (phi_at m) M (mixed_setting m K K2) M1) as (bin & hat & Hh & E). clear H.
  destruct (mixed_setting m K K2) as [HW _].
  set (P := moreover_product (fun _ => 1) (mixed m K) (phi_at m)) in *.
  assert (S : forall e, 9 / 10 <= P e true /\ P e false <= / 10).
  { intros e. apply mixed_sure; [easy|]. fold l.
    assert (8 = 8 / l * l) by (field; lra). assert (8 / l < INR K - 2 * INR m) by nra. nra. }
  assert (T : forall e, In e (evidence (mixed m K)) -> hat e = true).
  { intros e He. destruct (Hh e He) as [_ q]. specialize (q true (or_introl eq_refl)). destruct (S e).
    destruct (hat e); [easy | lra]. }
  assert (PR : forall y, prior (mixed m K) y = p35 y).
  { intros y. apply (product_prior [true; false] [true; false] K true p35 (lik_at m));
      [intros; apply lik_at_distribution | destruct y; simpl; tauto]. }
  pose proof (ece_ge (mixed m K) HW bin P hat (fun e He => proj1 (Hh e He))) as G.
  assert (G1 : sum (evidence (mixed m K)) (fun e => joint (mixed m K) (hat e) e) = 3 / 5).
  { rewrite (sum_ext _ _ (fun e => joint (mixed m K) true e)) by (intros e He; now rewrite T).
    apply (PR true). }
  assert (G2 : 9 / 10 <= sum (evidence (mixed m K)) (fun e => mass (mixed m K) e * conf P hat e)).
  { rewrite <- (Rmult_1_l (9 / 10)), <- (mass_total _ HW), <- sum_scal_r. apply sum_le; intros e He.
    apply Rmult_le_compat_l; [now apply mass_nonneg|]. unfold conf. rewrite T by easy. apply S. }
  rewrite G1, Rabs_left1 in G by lra.
  change (length (classes (mixed m K))) with 2%nat in E. cbv zeta in E.
    change (items (mixed m K)) with K in E.
  assert (EH : entropy (classes (mixed m K)) (prior (mixed m K)) = h).
  { change (classes (mixed m K)) with [true; false]. unfold h, entropy. cbn [sum]. now rewrite !PR. }
  rewrite EH in E.
  specialize (T4 (residual_entropy (mixed m K)) (nz bool bool (mixed m K) (phi_at m))
    (conj (residual_nonneg _ HW) (mixed_residual m K mK)) (mixed_noise nz m K Hn mK K2)). lra.
Qed.

(* With weights 1/K another world does it: a fair coin, m items right three times in four, the others
   without information. *)
Definition fair_at (m i : nat) (a y : bool) := if (i <? m)%nat then p34 a y else / 2.
Definition fair m K := product_world [true; false] [true; false] K true (fun _ => / 2) (fair_at m).
Lemma fair_range m i a y : / 4 <= fair_at m i a y <= 3 / 4.
Proof. unfold fair_at. destruct (i <? m)%nat, a, y; simpl; lra. Qed.
Lemma fair_likelihood m i y : distribution [true; false] (fun a => fair_at m i a y).
Proof. unfold fair_at. split; [intros [] _|]; destruct (i <? m)%nat, y; simpl; lra. Qed.
Lemma fair_factor m i a : distribution [true; false] (fair_at m i a).
Proof. unfold fair_at. split; [intros [] _|]; destruct (i <? m)%nat, a; simpl; lra. Qed.
Lemma half_distribution : distribution [true; false] (fun _ : bool => / 2).
Proof. split; [intros; lra | simpl; lra]. Qed.
Lemma fair_setting m K : (2 <= K)%nat -> setting (fair m K) (fair_at m).
Proof.
  intros K2. assert (HW : is_world (fair m K)) by (apply product_is_world;
    auto using bools, half_distribution, fair_likelihood).
  split; [exact HW|]. split; [apply product_A1; auto using bools, half_distribution, fair_likelihood|].
  split; [exact K2|]. split; [|split].
  - intros i a _ _. apply fair_factor.
  - intros i a y _. pose proof (fair_range m i a y). simpl. lra.
  - apply exact_calibrated; [exact HW|]. intros i a y Hi Ha Hy.
    assert (E : forall z, item_joint (fair m K) i a z = / 2 * fair_at m i a z).
    { intros z. apply (product_item_joint [true; false] [true; false] K true (fun _ => / 2) (fair_at m));
      auto using bools, fair_likelihood. destruct z; simpl; tauto. }
    change (classes (fair m K)) with [true; false]. cbn [sum]. rewrite !E. unfold fair_at.
    destruct (i <? m)%nat, a, y; simpl; lra.
Qed.
Lemma fair_sqrt m K : (m <= K)%nat ->
  sum (evidence (fair m K)) (fun e => sqrt (joint (fair m K) true e * joint (fair m K) false e)) <= / 2 *
    (7 / 8) ^ m.
Proof.
  intros H. replace (/ 2) with (sqrt (/ 2 * / 2)) by (apply sqrt_square; lra).
  apply (sqrt_sum_le K (fun _ => / 2) (fair_at m) m (7 / 8)); auto; try lra.
  - intros i a y. pose proof (fair_range m i a y). lra.
  - intros i. cbn [sum]. unfold fair_at. destruct (i <? m)%nat; simpl p34.
    + rewrite (Rmult_comm (/ 4)). assert (sqrt (3 / 4 * / 4) <= 7 / 16); [|lra].
      rewrite <- (sqrt_square (7 / 16)) by lra. apply sqrt_le_1_alt. lra.
    + rewrite sqrt_square by lra. lra.
Qed.
Lemma fair_joint m K y e :
  joint (fair m K) y e = / 2 * exp (sum (seq 0 K) (fun i => ln (fair_at m i (item (fair m K) i e) y))).
Proof.
  simpl. f_equal. rewrite exp_sum. apply prod_ext; intros i _. rewrite exp_ln; [easy|].
  pose proof (fair_range m i (item (fair m K) i e) y). lra.
Qed.

(** claim: T4.moreover | refutes | caveats: reals, population-ece, all-items
    Nor with normalized weights 1/K: a fair coin, m items right three times in four, K - m without
    information; the geometric mean stays near (1/2, 1/2) while it is almost always right. For all constants
    and both readings of the noise. Paper: theorem 4, section 3.4, second part. *)
Theorem T4_moreover_refuted_normalized : forall nz c1 c2 a b, some_noise nz ->
  ~ theorem_4_moreover (fun K => / INR K) nz c1 c2 a b.
Proof.
  intros nz c1 c2 a b Hn H.
  set (l := ln (3 / 2)). assert (l0 : 0 < l) by (unfold l; rewrite <- ln_1; apply ln_increasing; lra).
  assert (q0 : 0 < ln 3) by (rewrite <- ln_1; apply ln_increasing; lra).
  destruct (terms_small (c1 2%nat) (c2 2%nat) (a 2%nat) (b 2%nat) (ln 2) (ln 3 / l) ln2_pos)
    as (m & K & M & m1 & mK & K2 & M1 & HK & T4).
  destruct (H bool bool (fair m K) (fair_at m) M (fair_setting m K K2) M1) as (bin & hat & Hh & E). clear H.
  destruct (fair_setting m K K2) as [HW _]. pose proof (mass_total _ HW) as one_mass.
  set (P := moreover_product (fun K => / INR K) (fair m K) (fair_at m)) in *.
  assert (k2 : 2 <= INR K) by (apply (le_INR 2); easy).
  assert (R0 : 0 < / INR K) by (apply Rinv_0_lt_compat; lra).
  assert (mono : forall x y, x <= y -> exp x <= exp y).
  { intros x y [L| ->]; [left; now apply exp_increasing | lra]. }
  set (s := fun e y => sum (seq 0 K) (fun i => ln (fair_at m i (item (fair m K) i e) y))).
  assert (HP : forall e y, P e y = exp (/ INR K * s e y) / (exp (/ INR K * s e true) + exp (/ INR K * s e
    false))).
  { intros e y. unfold P, moreover_product, pool. change (classes (fair m K)) with [true; false].
    rewrite normalize_bools.
    change (items (fair m K)) with K. rewrite !sum_scal. easy. }
  (* it is never surer than 3/5 *)
  assert (HC : forall e y, P e y <= 3 / 5).
  { intros e y. rewrite HP.
    assert (T : exp (/ INR K * s e y) <= 3 / 2 * exp (/ INR K * s e (negb y))).
    { replace (3 / 2) with (exp l) by (apply exp_ln; lra). rewrite <- exp_plus. apply mono.
      assert (D : s e y <= INR m * ln 3 + s e (negb y)).
      { unfold s. rewrite <- (sum_first m K (ln 3)), <- sum_plus by easy. apply sum_le; intros i _.
        unfold fair_at.
        destruct (i <? m)%nat; [|lra]. set (x := item (fair m K) i e). pose proof (p34_range x (negb y)).
        pose proof (p34_range x y). rewrite <- ln_mult by lra.
        destruct (Rle_lt_or_eq_dec (p34 x y) (3 * p34 x (negb y)));
          [destruct x, y; simpl; lra | left; apply ln_increasing; lra | right; now f_equal]. }
      assert (B : INR m * ln 3 <= INR K * l).
      { assert (ln 3 = ln 3 / l * l) by (field; lra). assert (0 < ln 3 / l) by now apply Rdiv_lt_0_compat.
        nra. }
      apply Rmult_le_reg_l with (INR K); [lra|].
        rewrite Rmult_plus_distr_l, <- !Rmult_assoc, !Rinv_r by lra. lra. }
    pose proof (exp_pos (/ INR K * s e true)). pose proof (exp_pos (/ INR K * s e false)).
    apply Rmult_le_reg_r with (exp (/ INR K * s e true) + exp (/ INR K * s e false)); [lra|].
    unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra. destruct y; simpl in T; lra. }
  (* and almost always right *)
  assert (HJ : forall e, In e (evidence (fair m K)) ->
    mass (fair m K) e - sqrt (joint (fair m K) true e * joint (fair m K) false e) <= joint (fair m K) (hat
      e) e).
  { intros e He. assert (Q : joint (fair m K) (negb (hat e)) e <= joint (fair m K) (hat e) e).
    { destruct (Hh e He) as [_ q]. specialize (q (negb (hat e)) ltac:(simpl; destruct (hat e); simpl; tauto)).
      rewrite !HP in q. rewrite !fair_joint. fold (s e (hat e)). fold (s e (negb (hat e))).
      destruct (Rle_or_lt (s e (negb (hat e))) (s e (hat e))) as [L|L]; [apply Rmult_le_compat_l;
        [lra | now apply mono]|].
      exfalso. assert (L' : exp (/ INR K * s e (hat e)) < exp (/ INR K * s e (negb (hat e)))).
      { apply exp_increasing. now apply Rmult_lt_compat_l. }
      pose proof (exp_pos (/ INR K * s e true)). pose proof (exp_pos (/ INR K * s e false)).
      assert (D : 0 < / (exp (/ INR K * s e true) + exp (/ INR K * s e false))) by (apply Rinv_0_lt_compat;
        lra).
      apply (Rmult_lt_compat_r _ _ _ D) in L'. unfold Rdiv in q. lra. }
    assert (J : forall y, 0 < joint (fair m K) y e).
    { intros y. rewrite fair_joint. apply Rmult_lt_0_compat; [lra | apply exp_pos]. }
    change (mass (fair m K) e) with (joint (fair m K) true e + (joint (fair m K) false e + 0)).
    pose proof (J true) as j1. pose proof (J false) as j2.
    set (u := joint (fair m K) true e) in *. set (v := joint (fair m K) false e) in *.
    assert (G : forall x y, 0 < x -> 0 < y -> x <= y -> x <= sqrt (x * y)).
    { intros x y x0 y0 L. rewrite <- (sqrt_square x) at 1 by lra. apply sqrt_le_1_alt. nra. }
    destruct (hat e); simpl negb in Q; fold u v in Q |- *.
    - pose proof (G v u j2 j1 Q). rewrite (Rmult_comm u v). lra.
    - pose proof (G u v j1 j2 Q). lra. }
  pose proof (ece_ge (fair m K) HW bin P hat (fun e He => proj1 (Hh e He))) as G.
  assert (G3 : (7 / 8) ^ m <= / 4).
  { pose proof (bernoulli (/ 7) m ltac:(lra)) as Be. replace (7 / 8) with (/ (1 + / 7)) by lra.
    rewrite pow_inv. apply Rinv_le_contravar; lra. }
  assert (G1 : 7 / 8 <= sum (evidence (fair m K)) (fun e => joint (fair m K) (hat e) e)).
  { pose proof (fair_sqrt m K mK). apply Rle_trans with (sum (evidence (fair m K)) (fun e =>
      mass (fair m K) e - sqrt (joint (fair m K) true e * joint (fair m K) false e))); [|now apply sum_le].
    rewrite sum_minus, one_mass. lra. }
  assert (G2 : sum (evidence (fair m K)) (fun e => mass (fair m K) e * conf P hat e) <= 3 / 5).
  { rewrite <- (Rmult_1_l (3 / 5)), <- one_mass, <- sum_scal_r. apply sum_le; intros e He.
    apply Rmult_le_compat_l; [now apply mass_nonneg | apply HC]. }
  rewrite Rabs_pos_eq in G by lra.
  change (length (classes (fair m K))) with 2%nat in E. cbv zeta in E. change (items (fair m K)) with K in E.
  assert (EH : entropy (classes (fair m K)) (prior (fair m K)) = ln 2).
  { apply entropy_fair. intros y.
    apply (product_prior [true; false] [true; false] K true (fun _ => / 2) (fair_at m));
      [intros; apply fair_likelihood | destruct y; simpl; tauto]. }
  assert (RE : residual_entropy (fair m K) <= 2 * (19 / 20) ^ m).
  { assert ((7 / 8) ^ m <= (19 / 20) ^ m) by (apply pow_incr; lra).
    assert (0 < (7 / 8) ^ m) by (apply pow_lt; lra).
    pose proof (fair_sqrt m K mK). eapply Rle_trans; [apply residual_le; [easy|]|]; [|lra].
    intros y e. rewrite fair_joint. apply Rmult_lt_0_compat; [lra | apply exp_pos]. }
  assert (NS : 0 <= nz bool bool (fair m K) (fair_at m) <= 6 * INR m / (INR K - 1)).
  { apply (noise_small (fair m K)); auto using fair_factor, fair_range.
    intros i j x y z Hi Hj. unfold fair_at. now rewrite Hi, Hj. }
  rewrite EH in E. specialize (T4 _ _ (conj (residual_nonneg _ HW) RE) NS). lra.
Qed.
