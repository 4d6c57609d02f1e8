(* Theorem LR 1 of nbs/book/02_random.ipynb: the chance of a pair, the estimate of a product, and why pairs have to be seen. *)
Require Import Reals Lra Lia List Bool Arith.
From proofs Require Import sums.
Import ListNotations.
Open Scope R_scope.

(* Part (i). A set of k of d features is a list of d bits; `subsets d k` has every such set once. *)
Fixpoint subsets (d k : nat) : list (list bool) :=
  match d, k with
  | O, O => [[]]
  | O, S _ => []
  | S n, O => map (cons false) (subsets n O)
  | S n, S l => map (cons true) (subsets n l) ++ map (cons false) (subsets n k)
  end.
Fixpoint choose (n k : nat) : nat :=
  match n, k with _, O => 1 | O, S _ => 0 | S m, S l => choose m l + choose m k end%nat.
Fixpoint count (p : list bool -> bool) (l : list (list bool)) : nat :=
  match l with [] => 0 | s :: r => (if p s then 1 else 0) + count p r end%nat.
Definition has (i : nat) (s : list bool) : bool := nth i s false.
Definition both (i j : nat) (s : list bool) : bool := has i s && has j s.

Lemma subsets_S : forall n l, subsets (S n) (S l) = map (cons true) (subsets n l) ++ map (cons false) (subsets n (S l)).
Proof. reflexivity. Qed.
Lemma choose_S : forall m l, choose (S m) (S l) = (choose m l + choose m (S l))%nat. Proof. reflexivity. Qed.
Lemma choose_0 : forall n, choose n 0 = 1%nat. Proof. destruct n; reflexivity. Qed.
Lemma count_app : forall p a b, count p (a ++ b) = (count p a + count p b)%nat.
Proof. induction a; intros; simpl; [reflexivity |]. rewrite IHa; lia. Qed.
Lemma count_map : forall p x l, count p (map (cons x) l) = count (fun s => p (x :: s)) l.
Proof. induction l; simpl; [reflexivity |]. rewrite IHl; reflexivity. Qed.
Lemma count_ext : forall p q l, (forall s, p s = q s) -> count p l = count q l.
Proof. induction l; intros; simpl; [reflexivity |]. rewrite H, IHl; auto. Qed.
Lemma count_false : forall l, count (fun _ => false) l = 0%nat. Proof. induction l; simpl; auto. Qed.
Lemma count_true : forall d k, count (fun _ => true) (subsets d k) = choose d k.
Proof.
  induction d; destruct k; simpl; try reflexivity.
  - rewrite count_map, IHd; apply choose_0.
  - rewrite count_app, !count_map, !IHd; reflexivity.
Qed.

Lemma count_none : forall d i, count (has i) (subsets d 0) = 0%nat.
Proof.
  induction d; intros; simpl; [destruct i; reflexivity |]. rewrite count_map.
  destruct i; [apply count_false | exact (IHd i)].
Qed.

Lemma count_one : forall d k i, (i < S d)%nat -> count (has i) (subsets (S d) (S k)) = choose d k.
Proof.
  induction d; intros k i L; rewrite subsets_S, count_app, !count_map.
  - assert (i = 0%nat) by lia; subst; destruct k; reflexivity.
  - destruct i.
    + rewrite (count_ext _ (fun _ => true)), (count_ext (fun s => has 0 (false :: s)) (fun _ => false)) by reflexivity.
      rewrite count_true, count_false; lia.
    + change (fun s => has (S i) (true :: s)) with (has i). change (fun s => has (S i) (false :: s)) with (has i).
      rewrite (IHd k i) by lia. destruct k; [rewrite count_none, !choose_0; reflexivity | rewrite (IHd k i) by lia; symmetry; apply choose_S].
Qed.

Lemma count_one_only : forall d i j, i <> j -> count (both i j) (subsets d 1) = 0%nat.
Proof.
  induction d; intros i j N; [reflexivity |]. rewrite subsets_S, count_app, !count_map.
  destruct i, j; try lia.
  - rewrite (count_ext _ (has j)), (count_ext (fun s => both 0 (S j) (false :: s)) (fun _ => false)) by reflexivity.
    rewrite count_none, count_false; reflexivity.
  - rewrite (count_ext _ (has i)) by (intro s; unfold both, has; simpl; apply andb_true_r).
    rewrite (count_ext (fun s => both (S i) 0 (false :: s)) (fun _ => false)) by (intro s; unfold both, has; simpl; apply andb_false_r).
    rewrite count_none, count_false; reflexivity.
  - change (fun s => both (S i) (S j) (true :: s)) with (both i j). change (fun s => both (S i) (S j) (false :: s)) with (both i j).
    rewrite IHd by lia.
    assert (Z : forall n, count (both i j) (subsets n 0) = 0%nat); [| rewrite Z; reflexivity].
    intro n. clear. revert i j; induction n; intros; simpl; [destruct i; reflexivity |]. rewrite count_map. destruct i; [apply count_false |].
    destruct j; [| exact (IHn i j)]. rewrite (count_ext _ (fun _ => false)); [apply count_false |]. intro s; unfold both, has; simpl; apply andb_false_r.
Qed.

Lemma count_pair : forall d k i j, (i < S (S d))%nat -> (j < S (S d))%nat -> i <> j ->
  count (both i j) (subsets (S (S d)) (S (S k))) = choose d k.
Proof.
  induction d; intros k i j Li Lj N; rewrite subsets_S, count_app, !count_map.
  - destruct i as [| [| i]], j as [| [| j]]; try lia; destruct k; reflexivity.
  - destruct i, j; try lia.
    + rewrite (count_ext _ (has j)), (count_ext (fun s => both 0 (S j) (false :: s)) (fun _ => false)) by reflexivity.
      rewrite count_false. 
      rewrite count_one by lia. lia.
    + rewrite (count_ext _ (has i)) by (intro s; unfold both, has; simpl; apply andb_true_r).
      rewrite (count_ext (fun s => both (S i) 0 (false :: s)) (fun _ => false)) by (intro s; unfold both, has; simpl; apply andb_false_r).
      rewrite count_false. 
      rewrite count_one by lia. lia.
    + change (fun s => both (S i) (S j) (true :: s)) with (both i j). change (fun s => both (S i) (S j) (false :: s)) with (both i j).
      rewrite (IHd k i j) by lia.
      destruct k; [rewrite count_one_only, !choose_0 by lia; reflexivity | rewrite (IHd k i j) by lia; symmetry; apply choose_S].
Qed.

Lemma absorb : forall n k, (S k * choose (S n) (S k) = S n * choose n k)%nat.
Proof.
  induction n; intros k.
  - destruct k; [reflexivity |]. simpl. destruct k; simpl; lia.
  - destruct k.
    + specialize (IHn 0%nat). rewrite choose_0 in *. cbn [choose] in *. lia.
    + pose proof (IHn k) as H. pose proof (IHn (S k)) as H'.
      change (choose (S (S n)) (S (S k))) with (choose (S n) (S k) + choose (S n) (S (S k)))%nat.
      change (choose (S n) (S k)) with (choose n k + choose n (S k))%nat in *. nia.
Qed.

Lemma choose_pos : forall n k, (k <= n)%nat -> (0 < choose n k)%nat.
Proof. induction n; destruct k; intros; simpl; try lia. specialize (IHn k). lia. Qed.

Definition chance (p : list bool -> bool) (d k : nat) : R := INR (count p (subsets d k)) / INR (length (subsets d k)).

Lemma size : forall d k, length (subsets d k) = choose d k.
Proof. intros. rewrite <- count_true. induction (subsets d k); simpl; congruence. Qed.

Theorem chance_of_one : forall d k i, (i < S d)%nat -> (k <= d)%nat -> chance (has i) (S d) (S k) = INR (S k) / INR (S d).
Proof.
  intros. unfold chance. rewrite count_one, size by assumption.
  assert (A := f_equal INR (absorb d k)). rewrite !mult_INR in A.
  assert (0 < INR (choose (S d) (S k))) by (apply lt_0_INR, choose_pos; lia). assert (0 < INR (S d)) by (apply lt_0_INR; lia).
  apply (Rmult_eq_reg_l (INR (choose (S d) (S k)) * INR (S d))); [field_simplify; lra | apply Rgt_not_eq; nra].
Qed.

Theorem chance_of_a_pair : forall d k i j, (i < S (S d))%nat -> (j < S (S d))%nat -> i <> j -> (k <= d)%nat ->
  chance (both i j) (S (S d)) (S (S k)) = (INR (S (S k)) * INR (S k)) / (INR (S (S d)) * INR (S d)).
Proof.
  intros. unfold chance. rewrite count_pair, size by assumption.
  assert (A := f_equal INR (absorb (S d) (S k))). assert (A' := f_equal INR (absorb d k)). rewrite !mult_INR in A, A'.
  assert (P : 0 < INR (choose (S (S d)) (S (S k)))) by (apply lt_0_INR, choose_pos; lia).
  assert (Q : 0 < INR (S (S d)) * INR (S d)) by (apply Rmult_lt_0_compat; apply lt_0_INR; lia).
  apply (Rmult_eq_reg_l (INR (choose (S (S d)) (S (S k))) * (INR (S (S d)) * INR (S d)))); [| apply Rgt_not_eq, Rmult_lt_0_compat; assumption].
  transitivity (INR (choose d k) * (INR (S (S d)) * INR (S d))); [field; lra |].
  transitivity (INR (choose (S (S d)) (S (S k))) * (INR (S (S k)) * INR (S k))); [| field; split; apply Rgt_not_eq, lt_0_INR; lia].
  transitivity (INR (S (S d)) * (INR (S d) * INR (choose d k))); [ring |]. rewrite <- A'.
  transitivity (INR (S k) * (INR (S (S d)) * INR (choose (S d) (S k)))); [ring |]. rewrite <- A. ring.
Qed.

(* Part (ii), for every law of the set that is bought. *)
Definition pair (law : list (R * (nat -> bool))) (i j : nat) : R := mean law (fun s => if s i && s j then 1 else 0).
Definition seen (x : nat -> R) (s : nat -> bool) (i : nat) : R := if s i then x i else 0.

Theorem unbiased : forall law x i j, pair law i j <> 0 -> mean law (fun s => seen x s i * seen x s j / pair law i j) = x i * x j.
Proof.
  intros. rewrite (mean_ext _ _ _ (fun s => x i * x j / pair law i j * (if s i && s j then 1 else 0))).
  - rewrite mean_scale. fold (pair law i j). field; assumption.
  - intro s. unfold seen. destruct (s i), (s j); simpl; field; assumption.
Qed.

Theorem mean_square : forall law x i j, pair law i j <> 0 ->
  mean law (fun s => Rsqr (seen x s i * seen x s j / pair law i j)) = Rsqr (x i * x j) / pair law i j.
Proof.
  intros. rewrite (mean_ext _ _ _ (fun s => Rsqr (x i * x j / pair law i j) * (if s i && s j then 1 else 0))).
  - rewrite mean_scale. fold (pair law i j). unfold Rsqr. field; assumption.
  - intro s. unfold seen, Rsqr. destruct (s i), (s j); simpl; field; assumption.
Qed.

(* Part (iv). A rule f knows the set and what is seen of x. If no set holds both i and j, it does not estimate the product. *)
Definition looks_only (f : (nat -> bool) -> (nat -> R) -> R) : Prop :=
  forall s x y, (forall i, s i = true -> x i = y i) -> f s x = f s y.
Definition example (i j : nat) (a b : R) : nat -> R := fun l => if l =? i then a else if l =? j then b else 0.

Theorem no_product_without_the_pair : forall law f i j, i <> j -> looks_only f ->
  (forall p s, In (p, s) law -> s i && s j = false) ->
  ~ (forall x, mean law (fun s => f s x) = x i * x j).
Proof.
  intros law f i j N L never H.
  assert (Z : mean law (fun s => f s (example i j 1 1)) - mean law (fun s => f s (example i j 1 0))
              - mean law (fun s => f s (example i j 0 1)) + mean law (fun s => f s (example i j 0 0)) = 0).
  { clear H. induction law as [| [p s] r IH]; simpl; [ring |].
    specialize (IH (fun q t h => never q t (or_intror h))). specialize (never p s (or_introl eq_refl)).
    assert (one : f s (example i j 1 1) - f s (example i j 1 0) - f s (example i j 0 1) + f s (example i j 0 0) = 0).
    { apply andb_false_iff in never. destruct never as [M | M].
      - rewrite (L s (example i j 1 1) (example i j 0 1)), (L s (example i j 1 0) (example i j 0 0)); [ring | |];
          intros l h; unfold example; destruct (l =? i) eqn:E; try reflexivity; apply Nat.eqb_eq in E; congruence.
      - rewrite (L s (example i j 1 1) (example i j 1 0)), (L s (example i j 0 1) (example i j 0 0)); [ring | |];
          intros l h; unfold example; destruct (l =? i); try reflexivity; destruct (l =? j) eqn:E; try reflexivity; apply Nat.eqb_eq in E; congruence. }
    nra. }
  rewrite !H in Z. unfold example in Z. rewrite Nat.eqb_refl in Z.
  assert (E : (j =? i) = false) by (apply Nat.eqb_neq; lia). rewrite E, Nat.eqb_refl in Z. lra.
Qed.

(* Controls. Half of the mean square is false; where one set holds both, a rule estimates the product. *)
Theorem half_of_the_mean_square_is_false :
  ~ (forall law x i j, pair law i j <> 0 -> mean law (fun s => Rsqr (seen x s i * seen x s j / pair law i j)) <= Rsqr (x i * x j) / pair law i j / 2).
Proof.
  intro H. specialize (H [(1, fun _ => true)] (fun _ => 1) 0%nat 1%nat). unfold pair, seen, Rsqr in H. simpl in H.
  assert (h : 1 * 1 + 0 <> 0) by lra. specialize (H h). replace (1 * 1 + 0) with 1 in H by ring. lra.
Qed.

Theorem with_the_pair_a_rule_exists : exists law f, looks_only f /\ (forall x, mean law (fun s => f s x) = x 0%nat * x 1%nat).
Proof.
  exists [(1, fun _ => true)], (fun s x => if s 0%nat && s 1%nat then x 0%nat * x 1%nat else 0). split.
  - intros s x y h. destruct (s 0%nat) eqn:A, (s 1%nat) eqn:B; simpl; try reflexivity. rewrite (h 0%nat A), (h 1%nat B); reflexivity.
  - intro x. simpl. ring.
Qed.

Print Assumptions chance_of_one.
Print Assumptions chance_of_a_pair.
Print Assumptions unbiased.
Print Assumptions mean_square.
Print Assumptions no_product_without_the_pair.
Print Assumptions half_of_the_mean_square_is_false.
Print Assumptions with_the_pair_a_rule_exists.
