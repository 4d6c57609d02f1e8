"""Sampling designs: refusals that no declaration covers."""

from fractions import Fraction

import numpy as np
import pytest
from conftest import refusals

from oslr_nb.core.mathematics import designs as D

NO_PAIRS = D.Uniform(3, 1)


test_refused = refusals([
    *((D.draw_subset, (0, 3, *bad), "r = |always") for bad in ((5,), (2, (0, 1)), (1, (1, 1)), (1, (3,)))),
    *((D.normalise, (bad,), "q") for bad in ((1, -1), (0, 0), (), ("1", "2"), (True, False), (1, None), [[1, 2]])),
    *((D.normalise, (bad,), "sum from") for bad in ((1e308, 1e308), (5e-324, 5e-324))), (D.Uniform, (5, 6), "m = 6"),
    (D.Observe, (6, 1, (4, 1)), "budget = 1"), (D.Observe, (6, 4, (4, 4)), "always"), (D.Midzuno, ((1, 1, 1), 4), "m = 4"),
    *((D.Bernoulli, (4, p), f"p = {p}") for p in (0.0, 1.5)), (D.WithReplacement, ((1, 1), 0), "m = 0"),
    *((D.check_pair, (bad,), "pair") for bad in (np.ones((2, 3)), [[1, 0], [0, 1]], [[1, np.nan], [1, 1]])),
    (D.check_pair, (np.diag([Fraction(1, 2)] * 2),), "budget >= top"),
    (D.moment_estimate, (np.ones(3), [0, 1], D.Uniform(4, 2).second()), "x_S"), (D.draw_average, ([0.5], [1], [1.0, 0.0]), r"q\[1\]"),
    (D.gradient_second_moment, (np.ones(3), 1.0, np.ones(3), NO_PAIRS.second(), NO_PAIRS.third()), r"pair\[0, 1\]"),
    (D.bound_observe_moment, (6, 3, 2), "budget"),
])


def test_fractions_stay():
    "And a design without formulas has none."
    with pytest.raises(NotImplementedError): D.Design().first()
    third = [[Fraction(1, 3)]]
    assert type(D.check_pair(third)[0, 0]) is Fraction and D.check_numbers("x", [1, 2], (2,)).dtype.kind == "i"
    assert D.moment_estimate([0.5], [0], [[2]])[0] == 0.25  # integers do not truncate
    assert len(set(D.WithReplacement((1, 1), 50).sample(0))) == 2
