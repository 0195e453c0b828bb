(* Model of `lpf::math::canonical_sum`: up to sixteen doubles from the smallest to the largest, more of them exactly. *)
Require Import ZArith List Bool SpecFloat Uint63.
From LPF Require Import Binary64 ExactSum.
Import ListNotations.

Fixpoint insert (x : double) (l : list double) : list double :=
  match l with [] => [x] | y :: t => if SFltb x y then x :: l else y :: insert x t end.
Definition sort (l : list double) : list double := fold_left (fun sorted x => insert x sorted) l [].
Definition canonical_sum (l : list double) : double :=
  if Nat.leb (length l) 16 then fold_left add (sort l) zero else exact_sum l.

Definition agrees (c : list (int * int) * (int * int)) : bool :=
  same (canonical_sum (map of_bits (fst c))) (of_bits (snd c)).

(* Wrong on purpose: not sorted. *)
Definition wrong_agrees (c : list (int * int) * (int * int)) : bool :=
  same (fold_left add (map of_bits (fst c)) zero) (of_bits (snd c)).
