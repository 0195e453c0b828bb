(* False: a quarter of the sum in place of half of it. Replacing (0.1, 0.8, 0.1) by (0.8, 0.1, 0.1) moves the
   pool by 1.4, while the bound would be 0.96. *)
Require Import Reals List Lra Psatz.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.
From LPF Require Import T5prime.


Theorem T5prime_floor_quarter : forall (I Y : Type) (ys : list Y) (items : list I) (bad : I -> bool)
  (w : I -> R)
  (f g : I -> Y -> R) (low : R) (delta : I -> R),
  ys <> [] -> 0 < low -> (forall i, In i items -> 0 <= w i) ->
  (forall i, In i items -> distribution ys (f i)) -> (forall i, In i items -> distribution ys (g i)) ->
  (forall i y, In i items -> In y ys -> low <= f i y) -> (forall i y, In i items -> In y ys -> low <= g i y)
    ->
  (forall i y, In i items -> In y ys -> bad i = false -> g i y = f i y) ->
  (forall i, In i items -> L1 ys (f i) (g i) <= delta i) ->
  L1 ys (pool ys items w f) (pool ys items w g)
    <= 2 * tanh (sum (filter bad items) (fun i => w i * ln (1 + delta i / (2 * low))) / 4).
Proof.
  intros I Y ys items bad w f g low delta ne l0 w0 df dg ff fg E Hd.
  assert (R : replacement ys items bad w f g).
  { repeat split; auto.
    - intros; now apply df.
    - intros; now apply dg.
    - intros; apply Rlt_le_trans with low; auto.
    - intros; apply Rlt_le_trans with low; auto.
    - destruct ys as [|y t]; [easy|]. simpl. apply Rplus_lt_le_0_compat.
      + apply prod_pos; intros. apply power_pos. apply Rlt_le_trans with low; auto with datatypes.
      + apply sum_nonneg; intros. apply prod_nonneg; intros. apply power_nonneg. }
  eapply Rle_trans; [apply (T5prime_2 _ _ _ _ _ _ _ _ R)|].
  apply Rmult_le_compat_l; [lra|]. apply tanh_mono.
  apply Rle_trans with (sum (filter bad items) (fun i => 2 * (w i * ln (1 + delta i / (2 * low)))) / 4);
    [|rewrite sum_scal; lra].
  unfold Rdiv. apply Rmult_le_compat_r; [lra|]. apply sum_le; intros i Hi.
  apply filter_In in Hi. destruct Hi as [Hi _].
  replace (2 * (w i * ln (1 + delta i * / (2 * low)))) with (w i * (2 * ln (1 + delta i / (2 * low))))
    by (unfold Rdiv; ring).
  apply Rmult_le_compat_l; [now apply w0|]. apply T5prime_3; auto.
Qed.
