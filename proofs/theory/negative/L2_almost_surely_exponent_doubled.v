(* False: 4 in the place of 2; one fair coin is surely 1/2 from its mean, but at eps = 0.49 the bound would be
   0.77. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums Probability L2 L2_almost_surely.
Import ListNotations.
Open Scope R_scope.

Theorem L2_almost_surely_exponent_doubled (S : space) (I : Type) (l : list I) (X : I -> outcome S ->
  R) (a b eps : R) :
  let n := INR (length l) in
  l <> [] -> a < b -> 0 < eps ->
  (forall i, In i l -> rv (X i)) -> (forall i, In i l -> almost_surely_in a b (X i)) -> independent l X ->
  prob_gt (fun o => Rabs (/ n * sum l (fun i => X i o) - / n * sum l (fun i => E (X i)))) eps
  <= 2 * exp (- (4 * n * eps ^ 2 / (b - a) ^ 2)).
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
