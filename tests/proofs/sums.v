(* Finite sums over the coordinates 0, .., d-1, vectors as functions, and means under a law with finitely many outcomes. *)
Require Import Reals Lra Lia List Bool.
Import ListNotations.
Open Scope R_scope.

Fixpoint sum (d : nat) (f : nat -> R) : R := match d with O => 0 | S n => sum n f + f n end.

Lemma sum_ext : forall d f g, (forall i, (i < d)%nat -> f i = g i) -> sum d f = sum d g.
Proof. induction d; intros f g H; simpl; [reflexivity |]. rewrite (IHd f g); [rewrite (H d); [reflexivity | lia] |]. intros; apply H; lia. Qed.

Lemma sum_le : forall d f g, (forall i, (i < d)%nat -> f i <= g i) -> sum d f <= sum d g.
Proof.
  induction d; intros f g H; simpl; [lra |].
  apply Rplus_le_compat; [apply IHd; intros; apply H; lia | apply H; lia].
Qed.

Lemma sum_plus : forall d f g, sum d (fun i => f i + g i) = sum d f + sum d g.
Proof. induction d; intros; simpl; [ring |]. rewrite IHd; ring. Qed.

Lemma sum_minus : forall d f g, sum d (fun i => f i - g i) = sum d f - sum d g.
Proof. induction d; intros; simpl; [ring |]. rewrite IHd; ring. Qed.

Lemma sum_scale : forall d c f, sum d (fun i => c * f i) = c * sum d f.
Proof. induction d; intros; simpl; [ring |]. rewrite IHd; ring. Qed.

Lemma sum_const : forall d c, sum d (fun _ => c) = INR d * c.
Proof. induction d; intros; [simpl; ring |]. rewrite S_INR. simpl sum. rewrite IHd; ring. Qed.

Lemma sum_nonneg : forall d f, (forall i, (i < d)%nat -> 0 <= f i) -> 0 <= sum d f.
Proof. intros d f H. replace 0 with (sum d (fun _ => 0)); [apply sum_le, H | rewrite sum_const; ring]. Qed.

Lemma sum_swap : forall n d (f : nat -> nat -> R), sum n (fun i => sum d (f i)) = sum d (fun j => sum n (fun i => f i j)).
Proof.
  induction n; intros; simpl; [rewrite sum_const; ring |].
  rewrite IHn, <- sum_plus. reflexivity.
Qed.

Lemma sum_member : forall d f i, (forall j, (j < d)%nat -> 0 <= f j) -> (i < d)%nat -> f i <= sum d f.
Proof.
  induction d; intros f i H L; [lia |]. simpl.
  assert (P : 0 <= sum d f) by (apply sum_nonneg; intros; apply H; lia).
  destruct (Nat.eq_dec i d) as [-> | N]; [lra |].
  assert (f i <= sum d f) by (apply IHd; [intros; apply H; lia | lia]). assert (0 <= f d) by (apply H; lia). lra.
Qed.

(* Vectors with d coordinates. *)
Definition vec := nat -> R.
Definition dot (d : nat) (a b : vec) : R := sum d (fun i => a i * b i).
Definition mix (c : R) (a b : vec) : vec := fun i => (1 - c) * a i + c * b i.

Lemma dot_plus_r : forall d a b c, dot d a (fun i => b i + c i) = dot d a b + dot d a c.
Proof. intros; unfold dot; rewrite <- sum_plus; apply sum_ext; intros; ring. Qed.

Lemma dot_nonneg : forall d a, 0 <= dot d a a.
Proof. intros; apply sum_nonneg; intros. exact (Rle_0_sqr (a i)). Qed.

(* A law: outcomes with their chances. *)
Fixpoint mean {A : Type} (law : list (R * A)) (f : A -> R) : R :=
  match law with [] => 0 | (p, a) :: rest => p * f a + mean rest f end.

Lemma mean_scale : forall (A : Type) (law : list (R * A)) c f, mean law (fun a => c * f a) = c * mean law f.
Proof. induction law as [| [p a] r IH]; intros; simpl; [ring |]. rewrite IH; ring. Qed.

Lemma mean_ext : forall (A : Type) (law : list (R * A)) f g, (forall a, f a = g a) -> mean law f = mean law g.
Proof. induction law as [| [p a] r IH]; intros f g H; simpl; [reflexivity |]. rewrite (IH f g H), H; reflexivity. Qed.
