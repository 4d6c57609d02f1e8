"""Kale et al. 2017, Algorithm 2: what its page need not show."""

import numpy as np
import pytest

import oslr_nb as oslr
from oslr_nb.ledger import kale2017 as page
from oslr_nb.practice.data import sparse_linear

stream = sparse_linear(12, 2, 1500, seed=0)
K = oslr.kale2017


def learner(**kw): return K.OnlineGreedyOSLR(**({"d": 12, "budget": 6, "k": 2, "T": 1500, "x_max": 10.0, "y_max": 40.0, "seed": 0} | kw))


@pytest.mark.parametrize(("kw", "message"), [
    ({"kappa": 2.0}, r"budget = 6: it must be at least 20"),
    ({"kappa": 1.0}, ""), ({"d": 10**6, "budget": 300, "k": 1}, r"k1 = 150: it must be at most 100"),
], ids=str)
def test_arguments(kw, message):
    if kw == {"kappa": 1.0}:  # just within the theorem
        assert (learner(**kw).k1, learner(**kw).batch) == (5, 7)
        return
    with pytest.raises(ValueError, match=message): learner(**kw)


def test_parameters_of_the_theorem_and_batches():
    "They are used where they exist; within a batch the features stay."
    plan, lr = K.greedy_parameters(40, 1, 20, 10**6, K.BatchConditions(1.2)), K.OnlineGreedyOSLR(40, 20, k=1, T=10**6, kappa=1.2)
    assert (lr.k1, lr.batch) == (plan.k1, plan.batch) == (7, 70) and plan.asked == 2 and plan.bound == np.inf
    other = K.OnlineGreedyOSLR(40, 20, k=1, T=10**6, kappa=1.2, k1=4, batch=100)
    assert (other.k1, other.batch) == (4, 100)
    lr, sets = learner(batch=30), []
    for t in range(90):
        sets.append(tuple(lr.query()))
        lr.predict(stream.X[t, list(sets[-1])])
        lr.update(stream.y[t])
    assert len({sets[t] for t in range(30)}) == 1 and len(set(sets)) == 3


def test_proper_weights():
    "Sparse, committed before the purchase; the forecaster of Vovk, Azoury and Warmuth shrinks what ridge regression predicts."
    lr = K.OnlineGreedyPOSLR(12, 6, k=2, T=1500, batch=50, x_max=10, y_max=40, seed=3)
    for t in range(120):
        w = lr.commit()
        assert np.count_nonzero(w) <= 2 and (t % 50 or not w.any())
        S = lr.query()
        lr.observe(stream.X[t, S])
        assert set(np.flatnonzero(lr.coef_)) <= set(lr.special_.tolist()) <= set(S.tolist())
        lr.update(stream.y[t])
    run = oslr.play(lr, oslr.Environment(stream.X, stream.y, 6, "POSLR", k=2))
    assert run.n_observed.max() <= 8
    a = oslr.simulate(learner(k1=2, batch=50), stream.X, stream.y).predictions
    b = oslr.simulate(K.OnlineGreedyPOSLR(12, 6, k=2, T=1500, batch=50, x_max=10, y_max=40, seed=0), stream.X, stream.y).predictions
    inner = np.arange(1500) % 50 > 0
    assert (np.sign(a) == np.sign(b)).all() and (np.abs(a) <= np.abs(b)).all() and (np.abs(a) < np.abs(b))[inner].mean() > 0.9


@pytest.mark.parametrize("kind", ["zero", "equal", "constant", "one round"])
def test_singular_batches_are_no_error(kind):
    rng = np.random.default_rng(0)
    X = {"zero": np.zeros((400, 6)), "equal": np.tile(rng.uniform(-1, 1, (400, 1)), 6), "constant": np.ones((400, 6))}
    X = X.get(kind, rng.uniform(-1, 1, (400, 6)))
    lr = K.OnlineGreedyOSLR(6, 6, k=2, T=400, k1=3, batch=1 if kind == "one round" else 20, seed=0)
    run = oslr.simulate(lr, X, np.sign(np.sin(np.arange(400.0))))
    assert np.isfinite(run.predictions).all() and np.isfinite(lr.L).all()


def test_one_feature():
    lr = K.OnlineGreedyOSLR(1, 1, k=1, T=50, seed=0)
    assert np.isfinite(oslr.simulate(lr, np.ones((50, 1)), np.ones(50)).predictions).all()
    assert np.isfinite(K.bound_greedy(1, 1, 1, 50, 1, 10, K.BatchConditions(1.0, 1.0)))


def test_far_beyond_the_reference():
    "Sums of losses that differ by thousands of units of 1/eta: the weights are those of the sums."
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], (3000, 5))
    lr = K.OnlineGreedyOSLR(5, 4, k=1, T=3000, k1=2, batch=5, step=300.0, seed=1)
    oslr.simulate(lr, X, 0.5 * X[:, 0] + 0.5 * rng.choice([-1.0, 1.0], 3000))
    p = np.exp(-lr.eta * (lr.L[0] - lr.L[0].min()))
    lr.query()  # a draw moves the reference first
    assert lr.L[0].argmin() == 0 and lr.ref[0, 0] > 0 and np.allclose(lr.W[0] / lr.total[0], p / p.sum(), atol=1e-9)


def test_notions():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 4)), rng.standard_normal(30)
    assert K.set_loss(X, y, []) == pytest.approx(np.mean(y**2))
    assert K.set_loss(np.column_stack([X, X]), y, range(8)) == pytest.approx(K.set_loss(X, y, [0, 1, 2, 3]))
    orthogonal = np.vstack([np.eye(4), -np.eye(4)])
    assert K.supermodularity(orthogonal, rng.standard_normal(8), 4) == pytest.approx(1)
    assert K.supermodular_factor(1, 5) == 1 and K.supermodular_factor(2, 1) == 1 and K.supermodular_factor(2, 2) == 2.5
    with pytest.raises(ValueError, match="number of columns of X = 13"): K.supermodularity(np.ones((3, 13)), np.ones(3), 2)
    with pytest.raises(ValueError, match="integers from 0 to 3"): K.set_loss(X, y, [4])
    with pytest.raises(ValueError, match="T = 3: it must be at least t0 = 4"): K.greedy_parameters(16, 3, 8, 3, K.BatchConditions(1.5, 0.3))


def test_the_textbook_refuses_and_the_condition_of_the_stream_is_known():
    X, y = np.ones((10, 3)), np.ones(10)
    good = {"X": X, "y": y, "budget": 3, "k1": 1, "batch": 5, "eta": 0.1}
    for kw, message in (({"k1": 4}, "k1 = 4"), ({"batch": 11}, "batch = 11"), ({"eta": 0.0}, "eta = 0"),
                        ({"y": 2 * y}, "at most y_max = 1"), ({"X": np.ones((10, 1))}, "shape of X"),
                        ({"asked": np.zeros((2, 1, 3))}, "distinct"), ({"asked": 3}, "asked")):
        with pytest.raises(ValueError, match=message): K.online_greedy(**(good | kw))
    yhat, special, L = K.online_greedy(X, y, 3, 2, 4, 0.1, seed=0)
    assert yhat.shape == (10,) and special.shape == (3, 2) and L.shape == (2, 3)
    X, y, w, phi, kappa = page.correlated_cycle(8, 0.3, 3)
    rows = page.cycle_rows(8, 64, 0)
    V = X[rows].T @ X[rows] / 64
    assert oslr.geometry.restricted_condition(V, 3).upper == pytest.approx(kappa)
    assert np.abs(X).max() <= 1 + 1e-12 and np.abs(y).max() <= 1 + 1e-12
    assert oslr.geometry.sparse_eigenvalues(V, 3)[0].lower == pytest.approx(phi) and np.count_nonzero(w) == 2
