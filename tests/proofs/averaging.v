(* Theorem OC 1 of nbs/core/mathematics/08_oco.ipynb: the regret of composite dual averaging, on every sequence, in d dimensions.
   K is a convex set that holds 0, such as the ball of the page. Rounds are counted from 0. *)
Require Import Reals Lra Lia.
From proofs Require Import sums.
Open Scope R_scope.

Definition l1 (d : nat) (a : vec) : R := sum d (fun i => Rabs (a i)).
Definition sq (d : nat) (a : vec) : R := dot d a a.
Definition convex (K : vec -> Prop) : Prop := forall a b c, K a -> K b -> 0 <= c <= 1 -> K (mix c a b).

Lemma dot_mix : forall d c g a b, dot d g (mix c a b) = (1 - c) * dot d g a + c * dot d g b.
Proof. intros. unfold dot, mix. rewrite <- !sum_scale, <- sum_plus. apply sum_ext. intros; ring. Qed.

Lemma l1_mix : forall d c a b, 0 <= c <= 1 -> l1 d (mix c a b) <= (1 - c) * l1 d a + c * l1 d b.
Proof.
  intros d c a b H. unfold l1, mix. rewrite <- !sum_scale, <- sum_plus. apply sum_le. intros i _.
  eapply Rle_trans; [apply Rabs_triang |]. rewrite !Rabs_mult, (Rabs_right (1 - c)), (Rabs_right c) by lra. lra.
Qed.

Definition minus (a b : vec) : vec := fun i => a i - b i.
Lemma sq_mix : forall d c a b, sq d (mix c a b) = (1 - c) * sq d a + c * sq d b - c * (1 - c) * sq d (minus b a).
Proof.
  intros. unfold sq, dot, mix, minus.
  rewrite <- !sum_scale, <- sum_plus, <- sum_minus. apply sum_ext. intros; ring.
Qed.

Lemma l1_nonneg : forall d a, 0 <= l1 d a. Proof. intros; apply sum_nonneg; intros; apply Rabs_pos. Qed.

Lemma limit : forall a b, (forall c, 0 < c < 1 -> a * (1 - c) <= b) -> a <= b.
Proof.
  intros a b H. destruct (Rle_or_lt a b) as [| L]; [assumption | exfalso].
  destruct (Rle_or_lt a 0) as [N | P]; [specialize (H (1 / 2)); lra |].
  destruct (Rle_or_lt 0 b) as [B | B]; [| specialize (H (1 / 2)); lra].
  assert (C : 0 < (a - b) / (2 * a) < 1).
  { split; [apply Rdiv_lt_0_compat; lra |]. apply (Rmult_lt_reg_r (2 * a)); [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  specialize (H _ C). assert (E : a * (1 - (a - b) / (2 * a)) = (a + b) / 2) by (field; lra). lra.
Qed.

(* What is minimised in a round: a linear part, m times the l1 norm, and lam/2 times the square. *)
Definition F (d : nat) (g : vec) (m lam : R) (v : vec) : R := dot d g v + m * l1 d v + lam / 2 * sq d v.

(* Lemma OC 1, for this F: growth at a constrained minimum. *)
Lemma growth : forall d K g m lam w v, convex K -> 0 <= m -> K w -> K v -> (forall a, K a -> F d g m lam w <= F d g m lam a) ->
  F d g m lam w + lam / 2 * sq d (minus v w) <= F d g m lam v.
Proof.
  intros d K g m lam w v C M Kw Kv least.
  cut (lam / 2 * sq d (minus v w) <= F d g m lam v - F d g m lam w); [lra |].
  apply limit. intros c H.
  assert (A := least _ (C w v c Kw Kv (conj (Rlt_le _ _ (proj1 H)) (Rlt_le _ _ (proj2 H))))).
  assert (B : F d g m lam (mix c w v) <= (1 - c) * F d g m lam w + c * F d g m lam v - lam / 2 * (c * (1 - c)) * sq d (minus v w)).
  { unfold F. rewrite dot_mix, sq_mix. assert (L := l1_mix d c w v). assert (l1 d (mix c w v) <= (1 - c) * l1 d w + c * l1 d v) by (apply L; lra). nra. }
  apply (Rmult_le_reg_l c); [lra |]. nra.
Qed.

(* Step 3: stability. *)
Lemma stability : forall d g w v lam, 0 < lam ->
  dot d g w - sq d g / (2 * lam) <= dot d g v + lam / 2 * sq d (minus v w).
Proof.
  intros d g w v lam L.
  assert (H : 0 <= sq d (fun i => minus v w i + g i / lam)) by apply dot_nonneg.
  assert (E : lam / 2 * sq d (fun i => minus v w i + g i / lam) = lam / 2 * sq d (minus v w) + (dot d g v - dot d g w) + sq d g / (2 * lam)).
  { unfold sq, dot. rewrite <- sum_minus.
    replace (sum d (fun i => g i * g i) / (2 * lam)) with (1 / (2 * lam) * sum d (fun i => g i * g i)) by (field; lra).
    rewrite <- !sum_scale, <- !sum_plus. apply sum_ext. intros. unfold minus. field; lra. }
  assert (0 <= lam / 2 * sq d (fun i => minus v w i + g i / lam)) by (apply Rmult_le_pos; lra). lra.
Qed.

Section Game.
Variables (d : nat) (K : vec -> Prop) (g w : nat -> vec) (m lam : nat -> R) (n : nat).
Definition past (j : nat) : vec := fun i => sum j (fun r => g r i).
Definition Fj (j : nat) : vec -> R := F d (past j) (sum j m) (lam j).

Lemma past_dot : forall j v, dot d (past j) v = sum j (fun r => dot d (g r) v).
Proof.
  intros. unfold past, dot. rewrite <- (sum_swap d j (fun i r => g r i * v i)). apply sum_ext. intros i _.
  rewrite Rmult_comm, <- sum_scale. apply sum_ext. intros; ring.
Qed.

Hypothesis convexK : convex K.
Hypothesis zero : K (fun _ => 0).
Hypothesis positive : forall j, 0 < lam j.
Hypothesis growing : forall j, lam j <= lam (S j).
Hypothesis weights : forall j, 0 <= m j.
Hypothesis falling : forall j, m (S j) <= m j.
Hypothesis played : forall j, (j < n)%nat -> K (w j) /\ forall v, K v -> Fj j (w j) <= Fj j v.

Definition gained (j : nat) : R := sum j (fun r => dot d (g r) (w r) - sq d (g r) / (2 * lam r) + m r * l1 d (w r)).

Lemma sum_m : forall j, 0 <= sum j m. Proof. intros; apply sum_nonneg; intros; apply weights. Qed.

Lemma start : forall v, Fj 0 v = lam 0%nat / 2 * sq d v.
Proof. intro v. unfold Fj, F, past, dot. simpl. rewrite (sum_ext d _ (fun _ => 0)); [rewrite sum_const; ring | intros; ring]. Qed.

Lemma first : (0 < n)%nat -> l1 d (w 0%nat) = 0.
Proof.
  intro P. destruct (played 0%nat P) as [_ H]. specialize (H _ zero). rewrite !start in H.
  assert (Z : sq d (fun _ => 0) = 0) by (unfold sq, dot; rewrite (sum_ext d _ (fun _ => 0)); [rewrite sum_const; ring | intros; ring]).
  rewrite Z in H. assert (Q := positive 0%nat). assert (N := dot_nonneg d (w 0%nat)). fold (sq d (w 0%nat)) in N.
  assert (S0 : sq d (w 0%nat) = 0) by nra.
  unfold l1. rewrite (sum_ext d _ (fun _ => 0)); [rewrite sum_const; ring |]. intros i L.
  assert (M := sum_member d (fun i => w 0%nat i * w 0%nat i) i (fun j _ => Rle_0_sqr (w 0%nat j)) L).
  unfold sq, dot in S0. rewrite S0 in M. assert (q := Rle_0_sqr (w 0%nat i)). unfold Rsqr in q.
  rewrite (Rsqr_0_uniq (w 0%nat i)); [apply Rabs_R0 | unfold Rsqr; lra].
Qed.

(* Steps 1 to 4, with the lag of step 6 taken along. *)
Lemma one_round : forall j v, (j < n)%nat -> K v -> gained j + m j * l1 d (w j) <= Fj j (w j) ->
  gained (S j) + m j * l1 d v <= dot d (past (S j)) v + sum (S j) m * l1 d v + lam j / 2 * sq d v.
Proof.
  intros j v L Kv H. destruct (played j L) as [Kw least].
  assert (G := growth d K (past j) (sum j m) (lam j) (w j) v convexK (sum_m j) Kw Kv least).
  change (F d (past j) (sum j m) (lam j) (w j)) with (Fj j (w j)) in G.
  assert (T := stability d (g j) (w j) v (lam j) (positive j)).
  assert (E : dot d (past (S j)) v = dot d (past j) v + dot d (g j) v) by (rewrite !past_dot; reflexivity).
  rewrite E. unfold F in G. change (gained (S j)) with (gained j + (dot d (g j) (w j) - sq d (g j) / (2 * lam j) + m j * l1 d (w j))).
  change (sum (S j) m) with (sum j m + m j). lra.
Qed.

Lemma invariant : forall j, (j < n)%nat -> gained j + m j * l1 d (w j) <= Fj j (w j).
Proof.
  induction j; intro L.
  - rewrite first, start by assumption. unfold gained. simpl.
    assert (N := dot_nonneg d (w 0%nat)). fold (sq d (w 0%nat)) in N. assert (Q := positive 0%nat). nra.
  - destruct (played (S j) L) as [Kw _]. assert (H := one_round j (w (S j)) ltac:(lia) Kw (IHj ltac:(lia))).
    unfold Fj, F. assert (A := falling j). assert (B := growing j). assert (C := l1_nonneg d (w (S j))).
    assert (N := dot_nonneg d (w (S j))). fold (sq d (w (S j))) in N. nra.
Qed.

Theorem dual_averaging : forall u, K u -> (0 < n)%nat ->
  sum n (fun j => dot d (g j) (w j) - dot d (g j) u + m j * (l1 d (w j) - l1 d u))
  <= sum n (fun j => sq d (g j) / (2 * lam j)) + lam (pred n) / 2 * sq d u.
Proof.
  intros u Ku P. destruct n as [| j] eqn:E; [lia |]. rewrite <- E in played. simpl pred.
  assert (L : (j < n)%nat) by lia. assert (H := one_round j u L Ku (invariant j L)).
  assert (A : sum (S j) (fun r => dot d (g r) (w r) - dot d (g r) u + m r * (l1 d (w r) - l1 d u))
    = gained (S j) + sum (S j) (fun r => sq d (g r) / (2 * lam r)) - (dot d (past (S j)) u + sum (S j) m * l1 d u)).
  { rewrite past_dot. unfold gained. rewrite (Rmult_comm (sum (S j) m)), <- sum_scale, <- !sum_plus.
    rewrite <- sum_minus. apply sum_ext; intros; ring. }
  rewrite A. assert (B := weights j). assert (C := l1_nonneg d u). nra.
Qed.
End Game.

(* The ball of the page is such a set. *)
Theorem ball_convex : forall d R2, convex (fun v => sq d v <= R2).
Proof. intros d R2 a b c A B H. rewrite sq_mix. assert (N := dot_nonneg d (minus b a)). fold (sq d (minus b a)) in N.
  assert ((1 - c) * sq d a <= (1 - c) * R2) by (apply Rmult_le_compat_l; lra). assert (c * sq d b <= c * R2) by (apply Rmult_le_compat_l; lra).
  assert (0 <= c * (1 - c) * sq d (minus b a)) by (apply Rmult_le_pos; [apply Rmult_le_pos |]; lra). lra.
Qed.

(* Control: neither term can be multiplied by a constant below 1. One round in one dimension: g = 1, w = 0, u = -1. *)
Theorem smaller_is_false : forall a b, a + b < 2 ->
  ~ (forall d K g w m lam n, convex K -> K (fun _ => 0) -> (forall j, 0 < lam j) -> (forall j, lam j <= lam (S j)) ->
  (forall j, 0 <= m j) -> (forall j, m (S j) <= m j) -> (forall j, (j < n)%nat -> K (w j) /\ forall v, K v -> Fj d g m lam j (w j) <= Fj d g m lam j v) ->
  forall u, K u -> (0 < n)%nat -> sum n (fun j => dot d (g j) (w j) - dot d (g j) u + m j * (l1 d (w j) - l1 d u))
  <= a * sum n (fun j => sq d (g j) / (2 * lam j)) + b * (lam (pred n) / 2 * sq d u)).
Proof.
  intros a b ab H. specialize (H 1%nat (fun _ => True) (fun _ _ => 1) (fun _ _ => 0) (fun _ => 0) (fun _ => 1) 1%nat).
  assert (h : 1 <= (a + b) / 2); [| lra].
  eapply Rle_trans; [| eapply Rle_trans; [apply H with (u := fun _ => -1) |]]; unfold convex; intros; try lra; try lia; auto.
  - unfold dot, l1. simpl. lra.
  - assert (j = 0%nat) by lia; subst. split; [exact I |]. intros v _. unfold Fj, F, past, sq, dot, l1. simpl. nra.
  - unfold sq, dot. simpl. lra.
Qed.

Print Assumptions dual_averaging.
Print Assumptions ball_convex.
Print Assumptions smaller_is_false.
