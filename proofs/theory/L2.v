(* Lemma 2 (appendix A.2), Hoeffding's inequality, for independent bounded variables on any probability space:
   each with its own range, and all with one range as in the paper. As printed, the mean E[X_i] stands where i
   is bound by nothing; read literally for variables that differ, that form fails. *)
Require Import Reals List Lra Psatz.
From Coquelicot Require Import Coquelicot.
From LPF Require Import Sums Probability.
Import ListNotations.
Open Scope R_scope.

Lemma exp_tangent x c : exp c * (1 + (x - c)) <= exp x.
Proof.
  replace (exp x) with (exp c * exp (x - c)) by (rewrite <- exp_plus; f_equal; lra).
  apply Rmult_le_compat_l; [left; apply exp_pos|].
  destruct (Req_dec (x - c) 0) as [->|N]; [rewrite exp_0; lra|]. left; now apply exp_ineq1.
Qed.

Lemma exp_chord t h : 0 <= t <= 1 -> exp (t * h) <= 1 - t + t * exp h.
Proof.
  intros [t0 t1]. pose proof (exp_tangent 0 (t * h)) as A. pose proof (exp_tangent h (t * h)) as B.
  rewrite exp_0 in A. set (e := exp (t * h)) in *. nra.
Qed.

(* (e^y - 1)/(e^y + 1) <= y/2, that is tanh x <= x. *)
Lemma tanh_le y : 0 <= y -> 2 * (exp y - 1) <= y * (exp y + 1).
Proof.
  intros [Hy|<-]; [|rewrite exp_0; lra].
  destruct (MVT_gen (fun y => y * (exp y + 1) - 2 * (exp y - 1)) 0 y
    (fun y => 1 + (y - 1) * exp y)) as [c [Hc E]].
  - intros x _. auto_derive; [easy|ring].
  - intros x _. apply derivable_continuous_pt, ex_derive_Reals_0. auto_derive; easy.
  - rewrite exp_0 in E. pose proof (exp_tangent 0 c) as T. rewrite exp_0 in T.
    rewrite Rmin_left, Rmax_right in Hc by lra. nra.
Qed.

(* Hoeffding's lemma for a coin; the derivative is bounded by a square. *)
Lemma coin_pos p h : 0 <= p <= 1 -> 0 <= h -> 1 - p + p * exp h <= exp (p * h + h ^ 2 / 8).
Proof.
  intros Hp [Hh|<-]; [|rewrite exp_0, Rmult_0_r; replace (0 + 0 ^ 2 / 8) with 0 by lra; rewrite exp_0; lra].
  assert (D0 : forall x, 0 < 1 - p + p * exp x).
  { intros x. pose proof (exp_pos x). destruct (Req_dec p 1) as [->|]; nra. }
  destruct (MVT_gen (fun x => p * x + x ^ 2 / 8 - ln (1 - p + p * exp x)) 0 h
    (fun x => p + x / 4 - p * exp x / (1 - p + p * exp x))) as [c [Hc E]].
  - intros x _. specialize (D0 x). auto_derive; [easy|]. field. lra.
  - intros x _. specialize (D0 x). apply derivable_continuous_pt, ex_derive_Reals_0. auto_derive; easy.
  - rewrite Rmin_left, Rmax_right in Hc by lra.
    rewrite exp_0 in E. replace (1 - p + p * 1) with 1 in E by ring. rewrite ln_1 in E.
    assert (G : 0 <= p + c / 4 - p * exp c / (1 - p + p * exp c)).
    { pose proof (tanh_le (c / 2)) as T. set (s := exp (c / 2)) in *.
      assert (es : exp c = s * s) by (unfold s; rewrite <- exp_plus; f_equal; lra).
      assert (s1 : 1 <= s).
      { unfold s. pose proof (exp_tangent (c / 2) 0) as Q. rewrite exp_0 in Q. lra. }
      specialize (D0 c). rewrite es in *.
      assert (A : p * (s * s) / (1 - p + p * (s * s)) - p <= (s - 1) / (s + 1)).
      { apply Rmult_le_reg_r with ((1 - p + p * (s * s)) * (s + 1)); [nra|].
        replace ((p * (s * s) / (1 - p + p * (s * s)) - p) * ((1 - p + p * (s * s)) * (s + 1)))
          with ((p * (s * s) - p * (1 - p + p * (s * s))) * (s + 1)) by (field; lra).
        replace ((s - 1) / (s + 1) * ((1 - p + p * (s * s)) * (s + 1)))
          with ((s - 1) * (1 - p + p * (s * s))) by (field; lra).
        pose proof (pow2_ge_0 (1 - p - p * s)). nra. }
      assert (B : (s - 1) / (s + 1) <= c / 4).
      { apply Rmult_le_reg_r with (s + 1); [lra|].
        replace ((s - 1) / (s + 1) * (s + 1)) with (s - 1) by (field; lra).
        assert (0 <= c / 2) by lra. specialize (T H). lra. }
      lra. }
    assert (L : ln (1 - p + p * exp h) <= p * h + h ^ 2 / 8) by nra.
    rewrite <- (exp_ln _ (D0 h)).
    destruct L as [L| ->]; [left; now apply exp_increasing | right; easy].
Qed.

Lemma coin p h : 0 <= p <= 1 -> 1 - p + p * exp h <= exp (p * h + h ^ 2 / 8).
Proof.
  intros Hp. destruct (Rle_lt_dec 0 h); [now apply coin_pos|].
  pose proof (coin_pos (1 - p) (- h)) as C.
  assert (K : 1 - p + p * exp h = exp h * (1 - (1 - p) + (1 - p) * exp (- h))).
  { rewrite exp_Ropp. field. pose proof (exp_pos h); lra. }
  rewrite K. replace (p * h + h ^ 2 / 8) with (h + ((1 - p) * - h + (- h) ^ 2 / 8)) by field.
  rewrite exp_plus. apply Rmult_le_compat_l; [left; apply exp_pos|]. apply C; lra.
Qed.

Lemma exp_sum {A} (l : list A) f : exp (sum l f) = prod l (fun i => exp (f i)).
Proof. induction l; simpl; [apply exp_0 | now rewrite exp_plus, IHl]. Qed.
Lemma prod_le {A} (l : list A) f g :
  (forall x, In x l -> 0 <= f x <= g x) -> prod l f <= prod l g.
Proof.
  induction l as [|x t IH]; simpl; intros H; [lra|].
  apply Rmult_le_compat; [apply H; now left | apply prod_nonneg; intros; apply H; now right
    | apply H; now left | apply IH; intros; apply H; now right].
Qed.

(* Hoeffding's lemma: the moment generating function of a bounded, centred variable. *)
Lemma hoeffding_lemma {S : space} (X : outcome S -> R) a b s : rv X -> (forall o, a <= X o <= b) ->
  E (fun o => exp (s * (X o - E X))) <= exp (s ^ 2 * (b - a) ^ 2 / 8).
Proof.
  intros HX H. set (m := E X).
  assert (ma : a <= m).
  { rewrite <- (@E_const S a). apply E_le; [apply rv_const | easy | intros; apply H]. }
  assert (mb : m <= b).
  { rewrite <- (@E_const S b). apply E_le; [easy | apply rv_const | intros; apply H]. }
  destruct (Req_dec a b) as [->|ne].
  { rewrite (E_ext _ (fun _ => 1)).
    - rewrite E_const. replace (s ^ 2 * (b - b) ^ 2 / 8) with 0 by field. rewrite exp_0; lra.
    - intros o. specialize (H o). replace (s * (X o - m)) with 0 by (replace (X o) with m by lra; ring).
      apply exp_0. }
  set (w := b - a). assert (w0 : 0 < w) by (unfold w; lra).
  set (p := (m - a) / w). set (h := s * w).
  assert (pw : p * w = m - a) by (unfold p; field; lra).
  assert (Hp : 0 <= p <= 1) by (unfold w in *; split; nra).
  apply Rle_trans with (E (fun o => exp (- (p * h)) * (1 + (exp h - 1) / w * (X o - a)))).
  - apply E_le.
    + apply rv_exp, rv_scal, rv_minus; [easy | apply rv_const].
    + apply rv_scal, rv_plus; [apply rv_const|]. apply rv_scal, rv_minus; [easy | apply rv_const].
    + intros o. destruct (H o) as [va vb].
      set (t := (X o - a) / w). assert (tw : t * w = X o - a) by (unfold t; field; lra).
      assert (Ht : 0 <= t <= 1) by (unfold w in *; split; nra).
      replace (s * (X o - m)) with (- (p * h) + t * h)
        by (unfold h; replace (X o - m) with (t * w - p * w) by lra; ring).
      rewrite exp_plus. apply Rmult_le_compat_l; [left; apply exp_pos|].
      replace (1 + (exp h - 1) / w * (X o - a)) with (1 - t + t * exp h) by (unfold t; field; lra).
      now apply exp_chord.
  - assert (R1 : rv (fun o => X o - a)) by (apply rv_minus; [easy | apply rv_const]).
    rewrite (E_scal S _ (fun o => 1 + (exp h - 1) / w * (X o - a)))
      by (apply rv_plus; [apply rv_const | now apply rv_scal]).
    rewrite (E_plus S (fun _ => 1)), E_const, E_scal, (E_minus X), E_const;
      [| easy | apply rv_const | easy | apply rv_const | now apply rv_scal].
    fold m. replace (1 + (exp h - 1) / w * (m - a)) with (1 - p + p * exp h) by (unfold p; field; lra).
    replace (s ^ 2 * w ^ 2 / 8) with (- (p * h) + (p * h + h ^ 2 / 8)) by (unfold h; field).
    rewrite exp_plus. apply Rmult_le_compat_l; [left; apply exp_pos | now apply coin].
Qed.

Section Independent.
Context {S : space} {I : Type} (l : list I) (X : I -> outcome S -> R) (a b : I -> R).
Hypothesis (HX : forall i, In i l -> rv (X i)).
Hypothesis (HR : forall i, In i l -> forall o, a i <= X i o <= b i).
Hypothesis (HI : independent l X).
Let D o := sum l (fun i => X i o) - sum l (fun i => E (X i)).
Let V := sum l (fun i => (b i - a i) ^ 2).

Lemma deviation_rv : rv D.
Proof. apply rv_minus; [now apply rv_sum | apply rv_const]. Qed.

Lemma moment s : E (fun o => exp (s * D o)) <= exp (s ^ 2 * V / 8).
Proof.
  rewrite (E_ext _ (fun o => prod l (fun i => exp (s * (X i o - E (X i)))))).
  - rewrite (HI (fun i x => exp (s * (x - E (X i))))).
    + replace (s ^ 2 * V / 8) with (sum l (fun i => s ^ 2 * (b i - a i) ^ 2 / 8)).
      * rewrite exp_sum. apply prod_le. intros i Hi. split.
        -- apply E_pos; [|intros; left; apply exp_pos].
           apply rv_exp, rv_scal, rv_minus; [now apply HX | apply rv_const].
        -- apply hoeffding_lemma; auto.
      * unfold V. unfold Rdiv at 2. rewrite <- sum_scal, <- sum_scal_r. now apply sum_ext.
    + intros i. apply derivable_continuous. unfold derivable. intros x.
      apply ex_derive_Reals_0. auto_derive. easy.
  - intros o. rewrite <- exp_sum. f_equal. unfold D. now rewrite <- sum_minus, sum_scal.
Qed.

Lemma ranges_tail t : 0 < t -> 0 < V ->
  prob_gt (fun o => Rabs (D o)) t <= 2 * exp (- (2 * t ^ 2 / V)).
Proof.
  intros t0 V0. set (s := 4 * t / V). assert (s0 : 0 < s) by (unfold s; apply Rdiv_lt_0_compat; lra).
  assert (RE : forall c, rv (fun o => exp (c * D o))) by (intros; apply rv_exp, rv_scal, deviation_rv).
  apply Rle_trans with (E (fun o => exp (- (s * t)) * (exp (s * D o) + exp (- s * D o)))).
  - apply E_le; [apply rv_gt, rv_abs, deviation_rv | apply rv_scal, rv_plus; apply RE |].
    intros o. rewrite Rmult_plus_distr_l, <- !exp_plus.
    pose proof (exp_pos (- (s * t) + s * D o)). pose proof (exp_pos (- (s * t) + - s * D o)).
    unfold ind. destruct Rlt_dec as [G|_]; [|lra].
    unfold Rabs in G. destruct (Rcase_abs (D o)).
    + pose proof (exp_tangent (- (s * t) + - s * D o) 0) as T. rewrite exp_0 in T. nra.
    + pose proof (exp_tangent (- (s * t) + s * D o) 0) as T. rewrite exp_0 in T. nra.
  - rewrite (E_scal S _ (fun o => exp (s * D o) + exp (- s * D o))) by (apply rv_plus; apply RE).
    rewrite E_plus by apply RE.
    pose proof (moment s) as M1. pose proof (moment (- s)) as M2.
    replace ((- s) ^ 2) with (s ^ 2) in M2 by ring.
    replace (- (2 * t ^ 2 / V)) with (- (s * t) + s ^ 2 * V / 8) by (unfold s; field; lra).
    rewrite exp_plus. pose proof (exp_pos (- (s * t))). nra.
Qed.
End Independent.

(** claim: L2 | proves | caveats: bounded-variables
    Hoeffding's inequality with a range [a_i, b_i] for each variable: the sum of independent variables is
    further than t from its mean with probability at most 2 exp(-2t^2 / sum (b_i - a_i)^2). Paper: lemma 2,
    appendix A.2. *)
Theorem L2_ranges (S : space) (I : Type) (l : list I) (X : I -> outcome S -> R) (a b : I -> R) (t : R) :
  let V := sum l (fun i => (b i - a i) ^ 2) in
  0 < t -> 0 < V ->
  (forall i, In i l -> rv (X i)) -> (forall i, In i l -> forall o, a i <= X i o <= b i) -> independent l X ->
  prob_gt (fun o => Rabs (sum l (fun i => X i o) - sum l (fun i => E (X i)))) t
  <= 2 * exp (- (2 * t ^ 2 / V)).
Proof. intros V t0 V0 HX HR HI. now apply ranges_tail. Qed.

(** claim: L2 | proves | caveats: bounded-variables
    Hoeffding's inequality: the average of n independent variables in [a, b] is further than eps from its mean
    with probability at most 2 exp(-2 n eps^2 / (b - a)^2). Paper: lemma 2, appendix A.2, with the mean of the
    average in the place of E[X_i]. *)
Theorem L2_hoeffding (S : space) (I : Type) (l : list I) (X : I -> outcome S -> R) (a b eps : R) :
  let n := INR (length l) in
  l <> [] -> a < b -> 0 < eps ->
  (forall i, In i l -> rv (X i)) -> (forall i, In i l -> forall o, a <= X i o <= b) -> independent l X ->
  prob_gt (fun o => Rabs (/ n * sum l (fun i => X i o) - / n * sum l (fun i => E (X i)))) eps
  <= 2 * exp (- (2 * n * eps ^ 2 / (b - a) ^ 2)).
Proof.
  intros n Hl ab e0 HX HR HI.
  assert (n0 : 0 < n) by (unfold n; destruct l; [easy | apply lt_0_INR; simpl; apply Nat.lt_0_succ]).
  assert (w0 : 0 < (b - a) ^ 2) by (apply pow_lt; lra).
  pose proof (L2_ranges S I l X (fun _ => a) (fun _ => b) (n * eps)) as H. cbv beta zeta in H.
  rewrite sum_const in H. fold n in H.
  replace (2 * n * eps ^ 2 / (b - a) ^ 2) with (2 * (n * eps) ^ 2 / (n * (b - a) ^ 2)) by (field; lra).
  eapply Rle_trans; [|apply H; try easy; nra].
  right. apply E_ext. intros o. rewrite <- Rmult_minus_distr_l, Rabs_mult, (Rabs_pos_eq (/ n))
    by (left; now apply Rinv_0_lt_compat).
  set (d := Rabs _). unfold ind.
  assert (dn : d = n * (/ n * d)) by (field; lra). set (x := / n * d) in *.
  destruct Rlt_dec, Rlt_dec; try easy; exfalso; rewrite dn in *; nra.
Qed.

(* Lemma 2 as printed, in its weakest literal reading: the average lies near E[X_j] for at least one j. *)
Definition lemma_2_printed : Prop :=
  forall (S : space) (n : nat) (X : nat -> outcome S -> R) (a b eps : R),
  let l := seq 0 n in
  (0 < n)%nat -> a < b -> 0 < eps ->
  (forall i, In i l -> rv (X i)) -> (forall i, In i l -> forall o, a <= X i o <= b) -> independent l X ->
  exists j, In j l /\
  prob_gt (fun o => Rabs (/ INR n * sum l (fun i => X i o) - E (X j))) eps
  <= 2 * exp (- (2 * INR n * eps ^ 2 / (b - a) ^ 2)).

Lemma point_distribution : distribution [tt] (fun _ => 1).
Proof. split; intros; simpl; lra. Qed.
Definition point := finite [tt] (fun _ => 1) point_distribution.
(* Eight variables, all constant: four are 0 and four are 1. *)
Definition half (i : nat) (_ : unit) : R := if Nat.ltb i 4 then 0 else 1.

(** claim: L2.printed | refutes | caveats: none
    Four constants 0 and four constants 1 are independent and lie in [0, 1]; their average is 1/2, surely 1/2
    away from the mean of each, where E[X_i] is read outside the sum, while the printed bound at eps = 0.4 is 2 exp(-2.56) < 1. Paper: lemma 2,
    appendix A.2. *)
Theorem L2_printed_refuted : ~ lemma_2_printed.
Proof.
  intros H. destruct (H point 8%nat half 0 1 (4 / 10)) as [j [Hj G]]; try lra; try (apply Nat.lt_0_succ).
  - intros i _. exists 1. intros []. unfold half. destruct Nat.ltb; rewrite Rabs_pos_eq; lra.
  - intros i _ o. unfold half. destruct Nat.ltb; lra.
  - intros g _. cbn. ring.
  - assert (B : 2 * exp (- (2 * INR 8 * (4 / 10) ^ 2 / (1 - 0) ^ 2)) < 1).
    { replace (- (2 * INR 8 * (4 / 10) ^ 2 / (1 - 0) ^ 2)) with (- (256 / 100)) by (simpl; field).
      rewrite exp_Ropp. pose proof (exp_tangent (256 / 100) 0) as T. rewrite exp_0 in T.
      assert (/ exp (256 / 100) < / 2) by (apply Rinv_lt_contravar; lra). lra. }
    apply (Rlt_irrefl 1). eapply Rle_lt_trans; [|exact B]. eapply Rle_trans; [|exact G].
    assert (Ej : E (half j : outcome point -> R) = if Nat.ltb j 4 then 0 else 1).
    { change (1 * half j tt + 0 = if Nat.ltb j 4 then 0 else 1). unfold half. destruct Nat.ltb; ring. }
    rewrite Ej. unfold prob_gt. rewrite (E_ext _ (fun _ => 1)); [rewrite E_const; lra|].
    intros o. replace (sum (seq 0 8) (fun i => half i o)) with 4 by (unfold half; simpl; ring).
    replace (/ INR 8 * 4) with (1 / 2) by (simpl; field). unfold ind.
    destruct Nat.ltb, Rlt_dec as [|N]; try easy; exfalso; apply N; unfold Rabs; destruct Rcase_abs; lra.
Qed.
