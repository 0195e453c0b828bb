(* Wrong: n * 2^-54 instead of n * 2^-53. The doubles 0x1.aae7d06ee2d22p-2 and 0x1.79f03637e5fc0p-1 are normalized to two
   whose sum is off by 3/2 * 2^-53 = 3 * 2^-54. *)
Require Import Reals List Lra Lia Psatz ZArith Permutation Sorted.
From Flocq Require Import Core Relative Plus_error.
From LPF Require Import Sums CanonicalSum Norm.
Import ListNotations.
Open Scope R_scope.

Theorem normalize_contract : forall l : list R, (forall x, In x l -> 0 <= x /\ double x) -> (exists x, In x l /\ 0 < x) ->
  (forall q, In q (normalize l) -> 0 <= q <= 1 /\ double q) /\
  Rabs (total (normalize l) - 1) <= INR (length l) * bpow radix2 (-54).
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
