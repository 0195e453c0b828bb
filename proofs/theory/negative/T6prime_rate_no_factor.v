(* False: without the factor 1/(2(K+1)) it is above the bound rho^K/2 of T6prime_chernoff. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World T1 T4prime.
From LPF Require Import T6prime.
Import ListNotations.
Open Scope R_scope.

Theorem T6prime_rate_no_factor : forall m : nat,
  let rho := affinity [true; false] (/ 2) (fun a => p34 a true) (fun a => p34 a false) in
  forall decision : list bool -> bool,
  rho ^ (2 * m) <= error (coin (2 * m)) decision.
Proof.
  intros m rho dec. set (W := coin (2 * m)). destruct (coin_world (2 * m)) as [HW _]. fold W in HW.
  assert (R : rho * rho = 3 / 4).
  { unfold rho, affinity. cbn [sum]. rewrite <- !sqrt_between by (simpl; lra). simpl p34.
    rewrite (Rmult_comm (/ 4) (3 / 4)), Rplus_0_r.
    replace ((sqrt (3 / 4 * / 4) + sqrt (3 / 4 * / 4)) * (sqrt (3 / 4 * / 4) + sqrt (3 / 4 * / 4)))
      with (4 * (sqrt (3 / 4 * / 4) * sqrt (3 / 4 * / 4))) by ring.
    rewrite sqrt_sqrt; lra. }
  assert (E : rho ^ (2 * m) = 4 ^ m * (3 / 16) ^ m).
  { rewrite pow_mult, <- Rpow_mult_distr. f_equal. simpl. rewrite Rmult_1_r, R. lra. }
  assert (P : 0 < (3 / 16) ^ m) by (apply pow_lt; lra).
  apply Rle_trans with (/ 2 * (3 / 16) ^ m * tuples_with (2 * m) m).
  - pose proof (half_heads m) as B. pose proof (pos_INR (2 * m)) as k0. rewrite E.
    replace (/ (2 * (INR (2 * m) + 1)) * (4 ^ m * (3 / 16) ^ m))
      with (/ 2 * (3 / 16) ^ m * (4 ^ m / (INR (2 * m) + 1))) by (field; lra).
    apply Rmult_le_compat_l; lra.
  - unfold error. rewrite <- (mass_total W HW), <- sum_minus. unfold tuples_with. rewrite <- sum_scal.
    apply sum_le; intros e He. destruct (one_cases (heads e = m)) as [[h ->]|[_ ->]].
    + assert (L : length e = (2 * m)%nat) by (now apply in_tuples in He).
      destruct (heads_prod e) as (E1 & E2 & _). rewrite L, h in E1, E2.
        replace (2 * m - m)%nat with m in E1, E2 by lia.
      rewrite <- Rpow_mult_distr in E1, E2. replace (/ 4 * (3 / 4)) with (3 / 16) in E2 by lra.
      replace (3 / 4 * / 4) with (3 / 16) in E1 by lra.
      assert (J : forall y, joint W y e = / 2 * (3 / 16) ^ m).
      { intros []; unfold W, coin; cbn [joint product_world]; f_equal; easy. }
      change (mass W e) with (joint W true e + (joint W false e + 0)). rewrite !J. lra.
    + pose proof (joint_le_mass W HW (dec e) e ltac:(destruct (dec e); simpl; tauto) He). lra.
Qed.
