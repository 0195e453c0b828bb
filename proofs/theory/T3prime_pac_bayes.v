(* T3', second part, in place of lemma 7: the PAC-Bayes-kl bound of Seeger and Maurer, for finitely many
   models and errors counted as 0 or 1. With a prior over the models that is fixed before the n examples are
   seen, with probability at least 1 - delta, for every posterior over the models at once: kl(error rate on
   the examples, true error) <= (KL(posterior, prior) + ln(xi(n)/delta)) / n, where xi(n) = sum_k C(n,k)
   (k/n)^k (1-k/n)^(n-k) is at most n + 1. (It is also at most 2 sqrt n; not shown here.) *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums Probability L2 T3prime.
Import ListNotations.
Open Scope R_scope.

(* The divergence of two coins; the term of probability 0 counts 0. *)
Definition kl (q p : R) := q * ln (q / p) + (1 - q) * ln ((1 - q) / (1 - p)).
(* The divergence of two distributions over the models. *)
Definition KL {H} (models : list H) (post prior : H -> R) :=
  sum models (fun h => post h * ln (post h / prior h)).
Definition xi (n : nat) := sum (seq 0 (S n)) (fun k => binomial_point n (INR k / INR n) k).
Definition error_rate {S : space} (n : nat) (X : nat -> outcome S -> R) (o : outcome S) :=
  INR (count (seq 0 n) X o) / INR n.

Lemma ln_below y : 0 < y -> ln y <= y - 1.
Proof.
  intros y0. pose proof (exp_tangent (ln y) 0) as T. rewrite exp_0, exp_ln in T by easy. lra.
Qed.

(** * One model: the mean of e^(n kl) is xi(n) *)

Lemma exp_count (k : nat) (x : R) : (k = O \/ 0 < x) -> exp (INR k * ln x) = x ^ k.
Proof.
  intros [->|x0]; [simpl; rewrite Rmult_0_l; apply exp_0|].
  induction k as [|k IH]; [simpl; rewrite Rmult_0_l; apply exp_0|].
  rewrite S_INR, Rmult_plus_distr_r, exp_plus, Rmult_1_l, exp_ln, IH by easy. simpl. ring.
Qed.

Lemma exp_kl (n k : nat) (p : R) : (0 < n)%nat -> (k <= n)%nat -> 0 < p < 1 ->
  binomial_point n p k * exp (INR n * kl (INR k / INR n) p) = binomial_point n (INR k / INR n) k.
Proof.
  intros Hn Hk Hp. assert (n0 : 0 < INR n) by now apply lt_0_INR. unfold kl, binomial_point.
  set (q := INR k / INR n).
  replace (INR n * (q * ln (q / p) + (1 - q) * ln ((1 - q) / (1 - p))))
    with (INR k * ln (q / p) + INR (n - k) * ln ((1 - q) / (1 - p))).
  - assert (q0 : k = O \/ 0 < q / p).
    { destruct k; [now left|]. right. unfold q. apply Rdiv_lt_0_compat; [|lra].
      apply Rdiv_lt_0_compat; [apply lt_0_INR; lia | easy]. }
    assert (q1 : (n - k)%nat = O \/ 0 < (1 - q) / (1 - p)).
    { destruct (Nat.eq_dec k n) as [->|]; [left; lia|]. right. apply Rdiv_lt_0_compat; [|lra].
      assert (L : INR k < INR n) by (apply lt_INR; lia). unfold q.
      apply Rmult_lt_reg_r with (INR n); [easy|].
      replace ((1 - INR k / INR n) * INR n) with (INR n - INR k) by (field; lra). lra. }
    rewrite exp_plus, (exp_count k), (exp_count (n - k)) by easy. unfold Rdiv. rewrite !Rpow_mult_distr.
    assert (P1 : p ^ k * (/ p) ^ k = 1) by (rewrite <- Rpow_mult_distr, Rinv_r, pow1; lra).
    assert (P2 : (1 - p) ^ (n - k) * (/ (1 - p)) ^ (n - k) = 1) by (rewrite <- Rpow_mult_distr, Rinv_r, pow1;
      lra).
    transitivity (C n k * q ^ k * (1 - q) ^ (n - k) * (p ^ k * (/ p) ^ k) *
      ((1 - p) ^ (n - k) * (/ (1 - p)) ^ (n - k))); [ring | rewrite P1, P2; ring].
  - rewrite minus_INR by easy. unfold q. field. lra.
Qed.

Lemma xi_mean (n : nat) (p : R) : (0 < n)%nat -> 0 < p < 1 ->
  count_mean n p (fun k => exp (INR n * kl (INR k / INR n) p)) = xi n.
Proof.
  intros Hn Hp. rewrite count_mean_sum. apply sum_ext. intros k Hk. apply in_seq in Hk.
    apply exp_kl; lia || easy.
Qed.

Lemma xi_pos n : 0 < xi n.
Proof.
  destruct n as [|n]; [unfold xi, binomial_point; simpl; rewrite C_0; lra|].
  rewrite <- (xi_mean (S n) (/ 2)) by (lra || lia).
  assert (G : forall j h, (forall k, 0 < h k) -> 0 < count_mean j (/ 2) h).
  { induction j as [|j IH]; intros h H; simpl; [apply H|]. pose proof (IH h H).
    pose proof (IH (fun i => h (S i)) (fun i => H (S i))). lra. }
  apply G. intros. apply exp_pos.
Qed.

(* Each of the n + 1 terms is a probability. *)
Lemma xi_le n : (0 < n)%nat -> xi n <= INR n + 1.
Proof.
  intros Hn. assert (n0 : 0 < INR n) by now apply lt_0_INR. unfold xi.
  replace (INR n + 1) with (sum (seq 0 (S n)) (fun _ => 1)) by (rewrite sum_const, seq_length, S_INR; ring).
  apply sum_le. intros k Hk. apply in_seq in Hk. set (q := INR k / INR n).
  assert (Hq : 0 <= q <= 1).
  { assert (INR k <= INR n) by (apply le_INR; lia). pose proof (pos_INR k). unfold q. split.
    - apply Rmult_le_pos; [easy | left; now apply Rinv_0_lt_compat].
    - apply Rmult_le_reg_r with (INR n); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  pose proof (count_mean_sum n q (fun _ => 1)) as O.
  assert (O1 : forall m, count_mean m q (fun _ => 1) = 1) by (induction m; simpl; [easy | rewrite IHm; ring]).
  rewrite O1 in O. rewrite O.
  assert (B0 : forall j, In j (seq 0 (S n)) -> 0 <= binomial_point n q j).
  { intros j Hj. apply in_seq in Hj. unfold binomial_point, C. apply Rmult_le_pos; [apply Rmult_le_pos|].
    - apply Rmult_le_pos; [left; apply lt_0_INR, lt_O_fact|]. left. apply Rinv_0_lt_compat.
      apply Rmult_lt_0_compat; apply lt_0_INR, lt_O_fact.
    - apply pow_le; lra.
    - apply pow_le; lra. }
  assert (I : In k (seq 0 (S n))) by (apply in_seq; lia).
  clear - B0 I. induction (seq 0 (S n)) as [|j t IH]; [easy|]. cbn [sum]. rewrite Rmult_1_r.
  assert (0 <= sum t (fun j => binomial_point n q j * 1)).
  { apply sum_nonneg. intros i Hi. rewrite Rmult_1_r. apply B0. now right. }
  destruct I as [->|I]; [lra|]. assert (0 <= binomial_point n q j) by (apply B0; now left).
  assert (binomial_point n q k <= sum t (fun j => binomial_point n q j * 1)); [|lra].
  apply IH; [intros; apply B0; now right | easy].
Qed.

(** * All posteriors at once *)

Section Models.
Context {H : Type} (models : list H) (prior post : H -> R).
Hypothesis (Hprior : distribution models prior) (Hpost : distribution models post).
Hypothesis (Hac : forall h, In h models -> 0 < post h -> 0 < prior h).

(* Change of measure. *)
Lemma change_of_measure (f : H -> R) :
  sum models (fun h => post h * f h) <= KL models post prior + ln (sum models (fun h => prior h * exp (f h))).
Proof.
  destruct Hprior as [p0 p1]. destruct Hpost as [q0 q1].
  set (A := sum models (fun h => prior h * exp (f h))).
  assert (A0 : 0 < A).
  { assert (N : 0 <= A) by (apply sum_nonneg; intros h Hh; apply Rmult_le_pos; [auto | left; apply exp_pos]).
    destruct N as [N|N]; [easy|]. exfalso.
    assert (Z : forall l, (forall h, In h l -> In h models) -> 0 = sum l (fun h => prior h * exp (f h)) ->
      sum l prior = 0).
    { induction l as [|h t IH]; intros Hl E; simpl in *; [easy|]. pose proof (exp_pos (f h)) as e.
      assert (0 <= prior h) by auto. assert (0 <= sum t (fun h => prior h * exp (f h))).
      { apply sum_nonneg. intros g Hg. apply Rmult_le_pos; [auto | left; apply exp_pos]. }
      assert (prior h * exp (f h) = 0) by nra. assert (prior h = 0) by nra. rewrite IH; [lra | auto | lra]. }
    rewrite (Z models) in p1; [lra | easy | exact N]. }
  assert (T : sum models (fun h => post h * f h - post h * ln (post h / prior h) - post h * ln A) <=
    sum models (fun h => prior h * exp (f h) * / A - post h)).
  { apply sum_le. intros h Hh. destruct (q0 h Hh) as [Q|Q].
    - pose proof (Hac h Hh Q) as P. pose proof (exp_pos (f h)) as e.
      set (y := prior h * exp (f h) * / A / post h).
      assert (y0 : 0 < y).
      { unfold y, Rdiv. repeat apply Rmult_lt_0_compat; try easy; now apply Rinv_0_lt_compat. }
      pose proof (ln_below y y0) as L.
      assert (E1 : ln y = f h - ln (post h / prior h) - ln A).
      { unfold y, Rdiv. assert (0 < / A) by now apply Rinv_0_lt_compat.
        assert (0 < / post h) by now apply Rinv_0_lt_compat.
          assert (0 < / prior h) by now apply Rinv_0_lt_compat.
        rewrite !ln_mult, !ln_Rinv, ln_exp; try easy; try (repeat apply Rmult_lt_0_compat; easy). ring. }
      replace (prior h * exp (f h) * / A - post h) with (post h * (y - 1)) by (unfold y; field; lra).
      replace (post h * f h - post h * ln (post h / prior h) - post h * ln A) with (post h * ln y)
        by (rewrite E1; ring).
      apply Rmult_le_compat_l; lra.
    - rewrite <- Q. assert (0 <= prior h * exp (f h) * / A).
      { apply Rmult_le_pos; [apply Rmult_le_pos; [auto | left; apply exp_pos] | left;
          now apply Rinv_0_lt_compat]. }
      lra. }
  rewrite !sum_minus, !sum_scal_r, q1 in T. fold A in T. rewrite Rinv_r in T by lra. unfold KL. lra.
Qed.

(* The divergence of averages is at most the average of divergences. *)
Lemma log_sum (a b : H -> R) :
  (forall h, In h models -> 0 <= a h) -> (forall h, In h models -> 0 < b h) ->
  let a' := sum models (fun h => post h * a h) in let b' := sum models (fun h => post h * b h) in
  0 < b' -> a' * ln (a' / b') <= sum models (fun h => post h * (a h * ln (a h / b h))).
Proof.
  intros a0 b0 a' b' B. destruct Hpost as [q0 _].
  assert (A : 0 <= a') by (apply sum_nonneg; intros; apply Rmult_le_pos; auto).
  destruct A as [A|A].
  - apply Rle_trans with (sum models (fun h => ln (a' / b') * (post h * a h) + (post h * a h - a' / b' *
      (post h * b h)))).
    + rewrite sum_plus, sum_minus, !sum_scal. fold a' b'. right. field. lra.
    + apply sum_le. intros h Hh. specialize (q0 h Hh). specialize (b0 h Hh). destruct (a0 h Hh) as [P|P].
      * assert (y0 : 0 < b h * a' / (a h * b')).
        { apply Rdiv_lt_0_compat; apply Rmult_lt_0_compat; easy. }
        pose proof (ln_below _ y0) as L.
        assert (E1 : ln (b h * a' / (a h * b')) = ln (a' / b') - ln (a h / b h)).
        { unfold Rdiv. rewrite Rinv_mult. rewrite !ln_mult, !ln_Rinv; try easy;
            try (apply Rmult_lt_0_compat); try easy; try now apply Rinv_0_lt_compat. ring. }
        rewrite E1 in L. apply Rmult_le_compat_l with (r := post h * a h) in L; [|apply Rmult_le_pos; lra].
        replace (post h * a h * (b h * a' / (a h * b') - 1)) with (a' / b' * (post h * b h) - post h *
          a h) in L
          by (field; lra). lra.
      * rewrite <- P. assert (0 <= a' / b' * (post h * b h)).
        { apply Rmult_le_pos; [left; now apply Rdiv_lt_0_compat | apply Rmult_le_pos; lra]. } lra.
  - rewrite <- A, Rmult_0_l.
    assert (Z : forall l, (forall h, In h l -> In h models) -> 0 = sum l (fun h => post h * a h) ->
      sum l (fun h => post h * (a h * ln (a h / b h))) = 0).
    { induction l as [|h t IH]; intros Hl E; simpl in *; [easy|].
      assert (0 <= post h * a h) by (apply Rmult_le_pos; auto).
      assert (0 <= sum t (fun h => post h * a h)) by (apply sum_nonneg; intros; apply Rmult_le_pos; auto).
      rewrite IH; [|auto | lra]. rewrite <- Rmult_assoc. replace (post h * a h) with 0 by lra. ring. }
    rewrite (Z models); [lra | easy | exact A].
Qed.

Lemma sum_complement (a : H -> R) : sum models (fun h => post h * (1 - a h)) = 1 - sum models (fun h =>
  post h * a h).
Proof.
  destruct Hpost as [_ q1]. rewrite (sum_ext _ _ (fun h => post h - post h * a h)) by (intros; ring).
  now rewrite sum_minus, q1.
Qed.

Lemma average_in (b : H -> R) : (forall h, In h models -> 0 < b h < 1) -> 0 < sum models (fun h => post h *
  b h) < 1.
Proof.
  intros Hb. destruct Hpost as [q0 q1].
  assert (P : forall c : H -> R, (forall h, In h models -> 0 < c h) -> 0 < sum models (fun h => post h *
    c h)).
  { intros c Hc. assert (N : 0 <= sum models (fun h => post h * c h)).
    { apply sum_nonneg. intros h Hh. apply Rmult_le_pos; [auto | left; auto]. }
    destruct N as [N|N]; [easy|]. exfalso.
    assert (Z : forall l, (forall h, In h l -> In h models) -> 0 = sum l (fun h => post h * c h) ->
      sum l post = 0).
    { induction l as [|h t IH]; intros Hl E; simpl in *; [easy|]. assert (0 <= post h) by auto.
        assert (0 < c h) by auto.
      assert (0 <= sum t (fun h => post h * c h)).
      { apply sum_nonneg. intros g Hg. apply Rmult_le_pos; [auto | left; auto]. }
      assert (post h * c h = 0) by nra. assert (post h = 0) by nra. rewrite IH; [lra | auto | lra]. }
    rewrite (Z models) in q1; [lra | easy | exact N]. }
  split; [apply P; intros; now apply Hb|].
  pose proof (P (fun h => 1 - b h)) as G. cbv beta in G. rewrite sum_complement in G.
  enough (0 < 1 - sum models (fun h => post h * b h)) by lra. apply G. intros h Hh. specialize (Hb h Hh). lra.
Qed.

Lemma kl_convex (a b : H -> R) :
  (forall h, In h models -> 0 <= a h <= 1) -> (forall h, In h models -> 0 < b h < 1) ->
  kl (sum models (fun h => post h * a h)) (sum models (fun h => post h * b h)) <=
  sum models (fun h => post h * kl (a h) (b h)).
Proof.
  intros Ha Hb. pose proof (average_in b Hb) as B. unfold kl.
  rewrite (sum_ext models (fun h => post h * (a h * ln (a h / b h) + (1 - a h) * ln ((1 - a h) / (1 - b h))))
    (fun h => post h * (a h * ln (a h / b h)) + post h * ((1 - a h) * ln ((1 - a h) / (1 - b h)))))
      by (intros; ring).
  rewrite sum_plus. apply Rplus_le_compat.
  - apply (log_sum a b); [intros; now apply Ha | intros; now apply Hb | easy].
  - rewrite <- !sum_complement. apply (log_sum (fun h => 1 - a h) (fun h => 1 - b h)).
    + intros h Hh. specialize (Ha h Hh). lra.
    + intros h Hh. specialize (Hb h Hh). lra.
    + rewrite sum_complement. lra.
Qed.
End Models.

(** claim: T3' | proves | caveats: bounded-variables, finite-models, open-risks, xi
    There is an event of probability at least 1 - delta on which, for every posterior over the models at once,
    the divergence of the mean training error from the mean true error is at most (KL(posterior, prior) +
    ln(xi(n)/delta))/n. Replaces lemma 7 (appendix A.7) and theorem 3 (section 3.3). *)
Theorem T3prime_pac_bayes (S : space) (H : Type) (models : list H) (prior : H -> R) (n : nat)
  (err : H -> nat -> outcome S -> R) (risk : H -> R) (delta : R) :
  (0 < n)%nat -> 0 < delta -> distribution models prior ->
  (forall h, In h models -> 0 < risk h < 1 /\ test_errors n (err h) (risk h)) ->
  exists (Z : outcome S -> R) (c : R), rv Z /\ 1 - delta <= prob_le Z c /\
  forall o, Z o <= c -> forall post, distribution models post ->
  (forall h, In h models -> 0 < post h -> 0 < prior h) ->
  kl (sum models (fun h => post h * error_rate n (err h) o)) (sum models (fun h => post h * risk h))
  <= (KL models post prior + ln (xi n / delta)) / INR n.
Proof.
  intros Hn d0 HP HR. assert (n0 : 0 < INR n) by now apply lt_0_INR. pose proof (xi_pos n) as x0.
  assert (c0 : 0 < xi n / delta) by now apply Rdiv_lt_0_compat.
  set (f := fun h o => INR n * kl (error_rate n (err h) o) (risk h)).
  assert (RF : forall h, In h models -> rv (fun o => prior h * exp (f h o)) /\
    E (fun o => prior h * exp (f h o)) = prior h * xi n).
  { intros h Hh. destruct (HR h Hh) as [R01 T].
    destruct (errors_binomial n (err h) (risk h) (fun k => exp (INR n * kl (INR k / INR n) (risk h))) T) as
      [R1 E1].
    rewrite xi_mean in E1 by easy. change (rv (fun o => exp (f h o))) in R1. split; [now apply rv_scal|].
    rewrite E_scal by easy. f_equal. exact E1. }
  exists (fun o => sum models (fun h => prior h * exp (f h o))), (xi n / delta).
  assert (RZ : rv (fun o => sum models (fun h => prior h * exp (f h o)))).
  { apply (rv_sum models (fun h o => prior h * exp (f h o))). intros h Hh. now apply RF. }
  split; [easy|]. split.
  - rewrite prob_le_gt by easy. pose proof (prob_gt_le_ge _ (xi n / delta) RZ) as G.
    pose proof (markov _ (xi n / delta) RZ) as M.
    assert (EZ : E (fun o => sum models (fun h => prior h * exp (f h o))) = xi n).
    { rewrite (E_sum models (fun h o => prior h * exp (f h o))) by (intros; now apply RF).
      rewrite (sum_ext _ _ (fun h => prior h * xi n)) by (intros; now apply RF).
      rewrite sum_scal_r. destruct HP as [_ ->]. ring. }
    rewrite EZ in M. replace (xi n / (xi n / delta)) with delta in M by (field; lra).
    assert (prob_ge (fun o => sum models (fun h => prior h * exp (f h o))) (xi n / delta) <= delta); [|lra].
    apply M; [|easy]. intros o. apply sum_nonneg. intros h Hh. apply Rmult_le_pos; [now apply HP | left;
      apply exp_pos].
  - intros o HZ post HQ Hac.
    pose proof (change_of_measure models prior post HP HQ Hac (fun h => f h o)) as CM. cbv beta in CM.
    assert (A0 : 0 < sum models (fun h => prior h * exp (f h o)) \/ sum models (fun h => prior h *
      exp (f h o)) <= 0) by lra.
    assert (LZ : ln (sum models (fun h => prior h * exp (f h o))) <= ln (xi n / delta)).
    { destruct A0 as [A0|A0].
      - destruct HZ as [HZ|HZ]; [left; now apply ln_increasing | rewrite HZ; lra].
      - exfalso. assert (N : forall l, (forall h, In h l -> In h models) ->
          sum l (fun h => prior h * exp (f h o)) <= 0 -> sum l prior <= 0).
        { induction l as [|h t IH]; intros Hl E; simpl in *; [lra|]. pose proof (exp_pos (f h o)).
          assert (0 <= prior h) by (apply HP; auto). assert (0 <= sum t (fun h => prior h * exp (f h o))).
          { apply sum_nonneg. intros g Hg. apply Rmult_le_pos; [apply HP; auto | left; apply exp_pos]. }
          assert (prior h * exp (f h o) = 0) by nra. assert (prior h = 0) by nra.
          assert (sum t prior <= 0) by (apply IH; [auto | lra]). lra. }
        destruct HP as [_ p1]. specialize (N models (fun h Hh => Hh) A0). lra. }
    apply Rmult_le_reg_l with (INR n); [easy|].
    replace (INR n * ((KL models post prior + ln (xi n / delta)) / INR n)) with (KL models post prior +
      ln (xi n / delta))
      by (field; lra).
    eapply Rle_trans; [|eapply Rle_trans; [exact CM | lra]].
    unfold f. rewrite (sum_ext models (fun h => post h * (INR n * kl (error_rate n (err h) o) (risk h)))
      (fun h => INR n * (post h * kl (error_rate n (err h) o) (risk h)))) by (intros; ring).
    rewrite sum_scal. apply Rmult_le_compat_l; [lra|].
    apply (kl_convex models post HQ (fun h => error_rate n (err h) o) risk).
    + intros h _. unfold error_rate. pose proof (count_le (seq 0 n) (err h) o) as CL.
        rewrite seq_length in CL.
      apply le_INR in CL. pose proof (pos_INR (count (seq 0 n) (err h) o)). split.
      * apply Rmult_le_pos; [easy | left; now apply Rinv_0_lt_compat].
      * apply Rmult_le_reg_r with (INR n); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
    + intros h Hh. now apply HR.
Qed.
