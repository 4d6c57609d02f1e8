"""Nonsense in every public argument: an answer in finite numbers, or one sentence; never a crash, never silence.

About 6,000 inputs; OSLR_FUZZ=100000 asks for as many.
"""

import importlib
import inspect
import itertools
import math
import os
import re
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oslr_nb as oslr
from oslr_nb.core.base.parameters import Step, declared
from oslr_nb.core.game.environment import measure, split_query
from oslr_nb.core.game.registry import module_of, papers
from oslr_nb.core.mathematics import bandits, designs, experts, geometry, oco, sparse
from oslr_nb.papers import hazan2012, ito2017, ito2018, kale2017, murata2018
from oslr_nb.practice import data as streams

INPUTS = int(os.environ.get("OSLR_FUZZ", "6000"))
D, BUDGET, K, T = 6, 4, 2, 30
RNG = np.random.default_rng(0)
X, Y = RNG.choice([-0.25, 0.25], (T, D)), RNG.choice([-0.5, 0.5], T)
PAPERS = [p for p in papers() if p != "core"]


class Odd:
    "An object that nobody expects."

    def __repr__(self) -> str: return "Odd()"


NUMBERS = [0, 1, 2, 3, 5, 7, -1, -2.5, 0.3, 1e-320, 1e-200, 1e-9, 1e9, 1e200, 10**400, np.nan, np.inf, -np.inf, 1j, True,
           np.int8(3), np.int16(4), np.uint8(2), np.float32(0.5), np.float16(1), np.longdouble(2), Fraction(1, 3)]
THINGS = [None, "", "4", "printed", "adaptive", b"4", [], [1], (1, 2), {}, {1}, Odd(), Odd, print, object(), range(3), "é" * 200]
ARRAYS = [np.array(2.0), np.zeros(D), np.ones(D), np.full(D, np.nan), np.full(D, np.inf), np.ones(D, complex), np.ones((D, D)),
          np.zeros((0, D)), np.zeros(0), np.array(["a"] * D), np.array([None] * D), np.ma.masked_all(D), np.arange(D), -np.ones(D),
          np.full(D, 1e200), np.ones((T, D)), np.full((T, D), np.nan), np.ones((T, 1)), np.ones(T), np.full(T, np.inf), np.ones((2, 2, 2)),
          [[1], [1, 2]], np.ones((T, D), bool), np.ones(D, np.float32), np.array([0, 0, 1]), np.array([D, 1]), np.array([-1, 1])]
nonsense = st.one_of(st.sampled_from(NUMBERS), st.sampled_from(THINGS), st.sampled_from(range(len(ARRAYS))).map(lambda i: ARRAYS[i]),
                     st.integers().filter(lambda n: not 10**6 < n <= 10**8),  # so many features are right, and take 10 GB
                     st.floats())


def budgeted(share):
    "This test's share of the inputs, without deadlines, the same ones each time."
    return settings(max_examples=max(1, int(INPUTS * share)), deadline=None, derandomize=True, database=None,
                    suppress_health_check=list(HealthCheck))


def leaves(value):
    "The numbers in an answer."
    if isinstance(value, (tuple, list)):
        for part in value: yield from leaves(part)
    elif isinstance(value, dict):
        for part in value.values(): yield from leaves(part)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "iufc": yield from value.ravel()[:2000]
    elif isinstance(value, (int, float, complex, np.number)): yield value


def answer(call, infinite=False):
    "The answer, or None where the call was refused in a sentence; anything else fails."
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*Theorem 2.*")  # top < k: what it says is meant
        warnings.filterwarnings("ignore", message=".*not in the first example")  # a name that is new: it is ignored
        try: value = call()
        except oslr.ProtocolError as e: assert str(e).endswith(".")
        except ValueError as e: assert "it must be" in str(e), f"a foreign sentence: {e}"
        else:
            for number in leaves(value):
                assert not np.iscomplexobj(number) and not np.isnan(number), f"{number} in silence"
                assert infinite or not np.isinf(number), f"{number} in silence"
            return value
    return None


# ---------------------------------------------------------------------------------------------------- learners
KEYS = sorted(oslr.LEARNERS)
ADAPTIVE = [key for key in KEYS if isinstance(declared(oslr.LEARNERS[key].cls).get("step"), Step)]
SMALL = {"T": T, "moments": np.full(D, 0.06), "family": [[0, 1, 2, 3], [2, 3, 4, 5]], "A": np.eye(D), "top": 2, "explore": (1, 2)}


def fitting(key):
    "Arguments with which the learner plays the stream of this file: its example, made as small."
    cls = oslr.LEARNERS[key].cls
    given = declared(cls)
    budget = BUDGET + (key == "li2025.DSPOSLRC")  # three features besides those of the weights
    sizes = {name: value for name, value in (("d", D), ("budget", budget)) if name in given}
    return cls, sizes | {"seed": 0} | {name: SMALL.get(name, value) for name, value in cls.example.items()}


@budgeted(0.25)
@given(key=st.sampled_from(KEYS), data=st.data())
def test_constructors(key, data):
    cls, kw = fitting(key)
    names = st.sampled_from([*inspect.signature(cls).parameters])
    if key in ADAPTIVE and data.draw(st.booleans()): kw["step"] = "adaptive"
    for name in data.draw(st.lists(names, min_size=1, max_size=2)): kw[name] = data.draw(nonsense)
    lr = answer(lambda: cls(**kw))
    if lr is None or lr.d != D: return
    run = answer(lambda: oslr.simulate(lr, X, Y))
    if run is not None: assert np.isfinite(run.predictions).all() and np.isfinite(lr.coef_).all()


@budgeted(0.25)
@given(key=st.sampled_from(KEYS), data=st.data())
def test_calls(key, data):
    "In any order, with anything; what is refused changes nothing."
    cls, kw = fitting(key)
    lr = cls(**kw | ({"step": "adaptive"} if key in ADAPTIVE and data.draw(st.booleans()) else {}))
    for _ in range(data.draw(st.integers(1, 8))):
        name = data.draw(st.sampled_from([*lr.calls, "skip", *lr.calls]))
        values = measure(X[0], *split_query(lr._S, D)) if getattr(lr, "_S", None) is not None else np.zeros(BUDGET)
        good = {"predict": (values,), "observe": (values,), "update": (0.5,)}.get(name, ())
        args = tuple(data.draw(nonsense) for _ in good) if data.draw(st.booleans()) else good
        before, got = str(lr.state()), answer(lambda name=name, args=args: (getattr(lr, name)(*args), "done"))
        if got is None: assert str(lr.state()) == before
        elif name == "query": lr._S = got[0]
    assert np.isfinite(lr.coef_).all()


@budgeted(0.1)
@given(key=st.sampled_from(KEYS), data=st.data())
def test_streams(key, data):
    cls, kw = fitting(key)
    lr = cls(**kw)
    arguments = {"learner": lr, "X": X, "y": Y, "seed": 0, "rows": None, "score": True}
    arguments[data.draw(st.sampled_from([*arguments]))] = data.draw(nonsense)
    before, run = str(lr.state()), answer(lambda: oslr.simulate(**arguments))
    if run is None: assert str(lr.state()) == before
    elif arguments["score"]: assert np.isfinite(run.predictions).all()


@budgeted(0.1)
@given(data=st.data())
def test_environments(data):
    arguments = {"X": X, "y": Y, "budget": BUDGET, "protocol": data.draw(st.sampled_from(oslr.environment.PROTOCOLS)), "k": K}
    if data.draw(st.booleans()): arguments[data.draw(st.sampled_from([*arguments]))] = data.draw(nonsense)
    env = answer(lambda: oslr.Environment(**arguments))
    if env is None: return
    for _ in range(4):
        name = data.draw(st.sampled_from(["commit", "observe", "predict", "label", "skip"]))
        args = (data.draw(nonsense),) if name in ("commit", "observe", "predict") else ()
        books = (env.t, env.purchases.sum(), len(env.ledger))
        if answer(lambda name=name, args=args: (getattr(env, name)(*args), "done"), infinite=True) is None:
            assert (env.t, env.purchases.sum(), len(env.ledger)) == books


@budgeted(0.05)
@given(data=st.data())
def test_comparators(data):
    run = oslr.Run(X, Y, np.arange(T), np.zeros(T), np.full(T, BUDGET))
    thing, arguments = data.draw(nonsense), {"X": X, "y": Y, "k": K, "radius": 1.0, "limit": 100, "times": None}
    name = data.draw(st.sampled_from([*arguments]))
    calls = {"regret": lambda: run.regret(thing), "best": lambda: run.best_sparse(thing).w, "play": lambda: oslr.play(thing, thing),
             "function": lambda: oslr.best_sparse(**arguments | {name: thing}).w, "load": lambda: oslr.load(thing),
             "cite": lambda: oslr.cite(thing), "verify": lambda: oslr.verify(thing, jobs=1).ok}
    try: answer(calls[data.draw(st.sampled_from([*calls]))])
    except FileNotFoundError as e: assert "there is no such file" in str(e)


# ---------------------------------------------------------------------------------------------------- functions
# Compiled, or called in loops: their arguments are not checked.
UNCHECKED = set("containment distinct_sum soft_threshold enumerated_eigenvalues outer_eigenvalues sparse_bounds sparse_support "
                "linear_regret dantzig_state dantzig_record greedy_state".split())
# They may answer with infinity.
INFINITE = set("restricted_condition dantzig_certificate dantzig_path dantzig bound_baseline look_information bound_fkk bound_fkk_below "
               "bound_aelr bound_aelr_adaptive estimate_moment floor_online greedy_parameters supermodularity bets_of "
               "bound_bet bound_block_noise bound_exploration printed_limit".split())


def functions():
    "Public functions of the papers and of the core, apart from `UNCHECKED` ones."
    found = {}
    for module in [bandits, designs, geometry, oco, experts, sparse, *(importlib.import_module(module_of(p)) for p in PAPERS)]:
        for name in getattr(module, "__all__", None) or dir(module):
            f = getattr(module, name)
            if not inspect.isfunction(f) or name.startswith("_") or name in UNCHECKED: continue
            found[f"{module.__name__}.{name}"] = f
    for f in (streams.sparse_linear, streams.shuffled, oslr.auto): found[f"{f.__module__}.{f.__name__}"] = f
    return found


FUNCTIONS = functions()
# a good value for each name of an argument; functions whose arguments mean something else have their own line
SCALARS = {"d": D, "budget": BUDGET, "k": K, "top": K, "T": T, "m": T, "n": 3, "radius": 1.0, "radius_2": 1.0, "x_norm": 1.0, "x_max": 1.0,
           "y_max": 1.0, "step": 1.0, "hedge_step": 1.0, "delta": 0.1, "eps": 0.1, "sigma_min": 0.4, "sigma_max": 0.8, "phi": 0.5, "q": 0.5,
           "draws": 3, "ridge": 1.0, "seed": 0, "rng": 0, "weight": 0.5, "order": 1, "w_norm": 0.5,
           "l1": 1.0, "rounds": 10, "reading": "observed", "s": 2, "r": 2, "G": 1.0, "N": 5, "second": 1.0, "low": 0.5, "a": 1.0,
           "M": 3, "K": 3, "keep": 2, "centred": False, "t": 2.0, "largest": 20.0, "kappa": 1.2, "k1": 2, "batch": 5, "squares": 2.0,
           "noise": 0.1, "eta": 0.1, "B": 1.0, "Y": 1.0, "sigma": 0.5, "k0": 3, "block": 10, "p": 2}
VECTORS = {"w": np.full(D, 0.1), "u": np.full(D, 0.1), "lam": np.linspace(1, 2, T), "X": X, "y": Y, "moments": np.full(D, 0.06),
           "radii": [0.5, 1.0], "x": np.full(D, 0.2), "S": [0, 1], "A": np.eye(D), "v": np.full(D, 0.5), "b": np.linspace(-1, 1, D),
           "g": np.ones((T, D)), "V": np.eye(D), "costs": np.ones((T, 5)), "weights": np.full((T, 5), 0.2),
           "losses": np.tile(np.linspace(0, 1, 5), (T, 1)), "sets": np.tile([0, 1], (T, 1)), "favourites": [0, 1], "support": [0, 1]}
GOOD = SCALARS | VECTORS
# functions that mean something else by a name
OTHERWISE = {
    "data.sparse_linear": {"weights": "uniform"},
    "data.shuffled": {"stream": streams.sparse_linear(D, K, T, 0)},
    "experts.limited_chances": {"q": np.full(5, 0.2)},
    "oco.ons_regret_bound": {"w": np.full((T, D), 0.1)},
    "oco.project_norm": {"p": np.arange(D) / 2},
    "hazan2012.confident_moments": {"ridge": True, "second": np.full(D, 1.0)},
    "sparse.dantzig": {"G": np.eye(D), "c": np.linspace(-1, 1, D), "radius": 0.1},
    "sparse.dantzig_path": {"G": np.eye(D), "c": np.linspace(-1, 1, D), "least": 0.1},
    "sparse.dantzig_certificate": {"G": np.eye(D), "c": np.linspace(-1, 1, D), "dual": np.ones(D), "radius": 0.1},
    **{f"own.{name}": {"bought": np.ones((T, D), bool), "pair": np.ones((D, D))} for name in ("bought_moments", "moment_rule")},
    "own.bound_forward_selection": {"steps": 3, "least": 0.5, "most": 1.0},
    "own.auto": {"k": None, "costs": None},
    "own.bound_default": {"q": 0.5, "used": 3, "square": 0.5, "norm": 1.0},
    "own.substitution": {"p": [0.5, 0.5], "z": [0.1, -0.1]},
    "own.aggregate": {"P": np.full((T, 3), 0.1)},
    **{f"designs.{name}": {"q": (0.5, 0.5)} for name in ("check_weights", "normalise")},
    "cesabianchi2010.bound_aer": {"lam": 1.0, "x_norm": None},
    "cesabianchi2010.aer_textbook": {"lam": 1.0, "B": 1.0},
    "cesabianchi2010.gradient_moment": {"y": 0.5},
    "foster2016.cost_and_gradient": {"x_R": [0.1, 0.2], "R": [0, 2], "y": 0.5, "pair": designs.Uniform(D, 2).second()},
    "foster2016.textbook_fkk": {"eta_hedge": 0.1, "eta_step": 0.1, "choose": lambda t, p: (0, [0, 1])},
    **{f"hazan2012.{name}": {"draws": [([1, 2], None)] * T, "ridge": True, "q": np.full(D, 1 / D)}
       for name in ("textbook", "textbook_adaptive")},
    **{name: {"choose": lambda t, w: np.arange(BUDGET)} for name in ("ito2017.algorithm_1", "own.algorithm_1_adaptive")},
    "ito2017.algorithms_2_3": {"sets": [np.arange(BUDGET)] * 5, "explorer": lambda s: 9.0, "rate": lambda t: 8.0, "mu": lambda s: 0.1},
    **{f"ito2017.bound_{name}": {"w": np.eye(D)[0]} for name in ("6_sharpened", "6_uniform", "7_uniform", "theorem_6", "theorem_7")},
    **{f"hazan2012.{name}": {"q": None, "ridge": True}
       for name in ("estimate_moment", "bound_aerr", "bound_aerr_adaptive", "bound_aelr", "data_dependent_q",
                    "sharpened_step")},
    "kale2017.moment_estimates": {"x_S": [0.1, 0.2], "y": 1.0},
    "kale2017.estimation_errors": {"L": 1.0},
    "kale2017.textbook_dantzig": {"radii": lambda n: 1.0},
    **{f"ito2018.{name}": {"inner": ito2018.Inner("ons", K)} for name in ("best_block", "bound_block_bandit", "online_learner")},
    **{f"ito2017.{name}": {"model": ito2017.LinearModel(0.4, 0.8)} for name in ("bound_sharpened", "bound_sharpened_schedule")},
    "own.bound_adaptive_rda": {"model": ito2017.LinearModel(0.4, 0.8)},
    **{f"hazan2012.bound_{name}": {"phase": hazan2012.PhaseOne(10), "ridge": True} for name in ("two_phase", "ks_ridge", "ks_lasso")},
    **{f"kale2017.{name}": {"known": kale2017.BatchConditions(1.2, 0.5)} for name in ("bound_greedy", "greedy_parameters")},
    "ito2018.corollary_2": {"b": 1.0},
    "ito2018.projection_gradient": {"values": [0.1, 0.2], "yhat": 0.1, "y": 0.2},
    "ito2018.bound_first_order": {"total": 2.0},
    "oco.bound_self_bounding": {"loss": 2.0, "ratio": 1.0},
    **{name: {"gradient": lambda j, w: np.ones(D), "largest": 0.0, "eta": eta} for name, eta in
       (("oco.dual_averaging", 0.1), ("oco.adaptive_dual_averaging", 0.1), ("oco.ogd", np.linspace(2, 1, T)),
        ("oco.ogd_regret_bound", np.linspace(2, 1, T)), ("experts.exponentiated_gradient", 0.1))},
    "ito2018.column_gradient": {"values": [0.1, 0.2], "yhat": 0.5, "y": 1.0},
    **{f"murata2018.{name}": {"known": murata2018.SupportProblem(1.0, 2.0, 3.0, K, 1.0), "mu": 1.0, "L": 2.0, "sigma": 1.0, "first": 1.0,
                              "updates": 5, "excess": 1.0, "least": 1.0, "explore": (4, 40), "exploit": (9, 500), "growth": 2.0,
                              "V": 9.0, "blocks": 4, "r_min": 0.3}
       for name in ("stable_exploitation_step", "exploitation_room", "bound_exploitation", "bound_exploitation_excess",
                    "exact_exploitation", "bound_wrong_support", "bound_hybrid")},
    "murata2018.textbook_hybrid": {"explore": (1, 2), "exploit": (1, 3)},
    "murata2018.support_gradient": {"theta": np.r_[0.5, np.zeros(D - 1)]},
    "murata2018.block_gradient": {"theta": np.eye(D)[0], "width": D},
    **{f"murata2018.{name}": {"problem": murata2018.SparseProblem(D, K, K, 1.5, 2.0, 0.5), "eta": 0.3, "mu": 1.5, "L": 2.0, "start": 1.0,
                              "batches": [100, 200]}
       for name in ("contraction_factor", "bound_exploration", "exploration_plan", "check_theory", "exploration_rate")},
    "murata2018.bound_block_noise": {"error": 1.0, "m": 2},
    "own.bets_of": {"g": np.linspace(-1, 1, T)},
    "own.bound_bet": {"u": 1.0, "hint": 2.0, "squares": 5.0},
    "own.bound_coin_betting": {"eigenvalue": 0.5, "condition": 2.0, "log": 3.0},
    "own.mixed_prediction": {"guesses": [0.1, 0.5], "losses": [1.0, 2.0], "low": -1.0, "high": 1.0},
    "own.bound_aggregation": {"experts": 5, "T": 8, "residuals": [1.0, 1.0, 1.0]},
    "li2025.li_chances": {"q": np.full(D, 1 / D), "m": 3},
    "li2025.li_estimates": {"x_B": [0.1, 0.2, 0.3], "B": [0, 1, 2], "y": 1.0, "q": np.full(D, 1 / D), "m": 3},
    **{f"li2025.{name}": {"sigma": 0.5, "w_min": 0.1, "phi": 0.8, "t": 3, "reach": 1.0, "k": None}
       for name in ("li_errors", "label_margin", "rounds_to_support", "bound_ds_oslrc")},
    "li2025.bound_ds_poslrc": {"sigma": 0.5, "phi": 0.8, "k": 1},
    "li2025.textbook_ds_oslrc": {"sets": np.tile([0, 1, 2], (T, 1)), "radii": lambda s: 1.0, "sigma": 1.0},
    "li2025.textbook_ds_poslrc": {"sets": np.tile([4, 5, 3], (T, 1)), "radii": lambda s: 1.0, "k": 2},
}


def arguments_of(f):
    "Good arguments by name, or None where this file does not know one."
    home = re.sub(r"^oslr_nb\.(papers|core\.\w+|practice)\.", "", f.__module__).removeprefix("oslr_nb.").split(".")[0]
    out, good = {}, GOOD | OTHERWISE.get(f"{home}.{f.__name__}", {})
    for name, p in inspect.signature(f).parameters.items():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD): continue
        if name in good: out[name] = good[name]
        elif p.default is p.empty: return None
        else: out[name] = p.default
    return out


def checked(f):
    "Names of the arguments that a function checks: all but functions."
    return sorted(a for a, v in arguments_of(f).items() if not callable(v))


KNOWN = {name: f for name, f in FUNCTIONS.items() if arguments_of(f)}


BAD = [None, "1", math.nan, math.inf, -1, 0, 10**400, 1e300, 1e-300, [1], np.ones((2, 2)), np.full(D, np.nan), True, 2.5, 1j, {}]


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_each_argument_in_turn(name):
    "Good arguments have an answer, numpy's scalars are as good as Python's, and each argument in turn is something odd."
    f, good = KNOWN[name], arguments_of(KNOWN[name])
    call = lambda **kw: answer(lambda: f(**good | kw), infinite=f.__name__ in INFINITE)
    plain = [*leaves(call())]
    assert plain or call() is not None
    for kind, native in ((np.int32, int), (np.float32, float)):
        other = call(**{argument: kind(value) for argument, value in good.items() if type(value) is native and abs(value) < 1e9})
        assert np.allclose(np.array([*leaves(other)], float), np.array(plain, float), rtol=1e-4, atol=1e-6)
    for argument, bad in itertools.product(checked(f), BAD):
        if f.__name__ not in LONG or not (isinstance(bad, (int, float)) and abs(bad) > 1e5): call(**{argument: bad})


LONG = {"hidden_attribute", "sparse_linear"}  # whose answer is as long as an argument says


def test_most_functions_are_tried_and_the_check_can_fail():
    assert len(KNOWN) >= 0.6 * len(FUNCTIONS), sorted(set(FUNCTIONS) - set(KNOWN))
    for call in (lambda: np.nan, lambda: 1j, lambda: [np.inf], lambda: np.array([1.0]) / 0, lambda: int("a")):
        with pytest.raises((AssertionError, RuntimeWarning)): answer(call)
