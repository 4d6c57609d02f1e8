"""The protocol one call at a time: what is sold, booked and refused, and what a file holds."""

import dataclasses
import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import refusals, refused
from scipy.sparse import csr_matrix

from oslr_nb.core.base import frames
from oslr_nb.core.base.checks import LARGEST, Refused
from oslr_nb.core.base.frames import check_rows
from oslr_nb.core.base.storage import write_file
from oslr_nb.core.game import environment
from oslr_nb.core.game.driver import play, simulate
from oslr_nb.core.game.environment import LOGISTIC, PROBABILITIES, SQUARED, Loss
from oslr_nb.core.game.learner import Learner, check_learner
from oslr_nb.core.game.registry import ASSUMPTIONS, CLASSES, all_learners, at_a_glance, plain, register
from oslr_nb.core.game.run import Run
from oslr_nb.core.game.saving import load

NAN = np.nan
BudgetExceeded, Environment, ProtocolError = environment.BudgetExceeded, environment.Environment, environment.ProtocolError
check_bought, check_sparse, check_stream = environment.check_bought, environment.check_sparse, frames.check_stream
split_query, weighted_sum = environment.split_query, environment.weighted_sum


class First(Learner):
    "Buys the first features and runs gradient descent on them."

    arrays = ("w", "values")

    def __init__(self, d, budget, step=0.1, seed=None):
        super().__init__(d, budget, seed, step=step)
        self.step, self.w, self.values = step, np.zeros(self.budget), np.zeros(self.budget)

    coef_ = property(lambda self: np.concatenate([self.w, np.zeros(self.d - self.budget)]))

    def _query(self): return np.arange(self.budget)

    def _predict(self, values):
        self.values = values
        return float(self.w @ values)

    def _update(self, y): self.w = self.w - self.step * 2 * (self.w @ self.values - y) * self.values


@pytest.fixture
def registry(monkeypatch):
    "The registry, put back afterwards."
    made = {}
    monkeypatch.setattr("oslr_nb.core.game.registry.LEARNERS", made)
    monkeypatch.setitem(CLASSES, "example.First", First)
    facts = {"needs": "Bounded", "budget": "$k'\\ge2$", "assumptions": r"$\lvert x\rvert\le1$", "bound": "linear", "cost": "$O(k')$"}
    register("example", **facts)(First)
    return made


def refuse_round(X, bought, limit, name, norm):
    "What is said of round 7, which played row 0."
    lr = First(X.shape[1], len(bought))
    lr.S, lr.x_limit = bought, (name, limit, norm)
    lr._explain_refusal(X, 0, 7)


test_refused = refusals([
    *((split_query, (query, 3), "query") for query in ([3], [1, 1], np.ones((1, 2)))),
    (check_bought, (np.array([1.0, NAN]), np.array([3, 7]), 4), r"X\[4, 7\]"),
    (check_bought, (np.array([NAN, 1.0]), np.array([7]), 4), "measurement 0 in round 5"),
    (weighted_sum, (np.ones(2), np.array([3.0, NAN]), 0.0), "score of w"),
    (check_sparse, (np.ones(3), 2), "nonzero"),
    *((check_stream, bad, r"X|y") for bad in
      (([1, 2], [1]), ([["a"]], [1]), ([[1.0]], [NAN]), ([[1.0]], [1, 2]), (np.empty((0, 2)), []))),
    *((refuse_round, (np.array([[0.6, NAN, 1e61, 0.8, 0.9]]), np.array(bought), limit, name, norm), words) for
      bought, limit, name, norm, words in (
          ([0, 2], LARGEST, "", False, r"X\[0, 2\] = 1e\+61"), ([1], 1.0, "x_max", False, r"X\[0, 1\] = nan"),
          ([2], 1.0, "x_norm", True, r"X\[0, 2\] = 1e\+61: .* at most 1e\+60"),
          ([3, 4], 0.8, "x_max", False, r"X\[0, 4\] = 0.9: it must be a finite number of magnitude at most 0.8 .*round 7, .*x_max = 0.8"),
          ([0, 4], 1.0, "x_norm", True, r"norm of X\[0, 0\] to X\[0, 4\] = 1.08\d*: it must be at most 1 .*round 7, .*x_norm = 1"))),
    *((check_rows, (bad, 3), "rows") for bad in ([3], [-1], [0.5], [[0]], "ab")),
    (check_learner, (First,), "learner"), (check_stream, (csr_matrix(np.eye(2)), [1.0]), "sparse matrix.*toarray"),
    (check_stream, (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), [1.0]), "columns of X .*distinct names"),
    *((First, bad, "d =|budget") for bad in ((0, 0), (4, 5))),
    (Environment, ([[1.0]], [1.0], 1, "POSLR"), "k = "),
])


def test_streams_that_are_accepted():
    "Labels may be missing where that is said."
    X, y = check_stream([[1, 2], [3, 4]], [0, 1])
    assert X.dtype == np.float64 and check_stream(X, y)[0] is X
    assert weighted_sum(np.array([2.0, 0.0]), np.array([3.0, NAN]), 0.5) == 6.5 and check_sparse(np.ones(3), 3) == 3
    assert [check_rows(rows, 3).tolist() for rows in (None, [2, 2], [])] == [[0, 1, 2], [2, 2], []]
    _, y = check_stream([[1.0], [2.0]], [NAN, 1.0], missing=True)
    assert np.isnan(y[0]) and y[1] == 1
    for y in ([NAN, np.inf], ["a", "b"]):
        with refused("y"): check_stream([[1.0], [2.0]], y, missing=True)
    env = Environment([[1.0, 2.0]] * 3, [NAN, 1.0, 1.0], budget=1)
    assert np.isnan(env.predict(0.5))
    env.observe([0])
    env.skip()
    assert env.t == 2 and np.isnan(env.predictions[1]) and env.n_observed.tolist() == [0, 1, 0] and env.predict(2.0) == 1
    with pytest.raises(ProtocolError, match="after the end"): env.skip()
    run = Run(env._X, env._y, np.arange(3), env.predictions, env.n_observed)
    assert run.scored.tolist() == [False, False, True] and run.regret([1.0, 0.0]).tolist() == [0, 0, 1]
    assert run.best_sparse(1).loss == pytest.approx(0)


def refuses(kind, f, *args):
    with pytest.raises(kind) as e: f(*args)
    assert type(e.value) is kind


def test_a_round_of_each_protocol():
    env = Environment([[1.0, 2.0, NAN, 4.0], [5.0, 6.0, 7.0, 8.0]], [0.5, -0.5], budget=2)
    assert env.observe([3]).tolist() == [4]
    for kind, f, *args in (
        (BudgetExceeded, env.observe, [0, 1]), (ProtocolError, env.observe, [3]), (ValueError, env.observe, [4]),
        (Refused, env.observe, [2]), (ProtocolError, env.label), (ProtocolError, env.commit, np.ones(4)), (ValueError, env.predict, NAN),
    ): refuses(kind, f, *args)
    assert env.observe([1]).tolist() == [2] and env.predict(0.25) == 0.5
    assert env.n_observed.tolist() == [2, 0] and env.purchases.tolist() == [0, 1, 0, 1] and len(env.ledger) == 2
    assert env.predict(0.0) == -0.5 and env.t == 2
    refuses(ProtocolError, env.observe, [0])
    assert issubclass(BudgetExceeded, ProtocolError)
    env = Environment([[1.0, 2.0, 3.0]] * 2, [1.0, 1.0], budget=2, protocol="POSLR", k=1)
    refuses(ProtocolError, env.observe, [0])
    refuses(ValueError, env.commit, [1.0, 1.0, 0.0])
    refuses(ValueError, env.commit, [0.0, 0.5, 0.0], NAN)
    env.commit([0.0, 0.5, 0.0])
    refuses(ProtocolError, env.predict, 1.0)
    assert env.observe(([[1.0, 1.0, 1.0]], [2])).tolist() == [6, 3] and env.label() == 1
    assert env.predictions[0] == 1 and env.n_observed[0] == 3  # one nonzero weight and two purchases
    env = Environment([[1.0, 2.0, 3.0]], [1.0], budget=1, protocol="training-only")
    refuses(ValueError, env.commit, [1.0, 1.0, 1.0], NAN)
    env.commit([1.0, 1.0, 1.0], 0.5)
    refuses(BudgetExceeded, env.observe, [0, 1])
    assert env.observe([0]).tolist() == [1] and env.label() == 1 and env.predictions[0] == 6.5 and env.n_observed[0] == 1


def test_play_simulate_and_regret_by_hand():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((300, 4))
    y = X[:, 0] - X[:, 1]
    run = play(First(4, 2, step=0.05), Environment(X, y, budget=2))
    assert run.losses[-50:].max() < 1e-6 and (run.n_observed == 2).all()
    assert run.regret([1, -1, 0, 0])[-1] == run.losses.cumsum()[-1] and run.best_sparse(2).loss < 1e-12
    for bad in ([1.0], [NAN, 0.0, 0.0, 0.0]): refuses(ValueError, run.regret, bad)
    refuses(ValueError, play, First(4, 3), Environment(X, y, budget=2))
    refuses(ValueError, play, First(4, 2), Environment(X, y, budget=2, protocol="training-only"))
    lr = First(4, 2)
    refuses(ValueError, simulate, lr, X, y, None, None, False)
    lr.query()
    refuses(ProtocolError, simulate, lr, X, y)


def test_the_registry_and_files(registry, tmp_path):
    "An entry has its facts, a file its learner and shapes."
    entry = registry["example.First"]
    assert entry.cls is First and First.key == "example.First" and entry.protocol == "OSLR" and entry.checks == ["bounded"]
    place = "[(Bounded)](../book/notation.ipynb#def-bounded)"
    assert f"|  | *needs* | {place}: $\\lvert x\\rvert\\le1$ |" in at_a_glance("example", names="^First$")
    assert at_a_glance("example", names="Second").count("\n") == 2
    with refused("needs of First = 'bounded': it must be one of Any, Obl"): dataclasses.replace(entry, needs="iid bounded")
    file = tmp_path / "s.npz"
    First(4, 2, seed=1).save(file)
    assert os.listdir(tmp_path) == ["s.npz"]
    with np.load(file, allow_pickle=False) as f: header = json.loads(str(f["header"]))
    assert header["learner"] == "example.First"
    write_file(file, header, {"w": np.zeros(99), "values": np.zeros(2)})
    with refused(r"shape of w = \(99,\): it must be \(2,\)"): load(file)
    with pytest.raises(FileNotFoundError): load(Path(tmp_path, "none.npz"))
    class Unregistered(First):
        pass
    refuses(ValueError, Unregistered(4, 2).save, "nowhere.npz")


def test_learners_name_assumptions_and_theorem(top):
    "Assumptions are those that the page on notation defines; a learner with a bound names its theorem, and what it assumes."
    defined = set(re.findall(r'id=\\"def-(\w+)', (top / "nbs/book/notation.ipynb").read_text(encoding="utf-8")))
    assert {name.lower() for name in ASSUMPTIONS} == defined
    for key, entry in all_learners().items():
        if entry.paper == "example": continue
        names = entry.needs.split()
        page, _, label = entry.theorem.partition("#")
        assert bool(names) <= bool(label), key
        assert (label or "not proved" in entry.bound or "none" in entry.bound) and (names or not label or "linear" in entry.bound), key
        assert not label or f'id=\\"{label}' in (top / "nbs" / page).read_text(encoding="utf-8"), key


def test_facts_in_a_line():
    "No learner's facts leave TeX in the plain text, or a number or a letter out of it."
    for key, e in all_learners().items():
        for text in (e.budget, e.assumptions, e.bound, e.cost):
            assert not re.search(r"[\\${}`]|  |\( | [),;]|frac|sqrt[^(]", plain(text)), f"{key}: {plain(text)}"
            assert sorted(re.findall(r"\d", plain(text))) == sorted(re.findall(r"\d", text)), f"{key}: {plain(text)}"


GAPS = {"age": [1.0, None], "sex": [True, False], "n": [3, None]}
TABLES = {
    "pandas": lambda: pd.DataFrame(GAPS | {"n": pd.array([3, None], dtype="Int64")}), "polars": lambda: pl.DataFrame(GAPS),
    "pyarrow": lambda: pa.table(GAPS), "masked": lambda: np.ma.array([[1.0, 1, 3], [5, 0, 7]], mask=[[0, 0, 0], [1, 0, 1]]),
    "booleans": lambda: np.array([[1, 1, 0], [0, 1, 0]], bool),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables(kind):
    "Gaps are NaN, which nobody may buy; booleans are numbers."
    X, _ = check_stream(TABLES[kind](), [True, False])
    wanted = [[1, 1, 0], [0, 1, 0]] if kind == "booleans" else [[1, 1, 3], [NAN, 0, NAN]]
    assert X.dtype == np.float64 and np.array_equal(X, np.array(wanted, float), equal_nan=True)


def test_a_run_keeps_its_loss():
    y = np.array([0.5, -2.0, 3.0])
    assert np.allclose((SQUARED.value(y + 1e-6, 1.0) - SQUARED.value(y - 1e-6, 1.0)) / 2e-6, SQUARED.slope(y, 1.0))
    p = np.linspace(0.01, 0.99, 25)
    for label in (0.0, 1.0):
        rise = (PROBABILITIES.value(p + 1e-6, label) - PROBABILITIES.value(p - 1e-6, label)) / 2e-6
        assert np.allclose(rise, PROBABILITIES.slope(p, label), rtol=1e-4)
    for label in (-1.0, 1.0, 3.0):
        rise = (LOGISTIC.value(y + 1e-6, label) - LOGISTIC.value(y - 1e-6, label)) / 2e-6
        assert np.allclose(rise, LOGISTIC.slope(y, label), rtol=1e-4)
    coins = (np.arange(30) % 3 == 0) * 1.0
    for loss, labels in ((PROBABILITIES, coins), (LOGISTIC, 2 * coins - 1), (SQUARED, y)):
        best = loss.best(labels.mean())
        assert all(loss.value(best + e, labels).sum() > loss.value(best, labels).sum() for e in (-0.01, 0.01))
    assert np.isfinite(LOGISTIC.best(np.array([-1.0, 0.0, 1.0]))).all()
    absolute = Loss(lambda score, y: np.abs(score - y), lambda score, y: np.sign(score - y), lambda mean: mean)
    run = Run(np.eye(3), y, np.array([0, 1, 2, 2]), np.array([1.0, 1.0, np.nan, 0.0]), np.ones(4, int), loss=absolute)
    assert np.array_equal(run.losses, [0.5, 3.0, np.nan, 3.0], equal_nan=True) and np.allclose(run.regret(y), [0.5, 3.5, 3.5, 6.5])
    for loss in (absolute, LOGISTIC, PROBABILITIES):
        with refused("squared ones"): dataclasses.replace(run, loss=loss).best_sparse(1)


def test_purchases_are_counted_in_every_way_of_playing(tmp_path, monkeypatch):
    "By hand, after a sale that was refused, in a table that is converted in parts, and of no rounds: all that was bought, in its block."
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 9, (100, 5)), rng.standard_normal(100)
    by_hand = simulate(First(5, 2), X, y, purchases=True)
    assert by_hand.purchases.shape == (40, 5) and (by_hand.purchases[:, :2] == [[3, 3]] * 20 + [[2, 2]] * 20).all()
    new = lambda: all_learners()["own.PairwiseLeastSquares"].cls(5, 3, seed=1)
    whole = simulate(new(), X, y, purchases=True)
    np.save(tmp_path / "X.npy", X)
    monkeypatch.setattr("oslr_nb.core.game.driver.CONVERTED", 10)
    parts = simulate(new(), np.load(tmp_path / "X.npy", mmap_mode="r"), y, purchases=True)
    assert (parts.purchases == whole.purchases).all() and whole.purchases.sum() == 300 and (parts.predictions == whole.predictions).all()
    with pytest.raises(ValueError, match="X"): play(lr := new(), Environment(np.full((1, 5), NAN), y[:1], 3))
    late = simulate(lr, X, y, purchases=True)
    assert (late.purchases.sum(axis=1) == [9] * 20 + [6] * 20).all() and (late.purchases == whole.purchases).all()
    assert simulate(new(), X, y, rows=[], purchases=True).purchases.tolist() == [[0] * 5]
    with pytest.raises(ValueError, match=r"^purchases = 1"): simulate(new(), X, y, purchases=1)
