(* False: half the distance; in one dimension with losses -x and x, L = lambda = 1 and N = 2, the minimizers
   are 0 and -1 (or 1): 1 apart, where 1/2 is claimed. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums L6prime.
Import ListNotations.
Open Scope R_scope.

Theorem L6prime_stability_half_the_distance (P A : Type) (cs : list P) (loss : A -> (P -> R) -> R) (L lambda :
  R)
  (before after : list A) (j : A) (w_all w_less : P -> R) :
  let rest := before ++ after in
  let all := before ++ j :: after in
  0 < lambda -> 0 <= L -> rest <> [] ->
  (forall i, In i all -> convex (loss i)) -> (forall i, In i all -> lipschitz cs L (loss i)) ->
  minimizes (objective cs loss lambda all) w_all -> minimizes (objective cs loss lambda rest) w_less ->
  distance cs w_all w_less <= L / (lambda * INR (length all)).
Proof.
  intros rest all l0 L0 nr HC HL Ma Ml.
  assert (na : all <> []) by (unfold all; now destruct before).
  assert (sub : forall i, In i rest -> In i all).
  { intros i Hi. unfold rest, all in *. apply in_app_or in Hi. apply in_or_app. simpl. tauto. }
  pose proof (growth cs loss lambda all na HC w_all w_less Ma) as G1.
  pose proof (growth cs loss lambda rest nr (fun i Hi => HC i (sub i Hi)) w_less w_all Ml) as G2.
  set (d := distance cs w_all w_less) in *.
  assert (d0 : 0 <= d) by apply sqrt_pos.
  replace (distance cs w_less w_all) with d in G1.
  2:{ unfold d, distance, norm. f_equal. apply sum_ext; intros; ring. }
  set (n := INR (length rest)). assert (n0 : 0 < n).
  { unfold n. apply lt_0_INR. destruct rest; [easy | simpl; lia]. }
  assert (N : INR (length all) = n + 1).
  { unfold n, all, rest. rewrite !app_length, <- S_INR. f_equal. simpl. lia. }
  unfold objective in G1, G2. rewrite N in *. fold n in G2.
  assert (SA : forall u, sum all (fun i => loss i u) = loss j u + sum rest (fun i => loss i u)).
  { assert (AP : forall (l k : list A) f, sum (l ++ k) f = sum l f + sum k f)
      by (induction l; intros; simpl; [ring | rewrite IHl; ring]).
    intros u. unfold all, rest. rewrite !AP. simpl. ring. }
  rewrite !SA in G1.
  set (a := loss j w_less - loss j w_all).
  set (b := sum rest (fun i => loss i w_all) - sum rest (fun i => loss i w_less)).
  assert (Ha : a <= L * d).
  { unfold a. eapply Rle_trans; [apply Rle_abs|]. rewrite Rabs_minus_sym. apply HL.
    unfold all. apply in_or_app; right; now left. }
  assert (Hb : b <= n * (L * d)).
  { unfold b. rewrite <- sum_minus. apply Rle_trans with (sum rest (fun _ => L * d)).
    - apply sum_le. intros i Hi. eapply Rle_trans; [apply Rle_abs|]. apply HL. auto.
    - right. unfold n. clear. induction rest as [|i t IH]; cbn [sum length]; [simpl; ring|].
        rewrite IH, S_INR. ring. }
  (* the sum of the two inequalities of growth *)
  assert (K : lambda * d ^ 2 <= / (n + 1) * a + (/ n - / (n + 1)) * b) by (unfold a, b; lra).
  assert (I1 : 0 < / (n + 1)) by (apply Rinv_0_lt_compat; lra).
  assert (I2 : / n - / (n + 1) = / n * / (n + 1)) by (field; lra).
  assert (I3 : 0 < / n) by now apply Rinv_0_lt_compat.
  assert (K2 : lambda * d ^ 2 <= 2 * L * d * / (n + 1)).
  { eapply Rle_trans; [exact K|]. rewrite I2.
    apply Rle_trans with (/ (n + 1) * (L * d) + / n * / (n + 1) * (n * (L * d))).
    - apply Rplus_le_compat; apply Rmult_le_compat_l; try lra. apply Rmult_le_pos; lra.
    - right. field. lra. }
  destruct d0 as [d0|d0].
  - apply Rmult_le_reg_l with (lambda * d); [nra|].
    replace (lambda * d * (2 * L / (lambda * (n + 1)))) with (2 * L * d * / (n + 1)) by (field; lra). nra.
  - rewrite <- d0. apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. nra.
Qed.
