"""FKK: its constants, rates and kernels one by one, and what it refuses."""

import itertools
import math

import numpy as np
import pytest
from test_fuzz import arguments_of

from oslr_nb import simulate
from oslr_nb.papers import foster2016 as f
from oslr_nb.papers.foster2016 import FKK, bound_fkk
from oslr_nb.practice.data import sparse_linear


def test_upper_bounds():
    "They say something where they are measured, and nothing at an absurd rate."
    assert math.isinf(bound_fkk(10, 4, 2, 5000, hedge_step=1e9))
    for shape, share in (((4, 3, 1), 0.28), ((5, 4, 2), 0.51)):
        for rates in f.RATES[1:]: assert share - 0.06 < bound_fkk(*shape, 2**16, rates) / (2**16 / shape[0]) < share


def test_exponentials_and_the_draw_of_a_subset():
    cut = np.array([-708.0, -1e308, -np.inf, 710, np.inf])
    f.exponentials(cut)  # between them the page compares all digits
    assert cut[:3].tolist() == [0, 0, 0] and np.allclose(cut[3:], math.exp(709), 1e-15, 0)
    rng, num, sums = np.random.default_rng(0), np.zeros(4), np.zeros(3)
    logw = rng.normal(size=700) * 3
    W = np.exp(logw)
    for block in range(3): sums[block] = f.block_sum(W, block)
    for u in rng.random(300): assert f.draw_row(u, logw, W, sums, num) == np.searchsorted(np.cumsum(W) / W.sum(), u, side="right")
    row, W[:], sums[:] = f.draw_row(0.3, logw, W, sums, num), 0, 0  # all have underflowed
    assert f.draw_row(0.3, logw - 2000, W, sums, num) == row and W.max() == 1 and np.isclose(sums.sum(), W.sum())


@pytest.mark.parametrize("scale", [1.0, 1e200])
def test_projection(scale):
    w = scale * np.array([[9.0, 9], [3, -4]])
    with np.errstate(over="ignore"): f.shrink(w, 1, (w[1] ** 2).sum(), 10.0)
    assert np.allclose(w[1], [6, -8]) and w[0, 0] == 9 * scale


@pytest.mark.parametrize(("d", "k", "r"), [(64, 2, 5), (65, 2, 2), (66, 2, 40), (70, 1, 3)])
def test_many_features(d, k, r):
    "Words of bits up to 64 features, lists above: predictions, distribution and weights of the textbook."
    rng, drawn, predictions = np.random.default_rng(d), [], []
    X, y = rng.normal(size=(30, d)) / math.sqrt(d), rng.uniform(-1, 1, 30)
    lr = FKK(d, k + r, k=k, T=30, rates="retuned", step=30, x_norm=2, radius=0.5, seed=0)
    for t in range(30):
        S = lr.query()
        drawn.append((int(lr.num.view(f.SCALARS)[0]["chosen"]), np.flatnonzero(lr.mark == t + 1)))
        predictions.append(lr.predict(X[t, S]))
        lr.update(y[t])
    found = f.textbook_fkk(X, y, k, r, lr.eta_hedge, lr.eta_step, lambda t, D: drawn[t], 0.5)
    assert np.allclose(found[0], predictions, atol=1e-12) and np.allclose(found[1], lr.probabilities, atol=1e-12)
    assert np.allclose(np.take_along_axis(found[2], lr.table.astype(np.int64), 1), lr.w, atol=1e-12) and np.ptp(lr.w) > 0.1
    assert np.allclose(lr.W, np.exp(lr.logw - lr.num.view(f.SCALARS)[0]["reference"]), 1e-14) and np.isclose(lr.sums.sum(), lr.W.sum())


def test_chances_that_cannot_be():
    for pair in (np.zeros((4, 4)), np.full((3, 3), 0.5)):
        with pytest.raises(ValueError, match="pair"): f.cost_and_gradient(**arguments_of(f.cost_and_gradient) | {"pair": pair})
    for choice in ((15, [0, 1]), (0, [0, 1, 2]), (0, [0, 9]), 5, (0, [0.5, 1])):
        with pytest.raises(ValueError, match="it must be"):
            f.textbook_fkk(**arguments_of(f.textbook_fkk) | {"choose": lambda t, D, c=choice: c})


def test_absurd_scales_and_rates():
    "With the largest scales allowed no intermediate result overflows."
    s = sparse_linear(6, 2, 300, seed=0)
    X, y = s.X / np.linalg.norm(s.X, axis=1).max(), s.y / np.abs(s.y).max()
    for radius, x_norm, y_max in itertools.product((1 / f.LARGEST_SCALE, f.LARGEST_SCALE), repeat=3):
        scales = {"radius": 2 * radius if radius < 1 else radius, "x_norm": x_norm, "y_max": y_max}
        lr = FKK(6, 4, k=2, T=300, rates="retuned", step=f.LARGEST_STEP, hedge_step=f.LARGEST_STEP, **scales, seed=0)
        run = simulate(lr, x_norm * X, y_max * y)
        assert np.isfinite(run.predictions).all() and np.isfinite(lr.logw).all() and np.isfinite(lr.coef_).all()


@pytest.mark.parametrize(("d", "k"), [(20, 5), (40, 8), (1000, 20), (10**6, 10**5)])
def test_too_many_subsets_are_refused(d, k):
    with pytest.raises(ValueError, match=r"memory = .* subsets are kept"): FKK(d, k + 2, k=k, T=1, memory=15504 * 141 - 1)
    if d == 20: assert len(FKK(d, k + 2, k=k, T=1, memory=15504 * 141).table) == 15504
