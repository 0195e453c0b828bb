(* Conformal sets that survive corrupted evidence (a further theorem, not in the paper).

   1. Split conformal prediction: if the n calibration scores and the score of a new case are exchangeable,
      and q is the k-th smallest calibration score with k >= (1 - alpha)(n + 1), then the new score is at most
      q with probability at least 1 - alpha.
   2. For a pool of factors with real weights take as score of class y the lead s(y) of the best class over y
      in g(y) = sum w_i ln f_i(y). If at most m items of the new case are replaced, each by one within Hilbert
      distance d, then the set of all classes with score at most q + R holds the label with probability at
      least 1 - alpha, where R = d W and W is the largest total weight of m items. *)
Require Import Reals List Lra Psatz Arith Permutation.
From LPF Require Import Sums T5prime.
Import ListNotations.
Open Scope R_scope.

Definition below (a b : R) : bool := if Rlt_dec a b then true else false.
Definition at_most (a b : R) : bool := if Rle_dec a b then true else false.
Definition count {A} (b : A -> bool) (l : list A) : nat := length (filter b l).

(* A finite probability space. *)
Definition probability {O} (os : list O) (prob : O -> R) (A : O -> bool) : R :=
  sum os (fun o => if A o then prob o else 0).

(* The scores S_0, ..., S_n (n calibration cases and the new one) are exchangeable: every event about them is
   as likely as the same event about the scores in any other order. *)
Definition exchangeable {O} (os : list O) (prob : O -> R) (n : nat) (S : O -> nat -> R) : Prop :=
  forall (sigma : nat -> nat) (A : (nat -> R) -> bool),
    Permutation (map sigma (seq 0 (n + 1))) (seq 0 (n + 1)) ->
    (forall x y, (forall i, (i <= n)%nat -> x i = y i) -> A x = A y) ->
    probability os prob (fun o => A (S o)) = probability os prob (fun o => A (fun i => S o (sigma i))).

(* q is the k-th smallest of the numbers in l. *)
Definition kth_smallest (k : nat) (l : list R) (q : R) : Prop :=
  In q l /\ (count (fun x => below x q) l < k <= count (fun x => at_most x q) l)%nat.

(** * Counting *)

Lemma below_spec a b : below a b = true <-> a < b.
Proof. unfold below. destruct (Rlt_dec a b); intuition congruence. Qed.
Lemma at_most_spec a b : at_most a b = true <-> a <= b.
Proof. unfold at_most. destruct (Rle_dec a b); intuition congruence. Qed.
Lemma count_le {A} (b c : A -> bool) l : (forall x, In x l -> b x = true -> c x = true) ->
  (count b l <= count c l)%nat.
Proof.
  unfold count. induction l as [|a t IH]; simpl; intros H; [lia|].
  assert (L : (length (filter b t) <= length (filter c t))%nat) by (apply IH; auto).
  destruct (b a) eqn:E; [rewrite H by auto; simpl; lia|]. destruct (c a); simpl; lia.
Qed.
Lemma count_map {A B} (b : B -> bool) (f : A -> B) l : count b (map f l) = count (fun x => b (f x)) l.
Proof. unfold count. induction l as [|a t IH]; simpl; [easy|]. destruct (b (f a)); simpl; congruence. Qed.
Lemma count_perm {A} (b : A -> bool) l m : Permutation l m -> count b l = count b m.
Proof.
  unfold count. induction 1; simpl; auto; [destruct (b x); simpl; congruence| |congruence].
  destruct (b x), (b y); easy.
Qed.
Lemma count_sum {A} (b : A -> bool) l : INR (count b l) = sum l (fun x => if b x then 1 else 0).
Proof.
  unfold count. induction l as [|a t IH]; [easy|]. simpl. destruct (b a); [|lra]. cbn [length]. rewrite S_INR.
    lra.
Qed.

(* Among any numbers at least k have fewer than k smaller ones. *)
Lemma few_below (l : list nat) (x : nat -> R) k : (k <= length l)%nat ->
  (k <= count (fun i => Nat.ltb (count (fun j => below (x j) (x i)) l) k) l)%nat.
Proof.
  intros H. set (small := fun i => Nat.ltb (count (fun j => below (x j) (x i)) l) k).
  destruct (le_lt_dec k (count small l)) as [|C]; [easy|]. exfalso.
  set (big := filter (fun i => negb (small i)) l).
  assert (L : (length big + count small l = length l)%nat).
  { unfold big, count. generalize small. clear. intros b. induction l as [|a t IH]; simpl; [easy|].
    destruct (b a); simpl; lia. }
  destruct (largest_in big (fun i => - x i)) as [i [Hi M]]; [intros E; rewrite E in L; simpl in L; lia|].
  assert (Si : small i = true).
  { unfold small at 1. apply Nat.ltb_lt. eapply Nat.le_lt_trans; [|exact C]. apply count_le.
    intros j Hj B. apply below_spec in B. destruct (small j) eqn:E; [easy|].
    assert (Hb : In j big) by (apply filter_In; rewrite E; auto).
    apply (largest_ge big (fun i => - x i)) in Hb. lra. }
  apply filter_In in Hi. destruct Hi as [_ Hi]. rewrite Si in Hi. easy.
Qed.

Definition transpose (i n j : nat) : nat := if Nat.eqb j i then n else if Nat.eqb j n then i else j.
Lemma transpose_perm i n : (i <= n)%nat -> Permutation (map (transpose i n) (seq 0 (n + 1))) (seq 0 (n + 1)).
Proof.
  intros H. apply NoDup_Permutation_bis.
  - apply FinFun.Injective_map_NoDup; [|apply seq_NoDup]. intros a b. unfold transpose.
    destruct (Nat.eqb_spec a i), (Nat.eqb_spec a n), (Nat.eqb_spec b i), (Nat.eqb_spec b n); lia.
  - rewrite map_length. lia.
  - intros y Hy. apply in_map_iff in Hy. destruct Hy as [a [<- Ha]]. apply in_seq in Ha. apply in_seq.
    unfold transpose. destruct (Nat.eqb_spec a i), (Nat.eqb_spec a n); lia.
Qed.

Lemma probability_le {O} (os : list O) prob (A B : O -> bool) : (forall o, In o os -> 0 <= prob o) ->
  (forall o, In o os -> A o = true -> B o = true) -> probability os prob A <= probability os prob B.
Proof.
  intros p0 H. apply sum_le; intros o Ho. specialize (H o Ho). specialize (p0 o Ho).
  destruct (A o); [rewrite H by easy; lra|]. destruct (B o); lra.
Qed.

(* The rank of the new score is uniform at worst. *)
Lemma rank {O} (os : list O) prob n S k : distribution os prob -> exchangeable os prob n S ->
  (k <= n + 1)%nat ->
  INR k <= (INR n + 1) * probability os prob (fun o => Nat.ltb
    (count (fun j => below (S o j) (S o n)) (seq 0 (n + 1))) k).
Proof.
  intros [p0 p1] X Hk. set (l := seq 0 (n + 1)).
  set (A := fun i (x : nat -> R) => Nat.ltb (count (fun j => below (x j) (x i)) l) k).
  assert (E : forall i, In i l -> probability os prob (fun o => A i (S o)) = probability os prob
    (fun o => A n (S o))).
  { intros i Hi. apply in_seq in Hi. rewrite (X (transpose i n) (A n)).
    - apply sum_ext; intros o _. replace (A n (fun j => S o (transpose i n j))) with (A i (S o)); [easy|].
      unfold A. replace (transpose i n n) with i by (unfold transpose; rewrite Nat.eqb_refl;
        destruct (Nat.eqb_spec n i); lia).
      rewrite <- (count_map (fun j => below (S o j) (S o i)) (transpose i n)).
      now rewrite (count_perm _ _ _ (transpose_perm i n ltac:(lia))).
    - apply transpose_perm; lia.
    - intros x y Exy. unfold A. f_equal. unfold count. f_equal. apply filter_ext_in. intros j Hj.
        apply in_seq in Hj.
      now rewrite !Exy by lia. }
  assert (L : INR (length l) = INR n + 1) by (unfold l; rewrite seq_length, plus_INR; simpl; lra).
  assert (T : sum l (fun i => probability os prob (fun o => A i (S o)))
    = (INR n + 1) * probability os prob (fun o => A n (S o))).
  { rewrite (sum_ext l _ (fun _ => probability os prob (fun o => A n (S o)))) by exact E. rewrite <- L.
    clear. set (c := probability _ _ _). clearbody c. induction l as [|a t IH]; [simpl; lra|].
    cbn [sum length]. rewrite IH, S_INR. ring. }
  change (INR k <= (INR n + 1) * probability os prob (fun o => A n (S o))). rewrite <- T.
  unfold probability. rewrite sum_swap. rewrite <- (Rmult_1_r (INR k)), <- p1, <- sum_scal.
  apply sum_le; intros o Ho. rewrite (sum_ext l _ (fun i => prob o * if A i (S o) then 1 else 0))
    by (intros; destruct (A _ _); ring).
  rewrite sum_scal, <- count_sum, Rmult_comm. apply Rmult_le_compat_l; [auto|]. apply le_INR.
  apply few_below. unfold l. rewrite seq_length. lia.
Qed.

(** claim: E2 | proves | caveats: reals, finite-space
    Split conformal coverage: for exchangeable scores, the new one is at most the k-th smallest of n
    calibration scores with probability at least 1 - alpha, for any k <= n with k >= (1 - alpha)(n + 1). Ties
    are allowed. *)
Theorem E2_conformal : forall (O : Type) (os : list O) (prob : O -> R) (n k : nat) (S : O -> nat -> R)
  (alpha : R)
  (q : O -> R),
  distribution os prob -> exchangeable os prob n S -> (k <= n)%nat -> (1 - alpha) * (INR n + 1) <= INR k ->
  (forall o, In o os -> kth_smallest k (map (S o) (seq 0 n)) (q o)) ->
  1 - alpha <= probability os prob (fun o => at_most (S o n) (q o)).
Proof.
  intros O os prob n k S alpha q D X kn Hk Q. pose proof (rank os prob n S k D X ltac:(lia)) as R.
  pose proof (pos_INR n) as n0.
  assert (B : 1 - alpha <= probability os prob (fun o => Nat.ltb
    (count (fun j => below (S o j) (S o n)) (seq 0 (n + 1))) k)).
  { apply Rmult_le_reg_l with (INR n + 1); lra. }
  eapply Rle_trans; [exact B|]. apply probability_le; [apply D|]. intros o Ho H.
  apply Nat.ltb_lt in H. apply at_most_spec. destruct (Rle_lt_dec (S o n) (q o)) as [|C]; [easy|]. exfalso.
  destruct (Q o Ho) as [_ [_ K]]. rewrite count_map in K.
  assert (W : (count (fun j => at_most (S o j) (q o)) (seq 0 n) <= count (fun j => below (S o j) (S o n))
    (seq 0 (n + 1)))%nat).
  { rewrite seq_app. unfold count at 2. rewrite filter_app, app_length. etransitivity; [|apply Nat.le_add_r].
    apply count_le. intros j _ Hj. apply at_most_spec in Hj. apply below_spec. lra. }
  lia.
Qed.

(** * Corrupted evidence *)

(* Log score of a class, and how far it lies below the best class. *)
Definition log_score {I} (items : list I) (w : I -> R) (f : I -> nat -> R) (y : nat) : R :=
  sum items (fun i => w i * ln (f i y)).
Definition lead {I} (classes : list nat) (items : list I) (w : I -> R) (f : I -> nat -> R) (y : nat) : R :=
  largest classes (log_score items w f) - log_score items w f y.

(* At most m items of f are replaced, each by one within Hilbert distance d; all entries are positive. *)
Definition corrupted {I} (classes : list nat) (items : list I) (m : nat) (d : R) (f g : I -> nat -> R)
  : Prop :=
  exists bad : I -> bool, (count bad items <= m)%nat /\
    forall i, In i items ->
      (forall y, In y classes -> 0 < f i y /\ 0 < g i y) /\
      (bad i = false -> forall y, In y classes -> g i y = f i y) /\
      (bad i = true -> hilbert classes (f i) (g i) <= d).

Lemma lead_moves {I} (classes : list nat) (items : list I) w f g m d W y :
  In y classes -> (forall i, In i items -> 0 <= w i) -> 0 <= d -> corrupted classes items m d f g ->
  (forall bad, (count bad items <= m)%nat -> sum (filter bad items) w <= W) ->
  lead classes items w g y <= lead classes items w f y + d * W.
Proof.
  intros Hy w0 d0 [bad [Hm C]] HW. unfold lead.
  destruct (largest_in classes (log_score items w g)) as [z [Hz ->]]; [now destruct classes|].
  pose proof (largest_ge classes (log_score items w f) z Hz) as M.
  assert (B : (log_score items w g z - log_score items w f z) -
    (log_score items w g y - log_score items w f y)
    <= sum (filter bad items) (fun i => d * w i)).
  { unfold log_score. rewrite <- !sum_minus. clear HW Hm M.
    induction items as [|i t IH]; simpl; [lra|].
    assert (IHt : sum t (fun i => w i * ln (g i z) - w i * ln (f i z) - (w i * ln (g i y) - w i * ln (f i y)))
      <= sum (filter bad t) (fun i => d * w i)) by (apply IH; intros; [apply w0 | apply C]; now right).
    destruct (C i (or_introl eq_refl)) as (P & U & H). specialize (w0 i (or_introl eq_refl)).
    destruct (bad i) eqn:Bi; simpl.
    - specialize (H eq_refl).
      assert (R := range_ge (support classes (f i)) (fun y => ln (g i y / f i y)) z y).
      cbv beta in R. assert (T : forall u, In u classes -> ln (g i u / f i u) = ln (g i u) - ln (f i u)).
      { intros u Hu. destruct (P u Hu). unfold Rdiv. rewrite ln_mult, ln_Rinv; auto with real. }
      rewrite !T in R by easy. unfold hilbert in H.
      assert (ln (g i z) - ln (f i z) - (ln (g i y) - ln (f i y)) <= d).
      { eapply Rle_trans; [apply R; apply in_support; split; auto; now apply P | exact H]. }
      nra.
    - rewrite !(U eq_refl) by easy. lra. }
  rewrite sum_scal in B. specialize (HW bad Hm). assert (d * sum (filter bad items) w <= d * W) by nra. lra.
Qed.

(** claim: E2 | proves | caveats: reals, finite-space
    Robust conformal sets: the calibration scores and the score of the clean new case are exchangeable.
    Whatever the adversary does to at most m items of the new case, each within Hilbert distance d, the set of
    the classes whose score on the corrupted evidence is at most q + d W holds the label with probability at
    least 1 - alpha. W bounds the total weight of any m items: the sum of the m largest weights. *)
Theorem E2_robust : forall (O I : Type) (os : list O) (prob : O -> R) (n k : nat) (S : O -> nat -> R)
  (alpha : R)
  (q : O -> R) (classes : list nat) (label : O -> nat) (items : list I) (w : O -> I -> R)
    (clean attacked : O -> I -> nat -> R)
  (m : nat) (d W : R),
  distribution os prob -> exchangeable os prob n S -> (k <= n)%nat -> (1 - alpha) * (INR n + 1) <= INR k ->
  (forall o, In o os -> kth_smallest k (map (S o) (seq 0 n)) (q o)) ->
  (forall o, In o os -> In (label o) classes /\ S o n = lead classes items (w o) (clean o) (label o)) ->
  0 <= d -> (forall o, In o os -> corrupted classes items m d (clean o) (attacked o)) ->
  (forall o i, In o os -> In i items -> 0 <= w o i) ->
  (forall o bad, In o os -> (count bad items <= m)%nat -> sum (filter bad items) (w o) <= W) ->
  1 - alpha <= probability os prob (fun o => at_most (lead classes items (w o) (attacked o) (label o))
    (q o + d * W)).
Proof.
  intros O I os prob n k S alpha q classes label items w clean attacked m d W D X kn Hk Q HS d0 HC w0 HW.
  eapply Rle_trans; [apply (E2_conformal O os prob n k S alpha q D X kn Hk Q)|].
  apply probability_le; [apply D|]. intros o Ho H. apply at_most_spec in H. apply at_most_spec.
  destruct (HS o Ho) as [Hl E]. rewrite E in H.
  pose proof (lead_moves classes items (w o) (clean o) (attacked o) m d W (label o) Hl) as L.
  eapply Rle_trans; [apply L; auto|]. lra.
Qed.

(* Exchangeable scores that are not constant: two scores, 0 and 1 in either order. *)
Example exchangeable_not_vacuous :
  exchangeable [true; false] (fun _ => / 2) 1 (fun o i => if o then INR i else 1 - INR i).
Proof.
  intros sigma A P H. unfold probability. simpl.
  assert (L : forall i, (i <= 1)%nat -> (sigma i <= 1)%nat).
  { intros i Hi. assert (In (sigma i) (seq 0 (1 + 1))); [|apply in_seq in H0; lia].
    apply (Permutation_in _ P), in_map, in_seq. lia. }
  assert (N : sigma 0%nat <> sigma 1%nat).
  { apply Permutation_sym in P. apply Permutation_NoDup in P; [|apply seq_NoDup]. simpl in P.
    inversion P as [|? ? P1 _]; subst. intros E. apply P1. left. easy. }
  assert (C : (sigma 0 = 0 /\ sigma 1 = 1)%nat \/ (sigma 0 = 1 /\ sigma 1 = 0)%nat).
  { pose proof (L 0%nat ltac:(lia)). pose proof (L 1%nat ltac:(lia)). lia. }
  destruct C as [[E0 E1]|[E0 E1]].
  - rewrite (H (fun i => INR (sigma i)) (fun i => INR i)),
      (H (fun i => 1 - INR (sigma i)) (fun i => 1 - INR i)); auto;
      intros [|[|i]] Hi; try lia; rewrite ?E0, ?E1; simpl; lra.
  - rewrite (H (fun i => INR (sigma i)) (fun i => 1 - INR i)),
      (H (fun i => 1 - INR (sigma i)) (fun i => INR i));
      [destruct (A _), (A _); lra | |]; intros [|[|i]] Hi; try lia; rewrite ?E0, ?E1; simpl; lra.
Qed.
