"""Algorithm 3 of Ito et al. 2018: what is refused, degenerate dictionaries, and options."""

import numpy as np
import pytest

import oslr_nb as oslr
from oslr_nb.core.game.environment import measure
from oslr_nb.ledger.ito2018 import dictionary_stream
from oslr_nb.papers.ito2018 import dictionary as page

SOLVERS = page.SOLVERS
New = oslr.ito2018.DictionaryProjection


@pytest.fixture(scope="module")
def stream():
    A, X, y, w = dictionary_stream(10, 14, 10, 1200, np.random.default_rng(0))
    return A, X, y, w


def played(A, budget, keep, X, y, **kw):
    run = oslr.simulate(lr := New(A, budget, keep, seed=1, **kw), X, y)
    assert np.isfinite(run.predictions).all() and max(run.n_observed) <= budget and np.count_nonzero(lr.weights_) <= keep
    return run, lr


@pytest.mark.parametrize("kw", [{"A": np.ones(5)}, {"A": np.zeros((4, 6))}, {"A": np.full((4, 6), np.nan)}, {"A": "a"}, {"A": None},
                                {"A": np.zeros((0, 3))}, {"A": np.full((4, 6), 1e40)},
                                {"budget": 1}, {"budget": 5}, {"budget": 2.0}, {"keep": 0}, {"keep": 3}, {"keep": 4}, {"keep": "2"}],
                         ids=str)
def test_bad_arguments(kw):
    name = next(iter(kw))
    with pytest.raises(ValueError, match=f"{name}.* = .*it must be"): New(**({"A": np.eye(4)[:, [0, 1, 2, 3, 0, 1]] / 2, "budget": 3} | kw))


def test_budget_columns_and_norm():
    "As many numbers as features say everything; no more columns than there are can be bought; the theorem needs k' < k; A is normalised."
    with pytest.raises(ValueError, match=r"budget = 7: it must be an integer from 2 to 6 .*d = 6"): New(np.ones((6, 20)), 7)
    with pytest.raises(ValueError, match=r"budget = 4: it must be an integer from 2 to 3 .*m = 3"): New(np.eye(6)[:, :3], 4)
    with pytest.raises(ValueError, match=r"keep = 4: it must be an integer from 1 to 3 .*Theorem 8"): New(np.eye(6), 4, 4)
    assert New(np.eye(6), 4).keep == 2
    A = np.diag([3.0, 1.0, 0.5])
    with pytest.raises(ValueError, match=r"spectral norm of A = 3\.0: it must be at most 1"): New(A, 2, normalise=False)
    assert np.allclose(New(A, 2).dictionary_, A / 3) and np.array_equal(New(A / 4, 2).dictionary_, A / 4)
    X, y = np.random.default_rng(0).uniform(-0.5, 0.5, (200, 3)), np.zeros(200) + 0.3
    assert (oslr.simulate(New(A, 2, seed=0), X, y).predictions == oslr.simulate(New(A / 3, 2, seed=0), X, y).predictions).all()


def degenerate():
    rng = np.random.default_rng(3)
    A = rng.standard_normal((8, 12))
    repeated, zero = A.copy(), A.copy()
    repeated[:, 6:] = repeated[:, :6]
    zero[:, [0, 5, 11]] = 0
    low = rng.standard_normal((8, 2)) @ rng.standard_normal((2, 12))
    nearly = low + 1e-9 * A
    return {"repeated": repeated, "zero": zero, "rank 2": low, "nearly rank 2": nearly, "one": np.outer(A[:, 0], [1.0] + [0.0] * 11),
            "scales": A * 10.0 ** rng.integers(-9, 9, 12), "tall": A[:, :4], "orthogonal": np.eye(8)}


@pytest.mark.parametrize("name", degenerate())
@pytest.mark.parametrize("design", ["uniform", "outside"])
def test_degenerate_dictionaries(name, design):
    rng, A = np.random.default_rng(1), degenerate()[name]
    X = rng.standard_normal((400, 8))
    X /= np.linalg.norm(X, axis=1)[:, None]
    w = A @ rng.standard_normal(A.shape[1])
    y = X @ (0.8 * w / np.linalg.norm(w))
    run, lr = played(A, 4, 3, X, y, step="adaptive", design=design)
    assert np.linalg.norm(lr.coef_) <= 1 + 1e-9
    if name in ("rank 2", "one"): assert lr.error_sum_ < 1e-4
    if name == "zero": assert not lr.weights_[[0, 5, 11]].any()
    assert run.losses[-100:].mean() <= (y**2).mean() * 1.2


@pytest.mark.parametrize("solver", SOLVERS)
def test_solvers(solver, stream):
    "All are projections of A u~, and learn; the best subset has the smallest error at the same point."
    A, X, y, _ = stream
    _, lr = played(A, 5, 3, X[:150], y[:150], step="adaptive", solver=solver)
    dense = A @ lr.target_
    assert np.linalg.norm(lr.coef_) <= np.linalg.norm(dense) * (1 + 1e-9) and abs((dense - lr.coef_) @ lr.coef_) < 1e-9
    best = page.solve("exact", lr.G, lr.G @ lr.target_, 3)
    assert np.linalg.norm(dense - lr.coef_) >= np.linalg.norm(dense - A @ best) - 1e-9 and 0 < lr.error_sum_ < 150


def test_what_is_bought(stream):
    "Columns, those that predict first, each once; uniform draws waste what overlaps, draws outside nothing."
    A, X, y, _ = stream
    lr, short = New(A, 6, 3, step="adaptive", seed=0), 0
    for x, label in zip(X[:300], y, strict=False):
        rows, S = lr.query()
        assert len(S) == 0 and len(np.unique(rows, axis=0)) == len(rows) and (rows == lr.columns[lr.S[: len(rows)]]).all()
        weights, yhat = lr.weights_, lr.predict(measure(x, rows, S))
        assert np.isclose(yhat, x @ (A @ weights)) and set(np.flatnonzero(weights)) <= set(lr.S[: len(rows)])
        short += len(rows) < 6
        lr.update(label)
    assert 50 < short < 300
    run = oslr.simulate(New(A, 6, 3, design="outside", seed=0), X, y)
    assert (run.n_observed == 6).all()
    everything = New(A[:, :6], 6, 3, design="outside", seed=0)  # all columns are seen: the gradient is exact
    lam, sets = everything.rate * np.sqrt(np.arange(1, 501)), np.tile(np.arange(6), (500, 1))
    run = oslr.simulate(everything, X[:500], y[:500])
    assert np.allclose(run.predictions, page.dictionary_projection(X[:500], y[:500], A[:, :6], 3, lam, sets)[0], atol=1e-12)


def test_refusals_name_the_column_and_rates(stream):
    A, X, y, _ = stream
    lr = New(A, 4, 2, seed=0)
    before, far = lr.eta.copy(), np.array([X[0], 50 * X[1]])
    with pytest.raises(ValueError, match=r"norm of column \d+ of A times X\[1\] .*x_norm"): oslr.simulate(lr, far, y[:2])
    bad = X[:3].copy()
    bad[2, 7] = np.nan
    with pytest.raises(ValueError, match=r"X\[2, 7\] = nan: it must be a finite number \(it was measured in round 3"):
        oslr.simulate(lr, bad, y[:3])
    assert (lr.eta == before).all() and lr.num.view(page.SCALARS)[0]["played"] == 0
    assert New(np.eye(8), 4, 2, radius=2.0, x_norm=0.5, y_max=1.5).rate == pytest.approx(0.5 * 2.5 / 2 * np.sqrt(32))
    assert New(np.eye(8), 4, 2, radius=2.0, x_norm=0.5, schedule="printed", step=2).rate == pytest.approx(np.sqrt(32) / 2)


TEXTBOOK = [("A", np.full((10, 14), 9.0)), ("sets", [[0]]), ("sets", np.zeros((20, 2), int)),
            ("solver", lambda A, z, k: np.ones(14)), ("solver", lambda A, z, k: 1.0)]


@pytest.mark.parametrize(("name", "change"), TEXTBOOK)
def test_textbook_arguments(name, change, stream):
    A, X, y, _ = stream
    kw = {"X": X[:20], "y": y[:20], "A": A, "keep": 2, "lam": np.ones(20), "sets": np.tile([0, 3], (20, 1))}
    with pytest.raises(ValueError, match="it must be"): page.dictionary_projection(**(kw | {name: change}))
    predictions, errors, eta = page.dictionary_projection(**kw)
    assert np.isfinite(predictions).all() and (errors >= 0).all() and set(np.flatnonzero(eta)) == {0, 3}
