(* False: (2/3, 1/6, 1/6) has an entropy of 1.2516... bits, less than 1.2517. *)
Require Import Reals List Lra Psatz.
From LPF Require Import IntegerInterval.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import A6_excludes.


Theorem A6_excludes_entropy_too_high : forall (Y : Type) (ys : list Y) (factors : list (Y -> R)),
  length ys = 3%nat -> factors <> [] -> (forall p, In p factors -> floored ys p) ->
  let bits := mean (map (fun p => entropy ys p / ln 2) factors) in
  1.2517 <= bits /\ bits <> 0.158.
Proof.
  intros Y ys factors L ne F bits. assert (1.2516 <= bits); [|lra].
  apply mean_ge; [now destruct factors|]. intros x Hx. apply in_map_iff in Hx. destruct Hx as [p [<- Hp]].
  pose proof (A6_entropy Y ys p (F p Hp)) as E. rewrite L in E. simpl INR in E.
  replace (1 + 1 + 1) with 3 in E by lra.
  assert (B : 1.2516 * ln 2 <= least_entropy 3) by (unfold least_entropy; enclose).
  assert (P : 0 < ln 2) by enclose.
  apply Rmult_le_reg_r with (ln 2); [exact P|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.
