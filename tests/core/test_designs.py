"""Sampling designs: what they refuse."""

from fractions import Fraction

import numpy as np
import pytest

from oslr_nb.core import designs as D

NAN, HALF = np.nan, Fraction(1, 2)
NO_PAIRS = D.Uniform(3, 1)


@pytest.mark.parametrize(("f", "args", "words"), [
    *((D.draw_subset, (0, *bad), "d = |r = |always") for bad in
      ((6, 5, (0, 1)), (3, 5), (3, -1), (3, 1.5), (0, 0), (3, 1, (1, 1)), (3, 1, (-1,)), (3, 1, (3,)))),
    *((D.check_weights, (bad,), "q") for bad in
      ((1, -1), (0, 0), (), (1, NAN), ("1", "2"), (True, False), (1, None), 5, [[1, 2]])),
    *((f, (bad,), "sum from") for f in (D.check_weights, D.normalise) for bad in ((1e308, 1e308), (5e-324, 5e-324))),
    (D.draw_indices, (0, (0, 0), 2), "sum"),
    (D.Uniform, (5, 6), "m = 6"),
    (D.Observe, (6, 1, (4, 1)), "budget = 1"),
    (D.Observe, (6, 4, (4, 4)), "always"),
    (D.Midzuno, ((1, 1, 1), 4), "m = 4"),
    (D.Bernoulli, (4, 0.0), "p = 0"),
    (D.Bernoulli, (4, 1.5), "p = 1.5"),
    (D.WithReplacement, ((1, 1), 0), "m = 0"),
    *((D.check_pair, (bad,), "pair") for bad in
      ([[1, NAN], [1, 1]], [[1, np.inf], [1, 1]], np.ones((2, 3)), [0.5], [[1, 0], [0, 1]], 1, None)),
    (D.check_pair, (np.array([[HALF, Fraction(0)], [Fraction(0), HALF]]),), "budget >= top"),
    (D.moment_estimate, (np.ones(3), [0, 1], D.Uniform(4, 2).second()), "x_S"),
    (D.moment_estimate, ([NAN], [0], [[0.5]]), "x_S"),
    (D.draw_average, ([0.5], [1], [1.0, 0.0]), r"q\[1\]"),
    (D.gradient_second_moment, (np.ones(3), 1.0, np.ones(3), NO_PAIRS.second(), NO_PAIRS.third()), r"pair\[0, 1\]"),
    *((D.bound_second_moment, (bad,), "q = ") for bad in (0, Fraction(0), -0.5, NAN)),
    *((D.pair_bound, bad, "d = |budget = |top = ") for bad in ((1, 1, 0), (5, 6, 0), (5, 2, 3))),
    (D.bound_observe_moment, (6, 3, 2), "budget"),
])
def test_refused(f, args, words):
    with pytest.raises(ValueError, match=words): f(*args)


def test_a_design_without_formulas():
    with pytest.raises(NotImplementedError): D.Design().first()


def test_fractions_stay():
    third = [[Fraction(1, 3)]]
    assert type(D.check_pair(third)[0, 0]) is Fraction and D.check_numbers("x", [1, 2], (2,)).dtype.kind == "i"
    assert D.moment_estimate([0.5], [0], [[2]])[0] == 0.25  # integers do not truncate
    assert len(set(D.WithReplacement((1, 1), 50).sample(0))) == 2
