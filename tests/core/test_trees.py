"""Sum trees and lazy vectors: sizes, and streams of every kind against plain numpy; steps by hand stand on the page."""

from functools import partial

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


def check_bounds(state, w, R, u):
    "Proposition TR 3, every active key above T, and a draw in the interval of its coordinate; returns how far it is outside."
    keys, num = np.abs(state.key[state.key != 0]), state.num.view(trees.LAZY_SCALARS)[0]
    assert (keys > num["threshold"]).all() and (w != 0).sum() == keys.size == num["active"] and 1 / 64 <= num["scale"] <= 64
    assert num["scale"] * num["threshold"] * num["active"] <= 16 * R * (1 + 1e-12) and num["scale"] * num["keys"] <= 17 * R * (1 + 1e-12)
    if not w.any(): return 0.0
    size, i = np.abs(w), trees.lazy_find(state, u)
    left = size[:i].sum()
    return max(left - u * size.sum(), u * size.sum() - left - size[i]) / R


def error(kind, seed, rounds=120, step=trees.lazy_step):
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
        step(state, I, change, n, R)
        trees.lazy_tally(state)
        got, total = trees.lazy_weights(state), total + w
        if step is trees.lazy_step: worst = max(worst, check_bounds(state, got, R, t / (rounds + 1)))
        worst = max(worst, np.abs(got - w).max() / R, abs(trees.lazy_norm(state) - np.abs(got).sum()) / R)
        if kind == "cancel": worst = max(worst, float(((got != 0) & (w == 0)).any()))
    assert whole(state)
    return max(worst, np.abs(trees.lazy_sums(state) - total).max() / (R * rounds))


@pytest.mark.parametrize("kind", KINDS)
def test_streams_against_plain_numpy(kind): assert max(error(kind, seed) for seed in range(25)) < 1e-12


def stale(state, I, change, n, R):
    "A step that leaves a weight where it cancels to zero."
    kept = np.array([trees.lazy_weight(state, i) + x != 0 for i, x in zip(I, change, strict=True)])
    trees.lazy_step(state, I[kept], change[kept], int(kept.sum()), R)


def at_once(state, I, change, n, R, rebase=True):
    "A step without raises in stages, and perhaps without the rule for rebasing before large changes."
    if rebase and np.abs(change).max() > 16 * R: trees.lazy_rebase(state, 1.0)
    for i, x in zip(I, change, strict=True):
        trees.lazy_put(state, i, trees.lazy_weight(state, i) + x)
        trees.lazy_climb(state, i, -1)
    if trees.lazy_norm(state) > R: trees.lazy_raise(state, R / state.num.view(trees.LAZY_SCALARS)[0]["scale"], 1.0)


def test_broken_steps_are_seen():
    "The scale has a limit, and the rules for rebasing keep the digits."
    assert max(error("cancel", seed, step=stale) for seed in range(5)) > 1e-2
    assert max(error("huge", seed, step=at_once) for seed in range(25)) > 1e-6
    state, total = trees.lazy_ball(2), np.zeros(2)
    for t in range(300):
        state.num.view(trees.LAZY_SCALARS)[0]["scale"] *= 0.9  # instead of lazy_scale
        w = trees.lazy_weights(state)
        trees.lazy_put(state, t % 2, w[t % 2] + 0.1)
        w[t % 2] += 0.1
        trees.lazy_tally(state)
        total += w
    assert np.abs(trees.lazy_sums(state) - total).max() > 1e-3
    assert lost(trees.lazy_step) < 1e-14 < 3e-14 < lost(partial(at_once, rebase=False))


def lost(step, rounds=2000, d=8):
    "Largest error of a weight for c = 1 and radius 1."
    rng, w, state, worst = np.random.default_rng(4), np.zeros(d), trees.lazy_ball(d), 0.0
    for _ in range(rounds):
        I, change = rng.permutation(d)[:2], rng.standard_normal(2)
        w[I] += change
        w = proj_l1(w, 1.0)
        step(state, I, change, 2, 1.0)
        worst = max(worst, np.abs(trees.lazy_weights(state) - w).max())
    return worst
