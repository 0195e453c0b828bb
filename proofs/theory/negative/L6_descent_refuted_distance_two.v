(* False: the two end near 1/3 and -3/2, so their distance tends to 11/6 with small steps and does not exceed
   2. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import L6.


Theorem L6_descent_refuted_distance_two :
  (forall f, In f [loss_1; loss_2; loss_3] -> lipschitz 1 f) /\
  gradient (objective [loss_1; loss_2; loss_3] (1 / 2)) grad_all /\
  gradient (objective [loss_1; loss_2] (1 / 2)) grad_less /\
  (forall start step, 0 < start < 3 / 2 -> 0 < step <= 1 / 10 -> exists K, forall k, (K <= k)%nat ->
     2 < Rabs (descent grad_all step start k - descent grad_less step start k)) /\
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
