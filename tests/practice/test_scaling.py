"""Learners of papers in the units of the data: scales from what was bought, frozen, saved, and never a look ahead."""


import numpy as np
import pytest
from conftest import refusals
from test_learners import state

import oslr_nb as oslr
from oslr_nb.core.base.storage import read_file, write_file
from oslr_nb.practice.data import sparse_linear
from oslr_nb.practice.scaling import LIMIT, Scaled

S = sparse_linear(8, 2, 400, seed=0)
X, Y = S.X * 10.0 ** np.arange(-4, 4) + 10.0 ** np.arange(-3, 5), 500 + 40 * S.y
INSIDE = [("ito2017.RDA1", {"k": 2}), ("ito2017.RDA3", {"step": "adaptive"}), ("foster2016.FKK", {"k": 2, "T": 400}),
          ("hazan2012.OnlineAELR", {"T": 400}), ("kale2017.DantzigOSLR", {"k": 2}), ("kale2017.OnlineGreedyOSLR", {"k": 2, "T": 400}),
          ("li2025.DSOSLRC", {}), ("murata2018.Exploration", {"smoothness": 4.0, "batch": 5})]  # fmt: skip
inside = pytest.mark.parametrize(("key", "options"), INSIDE, ids=[k for k, _ in INSIDE])


def make(key="ito2017.RDA1", options=None, **kw):
    kw = {"d": 8, "budget": 5, "seed": 1, "options": {"k": 2} if options is None else options} | kw
    return Scaled(learner=key, **kw)


def one_round(lr, x, y):
    asked = lr.query()
    yhat = lr.predict(x[asked])
    lr.update(y)
    return yhat, asked.tolist()


@inside
def test_any_units_and_no_look_ahead(key, options):
    "Powers of 2 change nothing; the rounds before a change of the stream do not know of it; the limits of the learner inside hold."
    base, factors = oslr.simulate(make(key, options), X, Y), 2.0 ** np.arange(-40, 40, 10)
    other = oslr.simulate(make(key, options), X * factors, Y * 2.0**30)
    assert np.array_equal(base.predictions, other.predictions / 2.0**30)
    wild, labels = X.copy(), Y.copy()
    wild[300:], labels[300:] = 1e9 * X[300:], -1e12
    assert np.array_equal(oslr.simulate(make(key, options), wild, labels).predictions[:300], base.predictions[:300])
    assert np.ptp(base.predictions[40:]) > 0 or key == "kale2017.DantzigOSLR"  # whose theorem leaves it at 0 for longer


def test_means_and_deviations_are_those_of_what_was_bought():
    lr, seen = make(), [[] for _ in range(8)]
    for t in range(lr.warm):
        yhat, asked = one_round(lr, X[t], Y[t])
        for i in asked: seen[i].append(X[t, i])
        assert yhat == pytest.approx(Y[:t].mean() if t else 0)
    assert [len(v) for v in seen] == [20] * 8 and lr.centre == pytest.approx([*(np.mean(v) for v in seen), Y[:32].mean()])
    assert lr.size == pytest.approx([*(np.std(v) for v in seen), Y[:32].std()])
    frozen = lr.centre.copy(), lr.size.copy()
    oslr.simulate(lr, X, Y)
    assert np.array_equal(frozen, (lr.centre, lr.size)) and lr.warm == 32 and lr.learner.rng is lr.rng
    assert lr.learner.x_limit[1] == LIMIT * 8**0.5 and lr.learner.y_limit[1] == LIMIT


def test_a_value_that_comes_late_sets_its_scale():
    "A column of zeros, one of a constant, and one that is never seen in a warm-up of one round."
    Z = np.random.default_rng(0).standard_normal((60, 3)) + 7
    Z[:, 0], Z[:, 1] = 0, 5
    Z[40:, 0], Z[45:, 1] = [-3e7 if t % 2 else 0 for t in range(20)], 5.5
    lr = make("ito2017.GreedyRDA", {}, d=3, budget=3)
    for t in range(60):
        one_round(lr, Z[t], Z[t, 2])
        assert (lr.size[0] == 3e7) == (t >= 41) and (lr.size[1] == 0.5) == (t >= 45) and (t + 1 >= lr.warm or lr.size[2] == 0)
    assert lr.clipped.tolist() == [0, 0, 0, 0] and lr.coef_[1] != 0
    short = make("ito2017.GreedyRDA", {}, d=3, budget=2, warm=1)
    oslr.simulate(short, Z, Z[:, 2])
    assert (short.size[short.counts > 1] > 0).all() and short.counts[3] == 60


def test_constants_limits_and_weights():
    "Constant labels and columns; what is beyond the limits is counted; a learner that sees everything predicts by its weights."
    lr = make("ito2017.RDA2", {})
    assert oslr.simulate(lr, X, np.full(400, 3.0)).predictions[1:].tolist() == [3.0] * 399
    assert (lr.coef_ == 0).all() and lr.intercept_ == 3
    assert np.isfinite(oslr.simulate(make("ito2017.RDA2", {}), np.ones((400, 8)), Y).predictions).all()
    lr = make()
    oslr.simulate(lr, X, Y)
    cut = lr.clipped.sum()
    one_round(lr, X[0] + 1e9, Y[0] + 1e6)
    assert lr.clipped.sum() == cut + 6 and lr.clipped[-1] == 1
    lr = make("ito2017.GreedyRDA", {"step": "adaptive"}, budget=8)
    for t in range(200):
        score = lr.intercept_ + lr.coef_ @ X[t]
        assert one_round(lr, X[t], Y[t])[0] == pytest.approx(score, rel=1e-9)
    assert np.ptp(lr.coef_) > 0


def test_skip_learns_nothing_and_places_of_a_file_are_checked(tmp_path):
    a, b = make(), make()
    for t in range(60):
        one_round(a, X[t], Y[t])
        before = state(b)[1]
        b.query(), b.predict(X[t, :5] * 1e9) if t < 32 else None
        b.skip()
        if t < 32: assert {n: v for n, v in state(b)[1].items() if n not in ("S", "values", "num")} == {
            n: v for n, v in before.items() if n not in ("S", "values", "num")}
        one_round(b, X[t], Y[t])
    assert a.centre.tolist() == b.centre.tolist() and a.size.tolist() == b.size.tolist()
    oslr.simulate(lr := make(), X[:50], Y[:50])
    for name, place in (("order", 8), ("order", -1), ("S", 8), ("of_buf", 10**9)):
        lr.save(tmp_path / "a.npz")
        header, arrays = read_file(tmp_path / "a.npz")
        arrays[name].flat[0] = place
        write_file(tmp_path / "a.npz", header, arrays)
        with pytest.raises(ValueError, match="it must be a whole file written by save"): oslr.load(tmp_path / "a.npz")


test_what_it_refuses_in_one_sentence = refusals([
    ({"key": "cesabianchi2010.Baseline", "options": {}, "budget": 4},
     "learner = 'cesabianchi2010.Baseline': it must be one of protocol OSLR"),
    ({"key": "ito2018.LinearProjection", "options": {}}, "learner = 'ito2018.LinearProjection': it must be one that buys features"),
    ({"options": {}}, "k = None"), ({"options": {"x_norm": 3.0, "k": 2}}, "option x_norm = 3.0: it must be left out"),
    ({"options": [1]}, "options = "), ({"options": {"kk": 2}}, "learner = 'ito2017.RDA1'"), ({"warm": -1}, "warm = -1"),
    ({"budget": 9}, "budget = 9"), ({"d": 1}, "d = 1"), ({"key": "RDA1"}, "learner = 'RDA1'"),
], lambda kw: make(**kw), form="^{}")
