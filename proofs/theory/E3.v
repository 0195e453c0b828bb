(* The anytime-valid calibration monitor: Ville's inequality. Forecasts c_t are made and bets lambda_t placed
   in any way that depends on the past only; the capital M_t = prod (1 + lambda_s (Y_s - c_s)) of a bettor
   against forecasts that are calibrated given the past reaches 1/alpha, ever within n steps, with probability
   at most alpha, for every n. Also with a tolerance tau: if outcomes exceed forecasts by at most tau on
   average, bets lambda >= 0 on Y - c - tau. Nothing of it stands in the paper; it serves to watch a deployed
   system. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums Probability.
Import ListNotations.
Open Scope R_scope.

(* What is known before step t: classes of random variables that grow with t, each closed like the random
   variables themselves. (For measure theory: the bounded functions measurable in the t-th algebra of a
   filtration.) *)
Record history (S : space) := History {
  known : nat -> (outcome S -> R) -> Prop;
  known_rv : forall t X, known t X -> rv X;
  known_later : forall t X, known t X -> known (Datatypes.S t) X;
  known_const : forall t c, known t (fun _ => c);
  known_plus : forall t X Y, known t X -> known t Y -> known t (fun o => X o + Y o);
  known_mult : forall t X Y, known t X -> known t Y -> known t (fun o => X o * Y o);
  known_comp : forall t g X, continuity g -> known t X -> known t (fun o => g (X o));
  known_above : forall t X c, known t X -> known t (fun o => if Rlt_dec c (X o) then 1 else 0) }.
Arguments known {S}.

(* The random variables known before step t form a probability space of their own. *)
Definition before {S : space} (H : history S) (t : nat) : space.
Proof.
  refine (Space (outcome S) (known H t) E _ _ _ _ _ _ _ _ _ _); try apply H.
  - intros X HX. apply (rv_bounded S). now apply (known_rv S H t).
  - apply E_one.
  - intros X Y HX HY. apply (E_plus S); now apply (known_rv S H t).
  - intros c X HX. apply (E_scal S); now apply (known_rv S H t).
  - intros X HX P. apply (E_pos S); [now apply (known_rv S H t) | easy].
Defined.

(* The capital before step t of a bettor who starts with 1 and whose gains per unit are D_0, D_1, ... *)
Fixpoint capital {S : space} (D : nat -> outcome S -> R) (t : nat) (o : outcome S) : R :=
  match t with O => 1 | Datatypes.S s => capital D s o * (1 + D s o) end.

(* The capital if betting stops once it has reached the level b. *)
Fixpoint stopped (b : R) (m : nat -> R) (t : nat) : R :=
  match t with
  | O => m O
  | Datatypes.S s =>
      if Rlt_dec (largest (seq 0 (Datatypes.S s)) m) b then m (Datatypes.S s) else stopped b m s
  end.

Lemma largest_app {A} (l k : list A) f : largest (l ++ k) f = Rmax (largest l f) (Rmax (largest k f) 0).
Proof.
  assert (P : forall k : list A, 0 <= largest k f).
  { induction k0; simpl; [lra|]. eapply Rle_trans; [exact IHk0 | apply Rmax_r]. }
  rewrite (Rmax_left (largest k f)) by apply P.
  induction l as [|x t IH]; simpl; [rewrite Rmax_right; [easy | apply P]|]. rewrite IH. apply Rmax_assoc.
Qed.
Lemma largest_snoc n f : largest (seq 0 (Datatypes.S n)) f =
  Rmax (largest (seq 0 n) f) (Rmax (Rmax (f n) 0) 0).
Proof. rewrite seq_S, largest_app. easy. Qed.

Section Pathwise.
Variables (b : R) (m : nat -> R).
Hypothesis (b0 : 0 < b) (m0 : forall t, 0 <= m t).
Let top t := largest (seq 0 (Datatypes.S t)) m.

Lemma top_S t : top (Datatypes.S t) = Rmax (top t) (m (Datatypes.S t)).
Proof.
  unfold top at 1. rewrite largest_snoc, (Rmax_left (m _)), (Rmax_left (m _)); [easy | apply m0 | apply m0].
Qed.
Lemma top_0 : top 0 = m O.
Proof. unfold top; simpl. apply Rmax_left. apply m0. Qed.
Lemma stopped_below t : top t < b -> stopped b m t = m t.
Proof.
  destruct t; cbn [stopped]; [easy|]. fold (top t). rewrite top_S. intros H.
  destruct (Rlt_dec (top t) b) as [|N]; [easy|]. pose proof (Rmax_l (top t) (m (Datatypes.S t))). lra.
Qed.
Lemma stopped_above t : b <= top t -> b <= stopped b m t.
Proof.
  induction t as [|t IH]; [rewrite top_0; easy|]. rewrite top_S. cbn [stopped]. fold (top t). intros H.
  destruct (Rlt_dec (top t) b) as [L|L]; [|apply IH; lra].
  unfold Rmax in H. destruct Rle_dec; lra.
Qed.
Lemma stopped_pos t : 0 <= stopped b m t.
Proof. induction t; cbn [stopped]; [apply m0|]. destruct Rlt_dec; auto. Qed.
Lemma stopped_step t :
  stopped b m (Datatypes.S t) = stopped b m t + ind (Rlt_dec (top t) b) * (m (Datatypes.S t) - m t).
Proof.
  cbn [stopped]. fold (top t). unfold ind. destruct (Rlt_dec (top t) b) as [L|L]; [|ring].
  rewrite (stopped_below t L). ring.
Qed.
End Pathwise.

(* Ville's inequality: gains that are not positive on average given the past, and never lose more than all. *)
Lemma ville {S : space} (H : history S) (D : nat -> outcome S -> R) (b : R) (n : nat) :
  0 < b -> (forall t, (t < n)%nat -> known H (Datatypes.S t) (D t)) -> (forall t o, (t < n)%nat -> -1 <=
    D t o) ->
  (forall t G, (t < n)%nat -> known H t G -> (forall o, 0 <= G o) -> E (fun o => G o * D t o) <= 0) ->
  prob_ge (fun o => largest (seq 0 (Datatypes.S n)) (fun t => capital D t o)) b <= / b.
Proof.
  intros b0 HK HD HE.
  (* beyond the horizon nothing is bet *)
  set (D' := fun t o => if lt_dec t n then D t o else 0).
  assert (K' : forall t, known H (Datatypes.S t) (D' t)).
  { intros t. unfold D'. destruct lt_dec; [now apply HK | apply known_const]. }
  assert (P' : forall t o, -1 <= D' t o) by (intros; unfold D'; destruct lt_dec; [auto | lra]).
  assert (E' : forall t G, known H t G -> (forall o, 0 <= G o) -> E (fun o => G o * D' t o) <= 0).
  { intros t G HG G0. unfold D'. destruct lt_dec; [now apply HE|].
    rewrite (E_ext _ (fun _ => 0)) by (intros; ring). rewrite E_const. lra. }
  assert (CC : forall t o, (t <= n)%nat -> capital D t o = capital D' t o).
  { induction t as [|t IH]; intros o Ht; simpl; [easy|]. rewrite IH by lia. unfold D'.
    destruct lt_dec; [easy | lia]. }
  set (M := capital D').
  assert (MK : forall t, known H t (M t)).
  { induction t as [|t IH]; [exact (known_const S H 0 1)|].
      apply (known_mult S H _ (M t) (fun o => 1 + D' t o)).
    - now apply known_later.
    - apply known_plus; [apply known_const | apply K']. }
  assert (M0 : forall t o, 0 <= M t o).
  { induction t as [|t IH]; intros o; [exact Rle_0_1|]. specialize (IH o). specialize (P' t o).
    change (0 <= M t o * (1 + D' t o)). nra. }
  assert (ML : forall t s, (s <= t)%nat -> known H t (M s)).
  { intros t s Hs. induction Hs; [apply MK | now apply known_later]. }
  set (G := fun t o => ind (Rlt_dec (largest (seq 0 (Datatypes.S t)) (fun s => M s o)) b) * M t o).
  assert (GK : forall t, known H t (G t)).
  { intros t. apply known_mult; [|apply MK].
    apply (@rv_lt (before H t) (fun o => largest (seq 0 (Datatypes.S t)) (fun s => M s o)) b).
    apply (@rv_largest (before H t) nat (seq 0 (Datatypes.S t)) M).
    intros s Hs. apply in_seq in Hs. apply ML. lia. }
  set (T := fun t o => stopped b (fun s => M s o) t).
  assert (TS : forall t o, T (Datatypes.S t) o = T t o + G t o * D' t o).
  { intros t o. unfold T. rewrite (stopped_step b (fun s => M s o)) by (intros; apply M0).
    unfold G. change (M (Datatypes.S t) o) with (M t o * (1 + D' t o)). ring. }
  assert (GD : forall t, rv (fun o => G t o * D' t o)).
  { intros t. apply (rv_mult S); [apply (known_rv S H t), GK | apply (known_rv S H (Datatypes.S t)), K']. }
  assert (TR : forall t, rv (T t)).
  { induction t as [|t IH]; [exact (rv_const S 1)|].
    apply (rv_ext (fun o => T t o + G t o * D' t o)); [intros; now rewrite TS | now apply rv_plus]. }
  assert (TE : forall t, E (T t) <= 1).
  { induction t as [|t IH].
    - change (T O) with (fun _ : outcome S => 1). rewrite E_const. lra.
    - rewrite (E_ext _ (fun o => T t o + G t o * D' t o)) by (intros; apply TS).
      rewrite E_plus by easy.
      assert (E (fun o => G t o * D' t o) <= 0); [|lra]. apply E'; [apply GK|].
      intros o. apply Rmult_le_pos; [apply ind_01 | apply M0]. }
  assert (RL : rv (fun o => largest (seq 0 (Datatypes.S n)) (fun t => M t o))).
  { apply (rv_largest (seq 0 (Datatypes.S n)) M). intros t _. apply (known_rv S H t), MK. }
  rewrite <- (Rmult_1_l (/ b)). apply Rle_trans with (E (T n) / b).
  2:{ apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat | apply TE]. }
  eapply Rle_trans; [|apply markov; [apply TR | intros o; apply stopped_pos; intros; apply M0 | easy]].
  unfold prob_ge. rewrite (E_ext _ (fun o => ind (Rle_dec b (largest (seq 0 (Datatypes.S n)) (fun t =>
    M t o))))).
  - apply E_le; [now apply rv_ge | apply rv_ge, TR |]. intros o. unfold ind at 1.
    destruct Rle_dec as [L|_]; [|apply ind_01].
    pose proof (stopped_above b (fun s => M s o) (fun s => M0 s o) n L) as A.
    unfold ind. destruct Rle_dec; [lra | contradiction].
  - intros o. assert (X : forall l, (forall t, In t l -> (t <= n)%nat) ->
      largest l (fun t => capital D t o) = largest l (fun t => M t o)).
    { induction l as [|t l IH]; intros Hl; simpl; [easy|]. rewrite IH by (intros; apply Hl; now right).
      now rewrite CC by (apply Hl; now left). }
    rewrite X; [easy|]. intros t Ht. apply in_seq in Ht. lia.
Qed.

(** claim: E3 | proves | caveats: bounded-variables, bounded-bets, finite-horizon
    If each outcome Y_t in [0, 1] has mean c_t given the past, whatever rule makes the forecasts c_t and the
    bets lam_t from the past, with lam between -1/(1-c) and 1/c, then the capital prod (1 + lam_s (Y_s - c_s))
    reaches 1/alpha at some time up to n with probability at most alpha, for every n. *)
Theorem E3_monitor (S : space) (H : history S) (Y c lam : nat -> outcome S -> R) (alpha : R) (n : nat) :
  0 < alpha ->
  (forall t, (t < n)%nat -> known H t (c t) /\ known H t (lam t) /\ known H (Datatypes.S t) (Y t)) ->
  (forall t o, (t < n)%nat -> 0 <= Y t o <= 1 /\ lam t o * c t o <= 1 /\ -1 <= lam t o * (1 - c t o)) ->
  (forall t o, (t < n)%nat -> 0 <= c t o <= 1) ->
  (forall t G, (t < n)%nat -> known H t G -> E (fun o => G o * (Y t o - c t o)) = 0) ->
  prob_ge (fun o => largest (seq 0 (Datatypes.S n))
    (fun t => capital (fun s o => lam s o * (Y s o - c s o)) t o)) (/ alpha) <= alpha.
Proof.
  intros a0 HK HR Hc HE. rewrite <- (Rinv_involutive alpha) at 2 by lra.
  apply (ville H); [now apply Rinv_0_lt_compat | | |].
  - intros t Ht. destruct (HK t Ht) as [K1 [K2 K3]].
    apply (known_mult S H _ (lam t) (fun o => Y t o - c t o)); [now apply known_later|].
    apply (@rv_minus (before H (Datatypes.S t))); [easy | now apply known_later].
  - intros t o Ht. destruct (HR t o Ht) as [Y1 [L1 L2]]. specialize (Hc t o Ht).
    destruct (Rle_dec 0 (lam t o)); nra.
  - intros t G Ht HG _. destruct (HK t Ht) as [_ [K2 _]].
    rewrite (E_ext _ (fun o => (G o * lam t o) * (Y t o - c t o))) by (intros; ring).
    right. apply HE; [easy | now apply known_mult].
Qed.

(** claim: E3 | proves | caveats: bounded-variables, bounded-bets, finite-horizon
    With a tolerance: if given the past the outcomes exceed the forecasts by at most tau on average, the
    capital of bets lam >= 0 on Y - c - tau, with lam (c + tau) <= 1, reaches 1/alpha with probability at most
    alpha. *)
Theorem E3_monitor_tolerance (S : space) (H : history S) (Y c lam : nat -> outcome S -> R)
  (tau alpha : R) (n : nat) :
  0 < alpha ->
  (forall t, (t < n)%nat -> known H t (c t) /\ known H t (lam t) /\ known H (Datatypes.S t) (Y t)) ->
  (forall t o, (t < n)%nat -> 0 <= Y t o /\ 0 <= lam t o /\ lam t o * (c t o + tau) <= 1) ->
  (forall t G, (t < n)%nat -> known H t G -> (forall o, 0 <= G o) ->
    E (fun o => G o * (Y t o - c t o)) <= tau * E G) ->
  prob_ge (fun o => largest (seq 0 (Datatypes.S n))
    (fun t => capital (fun s o => lam s o * (Y s o - c s o - tau)) t o)) (/ alpha) <= alpha.
Proof.
  intros a0 HK HR HE. rewrite <- (Rinv_involutive alpha) at 2 by lra.
  apply (ville H); [now apply Rinv_0_lt_compat | | |].
  - intros t Ht. destruct (HK t Ht) as [K1 [K2 K3]].
    apply (known_mult S H _ (lam t) (fun o => Y t o - c t o - tau)); [now apply known_later|].
    apply (@rv_minus (before H (Datatypes.S t)) (fun o => Y t o - c t o) (fun _ => tau));
      [|exact (known_const S H (Datatypes.S t) tau)].
    apply (@rv_minus (before H (Datatypes.S t))); [easy | now apply known_later].
  - intros t o Ht. destruct (HR t o Ht) as [Y1 [L1 L2]]. nra.
  - intros t G Ht HG G0. destruct (HK t Ht) as [K1 [K2 K3]].
    assert (KG : known H t (fun o => G o * lam t o)) by now apply known_mult.
    assert (RG : rv (fun o => G o * lam t o)) by now apply (known_rv S H t).
    rewrite (E_ext _ (fun o => (G o * lam t o) * (Y t o - c t o) - tau * (G o * lam t o))) by (intros; ring).
    assert (RD : rv (fun o => Y t o - c t o)).
    { apply rv_minus; [now apply (known_rv S H (Datatypes.S t)) | now apply (known_rv S H t)]. }
    rewrite (E_minus (fun o => G o * lam t o * (Y t o - c t o))), E_scal;
      [| easy | now apply rv_mult | now apply rv_scal].
    assert (B : E (fun o => G o * lam t o * (Y t o - c t o)) <= tau * E (fun o => G o * lam t o)); [|lra].
    apply HE; [easy | easy |]. intros o. destruct (HR t o Ht) as [_ [L _]]. specialize (G0 o). nra.
Qed.

(* Every rule of forecasting is covered: given any c from the outcomes seen so far (latest first) to [0, 1],
   the tree of all histories of n outcomes, weighted by the forecasts, is a space in which they are
   calibrated. *)
Section Tree.
Variable rule : list bool -> R.
Hypothesis rule01 : forall h, 0 <= rule h <= 1.

Fixpoint weight (h : list bool) : R :=
  match h with [] => 1 | y :: past => weight past * (if y then rule past else 1 - rule past) end.
Let paths n := tuples [true; false] n.

Lemma paths_S n f : sum (paths (S n)) f = sum (paths n) (fun h => f (true :: h) + f (false :: h)).
Proof. unfold paths. cbn [tuples flat_map]. rewrite app_nil_r, sum_app, !sum_map, <- sum_plus. easy. Qed.
Lemma weight_pos h : 0 <= weight h.
Proof. induction h as [|y h IH]; simpl; [lra|]. pose proof (rule01 h). apply Rmult_le_pos; [easy | destruct y;
  lra]. Qed.
(* What comes later does not change the mean of what is known. *)
Lemma forget m t f : sum (paths (m + t)) (fun h => weight h * f (skipn m h)) = sum (paths t) (fun h =>
  weight h * f h).
Proof.
  induction m as [|m IH]; [easy|]. cbn [Nat.add]. rewrite paths_S, <- IH. apply sum_ext. intros h _. simpl.
    ring.
Qed.
Lemma tree_distribution n : distribution (paths n) weight.
Proof.
  split; [intros; apply weight_pos|]. pose proof (forget n 0 (fun _ => 1)) as H. rewrite Nat.add_0_r in H.
  rewrite (sum_ext _ _ weight) in H by (intros; ring). rewrite H. simpl. ring.
Qed.
Definition tree (n : nat) := finite (paths n) weight (tree_distribution n).

Lemma skipn_skipn (a b : nat) (h : list bool) : skipn a (skipn b h) = skipn (b + a) h.
Proof. revert h. induction b; intros h; [easy|]. destruct h; [now rewrite !skipn_nil | apply IHb]. Qed.

(* Before step t of n, the t oldest outcomes are known. *)
Definition tree_history (n : nat) : history (tree n).
Proof.
  refine (History (tree n)
    (fun t X => @rv (tree n) X /\ exists f, forall h, X h = f (skipn (n - t) h)) _ _ _ _ _ _ _).
  - intros t X [H _]. exact H.
  - intros t X [H [f Hf]]. split; [exact H|]. exists (fun h => f (skipn (n - t - (n - S t)) h)).
    intros h. rewrite Hf, skipn_skipn. f_equal. f_equal. lia.
  - intros t c. split; [exact (rv_const (tree n) c) | now exists (fun _ => c)].
  - intros t X Y [HX [f Hf]] [HY [g Hg]]. split; [now apply (rv_plus (tree n))|].
    exists (fun h => f h + g h). intros h. now rewrite Hf, Hg.
  - intros t X Y [HX [f Hf]] [HY [g Hg]]. split; [now apply (rv_mult (tree n))|].
    exists (fun h => f h * g h). intros h. now rewrite Hf, Hg.
  - intros t g X Hg [HX [f Hf]]. split; [now apply (rv_comp (tree n))|].
    exists (fun h => g (f h)). intros h. now rewrite Hf.
  - intros t X c [HX [f Hf]]. split; [now apply (rv_above (tree n))|].
    exists (fun h => if Rlt_dec c (f h) then 1 else 0). intros h. now rewrite Hf.
Defined.

(* Outcome and forecast of step t. *)
Definition tree_outcome (n t : nat) (h : list bool) : R :=
  match skipn (n - S t) h with true :: _ => 1 | _ => 0 end.
Definition tree_forecast (n t : nat) (h : list bool) : R := rule (skipn (n - t) h).

Example tree_calibrated (n t : nat) : (t < n)%nat ->
  known (tree_history n) t (tree_forecast n t) /\ known (tree_history n) (S t) (tree_outcome n t) /\
  forall G, known (tree_history n) t G ->
    @E (tree n) (fun h => G h * (tree_outcome n t h - tree_forecast n t h)) = 0.
Proof.
  intros Ht. repeat split.
  - exists 1. intros h. unfold tree_forecast. rewrite Rabs_pos_eq; apply rule01.
  - now exists rule.
  - exists 1. intros h. unfold tree_outcome. destruct skipn as [|[]]; rewrite Rabs_pos_eq; lra.
  - now exists (fun h => match h with true :: _ => 1 | _ => 0 end).
  - intros G [_ [f Hf]].
    set (F := fun g => f (skipn 1 g) * (match g with true :: _ => 1 | _ => 0 end - rule (skipn 1 g))).
    transitivity (sum (paths (n - S t + S t)) (fun h => weight h * F (skipn (n - S t) h))).
    + replace (n - S t + S t)%nat with n by lia. simpl. unfold expect. apply sum_ext. intros h _. f_equal.
      rewrite Hf. unfold F, tree_outcome, tree_forecast. rewrite skipn_skipn.
      now replace (n - S t + 1)%nat with (n - t)%nat by lia.
    + rewrite forget, paths_S, <- (sum_0 (paths t)). apply sum_ext. intros h _. unfold F. simpl. ring.
Qed.
End Tree.
