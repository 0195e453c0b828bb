(* False: with rho^K in place of rho^(2K), one item right three times in four and an even prior give a floor
   of 0.317, but the error is 1/4. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1 T4prime.
From LPF Require Import T6prime.
Import ListNotations.
Open Scope R_scope.

Theorem T6prime_floor_same_exponent : forall (Y A : Type) (y1 y2 : Y) (xs : list A) (K : nat) (d : A)
  (pi : Y -> R) (lik : A -> Y -> R),
  y1 <> y2 -> NoDup xs -> distribution [y1; y2] pi ->
    (forall y, In y [y1; y2] -> distribution xs (fun a => lik a y)) ->
  let W := product_world [y1; y2] xs K d pi (fun _ => lik) in
  let rho := affinity xs (/ 2) (fun a => lik a y1) (fun a => lik a y2) in
  let x := pi y1 * pi y2 * rho ^ K in
  forall decision, (forall e, In e (evidence W) -> In (decision e) [y1; y2]) ->
  x <= (1 - sqrt (1 - 4 * x)) / 2 <= error W decision.
Proof.
  intros Y A y1 y2 xs K d pi lik N Nx Hpi Hl W rho x dec Hd.
  assert (ND : NoDup [y1; y2]) by (repeat constructor; simpl; intuition congruence).
  assert (HW : is_world W) by (apply product_is_world; auto).
  set (u := fun e => joint W y1 e). set (v := fun e => joint W y2 e).
  assert (u0 : forall e, In e (evidence W) -> 0 <= u e) by (intros; apply joint_nonneg; simpl; auto).
  assert (v0 : forall e, In e (evidence W) -> 0 <= v e) by (intros; apply joint_nonneg; simpl; auto).
  assert (MS : forall e, mass W e = u e + v e) by (intros; unfold mass, u, v; simpl; ring).
  assert (a0 : forall e, In e (evidence W) -> 0 <= Rmin (u e) (v e)) by (intros; apply Rmin_glb; auto).
  assert (b0 : forall e, In e (evidence W) -> 0 <= Rmax (u e) (v e)).
  { intros e He. pose proof (Rmax_l (u e) (v e)). specialize (u0 e He). lra. }
  set (m := sum (evidence W) (fun e => Rmin (u e) (v e))).
  assert (T : sum (evidence W) (fun e => Rmax (u e) (v e)) = 1 - m).
  { unfold m. rewrite <- (mass_total W HW), <- sum_minus. apply sum_ext; intros e _. rewrite MS.
    unfold Rmin, Rmax. destruct (Rle_dec (u e) (v e)); ring. }
  assert (m0 : 0 <= m) by (apply sum_nonneg; intros; apply Rmin_glb; auto).
  assert (m1 : m <= 1 - m).
  { rewrite <- T. apply sum_le; intros e _. unfold Rmin, Rmax. destruct (Rle_dec (u e) (v e)); lra. }
  assert (ER : m <= error W dec).
  { unfold error. rewrite <- (mass_total W HW), <- sum_minus. apply sum_le; intros e He. rewrite MS.
    destruct (Hd e He) as [<-|[<-|[]]]; fold (u e); fold (v e);
      [pose proof (Rmin_r (u e) (v e)) | pose proof (Rmin_l (u e) (v e))]; lra. }
  assert (X : x <= m * (1 - m)).
  { assert (S : sum (evidence W) (fun e => sqrt (Rmin (u e) (v e)) * sqrt (Rmax (u e) (v e))) =
      between (/ 2) (pi y1) (pi y2) * rho ^ K).
    { rewrite (sum_ext _ _ (fun e => between (/ 2) (joint W y1 e) (joint W y2 e))).
      - unfold W. rewrite (sum_between [y1; y2] xs K d pi (fun _ => lik)); simpl; auto.
        now rewrite prod_const, seq_length.
      - intros e He. fold (u e). fold (v e).
        transitivity (sqrt (u e * v e)).
        + rewrite <- sqrt_mult by auto. f_equal. unfold Rmin, Rmax. destruct (Rle_dec (u e) (v e)); ring.
        + apply sqrt_between; auto. }
    pose proof (cauchy_schwarz (evidence W) (fun e => sqrt (Rmin (u e) (v e))) (fun e => sqrt (Rmax (u e)
      (v e)))) as CS.
    cbv beta in CS. rewrite S in CS.
    rewrite (sum_ext _ (fun i => sqrt (Rmin (u i) (v i)) ^ 2) (fun e => Rmin (u e) (v e))) in CS
      by (intros; apply pow2_sqrt; auto).
    rewrite (sum_ext _ (fun i => sqrt (Rmax (u i) (v i)) ^ 2) (fun e => Rmax (u e) (v e))) in CS
      by (intros; apply pow2_sqrt; auto).
    rewrite T in CS. fold m in CS. destruct Hpi as [p0 _].
    rewrite <- sqrt_between in CS by (apply p0; simpl; auto).
    replace x with ((sqrt (pi y1 * pi y2) * rho ^ K) ^ 2); [easy|].
    rewrite Rpow_mult_distr, pow2_sqrt by (apply Rmult_le_pos; apply p0; simpl; auto).
    unfold x. rewrite <- pow_mult. f_equal. f_equal. lia. }
  assert (x0 : 0 <= x).
  { unfold x. destruct Hpi as [p0 _]. apply Rmult_le_pos; [apply Rmult_le_pos; apply p0; simpl; auto|].
    apply pow_le. apply affinity_nonneg. }
  assert (Q : 0 <= 1 - 4 * x) by nra. pose proof (sqrt_pos (1 - 4 * x)) as r0.
    pose proof (sqrt_sqrt _ Q) as rr.
  set (r := sqrt (1 - 4 * x)) in *. split; [nra|]. apply Rle_trans with m; [|exact ER].
  assert (1 - 2 * m <= r); [|lra]. apply Rnot_lt_le; intros L. nra.
Qed.
