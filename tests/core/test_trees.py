"""Sum trees and lazy vectors: the small functions by hand. What they do together is checked on their page."""

import numpy as np
import pytest

from oslr_nb.core import trees


def test_sizes():
    assert trees.sums_tree(8).size == 9 and trees.sums_tree(9).size == 73 and trees.sums_first(trees.sums_tree(384)) == 73
    assert [trees.lazy_ball(d).nodes.shape[0] for d in (1, 8, 9, 64, 65, 784)] == [0, 0, 1, 1, 9, 73]
    for d in (1, 8, 9, 784): assert 8 * trees.lazy_ball(d).key.shape[0] - d in range(8) and type(trees.lazy_ball(d)) is trees.LazyBall
    with pytest.raises(ValueError, match="d = 0"): trees.lazy_ball(0)


def test_a_block_and_a_node():
    key = np.array([[0, -2.0, 5, 0, 0, 0, 0, -1]])
    assert trees.lazy_leaves(key, 0) == (8, 3, 1) and trees.lazy_leaves(0 * key, 0) == (0, 0, np.inf)
    nodes = np.array([[np.arange(8), np.ones(8), [9.0, 8, 7, 3, np.inf, 4, 5, 6]]])
    assert trees.lazy_join(nodes, 0) == (28, 8, 3)


def test_a_life_by_hand():
    "Read, add up, write, rebase, scale: weights and their running sum after each step."
    state = trees.lazy_ball(3)
    num = state.num.view(trees.LAZY_SCALARS)[0]
    num["scale"], num["threshold"], num["keys"], num["active"], num["least"] = 0.5, 1.0, 10.0, 2.0, 3.0
    assert [trees.lazy_value(num, v) for v in (3.0, 0.0, -7.0)] == [1, 0, -3]
    state.key[0, :3] = 3.0, 0.0, -7.0
    assert trees.lazy_weights(state).tolist() == [1, 0, -3] and trees.lazy_norm(state) == 4 and trees.lazy_weight(state, 2) == -3
    trees.lazy_tally(state)
    assert num["running_a"] == num["running_at"] == 0.5 and trees.lazy_past(num, -7.0) == -3  # w_3 = -3, once
    for _ in range(2): trees.lazy_tally(state)
    assert trees.lazy_sums(state).tolist() == [3, 0, -9]
    for i, w in ((0, 0.0), (1, 5.0), (2, -0.25)):
        trees.lazy_put(state, i, w)
        assert trees.lazy_weight(state, i) == w and trees.lazy_sums(state).tolist() == [3, 0, -9]
    assert state.key[0, 0] == 0
    for i, j in ((0, 1), (1, 2), (2, -1)): trees.lazy_climb(state, i, j)
    trees.lazy_rebase(state, 2.0)
    assert trees.lazy_weights(state).tolist() == [0, 10, -0.5] and trees.lazy_sums(state).tolist() == [3, 0, -9]
    assert state.num[:5].tolist() == [1, 0, 0, 0, 0] and state.total.tolist() == [3, 0, -9]
    for c in (0.5, 1e-3, 4.0, 20.0, 1e5, 1.0, 0.0):
        want = c * trees.lazy_weights(state)
        trees.lazy_scale(state, c)
        assert 1 / 64 <= num["scale"] <= 64
        assert np.allclose(trees.lazy_weights(state), want, rtol=1e-15, atol=0) and trees.lazy_sums(state).tolist() == [3, 0, -9]
    assert trees.lazy_norm(state) == 0 and not state.key.any()
