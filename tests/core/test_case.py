"""A learner of three kernels written here, and the long form of a round: equal to the short one, steps, failures, many open at a time."""

from typing import Annotated, NamedTuple

import numpy as np
import pytest
from conftest import python

import oslr_nb as oslr
from oslr_nb.core.base.kernels import kernel, record
from oslr_nb.core.game.learner import Learner, Role
from oslr_nb.core.mathematics.designs import draw_outside
from oslr_nb.practice.warm import sample_learner

NUMBERS = record("played", "yhat")


class State(NamedTuple):
    w: Annotated[np.ndarray, Role(("d",))]
    S: Annotated[np.ndarray, Role(("budget",), "scratch", np.int64, "d")]
    values: Annotated[np.ndarray, Role(("budget",), "scratch")]
    mark: Annotated[np.ndarray, Role(("d",), "scratch", np.int64)]
    num: Annotated[np.ndarray, Role(dtype=NUMBERS)]


class Plan(NamedTuple):
    step: float
    stop: float


@kernel
def select(words, n, plan, state):
    "One feature after the other, until a value is above `stop`: what was seen decides what is bought."
    if n > 0 and (n == state.S.size or abs(state.values[n - 1]) > plan.stop): return n
    draw_outside(words, state.w.size, n, 1, state.mark, np.int64(state.num.view(NUMBERS)[0].played) + 1, state.S[n:])
    return n + 1


@kernel
def predict(n, plan, state):
    total = 0.0
    for a in range(n): total += state.w[state.S[a]] * state.values[a]
    state.num.view(NUMBERS)[0].yhat = total
    return total


@kernel
def learn(y, n, late, plan, state):
    now = state.num.view(NUMBERS)[0]
    for a in range(n): state.w[state.S[a]] -= plan.step * (now.yhat - y) * state.values[a]
    now.played += 1


class InTurn(Learner):
    State, kernels, takes_fewer = State, (select, predict, learn), True
    coef_ = property(lambda self: self.w.copy())

    def __init__(self, d, budget, *, step=0.1, stop=1.0, seed=None):
        super().__init__(d, budget, seed, step=step, stop=stop)
        self._plan = Plan(step, stop)
        self._allocate()

    def _check_purchase(self, S): assert S.size <= self.budget


RNG = np.random.default_rng(0)
X = RNG.standard_normal((600, 8))
Y = X[:, 2] - X[:, 5] + 0.1 * RNG.standard_normal(600)


def test_a_round_that_grows():
    "Compiled and case by case, bit for bit; some rounds stop early."
    one, two = InTurn(8, 4, seed=1), InTurn(8, 4, seed=1)
    run = oslr.simulate(one, X, Y)
    for t in range(600):
        case = two.open()
        while len(S := case.wants()): case.give(X[t, S])
        assert case.predict() == run.predictions[t] and len(case.features) == run.n_observed[t]
        case.learn(Y[t])
    assert {1, 2, 3, 4} == set(run.n_observed) and all((getattr(one, n) == getattr(two, n)).all() for n in one.arrays)
    one.S[1] = 8
    with pytest.raises(ValueError, match="an entry of S"): one.set_state(*one.state())


def test_its_code_stays_out_of_the_folder_of_the_package(tmp_path):
    "Else every process without this file would fail to read what is kept there."
    python("import os, sys; os.environ['NUMBA_CACHE_DIR'] = sys.argv[1]; sys.path[:0] = ['tests', 'tests/core']; import test_case as t; "
           "t.oslr.simulate(t.InTurn(8, 4, seed=1), t.X, t.Y)", tmp_path)
    assert any(tmp_path.rglob("*draw_outside*")) and not any(tmp_path.rglob("*nothing*")) and not any(tmp_path.rglob("*select*"))


LEARNERS = [lambda: oslr.auto(8, 4, seed=1), lambda: oslr.own.CoinBetting(8, 4, seed=1), lambda: InTurn(8, 4, stop=9.0, seed=1),
            lambda: oslr.ito2017.RDA1(8, 4, k=2, x_norm=9, y_max=9, step="adaptive", seed=1)]


@pytest.mark.parametrize("make", LEARNERS)
def test_many_cases_fail_and_end_in_any_order(make):
    lr, rng, open_, losses = make(), np.random.default_rng(2), {}, []
    quiet = make()
    before = {n: getattr(quiet, n).copy() for n in quiet.arrays if n not in ("S", "mark", "values", "num")}
    assert (quiet.ask(lambda S: np.full(len(S), np.nan), explore=False).prediction == quiet.intercept_)
    assert all((getattr(quiet, n) == a).all() for n, a in before.items())
    with pytest.raises(oslr.ProtocolError, match="teaches nothing"): quiet.open(explore=False).learn(1.0)
    for t in range(600):
        case = open_[t] = lr.open()
        while case.wanted: case.give(np.where(rng.random(case.wanted) < 0.1, np.nan, X[t, case.wants()]))
        case.predict()
        with pytest.raises(oslr.ProtocolError, match="wants no more"): case.give([])
        if len(open_) < 20: continue
        u = rng.choice(list(open_)).item()
        case = open_.pop(u)
        if u % 10 == 0:
            case.skip()
            continue
        with pytest.raises(ValueError, match="y = nan"): case.learn(float("nan"))
        losses.append((case.prediction - Y[u]) ** 2)
        case.learn(Y[u])
        with pytest.raises(oslr.ProtocolError, match="predict first"): case.learn(Y[u])
    assert np.mean(losses[-200:]) < 0.95 * Y.var()


@pytest.mark.parametrize("key", [k for k, e in oslr.LEARNERS.items() if e.protocol == "OSLR"])
def test_every_learner_has_a_long_form(key):
    one, two = (sample_learner(oslr.LEARNERS[key].cls) for _ in range(2))
    two._draw_from(np.random.default_rng(0))
    one._draw_from(np.random.default_rng(0))
    two.names_, asked = tuple(f"f{i}" for i in range(12)), []
    for _ in range(30):
        x, y = RNG.uniform(-0.2, 0.2, 12), RNG.uniform(-0.2, 0.2)
        q = one.query()
        values = np.concatenate([q[0] @ x, x[q[1]]]) if isinstance(q, tuple) else q @ x if q.ndim > 1 else x[q]
        case = two.ask(lambda names: asked.append(names) or values)  # noqa: B023
        assert asked.pop() == [f"f{i}" for i in case.features] and case.prediction == one.predict(values) and not case.wanted
        one.update(y)
        case.learn(y)
    assert (one.coef_ == two.coef_).all()


def test_what_is_refused_changes_nothing():
    lr = oslr.auto(8, 4, seed=1)
    case = lr.open()
    with pytest.raises(oslr.ProtocolError, match="give the values first"): case.predict()
    for values in ([1, 2], [1, 2, 3, "a"], [1e61, 0, 0, 0], [np.inf] * 4, None):
        with pytest.raises(ValueError, match="it must be"): case.give(values)
        assert case.wanted == 4
    with pytest.raises(ValueError, match="explore = 2"): lr.open(explore=2)
    with pytest.raises(ValueError, match="one of protocol OSLR"): oslr.own.PairwisePOSLR(8, 4, k=2).open()
    one = oslr.ito2018.LinearProjection(8, 4, seed=0)
    first = one.open()
    with pytest.raises(oslr.ProtocolError, match="one case at a time"): one.open()
    first.skip()
    case = one.open()
    with pytest.raises(ValueError, match="cannot be replaced"): case.give([np.nan] * case.wanted)
