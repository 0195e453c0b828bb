(* Assumption 4 of the paper (section 2): the sum-product network performs exact marginal inference. Lemma 3
   and section 1.2 rest on it. Here it is proved, for any network.

   A network over variables with finitely many states is built from leaves (one non-negative number for each
   state of one variable: a categorical distribution or an indicator), weighted sums and products. It is
   complete if all children of a sum have the same scope, and decomposable if no two children of a product
   share a variable. Then one bottom-up pass, in which a leaf adds up its values at the states that the
   evidence allows, computes exactly the sum of the network's polynomial over all states that the evidence
   allows. With normalized leaves and weights the polynomial is a probability distribution, the values of the
   pass are its marginals, and without evidence the value is 1. Shown first for trees, then for graphs with
   shared nodes (a list of nodes, children before parents), which is what is evaluated in practice. *)
Require Import Reals List Lra Psatz Arith Permutation FunctionalExtensionality.
From LPF Require Import Sums.
Import ListNotations.
Open Scope R_scope.

Definition total (l : list R) : R := sum l (fun x => x).
Definition times (l : list R) : R := prod l (fun x => x).
Definition disjoint (a b : list nat) : Prop := forall v, In v a -> ~ In v b.
Definition same_scope (a b : list nat) : Prop := forall v, In v a <-> In v b.

(** * Networks as trees *)

Inductive spn :=
  | Leaf (v : nat) (f : nat -> R)
  | Sum (l : list (R * spn))
  | Prod (l : list spn).

(* The variables below a node; a sum has the scope of its first child. *)
Fixpoint scope (t : spn) : list nat :=
  match t with
  | Leaf v _ => [v]
  | Sum l => match l with [] => [] | (_, c) :: _ => scope c end
  | Prod l => flat_map scope l
  end.

(* One bottom-up pass, given the value of a leaf over v with values f. *)
Fixpoint value (leaf : nat -> (nat -> R) -> R) (t : spn) : R :=
  match t with
  | Leaf v f => leaf v f
  | Sum l => total (map (fun wc => match wc with (w, c) => w * value leaf c end) l)
  | Prod l => times (map (value leaf) l)
  end.

(* Complete and decomposable. *)
Inductive valid : spn -> Prop :=
  | valid_leaf v f : valid (Leaf v f)
  | valid_sum l : l <> [] -> (forall w c, In (w, c) l -> valid c) ->
      (forall w c w' c', In (w, c) l -> In (w', c') l -> same_scope (scope c) (scope c')) -> valid (Sum l)
  | valid_prod l : (forall c, In c l -> valid c) ->
      ForallOrdPairs (fun a b => disjoint (scope a) (scope b)) l -> valid (Prod l).

Section Semantics.
Variable states_of : nat -> nat. (* how many states each variable has *)

(* A leaf under evidence that gives each state of each variable a likelihood. *)
Definition under (lik : nat -> nat -> R) (v : nat) (f : nat -> R) : R :=
  sum (seq 0 (states_of v)) (fun s => f s * lik v s).
(* A leaf at a state of all variables. *)
Definition at_state (x : nat -> nat) (v : nat) (f : nat -> R) : R := f (x v).
(* The network's polynomial. *)
Definition polynomial (t : spn) (x : nat -> nat) : R := value (at_state x) t.

(* Evidence observes some variables and leaves the others open. *)
Definition likelihood (e : nat -> option nat) (v s : nat) : R :=
  match e v with None => 1 | Some o => if Nat.eqb s o then 1 else 0 end.
Definition compatible (e : nat -> option nat) (vs : list nat) (x : nat -> nat) : bool :=
  forallb (fun v => match e v with None => true | Some o => Nat.eqb (x v) o end) vs.
Definition nothing (_ : nat) : option nat := None.

(* Non-negative weights and leaves that sum to one. *)
Inductive normalized : spn -> Prop :=
  | normalized_leaf v f : distribution (seq 0 (states_of v)) f -> normalized (Leaf v f)
  | normalized_sum l : (forall w c, In (w, c) l -> 0 <= w) -> sum l fst = 1 ->
      (forall w c, In (w, c) l -> normalized c) -> normalized (Sum l)
  | normalized_prod l : (forall c, In c l -> normalized c) -> normalized (Prod l).

(** * All states of a list of variables *)

Definition set (x : nat -> nat) (v s : nat) : nat -> nat := fun u => if Nat.eqb u v then s else x u.
Fixpoint states (vs : list nat) : list (nat -> nat) :=
  match vs with
  | [] => [fun _ => 0%nat]
  | v :: t => flat_map (fun s => map (fun x => set x v s) (states t)) (seq 0 (states_of v))
  end.

Lemma sum_app {A} (l m : list A) f : sum (l ++ m) f = sum l f + sum m f.
Proof. induction l; simpl; lra. Qed.
Lemma sum_map {A B} (l : list A) (g : A -> B) f : sum (map g l) f = sum l (fun x => f (g x)).
Proof. induction l; simpl; congruence. Qed.
Lemma prod_map {A B} (l : list A) (g : A -> B) f : prod (map g l) f = prod l (fun x => f (g x)).
Proof. induction l; simpl; congruence. Qed.
Lemma prod_app {A} (l m : list A) f : prod (l ++ m) f = prod l f * prod m f.
Proof. induction l; simpl; [ring|]. rewrite IHl. ring. Qed.
Lemma prod_ext_in {A} (l : list A) f g : (forall x, In x l -> f x = g x) -> prod l f = prod l g.
Proof. induction l; simpl; intros H; [easy|]. rewrite H, IHl; auto. Qed.
Lemma sum_flat_map {A B} (l : list A) (g : A -> list B) f : sum (flat_map g l) f = sum l
  (fun x => sum (g x) f).
Proof. induction l; simpl; [easy|]. now rewrite sum_app, IHl. Qed.
Lemma sum_filter {A} (l : list A) b f : sum (filter b l) f = sum l (fun x => f x * if b x then 1 else 0).
Proof. induction l as [|a t IH]; simpl; [easy|]. destruct (b a); simpl; rewrite IH; ring. Qed.

Lemma sum_states v vs F :
  sum (states (v :: vs)) F = sum (seq 0 (states_of v)) (fun s => sum (states vs) (fun x => F (set x v s))).
Proof. simpl. rewrite sum_flat_map. apply sum_ext; intros s _. apply sum_map. Qed.

Lemma set_comm x u v s t : u <> v -> set (set x v t) u s = set (set x u s) v t.
Proof.
  intros H. apply functional_extensionality; intros w. unfold set.
  destruct (Nat.eqb_spec w u), (Nat.eqb_spec w v); congruence.
Qed.

(* The order of the variables does not matter. *)
Lemma sum_states_perm vs vs' : Permutation vs vs' -> NoDup vs -> forall F, sum (states vs) F = sum
  (states vs') F.
Proof.
  induction 1 as [|v vs vs' P IH|u v vs|vs vs' vs'' P IH P' IH']; intros N F.
  - easy.
  - rewrite !sum_states. apply sum_ext; intros s _. apply IH. now inversion N.
  - rewrite sum_states. rewrite (sum_ext _ _ _ (fun s _ => sum_states u vs _)).
    rewrite sum_states. rewrite (sum_ext _ _ _ (fun s _ => sum_states v vs _)).
    rewrite sum_swap. apply sum_ext; intros s _; apply sum_ext; intros t _; apply sum_ext; intros x _.
    f_equal. apply set_comm. inversion N as [|? ? N1]; subst. intros ->. apply N1; now left.
  - rewrite IH by easy. apply IH'. now apply Permutation_NoDup with vs.
Qed.

Definition depends (F : (nat -> nat) -> R) (vs : list nat) : Prop :=
  forall x y, (forall v, In v vs -> x v = y v) -> F x = F y.

(* Functions of disjoint sets of variables: the sum of the product is the product of the sums. *)
Lemma sum_states_product vs1 vs2 : NoDup (vs1 ++ vs2) -> forall F1 F2, depends F1 vs1 -> depends F2 vs2 ->
  sum (states (vs1 ++ vs2)) (fun x => F1 x * F2 x) = sum (states vs1) F1 * sum (states vs2) F2.
Proof.
  induction vs1 as [|v vs1 IH]; intros N F1 F2 D1 D2.
  - simpl. rewrite Rplus_0_r, <- sum_scal. apply sum_ext; intros x _. f_equal. apply D1. intros u [].
  - change ((v :: vs1) ++ vs2) with (v :: (vs1 ++ vs2)). rewrite !sum_states, <- sum_scal_r.
    inversion N as [|? ? N1 N2]; subst. apply sum_ext; intros s _. rewrite <- IH; auto.
    + apply sum_ext; intros x _. f_equal. apply D2. intros u Hu. unfold set.
      destruct (Nat.eqb_spec u v); [|easy]. subst. exfalso. apply N1, in_or_app; now right.
    + intros x y H. apply D1. intros u Hu. unfold set. destruct (Nat.eqb_spec u v); [easy|].
      apply H. destruct Hu; [congruence | easy].
Qed.

(** * Trees *)

Definition spn_induction (P : spn -> Prop)
  (leaf : forall v f, P (Leaf v f))
  (s : forall l, (forall w c, In (w, c) l -> P c) -> P (Sum l))
  (p : forall l, (forall c, In c l -> P c) -> P (Prod l)) : forall t, P t :=
  fix go t : P t :=
    match t with
    | Leaf v f => leaf v f
    | Sum l => s l ((fix all l : forall w c, In (w, c) l -> P c :=
        match l with
        | [] => fun w c H => match H with end
        | (w0, c0) :: m => fun w c H => match H with
          | or_introl E => eq_ind c0 P (go c0) c (f_equal snd E)
          | or_intror H => all m w c H end
        end) l)
    | Prod l => p l ((fix all l : forall c, In c l -> P c :=
        match l with
        | [] => fun c H => match H with end
        | c0 :: m => fun c H => match H with
          | or_introl E => eq_ind c0 P (go c0) c E
          | or_intror H => all m c H end
        end) l)
    end.

Lemma flat_map_NoDup (l : list spn) : (forall c, In c l -> NoDup (scope c)) ->
  ForallOrdPairs (fun a b => disjoint (scope a) (scope b)) l -> NoDup (flat_map scope l).
Proof.
  induction l as [|c t IH]; simpl; intros H D; [constructor|].
  inversion D as [|? ? D1 D2]; subst. rewrite Forall_forall in D1.
  assert (G : forall a b : list nat, NoDup a -> NoDup b -> disjoint a b -> NoDup (a ++ b)).
  { induction a as [|v a IHa]; simpl; intros b Na Nb Ds; [easy|]. inversion Na; subst. constructor.
    - rewrite in_app_iff. intros [|]; [easy|]. apply (Ds v); simpl; auto.
    - apply IHa; auto. intros u Hu. apply Ds; now right. }
  apply G; auto. intros v Hv Hv'. apply in_flat_map in Hv'. destruct Hv' as [c' [Hc Hv']].
  now apply (D1 c' Hc v Hv).
Qed.

Lemma scope_NoDup t : valid t -> NoDup (scope t).
Proof.
  induction t as [v f|l IH|l IH] using spn_induction; intros V; simpl.
  - repeat constructor. easy.
  - destruct l as [|[w c] m]; [constructor|]. inversion V; subst. apply (IH w);
      [now left | eauto using in_eq].
  - inversion V; subst. apply flat_map_NoDup; auto.
Qed.

Lemma scope_sum l w c : valid (Sum l) -> In (w, c) l -> same_scope (scope c) (scope (Sum l)).
Proof.
  intros V H. inversion V as [|? ? V1 V2|]; subst. destruct l as [|[w' c'] m]; [easy|]. simpl.
  eapply V2; [exact H | now left].
Qed.

(* The polynomial depends on the variables in the scope only. *)
Lemma polynomial_depends t : valid t -> depends (polynomial t) (scope t).
Proof.
  induction t as [v f|l IH|l IH] using spn_induction; intros V x y H; unfold polynomial; simpl.
  - unfold at_state. f_equal. apply H. now left.
  - unfold total. rewrite !sum_map. apply sum_ext. intros [w c] Hc. f_equal.
    inversion V; subst. apply (IH w c Hc); [eauto|]. intros v Hv. apply H. now apply (scope_sum l w c V Hc).
  - unfold times. rewrite !prod_map. apply prod_ext_in; intros c Hc. inversion V; subst.
    apply (IH c Hc); [auto|]. intros v Hv. apply H. simpl. apply in_flat_map; eauto.
Qed.

Section Pass.
Variable lik : nat -> nat -> R.
(* The sum of p over all states of vs, weighted by the likelihoods. *)
Definition weighted (vs : list nat) (p : (nat -> nat) -> R) : R :=
  sum (states vs) (fun x => p x * prod vs (fun v => lik v (x v))).

Lemma prod_perm (vs vs' : list nat) f : Permutation vs vs' -> prod vs f = prod vs' f.
Proof. induction 1; simpl; [easy | congruence | ring | congruence]. Qed.

Lemma weighted_scope vs vs' p : NoDup vs -> NoDup vs' -> same_scope vs vs' -> weighted vs p = weighted vs' p.
Proof.
  intros N N' H. assert (P : Permutation vs vs') by now apply NoDup_Permutation.
  unfold weighted. rewrite (sum_states_perm vs vs' P N). apply sum_ext; intros x _. f_equal.
    now apply prod_perm.
Qed.

Lemma weighted_product (l : list spn) : (forall c, In c l -> valid c) ->
  ForallOrdPairs (fun a b => disjoint (scope a) (scope b)) l ->
  weighted (flat_map scope l) (fun x => prod l (fun c => polynomial c x)) =
  prod l (fun c => weighted (scope c) (polynomial c)).
Proof.
  induction l as [|c t IH]; intros V D; [unfold weighted; simpl; ring|].
  assert (N : NoDup (flat_map scope (c :: t))) by (apply flat_map_NoDup;
    [intros; now apply scope_NoDup, V | easy]).
  inversion D; subst. simpl. rewrite <- IH by (auto with datatypes). unfold weighted at 1 2 3.
  rewrite <- sum_states_product; [|exact N| |].
  - apply sum_ext; intros x _. rewrite prod_app. ring.
  - intros x y E. f_equal; [now apply polynomial_depends; [apply V; left|]|].
    apply prod_ext_in; intros v Hv. now rewrite E.
  - intros x y E. f_equal; [|apply prod_ext_in; intros v Hv; now rewrite E].
    apply prod_ext_in; intros c' Hc. apply polynomial_depends; [apply V; now right|].
    intros v Hv. apply E. apply in_flat_map; eauto.
Qed.

Lemma pass_is_weighted t : valid t -> value (under lik) t = weighted (scope t) (polynomial t).
Proof.
  induction t as [v f|l IH|l IH] using spn_induction; intros V.
  - unfold weighted, polynomial, under, at_state. simpl. rewrite sum_flat_map.
    apply sum_ext; intros s _. simpl. unfold set. rewrite Nat.eqb_refl. ring.
  - assert (E : forall w c, In (w, c) l -> value (under lik) c = weighted (scope (Sum l)) (polynomial c)).
    { intros w c Hc. inversion V; subst. rewrite (IH w c Hc) by eauto.
      apply weighted_scope; [apply scope_NoDup; eauto | now apply scope_NoDup | now apply (scope_sum l w c)].
        }
    generalize dependent (scope (Sum l)). intros vs E. unfold weighted, polynomial in *. simpl. unfold total.
    rewrite sum_map. rewrite (sum_ext (states vs) _
      (fun x => sum l (fun wc => fst wc * (value (at_state x) (snd wc) * prod vs (fun v => lik v (x v)))))).
    + rewrite <- sum_swap. apply sum_ext; intros [w c] Hc. simpl. rewrite sum_scal. f_equal.
        now apply E with w.
    + intros x _. rewrite sum_map, <- sum_scal_r. apply sum_ext; intros [w c] _. simpl. ring.
  - inversion V; subst. simpl. unfold times. rewrite prod_map.
    rewrite (prod_ext_in l _ (fun c => weighted (scope c) (polynomial c))) by auto.
    rewrite <- weighted_product by easy. unfold weighted. apply sum_ext; intros x _. f_equal.
    unfold polynomial. simpl. unfold times. now rewrite prod_map.
Qed.
End Pass.

(* Likelihoods of evidence multiply to the indicator of the states that the evidence allows. *)
Lemma compatible_prod e vs x :
  prod vs (fun v => likelihood e v (x v)) = if compatible e vs x then 1 else 0.
Proof.
  unfold compatible. induction vs as [|v t IH]; simpl; [easy|]. rewrite IH. unfold likelihood.
  destruct (forallb _ t), (e v) as [o|]; simpl; try destruct (Nat.eqb (x v) o); simpl; ring.
Qed.

Lemma pass_exact t vs e : valid t -> NoDup vs -> same_scope vs (scope t) ->
  value (under (likelihood e)) t = sum (filter (compatible e vs) (states vs)) (polynomial t).
Proof.
  intros V N S. rewrite (pass_is_weighted (likelihood e) t V).
  rewrite (weighted_scope _ (scope t) vs); [|now apply scope_NoDup | easy | intros v; symmetry; apply S].
  unfold weighted. rewrite sum_filter. apply sum_ext; intros x _. now rewrite compatible_prod.
Qed.

Lemma pass_nothing t : normalized t -> value (under (likelihood nothing)) t = 1.
Proof.
  induction t as [v f|l IH|l IH] using spn_induction; intros Nt; simpl; inversion Nt; subst.
  - unfold under, likelihood. simpl. rewrite (sum_ext _ _ f) by (intros; ring).
    match goal with H : distribution _ _ |- _ => apply H end.
  - unfold total. rewrite sum_map. transitivity (sum l fst); [|easy].
    apply sum_ext; intros [w c] Hc. simpl. rewrite (IH w c Hc) by eauto. ring.
  - unfold times. rewrite prod_map. rewrite (prod_ext_in _ _ (fun _ => 1)) by auto.
    clear. induction l; simpl; [easy|]. rewrite IHl. ring.
Qed.

Lemma in_states x vs : In x (states vs) -> forall v, In v vs -> (x v < states_of v)%nat.
Proof.
  revert x. induction vs as [|u t IH]; intros x Hx v Hv; [easy|]. simpl in Hx.
  apply in_flat_map in Hx. destruct Hx as [s [Hs Hx]]. apply in_map_iff in Hx. destruct Hx as [y [<- Hy]].
  apply in_seq in Hs. unfold set. destruct (Nat.eqb_spec v u); [subst; lia|].
  destruct Hv; [congruence|]. now apply IH.
Qed.

Lemma polynomial_nonneg t x : valid t -> normalized t -> (forall v, In v (scope t) -> (x v < states_of v)%nat)
  ->
  0 <= polynomial t x.
Proof.
  induction t as [v f|l IH|l IH] using spn_induction; intros V Nt Hx; unfold polynomial; simpl; inversion Nt;
    subst.
  - unfold at_state. match goal with H : distribution _ _ |- _ => apply H end.
    apply in_seq. specialize (Hx v). simpl in Hx. intuition lia.
  - unfold total. rewrite sum_map. apply sum_nonneg; intros [w c] Hc. inversion V; subst.
    apply Rmult_le_pos; [eauto|]. apply (IH w c Hc); eauto. intros v Hv. apply Hx. now apply
      (scope_sum l w c V Hc).
  - unfold times. rewrite prod_map. apply prod_nonneg; intros c Hc. inversion V; subst. apply (IH c Hc); auto.
    intros v Hv. apply Hx. simpl. apply in_flat_map; eauto.
Qed.

Lemma filter_nothing vs : filter (compatible nothing vs) (states vs) = states vs.
Proof.
  assert (G : forall x, compatible nothing vs x = true) by
    (intros x; unfold compatible; induction vs; simpl; auto).
  induction (states vs) as [|x t IH]; simpl; [easy|]. rewrite G. congruence.
Qed.

Lemma polynomial_distribution t vs : valid t -> normalized t -> NoDup vs -> same_scope vs (scope t) ->
  distribution (states vs) (polynomial t).
Proof.
  intros V Nt N S. split.
  - intros x Hx. apply polynomial_nonneg; auto. intros v Hv. apply (in_states x vs Hx). now apply S.
  - rewrite <- (filter_nothing vs), <- (pass_exact t vs nothing V N S). now apply pass_nothing.
Qed.
End Semantics.

(** claim: A4, L3 | proves | caveats: reals
    Trees. In any complete and decomposable network, with any weights and leaves, the value of the bottom-up
    pass under evidence is exactly the sum of the network's polynomial over all states that agree with the
    evidence. [vs] lists the variables of the network in any order. Paper: assumption 4, section 2; lemma 3,
    appendix A.3. *)
Theorem A4_exact : forall (states_of : nat -> nat) (t : spn) (vs : list nat) (e : nat -> option nat),
  valid t -> NoDup vs -> same_scope vs (scope t) ->
  value (under states_of (likelihood e)) t = sum (filter (compatible e vs) (states states_of vs))
    (polynomial t).
Proof. intros. now apply pass_exact. Qed.

(** claim: A4, L3 | proves | caveats: reals
    Trees. If moreover all leaves and all weights are normalized, the polynomial is a probability distribution
    over all states of the variables, and the value of the pass without evidence is 1. *)
Theorem A4_distribution : forall (states_of : nat -> nat) (t : spn) (vs : list nat),
  valid t -> normalized states_of t -> NoDup vs -> same_scope vs (scope t) ->
  distribution (states states_of vs) (polynomial t) /\ value (under states_of (likelihood nothing)) t = 1.
Proof. intros. split; [now apply polynomial_distribution | now apply pass_nothing]. Qed.

(** * Graphs: a list of nodes, children before parents, the root last *)

Inductive node :=
  | NLeaf (v : nat) (f : nat -> R)
  | NSum (l : list (R * nat))
  | NProd (l : list nat).

(* One pass over the nodes, from the first to the last; a step sees the results for all nodes before. *)
Fixpoint pass {A} (step : list A -> node -> A) (done : list A) (nodes : list node) : list A :=
  match nodes with [] => done | n :: t => pass step (done ++ [step done n]) t end.

Definition value_step (leaf : nat -> (nat -> R) -> R) (done : list R) (n : node) : R :=
  match n with
  | NLeaf v f => leaf v f
  | NSum l => total (map (fun wc => match wc with (w, c) => w * nth c done 0 end) l)
  | NProd l => times (map (fun c => nth c done 0) l)
  end.
Definition scope_step (done : list (list nat)) (n : node) : list nat :=
  match n with
  | NLeaf v _ => [v]
  | NSum l => match l with [] => [] | (_, c) :: _ => nth c done [] end
  | NProd l => flat_map (fun c => nth c done []) l
  end.

(* The value and the scope of the root. *)
Definition evaluate (leaf : nat -> (nat -> R) -> R) (nodes : list node) : R :=
  last (pass (value_step leaf) [] nodes) 0.
Definition root_scope (nodes : list node) : list nat := last (pass scope_step [] nodes) [].

(* Children come before their parents, sums are complete, products decomposable. *)
Definition node_valid (done : list (list nat)) (n : node) : Prop :=
  match n with
  | NLeaf _ _ => True
  | NSum l => l <> [] /\ (forall w c, In (w, c) l -> (c < length done)%nat) /\
      (forall w c w' c', In (w, c) l -> In (w', c') l -> same_scope (nth c done []) (nth c' done []))
  | NProd l => (forall c, In c l -> (c < length done)%nat) /\
      ForallOrdPairs (fun a b => disjoint (nth a done []) (nth b done [])) l
  end.
Fixpoint valid_from (done : list (list nat)) (nodes : list node) : Prop :=
  match nodes with [] => True | n :: t => node_valid done n /\ valid_from (done ++ [scope_step done n]) t end.
Definition valid_graph (nodes : list node) : Prop := nodes <> [] /\ valid_from [] nodes.

Definition node_normalized (states_of : nat -> nat) (n : node) : Prop :=
  match n with
  | NLeaf v f => distribution (seq 0 (states_of v)) f
  | NSum l => (forall w c, In (w, c) l -> 0 <= w) /\ sum l fst = 1
  | NProd _ => True
  end.

(* A graph is evaluated like the tree that it unfolds to. *)
Definition tree_step (done : list spn) (n : node) : spn :=
  match n with
  | NLeaf v f => Leaf v f
  | NSum l => Sum (map (fun wc => match wc with (w, c) => (w, nth c done (Prod [])) end) l)
  | NProd l => Prod (map (fun c => nth c done (Prod [])) l)
  end.
Definition unfold_graph (nodes : list node) : spn := last (pass tree_step [] nodes) (Prod []).

Lemma nth_map_in {A B} (g : A -> B) l d d' i : (i < length l)%nat -> nth i (map g l) d' = g (nth i l d).
Proof. intros H. rewrite nth_indep with (d' := g d) by now rewrite map_length. apply map_nth. Qed.

Lemma scope_tree_step done n : node_valid (map scope done) n -> scope (tree_step done n) = scope_step
  (map scope done) n.
Proof.
  destruct n as [v f|l|l]; simpl; auto; rewrite map_length.
  - intros (ne & H & _). destruct l as [|[w c] t]; [easy|]. simpl. symmetry. apply nth_map_in. apply (H w);
      now left.
  - intros (H & _). rewrite !flat_map_concat_map, map_map. f_equal. apply map_ext_in. intros c Hc.
    symmetry. apply nth_map_in. auto.
Qed.

Lemma value_tree_step leaf done n : node_valid (map scope done) n ->
  value leaf (tree_step done n) = value_step leaf (map (value leaf) done) n.
Proof.
  destruct n as [v f|l|l]; simpl; auto; rewrite map_length.
  - intros (_ & H & _). f_equal. rewrite map_map. apply map_ext_in. intros [w c] Hc.
    f_equal. symmetry. apply nth_map_in. eauto.
  - intros (H & _). f_equal. rewrite map_map. apply map_ext_in. intros c Hc. symmetry. apply nth_map_in. auto.
Qed.

Lemma valid_tree_step done n : (forall t, In t done -> valid t) -> node_valid (map scope done) n -> valid
  (tree_step done n).
Proof.
  intros V H. destruct n as [v f|l|l]; simpl in *; try rewrite map_length in H.
  - constructor.
  - destruct H as (ne & H & S). constructor.
    + now destruct l.
    + intros w c Hc. apply in_map_iff in Hc. destruct Hc as [[w' i] [E Hi]]. inversion E; subst.
      apply V, nth_In. eauto.
    + intros w c w' c' Hc Hc'. apply in_map_iff in Hc. destruct Hc as [[a i] [E Hi]]. inversion E; subst.
      apply in_map_iff in Hc'. destruct Hc' as [[b j] [E' Hj]]. inversion E'; subst.
      specialize (S _ _ _ _ Hi Hj). rewrite !(nth_map_in scope _ (Prod [])) in S by eauto. exact S.
  - destruct H as (H & D). constructor.
    + intros c Hc. apply in_map_iff in Hc. destruct Hc as [i [<- Hi]]. apply V, nth_In. auto.
    + clear V. induction D as [|a t F D IH]; simpl; constructor.
      * rewrite Forall_forall in *. intros c Hc. apply in_map_iff in Hc. destruct Hc as [i [<- Hi]].
        specialize (F i Hi). rewrite !(nth_map_in scope _ (Prod [])) in F by (apply H; simpl; auto). exact F.
      * apply IH. intros c Hc. apply H. now right.
Qed.

Lemma normalized_tree_step states_of done n : (forall t, In t done -> normalized states_of t) ->
  node_valid (map scope done) n -> node_normalized states_of n -> normalized states_of (tree_step done n).
Proof.
  intros V H Nn. destruct n as [v f|l|l]; simpl in *; try rewrite map_length in H.
  - now constructor.
  - destruct H as (ne & H & S). destruct Nn as [w0 w1]. constructor.
    + intros w c Hc. apply in_map_iff in Hc. destruct Hc as [[w' i] [E Hi]]. inversion E; subst. eauto.
    + rewrite sum_map, <- w1. apply sum_ext; intros [w c] _. easy.
    + intros w c Hc. apply in_map_iff in Hc. destruct Hc as [[w' i] [E Hi]]. inversion E; subst.
      apply V, nth_In. eauto.
  - destruct H as (H & _). constructor. intros c Hc. apply in_map_iff in Hc. destruct Hc as [i [<- Hi]].
    apply V, nth_In. auto.
Qed.

Lemma pass_trees nodes : forall done, valid_from (map scope done) nodes -> (forall t, In t done -> valid t) ->
  let trees := pass tree_step done nodes in
  (forall t, In t trees -> valid t) /\ map scope trees = pass scope_step (map scope done) nodes /\
  (forall leaf, map (value leaf) trees = pass (value_step leaf) (map (value leaf) done) nodes) /\
  (forall states_of, (forall t, In t done -> normalized states_of t) ->
     (forall n, In n nodes -> node_normalized states_of n) -> forall t, In t trees -> normalized states_of t).
Proof.
  induction nodes as [|n t IH]; intros done H V; simpl; [auto|]. destruct H as [Hn Ht].
  pose proof (scope_tree_step done n Hn) as Es. pose proof (valid_tree_step done n V Hn) as Vn.
  assert (V' : forall x, In x (done ++ [tree_step done n]) -> valid x).
  { intros x Hx. apply in_app_or in Hx. destruct Hx as [|[<-|[]]]; auto. }
  destruct (IH (done ++ [tree_step done n])) as (R1 & R2 & R3 & R4).
  - rewrite map_app. simpl. now rewrite Es.
  - exact V'.
  - split; [|split; [|split]]; auto.
    + rewrite R2, map_app. simpl. now rewrite Es.
    + intros leaf. rewrite R3, map_app. simpl. now rewrite value_tree_step.
    + intros so Nd Nn. apply R4; auto. intros x Hx. apply in_app_or in Hx. destruct Hx as [|[<-|[]]]; auto.
      apply normalized_tree_step; auto.
Qed.

Lemma pass_length {A} (step : list A -> node -> A) nodes : forall done,
  length (pass step done nodes) = (length done + length nodes)%nat.
Proof. induction nodes as [|n t IH]; intros done; simpl; [lia|]. rewrite IH, app_length. simpl. lia. Qed.
Lemma last_map {A B} (g : A -> B) l d d' : l <> [] -> last (map g l) d' = g (last l d).
Proof.
  induction l as [|a [|b t] IH]; intros H; [easy | easy|].
  change (last (map g (b :: t)) d' = g (last (b :: t) d)). now apply IH.
Qed.
Lemma last_In {A} (l : list A) d : l <> [] -> In (last l d) l.
Proof.
  induction l as [|a [|b t] IH]; intros H; [easy | now left|]. right. now apply IH.
Qed.

Lemma graph_is_tree nodes : valid_graph nodes ->
  valid (unfold_graph nodes) /\ scope (unfold_graph nodes) = root_scope nodes /\
  (forall leaf, evaluate leaf nodes = value leaf (unfold_graph nodes)) /\
  (forall states_of, (forall n, In n nodes -> node_normalized states_of n) -> normalized states_of
    (unfold_graph nodes)).
Proof.
  intros [ne V]. destruct (pass_trees nodes [] V) as (R1 & R2 & R3 & R4); [easy|]. simpl in *.
  assert (nt : pass tree_step [] nodes <> []).
  { intros E. apply (f_equal (@length spn)) in E. rewrite pass_length in E. destruct nodes; simpl in E;
      [easy | lia]. }
  unfold unfold_graph, root_scope, evaluate. split; [|split; [|split]].
  - now apply R1, last_In.
  - now rewrite <- R2, (last_map scope _ (Prod [])).
  - intros leaf. now rewrite <- R3, (last_map (value leaf) _ (Prod [])).
  - intros so Hn. apply (R4 so); [easy | easy | now apply last_In].
Qed.

(** claim: A4, L3 | proves | caveats: reals
    Graphs. For any complete and decomposable graph with any weights and leaves, one pass from the leaves to
    the root under evidence computes exactly the sum, over all states that agree with the evidence, of the
    value that the same pass has at that state. So every marginal is exact. Paper: assumption 4, section 2;
    lemma 3, appendix A.3. *)
Theorem A4_graph_exact : forall (states_of : nat -> nat) (nodes : list node) (vs : list nat)
  (e : nat -> option nat),
  valid_graph nodes -> NoDup vs -> same_scope vs (root_scope nodes) ->
  evaluate (under states_of (likelihood e)) nodes =
  sum (filter (compatible e vs) (states states_of vs)) (fun x => evaluate (at_state x) nodes).
Proof.
  intros states_of nodes vs e V N S. destruct (graph_is_tree nodes V) as (Vt & Es & Ev & _).
  rewrite Ev, (A4_exact states_of _ vs e Vt N) by now rewrite Es.
  apply sum_ext; intros x _. now rewrite Ev.
Qed.

(** claim: A4, L3 | proves | caveats: reals
    Graphs. With normalized leaves and weights, the values at the states are a probability distribution, the
    pass without evidence gives 1, and the pass under evidence gives a probability. *)
Theorem A4_graph_distribution : forall (states_of : nat -> nat) (nodes : list node) (vs : list nat),
  valid_graph nodes -> (forall n, In n nodes -> node_normalized states_of n) ->
  NoDup vs -> same_scope vs (root_scope nodes) ->
  distribution (states states_of vs) (fun x => evaluate (at_state x) nodes) /\
  evaluate (under states_of (likelihood nothing)) nodes = 1 /\
  forall e, 0 <= evaluate (under states_of (likelihood e)) nodes <= 1.
Proof.
  intros states_of nodes vs V Nn N S. destruct (graph_is_tree nodes V) as (Vt & Es & Ev & Nt).
  destruct (A4_distribution states_of _ vs Vt (Nt states_of Nn) N) as [[D0 D1] O]; [now rewrite Es|].
  assert (D : distribution (states states_of vs) (fun x => evaluate (at_state x) nodes)).
  { split; [intros x Hx; rewrite Ev; now apply D0|]. rewrite <- D1. apply sum_ext; intros x _. now rewrite Ev.
      }
  split; [exact D|]. split; [now rewrite Ev|]. intros e.
  rewrite (A4_graph_exact states_of nodes vs e V N S), sum_filter. destruct D as [P0 P1]. split.
  - apply sum_nonneg; intros x Hx. specialize (P0 x Hx). destruct (compatible e vs x); lra.
  - eapply Rle_trans; [|right; exact P1]. apply sum_le; intros x Hx. specialize (P0 x Hx). destruct
      (compatible e vs x); lra.
Qed.

(* Soft evidence too: a likelihood for each state of each variable. *)
(** claim: A4 | proves | caveats: reals
    Graphs, with a likelihood for each state of each variable in place of hard evidence: the pass is the sum
    over all states of the network's value there times the product of the likelihoods. *)
Theorem A4_graph_likelihoods : forall (states_of : nat -> nat) (nodes : list node) (vs : list nat)
  (lik : nat -> nat -> R),
  valid_graph nodes -> NoDup vs -> same_scope vs (root_scope nodes) ->
  evaluate (under states_of lik) nodes =
  sum (states states_of vs) (fun x => evaluate (at_state x) nodes * prod vs (fun v => lik v (x v))).
Proof.
  intros states_of nodes vs lik V N S. destruct (graph_is_tree nodes V) as (Vt & Es & Ev & _).
  rewrite Ev, (pass_is_weighted states_of lik _ Vt).
  rewrite (weighted_scope states_of lik _ vs); [|now apply scope_NoDup | easy | rewrite Es; intros v;
    symmetry; apply S].
  apply sum_ext; intros x _. now rewrite Ev.
Qed.

(** claim: A4 | sharpens | caveats: reals
    Decomposability cannot be dropped: the product of a uniform binary leaf with itself passes every other
    check, its leaves are normalized, and the pass without evidence gives 1, but the sum over the states is
    1/2. *)
Theorem A4_needs_decomposable :
  let nodes := [NLeaf 0 (fun _ => / 2); NProd [0; 0]%nat] in
  same_scope [0]%nat (root_scope nodes) /\ (forall n, In n nodes -> node_normalized (fun _ => 2%nat) n) /\
  evaluate (under (fun _ => 2%nat) (likelihood nothing)) nodes = 1 /\
  sum (states (fun _ => 2%nat) [0%nat]) (fun x => evaluate (at_state x) nodes) = / 2.
Proof.
  intros nodes. repeat split.
  - simpl; intuition.
  - simpl; intuition.
  - intros n [<-|[<-|[]]]; simpl; [|easy]. split; [intros; lra | simpl; lra].
  - unfold evaluate; simpl. unfold total, times, under, likelihood, nothing; simpl. lra.
  - unfold evaluate; simpl. unfold total, times, at_state; simpl. lra.
Qed.

(** claim: A4 | sharpens | caveats: reals
    Completeness cannot be dropped: a sum of leaves over two different variables gives 1 without evidence, but
    its values at the states sum to 2. *)
Theorem A4_needs_complete :
  let nodes := [NLeaf 0 (fun _ => / 2); NLeaf 1 (fun _ => / 2); NSum [(/ 2, 0%nat); (/ 2, 1%nat)]] in
  (forall n, In n nodes -> node_normalized (fun _ => 2%nat) n) /\
  evaluate (under (fun _ => 2%nat) (likelihood nothing)) nodes = 1 /\
  sum (states (fun _ => 2%nat) [0; 1]%nat) (fun x => evaluate (at_state x) nodes) = 2.
Proof.
  intros nodes. repeat split.
  - intros n Hn. destruct Hn as [<-|[<-|[<-|[]]]]; simpl.
    + split; [intros; lra | simpl; lra].
    + split; [intros; lra | simpl; lra].
    + split; [intros w c [E|[E|[]]]; inversion E; lra | lra].
  - unfold evaluate; simpl. unfold total, times, under, likelihood, nothing; simpl. lra.
  - unfold evaluate; simpl. unfold total, times, at_state; simpl. lra.
Qed.

(* The hypotheses can be met: a mixture of two products over two variables, with a leaf that is used twice. *)
Example A4_not_vacuous : exists nodes, valid_graph nodes /\ same_scope [0; 1]%nat (root_scope nodes) /\
  forall n, In n nodes -> node_normalized (fun _ => 2%nat) n.
Proof.
  exists [NLeaf 0 (fun _ => / 2); NLeaf 1 (fun _ => / 2); NLeaf 1 (fun s => if Nat.eqb s 0 then 1 else 0);
    NProd [0; 1]%nat; NProd [0; 2]%nat; NSum [(/ 3, 3%nat); (2 / 3, 4%nat)]].
  split; [|split].
  - split; [easy|]. simpl.
    assert (D : disjoint [0]%nat [1]%nat) by (intros v [<-|[]] [E|[]]; easy).
    repeat split; try easy.
    + intros c [<-|[<-|[]]]; lia.
    + repeat constructor; exact D.
    + intros c [<-|[<-|[]]]; lia.
    + repeat constructor; exact D.
    + intros w c [E|[E|[]]]; inversion E; lia.
    + destruct H as [E|[E|[]]]; inversion E; subst; destruct H0 as [F|[F|[]]]; inversion F; subst; simpl;
        auto.
    + destruct H as [E|[E|[]]]; inversion E; subst; destruct H0 as [F|[F|[]]]; inversion F; subst; simpl;
        auto.
  - intros v; simpl. tauto.
  - intros n Hn. destruct Hn as [<-|[<-|[<-|[<-|[<-|[<-|[]]]]]]]; simpl; try easy.
    + split; [intros; lra | simpl; lra].
    + split; [intros; lra | simpl; lra].
    + split; [intros [|s] _; simpl; lra | simpl; lra].
    + split; [intros w c [E|[E|[]]]; inversion E; lra | lra].
Qed.
