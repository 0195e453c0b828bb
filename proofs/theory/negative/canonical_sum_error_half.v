(* Wrong: (n-1) * 2^-54 instead of (n-1) * 2^-53. The sum of 1 and 2^-53 is rounded to 1, off by 2^-53. *)
Require Import Reals List Lra Lia Psatz ZArith Permutation Sorted.
From Flocq Require Import Core Relative Plus_error.
From LPF Require Import Sums CanonicalSum.
Import ListNotations.
Open Scope R_scope.

Theorem canonical_sum_error : forall l : list R, (1 <= length l)%nat -> (forall x, In x l -> 0 <= x /\ double x) ->
  Rabs (canonical_sum l - total l) <= INR (length l - 1) * bpow radix2 (-54) * canonical_sum l /\
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
