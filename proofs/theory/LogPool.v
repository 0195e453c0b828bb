(* The rounding error of a product of factors in the log domain: `LogPool::relative_error` in src/simplex/log_pool.rs.
   Every step that the code takes is here: the logarithm, its product with the weight, the exact sum rounded once, the
   maximum subtracted, the exponential, the canonical sum and the quotient. exp and ln are any functions that are off by
   at most one unit in the last place. *)
Require Import Reals List Lra Lia Psatz ZArith Permutation.
From Flocq Require Import Core Relative.
From LPF Require Import Sums CanonicalSum.
Import ListNotations.
Open Scope R_scope.

(* One rounding of any real. *)
Lemma rnd_error x : Rabs (rnd x - x) <= u * Rabs x + tiny.
Proof.
  pose proof u_pos as U.
  destruct (relative_error_N_FLT'_ex radix2 (-1074) 53 eq_refl (fun z => negb (Z.even z)) x) as [e [h [He [Hh [_ E]]]]].
  change (u_ro radix2 53) with u in He. change (rnd x = x * (1 + e) + h) in E. rewrite E.
  assert (E' : Rabs e <= u).
  { apply Rle_trans with (1 := He). apply Rmult_le_reg_r with (1 + u); [lra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra. }
  replace (x * (1 + e) + h - x) with (x * e + h) by ring. apply Rle_trans with (1 := Rabs_triang _ _).
  rewrite Rabs_mult, (Rmult_comm u). pose proof (Rabs_pos x). apply Rplus_le_compat; [|exact Hh].
  now apply Rmult_le_compat_l.
Qed.

Lemma sum_abs {A} (l : list A) f : Rabs (sum l f) <= sum l (fun x => Rabs (f x)).
Proof.
  induction l as [|x t IH]; simpl; [rewrite Rabs_R0; lra|]. pose proof (Rabs_triang (f x) (sum t f)). lra.
Qed.
Lemma sum_const {A} (l : list A) c : sum l (fun _ => c) = INR (length l) * c.
Proof. induction l as [|x t IH]; [simpl; lra|]. change (length (x :: t)) with (S (length t)). rewrite S_INR. simpl. lra. Qed.

Section Pool.
Variables (I C : Type) (items : list I) (classes : list C) (w : I -> R) (f : I -> C -> R) (ln' exp' : R -> R).

(* What should come out, for the classes that no factor excludes. *)
Definition score y := sum items (fun i => w i * ln (f i y)).
Definition size y := sum items (fun i => w i * Rabs (ln (f i y))).
Definition exact y := exp (score y) / sum classes (fun y => exp (score y)).

(* What the code computes; `impossible` more classes are exactly zero. *)
Definition term i y := rnd (w i * ln' (f i y)).
Definition score' y := rnd (sum items (fun i => term i y)).
Definition raised top y := exp' (rnd (score' y - top)).
Definition computed top impossible y :=
  rnd (raised top y / canonical_sum (map (raised top) classes ++ repeat 0 impossible)).

(* The bound that the code states, from the largest magnitude m that it keeps and the number n of classes. *)
Definition bound (m : R) (n : nat) := 2 * (10 * m + INR n + 3) * u.

Hypothesis weights : forall i, In i items -> 0 <= w i.
Hypothesis logarithm : forall i y, In i items -> In y classes -> Rabs (ln' (f i y) - ln (f i y)) <= 2 * u * Rabs (ln (f i y)).
Hypothesis exponential : forall x, x <= 0 ->
  0 <= exp' x /\ double (exp' x) /\ Rabs (exp' x - exp x) <= 2 * u * exp x + 2 * tiny.
Hypothesis few : INR (length items) <= 2 ^ 64.

Lemma tiny_tiny : tiny <= bpow radix2 (-1000) * u * / 1000000 /\ (2 ^ 64 + 1) * tiny <= u * / 1000000.
Proof.
  assert (H : bpow radix2 (-1074) <= bpow radix2 (-200)) by (apply bpow_le; lia).
  assert (E : bpow radix2 (-1074) = bpow radix2 (-1000) * bpow radix2 (-74)) by (rewrite <- bpow_plus; f_equal; lia).
  pose proof (bpow_gt_0 radix2 (-1000)) as P.
  unfold tiny, u. simpl (bpow radix2 (-200)) in H. simpl (bpow radix2 (-53 + 1)). split; [|lra].
  rewrite E. simpl (bpow radix2 (-74)). set (b := bpow radix2 (-1000)) in *. lra.
Qed.

(* A log-score, off by four units of the magnitudes. *)
Lemma score_error y : In y classes -> Rabs (score' y - score y) <= 403 / 100 * u * size y + / 100 * u.
Proof.
  intros Y. pose proof u_pos as U. pose proof u_small as US. pose proof tiny_pos as T. destruct tiny_tiny as [_ T'].
  assert (S0 : 0 <= size y) by (apply sum_nonneg; intros i J; apply Rmult_le_pos; [now apply weights | apply Rabs_pos]).
  assert (E : Rabs (sum items (fun i => term i y) - score y) <= 301 / 100 * u * size y + INR (length items) * tiny).
  { unfold score, size. rewrite <- sum_minus. apply Rle_trans with (1 := sum_abs _ _).
    rewrite <- sum_const, <- sum_scal, <- sum_plus. apply sum_le. intros i J. unfold term.
    pose proof (rnd_error (w i * ln' (f i y))) as R. pose proof (logarithm i y J Y) as L. specialize (weights i J).
    set (a := ln (f i y)) in *. set (b := ln' (f i y)) in *.
    assert (B : Rabs b <= (1 + 2 * u) * Rabs a) by (pose proof (Rabs_triang (b - a) a) as X; replace (b - a + a) with b in X by ring; lra).
    rewrite Rabs_mult, (Rabs_pos_eq (w i)) in R by easy.
    assert (D : Rabs (w i * b - w i * a) <= w i * (2 * u * Rabs a)).
    { rewrite <- Rmult_minus_distr_l, Rabs_mult, (Rabs_pos_eq (w i)) by easy. now apply Rmult_le_compat_l. }
    pose proof (Rabs_triang (rnd (w i * b) - w i * b) (w i * b - w i * a)) as X.
    replace (rnd (w i * b) - w i * b + (w i * b - w i * a)) with (rnd (w i * b) - w i * a) in X by ring.
    assert (M : w i * Rabs b <= w i * ((1 + 2 * u) * Rabs a)) by now apply Rmult_le_compat_l.
    assert (P : 0 <= w i * Rabs a) by (apply Rmult_le_pos; [easy | apply Rabs_pos]).
    assert (u * (w i * Rabs b) <= u * (w i * ((1 + 2 * u) * Rabs a))) by (apply Rmult_le_compat_l; lra).
    assert (u * (w i * ((1 + 2 * u) * Rabs a)) <= 101 / 100 * u * (w i * Rabs a)).
    { replace (u * (w i * ((1 + 2 * u) * Rabs a))) with ((1 + 2 * u) * (u * (w i * Rabs a))) by ring.
      replace (101 / 100 * u * (w i * Rabs a)) with (101 / 100 * (u * (w i * Rabs a))) by ring.
      apply Rmult_le_compat_r; [apply Rmult_le_pos; lra | lra]. }
    lra. }
  assert (K : INR (length items) * tiny <= 2 ^ 64 * tiny) by (apply Rmult_le_compat_r; lra).
  pose proof (rnd_error (sum items (fun i => term i y))) as R. unfold score'.
  assert (M : Rabs (score y) <= size y).
  { unfold score, size. apply Rle_trans with (1 := sum_abs _ _). right. apply sum_ext. intros i J.
    now rewrite Rabs_mult, (Rabs_pos_eq (w i)) by now apply weights. }
  set (s := sum items _) in *. set (a := score y) in *. set (z := size y) in *.
  pose proof (Rabs_triang (s - a) a) as X1. replace (s - a + a) with s in X1 by ring.
  pose proof (Rabs_triang (rnd s - s) (s - a)) as X2. replace (rnd s - s + (s - a)) with (rnd s - a) in X2 by ring.
  assert (uz : 0 <= u * z) by (apply Rmult_le_pos; lra).
  assert (u * Rabs s <= u * (z + 301 / 100 * u * z + u * / 1000000)) by (apply Rmult_le_compat_l; lra).
  assert (u * (301 / 100 * u * z) <= / 1000 * (u * z)).
  { replace (u * (301 / 100 * u * z)) with (301 / 100 * u * (u * z)) by ring. apply Rmult_le_compat_r; lra. }
  assert (u * (u * / 1000000) <= u * / 1000000) by (apply Rmult_le_compat_l; lra).
  rewrite !Rmult_plus_distr_l in H. lra.
Qed.

End Pool.

(* Every factor by which the result can differ from the exact one is written as a power of e: X is P up to e^l. *)
Definition near X P l := P * exp (- l) <= X <= P * exp l.

Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros [L| ->]; [left; now apply exp_increasing | lra]. Qed.
Lemma exp_lower x : 0 <= x <= / 1000 -> exp (- (101 / 100 * x)) <= 1 - x.
Proof.
  intros X. rewrite exp_Ropp. pose proof (exp_ineq1_le (101 / 100 * x)) as E.
  assert (P : 0 < exp (101 / 100 * x)) by apply exp_pos.
  apply Rmult_le_reg_r with (1 := P). rewrite Rinv_l by lra.
  apply Rle_trans with ((1 - x) * (1 + 101 / 100 * x)); [nra | apply Rmult_le_compat_l; lra].
Qed.
Lemma near_abs X P x : 0 <= P -> 0 <= x <= / 1000 -> Rabs (X - P) <= x * P -> near X P (101 / 100 * x).
Proof.
  intros P0 H E. apply Rabs_le_inv in E. pose proof (exp_lower x H) as L. pose proof (exp_ineq1_le (101 / 100 * x)) as G.
  split.
  - apply Rle_trans with (P * (1 - x)); [now apply Rmult_le_compat_l | lra].
  - apply Rle_trans with (P * (1 + 101 / 100 * x)); [nra | now apply Rmult_le_compat_l].
Qed.
Lemma near_trans X Y Z a b : near X Y a -> near Y Z b -> near X Z (b + a).
Proof.
  intros [H1 H2] [H3 H4]. pose proof (exp_pos a). pose proof (exp_pos (- a)). split.
  - rewrite Ropp_plus_distr, exp_plus, <- Rmult_assoc. apply Rle_trans with (2 := H1). apply Rmult_le_compat_r; lra.
  - rewrite exp_plus, <- Rmult_assoc. apply Rle_trans with (1 := H2). apply Rmult_le_compat_r; lra.
Qed.
Lemma near_sym X P l : near X P l -> near P X l.
Proof.
  intros [H1 H2]. pose proof (exp_pos l) as E. assert (F : exp l * exp (- l) = 1) by (rewrite <- exp_plus, Rplus_opp_r; apply exp_0).
  pose proof (exp_pos (- l)) as E'. split.
  - apply Rle_trans with (P * exp l * exp (- l)); [apply Rmult_le_compat_r; lra | rewrite Rmult_assoc, F; lra].
  - apply Rle_trans with (P * exp (- l) * exp l); [|apply Rmult_le_compat_r; lra].
    rewrite Rmult_assoc, (Rmult_comm (exp (- l))), F. lra.
Qed.
Lemma near_pos X P l : 0 < P -> near X P l -> 0 < X.
Proof. intros P0 [H _]. apply Rlt_le_trans with (2 := H). apply Rmult_lt_0_compat; [easy | apply exp_pos]. Qed.
Lemma near_div X P Y Q a b : 0 < P -> 0 < Q -> near X P a -> near Y Q b -> near (X / Y) (P / Q) (a + b).
Proof.
  intros P0 Q0 HX HY. pose proof (near_pos _ _ _ P0 HX) as X0. pose proof (near_pos _ _ _ Q0 HY) as Y0.
  apply near_sym in HY. destruct HX as [X1 X2], HY as [Y1 Y2]. unfold near.
  pose proof (exp_pos (- a)). pose proof (exp_pos (- b)). pose proof (exp_pos a). pose proof (exp_pos b). split.
  - apply Rmult_le_reg_r with (Y * Q); [nra|]. replace (X / Y * (Y * Q)) with (X * Q) by (field; lra).
    replace (P / Q * exp (- (a + b)) * (Y * Q)) with ((P * exp (- a)) * (Y * exp (- b)))
      by (rewrite Ropp_plus_distr, exp_plus; field; lra).
    apply Rmult_le_compat; [nra | nra | exact X1 | exact Y1].
  - apply Rmult_le_reg_r with (Y * Q); [nra|]. replace (X / Y * (Y * Q)) with (X * Q) by (field; lra).
    replace (P / Q * exp (a + b) * (Y * Q)) with ((P * exp a) * (Y * exp b)) by (rewrite exp_plus; field; lra).
    apply Rmult_le_compat; lra.
Qed.
Lemma near_sum {A} (l : list A) f g c : (forall x, In x l -> near (f x) (g x) c) -> near (sum l f) (sum l g) c.
Proof. intros H. split; rewrite <- sum_scal_r; apply sum_le; intros x X; now apply H. Qed.
Lemma near_exp v x l : Rabs (v - x) <= l -> near (exp v) (exp x) l.
Proof. intros H. apply Rabs_le_inv in H. split; rewrite <- exp_plus; apply exp_le; lra. Qed.

(* The canonical sum against itself, and never more than fifteen roundings. *)
Lemma canonical_sum_fifteen l : (1 <= length l)%nat -> (forall x, In x l -> 0 <= x /\ double x) ->
  exists v, 0 <= v <= 15 * u /\ v <= INR (length l - 1) * u /\ Rabs (canonical_sum l - total l) <= v * canonical_sum l.
Proof.
  intros N H. pose proof u_pos as U. destruct (Nat.le_gt_cases (length l) 16) as [L|L].
  - exists (INR (length l - 1) * u). destruct (canonical_sum_error l N H) as [E _]. rewrite <- u_value in E.
    assert (0 <= INR (length l - 1) <= 15).
    { split; [apply pos_INR|]. replace 15 with (INR 15) by (simpl; lra). apply le_INR. lia. }
    repeat split; [apply Rmult_le_pos; lra | apply Rmult_le_compat_r; lra | lra | exact E].
  - exists u. assert (1 <= INR (length l - 1)) by (apply (le_INR 1); lia).
    repeat split; [lra | lra | nra |]. unfold canonical_sum. rewrite (proj2 (Nat.leb_gt _ _) L).
    destruct (total_units l (fun x X => proj2 (H x X))) as [m M].
    rewrite M. set (x := F2R (Float radix2 m (-1074))) in *.
    assert (R : Rabs (rnd x - x) <= u * Rabs (rnd x)).
    { exact (relative_error_N_FLT_round_F2R_emin radix2 (-1074) 53 eq_refl (fun z => negb (Z.even z)) m). }
    rewrite (Rabs_pos_eq (rnd x)) in R; [exact R|]. apply rnd_nonneg. rewrite <- M. apply sum_nonneg. intros y Y. now apply H.
Qed.

Lemma total_padded {C} (cs : list C) g k : total (map g cs ++ repeat 0 k) = sum cs g.
Proof.
  unfold total. induction cs as [|c t IH]; simpl; [|now rewrite IH]. induction k as [|k IH]; simpl; [easy | rewrite IH; lra].
Qed.

(* e^0.69 <= 2, by squaring a lower bound of e^(-0.69/256) eight times. *)
Lemma square_step t a b : 0 <= a -> a <= exp (- t) -> b <= a * a -> b <= exp (- (2 * t)).
Proof.
  intros A E B. replace (- (2 * t)) with (- t + - t) by ring. rewrite exp_plus. apply Rle_trans with (1 := B).
  apply Rmult_le_compat; lra.
Qed.
Lemma exp_069 : exp (69 / 100) <= 2.
Proof.
  assert (H : 25531 / 25600 <= exp (- (69 / 25600))) by (pose proof (exp_ineq1_le (- (69 / 25600))); lra).
  apply (square_step _ _ (9946166 / 10000000)) in H; [|lra|lra].
  apply (square_step _ _ (9892621 / 10000000)) in H; [|lra|lra].
  apply (square_step _ _ (9786395 / 10000000)) in H; [|lra|lra].
  apply (square_step _ _ (9577352 / 10000000)) in H; [|lra|lra].
  apply (square_step _ _ (9172567 / 10000000)) in H; [|lra|lra].
  apply (square_step _ _ (8413598 / 10000000)) in H; [|lra|lra].
  apply (square_step _ _ (7078863 / 10000000)) in H; [|lra|lra].
  apply (square_step _ _ (5011030 / 10000000)) in H; [|lra|lra].
  replace (2 * (2 * (2 * (2 * (2 * (2 * (2 * (2 * (69 / 25600))))))))) with (69 / 100) in H by field.
  rewrite exp_Ropp in H. pose proof (exp_pos (69 / 100)) as P.
  apply Rmult_le_reg_r with (/ exp (69 / 100)); [now apply Rinv_0_lt_compat|]. rewrite Rinv_r by lra. lra.
Qed.

(* e^(0.69 b) <= 1 + b on [0,1]: below its chord. *)
Lemma exp_below b : 0 <= b <= 1 -> exp (69 / 100 * b) <= 1 + b.
Proof.
  intros B. set (c := 69 / 100). assert (E : exp c <= 2) by apply exp_069.
  pose proof (exp_ineq1_le (c - c * b)) as A1. pose proof (exp_ineq1_le (- (c * b))) as A2.
  assert (X : exp c = exp (c * b) * exp (c - c * b)) by (rewrite <- exp_plus; f_equal; ring).
  assert (Y : 1 = exp (c * b) * exp (- (c * b))) by (rewrite <- exp_plus, Rplus_opp_r; symmetry; apply exp_0).
  pose proof (exp_pos (c * b)) as P. set (e := exp (c * b)) in *.
  assert (e * (1 + (c - c * b)) <= exp c) by (rewrite X; apply Rmult_le_compat_l; lra).
  assert (e * (1 + - (c * b)) <= 1) by (rewrite Y at 2; apply Rmult_le_compat_l; lra).
  assert (b * (e * (1 + (c - c * b))) <= b * 2) by (apply Rmult_le_compat_l; lra).
  assert ((1 - b) * (e * (1 + - (c * b))) <= (1 - b) * 1) by (apply Rmult_le_compat_l; lra).
  assert (b * (e * (1 + (c - c * b))) + (1 - b) * (e * (1 + - (c * b))) = e) by ring. lra.
Qed.

(** claim: Norm | proves | caveats: elementary, no-overflow
    Where exp and ln are off by at most one unit in the last place, every entry from 2^-1000 on of a product of factors
    that the code computes is within the bound that it states, as long as that is at most one. The kept magnitude may
    itself be 5 % too small from rounding; classes that a factor excludes are exact zeros and only count.
    Code: LogPool::relative_error in src/simplex/log_pool.rs. *)
Theorem LogPool_relative_error : forall (I C : Type) (items : list I) (classes : list C) (w : I -> R) (f : I -> C -> R)
    (ln' exp' : R -> R) (top m : R) (impossible : nat),
  (forall i, In i items -> 0 <= w i) ->
  (forall i y, In i items -> In y classes -> Rabs (ln' (f i y) - ln (f i y)) <= 2 * u * Rabs (ln (f i y))) ->
  (forall x, x <= 0 -> 0 <= exp' x /\ double (exp' x) /\ Rabs (exp' x - exp x) <= 2 * u * exp x + 2 * tiny) ->
  INR (length items) <= 2 ^ 64 ->
  (exists y, In y classes /\ top = score' I C items w f ln' y) ->
  (forall y, In y classes -> score' I C items w f ln' y <= top) ->
  (forall y, In y classes -> size I C items w f y <= 21 / 20 * m) ->
  bound m (length classes + impossible) <= 1 ->
  forall y, In y classes -> bpow radix2 (-1000) <= exact I C items classes w f y ->
  Rabs (computed I C items classes w f ln' exp' top impossible y - exact I C items classes w f y) <=
    bound m (length classes + impossible) * exact I C items classes w f y.
Proof.
  intros I C items classes w f ln' exp' top m k Hw Hln Hexp Few [y0 [Y0 Top]] Max Size B y Y Big.
  pose proof u_pos as U. pose proof u_small as US. pose proof tiny_pos as T. destruct tiny_tiny as [T1 T2].
  pose proof (bpow_gt_0 radix2 (-1000)) as b0. set (b := bpow radix2 (-1000)) in *.
  assert (bu : b <= u) by (rewrite u_value; apply bpow_le; lia).
  set (s := score I C items w f) in *. set (s' := score' I C items w f ln') in *.
  set (n := (length classes + k)%nat) in *. unfold bound in *.
  assert (N1 : (1 <= length classes)%nat) by (destruct classes; [easy | simpl; lia]).
  assert (Nn : 1 <= INR n) by (apply (le_INR 1); lia).
  assert (m0 : 0 <= m).
  { assert (0 <= size I C items w f y0); [|specialize (Size y0 Y0); lra].
    apply sum_nonneg. intros i J. apply Rmult_le_pos; [now apply Hw | apply Rabs_pos]. }
  assert (um : 0 <= u * m) by (apply Rmult_le_pos; lra).
  assert (B1 : u * m <= / 20) by nra. assert (B2 : u * INR n <= / 2) by nra.
  (* Scores. *)
  assert (E : forall z, In z classes -> Rabs (s' z - s z) <= 424 / 100 * (u * m) + / 100 * u /\ Rabs (s z) <= 21 / 20 * m).
  { intros z Z. pose proof (score_error I C items classes w f ln' Hw Hln Few z Z) as E. fold s s' in E.
    specialize (Size z Z). assert (u * size I C items w f z <= u * (21 / 20 * m)) by (apply Rmult_le_compat_l; lra).
    split; [lra|]. apply Rle_trans with (2 := Size). unfold s, score, size. apply Rle_trans with (1 := sum_abs _ _).
    right. apply sum_ext. intros i J. now rewrite Rabs_mult, (Rabs_pos_eq (w i)) by now apply Hw. }
  set (theta := 635 / 100 * (u * m) + 3 / 100 * u).
  assert (D : forall z, In z classes -> Rabs (rnd (s' z - top) - (s z - top)) <= theta).
  { intros z Z. destruct (E z Z) as [E1 E2], (E y0 Y0) as [E3 E4]. rewrite Top. fold s'.
    pose proof (rnd_error (s' z - s' y0)) as R. apply Rabs_le_inv in E1, E2, E3, E4, R.
    assert (V : Rabs (s' z - s' y0) <= 21 / 10 * m + 848 / 100 * (u * m) + 2 / 100 * u) by (apply Rabs_le; lra).
    assert (V' : u * Rabs (s' z - s' y0) <= u * (21 / 10 * m + 848 / 100 * (u * m) + 2 / 100 * u)) by (apply Rmult_le_compat_l; lra).
    assert (u * (848 / 100 * (u * m)) <= / 1000000 * (848 / 100 * (u * m))) by (apply Rmult_le_compat_r; lra).
    assert (u * (2 / 100 * u) <= / 1000000 * (2 / 100 * u)) by (apply Rmult_le_compat_r; lra).
    pose proof tiny_small. apply Rabs_le. unfold theta. rewrite !Rmult_plus_distr_l in V'. split; lra. }
  set (g := fun z => exp (s z - top)). set (r := fun z => exp (rnd (s' z - top))).
  set (e := raised I C items w f ln' exp' top).
  assert (Rg : forall z, In z classes -> near (r z) (g z) theta) by (intros z Z; apply near_exp, D, Z).
  assert (Re : forall z, In z classes -> 0 <= e z /\ double (e z) /\ Rabs (e z - r z) <= 2 * u * r z + 2 * tiny).
  { intros z Z. apply Hexp. rewrite <- rnd_0. apply rnd_le. specialize (Max z Z). change (s' z - top <= 0). lra. }
  assert (g0 : forall z, 0 < g z) by (intros; apply exp_pos). assert (r0 : forall z, 0 < r z) by (intros; apply exp_pos).
  set (G := sum classes g). set (S := sum classes r).
  assert (Gy : g y0 <= G).
  { unfold G. clear -Y0 g0. induction classes as [|c t IH]; simpl; [easy|]. pose proof (g0 c).
    assert (0 <= sum t g) by (apply sum_nonneg; intros z _; left; apply g0).
    destruct Y0 as [<-|Z]; [lra | specialize (IH Z); lra]. }
  assert (G1 : / 2 <= G).
  { apply Rle_trans with (2 := Gy). unfold g. destruct (E y0 Y0) as [E1 _]. apply Rabs_le_inv in E1.
    pose proof (exp_ineq1_le (s y0 - top)). rewrite Top in *. lra. }
  assert (SG : near S G theta) by (apply near_sum; exact Rg).
  assert (th : 0 <= theta <= 32 / 100) by (unfold theta; lra).
  assert (low : 68 / 100 <= exp (- theta)) by (pose proof (exp_ineq1_le (- theta)); lra).
  assert (S1 : / 3 <= S) by (destruct SG as [L _]; nra).
  (* The sum of the exponentials. *)
  assert (nt : INR (length classes) * (2 * tiny) <= / 100000 * u * S).
  { assert (INR (length classes) <= INR n) by (apply le_INR; lia).
    assert (INR (length classes) * (2 * tiny) <= INR n * (2 * (u * u * / 1000000))).
    { apply Rmult_le_compat; [apply pos_INR | lra | lra|]. apply Rmult_le_compat_l; [lra|].
      apply Rle_trans with (1 := T1). apply Rmult_le_compat_r; [lra|]. apply Rmult_le_compat_r; lra. }
    assert (INR n * (2 * (u * u * / 1000000)) <= u * / 1000000).
    { replace (INR n * (2 * (u * u * / 1000000))) with ((u * INR n) * (2 * u * / 1000000)) by ring.
      apply Rle_trans with (/ 2 * (2 * u * / 1000000)); [apply Rmult_le_compat_r; lra | lra]. }
    assert (u * (/ 3) <= u * S) by (apply Rmult_le_compat_l; lra). lra. }
  assert (ES : near (sum classes e) S (101 / 100 * (201 / 100 * u))).
  { apply near_abs; [lra | lra |]. unfold S. rewrite <- sum_minus. apply Rle_trans with (1 := sum_abs _ _).
    apply Rle_trans with (sum classes (fun z => 2 * u * r z + 2 * tiny)); [apply sum_le; intros z Z; now apply Re|].
    rewrite sum_plus, sum_scal, sum_const. fold S. assert (0 <= u * S) by (apply Rmult_le_pos; lra). lra. }
  set (l := map e classes ++ repeat 0 k).
  assert (Hl : forall x, In x l -> 0 <= x /\ double x).
  { intros x X. apply in_app_or in X. destruct X as [X|X].
    - apply in_map_iff in X. destruct X as [z [<- Z]]. destruct (Re z Z) as [? [? _]]. now split.
    - apply repeat_spec in X. subst. split; [lra | apply double_0]. }
  assert (Ll : length l = n) by (unfold l, n; rewrite app_length, map_length, repeat_length; easy).
  destruct (canonical_sum_fifteen l ltac:(lia) Hl) as [v [[v0 v15] [vn V]]]. rewrite Ll in vn.
  rewrite minus_INR in vn by lia. simpl (INR 1) in vn. rewrite Rmult_minus_distr_r in vn.
  set (Z := canonical_sum l) in *. assert (Tl : total l = sum classes e) by apply total_padded. rewrite Tl in V.
  assert (S0 : 0 < sum classes e) by (apply (near_pos _ S _ ltac:(lra) ES)).
  assert (Z0 : 0 <= Z).
  { destruct (canonical_sum_error l ltac:(lia) Hl) as [_ [M _]]. fold Z in M. destruct l as [|x t]; [simpl in Ll; lia|].
    destruct (Hl x ltac:(now left)). specialize (M x ltac:(now left)). lra. }
  assert (ZE : near (sum classes e) Z (101 / 100 * v)).
  { apply near_abs; [exact Z0 | lra |]. now rewrite Rabs_minus_sym. }
  assert (ZG : near Z G (theta + (101 / 100 * (201 / 100 * u) + 101 / 100 * v))).
  { apply near_trans with S; [|exact SG]. apply near_trans with (sum classes e); [now apply near_sym | exact ES]. }
  (* The numerator. *)
  assert (Ex : exact I C items classes w f y = g y / G).
  { unfold exact, G, g. fold s. unfold Rminus.
    rewrite (sum_ext classes (fun z => exp (s z + - top)) (fun z => exp (s z) * exp (- top))) by (intros; apply exp_plus).
    rewrite sum_scal_r, exp_plus. field. split; [apply Rgt_not_eq, exp_pos|]. apply Rgt_not_eq.
    apply (Rlt_le_trans _ (exp (s y0))); [apply exp_pos|]. clear -Y0. induction classes as [|c t IH]; simpl; [easy|].
    assert (0 <= sum t (fun y => exp (s y))) by (apply sum_nonneg; intros; left; apply exp_pos). pose proof (exp_pos (s c)).
    destruct Y0 as [<-|Z]; [lra | specialize (IH Z); lra]. }
  rewrite Ex in *. assert (gb : b / 2 <= g y).
  { assert (b * G <= g y); [|nra]. apply Rmult_le_reg_r with (/ G); [apply Rinv_0_lt_compat; lra|].
    rewrite Rmult_assoc, Rinv_r by lra. rewrite Rmult_1_r. exact Big. }
  assert (rb : b / 3 <= r y) by (destruct (Rg y Y) as [L _]; nra).
  assert (ER : near (e y) (r y) (101 / 100 * (201 / 100 * u))).
  { apply near_abs; [left; apply r0 | lra |]. destruct (Re y Y) as [_ [_ A]].
    assert (u * (b / 3) <= u * r y) by (apply Rmult_le_compat_l; lra).
    assert (0 <= u * r y) by (apply Rmult_le_pos; [lra | left; apply r0]).
    assert (b * u * / 1000000 = u * (b / 3) * (3 / 1000000)) by field. lra. }
  assert (EG : near (e y) (g y) (theta + 101 / 100 * (201 / 100 * u))) by (apply near_trans with (r y); [exact ER | now apply Rg]).
  assert (Q := near_div _ _ _ _ _ _ (g0 y) (Rlt_le_trans 0 (/ 2) G ltac:(lra) G1) EG ZG).
  set (l1 := theta + 101 / 100 * (201 / 100 * u) + (theta + (101 / 100 * (201 / 100 * u) + 101 / 100 * v))) in Q.
  set (p := g y / G) in *. assert (p0 : 0 < p) by lra. set (q := e y / Z) in *.
  assert (l1s : l1 <= 7 / 10) by (unfold l1, theta; lra).
  assert (q0 : 3 / 10 * b <= q) by (destruct Q as [L _]; pose proof (exp_ineq1_le (- l1)); nra).
  assert (RQ : near (rnd q) q (101 / 100 * (101 / 100 * u))).
  { apply near_abs; [lra | lra |]. pose proof (rnd_error q) as A. rewrite (Rabs_pos_eq q) in A by lra.
    assert (u * (3 / 10 * b) <= u * q) by (apply Rmult_le_compat_l; lra).
    assert (0 <= u * q) by (apply Rmult_le_pos; lra).
    assert (b * u * / 1000000 = u * (3 / 10 * b) * (10 / 3 / 1000000)) by field. lra. }
  assert (F := near_trans _ _ _ _ _ RQ Q). destruct F as [F1 F2].
  unfold computed. fold e. fold l. fold Z. fold q.
  set (l2 := l1 + 101 / 100 * (101 / 100 * u)) in *. set (bd := 2 * (10 * m + INR n + 3) * u) in *.
  assert (bd0 : 0 <= bd) by (unfold bd; nra).
  assert (Last : l2 <= 69 / 100 * bd) by (unfold l2, l1, theta, bd; lra).
  assert (Up : exp l2 <= 1 + bd) by (apply Rle_trans with (1 := exp_le _ _ Last), exp_below; lra).
  assert (Low : 1 - bd <= exp (- l2)) by (pose proof (exp_ineq1_le (- l2)); lra).
  apply Rabs_le. split; nra.
Qed.
