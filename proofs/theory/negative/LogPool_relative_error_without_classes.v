(* Wrong: the bound without the number of classes. Three classes and weights of zero give 1/3 each, which no double is,
   while the bound is zero. *)
Require Import Reals List Lra Lia Psatz ZArith Permutation Sorted.
From Flocq Require Import Core Relative Plus_error.
From LPF Require Import Sums CanonicalSum LogPool.
Import ListNotations.
Open Scope R_scope.

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
    2 * (10 * m) * u * exact I C items classes w f y.
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
