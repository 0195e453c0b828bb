(* False: with C = 0 no items are asked for, which is true. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1 L5 T4 T4_moreover.
From LPF Require Import T6.
Import ListNotations.
Open Scope R_scope.

Theorem T6_refuted_necessary_constant_zero : forall wt C delta, wt 1%nat = 1 -> 0 < delta < 1 ->
  0 <= C (/ 16) delta 2%nat ->
  ~ theorem_6_necessary wt C.
Proof.
  intros wt C delta W1 Hd c0 H. set (c := C (/ 16) delta 2%nat) in *. set (eps := Rabs c / 2).
  assert (a0 : 0 < Rabs c) by now apply Rabs_pos_lt. destruct (coin_world 1) as [HW _].
  specialize (H bool bool (coin 1) (fun _ => p34) (/ 16) eps delta (coin_setting_6 1 (le_n 1))).
  change (C (/ 16) delta (length (classes (coin 1)))) with c in H. change (INR (items (coin 1))) with 1 in H.
  assert (E : c ^ 2 / eps ^ 2 = 4).
  { unfold eps. rewrite <- (Rsqr_pow2 c), Rsqr_abs, Rsqr_pow2. field. lra. }
  rewrite E in H. assert (1 >= 4); [|lra]. apply H; [unfold eps; lra | easy |].
  intros bin hat Hh. rewrite ece_posterior; [unfold eps; lra | easy | intros; now apply Hh |].
  intros e He _. rewrite <- coin_product. unfold product_6, plain_product.
    change (items (coin 1)) with 1%nat. now rewrite W1.
Qed.
