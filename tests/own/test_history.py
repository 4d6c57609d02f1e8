"""Rows that are known already: what they are worth, that they count as nothing else, and what is refused."""

import math

import numpy as np
import pandas as pd
import pytest
from conftest import refused

import oslr_nb as oslr
from oslr_nb.practice.adapters import OSLRLearner, OSLRRegressor


def stream(n: int = 2400, d: int = 20, seed: int = 0):
    "Features and labels (n, d), (n,); five features matter."
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((n, d)), np.zeros(d)
    w[rng.choice(d, 5, replace=False)] = (1.0, -1.0, 1.0, -1.0, 1.0)
    return X, X @ w + 0.4 * rng.standard_normal(n)


@pytest.mark.parametrize("options", [{}, {"average": True}, {"costs": [1.0] * 10 + [2.0] * 10}, {"rows": 14}, {"memories": [50.0]}])
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_worth(options, share):
    "The first rounds lose less; history is no round, no purchase, no whole row; what is saved goes on."
    X, y = stream()
    old = np.where(np.random.default_rng(1).random((800, 20)) < share, X[:800], np.nan)
    lost = []
    for taught in (False, True):
        lr = oslr.own.PairwiseLeastSquares(20, 7, seed=3, **options)
        if taught: lr.learn_whole(old, y[:800])
        run = oslr.simulate(lr, X[800:1600], y[800:1600])
        lost.append(run.losses[1:].mean())
        assert len(run.predictions) == 800 and np.all(run.n_observed <= 20)
    if options != {"memories": [50.0]}: assert lost[1] < 0.7 * lost[0], lost
    again = oslr.own.PairwiseLeastSquares(20, 7, seed=3, **options)
    again.set_state(*lr.state())
    assert np.array_equal(oslr.simulate(lr, X[1600:], y[1600:]).predictions, oslr.simulate(again, X[1600:], y[1600:]).predictions)


def test_sums_are_those_of_all():
    "Rows given one by one, in parts or at once leave the same sums, whatever was known; whole rows make the moments of numpy."
    X, y = stream(300, 6)
    made = [oslr.own.PairwiseLeastSquares(6, 3, seed=seed, memories=[None]) for seed in range(3)]
    made[0].learn_whole(X, y)
    for part in np.split(np.arange(300), [7, 100]): made[1].learn_whole(X[part], y[part])
    for x, label in zip(X, y, strict=True): assert math.isnan(made[2].learn([4, 2, 0, 1, 3, 5], x[[4, 2, 0, 1, 3, 5]], label, given=True))
    for lr in made:
        V, b = lr.moments()
        C = np.corrcoef(np.column_stack([X, y]).T)
        off = ~np.eye(6, dtype=bool)
        assert np.allclose(V[off], C[:6, :6][off] * 300 / 320, atol=0.02) and np.allclose(b, C[6, :6], atol=0.02)
        assert lr.num[0]["given"] == 300 and lr.explored_ is not None
    assert all(np.allclose(lr.pairs, made[0].pairs) for lr in made[1:])


@pytest.mark.parametrize("key", ["own.PairwisePOSLR", "own.PairwiseTrainingOnly"])
def test_other_protocols(key):
    "They have the same sums."
    X, y = stream()
    lost = []
    for n in (0, 600):
        lr = oslr.LEARNERS[key].cls(20, 7, **({"k": 5} if key.endswith("POSLR") else {}), seed=0)
        lr.learn_whole(X[:n], y[:n])
        lost.append(oslr.simulate(lr, X[800:1400], y[800:1400]).losses.mean())
    assert lost[1] < lost[0]


def test_for_people():
    "scikit-learn and river: columns by name, some unknown."
    X, y = stream()
    table = pd.DataFrame(X, columns=[f"c{i}" for i in range(20)])
    old = table[:600][[f"c{i}" for i in range(19, -1, -1)]].mask(np.random.default_rng(0).random((600, 20)) < 0.2)
    plain, taught = (OSLRRegressor(7, random_state=0).fit(table[600:700], y[600:700], history=h) for h in (None, (old, y[:600])))
    assert taught.score(table[1000:], y[1000:]) > plain.score(table[1000:], y[1000:]) + 0.1
    assert taught.n_features_seen_ == plain.n_features_seen_ == 700
    with refused("columns of X"): OSLRRegressor(7).fit(table, y, history=(table.rename(columns={"c0": "new"}), y))
    with refused("history = "): OSLRRegressor(7).fit(table, y, history=table)
    model = OSLRLearner(7)
    for x, label in zip(old.to_dict("records"), y, strict=False):
        model.learn_one({name: v for name, v in x.items() if v == v}, label, given=True)
    assert model.n_features_seen_ == 0 and model.learner_.num[0]["given"] == 600
    far = [model.predict_one(x) - label for x, label in zip(table[1000:1200].to_dict("records"), y[1000:], strict=False)]
    assert np.mean(np.square(far)) < 0.6 * y.var()


@pytest.mark.parametrize(("X", "y", "said"), [
    (np.zeros((3, 5)), np.zeros(3), "number of columns of X = 5"), (np.full((2, 4), np.inf), np.zeros(2), r"X\[0, 0\] = inf"),
    (np.ones((2, 4)), np.float16([1, -np.inf]), r"y\[1\] = -inf"), (np.full((2, 4), -np.inf, np.float16), np.zeros(2), r"X\[0, 0\] = -inf"),
    (np.zeros((2, 4)), [0.0, np.nan], r"y\[1\] = nan"), (np.zeros((2, 4)), [0.0, 1e70], r"y\[1\] = 1e\+70"),
    (np.zeros((2, 4)), np.zeros(3), "y"), ([["a"] * 4], [1.0], "X"), (np.full((1, 4), 1e200), [1.0], r"X\[0, 0\]"),
])
def test_refused(X, y, said):
    "A sentence, and nothing is learnt."
    lr = oslr.auto(4, 2, seed=0)
    with refused(said): lr.learn_whole(X, y)
    with refused("values"): lr.learn([0, 1, 2], [1.0, 2.0], 1.0, given=True)
    with refused("S = "): lr.learn([0, 0], [1.0, 2.0], 1.0, given=True)
    assert lr.num[0]["rounds"] == 0
    lr.learn_whole(np.zeros((0, 4)), np.zeros(0))
    lr.learn_whole(np.full((3, 4), np.nan), np.ones(3))
    S = lr.query()
    with pytest.raises(oslr.ProtocolError): lr.learn_whole(np.zeros((1, 4)), np.zeros(1))
    with refused(r"values\[0\] = nan"): lr.predict(np.full(S.size, np.nan))
    with pytest.raises(oslr.ProtocolError): lr.learn_whole(np.zeros((1, 4)), np.zeros(1))
    with pytest.raises(oslr.ProtocolError): lr.learn([0, 1], [1.0, 2.0], 1.0, given=True)


def test_a_bad_label():
    "A label that is far away is cut off where it is learnt, and where the ways to buy are judged: as in a round."
    X, y = stream(600)
    y[400] = 1e7
    lr = oslr.own.PairwiseLeastSquares(20, 7, seed=3)
    lr.learn_whole(X, y)
    assert lr.num[0]["high"] < 100 and lr.arms.max() < 1e6 and lr.single["cross"].max() < 1e6
