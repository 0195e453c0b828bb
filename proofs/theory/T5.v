(* Theorem 5 of the paper (section 3.5): if floor(eps K) of K items are replaced, each by one whose factor is
   within delta in L1, the prediction moves by at most C eps delta sqrt K, with probability at least 1 -
   gamma, under assumptions 1 (evidence independent given the label), 4 (exact aggregation) and 6 (floor
   1/(2|Y|)).

   False for every C, already for one fixed decoder with two classes and Lipschitz constant 1; C may depend on
   the decoder and on the largest weight, which is 1 here. Also false where the weights sum to one. What can
   be saved: the bound |Y| delta (total weight of the replaced items), which is |Y| eps delta for equal
   weights 1/K. *)
Require Import Reals List Lra Psatz Arith.
From LPF Require Import Sums T5prime.
Import ListNotations.
Open Scope R_scope.

Definition classes (n : nat) : list nat := seq 0 n.
Definition items (K : nat) : list nat := seq 0 K.

(* A finite probability space: outcomes [os] with probabilities [prob]; events are boolean functions. *)
Definition probability {O} (os : list O) (prob : O -> R) (A : O -> bool) : R :=
  sum os (fun o => if A o then prob o else 0).

(* Assumption 1: given the label, the events "evidence item i lies in the set A_i" are independent,
   P(all i: e_i in A_i | Y = y) = prod P(e_i in A_i | Y = y). *)
Definition A1 {O E} (os : list O) (prob : O -> R) (label : O -> nat) (K : nat) (evidence : O -> nat -> E)
  : Prop :=
  forall (y : nat) (A : nat -> E -> bool),
    let P B := probability os prob B in
    let given B := P (fun o => B o && Nat.eqb (label o) y)%bool / P (fun o => Nat.eqb (label o) y) in
    0 < P (fun o => Nat.eqb (label o) y) ->
    given (fun o => forallb (fun i => A i (evidence o i)) (items K)) =
    prod (items K) (fun i => given (fun o => A i (evidence o i))).

(* Assumption 6: the factor of every item is a distribution with all entries at least 1/(2|Y|). *)
Definition A6 {E} (n : nat) (factor : E -> nat -> R) : Prop :=
  forall e, distribution (classes n) (factor e) /\ forall y, In y (classes n) -> / (2 * INR n) <= factor e y.

(* The claim for n classes, a map from evidence to factors, and the weights that are allowed for K items. The
   label and the clean evidence are random; the adversary sees all of it and marks floor(eps K) items as
   [bad], in place of which stand the items of [attacked]. Assumption 4 holds: [pool] is the exact normalized
   product. *)
Definition theorem_5 (n : nat) {E} (factor : E -> nat -> R) (weights : nat -> (nat -> R) -> Prop)
  (C gamma : R) : Prop :=
  forall (O : Type) (os : list O) (prob : O -> R) (label : O -> nat) (K : nat)
    (evidence attacked : O -> nat -> E)
    (bad : O -> nat -> bool) (w : nat -> R) (eps delta : R),
    distribution os prob -> (forall o, In o os -> (label o < n)%nat) -> A1 os prob label K evidence ->
    0 <= eps <= 1 -> 0 < delta -> weights K w ->
    (forall o, In o os -> let m := INR (length (filter (bad o) (items K))) in m <= eps * INR K < m + 1) ->
    (forall o i, In o os -> (i < K)%nat -> bad o i = false -> attacked o i = evidence o i) ->
    (forall o i, In o os -> (i < K)%nat -> L1 (classes n) (factor (evidence o i)) (factor (attacked o i))
      <= delta) ->
    let prediction es := pool (classes n) (items K) w (fun i => factor (es i)) in
    1 - gamma <= probability os prob (fun o =>
      if Rle_dec (L1 (classes n) (prediction (attacked o)) (prediction (evidence o)))
        (C * eps * delta * sqrt (INR K))
      then true else false).

(* Readings of the weights: between 0 and 1 (section 1.2); also summing to one (lemma 4); all equal to 1/K. *)
Definition unit_weights (K : nat) (w : nat -> R) : Prop := forall i, (i < K)%nat -> 0 <= w i <= 1.
Definition normalized_weights (K : nat) (w : nat -> R) : Prop := unit_weights K w /\ sum (items K) w = 1.
Definition equal_weights (K : nat) (w : nat -> R) : Prop := forall i, (i < K)%nat -> w i = / INR K.

(* A decoder with two classes: (1/2 + z/2, 1/2 - z/2), with z clipped to [-1/2, 1/2]. *)
Definition clip (z : R) : R := Rmax (- / 2) (Rmin (/ 2) z).
Definition slope (z : R) (y : nat) : R := match y with O => / 2 * (1 + clip z) | _ => / 2 * (1 - clip z) end.

Lemma clip_range z : - / 2 <= clip z <= / 2.
Proof.
  unfold clip. split; [apply Rmax_l|]. apply Rmax_lub; [lra | apply Rmin_l].
Qed.
Lemma clip_id z : - / 2 <= z <= / 2 -> clip z = z.
Proof. intros []. unfold clip. rewrite Rmin_right, Rmax_right; lra. Qed.
Lemma clip_lipschitz z z' : Rabs (clip z - clip z') <= Rabs (z - z').
Proof.
  unfold clip, Rmax, Rmin. repeat destruct (Rle_dec _ _); unfold Rabs; repeat destruct (Rcase_abs _); lra.
Qed.
Lemma L1_two (p q : nat -> R) : L1 (classes 2) p q = Rabs (p 0%nat - q 0%nat) + Rabs (p 1%nat - q 1%nat).
Proof. unfold L1; simpl; lra. Qed.
Lemma slope_L1 z z' : L1 (classes 2) (slope z) (slope z') = Rabs (clip z - clip z').
Proof.
  rewrite L1_two. unfold slope.
  replace (/ 2 * (1 + clip z) - / 2 * (1 + clip z')) with (/ 2 * (clip z - clip z')) by ring.
  replace (/ 2 * (1 - clip z) - / 2 * (1 - clip z')) with (- (/ 2 * (clip z - clip z'))) by ring.
  rewrite Rabs_Ropp, Rabs_mult, (Rabs_pos_eq (/ 2)); lra.
Qed.
Lemma slope_A6 : A6 2 slope.
Proof.
  intros z. pose proof (clip_range z) as [].
  assert (F : forall y, In y (classes 2) -> / (2 * INR 2) <= slope z y).
  { intros [|y] _; unfold slope; simpl; lra. }
  split; [split|exact F].
  - intros y Hy. specialize (F y Hy). simpl in F. lra.
  - simpl. lra.
Qed.

(* In a world with a single outcome every evidence is independent given the label. *)
Lemma A1_single {E} (K : nat) (e : nat -> E) : A1 [tt] (fun _ => 1) (fun _ => 0%nat) K (fun _ => e).
Proof.
  intros y A P given H. unfold given, P, probability in *. destruct y; simpl in *; [|lra].
  assert (G : forall b : bool, ((if (b && true)%bool then 1 else 0) + 0) / (1 + 0) = if b then 1 else 0)
    by (intros []; simpl; field).
  rewrite G. induction (items K) as [|i t IH]; simpl; [easy|].
  rewrite <- IH, G. destruct (A i (e i)); simpl; [|ring]. destruct (forallb _ t); ring.
Qed.
Lemma one_outcome : distribution [tt] (fun _ => 1).
Proof. split; [intros; lra | simpl; lra]. Qed.

(* The claim in the world with one outcome, clean latent values 0 and attacked values z_i. *)
Lemma theorem_5_here weights C gamma : theorem_5 2 slope weights C gamma -> gamma < 1 ->
  forall K (bad : nat -> bool) (w z : nat -> R) eps delta, 0 <= eps <= 1 -> 0 < delta -> weights K w ->
  (let m := INR (length (filter bad (items K))) in m <= eps * INR K < m + 1) ->
  (forall i, bad i = false -> z i = 0) -> (forall i, Rabs (clip (z i)) <= delta) ->
  L1 (classes 2) (pool (classes 2) (items K) w (fun i => slope (z i)))
     (pool (classes 2) (items K) w (fun i => slope 0)) <= C * eps * delta * sqrt (INR K).
Proof.
  intros H g K bad w z eps delta He Hd Hw Hm Hz Hl.
  specialize (H unit [tt] (fun _ => 1) (fun _ => 0%nat) K (fun _ _ => 0) (fun _ => z) (fun _ => bad)
    w eps delta).
  cbv zeta in H. unfold probability in H. cbn [sum] in H.
  match type of H with context [Rle_dec ?a ?b] => destruct (Rle_dec a b) as [y|n] end; [exact y|].
  exfalso. assert (1 - gamma <= 0 + 0); [|lra]. apply H; auto.
  - apply one_outcome.
  - apply A1_single.
  - intros _ i _ _. rewrite slope_L1, (clip_id 0), Rabs_minus_sym, Rminus_0_r by lra. apply Hl.
Qed.

Lemma prod_const {A} (l : list A) c : prod l (fun _ => c) = c ^ length l.
Proof. induction l; simpl; [easy|]. now rewrite IHl. Qed.
Lemma bernoulli x n : -1 <= x -> 1 + INR n * x <= (1 + x) ^ n.
Proof.
  intros Hx. induction n; [simpl; lra|]. rewrite S_INR. simpl.
  assert (0 <= INR n) by apply pos_INR. nra.
Qed.
Lemma large (x : R) : exists K : nat, x < INR K /\ 0 < INR K.
Proof.
  destruct (archimed_cor1 (/ (Rabs x + 1))) as [K [HK K0]].
  { apply Rinv_0_lt_compat. pose proof (Rabs_pos x). lra. }
  apply lt_0_INR in K0. exists K. split; [|easy].
  pose proof (Rle_abs x). pose proof (Rabs_pos x).
  apply Rnot_le_lt; intros G.
  assert (/ (Rabs x + 1) <= / INR K) by (apply Rinv_le_contravar; lra). lra.
Qed.

(* All K items with weight 1 moved by 1/K: the product moves by at least 3/5. *)
Lemma all_moved K : 4 < INR K ->
  3 / 5 <= L1 (classes 2) (pool (classes 2) (items K) (fun _ => 1) (fun i => slope (/ INR K)))
              (pool (classes 2) (items K) (fun _ => 1) (fun i => slope 0)).
Proof.
  intros K4. set (d := / INR K).
  assert (Kd : INR K * d = 1) by (apply Rinv_r; lra).
  assert (d0 : 0 < d) by (apply Rinv_0_lt_compat; lra).
  assert (d1 : d < / 4) by (apply Rinv_lt_contravar; lra).
  set (a := (1 + d) ^ K). set (b := (1 - d) ^ K).
  assert (a2 : 2 <= a). { pose proof (bernoulli d K). unfold a. lra. }
  assert (b0 : 0 < b) by (apply pow_lt; lra).
  assert (ab : a * b <= 1).
  { unfold a, b. rewrite <- Rpow_mult_distr.
    apply Rle_trans with (1 ^ K); [apply pow_incr; split; nra | rewrite pow1; lra]. }
  assert (b2 : b <= / 2). { apply Rmult_le_reg_l with 2; [lra|]. rewrite Rinv_r by lra. nra. }
  assert (h0 : 0 < (/ 2) ^ K) by (apply pow_lt; lra).
  assert (V : forall z y, - / 2 <= z <= / 2 -> unnormalized (items K) (fun _ => 1) (fun _ => slope z) y =
    (/ 2) ^ K * match y with O => (1 + z) ^ K | _ => (1 - z) ^ K end).
  { intros z y Hz. unfold unnormalized. rewrite prod_const. unfold items. rewrite seq_length, power_1.
    - destruct y; unfold slope; rewrite clip_id, Rpow_mult_distr by assumption; reflexivity.
    - destruct y; unfold slope; rewrite clip_id by assumption; lra. }
  rewrite L1_two. unfold pool, normalize. unfold classes at 1 2 3 4; simpl sum. rewrite !V by lra. fold a b.
  replace (1 + 0) with 1 by ring. replace (1 - 0) with 1 by ring. rewrite !pow1. set (h := (/ 2) ^ K) in *.
  assert (ha : 0 < h * a) by nra. assert (hb : 0 < h * b) by nra.
  assert (L : 3 / 5 <= (a - b) / (a + b)).
  { apply Rmult_le_reg_r with (a + b); [lra|].
    replace ((a - b) / (a + b) * (a + b)) with (a - b) by (field; lra). lra. }
  match goal with |- _ <= Rabs ?x + Rabs ?y =>
    replace x with ((a - b) / (a + b) / 2) by (field; repeat split; lra);
    replace y with (- ((a - b) / (a + b) / 2)) by (field; repeat split; lra) end.
  rewrite Rabs_Ropp, Rabs_pos_eq; lra.
Qed.

(** claim: T5 | refutes | caveats: reals
    One fixed decoder with two classes that satisfies assumption 6 and has Lipschitz constant 1, evidence that
    satisfies assumption 1, all weights 1: moving each of K items by 1/K moves the prediction by at least 3/5
    once K > 4, where the claim allows C/sqrt K. So no constant C works, with any probability 1 - gamma > 0.
    Paper: theorem 5, section 3.5; step 4 of its proof, appendix B.5. *)
Theorem T5_refuted :
  A6 2 slope /\ (forall z z', L1 (classes 2) (slope z) (slope z') <= Rabs (z - z')) /\
  forall C gamma, gamma < 1 -> ~ theorem_5 2 slope unit_weights C gamma.
Proof.
  split; [exact slope_A6|]. split; [intros; rewrite slope_L1; apply clip_lipschitz|].
  intros C gamma g H. pose proof (pow2_ge_0 C).
  destruct (large (4 * C ^ 2 + 4)) as [K [K4 _]]. set (d := / INR K).
  assert (d0 : 0 < d) by (apply Rinv_0_lt_compat; lra).
  assert (d1 : d < / 4) by (apply Rinv_lt_contravar; lra).
  assert (B := theorem_5_here _ _ _ H g K (fun _ => true) (fun _ => 1) (fun _ => d) 1 d).
  assert (F : forall l : list nat, filter (fun _ => true) l = l) by (induction l; simpl; congruence).
  rewrite F in B. unfold items in B at 1 2. rewrite !seq_length in B.
  assert (N := all_moved K). fold d in N.
  assert (3 / 5 <= C * 1 * d * sqrt (INR K)).
  { eapply Rle_trans; [apply N; lra|]. apply B; try lra; try easy.
    - intros i _; lra.
    - intros _. rewrite clip_id, Rabs_pos_eq; lra. }
  set (s := sqrt (INR K)) in *.
  assert (ss : s * s = INR K) by (apply sqrt_sqrt; lra).
  assert (s0 : 0 < s) by (apply sqrt_lt_R0; lra).
  assert (Kd : INR K * d = 1) by (apply Rinv_r; lra).
  assert (d * s * s = 1) by nra.
  assert (2 * C < s) by nra.
  assert (C * d * s <= / 2) by (apply Rmult_le_reg_r with s; [lra|]; nra).
  lra.
Qed.

(* One item carries all the weight. *)
Definition first_only (i : nat) : R := if Nat.eqb i 0 then 1 else 0.
Lemma first_only_sum K : sum (items (S K)) first_only = 1.
Proof.
  unfold items. simpl. rewrite <- seq_shift.
  assert (G : forall l, sum (map S l) first_only = 0) by
    (induction l; simpl; [easy | unfold first_only at 1; simpl; lra]).
  rewrite G. unfold first_only. simpl. lra.
Qed.
Lemma first_only_pool K (f : nat -> nat -> R) y : (forall i y, 0 <= f i y) ->
  unnormalized (items (S K)) first_only f y = f 0%nat y.
Proof.
  intros f0. unfold unnormalized, items. simpl. rewrite <- seq_shift.
  assert (G : forall l, prod (map S l) (fun i => power (f i y) (first_only i)) = 1).
  { induction l; simpl; [easy|]. rewrite IHl. unfold first_only, power. simpl.
    destruct (Req_EM_T 0 0); lra. }
  rewrite G. unfold first_only. simpl. rewrite power_1 by apply f0. ring.
Qed.

(** claim: T5 | refutes | caveats: reals
    The claim stays false where the weights sum to one: let one item carry all the weight, and let it alone be
    replaced, eps = 1/K. The prediction then moves by delta, where the claim allows C delta/sqrt K.
    Paper: theorem 5, with the weights of lemma 4. *)
Theorem T5_normalized_refuted : forall C gamma, gamma < 1 -> ~ theorem_5 2 slope normalized_weights C gamma.
Proof.
  intros C gamma g H. pose proof (pow2_ge_0 C).
  destruct (large (4 * C ^ 2 + 4)) as [[|K] [K4 _]]; [simpl in K4; lra|].
  assert (k0 : 0 < INR (S K)) by lra.
  set (z := fun i => if Nat.eqb i 0 then / 2 else 0).
  assert (B := theorem_5_here _ _ _ H g (S K) (fun i => Nat.eqb i 0) first_only z (/ INR (S K)) (/ 2)).
  assert (i0 : 0 < / INR (S K)) by now apply Rinv_0_lt_compat.
  assert (i1 : / INR (S K) <= 1) by (rewrite <- Rinv_1; apply Rinv_le_contravar; lra).
  assert (F : filter (fun i => Nat.eqb i 0) (items (S K)) = [0%nat]).
  { unfold items. simpl. f_equal. rewrite <- seq_shift. induction (seq 0 K); simpl; auto. }
  assert (S0 : forall z y, 0 <= slope z y).
  { intros x y. pose proof (clip_range x). unfold slope. destruct y; lra. }
  assert (L : / 2 <= C * / INR (S K) * / 2 * sqrt (INR (S K))).
  { eapply Rle_trans; [|apply B; clear B].
    - rewrite L1_two. unfold pool, normalize. unfold classes; cbn [seq sum].
      rewrite !first_only_pool by (intros; apply S0). unfold slope, z. cbn [Nat.eqb].
      rewrite !clip_id by lra.
      match goal with |- _ <= Rabs ?x + Rabs ?y => replace x with (/ 4) by field; replace y with (- / 4)
        by field end.
      rewrite Rabs_Ropp, Rabs_pos_eq; lra.
    - lra.
    - lra.
    - split; [|apply first_only_sum]. intros i _. unfold first_only. destruct (Nat.eqb i 0); lra.
    - rewrite F. simpl length. rewrite Rinv_l by lra. simpl. lra.
    - intros i Hi. unfold z. now rewrite Hi.
    - intros i. unfold z. destruct (Nat.eqb i 0); rewrite clip_id by lra;
        [rewrite Rabs_pos_eq; lra | rewrite Rabs_R0; lra]. }
  set (k := INR (S K)) in *. set (s := sqrt k) in *.
  assert (ss : s * s = k) by (apply sqrt_sqrt; lra).
  assert (s0 : 0 < s) by (apply sqrt_lt_R0; lra).
  assert (kk : / k * k = 1) by (apply Rinv_l; lra).
  assert (2 * C < s) by nra.
  assert (C * / k * s <= / 2).
  { apply Rmult_le_reg_r with s; [lra|]. replace (C * / k * s * s) with (C * (/ k * k)) by
      (rewrite <- ss at 2; ring).
    rewrite kk. lra. }
  lra.
Qed.

(** * What can be saved *)

Lemma ln_1p_le x : 0 <= x -> ln (1 + x) <= x.
Proof.
  intros H. rewrite <- (ln_exp x) at 2. apply ln_mono; [lra|].
  destruct H as [H|<-]; [left; apply exp_ineq1; lra | rewrite exp_0; lra].
Qed.
Lemma tanh_le x : 0 <= x -> tanh x <= x.
Proof.
  intros H. destruct H as [H|<-]; [|unfold tanh, sinh; rewrite Ropp_0; lra].
  destruct (MVT_cor2 (fun y => y * cosh y - sinh y) (fun y => y * sinh y) 0 x H) as [c [E [c0 c1]]].
  { intros c _. replace (c * sinh c) with ((1 * cosh c + c * sinh c) - cosh c) by ring.
    apply derivable_pt_lim_minus; [|apply derivable_pt_lim_sinh].
    apply (derivable_pt_lim_mult id cosh); [apply derivable_pt_lim_id | apply derivable_pt_lim_cosh]. }
  rewrite sinh_0, Rmult_0_l, !Rminus_0_r in E.
  assert (0 <= sinh c). { unfold sinh. assert (exp (- c) <= exp c) by (apply exp_le; lra). lra. }
  assert (C0 : 0 < cosh x). { unfold cosh. pose proof (exp_pos x). pose proof (exp_pos (- x)). lra. }
  unfold tanh. apply Rmult_le_reg_r with (cosh x); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
  assert (0 <= c * sinh c) by (apply Rmult_le_pos; lra). nra.
Qed.

(** claim: T5' | proves | caveats: reals
    Linear form of T5' under assumption 6: with n classes the prediction moves by at most n delta times the
    total weight of the replaced items, for all real weights w_i >= 0 and any set of replaced items. *)
Theorem T5prime_linear : forall (n : nat) (E : Type) (factor : E -> nat -> R) (K : nat) (bad : nat -> bool)
  (w : nat -> R) (e e' : nat -> E) (delta : R),
  (0 < n)%nat -> A6 n factor -> (forall i, (i < K)%nat -> 0 <= w i) ->
  (forall i, (i < K)%nat -> bad i = false -> e' i = e i) ->
  (forall i, (i < K)%nat -> L1 (classes n) (factor (e i)) (factor (e' i)) <= delta) -> 0 <= delta ->
  L1 (classes n) (pool (classes n) (items K) w (fun i => factor (e i)))
     (pool (classes n) (items K) w (fun i => factor (e' i)))
  <= INR n * delta * sum (filter bad (items K)) w.
Proof.
  intros n E factor K bad w e e' delta n0 HA w0 Hb Hd d0.
  assert (N : 0 < INR n) by now apply lt_0_INR.
  assert (low : 0 < / (2 * INR n)) by (apply Rinv_0_lt_compat; lra).
  assert (iK : forall i, In i (items K) -> (i < K)%nat) by (intros i Hi; apply in_seq in Hi; lia).
  eapply Rle_trans.
  - apply (T5prime_floor nat nat (classes n) (items K) bad w _ _ (/ (2 * INR n)) (fun _ => delta)); auto.
    + destruct n; [lia | easy].
    + intros; apply HA.
    + intros; apply HA.
    + intros; now apply HA.
    + intros; now apply HA.
    + intros i y Hi _ Bi. now rewrite Hb by auto.
  - set (x := sum _ _).
    assert (D : delta / (2 * / (2 * INR n)) = INR n * delta) by (field; lra).
    assert (X : 0 <= x <= INR n * delta * sum (filter bad (items K)) w).
    { unfold x. rewrite D. split.
      - apply sum_nonneg; intros i Hi. apply filter_In in Hi. apply Rmult_le_pos; [apply w0, iK; tauto|].
        rewrite <- ln_1. apply ln_mono; nra.
      - rewrite <- sum_scal. apply sum_le; intros i Hi. apply filter_In in Hi. rewrite Rmult_comm.
        apply Rmult_le_compat_r; [apply w0, iK; tauto|]. apply ln_1p_le. nra. }
    pose proof (tanh_le (x / 2)). lra.
Qed.

(** claim: T5' | proves | caveats: reals, equal-weights
    With equal weights 1/K (what a mean of log factors has) the claim of theorem 5 holds with C = |Y|, for
    certain (gamma = 0), and the factor sqrt K is not needed; any K >= 1. *)
Theorem T5_equal_weights_true : forall (n : nat) (E : Type) (factor : E -> nat -> R) (gamma : R),
  (0 < n)%nat -> A6 n factor -> 0 <= gamma -> theorem_5 n factor equal_weights (INR n) gamma.
Proof.
  intros n E factor gamma n0 HA g O os prob label K ev att bad w eps delta dp _ _ He Hd Hw Hm Hb Hl.
  cbv zeta. destruct dp as [p0 p1]. unfold probability.
  rewrite (sum_ext os _ prob); [lra|]. intros o Ho. destruct (Rle_dec _ _) as [y|N]; [easy|]. exfalso;
    apply N.
  destruct K as [|K].
  { unfold L1, pool, normalize, unnormalized, items; simpl. rewrite sqrt_0, Rmult_0_r.
    rewrite (sum_ext _ _ (fun _ => 0)), sum_0; [lra|]. intros y _. rewrite Rminus_diag_eq by easy.
      apply Rabs_R0. }
  assert (k1 : 1 <= INR (S K)) by (rewrite S_INR; pose proof (pos_INR K); lra).
  set (k := INR (S K)) in *.
  apply Rle_trans with (INR n * delta * eps).
  - unfold L1. rewrite (sum_ext _ _ (fun y => Rabs
      (pool (classes n) (items (S K)) w (fun i => factor (ev o i)) y
      - pool (classes n) (items (S K)) w (fun i => factor (att o i)) y))) by (intros; apply Rabs_minus_sym).
    eapply Rle_trans; [apply (T5prime_linear n E factor (S K) (bad o) w (ev o) (att o) delta); auto|].
    + intros i Hi. rewrite Hw by easy. left. apply Rinv_0_lt_compat. fold k. lra.
    + lra.
    + apply Rmult_le_compat_l; [apply Rmult_le_pos; [apply pos_INR | lra]|].
      rewrite (sum_ext _ _ (fun _ => / k * 1)).
      * rewrite sum_scal. assert (C1 : forall l : list nat, sum l (fun _ => 1) = INR (length l)).
        { induction l; [easy|]. cbn [sum length]. rewrite IHl, S_INR. lra. }
        rewrite C1. destruct (Hm o Ho) as [M _]. apply Rmult_le_reg_l with k; [lra|].
        rewrite <- Rmult_assoc, Rinv_r by lra. fold k in M. lra.
      * intros i Hi. apply filter_In in Hi. destruct Hi as [Hi _]. apply in_seq in Hi. rewrite Hw by lia.
          fold k. lra.
  - assert (1 <= sqrt k) by (rewrite <- sqrt_1; apply sqrt_le_1; lra).
    assert (0 <= INR n * delta * eps) by (repeat apply Rmult_le_pos; try apply pos_INR; lra).
    replace (INR n * eps * delta * sqrt k) with (INR n * delta * eps * sqrt k) by ring. nra.
Qed.
