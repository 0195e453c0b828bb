(* Model of `lpf::spn::Network::evaluate` over rationals: one pass from the leaves to the root. Nodes stand in a list,
   children before parents; a child is named by its place in the list. *)
Require Import QArith List Bool Uint63.
Import ListNotations.
Open Scope Q_scope.

(* What is known about a variable. *)
Inductive known := Nothing | State (s : nat) | Likelihood (l : list Q).

Inductive node :=
  | Leaf (variable : nat) (values : list Q)
  | Sum (children : list (nat * Q))
  | Product (children : list nat).

Definition leaf_value (values : list Q) (k : known) : Q :=
  match k with
  | Nothing => fold_left Qplus values 0
  | State s => nth s values 0
  | Likelihood l => fold_left Qplus (map (fun p => fst p * snd p) (combine values l)) 0
  end.

(* The value of one node, given those of the nodes before it. *)
Definition node_value (evidence : list known) (values : list Q) (n : node) : Q :=
  match n with
  | Leaf v p => leaf_value p (nth v evidence Nothing)
  | Sum c => fold_left Qplus (map (fun x => snd x * nth (fst x) values 0) c) 0
  | Product c => fold_left Qmult (map (fun x => nth x values 0) c) 1
  end.

Definition evaluate (value : list Q -> node -> Q) (nodes : list node) : Q :=
  last (fold_left (fun values n => values ++ [Qred (value values n)]) nodes []) 0.

(* Small numbers of a case are given as machine integers. *)
Definition q (a b : int) : Q := match to_Z b with Zpos b => to_Z a # b | _ => 0 end.
Definition n (a : int) : nat := Z.to_nat (to_Z a).

Definition agrees (c : list node * list known * Q) : bool :=
  let '(nodes, evidence, value) := c in Qeq_bool (evaluate (node_value evidence) nodes) value.

(* Wrong on purpose: products are taken for sums. *)
Definition wrong_value (evidence : list known) (values : list Q) (x : node) : Q :=
  match x with
  | Product c => fold_left Qplus (map (fun x => nth x values 0) c) 0
  | _ => node_value evidence values x
  end.
Definition wrong_agrees (c : list node * list known * Q) : bool :=
  let '(nodes, evidence, value) := c in Qeq_bool (evaluate (wrong_value evidence) nodes) value.
