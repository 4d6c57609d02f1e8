"""Ito et al. 2017: what the learners take and refuse, their default schedules, and the edges of the bounds."""

import math

import numpy as np
import pytest
from test_fuzz import arguments_of

from oslr_nb.papers import ito2017
from oslr_nb.papers.ito2017.algorithms23 import freedman, l1_scale

REFUSED = [
    ("RDA1", {}, r"k = None: it must be given, or else top, .*k <= top <= budget - 2"),
    ("RDA3", {"phi": 2.1}, r"phi = 2.1: .*condition \(b\)"),
]


@pytest.mark.parametrize(("name", "arguments", "words"), REFUSED, ids=lambda v: str(v)[:30])
def test_refused(name, arguments, words):
    with pytest.raises(ValueError, match=words): getattr(ito2017, name)(**{"d": 10, "budget": 4} | arguments)


def test_defaults():
    assert ito2017.RDA1(10, 6, k=3).top == 3 and ito2017.RDA1(10, 6, k=3, top=4).top == 4
    assert math.isclose(ito2017.RDA1(10, 4, top=2).rate, 8 * math.sqrt(45))
    assert math.isclose(ito2017.GreedyRDA(10, 4).rate, 8) and math.isclose(ito2017.UniformRDA(10, 4).rate, 8 * math.sqrt(7.5))
    with pytest.warns(UserWarning, match="Theorem 2"): assert ito2017.RDA1(10, 4, k=3).top == 2
    assert math.isclose(ito2017.RDA2(10, 4, step=2, explorer_step=4).rate, 4)
    assert math.isclose(ito2017.RDA2(10, 4, explorer_step=2).explorer_rate, 4 * math.sqrt(7.5))
    assert math.isclose(ito2017.RDA3(10, 4).l1, math.sqrt(0.1 * 6 / (4 * math.sqrt(4 * 3 / 90))))
    both = ito2017.RDA2(10, 4, step="adaptive", radius=4)
    assert both.rate == both.explorer_rate == 0.25 and both.params["explorer_step"] == "adaptive"
    one = ito2017.RDA2(10, 4, step="adaptive", explorer_step=2, radius=4)
    assert one.adapts == (True, False) and one.explorer_rate == ito2017.RDA2(10, 4, explorer_step=2, radius=4).explorer_rate
    assert ito2017.RDA2(10, 4, explorer_step="adaptive").adapts == (False, True)
    assert ito2017.RDA3(10, 4, l1=0).l1 == 0 and (ito2017.RDA2(10, 4).coef_ == 0).all()
    assert math.isclose(l1_scale(4, 0.5, 0.25), 0.5 * math.sqrt(6 / (4 * 0.5)))


def test_chances_of_misses():
    "Nothing is missed when everything is seen, and no chance is above one."
    assert not ito2017.miss_bound_2(0.9, 9, 2, 2, 1, 1).any() and not ito2017.miss_bound_3(0.9, 9, 2, 2, 1, 1).any()
    w = np.r_[1.0, 0.0]
    assert ito2017.bound_6_uniform(w, 100, 2, 2, 0.5, 0.5) == ito2017.bound_7_uniform(w, 100, 2, 2, 0.5, 0.5) == 60
    assert np.allclose(freedman(np.array([-1.0, 0, 2]), np.ones(3), 1.5), [1, 1, math.exp(-1)])
    p = ito2017.miss_bound_2(0.9, 80_000, 3, 2, 1, 3**-0.5)
    assert p[0] == 1 and (np.diff(p[p < 1]) <= 0).all() and p[-1] < 1e-3


def test_what_textbooks_are_given():
    "They refuse what callers return; observe shows the favourites and as many others as the budget allows."
    one, two = ito2017.algorithm_1, ito2017.algorithms_2_3
    for function, argument, bad in [
        (one, "choose", lambda t, w: [0, 0, 1, 2]), (one, "choose", lambda t, w: [0]), (one, "choose", lambda t, w: None),
        (two, "sets", [np.arange(4)]), (two, "sets", [None] * 3), (two, "mu", lambda s: -1), (two, "explorer", lambda s: 0),
        (two, "rate", lambda t: math.nan),
    ]:
        with pytest.raises(ValueError, match="it must be"): function(**arguments_of(function) | {argument: bad})
    X = np.array(arguments_of(one)["X"])
    X[3, 2] = math.nan
    with pytest.raises(ValueError, match=r"X\[3, S\]\[2\] = nan"): one(**arguments_of(one) | {"X": X})
    w, seen = np.array([0.0, 3.0, -4.0, 1.0, 0.5, 0.0]), set()
    for seed in range(60):
        S = ito2017.observe(w, 4, 2, np.random.default_rng(seed))
        assert len(S) == len(set(S.tolist())) == 4 and S[:2].tolist() in ([1, 2], [2, 1])
        seen |= set(S[2:].tolist())
    assert seen == {0, 3, 4, 5}
