"""Sum trees and lazy vectors: sizes, and streams of every kind against plain numpy; steps by hand stand on the page."""

import numpy as np
import pytest

from oslr_nb.core.mathematics import trees
from oslr_nb.core.mathematics.geometry import proj_l1


def test_sizes_a_block_and_a_node():
    assert trees.sums_tree(8).size == 9 and trees.sums_tree(9).size == 73 and trees.sums_first(trees.sums_tree(384)) == 73
    assert [trees.lazy_ball(d).nodes.shape[0] for d in (1, 8, 9, 64, 65, 784)] == [0, 0, 1, 1, 9, 73]
    for d in (1, 8, 9, 784): assert 8 * trees.lazy_ball(d).key.shape[0] - d in range(8) and type(trees.lazy_ball(d)) is trees.LazyBall
    with pytest.raises(ValueError, match="d = 0"): trees.lazy_ball(0)
    key = np.array([[0, -2.0, 5, 0, 0, 0, 0, -1]])
    assert trees.lazy_leaves(key, 0) == (8, 3, 1) and trees.lazy_leaves(0 * key, 0) == (0, 0, np.inf)
    nodes = np.array([[np.arange(8), np.ones(8), [9.0, 8, 7, 3, np.inf, 4, 5, 6]]])
    assert trees.lazy_join(nodes, 0) == (28, 8, 3)


KINDS = ("smooth", "ties", "huge", "cancel", "one sign", "half zeros")


def whole(state) -> bool:
    "Whether every node says what its leaves say."
    key, nodes, num = state.key, state.nodes, state.num.view(trees.LAZY_SCALARS)[0]
    level, g = [trees.lazy_leaves(key, b) for b in range(len(key))], len(nodes)
    while g > 0:
        level += [(0.0, 0.0, np.inf)] * (-len(level) % 8)
        g, rows = (g - 1) // 8, [np.array(level[k : k + 8]).T for k in range(0, len(level), 8)]
        if any((nodes[g + k] != row).any() for k, row in enumerate(rows)): return False
        level = [trees.lazy_join(nodes, g + k) for k in range(len(rows))]
    return (num["keys"], num["active"], num["least"]) == level[0]


def changes(kind, d, n, w, rng):
    "Coordinates and changes of a round, for radius 1, when the present weights are w."
    I, change = rng.permutation(d)[:n], rng.standard_normal(n) / 5
    if kind == "ties": change = rng.integers(-2, 3, n) / 8
    if kind == "huge" and rng.random() < 0.2: change *= 10 ** rng.uniform(0, 12)
    if kind == "cancel": change = np.where(rng.random(n) < 0.5, -w[I], change)
    if kind == "one sign": change = np.abs(change)
    if kind == "half zeros": change *= rng.random(n) < 0.5
    return I, change


def error(kind, seed, rounds=120):
    "Largest error of weights, norm and running sum, relative to the radius (and the number of rounds)."
    rng = np.random.default_rng(seed)
    d, R = int(rng.choice([1, 2, 7, 8, 9, 20, 65, 600])), float(rng.choice([1e-3, 0.3, 1.0, 8.0, 1e5]))
    n, state, total, worst = min(d, int(rng.choice([1, 2, 5, 30]))), trees.lazy_ball(d), np.zeros(d), 0.0
    for t in range(1, rounds + 1):
        c, before = float(rng.choice([1 - 1 / t] * 16 + [0.5, 0.0, 1.3, 1e-200])), trees.lazy_weights(state)
        trees.lazy_scale(state, c)
        w = trees.lazy_weights(state)  # from here on, so that cancellations are exact on both sides
        I, change = changes(kind, d, n, w / R, rng)
        change, worst = np.where(change == -w[I] / R, -w[I], R * change), max(worst, np.abs(w - c * before).max() / R)
        w[I] += change
        w = proj_l1(w, R)
        trees.lazy_step(state, I, change, n, R)
        trees.lazy_tally(state)
        got, total = trees.lazy_weights(state), total + w
        worst = max(worst, np.abs(got - w).max() / R, abs(trees.lazy_norm(state) - np.abs(got).sum()) / R)
        if kind == "cancel": worst = max(worst, float(((got != 0) & (w == 0)).any()))
    assert whole(state)
    return max(worst, np.abs(trees.lazy_sums(state) - total).max() / (R * rounds))


@pytest.mark.parametrize("kind", KINDS)
def test_streams_against_plain_numpy(kind): assert max(error(kind, seed) for seed in range(25)) < 1e-12
