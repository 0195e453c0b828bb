(* Lemma 7 of the paper (appendix A.7); theorem 3 has the same bound, see T3.v. The claim: with effective
   dimension d, N independent examples and regularized empirical risk minimization, with probability at least
   1 - delta, L <= L^ + sqrt(2 (L^ + 1/N) (d ln(eN/d) + ln(2/delta)) / N).

   False, by a learner that memorizes. With probability 1 - q the input is one old value, of class 0; else it
   is one of m fresh values, of class 1, all equally likely. A hypothesis says "class 1" on at most d fresh
   values: this class has VC dimension d. The regularized risk is least where all fresh values seen are
   memorized, if there are at most d of them. Then L^ = 0, but L >= q (1 - d/m). By Markov's inequality the
   sample has more than d fresh values with probability at most qN/(d+1). Hence the claim fails at all N, d,
   delta with 2 (d ln(eN/d) + ln(2/delta)) < N^2 and < ((1 - delta)(d + 1))^2; for d = N and delta = 0.05 from
   N = 4 on. *)
Require Import Reals List Lra Psatz Arith.
From LPF Require Import IntegerInterval.
From LPF Require Import Sums T5prime.
Import ListNotations.
Open Scope R_scope.

(* All lists of n elements. *)
Fixpoint tuples {A} (l : list A) (n : nat) : list (list A) :=
  match n with O => [[]] | S k => flat_map (fun x => map (cons x) (tuples l k)) l end.

Section Learning.
Context {X Theta : Type} (predict : Theta -> X -> bool).
Definition loss (t : Theta) (z : X * bool) : R := if Bool.eqb (predict t (fst z)) (snd z) then 0 else 1.
Definition risk (zs : list (X * bool)) (P : X * bool -> R) (t : Theta) : R := sum zs
  (fun z => P z * loss t z).
Definition empirical (s : list (X * bool)) (t : Theta) : R := sum s (loss t) / INR (length s).
(* Every labelling of the inputs in l is the prediction of an allowed hypothesis. *)
Definition shattered (allowed : Theta -> Prop) (l : list X) : Prop :=
  forall b : X -> bool, exists t, allowed t /\ forall x, In x l -> predict t x = b x.
Definition vc_dimension (allowed : Theta -> Prop) (d : nat) : Prop :=
  (exists l, NoDup l /\ length l = d /\ shattered allowed l) /\
  (forall l, NoDup l -> length l = S d -> ~ shattered allowed l).
End Learning.

Definition complexity (N d : nat) (delta : R) : R := INR d * ln (exp 1 * INR N / INR d) + ln (2 / delta).
Definition gap (L : R) (N d : nat) (delta : R) : R := sqrt (2 * (L + / INR N) * complexity N d delta / INR N).

(* The claim at N, d, delta: for every class of dimension d, every distribution of examples, every penalty and
   every learner that minimizes empirical risk plus penalty. N examples are drawn independently: a sample s
   has probability prod s P. *)
Definition lemma_7 (N d : nat) (delta : R) : Prop :=
  forall (X Theta : Type) (zs : list (X * bool)) (P : X * bool -> R) (allowed : Theta -> Prop)
    (predict : Theta -> X -> bool) (penalty : Theta -> R) (learn : list (X * bool) -> Theta),
    distribution zs P -> (forall t, 0 <= penalty t) -> vc_dimension predict allowed d ->
    (forall s, In s (tuples zs N) -> allowed (learn s) /\ forall t, allowed t ->
       empirical predict s (learn s) + penalty (learn s) <= empirical predict s t + penalty t) ->
    1 - delta <= sum (tuples zs N) (fun s =>
      if Rle_dec (risk predict zs P (learn s)) (empirical predict s (learn s) + gap
        (empirical predict s (learn s)) N d delta)
      then prod s P else 0).

(** * Samples *)

Lemma sum_app {A} (l m : list A) f : sum (l ++ m) f = sum l f + sum m f.
Proof. induction l; simpl; lra. Qed.
Lemma sum_map {A B} (l : list A) (g : A -> B) f : sum (map g l) f = sum l (fun x => f (g x)).
Proof. induction l; simpl; congruence. Qed.
Lemma sum_tuples {A} (l : list A) n F : sum (tuples l (S n)) F = sum l
  (fun x => sum (tuples l n) (fun t => F (x :: t))).
Proof.
  simpl. generalize (tuples l n) as m. intros m. induction l as [|a t IH]; simpl; [easy|].
  rewrite sum_app, sum_map. f_equal. clear -IH. exact IH.
Qed.
Lemma in_tuples {A} (l : list A) n t : In t (tuples l n) <-> length t = n /\ incl t l.
Proof.
  revert t. induction n as [|n IH]; intros t; simpl.
  - split; [intros [<-|[]]; split; [easy | intros x []] | intros [H _]; destruct t; [now left | easy]].
  - rewrite in_flat_map. split.
    + intros [x [Hx Ht]]. apply in_map_iff in Ht. destruct Ht as [t' [<- Ht]]. apply IH in Ht.
        destruct Ht as [L I].
      split; [simpl; congruence|]. intros y [<-|Hy]; auto.
    + intros [L I]. destruct t as [|x t]; [easy|]. exists x. split; [apply I; now left|].
      apply in_map, IH. split; [now injection L | intros y Hy; apply I; now right].
Qed.
Lemma tuples_total {A} (l : list A) P n : sum l P = 1 -> sum (tuples l n) (fun s => prod s P) = 1.
Proof.
  intros H. induction n as [|n IH]; [simpl; lra|]. rewrite sum_tuples. simpl.
  transitivity (sum l P); [|exact H]. apply sum_ext; intros x _. rewrite sum_scal, IH. ring.
Qed.
(* The mean number of examples with a property. *)
Lemma tuples_mean {A} (l : list A) P (b : A -> bool) q n : sum l P = 1 -> sum l
  (fun x => P x * if b x then 1 else 0) = q ->
  sum (tuples l n) (fun s => prod s P * sum s (fun x => if b x then 1 else 0)) = INR n * q.
Proof.
  intros H Q. induction n as [|n IH]; [simpl; ring|]. rewrite sum_tuples, S_INR.
  rewrite (sum_ext l _ (fun x => (P x * if b x then 1 else 0) + (INR n * q) * P x)).
  - rewrite sum_plus, sum_scal, H, Q. ring.
  - intros x _. simpl. rewrite (sum_ext _ _ (fun s => (P x * if b x then 1 else 0) * prod s P
      + P x * (prod s P * sum s (fun x => if b x then 1 else 0)))) by (intros; ring).
    rewrite sum_plus, !sum_scal, IH, tuples_total by easy. ring.
Qed.

(* The best of finitely many hypotheses. *)
Fixpoint argmin {A} (f : A -> R) (best : A) (l : list A) : A :=
  match l with [] => best | x :: t => argmin f (if Rle_dec (f best) (f x) then best else x) t end.
Lemma argmin_le {A} (f : A -> R) l : forall best, f (argmin f best l) <= f best /\ forall x, In x l -> f
  (argmin f best l) <= f x.
Proof.
  induction l as [|a t IH]; intros best; simpl; [split; [lra | easy]|].
  destruct (Rle_dec (f best) (f a)); [destruct (IH best) as [H1 H2] | destruct (IH a) as [H1 H2]];
    (split; [lra | intros x [<-|Hx]; [lra | auto]]).
Qed.
Lemma argmin_in {A} (f : A -> R) l : forall best, argmin f best l = best \/ In (argmin f best l) l.
Proof.
  induction l as [|a t IH]; intros best; simpl; [now left|]. destruct (Rle_dec (f best) (f a)).
  - destruct (IH best); auto.
  - destruct (IH a); auto.
Qed.

(** * The memorizer *)

Section Memorizer.
Variables (N d m : nat) (q : R).
Hypothesis (N1 : (1 <= N)%nat) (dm : (d <= m)%nat) (m1 : (1 <= m)%nat) (q01 : 0 <= q <= 1).

Definition mem (x : nat) (l : list nat) : bool := if in_dec Nat.eq_dec x l then true else false.
Lemma mem_spec x l : mem x l = true <-> In x l.
Proof. unfold mem. destruct (in_dec Nat.eq_dec x l); intuition congruence. Qed.

(* Input 0 is the old value, 1, ..., m are the fresh ones; a hypothesis is the list of memorized values. *)
Definition zs : list (nat * bool) := (0%nat, false) :: map (fun x => (x, true)) (seq 1 m).
Definition P (z : nat * bool) : R := if snd z then q / INR m else 1 - q.
Definition predict (t : list nat) (x : nat) : bool := mem x t.
Definition allowed (t : list nat) : Prop := (length t <= d)%nat /\ incl t (seq 1 m).
Definition penalty (t : list nat) : R := INR (length t) * / (2 * INR N).
Definition objective (s : list (nat * bool)) (t : list nat) : R := empirical predict s t + penalty t.
Definition candidates : list (list nat) := flat_map (tuples (seq 1 m)) (seq 0 (S d)).
Definition learn (s : list (nat * bool)) : list nat := argmin (objective s) [] candidates.
Definition fresh (s : list (nat * bool)) : list nat := map fst (filter snd s).

Lemma m_pos : 0 < INR m. Proof. apply lt_0_INR. lia. Qed.
Lemma N_pos : 0 < INR N. Proof. apply lt_0_INR. lia. Qed.
Lemma sum_const {A} (l : list A) c : sum l (fun _ => c) = INR (length l) * c.
Proof. induction l; [simpl; ring|]. cbn [sum length]. rewrite IHl, S_INR. ring. Qed.

Lemma P_distribution : distribution zs P.
Proof.
  pose proof m_pos. split.
  - intros [x []] _; unfold P; simpl; [|lra]. apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat].
  - unfold zs. cbn [sum]. rewrite sum_map. unfold P. simpl. rewrite sum_const, seq_length. field. lra.
Qed.

Lemma fresh_mean : sum zs (fun z => P z * if snd z then 1 else 0) = q.
Proof.
  pose proof m_pos. unfold zs. cbn [sum]. rewrite sum_map. unfold P. simpl. rewrite sum_const, seq_length.
    field. lra.
Qed.

Lemma memorizer_vc : vc_dimension predict allowed d.
Proof.
  split.
  - exists (seq 1 d). split; [apply seq_NoDup|]. split; [apply seq_length|]. intros b.
    exists (filter b (seq 1 d)). split; [split|].
    + rewrite <- (seq_length d 1) at 2. generalize (seq 1 d). clear. induction l as [|a t IH]; simpl; [lia|].
      destruct (b a); simpl; lia.
    + intros x Hx. apply filter_In in Hx. destruct Hx as [Hx _]. apply in_seq in Hx. apply in_seq. lia.
    + intros x Hx. unfold predict. destruct (b x) eqn:E.
      * apply mem_spec, filter_In. auto.
      * destruct (mem x _) eqn:M; [|easy]. apply mem_spec, filter_In in M. destruct M; congruence.
  - intros l Nd L S. destruct (S (fun _ => true)) as [t [[Ht _] Hp]].
    assert (length l <= length t)%nat; [|lia]. apply NoDup_incl_length; [easy|].
    intros x Hx. apply mem_spec. now apply Hp.
Qed.

Lemma candidates_spec t : In t candidates <-> allowed t.
Proof.
  unfold candidates, allowed. rewrite in_flat_map. split.
  - intros [k [Hk Ht]]. apply in_seq in Hk. apply in_tuples in Ht. destruct Ht. split; [lia | easy].
  - intros [L I]. exists (length t). split; [apply in_seq; lia | now apply in_tuples].
Qed.

Lemma learn_allowed s : allowed (learn s).
Proof.
  unfold learn. destruct (argmin_in (objective s) candidates []) as [->|H]; [|now apply candidates_spec].
  split; [simpl; lia | intros x []].
Qed.
Lemma learn_minimizes s t : allowed t -> objective s (learn s) <= objective s t.
Proof. intros H. apply argmin_le. now apply candidates_spec. Qed.

(* On a sample, a hypothesis errs exactly on the fresh values that it has not memorized. *)
Lemma errors s t : incl s zs -> incl t (seq 1 m) ->
  sum s (loss predict t) = INR (length (filter (fun x => negb (mem x t)) (fresh s))).
Proof.
  intros Hs Ht. induction s as [|[x y] s IH]; [easy|].
  assert (Hz : In (x, y) zs) by (apply Hs; now left).
  assert (IHs : sum s (loss predict t) = INR (length (filter (fun x => negb (mem x t)) (fresh s))))
    by (apply IH; intros z H; apply Hs; now right).
  cbn [sum]. rewrite IHs. unfold loss, fresh, predict. cbn [fst snd filter].
  destruct Hz as [E|Hz].
  - inversion E; subst. destruct (mem 0 t) eqn:M; [|simpl; lra].
    apply mem_spec, Ht, in_seq in M. lia.
  - apply in_map_iff in Hz. destruct Hz as [x' [E _]]. inversion E; subst. cbn [map filter fst].
    destruct (mem x t); cbn [negb Bool.eqb]; [lra|]. cbn [length]. rewrite S_INR. lra.
Qed.

(* With at most d fresh examples, all are memorized. *)
Lemma memorized s : length s = N -> incl s zs -> (length (fresh s) <= d)%nat -> empirical predict s (learn s)
  = 0.
Proof.
  intros L Hs Hd. pose proof N_pos as N0. set (F := nodup Nat.eq_dec (fresh s)).
  assert (inF : forall x, In x F <-> In x (fresh s)) by (intros; apply nodup_In).
  assert (Fd : (length F <= d)%nat).
  { etransitivity; [|exact Hd]. apply NoDup_incl_length; [apply NoDup_nodup | intros x; apply inF]. }
  assert (Fm : incl F (seq 1 m)).
  { intros x Hx. apply inF in Hx. unfold fresh in Hx. apply in_map_iff in Hx. destruct Hx as [[x' y] [<- Hx]].
    apply filter_In in Hx. destruct Hx as [Hx Y]. simpl in Y. subst y. apply Hs in Hx. destruct Hx as [E|Hx];
      [easy|].
    apply in_map_iff in Hx. destruct Hx as [x'' [E Hx]]. now inversion E; subst. }
  pose proof (learn_minimizes s F (conj Fd Fm)) as O. destruct (learn_allowed s) as [_ Im].
  set (t := learn s) in *. unfold objective, penalty in O.
  assert (E0 : empirical predict s F = 0).
  { unfold empirical. rewrite errors by easy. replace (filter _ (fresh s)) with (@nil nat);
      [simpl; unfold Rdiv; ring|].
    symmetry. assert (G : forall x, In x (fresh s) -> negb (mem x F) = false).
    { intros x Hx. apply Bool.negb_false_iff, mem_spec, inF, Hx. }
    revert G. generalize (fresh s). clear. induction l as [|a l IH]; simpl; intros G; [easy|]. rewrite G
      by auto. auto. }
  set (missed := filter (fun x => negb (mem x t)) F).
  assert (J1 : (length missed <= length (filter (fun x => negb (mem x t)) (fresh s)))%nat).
  { apply NoDup_incl_length; [apply NoDup_filter, NoDup_nodup|]. intros x Hx. apply filter_In in Hx.
    apply filter_In. rewrite <- inF. tauto. }
  assert (J2 : (length F <= length t + length missed)%nat).
  { assert (A : (length (filter (fun x => mem x t) F) <= length t)%nat).
    { apply NoDup_incl_length; [apply NoDup_filter, NoDup_nodup|]. intros x Hx. apply filter_In in Hx.
        now apply mem_spec. }
    assert (B : (length (filter (fun x => mem x t) F) + length missed = length F)%nat).
    { unfold missed. generalize F. clear. intros l. induction l as [|a l IH]; simpl; [easy|]. destruct
        (mem a t); simpl; lia. }
    lia. }
  assert (Et : empirical predict s t = INR (length (filter (fun x => negb (mem x t)) (fresh s))) * / INR N).
  { unfold empirical. rewrite errors, L by easy. easy. }
  apply le_INR in J1, J2. rewrite plus_INR in J2. rewrite E0, Et in O.
  assert (I : 0 < / INR N) by now apply Rinv_0_lt_compat.
  assert (I2 : / (2 * INR N) = / 2 * / INR N) by (field; lra). rewrite I2 in O.
  assert (J : INR (length missed) <= 0).
  { set (a := INR (length (filter _ (fresh s)))) in *. set (b := INR (length missed)) in *.
    set (c := INR (length t)) in *. set (e := INR (length F)) in *. set (i := / INR N) in *.
    assert (b * i <= a * i) by (apply Rmult_le_compat_r; lra).
    assert (e * i <= (c + b) * i) by (apply Rmult_le_compat_r; lra). nra. }
  assert (M : missed = []).
  { destruct missed as [|a l]; [easy|]. exfalso. cbn [length] in J. rewrite S_INR in J. pose proof
      (pos_INR (length l)). lra. }
  rewrite Et. replace (filter _ (fresh s)) with (@nil nat); [simpl; ring|]. symmetry.
  assert (G : forall x, In x (fresh s) -> negb (mem x t) = false).
  { intros x Hx. destruct (negb (mem x t)) eqn:E; [|easy]. exfalso.
    assert (In x missed) by (apply filter_In; rewrite inF; auto). rewrite M in *. easy. }
  revert G. generalize (fresh s). clear. induction l as [|a l IH]; simpl; intros G; [easy|]. rewrite G
    by auto. auto.
Qed.

(* But most fresh values are never memorized. *)
Lemma true_risk t : allowed t -> q * (1 - INR d / INR m) <= risk predict zs P t.
Proof.
  intros [L I]. pose proof m_pos as m0. unfold risk, zs. cbn [sum]. rewrite sum_map.
  assert (Z : loss predict t (0%nat, false) = 0).
  { unfold loss, predict. simpl. destruct (mem 0 t) eqn:E; [|easy]. apply mem_spec, I, in_seq in E. lia. }
  rewrite Z. unfold P. cbn [snd]. rewrite sum_scal.
  assert (C : sum (seq 1 m) (fun x => loss predict t (x, true)) = INR
    (length (filter (fun x => negb (mem x t)) (seq 1 m)))).
  { generalize (seq 1 m). clear. induction l as [|a l IH]; [easy|]. cbn [sum filter]. rewrite IH. unfold loss,
      predict.
    cbn [fst snd]. destruct (mem a t); cbn [negb Bool.eqb]; [lra|]. cbn [length]. rewrite S_INR. lra. }
  rewrite C.
  assert (A : (length (filter (fun x => mem x t) (seq 1 m)) <= length t)%nat).
  { apply NoDup_incl_length; [apply NoDup_filter, seq_NoDup|]. intros x Hx. apply filter_In in Hx.
      now apply mem_spec. }
  assert (B : (length (filter (fun x => mem x t) (seq 1 m)) + length
    (filter (fun x => negb (mem x t)) (seq 1 m)) = m)%nat).
  { rewrite <- (seq_length m 1) at 3. generalize (seq 1 m). clear. induction l as [|a l IH]; simpl; [easy|].
    destruct (mem a t); simpl; lia. }
  assert (D : INR m - INR d <= INR (length (filter (fun x => negb (mem x t)) (seq 1 m)))).
  { rewrite <- minus_INR by lia. apply le_INR. lia. }
  replace (q * (1 - INR d / INR m)) with (q / INR m * (INR m - INR d)) by (field; lra).
  assert (0 <= q / INR m) by (apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat]).
  rewrite Rmult_0_r, Rplus_0_l. now apply Rmult_le_compat_l.
Qed.

(* Where the claim's bound is smaller than the true risk, it holds only on samples with more than d fresh
   values. *)
Lemma claim_gives delta : lemma_7 N d delta -> gap 0 N d delta < q * (1 - INR d / INR m) ->
  (1 - delta) * (INR d + 1) <= INR N * q.
Proof.
  intros H G. specialize (H nat (list nat) zs P allowed predict penalty learn).
  assert (C := H P_distribution). clear H.
  rewrite <- (tuples_mean zs P snd q N (proj2 P_distribution) fresh_mean).
  rewrite Rmult_comm. apply Rle_trans with ((INR d + 1) * sum (tuples zs N)
    (fun s => if Rle_dec (risk predict zs P (learn s))
    (empirical predict s (learn s) + gap (empirical predict s (learn s)) N d delta) then prod s P else 0)).
  - apply Rmult_le_compat_l; [pose proof (pos_INR d); lra|]. apply C; [|apply memorizer_vc|].
    + intros t. unfold penalty. apply Rmult_le_pos; [apply pos_INR|]. left. apply Rinv_0_lt_compat.
        pose proof N_pos. lra.
    + intros s _. split; [apply learn_allowed | intros t Ht; now apply learn_minimizes].
  - rewrite <- sum_scal. apply sum_le; intros s Hs. apply in_tuples in Hs. destruct Hs as [Ls Is].
    assert (p0 : 0 <= prod s P) by (apply prod_nonneg; intros z Hz; apply P_distribution; auto).
    assert (E : sum s (fun x => if snd x then 1 else 0) = INR (length (fresh s))).
    { unfold fresh. rewrite map_length. clear. induction s as [|z s IH]; [easy|]. cbn [sum filter].
        rewrite IH.
      destruct (snd z); [cbn [length]; rewrite S_INR; lra | lra]. }
    rewrite E. destruct (Rle_dec _ _) as [y|]; [|rewrite Rmult_0_r; apply Rmult_le_pos;
      [easy | apply pos_INR]].
    destruct (le_lt_dec (length (fresh s)) d) as [Hd|Hd].
    + exfalso. rewrite (memorized s Ls Is Hd) in y. pose proof (true_risk (learn s) (learn_allowed s)). lra.
    + rewrite Rmult_comm. apply Rmult_le_compat_l; [easy|]. rewrite <- S_INR. apply le_INR. lia.
Qed.
End Memorizer.

(** claim: L7 | refutes | caveats: reals, vc-dimension, any-learner
    The bound fails at all N, d and delta with d <= N for which twice its complexity term is below N^2 and
    below ((1 - delta)(d + 1))^2. Paper: lemma 7, appendix A.7. *)
Theorem L7_refuted : forall (N d : nat) (delta : R), (1 <= d <= N)%nat -> 0 < delta < 1 ->
  2 * complexity N d delta < INR N ^ 2 -> 2 * complexity N d delta < ((1 - delta) * (INR d + 1)) ^ 2 ->
  ~ lemma_7 N d delta.
Proof.
  intros N d delta [d1 dN] [e0 e1] C1 C2 H.
  assert (N0 : 1 <= INR N) by (apply (le_INR 1); lia). assert (D0 : 1 <= INR d) by (apply (le_INR 1); lia).
  assert (C0 : 0 <= complexity N d delta).
  { unfold complexity. assert (0 <= ln (exp 1 * INR N / INR d)).
    { rewrite <- ln_1. apply ln_mono; [lra|]. pose proof (exp_ineq1 1 ltac:(lra)). apply le_INR in dN.
      apply Rmult_le_reg_r with (INR d); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra. }
    assert (0 <= ln (2 / delta)).
    { rewrite <- ln_1. apply ln_mono; [lra|]. apply Rmult_le_reg_r with delta; [lra|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    assert (0 <= INR d * ln (exp 1 * INR N / INR d)) by (apply Rmult_le_pos; lra). lra. }
  set (g := gap 0 N d delta).
  assert (G : g = sqrt (2 * complexity N d delta) / INR N).
  { unfold g, gap. replace (2 * (0 + / INR N) * complexity N d delta / INR N)
      with (2 * complexity N d delta / (INR N * INR N)) by (field; lra).
    rewrite sqrt_div by nra. now rewrite sqrt_square by lra. }
  assert (S : forall a, 0 <= a -> 2 * complexity N d delta < a ^ 2 -> sqrt (2 * complexity N d delta) < a).
  { intros a a0 Ha. rewrite <- (sqrt_pow2 a a0). apply sqrt_lt_1_alt. lra. }
  set (r := sqrt (2 * complexity N d delta)) in *. assert (r0 : 0 <= r) by apply sqrt_pos.
  assert (r1 : r < INR N) by (apply S; lra).
  assert (p0 : 0 < (1 - delta) * (INR d + 1)) by nra.
  assert (r2 : r < (1 - delta) * (INR d + 1)) by (apply S; lra).
  set (top := Rmin (INR N) ((1 - delta) * (INR d + 1))).
  assert (rt : r < top) by (apply Rmin_glb_lt; easy).
  assert (t1 : top <= INR N) by apply Rmin_l. assert (t2 : top <= (1 - delta) * (INR d + 1)) by apply Rmin_r.
  set (u := (r + top) / 2). set (q := u / INR N).
  assert (u0 : r < u < top) by (unfold u; lra).
  assert (Nq : INR N * q = u) by (unfold q; field; lra).
  assert (i0 : 0 < / INR N) by (apply Rinv_0_lt_compat; lra).
  assert (q01 : 0 < q <= 1) by (unfold q, Rdiv; split; [nra|]; apply Rmult_le_reg_r with (INR N); [lra|];
    rewrite Rmult_assoc, Rinv_l by lra; lra).
  assert (gq : g < q) by (rewrite G; unfold q, Rdiv; nra).
  (* so many fresh values that the share d/m of the memorized ones does not matter *)
  destruct (archimed_cor1 ((q - g) / INR d)) as [m0 [Hm0 m00]]; [apply Rdiv_lt_0_compat; lra|].
  set (m := (m0 + d)%nat). assert (M : 1 <= INR m) by (apply (le_INR 1); unfold m; lia).
  assert (m0p : 0 < INR m0) by (apply lt_0_INR; lia).
  assert (dm : INR d / INR m < q - g).
  { apply Rle_lt_trans with (INR d * / INR m0).
    - apply Rmult_le_compat_l; [lra|]. apply Rinv_le_contravar; [lra|]. apply le_INR. unfold m. lia.
    - apply Rmult_lt_reg_l with (/ INR d); [apply Rinv_0_lt_compat; lra|].
      rewrite <- Rmult_assoc, Rinv_l by lra. unfold Rdiv in Hm0. lra. }
  assert (dm0 : 0 <= INR d / INR m) by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]).
  pose proof (claim_gives N d m q ltac:(lia) ltac:(unfold m; lia) ltac:(unfold m; lia) ltac:(lra) delta H)
    as K.
  fold g in K. assert (g < q * (1 - INR d / INR m)) by nra. specialize (K H0). lra.
Qed.

(** claim: L7 | refutes | caveats: reals, vc-dimension, any-learner
    With as many dimensions as examples and delta = 0.05 the bound fails for every N >= 4. *)
Theorem L7_refuted_square : forall N : nat, (4 <= N)%nat -> ~ lemma_7 N N (1 / 20).
Proof.
  intros N H. assert (4 <= INR N) by (apply le_INR in H; simpl in H; lra).
  assert (C : complexity N N (1 / 20) = INR N + ln 40).
  { unfold complexity. replace (exp 1 * INR N / INR N) with (exp 1) by (field; lra). rewrite ln_exp.
    replace (2 / (1 / 20)) with 40 by lra. ring. }
  assert (L : ln 40 < 3.69) by enclose.
  apply L7_refuted; [lia | lra | |]; rewrite C; nra.
Qed.
