(* The Interval tactic over integers of Coq's own library. As it comes, the tactic computes with the machine's
   integers and floating-point numbers, and a proof by it then rests on some sixty axioms about them. [enclose] is
   the same tactic, with 60 bits, over binary integers: slower, and no axioms but those of the real numbers. *)
Require Import ZArith.
From Interval Require Export Tactic.
From Interval Require Import Specific_stdz Specific_ops.

Module IntegerFloat := SpecificFloat StdZRadix2.
Module IntegerTactic := IntervalTactic IntegerFloat.
Export IntegerTactic.

Ltac enclose := interval with (i_prec 60%positive).
