"Li et al. 2025: arguments, edges, and what the page need not show."

import math

import numpy as np
import pytest

import oslr_nb as oslr

L = oslr.li2025
RNG = np.random.default_rng(3)
X = RNG.choice([-1.0, 1.0], (900, 10))
w = np.r_[0.5, -0.3, 0.2, np.zeros(7)]
y = X @ w + 0.1 * RNG.standard_normal(900)


@pytest.mark.parametrize(("d", "budget", "k"), [(10, 10, None), (10, 10, 3), (10, 10, 10), (4, 3, None), (4, 4, 1), (10, 10, 8)])
def test_edges_of_the_sizes(d, budget, k):
    lr = L.DSOSLRC(d, budget, C=0.1, seed=0) if k is None else L.DSPOSLRC(d, budget, k, C=0.1, seed=0)
    run = oslr.simulate(lr, X[:, :d], y)
    assert np.isfinite(run.predictions).all() and np.isclose(lr.chances_.sum(), budget)
    if budget < d: return
    assert (lr.chances_ == 1).all()
    if k: assert np.allclose(lr.moments_[1], X[:, :d].T @ y / 900) and np.allclose(lr.moments_[0], X[:, :d].T @ X[:, :d] / 900)


def test_draws():
    "Frequencies in rounds of DS-POSLRC that explore, with weights that stay."
    q = np.r_[0.6, 0.3, 0.1, 0, 0, 0]
    for bad, m in ((q - 0.1, 3), (q, 0), (q, 7), ([], 1), ([0.5, 0.6], 1)):
        with pytest.raises(ValueError, match="it must be"): L.li_chances(bad, m)
    lr = L.DSPOSLRC(10, 6, 2, seed=4)
    lr.w[:] = np.r_[0.4, 0.3, 0.2, 0.1, np.zeros(6)]
    lr._lead()
    words, seen, n = lr.words, np.zeros(10), 40_000
    for t in range(n):
        lr.num[L.ROUNDS] = t
        L.li_select(words, 0, lr._plan, lr._state)
        seen[lr.B] += 1
    p = lr.chances_
    assert (seen[:2] == n).all() and np.abs(seen / n - p).max() < 5 * math.sqrt(0.25 / n) and p[2] > p[3] > p[4]


def test_squares_and_scales():
    "The squares explore. Features in other units, with the scales to fit: the same predictions."
    env, lr, supports = oslr.Environment(X, y, 4), L.DSOSLRC(10, 4, sigma=0.1, C=0.1, seed=2), []
    while env.t < 400:
        S = lr.query()
        if math.isqrt(env.t + 1) ** 2 != env.t + 1: assert (S == lr.support_).all()
        supports.append(lr.support_)
        yhat = lr.predict(env.observe(S))
        assert abs(yhat) <= 1 + 1e-12
        lr.update(env.predict(yhat))
    assert lr.num[L.EXPLORED] == 20 and {0, 1} <= set(lr.support_)
    for make in (lambda **kw: L.DSOSLRC(10, 4, C=0.1, seed=1, **kw), lambda **kw: L.DSPOSLRC(10, 8, 3, C=0.1, seed=1, **kw)):
        one = oslr.simulate(make(sigma=0.1), X, y).predictions
        two = oslr.simulate(make(sigma=0.8, radius=2.0, x_max=4.0), 4 * X, 8 * y).predictions
        assert np.abs(8 * one - two).max() < 1e-9


def test_programmes():
    "Solved at powers of two only, the same at first. With too small a threshold the radius stops the solution, and it is counted."
    runs = [oslr.simulate(L.DSOSLRC(10, 4, sigma=0.1, C=0.05, solve=s, seed=2), X, y).predictions for s in ("every", "powers")]
    assert (runs[0][:9] == runs[1][:9]).all() and (runs[0] != runs[1]).any()
    runs = [oslr.simulate(L.DSPOSLRC(10, 8, 3, sigma=0.1, C=0.05, solve=s, seed=2), X, y).predictions for s in ("every", "powers")]
    assert (runs[0][:3] == runs[1][:3]).all() and (runs[0] != runs[1]).any()
    for lr in (L.DSOSLRC(10, 3, sigma=0.1, C=1e-4, seed=2), L.DSPOSLRC(10, 6, 3, sigma=0.1, C=1e-4, seed=2)):
        oslr.simulate(lr, X, y)
        assert lr.guarded_ > 0 and np.abs(lr.w).sum() <= 1 + 1e-9


def test_textbooks_and_the_proper_learner_refuse():
    sets = np.tile([0, 1, 2], (900, 1))
    for kw in ({"radii": 1.0}, {"sets": sets[:5]}, {"sets": sets + 8}, {"solve": "never"}, {"y": y[:-1]}):
        for f, more in ((L.textbook_ds_oslrc, {}), (L.textbook_ds_poslrc, {"k": 2})):
            with pytest.raises(ValueError, match="it must be"): f(**({"X": X, "y": y, "sets": sets, "radii": lambda s: 1.0} | more | kw))
    with pytest.raises(ValueError, match=r"budget = 5: it must be an integer from 6 to 10 .*DS-POSLRC"): L.DSPOSLRC(10, 5, 3)
