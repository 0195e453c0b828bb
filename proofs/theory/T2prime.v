(* T2', beside theorem 2: the empirical Bernstein bound of Maurer and Pontil. For n >= 2 independent draws of
   one variable in [0, 1], with sample mean m and sample variance V = sum (X_i - m)^2 / (n - 1), and L =
   ln(3/delta): |m - mu| <= sqrt(2 V L / n) + 7 L / (3 (n - 1)) with probability at least 1 - delta. *)
Require Import Reals List Lra Psatz Lia Permutation.
From Coquelicot Require Import Coquelicot.
From LPF Require Import Sums Probability L1 L2 T2 Matching.
Import ListNotations.
Open Scope R_scope.

(** * Two bounds of the exponential *)

Lemma from_zero (f d : R -> R) (x : R) : 0 <= x -> (forall t, is_derive f t (d t)) ->
  (forall t, 0 <= t <= x -> 0 <= d t) -> f 0 <= f x.
Proof.
  intros x0 Hd Hp. destruct (MVT_gen f 0 x d) as [c [Hc E]].
  - intros t _. apply Hd.
  - intros t _. apply derivable_continuous_pt, ex_derive_Reals_0. eexists. apply Hd.
  - rewrite Rmin_left, Rmax_right in Hc by lra. specialize (Hp c Hc). nra.
Qed.

Lemma exp_minus_le u : 0 <= u -> exp (- u) <= 1 - u + u ^ 2 / 2.
Proof.
  intros u0.
  pose proof (from_zero (fun t => 1 - t + t ^ 2 / 2 - exp (- t)) (fun t => exp (- t) - 1 + t) u u0) as H.
  cbv beta in H. rewrite Ropp_0, exp_0 in H. enough (1 - 0 + 0 ^ 2 / 2 - 1 <= 1 - u + u ^ 2 / 2 - exp (- u))
    by lra.
  apply H.
  - intros t. auto_derive; [easy | field].
  - intros t _. pose proof (exp_tangent (- t) 0) as T. rewrite exp_0 in T. lra.
Qed.

Lemma exp_series u : 0 <= u < 3 -> (1 - u / 3) * (exp u - 1 - u) <= u ^ 2 / 2.
Proof.
  intros Hu.
  pose proof (from_zero (fun t => t ^ 2 / 2 - (1 - t / 3) * (exp t - 1 - t))
    (fun t => t + (exp t - 1 - t) / 3 - (1 - t / 3) * (exp t - 1)) u) as H. cbv beta in H.
  enough (0 <= u ^ 2 / 2 - (1 - u / 3) * (exp u - 1 - u)) by lra.
  eapply Rle_trans; [|apply H; [lra| |]].
  - rewrite exp_0. lra.
  - intros t. auto_derive; [easy | field].
  - intros t Ht. pose proof (from_zero (fun t => t + (exp t - 1 - t) / 3 - (1 - t / 3) * (exp t - 1))
      (fun t => (1 + (t - 1) * exp t) / 3) t) as G. cbv beta in G.
    eapply Rle_trans; [|apply G; [lra| |]].
    + rewrite exp_0. lra.
    + intros s. auto_derive; [easy | field].
    + intros s _. pose proof (exp_tangent 0 s) as T. rewrite exp_0 in T. lra.
Qed.

(* e^u <= 1 + u + u^2 / (2 (1 - s/3)) for u <= s. *)
Lemma exp_bernstein s u : 0 <= s < 3 -> u <= s -> exp u <= 1 + u + u ^ 2 * / (2 * (1 - s / 3)).
Proof.
  intros Hs Hu. assert (K : / 2 <= / (2 * (1 - s / 3))) by (apply Rinv_le_contravar; lra).
  destruct (Rle_lt_dec 0 u) as [u0|u0].
  - pose proof (exp_series u ltac:(lra)) as H.
    assert (G : exp u - 1 - u <= u ^ 2 * / (2 * (1 - u / 3))).
    { apply Rmult_le_reg_l with (1 - u / 3); [lra|].
      replace ((1 - u / 3) * (u ^ 2 * / (2 * (1 - u / 3)))) with (u ^ 2 / 2) by (field; lra). lra. }
    assert (/ (2 * (1 - u / 3)) <= / (2 * (1 - s / 3))) by (apply Rinv_le_contravar; lra).
    pose proof (pow2_ge_0 u). nra.
  - pose proof (exp_minus_le (- u) ltac:(lra)) as H. rewrite Ropp_involutive in H.
    pose proof (pow2_ge_0 u). nra.
Qed.

(** * Independent draws of one variable *)

(* X_0 .. X_{n-1}: independent, all with the same law, values in [0, 1]. *)
Definition sample {S : space} (n : nat) (X : nat -> outcome S -> R) :=
  (forall i, In i (seq 0 n) -> rv (X i)) /\ (forall i, In i (seq 0 n) -> forall o, 0 <= X i o <= 1) /\
  (forall i g, In i (seq 0 n) -> continuity g -> E (fun o => g (X i o)) = E (fun o => g (X O o))) /\
  independent (seq 0 n) X.
Definition mean {S : space} (n : nat) (X : nat -> outcome S -> R) (o : outcome S) :=
  / INR n * sum (seq 0 n) (fun i => X i o).
Definition sample_variance {S : space} (n : nat) (X : nat -> outcome S -> R) (o : outcome S) :=
  sum (seq 0 n) (fun i => (X i o - mean n X o) ^ 2) / (INR n - 1).

Lemma pow_continuity u : continuity (fun x => x ^ u).
Proof. apply derivable_continuous, derivable_pow. Qed.
Lemma exp_affine_continuity s c : continuity (fun x => exp (s * (x - c))).
Proof.
  apply derivable_continuous. intros x. apply ex_derive_Reals_0. auto_derive. easy.
Qed.

Section Sample.
Context {S : space} (n : nat) (X : nat -> outcome S -> R).
Hypothesis (n2 : (2 <= n)%nat) (HX : sample n X).
Let Hrv := proj1 HX.
Let H01 := proj1 (proj2 HX).
Let Hid := proj1 (proj2 (proj2 HX)).
Let HI := proj2 (proj2 (proj2 HX)).
Let M u := E (fun o => X O o ^ u).
Let mu := E (X O).
Let sigma2 := M 2 - mu ^ 2.

Lemma n0 : 2 <= INR n.
Proof. apply (le_INR 2). exact n2. Qed.
Lemma in0 : In O (seq 0 n).
Proof. apply in_seq. lia. Qed.
Lemma in1 : In 1%nat (seq 0 n).
Proof. apply in_seq. lia. Qed.
Lemma moment_u i u : In i (seq 0 n) -> E (fun o => X i o ^ u) = M u.
Proof. intros Hi. now apply (Hid i (fun x => x ^ u) Hi), pow_continuity. Qed.
Lemma moment_1 : M 1 = mu.
Proof. unfold M, mu. apply E_ext. intros. ring. Qed.
Lemma mean_i i : In i (seq 0 n) -> E (X i) = mu.
Proof. intros Hi. rewrite <- moment_1, <- (moment_u i 1 Hi). apply E_ext. intros; ring. Qed.
Lemma sigma2_var : sigma2 = E (fun o => (X O o - mu) ^ 2).
Proof.
  pose proof (Hrv O in0) as R0.
  rewrite (E_ext _ (fun o => (X O o ^ 2 - 2 * mu * X O o) + mu ^ 2)) by (intros; ring).
  assert (R1 : rv (fun o => 2 * mu * X O o)) by now apply rv_scal.
  assert (R2 : rv (fun o => X O o ^ 2)) by now apply rv_pow.
  rewrite (E_plus S (fun o => X O o ^ 2 - 2 * mu * X O o) (fun _ => mu ^ 2)), E_const, E_minus, E_scal;
    try easy.
  - fold mu. fold (M 2). unfold sigma2. ring.
  - now apply rv_minus.
  - apply rv_const.
Qed.
Lemma sigma2_nonneg : 0 <= sigma2.
Proof.
  rewrite sigma2_var. apply E_pos; [|intros; apply pow2_ge_0].
  apply rv_pow, rv_minus; [apply (Hrv O in0) | apply rv_const].
Qed.
Lemma mu_01 : 0 <= mu <= 1.
Proof.
  split.
  - apply E_pos; [apply (Hrv O in0) | apply (H01 O in0)].
  - rewrite <- (@E_const S 1). apply E_le; [apply (Hrv O in0) | apply rv_const | apply (H01 O in0)].
Qed.

(* Any of the draws, in any order, are independent. *)
Lemma sub_independent (l : list nat) (g : nat -> R -> R) : NoDup l -> incl l (seq 0 n) ->
  (forall i, continuity (g i)) ->
  E (fun o => prod l (fun i => g i (X i o))) = prod l (fun i => E (fun o => g i (X i o))).
Proof.
  intros ND IN Hg.
  set (rest := filter (fun i => if in_dec Nat.eq_dec i l then false else true) (seq 0 n)).
  set (h := fun i => if in_dec Nat.eq_dec i l then g i else fun _ => 1).
  assert (RI : forall i, In i rest -> ~ In i l).
  { intros i Hi. apply filter_In in Hi as [_ Hi]. destruct in_dec; easy. }
  assert (PM : Permutation (seq 0 n) (l ++ rest)).
  { apply NoDup_Permutation; [apply seq_NoDup | |].
    - clear - ND RI. assert (NR : NoDup rest) by apply NoDup_filter, seq_NoDup.
      clearbody rest. induction l as [|x t IH]; [easy|]. inversion ND; subst. simpl. constructor.
      + intros F. apply in_app_or in F as [F|F]; [easy|]. apply (RI x F). now left.
      + apply IH; auto. intros i Hi F. apply (RI i Hi). now right.
    - intros i. split; intros H.
      + apply in_or_app. destruct (in_dec Nat.eq_dec i l) as [|N]; [now left|]. right.
        apply filter_In. split; [easy|]. destruct in_dec; easy.
      + apply in_app_or in H as [H|H]; [now apply IN|]. now apply filter_In in H. }
  assert (HL : forall i, In i l -> h i = g i) by (intros i Hi; unfold h; destruct in_dec; easy).
  assert (HR : forall i, In i rest -> h i = fun _ => 1).
  { intros i Hi. unfold h. destruct in_dec as [F|]; [|easy]. now apply RI in Hi. }
  assert (ONE : forall k : list nat, prod k (fun _ => 1) = 1) by (induction k; simpl; [easy | rewrite IHk;
    ring]).
  assert (CH : forall i, continuity (h i)).
  { intros i. unfold h. destruct in_dec; [auto|]. apply continuity_const. now intros ? ?. }
  pose proof (HI h CH) as F.
  rewrite (E_ext _ (fun o => prod l (fun i => g i (X i o)))) in F.
  - rewrite F, (prod_perm _ _ _ PM), prod_app.
    rewrite (prod_ext rest _ (fun _ => 1)) by (intros i Hi; rewrite (HR i Hi); apply E_const).
    rewrite ONE, Rmult_1_r. apply prod_ext. intros i Hi. now rewrite HL.
  - intros o. rewrite (prod_perm _ _ _ PM), prod_app.
    rewrite (prod_ext rest _ (fun _ => 1)) by (intros i Hi; now rewrite (HR i Hi)).
    rewrite ONE, Rmult_1_r. apply prod_ext. intros i Hi. now rewrite HL.
Qed.

(** * The variance is not far above its estimate *)

(* 1 - aT + (aT)^2/2 with T = (x - y)^2/2, term by term: coefficient and degrees in x and y. *)
Definition terms (a : R) : list (R * nat * nat) :=
  [(1, O, O); (- a / 2, 2%nat, O); (a, 1%nat, 1%nat); (- a / 2, O, 2%nat); (a ^ 2 / 8, 4%nat, O);
   (- a ^ 2 / 2, 3%nat, 1%nat); (3 * a ^ 2 / 4, 2%nat, 2%nat); (- a ^ 2 / 2, 1%nat, 3%nat);
     (a ^ 2 / 8, O, 4%nat)].
Definition poly (a x y : R) := sum (terms a) (fun t => fst (fst t) * (x ^ snd (fst t) * y ^ snd t)).
Lemma poly_eq a x y : poly a x y = 1 - a * ((x - y) ^ 2 / 2) + (a * ((x - y) ^ 2 / 2)) ^ 2 / 2.
Proof. unfold poly, terms. simpl. field. Qed.
Definition rho (a : R) := sum (terms a) (fun t => fst (fst t) * (M (snd (fst t)) * M (snd t))).

Let q a o i j := poly a (X i o) (X j o).

Lemma drawn_rv a k l : incl l (seq 0 n) -> rv (fun o => drawn (q a o) k l).
Proof.
  revert l. induction k as [|k IH]; intros l Hl; [exact (rv_const S 1)|]. cbn [drawn].
  apply (rv_scal (/ INR (length (duo l)))
    (fun o => sum (duo l) (fun t => q a o (fst (fst t)) (snd (fst t)) * drawn (q a o) k (snd t)))).
  apply (rv_sum (duo l) (fun t o => q a o (fst (fst t)) (snd (fst t)) * drawn (q a o) k (snd t))).
  intros t Ht. pose proof (duo_perm l t Ht) as PM.
  assert (IN : forall i, In i (fst (fst t) :: snd (fst t) :: snd t) -> In i (seq 0 n)).
  { intros i Hi. apply Hl. now apply (Permutation_in _ (Permutation_sym PM)). }
  apply rv_mult.
  - unfold q, poly. apply (rv_sum (terms a) (fun s o => fst (fst s) *
      (X (fst (fst t)) o ^ snd (fst s) * X (snd (fst t)) o ^ snd s))). intros s _.
    apply rv_scal, rv_mult; apply rv_pow, Hrv, IN; simpl; auto.
  - apply IH. intros i Hi. apply IN. simpl; auto.
Qed.

(* Disjoint pairs are independent of each other, and of what comes before. *)
Lemma drawn_mean a k l p g : NoDup (p ++ l) -> incl (p ++ l) (seq 0 n) -> (2 * k <= length l)%nat ->
  (forall i, continuity (g i)) ->
  E (fun o => prod p (fun i => g i (X i o)) * drawn (q a o) k l) =
  prod p (fun i => E (fun o => g i (X i o))) * rho a ^ k.
Proof.
  revert l p g. induction k as [|k IH]; intros l p g ND IN Hk Hg.
  - cbn [drawn pow]. rewrite (E_ext _ (fun o => prod p (fun i => g i (X i o)))) by (intros; ring).
    rewrite sub_independent; [ring | | | easy].
    + clear - ND. induction p as [|x t IH]; [constructor|]. inversion ND; subst. constructor; [|now apply IH].
      intros F. apply H1, in_or_app. now left.
    + intros i Hi. apply IN, in_or_app. now left.
  - set (G := fun o => prod p (fun i => g i (X i o))).
    set (EG := prod p (fun i => E (fun o => g i (X i o)))).
    assert (RG : rv G).
    { apply (rv_prod p (fun i o => g i (X i o))). intros i Hi. apply (rv_comp S (g i)); [easy|].
      apply Hrv, IN, in_or_app. now left. }
    assert (L2 : 2 <= INR (length l)) by (apply (le_INR 2); lia).
    set (N := INR (length (duo l))). assert (N0 : 0 < N) by (unfold N; rewrite duo_length; nra).
    set (term := fun (t : nat * nat * list nat) (s : R * nat * nat) o =>
      G o * (X (fst (fst t)) o ^ snd (fst s) * X (snd (fst t)) o ^ snd s) * drawn (q a o) k (snd t)).
    assert (TI : forall t, In t (duo l) -> forall i, In i (fst (fst t) :: snd (fst t) :: snd t) ->
      In i (seq 0 n)).
    { intros t Ht i Hi. apply IN, in_or_app. right.
      now apply (Permutation_in _ (Permutation_sym (duo_perm l t Ht))). }
    assert (RT : forall t s, In t (duo l) -> rv (term t s)).
    { intros t s Ht. pose proof (TI t Ht) as I. apply rv_mult.
      - apply rv_mult; [easy|]. apply rv_mult; apply rv_pow, Hrv, I; simpl; auto.
      - apply drawn_rv. intros i Hi. apply I. simpl; auto. }
    assert (ET : forall t s, In t (duo l) -> E (term t s) = EG * (M (snd (fst s)) * M (snd s)) * rho a ^ k).
    { intros [[x y] r] [[c u] v] Ht. pose proof (TI _ Ht) as I. pose proof (duo_perm l _ Ht) as PM.
      unfold term. simpl fst in *; simpl snd in *.
      assert (PP : Permutation (p ++ l) ((x :: y :: p) ++ r)).
      { simpl. eapply perm_trans; [apply Permutation_app_head, PM|].
        eapply perm_trans; [apply Permutation_sym, Permutation_middle|]. apply perm_skip.
        apply Permutation_sym, Permutation_middle. }
      assert (ND2 : NoDup ((x :: y :: p) ++ r)) by now apply (Permutation_NoDup PP).
      assert (xy : x <> y /\ ~ In x p /\ ~ In y p).
      { simpl in ND2. inversion ND2 as [|? ? A B]; subst. inversion B as [|? ? C D]; subst. simpl in A.
        rewrite in_app_iff in A, C. repeat split; intros F; subst; tauto. }
      destruct xy as [xy [xp yp]].
      set (g' := fun i => if Nat.eq_dec i x then (fun z => z ^ u) else if Nat.eq_dec i y then (fun z =>
        z ^ v) else g i).
      assert (gx : g' x = fun z => z ^ u) by (unfold g'; destruct Nat.eq_dec; easy).
      assert (gy : g' y = fun z => z ^ v).
      { unfold g'. destruct Nat.eq_dec; [congruence|]. destruct Nat.eq_dec; easy. }
      assert (gp : forall i, In i p -> g' i = g i).
      { intros i Hi. unfold g'. destruct Nat.eq_dec as [->|]; [easy|]. destruct Nat.eq_dec as [->|]; easy. }
      pose proof (IH r (x :: y :: p) g' ND2) as F. cbn [prod] in F. rewrite gx, gy in F.
      rewrite (E_ext _ (fun o => X x o ^ u * (X y o ^ v * prod p (fun i => g' i (X i o))) * drawn (q a o) k
        r)).
      2:{ intros o. unfold G. rewrite (prod_ext p (fun i => g' i (X i o)) (fun i => g i (X i o)))
            by (intros i Hi; now rewrite gp). ring. }
      rewrite F.
      - rewrite !moment_u by (apply I; simpl; auto). unfold EG.
        rewrite (prod_ext p (fun i => E (fun o => g' i (X i o))) (fun i => E (fun o => g i (X i o))))
          by (intros i Hi; now rewrite gp). ring.
      - intros i Hi. apply IN. now apply (Permutation_in _ (Permutation_sym PP)).
      - pose proof (Permutation_length PM) as LL. cbn [length] in LL. lia.
      - intros i. unfold g'. destruct Nat.eq_dec; [apply pow_continuity|].
        destruct Nat.eq_dec; [apply pow_continuity | apply Hg]. }
    rewrite (E_ext _ (fun o => / N * sum (duo l) (fun t => sum (terms a) (fun s => fst (fst s) *
      term t s o)))).
    + rewrite (E_scal S (/ N)), (E_sum (duo l) (fun t o => sum (terms a) (fun s => fst (fst s) *
        term t s o))).
      * rewrite (sum_ext _ _ (fun _ => EG * rho a ^ Datatypes.S k)).
        -- rewrite sum_const. fold N. field. lra.
        -- intros t Ht. rewrite (E_sum (terms a) (fun s o => fst (fst s) * term t s o)) by (intros;
             now apply rv_scal, RT).
           rewrite (sum_ext _ _ (fun s => (EG * rho a ^ k) * (fst (fst s) * (M (snd (fst s)) * M (snd s))))).
           ++ rewrite sum_scal. fold (rho a). simpl. ring.
           ++ intros s _. rewrite E_scal, ET by auto. ring.
      * intros t Ht. apply (rv_sum (terms a) (fun s o => fst (fst s) * term t s o)). intros s _.
          now apply rv_scal, RT.
      * apply (rv_sum (duo l) (fun t o => sum (terms a) (fun s => fst (fst s) * term t s o))). intros t Ht.
        apply (rv_sum (terms a) (fun s o => fst (fst s) * term t s o)). intros s _. now apply rv_scal, RT.
    + intros o. cbn [drawn]. fold N. fold (G o). rewrite <- Rmult_assoc, (Rmult_comm (G o)), Rmult_assoc.
        f_equal.
      rewrite <- sum_scal. apply sum_ext. intros t _. unfold q at 1, poly. unfold term.
      rewrite <- Rmult_assoc, <- sum_scal, <- sum_scal_r. apply sum_ext. intros s _. ring.
Qed.

Let T o i j := (X i o - X j o) ^ 2 / 2.

Lemma pair_moment u v : E (fun o => X O o ^ u * X 1%nat o ^ v) = M u * M v.
Proof.
  pose proof (sub_independent [O; 1%nat] (fun i => match i with O => fun x => x ^ u | _ => fun x =>
    x ^ v end)) as F.
  cbn [prod] in F. rewrite (moment_u O u in0), (moment_u 1%nat v in1), Rmult_1_r in F. rewrite <- F.
  - apply E_ext. intros. ring.
  - constructor; [simpl; intuition lia|]. constructor; [easy | constructor].
  - intros i [<-|[<-|[]]]; [apply in0 | apply in1].
  - intros [|i]; apply pow_continuity.
Qed.

Lemma rho_le a : 0 <= a -> rho a <= exp (- (a * sigma2) + a ^ 2 * sigma2 / 4).
Proof.
  intros a0.
  assert (RP : forall u v, rv (fun o => X O o ^ u * X 1%nat o ^ v)).
  { intros u v. apply rv_mult; apply rv_pow, Hrv; [apply in0 | apply in1]. }
  assert (RS : forall s : R * nat * nat, rv (fun o => fst (fst s) * (X O o ^ snd (fst s) * X 1%nat o ^ snd
    s))).
  { intros s. apply rv_scal, RP. }
  assert (R1 : rho a = E (fun o => poly a (X O o) (X 1%nat o))).
  { unfold poly, rho. rewrite (E_sum (terms a) (fun s o => fst (fst s) * (X O o ^ snd (fst s) *
      X 1%nat o ^ snd s)))
      by (intros; apply RS). apply sum_ext. intros s _.
    rewrite (E_scal S (fst (fst s)) (fun o => X O o ^ snd (fst s) * X 1%nat o ^ snd s)), pair_moment
      by apply RP. easy. }
  assert (RT : rv (fun o => T o O 1%nat)).
  { unfold T, Rdiv. apply rv_mult; [|apply rv_const]. apply rv_pow, rv_minus; apply Hrv;
      [apply in0 | apply in1]. }
  assert (ET : E (fun o => T o O 1%nat) = sigma2).
  { unfold T. rewrite (E_ext _ (fun o => / 2 * (X O o ^ 2 * X 1%nat o ^ 0) + / 2 * (X O o ^ 0 * X 1%nat o ^ 2)
      + -1 * (X O o ^ 1 * X 1%nat o ^ 1))) by (intros; field).
    rewrite (E_plus S (fun o => / 2 * (X O o ^ 2 * X 1%nat o ^ 0) + / 2 * (X O o ^ 0 * X 1%nat o ^ 2))),
      (E_plus S (fun o => / 2 * (X O o ^ 2 * X 1%nat o ^ 0)));
      try (apply rv_plus; apply rv_scal; apply RP); try (apply rv_scal; apply RP).
    rewrite (E_scal S (/ 2) (fun o => X O o ^ 2 * X 1%nat o ^ 0)), (E_scal S (/ 2) (fun o => X O o ^ 0 *
      X 1%nat o ^ 2)),
      (E_scal S (-1) (fun o => X O o ^ 1 * X 1%nat o ^ 1)), !pair_moment by apply RP.
    assert (M0 : M 0 = 1) by (unfold M; simpl; apply E_const).
    rewrite M0, moment_1. unfold sigma2. field. }
  assert (B : rho a <= 1 - (a - a ^ 2 / 4) * sigma2).
  { rewrite R1, <- ET.
    replace (1 - (a - a ^ 2 / 4) * E (fun o => T o 0%nat 1%nat)) with (E (fun o => 1 - (a - a ^ 2 / 4) *
      T o O 1%nat)).
    - apply E_le.
      + unfold poly. apply (rv_sum (terms a) (fun s o => fst (fst s) * (X O o ^ snd (fst s) * X 1%nat o ^ snd
          s))).
        intros; apply RS.
      + apply rv_minus; [apply rv_const | now apply rv_scal].
      + intros o. rewrite poly_eq. fold (T o O 1%nat).
        pose proof (H01 O in0 o). pose proof (H01 1%nat in1 o).
        assert (HT : 0 <= T o O 1%nat <= / 2).
        { unfold T. set (d := X O o - X 1%nat o). assert (-1 <= d <= 1) by (unfold d; lra).
          pose proof (pow2_ge_0 d). split; nra. }
        set (w := T o O 1%nat) in *.
        assert (w * w <= w / 2) by nra. pose proof (pow2_ge_0 a). nra.
    - rewrite (E_minus (fun _ => 1)), E_const, E_scal; try easy; [apply rv_const | now apply rv_scal]. }
  eapply Rle_trans; [exact B|].
  pose proof (exp_tangent (- (a * sigma2) + a ^ 2 * sigma2 / 4) 0) as TG. rewrite exp_0 in TG. lra.
Qed.

Lemma variance_pairs o : sample_variance n X o = pair_mean (T o) (seq 0 n).
Proof.
  pose proof n0 as N2. unfold sample_variance, pair_mean, double. rewrite seq_length.
  set (s1 := sum (seq 0 n) (fun i => X i o)). set (s2 := sum (seq 0 n) (fun i => X i o ^ 2)).
  rewrite (sum_ext _ (fun i => (X i o - mean n X o) ^ 2)
    (fun i => X i o ^ 2 - (2 * mean n X o) * X i o + mean n X o ^ 2)) by (intros; ring).
  rewrite sum_plus, sum_minus, sum_scal, sum_const, seq_length. fold s1 s2.
  rewrite (sum_ext _ (fun i => sum (seq 0 n) (fun j => T o i j))
    (fun i => INR n * / 2 * X i o ^ 2 - s1 * X i o + s2 * / 2)).
  - rewrite sum_plus, sum_minus, !sum_scal, sum_const, seq_length. fold s1 s2. unfold mean. fold s1. field.
      lra.
  - intros i _. unfold T.
    rewrite (sum_ext _ _ (fun j => X i o ^ 2 * / 2 - X i o * X j o + / 2 * X j o ^ 2)) by (intros; field).
    rewrite sum_plus, sum_minus, !sum_scal, sum_const, seq_length. fold s1 s2. ring.
Qed.
Lemma mean_rv : rv (mean n X).
Proof. apply rv_scal, rv_sum, Hrv. Qed.
Lemma variance_rv : rv (sample_variance n X).
Proof.
  unfold sample_variance, Rdiv. apply rv_mult; [|apply rv_const].
  apply (rv_sum (seq 0 n) (fun i o => (X i o - mean n X o) ^ 2)). intros i Hi.
  apply rv_pow, rv_minus; [now apply Hrv | apply mean_rv].
Qed.

Let m := Nat.div2 n.
Lemma m_bounds : (2 * m <= n)%nat /\ INR n - 1 <= 2 * INR m /\ 0 < INR m.
Proof.
  assert (D : (2 * m <= n < 2 * m + 2)%nat) by (unfold m; pose proof (Nat.div2_odd n); destruct (Nat.odd n);
    simpl in *; lia).
  split; [lia|]. split.
  - assert (H : INR n <= INR (2 * m + 1)) by (apply le_INR; lia). rewrite plus_INR, mult_INR in H. simpl in H.
      lra.
  - apply lt_0_INR. lia.
Qed.

(* The Laplace transform of the sample variance. *)
Lemma variance_moment lambda : 0 <= lambda ->
  E (fun o => exp (- (lambda * sample_variance n X o))) <=
  exp (- (lambda * sigma2) + lambda ^ 2 * sigma2 / (4 * INR m)).
Proof.
  intros l0. destruct m_bounds as [mn [_ m0]]. set (a := lambda / INR m).
  assert (a0 : 0 <= a) by (apply Rmult_le_pos; [easy | left; now apply Rinv_0_lt_compat]).
  apply Rle_trans with (E (fun o => drawn (q a o) m (seq 0 n))).
  - apply E_le.
    + apply rv_exp, rv_opp, rv_scal, variance_rv.
    + apply drawn_rv. now intros i.
    + intros o. rewrite variance_pairs.
      replace (lambda * pair_mean (T o) (seq 0 n)) with (a * (INR m * pair_mean (T o) (seq 0 n)))
        by (unfold a; field; lra).
      apply exp_pair_mean; [| | |now rewrite seq_length].
      * intros i. unfold T. field.
      * intros i j. unfold T. field.
      * intros i j. unfold q. rewrite poly_eq. fold (T o i j). apply exp_minus_le.
        apply Rmult_le_pos; [easy|]. unfold T. pose proof (pow2_ge_0 (X i o - X j o)). lra.
  - rewrite (E_ext _ (fun o => prod [] (fun i : nat => (fun (_ : nat) (x : R) => x) i (X i o)) *
      drawn (q a o) m (seq 0 n)))
      by (intros; simpl; ring).
    rewrite (drawn_mean a m (seq 0 n) [] (fun _ x => x)).
    + cbn [prod]. rewrite Rmult_1_l.
      assert (R0 : 0 <= rho a).
      { pose proof (drawn_mean a 1 (seq 0 n) [] (fun _ x => x)) as F. cbn [prod] in F.
        rewrite pow_1, Rmult_1_l in F. rewrite <- F.
        - apply E_pos; [|].
          + apply rv_mult; [apply rv_const|]. apply drawn_rv. now intros i.
          + intros o. rewrite Rmult_1_l. cbn [drawn]. pose proof n0. apply Rmult_le_pos.
            * left. apply Rinv_0_lt_compat. rewrite duo_length, seq_length. nra.
            * apply sum_nonneg. intros t _. rewrite Rmult_1_r. unfold q. rewrite poly_eq.
              set (y := a * _). pose proof (pow2_ge_0 (1 - y)). nra.
        - apply seq_NoDup.
        - now intros i.
        - rewrite seq_length. lia.
        - intros _. apply derivable_continuous, derivable_id. }
      apply Rle_trans with (exp (- (a * sigma2) + a ^ 2 * sigma2 / 4) ^ m).
      * apply pow_incr. split; [easy | now apply rho_le].
      * right. clear - m0. assert (EP : forall k x, exp x ^ k = exp (INR k * x)).
        { induction k; intros x; [simpl; now rewrite Rmult_0_l, exp_0|].
          rewrite S_INR, Rmult_plus_distr_r, exp_plus, Rmult_1_l, <- IHk. simpl. ring. }
        rewrite EP. f_equal. unfold a. field. lra.
    + apply seq_NoDup.
    + now intros i.
    + now rewrite seq_length.
    + intros _. apply derivable_continuous, derivable_id.
Qed.

Lemma chernoff (Z : outcome S -> R) t s : rv Z -> 0 <= s ->
  prob_ge Z t <= exp (- (s * t)) * E (fun o => exp (s * Z o)).
Proof.
  intros HZ s0. rewrite <- E_scal by now apply rv_exp, rv_scal.
  apply E_le; [now apply rv_ge | now apply rv_scal, rv_exp, rv_scal |]. intros o. rewrite <- exp_plus.
  pose proof (exp_pos (- (s * t) + s * Z o)). unfold ind. destruct Rle_dec; [|lra].
  pose proof (exp_tangent (- (s * t) + s * Z o) 0) as TG. rewrite exp_0 in TG.
  assert (0 <= s * (Z o - t)) by (apply Rmult_le_pos; lra). lra.
Qed.

Let sigma := sqrt sigma2.
Lemma sigma_sq : sigma * sigma = sigma2.
Proof. apply sqrt_sqrt, sigma2_nonneg. Qed.

Lemma variance_tail L : 0 < L -> 0 < sigma2 ->
  prob_le (sample_variance n X) (sigma2 - sigma * sqrt (L / INR m)) <= exp (- L).
Proof.
  intros L0 s0. destruct m_bounds as [_ [_ m0]]. set (c := sqrt (L / INR m)).
  assert (cc : c * c = L / INR m) by (apply sqrt_sqrt; left; now apply Rdiv_lt_0_compat).
  assert (g0 : 0 < sigma) by now apply sqrt_lt_R0.
  assert (c0 : 0 < c) by (apply sqrt_lt_R0; now apply Rdiv_lt_0_compat).
  pose proof sigma_sq as gg. set (t := sigma * c). set (lambda := 2 * INR m * t / sigma2).
  assert (l0 : 0 <= lambda).
  { assert (0 < t) by now apply Rmult_lt_0_compat.
    apply Rmult_le_pos; [|left; now apply Rinv_0_lt_compat]. apply Rmult_le_pos; lra. }
  pose proof (chernoff (fun o => - sample_variance n X o) (- (sigma2 - t)) lambda) as H.
  apply Rle_trans with (prob_ge (fun o => - sample_variance n X o) (- (sigma2 - t))).
  - right. apply E_ext. intros o. unfold ind. fold t. destruct Rle_dec, Rle_dec; lra.
  - eapply Rle_trans; [apply H; [apply rv_opp, variance_rv | easy]|].
    rewrite (E_ext _ (fun o => exp (- (lambda * sample_variance n X o)))) by (intros; f_equal; ring).
    eapply Rle_trans; [apply Rmult_le_compat_l; [left; apply exp_pos | now apply variance_moment]|].
    rewrite <- exp_plus. right. f_equal.
    replace (- (lambda * - (sigma2 - t)) + (- (lambda * sigma2) + lambda ^ 2 * sigma2 / (4 * INR m)))
      with (- (INR m * (t * t) / sigma2)) by (unfold lambda; field; lra).
    unfold t. replace (sigma * c * (sigma * c)) with (sigma * sigma * (c * c)) by ring. rewrite gg, cc. field.
      lra.
Qed.

(** * Bernstein's inequality *)

Lemma bernstein_moment e s : e = 1 \/ e = -1 -> 0 <= s < 3 ->
  E (fun o => exp (s * (e * (sum (seq 0 n) (fun i => X i o) - INR n * mu)))) <=
  exp (INR n * (s ^ 2 * sigma2 * / (2 * (1 - s / 3)))).
Proof.
  intros He Hs. set (K := / (2 * (1 - s / 3))). assert (K0 : 0 < K) by (apply Rinv_0_lt_compat; lra).
  rewrite (E_ext _ (fun o => prod (seq 0 n) (fun i => exp (s * e * (X i o - mu))))).
  - rewrite (HI (fun _ x => exp (s * e * (x - mu)))) by (intros; apply exp_affine_continuity).
    replace (INR n * (s ^ 2 * sigma2 * K)) with (sum (seq 0 n) (fun _ => s ^ 2 * sigma2 * K))
      by (rewrite sum_const, seq_length; ring).
    rewrite exp_sum. apply prod_le. intros i Hi. split.
    + apply E_pos; [|intros; left; apply exp_pos].
      apply rv_exp, rv_scal, rv_minus; [now apply Hrv | apply rv_const].
    + rewrite (Hid i (fun x => exp (s * e * (x - mu))) Hi) by apply exp_affine_continuity.
      pose proof (Hrv O in0) as R0. assert (RD : rv (fun o => X O o - mu)) by (apply rv_minus;
        [easy | apply rv_const]).
      assert (RQ : rv (fun o => (X O o - mu) ^ 2)) by now apply rv_pow.
      apply Rle_trans with (E (fun o => 1 + s * e * (X O o - mu) + s ^ 2 * K * (X O o - mu) ^ 2)).
      * apply E_le; [now apply rv_exp, rv_scal | |].
        -- apply rv_plus; [apply rv_plus; [apply rv_const | now apply rv_scal] | now apply rv_scal].
        -- intros o. pose proof (H01 O in0 o) as B. pose proof mu_01 as MB.
           pose proof (exp_bernstein s (s * e * (X O o - mu)) Hs) as F. fold K in F.
           eapply Rle_trans; [apply F|].
           ++ destruct He as [-> | ->]; nra.
           ++ right. replace ((s * e * (X O o - mu)) ^ 2) with (s ^ 2 * (e * e) * (X O o - mu) ^ 2) by ring.
              replace (e * e) with 1 by (destruct He as [-> | ->]; ring). ring.
      * rewrite (E_plus S (fun o => 1 + s * e * (X O o - mu))), (E_plus S (fun _ => 1)), E_const, !E_scal,
          <- sigma2_var,
          E_minus, E_const; try easy; try apply rv_const; try (now apply rv_scal).
        -- fold mu. pose proof (exp_tangent (s ^ 2 * sigma2 * K) 0) as TG. rewrite exp_0 in TG. nra.
        -- apply rv_plus; [apply rv_const | now apply rv_scal].
  - intros o. rewrite <- exp_sum. f_equal. rewrite sum_scal, sum_minus, sum_const, seq_length. ring.
Qed.

Lemma bernstein e L : e = 1 \/ e = -1 -> 0 < L ->
  prob_ge (fun o => e * (sum (seq 0 n) (fun i => X i o) - INR n * mu)) (sqrt (2 * INR n * sigma2 * L) + L / 3)
  <= exp (- L).
Proof.
  intros He L0. pose proof n0 as N2. pose proof sigma2_nonneg as S0.
  set (Z := fun o => e * (sum (seq 0 n) (fun i => X i o) - INR n * mu)).
  assert (RZ : rv Z).
  { apply rv_scal, rv_minus; [|apply rv_const]. now apply (rv_sum (seq 0 n) X). }
  set (t := sqrt (2 * INR n * sigma2 * L) + L / 3).
  assert (C : forall s, 0 <= s < 3 -> prob_ge Z t <= exp (- (s * t) + INR n * (s ^ 2 * sigma2 * / (2 *
    (1 - s / 3))))).
  { intros s Hs. eapply Rle_trans; [apply (chernoff Z t s); [easy | lra]|]. rewrite exp_plus.
    apply Rmult_le_compat_l; [left; apply exp_pos|]. now apply bernstein_moment. }
  destruct S0 as [S0|S0].
  - set (a := sqrt (2 * L / (INR n * sigma2))).
    assert (nS : 0 < INR n * sigma2) by nra.
    assert (aa : a * a = 2 * L / (INR n * sigma2)) by (apply sqrt_sqrt; left; apply Rdiv_lt_0_compat; lra).
    assert (a0 : 0 < a) by (apply sqrt_lt_R0, Rdiv_lt_0_compat; lra).
    assert (rt : sqrt (2 * INR n * sigma2 * L) = INR n * sigma2 * a).
    { apply Rsqr_inj; [apply sqrt_pos | nra |]. rewrite Rsqr_sqrt by nra. unfold Rsqr.
      replace (INR n * sigma2 * a * (INR n * sigma2 * a)) with ((INR n * sigma2) ^ 2 * (a * a)) by ring.
      rewrite aa. field. split; lra. }
    set (s := a / (1 + a / 3)).
    assert (Hs : 0 <= s < 3).
    { unfold s. split; [left; apply Rdiv_lt_0_compat; lra|]. apply Rmult_lt_reg_r with (1 + a / 3); [lra|].
      unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l; lra. }
    eapply Rle_trans; [apply (C s Hs)|]. right. f_equal. unfold t. rewrite rt.
    assert (s3 : 1 - s / 3 = / (1 + a / 3)) by (unfold s; field; lra).
    rewrite s3. assert (LL : L = INR n * sigma2 * (a * a) / 2) by (rewrite aa; field; lra).
    rewrite LL. unfold s. field. lra.
  - destruct (Rle_lt_dec (prob_ge Z t) (exp (- L))) as [|G]; [easy|]. exfalso.
    set (p := prob_ge Z t) in *. assert (p0 : 0 < p) by (pose proof (exp_pos (- L)); lra).
    assert (tL : t = L / 3).
    { unfold t. rewrite <- S0, Rmult_0_r, Rmult_0_l, sqrt_0. ring. }
    assert (C2 : forall s, 0 <= s < 3 -> ln p <= - (s * L / 3)).
    { intros s Hs. specialize (C s Hs). rewrite <- S0, tL in C.
      rewrite <- (ln_exp (- (s * L / 3))). assert (E1 : p <= exp (- (s * L / 3))).
      { eapply Rle_trans; [exact C|]. right. f_equal. field. lra. }
      destruct E1 as [E1|E1]; [left; now apply ln_increasing | right; now rewrite E1]. }
    assert (lp : - L < ln p) by (rewrite <- (ln_exp (- L)); now apply ln_increasing; [apply exp_pos|]).
    pose proof (C2 0 ltac:(lra)) as Z0. set (v := - ln p) in *. assert (v1 : v < L) by (unfold v; lra).
    assert (v0 : 0 <= v) by (unfold v; lra).
    pose proof (C2 (3 * (v + L) / (2 * L))) as F.
    assert (HF : 0 <= 3 * (v + L) / (2 * L) < 3).
    { split; [apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]|].
      apply Rmult_lt_reg_r with (2 * L); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
    specialize (F HF). replace (3 * (v + L) / (2 * L) * L / 3) with ((v + L) / 2) in F by (field; lra).
    unfold v in *. lra.
Qed.

(* Three ways to fail, each of probability at most e^-L. *)
Lemma sqrt_rv (Z : outcome S -> R) : rv Z -> rv (fun o => sqrt (Z o)).
Proof. apply (rv_comp S sqrt). intros x. apply continuity_pt_filterlim, continuous_sqrt. Qed.

Lemma radius_from_sigma d V L : 0 <= V -> 0 < L ->
  INR n * Rabs d <= sqrt (2 * INR n * sigma2 * L) + L / 3 -> sigma <= sqrt V + sqrt (2 * L / (INR n - 1)) ->
  Rabs d <= sqrt (2 * V * L / INR n) + 7 * L / (3 * (INR n - 1)).
Proof.
  intros V0 L0 A B. pose proof n0 as N2. set (N := INR n) in *.
  set (h := sqrt (2 * L / N)). set (k := sqrt (2 * L / (N - 1))) in *.
  assert (I1 : 0 < / N) by (apply Rinv_0_lt_compat; lra).
  assert (I2 : / N <= / (N - 1)) by (apply Rinv_le_contravar; lra).
  assert (a1 : 0 <= 2 * L / N) by (apply Rmult_le_pos; lra).
  assert (a2 : 0 <= 2 * L / (N - 1)) by (apply Rmult_le_pos; lra).
  assert (hk : h <= k) by (apply sqrt_le_1_alt, Rmult_le_compat_l; lra).
  assert (h0 : 0 <= h) by apply sqrt_pos. assert (k0 : 0 <= k) by apply sqrt_pos.
  assert (kk : k * k = 2 * L / (N - 1)) by now apply sqrt_sqrt.
  assert (g0 : 0 <= sigma) by apply sqrt_pos.
  assert (E1 : sqrt (2 * V * L / N) = sqrt V * h).
  { unfold h. rewrite <- sqrt_mult; [f_equal; field; lra | easy | easy]. }
  assert (E2 : sqrt (2 * N * sigma2 * L) = N * (sigma * h)).
  { unfold h, sigma. rewrite <- sqrt_mult; [|apply sigma2_nonneg | easy].
    rewrite <- (sqrt_Rsqr N) at 2 by lra. rewrite <- sqrt_mult; [f_equal; unfold Rsqr; field; lra | |].
    - apply Rle_0_sqr.
    - apply Rmult_le_pos; [apply sigma2_nonneg | easy]. }
  rewrite E1. rewrite E2 in A.
  assert (A2 : Rabs d <= sigma * h + L / 3 * / N).
  { apply Rmult_le_reg_l with N; [lra|]. rewrite Rmult_plus_distr_l.
    replace (N * (L / 3 * / N)) with (L / 3) by (field; lra). lra. }
  assert (B2 : sigma * h <= sqrt V * h + k * k).
  { pose proof (sqrt_pos V). apply Rle_trans with ((sqrt V + k) * h); [now apply Rmult_le_compat_r | nra]. }
  assert (B3 : L / 3 * / N <= L / 3 * / (N - 1)) by (apply Rmult_le_compat_l; lra).
  replace (7 * L / (3 * (N - 1))) with (2 * L / (N - 1) + L / 3 * / (N - 1)) by (field; lra). lra.
Qed.

Lemma variance_nonneg o : 0 <= sample_variance n X o.
Proof.
  pose proof n0. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; lra].
  apply sum_nonneg. intros. apply pow2_ge_0.
Qed.

Lemma deviation_rv L : rv (fun o => Rabs (mean n X o - mu) - sqrt (2 * sample_variance n X o * L / INR n)).
Proof.
  apply rv_minus; [apply rv_abs, rv_minus; [apply mean_rv | apply rv_const]|]. apply sqrt_rv.
  apply (rv_ext (fun o => (2 * L / INR n) * sample_variance n X o)); [|apply rv_scal, variance_rv].
  intros o. pose proof n0. field. lra.
Qed.

Lemma empirical_failure L : 0 < L ->
  prob_gt (fun o => Rabs (mean n X o - mu) - sqrt (2 * sample_variance n X o * L / INR n)) (7 * L / (3 *
    (INR n - 1)))
  <= 3 * exp (- L).
Proof.
  intros L0. pose proof n0 as N2. destruct m_bounds as [_ [mb m0]].
  set (Z := fun e o => e * (sum (seq 0 n) (fun i => X i o) - INR n * mu)).
  set (t := sqrt (2 * INR n * sigma2 * L) + L / 3).
  set (v := if Rlt_dec 0 sigma2 then sigma2 - sigma * sqrt (L / INR m) else -1).
  assert (RZ : forall e, rv (Z e)).
  { intros e. apply rv_scal, rv_minus; [|apply rv_const]. now apply (rv_sum (seq 0 n) X). }
  assert (P3 : prob_le (sample_variance n X) v <= exp (- L)).
  { unfold v. destruct Rlt_dec; [now apply variance_tail|].
    unfold prob_le. rewrite (E_ext _ (fun _ => 0)); [rewrite E_const; left; apply exp_pos|].
    intros o. unfold ind. destruct Rle_dec; [|easy]. pose proof (variance_nonneg o). lra. }
  pose proof (bernstein 1 L (or_introl eq_refl) L0) as P1.
    pose proof (bernstein (-1) L (or_intror eq_refl) L0) as P2.
  fold t in P1, P2. change (prob_ge (Z 1) t <= exp (- L)) in P1. change (prob_ge (Z (-1)) t <=
    exp (- L)) in P2.
  apply Rle_trans with (prob_ge (Z 1) t + prob_ge (Z (-1)) t + prob_le (sample_variance n X) v); [|lra].
  unfold prob_ge, prob_le, prob_gt.
  pose proof (rv_ge (Z 1) t (RZ 1)) as Q1. pose proof (rv_ge (Z (-1)) t (RZ (-1))) as Q2.
  pose proof (rv_le _ v variance_rv) as Q3.
  rewrite <- E_plus by easy. rewrite <- (E_plus S (fun o => ind (Rle_dec t (Z 1 o)) + ind (Rle_dec t (Z (-1)
    o)))) by
    (easy || now apply rv_plus).
  apply E_le; [apply rv_gt, deviation_rv | apply rv_plus; [now apply rv_plus | easy] |].
  intros o. pose proof (ind_01 (Rle_dec t (Z 1 o))). pose proof (ind_01 (Rle_dec t (Z (-1) o))).
  pose proof (ind_01 (Rle_dec (sample_variance n X o) v)).
  unfold ind at 1. destruct (Rlt_dec (7 * L / (3 * (INR n - 1))) _) as [F|]; [|lra].
  unfold ind in *. destruct (Rle_dec t (Z 1 o)) as [|N1]; [lra|].
  destruct (Rle_dec t (Z (-1) o)) as [|N3]; [lra|].
  destruct (Rle_dec (sample_variance n X o) v) as [|N4]; [lra|]. exfalso.
  set (d := mean n X o - mu) in *. set (V := sample_variance n X o) in *.
  assert (Zd : sum (seq 0 n) (fun i => X i o) - INR n * mu = INR n * d) by (unfold d, mean; field; lra).
  assert (R1 : Rabs d <= sqrt (2 * V * L / INR n) + 7 * L / (3 * (INR n - 1))); [|lra].
  apply radius_from_sigma; [apply variance_nonneg | easy | |].
  - fold t. unfold Z in N1, N3. rewrite Zd in N1, N3. unfold Rabs. destruct Rcase_abs; lra.
  - pose proof sigma_sq as gg. assert (g0 : 0 <= sigma) by apply sqrt_pos.
    assert (V0 : 0 <= V) by apply variance_nonneg. pose proof (sqrt_pos V) as sv.
      pose proof (sqrt_sqrt V V0) as ss.
    set (k := sqrt (2 * L / (INR n - 1))). assert (k0 : 0 <= k) by apply sqrt_pos.
    destruct (Rle_lt_dec sigma (sqrt V + k)) as [|G]; [easy|]. exfalso.
    assert (s0 : 0 < sigma2) by (rewrite <- gg; apply Rmult_lt_0_compat; lra).
    unfold v in N4. destruct Rlt_dec; [|lra]. set (c := sqrt (L / INR m)) in *.
    assert (ck : c <= k).
    { apply sqrt_le_1_alt. apply Rmult_le_reg_r with (INR m * (INR n - 1)); [nra|].
      replace (L / INR m * (INR m * (INR n - 1))) with (L * (INR n - 1)) by (field; lra).
      replace (2 * L / (INR n - 1) * (INR m * (INR n - 1))) with (L * (2 * INR m)) by (field; lra).
      apply Rmult_le_compat_l; lra. }
    assert (c0 : 0 <= c) by apply sqrt_pos.
    assert (W : V < (sigma - c) * (sigma - c)) by (rewrite <- ss; apply Rmult_le_0_lt_compat; lra).
    assert (sigma * sigma - sigma * c < V) by lra.
    assert (c * (sigma - c) < 0) by nra. assert (0 <= c * (sigma - c)) by (apply Rmult_le_pos; lra). lra.
Qed.
End Sample.

(** claim: T2' | proves | caveats: bounded-variables
    The empirical Bernstein bound: the mean of n >= 2 independent draws of one variable in [0, 1] is within
    sqrt(2 V L / n) + 7 L / (3 (n - 1)) of the true mean, L = ln(3/delta), V the sample variance, with
    probability at least 1 - delta. Stands beside theorem 2 (section 3.2). *)
Theorem T2prime_empirical_bernstein (S : space) (n : nat) (X : nat -> outcome S -> R) (delta : R) :
  let L := ln (3 / delta) in
  (2 <= n)%nat -> 0 < delta < 1 -> sample n X ->
  1 - delta <= prob_le
    (fun o => Rabs (mean n X o - E (X O)) - sqrt (2 * sample_variance n X o * L / INR n))
    (7 * L / (3 * (INR n - 1))).
Proof.
  intros L Hn Hd HX.
  assert (A : 1 < 3 / delta).
  { apply Rmult_lt_reg_r with delta; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (L0 : 0 < L) by (unfold L; rewrite <- ln_1; apply ln_increasing; lra).
  rewrite (prob_le_gt (fun o => Rabs (mean n X o - E (X O)) - sqrt (2 * sample_variance n X o * L / INR n)))
    by now apply deviation_rv.
  pose proof (empirical_failure n X Hn HX L L0) as F.
  replace (3 * exp (- L)) with delta in F; [lra|].
  unfold L. rewrite exp_Ropp, exp_ln by lra. field. lra.
Qed.

(** claim: T2' | proves | caveats: bounded-variables
    The same for a Monte Carlo factor: with L = ln(3|Y|/delta), for all classes at once, the error of the
    estimate from M >= 2 draws is at most sqrt(2 V_y L / M) + 7 L / (3 (M - 1)), with probability at least 1 -
    delta. *)
Theorem T2prime_monte_carlo (S Q : space) (Y : Type) (ys : list Y) (M : nat) (delta : R)
  (z : nat -> outcome S -> outcome Q) (decode : outcome Q -> Y -> R) :
  let L := ln (3 * INR (length ys) / delta) in
  (2 <= M)%nat -> 0 < delta < 1 -> ys <> [] -> draws (seq 0 M) z ->
  (forall q, distribution ys (decode q)) -> (forall y, In y ys -> rv (fun q => decode q y)) ->
  1 - delta <= prob_le
    (fun o => largest ys (fun y =>
      Rabs (estimate M z (fun q => decode q y) o - soft_factor (fun q => decode q y))
      - sqrt (2 * sample_variance M (fun k o => decode (z k o) y) o * L / INR M)))
    (7 * L / (3 * (INR M - 1))).
Proof.
  intros L HM Hd ny Hz HD HR.
  assert (N1 : 1 <= INR (length ys)) by (apply (le_INR 1); destruct ys; [easy | simpl; lia]).
  assert (A : 1 < 3 * INR (length ys) / delta).
  { apply Rmult_lt_reg_r with delta; [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (L0 : 0 < L) by (unfold L; rewrite <- ln_1; apply ln_increasing; lra).
  assert (M2 : 2 <= INR M) by now apply (le_INR 2).
  set (dev := fun y o => Rabs (estimate M z (fun q => decode q y) o - soft_factor (fun q => decode q y))
      - sqrt (2 * sample_variance M (fun k o => decode (z k o) y) o * L / INR M)).
  destruct Hz as [Hz1 Hz2].
  assert (I0 : In O (seq 0 M)) by (apply in_seq; lia).
  assert (SM : forall y, In y ys -> sample M (fun k o => decode (z k o) y)).
  { intros y Hy. repeat split.
    - intros i Hi. now apply (Hz1 i (fun q => decode q y)), HR.
    - now apply (distribution_le_1 ys).
    - now apply (distribution_le_1 ys).
    - intros i g Hi Hg. assert (R0 : rv (fun q => g (decode q y))) by now apply (rv_comp Q g), HR.
      destruct (Hz1 i _ Hi R0) as [_ ->]. now destruct (Hz1 O _ I0 R0) as [_ ->].
    - apply (draws_independent (seq 0 M) z (fun q => decode q y)); [easy | now apply HR]. }
  assert (EQ : forall y, In y ys -> soft_factor (fun q => decode q y) = E (fun o => decode (z O o) y)).
  { intros y Hy. symmetry. now apply (Hz1 O (fun q => decode q y)), HR. }
  assert (RD : forall y, In y ys -> rv (dev y)).
  { intros y Hy. unfold dev. rewrite (EQ y Hy). exact (deviation_rv M _ HM (SM y Hy) L). }
  assert (r0 : 0 < 7 * L / (3 * (INR M - 1))) by (apply Rdiv_lt_0_compat; lra).
  rewrite (prob_le_gt (fun o => largest ys (fun y => dev y o))) by now apply rv_largest.
  pose proof (union_bound ys dev (7 * L / (3 * (INR M - 1))) (Rlt_le _ _ r0) RD) as U.
  assert (B : sum ys (fun y => prob_gt (dev y) (7 * L / (3 * (INR M - 1)))) <= sum ys (fun _ => 3 *
    exp (- L))).
  { apply sum_le. intros y Hy. unfold dev. rewrite (EQ y Hy). exact (empirical_failure M _ HM (SM y Hy) L L0).
      }
  rewrite sum_const in B. replace (INR (length ys) * (3 * exp (- L))) with delta in B; [lra|].
  unfold L. rewrite exp_Ropp, exp_ln by lra. field. lra.
Qed.
