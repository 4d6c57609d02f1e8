"""Learners on pairwise second moments: what the page states, over random sizes; options, memory, refusals."""

import itertools
import math
import pickle

import numpy as np
import pytest
from conftest import refusals
from hypothesis import given, settings
from hypothesis import strategies as st

import oslr_nb as oslr
from oslr_nb import own

PairwiseLeastSquares, PairwisePOSLR, PairwiseTrainingOnly = own.PairwiseLeastSquares, own.PairwisePOSLR, own.PairwiseTrainingOnly
bound_aggregation, mixed_prediction, textbook_pairwise = own.bound_aggregation, own.mixed_prediction, own.textbook_pairwise


def stream(seed=0, T=600, d=12):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((T, d)) @ (np.eye(d) + 0.3) + np.arange(d)
    return X, X[:, 1] - X[:, 4] + 0.5 * X[:, 7] + 0.3 * rng.standard_normal(T)


@settings(deadline=None, max_examples=25)
@given(d=st.integers(2, 9), share=st.floats(0, 1), centre=st.booleans(), seed=st.integers(0, 99),
       memories=st.sampled_from([[None], (None, 1000, 100), [30], [None, 20]]))
def test_compiled_is_the_textbook(d, share, memories, centre, seed):
    budget, rng = 2 + round(share * (d - 2)), np.random.default_rng(seed)
    X = rng.standard_normal((90, d)) + 1
    X[:, 0] = np.round(X[:, 0])
    y = X[:, 0] + rng.standard_normal(90) + (-1.0) ** np.arange(90)  # no first label is far from the others
    run = oslr.play(PairwiseLeastSquares(d, budget, memories=memories, centre=centre, seed=seed), env := oslr.Environment(X, y, budget))
    plain = textbook_pairwise(X, y, [S for _, S, _ in env.ledger], memories=memories, centre=centre)
    assert np.abs(run.predictions - plain).max() < 1e-8 * np.ptp(y)


def test_constants_and_an_intercept():
    "A constant feature, a copy, labels that never change; an intercept costs nothing."
    X, y = stream()
    X[:, 3], X[:, 5] = 7.0, X[:, 1]  # a constant, and a copy
    for label in (y, np.full(600, 2.0), np.zeros(600)):
        for budget in (2, 5, 12):
            run = oslr.simulate(lr := PairwiseLeastSquares(12, budget, seed=0), X, label)
            assert np.isfinite(run.predictions).all() and np.isfinite(lr.coef_).all() and math.isfinite(lr.intercept_)
            assert run.losses[300:].sum() < 1e-20 if np.ptp(label) == 0 else run.losses[300:].mean() < 1.1 * y.var()
    X, y = stream()
    one = oslr.simulate(PairwiseLeastSquares(12, 5, seed=0), X, y)
    other = oslr.simulate(PairwiseLeastSquares(12, 5, seed=0), X + 2.0**20, y)
    assert np.abs(one.predictions - other.predictions).max() < 1e-4 * np.ptp(y)
    lr = PairwiseLeastSquares(12, 5, seed=0)
    oslr.simulate(lr, X, y + 100)
    assert ((X @ lr.coef_ + lr.intercept_ - y - 100) ** 2).mean() < 0.5 * y.var()


def test_what_is_kept_of_pairs():
    "Counts, within the memory; a row of a favourite is exact from the round on in which it got one; every row has one owner."
    X, y = stream()
    oslr.play(lr := PairwiseLeastSquares(12, 5, seed=4), env := oslr.Environment(X, y, 5))
    count = np.zeros((12, 12))
    for _, S, _ in env.ledger: count[np.ix_(S, S)] += 1
    assert (lr.purchases_ == np.diag(count)).all() and (lr.purchases_ == env.purchases).all()
    for i, j in itertools.combinations(range(12), 2): assert lr.pairs[j * (j - 1) // 2 + i, 0, 0] == count[i, j]
    X, y = stream(T=2000, d=30)
    oslr.play(lr := PairwiseLeastSquares(30, 5, rows=10, seed=4), env := oslr.Environment(X, y, 5))
    owners = lr.owner[lr.owner >= 0]
    assert len(set(owners.tolist())) == len(owners) and (lr.slot[owners] >= 0).all() and (lr.slot >= 0).sum() == len(owners)
    assert set(lr.favourites_.tolist()) <= set(owners.tolist())
    both = lambda i, j: sum(i in S and j in S for _, S, _ in env.ledger)
    for r, i in enumerate(lr.owner):
        if i >= 0: assert all(lr.pairs[r * 30 + j, 0, 0] <= both(i, j) for j in range(30) if j != i)
    lr = PairwiseLeastSquares(784, 30, seed=0)
    assert sum(getattr(lr, name).nbytes for name in lr.arrays) + len(pickle.dumps(lr._plan)) < 7 * 8 * 784**2
    wide = PairwiseLeastSquares(100_000, 20, rows=100, seed=0)
    assert wide.pairs.shape == (100 * 100_000, 3, 4)


def test_the_default_follows_a_change():
    "A row of zeros before a stream at 1e9 does not cost the short tables its variance; in the table of all rounds nothing moves."
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8000, 8))
    y = np.where(np.arange(8000) < 4000, X[:, 0], -X[:, 0]) + X[:, 3]
    losses = [oslr.simulate(PairwiseLeastSquares(8, 4, seed=0, **kw), X, y).losses[-2000:].mean() for kw in ({"memories": [None]}, {})]
    assert losses[1] < 0.1 * losses[0]
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12_000, 6))
    y, Z = X @ [2, -1, 0.5, 0, 0, 0] + 0.1 * rng.normal(size=12_000), X + 1e9
    Z[0] = 0
    for lr in (oslr.auto(6, 3, seed=0), PairwisePOSLR(6, 4, 2, memory=200, seed=0), PairwiseTrainingOnly(6, 3, memory=200, seed=0)):
        assert oslr.simulate(lr, Z, y).losses[-2000:].mean() < 0.2 * y.var()
        assert (abs(lr.single["ref"][:, lr.memories <= 200] - 1e9) < 10).all()
        if len(lr.memories) > 1: assert 0 in lr.single["ref"][:, 0]


def test_other_protocols():
    "What is committed; training-only is least squares in the end."
    X, y = stream(T=1500)
    lr, env = PairwisePOSLR(12, 6, 3, seed=0), oslr.Environment(X, y, 6, "POSLR", k=3)
    run = oslr.play(lr, env)
    assert np.count_nonzero(lr.coef_) <= 3 and set(np.flatnonzero(lr.coef_)) <= set(lr.favourites_) and (env.n_observed <= 9).all()
    assert run.losses[-300:].mean() < (y**2).mean()
    with pytest.raises(ValueError, match="k = 5: it must be an integer from 1 to 4"): PairwisePOSLR(12, 6, 5)
    X, y = stream(T=20_000, d=8)
    lr = PairwiseTrainingOnly(8, 4, seed=0)
    oslr.simulate(lr, X, y, score=False)
    A = np.c_[X, np.ones(len(y))]
    best = ((A @ np.linalg.lstsq(A, y, rcond=None)[0] - y) ** 2).mean()
    assert ((X @ lr.coef_ + lr.intercept_ - y) ** 2).mean() < 1.3 * best and lr.selection_scale <= 30
    X[15_000, 2] = np.nan
    with pytest.raises(ValueError, match=r"X\[15000, 2\] = nan: it must be"): oslr.simulate(PairwiseTrainingOnly(8, 4, seed=0), X, y)


test_refusals = refusals([
    ({"budget": 1}, "budget = 1"), ({"top": 5}, "top = 5"), ({"top": -1}, "top = -1"), ({"rows": 5}, "rows = 5"),
    ({"rows": 13}, "rows = 13"), ({"support": "exact", "d": 60}, "support = 'exact'"), ({"support": "lasso", "rows": 12}, "rows = 12"),
    ({"scales": []}, "scales"), ({"scales": [0.0]}, "scales"), ({"memories": []}, "memories"), ({"memories": 50}, "memories = 50"),
    ({"memories": [None, 1]}, r"memories\[1\] = 1"), ({"d": 30_000}, "d = 30000"), ({"d": 10**7, "rows": 1000}, "rows = 1000"),
], lambda kw: PairwiseLeastSquares(**{"d": 12, "budget": 6} | kw), form=r"{}.*: it must be [^\n]*\.$")


# --- what a learner with a memory has forgotten
def wild(kind, n, rng):
    "Features (n, 5) and labels (n,) whose first 30 rows are of another world."
    X = rng.normal(size=(n, 5)) + 3
    y = X @ [2, -1, 0.5, 0, 0] + 0.1 * rng.normal(size=n)
    tame, old = (X.copy(), y.copy()), slice(0, 30)
    if kind == "features": X[old] += 1e9 * rng.normal(size=(30, 5))
    elif kind == "a clock": X[0, 0] -= 1.7e9
    elif kind == "labels": y[old] = 1e7 * rng.normal(size=30)
    elif kind == "level of labels": y[old] += 1e9
    elif kind == "constant": X[old], y[old] = -1e6, 0.0
    return (X, y), tame


def told(lr):
    "What a learner says that has learnt: means, spreads, correlations, favourites."
    V, b = lr.moments()
    f, label = lr.single[:, 0], lr.label[0]
    means, spread = f["ref"] + f["sum"] / f["n"], np.sqrt(f["square"] / f["n"] - (f["sum"] / f["n"]) ** 2)
    return [means, spread, [label["ref"] + label["sum"] / label["count"]], V.ravel(), b, lr.purchases_, lr.favourites_]


@pytest.mark.parametrize("make", [{}, {"rows": 4, "budget": 2}, {"centre": False}], ids=str)
@pytest.mark.parametrize("kind", ["features", "a clock", "labels", "level of labels", "constant"])
def test_a_forgotten_prefix_leaves_no_trace(kind, make):
    "After 100 memories the state is, to rounding, that of a learner that has never seen the wild rows."
    budget, n = make.get("budget", 4), 2000
    stories, rng = wild(kind, n, np.random.default_rng(3)), np.random.default_rng(4)
    if not make.get("centre", True) and "level" in kind: pytest.skip("sums about zero keep to zero")
    sets, found = [rng.permutation(5)[:budget] for _ in range(n)], []
    for X, y in stories:
        lr = PairwiseLeastSquares(5, memories=[20], seed=0, scales=[1.0], **{"budget": budget} | make)
        for S, x, label in zip(sets, X, y, strict=True): lr.learn(S, x[S], label)
        found.append(told(lr))
    for one, other in zip(*found, strict=True): np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_weights_do_not_collapse_while_pairs_are_young(seed):
    "As many features have weights as may be bought, at every moment after the first rounds, and no moment is worse than the mean."
    rng = np.random.default_rng(seed)
    X = np.clip(rng.normal(size=(6000, 40)) @ rng.normal(size=(40, 300)) / 6 + rng.normal(size=(6000, 300)), -3, 3)
    y, learner, losses = X[:, 0] + X[:, 1] - X[:, 2] + 0.5 * rng.normal(size=6000), oslr.auto(300, 8, seed=seed), []
    for end in np.geomspace(1000, 5000, 16).astype(int):
        start = int(learner.num[0]["rounds"])
        oslr.simulate(learner, X[start:end], y[start:end])
        assert np.count_nonzero(learner.coef_) == 8
        losses.append(np.mean((X[5000:] @ learner.coef_ + learner.intercept_ - y[5000:]) ** 2) / y.var())
    assert max(losses) < 1.02 and np.median(losses[8:]) < 0.7, losses


def test_weights_with_prices_are_for_the_budget():
    rng, costs = np.random.default_rng(0), np.array([3, 1, 1, 2, 1, 5, 1, 1.0])
    X, learner = rng.normal(size=(3000, 8)), oslr.auto(8, 4.0, costs=costs, seed=0)
    oslr.simulate(learner, X, 1.5 * X[:, 0] + X[:, 1] + X[:, 3])
    assert costs[learner.coef_ != 0].sum() <= 4 and learner.coef_[[0, 1]].min() > 0.5
