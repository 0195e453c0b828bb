(* False: a quarter of delta; one bin, n = 1 and a rate just above U(0) = 1 - delta/2: the limits fail with
   probability nearly delta/2. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums Probability T3prime T1second.
Import ListNotations.
Open Scope R_scope.

Theorem T1second_bins_quarter_of_delta (S Q : space) (B : Type) (n : nat) (z : nat -> outcome S ->
  outcome Q) (bins : list B)
  (inside : B -> outcome Q -> R) (hit : outcome Q -> R) (pi : B -> R) (U : nat -> nat -> R) (delta : R) :
  0 <= delta -> binned n z bins inside hit pi ->
  (forall N, (N <= n)%nat -> upper_limit N (delta / (2 * INR (length bins))) (U N)) ->
  1 - delta / 4 <= E (fun o => prod bins (fun b =>
    covers U (points z (inside b) (seq 0 n) o) (hits z (inside b) hit (seq 0 n) o) (pi b))).
Proof.
  intros d0 [HD [Rh [H01 [Ri [I01 [I1 HP]]]]]] HU.
  set (cov := fun b o => covers U (points z (inside b) (seq 0 n) o) (hits z (inside b) hit (seq 0 n) o) (pi
    b)).
  assert (HB : forall b, In b bins -> rv (cov b) /\ 1 - delta / INR (length bins) <= E (cov b)).
  { intros b Hb. destruct (HP b Hb) as [P01 P2].
    destruct (bin_expectation z (inside b) hit (E (inside b)) (pi b) (Ri b Hb) Rh (I01 b) H01 eq_refl P2 n
      (fun N K => covers U N K (pi b)) HD) as [R1 E1].
    split; [exact R1|]. unfold cov. rewrite E1.
    assert (nb : 0 < INR (length bins)).
    { apply lt_0_INR. destruct bins; [easy | simpl; lia]. }
    apply bin_mean_ge.
    - split; [apply E_pos; [now apply Ri | intros q; destruct (I01 b q); lra]|].
      rewrite <- (@E_const Q 1). apply E_le; [now apply Ri | apply rv_const | intros q; destruct (I01 b q);
        lra].
    - intros N HN. pose proof (covers_mean N (pi b) (delta / (2 * INR (length bins))) U) as C.
      replace (delta / INR (length bins)) with (2 * (delta / (2 * INR (length bins)))) by (field; lra).
      apply C; [|easy | now apply HU]. apply Rmult_le_pos; [easy | left; apply Rinv_0_lt_compat; lra]. }
  assert (RP : rv (fun o => prod bins (fun b => cov b o))) by (apply rv_prod; intros b Hb; now apply HB).
  assert (RC : forall b, In b bins -> rv (fun o => 1 - cov b o)).
  { intros b Hb. apply rv_minus; [apply rv_const | now apply HB]. }
  apply Rle_trans with (E (fun o => 1 - sum bins (fun b => 1 - cov b o))).
  - rewrite (E_minus (fun _ => 1)), E_const by (apply rv_const || now apply (rv_sum bins (fun b o =>
      1 - cov b o))).
    rewrite (E_sum bins (fun b o => 1 - cov b o)) by easy.
    assert (LE : sum bins (fun b => E (fun o => 1 - cov b o)) <= delta); [|lra].
    apply Rle_trans with (sum bins (fun _ => delta / INR (length bins))).
    + apply sum_le. intros b Hb. destruct (HB b Hb) as [R1 E1].
      rewrite (E_minus (fun _ => 1)), E_const by (easy || apply rv_const). lra.
    + rewrite sum_const. destruct bins as [|b t]; [simpl; lra|].
      right. field. apply not_0_INR. simpl. lia.
  - apply E_le; [|easy|].
    + apply rv_minus; [apply rv_const | now apply (rv_sum bins (fun b o => 1 - cov b o))].
    + intros o. apply bonferroni. intros b _. apply covers_01.
Qed.
