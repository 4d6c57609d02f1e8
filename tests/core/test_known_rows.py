"""Rows that are known already, for the learners of papers: exact sums, better first rounds, what is refused."""

import numpy as np
import pytest
from conftest import refused

import oslr_nb as oslr
from oslr_nb.core.base.parameters import declared
from oslr_nb.practice.scaling import Scaled

D = 12
WHOLE = [key for key, entry in oslr.LEARNERS.items() if entry.cls.takes_history == "whole rows"]
NOT = [key for key, entry in oslr.LEARNERS.items() if not entry.cls.takes_history]


def made(key: str, seed: int = 0):
    "A small learner."
    cls = oslr.LEARNERS[key].cls
    sizes = {name: n for name, n in {"d": D, "budget": 6, "C": 0.02}.items() if name in declared(cls)}  # C: else some say 0 for long
    return cls(**{**sizes, **cls.example}, seed=seed)


def stream(seed: int, n: int = 1200):
    "Signs of norm 1 (n, D), and labels of two of them."
    rng = np.random.default_rng(seed)
    X, w = rng.choice([-1.0, 1.0], (n, D)) / np.sqrt(D), np.zeros(D)
    w[rng.choice(D, 2, replace=False)] = 0.7, -0.7
    return X, X @ w + 0.05 * rng.uniform(-1, 1, n)


def test_who_takes_it():
    "All that keep sums of moments, or of gradients that a whole row gives."
    assert len(WHOLE) >= 12 and len(NOT) >= 13 and len(WHOLE) + len(NOT) + 3 == len(oslr.LEARNERS)


@pytest.mark.parametrize("key", WHOLE)
def test_worth(key):
    "Over six streams the first 400 rounds lose less, and history may come in parts; what is saved goes on."
    lost = np.array([[0.0] * 6] * 2)
    for seed in range(6):
        X, y = stream(seed)
        for taught in (0, 1):
            lr = made(key, seed)
            if taught:
                for part in np.split(np.arange(800), [300]): lr.learn_whole(X[part], y[part])
            lost[taught, seed] = oslr.simulate(lr, X[800:1100], y[800:1100]).losses.mean()
    assert lost[1].sum() < 0.97 * lost[0].sum(), lost
    again = made(key, 5)
    again.set_state(*lr.state())
    assert np.array_equal(oslr.simulate(lr, X[1100:], y[1100:]).predictions, oslr.simulate(again, X[1100:], y[1100:]).predictions)


@pytest.mark.parametrize("key", WHOLE)
def test_what_is_refused(key):
    "A value that is not known, one beyond the scales, a label, another width: nothing is learnt."
    X, y = stream(0, 40)
    lr, plain = made(key), made(key)
    for i, bad, says in ((0, np.nan, "whole rows"), (1, 1e9 if lr.x_limit[0] else 1e70, "X"), (2, np.inf, "X")):
        Z = X.copy()
        Z[30 + i, 5] = bad
        with refused(says): lr.learn_whole(Z, y)
    with refused("y"): lr.learn_whole(X, np.where(np.arange(40) == 35, 1e70, y))
    with refused("columns of X"): lr.learn_whole(X[:, 1:], y)
    with refused("given|whole rows"): lr.learn([0, 1], [0.1, 0.1], 0.5, given=True)
    assert all(np.array_equal(a, b) for a, b in zip(lr.state()[1].values(), plain.state()[1].values(), strict=True))
    lr.learn_whole(X[:0], y[:0])
    assert all(np.array_equal(a, b) for a, b in zip(lr.state()[1].values(), plain.state()[1].values(), strict=True))


@pytest.mark.parametrize("key", NOT)
def test_who_says_why_not(key):
    "In one sentence."
    X, y = stream(0, 40)
    with refused("draws alone"): made(key).learn_whole(X, y)


@pytest.mark.parametrize("key", [k for k in WHOLE if k.startswith(("kale", "li", "cesa"))])
def test_moments_are_those_of_the_rows(key):
    "Whatever the chances of a purchase are, whole rows make the moments of numpy."
    X, y = stream(1, 300)
    lr = made(key)
    lr.learn_whole(X, y)
    G, c = lr.moments_ if hasattr(lr, "moments_") else (lr.A / 300, lr.v / 600)
    assert np.allclose(G, X.T @ X / 300, atol=1e-12) and np.allclose(c, X.T @ y / 300, atol=1e-12)


@pytest.mark.parametrize("key", ["ito2017.RDA1", "ito2017.GreedyRDA", "ito2017.UniformRDA", "ito2018.LinearProjection"])
def test_gradients_are_those_of_the_rows(key):
    "h holds the sum of 2 (w'x - y) x."
    X, y = stream(2, 60)
    lr, h = made(key), np.zeros(D)
    for x, label in zip(X, y, strict=True):
        h += 2 * (lr.coef_ @ x - label) * x
        lr.learn_whole(x[None], [label])
    assert np.allclose(lr.h, h, atol=1e-12)


def test_the_schedule_of_exploring_stays():
    "Algorithms 2 and 3 of Ito et al. 2017, and DS-OSLRC, explore in the rounds 1, 4, 9, ... whatever they knew before."
    X, y = stream(3, 500)
    for key in ("ito2017.RDA2", "ito2017.RDA3"):
        lr = made(key)
        lr.learn_whole(X[:77], y[:77])
        explored = []
        for t in range(1, 101):
            S = lr.query()
            if lr.explored_: explored.append(t)
            lr.predict(X[t, S])
            lr.update(y[t])
        assert explored == [n * n for n in range(1, 11)]


def test_scaled():
    "In any units: history finds the scales, and there is no warm-up; too few rows are refused."
    X, y = stream(4, 1200)
    Z, u = X * 10.0 ** np.arange(-6, 6) + 3, 50 * y + 7
    lost = []
    for rows in (0, 600):
        lr = Scaled(D, 6, "ito2017.RDA2", options={"step": "adaptive"}, seed=0)
        if rows: lr.learn_whole(Z[:rows], u[:rows])
        run = oslr.simulate(lr, Z[600:], u[600:])
        lost.append(run.losses.mean() / u.var())
    assert lost[1] < 0.6 * lost[0] < 0.6, lost
    with refused("number of rows = 7"): Scaled(D, 6, "ito2017.RDA1", options={"k": 2}).learn_whole(Z[:7], u[:7])
    with refused("draws alone"): Scaled(D, 6, "kale2017.OnlineGreedyOSLR", options={"k": 1, "T": 900}).learn_whole(Z, u)


@pytest.mark.parametrize("key", ["ito2018.LinearProjection", "ito2018.DictionaryProjection"])
def test_labels_of_the_logistic_loss(key):
    "Labels 0 and 1 would teach nothing of one class: 0 is refused in tables, by hand and in history, and nothing is learnt."
    X, y = stream(5, 60)
    cls = oslr.LEARNERS[key].cls
    lr = cls(**{"d": D, "budget": 6, **cls.example} if "A" not in cls.example else {"budget": 6, **cls.example}, loss="logistic", seed=0)
    signs, zeros = np.where(y > 0, 1.0, -1.0), (y > 0) * 1.0
    first = int(np.flatnonzero(zeros == 0)[0])
    before = lr.state()[1]
    with refused(f"y.{first}. = 0.0: it must be -1 or 1"): oslr.simulate(lr, X, zeros)
    if lr.takes_history:
        with refused("it must be -1 or 1"): lr.learn_whole(X, zeros)
    lr.query()
    with refused("it must be -1 or 1"):
        lr.predict(np.zeros(lr._cost))
        lr.update(0)
    lr.skip()
    assert all(np.array_equal(before[name], a) for name, a in lr.state()[1].items() if name in ("h", "eta"))
    assert np.isfinite(oslr.simulate(lr, X, signs).losses).all()
