"""Ito et al. 2017: what the learners take and refuse, their default schedules, and the edges of the bounds."""

import inspect
import math

import numpy as np
import pytest

import oslr_nb as oslr
from oslr_nb.papers import ito2017
from oslr_nb.papers.ito2017.algorithms23 import SCALARS, freedman, l1_scale

REFUSED = [
    ("RDA1", {"d": 1, "budget": 1}, r"d = 1: .*two features are seen besides"),
    ("RDA1", {}, r"k = None: it must be given, or else top, .*k <= top <= budget - 2"),
    ("RDA1", {"top": 3}, r"top = 3: it must be an integer from 0 to 2 .*Observation 1"),
    ("RDA1", {"k": 11}, r"k = 11: it must be an integer from 1 to 10"),
    ("UniformRDA", {"budget": 1}, r"budget = 1: .*no unbiased gradient"),
    ("RDA2", {"budget": 1}, r"budget = 1: .*one feature a round shows no pair"),
    ("RDA2", {"top": 3}, r"top = 3: .*Observation 1"),
    ("RDA2", {"explorer_step": 0}, r"explorer_step = 0: .*lambda_t must be positive"),
    ("RDA3", {"phi": 2.1}, r"phi = 2.1: .*condition \(b\)"),
    ("RDA3", {"k": 5}, r"k = 5: .*k <= budget"),
    ("RDA3", {"l1": float("nan")}, r"l1 = nan"),
    ("RDA3", {"l1": -1}, r"l1 = -1"),
    ("RDA2", {"x_norm": 1e60, "radius": 1e60}, r"x_norm \(x_norm radius \+ y_max\) = .*squares must be finite"),
]


@pytest.mark.parametrize(("name", "arguments", "words"), REFUSED, ids=lambda v: str(v)[:30])
def test_refused(name, arguments, words):
    with pytest.raises(ValueError, match=words):
        getattr(ito2017, name)(**{"d": 10, "budget": 4} | arguments)


def test_defaults_of_algorithm_1():
    assert ito2017.RDA1(10, 6, k=3).top == 3 and ito2017.RDA1(10, 6, k=3, top=4).top == 4
    assert math.isclose(ito2017.RDA1(10, 4, top=2).rate, 8 * math.sqrt(45))
    assert math.isclose(ito2017.GreedyRDA(10, 4).rate, 8) and math.isclose(ito2017.UniformRDA(10, 4).rate, 8 * math.sqrt(7.5))
    with pytest.warns(UserWarning, match="Theorem 2"):
        assert ito2017.RDA1(10, 4, k=3).top == 2


def test_defaults_of_algorithms_2_and_3():
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
        words = list(inspect.signature(cls).parameters)
        assert all(f"\n{word} : " in cls.__doc__ for word in words), name
        for part in ("Parameters\n", "Raises\n", "Notes\n", "See Also\n", "Source: Ito et al. 2017"):
            assert part in cls.__doc__, (name, part)


STREAM = np.random.default_rng(0).choice([-1.0, 1.0], (600, 8)) / math.sqrt(8)
LABELS = STREAM @ np.r_[0.6, np.zeros(5), 0.4, -0.5]
MAKE = {
    "RDA1": lambda: ito2017.RDA1(8, 5, k=2, step=30, seed=1), "RDA2": lambda: ito2017.RDA2(8, 4, top=1, step=30, explorer_step=30, seed=1),
    "RDA3": lambda: ito2017.RDA3(8, 4, k=3, step=30, explorer_step=30, l1=0.01, seed=1),
    "GreedyRDA": lambda: ito2017.GreedyRDA(8, 3, step=30), "UniformRDA": lambda: ito2017.UniformRDA(8, 4, step=30, seed=1),
    "RDA1, adaptive": lambda: ito2017.RDA1(8, 5, k=2, step="adaptive", seed=1),
    "RDA2, adaptive": lambda: ito2017.RDA2(8, 4, top=1, step="adaptive", seed=1),
    "RDA3, adaptive": lambda: ito2017.RDA3(8, 4, k=3, step="adaptive", l1=0.01, seed=1),
}  # fmt: skip


@pytest.mark.parametrize("name", ["RDA2", "RDA3", "RDA2, adaptive", "RDA3, adaptive"])
@pytest.mark.parametrize("calls", [1, 2])
def test_a_skipped_exploration_is_made_up_for(name, calls):
    "Every second round is skipped, exploring ones too: what is left is a run without them."
    lr, twin = MAKE[name](), MAKE[name]()
    for x, y in zip(STREAM[:200], LABELS, strict=False):
        S = lr.query()
        if calls == 2: lr.predict(x[S])
        lr.skip()
        twin.rng.bit_generator.state = lr.rng.bit_generator.state
        assert (lr.query() == twin.query()).all()
        assert lr.predict(x[lr.S]) == twin.predict(x[lr.S])
        for one in (lr, twin): one.update(y)
    assert lr.num.view(SCALARS)[0]["explored"] == 14
    assert all((getattr(lr, a) == getattr(twin, a)).all() for a in lr.arrays if a not in ("mark", "values"))


W, BAD = np.r_[0.6, 0.5, 0.0, 0.0, 0.0], (None, "1", math.nan, math.inf, -1, 0, 10**400, 1e300, 1e-300, [1], np.ones((2, 2)), True, 2.5, 1j)
TABLE = oslr.problems.linear_table(oslr.problems.signs(4) / 2, np.r_[0, 0, 0, 0.8], 0.2)
PUBLIC = {
    "bound_theorem_2": {"d": 9, "budget": 6, "top": 3, "T": 1000, "sigma_min": 0.2},
    "bound_theorem_2_schedule": {"lam": np.sqrt(np.arange(1, 9)), "d": 9, "budget": 6, "top": 3, "sigma_min": 0.2},
    "bound_sharpened": {"k": 2, "d": 9, "budget": 6, "top": 3, "T": 1000, "sigma_min": 0.2, "sigma_max": 0.4, "x_norm": 2, "y_max": 1,
                        "radius": 3},
    "bound_sharpened_schedule": {"lam": np.sqrt(np.arange(1, 9)), "k": 2, "d": 9, "budget": 6, "top": 3, "sigma_min": 0.2, "sigma_max": 0.4,
                                 "x_norm": 2, "y_max": 1, "radius": 3},
    "sharpened_step": {"d": 9, "budget": 6, "top": 3, "x_norm": 1, "y_max": 1, "radius": 1},
    "miss_bound_2": {"weight": 0.5, "n": 50, "d": 5, "budget": 4, "k": 2, "sigma_min": 0.3, "top": 1},
    "miss_bound_3": {"weight": 0.5, "n": 50, "d": 5, "budget": 4, "k": 2, "phi": 0.3, "top": 1, "l1": 1.0},
    "bound_6_sharpened": {"w": W, "T": 1000, "d": 5, "budget": 4, "sigma_min": 0.2, "sigma_max": 0.4, "top": 0},
    "bound_6_uniform": {"w": W, "T": 1000, "d": 5, "budget": 4, "sigma_min": 0.2, "sigma_max": 0.4},
    "bound_theorem_6": {"w": W, "T": 1000, "d": 5, "budget": 4, "sigma_min": 0.2},
    "bound_theorem_7": {"w": W, "T": 1000, "d": 5, "budget": 4, "phi": 0.3},
    "bound_7_uniform": {"w": W, "T": 1000, "d": 5, "budget": 4, "phi": 0.3, "sigma_max": 0.4},
    "asymptotic_constants": {"table": TABLE, "budget": 3, "rate": 5.0},
    "observe": {"w": W, "budget": 3, "top": 1, "rng": 0},
    "algorithm_1": {"X": STREAM[:9], "y": LABELS[:9], "budget": 4, "top": 1, "lam": np.sqrt(np.arange(1, 10)),
                    "choose": lambda t, w: np.arange(4), "radius": 1.0},
    "algorithms_2_3": {"X": STREAM[:9], "y": LABELS[:9], "budget": 4, "sets": [np.arange(4)] * 3, "explorer": lambda s: 9.0,
                       "rate": lambda t: 8.0, "mu": lambda s: 0.1, "top": 1, "radius": 1.0},
}  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", PUBLIC)
def test_public_functions_answer_in_numbers_or_in_a_sentence(name):
    "Each argument in turn is something odd; numpy's scalars are as good as Python's."
    function, good = getattr(ito2017, name), PUBLIC[name]
    value = function(**good)
    for kind in (np.int16, np.float32, np.float64):
        fitting = {a: kind(v) for a, v in good.items() if isinstance(v, int if kind is np.int16 else float)}
        for x, z in zip(np.ravel(np.array(function(**good | fitting), object)), np.ravel(np.array(value, object)), strict=True):
            assert np.allclose(np.array(x, float), np.array(z, float), rtol=1e-5, atol=1e-9)
    for argument in good.keys() - {"choose", "explorer", "rate" if name == "algorithms_2_3" else "", "mu", "sets"}:
        for bad in BAD:
            try: answer = function(**good | {argument: bad})
            except ValueError as e:
                assert "it must be" in str(e) and str(e).endswith(".") and len(str(e)) < 400, (argument, bad)
                continue
            parts = answer if isinstance(answer, tuple) else (answer,)
            assert all(np.isfinite(np.asarray(part, float)).all() for part in parts), (argument, bad, answer)


def test_textbooks_refuse_what_callers_return():
    for name, argument, bad in [
        ("algorithm_1", "choose", lambda t, w: [0, 0, 1, 2]), ("algorithm_1", "choose", lambda t, w: [0]),
        ("algorithm_1", "choose", lambda t, w: None),
        ("algorithms_2_3", "sets", [np.arange(4)]), ("algorithms_2_3", "sets", [None] * 3), ("algorithms_2_3", "mu", lambda s: -1),
        ("algorithms_2_3", "explorer", lambda s: 0), ("algorithms_2_3", "rate", lambda t: math.nan),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match="it must be"): getattr(ito2017, name)(**PUBLIC[name] | {argument: bad})
    X = STREAM[:9].copy()
    X[3, 2] = math.nan
    with pytest.raises(ValueError, match=r"X\[3, S\]\[2\] = nan"): ito2017.algorithm_1(**PUBLIC["algorithm_1"] | {"X": X})


def test_observe_shows_the_favourites_and_as_many_others_as_the_budget_allows():
    w, seen = np.array([0.0, 3.0, -4.0, 1.0, 0.5, 0.0]), set()
    for seed in range(60):
        S = ito2017.observe(w, 4, 2, np.random.default_rng(seed))
        assert len(S) == len(set(S.tolist())) == 4 and S[:2].tolist() in ([1, 2], [2, 1])
        seen |= set(S[2:].tolist())
    assert seen == {0, 3, 4, 5}
