"""Intervals about predictions: what they hold, by hand and compiled, saved, served, frozen; what is refused."""

import math
from functools import partial

import numpy as np
import pytest
from conftest import ask, refused

import oslr_nb as oslr
from oslr_nb.own.moments.sums import LEVELS
from oslr_nb.practice.adapters import OSLRLearner, OSLRRegressor
from oslr_nb.practice.service import Service


def stream(kind: str, T: int = 3000, d: int = 12):
    "Features and labels (T, d), (T,)."
    rng = np.random.default_rng([len(kind), T])
    X, w = rng.standard_normal((T, d)), rng.standard_normal((5, d))
    y = (X * w[np.arange(T) * 5 // T]).sum(axis=1) if kind == "jumps" else X[:, 1] - 2 * X[:, 4]
    if kind == "heavy": y = y + rng.standard_t(2, T)
    if kind == "classes": y = (y + rng.standard_normal(T) > 0) * 1.0
    if kind == "bad": y[1000] = 1e6
    return X, y + (0.2 * rng.standard_normal(T) if kind in ("jumps", "bad", "noise") else 0)


@pytest.mark.parametrize("kind", ["noise", "jumps", "heavy", "classes", "bad", "exact"])
def test_near_the_level(kind):
    "Rounds by hand are those of compiled rounds, and misses are near the level where noise is left; their theorem is checked by Y19."
    X, y = stream(kind)
    lr, compiled = oslr.auto(12, 6, seed=1), oslr.auto(12, 6, seed=1)
    oslr.simulate(compiled, X, y)
    for x, label in zip(X, y, strict=True):
        middle = lr.predict(x[lr.query()])
        low, high = lr.predict_interval(0.9)
        assert math.isinf(low) or (low + high) / 2 == pytest.approx(middle, abs=1e-9 * lr.half_width(0.9))
        lr.update(label)
    assert lr.intervals_ == compiled.intervals_
    if kind != "exact": assert np.all(np.abs([lr.intervals_[v][0] - v for v in LEVELS]) < 0.03)


def test_elsewhere(tmp_path):
    "Saved, as a case, frozen, for river, served: one width."
    X, y = stream("noise", 600)
    lr = oslr.auto(12, 6, seed=3)
    assert math.isinf(lr.half_width()) and math.isnan(lr.intervals_[0.9][0])
    oslr.simulate(lr, X, y)
    lr.save(tmp_path / "m.npz")
    half = lr.half_width(0.8)
    assert 0 < half == oslr.load(tmp_path / "m.npz").half_width(0.8)
    for explore in (True, False):
        case = lr.open(explore=explore)
        case.give(X[0, case.wants()])
        assert case.predict_interval(0.8) == (case.predict() - half, case.predict() + half)
        if explore: case.skip()
    model = OSLRRegressor(6, random_state=0).fit(X, y)
    ends = model.predict_interval(X[:5], 0.5)
    assert ends.shape == (5, 2) and ends.mean(axis=1) == pytest.approx(model.predict(X[:5]))
    assert np.allclose(np.diff(ends, axis=1), 2 * model.learner_.half_width(0.5))
    inside = model.predict_interval(stream("noise", 601)[0], 0.9)
    assert np.mean((inside[:, 0] <= stream("noise", 601)[1]) & (stream("noise", 601)[1] <= inside[:, 1])) > 0.8
    small = OSLRLearner(3)
    assert small.predict_interval_one({"a": 1.0, "b": 2.0, "c": 0.5}) == (-math.inf, math.inf)
    for x, label in zip(X[:50, :3], y, strict=False): small.learn_one(dict(zip("abc", x, strict=True)), label)
    low, high = small.predict_interval_one(dict(zip("abc", X[60], strict=False)))
    assert high - low == pytest.approx(2 * small.learner_.half_width())
    service = Service(lr)
    say = partial(ask, service)
    values = X[0, say("query", id=1)["features"]].tolist()
    assert "it must be 0.5" in say("values", id=1, values=values, level=0.7)["error"]
    told = say("values", id=1, values=values, level=0.8)
    assert told["interval"] == [told["prediction"] - half, told["prediction"] + half]
    assert "interval" not in say("values", id=1, values=values)
    assert "fields of query" in say("query", id=2, level=0.8)["error"] and "fields of stats" in say("stats", **{"": 1})["error"]
    fresh = Service(oslr.auto(12, 6))
    assert ask(fresh, "query", id=1)["features"] and ask(fresh, "values", id=1, values=[1, 2, 3, 4, 5, 6], level=0.9)["interval"] is None


@pytest.mark.parametrize("level", [0.91, 1, 90, "0.9", None, math.nan, [0.9], True])
def test_refused(level):
    "Another level, a learner without widths, a round that is not predicted."
    with refused("level = "): oslr.auto(4, 2).half_width(level)
    with refused("learner = 'RDA1': it must be own.PairwiseLeastSquares"): oslr.ito2017.RDA1(12, 6, top=4).half_width()
    with pytest.raises(oslr.ProtocolError, match="predict_interval is out of order"): oslr.auto(4, 2).predict_interval()
