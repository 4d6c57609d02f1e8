"Theorems on second moments: arguments, edges, the exact search against a grid, and what the page need not show."

import itertools
import math

import numpy as np
import pytest
from conftest import refusals

import oslr_nb.own.moment_theory as page
from oslr_nb.ledger.own import moment_theory as page_ledger

RNG = np.random.default_rng(8)


def loss(w, V, b): return w @ V @ w - 2 * b @ w


@pytest.mark.parametrize("indefinite", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_search_is_exact(k, indefinite):
    "Nothing on a fine grid of the faces is lower, and at most k weights are used."
    for B in (0.3, 1.0, 5.0):
        A = RNG.standard_normal((3, 3))
        V, b = (A + A.T if indefinite else A @ A.T), RNG.standard_normal(3)
        w = page.sparse_minimiser(V, b, k, B)
        assert (w != 0).sum() <= k and np.abs(w).sum() <= B * (1 + 1e-12)
        grid = np.linspace(-B, B, 61)
        for S in itertools.combinations(range(3), k):
            points = np.zeros((61**k, 3))
            points[:, S] = np.array(list(itertools.product(grid, repeat=k)))
            points = points[np.abs(points).sum(axis=1) <= B * (1 + 1e-12)]
            values = np.einsum("ni,ij,nj->n", points, V, points) - 2 * points @ b
            assert loss(w, V, b) <= values.min() + 1e-9


def test_the_search():
    "Where the matrix is singular; batches agree with single problems; the rule finds the weights."
    V = np.ones((3, 3))
    assert loss(page.sparse_minimiser(V, [1, 1, 1], 3, 2), V, np.ones(3)) == pytest.approx(-1)
    assert loss(page.sparse_minimiser(np.zeros((3, 3)), [0.5, -1, 0], 2, 2), np.zeros((3, 3)), np.array([0.5, -1, 0])) == pytest.approx(-4)
    assert not page.sparse_minimiser(np.eye(2), np.zeros(2), 2, 1).any()
    assert not page.sparse_minimiser(np.zeros((3, 3)), np.zeros(3), 1, 2).any()  # nothing seen, nothing bet
    assert np.abs(page.sparse_minimiser(-np.eye(3), np.zeros(3), 1, 2)).sum() == 2
    A = RNG.standard_normal((7, 4, 4))
    V, b = A + A.transpose(0, 2, 1), RNG.standard_normal((7, 4))
    for w, M, c in zip(page.sparse_minima(V, b, 2, 0.7), V, b, strict=True):
        assert np.allclose(w, page.sparse_minimiser(M, c, 2, 0.7), rtol=1e-9, atol=1e-12)
    n, d = 20_000, 5
    X = RNG.choice([-1.0, 1.0], (n, d))
    y, S = 0.5 * X[:, 1] - 0.3 * X[:, 4] + 0.1 * RNG.choice([-1, 1], n), np.argsort(RNG.random((n, d)), axis=1) < 3
    pair = np.full((d, d), 3 / 10) + np.eye(d) * (3 / 5 - 3 / 10)
    w = page.moment_rule(np.where(S, X, np.nan), y, S, pair, 2, 1.0)
    assert set(np.flatnonzero(w)) == {1, 4} and np.allclose(w[[1, 4]], [0.5, -0.3], atol=0.05)
    V, b = page.bought_moments(X, y, S, np.broadcast_to(pair, (n, d, d)))
    assert np.allclose(page.sparse_minimiser(V, b, 2, 1.0), w) and np.allclose(V, V.T)


def test_chosen_favourites_cost_more_than_fixed_ones():
    "The one example, its largest feature as the favourite: more than B (B + 2) times the error, less than 2 B (1 + B)."
    x = np.full((50, 100), -1.0)
    x[RNG.random((50, 100)) < 0.1] = 0.01
    V, b, excess, error = 0.9 + 0.1 * 0.01**2, 0.1 * 0.01 - 0.9, [], []
    for row in x:
        A, c = page.bought_moments(row[None], [1.0], np.ones((1, 100), bool), np.ones((100, 100)))
        j = c.argmax()
        w = page.sparse_minimiser([[A[j, j]]], [c[j]], 1, 1.0)[0]
        excess.append(V * w * w - 2 * b * w + b * b / V)
        error.append(max(np.abs(np.diag(A) - V).max(), np.abs(c - b).max(), np.abs(A - b * b)[~np.eye(100, dtype=bool)].max()))
    assert 3 * np.mean(error) < np.mean(excess) < 4 * np.mean(error)


test_refused = refusals([
    (lambda: page.bought_moments([[1.0]], [1], [[1]], [[1]]), "bought = "),
    (lambda: page.bought_moments([[np.nan]], [1], [[True]], [[1]]), r"X\[0, 0\] = nan"),
    (lambda: page.bought_moments([[1.0]], [1], [[True]], [[0]]), "pair = 0.0: it must be positive for what was bought"),
    (lambda: page.bought_moments([[1.0]], [1], [[True]], [[1.5]]), "pair = 1.5: it must be chances, from 0 to 1"),
    (lambda: page.bought_moments([[1.0, 1]], [1], [[True, True]], [[1, 0.5], [0.2, 1]]), "pair must be symmetric"),
    (lambda: page.bought_moments([[1.0, 1]], [1], [[True, True]], [[0.1, 0.9], [0.9, 0.1]]), "pair = 0.9: it must be at most"),
    (lambda: page.bought_moments([[1.0]], [1], [[True]], [[1e-320]]), "pair = 1e-320: it must be 0, or at least 1e-100"),
    (lambda: page.bought_moments([[1.0]], [1], [[True]], [[[1]], [[1]]]), "shape of pair"),
    (lambda: page.sparse_minimiser([[1, 2], [0, 1]], [1, 1], 1, 1), "V must be symmetric"),
    (lambda: page.sparse_minimiser(np.eye(40), np.ones(40), 9, 1), "k = 9: it must be smaller"),
    (lambda: page.bound_forward_selection(1, 1, 2, 1), "most = 1.0: it must be at least 2"),
    (lambda: page.substitution([0.5, 0.6], [0, 0], 1), "p = .*weights of sum 1"),
    (lambda: page.substitution([1.0], [2.0], 1), "z = 2.0: it must be of magnitude at most Y = 1"),
    (lambda: page.aggregate([[1.0]], [2.0], 1.0), "y = 2.0: it must be of magnitude at most Y = 1"),
    (lambda: page.aggregate(np.zeros((2, 0)), [1, 1]), "number of experts = 0"),
    (lambda: page.random_gain(np.ones((2, 2)), [1, 1], [0], 1), "smallest eigenvalue of V"),
    (lambda: page.random_gain(np.eye(3), np.ones(3), [0], 3), "r = 3: it must be an integer from 0 to 2"),
    (lambda: page.random_gain(np.eye(60), np.ones(60), [0], 20), "r = 20: it must be smaller"),
])


def test_experts_and_gains():
    "Clipping, a single expert, the same answer in another unit, both rules against a formula for two experts; a gain of nothing."
    assert page.random_gain(np.eye(3), [1, 2, 2], [], 0) == page.bound_random_gain(np.eye(3), [1, 2, 2], [], 0) == 0
    y = np.array([1.0, -1.0, 1.0, 1.0])
    assert np.allclose(page.aggregate(np.full((4, 1), 5.0), y, 1.0), 1) and np.allclose(page.aggregate(np.full((4, 1), 0.3), y, 1.0), 0.3)
    P, z = RNG.standard_normal((30, 4)), RNG.standard_normal(30)
    for rule, unit in itertools.product(("vovk", "mean"), (1e-6, 1e6)):
        assert np.allclose(page.aggregate(P * unit, z * unit, rule=rule), unit * page.aggregate(P, z, rule=rule), rtol=1e-9)
    assert page.aggregate(P, z)[0] == 0 and (np.abs(page.aggregate(P, z)[1:]) <= np.maximum.accumulate(np.abs(z))[:-1] * (1 + 1e-12)).all()
    low, high = (-2 * math.log((math.exp(-((0.5 - s) ** 2) / 2) + math.exp(-((-0.2 - s) ** 2) / 2)) / 2) for s in (-1, 1))
    assert page.substitution([0.5, 0.5], [1.0, -0.4], 2.0) == pytest.approx(2 * (low - high) / 4)
    assert page.substitution([0.25, 0.75], [1.0, -0.4], 2.0, "mean") == pytest.approx(-0.05)
    assert len(page.aggregate(np.zeros((0, 2)), [])) == 0


def test_drawn_counts_are_those_of_played_rounds():
    "Mean and covariance of the drawn sums against rounds that are played one by one."
    kinds = page_ledger.sign_rounds((0.3, 0.2, 0.0), 0.4, ((0, 1), (0, 2), (1, 2)))
    assert kinds.p.sum() == pytest.approx(1)
    assert np.allclose(kinds.p @ kinds.adds[:, :9], kinds.V.ravel()) and np.allclose(kinds.p @ kinds.adds[:, 9:], kinds.b)
    n, rng = 50, np.random.default_rng(2)
    V, b = next(page_ledger.drawn_moments(kinds, np.array([n]), 4000, rng))
    x, found = np.array(list(itertools.product((1.0, -1.0), repeat=3))), []
    for _ in range(400):
        X = x[rng.choice(8, n, p=(1 + 0.4 * x[:, 0] * x[:, 1]) / 8)]
        y, S = np.where(rng.random(n) < (1 + X @ [0.3, 0.2, 0]) / 2, 1.0, -1.0), np.ones((n, 3), bool)
        S[np.arange(n), rng.integers(3, size=n)] = False
        A, c = page.bought_moments(X, y, S, np.full((3, 3), 1 / 3) + np.eye(3) / 3)
        found.append([A[0, 1], A[1, 1], c[0]])
    drawn = np.c_[V[:, 0, 1], V[:, 1, 1], b[:, 0]]
    assert np.allclose(np.mean(found, axis=0), drawn.mean(axis=0), atol=0.04)
    assert np.allclose(np.cov(np.transpose(found)), np.cov(drawn.T), atol=0.02)
