(* False: outcomes may exceed forecasts by 2 tau; with c = 0, tau = 1/4, a fair coin and lam = 4 the capital
   reaches 4 with probability 1/2. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums Probability E3.
Import ListNotations.
Open Scope R_scope.

Theorem E3_monitor_tolerance_twice_the_tolerance (S : space) (H : history S) (Y c lam : nat -> outcome S -> R)
  (tau alpha : R) (n : nat) :
  0 < alpha ->
  (forall t, (t < n)%nat -> known H t (c t) /\ known H t (lam t) /\ known H (Datatypes.S t) (Y t)) ->
  (forall t o, (t < n)%nat -> 0 <= Y t o /\ 0 <= lam t o /\ lam t o * (c t o + tau) <= 1) ->
  (forall t G, (t < n)%nat -> known H t G -> (forall o, 0 <= G o) ->
    E (fun o => G o * (Y t o - c t o)) <= 2 * tau * E G) ->
  prob_ge (fun o => largest (seq 0 (Datatypes.S n))
    (fun t => capital (fun s o => lam s o * (Y s o - c s o - tau)) t o)) (/ alpha) <= alpha.
Proof.
  intros a0 HK HR HE. rewrite <- (Rinv_involutive alpha) at 2 by lra.
  apply (ville H); [now apply Rinv_0_lt_compat | | |].
  - intros t Ht. destruct (HK t Ht) as [K1 [K2 K3]].
    apply (known_mult S H _ (lam t) (fun o => Y t o - c t o - tau)); [now apply known_later|].
    apply (@rv_minus (before H (Datatypes.S t)) (fun o => Y t o - c t o) (fun _ => tau));
      [|exact (known_const S H (Datatypes.S t) tau)].
    apply (@rv_minus (before H (Datatypes.S t))); [easy | now apply known_later].
  - intros t o Ht. destruct (HR t o Ht) as [Y1 [L1 L2]]. nra.
  - intros t G Ht HG G0. destruct (HK t Ht) as [K1 [K2 K3]].
    assert (KG : known H t (fun o => G o * lam t o)) by now apply known_mult.
    assert (RG : rv (fun o => G o * lam t o)) by now apply (known_rv S H t).
    rewrite (E_ext _ (fun o => (G o * lam t o) * (Y t o - c t o) - tau * (G o * lam t o))) by (intros; ring).
    assert (RD : rv (fun o => Y t o - c t o)).
    { apply rv_minus; [now apply (known_rv S H (Datatypes.S t)) | now apply (known_rv S H t)]. }
    rewrite (E_minus (fun o => G o * lam t o * (Y t o - c t o))), E_scal;
      [| easy | now apply rv_mult | now apply rv_scal].
    assert (B : E (fun o => G o * lam t o * (Y t o - c t o)) <= tau * E (fun o => G o * lam t o)); [|lra].
    apply HE; [easy | easy |]. intros o. destruct (HR t o Ht) as [_ [L _]]. specialize (G0 o). nra.
Qed.
