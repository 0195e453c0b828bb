(* Lemma 2 (appendix A.2) with values in [a, b] almost surely, as the paper has it: outside an event of
   probability zero, on which the variables may take other values. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums Probability L2.
Import ListNotations.
Open Scope R_scope.

(* The nearest point of [a, b]; as a formula, to see that it is continuous. *)
Definition nearest (a b x : R) := (Rabs (x - a) - Rabs (x - b) + (a + b)) * / 2.
Lemma nearest_in a b x : a <= b -> a <= nearest a b x <= b.
Proof. intros. unfold nearest, Rabs. destruct Rcase_abs, Rcase_abs; lra. Qed.
Lemma nearest_same a b x : a <= x <= b -> nearest a b x = x.
Proof. intros. unfold nearest, Rabs. destruct Rcase_abs, Rcase_abs; lra. Qed.
Lemma nearest_continuity a b : continuity (nearest a b).
Proof.
  assert (Cc : forall c, continuity (fun _ => c)) by (intros c; apply continuity_const; now intros ? ?).
  assert (Ca : forall c, continuity (fun x => Rabs (x - c))).
  { intros c. apply (continuity_comp (fun x => x - c) Rabs); [|apply Rcontinuity_abs].
    apply (continuity_minus (fun x => x)); [apply derivable_continuous, derivable_id | apply Cc]. }
  apply (continuity_mult (fun x => Rabs (x - a) - Rabs (x - b) + (a + b))); [|apply Cc].
  apply (continuity_plus (fun x => Rabs (x - a) - Rabs (x - b))); [|apply Cc].
  apply (continuity_minus (fun x => Rabs (x - a))); apply Ca.
Qed.

Definition almost_surely_in {S : space} (a b : R) (X : outcome S -> R) := prob_lt X a = 0 /\ prob_gt X b = 0.

Lemma same_mean {S : space} (a b : R) (X : outcome S -> R) : a <= b -> rv X -> almost_surely_in a b X ->
  E (fun o => nearest a b (X o)) = E X.
Proof.
  intros ab HX [A B]. destruct (rv_bounded S X HX) as [c Hc].
  set (K := c + Rabs a + Rabs b). set (out := fun o => ind (Rlt_dec (X o) a) + ind (Rlt_dec b (X o))).
  assert (RO : rv out) by (apply rv_plus; [now apply rv_lt | now apply rv_gt]).
  assert (EO : E out = 0).
  { unfold out. rewrite (E_plus S (fun o => ind (Rlt_dec (X o) a))); [|now apply rv_lt | now apply rv_gt].
    unfold prob_lt, prob_gt in A, B. rewrite A, B. ring. }
  assert (RN : rv (fun o => nearest a b (X o))) by (apply (rv_comp S (nearest a b));
    [apply nearest_continuity | easy]).
  assert (D : forall o, - K * out o <= nearest a b (X o) - X o <= K * out o).
  { intros o. pose proof (nearest_in a b (X o) ab) as N. specialize (Hc o).
    assert (K0 : Rabs (nearest a b (X o) - X o) <= K).
    { unfold K. revert Hc. unfold Rabs. repeat destruct Rcase_abs; lra. }
    unfold out, ind. destruct (Rlt_dec (X o) a), (Rlt_dec b (X o)); try lra;
      [| | rewrite nearest_same; lra]; revert K0; unfold Rabs; destruct Rcase_abs; lra. }
  assert (E1 : E (fun o => nearest a b (X o) - X o) <= 0).
  { apply Rle_trans with (E (fun o => K * out o)); [|rewrite E_scal, EO by easy; lra].
    apply E_le; [now apply rv_minus | now apply rv_scal | apply D]. }
  assert (E2 : 0 <= E (fun o => nearest a b (X o) - X o)).
  { apply Rle_trans with (E (fun o => - K * out o)); [rewrite E_scal, EO by easy; lra|].
    apply E_le; [now apply rv_scal | now apply rv_minus | apply D]. }
  rewrite E_minus in E1, E2 by easy. lra.
Qed.

(** claim: L2 | proves | caveats: bounded-class
    Hoeffding's inequality for independent variables that lie in [a, b] with probability one. Paper: lemma 2,
    appendix A.2, with the mean of the average in the place of E[X_i]. *)
Theorem L2_almost_surely (S : space) (I : Type) (l : list I) (X : I -> outcome S -> R) (a b eps : R) :
  let n := INR (length l) in
  l <> [] -> a < b -> 0 < eps ->
  (forall i, In i l -> rv (X i)) -> (forall i, In i l -> almost_surely_in a b (X i)) -> independent l X ->
  prob_gt (fun o => Rabs (/ n * sum l (fun i => X i o) - / n * sum l (fun i => E (X i)))) eps
  <= 2 * exp (- (2 * n * eps ^ 2 / (b - a) ^ 2)).
Proof.
  intros n Hl ab e0 HX HR HI. set (Y := fun i o => nearest a b (X i o)).
  assert (RY : forall i, In i l -> rv (Y i)).
  { intros i Hi. apply (rv_comp S (nearest a b)); [apply nearest_continuity | auto]. }
  assert (EY : sum l (fun i => E (Y i)) = sum l (fun i => E (X i))).
  { apply sum_ext. intros i Hi. apply same_mean; auto; lra. }
  assert (IY : independent l Y).
  { apply (independent_comp l X (fun _ => nearest a b)); [intros; apply nearest_continuity | easy]. }
  pose proof (L2_hoeffding S I l Y a b eps Hl ab e0 RY) as H. cbv zeta in H. fold n in H. rewrite EY in H.
  specialize (H ltac:(intros; apply nearest_in; lra) IY). eapply Rle_trans; [|exact H].
  set (m := / n * sum l (fun i => E (X i))). set (out :=
    fun i o => ind (Rlt_dec (X i o) a) + ind (Rlt_dec b (X i o))).
  assert (RO : forall i, In i l -> rv (out i)) by (intros i Hi; apply rv_plus; [apply rv_lt | apply rv_gt];
    auto).
  assert (EO : E (fun o => sum l (fun i => out i o)) = 0).
  { rewrite (E_sum l out) by easy. rewrite (sum_ext _ _ (fun _ => 0)); [apply sum_0|]. intros i Hi.
    destruct (HR i Hi) as [A B]. unfold out.
    rewrite (E_plus S (fun o => ind (Rlt_dec (X i o) a))); [|apply rv_lt; auto | apply rv_gt; auto].
    unfold prob_lt, prob_gt in A, B. rewrite A, B. ring. }
  assert (RD : forall Z : I -> outcome S -> R, (forall i, In i l -> rv (Z i)) ->
    rv (fun o => ind (Rlt_dec eps (Rabs (/ n * sum l (fun i => Z i o) - m))))).
  { intros Z HZ. apply (rv_gt (fun o => Rabs (/ n * sum l (fun i => Z i o) - m))).
    apply rv_abs, rv_minus; [apply rv_scal; now apply rv_sum | apply rv_const]. }
  unfold prob_gt. rewrite <- (Rplus_0_r (E (fun o => ind (Rlt_dec eps (Rabs (/ n * sum l (fun i =>
    Y i o) - m)))))).
  rewrite <- EO, <- E_plus; [|now apply RD | now apply rv_sum].
  apply E_le; [now apply RD | apply rv_plus; [now apply RD | now apply rv_sum] |].
  intros o. assert (O0 : forall i, 0 <= out i o).
  { intros i. unfold out. pose proof (ind_01 (Rlt_dec (X i o) a)). pose proof (ind_01 (Rlt_dec b (X i o))).
      lra. }
  assert (CASE : (forall i, In i l -> a <= X i o <= b) \/ 1 <= sum l (fun i => out i o)).
  { clear - O0. induction l as [|i t IH]; [now left|]. cbn [sum].
    assert (0 <= sum t (fun i => out i o)) by (apply sum_nonneg; intros; apply O0).
    destruct IH as [IH|IH]; [|right; specialize (O0 i); lra]. unfold out at 1, ind.
    destruct (Rlt_dec (X i o) a); [right; destruct Rlt_dec; lra|].
    destruct (Rlt_dec b (X i o)); [right; lra|]. left. intros j [<-|Hj]; [lra | auto]. }
  destruct CASE as [C|C].
  - rewrite (sum_ext l (fun i => Y i o) (fun i => X i o)) by (intros i Hi; apply nearest_same; auto).
    assert (0 <= sum l (fun i => out i o)) by (apply sum_nonneg; intros; apply O0). lra.
  - pose proof (ind_01 (Rlt_dec eps (Rabs (/ n * sum l (fun i => X i o) - m)))).
    pose proof (ind_01 (Rlt_dec eps (Rabs (/ n * sum l (fun i => Y i o) - m)))). lra.
Qed.
