"""Hedge and exponentiated gradient: what they refuse."""

import numpy as np
import pytest

from oslr_nb import experts as e

ONE = np.ones((3, 2))


def unit(j, w): return [1.0]


@pytest.mark.parametrize(("f", "args", "words"), [
    *((e.hedge, bad, words) for bad, words in
      ((([[np.nan]], 1), "costs"), (([1.0], 1), "costs"), ((ONE, 0), "eta"), ((np.zeros((0, 2)), 1), "costs"),
       (([[1e300], [0]], 1e60), "sums of costs"))),
    (e.hedge_regret_bound, ([[-800.0, 0]], [[0.5, 0.5]], 1.0), "a = 800"),
    *((e.hedge_rate, bad, words) for bad, words in
      (((0, 8, 1), "T"), ((9, 1, 1), "N"), ((9, 8, 0), "second"), ((9, 8, 1, -1), "low"))),
    *((e.exponentiated_gradient, (unit, *bad), words) for bad, words in
      (((0, 1, 1), "d = 0"), ((1, 0, 1), "eta"), ((1, 1, 0), "n = 0"), ((2, 1, 1), "gradient"))),
    (e.exponentiated_gradient, (lambda j, w: [1e308], 1, 10.0, 3), "sum of gradients"),
    (e.exponentiated_gradient, (lambda j, w: [1.5e308], 1, 1e-9, 3), "sum of gradients"),
])
def test_refused(f, args, words):
    with pytest.raises(ValueError, match=words): f(*args)
