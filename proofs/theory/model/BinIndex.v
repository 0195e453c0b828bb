(* Model of `lpf::calibration::bin_index`: bin i of n holds what lies above the double nearest to i/n and not above the
   double nearest to (i+1)/n; bin 0 holds zero as well. *)
Require Import ZArith List Bool SpecFloat Uint63.
From LPF Require Import Binary64.
Import ListNotations.
Open Scope Z_scope.

Definition one : double := S754_finite false 4503599627370496 (-52).
Definition edge (i n : Z) : double :=
  match i, n with Zpos i, Zpos n => nearest_quotient i n 0 | _, _ => zero end.

(* The floor of c * n, for c in [0,1]. *)
Definition floor (c : double) (n : Z) : Z :=
  match c with S754_finite _ m e => Z.shiftr (Zpos m * n) (- e) | _ => 0 end.

(* The exact bin of an exact edge, or one of its neighbours: the first whose upper edge is not below c. *)
Definition bin_index (c : double) (n : Z) : option Z :=
  if SFleb zero c && SFleb c one && (1 <=? n) && (n <=? 1024) then
    let k := floor c n in
    find (fun i => (0 <=? i) && (i <? n) && SFleb c (edge (i + 1) n)) [k - 1; k; k + 1]
  else None.

Definition agrees (c : (int * int) * int * option int) : bool :=
  let '(x, n, i) := c in same_option Z.eqb (bin_index (of_bits x) (to_Z n)) (option_map to_Z i).

(* Wrong on purpose: closed on the left. *)
Definition wrong_agrees (c : (int * int) * int * option int) : bool :=
  let '(x, n, i) := c in
  let n := to_Z n in
  same_option Z.eqb (option_map (fun _ => Z.min (n - 1) (floor (of_bits x) n)) (bin_index (of_bits x) n))
    (option_map to_Z i).
