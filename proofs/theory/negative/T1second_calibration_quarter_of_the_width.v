(* False: a quarter of the width; one bin, n = 1, rate 1/2, delta = 0.1: the answers 0 and 1 are within the
   limits, which are 0.95 wide, and err by 1/2 surely. *)
Require Import Reals List Lra Psatz Lia.
From LPF Require Import Sums Probability T3prime T1second.
Import ListNotations.
Open Scope R_scope.

Theorem T1second_calibration_quarter_of_the_width (S Q : space) (B : Type) (n : nat) (z : nat -> outcome S ->
  outcome Q)
  (bins : list B) (inside : B -> outcome Q -> R) (hit : outcome Q -> R) (pi : B -> R) (U : nat -> nat -> R)
  (delta : R) (answer : nat -> nat -> R) :
  let N b o := points z (inside b) (seq 0 n) o in
  let K b o := hits z (inside b) hit (seq 0 n) o in
  0 <= delta -> binned n z bins inside hit pi ->
  (forall N, (N <= n)%nat -> upper_limit N (delta / (2 * INR (length bins))) (U N)) ->
  (forall N K, (K <= N <= n)%nat -> lower U N K <= answer N K <= U N K) ->
  1 - delta <= prob_le (fun o => sum bins (fun b => E (inside b) * Rabs (answer (N b o) (K b o) - pi b))
    - / 4 * largest bins (fun b => U (N b o) (K b o) - lower U (N b o) (K b o))) 0.
Proof.
  intros N K d0 HB HU HA. eapply Rle_trans; [exact (T1second_bins S Q B n z bins inside hit pi U delta d0 HB
    HU)|].
  destruct HB as [HD [Rh [H01 [Ri [I01 [I1 HP]]]]]].
  assert (RV : forall b (h : nat -> nat -> R), In b bins -> rv (fun o => h (N b o) (K b o))).
  { intros b h Hb. apply (bin_rv z (inside b) hit (Ri b Hb) Rh (I01 b) H01). intros i f Hi Hf. now apply HD. }
  assert (NK : forall b o, (K b o <= N b o <= n)%nat).
  { intros b o. unfold K, N, hits, points. split.
    - generalize (seq 0 n) as l. induction l as [|i t IH]; [easy|]. cbn [count].
      destruct (I01 b (z i o)) as [-> | ->]; destruct Req_EM_T; try (destruct Req_EM_T; lia || lra);
        lra || lia.
    - eapply Nat.le_trans; [apply count_le | now rewrite seq_length]. }
  assert (W1 : sum bins (fun b => E (inside b)) = 1).
  { rewrite <- (E_sum bins inside) by easy. rewrite (E_ext _ (fun _ => 1)) by easy. apply E_const. }
  assert (W0 : forall b, In b bins -> 0 <= E (inside b)).
  { intros b Hb. apply E_pos; [now apply Ri | intros q; destruct (I01 b q); lra]. }
  apply E_le.
  - apply (rv_prod bins (fun b o => covers U (N b o) (K b o) (pi b))). intros b Hb.
    apply (RV b (fun N K => covers U N K (pi b)) Hb).
  - apply rv_le, rv_minus.
    + apply (rv_sum bins (fun b o => E (inside b) * Rabs (answer (N b o) (K b o) - pi b))). intros b Hb.
      apply rv_scal. apply (RV b (fun N K => Rabs (answer N K - pi b)) Hb).
    + apply (rv_largest bins (fun b o => U (N b o) (K b o) - lower U (N b o) (K b o))). intros b Hb.
      apply (RV b (fun N K => U N K - lower U N K) Hb).
  - intros o. fold (N) (K). set (big := largest bins _).
    assert (CASE : (forall b, In b bins -> lower U (N b o) (K b o) <= pi b <= U (N b o) (K b o)) \/
      prod bins (fun b => covers U (N b o) (K b o) (pi b)) = 0).
    { generalize bins as l. induction l as [|b t IH]; [now left|]. simpl. destruct IH as [IH| ->];
        [|right; ring].
      destruct (Rle_dec (lower U (N b o) (K b o)) (pi b)) as [L|L];
        [destruct (Rle_dec (pi b) (U (N b o) (K b o))) as [G|G]|].
      - left. intros c [<-|Hc]; auto.
      - right. unfold covers, ind. destruct (Rle_dec (pi b)); [contradiction | ring].
      - right. unfold covers, ind. destruct (Rle_dec (lower U (N b o) (K b o))); [contradiction | ring]. }
    destruct CASE as [C|C].
    + eapply Rle_trans; [apply (bonferroni bins (fun b => covers U (N b o) (K b o) (pi b))); intros;
        apply covers_01|].
      unfold ind. destruct Rle_dec as [|F]; [lra|]. exfalso; apply F.
      enough (sum bins (fun b => E (inside b) * Rabs (answer (N b o) (K b o) - pi b)) <= big) by lra.
      rewrite <- (Rmult_1_l big), <- W1, <- sum_scal_r. apply sum_le. intros b Hb.
      apply Rmult_le_compat_l; [auto|].
      eapply Rle_trans; [|apply (le_largest bins (fun b => U (N b o) (K b o) - lower U (N b o) (K b o)) b
        Hb)].
      destruct (C b Hb). destruct (HA (N b o) (K b o) (NK b o)). unfold Rabs. destruct Rcase_abs; lra.
    + change (prod bins (fun b => covers U (N b o) (K b o) (pi b)) <= ind (Rle_dec
        (sum bins (fun b => E (inside b) * Rabs (answer (N b o) (K b o) - pi b)) - big) 0)).
      rewrite C. apply ind_01.
Qed.
