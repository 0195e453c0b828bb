(* Lemma 1 (appendix A.1): the Monte Carlo estimate of a soft factor is unbiased. For any posterior, Gaussian
   or not, any decoder whose class probability is a bounded random variable, and any number M >= 1 of draws.
   *)
Require Import Reals List Lra.
From LPF Require Import Sums Probability.
Import ListNotations.
Open Scope R_scope.

(* The soft factor of a class: the posterior mean of the decoded probability p(y|z). *)
Definition soft_factor {Q : space} (p : outcome Q -> R) : R := E p.
(* Its estimate from the draws z_1 .. z_M: the average of the decoded probabilities. *)
Definition estimate {S Q : space} (M : nat) (z : nat -> outcome S -> outcome Q) (p : outcome Q -> R)
  (o : outcome S) : R := / INR M * sum (seq 0 M) (fun m => p (z m o)).

Lemma estimate_rv {S Q : space} (M : nat) (z : nat -> outcome S -> outcome Q) p :
  draws (seq 0 M) z -> rv p -> rv (estimate M z p).
Proof.
  intros [Hz _] Hp. apply (rv_scal (/ INR M) (fun o => sum (seq 0 M) (fun m => p (z m o)))).
  apply (rv_sum (seq 0 M) (fun m o => p (z m o))). intros m Hm. now apply (Hz m p).
Qed.

(** claim: L1 | proves | caveats: bounded-variables
    The expectation of the average of M decoded draws is the soft factor, whatever the posterior and the
    decoder. Paper: lemma 1, appendix A.1, where the posterior is Gaussian. *)
Theorem L1_unbiased (S Q : space) (M : nat) (z : nat -> outcome S -> outcome Q) (p : outcome Q -> R) :
  (0 < M)%nat -> draws (seq 0 M) z -> rv p ->
  E (estimate M z p) = soft_factor p.
Proof.
  intros HM Hz Hp. assert (M0 : 0 < INR M) by now apply lt_0_INR. pose proof Hz as [Hd _].
  assert (Hr : forall m, In m (seq 0 M) -> rv (fun o => p (z m o))) by (intros m Hm; now apply (Hd m p)).
  unfold estimate, soft_factor.
  rewrite (E_scal S (/ INR M) (fun o => sum (seq 0 M) (fun m => p (z m o)))).
  - rewrite (E_sum (seq 0 M) (fun m o => p (z m o))) by easy.
    rewrite (sum_ext _ _ (fun _ => E p)) by (intros m Hm; now apply (Hd m p)).
    rewrite sum_const, seq_length. field. lra.
  - now apply (rv_sum (seq 0 M) (fun m o => p (z m o))).
Qed.

(* The paper draws z = h(noise) with h(e) = mu + Sigma^(1/2) e; the soft factor is then the mean under the law
   of h(noise). Any noise and any transformation will do. *)
Lemma transformed_draws {S N : space} {Z} (M : nat) (e : nat -> outcome S -> outcome N) (h : outcome N -> Z) :
  @draws S N nat (seq 0 M) e -> @draws S (law N h) nat (seq 0 M) (fun m o => h (e m o)).
Proof.
  intros [H1 H2]. split.
  - intros i f Hi [Hf _]. exact (H1 i (fun x => f (h x)) Hi Hf).
  - intros f Hf. apply (H2 (fun i x => f i (h x))). intros i. apply (Hf i).
Qed.

(** claim: L1 | proves | caveats: bounded-variables
    The same with draws made from noise, z = h(noise), as the paper makes them: unbiased for the mean under
    the law of h(noise). Paper: lemma 1, appendix A.1. *)
Theorem L1_reparametrized (S N : space) (Z : Type) (M : nat) (e : nat -> outcome S -> outcome N)
  (h : outcome N -> Z) (p : Z -> R) :
  (0 < M)%nat -> draws (seq 0 M) e -> @rv (law N h) p ->
  E (fun o => / INR M * sum (seq 0 M) (fun m => p (h (e m o)))) = E (fun noise => p (h noise)).
Proof.
  intros HM He Hp.
  exact (L1_unbiased S (law N h) M (fun m o => h (e m o)) p HM (transformed_draws M e h He) Hp).
Qed.
