(* Rounding of the sum of one distribution's entries: `canonical_sum` in src/math/scalar.rs. Up to sixteen doubles are
   sorted and added from the smallest to the largest; more are added exactly and rounded once. Doubles are Flocq's
   format of 53 bits with the smallest exponent -1074, to nearest, ties to even; the largest double plays no part (below
   2^959 a sum cannot reach it, and larger entries are scaled first). *)
Require Import Reals List Lra Lia Psatz ZArith Permutation Sorted.
From Flocq Require Import Core Relative Plus_error.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.

Notation fexp := (FLT_exp (-1074) 53).
Definition double (x : R) := generic_format radix2 fexp x.
Definition rnd := round radix2 fexp ZnearestE.
Definition u := / 2 * bpow radix2 (-53 + 1).
Definition tiny := / 2 * bpow radix2 (-1074).

#[global] Instance prec53 : Prec_gt_0 53 := eq_refl.
#[global] Instance valid_rnd : Valid_rnd ZnearestE := valid_rnd_N _.

Lemma u_value : u = bpow radix2 (-53).
Proof. unfold u. simpl. lra. Qed.
Lemma u_pos : 0 < u.
Proof. rewrite u_value. apply bpow_gt_0. Qed.
Lemma u_small : u <= / 1000000.
Proof. unfold u. simpl. lra. Qed.
Lemma tiny_pos : 0 < tiny.
Proof. unfold tiny. pose proof (bpow_gt_0 radix2 (-1074)). lra. Qed.
Lemma tiny_small : tiny <= u * / 1000000.
Proof.
  assert (H : bpow radix2 (-1074) <= bpow radix2 (-100)) by (apply bpow_le; lia).
  unfold tiny, u. simpl (bpow radix2 (-100)) in H. simpl (bpow radix2 (-53 + 1)). lra.
Qed.

Lemma rnd_double x : double (rnd x).
Proof. apply generic_format_round; typeclasses eauto. Qed.
Lemma rnd_id x : double x -> rnd x = x.
Proof. intros F. apply round_generic; [typeclasses eauto | exact F]. Qed.
Lemma rnd_le x y : x <= y -> rnd x <= rnd y.
Proof. intros L. apply round_le; [typeclasses eauto | typeclasses eauto | exact L]. Qed.
Lemma double_0 : double 0.
Proof. apply generic_format_0. Qed.
Lemma double_1 : double 1.
Proof. change 1 with (bpow radix2 0). apply generic_format_FLT_bpow; [easy | lia]. Qed.
Lemma rnd_0 : rnd 0 = 0.
Proof. apply round_0; typeclasses eauto. Qed.
Lemma rnd_nonneg x : 0 <= x -> 0 <= rnd x.
Proof. intros L. rewrite <- rnd_0. now apply rnd_le. Qed.
Lemma double_twice x : double x -> double (2 * x).
Proof.
  intros F. apply generic_format_FLT. apply FLT_format_generic in F; [|easy].
  destruct F as [f E M X]. exists (Float radix2 (Fnum f) (Fexp f + 1)); [|exact M|simpl; lia].
  rewrite E. unfold F2R. cbn [Fnum Fexp]. rewrite bpow_plus. change (bpow radix2 1) with 2. ring.
Qed.

(* One rounding of a sum of two doubles, against what comes out: at most u times it. *)
Lemma plus_error a b : double a -> double b -> 0 <= a + b -> Rabs (rnd (a + b) - (a + b)) <= u * rnd (a + b).
Proof.
  intros A B N.
  destruct (FLT_plus_error_N_round_ex radix2 (-1074) 53 (fun z => negb (Z.even z)) a b A B) as [e [He E]].
  change (u_ro radix2 53) with u in He. fold rnd in E. change (round radix2 fexp ZnearestE (a + b)) with (rnd (a + b)) in E.
  pose proof (rnd_nonneg _ N) as P.
  assert (E' : rnd (a + b) - (a + b) = - (rnd (a + b) * e)) by lra.
  rewrite E', Rabs_Ropp, Rabs_mult, (Rabs_pos_eq _ P), Rmult_comm. now apply Rmult_le_compat_r.
Qed.

(* The sum as it is computed. *)
Fixpoint fsum (acc : R) (l : list R) : R :=
  match l with [] => acc | x :: t => fsum (rnd (acc + x)) t end.
Fixpoint insert (x : R) (l : list R) : list R :=
  match l with [] => [x] | y :: t => if Rlt_dec x y then x :: l else y :: insert x t end.
Definition sort (l : list R) : list R := fold_left (fun sorted x => insert x sorted) l [].
Definition total (l : list R) : R := sum l (fun x => x).
Definition canonical_sum (l : list R) : R :=
  if (length l <=? 16)%nat then fsum 0 (sort l) else rnd (total l).

(* Sorting: the same entries, in order; so every order of the entries gives the same sum. *)
Lemma insert_perm x l : Permutation (x :: l) (insert x l).
Proof.
  induction l as [|y t IH]; simpl; [easy|]. destruct (Rlt_dec x y); [easy|].
  apply perm_trans with (y :: x :: t); [constructor | now constructor].
Qed.
Lemma fold_insert_perm l : forall acc, Permutation (l ++ acc) (fold_left (fun s x => insert x s) l acc).
Proof.
  induction l as [|x t IH]; intros acc; simpl; [easy|].
  apply perm_trans with (2 := IH (insert x acc)).
  apply perm_trans with (t ++ x :: acc); [now apply Permutation_middle | now apply Permutation_app_head, insert_perm].
Qed.
Lemma sort_perm l : Permutation l (sort l).
Proof. rewrite <- (app_nil_r l) at 1. apply fold_insert_perm. Qed.

Inductive ascending : list R -> Prop :=
  | asc_nil : ascending []
  | asc_cons x l : (forall y, In y l -> x <= y) -> ascending l -> ascending (x :: l).
Lemma insert_ascending x l : ascending l -> ascending (insert x l).
Proof.
  induction 1 as [|y t H A IH]; simpl.
  - constructor; [easy | constructor].
  - destruct (Rlt_dec x y) as [L|L].
    + constructor; [|now constructor]. intros z [<-|Z]; [lra|]. specialize (H z Z). lra.
    + constructor; [|exact IH]. intros z Z.
      apply (Permutation_in _ (Permutation_sym (insert_perm x t))) in Z. destruct Z as [<-|Z]; [lra | now apply H].
Qed.
Lemma sort_ascending l : ascending (sort l).
Proof.
  unfold sort. assert (H : ascending []) by constructor. revert H. generalize (@nil R).
  induction l as [|x t IH]; intros acc H; simpl; [exact H | apply IH, insert_ascending, H].
Qed.
Lemma ascending_unique l : forall m, ascending l -> ascending m -> Permutation l m -> l = m.
Proof.
  induction l as [|x t IH]; intros m A B P; [now apply Permutation_nil in P|].
  destruct m as [|y s]; [now apply Permutation_sym, Permutation_nil in P|].
  inversion A as [|? ? X At]; inversion B as [|? ? Y Bs]; subst.
  assert (E : x = y).
  { assert (Ix : In x (y :: s)) by (apply (Permutation_in _ P); now left).
    assert (Iy : In y (x :: t)) by (apply (Permutation_in _ (Permutation_sym P)); now left).
    destruct Ix as [Ex|Ix]; [easy|]. destruct Iy as [Ey|Iy]; [easy|]. specialize (X y Iy). specialize (Y x Ix). lra. }
  subst y. f_equal. apply IH; [exact At | exact Bs | now apply Permutation_cons_inv in P].
Qed.
Lemma sum_perm l m : Permutation l m -> total l = total m.
Proof. unfold total. induction 1; simpl; lra. Qed.

(** claim: Norm | proves | caveats: no-overflow
    The canonical sum is the same double for every order of the entries. Code: canonical_sum in src/math/scalar.rs. *)
Theorem canonical_sum_order_free : forall l m : list R, Permutation l m -> canonical_sum l = canonical_sum m.
Proof.
  intros l m P. unfold canonical_sum. rewrite (Permutation_length P).
  destruct (length m <=? 16)%nat; [|now rewrite (sum_perm l m P)]. f_equal.
  apply ascending_unique; [apply sort_ascending | apply sort_ascending |].
  apply perm_trans with l; [apply Permutation_sym, sort_perm|]. apply perm_trans with (1 := P), sort_perm.
Qed.

(* What is computed never falls below what has been added. *)
Lemma fsum_ge l : forall acc, 0 <= acc -> double acc -> (forall x, In x l -> 0 <= x /\ double x) ->
  acc <= fsum acc l /\ (forall x, In x l -> x <= fsum acc l) /\ double (fsum acc l).
Proof.
  induction l as [|x t IH]; intros acc A F H; simpl; [repeat split; (lra || easy)|].
  destruct (H x (or_introl eq_refl)) as [x0 xf].
  assert (G : acc <= rnd (acc + x) /\ x <= rnd (acc + x)).
  { split; [rewrite <- (rnd_id acc F) at 1 | rewrite <- (rnd_id x xf) at 1]; apply rnd_le; lra. }
  destruct (IH (rnd (acc + x)) ltac:(lra) (rnd_double _) (fun y Y => H y (or_intror Y))) as [I [J K]].
  repeat split; [lra | | exact K]. intros y [<-|Y]; [lra | now apply J].
Qed.

(* Every addition errs by at most u times the result: n additions by at most n u times the sum as computed. *)
Lemma fsum_error l : forall acc, 0 <= acc -> double acc -> (forall x, In x l -> 0 <= x /\ double x) ->
  Rabs (fsum acc l - (acc + total l)) <= INR (length l) * u * fsum acc l.
Proof.
  pose proof u_pos as U. unfold total.
  induction l as [|x t IH]; intros acc A F H.
  - simpl. replace (acc - (acc + 0)) with 0 by ring. rewrite Rabs_R0. lra.
  - change (length (x :: t)) with (S (length t)). rewrite S_INR. simpl (fsum _ _). simpl (sum _ _).
    destruct (H x (or_introl eq_refl)) as [x0 xf].
    assert (N : 0 <= rnd (acc + x)) by (apply rnd_nonneg; lra).
    specialize (IH (rnd (acc + x)) N (rnd_double _) (fun y Y => H y (or_intror Y))).
    destruct (fsum_ge t (rnd (acc + x)) N (rnd_double _) (fun y Y => H y (or_intror Y))) as [G _].
    pose proof (plus_error acc x F xf ltac:(lra)) as E.
    set (s := fsum _ t) in *. set (r := rnd _) in *. set (S := sum t _) in *.
    apply Rabs_le_inv in IH, E. apply Rabs_le. assert (u * r <= u * s) by (apply Rmult_le_compat_l; lra).
    split; lra.
Qed.

(* A sum of doubles is a whole number of the smallest one, so that rounding it has no absolute error. *)
Lemma total_units l : (forall x, In x l -> double x) -> exists m, total l = F2R (Float radix2 m (-1074)).
Proof.
  unfold total. induction l as [|x t IH]; intros H; simpl.
  - exists 0%Z. unfold F2R. simpl. lra.
  - destruct (IH (fun y Y => H y (or_intror Y))) as [m E]. rewrite E.
    assert (X : generic_format radix2 (FIX_exp (-1074)) x).
    { apply (generic_format_FIX_FLT radix2 (-1074) 53). apply H. now left. }
    apply FIX_format_generic in X. destruct X as [f X F].
    exists (Fnum f + m)%Z. rewrite X. destruct f as [a b]. simpl in F. subst b.
    unfold F2R. cbn [Fnum Fexp]. rewrite plus_IZR. ring.
Qed.

(** claim: Norm | proves | caveats: no-overflow
    The canonical sum of n non-negative doubles is off by at most (n-1) * 2^-53 of itself, with no term of second order;
    it is at least as large as each of them. Code: canonical_sum in src/math/scalar.rs. *)
Theorem canonical_sum_error : forall l : list R, (1 <= length l)%nat -> (forall x, In x l -> 0 <= x /\ double x) ->
  Rabs (canonical_sum l - total l) <= INR (length l - 1) * bpow radix2 (-53) * canonical_sum l /\
  (forall x, In x l -> x <= canonical_sum l) /\ double (canonical_sum l).
Proof.
  intros l N H. rewrite <- u_value. pose proof u_pos as U. unfold canonical_sum.
  destruct (Nat.leb_spec (length l) 16) as [_|L].
  - pose proof (sort_perm l) as P. rewrite (sum_perm _ _ P), (Permutation_length P) in *.
    assert (H' : forall x, In x (sort l) -> 0 <= x /\ double x).
    { intros x X. apply H, (Permutation_in _ (Permutation_sym P) X). }
    assert (I : forall x, In x l -> In x (sort l)) by (intros x; apply (Permutation_in _ P)).
    destruct (sort l) as [|x t]; [simpl in N; lia|]. simpl (fsum 0 _).
    destruct (H' x (or_introl eq_refl)) as [x0 xf]. rewrite Rplus_0_l, (rnd_id x xf).
    replace (length (x :: t) - 1)%nat with (length t) by (simpl; lia).
    destruct (fsum_ge t x x0 xf (fun y Y => H' y (or_intror Y))) as [G [J K]].
    split; [apply (fsum_error t x x0 xf (fun y Y => H' y (or_intror Y)))|]. split; [|exact K].
    intros y Y. apply I in Y. destruct Y as [<-|Y]; [exact G | now apply J].
  - assert (T : 0 <= total l) by (apply sum_nonneg; intros x X; now apply H).
    assert (G : forall x, In x l -> x <= total l).
    { clear N L T. unfold total. induction l as [|y t IH]; simpl; [easy|]. intros x X.
      assert (0 <= sum t (fun x => x)) by (apply sum_nonneg; intros z Z; apply H; now right).
      destruct (H y (or_introl eq_refl)). destruct X as [<-|X]; [lra|].
      specialize (IH (fun z Z => H z (or_intror Z)) x X). lra. }
    assert (J : forall x, In x l -> x <= rnd (total l)).
    { intros x X. rewrite <- (rnd_id x) by now apply H. now apply rnd_le, G. }
    split; [|split; [exact J | apply rnd_double]].
    destruct (total_units l (fun x X => proj2 (H x X))) as [m E]. rewrite E in *.
    set (x := F2R (Float radix2 m (-1074))) in *.
    assert (R : Rabs (rnd x - x) <= u * Rabs (rnd x)).
    { exact (relative_error_N_FLT_round_F2R_emin radix2 (-1074) 53 eq_refl (fun z => negb (Z.even z)) m). }
    assert (P : 0 <= rnd x) by now apply rnd_nonneg.
    rewrite (Rabs_pos_eq _ P) in R. apply Rle_trans with (1 := R). apply Rmult_le_compat_r; [exact P|].
    assert (I : 1 <= INR (length l - 1)) by (apply (le_INR 1); lia).
    nra.
Qed.
