"""Ito et al. 2017: what the learners take and refuse, their default schedules, and the edges of the bounds."""

import math

import numpy as np
import pytest

from oslr_nb.papers import ito2017
from oslr_nb.papers.ito2017.algorithms23 import freedman, l1_scale

REFUSED = [
    ("RDA1", {"d": 1, "budget": 1}, r"d = 1: .*two features besides"),
    ("RDA1", {"top": 3}, r"top = 3: it must be an integer from 0 to 2 .*Observation 1"),
    ("RDA1", {"k": 11}, r"k = 11: it must be an integer from 1 to 10"),
    ("UniformRDA", {"budget": 1}, r"budget = 1: .*no unbiased gradient"),
    ("RDA2", {"budget": 1}, r"budget = 1: .*Theorems 6 and 7"),
    ("RDA2", {"top": 3}, r"top = 3: .*Observation 1"),
    ("RDA2", {"explorer_step": 0}, r"explorer_step = 0: .*lambda_t must be positive"),
    ("RDA3", {"phi": 2.1}, r"phi = 2.1: .*condition \(b\)"),
    ("RDA3", {"k": 5}, r"k = 5: .*k <= k'"),
    ("RDA3", {"l1": float("nan")}, r"l1 = nan"),
    ("RDA3", {"l1": -1}, r"l1 = -1"),
]


@pytest.mark.parametrize(("name", "arguments", "words"), REFUSED, ids=lambda v: str(v)[:30])
def test_refused(name, arguments, words):
    with pytest.raises(ValueError, match=words):
        getattr(ito2017, name)(**{"d": 10, "budget": 4} | arguments)


def test_defaults_of_algorithm_1():
    assert ito2017.RDA1(10, 4).top == 2 and ito2017.RDA1(10, 6, k=3).top == 3
    assert math.isclose(ito2017.RDA1(10, 4, top=2).rate, 8 * math.sqrt(45))
    assert math.isclose(ito2017.GreedyRDA(10, 4).rate, 8) and math.isclose(ito2017.UniformRDA(10, 4).rate, 8 * math.sqrt(7.5))
    with pytest.warns(UserWarning, match="Theorem 2"):
        assert ito2017.RDA1(10, 4, k=3).top == 2


def test_defaults_of_algorithms_2_and_3():
    assert math.isclose(ito2017.RDA2(10, 4, step=2, explorer_step=4).rate, 4)
    assert math.isclose(ito2017.RDA2(10, 4, explorer_step=2).explorer_rate, 4 * math.sqrt(7.5))
    assert math.isclose(ito2017.RDA3(10, 4).l1, math.sqrt(0.1 * 6 / (4 * math.sqrt(4 * 3 / 90))))
    assert ito2017.RDA3(10, 4, l1=0).l1 == 0 and (ito2017.RDA2(10, 4).coef_ == 0).all()
    assert math.isclose(l1_scale(4, 0.5, 0.25), 0.5 * math.sqrt(6 / (4 * 0.5)))


def test_nothing_is_missed_when_everything_is_seen():
    assert not ito2017.miss_bound_2(0.9, 9, 2, 2, 1, 1).any() and not ito2017.miss_bound_3(0.9, 9, 2, 2, 1, 1).any()
    w = np.r_[1.0, 0.0]
    assert ito2017.bound_6_uniform(w, 100, 2, 2, 0.5, 0.5) == ito2017.bound_7_uniform(w, 100, 2, 2, 0.5, 0.5) == 60


def test_a_chance_is_at_most_one():
    assert np.allclose(freedman(np.array([-1.0, 0, 2]), np.ones(3), 1.5), [1, 1, math.exp(-1)])
    p = ito2017.miss_bound_2(0.9, 80_000, 3, 2, 1, 3**-0.5)
    assert p[0] == 1 and (np.diff(p[p < 1]) <= 0).all() and p[-1] < 1e-3


def test_help_is_all_that_a_user_needs():
    "Every learner tells its parameters, what it raises, what it assumes and where it comes from."
    for name in ("RDA1", "RDA2", "RDA3", "GreedyRDA", "UniformRDA"):
        cls = getattr(ito2017, name)
        words = cls.__init__.__code__.co_varnames[1 : cls.__init__.__code__.co_argcount]
        assert all(f"    {word} : " in cls.__doc__ or f"{word}, " in cls.__doc__ or f", {word}" in cls.__doc__ for word in words), name
        for part in ("Parameters\n", "Attributes\n", "Raises\n", "Notes\n", "See Also\n", "Source: Ito et al. 2017"):
            assert part in cls.__doc__, (name, part)


def test_observe_shows_the_favourites_and_as_many_others_as_the_budget_allows():
    w, seen = np.array([0.0, 3.0, -4.0, 1.0, 0.5, 0.0]), set()
    for seed in range(60):
        S = ito2017.observe(w, 4, 2, np.random.default_rng(seed))
        assert len(S) == len(set(S.tolist())) == 4 and S[:2].tolist() in ([1, 2], [2, 1])
        seen |= set(S[2:].tolist())
    assert seen == {0, 3, 4, 5}
