(* Lemma 6 of the paper (appendix A.6): for losses that are L-Lipschitz in the parameters, and an L2 penalty
   with factor lambda, removing one of N examples moves what gradient descent learns by at most 2L/(lambda N).
   The sketch of its proof uses strong convexity; the statement, which is about a neural network, does not
   assume convexity.

   Without convexity it is false, already for one parameter.
   1. For the global minimizer: with two valleys, one example decides which is the deeper. The minimizer,
      unique before and after, moves by 2 for every N >= 3, so no constant in place of 2 helps.
   2. For gradient descent itself with the constant 2: losses 1/2 min(|w - 3/2|, |w + 3/2|), |w + 3/2|, |w -
      2| and lambda = 1/2. From every start in (0, 3/2), with every step of at most 1/10, training on all
      three ends near 1/3, without the last near -3/2; the distance exceeds 4/3. For convex losses the lemma
      holds; that is another file. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.

Definition lipschitz (L : R) (f : R -> R) : Prop := forall x y, Rabs (f x - f y) <= L * Rabs (x - y).
(* Mean loss plus penalty. *)
Definition objective (losses : list (R -> R)) (lambda w : R) : R :=
  sum losses (fun f => f w) / INR (length losses) + lambda / 2 * w ^ 2.
(* The one and only global minimizer. *)
Definition minimizes (F : R -> R) (w : R) : Prop := forall v, v <> w -> F w < F v.

(* The claim for the minimizer, with a constant C (the paper's is 2); the example removed is the last. *)
Definition lemma_6 (C : R) : Prop :=
  forall (losses : list (R -> R)) (last : R -> R) (L lambda w w' : R),
    losses <> [] -> 0 < lambda -> (forall f, In f (losses ++ [last]) -> lipschitz L f) ->
    minimizes (objective (losses ++ [last]) lambda) w -> minimizes (objective losses lambda) w' ->
    Rabs (w - w') <= C * L / (lambda * INR (length (losses ++ [last]))).

(* Gradient descent with a constant step. The gradient is the derivative but for finitely many points, the
   kinks, and lies there between values that it has nearby (a subgradient). *)
Fixpoint descent (g : R -> R) (step start : R) (k : nat) : R :=
  match k with O => start | S j => let w := descent g step start j in w - step * g w end.
Definition gradient (F g : R -> R) : Prop :=
  exists kinks : list R, (forall w, ~ In w kinks -> derivable_pt_lim F w (g w)) /\
    forall w r, In w kinks -> 0 < r -> exists u v,
      0 < Rabs (u - w) < r /\ 0 < Rabs (v - w) < r /\ g u - r <= g w <= g v + r.

(* The claim for gradient descent: with small enough steps, at some time at least, the two are close. *)
Definition lemma_6_descent (C : R) : Prop :=
  forall (losses : list (R -> R)) (last : R -> R) (L lambda start : R) (g g' : R -> R),
    losses <> [] -> 0 < lambda -> (forall f, In f (losses ++ [last]) -> lipschitz L f) ->
    gradient (objective (losses ++ [last]) lambda) g -> gradient (objective losses lambda) g' ->
    exists step0, 0 < step0 /\ forall step, 0 < step <= step0 -> forall K, exists k, (K <= k)%nat /\
      Rabs (descent g step start k - descent g' step start k) <= C * L /
        (lambda * INR (length (losses ++ [last]))).

(** * Lipschitz losses *)

Lemma lipschitz_abs c : lipschitz 1 (fun w => Rabs (w - c)).
Proof. intros x y. unfold Rabs. repeat destruct (Rcase_abs _); lra. Qed.
Lemma lipschitz_scale s f : 0 <= s <= 1 -> lipschitz 1 f -> lipschitz 1 (fun w => s * f w).
Proof.
  intros Hs H x y. specialize (H x y). rewrite <- Rmult_minus_distr_l, Rabs_mult, (Rabs_pos_eq s) by lra.
  pose proof (Rabs_pos (f x - f y)). nra.
Qed.
Lemma lipschitz_min f h : lipschitz 1 f -> lipschitz 1 h -> lipschitz 1 (fun w => Rmin (f w) (h w)).
Proof.
  intros F H x y. specialize (F x y). specialize (H x y). unfold Rmin.
  destruct (Rle_dec (f x) (h x)), (Rle_dec (f y) (h y)); unfold Rabs in *; repeat destruct (Rcase_abs _); lra.
Qed.

Lemma large (x : R) : exists n : nat, x < INR n.
Proof.
  destruct (archimed_cor1 (/ (Rabs x + 1))) as [n [Hn n0]].
  { apply Rinv_0_lt_compat. pose proof (Rabs_pos x). lra. }
  apply lt_0_INR in n0. exists n. pose proof (Rle_abs x). pose proof (Rabs_pos x).
  apply Rnot_le_lt; intros G. assert (/ (Rabs x + 1) <= / INR n) by (apply Rinv_le_contravar; lra). lra.
Qed.

(** * The minimizer *)

Definition valleys (w : R) : R := Rmin (Rabs (w - 1)) (Rabs (w - -1)).
Definition left_pull (w : R) : R := / 2 * Rabs (w - -1).
Definition right_pull (w : R) : R := Rabs (w - 1).

Lemma sum_repeat (f : R -> R) n w : sum (repeat f n) (fun h => h w) = INR n * f w.
Proof. induction n; [simpl; ring|]. cbn [repeat sum]. rewrite IHn, S_INR. ring. Qed.
Lemma sum_app {A} (l m : list A) f : sum (l ++ m) f = sum l f + sum m f.
Proof. induction l; simpl; lra. Qed.

Ltac cases := unfold valleys, left_pull, right_pull, Rmin, Rabs; repeat destruct (Rle_dec _ _);
  repeat destruct (Rcase_abs _).

Lemma valleys_pos w : 0 <= valleys w + w ^ 2 / 4 - / 4.
Proof. cases; nra. Qed.
Lemma deep_right w : w <> 1 ->
  0 < (valleys w + w ^ 2 / 4 - / 4) + (left_pull w + right_pull w + w ^ 2 / 2 - 3 / 2).
Proof.
  intros H. assert (0 < (w - 1) ^ 2) by (assert (w - 1 <> 0) by lra; pose proof (Rsqr_pos_lt (w - 1) H0);
    unfold Rsqr in *; lra).
  cases; nra.
Qed.
Lemma deep_left w : w <> -1 -> 0 < (valleys w + w ^ 2 / 4 - / 4) + (left_pull w + w ^ 2 / 4 - / 4).
Proof.
  intros H. assert (0 < (w + 1) ^ 2) by (assert (w + 1 <> 0) by lra; pose proof (Rsqr_pos_lt (w + 1) H0);
    unfold Rsqr in *; lra).
  cases; nra.
Qed.

Section Jump.
Variable n : nat.
Let losses := repeat valleys (S n) ++ [left_pull].

Lemma length_losses : INR (length losses) = INR n + 2.
Proof. unfold losses. rewrite app_length, repeat_length, plus_INR, S_INR. simpl. lra. Qed.
Lemma length_all : INR (length (losses ++ [right_pull])) = INR n + 3.
Proof. rewrite app_length, plus_INR, length_losses. simpl. lra. Qed.

Lemma objective_less w : objective losses (1 / 2) w - objective losses (1 / 2) (-1) =
  / (INR n + 2) * ((INR n + 1) * (valleys w + w ^ 2 / 4 - / 4) + (left_pull w + w ^ 2 / 4 - / 4)).
Proof.
  unfold objective. rewrite length_losses. unfold losses. rewrite !sum_app, !sum_repeat, S_INR. simpl sum.
  pose proof (pos_INR n).
  assert (V : valleys (-1) = 0) by (cases; lra). assert (W : left_pull (-1) = 0) by (cases; lra).
  rewrite V, W. field. lra.
Qed.
Lemma objective_all w : objective (losses ++ [right_pull]) (1 / 2) w - objective (losses ++ [right_pull])
  (1 / 2) 1 =
  / (INR n + 3) * ((INR n + 1) * (valleys w + w ^ 2 / 4 - / 4) +
    (left_pull w + right_pull w + w ^ 2 / 2 - 3 / 2)).
Proof.
  unfold objective. rewrite length_all. unfold losses. rewrite !sum_app, !sum_repeat, S_INR. simpl sum.
  pose proof (pos_INR n). assert (V : valleys 1 = 0) by (cases; lra). assert (W : left_pull 1 = 1) by
    (cases; lra).
  assert (U : right_pull 1 = 0) by (cases; lra). rewrite V, W, U. field. lra.
Qed.

Lemma minimizer_less : minimizes (objective losses (1 / 2)) (-1).
Proof.
  intros w H. apply Rminus_gt_0_lt. rewrite objective_less. pose proof (pos_INR n).
  pose proof (valleys_pos w). pose proof (deep_left w H). apply Rmult_lt_0_compat;
    [apply Rinv_0_lt_compat; lra|]. nra.
Qed.
Lemma minimizer_all : minimizes (objective (losses ++ [right_pull]) (1 / 2)) 1.
Proof.
  intros w H. apply Rminus_gt_0_lt. rewrite objective_all. pose proof (pos_INR n).
  pose proof (valleys_pos w). pose proof (deep_right w H). apply Rmult_lt_0_compat;
    [apply Rinv_0_lt_compat; lra|]. nra.
Qed.
Lemma losses_lipschitz f : In f (losses ++ [right_pull]) -> lipschitz 1 f.
Proof.
  unfold losses. rewrite !in_app_iff. intros [[H|[<-|[]]]|[<-|[]]].
  - apply repeat_spec in H. subst. apply lipschitz_min; apply lipschitz_abs.
  - apply lipschitz_scale; [lra | apply lipschitz_abs].
  - apply lipschitz_abs.
Qed.
End Jump.

(** claim: L6 | refutes | caveats: reals, minimizer, parameters
    Without convexity one example can move the minimizer by 2, from -1 to 1, however many examples there are,
    while the claim allows C L/(lambda N): false for every constant C, in particular for 2. Both minimizers
    are unique, all losses are 1-Lipschitz, lambda = 1/2. Paper: lemma 6, appendix A.6. *)
Theorem L6_refuted : forall C, ~ lemma_6 C.
Proof.
  intros C H. destruct (large (Rabs C)) as [n Hn]. pose proof (Rle_abs C) as C1.
  pose proof (pos_INR n) as n0.
  specialize (H (repeat valleys (S n) ++ [left_pull]) right_pull 1 (1 / 2) 1 (-1)).
  assert (B : Rabs (1 - -1) <= C * 1 / (1 / 2 * (INR n + 3))).
  { rewrite <- length_all. apply H; [simpl; easy | lra | apply losses_lipschitz | apply minimizer_all | apply
      minimizer_less]. }
  rewrite Rabs_pos_eq in B by lra.
  apply (Rmult_le_compat_r (1 / 2 * (INR n + 3))) in B; [|lra]. unfold Rdiv at 2 in B.
  rewrite (Rmult_assoc (C * 1)), Rinv_l in B by lra. lra.
Qed.

(** * Gradient descent *)

Definition loss_1 (w : R) : R := / 2 * Rmin (Rabs (w - 3 / 2)) (Rabs (w - - (3 / 2))).
Definition loss_2 (w : R) : R := Rabs (w - - (3 / 2)).
Definition loss_3 (w : R) : R := Rabs (w - 2).
Definition sign (x : R) : R := if Rlt_dec x 0 then -1 else if Rlt_dec 0 x then 1 else 0.
Definition slope_1 (w : R) : R :=
  if Rlt_dec w 0 then / 2 * sign (w + 3 / 2) else if Rlt_dec 0 w then / 2 * sign (w - 3 / 2) else 0.
Definition grad_less (w : R) : R := (slope_1 w + sign (w + 3 / 2)) / 2 + w / 2.
Definition grad_all (w : R) : R := (slope_1 w + sign (w + 3 / 2) + sign (w - 2)) / 3 + w / 2.

(* Where F is a quadratic on an open interval, its derivative is that of the quadratic. *)
Lemma derivative_on (F : R -> R) a b p s w : a < w < b -> (forall v, a < v < b -> F v = p + s * v + v ^ 2 / 4)
  ->
  derivable_pt_lim F w (s + w / 2).
Proof.
  intros [wa wb] E eps e0. set (r := Rmin (Rmin (w - a) (b - w)) eps).
  assert (r0 : 0 < r) by (repeat apply Rmin_glb_lt; lra). exists (mkposreal r r0). intros h h0 Hh.
    simpl in Hh.
  assert (r1 : r <= w - a /\ r <= b - w /\ r <= eps).
  { unfold r. pose proof (Rmin_l (Rmin (w - a) (b - w)) eps). pose proof (Rmin_r (Rmin (w - a) (b - w)) eps).
    pose proof (Rmin_l (w - a) (b - w)). pose proof (Rmin_r (w - a) (b - w)). lra. }
  assert (Hb : - r < h < r) by (unfold Rabs in Hh; destruct (Rcase_abs h); lra).
  rewrite !E by lra. replace ((p + s * (w + h) + (w + h) ^ 2 / 4 - (p + s * w + w ^ 2 / 4)) / h - (s + w / 2))
    with (h / 4) by (field; easy).
  unfold Rabs; destruct (Rcase_abs (h / 4)); lra.
Qed.

Ltac quadratic := intros v Hv; unfold objective, loss_1, loss_2, loss_3; simpl; unfold Rmin, Rabs;
  repeat destruct (Rle_dec _ _); repeat destruct (Rcase_abs _); lra.
Ltac signs := unfold grad_less, grad_all, slope_1, sign;
  repeat (destruct (Rlt_dec _ _); try (exfalso; lra)); lra.

(* At a kink w the slope is between those at u and v, small steps s to the two sides. *)
Ltac kink g u w v gu gw gv :=
  exists u, v; assert (E : g u = gu) by signs; assert (F : g w = gw) by signs; assert (G : g v = gv) by signs;
  rewrite E, F, G; clear E F G; repeat split; try lra; unfold Rabs; destruct (Rcase_abs _); lra.
Lemma small r : 0 < r -> 0 < Rmin r (/ 4) / 2 < r /\ Rmin r (/ 4) / 2 <= / 8.
Proof. intros r0. unfold Rmin. destruct (Rle_dec r (/ 4)); lra. Qed.

Lemma gradient_less : gradient (objective [loss_1; loss_2] (1 / 2)) grad_less.
Proof.
  exists [- (3 / 2); 0; 3 / 2]. split.
  2: { intros w r Hw r0. pose proof (small r r0) as S. set (s := Rmin r (/ 4) / 2) in *. clearbody s.
       destruct Hw as [<-|[<-|[<-|[]]]].
       - kink grad_less (- (3 / 2) - s) (- (3 / 2)) (- (3 / 2) + s)
           (- 3 / 4 + (- (3 / 2) - s) / 2) (- 3 / 4) (3 / 4 + (- (3 / 2) + s) / 2).
       - kink grad_less (0 + s) 0 (0 - s) (/ 4 + s / 2) (/ 2) (3 / 4 - s / 2).
       - kink grad_less (3 / 2 - s) (3 / 2) (3 / 2 + s)
           (/ 4 + (3 / 2 - s) / 2) (/ 2 + 3 / 4) (3 / 4 + (3 / 2 + s) / 2). }
  intros w Hw. simpl in Hw.
  assert (C : w < - (3 / 2) \/ - (3 / 2) < w < 0 \/ 0 < w < 3 / 2 \/ 3 / 2 < w) by lra.
  destruct C as [C|[C|[C|C]]].
  - replace (grad_less w) with (- 3 / 4 + w / 2) by signs. apply derivative_on with (w - 1) (- (3 / 2))
      (- 9 / 8); [lra | quadratic].
  - replace (grad_less w) with (3 / 4 + w / 2) by signs. apply derivative_on with (- (3 / 2)) 0 (9 / 8);
      [lra | quadratic].
  - replace (grad_less w) with (/ 4 + w / 2) by signs. apply derivative_on with 0 (3 / 2) (9 / 8);
      [lra | quadratic].
  - replace (grad_less w) with (3 / 4 + w / 2) by signs. apply derivative_on with (3 / 2) (w + 1) (3 / 8);
      [lra | quadratic].
Qed.
Lemma gradient_all : gradient (objective [loss_1; loss_2; loss_3] (1 / 2)) grad_all.
Proof.
  exists [- (3 / 2); 0; 3 / 2; 2]. split.
  2: { intros w r Hw r0. pose proof (small r r0) as S. set (s := Rmin r (/ 4) / 2) in *. clearbody s.
       destruct Hw as [<-|[<-|[<-|[<-|[]]]]].
       - kink grad_all (- (3 / 2) - s) (- (3 / 2)) (- (3 / 2) + s)
           (- 5 / 6 + (- (3 / 2) - s) / 2) (- / 3 - 3 / 4) (/ 6 + (- (3 / 2) + s) / 2).
       - kink grad_all (0 + s) 0 (0 - s) (- / 6 + s / 2) 0 (/ 6 - s / 2).
       - kink grad_all (3 / 2 - s) (3 / 2) (3 / 2 + s)
           (- / 6 + (3 / 2 - s) / 2) (3 / 4) (/ 6 + (3 / 2 + s) / 2).
       - kink grad_all (2 - s) 2 (2 + s) (/ 6 + (2 - s) / 2) (/ 2 + 1) (5 / 6 + (2 + s) / 2). }
  intros w Hw. simpl in Hw.
  assert (C : w < - (3 / 2) \/ - (3 / 2) < w < 0 \/ 0 < w < 3 / 2 \/ 3 / 2 < w < 2 \/ 2 < w) by lra.
  destruct C as [C|[C|[C|[C|C]]]].
  - replace (grad_all w) with (- 5 / 6 + w / 2) by signs. apply derivative_on with (w - 1) (- (3 / 2))
      (- / 12); [lra | quadratic].
  - replace (grad_all w) with (/ 6 + w / 2) by signs. apply derivative_on with (- (3 / 2)) 0 (17 / 12);
      [lra | quadratic].
  - replace (grad_all w) with (- / 6 + w / 2) by signs. apply derivative_on with 0 (3 / 2) (17 / 12);
      [lra | quadratic].
  - replace (grad_all w) with (/ 6 + w / 2) by signs. apply derivative_on with (3 / 2) 2 (11 / 12);
      [lra | quadratic].
  - replace (grad_all w) with (5 / 6 + w / 2) by signs. apply derivative_on with 2 (w + 1) (- 5 / 12);
      [lra | quadratic].
Qed.

Section Descent.
Variables (start step : R).
Hypothesis (Hs : 0 < start < 3 / 2) (Hstep : 0 < step <= / 10).

(* With all three: the distance to 1/3 shrinks by the factor 1 - step/2. *)
Lemma descent_all k : descent grad_all step start k - / 3 = (1 - step / 2) ^ k * (start - / 3) /\
  0 < descent grad_all step start k < 3 / 2.
Proof.
  induction k as [|k [IH B]]; [simpl; lra|]. cbn [descent]. set (w := descent grad_all step start k) in *.
  replace (grad_all w) with (- / 6 + w / 2) by signs. cbn [pow]. split; [|nra].
  replace ((1 - step / 2) * (1 - step / 2) ^ k * (start - / 3)) with ((1 - step / 2) * (w - / 3)) by
    (rewrite IH; ring).
  field.
Qed.
Lemma descent_all_end : exists K, forall k, (K <= k)%nat -> / 3 - / 10 < descent grad_all step start k.
Proof.
  destruct (pow_lt_1_zero (1 - step / 2)) with (y := / 20) as [K HK]; [rewrite Rabs_pos_eq; lra | lra|].
  exists K. intros k Hk. destruct (descent_all k) as [E _]. specialize (HK k Hk).
  set (x := (1 - step / 2) ^ k) in *. unfold Rabs in HK. destruct (Rcase_abs x); nra.
Qed.

(* Without the last: it goes left until -6/5 is passed, and never comes back. *)
Lemma less_stays w : w <= - (6 / 5) -> w - step * grad_less w <= - (6 / 5).
Proof. intros H. unfold grad_less, slope_1, sign. repeat destruct (Rlt_dec _ _); nra. Qed.
Lemma less_moves w : - (6 / 5) < w < 3 / 2 -> w - step * grad_less w <= w - step * (15 / 100).
Proof. intros H. unfold grad_less, slope_1, sign. repeat destruct (Rlt_dec _ _); nra. Qed.
Lemma descent_less k : descent grad_less step start k <= - (6 / 5) \/
  (- (6 / 5) < descent grad_less step start k /\ descent grad_less step start k <= start - INR k *
    (step * (15 / 100))).
Proof.
  induction k as [|k IH]; [right; simpl; lra|]. cbn [descent]. set (w := descent grad_less step start k) in *.
  destruct IH as [IH|[IH1 IH2]]; [left; now apply less_stays|].
  pose proof (pos_INR k). assert (0 <= INR k * (step * (15 / 100))) by (apply Rmult_le_pos; lra).
  pose proof (less_moves w ltac:(lra)). rewrite S_INR.
  destruct (Rle_lt_dec (w - step * grad_less w) (- (6 / 5))); [now left | right; split; [easy | lra]].
Qed.
Lemma descent_less_end : exists K, forall k, (K <= k)%nat -> descent grad_less step start k <= - (6 / 5).
Proof.
  destruct (large (27 / 10 / (step * (15 / 100)))) as [K HK]. exists K. intros k Hk.
  destruct (descent_less k) as [|[H1 H2]]; [easy|]. exfalso. apply le_INR in Hk.
  assert (c : 0 < step * (15 / 100)) by lra. set (x := step * (15 / 100)) in *.
  assert (27 / 10 < INR K * x).
  { apply (Rmult_lt_compat_r x) in HK; [|easy]. unfold Rdiv in HK. rewrite Rmult_assoc, Rinv_l in HK by lra.
      lra. }
  assert (INR K * x <= INR k * x) by (apply Rmult_le_compat_r; lra). lra.
Qed.
End Descent.

(** claim: L6 | refutes | caveats: reals, half-penalty, kinks, parameters
    For gradient descent itself, and the constant 2: three 1-Lipschitz losses of one parameter, lambda = 1/2.
    From any start between 0 and 3/2, with any constant step of at most 1/10, the parameter learned on all
    three and the one learned without the last differ, from some iteration on, by more than 4/3 = 2L/(lambda
    N). Paper: lemma 6, appendix A.6. *)
Theorem L6_descent_refuted :
  (forall f, In f [loss_1; loss_2; loss_3] -> lipschitz 1 f) /\
  gradient (objective [loss_1; loss_2; loss_3] (1 / 2)) grad_all /\
  gradient (objective [loss_1; loss_2] (1 / 2)) grad_less /\
  (forall start step, 0 < start < 3 / 2 -> 0 < step <= 1 / 10 -> exists K, forall k, (K <= k)%nat ->
     2 * 1 / (1 / 2 * 3) < Rabs (descent grad_all step start k - descent grad_less step start k)) /\
  ~ lemma_6_descent 2.
Proof.
  assert (A : forall f, In f [loss_1; loss_2; loss_3] -> lipschitz 1 f).
  { intros f [<-|[<-|[<-|[]]]]; [|apply lipschitz_abs | apply lipschitz_abs].
    apply lipschitz_scale; [lra|]. apply lipschitz_min; apply lipschitz_abs. }
  match goal with |- _ /\ _ /\ _ /\ ?distance /\ _ => assert (B : distance) end.
  { intros start step Hs Hstep.
    destruct (descent_all_end start step Hs ltac:(lra)) as [K1 H1].
    destruct (descent_less_end start step Hs ltac:(lra)) as [K2 H2].
    exists (Nat.max K1 K2). intros k Hk. specialize (H1 k ltac:(lia)). specialize (H2 k ltac:(lia)).
    rewrite Rabs_pos_eq; lra. }
  split; [exact A|]. split; [exact gradient_all|]. split; [exact gradient_less|]. split; [exact B|].
  intros H. destruct (H [loss_1; loss_2] loss_3 1 (1 / 2) 1 grad_all grad_less) as [step0 [s0 Hs]];
    [easy | lra | exact A | exact gradient_all | exact gradient_less|].
  set (step := Rmin step0 (1 / 10)). assert (P : 0 < step) by (apply Rmin_glb_lt; lra).
  destruct (B 1 step) as [K HK]; [lra | split; [easy | apply Rmin_r]|].
  destruct (Hs step ltac:(split; [easy | apply Rmin_l]) K) as [k [Hk G]]. specialize (HK k Hk). simpl in G.
    lra.
Qed.
