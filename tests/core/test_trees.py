"""Sum trees and lazy vectors: the small functions by hand. What they do together is checked on their page."""

import numpy as np
import pytest

from oslr_nb.core.trees import (
    LAZY_SCALARS,
    LazyBall,
    lazy_ball,
    lazy_climb,
    lazy_join,
    lazy_leaves,
    lazy_norm,
    lazy_past,
    lazy_put,
    lazy_rebase,
    lazy_scale,
    lazy_sums,
    lazy_tally,
    lazy_value,
    lazy_weight,
    lazy_weights,
    sums_first,
    sums_tree,
)


def test_sizes():
    assert sums_tree(8).size == 9 and sums_tree(9).size == 73 and sums_first(sums_tree(384)) == 73
    assert [lazy_ball(d).nodes.shape[0] for d in (1, 8, 9, 64, 65, 784)] == [0, 0, 1, 1, 9, 73]
    for d in (1, 8, 9, 784): assert 8 * lazy_ball(d).key.shape[0] - d in range(8) and type(lazy_ball(d)) is LazyBall
    with pytest.raises(ValueError, match="d = 0"): lazy_ball(0)


def test_a_block_and_a_node():
    key = np.array([[0, -2.0, 5, 0, 0, 0, 0, -1]])
    assert lazy_leaves(key, 0) == (8, 3, 1) and lazy_leaves(0 * key, 0) == (0, 0, np.inf)
    nodes = np.array([[np.arange(8), np.ones(8), [9.0, 8, 7, 3, np.inf, 4, 5, 6]]])
    assert lazy_join(nodes, 0) == (28, 8, 3)


def test_a_life_by_hand():
    "Read, add up, write, rebase, scale: weights and their running sum after each step."
    state = lazy_ball(3)
    num = state.num.view(LAZY_SCALARS)[0]
    num["scale"], num["threshold"], num["keys"], num["active"], num["least"] = 0.5, 1.0, 10.0, 2.0, 3.0
    assert [lazy_value(num, v) for v in (3.0, 0.0, -7.0)] == [1, 0, -3]
    state.key[0, :3] = 3.0, 0.0, -7.0
    assert lazy_weights(state).tolist() == [1, 0, -3] and lazy_norm(state) == 4 and lazy_weight(state, 2) == -3
    lazy_tally(state)
    assert num["running_a"] == num["running_at"] == 0.5 and lazy_past(num, -7.0) == -3  # w_3 = -3, once
    for _ in range(2): lazy_tally(state)
    assert lazy_sums(state).tolist() == [3, 0, -9]
    for i, w in ((0, 0.0), (1, 5.0), (2, -0.25)):
        lazy_put(state, i, w)
        assert lazy_weight(state, i) == w and lazy_sums(state).tolist() == [3, 0, -9]
    assert state.key[0, 0] == 0
    for i, j in ((0, 1), (1, 2), (2, -1)): lazy_climb(state, i, j)
    lazy_rebase(state, 2.0)
    assert lazy_weights(state).tolist() == [0, 10, -0.5] and lazy_sums(state).tolist() == [3, 0, -9]
    assert state.num[:5].tolist() == [1, 0, 0, 0, 0] and state.total.tolist() == [3, 0, -9]
    for c in (0.5, 1e-3, 4.0, 20.0, 1e5, 1.0, 0.0):
        want = c * lazy_weights(state)
        lazy_scale(state, c)
        assert 1 / 64 <= num["scale"] <= 64
        assert np.allclose(lazy_weights(state), want, rtol=1e-15, atol=0) and lazy_sums(state).tolist() == [3, 0, -9]
    assert lazy_norm(state) == 0 and not state.key.any()
