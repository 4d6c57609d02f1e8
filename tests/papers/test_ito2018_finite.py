"""Ito et al. 2018, Algorithm 1: what its page need not show."""

import itertools

import numpy as np
import pytest
from conftest import refusals

import oslr_nb as oslr
from oslr_nb.papers.ito2018 import finite as page
from oslr_nb.practice.data import sparse_linear

stream = sparse_linear(5, 2, 400, seed=0)
BlockBandit = page.BlockBandit
PAIRS = np.array([*itertools.combinations(range(5), 2)])
MATRICES = np.random.default_rng(0).standard_normal((4, 2, 5)) / 3


def learner(**kw):
    given = {"d": 5, "family": PAIRS, "T": 400, "block": 20, "x_norm": 10.0, "y_max": 20.0, "seed": 0} | kw
    return BlockBandit(**given)


test_arguments = refusals([
    ({"family": 0}, r"family = 0: .*from 1 to 5"), ({"family": 6}, r"family = 6"), ({"family": True}, "family = True"),
    ({"d": 40, "family": 20}, r"family = 20: it must be a size with at most 200000 subsets"), ({"family": []}, r"family = \[\]"),
    ({"family": [[0, 5]]}, "integers from 0 to 4"), ({"family": [[0, 0]]}, "distinct"), ({"family": [[0, 1], [2]]}, "family ="),
    ({"family": [[0.0, 1.0]]}, "coordinates"), ({"family": np.ones((2, 2, 4))}, r"shape of family = \(2, 2, 4\)"),
    ({"family": np.full((2, 2, 5), np.nan)}, r"family\[0, 0, 0\] = nan"), ({"family": np.full((2, 2, 5), 1e70)}, "family"),
    ({"family": np.ones((2, 6, 5))}, "second length of family = 6: .*from 1 to 5"), ({"family": "all"}, "family = 'all'"),
], lambda kw: learner(**kw))


X, Y, ONE = np.zeros((4, 2)), np.zeros(4), [lambda x: x]


def fresh(): return page.online_learner(page.Inner("vaw", 2), 2)


test_arguments_of_functions = refusals([
    (lambda: page.block_bandit(X, Y, [], fresh, 2), r"functions = \[\]"), (lambda: page.block_bandit(X, Y, [3], fresh, 2), "functions"),
    (lambda: page.block_bandit(X, Y, ONE, 3, 2), "learner = 3"), (lambda: page.block_bandit(X, Y[:3], ONE, fresh, 2), "shape of y"),
    (lambda: page.block_bandit(X, Y + 3, ONE, fresh, 2), r"loss = 2.25: it must be in \[0, 1\]"),
    (lambda: page.block_bandit(X, Y, ONE, fresh, 0), "block"),
    (lambda: page.block_bandit(X, Y, ONE, fresh, 2, lambda a, b: np.nan), "loss = nan"),
    (lambda: page.bound_block_bandit(10**10, 2, page.Inner("vaw", 2), 10**10), "block = .*at most 1e9"),
])


@pytest.mark.parametrize("inner", page.INNER)
def test_weights_are_those_of_the_prediction(inner):
    "coef_ predicts what predict does, up to clipping and VAW's factor; between two blocks it is zero."
    for family in (PAIRS, MATRICES):
        lr = learner(inner=inner, family=family, y_max=20.0)
        for t in range(50):
            q = lr.query()
            assert (t % 20 == 0) == (not lr.coef_.any())
            values, score = q[0] @ stream.X[t] if family is MATRICES else stream.X[t, q], lr.coef_ @ stream.X[t]
            yhat = lr.predict(values)
            if inner == "vaw": assert abs(yhat) <= abs(score) + 1e-12 and yhat * score >= 0
            else: assert abs(yhat - np.clip(score, -20, 20)) < 1e-12 and np.linalg.norm(lr.w) <= 1 + 1e-12
            lr.update(stream.y[t])


def test_blocks():
    "One function a block, drawn by its law; one alone needs no bandit; predictions are clipped, losses stay in [0, 1]."
    lr, arms = learner(), []
    assert lr.arm_ is None
    for t in range(100):
        S = lr.query()
        arms.append(lr.arm_)
        assert (S == PAIRS[lr.arm_]).all()
        lr.predict(stream.X[t, S])
        lr.update(stream.y[t])
    assert lr.arm_ is None and all(len(set(arms[i : i + 20])) == 1 for i in range(0, 100, 20)) and len(set(arms)) > 1
    assert lr.probabilities.sum() == pytest.approx(1) and np.count_nonzero(lr.L) == len(set(arms))
    lr = BlockBandit(3, [[0, 2]], T=50, block=10, x_norm=2, seed=0)
    run = oslr.simulate(lr, np.ones((50, 3)), np.ones(50))
    assert run.losses[-1] < run.losses[40] == 1
    assert page.bound_block_bandit(50, 1, page.Inner("vaw", 2)) == pytest.approx(page.Inner("vaw", 2, 1, 1, 1).alpha(50, 50))
    assert page.best_block(50, 1, page.Inner("vaw", 2)) == 50
    lr = BlockBandit(1, [[0]], T=10, block=5, ridge=1e-6, seed=0)
    X, y = np.array([[1e-2], [1.0], [1.0], [1.0], [1.0]]), np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    run = oslr.simulate(lr, X, y)
    assert np.abs(run.predictions).max() <= 1 and 0 <= lr.L[0] <= 1


def test_scales():
    "Measurements beyond them are refused."
    lr = BlockBandit(5, MATRICES, T=100, x_norm=1.0, seed=0)
    with pytest.raises(ValueError, match=r"measurement 0 of X\[0\] to measurement 1 of X\[0\] = .*x_norm = 1"):
        oslr.simulate(lr, np.full((3, 5), 10.0), np.zeros(3))
    X = np.full((3, 5), np.nan)
    with pytest.raises(ValueError, match=r"measurement 0 of X\[0\] = nan"): oslr.simulate(lr, X, np.zeros(3))


@pytest.mark.parametrize("inner", page.INNER)
def test_the_chosen_length_is_the_best(inner):
    known = page.Inner(inner, 3, 2.0, 0.5, 1.5)
    value = lambda b: page.bound_block_bandit(1000, 10, known, b)
    assert value(page.best_block(1000, 10, known)) == page.bound_block_bandit(1000, 10, known) == min(value(b) for b in range(1, 1001))
