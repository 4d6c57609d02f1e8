"""Stopping rules: what is refused."""

import math

from conftest import refusals, refused

from oslr_nb.own import StoppingRules, bound_stopping

inf, nan = math.inf, math.nan
test_bounds_and_sizes = refusals([
    (lambda: StoppingRules(1, 10), "N = 1"), (lambda: StoppingRules(3, 1), "T = 1"), (lambda: bound_stopping(1, 3), "T = 1"),
    (lambda: StoppingRules(3, 10, seed="x"), "seed"),
])


def test_what_is_refused():
    "Looks and losses that are no numbers, of another length, or of a round in which no rule has stopped; the scores stay."
    lr = StoppingRules(3, 10, seed=0)
    for looks in ([1, 2], ["a", "b", "c"], [1, 2, nan], [inf] * 3, [[1, 2, 3]], None):
        with refused("looks"): lr.learn(looks, [0, 0, 0])
    for losses in ([0, 0], [0, 0, 2], [0, -1, 0], [0, 0, nan], ["a", 0, 0], None):
        with refused("losses"): lr.learn([1, 2, 3], losses)
    assert not lr.scores.any()
    lr.learn([1, 2, inf], [0.5, 1, nan])  # what a rule that went on would have lost is not read
    assert lr.scores[1] > lr.scores[0] > lr.scores[2] == 0
