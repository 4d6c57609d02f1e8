"""Dual averaging and gradient descent: what they refuse."""

import numpy as np
import pytest

from oslr_nb import oco

NAN = np.nan


def zero(j, w): return np.zeros(4)
def short(j, w): return np.zeros(3)
def late_nan(j, w): return [NAN if j else 1.0]


BAD = {"n": (0, 1), "G": (3, 0), "radius": (3, 1, -1), "step": (3, 1, 1, 0)}


@pytest.mark.parametrize(("f", "args", "words"), [
    *((oco._check_weights, ("lam", bad, order), "lam") for bad, order in
      (([2, 1], 1), ([1, 2], -1), ([0, 1], 0), ([], 0), ([1, NAN], 0), ([[1]], 0))),
    (oco.dual_averaging, (zero, 4, [1, 0]), "lam"),
    (oco.dual_averaging, (zero, 4, [1], 0), "radius"),
    (oco.dual_averaging, (zero, 4, [1], 1, [-1]), "l1"),
    (oco.dual_averaging, (zero, 4, [1, 1], 1, [0.1]), "l1"),
    (oco.dual_averaging, (zero, 0, [1]), "d = 0"),
    (oco.ogd, (zero, 4, [1, 0]), "eta"),
    (oco.ogd, (zero, 4, [1], 0), "radius"),
    *((f, (short, 4, [1]), "gradient") for f in (oco.dual_averaging, oco.ogd)),
    *((f, (late_nan, 1, [1, 1]), r"gradient\(1, w\)\[0\]") for f in (oco.dual_averaging, oco.ogd)),
    (oco.rda_regret_bound, (np.ones((2, 2)), [2, 1], [1.0, 0.0]), "lam"),
    (oco.ogd_regret_bound, (np.ones((2, 1)), [1, 2]), "eta"),
    *((f, call, name) for f in (oco.rda_schedule, oco.bound_rda, oco.ogd_schedule, oco.bound_ogd) for name, call in BAD.items()),
])
def test_refused(f, args, words):
    with pytest.raises(ValueError, match=words): f(*args)


def test_accepted():
    assert oco._check_weights("lam", [1, 2, 2], 1).tolist() == [1, 2, 2] and oco._check_weights("eta", [2, 1, 1], -1).size == 3
