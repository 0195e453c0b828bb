(* False: half of alpha; a bet of everything on a fair coin doubles the capital with probability 1/2 = alpha.
   *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums Probability E3.
Import ListNotations.
Open Scope R_scope.

Theorem E3_monitor_half_of_alpha (S : space) (H : history S) (Y c lam : nat -> outcome S -> R) (alpha :
  R) (n : nat) :
  0 < alpha ->
  (forall t, (t < n)%nat -> known H t (c t) /\ known H t (lam t) /\ known H (Datatypes.S t) (Y t)) ->
  (forall t o, (t < n)%nat -> 0 <= Y t o <= 1 /\ lam t o * c t o <= 1 /\ -1 <= lam t o * (1 - c t o)) ->
  (forall t o, (t < n)%nat -> 0 <= c t o <= 1) ->
  (forall t G, (t < n)%nat -> known H t G -> E (fun o => G o * (Y t o - c t o)) = 0) ->
  prob_ge (fun o => largest (seq 0 (Datatypes.S n))
    (fun t => capital (fun s o => lam s o * (Y s o - c s o)) t o)) (/ alpha) <= alpha / 2.
Proof.
  intros a0 HK HR Hc HE. rewrite <- (Rinv_involutive alpha) at 2 by lra.
  apply (ville H); [now apply Rinv_0_lt_compat | | |].
  - intros t Ht. destruct (HK t Ht) as [K1 [K2 K3]].
    apply (known_mult S H _ (lam t) (fun o => Y t o - c t o)); [now apply known_later|].
    apply (@rv_minus (before H (Datatypes.S t))); [easy | now apply known_later].
  - intros t o Ht. destruct (HR t o Ht) as [Y1 [L1 L2]]. specialize (Hc t o Ht).
    destruct (Rle_dec 0 (lam t o)); nra.
  - intros t G Ht HG _. destruct (HK t Ht) as [_ [K2 _]].
    rewrite (E_ext _ (fun o => (G o * lam t o) * (Y t o - c t o))) by (intros; ring).
    right. apply HE; [easy | now apply known_mult].
Qed.
