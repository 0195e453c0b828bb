(* What holds in place of lemma 6 (appendix A.6): for losses that are convex in the parameters, leaving out
   one of N examples moves the minimizer of the L2-regularized mean loss by at most 2L/(lambda N), in any
   dimension. The paper states it for a neural network, whose losses are not convex in its parameters. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.

(* Parameter vectors: one number for each of the coordinates cs. *)
Section Vectors.
Context {P : Type} (cs : list P).
Definition norm (u : P -> R) := sqrt (sum cs (fun k => u k ^ 2)).
Definition distance (u v : P -> R) := norm (fun k => u k - v k).
Definition between (t : R) (u v : P -> R) (k : P) := (1 - t) * u k + t * v k.
Definition convex (f : (P -> R) -> R) :=
  forall t u v, 0 <= t <= 1 -> f (between t u v) <= (1 - t) * f u + t * f v.
Definition lipschitz (L : R) (f : (P -> R) -> R) := forall u v, Rabs (f u - f v) <= L * distance u v.
(* The regularized mean loss over the examples l. *)
Definition objective {A} (loss : A -> (P -> R) -> R) (lambda : R) (l : list A) (u : P -> R) :=
  / INR (length l) * sum l (fun i => loss i u) + lambda / 2 * norm u ^ 2.
Definition minimizes (f : (P -> R) -> R) (u : P -> R) := forall v, f u <= f v.

Lemma norm_sq u : norm u ^ 2 = sum cs (fun k => u k ^ 2).
Proof. unfold norm. rewrite pow2_sqrt; [easy|]. apply sum_nonneg; intros; apply pow2_ge_0. Qed.
Lemma norm_between t u v :
  norm (between t u v) ^ 2 = (1 - t) * norm u ^ 2 + t * norm v ^ 2 - t * (1 - t) * distance v u ^ 2.
Proof.
  unfold distance. rewrite !norm_sq, <- !sum_scal, <- sum_plus, <- sum_minus.
  apply sum_ext; intros k _. unfold between. ring.
Qed.

Section Objective.
Context {A : Type} (loss : A -> (P -> R) -> R) (lambda : R) (l : list A).
Hypothesis (l0 : l <> []) (HC : forall i, In i l -> convex (loss i)).
Let F := objective loss lambda l.

Lemma inv_count : 0 < / INR (length l).
Proof. apply Rinv_0_lt_compat, lt_0_INR. destruct l; [easy | simpl; lia]. Qed.

Lemma strongly_convex t u v : 0 <= t <= 1 ->
  F (between t u v) <= (1 - t) * F u + t * F v - lambda / 2 * (t * (1 - t)) * distance v u ^ 2.
Proof.
  intros Ht. unfold F, objective. rewrite norm_between. pose proof inv_count as n0.
  assert (H : sum l (fun i => loss i (between t u v)) <=
    (1 - t) * sum l (fun i => loss i u) + t * sum l (fun i => loss i v)).
  { rewrite <- !sum_scal, <- sum_plus. apply sum_le. intros i Hi. now apply HC. }
  apply Rmult_le_compat_l with (r := / INR (length l)) in H; [|lra].
  set (n := / INR (length l)) in *. nra.
Qed.

(* Away from the minimizer the objective grows at least quadratically. *)
Lemma growth u v : minimizes F u -> lambda / 2 * distance v u ^ 2 <= F v - F u.
Proof.
  intros M. set (B := lambda / 2 * distance v u ^ 2). set (a := F v - F u).
  destruct (Rle_lt_dec B a) as [|N]; [easy|]. exfalso.
  assert (a0 : 0 <= a) by (unfold a; specialize (M v); lra).
  assert (B0 : 0 < B) by lra.
  set (t := (B - a) / (2 * B)).
  assert (tB : t * B = (B - a) / 2) by (unfold t; field; lra).
  assert (Ht : 0 < t <= 1).
  { split; [unfold t; apply Rdiv_lt_0_compat; lra|]. apply Rmult_le_reg_r with B; [easy|]. rewrite tB. lra. }
  pose proof (strongly_convex t u v ltac:(lra)) as S. pose proof (M (between t u v)) as G.
  replace (lambda / 2 * (t * (1 - t)) * distance v u ^ 2) with (t * (1 - t) * B) in S by (unfold B; ring).
  assert (t * a - t * ((1 - t) * B) >= 0) by (unfold a; nra).
  assert (t * (a - B + t * B) >= 0) by nra. rewrite tB in *. nra.
Qed.
End Objective.
End Vectors.

(** claim: L6' | proves | caveats: reals, minimizer, parameters
    For convex, L-Lipschitz losses and N >= 2 examples, the minimizers of the regularized mean loss with and
    without any one example j are at most 2L/(lambda N) apart. Paper: lemma 6, appendix A.6, which does not
    ask for convexity of the loss in the parameters, and speaks of gradient descent instead of a minimizer. *)
Theorem L6prime_stability (P A : Type) (cs : list P) (loss : A -> (P -> R) -> R) (L lambda : R)
  (before after : list A) (j : A) (w_all w_less : P -> R) :
  let rest := before ++ after in
  let all := before ++ j :: after in
  0 < lambda -> 0 <= L -> rest <> [] ->
  (forall i, In i all -> convex (loss i)) -> (forall i, In i all -> lipschitz cs L (loss i)) ->
  minimizes (objective cs loss lambda all) w_all -> minimizes (objective cs loss lambda rest) w_less ->
  distance cs w_all w_less <= 2 * L / (lambda * INR (length all)).
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

(* Two examples of the absolute value, and of its minimizer 0: the hypotheses can be met. *)
Example L6prime_not_vacuous :
  convex (fun u : unit -> R => Rabs (u tt)) /\ lipschitz [tt] 1 (fun u => Rabs (u tt)) /\
  minimizes (objective [tt] (fun (_ : unit) u => Rabs (u tt)) 1 [tt; tt]) (fun _ => 0).
Proof.
  repeat split.
  - intros t u v Ht. unfold between. eapply Rle_trans; [apply Rabs_triang|].
    rewrite !Rabs_mult, (Rabs_pos_eq t), (Rabs_pos_eq (1 - t)) by lra. lra.
  - intros u v. rewrite Rmult_1_l. unfold distance, norm. cbn [sum].
    replace ((u tt - v tt) ^ 2 + 0) with (Rsqr (u tt - v tt)) by (unfold Rsqr; ring).
    rewrite sqrt_Rsqr_abs. apply Rabs_triang_inv2.
  - intros v. unfold objective. rewrite !norm_sq. simpl. rewrite Rabs_R0.
    pose proof (Rabs_pos (v tt)). pose proof (pow2_ge_0 (v tt)). nra.
Qed.
