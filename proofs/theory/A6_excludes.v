(* What assumption 6 of the paper (section 2) excludes: it asks that every class gets at least 1/(2|Y|) from
   the decoder. With n classes the largest probability is then at most (n+1)/(2n), the entropy at least that
   of ((n+1)/(2n), 1/(2n), ...), the log loss at least ln(2n/(n+1)), and two factors are at most 1 apart in
   L1. With the paper's three classes: 2/3, 1.2516 bits and 0.405, where the paper prints a mean entropy of
   0.158 bits (section 3.4) and losses of 0.0379 and 0.0463 (section 6.3). A softmax whose logits may
   be any numbers meets the assumption at no temperature. *)
Require Import Reals List Lra Psatz.
From LPF Require Import IntegerInterval.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.

(* Assumption 6 for one factor. *)
Definition floored {Y} (ys : list Y) (p : Y -> R) : Prop :=
  distribution ys p /\ forall y, In y ys -> / (2 * INR (length ys)) <= p y.
Definition entropy {Y} (ys : list Y) (p : Y -> R) : R := sum ys (fun y => - (p y * ln (p y))).
Definition mean (l : list R) : R := sum l (fun x => x) / INR (length l).

Lemma sum_const {A} (l : list A) c : sum l (fun _ => c) = INR (length l) * c.
Proof. induction l; [simpl; ring|]. cbn [sum length]. rewrite IHl, S_INR. ring. Qed.
Lemma length_pos {A} (l : list A) x : In x l -> 0 < INR (length l).
Proof. destruct l; [easy|]. intros _. cbn [length]. rewrite S_INR. pose proof (pos_INR (length l)). lra. Qed.
Lemma mean_ge l c : l <> [] -> (forall x, In x l -> c <= x) -> c <= mean l.
Proof.
  intros ne H. destruct l as [|a t]; [easy|]. pose proof (length_pos (a :: t) a (or_introl eq_refl)) as L.
  unfold mean. apply Rmult_le_reg_r with (INR (length (a :: t))); [exact L|]. unfold Rdiv.
  rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. rewrite Rmult_comm, <- sum_const. now apply sum_le.
Qed.

(** claim: A6.excludes | proves | caveats: reals
    Under assumption 6 no class of n gets more than (n+1)/(2n): 2/3 with three classes, 3/4 with two.
    Paper: assumption 6, section 2. *)
Theorem A6_largest : forall (Y : Type) (ys : list Y) (p : Y -> R) (y : Y), floored ys p -> In y ys ->
  p y <= (INR (length ys) + 1) / (2 * INR (length ys)).
Proof.
  intros Y ys p y [[_ p1] F] Hy. pose proof (length_pos ys y Hy) as L.
  destruct (in_split _ _ Hy) as [a [b E]].
  assert (app : forall f : Y -> R, sum ys f = f y + sum (a ++ b) f).
  { intros f. rewrite E. clear. induction a; simpl; lra. }
  assert (G : sum (a ++ b) (fun _ => / (2 * INR (length ys))) <= sum (a ++ b) p).
  { apply sum_le; intros x Hx. apply F. rewrite E. apply in_app_iff in Hx. apply in_app_iff. simpl. tauto. }
  assert (N : INR (length ys) = INR (length (a ++ b)) + 1).
  { rewrite E, !app_length. simpl. rewrite <- S_INR. f_equal. apply Nat.add_succ_r. }
  rewrite app in p1. rewrite sum_const in G. set (n := INR (length ys)) in *.
  assert (I : / (2 * n) * (2 * n) = 1) by (apply Rinv_l; lra).
  replace ((n + 1) / (2 * n)) with (1 - (n - 1) * / (2 * n)) by (field; lra).
  replace (INR (length (a ++ b))) with (n - 1) in G by lra. lra.
Qed.

(* x ln x is convex: it lies below its chord. *)
Lemma chord_xlnx c M t x : 0 < c -> 0 < M -> 0 <= t <= 1 -> x = t * M + (1 - t) * c ->
  x * ln x <= t * (M * ln M) + (1 - t) * (c * ln c).
Proof.
  intros c0 M0 [t0 t1] E.
  assert (x0 : 0 < x). { rewrite E. destruct t0 as [t0|<-]; [|lra]. assert (0 < t * M) by nra.
    assert (0 <= (1 - t) * c) by nra. lra. }
  assert (T : forall a, 0 < a -> a * ln x + (a - x) <= a * ln a).
  { intros a a0. assert (H : ln (x / a) <= x / a - 1).
    { assert (q0 : 0 < x / a) by (apply Rdiv_lt_0_compat; lra).
      destruct (Req_dec (ln (x / a)) 0) as [e|n].
      - rewrite e. rewrite <- ln_1 in e. apply ln_inv in e; lra.
      - pose proof (exp_ineq1 (ln (x / a)) n) as H. rewrite exp_ln in H by easy. lra. }
    unfold Rdiv in H. rewrite ln_mult, ln_Rinv in H by (try apply Rinv_0_lt_compat; lra).
    assert (a * (ln x + - ln a) <= a * (x * / a - 1)) by (apply Rmult_le_compat_l; lra).
    replace (a * (x * / a - 1)) with (x - a) in * by (field; lra). lra. }
  pose proof (T c c0). pose proof (T M M0).
  replace (x * ln x) with (t * (M * ln x + (M - x)) + (1 - t) * (c * ln x + (c - x))) by (rewrite E; ring).
  apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
Qed.

(* The smallest entropy: one class at (n+1)/(2n), the others at the floor. *)
Definition least_entropy (n : R) : R :=
  - ((n + 1) / (2 * n) * ln ((n + 1) / (2 * n))) - (n - 1) * (/ (2 * n) * ln (/ (2 * n))).

(** claim: A6.excludes | proves | caveats: reals
    Under assumption 6 the entropy of a factor over n classes is at least that of ((n+1)/(2n), 1/(2n), ...,
    1/(2n)), here in nats. *)
Theorem A6_entropy : forall (Y : Type) (ys : list Y) (p : Y -> R), floored ys p ->
  least_entropy (INR (length ys)) <= entropy ys p.
Proof.
  intros Y ys p H. pose proof H as [[_ p1] F].
  destruct ys as [|y0 l]; [simpl in p1; lra|]. set (ys := y0 :: l) in *.
  pose proof (length_pos ys y0 (or_introl eq_refl)) as L.
  assert (B := fun y => A6_largest Y ys p y H). set (n := INR (length ys)) in *.
  set (c := / (2 * n)) in *. set (M := (n + 1) / (2 * n)) in *.
  assert (c0 : 0 < c) by (apply Rinv_0_lt_compat; lra).
  assert (D : M = c + / 2) by (unfold M, c; field; lra).
  assert (nc : n * c = / 2) by (unfold c; field; lra).
  unfold least_entropy. fold c M. unfold entropy.
  apply Rle_trans with (sum ys (fun y => - (c * ln c) + (- (M * ln M) + c * ln c) * (2 * p y - 2 * c))).
  - right. rewrite sum_plus, sum_const, sum_scal, sum_minus, sum_scal, sum_const, p1. fold n.
    replace (2 * 1 - n * (2 * c)) with 1 by lra. ring.
  - apply sum_le; intros y Hy. specialize (F y Hy). specialize (B y Hy).
    pose proof (chord_xlnx c M (2 * p y - 2 * c) (p y) c0) as X. assert (0 < M) by lra.
    assert (E : p y = (2 * p y - 2 * c) * M + (1 - (2 * p y - 2 * c)) * c) by (rewrite D; field).
    specialize (X H0). assert (0 <= 2 * p y - 2 * c <= 1) by lra. specialize (X H1 E). nra.
Qed.

(** claim: A6.excludes | refutes | caveats: reals
    With three classes every factor has an entropy of at least 1.2516 bits, and so has the mean over any
    number of factors; the 0.158 bits printed in section 3.4 cannot be the mean entropy of factors that
    satisfy assumption 6. *)
Theorem A6_excludes_entropy : forall (Y : Type) (ys : list Y) (factors : list (Y -> R)),
  length ys = 3%nat -> factors <> [] -> (forall p, In p factors -> floored ys p) ->
  let bits := mean (map (fun p => entropy ys p / ln 2) factors) in
  1.2516 <= bits /\ bits <> 0.158.
Proof.
  intros Y ys factors L ne F bits. assert (1.2516 <= bits); [|lra].
  apply mean_ge; [now destruct factors|]. intros x Hx. apply in_map_iff in Hx. destruct Hx as [p [<- Hp]].
  pose proof (A6_entropy Y ys p (F p Hp)) as E. rewrite L in E. simpl INR in E.
  replace (1 + 1 + 1) with 3 in E by lra.
  assert (B : 1.2516 * ln 2 <= least_entropy 3) by (unfold least_entropy; enclose).
  assert (P : 0 < ln 2) by enclose.
  apply Rmult_le_reg_r with (ln 2); [exact P|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

(** claim: A6.excludes | refutes | caveats: reals, log-loss
    With three classes, if the loss is the logarithmic one, every loss of a decoder that satisfies assumption
    6 is at least ln(3/2) > 0.405, and so is the mean over any sample; the printed 0.0379 and 0.0463 (section
    6.3) cannot be such means. *)
Theorem A6_excludes_loss : forall (Y : Type) (ys : list Y) (sample : list ((Y -> R) * Y)),
  length ys = 3%nat -> sample <> [] -> (forall p y, In (p, y) sample -> floored ys p /\ In y ys) ->
  let loss := mean (map (fun s => - ln (fst s (snd s))) sample) in
  0.405 <= loss /\ loss <> 0.0379 /\ loss <> 0.0463.
Proof.
  intros Y ys sample L ne F loss. assert (0.405 <= loss); [|lra].
  apply mean_ge; [now destruct sample|]. intros x Hx. apply in_map_iff in Hx. destruct Hx as [[p y] [<- Hp]].
  destruct (F p y Hp) as [Fp Hy]. pose proof (A6_largest Y ys p y Fp Hy) as B. destruct Fp as [_ Fp].
  specialize (Fp y Hy). rewrite L in *. simpl in *.
  assert (ln (p y) <= ln (2 / 3)).
  { destruct (Rle_lt_or_eq_dec (p y) (2 / 3)) as [H|H];
      [lra | left; apply ln_increasing; lra | rewrite H; lra]. }
  assert (0.405 <= - ln (2 / 3)) by enclose. lra.
Qed.

(** claim: A6.excludes | proves | caveats: reals
    Two factors that satisfy assumption 6 are at most 1 apart in L1, for any number of classes: delta = 1 in
    theorem 5 is complete replacement. Attained by any n >= 2 classes. Paper: section 3.5 and its experiment.
    *)
Theorem A6_L1 :
  (forall (Y : Type) (ys : list Y) (p q : Y -> R), floored ys p -> floored ys q -> L1 ys p q <= 1) /\
  (forall n : nat, (2 <= n)%nat -> exists p q : nat -> R,
     floored (seq 0 n) p /\ floored (seq 0 n) q /\ L1 (seq 0 n) p q = 1).
Proof.
  split.
  - intros Y ys p q [[_ p1] Fp] [[_ q1] Fq]. destruct ys as [|y0 l]; [simpl in p1; lra|]. set (ys := y0 :: l)
      in *.
    pose proof (length_pos ys y0 (or_introl eq_refl)) as L. set (n := INR (length ys)) in *. set
      (c := / (2 * n)) in *.
    assert (nc : n * c = / 2) by (unfold c; field; lra).
    apply Rle_trans with (sum ys (fun y => p y + q y - 2 * c)).
    + apply sum_le; intros y Hy. specialize (Fp y Hy). specialize (Fq y Hy).
      unfold Rabs; destruct (Rcase_abs (p y - q y)); lra.
    + rewrite sum_minus, sum_plus, p1, q1, sum_const. fold n. lra.
  - intros n Hn. set (c := / (2 * INR n)). assert (N : 2 <= INR n) by (apply le_INR in Hn; simpl in Hn; lra).
    assert (c0 : 0 < c) by (apply Rinv_0_lt_compat; lra).
    assert (nc : INR n * c = / 2) by (unfold c; field; lra).
    assert (one : forall k, (k < n)%nat -> sum (seq 0 n) (fun y => if Nat.eqb y k then / 2 else 0) = / 2).
    { intros k Hk. assert (G : forall m s, (s <= k)%nat -> sum (seq s m)
        (fun y => if Nat.eqb y k then / 2 else 0)
        = if Nat.ltb k (s + m) then / 2 else 0).
      { induction m as [|m IH]; intros s Hs; cbn [seq sum].
        - destruct (Nat.ltb_spec k (s + 0)); [lia | easy].
        - destruct (Nat.eqb_spec s k) as [->|ne].
          + assert (Z : forall m s, (k < s)%nat -> sum (seq s m) (fun y => if Nat.eqb y k then / 2 else 0)
              = 0).
            { clear. induction m as [|m IH]; intros s Hs; cbn [seq sum]; [easy|].
              rewrite IH by lia. destruct (Nat.eqb_spec s k); [lia | lra]. }
            rewrite Z by lia. destruct (Nat.ltb_spec k (k + S m)); [lra | lia].
          + rewrite IH by lia. replace (S s + m)%nat with (s + S m)%nat by lia. lra. }
      rewrite G by lia. destruct (Nat.ltb_spec k (0 + n)); [easy | lia]. }
    assert (D : forall k, (k < n)%nat -> floored (seq 0 n) (fun y => c + if Nat.eqb y k then / 2 else 0)).
    { intros k Hk. unfold floored. rewrite seq_length. fold c. split; [split|].
      - intros y _. destruct (Nat.eqb y k); lra.
      - rewrite sum_plus, sum_const, seq_length, nc, one by easy. lra.
      - intros y _. destruct (Nat.eqb y k); lra. }
    exists (fun y => c + if Nat.eqb y 0 then / 2 else 0), (fun y => c + if Nat.eqb y 1 then / 2 else 0).
    split; [apply D; lia|]. split; [apply D; lia|]. unfold L1.
    rewrite (sum_ext _ _ (fun y => (if Nat.eqb y 0 then / 2 else 0) + (if Nat.eqb y 1 then / 2 else 0))).
    + rewrite sum_plus, !one by lia. lra.
    + intros y _. destruct (Nat.eqb_spec y 0), (Nat.eqb_spec y 1); subst; try easy; unfold Rabs; destruct
        (Rcase_abs _); lra.
Qed.

(** claim: A6 | refutes | caveats: reals, any-logits
    A softmax of any logits does not satisfy assumption 6 at any temperature T > 0, with any number n >= 2 of
    classes: logits that differ enough give a class less than 1/(2n). Paper: last sentence of assumption 6,
    section 2. *)
Theorem A6_softmax : forall (n : nat) (T : R), (2 <= n)%nat -> 0 < T ->
  exists logit : nat -> R, ~ floored (seq 0 n) (normalize (seq 0 n) (fun y => exp (logit y / T))).
Proof.
  intros [|[|n]] T Hn T0; try lia. set (N := S (S n)). pose proof (pos_INR N) as N0.
  exists (fun y => if Nat.eqb y 0 then T * ln (2 * INR N) else 0). intros [_ F].
  specialize (F 1%nat). rewrite seq_length in F. specialize (F ltac:(unfold N; simpl; auto)).
  assert (L : 0 < INR N) by (unfold N; rewrite !S_INR; pose proof (pos_INR n); lra).
  unfold normalize in F. simpl Nat.eqb in F. unfold Rdiv at 1 2 in F. rewrite !Rmult_0_l, exp_0,
    Rmult_1_l in F.
  assert (S1 : 2 * INR N + 1 <= sum (seq 0 N) (fun y => exp
    ((if Nat.eqb y 0 then T * ln (2 * INR N) else 0) / T))).
  { unfold N at 2. cbn [seq sum Nat.eqb]. replace (T * ln (2 * INR N) / T) with (ln (2 * INR N)) by
      (field; lra).
    rewrite exp_ln by lra. unfold Rdiv at 1. rewrite Rmult_0_l, exp_0.
    match goal with |- _ <= _ + (_ + ?s) => assert (0 <= s) end; [|lra].
    apply sum_nonneg; intros. left. apply exp_pos. }
  set (s := sum _ _) in *.
  assert (/ s < / (2 * INR N)) by (apply Rinv_lt_contravar; [apply Rmult_lt_0_compat; lra | lra]).
  lra.
Qed.
