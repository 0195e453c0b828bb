(* T5': what corrupted items can do to a product of factors, in place of theorem 5 (section 3.5 of the paper).

   A pool is P(y) proportional to the product of f_i(y)^(w_i), with any real weights w_i >= 0. The items
   marked [bad] are replaced by g_i with the same support. Then
   1. a factor exp(D) moves a distribution by at most 2 tanh(R/4) in L1, where R is the range of D;
   2. R is at most the sum over replaced items of w_i times Hilbert's distance of f_i and g_i;
   3. if all entries of both are at least p and their L1 distance is at most delta, Hilbert's distance is at
      most 2 ln(1 + delta/(2p));
   4. if only the entries of f_i are known to be at least p, and delta < 2p, it is at most ln(1 + delta/(2p))
      - ln(1 - delta/(2p)); for delta >= 2p no finite bound holds.

   Parts 1 and 3 are attained. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.

(** * Definitions *)

(* x^w for x >= 0 and w >= 0, with 0^0 = 1 and 0^w = 0 for w > 0. *)
Definition power (x w : R) : R :=
  if Req_EM_T w 0 then 1 else if Rlt_dec 0 x then Rpower x w else 0.

(* The normalized product of the factors f_i with exponents w_i. *)
Definition unnormalized {I Y} (items : list I) (w : I -> R) (f : I -> Y -> R) (y : Y) : R :=
  prod items (fun i => power (f i y) (w i)).
Definition pool {I Y} (ys : list Y) (items : list I) (w : I -> R) (f : I -> Y -> R) : Y -> R :=
  normalize ys (unnormalized items w f).

(* The distribution proportional to P exp(D). *)
Definition shifted {Y} (ys : list Y) (P D : Y -> R) : Y -> R := normalize ys (fun y => P y * exp (D y)).

(* Largest and smallest value of D on a list (0 on the empty one), and their difference. *)
Fixpoint largest {Y} (l : list Y) (D : Y -> R) : R :=
  match l with [] => 0 | [x] => D x | x :: t => Rmax (D x) (largest t D) end.
Definition smallest {Y} (l : list Y) (D : Y -> R) : R := - largest l (fun y => - D y).
Definition range {Y} (l : list Y) (D : Y -> R) : R := largest l D - smallest l D.

Definition support {Y} (ys : list Y) (p : Y -> R) : list Y :=
  filter (fun y => if Rlt_dec 0 (p y) then true else false) ys.
(* Hilbert's projective distance: the range of the log ratio, over the classes that are possible. *)
Definition hilbert {Y} (ys : list Y) (p q : Y -> R) : R := range (support ys p) (fun y => ln (q y / p y)).

(** * Lemmas *)

Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros [H|H]; [left; now apply exp_increasing | right; now f_equal]. Qed.
Lemma ln_mono x y : 0 < x -> x <= y -> ln x <= ln y.
Proof. intros Hx [H|H]; [left; now apply ln_increasing | right; now f_equal]. Qed.
Lemma exp_half x : exp (x / 2) * exp (x / 2) = exp x.
Proof. rewrite <- exp_plus. f_equal. lra. Qed.

Lemma tanh_quarter a b :
  tanh ((b - a) / 4) = (exp (b / 2) - exp (a / 2)) / (exp (b / 2) + exp (a / 2)).
Proof.
  unfold tanh, sinh, cosh.
  set (h := (b - a) / 4). set (m := (b + a) / 4).
  replace (b / 2) with (m + h) by (unfold m, h; lra).
  replace (a / 2) with (m + - h) by (unfold m, h; lra).
  rewrite !exp_plus. pose proof (exp_pos m); pose proof (exp_pos h); pose proof (exp_pos (- h)).
  field. split; nra.
Qed.

Lemma tanh_mono x y : x <= y -> tanh x <= tanh y.
Proof.
  assert (E : forall z, tanh z = 1 - 2 / (exp (2 * z) + 1)).
  { intros z. unfold tanh, sinh, cosh. replace (2 * z) with (z + z) by lra.
    rewrite exp_plus, exp_Ropp. pose proof (exp_pos z). field. split; nra. }
  intros H. rewrite !E. pose proof (exp_pos (2 * x)). pose proof (exp_pos (2 * y)).
  assert (exp (2 * x) <= exp (2 * y)) by (apply exp_le; lra).
  assert (/ (exp (2 * y) + 1) <= / (exp (2 * x) + 1)) by (apply Rinv_le_contravar; lra).
  unfold Rdiv. lra.
Qed.

Lemma largest_ge {Y} (l : list Y) D y : In y l -> D y <= largest l D.
Proof.
  induction l as [|a [|b t] IH]; [easy| |].
  - intros [->|[]]; simpl; lra.
  - intros [->|H]; [apply Rmax_l|]. eapply Rle_trans; [now apply IH | apply Rmax_r].
Qed.
Lemma largest_in {Y} (l : list Y) D : l <> [] -> exists y, In y l /\ largest l D = D y.
Proof.
  induction l as [|a [|b t] IH]; [easy| |]; intros _.
  - exists a; simpl; auto.
  - destruct IH as [y [Hy E]]; [easy|].
    change (largest (a :: b :: t) D) with (Rmax (D a) (largest (b :: t) D)).
    destruct (Rle_dec (D a) (largest (b :: t) D)).
    + exists y. rewrite Rmax_right by easy. split; [now right | easy].
    + exists a. rewrite Rmax_left by lra. split; [now left | easy].
Qed.
Lemma smallest_le {Y} (l : list Y) D y : In y l -> smallest l D <= D y.
Proof. intros H. pose proof (largest_ge l (fun y => - D y) y H). unfold smallest. simpl in *. lra. Qed.
Lemma range_ge {Y} (l : list Y) D x y : In x l -> In y l -> D x - D y <= range l D.
Proof.
  intros Hx Hy. pose proof (largest_ge l D x Hx). pose proof (smallest_le l D y Hy). unfold range; lra.
Qed.
Lemma range_le {Y} (l : list Y) D c :
  0 <= c -> (forall x y, In x l -> In y l -> D x - D y <= c) -> range l D <= c.
Proof.
  intros c0 H. unfold range, smallest. destruct l as [|a t]; [simpl; lra|].
  destruct (largest_in (a :: t) D) as [x [Hx ->]]; [easy|].
  destruct (largest_in (a :: t) (fun y => - D y)) as [y [Hy ->]]; [easy|].
  specialize (H x y Hx Hy). lra.
Qed.
Lemma range_nonneg {Y} (l : list Y) D : 0 <= range l D.
Proof.
  destruct l as [|a t]; [unfold range, smallest; simpl; lra|].
  pose proof (range_ge (a :: t) D a a). simpl in *. intuition lra.
Qed.
Lemma in_support {Y} (ys : list Y) p y : In y (support ys p) <-> In y ys /\ 0 < p y.
Proof.
  unfold support. rewrite filter_In. destruct (Rlt_dec 0 (p y)); intuition congruence.
Qed.
Lemma hilbert_nonneg {Y} (ys : list Y) p q : 0 <= hilbert ys p q.
Proof. apply range_nonneg. Qed.

Lemma power_nonneg x w : 0 <= power x w.
Proof.
  unfold power. destruct (Req_EM_T w 0); [lra|]. destruct (Rlt_dec 0 x); [|lra].
  left. apply exp_pos.
Qed.
Lemma power_pos x w : 0 < x -> 0 < power x w.
Proof.
  intros H. unfold power. destruct (Req_EM_T w 0); [lra|]. destruct (Rlt_dec 0 x); [apply exp_pos | easy].
Qed.
Lemma power_Rpower x w : 0 < x -> power x w = Rpower x w.
Proof.
  intros H. unfold power. destruct (Req_EM_T w 0) as [->|]; [now rewrite Rpower_O|].
  now destruct (Rlt_dec 0 x).
Qed.
Lemma power_1 x : 0 <= x -> power x 1 = x.
Proof.
  intros H. unfold power. destruct (Req_EM_T 1 0); [lra|]. destruct (Rlt_dec 0 x); [now apply Rpower_1 | lra].
Qed.

(* The replacement of a factor by one with the same support is multiplication by exp(w ln(q/p)). *)
Lemma power_replaced p q w : 0 <= p -> 0 <= q -> (0 < p <-> 0 < q) ->
  power q w = power p w * exp (w * ln (q / p)).
Proof.
  intros p0 q0 S. unfold power. destruct (Req_EM_T w 0) as [->|]; [rewrite Rmult_0_l, exp_0; lra|].
  destruct (Rlt_dec 0 p) as [Hp|Hp], (Rlt_dec 0 q) as [Hq|Hq]; [| | |lra]; try (exfalso; tauto).
  unfold Rpower, Rdiv. rewrite <- exp_plus, ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; easy). f_equal;
    ring.
Qed.

Lemma prod_exp {A} (l : list A) (p : A -> R) (d : A -> R) :
  prod l (fun i => p i * exp (d i)) = prod l p * exp (sum l d).
Proof. induction l; simpl; [rewrite exp_0; ring|]. rewrite IHl, exp_plus. ring. Qed.
Lemma prod_ext {A} (l : list A) f g : (forall x, In x l -> f x = g x) -> prod l f = prod l g.
Proof. induction l; simpl; intros H; [easy|]. rewrite H, IHl; auto. Qed.
Lemma prod_factor_pos {A} (l : list A) f :
  (forall x, In x l -> 0 <= f x) -> 0 < prod l f -> forall x, In x l -> 0 < f x.
Proof.
  induction l as [|a t IH]; simpl; intros H0 H x Hx; [easy|].
  assert (0 <= f a) by auto. assert (0 <= prod t f) by (apply prod_nonneg; auto).
  assert (0 < f a) by (destruct (Req_dec (f a) 0) as [e|]; [rewrite e in H; lra | lra]).
  assert (0 < prod t f) by nra. destruct Hx as [<-|Hx]; auto.
Qed.

(* |f - Z| is convex in f: below its chord on [m, M]. *)
Lemma chord m M f z : m <= f <= M -> m <= z <= M ->
  (M - m) * Rabs (z - f) <= (M - f) * (z - m) + (f - m) * (M - z).
Proof. intros [] []. unfold Rabs; destruct (Rcase_abs (z - f)); nra. Qed.

(* Part 1 with any enclosure [lo, hi] of D where P is positive. *)
Lemma robust_L1_support {Y} (ys : list Y) (P D : Y -> R) lo hi :
  distribution ys P -> (forall y, In y ys -> 0 < P y -> lo <= D y <= hi) ->
  L1 ys P (shifted ys P D) <= 2 * tanh ((hi - lo) / 4).
Proof.
  intros HP HD. pose proof HP as [p0 p1]. pose (u y := P y * exp (D y)). set (Zs := sum ys u).
  assert (B : forall y, In y ys -> P y = 0 \/ exp lo <= exp (D y) <= exp hi).
  { intros y Hy. destruct (p0 y Hy) as [H|H]; [right | now left].
    split; apply exp_le; now apply HD. }
  assert (zl : exp lo <= Zs).
  { unfold Zs. rewrite <- (Rmult_1_r (exp lo)), <- p1, <- sum_scal.
    apply sum_le; intros y Hy. unfold u. specialize (p0 y Hy). destruct (B y Hy) as [->|?]; [lra | nra]. }
  assert (zh : Zs <= exp hi).
  { unfold Zs. rewrite <- (Rmult_1_r (exp hi)), <- p1, <- sum_scal.
    apply sum_le; intros y Hy. unfold u. specialize (p0 y Hy). destruct (B y Hy) as [->|?]; [lra | nra]. }
  pose proof (exp_pos lo) as l0. assert (Z0 : 0 < Zs) by lra.
  assert (E : L1 ys P (shifted ys P D) = / Zs * sum ys (fun y => P y * Rabs (Zs - exp (D y)))).
  { unfold L1. rewrite <- sum_scal. apply sum_ext; intros y Hy. unfold shifted, normalize. fold u. fold Zs.
    replace (P y - P y * exp (D y) / Zs) with (/ Zs * (P y * (Zs - exp (D y)))) by (field; lra).
    rewrite !Rabs_mult, (Rabs_pos_eq (/ Zs)), (Rabs_pos_eq (P y)); auto.
    left; now apply Rinv_0_lt_compat. }
  set (m := exp lo) in *. set (M := exp hi) in *.
  assert (S : (M - m) * sum ys (fun y => P y * Rabs (Zs - exp (D y))) <= 2 * (M - Zs) * (Zs - m)).
  { rewrite <- sum_scal.
    apply Rle_trans with (sum ys (fun y => (M * (Zs - m) - m * (M - Zs)) * P y + (M + m - 2 * Zs) * u y)).
    - apply sum_le; intros y Hy. unfold u. destruct (B y Hy) as [->|C]; [lra|].
      pose proof (chord m M (exp (D y)) Zs C (conj zl zh)). specialize (p0 y Hy). nra.
    - rewrite sum_plus, !sum_scal, p1. fold Zs. right; ring. }
  rewrite tanh_quarter. set (a := exp (lo / 2)). set (b := exp (hi / 2)).
  assert (a0 : 0 < a) by apply exp_pos. assert (b0 : 0 < b) by apply exp_pos.
  assert (ma : m = a * a) by (symmetry; apply exp_half).
  assert (mb : M = b * b) by (symmetry; apply exp_half).
  set (T := sum ys (fun y => P y * Rabs (Zs - exp (D y)))) in *.
  rewrite E. assert (ab : a <= b) by nra.
  destruct (Req_dec a b) as [e|ne].
  - (* no range: every exp (D y) equals Z *)
    assert (T0 : T = 0). { unfold T. rewrite <- (sum_0 ys). apply sum_ext; intros y Hy.
      destruct (B y Hy) as [->|C]; [ring|].
      replace (Zs - exp (D y)) with 0 by (rewrite e in ma; lra). rewrite Rabs_R0; ring. }
    rewrite T0, e. unfold Rdiv. rewrite Rminus_diag_eq by easy. lra.
  - assert (H : (b - a) * T * (b + a) <= 2 * (b - a) ^ 2 * Zs).
    { pose proof (pow2_ge_0 (Zs - a * b)). rewrite ma, mb in S. nra. }
    assert (T * (b + a) <= 2 * (b - a) * Zs) by nra.
    apply Rmult_le_reg_r with (Zs * (b + a)); [nra|].
    replace (/ Zs * T * (Zs * (b + a))) with (T * (b + a)) by (field; lra).
    replace (2 * ((b - a) / (b + a)) * (Zs * (b + a))) with (2 * (b - a) * Zs) by (field; lra). easy.
Qed.

Lemma robust_L1 {Y} (ys : list Y) (P D : Y -> R) lo hi :
  distribution ys P -> (forall y, In y ys -> lo <= D y <= hi) ->
  L1 ys P (shifted ys P D) <= 2 * tanh ((hi - lo) / 4).
Proof. intros HP HD. apply robust_L1_support; auto. Qed.

(* Two distributions: no single class moves by more than half the L1 distance. *)
Lemma entry_le_half_L1 {Y} (ys : list Y) p q y :
  distribution ys p -> distribution ys q -> In y ys -> Rabs (p y - q y) <= L1 ys p q / 2.
Proof.
  intros [_ p1] [_ q1] Hy. destruct (in_split _ _ Hy) as [l1 [l2 ->]].
  assert (app : forall f : Y -> R, sum (l1 ++ y :: l2) f = f y + sum (l1 ++ l2) f).
  { intros f. clear. induction l1; simpl; lra. }
  unfold L1. rewrite app in *.
  assert (T : Rabs (sum (l1 ++ l2) (fun y => p y - q y)) <= sum (l1 ++ l2) (fun y => Rabs (p y - q y))).
  { clear. induction (l1 ++ l2); simpl; [rewrite Rabs_R0; lra|].
    eapply Rle_trans; [apply Rabs_triang | lra]. }
  rewrite sum_minus in T.
  replace (sum (l1 ++ l2) p - sum (l1 ++ l2) q) with (- (p y - q y)) in T by lra.
  rewrite Rabs_Ropp in T. lra.
Qed.

(** * Parts 1 and 2 *)

(** claim: T5' | proves | caveats: reals
    Part 1. If Q is proportional to P exp(D), and R is the difference of the largest and the smallest value of
    D on the classes that P holds possible, then the L1 distance of P and Q is at most 2 tanh(R/4). *)
Theorem T5prime_1 : forall (Y : Type) (ys : list Y) (P D : Y -> R), distribution ys P ->
  L1 ys P (shifted ys P D) <= 2 * tanh (range (support ys P) D / 4).
Proof.
  intros Y ys P D HP. apply robust_L1_support; [exact HP|].
  intros y Hy Py. assert (In y (support ys P)) by (apply in_support; auto).
  split; [now apply smallest_le | now apply largest_ge].
Qed.

Section Pool.
Context {I Y : Type} (ys : list Y) (items : list I) (bad : I -> bool) (w : I -> R) (f g : I -> Y -> R).
Definition log_shift (y : Y) : R := sum (filter bad items) (fun i => w i * ln (g i y / f i y)).
(* What is asked of the replacement. *)
Definition replacement : Prop :=
  (forall i, In i items -> 0 <= w i) /\
  (forall i y, In i items -> In y ys -> 0 <= f i y) /\
  (forall i y, In i items -> In y ys -> 0 <= g i y) /\
  (forall i y, In i items -> In y ys -> (0 < f i y <-> 0 < g i y)) /\
  (forall i y, In i items -> In y ys -> bad i = false -> g i y = f i y) /\
  0 < sum ys (unnormalized items w f).

Lemma pool_distribution : 0 < sum ys (unnormalized items w f) -> distribution ys (pool ys items w f).
Proof.
  intros H. apply normalize_distribution; [|exact H].
  intros y Hy. apply prod_nonneg; intros; apply power_nonneg.
Qed.

Lemma log_shift_all : replacement -> forall y, In y ys ->
  unnormalized items w g y = unnormalized items w f y * exp (log_shift y).
Proof.
  intros (w0 & f0 & g0 & S & E & Z) y Hy. unfold unnormalized, log_shift. clear Z.
  induction items as [|i t IH]; simpl; [rewrite exp_0; ring|].
  rewrite IH by (intros; (apply w0 || apply f0 || apply g0 || apply S || apply E); now try right).
  destruct (bad i) eqn:Bi; simpl.
  - rewrite exp_plus, (power_replaced (f i y) (g i y) (w i)); [ring| | |]; auto with datatypes.
  - rewrite (E i y) by (easy || now left). ring.
Qed.

Lemma pool_shifted : replacement -> forall y, In y ys ->
  pool ys items w g y = shifted ys (pool ys items w f) log_shift y.
Proof.
  intros H y Hy. pose proof H as (_ & _ & _ & _ & _ & Z). unfold pool, shifted, normalize.
  rewrite (sum_ext ys (unnormalized items w g) (fun y => unnormalized items w f y * exp (log_shift y)))
    by (intros; now apply log_shift_all).
  rewrite (log_shift_all H y Hy).
  set (u := unnormalized items w f) in *. set (s := sum ys u) in *.
  replace (sum ys (fun y0 => u y0 / s * exp (log_shift y0)))
    with (/ s * sum ys (fun y0 => u y0 * exp (log_shift y0)))
    by (rewrite <- sum_scal; apply sum_ext; intros; unfold Rdiv; ring).
  set (r := sum ys (fun y0 => u y0 * exp (log_shift y0))).
  destruct (Req_dec r 0) as [e|n]; [rewrite e; unfold Rdiv; rewrite Rmult_0_r, Rinv_0; ring|].
  field. split; lra.
Qed.

Lemma support_pool : replacement -> forall y i, In y (support ys (pool ys items w f)) -> In i items ->
  w i = 0 \/ 0 < f i y.
Proof.
  intros (w0 & f0 & g0 & S & E & Z) y i Hy Hi. apply in_support in Hy. destruct Hy as [Hy P].
  assert (Q : 0 < unnormalized items w f y).
  { unfold pool, normalize in P. apply Rmult_lt_reg_r with (/ sum ys (unnormalized items w f)).
    - now apply Rinv_0_lt_compat. - now rewrite Rmult_0_l. }
  apply prod_factor_pos with (x := i) in Q; [|intros; apply power_nonneg | easy].
  unfold power in Q. destruct (Req_EM_T (w i) 0); [now left|].
  destruct (Rlt_dec 0 (f i y)); [now right | lra].
Qed.

Lemma log_shift_range : replacement ->
  range (support ys (pool ys items w f)) log_shift <= sum (filter bad items)
    (fun i => w i * hilbert ys (f i) (g i)).
Proof.
  intros H. pose proof H as (w0 & _). apply range_le.
  - apply sum_nonneg; intros i Hi. apply filter_In in Hi. apply Rmult_le_pos;
      [now apply w0 | apply hilbert_nonneg].
  - intros x y Hx Hy. unfold log_shift. rewrite <- sum_minus. apply sum_le; intros i Hi.
    apply filter_In in Hi. destruct Hi as [Hi _]. rewrite <- Rmult_minus_distr_l.
    destruct (support_pool H x i Hx Hi) as [->|Px]; [lra|].
    destruct (support_pool H y i Hy Hi) as [->|Py]; [lra|].
    apply Rmult_le_compat_l; [now apply w0|].
    apply in_support in Hx; apply in_support in Hy. destruct Hx, Hy.
    apply (range_ge (support ys (f i)) (fun y => ln (g i y / f i y))); now apply in_support.
Qed.
End Pool.

(** claim: T5' | proves | caveats: reals
    Part 2. Replacing the bad items of a pool with real weights w_i >= 0 multiplies it by exp(D) up to a
    constant, where D sums the log ratios of the bad items; the range of D is at most the sum over the bad
    items of w_i times Hilbert's distance of the factor and its replacement; and so the pool moves by at most
    2 tanh of a quarter of it. *)
Theorem T5prime_2 : forall (I Y : Type) (ys : list Y) (items : list I) (bad : I -> bool) (w : I -> R)
  (f g : I -> Y -> R),
  replacement ys items bad w f g ->
  let P := pool ys items w f in
  let D := log_shift items bad w f g in
  let H := sum (filter bad items) (fun i => w i * hilbert ys (f i) (g i)) in
  (forall y, In y ys -> pool ys items w g y = shifted ys P D y) /\
  range (support ys P) D <= H /\
  L1 ys P (pool ys items w g) <= 2 * tanh (H / 4).
Proof.
  intros I Y ys items bad w f g R P D H.
  assert (E : forall y, In y ys -> pool ys items w g y = shifted ys P D y) by
    (intros; now apply pool_shifted).
  assert (B : range (support ys P) D <= H) by now apply log_shift_range.
  repeat split; [exact E | exact B |].
  apply Rle_trans with (2 * tanh (range (support ys P) D / 4)).
  - unfold L1. rewrite (sum_ext ys _ (fun y => Rabs (P y - shifted ys P D y))) by (intros; now rewrite E).
    apply T5prime_1, pool_distribution, R.
  - apply Rmult_le_compat_l; [lra|]. apply tanh_mono. lra.
Qed.

(** * Parts 3 and 4 *)

(** claim: T5' | proves | caveats: reals
    Part 3. Two factors with all entries at least p > 0 and at most delta apart in L1 have Hilbert distance at
    most 2 ln(1 + delta/(2p)). *)
Theorem T5prime_3 : forall (Y : Type) (ys : list Y) (p q : Y -> R) (low delta : R),
  distribution ys p -> distribution ys q -> 0 < low -> L1 ys p q <= delta ->
  (forall y, In y ys -> low <= p y) -> (forall y, In y ys -> low <= q y) ->
  hilbert ys p q <= 2 * ln (1 + delta / (2 * low)).
Proof.
  intros Y ys p q low delta dp dq l0 Hd fp fq.
  assert (L0 : 0 <= L1 ys p q) by (apply sum_nonneg; intros; apply Rabs_pos).
  assert (i0 : 0 < / low) by now apply Rinv_0_lt_compat.
  set (x := delta / (2 * low)).
  assert (Hx : x * low = delta / 2) by (unfold x; field; lra).
  assert (x0 : 0 <= x) by (unfold x, Rdiv; rewrite Rinv_mult; nra).
  assert (M : forall y, In y ys -> Rabs (ln (q y / p y)) <= ln (1 + x)).
  { intros y Hy. pose proof (entry_le_half_L1 ys p q y dp dq Hy) as A.
    specialize (fp y Hy); specialize (fq y Hy). unfold Rdiv.
    rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; lra).
    assert (ln (q y) <= ln (p y) + ln (1 + x)).
    { rewrite <- ln_mult by lra. apply ln_mono; [lra|].
      unfold Rabs in A; destruct (Rcase_abs (p y - q y)); nra. }
    assert (ln (p y) <= ln (q y) + ln (1 + x)).
    { rewrite <- ln_mult by lra. apply ln_mono; [lra|].
      unfold Rabs in A; destruct (Rcase_abs (p y - q y)); nra. }
    unfold Rabs; destruct (Rcase_abs (ln (q y) + - ln (p y))); lra. }
  apply range_le.
  - rewrite <- (Rmult_0_r 2), <- ln_1. apply Rmult_le_compat_l; [lra|]. apply ln_mono; lra.
  - intros y y' Hy Hy'. apply in_support in Hy; apply in_support in Hy'.
    pose proof (M y (proj1 Hy)). pose proof (M y' (proj1 Hy')).
    pose proof (Rle_abs (ln (q y / p y))). pose proof (Rle_abs (- ln (q y' / p y'))).
    rewrite Rabs_Ropp in *. lra.
Qed.

(** claim: T5' | proves | caveats: reals
    Parts 1 to 3 together: if every factor and every replacement has all entries at least p > 0, and each bad
    item is replaced by one at most delta_i away in L1, the pool moves by at most 2 tanh(1/2 sum w_i ln(1 +
    delta_i/(2p))). *)
Theorem T5prime_floor : forall (I Y : Type) (ys : list Y) (items : list I) (bad : I -> bool) (w : I -> R)
  (f g : I -> Y -> R) (low : R) (delta : I -> R),
  ys <> [] -> 0 < low -> (forall i, In i items -> 0 <= w i) ->
  (forall i, In i items -> distribution ys (f i)) -> (forall i, In i items -> distribution ys (g i)) ->
  (forall i y, In i items -> In y ys -> low <= f i y) -> (forall i y, In i items -> In y ys -> low <= g i y)
    ->
  (forall i y, In i items -> In y ys -> bad i = false -> g i y = f i y) ->
  (forall i, In i items -> L1 ys (f i) (g i) <= delta i) ->
  L1 ys (pool ys items w f) (pool ys items w g)
    <= 2 * tanh (sum (filter bad items) (fun i => w i * ln (1 + delta i / (2 * low))) / 2).
Proof.
  intros I Y ys items bad w f g low delta ne l0 w0 df dg ff fg E Hd.
  assert (R : replacement ys items bad w f g).
  { repeat split; auto.
    - intros; now apply df.
    - intros; now apply dg.
    - intros; apply Rlt_le_trans with low; auto.
    - intros; apply Rlt_le_trans with low; auto.
    - destruct ys as [|y t]; [easy|]. simpl. apply Rplus_lt_le_0_compat.
      + apply prod_pos; intros. apply power_pos. apply Rlt_le_trans with low; auto with datatypes.
      + apply sum_nonneg; intros. apply prod_nonneg; intros. apply power_nonneg. }
  eapply Rle_trans; [apply (T5prime_2 _ _ _ _ _ _ _ _ R)|].
  apply Rmult_le_compat_l; [lra|]. apply tanh_mono.
  apply Rle_trans with (sum (filter bad items) (fun i => 2 * (w i * ln (1 + delta i / (2 * low)))) / 4);
    [|rewrite sum_scal; lra].
  unfold Rdiv. apply Rmult_le_compat_r; [lra|]. apply sum_le; intros i Hi.
  apply filter_In in Hi. destruct Hi as [Hi _].
  replace (2 * (w i * ln (1 + delta i * / (2 * low)))) with (w i * (2 * ln (1 + delta i / (2 * low))))
    by (unfold Rdiv; ring).
  apply Rmult_le_compat_l; [now apply w0|]. apply T5prime_3; auto.
Qed.

(** claim: T5' | proves | caveats: reals
    Part 4. If only the entries of the clean factor are known to be at least p, and its replacement is at most
    delta < 2p away in L1, their Hilbert distance is at most ln(1 + delta/(2p)) - ln(1 - delta/(2p)). *)
Theorem T5prime_4 : forall (Y : Type) (ys : list Y) (p q : Y -> R) (low delta : R),
  distribution ys p -> distribution ys q -> 0 < low -> L1 ys p q <= delta < 2 * low ->
  (forall y, In y ys -> low <= p y) ->
  hilbert ys p q <= ln (1 + delta / (2 * low)) - ln (1 - delta / (2 * low)).
Proof.
  intros Y ys p q low delta dp dq l0 [Hd D2] fp.
  assert (L0 : 0 <= L1 ys p q) by (apply sum_nonneg; intros; apply Rabs_pos).
  assert (i0 : 0 < / low) by now apply Rinv_0_lt_compat.
  set (x := delta / (2 * low)).
  assert (Hx : x * low = delta / 2) by (unfold x; field; lra).
  assert (x0 : 0 <= x) by (unfold x, Rdiv; rewrite Rinv_mult; nra).
  assert (x1 : x < 1) by nra.
  assert (M : forall y, In y ys -> ln (1 - x) <= ln (q y / p y) <= ln (1 + x)).
  { intros y Hy. pose proof (entry_le_half_L1 ys p q y dp dq Hy) as A. specialize (fp y Hy).
    assert (Q : (1 - x) * p y <= q y <= (1 + x) * p y)
      by (unfold Rabs in A; destruct (Rcase_abs (p y - q y)); nra).
    assert (0 < (1 - x) * p y) by nra.
    unfold Rdiv. rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; lra).
    destruct Q as [Q1 Q2]. apply ln_mono in Q2; [|lra]. apply ln_mono in Q1; [|easy].
    rewrite ln_mult in Q1, Q2 by lra. lra. }
  apply range_le.
  - assert (ln (1 - x) <= ln (1 + x)) by (apply ln_mono; lra). lra.
  - intros y y' Hy Hy'. apply in_support in Hy; apply in_support in Hy'.
    pose proof (M y (proj1 Hy)). pose proof (M y' (proj1 Hy')). lra.
Qed.

(** claim: T5' | sharpens | caveats: reals
    Part 4 needs delta < 2p: from delta = 2p on, Hilbert's distance exceeds every bound, already with two
    classes. *)
Theorem T5prime_4_unbounded : forall low delta B : R, 0 < low <= 1 / 2 -> 2 * low <= delta ->
  exists p q : bool -> R, distribution [true; false] p /\ distribution [true; false] q /\
    L1 [true; false] p q <= delta /\ (forall y, low <= p y) /\ (forall y, 0 < q y) /\
    B < hilbert [true; false] p q.
Proof.
  intros low delta B [l0 l1] Hd. set (t := exp (- Rabs B - 1)).
  assert (t0 : 0 < t) by apply exp_pos.
  assert (t1 : t < 1) by (rewrite <- exp_0; apply exp_increasing; pose proof (Rabs_pos B); lra).
  exists (fun y : bool => if y then low else 1 - low), (fun y : bool => if y then low * t else 1 - low * t).
  repeat split; try (intros []; intros; nra); try (simpl; lra).
  - unfold L1; simpl. replace (1 - low - (1 - low * t)) with (- (low - low * t)) by ring.
    rewrite Rabs_Ropp, Rabs_pos_eq; nra.
  - unfold hilbert.
    match goal with |- _ < range ?l ?d => set (D := d); set (s := l) end.
    assert (S : forall y, In y s).
    { intros y. apply in_support. split; [destruct y; simpl; auto | destruct y; lra]. }
    eapply Rlt_le_trans; [|apply (range_ge s D false true); apply S].
    unfold D. replace (low * t / low) with t by (field; lra). unfold t at 2. rewrite ln_exp.
    assert (0 <= ln ((1 - low * t) / (1 - low))).
    { rewrite <- ln_1. apply ln_mono; [lra|]. apply Rmult_le_reg_r with (1 - low); [lra|].
      unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra. }
    pose proof (Rle_abs B). lra.
Qed.

(** * Sharpness *)

(** claim: T5' | sharpens | caveats: reals
    Part 1 is attained for every range r >= 0, with two classes of odds exp(-r/2) : 1 and D = (r, 0). *)
Theorem T5prime_1_sharp : forall r : R, 0 <= r ->
  let D := fun y : bool => if y then r else 0 in
  let P := normalize [true; false] (fun y : bool => if y then exp (- r / 2) else 1) in
  distribution [true; false] P /\ range (support [true; false] P) D = r /\
  L1 [true; false] P (shifted [true; false] P D) = 2 * tanh (r / 4).
Proof.
  intros r H D P. pose proof (exp_pos (- r / 2)).
  assert (dP : distribution [true; false] P) by (apply normalize_distribution; [intros []; lra | simpl; lra]).
  assert (pos : forall y, 0 < P y).
  { intros []; unfold P, normalize; simpl; apply Rmult_lt_0_compat; try lra; apply Rinv_0_lt_compat; lra. }
  repeat split; try apply dP.
  - apply Rle_antisym.
    + apply range_le; [easy|]. intros [] [] _ _; unfold D; lra.
    + replace r with (D true - D false) at 1 by (unfold D; lra).
      apply range_ge; apply in_support; split; simpl; auto.
  - replace (r / 4) with ((r - 0) / 4) by lra. rewrite tanh_quarter.
    unfold L1, shifted, normalize, P, D, normalize; simpl.
    replace (0 / 2) with 0 by lra. rewrite exp_0.
    assert (e1 : exp (- r / 2) = / exp (r / 2)) by (rewrite <- exp_Ropp; f_equal; lra).
    assert (e2 : exp r = exp (r / 2) * exp (r / 2)) by (symmetry; apply exp_half).
    assert (g : 1 <= exp (r / 2)) by (rewrite <- exp_0; apply exp_le; lra).
    rewrite e1, e2. set (s := exp (r / 2)) in *.
    assert (0 < / s) by (apply Rinv_0_lt_compat; lra).
    match goal with |- Rabs ?x + (Rabs ?y + 0) = _ =>
      replace x with (- ((s - 1) / (s + 1))) by (field; repeat split; nra);
      replace y with ((s - 1) / (s + 1)) by (field; repeat split; nra) end.
    assert (0 <= (s - 1) / (s + 1)) by (apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]).
    rewrite Rabs_Ropp, Rabs_pos_eq by easy. lra.
Qed.

(** claim: T5' | sharpens | caveats: reals
    Part 3 is attained with three classes whenever 3p + delta/2 <= 1, by moving delta/2 from one class to
    another. *)
Theorem T5prime_3_sharp : forall low delta : R, 0 < low -> 0 <= delta -> 3 * low + delta / 2 <= 1 ->
  exists p q : nat -> R, let ys := [0; 1; 2]%nat in
    distribution ys p /\ distribution ys q /\ L1 ys p q = delta /\
    (forall y, In y ys -> low <= p y) /\ (forall y, In y ys -> low <= q y) /\
    hilbert ys p q = 2 * ln (1 + delta / (2 * low)).
Proof.
  intros low delta l0 d0 H.
  set (p := fun y : nat => match y with O => low | S O => low + delta / 2 | _ => 1 - 2 * low - delta / 2 end).
  set (q := fun y : nat => match y with O => low + delta / 2 | S O => low | _ => 1 - 2 * low - delta / 2 end).
  exists p, q. intros ys.
  assert (fp : forall y, In y ys -> low <= p y) by (intros [|[|y]] _; unfold p; lra).
  assert (fq : forall y, In y ys -> low <= q y) by (intros [|[|y]] _; unfold q; lra).
  assert (dp : distribution ys p) by (split; [intros y Hy; specialize (fp y Hy); lra | unfold ys, p; simpl;
    lra]).
  assert (dq : distribution ys q) by (split; [intros y Hy; specialize (fq y Hy); lra | unfold ys, q; simpl;
    lra]).
  assert (L : L1 ys p q = delta).
  { unfold L1, ys, p, q; simpl.
    replace (low - (low + delta / 2)) with (- (delta / 2)) by ring.
    replace (low + delta / 2 - low) with (delta / 2) by ring.
    rewrite Rminus_diag_eq by easy. rewrite Rabs_R0, Rabs_Ropp, Rabs_pos_eq; lra. }
  repeat split; try apply dp; try apply dq; auto.
  apply Rle_antisym; [apply T5prime_3; auto; lra|].
  set (x := delta / (2 * low)).
  assert (0 <= x) by (unfold x; apply Rmult_le_pos; [easy | left; apply Rinv_0_lt_compat; lra]).
  unfold hilbert. set (D := fun y => ln (q y / p y)).
  replace (2 * ln (1 + x)) with (D 0%nat - D 1%nat).
  - apply range_ge; apply in_support; (split; [unfold ys; simpl; auto | unfold p; lra]).
  - unfold D, p, q. replace ((low + delta / 2) / low) with (1 + x) by (unfold x; field; lra).
    replace (low / (low + delta / 2)) with (/ (1 + x)) by (unfold x; field; lra).
    rewrite ln_Rinv; lra.
Qed.
