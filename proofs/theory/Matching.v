(* The sample variance as an average over disjoint pairs: a step of Maurer and Pontil's proof, used by T2'.
   U(l) is the mean of T(i, j) over all ordered pairs of different members of the list l. Drawing one pair of
   l after the other without replacement, and averaging over all ways to do so, leaves the mean of T over the
   drawn pairs equal to U(l); the exponential of an average is at most the average of exponentials. *)
Require Import Reals List Lra Psatz Lia Permutation.
From LPF Require Import Sums Probability L2.
Import ListNotations.
Open Scope R_scope.

Lemma sum_perm {A} (l k : list A) f : Permutation l k -> sum l f = sum k f.
Proof. induction 1; simpl; lra. Qed.
Lemma prod_perm {A} (l k : list A) f : Permutation l k -> prod l f = prod k f.
Proof. induction 1; simpl; nra. Qed.
Lemma prod_app {A} (l k : list A) f : prod (l ++ k) f = prod l f * prod k f.
Proof. induction l; simpl; [ring | rewrite IHl; ring]. Qed.

(* All ways to pick one member, with the rest. *)
Fixpoint picks {A} (l : list A) : list (A * list A) :=
  match l with [] => [] | x :: t => (x, t) :: map (fun p => (fst p, x :: snd p)) (picks t) end.
Lemma picks_perm {A} (l : list A) p : In p (picks l) -> Permutation l (fst p :: snd p).
Proof.
  revert p. induction l as [|x t IH]; [easy|]. intros p [<-|H]; [apply Permutation_refl|].
  apply in_map_iff in H as [q [<- Hq]]. simpl. eapply perm_trans; [apply perm_skip, IH, Hq | apply perm_swap].
Qed.
Lemma picks_length {A} (l : list A) : length (picks l) = length l.
Proof. induction l; simpl; [easy|]. rewrite map_length. now f_equal. Qed.
Lemma picks_fst {A} (l : list A) g : sum (picks l) (fun p => g (fst p)) = sum l g.
Proof. induction l; simpl; [easy|]. rewrite sum_map. simpl. now rewrite IHl. Qed.
Lemma picks_rest {A} (l : list A) p : In p (picks l) -> INR (length (snd p)) = INR (length l) - 1.
Proof. intros H. rewrite (Permutation_length (picks_perm l p H)). cbn [length]. rewrite S_INR. lra. Qed.

(* All ways to pick an ordered pair, with the rest. *)
Definition duo {A} (l : list A) : list (A * A * list A) :=
  flat_map (fun p => map (fun q => (fst p, fst q, snd q)) (picks (snd p))) (picks l).
Lemma sum_duo {A} (l : list A) (f : A * A * list A -> R) :
  sum (duo l) f = sum (picks l) (fun p => sum (picks (snd p)) (fun q => f (fst p, fst q, snd q))).
Proof. unfold duo. rewrite sum_flat_map. apply sum_ext; intros. now rewrite sum_map. Qed.
Lemma duo_perm {A} (l : list A) t : In t (duo l) -> Permutation l (fst (fst t) :: snd (fst t) :: snd t).
Proof.
  intros H. apply in_flat_map in H as [p [Hp H]]. apply in_map_iff in H as [q [<- Hq]]. simpl.
  eapply perm_trans; [apply picks_perm, Hp | apply perm_skip, picks_perm, Hq].
Qed.
Lemma duo_length {A} (l : list A) : INR (length (duo l)) = INR (length l) * (INR (length l) - 1).
Proof.
  rewrite <- (Rmult_1_r (INR (length (duo l)))), <- sum_const, sum_duo.
  rewrite (sum_ext _ _ (fun _ => INR (length l) - 1)).
  - now rewrite sum_const, picks_length.
  - intros p Hp. rewrite sum_const, picks_length, (picks_rest l) by easy. ring.
Qed.

Section Pairs.
Context {A : Type} (T : A -> A -> R).
Hypothesis (T0 : forall i, T i i = 0) (TS : forall i j, T i j = T j i).
Definition double (l : list A) := sum l (fun i => sum l (fun j => T i j)).
Definition pair_mean (l : list A) := double l / (INR (length l) * (INR (length l) - 1)).

Lemma double_perm l k : Permutation l k -> double l = double k.
Proof.
  intros H. unfold double. rewrite (sum_perm l k) by easy. apply sum_ext; intros. now apply sum_perm.
Qed.
Lemma row_rest l p : In p (picks l) -> sum (snd p) (fun j => T (fst p) j) = sum l (fun j => T (fst p) j).
Proof. intros H. rewrite (sum_perm _ _ _ (picks_perm l p H)). cbn [sum]. rewrite T0. ring. Qed.
Lemma double_rest l p : In p (picks l) -> double (snd p) = double l - 2 * sum l (fun j => T (fst p) j).
Proof.
  intros H. rewrite <- (row_rest l p H), (double_perm _ _ (picks_perm l p H)). unfold double. cbn [sum].
  rewrite T0, sum_plus, (sum_ext (snd p) (fun i => T i (fst p)) (fun i => T (fst p) i)) by (intros; apply TS).
    ring.
Qed.
Lemma double_rests l : sum (picks l) (fun p => double (snd p)) = (INR (length l) - 2) * double l.
Proof.
  rewrite (sum_ext _ _ (fun p => double l - (fun x => 2 * sum l (fun j => T x j)) (fst p)))
    by (intros; now apply double_rest).
  rewrite sum_minus, sum_const, picks_length, (picks_fst l (fun x => 2 * sum l (fun j => T x j))), sum_scal.
  unfold double. ring.
Qed.
Lemma duo_pairs l : sum (duo l) (fun t => T (fst (fst t)) (snd (fst t))) = double l.
Proof.
  rewrite sum_duo. simpl. rewrite (sum_ext _ _ (fun p => sum l (fun j => T (fst p) j))).
  - now rewrite (picks_fst l (fun x => sum l (fun j => T x j))).
  - intros p Hp. rewrite (picks_fst (snd p) (fun y => T (fst p) y)). now apply row_rest.
Qed.
Lemma duo_rests l :
  sum (duo l) (fun t => double (snd t)) = (INR (length l) - 3) * (INR (length l) - 2) * double l.
Proof.
  rewrite sum_duo. simpl. rewrite (sum_ext _ _ (fun p => (INR (length l) - 3) * double (snd p))).
  - rewrite sum_scal, double_rests. ring.
  - intros p Hp. rewrite double_rests, (picks_rest l) by easy. ring.
Qed.

(* The mean over all pairs is the average, over the pair drawn first, of that pair and the mean over the rest.
   *)
Lemma pair_mean_step l k : (2 + 2 * k <= length l)%nat ->
  (INR k + 1) * pair_mean l =
  / INR (length (duo l)) * sum (duo l) (fun t => T (fst (fst t)) (snd (fst t)) + INR k * pair_mean (snd t)).
Proof.
  intros H. rewrite duo_length. assert (n2 : 2 <= INR (length l)) by (apply (le_INR 2); lia).
  set (n := INR (length l)) in *.
  rewrite sum_plus, sum_scal, duo_pairs. unfold pair_mean at 1. fold n.
  destruct k as [|k]; [simpl; field; lra|].
  assert (n4 : 4 <= n) by (unfold n; replace 4 with (INR 4) by (simpl; ring); apply le_INR; lia).
  rewrite (sum_ext _ (fun t => pair_mean (snd t)) (fun t => double (snd t) * / ((n - 2) * (n - 3)))).
  - rewrite sum_scal_r, duo_rests. fold n. field. lra.
  - intros t Ht. unfold pair_mean, Rdiv. f_equal. f_equal.
    pose proof (Permutation_length (duo_perm l t Ht)) as L. cbn [length] in L.
    assert (N : n = INR (length (snd t)) + 2) by (unfold n; rewrite L, !S_INR; ring).
    rewrite N. ring.
Qed.

(* The exponential of an average is at most the average of the exponentials. *)
Lemma exp_average {B} (l : list B) f : l <> [] ->
  exp (/ INR (length l) * sum l f) <= / INR (length l) * sum l (fun x => exp (f x)).
Proof.
  intros H. set (N := INR (length l)). assert (N0 : 0 < N).
  { unfold N. apply lt_0_INR. destruct l; [easy | simpl; lia]. }
  set (m := / N * sum l f). apply Rmult_le_reg_l with N; [easy|].
  rewrite <- Rmult_assoc, Rinv_r, Rmult_1_l by lra.
  apply Rle_trans with (sum l (fun x => exp m * (1 + (f x - m)))); [|apply sum_le; intros; apply exp_tangent].
  rewrite sum_scal, sum_plus, sum_minus, !sum_const. fold N.
  replace (sum l f) with (N * m) by (unfold m; field; lra). right. ring.
Qed.

(* The average, over all ways to draw k disjoint pairs, of the product of q over the pairs. *)
Fixpoint drawn (q : A -> A -> R) (k : nat) (l : list A) : R :=
  match k with
  | O => 1
  | S k => / INR (length (duo l)) * sum (duo l) (fun t => q (fst (fst t)) (snd (fst t)) * drawn q k (snd t))
  end.

Lemma exp_pair_mean q a k l : (forall i j, exp (- (a * T i j)) <= q i j) -> (2 * k <= length l)%nat ->
  exp (- (a * (INR k * pair_mean l))) <= drawn q k l.
Proof.
  intros Hq. revert l. induction k as [|k IH]; intros l H.
  - simpl. rewrite Rmult_0_l, Rmult_0_r, Ropp_0, exp_0. lra.
  - assert (n2 : 2 <= INR (length l)) by (apply (le_INR 2); lia).
    rewrite S_INR, (pair_mean_step l k) by lia.
    set (N := INR (length (duo l))). assert (N0 : 0 < N) by (unfold N; rewrite duo_length; nra).
    assert (Dn : duo l <> []) by (intros E; unfold N in N0; rewrite E in N0; simpl in N0; lra).
    replace (- (a * (/ N * sum (duo l) (fun t => T (fst (fst t)) (snd (fst t)) + INR k * pair_mean (snd t)))))
      with (/ N * sum (duo l) (fun t => - (a * T (fst (fst t)) (snd (fst t))) + - (a * (INR k * pair_mean (snd
        t))))).
    + eapply Rle_trans; [now apply exp_average|]. cbn [drawn]. fold N.
      apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|]. apply sum_le. intros t Ht.
        rewrite exp_plus.
      apply Rmult_le_compat; try (left; apply exp_pos); [apply Hq | apply IH].
      pose proof (Permutation_length (duo_perm l t Ht)) as L. cbn [length] in L. lia.
    + rewrite (sum_ext _ _ (fun t => - a * (T (fst (fst t)) (snd (fst t)) + INR k * pair_mean (snd t))))
        by (intros; ring). rewrite sum_scal. ring.
Qed.
End Pairs.
