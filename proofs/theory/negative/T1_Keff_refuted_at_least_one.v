(* False: K_eff is at least 1 for positive weights (T1_Keff_bounds), so that cannot be refuted. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World.
From LPF Require Import T1_Keff.
Import ListNotations.
Open Scope R_scope.

Theorem T1_Keff_refuted_at_least_one : ~ (forall (K : nat) (w : nat -> R), (1 <= K)%nat ->
  (forall i, 0 < w i <= 1) -> 1 <= K_eff K w).
Proof.
  intros H. specialize (H 3%nat (fun i => match i with O => 1 | _ => / 10 end)).
  assert (B : 2 <= 24 / 17); [|lra].
  replace (24 / 17) with (K_eff 3 (fun i => match i with O => 1 | _ => / 10 end)) by (unfold K_eff; simpl;
    field).
  apply H; [lia|]. intros []; lra.
Qed.
