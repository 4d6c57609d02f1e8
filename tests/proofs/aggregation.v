(* Lemma ME 1 and Corollary ME 1 of nbs/own/moments/02_experts.ipynb: Vovk's rule for the squared loss. The proof is another one than the page's:
   with y = 1 or -1, of mean p, the mean of exp(a y) is at most exp(a p + a a / 2) (Hoeffding), and that is what the rule needs.
   The predictions of the experts may lie anywhere; only the labels have to be in the range. *)
Require Import Reals Lra Lia.
From proofs Require Import sums.
Open Scope R_scope.

Lemma exp_least : forall x, 1 + x <= exp x.
Proof. intro x. destruct (Req_dec x 0) as [-> | N]; [rewrite exp_0; lra | left; apply exp_ineq1, N]. Qed.

Lemma rises : forall f f' b, (forall x, derivable_pt_lim f x (f' x)) -> 0 <= b -> (forall x, 0 <= x -> 0 <= f' x) -> f 0 <= f b.
Proof.
  intros f f' b D B P. destruct (Rle_lt_or_eq_dec 0 b B) as [L | <-]; [| lra].
  destruct (MVT_cor2 f f' 0 b L (fun c _ => D c)) as [c [E [C1 C2]]]. assert (0 <= f' c) by (apply P; lra).
  assert (0 <= f' c * (b - 0)) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma shift : forall a x, derivable_pt_lim (fun z => a + z) x 1.
Proof. intros. rewrite <- (Rplus_0_l 1). apply (derivable_pt_lim_plus (fun _ => a) (fun z => z)); [apply derivable_pt_lim_const | apply derivable_pt_lim_id]. Qed.

Lemma exp_line : forall a b c x, derivable_pt_lim (fun x => exp (a * (x * x) + b * x + c)) x ((2 * a * x + b) * exp (a * (x * x) + b * x + c)).
Proof.
  intros. rewrite Rmult_comm. apply (derivable_pt_lim_comp (fun x => a * (x * x) + b * x + c) exp).
  - replace (2 * a * x + b) with ((0 * (x * x) + a * (1 * x + x * 1)) + (0 * x + b * 1) + 0) by ring.
    apply (derivable_pt_lim_plus (fun x => a * (x * x) + b * x) (fun _ => c)); [| apply derivable_pt_lim_const].
    apply (derivable_pt_lim_plus (fun x => a * (x * x)) (fun x => b * x)).
    + apply (derivable_pt_lim_mult (fun _ => a) (fun x => x * x)); [apply derivable_pt_lim_const |].
      apply (derivable_pt_lim_mult (fun x => x) (fun x => x)); apply derivable_pt_lim_id.
    + apply (derivable_pt_lim_mult (fun _ => b) (fun x => x)); [apply derivable_pt_lim_const | apply derivable_pt_lim_id].
  - apply derivable_pt_lim_exp.
Qed.

Definition tilt (p x : R) : R := (1 + p) / 2 * exp x + (1 - p) / 2 * exp (- x).

Lemma hoeffding_right : forall p x, 0 <= x -> tilt p x <= exp (x * x / 2 + p * x).
Proof.
  intros p x X.
  set (r := fun z => (1 + p + z) * exp (1 / 2 * (z * z) + (p - 1) * z + 0) - (1 + p)).
  assert (Dr : forall z, derivable_pt_lim r z ((p + z) * (p + z) * exp (1 / 2 * (z * z) + (p - 1) * z + 0))).
  { intro z. unfold r.
    replace ((p + z) * (p + z) * exp (1 / 2 * (z * z) + (p - 1) * z + 0)) with
      (1 * exp (1 / 2 * (z * z) + (p - 1) * z + 0) + (1 + p + z) * ((2 * (1 / 2) * z + (p - 1)) * exp (1 / 2 * (z * z) + (p - 1) * z + 0)) - 0) by field.
    apply (derivable_pt_lim_minus (fun z => (1 + p + z) * exp (1 / 2 * (z * z) + (p - 1) * z + 0)) (fun _ => 1 + p)); [| apply derivable_pt_lim_const].
    apply (derivable_pt_lim_mult (fun z => 1 + p + z) (fun z => exp (1 / 2 * (z * z) + (p - 1) * z + 0))); [apply shift | apply exp_line]. }
  assert (R0 : forall z, 0 <= z -> 0 <= r z).
  { intros z Z. replace 0 with (r 0) by (unfold r; rewrite !Rmult_0_r, !Rplus_0_r, exp_0; ring). eapply rises; [exact Dr | exact Z |].
    intros c _. apply Rmult_le_pos; [exact (Rle_0_sqr (p + c)) | left; apply exp_pos]. }
  set (s := fun z => exp (1 / 2 * (z * z) + (p + 1) * z + 0) - (1 + p) / 2 * exp (0 * (z * z) + 2 * z + 0)).
  assert (Ds : forall z, derivable_pt_lim s z (exp (2 * z) * r z)).
  { intro z. unfold s.
    replace (exp (2 * z) * r z) with ((2 * (1 / 2) * z + (p + 1)) * exp (1 / 2 * (z * z) + (p + 1) * z + 0)
      - (0 * exp (0 * (z * z) + 2 * z + 0) + (1 + p) / 2 * ((2 * 0 * z + 2) * exp (0 * (z * z) + 2 * z + 0)))).
    - apply (derivable_pt_lim_minus (fun z => exp (1 / 2 * (z * z) + (p + 1) * z + 0)) (fun z => (1 + p) / 2 * exp (0 * (z * z) + 2 * z + 0))); [apply exp_line |].
      apply (derivable_pt_lim_mult (fun _ => (1 + p) / 2) (fun z => exp (0 * (z * z) + 2 * z + 0))); [apply derivable_pt_lim_const | apply exp_line].
    - unfold r. replace (1 / 2 * (z * z) + (p + 1) * z + 0) with (2 * z + (1 / 2 * (z * z) + (p - 1) * z + 0)) by ring.
      replace (0 * (z * z) + 2 * z + 0) with (2 * z) by ring. rewrite exp_plus. field. }
  assert (G : s 0 <= s x) by (eapply rises; [exact Ds | exact X |]; intros c C; apply Rmult_le_pos; [left; apply exp_pos | apply R0, C]).
  unfold s in G. replace (1 / 2 * (0 * 0) + (p + 1) * 0 + 0) with 0 in G by ring. replace (0 * (0 * 0) + 2 * 0 + 0) with 0 in G by ring. rewrite exp_0 in G.
  replace (0 * (x * x) + 2 * x + 0) with (x + x) in G by ring. replace (1 / 2 * (x * x) + (p + 1) * x + 0) with ((x * x / 2 + p * x) + x) in G by field.
  rewrite !exp_plus in G. unfold tilt. rewrite exp_Ropp. assert (E := exp_pos x).
  apply (Rmult_le_reg_r (exp x)); [exact E |].
  replace (((1 + p) / 2 * exp x + (1 - p) / 2 * / exp x) * exp x) with ((1 + p) / 2 * (exp x * exp x) + (1 - p) / 2) by (field; lra). rewrite exp_plus. lra.
Qed.

Lemma hoeffding : forall p x, tilt p x <= exp (x * x / 2 + p * x).
Proof.
  intros p x. destruct (Rle_or_lt 0 x) as [H | H]; [apply hoeffding_right, H |].
  replace (tilt p x) with (tilt (- p) (- x)) by (unfold tilt; rewrite Ropp_involutive; replace (1 + - p) with (1 - p) by ring; replace (1 - - p) with (1 + p) by ring; ring).
  replace (x * x / 2 + p * x) with ((- x) * (- x) / 2 + (- p) * (- x)) by field. apply hoeffding_right; lra.
Qed.

Section Rule.
Variables (n : nat) (v f : nat -> R) (l h : R).  (* shares, predictions of n experts, range of the labels *)
Hypothesis range : l < h.
Hypothesis shares : forall s, (s < n)%nat -> 0 <= v s.
Hypothesis total : sum n v = 1.
Definition Y : R := (h - l) / 2.
Definition mixed (y : R) : R := sum n (fun s => v s * exp (- (Rsqr (f s - y) / (2 * (Y * Y))))).
Definition g (y : R) : R := - (2 * (Y * Y)) * ln (mixed y).
Definition guess : R := (l + h) / 2 + (g l - g h) / (4 * Y).

Lemma Y_pos : 0 < Y. Proof. unfold Y; lra. Qed.

Lemma least_share : forall c : nat -> R, (forall s, (s < n)%nat -> 0 < c s) -> 0 < sum n (fun s => v s * c s).
Proof.
  intros c C. destruct (Rle_lt_or_eq_dec 0 (sum n (fun s => v s * c s))) as [P | E]; [| exact P |].
  - apply sum_nonneg; intros s L. apply Rmult_le_pos; [apply shares, L | left; apply C, L].
  - exfalso. assert (Z : sum n v = 0); [| lra].
    rewrite (sum_ext n v (fun _ => 0)); [rewrite sum_const; ring |]. intros s L.
    assert (M : v s * c s <= 0).
    { rewrite E. apply (sum_member n (fun s => v s * c s) s); [| exact L]. intros j J. apply Rmult_le_pos; [apply shares, J | left; apply C, J]. }
    assert (A := shares s L). assert (B := C s L). nra.
Qed.

Lemma mixed_pos : forall y, 0 < mixed y.
Proof. intro y. apply least_share. intros; apply exp_pos. Qed.

Lemma mixed_exp : forall y, mixed y = exp (- (g y / (2 * (Y * Y)))).
Proof. intro y. assert (P := Y_pos). unfold g. replace (- (- (2 * (Y * Y)) * ln (mixed y) / (2 * (Y * Y)))) with (ln (mixed y)) by (field; lra). rewrite exp_ln; [reflexivity | apply mixed_pos]. Qed.

(* The guess p makes the loss exceed the mixed loss by the same amount at both ends; by Hoeffding that amount is not positive. *)
Lemma ends : Rsqr (guess - h) <= g h /\ Rsqr (guess - l) <= g l.
Proof.
  assert (P := Y_pos). set (p := (g l - g h) / (4 * (Y * Y))).
  assert (Ep : guess = (l + h) / 2 + Y * p) by (unfold guess, p; field; lra).
  assert (Gh : guess - h = Y * (p - 1)) by (rewrite Ep; unfold Y; field). assert (Gl : guess - l = Y * (p + 1)) by (rewrite Ep; unfold Y; field).
  assert (Same : Rsqr (guess - h) - g h = Rsqr (guess - l) - g l).
  { rewrite Gh, Gl. assert (E : g l - g h = 4 * (Y * Y) * p) by (unfold p; field; lra). unfold Rsqr. lra. }
  set (c := (Rsqr (guess - h) - g h) / (2 * (Y * Y))).
  assert (Wh : sum n (fun s => v s * exp ((Rsqr (guess - h) - Rsqr (f s - h)) / (2 * (Y * Y)))) = exp c).
  { unfold c. replace ((Rsqr (guess - h) - g h) / (2 * (Y * Y))) with (Rsqr (guess - h) / (2 * (Y * Y)) + - (g h / (2 * (Y * Y)))) by (field; lra).
    rewrite exp_plus, <- mixed_exp. unfold mixed. rewrite <- sum_scale. apply sum_ext. intros s _.
    replace ((Rsqr (guess - h) - Rsqr (f s - h)) / (2 * (Y * Y))) with (Rsqr (guess - h) / (2 * (Y * Y)) + - (Rsqr (f s - h) / (2 * (Y * Y)))) by (field; lra).
    rewrite exp_plus; ring. }
  assert (Wl : sum n (fun s => v s * exp ((Rsqr (guess - l) - Rsqr (f s - l)) / (2 * (Y * Y)))) = exp c).
  { unfold c. rewrite Same. replace ((Rsqr (guess - l) - g l) / (2 * (Y * Y))) with (Rsqr (guess - l) / (2 * (Y * Y)) + - (g l / (2 * (Y * Y)))) by (field; lra).
    rewrite exp_plus, <- mixed_exp. unfold mixed. rewrite <- sum_scale. apply sum_ext. intros s _.
    replace ((Rsqr (guess - l) - Rsqr (f s - l)) / (2 * (Y * Y))) with (Rsqr (guess - l) / (2 * (Y * Y)) + - (Rsqr (f s - l) / (2 * (Y * Y)))) by (field; lra).
    rewrite exp_plus; ring. }
  assert (One : exp c <= 1).
  { apply Rle_trans with ((1 + p) / 2 * exp c + (1 - p) / 2 * exp c); [lra |].
    rewrite <- Wh at 1. rewrite <- Wl. rewrite <- !sum_scale, <- sum_plus. apply Rle_trans with (sum n v); [| lra]. apply sum_le. intros s L.
    set (x := (f s - guess) / Y).
    assert (Fh : f s - h = Y * (p - 1 + x)) by (unfold x; replace (f s - h) with (f s - guess + (guess - h)) by ring; rewrite Gh; field; lra).
    assert (Fl : f s - l = Y * (p + 1 + x)) by (unfold x; replace (f s - l) with (f s - guess + (guess - l)) by ring; rewrite Gl; field; lra).
    assert (Xh : (Rsqr (guess - h) - Rsqr (f s - h)) / (2 * (Y * Y)) = x + - (x * x / 2 + p * x)) by (rewrite Fh, Gh; unfold Rsqr; clearbody x p; field; lra).
    assert (Xl : (Rsqr (guess - l) - Rsqr (f s - l)) / (2 * (Y * Y)) = - x + - (x * x / 2 + p * x)) by (rewrite Fl, Gl; unfold Rsqr; clearbody x p; field; lra).
    rewrite Xh, Xl, !exp_plus. assert (H := hoeffding p x). unfold tilt in H. rewrite (exp_Ropp (x * x / 2 + p * x)).
    assert (E := exp_pos (x * x / 2 + p * x)). assert (A := shares s L).
    replace ((1 + p) / 2 * (v s * (exp x * / exp (x * x / 2 + p * x))) + (1 - p) / 2 * (v s * (exp (- x) * / exp (x * x / 2 + p * x))))
      with (v s * (((1 + p) / 2 * exp x + (1 - p) / 2 * exp (- x)) * / exp (x * x / 2 + p * x))) by (field; lra).
    apply Rle_trans with (v s * 1); [| lra]. apply Rmult_le_compat_l; [exact A |].
    apply (Rmult_le_reg_r (exp (x * x / 2 + p * x))); [exact E |]. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (C : c <= 0).
  { destruct (Rle_or_lt c 0) as [| Q]; [assumption |]. assert (exp 0 < exp c) by (apply exp_increasing, Q). rewrite exp_0 in *. lra. }
  assert (D : Rsqr (guess - h) - g h <= 0).
  { replace (Rsqr (guess - h) - g h) with (c * (2 * (Y * Y))) by (unfold c; field; lra). assert (0 < Y * Y) by nra. nra. }
  lra.
Qed.

(* All labels: the loss minus the mixed loss is convex in the label. *)
Lemma bound_of_exp : forall a b c, 0 <= c <= 1 -> exp (c * a + (1 - c) * b) <= c * exp a + (1 - c) * exp b.
Proof.
  intros a b c C. set (m := c * a + (1 - c) * b). assert (M := exp_pos m).
  assert (A : exp m * (1 + (a - m)) <= exp a) by (replace (exp a) with (exp m * exp (a - m)) by (rewrite <- exp_plus; f_equal; ring); apply Rmult_le_compat_l; [lra | apply exp_least]).
  assert (B : exp m * (1 + (b - m)) <= exp b) by (replace (exp b) with (exp m * exp (b - m)) by (rewrite <- exp_plus; f_equal; ring); apply Rmult_le_compat_l; [lra | apply exp_least]).
  assert (c * (exp m * (1 + (a - m))) <= c * exp a) by (apply Rmult_le_compat_l; lra).
  assert ((1 - c) * (exp m * (1 + (b - m))) <= (1 - c) * exp b) by (apply Rmult_le_compat_l; lra).
  assert (E : c * (exp m * (1 + (a - m))) + (1 - c) * (exp m * (1 + (b - m))) = exp m) by (unfold m; ring). lra.
Qed.

Theorem mixed_loss_is_attained : forall y, l <= y <= h -> Rsqr (guess - y) <= g y.
Proof.
  intros y Hy. assert (P := Y_pos). destruct ends as [Eh El]. set (k := 2 * (Y * Y)) in *. assert (K : 0 < k) by (unfold k; nra).
  set (c := (y - l) / (h - l)). assert (C : 0 <= c <= 1).
  { unfold c. split; [apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra] |]. apply (Rmult_le_reg_r (h - l)); [lra |]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (y = c * h + (1 - c) * l) by (unfold c; field; lra).
  (* the squares are quadratic in y: their excess over the chord is the same for every prediction *)
  assert (chord : forall a, Rsqr (a - y) = c * Rsqr (a - h) + (1 - c) * Rsqr (a - l) - c * (1 - c) * Rsqr (h - l)) by (intro a; rewrite H at 1; unfold Rsqr; ring).
  set (G := c * g h + (1 - c) * g l - c * (1 - c) * Rsqr (h - l)).
  assert (L : Rsqr (guess - y) <= G).
  { rewrite chord. unfold G. assert (c * Rsqr (guess - h) <= c * g h) by (apply Rmult_le_compat_l; lra).
    assert ((1 - c) * Rsqr (guess - l) <= (1 - c) * g l) by (apply Rmult_le_compat_l; lra). lra. }
  apply Rle_trans with G; [exact L |].
  assert (W : mixed y * exp (G / k) <= 1).
  { unfold mixed. fold k. rewrite Rmult_comm, <- sum_scale. apply Rle_trans with (sum n v); [| lra].
    assert (S1 : sum n v = c * (exp (g h / k) * mixed h) + (1 - c) * (exp (g l / k) * mixed l)).
    { rewrite total, !mixed_exp. fold k. rewrite <- !exp_plus, !Rplus_opp_r, exp_0. ring. }
    rewrite S1. unfold mixed. fold k. rewrite <- !sum_scale, <- sum_plus. apply sum_le. intros s Ls. assert (A := shares s Ls).
    replace (exp (G / k) * (v s * exp (- (Rsqr (f s - y) / k)))) with (v s * exp (c * ((g h - Rsqr (f s - h)) / k) + (1 - c) * ((g l - Rsqr (f s - l)) / k))).
    - assert (B := bound_of_exp ((g h - Rsqr (f s - h)) / k) ((g l - Rsqr (f s - l)) / k) c C).
      replace (c * (exp (g h / k) * (v s * exp (- (Rsqr (f s - h) / k)))) + (1 - c) * (exp (g l / k) * (v s * exp (- (Rsqr (f s - l) / k)))))
        with (v s * (c * exp ((g h - Rsqr (f s - h)) / k) + (1 - c) * exp ((g l - Rsqr (f s - l)) / k))); [apply Rmult_le_compat_l; assumption |].
      replace ((g h - Rsqr (f s - h)) / k) with (g h / k + - (Rsqr (f s - h) / k)) by (field; lra).
      replace ((g l - Rsqr (f s - l)) / k) with (g l / k + - (Rsqr (f s - l) / k)) by (field; lra). rewrite !exp_plus. ring.
    - rewrite chord. unfold G.
      replace (c * ((g h - Rsqr (f s - h)) / k) + (1 - c) * ((g l - Rsqr (f s - l)) / k)) with
        ((c * g h + (1 - c) * g l - c * (1 - c) * Rsqr (h - l)) / k + - ((c * Rsqr (f s - h) + (1 - c) * Rsqr (f s - l) - c * (1 - c) * Rsqr (h - l)) / k)) by (field; lra).
      rewrite exp_plus. ring. }
  rewrite mixed_exp in W. fold k in W. rewrite <- exp_plus in W.
  assert (- (g y / k) + G / k <= 0).
  { destruct (Rle_or_lt (- (g y / k) + G / k) 0) as [| Q]; [assumption |]. assert (Z := exp_increasing _ _ Q). rewrite exp_0 in Z. lra. }
  assert (E : G - g y = (- (g y / k) + G / k) * k) by (field; lra). nra.
Qed.
End Rule.

(* Corollary ME 1: exponential weights, n experts, labels in [l, h], any number of rounds. *)
Section Regret.
Variables (n : nat) (f : nat -> nat -> R) (y : nat -> R) (l h : R).
Hypothesis experts : (0 < n)%nat.
Hypothesis range : l < h.
Hypothesis labels : forall t, l <= y t <= h.
Let k := 2 * (Y l h * Y l h).
Definition lost (t s : nat) : R := sum t (fun r => Rsqr (f r s - y r)).
Definition weight (t : nat) : R := sum n (fun s => exp (- (lost t s / k))).
Definition share (t s : nat) : R := exp (- (lost t s / k)) / weight t.
Definition played (t : nat) : R := guess n (share t) (f t) l h.

Lemma k_pos : 0 < k. Proof. assert (P := Y_pos l h range). unfold k. nra. Qed.

Lemma weight_pos : forall t, 0 < weight t.
Proof.
  intro t. unfold weight. destruct n as [| m]; [lia |]. simpl. assert (0 <= sum m (fun s => exp (- (lost t s / k)))) by (apply sum_nonneg; intros; left; apply exp_pos).
  assert (A := exp_pos (- (lost t m / k))). lra.
Qed.

Lemma one_round : forall t, Rsqr (played t - y t) <= k * (ln (weight t) - ln (weight (S t))).
Proof.
  intro t. assert (W := weight_pos t). assert (W' := weight_pos (S t)). assert (K := k_pos).
  eapply Rle_trans; [apply (mixed_loss_is_attained n (share t) (f t) l h range); [| | apply labels] |].
  - intros s _. unfold share. apply Rmult_le_pos; [left; apply exp_pos | left; apply Rinv_0_lt_compat, W].
  - unfold share, Rdiv. rewrite (sum_ext n _ (fun s => / weight t * exp (- (lost t s / k)))) by (intros; unfold Rdiv; ring).
    rewrite sum_scale. fold (weight t). apply Rinv_l. lra.
  - unfold g. fold k. assert (E : mixed n (share t) (f t) l h (y t) = weight (S t) / weight t).
    { unfold mixed. fold k. unfold weight at 1, Rdiv. rewrite Rmult_comm, <- sum_scale. apply sum_ext. intros s _. unfold share, lost. simpl sum.
      replace (- ((sum t (fun r => Rsqr (f r s - y r)) + Rsqr (f t s - y t)) * / k)) with (- (lost t s / k) + - (Rsqr (f t s - y t) / k)) by (unfold lost; field; lra).
      rewrite exp_plus. unfold lost, Rdiv. ring. }
    rewrite E. unfold Rdiv. rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; assumption). lra.
Qed.

Theorem regret : forall T s, (s < n)%nat -> sum T (fun t => Rsqr (played t - y t)) <= lost T s + 2 * (Y l h * Y l h) * ln (INR n).
Proof.
  intros T s L. fold k. assert (K := k_pos).
  assert (A : sum T (fun t => Rsqr (played t - y t)) <= k * (ln (weight 0) - ln (weight T))).
  { induction T; simpl sum; [lra |]. assert (O := one_round T). lra. }
  assert (B : weight 0 = INR n).
  { unfold weight, lost. simpl. rewrite (sum_ext n _ (fun _ => 1)); [rewrite sum_const; ring |]. intros i _. unfold Rdiv. rewrite Rmult_0_l, Ropp_0. apply exp_0. }
  assert (C : - (lost T s / k) <= ln (weight T)).
  { rewrite <- (ln_exp (- (lost T s / k))). assert (M : exp (- (lost T s / k)) <= weight T) by (apply (sum_member n (fun s => exp (- (lost T s / k)))); [intros; left; apply exp_pos | exact L]).
    destruct (Rle_lt_or_eq_dec _ _ M) as [m | ->]; [left; apply ln_increasing; [apply exp_pos | exact m] | lra]. }
  rewrite B in A. assert (D : lost T s = - k * (- (lost T s / k))) by (field; lra).
  rewrite D. assert (k * - ln (weight T) <= - k * (- (lost T s / k))) by nra. lra.
Qed.
End Regret.

(* Controls. With twice the rate no prediction attains the mixed loss: two experts at the ends, equal shares, Y = 1. *)
Theorem twice_the_rate_is_false : ~ (forall (n : nat) (v f : nat -> R), (forall s, (s < n)%nat -> 0 <= v s) -> sum n v = 1 -> (forall s, (s < n)%nat -> -1 <= f s <= 1) ->
  exists p, forall y, -1 <= y <= 1 -> Rsqr (p - y) <= - ln (sum n (fun s => v s * exp (- Rsqr (f s - y))))).
Proof.
  intro H. destruct (H 2%nat (fun _ => 1 / 2) (fun s => match s with O => -1 | _ => 1 end)) as [p B].
  - intros; lra.
  - simpl; lra.
  - intros s _; destruct s; lra.
  - assert (A := B 1 ltac:(lra)). assert (A' := B (-1) ltac:(lra)). simpl in A, A'. unfold Rsqr in *.
    replace ((1 - 1) * (1 - 1)) with 0 in A by ring. replace ((-1 - -1) * (-1 - -1)) with 0 in A' by ring. rewrite Ropp_0, exp_0 in A, A'.
    assert (half : forall e, 0 < e -> - ln (1 / 2 + e) < 1).
    { intros e E. assert (Q : - 1 < ln (1 / 2 + e)); [| lra]. rewrite <- (ln_exp (-1)). apply ln_increasing; [apply exp_pos |].
      assert (X := exp_ineq1 1 ltac:(lra)). replace (-1) with (- (1)) by ring. rewrite exp_Ropp. assert (/ exp 1 < / 2) by (apply Rinv_lt_contravar; lra). lra. }
    assert (E1 := half (1 / 2 * exp (- ((-1 - 1) * (-1 - 1))))). assert (E2 := half (1 / 2 * exp (- ((1 - -1) * (1 - -1))))).
    assert (0 < exp (- ((-1 - 1) * (-1 - 1)))) by apply exp_pos. assert (0 < exp (- ((1 - -1) * (1 - -1)))) by apply exp_pos.
    replace (0 + 1 / 2 * exp (- ((-1 - 1) * (-1 - 1))) + 1 / 2 * 1) with (1 / 2 + 1 / 2 * exp (- ((-1 - 1) * (-1 - 1)))) in A by ring.
    replace (0 + 1 / 2 * 1 + 1 / 2 * exp (- ((1 - -1) * (1 - -1)))) with (1 / 2 + 1 / 2 * exp (- ((1 - -1) * (1 - -1)))) in A' by ring.
    nra.
Qed.

(* Half of the price is false: two experts at the ends, one round. *)
Theorem half_of_the_price_is_false : ~ (forall n f y l h, (0 < n)%nat -> l < h -> (forall t s, (s < n)%nat -> l <= f t s <= h) -> (forall t, l <= y t <= h) ->
  forall T s, (s < n)%nat -> sum T (fun t => Rsqr (played n f y l h t - y t)) <= lost f y T s + Y l h * Y l h * ln (INR n)).
Proof.
  intro H. specialize (H 2%nat (fun _ s => match s with O => -1 | _ => 1 end) (fun _ => 1) (-1) 1 ltac:(lia) ltac:(lra)).
  assert (I : forall t s, (s < 2)%nat -> -1 <= (fun (_ s : nat) => match s with O => -1 | _ => 1 end) t s <= 1) by (intros t s _; destruct s; simpl; lra).
  specialize (H I (fun _ => conj (Rle_trans _ _ _ (Rlt_le _ _ (ltac:(lra) : -1 < 0)) Rle_0_1) (Rle_refl 1)) 1%nat 1%nat ltac:(lia)).
  assert (G : played 2 (fun _ s => match s with O => -1 | _ => 1 end) (fun _ => 1) (-1) 1 0 = 0).
  { unfold played, guess, g, mixed, share, weight, lost, Y, Rsqr. simpl. 
    replace ((1 - -1) / 2) with 1 by field. replace (-1 - -1) with 0 by ring. replace (1 - 1) with 0 by ring. replace (1 - -1) with 2 by ring. replace (-1 - 1) with (-2) by ring.
    replace (-2 * -2) with (2 * 2) by ring. unfold Rdiv. rewrite !Rmult_0_l, Ropp_0, exp_0.
    replace (0 + 1 * / (0 + 1 + 1) * 1 + 1 * / (0 + 1 + 1) * exp (- (2 * 2 * / (2 * (1 * 1)))))
      with (0 + 1 * / (0 + 1 + 1) * exp (- (2 * 2 * / (2 * (1 * 1)))) + 1 * / (0 + 1 + 1) * 1) by ring. field. }
  simpl sum in H. unfold lost in H. simpl in H. rewrite G in H. unfold Rsqr, Y in H.
  assert (ln (1 + 1) < 1). { apply Rlt_le_trans with (ln (exp 1)); [| rewrite ln_exp; lra]. apply ln_increasing; [lra |]. apply exp_ineq1; lra. }
  replace ((1 - -1) / 2) with 1 in H by field. lra.
Qed.

Print Assumptions mixed_loss_is_attained.
Print Assumptions regret.
Print Assumptions twice_the_rate_is_false.
Print Assumptions half_of_the_price_is_false.
