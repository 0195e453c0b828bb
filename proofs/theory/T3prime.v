(* T3', in place of theorem 3 and lemma 7: the test-set bound. On n independent test cases, each an error with
   the same unknown probability p, count the errors k; the upper limit of Clopper and Pearson, U(k) = sup of
   all q with P(Binomial(n, q) <= k) >= delta, lies below p with probability at most delta. Also the simpler
   limit of Hoeffding. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums Probability L2.
Import ListNotations.
Open Scope R_scope.

(* P(Binomial(n, q) = j) and P(Binomial(n, q) <= k), with the binomial coefficients of Coq's library. *)
Definition binomial_point (n : nat) (q : R) (j : nat) := C n j * q ^ j * (1 - q) ^ (n - j).
Definition binomial_tail (n : nat) (q : R) (k : nat) :=
  sum (seq 0 (S k)) (fun j => if le_dec j n then binomial_point n q j else 0).

(* The mean of h(number of successes) in n trials, built up trial by trial. *)
Fixpoint count_mean (n : nat) (q : R) (h : nat -> R) : R :=
  match n with
  | O => h O
  | S m => (1 - q) * count_mean m q h + q * count_mean m q (fun j => h (S j))
  end.
(* The tail in the same way. *)
Definition tail (n : nat) (q : R) (k : nat) := count_mean n q (fun j => if le_dec j k then 1 else 0).

Lemma count_mean_ext n q h g : (forall j, (j <= n)%nat -> h j = g j) -> count_mean n q h = count_mean n q g.
Proof.
  revert h g. induction n as [|n IH]; intros h g H; simpl; [apply H; lia|].
  rewrite (IH h g), (IH (fun j => h (S j)) (fun j => g (S j))); try easy; intros; apply H; lia.
Qed.

Lemma sum_seq_S (n : nat) (f : nat -> R) : sum (seq 0 (S n)) f = sum (seq 0 n) f + f n.
Proof. rewrite seq_S, sum_app. simpl. ring. Qed.
Lemma sum_seq_0 (n : nat) (f : nat -> R) : sum (seq 0 (S n)) f = f O + sum (seq 0 n) (fun j => f (S j)).
Proof. cbn [seq sum]. now rewrite <- seq_shift, sum_map. Qed.

Lemma C_0 n : C n 0 = 1.
Proof. unfold C. rewrite Nat.sub_0_r. simpl. field. apply INR_fact_neq_0. Qed.
Lemma C_n n : C n n = 1.
Proof. unfold C. rewrite Nat.sub_diag. simpl. field. apply INR_fact_neq_0. Qed.

Lemma count_mean_sum n q h :
  count_mean n q h = sum (seq 0 (S n)) (fun j => binomial_point n q j * h j).
Proof.
  revert h. induction n as [|n IH]; intros h.
  - simpl. unfold binomial_point. rewrite C_0. simpl. ring.
  - cbn [count_mean]. rewrite !IH.
    (* Pascal's rule, term by term *)
    rewrite (sum_seq_0 (S n)), (sum_seq_S n (fun j => binomial_point (S n) q (S j) * h (S j))).
    rewrite (sum_ext (seq 0 n) (fun j => binomial_point (S n) q (S j) * h (S j))
      (fun j => (1 - q) * (binomial_point n q (S j) * h (S j)) + q * (binomial_point n q j * h (S j)))).
    + rewrite sum_plus, !sum_scal, (sum_seq_0 n (fun j => binomial_point n q j * h j)),
        (sum_seq_S n (fun j => binomial_point n q j * h (S j))).
      unfold binomial_point. rewrite !C_0, !C_n, !Nat.sub_diag, !Nat.sub_0_r. simpl. ring.
    + intros j Hj. apply in_seq in Hj. unfold binomial_point.
      rewrite <- (pascal n j) by lia. replace (S n - S j)%nat with (S (n - S j)) by lia.
      replace (n - j)%nat with (S (n - S j)) by lia. simpl. ring.
Qed.

Lemma tail_binomial n q k : tail n q k = binomial_tail n q k.
Proof.
  unfold tail, binomial_tail. rewrite count_mean_sum.
  transitivity (sum (seq 0 (S (n + k))) (fun j => if le_dec j n then if le_dec j k then binomial_point n q j
    else 0 else 0)).
  - assert (G : forall m, sum (seq 0 (S n)) (fun j => binomial_point n q j * (if le_dec j k then 1 else 0)) =
      sum (seq 0 (S (n + m))) (fun j => if le_dec j n then if le_dec j k then binomial_point n q j else 0 else
        0)).
    { induction m as [|m IH].
      - rewrite Nat.add_0_r. apply sum_ext. intros j Hj. apply in_seq in Hj.
        destruct (le_dec j n); [|lia]. destruct le_dec; ring.
      - rewrite Nat.add_succ_r, (sum_seq_S (S (n + m))), <- IH. destruct le_dec; [lia|ring]. }
    apply G.
  - symmetry. assert (G : forall m, sum (seq 0 (S k)) (fun j => if le_dec j n then binomial_point n q j else
      0) =
      sum (seq 0 (S (m + k))) (fun j => if le_dec j n then if le_dec j k then binomial_point n q j else 0 else
        0)).
    { induction m as [|m IH].
      - apply sum_ext. intros j Hj. apply in_seq in Hj.
        destruct (le_dec j n); [|easy]. destruct le_dec; [easy|lia].
      - cbn [Nat.add]. rewrite (sum_seq_S (S (m + k))), <- IH. destruct (le_dec (S (m + k)) n); [|ring].
        destruct le_dec; [lia|ring]. }
    apply G.
Qed.

(* The tail decreases in q, so that one q with a tail below delta bounds U(k) from above. *)
Lemma count_mean_le n q h g : 0 <= q <= 1 -> (forall j, h j <= g j) -> count_mean n q h <= count_mean n q g.
Proof.
  intros Hq. revert h g. induction n as [|n IH]; intros h g H; simpl; [apply H|].
  apply Rplus_le_compat; apply Rmult_le_compat_l; try lra; apply IH; auto.
Qed.
Lemma count_mean_decreasing n q r h : 0 <= q -> q <= r -> r <= 1 -> (forall j, h (S j) <= h j) ->
  count_mean n r h <= count_mean n q h.
Proof.
  intros q0 qr r1. revert h. induction n as [|n IH]; intros h H; simpl; [lra|].
  pose proof (IH h H) as A. pose proof (IH (fun j => h (S j)) (fun j => H (S j))) as B.
  pose proof (count_mean_le n q (fun j => h (S j)) h (conj q0 (Rle_trans _ _ _ qr r1)) H) as D.
  nra.
Qed.
Lemma tail_decreasing n k q r : 0 <= q -> q <= r -> r <= 1 -> binomial_tail n r k <= binomial_tail n q k.
Proof.
  intros. rewrite <- !tail_binomial. apply count_mean_decreasing; try easy.
  intros j. destruct (le_dec (S j) k), (le_dec j k); try lra; lia.
Qed.

(* The number of errors among variables that are 0 or 1. *)
Fixpoint count {S : space} {I} (l : list I) (X : I -> outcome S -> R) (o : outcome S) : nat :=
  match l with [] => O | i :: t => if Req_EM_T (X i o) 1 then Datatypes.S (count t X o) else count t X o end.

Section Law.
Context {S : space} (X : nat -> outcome S -> R) (p : R).

Lemma count_rv (l : list nat) (h : nat -> R) : (forall i, In i l -> rv (X i)) ->
  (forall i, In i l -> forall o, X i o = 0 \/ X i o = 1) -> rv (fun o => h (count l X o)).
Proof.
  revert h. induction l as [|i t IH]; intros h HX H01; [exact (rv_const S (h O))|].
  apply (rv_ext (fun o => (1 - X i o) * h (count t X o) + X i o * h (Datatypes.S (count t X o)))).
  - intros o. cbn [count]. destruct (H01 i (or_introl eq_refl) o) as [-> | ->]; destruct Req_EM_T; lra.
  - assert (rv (X i)) by (apply HX; now left).
    apply rv_plus; apply rv_mult; try easy; try (apply rv_minus; [apply rv_const | easy]).
    + apply IH; intros; [apply HX | apply H01]; now right.
    + apply (IH (fun j => h (Datatypes.S j))); intros; [apply HX | apply H01]; now right.
Qed.

(* Independent errors of probability p: their number is binomial. Functions g of further variables may stand
   before. *)
Lemma count_law (l k : list nat) (g : nat -> R -> R) (h : nat -> R) :
  (forall i, In i (k ++ l) -> rv (X i)) -> (forall i, In i l -> forall o, X i o = 0 \/ X i o = 1) ->
  NoDup (k ++ l) -> (forall i, In i l -> E (X i) = p) ->
  (forall f : nat -> R -> R, (forall i, continuity (f i)) ->
    E (fun o => prod (k ++ l) (fun i => f i (X i o))) = prod (k ++ l) (fun i => E (fun o => f i (X i o)))) ->
  (forall i, continuity (g i)) ->
  E (fun o => prod k (fun i => g i (X i o)) * h (count l X o)) =
  prod k (fun i => E (fun o => g i (X i o))) * count_mean (length l) p h.
Proof.
  revert k g h. induction l as [|i t IH]; intros k g h HX H01 ND Hp HI Hg.
  - cbn [count length count_mean]. rewrite app_nil_r in *.
    rewrite (E_ext _ (fun o => h O * prod k (fun i => g i (X i o)))) by (intros; ring).
    rewrite (E_scal S (h O) (fun o => prod k (fun i => g i (X i o)))), (HI g Hg); [ring|].
    apply (rv_prod k (fun i o => g i (X i o))). intros j Hj. apply (rv_comp S (g j)); auto.
  - assert (Hi : rv (X i)) by (apply HX, in_or_app; right; now left).
    assert (Ri : forall m, rv (fun o => h (m + count t X o)%nat)).
    { intros m. apply (count_rv t (fun c => h (m + c)%nat)).
      - intros j Hj. apply HX, in_or_app. right; now right.
      - intros j Hj. apply H01. now right. }
    assert (Rk : rv (fun o => prod k (fun i => g i (X i o)))).
    { apply (rv_prod k (fun i o => g i (X i o))). intros j Hj. apply (rv_comp S (g j)); [auto|].
      apply HX, in_or_app. now left. }
    assert (Nk : ~ In i k). { intros F. apply NoDup_remove_2 in ND. apply ND, in_or_app. now left. }
    assert (EQ : (k ++ [i]) ++ t = k ++ i :: t) by now rewrite <- app_assoc.
    (* the i-th variable joins the variables before, as 1 - x and as x *)
    assert (ST : forall u : R -> R, continuity u -> forall f : nat -> R,
      E (fun o => prod k (fun i => g i (X i o)) * u (X i o) * f (count t X o)) =
      prod k (fun i => E (fun o => g i (X i o))) * E (fun o => u (X i o)) * count_mean (length t) p f).
    { intros u Hu f. set (g' := fun j => if Nat.eq_dec j i then u else g j).
      assert (GK : forall j, In j k -> g' j = g j).
      { intros j Hj. unfold g'. destruct Nat.eq_dec as [->|]; [contradiction|easy]. }
      assert (GI : g' i = u) by (unfold g'; destruct Nat.eq_dec; [easy|contradiction]).
      pose proof (IH (k ++ [i]) g' f) as G. rewrite EQ in G.
      assert (PR : forall a : nat -> R, prod (k ++ [i]) a = prod k a * a i).
      { intros a. clear. induction k as [|x k IH]; simpl; [ring|]. rewrite IH. ring. }
      rewrite PR, GI in G. rewrite (prod_ext k _ (fun j => E (fun o => g j (X j o)))) in G
        by (intros j Hj; now rewrite GK).
      rewrite <- G; try easy.
      - apply E_ext. intros o. rewrite PR, GI. f_equal. f_equal. apply prod_ext. intros j Hj. now rewrite GK.
      - intros j Hj. apply H01. now right.
      - intros j Hj. apply Hp. now right.
      - intros j. unfold g'. destruct Nat.eq_dec; auto. }
    rewrite (E_ext _ (fun o => prod k (fun i => g i (X i o)) * (1 - X i o) * h (count t X o) +
      prod k (fun i => g i (X i o)) * X i o * h (Datatypes.S (count t X o)))).
    2:{ intros o. cbn [count]. destruct (H01 i (or_introl eq_refl) o) as [-> | ->]; destruct Req_EM_T; lra. }
    rewrite E_plus.
    + assert (CI : continuity (fun x => x)) by apply derivable_continuous, derivable_id.
      assert (CM : continuity (fun x => 1 - x)).
      { apply continuity_minus; [apply continuity_const; intros x y; easy | easy]. }
      rewrite (ST (fun x => 1 - x) CM h), (ST (fun x => x) CI (fun c => h (Datatypes.S c))).
      rewrite (E_minus (fun _ => 1)), E_const by (easy || apply rv_const).
      change (E (fun o => X i o)) with (E (X i)).
      rewrite (Hp i) by now left. cbn [length count_mean]. ring.
    + apply rv_mult; [apply rv_mult; [easy | apply rv_minus; [apply rv_const | easy]] | apply (Ri O)].
    + apply rv_mult; [now apply rv_mult | apply (Ri 1%nat)].
Qed.
End Law.

(* n test cases: X_i = 1 where case i is an error, with probability p, independently. *)
Definition test_errors {S : space} (n : nat) (X : nat -> outcome S -> R) (p : R) :=
  (forall i, In i (seq 0 n) -> rv (X i)) /\ (forall i, In i (seq 0 n) -> forall o, X i o = 0 \/ X i o = 1) /\
  (forall i, In i (seq 0 n) -> E (X i) = p) /\ independent (seq 0 n) X.

Lemma count_le {S : space} {I} (l : list I) (X : I -> outcome S -> R) o : (count l X o <= length l)%nat.
Proof. induction l; simpl; [lia|]. destruct Req_EM_T; lia. Qed.

(* The number of errors is binomial. *)
Lemma errors_binomial {S : space} (n : nat) (X : nat -> outcome S -> R) (p : R) (h : nat -> R) :
  test_errors n X p ->
  rv (fun o => h (count (seq 0 n) X o)) /\ E (fun o => h (count (seq 0 n) X o)) = count_mean n p h.
Proof.
  intros [HX [H01 [Hp HI]]]. split; [now apply count_rv|].
  rewrite (E_ext _ (fun o => prod [] (fun i : nat => (fun _ x => x) i (X i o)) * h (count (seq 0 n) X o)))
    by (intros; simpl; ring).
  rewrite (count_law X p (seq 0 n) [] (fun _ x => x) h); try easy.
  - rewrite seq_length. simpl. ring.
  - apply seq_NoDup.
  - intros i. apply derivable_continuous, derivable_id.
Qed.

(* U is an upper limit of Clopper and Pearson at level delta: beyond U(k) the tail at k is below delta.
   The least one is U(k) = sup {q : P(Binomial(n, q) <= k) >= delta}; every larger one will do. *)
Definition upper_limit (n : nat) (delta : R) (U : nat -> R) :=
  forall k q, (k <= n)%nat -> 0 <= q <= 1 -> U k < q -> binomial_tail n q k < delta.

(* A limit found by bisection: one point u(k) whose tail is at most delta, or u(k) = 1. *)
Lemma limit_from_points (n : nat) (delta : R) (u : nat -> R) :
  (forall k, (k <= n)%nat -> u k = 1 \/ (0 <= u k <= 1 /\ binomial_tail n (u k) k < delta)) ->
  upper_limit n delta u.
Proof.
  intros H k q Hk Hq L. destruct (H k Hk) as [E1|[B T]]; [lra|].
  eapply Rle_lt_trans; [|exact T]. apply tail_decreasing; lra.
Qed.

(* The coverage of the limit, for a binomial number of errors. *)
Lemma limit_covers (n : nat) (p delta : R) (U : nat -> R) : 0 <= delta -> 0 <= p <= 1 ->
  upper_limit n delta U ->
  1 - delta <= count_mean n p (fun k => ind (Rle_dec p (U k))).
Proof.
  intros d0 Hp HU.
  (* the counts at which the limit fails lie below the largest k with a tail below delta *)
  assert (K : (forall k, (k <= n)%nat -> p <= U k) \/
    exists k, (k <= n)%nat /\ binomial_tail n p k < delta /\ forall j, (j <= n)%nat -> U j < p -> (j <=
      k)%nat).
  { assert (G : forall m, (forall k, (k < m)%nat -> (k <= n)%nat -> p <= U k) \/
      exists k, (k <= n)%nat /\ U k < p /\ forall j, (j < m)%nat -> (j <= n)%nat -> U j < p -> (j <= k)%nat).
    { induction m as [|m IH]; [left; lia|].
      destruct (le_dec m n) as [Hm|Hm]; [destruct (Rlt_dec (U m) p) as [L|L]|].
      - right. exists m. repeat split; try easy. intros; lia.
      - destruct IH as [IH|[k [A [B D]]]].
        + left. intros k Hk Hn. destruct (Nat.eq_dec k m) as [->|]; [lra | apply IH; lia].
        + right. exists k. repeat split; try easy. intros j Hj Hn Lj.
          destruct (Nat.eq_dec j m) as [->|]; [lra | apply D; lia || easy].
      - destruct IH as [IH|[k [A [B D]]]].
        + left. intros k Hk Hn. apply IH; lia.
        + right. exists k. repeat split; try easy. intros j Hj Hn Lj. apply D; lia || easy. }
    destruct (G (Datatypes.S n)) as [A|[k [A [B D]]]].
    - left. intros k Hk. apply A; lia.
    - right. exists k. repeat split; try easy; [now apply HU|]. intros j Hj. apply D; lia. }
  assert (ONE : count_mean n p (fun _ => 1) = 1).
  { clear. induction n; simpl; [easy|]. rewrite IHn. ring. }
  destruct K as [K|[k [Hk [T M]]]].
  - rewrite (count_mean_ext n p _ (fun _ => 1)); [lra|].
    intros j Hj. unfold ind. destruct Rle_dec; [easy|]. specialize (K j Hj). contradiction.
  - apply Rle_trans with (count_mean n p (fun j => 1 - (if le_dec j k then 1 else 0))).
    + assert (MIN : forall m h, count_mean m p (fun j => 1 - h j) = count_mean m p (fun _ => 1) - count_mean m
        p h).
      { clear. induction m; intros h; simpl; [easy|]. rewrite !IHm. ring. }
      rewrite MIN, ONE. rewrite <- tail_binomial in T. unfold tail in T. lra.
    + apply Rle_trans with (count_mean n p (fun j => if le_dec j n then ind (Rle_dec p (U j)) else 1)).
      * apply count_mean_le; [easy|]. intros j. unfold ind.
        destruct (le_dec j n) as [Hj|]; destruct (le_dec j k), (Rle_dec p (U j)); try lra.
        exfalso. assert (U j < p) by lra. specialize (M j Hj H). lia.
      * right. apply count_mean_ext. intros j Hj. now destruct le_dec.
Qed.

(** claim: T3' | proves | caveats: bounded-variables
    Whatever the error probability p, the limit computed from the counted errors lies below p with probability
    at most delta: the test-set bound, for every n. Replaces theorem 3 (section 3.3) and lemma 7. *)
Theorem T3prime_test_set (S : space) (n : nat) (X : nat -> outcome S -> R) (p delta : R) (U : nat -> R) :
  0 <= delta -> 0 <= p <= 1 -> test_errors n X p -> upper_limit n delta U ->
  1 - delta <= E (fun o => ind (Rle_dec p (U (count (seq 0 n) X o)))).
Proof.
  intros d0 Hp HX HU. destruct (errors_binomial n X p (fun k => ind (Rle_dec p (U k))) HX) as [_ ->].
  now apply limit_covers.
Qed.

(** claim: T3' | proves | caveats: bounded-variables
    The simpler limit: the error probability exceeds the error rate on the test set by more than
    sqrt(ln(2/delta)/(2n)) with probability at most delta. For errors, or any losses in [0, 1]. *)
Theorem T3prime_hoeffding (S : space) (n : nat) (X : nat -> outcome S -> R) (L delta : R) :
  (0 < n)%nat -> 0 < delta < 1 ->
  (forall i, In i (seq 0 n) -> rv (X i)) -> (forall i, In i (seq 0 n) -> forall o, 0 <= X i o <= 1) ->
  (forall i, In i (seq 0 n) -> E (X i) = L) -> independent (seq 0 n) X ->
  1 - delta <= prob_le (fun o => Rabs (/ INR n * sum (seq 0 n) (fun i => X i o) - L)) (sqrt (ln (2 / delta) /
    (2 * INR n))).
Proof.
  intros Hn Hd HX H01 HL HI. assert (n0 : 0 < INR n) by now apply lt_0_INR.
  assert (A : 1 < 2 / delta).
  { apply Rmult_lt_reg_r with delta; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (LN : 0 < ln (2 / delta)) by (rewrite <- ln_1; apply ln_increasing; lra).
  assert (Q : 0 < ln (2 / delta) / (2 * INR n)) by (apply Rdiv_lt_0_compat; lra).
  set (r := sqrt _). assert (r0 : 0 < r) by now apply sqrt_lt_R0.
  rewrite prob_le_gt.
  2:{ apply rv_abs, rv_minus; [|apply rv_const]. apply rv_scal. now apply rv_sum. }
  pose proof (L2_hoeffding S nat (seq 0 n) X 0 1 r) as H. cbv beta zeta in H.
  rewrite seq_length, (sum_ext _ (fun i => E (X i)) (fun _ => L)), sum_const, seq_length in H by easy.
  replace (/ INR n * (INR n * L)) with L in H by (field; lra).
  replace (2 * INR n * r ^ 2 / (1 - 0) ^ 2) with (ln (2 / delta)) in H
    by (unfold r; rewrite pow2_sqrt by lra; field; lra).
  rewrite exp_Ropp, exp_ln in H by lra.
  replace (2 * / (2 / delta)) with delta in H by (field; lra).
  enough (prob_gt (fun o => Rabs (/ INR n * sum (seq 0 n) (fun i => X i o) - L)) r <= delta) by lra.
  apply H; try easy; try lra. destruct n; [lia | easy].
Qed.

(* Fair coins are such errors: the statements are not empty. *)
Example fair : distribution [0; 1] (fun _ => / 2).
Proof. split; intros; simpl; lra. Qed.
Example test_errors_not_vacuous (n : nat) : exists (S : space) (X : nat -> outcome S ->
  R), test_errors n X (/ 2).
Proof.
  exists (finite (tuples [0; 1] n) _ (tuples_distribution _ _ n fair)).
  set (f := fun x : R => if Rlt_dec (/ 2) x then 1 else 0).
  exists (fun i t => f (nth i t 0)).
  assert (R0 : @rv (finite [0; 1] _ fair) f).
  { exists 1. intros x. unfold f. destruct Rlt_dec; rewrite Rabs_pos_eq; lra. }
  destruct (finite_draws 0 [0; 1] _ fair n) as [D1 D2]. repeat split.
  - intros i Hi. now apply D1.
  - intros i _ o. unfold f. destruct Rlt_dec; tauto.
  - intros i Hi. destruct (D1 i f Hi R0) as [_ D]. etransitivity; [exact D|]. simpl. unfold expect, f. simpl.
    destruct Rlt_dec; [lra|]. destruct Rlt_dec; lra.
  - exact (@draws_independent _ (finite [0; 1] _ fair) nat (seq 0 n) _ f (finite_draws 0 [0; 1] _ fair n) R0).
Qed.
