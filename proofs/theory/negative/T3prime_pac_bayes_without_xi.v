(* False: without xi(n); one model, n = 1, risk 1/2: the divergence is ln 2 for both outcomes, and at delta =
   0.9 only 0.11 is allowed. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums Probability L2 T3prime T3prime_pac_bayes.
Import ListNotations.
Open Scope R_scope.

Theorem T3prime_pac_bayes_without_xi (S : space) (H : Type) (models : list H) (prior : H -> R) (n : nat)
  (err : H -> nat -> outcome S -> R) (risk : H -> R) (delta : R) :
  (0 < n)%nat -> 0 < delta -> distribution models prior ->
  (forall h, In h models -> 0 < risk h < 1 /\ test_errors n (err h) (risk h)) ->
  exists (Z : outcome S -> R) (c : R), rv Z /\ 1 - delta <= prob_le Z c /\
  forall o, Z o <= c -> forall post, distribution models post ->
  (forall h, In h models -> 0 < post h -> 0 < prior h) ->
  kl (sum models (fun h => post h * error_rate n (err h) o)) (sum models (fun h => post h * risk h))
  <= (KL models post prior + ln (1 / delta)) / INR n.
Proof.
  intros Hn d0 HP HR. assert (n0 : 0 < INR n) by now apply lt_0_INR. pose proof (xi_pos n) as x0.
  assert (c0 : 0 < xi n / delta) by now apply Rdiv_lt_0_compat.
  set (f := fun h o => INR n * kl (error_rate n (err h) o) (risk h)).
  assert (RF : forall h, In h models -> rv (fun o => prior h * exp (f h o)) /\
    E (fun o => prior h * exp (f h o)) = prior h * xi n).
  { intros h Hh. destruct (HR h Hh) as [R01 T].
    destruct (errors_binomial n (err h) (risk h) (fun k => exp (INR n * kl (INR k / INR n) (risk h))) T) as
      [R1 E1].
    rewrite xi_mean in E1 by easy. change (rv (fun o => exp (f h o))) in R1. split; [now apply rv_scal|].
    rewrite E_scal by easy. f_equal. exact E1. }
  exists (fun o => sum models (fun h => prior h * exp (f h o))), (xi n / delta).
  assert (RZ : rv (fun o => sum models (fun h => prior h * exp (f h o)))).
  { apply (rv_sum models (fun h o => prior h * exp (f h o))). intros h Hh. now apply RF. }
  split; [easy|]. split.
  - rewrite prob_le_gt by easy. pose proof (prob_gt_le_ge _ (xi n / delta) RZ) as G.
    pose proof (markov _ (xi n / delta) RZ) as M.
    assert (EZ : E (fun o => sum models (fun h => prior h * exp (f h o))) = xi n).
    { rewrite (E_sum models (fun h o => prior h * exp (f h o))) by (intros; now apply RF).
      rewrite (sum_ext _ _ (fun h => prior h * xi n)) by (intros; now apply RF).
      rewrite sum_scal_r. destruct HP as [_ ->]. ring. }
    rewrite EZ in M. replace (xi n / (xi n / delta)) with delta in M by (field; lra).
    assert (prob_ge (fun o => sum models (fun h => prior h * exp (f h o))) (xi n / delta) <= delta); [|lra].
    apply M; [|easy]. intros o. apply sum_nonneg. intros h Hh. apply Rmult_le_pos; [now apply HP | left;
      apply exp_pos].
  - intros o HZ post HQ Hac.
    pose proof (change_of_measure models prior post HP HQ Hac (fun h => f h o)) as CM. cbv beta in CM.
    assert (A0 : 0 < sum models (fun h => prior h * exp (f h o)) \/ sum models (fun h => prior h *
      exp (f h o)) <= 0) by lra.
    assert (LZ : ln (sum models (fun h => prior h * exp (f h o))) <= ln (xi n / delta)).
    { destruct A0 as [A0|A0].
      - destruct HZ as [HZ|HZ]; [left; now apply ln_increasing | rewrite HZ; lra].
      - exfalso. assert (N : forall l, (forall h, In h l -> In h models) ->
          sum l (fun h => prior h * exp (f h o)) <= 0 -> sum l prior <= 0).
        { induction l as [|h t IH]; intros Hl E; simpl in *; [lra|]. pose proof (exp_pos (f h o)).
          assert (0 <= prior h) by (apply HP; auto). assert (0 <= sum t (fun h => prior h * exp (f h o))).
          { apply sum_nonneg. intros g Hg. apply Rmult_le_pos; [apply HP; auto | left; apply exp_pos]. }
          assert (prior h * exp (f h o) = 0) by nra. assert (prior h = 0) by nra.
          assert (sum t prior <= 0) by (apply IH; [auto | lra]). lra. }
        destruct HP as [_ p1]. specialize (N models (fun h Hh => Hh) A0). lra. }
    apply Rmult_le_reg_l with (INR n); [easy|].
    replace (INR n * ((KL models post prior + ln (xi n / delta)) / INR n)) with (KL models post prior +
      ln (xi n / delta))
      by (field; lra).
    eapply Rle_trans; [|eapply Rle_trans; [exact CM | lra]].
    unfold f. rewrite (sum_ext models (fun h => post h * (INR n * kl (error_rate n (err h) o) (risk h)))
      (fun h => INR n * (post h * kl (error_rate n (err h) o) (risk h)))) by (intros; ring).
    rewrite sum_scal. apply Rmult_le_compat_l; [lra|].
    apply (kl_convex models post HQ (fun h => error_rate n (err h) o) risk).
    + intros h _. unfold error_rate. pose proof (count_le (seq 0 n) (err h) o) as CL.
        rewrite seq_length in CL.
      apply le_INR in CL. pose proof (pos_INR (count (seq 0 n) (err h) o)). split.
      * apply Rmult_le_pos; [easy | left; now apply Rinv_0_lt_compat].
      * apply Rmult_le_reg_r with (INR n); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
    + intros h Hh. now apply HR.
Qed.
