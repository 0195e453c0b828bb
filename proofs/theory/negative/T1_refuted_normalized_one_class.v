(* False: with a single class every prediction is right and certain, so the bound holds with C = 0. *)
Require Import Reals List Lra Lia Psatz.
From LPF Require Import Sums World.
From LPF Require Import T1.
Import ListNotations.
Open Scope R_scope.

Theorem T1_refuted_normalized_one_class : forall f C, (exists v, 0 <= v /\ 0 < f v) ->
  ~ (forall (Y A : Type) (W : world Y A) (L : pipeline Y A) (eps delta k : R), length (classes W) = 1%nat ->
    is_world W -> (1 <= items W)%nat -> is_pipeline W L ->
    (forall i a, exists m s, encoder L i a = two_points m s) -> 0 <= eps -> 0 < delta < 1 -> 0 < k ->
    A1 W -> A2 L -> A3 W L eps -> A6 W L -> calibrated W (factor L) eps ->
    (forall e, In e (evidence W) -> K_eff (items W) (fun i => normalized Y A W L f i e) = k) ->
    let P := pool W (factor L) (normalized Y A W L f) in
    exists bin hat, picks W P hat /\ ece W bin P hat <= eps + C delta (length (classes W)) / sqrt k).
Proof.
  intros f C (v & v0 & w0) H. set (c := C (/ 2) 2%nat).
  destruct (exists_nat_above (64 * c ^ 2 + 21)) as (K & K1 & HK). pose proof (pow2_ge_0 c) as c2.
  destruct (coin_world K) as [HW HA]. pose proof (mass_total (coin K) HW) as one_mass.
  assert (R0 : 0 < / INR K) by (apply Rinv_0_lt_compat; lra).
  assert (WT : forall i e, normalized bool bool (coin K) (coin_lpf v) f i e = / INR K).
  { intros. unfold normalized, normalized_weight, raw_weight. rewrite coin_spread by easy.
    rewrite (sum_ext _ _ (fun _ => f v)) by (intros; now rewrite coin_spread).
    rewrite sum_const, seq_length. simpl items. field. lra. }
  destruct (H bool bool (coin K) (coin_lpf v) 0 (/ 2) (INR K)) as (bin & hat & Hhat & B); try easy.
  - split; [intros; apply two_points_expectation|]. intros z. simpl.
    destruct (decide (0 < z)); (split; [intros [] _; simpl; lra | simpl; lra]).
  - intros i a. now exists (center v a), (sqrt v).
  - lra.
  - lra.
  - lra.
  - exists v. intros. rewrite coin_spread; lra.
  - intros i y q Hi Hy. cbv zeta. rewrite Rmult_0_l, <- sum_scal.
    rewrite (sum_ext _ (fun e => encoder (coin_lpf v) i (item (coin K) i e) _ * joint (coin K) y e)
      (fun e => one (p34 (item (coin K) i e) y = q) * joint (coin K) y e)).
    2: { intros e _. f_equal. exact (coin_encode v i (item (coin K) i e) (fun a => one (p34 a y = q))). }
    rewrite (coin_calibrated K i y (fun a => one (p34 a y = q))), <- sum_minus by easy.
    rewrite (sum_ext _ _ (fun _ => 0)); [rewrite sum_0, Rabs_R0; lra|]. intros e _.
    pose proof (coin_encode v i (item (coin K) i e) (fun a => one (p34 a y = q))) as E. simpl in E |- *.
      rewrite E.
    match goal with |- context [one ?p] => destruct (one_cases p) as [[-> ->]|[_ ->]] end; lra.
  - intros z y _. simpl. pose proof (p34_range (if decide (0 < z) then true else false) y). lra.
  - intros i y q Hi Hy. cbv zeta. rewrite Rmult_0_l, <- sum_scal.
    rewrite (coin_calibrated K i y (fun a => one (factor (coin_lpf v) i a y = q))), <- sum_minus by easy.
    rewrite (sum_ext _ _ (fun _ => 0)); [rewrite sum_0, Rabs_R0; lra|]. intros e _. rewrite coin_factor.
    match goal with |- context [one ?p] => destruct (one_cases p) as [[-> ->]|[_ ->]] end; lra.
  - intros e He. rewrite (K_eff_ext _ _ (fun _ => / INR K)); [apply K_eff_equal; [easy|lra]|]. intros.
    apply WT.
  - assert (G : / 8 <= ece (coin K) bin (pool (coin K) (factor (coin_lpf v)) (normalized bool bool (coin K)
    (coin_lpf v) f)) hat).
    { apply coin_mean_error; [lra | intros; apply coin_factor | exact WT | exact Hhat]. }
    assert (T : c / sqrt (INR K) < / 8) by (apply over_sqrt; lra).
    change (C (/ 2) (length (classes (coin K)))) with c in B. lra.
Qed.
