(* The effective number of items, K_eff = (sum of w)^2 / (sum of w^2), in theorem 1 of the paper (section
   3.1). The paper says that it is at least half of K, rounded up; that is false. It lies between 1 and K,
   and both are reached. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World.
Import ListNotations.
Open Scope R_scope.

(* The claim, with the weights of section 1.2, from [0, 1]; not even a weight of zero is needed to refute
   it. *)
Definition K_eff_at_least_half : Prop :=
  forall (K : nat) (w : nat -> R), (1 <= K)%nat -> (forall i, 0 < w i <= 1) -> INR ((K + 1) / 2) <= K_eff K w.

(** claim: T1.Keff | refutes | caveats: reals
    Three items with the weights 1, 1/10 and 1/10: K_eff = 24/17, which is not 2 or more. Paper: theorem 1,
    section 3.1. *)
Theorem T1_Keff_refuted : ~ K_eff_at_least_half.
Proof.
  intros H. specialize (H 3%nat (fun i => match i with O => 1 | _ => / 10 end)).
  assert (B : 2 <= 24 / 17); [|lra].
  replace (24 / 17) with (K_eff 3 (fun i => match i with O => 1 | _ => / 10 end)) by (unfold K_eff; simpl;
    field).
  apply H; [lia|]. intros []; lra.
Qed.

(* No fraction of K is a lower bound either: one weight 1, the others 1/K. *)
(** claim: T1.Keff | refutes | caveats: reals
    Not only half of K fails: for no c > 0 is K_eff at least c K, since one weight of 1 beside K weights of
    1/K gives K_eff below 4. Paper: theorem 1, section 3.1. *)
Theorem T1_Keff_no_fraction : forall c, 0 < c ->
  exists (K : nat) (w : nat -> R), (1 <= K)%nat /\ (forall i, 0 < w i <= 1) /\ K_eff K w < c * INR K.
Proof.
  intros c c0. destruct (exists_nat_above (4 / c)) as (K & K1 & HK).
  assert (I1 : 1 <= INR K) by (apply (le_INR 1); easy).
  set (d := / INR K). assert (d0 : 0 < d) by (apply Rinv_0_lt_compat; lra).
  assert (Kd : INR K * d = 1) by (apply Rinv_r; lra).
  exists (S K), (fun i => match i with O => 1 | _ => d end). split; [lia|]. split.
  - intros []; [lra|]. split; [lra|]. unfold d. rewrite <- Rinv_1. apply Rinv_le_contravar; lra.
  - unfold K_eff. rewrite !sum_seq_S, !sum_const, seq_length, Kd, S_INR.
    assert (4 < c * INR K).
    { apply Rmult_lt_compat_r with (r := c) in HK; [|easy]. unfold Rdiv in HK.
      rewrite Rmult_assoc, Rinv_l in HK by lra. lra. }
    assert (D : 1 <= 1 ^ 2 + INR K * d ^ 2) by nra.
    apply Rle_lt_trans with 4; [|nra]. apply Rmult_le_reg_r with (1 ^ 2 + INR K * d ^ 2); [lra|].
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Lemma sum_square_nonneg {A} (l : list A) w : 0 <= sum l (fun i => w i ^ 2).
Proof. apply sum_nonneg. intros. apply pow2_ge_0. Qed.
Lemma square_sum_ge {A} (l : list A) w : (forall i, In i l -> 0 <= w i) ->
  sum l (fun i => w i ^ 2) <= sum l w ^ 2.
Proof.
  induction l as [|x l IH]; simpl; intros H; [lra|]. simpl in IH.
  assert (0 <= w x) by auto. assert (0 <= sum l w) by (apply sum_nonneg; auto).
  specialize (IH (fun i h => H i (or_intror h))).
  assert (0 <= w x * sum l w) by (apply Rmult_le_pos; easy). lra.
Qed.
Lemma square_sum_le {A} (l : list A) w : sum l w ^ 2 <= INR (length l) * sum l (fun i => w i ^ 2).
Proof.
  induction l as [|x l IH]; [simpl; lra|]. simpl length. rewrite S_INR.
  change (sum (x :: l) w) with (w x + sum l w).
  change (sum (x :: l) (fun i => w i ^ 2)) with (w x ^ 2 + sum l (fun i => w i ^ 2)).
  pose proof (pos_INR (length l)) as n0. pose proof (sum_square_nonneg l w) as s0.
  set (n := INR (length l)) in *. set (S := sum l w) in *. set (T := sum l (fun i => w i ^ 2)) in *.
  assert (2 * w x * S <= n * w x ^ 2 + T); [|simpl in *; lra].
  destruct (Req_dec n 0) as [z|nz].
  - rewrite z in *. assert (E : S = 0) by (apply Rsqr_0_uniq; unfold Rsqr; nra). rewrite E. lra.
  - assert (0 < n) by lra. apply Rmult_le_reg_l with n; [easy|].
    pose proof (pow2_ge_0 (n * w x - S)). simpl in *. lra.
Qed.

(** claim: T1.Keff | proves | caveats: reals
    What holds of K_eff: for weights that are not negative and not all zero it lies between 1 and K. *)
Theorem T1_Keff_bounds : forall (K : nat) (w : nat -> R),
  (forall i, (i < K)%nat -> 0 <= w i) -> (exists i, (i < K)%nat /\ w i <> 0) -> 1 <= K_eff K w <= INR K.
Proof.
  intros K w H (i & Hi & n0).
  assert (H' : forall j, In j (seq 0 K) -> 0 <= w j) by (intros j Hj; apply in_seq in Hj; apply H; lia).
  assert (P : 0 < sum (seq 0 K) (fun i => w i ^ 2)).
  { apply (sum_pos _ _ i); [intros; apply pow2_ge_0 | apply in_seq; lia |].
    rewrite <- Rsqr_pow2. now apply Rlt_0_sqr. }
  pose proof (square_sum_ge (seq 0 K) w H') as L. pose proof (square_sum_le (seq 0 K) w) as U.
  rewrite seq_length in U. unfold K_eff.
  split; apply Rmult_le_reg_r with (sum (seq 0 K) (fun i => w i ^ 2)); try easy;
    unfold Rdiv; rewrite ?Rmult_assoc, ?Rinv_l by lra; lra.
Qed.

(** claim: T1.Keff | sharpens | caveats: reals
    Both ends are reached for every K: one weight alone gives 1, equal weights give K. *)
Theorem T1_Keff_sharp : forall K : nat, (1 <= K)%nat ->
  K_eff K (fun i => match i with O => 1 | _ => 0 end) = 1 /\ K_eff K (fun _ => 1) = INR K.
Proof.
  intros K H. split; [|apply K_eff_equal; [easy|lra]]. destruct K; [lia|].
  unfold K_eff. rewrite !sum_seq_S, !sum_const. field.
Qed.
