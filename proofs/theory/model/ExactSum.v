(* Model of `lpf::math::ExactSum`: the exact sum of doubles, rounded once. *)
Require Import ZArith List Bool SpecFloat Uint63.
From LPF Require Import Binary64.
Import ListNotations.
Open Scope Z_scope.

Definition finite (x : double) : bool := match x with S754_finite _ _ _ | S754_zero _ => true | _ => false end.

(* Infinities and NaN are added apart; where there are any, their sum is the answer. *)
Definition special (l : list double) : double := fold_left add (filter (fun x => negb (finite x)) l) zero.
Definition exact_sum (l : list double) : double :=
  let s := special l in
  if same s zero then nearest (fold_left (fun a x => a + units x) l 0) (-1074) else s.

Definition agrees (c : list (int * int) * (int * int)) : bool :=
  same (exact_sum (map of_bits (fst c))) (of_bits (snd c)).

(* Wrong on purpose: rounded after every addition. *)
Definition wrong_agrees (c : list (int * int) * (int * int)) : bool :=
  same (fold_left add (map of_bits (fst c)) zero) (of_bits (snd c)).
