(* Lemma GE 2 of nbs/core/mathematics/07_geometry.ipynb: how much farther from a sparse u the vector w is after a cut to its largest weights. *)
Require Import Reals Lra Lia Bool.
From proofs Require Import sums.
Open Scope R_scope.

Definition one (b : bool) : R := if b then 1 else 0.
Definition size (d : nat) (s : nat -> bool) : R := sum d (fun i => one (s i)).
Definition support (u : vec) (i : nat) : bool := if Req_EM_T (u i) 0 then false else true.
Definition keep (s : nat -> bool) (w : vec) : vec := fun i => one (s i) * w i.
Definition distance (d : nat) (a b : vec) : R := sum d (fun i => Rsqr (a i - b i)).

(* The sets of the proof: what is missed, and what took its place. *)
Definition missed (S : nat -> bool) (u : vec) (i : nat) : bool := support u i && negb (S i).
Definition instead (U : nat -> bool) (u : vec) (i : nat) : bool := U i && negb (support u i).

Lemma size_nonneg : forall d s, 0 <= size d s.
Proof. intros; apply sum_nonneg; intros i _; destruct (s i); simpl; lra. Qed.

Lemma size_all : forall d s, size d s <= INR d.
Proof. intros. rewrite <- (Rmult_1_r (INR d)), <- sum_const. apply sum_le. intros i _; destruct (s i); simpl; lra. Qed.

Lemma missed_of_support : forall d S u, size d (missed S u) <= size d (support u).
Proof. intros; apply sum_le; intros i _; unfold missed. destruct (support u i), (S i); simpl; lra. Qed.

Lemma missed_outside : forall d (S U : nat -> bool) u, (forall i, U i = true -> S i = true) -> size d (missed S u) + size d U <= INR d.
Proof.
  intros d S U u H. unfold size. rewrite <- sum_plus, <- (Rmult_1_r (INR d)), <- sum_const. apply sum_le. intros i _. unfold missed.
  specialize (H i). destruct (support u i), (S i), (U i); simpl in *; try lra; discriminate (H eq_refl).
Qed.

Lemma substitutes : forall d (S U : nat -> bool) u, (forall i, U i = true -> S i = true) ->
  size d U - size d (support u) + size d (missed S u) <= size d (instead U u).
Proof.
  intros d S U u H. unfold size. rewrite <- sum_minus, <- sum_plus. apply sum_le. intros i _. unfold missed, instead.
  specialize (H i). destruct (support u i), (S i), (U i); simpl in *; try lra; discriminate (H eq_refl).
Qed.

(* The squares on a set. *)
Definition mass (d : nat) (s : nat -> bool) (w : vec) : R := sum d (fun i => one (s i) * Rsqr (w i)).

Lemma mass_nonneg : forall d s w, 0 <= mass d s w.
Proof. intros; apply sum_nonneg; intros i _. assert (q := Rle_0_sqr (w i)). destruct (s i); simpl; lra. Qed.

Lemma compare : forall d (A N : nat -> bool) w, (forall i j, (i < d)%nat -> (j < d)%nat -> A i = true -> N j = true -> Rabs (w i) <= Rabs (w j)) ->
  size d N * mass d A w <= size d A * mass d N w.
Proof.
  intros d A N w H. unfold size, mass.
  rewrite <- (sum_scale d (sum d (fun i => one (N i)))), (sum_ext d _ (fun i => sum d (fun j => one (N j) * one (A i) * Rsqr (w i)))).
  - rewrite (Rmult_comm (sum d (fun i => one (A i)))), <- (sum_scale d (sum d (fun i => one (N i) * Rsqr (w i)))).
    rewrite (sum_ext d (fun i => sum d (fun i0 => one (N i0) * Rsqr (w i0)) * one (A i)) (fun i => sum d (fun j => one (N j) * one (A i) * Rsqr (w j)))).
    + apply sum_le; intros i Li. apply sum_le; intros j Lj. specialize (H i j Li Lj).
      destruct (A i), (N j); simpl; try lra. rewrite (Rsqr_abs (w i)), (Rsqr_abs (w j)).
      assert (Rsqr (Rabs (w i)) <= Rsqr (Rabs (w j))) by (apply Rsqr_incr_1; [apply H; reflexivity | apply Rabs_pos | apply Rabs_pos]). lra.
    + intros i _. rewrite Rmult_comm, <- sum_scale. apply sum_ext; intros; ring.
  - intros i _. rewrite Rmult_comm, <- sum_scale. apply sum_ext; intros; ring.
Qed.

Section Cut.
Variables (d k k1 : nat) (w u : vec) (U S : nat -> bool).
Definition m : R := Rmin (INR k) (INR d - INR k1).
Definition rho : R := m / (INR k1 - INR k + m).
Definition nu : R := 1 + (rho + sqrt (rho * rho + 4 * rho)) / 2.

Hypothesis k_k1 : (k <= k1)%nat.
Hypothesis k1_d : (k1 <= d)%nat.
Hypothesis sparse : size d (support u) <= INR k.
Hypothesis top_size : size d U = INR k1.
Hypothesis top : forall i j, (i < d)%nat -> (j < d)%nat -> U i = false -> U j = true -> Rabs (w i) <= Rabs (w j).
Hypothesis more : forall i, U i = true -> S i = true.

Let A := missed S u.
Let N := instead U u.

Lemma m_nonneg : 0 <= m.
Proof. unfold m. apply Rmin_glb; [apply pos_INR | assert (h := le_INR _ _ k1_d); lra]. Qed.

Lemma rho_range : 0 <= rho <= 1.
Proof.
  assert (M := m_nonneg). assert (h := le_INR _ _ k_k1). unfold rho. destruct (Req_dec (INR k1 - INR k + m) 0) as [E | E].
  - assert (m = 0) by lra. rewrite H. unfold Rdiv. lra.
  - assert (0 < INR k1 - INR k + m) by lra. split; [apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra] |].
    apply (Rmult_le_reg_r (INR k1 - INR k + m)); [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Lemma nu_root : (nu - 1) * (nu - 1) = rho * nu.
Proof.
  unfold nu. assert (R := rho_range). assert (Q : sqrt (rho * rho + 4 * rho) * sqrt (rho * rho + 4 * rho) = rho * rho + 4 * rho) by (apply sqrt_sqrt; nra).
  set (s := sqrt (rho * rho + 4 * rho)) in *. replace ((1 + (rho + s) / 2 - 1) * (1 + (rho + s) / 2 - 1)) with ((rho * rho + 2 * rho * s + s * s) / 4) by field.
  rewrite Q. field.
Qed.

Lemma nu_least : 1 + rho <= nu.
Proof.
  unfold nu. assert (R := rho_range). assert (rho <= sqrt (rho * rho + 4 * rho)); [| lra].
  rewrite <- (sqrt_square rho) at 1 by lra. apply sqrt_le_1; nra.
Qed.

Lemma few_missed : size d A <= m.
Proof.
  unfold m. apply Rmin_glb; [eapply Rle_trans; [apply missed_of_support | exact sparse] |].
  assert (H := missed_outside d S U u more). rewrite top_size in H. unfold A. lra.
Qed.

Lemma masses : mass d A w <= rho * mass d N w.
Proof.
  assert (H : size d N * mass d A w <= size d A * mass d N w).
  { apply compare. intros i j Li Lj a n. unfold A, missed in a. unfold N, instead in n. apply andb_prop in a. apply andb_prop in n.
    apply top; try tauto. destruct (U i) eqn:E; [| reflexivity]. rewrite (more i E) in a. destruct a; discriminate. }
  assert (M := m_nonneg). assert (F := few_missed). assert (B := substitutes d S U u more). fold A in B. fold N in B. rewrite top_size in B.
  assert (h := le_INR _ _ k_k1). assert (P := mass_nonneg d A w). assert (P' := mass_nonneg d N w). assert (Z := size_nonneg d A).
  assert (R := rho_range).
  destruct (Req_dec (size d A) 0) as [E | E].
  - assert (mass d A w = 0); [| nra].
    unfold mass. rewrite (sum_ext d _ (fun _ => 0)); [rewrite sum_const; ring |]. intros i L.
    assert (Q := sum_member d (fun i => one (A i)) i). unfold size in E. rewrite E in Q.
    assert (one (A i) <= 0) by (apply Q; [intros j _; destruct (A j); simpl; lra | exact L]). destruct (A i); simpl in *; lra.
  - assert (a : 0 < size d A) by lra. assert (n : 0 < size d N) by lra. assert (c : 0 < INR k1 - INR k + m) by lra.
    assert (G : size d A <= rho * size d N).
    { unfold rho. apply (Rmult_le_reg_r (INR k1 - INR k + m)); [exact c |].
      replace (m / (INR k1 - INR k + m) * size d N * (INR k1 - INR k + m)) with (m * size d N) by (field; lra). nra. }
    apply (Rmult_le_reg_l (size d N)); [exact n |]. nra.
Qed.

(* What a coordinate contributes: zero or more, but for the masses of what is missed and of what took its place. *)
Lemma coordinate : forall i, 1 < nu ->
  (nu - 1) * (one (N i) * Rsqr (w i)) - nu / (nu - 1) * (one (A i) * Rsqr (w i)) <= nu * Rsqr (w i - u i) - Rsqr (keep S w i - u i).
Proof.
  intros i L. unfold A, N, missed, instead, keep. assert (Q := Rle_0_sqr (w i - u i)). specialize (more i). unfold support.
  destruct (Req_EM_T (u i) 0) as [e | e].
  - rewrite e. rewrite Rminus_0_r. assert (q := Rle_0_sqr (w i)).
    destruct (S i), (U i); simpl; unfold Rsqr in *; try nra; discriminate (more eq_refl).
  - destruct (S i); [destruct (U i); simpl; unfold Rsqr in *; nra |]. destruct (U i); [discriminate (more eq_refl) |]. simpl.
    assert (E : nu * Rsqr (w i - u i) - Rsqr (0 * w i - u i) + nu / (nu - 1) * (1 * Rsqr (w i)) = (nu - 1) * Rsqr (u i - nu / (nu - 1) * w i)).
    { unfold Rsqr. field; lra. }
    assert (P := Rle_0_sqr (u i - nu / (nu - 1) * w i)). assert (0 <= (nu - 1) * Rsqr (u i - nu / (nu - 1) * w i)) by (apply Rmult_le_pos; lra). lra.
Qed.

Theorem truncation : distance d (keep S w) u <= nu * distance d w u.
Proof.
  assert (M := masses). assert (R := rho_range). assert (root := nu_root). assert (L := nu_least).
  destruct (Req_dec rho 0) as [E | E].
  - assert (n1 : nu = 1) by (unfold nu; rewrite E; replace (0 * 0 + 4 * 0) with 0 by ring; rewrite sqrt_0; field). rewrite n1, Rmult_1_l.
    assert (a : size d A = 0).
    { assert (F := few_missed). assert (Z := size_nonneg d A). assert (P := m_nonneg). assert (h := le_INR _ _ k_k1). unfold rho in E.
      destruct (Req_dec m 0) as [e | e]; [lra |]. exfalso. assert (0 < INR k1 - INR k + m) by lra. assert (0 < m / (INR k1 - INR k + m)) by (apply Rdiv_lt_0_compat; lra). lra. }
    apply sum_le; intros i Li. assert (Q := sum_member d (fun i => one (A i)) i). unfold size in a. rewrite a in Q.
    assert (b : one (A i) <= 0) by (apply Q; [intros j _; destruct (A j); simpl; lra | exact Li]).
    unfold A, missed, support, keep in *. destruct (Req_EM_T (u i) 0) as [e | e].
    + rewrite e. rewrite !Rminus_0_r. assert (q := Rle_0_sqr (w i)). destruct (S i); simpl; unfold Rsqr in *; lra.
    + destruct (S i); simpl in *; [| lra]. rewrite Rmult_1_l. lra.
  - assert (one_nu : 1 < nu) by lra.
    assert (T : (nu - 1) * mass d N w - nu / (nu - 1) * mass d A w <= nu * distance d w u - distance d (keep S w) u).
    { unfold mass, distance. rewrite <- !sum_scale, <- !sum_minus. apply sum_le. intros i _. apply coordinate, one_nu. }
    assert (C : nu / (nu - 1) * mass d A w <= (nu - 1) * mass d N w); [| lra].
    assert (D : nu / (nu - 1) * rho = nu - 1) by (apply (Rmult_eq_reg_r (nu - 1)); [field_simplify; lra | lra]).
    rewrite <- D at 2. rewrite Rmult_assoc. apply Rmult_le_compat_l; [| exact M].
    apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra].
Qed.
End Cut.

Theorem golden : forall d k w u U S, (0 < k)%nat -> (k < d)%nat -> size d (support u) <= INR k -> size d U = INR k ->
  (forall i j, (i < d)%nat -> (j < d)%nat -> U i = false -> U j = true -> Rabs (w i) <= Rabs (w j)) -> (forall i, U i = true -> S i = true) ->
  distance d (keep S w) u <= (3 + sqrt 5) / 2 * distance d w u.
Proof.
  intros d k w u U S K D sparse size top more.
  assert (H := truncation d k k w u U S (le_n k) (Nat.lt_le_incl _ _ D) sparse size top more).
  assert (E : rho d k k = 1).
  { unfold rho. assert (0 < m d k k); [| field; lra]. unfold m. apply Rmin_glb_lt; [apply lt_0_INR, K | apply lt_INR in D; lra]. }
  assert (V : nu d k k = (3 + sqrt 5) / 2) by (unfold nu; rewrite E; replace (1 * 1 + 4 * 1) with 5 by ring; field). rewrite <- V. exact H.
Qed.

(* Control: no constant below (3 + sqrt 5) / 2 will do, with two coordinates of which one is kept. *)
Theorem smaller_is_false : forall c, c < (3 + sqrt 5) / 2 ->
  ~ (forall d k w u U S, (0 < k)%nat -> (k < d)%nat -> size d (support u) <= INR k -> size d U = INR k ->
  (forall i j, (i < d)%nat -> (j < d)%nat -> U i = false -> U j = true -> Rabs (w i) <= Rabs (w j)) -> (forall i, U i = true -> S i = true) ->
  distance d (keep S w) u <= c * distance d w u).
Proof.
  intros c L H. set (s := sqrt 5) in *. assert (P : 0 <= s) by apply sqrt_pos. assert (Q : s * s = 5) by (apply sqrt_sqrt; lra).
  specialize (H 2%nat 1%nat (fun _ => 1) (fun i => match i with O => 0 | _ => (1 + s) / 2 end) (fun i => Nat.eqb i 0) (fun i => Nat.eqb i 0) ltac:(lia) ltac:(lia)).
  assert (G : 1 + Rsqr ((1 + s) / 2) <= c * (1 + Rsqr (1 - (1 + s) / 2))).
  { eapply Rle_trans; [| eapply Rle_trans; [apply H |]].
    - unfold distance, keep, Rsqr; simpl. lra.
    - unfold size, support; simpl. destruct (Req_EM_T 0 0), (Req_EM_T ((1 + s) / 2) 0); simpl; lra.
    - unfold size; simpl; lra.
    - intros; apply Rle_refl.
    - auto.
    - unfold distance, Rsqr; simpl. lra. }
  unfold Rsqr in G. clear H. assert (s < 3) by nra. assert (2 < s) by nra. nra.
Qed.

Print Assumptions truncation.
Print Assumptions golden.
Print Assumptions smaller_is_false.
