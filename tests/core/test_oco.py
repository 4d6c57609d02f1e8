"""Dual averaging, gradient descent, VAW and the online Newton step: what they refuse; the ends of their range."""

import numpy as np
import pytest

from oslr_nb.core import oco

NAN, ROWS = np.nan, [[1.0, 1.0], [0.5, 0.0], [0.0, 0.0]]


def zero(j, w): return np.zeros(4)
def short(j, w): return np.zeros(3)
def late_nan(j, w): return [NAN if j else 1.0]


BAD = {"n": (0, 1), "G": (3, 0), "radius": (3, 1, -1), "step": (3, 1, 1, 0)}


@pytest.mark.parametrize(("f", "args", "words"), [
    *((oco._check_weights, ("lam", bad, order), "lam") for bad, order in
      (([2, 1], 1), ([1, 2], -1), ([0, 1], 0), ([], 0), ([1, NAN], 0), ([[1]], 0))),
    (oco.dual_averaging, (zero, 4, [1, 0]), "lam"),
    (oco.dual_averaging, (zero, 4, [1], 0), "radius"),
    (oco.dual_averaging, (zero, 4, [1], 1, [-1]), "l1"),
    (oco.dual_averaging, (zero, 4, [1, 1], 1, [0.1]), "l1"),
    (oco.dual_averaging, (zero, 0, [1]), "d = 0"),
    (oco.ogd, (zero, 4, [1, 0]), "eta"),
    (oco.ogd, (zero, 4, [1], 0), "radius"),
    *((f, (short, 4, [1]), "gradient") for f in (oco.dual_averaging, oco.ogd)),
    *((f, (late_nan, 1, [1, 1]), r"gradient\(1, w\)\[0\]") for f in (oco.dual_averaging, oco.ogd)),
    (oco.rda_regret_bound, (np.ones((2, 2)), [2, 1], [1.0, 0.0]), "lam"),
    (oco.ogd_regret_bound, (np.ones((2, 1)), [1, 2]), "eta"),
    *((f, (X, y), words) for f in (oco.vaw, oco.forward_ridge, oco.ons) for X, y, words in
      ((ROWS, [1, 2], "y"), ([1.0], [1.0], "X"), (np.zeros((0, 2)), [], "shape of X"), (np.zeros((2, 0)), [1, 2], "shape of X"),
       (ROWS, [1, 2, NAN], "y"), ([[NAN]], [1], "X"), ([[1e61]], [1], "X"))),
    *((f, (ROWS, [1, 2, 3], *bad), words) for f, bad, words in
      ((oco.vaw, (0,), "ridge"), (oco.vaw, (1e-15,), "rounding"), (oco.forward_ridge, (1e-15,), "rounding"), (oco.ons, (0,), "radius"),
       (oco.ons, (1, 0), "ridge"), (oco.ons, (1, 1, 4.4), "largest = 4.4.*at least 4.41421"), (oco.ons, (1, 1, -1), "largest"))),
    *((oco.vaw_regret_bound, bad, words) for bad, words in
      (((ROWS, 0, 1), "ridge"), ((ROWS, 1, 0), "y_max"), ((ROWS, 1, 1, [1.0]), "u"), (([1.0], 1, 1), "X"))),
    *((oco.bound_vaw, bad, words) for bad, words in
      (((0, 1, 1, 1, 1), "T"), ((1, 0, 1, 1, 1), "n = 0"), ((1, 1, 0, 1, 1), "ridge"), ((1, 1, 1, 0, 1), "x_norm"),
       ((1, 1, 1, 1, 0), "y_max"), ((1, 1, 1, 1, 1, -1), "w_norm"))),
    *((oco.bound_ons, bad, words) for bad, words in
      (((0, 1, 1, 1, 1), "T"), ((1, 1, 1, 1, 1, 0), "radius"), ((1, 1, 1, 1, 0), "y_max"))),
    (oco.ons_regret_bound, (ROWS, [1, 2, 3], ROWS), "largest ..w.."),
    (oco.ons_regret_bound, (ROWS, [1, 2, 3], [[0.0, 0.0]]), "w"),
    *((oco.project_norm, bad, words) for bad, words in
      ((([], np.zeros((0, 0))), "p = "), (([3.0], [[-1.0]]), "eigenvalue"), (([3.0, 0], [[1.0]]), "A"), (([3.0], [[1.0]], 0), "radius"))),
    *((f, call, name) for f in (oco.rda_schedule, oco.bound_rda, oco.ogd_schedule, oco.bound_ogd) for name, call in BAD.items()),
])
def test_refused(f, args, words):
    with pytest.raises(ValueError, match=words): f(*args)


def test_accepted():
    assert oco._check_weights("lam", [1, 2, 2], 1).tolist() == [1, 2, 2] and oco._check_weights("eta", [2, 1, 1], -1).size == 3


def test_squared_loss_at_the_ends():
    "Zero features, huge and tiny scales, more features than rounds: finite, and in the ball."
    assert oco.vaw(np.zeros((3, 2)), [1, 2, 3]).tolist() == [0, 0, 0]
    for scale in (1e-25, 1.0, 1e25):
        X, y = scale * np.random.default_rng(0).standard_normal((12, 30)), np.linspace(-1e50, 1e50, 12)
        assert np.isfinite(oco.vaw(X, y, scale**2)).all() and np.isfinite(oco.forward_ridge(X, y, scale**2)).all()
        w = oco.ons(X, y, 2.0, scale**2)
        assert np.linalg.norm(w, axis=1).max() <= 2 * (1 + 1e-12) and np.isfinite(oco.ons_regret_bound(X, y, w, 2.0, scale**2)).all()
        assert (np.diff(oco.vaw_regret_bound(X, scale**2, 1.0)) > 0).all()
    assert oco.vaw([[1.0], [2.0]], [4.0, 0.0], 1.0).tolist() == [0.0, 4 / 3]     # 2 * 4 / (1 + 1 + 4)
    assert oco.forward_ridge([[1.0], [2.0]], [4.0, 0.0], 1.0).tolist() == [[0.0], [2.0]]


def test_the_newton_steps_grow_their_matrix_as_they_say():
    X, y = np.array([[1.0], [1.0]]), np.array([1.0, 1.0])
    assert np.allclose(oco.ons(X, y, 1.0, 1.0)[1], 1 / 2) and np.allclose(oco.ons(X, y, 1.0, 1.0, 2.0)[1], 1 / (1 + 1 / 4))
    assert oco.ons(X, 10 * y, 1.0, 1.0)[1] == 1.0                                # projected
    bound = oco.ons_regret_bound(X, y, np.zeros((2, 1)), 1.0, 1.0)
    assert np.allclose(bound, [1 + 1 / 2, 1 + 1 / 2 + 1 / 3])
