(* Model of `lpf::bounds::effective_count`: (sum w)^2 / sum w^2 in exact arithmetic, rounded once. *)
Require Import ZArith List Bool SpecFloat Uint63.
From LPF Require Import Binary64 ExactSum SortedSum Normalize.
Import ListNotations.
Open Scope Z_scope.

(* Weights as integers: in units of the lowest exponent, which does not change the quotient. *)
Definition exponent (x : double) : Z := match x with S754_finite _ _ e => e | _ => 1024 end.
Definition integers (l : list double) : list Z :=
  let low := fold_left (fun a x => Z.min a (exponent x)) l 1024 in
  map (fun x => match x with S754_finite _ m e => Z.pos (Pos.shiftl m (Z.to_N (e - low))) | _ => 0 end) l.

Definition effective_count (l : list double) : option double :=
  if forallb acceptable l then
    let w := integers l in
    let total := fold_left Z.add w 0 in
    match total * total, fold_left (fun a x => a + x * x) w 0 with
    | Zpos a, Zpos b => Some (nearest_quotient a b 0)
    | _, _ => None
    end
  else None.

Definition agrees (c : list (int * int) * option (int * int)) : bool :=
  same_option same (effective_count (map of_bits (fst c))) (option_map of_bits (snd c)).

(* Wrong on purpose: rounded in every step. *)
Definition wrong (l : list double) : option double :=
  let total := fold_left add l zero in
  if forallb acceptable l && SFltb zero total then
    Some (div (mul total total) (fold_left (fun a x => add a (mul x x)) l zero))
  else None.
Definition wrong_agrees (c : list (int * int) * option (int * int)) : bool :=
  same_option same (wrong (map of_bits (fst c))) (option_map of_bits (snd c)).
