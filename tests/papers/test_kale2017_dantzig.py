"""What the module on Algorithm 1 of Kale et al. 2017 refuses, and plumbing that its page does not show."""

import math

import numpy as np
import pytest
from conftest import refusals

from oslr_nb.core.game.driver import simulate
from oslr_nb.papers.kale2017 import dantzig as page

ONE = ([1.0, 2.0], [0, 1], 1.0, 3)
test_refused = refusals({
    "one feature": (lambda: page.moment_estimates([1.0], [0], 1.0, 3), "pairs have to be seen"),
    "a set beyond d": (lambda: page.moment_estimates([1.0, 2.0], [0, 3], 1.0, 3), "S"),
    "values for another set": (lambda: page.moment_estimates([1.0], [0, 1], 1.0, 3), "x_S"),
    "unknown estimator": (lambda: page.moment_estimates(*ONE, estimator="biased"), "one of unbiased, printed"),
    "NaN label": (lambda: page.moment_estimates([1.0, 2.0], [0, 1], math.nan, 3), "y"),
    "one feature a round": (lambda: page.estimation_errors(9, 4, 1, 1.0), "pairs of features have to be seen"),
    "RIP constant too large": (lambda: page.bound_dantzig(8, 4, 2, 100, eps=0.27), "restricted isometry"),
    "no covariance": (lambda: page.cone_constant(-np.eye(4), 1), "V"),
    "too many supports": (lambda: page.cone_constant(np.eye(40), 4), "at most 200,000"),
    "singular limit": (lambda: page.printed_limit(np.zeros((3, 3)), np.ones(3), 2, 1), "invertible"),
    "weights of another size": (lambda: page.printed_limit(np.eye(3), np.ones(4), 2, 1), "w"),
    "sets missing": (lambda: page.textbook_dantzig(np.ones((3, 4)), np.ones(3), [[0, 1]], 1, lambda n: 1.0), "one set of features"),
    "no function": (lambda: page.textbook_dantzig(np.ones((1, 4)), np.ones(1), [[0, 1]], 1, 1.0), "a function"),
    "no room for the weights": (lambda: page.DantzigOSLR(9, 4, 3), "budget = 4: it must be an integer from 5"),
})


@pytest.fixture(scope="module")
def stream():
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (1500, 9))
    return X, X @ np.r_[0.6, -0.3, np.zeros(7)] + 0.1 * rng.standard_normal(1500)


def test_radii(stream):
    "Nothing is learnt before t0; with the theorem's radius the weights are, later; with one far too small the guard keeps the norm."
    for t0, first in ((100, 128), (127, 128), (128, 256)):  # round 128 is the first after 127 rounds, but not after 128
        run = simulate(page.DantzigPOSLR(9, 6, 2, sigma=0.1, C=0.05, t0=t0, seed=4), *stream)
        assert not run.predictions[: first - 1].any() and run.predictions[first - 1 :][:9].any()
    rng = np.random.default_rng(5)
    X, w = rng.choice([-1.0, 1.0], (2**16, 6)), np.r_[0.6, -0.4, np.zeros(4)]
    run = simulate(lr := page.DantzigPOSLR(6, 4, 2, sigma=0.1, seed=1), X, X @ w + 0.1 * rng.standard_normal(2**16))
    assert np.abs(lr.coef_ - w).max() < 0.1 and lr.guarded_ == 0 and run.regret(w)[-1] < 0.06 * (X @ w @ (X @ w))
    rng = np.random.default_rng(5)
    X, lr = rng.choice([-1.0, 1.0], (600, 20)), page.DantzigPOSLR(20, 4, 3, sigma=0.1, rule="printed", C=1e-3, seed=1)
    for start, stop in ((0, 40), (40, 200), (200, 600)):
        simulate(lr, X[start:stop], X[start:stop, 0])
        assert np.abs(lr.coef_).sum() <= 1 + 1e-9
    assert lr.guarded_ >= 5


def test_late_labels():
    "Labels 10 examples late and out of order: the sums are those of the random features, and what was not bought counts as 0."
    rng, lr, late = np.random.default_rng(0), page.DantzigOSLR(8, 5, 2, sigma=0.1, C=0.01, seed=0), []
    X, G, c = rng.uniform(-1, 1, (300, 8)), np.zeros((8, 8)), np.zeros(8)
    y, sizes = X @ np.r_[0.6, -0.4, np.zeros(6)] + 0.1 * rng.standard_normal(300), set()
    for t in range(300):
        late.append((t, lr.query()))
        lr.skip()
        if len(late) <= 10: continue
        s, S = late.pop(rng.integers(len(late)))
        assert np.isclose(lr.learn(S, X[s, S], y[s]), lr.coef_[S] @ X[s, S]) or (lr._played + 1) & lr._played == 0
        first = S[:3]
        G[np.ix_(first, first)] += np.outer(X[s, first], X[s, first])
        c[first] += y[s] * X[s, first]
        sizes.add(len(S))
    assert np.allclose(lr.G + lr.G.T - np.diag(np.diag(lr.G)), G) and np.allclose(lr.c, c) and lr.coef_.any() and len(sizes) > 1
    for S in ([0, 1], [0, 1, 2, 3, 4, 5]):
        with pytest.raises(ValueError, match="from 3 to the budget, 5"): lr.learn(S, np.zeros(len(S)), 0.0)


def test_weights_are_fitted_again_where_the_moments_allow_it():
    w, c = np.array([0.5, 0.0, -0.2]), np.array([0.6, 9.0, -0.3])
    assert np.allclose(page.refitted(np.eye(3), c, w, 5.0), [0.6, 0, -0.3])  # least squares on the support
    assert np.allclose(page.refitted(np.eye(3), c, w, 0.5), [0.4, 0, -0.1])  # projected on the ball
    for bad in (np.ones((3, 3)), -np.eye(3), np.zeros((3, 3))): assert page.refitted(bad, c, w, 5.0) is w
    assert not page.refitted(np.eye(3), c, np.zeros(3), 5.0).any()
