(* Model of `lpf::simplex::normalize`, its refusals and its guard against overflow included. *)
Require Import ZArith List Bool SpecFloat Uint63.
From LPF Require Import Binary64 ExactSum SortedSum.
Import ListNotations.

Definition acceptable (x : double) : bool := finite x && negb (SFltb x zero).
Definition largest (l : list double) : double := fold_left (fun a x => if SFltb a x then x else a) l zero.
Definition two_959 : double := S754_finite false 4503599627370496 907.
Definition two_minus_128 : double := S754_finite false 4503599627370496 (-180).
Definition guarded (l : list double) : list double :=
  if SFleb two_959 (largest l) then map (fun x => mul x two_minus_128) l else l.
Definition normalize (l : list double) : option (list double) :=
  if forallb acceptable l && SFltb zero (largest l) then
    let l := guarded l in
    let total := canonical_sum l in
    Some (map (fun x => add (div x total) zero) l)
  else None.

Definition agrees (c : list (int * int) * option (list (int * int))) : bool :=
  same_option all_same (normalize (map of_bits (fst c))) (option_map (map of_bits) (snd c)).

(* Wrong on purpose: -0 stays -0. *)
Definition wrong (l : list double) : option (list double) :=
  option_map (fun _ => map (fun x => div x (canonical_sum (guarded l))) (guarded l)) (normalize l).
Definition wrong_agrees (c : list (int * int) * option (list (int * int))) : bool :=
  same_option all_same (wrong (map of_bits (fst c))) (option_map (map of_bits) (snd c)).
