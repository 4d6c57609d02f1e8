"""Dual averaging, gradient descent, VAW and the online Newton step: what rests on several arguments; the ends of their range."""

import numpy as np
from conftest import refusals

from oslr_nb.core.mathematics import oco

ROWS, Y = [[1.0, 1.0], [0.5, 0.0], [0.0, 0.0]], [1, 2, 3]


def zero(j, w): return np.zeros(4)
def late_nan(j, w): return [np.nan if j else 1.0]


test_refused = refusals([
    (oco.dual_averaging, (zero, 4, [1], 1, [-1]), "l1"), (oco.dual_averaging, (zero, 4, [1, 1], 1, [0.1]), "l1"),
    *((f, (zero, 3, [1]), "gradient") for f in (oco.dual_averaging, oco.ogd)),
    *((f, (late_nan, 1, [1, 1]), r"gradient\(1, w\)\[0\]") for f in (oco.dual_averaging, oco.ogd)),
    *((f, (ROWS, Y, *radius, 1e-15), "rounding") for f, *radius in ((oco.vaw,), (oco.forward_ridge,), (oco.ons, 1))),
    (oco.vaw_regret_bound, (ROWS, 1e-15, 1), "rounding"), (oco.ons, (ROWS, Y, 1, 1, 4.4), "largest = 4.4.*at least 4.41421"),
    (oco.ons_regret_bound, (ROWS, Y, ROWS), "largest ..w.."), (oco.project_norm, ([3.0], [[-1.0]]), "eigenvalue"),
])


def test_squared_loss():
    "Zero features, huge and tiny scales, more features than rounds: finite, and in the ball."
    assert oco.vaw(np.zeros((3, 2)), [1, 2, 3]).tolist() == [0, 0, 0]
    for scale in (1e-25, 1.0, 1e25):
        X, y = scale * np.random.default_rng(0).standard_normal((12, 30)), np.linspace(-1e50, 1e50, 12)
        assert np.isfinite(oco.vaw(X, y, scale**2)).all() and np.isfinite(oco.forward_ridge(X, y, scale**2)).all()
        w = oco.ons(X, y, 2.0, scale**2)
        assert np.linalg.norm(w, axis=1).max() <= 2 * (1 + 1e-12) and np.isfinite(oco.ons_regret_bound(X, y, w, 2.0, scale**2)).all()
        assert (np.diff(oco.vaw_regret_bound(X, scale**2, 1.0)) > 0).all()
