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
from oslr_nb.own.parameter_free import KAPPA, bound_bet
from oslr_nb.practice.data import digits_pair, sparse_linear

PairwiseLeastSquares, PairwisePOSLR, PairwiseTrainingOnly = own.PairwiseLeastSquares, own.PairwisePOSLR, own.PairwiseTrainingOnly
bound_aggregation, mixed_prediction, textbook_pairwise = own.bound_aggregation, own.mixed_prediction, own.textbook_pairwise


def stream(seed=0, T=600, d=12):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((T, d)) @ (np.eye(d) + 0.3) + np.arange(d)
    return X, X[:, 1] - X[:, 4] + 0.5 * X[:, 7] + 0.3 * rng.standard_normal(T)


@settings(deadline=None, max_examples=25)
@given(d=st.integers(2, 9), share=st.floats(0, 1), forget=st.sampled_from([1.0, 0.97]), centre=st.booleans(), seed=st.integers(0, 99))
def test_compiled_is_the_textbook(d, share, forget, centre, seed):
    budget, rng = 2 + round(share * (d - 2)), np.random.default_rng(seed)
    X = rng.standard_normal((90, d)) + 1
    X[:, 0] = np.round(X[:, 0])
    y = X[:, 0] + rng.standard_normal(90)
    run = oslr.play(PairwiseLeastSquares(d, budget, forget=forget, centre=centre, seed=seed), env := oslr.Environment(X, y, budget))
    plain = textbook_pairwise(X, y, [S for _, S, _ in env.ledger], forget=forget, centre=centre)
    assert np.abs(run.predictions - plain).max() < 1e-8 * np.ptp(y)


@given(N=st.integers(1, 6), seed=st.integers(0, 999), scale=st.sampled_from([1e-6, 1.0, 1e6]))
def test_a_mixed_prediction_is_never_worse_than_the_bound(N, seed, scale):
    rng = np.random.default_rng(seed)
    y = scale * rng.choice([-1.0, 1.0, 0.3], 200)
    losses, mine, low, high = np.zeros(N), 0.0, -scale, scale
    for t in range(200):
        f = scale * np.clip(rng.uniform(-1, 1, N) * 0.1 + y[t] / scale * np.linspace(0, 1, N), -1, 1)
        p = mixed_prediction(f, losses, low, high)
        assert low <= p <= high
        mine, losses = mine + (p - y[t]) ** 2, losses + (f - y[t]) ** 2
    assert mine - losses.min() <= bound_aggregation(N, scale, known=True) + 1e-9 * scale**2


def test_the_compiled_experts_are_bounded_on_a_stream_in_the_worst_order():
    X, y = stream(2)
    order, lr = np.argsort(y), PairwiseLeastSquares(12, 5, seed=0)
    run, Y = oslr.simulate(lr, X[order], y[order]), np.ptp(y) / 2
    # the losses that are kept are those for labels cut off at what was seen; these are smaller than those of the theorem
    told = np.clip(y[order], np.minimum.accumulate(np.r_[np.inf, y[order][:-1]]), np.maximum.accumulate(np.r_[-np.inf, y[order][:-1]]))
    assert ((run.predictions - told)[1:] ** 2).sum() <= lr.losses.min() + bound_aggregation(5, Y, known=True) + 1e-9


def plain_bets(X, y, sets):
    "The last expert from the definitions: predictions, gradients by feature (the intercept is the last), and each bettor's numbers."
    d = X.shape[1]
    bets, out, seen = [[0.0] * 5 for _ in range(d + 1)], [0.0], [[] for _ in range(d)]
    for i in sets[0]: seen[i].append(X[0, i])
    for t in range(1, len(y)):
        low, high = y[:t].min(), y[:t].max()
        masked, score = {d: 1.0} | {i: X[t, i] - np.mean(seen[i]) if seen[i] else 0.0 for i in sets[t]}, y[:t].mean()
        for i, x in masked.items():
            h, n, G, V, purse = bets[i]
            most = 2 * (high - low) * abs(x)
            if most > 0 and h == 0: h, purse = math.sqrt(2) * most, (high - low) ** 2
            while most > h: h, n = 2 * h, n + 1  # G and V in their own units
            bets[i] = [h, n, G, V, purse]
            if not h > 0: continue
            beta, j = 0.5 ** np.arange(1, 300) / h, n + np.arange(1, 300)
            score -= x * purse * float((beta / (j * (j + 1)) * np.exp(-KAPPA * beta**2 * V) * np.sinh(beta * G)).sum())
        out.append(min(max(score, low), high))
        for i, x in masked.items():
            g = 2 * (out[-1] - min(max(y[t], low), high)) * x
            assert abs(g) <= bets[i][0] * (1 + 1e-12)
            bets[i][2], bets[i][3] = bets[i][2] + g, bets[i][3] + g * g
        for i in sets[t]: seen[i].append(X[t, i])
    return np.array(out), np.array(bets)


def test_the_expert_that_bets_is_the_definition():
    X, y = stream(T=250)
    lr, sets, guesses = PairwiseLeastSquares(12, 5, adaptive=True, seed=3), [], []
    for t in range(250):
        sets.append(lr.query())
        lr.predict(X[t, sets[-1]])
        guesses.append(lr.guess[-1])
        lr.update(y[t])
    plain, bets = plain_bets(X, y, sets)
    assert np.abs(np.array(guesses) - plain).max() < 1e-8 * np.ptp(y)
    h, n, G, V, purse = bets.T
    found = np.stack([lr.bets[name] for name in ("hint", "doublings", "total", "squares", "purse")], axis=1)
    assert np.allclose(found, np.c_[h, n, G / h, V / h**2, purse], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("b", "a"), [(-30, 7), (9, -60), (25, 25)])
def test_the_expert_that_bets_has_no_scale(b, a):
    X, y = stream()
    factors = np.where(np.arange(12) % 2, 2.0**a, 1.0)
    run = lambda X, y: oslr.simulate(PairwiseLeastSquares(12, 5, adaptive=True, seed=3), X, y).predictions
    assert (run(X * factors, 2.0**b * y) == 2.0**b * run(X, y)).all()


def test_the_expert_that_bets_is_asked_for():
    "Purchases follow losses of ridges and predictions; without the option there is no trace of it. It helps where order is hostile."
    X, y = stream()
    lr = PairwiseLeastSquares(12, 5, seed=3)
    assert lr.bets.size == 0 and lr.losses.size == 5
    with_it = PairwiseLeastSquares(12, 5, adaptive=True, seed=3)
    oslr.simulate(with_it, X, y)
    assert with_it.losses.size == 6 and "bets" in with_it.arrays and with_it.selection_scale in with_it.scales
    assert np.isfinite(with_it.coef_).all()
    s = digits_pair()
    rows = np.argsort(s.y, kind="stable").repeat(20)
    loss = lambda a: oslr.simulate(PairwiseLeastSquares(64, 8, adaptive=a, seed=0), s.X, s.y, rows=rows).losses.mean()
    assert loss(True) < 0.1 * loss(False)


def test_bounds_of_the_expert_that_bets_hold_on_random_hostile_streams():
    "Proposition prp-bets for jumps of scale and of label, adversary's noise, several weights."
    for seed in range(6):
        rng = np.random.default_rng(seed)
        lr, U = PairwiseLeastSquares(6, 3, adaptive=True, seed=seed), rng.standard_normal((8, 7)) * 10.0 ** rng.uniform(-2, 1, (8, 1))
        U[0] = 0
        mine, theirs = 0.0, np.zeros(8)
        for t in range(300):
            x, S, num = rng.standard_normal(6) * 10.0 ** rng.uniform(-1, 2 * t / 300, 6), lr.query(), lr.num[0]
            f = lr.single[S]
            masked = np.where(f["n"] > 0, x[S] - f["ref"] - f["sum"] / np.maximum(f["n"], 1), 0.0)
            q, p = num["y_ref"] + num["y_sum"] / max(num["count"], 1) + U[:, 6] + U[:, S] @ masked, lr.predict(x[S])
            y = q[1] + rng.choice([-1, 1]) if seed % 2 else (-1 if p > 0 else 1) * rng.exponential() * (1 + (t > 200) * 9)
            told = min(max(y, num["low"]), num["high"])
            if t: mine, theirs = mine + (p - told) ** 2, theirs + (q - told) ** 2
            lr.update(y)
        Y = (num["high"] - num["low"]) / 2
        price = lambda u, b: bound_bet(u, b[0], b[3] * b[0] ** 2, int(b[1]), b[4]) if b[0] > 0 else 0.0
        for u, loss in zip(U, theirs, strict=True):
            assert mine <= (loss + sum(map(price, u.tolist(), lr.bets)) + bound_aggregation(6, Y, known=True)) * (1 + 1e-9)


def test_digits_and_four_of_ten_with_three_that_matter():
    s = digits_pair()
    rows = np.random.default_rng(0).integers(len(s.X), size=20_000)
    losses = oslr.simulate(PairwiseLeastSquares(64, 8, seed=0), s.X, s.y, rows=rows).losses
    assert losses.mean() < 0.13 and losses[-5000:].mean() < 0.1
    s = sparse_linear(10, 3, 5000, 1)
    assert oslr.simulate(PairwiseLeastSquares(10, 4, seed=0), s.X, s.y).losses[-1000:].mean() < 0.03  # the noise is 0.01


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
    for i, j in itertools.combinations(range(12), 2): assert lr.pairs[j * (j - 1) // 2 + i, 0] == count[i, j]
    X, y = stream(T=2000, d=30)
    oslr.play(lr := PairwiseLeastSquares(30, 5, rows=10, seed=4), env := oslr.Environment(X, y, 5))
    owners = lr.owner[lr.owner >= 0]
    assert len(set(owners.tolist())) == len(owners) and (lr.slot[owners] >= 0).all() and (lr.slot >= 0).sum() == len(owners)
    assert set(lr.favourites_.tolist()) <= set(owners.tolist())
    both = lambda i, j: sum(i in S and j in S for _, S, _ in env.ledger)
    for r, i in enumerate(lr.owner):
        if i >= 0: assert all(lr.pairs[r * 30 + j, 0] <= both(i, j) for j in range(30) if j != i)
    lr = PairwiseLeastSquares(784, 30, seed=0)
    assert sum(getattr(lr, name).nbytes for name in lr.arrays) + len(pickle.dumps(lr._plan)) < 3 * 8 * 784**2
    wide = PairwiseLeastSquares(100_000, 20, rows=100, seed=0)
    assert wide.pairs.shape == (100 * 100_000, 4)


def test_forgetting_follows_a_change():
    "One row of zeros before a stream at 1e9, 60 memories ago, does not cost its variance; without a memory nothing moves."
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8000, 8))
    y = np.where(np.arange(8000) < 4000, X[:, 0], -X[:, 0]) + X[:, 3]
    losses = [oslr.simulate(PairwiseLeastSquares(8, 4, forget=g, seed=0), X, y).losses[-2000:].mean() for g in (1.0, 0.995)]
    assert losses[1] < 0.3 * losses[0]
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12_000, 6))
    y, Z = X @ [2, -1, 0.5, 0, 0, 0] + 0.1 * rng.normal(size=12_000), X + 1e9
    Z[0] = 0
    for protocol in ("OSLR", "training-only"):
        lr = oslr.auto(6, 3, protocol=protocol, memory=200, seed=0)
        assert oslr.simulate(lr, Z, y).losses[-2000:].mean() < 0.1 * y.var() and (abs(lr.single["ref"] - 1e9) < 10).all()
    lr = oslr.auto(6, 3, seed=0)
    oslr.simulate(lr, Z, y)
    assert (lr.single["ref"] % 1e9 < 5).any() and 0 in lr.single["ref"]


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
    ({"scales": []}, "scales"), ({"scales": [0.0]}, "scales"), ({"d": 30_000}, "d = 30000"), ({"d": 10**7, "rows": 1000}, "rows = 1000"),
], lambda kw: PairwiseLeastSquares(**{"d": 12, "budget": 6} | kw), form=r"{}.*: it must be [^\n]*\.$")


def test_a_round_may_be_given_whole():
    "`query` and `skip`, `predict_from`, `learn`: what `query`, `predict`, `update` do, with examples in between."
    X, y = stream()
    plain, parts = PairwiseLeastSquares(12, 5, seed=1), PairwiseLeastSquares(12, 5, seed=1)
    for t in range(400):
        S, again, explored = plain.query(), parts.query(), parts.explored_
        parts.skip()
        yhat = plain.predict(X[t, S])
        plain.update(y[t])
        parts.predict_from(S[::-1], X[t - 1, S])
        assert (S == again).all() and parts.predict_from(S, X[t, S]) == yhat == parts.learn(S, X[t, S], y[t], explored=explored)
    assert all(np.array_equal(getattr(plain, name), getattr(parts, name)) for name in plain.arrays if name != "mark")


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
    "What a learner says that has learnt: means, spreads, correlations, weights, range and losses."
    V, b = lr.moments()
    f, num = lr.single, lr.num[0]
    means, spread = f["ref"] + f["sum"] / f["n"], np.sqrt(f["square"] / f["n"] - (f["sum"] / f["n"]) ** 2)
    label = [num["y_ref"] + num["y_sum"] / num["count"], num["low"], num["high"]]
    return [means, spread, label, V.ravel(), b, lr.losses, lr.purchases_, lr.coef_, [lr.intercept_], lr.favourites_]


@pytest.mark.parametrize("make", [{}, {"rows": 4, "budget": 2}, {"adaptive": True}, {"centre": False}], ids=str)
@pytest.mark.parametrize("kind", ["features", "a clock", "labels", "level of labels", "constant"])
def test_a_forgotten_prefix_leaves_no_trace(kind, make):
    "After 100 memories the state is, to rounding, that of a learner that has never seen the wild rows."
    budget, n = make.get("budget", 4), 2000
    stories, rng = wild(kind, n, np.random.default_rng(3)), np.random.default_rng(4)
    if not make.get("centre", True) and "level" in kind: pytest.skip("sums about zero keep to zero")
    sets, found = [rng.permutation(5)[:budget] for _ in range(n)], []
    for X, y in stories:
        lr = PairwiseLeastSquares(5, forget=0.95, seed=0, **{"budget": budget} | make)
        predictions = [lr.learn(S, x[S], label) for S, x, label in zip(sets, X, y, strict=True)]
        found.append([*told(lr), predictions[-200:]])
    for one, other in zip(*found, strict=True): np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("size", [20, 50, 1000])
@pytest.mark.parametrize("protocol", ["OSLR", "POSLR"])
def test_one_wrong_label_is_forgotten(size, protocol):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12_000, 6))
    y = X @ [2, -1, 0.5, 0, 0, 0] + 0.1 * rng.normal(size=12_000)
    z, losses = y.copy(), []
    z[5] = size
    for label in (y, z):
        lr = oslr.auto(6, 4, protocol=protocol, memory=200, seed=0)
        losses.append(oslr.simulate(lr, X, label).losses[-2000:].mean())
        assert lr.num[0]["high"] < 20
    assert losses[1] < 1.1 * losses[0] + 0.01


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
    oslr.simulate(learner, X, X[:, 0] + X[:, 1] + X[:, 3])
    assert costs[learner.coef_ != 0].sum() <= 4 and learner.coef_[[0, 1]].min() > 0.5
