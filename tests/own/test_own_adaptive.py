"""Steps that adapt: what the bounds take and refuse, what the learners keep, and what a step may be."""

import math

import numpy as np
import pytest

import oslr_nb as oslr
from oslr_nb import own
from oslr_nb.papers import ito2017
from oslr_nb.papers.ito2017.algorithm1 import NOTHING, SCALARS

STREAM = np.random.default_rng(0).choice([-1.0, 1.0], (400, 8)) / math.sqrt(8)
LABELS = STREAM @ np.r_[0.6, np.zeros(5), 0.4, -0.5]


def test_values_at_the_ends():
    assert own.moment_ratios(9, 9, 3) == (4, 0) and own.moment_ratios(4, 4, 2) == (4, 0)
    common = {"k": 2, "d": 9, "budget": 6, "top": 3, "T": 1000, "sigma_min": 0.2, "sigma_max": 0.4, "x_norm": 2.0, "radius": 3.0}
    assert own.bound_adaptive_noise(**common | {"T": 10}, noise=0) == own.bound_adaptive_noise(**common | {"T": 10**9}, noise=0)
    with pytest.raises(ValueError, match=r"sigma_max = 2.1: .*at most x_norm"):
        own.bound_adaptive_noise(**common | {"sigma_max": 2.1}, noise=0)


def test_tiny_streams():
    "Labels whose squares underflow: weights 0; a little larger: the run of labels of any size."
    X, y, lr = STREAM, LABELS * 2.0**-500, ito2017.RDA1(8, 5, k=2, step="adaptive", seed=1)
    assert (oslr.simulate(lr, X, y).predictions == 0).all() and 0 <= lr.num.view(SCALARS)[0]["squares"] < NOTHING and (lr.coef_ == 0).all()
    run = [oslr.simulate(ito2017.RDA1(8, 5, k=2, step="adaptive", radius=c, seed=1), X, c * LABELS).predictions for c in (1.0, 2.0**-90)]
    assert (run[1] == 2.0**-90 * run[0]).all() and run[0].any()
