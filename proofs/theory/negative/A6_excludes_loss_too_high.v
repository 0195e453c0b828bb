(* False: a factor that gives the right class 2/3 has the loss ln(3/2) = 0.4055 < 0.406. *)
Require Import Reals List Lra Psatz.
From LPF Require Import IntegerInterval.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import A6_excludes.


Theorem A6_excludes_loss_too_high : forall (Y : Type) (ys : list Y) (sample : list ((Y -> R) * Y)),
  length ys = 3%nat -> sample <> [] -> (forall p y, In (p, y) sample -> floored ys p /\ In y ys) ->
  let loss := mean (map (fun s => - ln (fst s (snd s))) sample) in
  0.406 <= loss /\ loss <> 0.0379 /\ loss <> 0.0463.
Proof.
  intros Y ys sample L ne F loss. assert (0.405 <= loss); [|lra].
  apply mean_ge; [now destruct sample|]. intros x Hx. apply in_map_iff in Hx. destruct Hx as [[p y] [<- Hp]].
  destruct (F p y Hp) as [Fp Hy]. pose proof (A6_largest Y ys p y Fp Hy) as B. destruct Fp as [_ Fp].
  specialize (Fp y Hy). rewrite L in *. simpl in *.
  assert (ln (p y) <= ln (2 / 3)).
  { destruct (Rle_lt_or_eq_dec (p y) (2 / 3)) as [H|H];
      [lra | left; apply ln_increasing; lra | rewrite H; lra]. }
  assert (0.405 <= - ln (2 / 3)) by enclose. lra.
Qed.
