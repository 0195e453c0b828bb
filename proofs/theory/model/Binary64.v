(* Doubles as the standard specifies them, on integers: no floating-point unit is involved. A double is given by the
   two halves of its 64 bits, so that +0 and -0 differ. Arithmetic is that of Coq's SpecFloat, to nearest, ties to even. *)
Require Import ZArith List Bool SpecFloat Uint63.
Import ListNotations.
Open Scope Z_scope.

Definition double := spec_float.
Definition add : double -> double -> double := SFadd 53 1024.
Definition mul : double -> double -> double := SFmul 53 1024.
Definition div : double -> double -> double := SFdiv 53 1024.
Definition zero : double := S754_zero false.

(* The double nearest to m * 2^e. *)
Definition nearest (m e : Z) : double := binary_normalize 53 1024 m e false.

(* The double nearest to a * 2^e / b for positive a, b. *)
Definition nearest_quotient (a b : positive) (e : Z) : double :=
  let '(q, e', l) := SFdiv_core_binary 53 1024 (Zpos a) e (Zpos b) 0 in
  binary_round_aux 53 1024 false q e' l.

(* From the two halves of the bits, and back to them as one number. *)
Definition of_bits (b : int * int) : double :=
  let hi := to_Z (fst b) in
  let negative := 2147483648 <=? hi in
  let hi := if negative then hi - 2147483648 else hi in
  let exponent := hi / 1048576 in
  let fraction := (hi mod 1048576) * 4294967296 + to_Z (snd b) in
  if exponent =? 2047 then (if fraction =? 0 then S754_infinity negative else S754_nan)
  else if exponent =? 0 then
    match fraction with Zpos m => S754_finite negative m (-1074) | _ => S754_zero negative end
  else match fraction + 4503599627370496 with Zpos m => S754_finite negative m (exponent - 1075) | _ => S754_nan end.

(* Equal to the bit; all NaN are one. *)
Definition same (x y : double) : bool :=
  match x, y with
  | S754_zero a, S754_zero b => Bool.eqb a b
  | S754_infinity a, S754_infinity b => Bool.eqb a b
  | S754_nan, S754_nan => true
  | S754_finite a m e, S754_finite b n f => Bool.eqb a b && Pos.eqb m n && Z.eqb e f
  | _, _ => false
  end.

(* A finite double in units of 2^-1074, an integer. *)
Definition units (x : double) : Z :=
  match x with
  | S754_finite s m e => (if s then Z.neg else Z.pos) (Pos.shiftl m (Z.to_N (e + 1074)))
  | _ => 0
  end.

Fixpoint all_same (a b : list double) : bool :=
  match a, b with
  | [], [] => true
  | x :: s, y :: t => same x y && all_same s t
  | _, _ => false
  end.

Definition same_option {A} (eq : A -> A -> bool) (a b : option A) : bool :=
  match a, b with Some x, Some y => eq x y | None, None => true | _, _ => false end.
