"""Geometry: refusals that no declaration covers, and the small parts that its page does not show."""

import math

import numpy as np
from conftest import refusals

from oslr_nb.core.mathematics import geometry as g
from oslr_nb.core.mathematics.geometry import Interval

test_refused = refusals([
    *((f, args, words) for f in (g.proj_l2, g.proj_simplex, g.proj_l1)
      for args, words in (((np.ones(2), 0.0), "radius"), ((np.array([1.0, np.nan]), 1.0), r"v\[1\]"))),
    (g.proj_simplex, (np.zeros(0), 1.0), "size of v"),
    (g.top_k, (np.ones(3), 4), "k = 4"),
    (g.top_buffer, (3, 4), "top = 4"),
    (Interval, (2.0, 1.0, "example"), "lower"),
    *((g.eigenbasis, (V,), words) for V, words in
      ((np.ones((2, 3)), "shape of V"), ([[1.0, 0.2], [0.0, 1.0]], "symmetric"), ([[1.0, 2.0], [2.0, 1.0]], "eigenvalue of V = -1"))),
    *((f, (np.eye(3), s), f"s = {s}") for f in (g.enumerated_eigenvalues, g.outer_eigenvalues, g.sparse_eigenvalues) for s in (0, 4)),
    (g.restricted_condition, (np.zeros((2, 2)), 1), "zero matrix"),
    (g.cone_descent, (np.eye(2), 1, 2.0, np.zeros(2)), "zero vector"),
    (g.rip_constant, (np.eye(2), 1, "other"), "form"),
])


def test_intervals_and_sizes_of_the_buffer():
    "Also a condition number where an eigenvalue is nearly zero."
    assert Interval(1.0, 4.0, "example").map(math.sqrt) == Interval(1.0, 2.0, "example")
    assert str(Interval(1.0, 4.0, "example")) == "in [1, 4]" and not Interval(0.0, 1e-9, "example").exact
    assert str(Interval(0.5, 0.5, "example")) == "0.5 (exact)" and not Interval(1.0, math.inf, "example").exact
    assert g.check_psd("V", np.zeros((2, 2))).shape == (2, 2)
    interval = g.restricted_condition(np.diag([1, 1e-13]), 1)
    assert interval.upper == math.inf and math.isclose(interval.lower, math.sqrt(1e13))
    buf, state = g.top_buffer(1000, 5)
    assert buf.tolist() == list(range(13)) and buf.dtype == np.int64 and state.tolist() == [0, 12, 0]
    assert [g.top_buffer(*size)[0].size for size in ((20, 5), (1000, 0), (3, 3, 0))] == [20, 0, 3]
    assert g.top_buffer(10**6, 5)[0].size == 37  # a rescan costs more, so it is made rarer
