"""Hazan & Koren 2012: what the kernels of a round do one by one, what learners, bounds and saved files refuse, and names."""

import math

import numpy as np
import pytest
from conftest import refusals
from test_fuzz import arguments_of

import oslr_nb as oslr
from oslr_nb.core.base.compiled import strided
from oslr_nb.ledger import hazan2012 as ledger
from oslr_nb.papers.hazan2012 import AELR, AERR, DDAELR, DDAERR, OnlineAELR, TwoPhaseAERR, learners
from oslr_nb.papers.hazan2012.adaptive import textbook_adaptive
from oslr_nb.papers.hazan2012.learners import SCALARS, Plan


def scalars(holder):
    "The named numbers of a state or a learner."
    return holder.num.view(SCALARS)[0]


@pytest.mark.parametrize("shift", [0.0, 60.0])
@pytest.mark.parametrize("theta", [0.0, 1e-9, 0.00999, 0.01001, -3.0, 40.0, -700.0])
def test_two_sided_keeps_all_digits(theta, shift):
    gap, low = learners.two_sided(theta, shift)
    assert gap * math.exp(shift) == pytest.approx(2 * math.sinh(theta), rel=1e-13)
    assert low == pytest.approx(math.exp(-abs(theta) - shift))


def test_kernels_by_hand():
    "Rescaling of AELR; phase one adds squares; a score reads nothing where the weight is zero."
    state = AELR(3, 2, T=1, radius=2.0)._state
    state.theta[:] = 800.0, -799.0, 0.1
    learners.lasso_rescale(state, 2.0)
    e = math.exp(-1)
    assert np.allclose(scalars(state)["factor"] * state.v, 2 * np.array([1, -e, 0]) / (1 + e)) and scalars(state)["shift"] == 800
    oslr.simulate(lr := TwoPhaseAERR(3, 3, T=20, x_norm=4.0, seed=0), np.array([[1.0, 2.0, 3.0]]), np.ones(1))
    assert lr.second.tolist() == [1, 4, 9] and not lr.weights_.any()
    state, plan = AERR(3, 2, T=1)._state, Plan(True, False, 1, 1, 1.0)
    state.v[:], scalars(state)["sum"], scalars(state)["rounds"] = [1.0, 0.0, -2.0], 4.0, 3
    assert learners.attribute_score(strided(np.array([[1.0, np.nan, 0.25]])), 0, plan, state) == 1.0
    scalars(state)["rounds"] = 1
    assert learners.attribute_score(strided(np.ones((1, 3))), 0, plan, state) == 0


def test_arguments():
    "The textbook refuses draws that cannot be; chances are normalised; T is needed."
    right = arguments_of(oslr.hazan2012.textbook)
    for pairs in ([([6], None)], [([0.5], None)], [([], None)], [([1], 2)], [([1], 9)], []):
        with pytest.raises(ValueError, match="draws"): oslr.hazan2012.textbook(**(right | {"draws": pairs}))
    lr = AERR(2, 2, T=10, q=[1, 3])
    assert lr.chance.tolist() == [0.25, 0.75] and lr.params["q"] == [0.25, 0.75]
    for cls in (AERR, AELR, OnlineAELR):
        with pytest.raises(ValueError, match="T = None: it must be an integer"): cls(6, 3)
        with pytest.raises(ValueError, match="T = 0"): cls(6, 3, T=0, step="adaptive")
    with pytest.raises(ValueError, match="T = None"): TwoPhaseAERR(6, 3, T=None, step="adaptive")


test_refused_by_one_learner = refusals([
    lambda: AERR(3, 2, T=100, q=[1, 1, 0]), lambda: AELR(3, 2, T=100, q=[1, -1, 1]), lambda: AERR(3, 2, T=100, q=[1, 1]),
    lambda: DDAERR(3, 2, T=100, moments=[1, 1]), lambda: DDAELR(3, 2, T=100, moments=[0, 0, 0]),
    lambda: DDAERR(3, 2, T=100, moments=[1, -1, 1]), lambda: DDAERR(3, 2, T=100, moments=None),
    lambda: DDAERR(3, 2, T=100, moments=[1e300, 1, 1]),
], words="it must be")


@pytest.mark.parametrize("cls", [AERR, AELR])
@pytest.mark.parametrize("jump", [1e-12, 1e6, 1e25])
def test_adaptive_steps_survive_jumps_of_scale(cls, jump, tmp_path):
    "Labels that jump by many powers of ten: finite numbers, the textbook's weights, and a state that can be saved."
    rng = np.random.default_rng(3)
    X, T = rng.uniform(-1, 1, (300, 6)), 300
    y = (X[:, 0] - X[:, 1]) * np.where(np.arange(T) // 100 == 1, jump, 1.0)
    lr = cls(6, 3, step="adaptive", x_norm=3.0, y_max=1e26, seed=2)
    pairs = ledger.recorded(lr, X, y)
    mean, last = textbook_adaptive(X, y, pairs, lr.ridge, 1.0, np.full(6, 1 / 6))
    assert np.abs(last - lr.weights_).max() < 1e-6 and np.abs(mean - lr.coef_).max() < 1e-6
    lr.save(tmp_path / "a.npz")
    again = oslr.load(tmp_path / "a.npz")
    assert (oslr.simulate(again, X, y).predictions == oslr.simulate(lr, X, y).predictions).all()


@pytest.mark.parametrize(("reading", "told"), [("observed", False), ("estimate", True)])
def test_what_the_online_reading_predicts(reading, told):
    "The weights on what was bought, or the estimate of w'x that the gradient uses."
    rng = np.random.default_rng(5)
    X = rng.choice([-1.0, 1.0], (300, 6)) / 2
    y, lr, yhat = X[:, 0], OnlineAELR(6, 3, T=300, reading=reading, step=20.0, seed=1), []
    for x, label in zip(X, y, strict=True):
        S = lr.query()
        yhat.append(lr.predict(x[S]))
        assert yhat[-1] == pytest.approx(scalars(lr)["inner"] if told else lr.coef_[S] @ x[S])
        lr.update(label)
    assert np.abs(yhat).max() > 0.1
