(* E1, the price of dependence: where the items are not independent given the class, the prior-corrected
   product of exact factors (T1') is off from the posterior by at most the total correlation of the items
   given the class, in mean divergence, and its calibration error by at most the square root of half of it.
   Watanabe's total correlation; Pinsker's inequality. Not in the paper, which assumes independence
   (assumption 1) and does not say what its failure costs. *)
Require Import Reals List Lra Lia Psatz Classical.
From Coquelicot Require Import Coquelicot.
From LPF Require Import Sums T5prime World L5 T1prime T4 T4_moreover T4prime T6prime.
Import ListNotations.
Open Scope R_scope.

(* Pinsker's inequality, by t ln t - t + 1 >= 3 (t-1)^2 / (2 (t+2)) and the inequality of Cauchy and
   Schwarz. *)
Lemma ln_ge t : 0 < t -> 5 / 2 - / (4 * t) - 27 / (4 * (t + 2)) <= ln t.
Proof.
  intros t0. set (g := fun t => ln t + / (4 * t) + 27 / (4 * (t + 2))).
  assert (P : forall x, Rmin 1 t <= x -> 0 < x).
  { intros x Hx. assert (0 < Rmin 1 t) by (apply Rmin_glb_lt; lra). lra. }
  destruct (MVT_gen g 1 t (fun x => (x - 1) ^ 3 / (x ^ 2 * (x + 2) ^ 2))) as (c & Hc & E).
  - intros x [Hx _]. assert (x0 : 0 < x) by (apply P; lra). unfold g. auto_derive; [repeat split; lra|].
    field. lra.
  - intros x [Hx _]. assert (x0 : 0 < x) by now apply P. apply derivable_continuous_pt.
    exists ((x - 1) ^ 3 / (x ^ 2 * (x + 2) ^ 2)).
    apply is_derive_Reals. unfold g. auto_derive; [repeat split; lra|]. field. lra.
  - assert (c0 : 0 < c) by now apply P.
    assert (G : 0 <= g t - g 1).
    { rewrite E. assert (D : 0 < / (c ^ 2 * (c + 2) ^ 2)).
      { apply Rinv_0_lt_compat, Rmult_lt_0_compat; apply pow_lt; lra. }
      assert (S : 0 <= (c - 1) ^ 3 * (t - 1)).
      { replace ((c - 1) ^ 3 * (t - 1)) with ((c - 1) ^ 2 * ((c - 1) * (t - 1))) by ring.
        apply Rmult_le_pos; [apply pow2_ge_0|]. destruct (Rle_or_lt 1 t).
        - rewrite Rmin_left, Rmax_right in Hc by lra. apply Rmult_le_pos; lra.
        - rewrite Rmin_right, Rmax_left in Hc by lra. nra. }
      unfold Rdiv. nra. }
    unfold g in G. rewrite ln_1 in G. unfold Rdiv in *. lra.
Qed.
Lemma divergence_term p q : 0 <= p -> 0 <= q -> (0 < p -> 0 < q) ->
  3 / 2 * ((p - q) ^ 2 / (p + 2 * q)) <= p * ln (p / q) - p + q.
Proof.
  intros [p0| <-] q0 S.
  - specialize (S p0). pose proof (ln_ge (p / q) ltac:(now apply Rdiv_lt_0_compat)) as L.
    apply Rmult_le_compat_l with (r := p) in L; [|lra].
    assert (E : p * (5 / 2 - / (4 * (p / q)) - 27 / (4 * (p / q + 2))) - p + q = 3 / 2 * ((p - q) ^ 2 / (p
      + 2 * q))).
    { field. repeat split; lra. }
    lra.
  - destruct q0 as [q0| <-]; [|unfold Rdiv; lra].
    replace (3 / 2 * ((0 - q) ^ 2 / (0 + 2 * q))) with (3 / 4 * q) by (field; lra). lra.
Qed.
Lemma pinsker {Y} (ys : list Y) p q : distribution ys p -> distribution ys q ->
  (forall y, In y ys -> 0 < p y -> 0 < q y) -> L1 ys p q ^ 2 <= 2 * KL ys p q.
Proof.
  intros [p0 p1] [q0 q1] S. set (w := fun y => p y + 2 * q y).
  assert (w0 : forall y, In y ys -> 0 <= w y) by (intros y Hy; unfold w; specialize (p0 y Hy);
    specialize (q0 y Hy); lra).
  pose proof (cauchy_schwarz ys (fun y => Rabs (p y - q y) / sqrt (w y)) (fun y => sqrt (w y))) as CS.
    cbv beta in CS.
  rewrite (sum_ext ys _ (fun y => Rabs (p y - q y))) in CS.
  2: { intros y Hy. destruct (w0 y Hy) as [h|h].
       - pose proof (sqrt_lt_R0 _ h). field. lra.
       - rewrite <- h, sqrt_0. unfold w in h. specialize (p0 y Hy). specialize (q0 y Hy).
         replace (p y - q y) with 0 by lra. rewrite Rabs_R0. unfold Rdiv. lra. }
  rewrite (sum_ext ys (fun i => sqrt (w i) ^ 2) w) in CS by (intros; apply pow2_sqrt; auto).
  replace (sum ys w) with 3 in CS by (unfold w; rewrite sum_plus, sum_scal, p1, q1; ring).
  assert (B : 3 / 2 * sum ys (fun y => (Rabs (p y - q y) / sqrt (w y)) ^ 2) <= KL ys p q).
  { replace (KL ys p q) with (sum ys (fun y => p y * ln (p y / q y) - p y + q y))
      by (rewrite sum_plus, sum_minus, p1, q1; unfold KL; ring).
    rewrite <- sum_scal. apply sum_le; intros y Hy.
    replace ((Rabs (p y - q y) / sqrt (w y)) ^ 2) with ((p y - q y) ^ 2 / (p y + 2 * q y));
      [now apply divergence_term; auto|].
    fold (w y). unfold Rdiv. rewrite Rpow_mult_distr, pow2_abs. f_equal.
    destruct (w0 y Hy) as [h|h]; [|rewrite <- h, sqrt_0, Rinv_0; ring].
    rewrite pow_inv, pow2_sqrt by lra. easy. }
  unfold L1. lra.
Qed.

Section Dependence.
Context {Y A : Type} (W : world Y A).
Hypotheses (HW : is_world W) (Hpi : forall y, In y (classes W) -> 0 < prior W y).
(* What the joint distribution would be if the items were independent given the class, and its distribution
   of evidence. *)
Definition independent_joint y e := prior W y * prod (seq 0 (items W)) (fun i => likelihood W i (item W i
  e) y).
Definition independent_mass e := sum (classes W) (fun y => independent_joint y e).
(* The total correlation of the items given the class: the divergence of the joint distribution from that
   one. *)
Definition total_correlation :=
  sum (evidence W) (fun e => sum (classes W) (fun y => joint W y e * ln (joint W y e / independent_joint y
    e))).
(* The divergence of the evidence's distribution from what it would be. *)
Definition evidence_divergence := KL (evidence W) (mass W) independent_mass.

Lemma likelihood_nonneg i a y : In y (classes W) -> 0 <= likelihood W i a y.
Proof.
  intros Hy. apply Rmult_le_pos; [now apply item_joint_nonneg | left; apply Rinv_0_lt_compat; auto].
Qed.
Lemma independent_nonneg y e : In y (classes W) -> 0 <= independent_joint y e.
Proof.
  intros Hy. apply Rmult_le_pos; [left; auto|]. apply prod_nonneg. intros. now apply likelihood_nonneg.
Qed.
Lemma independent_pos y e : In y (classes W) -> In e (evidence W) -> 0 < joint W y e ->
  0 < independent_joint y e.
Proof.
  intros Hy He j. apply Rmult_lt_0_compat; auto. apply prod_pos. intros i _. apply Rdiv_lt_0_compat; auto.
  pose proof (item_joint_ge W HW e He i y Hy). lra.
Qed.
Lemma independent_mass_pos e : In e (evidence W) -> 0 < mass W e -> 0 < independent_mass e.
Proof.
  intros He m. destruct (posterior_dist W e HW He m) as [p0 p1].
  destruct (classic (exists y, In y (classes W) /\ 0 < joint W y e)) as [(y & Hy & j)|N].
  - apply (sum_pos _ _ y); auto using independent_pos. intros. now apply independent_nonneg.
  - exfalso. assert (mass W e = 0); [|lra]. unfold mass. rewrite <- (sum_0 (classes W)).
    apply sum_ext; intros y Hy.
    destruct (joint_nonneg W HW y e Hy He) as [j|j]; [exfalso; apply N; now exists y | easy].
Qed.
Lemma independent_total : sum (evidence W) independent_mass = 1.
Proof.
  unfold independent_mass. rewrite sum_swap. rewrite <- (proj2 (prior_distribution W HW)).
    apply sum_ext; intros y Hy.
  unfold independent_joint. rewrite sum_scal. unfold evidence, item.
  rewrite (sum_tuples_prod (outcomes W) (blank W) (items W) (fun i a => likelihood W i a y)).
  rewrite (prod_ext _ _ (fun _ => 1)), prod_const, pow1; [ring|]. intros i Hi. apply in_seq in Hi.
  unfold likelihood, Rdiv. rewrite sum_scal_r.
  replace (sum (outcomes W) (fun a => item_joint W i a y)) with (prior W y); [apply Rinv_r;
    specialize (Hpi y Hy); lra|].
  pose proof (sum_by_item W i (fun _ => 1) (joint W y) HW ltac:(lia)) as B.
  rewrite (sum_ext _ _ (joint W y)) in B by (intros; ring). unfold prior, item_joint. rewrite B.
  apply sum_ext; intros; ring.
Qed.
(* The prior-corrected product of exact factors is the posterior of that other world. *)
Lemma corrected_independent e y : In e (evidence W) -> 0 < mass W e -> In y (classes W) ->
  corrected W (prior W) (item_posterior W) e y = independent_joint y e / independent_mass e.
Proof.
  intros He m Hy.
  set (c := prod (seq 0 (items W)) (fun i => / sum (classes W) (item_joint W i (item W i e)))).
  assert (c0 : 0 < c) by (apply prod_pos; intros; apply Rinv_0_lt_compat, (item_mass_pos W HW e He m)).
  assert (E : forall z, In z (classes W) ->
    corrected_score W (prior W) (item_posterior W) e z = c * independent_joint z e).
  { intros z Hz. unfold corrected_score, independent_joint.
    rewrite (prod_ext _ _ (fun i => / sum (classes W) (item_joint W i (item W i e)) * likelihood W i (item
      W i e) z)).
    - rewrite prod_mult. unfold c. ring.
    - intros i _. unfold item_posterior, likelihood. pose proof (item_mass_pos W HW e He m i).
      pose proof (Hpi z Hz). field. lra. }
  unfold corrected. rewrite (normalize_ext _ _ _ y E Hy), normalize_scal; [easy | lra |].
  pose proof (independent_mass_pos e He m). fold (independent_mass e). lra.
Qed.
Lemma dependence_identity :
  divergence W (corrected W (prior W) (item_posterior W)) = total_correlation - evidence_divergence.
Proof.
  unfold divergence, total_correlation, evidence_divergence, KL. rewrite <- sum_minus.
    apply sum_ext; intros e He.
  destruct (mass_nonneg W HW e He) as [m|m].
  - pose proof (independent_mass_pos e He m) as q0.
    replace (mass W e * ln (mass W e / independent_mass e))
      with (sum (classes W) (fun y => joint W y e * ln (mass W e / independent_mass e)))
        by (rewrite sum_scal_r; easy).
    rewrite <- sum_minus, <- sum_scal. apply sum_ext; intros y Hy. rewrite corrected_independent by easy.
      unfold posterior.
    destruct (joint_nonneg W HW y e Hy He) as [j| <-]; [|unfold Rdiv; ring].
    pose proof (independent_pos y e Hy He j) as i0.
    assert (E : ln (joint W y e / mass W e / (independent_joint y e / independent_mass e)) =
      ln (joint W y e / independent_joint y e) - ln (mass W e / independent_mass e)).
    { unfold Rminus. rewrite <- ln_Rinv, <- ln_mult by (try apply Rinv_0_lt_compat;
      now apply Rdiv_lt_0_compat).
      f_equal. field. lra. }
    rewrite E. field. lra.
  - rewrite <- m. rewrite (sum_ext (classes W) (fun y => joint W y e * _) (fun _ => 0)), sum_0; [ring|].
    intros y Hy. pose proof (joint_nonneg W HW y e Hy He). pose proof (joint_le_mass W HW y e Hy He).
    replace (joint W y e) with 0 by lra. ring.
Qed.
Lemma evidence_divergence_nonneg : 0 <= evidence_divergence.
Proof.
  apply gibbs.
  - split; [intros; now apply mass_nonneg | now apply mass_total].
  - intros e _. apply sum_nonneg. intros. now apply independent_nonneg.
  - rewrite independent_total. lra.
  - intros e He m. now apply independent_mass_pos.
Qed.
Lemma corrected_dist e : In e (evidence W) -> 0 < mass W e ->
  distribution (classes W) (corrected W (prior W) (item_posterior W) e).
Proof.
  intros He m. pose proof (independent_mass_pos e He m) as q0.
  destruct (normalize_distribution (classes W) (fun y => independent_joint y e)) as [d0 d1]; auto.
  - intros. now apply independent_nonneg.
  - split.
    + intros y Hy. rewrite corrected_independent by easy. now apply d0.
    + rewrite <- d1. apply sum_ext; intros y Hy. now apply corrected_independent.
Qed.
Lemma corrected_covers e y : In e (evidence W) -> 0 < mass W e -> In y (classes W) -> 0 < posterior W e y ->
  0 < corrected W (prior W) (item_posterior W) e y.
Proof.
  intros He m Hy p. rewrite corrected_independent by easy.
    apply Rdiv_lt_0_compat; [|now apply independent_mass_pos].
  apply independent_pos; auto. now apply posterior_pos.
Qed.
Lemma corrected_KL_nonneg e : In e (evidence W) -> 0 < mass W e ->
  0 <= KL (classes W) (posterior W e) (corrected W (prior W) (item_posterior W) e).
Proof.
  intros He m. destruct (corrected_dist e He m) as [q0 q1].
  apply gibbs; auto using posterior_dist; [lra|]. intros. now apply corrected_covers.
Qed.
Lemma corrected_divergence_nonneg : 0 <= divergence W (corrected W (prior W) (item_posterior W)).
Proof.
  apply sum_nonneg. intros e He. destruct (mass_nonneg W HW e He) as [m| <-]; [|lra].
  apply Rmult_le_pos; [lra | now apply corrected_KL_nonneg].
Qed.
Lemma total_correlation_zero : A1 W -> total_correlation = 0.
Proof.
  intros HA. unfold total_correlation. rewrite <- (sum_0 (evidence W)). apply sum_ext; intros e He.
  rewrite <- (sum_0 (classes W)). apply sum_ext; intros y Hy. unfold independent_joint.
    rewrite <- (HA y e Hy He).
  destruct (joint_nonneg W HW y e Hy He) as [j| <-]; [|ring]. unfold Rdiv. rewrite Rinv_r, ln_1; lra.
Qed.
(* Pinsker at each evidence, then Cauchy and Schwarz over the evidence. *)
Lemma corrected_ece bin hat : picks W (corrected W (prior W) (item_posterior W)) hat ->
  ece W bin (corrected W (prior W) (item_posterior W)) hat
  <= sqrt (divergence W (corrected W (prior W) (item_posterior W)) / 2).
Proof.
  intros Hh. set (Q := corrected W (prior W) (item_posterior W)) in *.
  set (k := fun e => KL (classes W) (posterior W e) (Q e)).
  assert (k0 : forall e, In e (evidence W) -> 0 <= mass W e * (k e / 2)).
  { intros e He. destruct (mass_nonneg W HW e He) as [m| <-]; [|lra].
    pose proof (corrected_KL_nonneg e He m) as p. fold Q in p. fold (k e) in p. apply Rmult_le_pos; lra. }
  eapply Rle_trans; [apply ece_le_gap; [exact HW | intros; now apply Hh]|].
  apply Rle_trans with (sum (evidence W) (fun e => sqrt (mass W e) * sqrt (mass W e * (k e / 2)))).
  - apply sum_le; intros e He. destruct (mass_nonneg W HW e He) as [m|m].
    + replace (joint W (hat e) e - mass W e * conf Q hat e)
      with (mass W e * (posterior W e (hat e) - Q e (hat e)))
        by (unfold posterior, conf; field; lra).
      assert (kp : 0 <= k e / 2) by (pose proof (corrected_KL_nonneg e He m) as p; fold Q in p;
        fold (k e) in p; lra).
      rewrite sqrt_mult, <- Rmult_assoc, sqrt_sqrt, Rabs_mult, Rabs_pos_eq by lra.
        apply Rmult_le_compat_l; [lra|].
      pose proof (posterior_dist W e HW He m) as D1. pose proof (corrected_dist e He m) as D2. fold Q in D2.
      pose proof (entry_le_half_L1 (classes W) _ _ (hat e) D1 D2 (proj1 (Hh e He))) as L.
      eapply Rle_trans; [exact L|].
      pose proof (pinsker (classes W) _ _ D1 D2 (fun y Hy => corrected_covers e y He m Hy)) as P.
        fold (k e) in P.
      assert (l0 : 0 <= L1 (classes W) (posterior W e) (Q e)) by (apply sum_nonneg; intros; apply Rabs_pos).
      rewrite <- (sqrt_pow2 (L1 (classes W) (posterior W e) (Q e) / 2)) by lra. apply sqrt_le_1_alt. nra.
    + pose proof (joint_nonneg W HW (hat e) e (proj1 (Hh e He)) He).
      pose proof (joint_le_mass W HW (hat e) e (proj1 (Hh e He)) He). rewrite <- m in *.
      replace (joint W (hat e) e) with 0 by lra. rewrite Rmult_0_l, Rminus_0_r, Rabs_R0, sqrt_0. lra.
  - pose proof (cauchy_schwarz (evidence W) (fun e => sqrt (mass W e)) (fun e => sqrt (mass W e * (k e /
    2)))) as CS.
    cbv beta in CS.
    rewrite (sum_ext _ (fun i => sqrt (mass W i) ^ 2) (mass W)) in CS by (intros; apply pow2_sqrt;
      now apply mass_nonneg).
    rewrite (sum_ext _ (fun i => sqrt (mass W i * (k i / 2)) ^ 2) (fun e => mass W e * (k e / 2))) in CS
      by (intros; apply pow2_sqrt; auto).
    rewrite (mass_total W HW), Rmult_1_l in CS.
    replace (divergence W Q / 2) with (sum (evidence W) (fun e => mass W e * (k e / 2))).
    + set (s := sum (evidence W) (fun e => sqrt (mass W e) * sqrt (mass W e * (k e / 2)))) in *.
      assert (s0 : 0 <= s) by (apply sum_nonneg; intros; apply Rmult_le_pos; apply sqrt_pos).
      rewrite <- (sqrt_pow2 s) by easy. now apply sqrt_le_1_alt.
    + unfold divergence, Rdiv. rewrite <- sum_scal_r. apply sum_ext; intros. unfold k. ring.
Qed.
End Dependence.

(** claim: E1 | proves | caveats: reals, finite-evidence
    The mean divergence of the posterior from the prior-corrected product of exact factors is the total
    correlation of the items given the class, minus the divergence of the evidence from what independent
    items would give. *)
Theorem E1_identity : forall (Y A : Type) (W : world Y A), is_world W -> (forall y, In y (classes W) ->
  0 < prior W y) ->
  divergence W (corrected W (prior W) (item_posterior W)) = total_correlation W - evidence_divergence W.
Proof. intros. now apply dependence_identity. Qed.

(** claim: E1 | proves | caveats: reals, finite-evidence
    Hence it is at most the total correlation, and both are zero under assumption 1. *)
Theorem E1_divergence : forall (Y A : Type) (W : world Y A), is_world W -> (forall y, In y (classes W) ->
  0 < prior W y) ->
  0 <= divergence W (corrected W (prior W) (item_posterior W)) <= total_correlation W /\
  (A1 W -> total_correlation W = 0).
Proof.
  intros Y A W HW Hpi. pose proof (dependence_identity W HW Hpi).
    pose proof (evidence_divergence_nonneg W HW Hpi).
  pose proof (corrected_divergence_nonneg W HW Hpi). split; [lra | now apply total_correlation_zero].
Qed.

(** claim: E1 | proves | caveats: reals, finite-evidence
    Pinsker's inequality for finite distributions, which the next theorem rests on: the square of the L1
    distance is at most twice the divergence. *)
Theorem E1_pinsker : forall (Y : Type) (ys : list Y) (p q : Y -> R), distribution ys p -> distribution ys q ->
  (forall y, In y ys -> 0 < p y -> 0 < q y) -> L1 ys p q ^ 2 <= 2 * KL ys p q.
Proof. intros. now apply pinsker. Qed.

(** claim: E1 | proves | caveats: reals, finite-evidence, population-ece
    The expected calibration error of the prior-corrected product of exact factors, with any bins and any
    choice among ties, is at most sqrt(TC/2), TC the total correlation of the items given the class, in
    nats. *)
Theorem E1_calibration : forall (Y A : Type) (W : world Y A), is_world W -> (forall y, In y (classes W) ->
  0 < prior W y) ->
  forall bin hat, picks W (corrected W (prior W) (item_posterior W)) hat ->
  ece W bin (corrected W (prior W) (item_posterior W)) hat <= sqrt (total_correlation W / 2).
Proof.
  intros Y A W HW Hpi bin hat Hh. destruct (E1_divergence Y A W HW Hpi) as [[_ B] _].
  eapply Rle_trans; [now apply corrected_ece|]. apply sqrt_le_1_alt. lra.
Qed.
