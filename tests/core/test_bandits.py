"""Tsallis-INF: the ends of its range, its law, its seed and its rates."""

import math

import numpy as np
import pytest

from oslr_nb.core.base.compiled import generator_words
from oslr_nb.core.mathematics import bandits as b


def test_weights_at_the_ends_and_the_seed_and_the_rates_count():
    for K in (1, 2, 1000):
        p = np.empty(K)
        assert math.isclose(b.tsallis_weights(np.full(K, 7.0), 0.3, p), 2 * math.sqrt(K)) and np.allclose(p, 1 / K, rtol=1e-13)
    for size in (1e-300, 1e-9, 1.0, 1e9, 1e100):
        p = np.empty(3)
        b.tsallis_weights(np.array([0.0, size, 2 * size]), 0.5, p)
        assert p[0] >= p[1] >= p[2] > 0 and math.isclose(p.sum(), 1, rel_tol=1e-13)
    with pytest.raises(ValueError, match="K = 1"): b.tsallis_inf(np.ones((3, 1)), 0, [1, 1, 1])
    losses = np.random.default_rng(0).random((40, 3))
    one = b.tsallis_inf(losses, 1)
    assert (one[0] == b.tsallis_inf(losses, 1)[0]).all() and (one[0] != b.tsallis_inf(losses, 2)[0]).any()
    assert (one[1] == b.tsallis_inf(losses, 1, [b.tsallis_rate(t, 3) for t in range(1, 41)])[1]).all()


def test_draws_have_their_law():
    p, words = np.array([0.5, 0.0, 0.3, 0.2]), generator_words(np.random.default_rng(0))
    counts = np.bincount([b.tsallis_draw(words, p) for _ in range(4000)], minlength=4)
    assert counts[1] == 0 and abs(counts / 4000 - p).max() < 0.04
