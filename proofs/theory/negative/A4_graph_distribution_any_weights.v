(* False: without normalized nodes. A sum with weight 2 over one leaf has total 2. *)
Require Import Reals List Lra Psatz Arith Permutation FunctionalExtensionality.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import A4.


Theorem A4_graph_distribution_any_weights : forall (states_of : nat -> nat) (nodes : list node)
  (vs : list nat),
  valid_graph nodes -> (forall n, In n nodes -> n <> NProd []) ->
  NoDup vs -> same_scope vs (root_scope nodes) ->
  distribution (states states_of vs) (fun x => evaluate (at_state x) nodes) /\
  evaluate (under states_of (likelihood nothing)) nodes = 1 /\
  forall e, 0 <= evaluate (under states_of (likelihood e)) nodes <= 1.
Proof.
  intros states_of nodes vs V Nn N S. destruct (graph_is_tree nodes V) as (Vt & Es & Ev & Nt).
  destruct (A4_distribution states_of _ vs Vt (Nt states_of Nn) N) as [[D0 D1] O]; [now rewrite Es|].
  assert (D : distribution (states states_of vs) (fun x => evaluate (at_state x) nodes)).
  { split; [intros x Hx; rewrite Ev; now apply D0|]. rewrite <- D1. apply sum_ext; intros x _. now rewrite Ev.
      }
  split; [exact D|]. split; [now rewrite Ev|]. intros e.
  rewrite (A4_graph_exact states_of nodes vs e V N S), sum_filter. destruct D as [P0 P1]. split.
  - apply sum_nonneg; intros x Hx. specialize (P0 x Hx). destruct (compatible e vs x); lra.
  - eapply Rle_trans; [|right; exact P1]. apply sum_le; intros x Hx. specialize (P0 x Hx). destruct
      (compatible e vs x); lra.
Qed.
