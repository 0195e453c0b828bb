(* False: for any tree with normalized leaves. The product of a uniform binary leaf with itself sums to 1/2
   over the states. *)
Require Import Reals List Lra Psatz Arith Permutation FunctionalExtensionality.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import A4.


Theorem A4_distribution_any_tree : forall (states_of : nat -> nat) (t : spn) (vs : list nat),
  t <> Prod [] -> normalized states_of t -> NoDup vs -> same_scope vs (scope t) ->
  distribution (states states_of vs) (polynomial t) /\ value (under states_of (likelihood nothing)) t = 1.
Proof. intros. split; [now apply polynomial_distribution | now apply pass_nothing]. Qed.

(** * Graphs: a list of nodes, children before parents, the root last *)

Inductive node :=
  | NLeaf (v : nat) (f : nat -> R)
  | NSum (l : list (R * nat))
  | NProd (l : list nat).

(* One pass over the nodes, from the first to the last; a step sees the results for all nodes before. *)
Fixpoint pass {A} (step : list A -> node -> A) (done : list A) (nodes : list node) : list A :=
  match nodes with [] => done | n :: t => pass step (done ++ [step done n]) t end.

Definition value_step (leaf : nat -> (nat -> R) -> R) (done : list R) (n : node) : R :=
  match n with
  | NLeaf v f => leaf v f
  | NSum l => total (map (fun wc => match wc with (w, c) => w * nth c done 0 end) l)
  | NProd l => times (map (fun c => nth c done 0) l)
  end.
Definition scope_step (done : list (list nat)) (n : node) : list nat :=
  match n with
  | NLeaf v _ => [v]
  | NSum l => match l with [] => [] | (_, c) :: _ => nth c done [] end
  | NProd l => flat_map (fun c => nth c done []) l
  end.

(* The value and the scope of the root. *)
Definition evaluate (leaf : nat -> (nat -> R) -> R) (nodes : list node) : R :=
  last (pass (value_step leaf) [] nodes) 0.
Definition root_scope (nodes : list node) : list nat := last (pass scope_step [] nodes) [].

(* Children come before their parents, sums are complete, products decomposable. *)
Definition node_valid (done : list (list nat)) (n : node) : Prop :=
  match n with
  | NLeaf _ _ => True
  | NSum l => l <> [] /\ (forall w c, In (w, c) l -> (c < length done)%nat) /\
      (forall w c w' c', In (w, c) l -> In (w', c') l -> same_scope (nth c done []) (nth c' done []))
  | NProd l => (forall c, In c l -> (c < length done)%nat) /\
      ForallOrdPairs (fun a b => disjoint (nth a done []) (nth b done [])) l
  end.
Fixpoint valid_from (done : list (list nat)) (nodes : list node) : Prop :=
  match nodes with [] => True | n :: t => node_valid done n /\ valid_from (done ++ [scope_step done n]) t end.
Definition valid_graph (nodes : list node) : Prop := nodes <> [] /\ valid_from [] nodes.

Definition node_normalized (states_of : nat -> nat) (n : node) : Prop :=
  match n with
  | NLeaf v f => distribution (seq 0 (states_of v)) f
  | NSum l => (forall w c, In (w, c) l -> 0 <= w) /\ sum l fst = 1
  | NProd _ => True
  end.

(* A graph is evaluated like the tree that it unfolds to. *)
Definition tree_step (done : list spn) (n : node) : spn :=
  match n with
  | NLeaf v f => Leaf v f
  | NSum l => Sum (map (fun wc => match wc with (w, c) => (w, nth c done (Prod [])) end) l)
  | NProd l => Prod (map (fun c => nth c done (Prod [])) l)
  end.
Definition unfold_graph (nodes : list node) : spn := last (pass tree_step [] nodes) (Prod []).

Lemma nth_map_in {A B} (g : A -> B) l d d' i : (i < length l)%nat -> nth i (map g l) d' = g (nth i l d).
Proof. intros H. rewrite nth_indep with (d' := g d) by now rewrite map_length. apply map_nth. Qed.

Lemma scope_tree_step done n : node_valid (map scope done) n -> scope (tree_step done n) = scope_step
  (map scope done) n.
Proof.
  destruct n as [v f|l|l]; simpl; auto; rewrite map_length.
  - intros (ne & H & _). destruct l as [|[w c] t]; [easy|]. simpl. symmetry. apply nth_map_in. apply (H w);
      now left.
  - intros (H & _). rewrite !flat_map_concat_map, map_map. f_equal. apply map_ext_in. intros c Hc.
    symmetry. apply nth_map_in. auto.
Qed.
