(* The contract of `normalize` in doubles, for any number of entries: what src/simplex/normalize.rs promises. The sum is
   that of CanonicalSum.v; each entry is divided by it, and each quotient is rounded. *)
Require Import Reals List Lra Lia Psatz ZArith Permutation.
From Flocq Require Import Core Relative.
From LPF Require Import Sums CanonicalSum.
Import ListNotations.
Open Scope R_scope.

Definition quotients (s : R) (l : list R) : list R := map (fun x => rnd (x / s)) l.
Definition normalize (l : list R) : list R := quotients (canonical_sum l) l.

(* One quotient: at most u of it, or half of the smallest double. *)
Lemma quotient_error x : 0 <= x -> Rabs (rnd x - x) <= u * x + tiny.
Proof.
  intros X. pose proof u_pos as U. pose proof tiny_pos as T.
  destruct (relative_error_N_FLT'_ex radix2 (-1074) 53 eq_refl (fun z => negb (Z.even z)) x) as [e [h [He [Hh [_ E]]]]].
  change (u_ro radix2 53) with u in He. change (rnd x = x * (1 + e) + h) in E. rewrite E.
  assert (E' : Rabs e <= u).
  { apply Rle_trans with (1 := He). apply Rmult_le_reg_r with (1 + u); [lra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. nra. }
  replace (x * (1 + e) + h - x) with (x * e + h) by ring. apply Rle_trans with (1 := Rabs_triang _ _).
  rewrite Rabs_mult, (Rabs_pos_eq x X). apply Rplus_le_compat; [rewrite Rmult_comm; now apply Rmult_le_compat_r | exact Hh].
Qed.

(* A quotient up to one: at most half of u. *)
Lemma quotient_error_half x : 0 <= x <= 1 -> Rabs (rnd x - x) <= u / 2.
Proof.
  intros [X Y]. destruct (Rle_lt_or_eq_dec x 1 Y) as [L|E].
  - apply Rle_trans with (1 := error_le_half_ulp radix2 fexp (fun z => negb (Z.even z)) x).
    assert (ulp radix2 fexp x <= u); [|lra]. rewrite u_value.
    apply Rle_trans with (ulp radix2 fexp (bpow radix2 (-1))).
    2: { rewrite ulp_bpow. apply bpow_le. unfold FLT_exp. lia. }
    destruct (Rle_or_lt x (bpow radix2 (-1))) as [M|M].
    + apply ulp_le_pos; [typeclasses eauto | typeclasses eauto | exact X | exact M].
    + right. rewrite !ulp_neq_0; [|apply Rgt_not_eq, bpow_gt_0 | apply Rgt_not_eq; pose proof (bpow_gt_0 radix2 (-1)); lra].
      unfold cexp. rewrite mag_bpow. rewrite (mag_unique_pos radix2 x 0); [easy|].
      split; [left; exact M | simpl; lra].
  - subst. rewrite (rnd_id 1 double_1). rewrite Rminus_diag_eq by easy. rewrite Rabs_R0. pose proof u_pos. lra.
Qed.

Lemma quotients_error l s (k : R) (c : R) : 0 < s -> (forall x, In x l -> 0 <= x) ->
  (forall x, In x l -> Rabs (rnd (x / s) - x / s) <= k * (x / s) + c) ->
  Rabs (total (quotients s l) - total l / s) <= k * (total l / s) + INR (length l) * c.
Proof.
  intros P H E. unfold total, quotients. induction l as [|x t IH].
  - simpl. unfold Rdiv. rewrite Rmult_0_l, Rminus_0_r, Rabs_R0. lra.
  - change (length (x :: t)) with (S (length t)). rewrite S_INR. simpl (sum _ _).
    specialize (IH (fun y Y => H y (or_intror Y)) (fun y Y => E y (or_intror Y))). specialize (E x (or_introl eq_refl)).
    apply Rabs_le_inv in IH, E. apply Rabs_le. unfold Rdiv in *. rewrite Rmult_plus_distr_r. split; lra.
Qed.

(* In ascending order the sum of the first two is at most 7/10 of the sum of three or more. *)
Lemma first_two x y z t : 0 <= x <= y -> y <= z -> double x -> double y -> double z ->
  (forall w, In w t -> 0 <= w /\ double w) -> rnd (x + y) <= 7 / 10 * fsum (rnd (rnd (x + y) + z)) t.
Proof.
  intros X Y Fx Fy Fz H.
  assert (A : rnd (x + y) <= 2 * y).
  { rewrite <- (rnd_id (2 * y)) by now apply double_twice. apply rnd_le. lra. }
  assert (N : 0 <= rnd (x + y)) by (apply rnd_nonneg; lra).
  assert (Z : 0 <= rnd (rnd (x + y) + z)) by (apply rnd_nonneg; lra).
  pose proof (plus_error (rnd (x + y)) z (rnd_double _) Fz ltac:(lra)) as E. apply Rabs_le_inv in E.
  destruct (fsum_ge t (rnd (rnd (x + y) + z)) Z (rnd_double _) H) as [G _]. pose proof u_small as U. pose proof u_pos.
  set (r := rnd (x + y)) in *. set (r3 := rnd (r + z)) in *.
  assert (3 / 2 * r <= r3 * (1 + / 1000000)) by nra. lra.
Qed.

(* Sorted, three or more entries: the sum's error is at most n - 1.3 units, which leaves room for the quotients'. *)
Lemma sorted_error l : (3 <= length l)%nat -> ascending l -> (forall x, In x l -> 0 <= x /\ double x) ->
  Rabs (fsum 0 l - total l) <= (INR (length l) - 13 / 10) * u * fsum 0 l.
Proof.
  intros N A H. destruct l as [|x [|y [|z t]]]; simpl in N; try lia.
  inversion A as [|? ? Ax A']; subst. inversion A' as [|? ? Ay A'']; subst.
  destruct (H x ltac:(now left)) as [x0 Fx]. destruct (H y ltac:(right; now left)) as [y0 Fy].
  destruct (H z ltac:(right; right; now left)) as [z0 Fz].
  assert (Ht : forall w, In w t -> 0 <= w /\ double w) by (intros w W; apply H; right; right; now right).
  assert (Hz : forall w, In w (z :: t) -> 0 <= w /\ double w) by (intros w W; apply H; right; now right).
  pose proof (first_two x y z t (conj x0 (Ax y ltac:(now left))) (Ay z ltac:(now left)) Fx Fy Fz Ht) as T.
  simpl (fsum 0 _). rewrite Rplus_0_l, (rnd_id x Fx).
  pose proof (plus_error x y Fx Fy ltac:(lra)) as E.
  assert (N2 : 0 <= rnd (x + y)) by (apply rnd_nonneg; lra).
  pose proof (fsum_error (z :: t) (rnd (x + y)) N2 (rnd_double _) Hz) as F.
  change (fsum (rnd (x + y)) (z :: t)) with (fsum (rnd (rnd (x + y) + z)) t) in F.
  change (total (x :: y :: z :: t)) with (x + (y + total (z :: t))).
  change (length (x :: y :: z :: t)) with (S (S (length (z :: t)))). rewrite !S_INR.
  set (s := fsum _ t) in *. set (r := rnd (x + y)) in *. set (n := INR (length (z :: t))) in *.
  apply Rabs_le_inv in E, F. pose proof u_pos. assert (u * r <= u * (7 / 10 * s)) by (apply Rmult_le_compat_l; lra).
  apply Rabs_le. split; lra.
Qed.

Lemma total_pos l : (forall x, In x l -> 0 <= x) -> (exists x, In x l /\ 0 < x) -> 0 < total l.
Proof.
  intros H [x [X P]]. unfold total. induction l as [|y t IH]; simpl; [easy|].
  assert (0 <= sum t (fun x => x)) by (apply sum_nonneg; intros z Z; apply H; now right).
  pose proof (H y (or_introl eq_refl)). destruct X as [<-|X]; [lra|].
  specialize (IH (fun z Z => H z (or_intror Z)) X). lra.
Qed.

(** claim: Norm | proves | caveats: no-overflow
    Of any n non-negative doubles, not all zero, normalize makes n doubles in [0,1] whose exact sum is within n * 2^-53
    of one, for every n: the constant that the code states holds without terms of second order. Code: normalize in
    src/simplex/normalize.rs. *)
Theorem normalize_contract : forall l : list R, (forall x, In x l -> 0 <= x /\ double x) -> (exists x, In x l /\ 0 < x) ->
  (forall q, In q (normalize l) -> 0 <= q <= 1 /\ double q) /\
  Rabs (total (normalize l) - 1) <= INR (length l) * bpow radix2 (-53).
Proof.
  intros l H P. assert (H0 : forall x, In x l -> 0 <= x) by (intros x X; now apply H).
  assert (L : (1 <= length l)%nat) by (destruct P as [x [X _]], l; simpl; [easy | lia]).
  destruct (canonical_sum_error l L H) as [E [G F]]. rewrite <- u_value in *.
  pose proof u_pos as U. pose proof tiny_pos as T. pose proof tiny_small as TS. pose proof u_small as US.
  set (s := canonical_sum l) in *.
  assert (S0 : 0 < s) by (destruct P as [x [X Px]]; specialize (G x X); lra).
  assert (Q : forall x, In x l -> 0 <= x / s <= 1).
  { intros x X. specialize (G x X). specialize (H0 x X). split.
    - apply Rmult_le_pos; [lra | left; now apply Rinv_0_lt_compat].
    - apply Rmult_le_reg_r with s; [exact S0|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  split.
  { intros q I. unfold normalize, quotients in I. apply in_map_iff in I. destruct I as [x [<- X]]. fold s.
    split; [|apply rnd_double]. destruct (Q x X). split; [now apply rnd_nonneg|].
    rewrite <- (rnd_id 1 double_1). now apply rnd_le. }
  unfold normalize. fold s.
  assert (D : forall d, Rabs (s - total l) <= d * s -> Rabs (total l / s - 1) <= d).
  { intros d B. replace (total l / s - 1) with (- ((s - total l) / s)) by (field; lra).
    rewrite Rabs_Ropp. unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ s)) by (left; now apply Rinv_0_lt_compat).
    apply Rmult_le_reg_r with s; [exact S0|]. rewrite Rmult_assoc, Rinv_l; lra. }
  assert (Half : Rabs (total (quotients s l) - total l / s) <= 0 * (total l / s) + INR (length l) * (u / 2)).
  { apply quotients_error; [exact S0 | exact H0 |]. intros x X. rewrite Rmult_0_l, Rplus_0_l.
    now apply quotient_error_half, Q. }
  assert (Full : Rabs (total (quotients s l) - total l / s) <= u * (total l / s) + INR (length l) * tiny).
  { apply quotients_error; [exact S0 | exact H0 |]. intros x X. now apply quotient_error, Q. }
  set (q := total (quotients s l)) in *. set (t := total l / s) in *. set (n := INR (length l)) in *.
  destruct (le_lt_dec (length l) 2) as [Small|Large].
  - (* One or two entries: every quotient errs by at most u/2. *)
    specialize (D _ E). apply Rabs_le_inv in D, Half. apply Rabs_le.
    assert (C : n = 1 /\ INR (length l - 1) = 0 \/ n = 2 /\ INR (length l - 1) = 1).
    { unfold n. destruct (length l) as [|[|[|]]]; [lia | left | right | lia]; simpl; lra. }
    destruct C as [[-> C]|[-> C]]; rewrite C in D; split; lra.
  - assert (N3 : 3 <= n) by (replace 3 with (INR 3) by (simpl; lra); apply le_INR; lia).
    assert (B : exists d, Rabs (s - total l) <= d * s /\ 0 <= d <= / 10000 /\ d + n * u * / 1000000 <= n * u - 12 / 10 * u).
    { unfold s, canonical_sum. destruct (Nat.leb_spec (length l) 16) as [K|K].
      - exists ((n - 13 / 10) * u). pose proof (sort_perm l) as Pm.
        assert (n <= 16) by (replace 16 with (INR 16) by (simpl; lra); apply le_INR; lia).
        assert (n * u <= 16 * u) by (apply Rmult_le_compat_r; lra).
        split; [|split; [split; [apply Rmult_le_pos; lra | rewrite Rmult_minus_distr_r; lra] | rewrite Rmult_minus_distr_r; lra]].
        unfold n. rewrite (sum_perm _ _ Pm), (Permutation_length Pm). apply sorted_error.
        + rewrite <- (Permutation_length Pm). lia.
        + apply sort_ascending.
        + intros x X. apply H, (Permutation_in _ (Permutation_sym Pm) X).
      - assert (16 * u <= n * u).
        { apply Rmult_le_compat_r; [lra|]. replace 16 with (INR 16) by (simpl; lra). apply le_INR. lia. }
        exists u. split; [|split; lra]. destruct (total_units l (fun x X => proj2 (H x X))) as [m M].
        rewrite M. set (x := F2R (Float radix2 m (-1074))) in *.
        assert (R : Rabs (rnd x - x) <= u * Rabs (rnd x)).
        { exact (relative_error_N_FLT_round_F2R_emin radix2 (-1074) 53 eq_refl (fun z => negb (Z.even z)) m). }
        rewrite (Rabs_pos_eq (rnd x)) in R; [exact R|]. apply rnd_nonneg. rewrite <- M. now apply sum_nonneg. }
    destruct B as [d [B [[D0 D1] Dn]]]. specialize (D d B). apply Rabs_le_inv in D, Full. apply Rabs_le.
    assert (u * t <= u * (1 + / 10000)) by (apply Rmult_le_compat_l; lra).
    assert (n * tiny <= n * (u * / 1000000)) by (apply Rmult_le_compat_l; lra).
    assert (n * (u * / 1000000) = n * u * / 1000000) by ring.
    split; lra.
Qed.
