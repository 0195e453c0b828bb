(* False: equal weights give K_eff = K, not K + 1. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World.
From LPF Require Import T1_Keff.
Import ListNotations.
Open Scope R_scope.

Theorem T1_Keff_sharp_one_more : forall K : nat, (1 <= K)%nat ->
  K_eff K (fun i => match i with O => 1 | _ => 0 end) = 1 /\ K_eff K (fun _ => 1) = INR K + 1.
Proof.
  intros K H. split; [|apply K_eff_equal; [easy|lra]]. destruct K; [lia|].
  unfold K_eff. rewrite !sum_seq_S, !sum_const. field.
Qed.
