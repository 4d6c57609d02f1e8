"""What every learner of the registry must do: one rule each, for all of them."""

import copy
import inspect
import itertools
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oslr_nb as oslr
from oslr_nb.core.base.parameters import Choice, Flag, Step, declared
from oslr_nb.core.mathematics.oco import adaptive_dual_averaging, dual_averaging
from oslr_nb.practice.data import sparse_linear

stream = sparse_linear(12, 2, 1500, seed=0)
KEYS = sorted(oslr.LEARNERS)
CLASSES = {key: entry.cls for key, entry in oslr.LEARNERS.items()}
RDA = [k for k in KEYS if issubclass(CLASSES[k], oslr.ito2017.RDA)]
every_learner = pytest.mark.parametrize("key", KEYS)
SCALES = {"x_norm": 40.0, "x_max": 10.0, "y_max": 40.0}  # no value of the streams of this file is larger
STEPS = {"step": 1.0, "C": 1.0, "eta": 0.1}  # names of what a step multiplies
SHAPED = {  # arguments whose shape follows the number of features and the budget
    "moments": lambda d, n: np.linspace(0.2, 1, d), "family": lambda d, n: (np.arange(d)[:, None] + np.arange(n)) % d,
    "A": lambda d, n: np.linalg.qr(np.random.default_rng(d).standard_normal((d, d)))[0],
}


def takes(key, *names):
    "Whether a learner declares one of these parameters."
    return not declared(CLASSES[key]).keys().isdisjoint(names)


OSLR = [k for k in KEYS if CLASSES[k].protocol == "OSLR"]
ADAPTIVE = [k for k in KEYS if isinstance(declared(CLASSES[k]).get("step"), Step)]
SCALE_FREE = [k for k in KEYS if CLASSES[k].scale_free]
BALL = [k for k in KEYS if takes(k, "radius") and k not in ("ito2018.BlockBandit", "li2025.DSOSLRC")]  # these two solve without a ball
COMBINED = [("cesabianchi2010.AER", kw) for kw in ({"output": "last"}, {"output": "proved", "centre": True}, {"calibrate": 0.4})]
COMBINED += [("cesabianchi2010.AER", {"centre": True, "calibrate": 0.5}), ("cesabianchi2010.Baseline", {"form": "indefinite"})]
COMBINED += [("cesabianchi2010.Baseline", {"order": o, "estimator": e}) for o in (1, 2) for e in ("pairs", "distinct")]
COMBINED += [("ito2017.RDA2", {"step": "adaptive", "explorer_step": 3.0})]
COMBINED += [(key, {"step": "adaptive"}) for key in ADAPTIVE]


def others(key):
    "Every option of a learner that is a word or a flag, at each value that is not its default."
    for name, p in declared(CLASSES[key]).items():
        default = inspect.signature(CLASSES[key]).parameters[name].default
        for value in {Choice: getattr(p, "words", ()), Flag: (True, False)}.get(type(p), ()):
            if value != default: yield key, {name: value}


OPTIONS = [*COMBINED, *(option for key in KEYS for option in others(key) if option not in COMBINED)]
OPTIONS += [("own.PairwiseLeastSquares", kw) for kw in (
    {"memories": [10]}, {"memories": [2]}, {"prior": 0.0}, {"explore": 1.0}, {"explore": 0.0}, {"top": 0}, {"rows": 12}, {"scales": [0.1]},
    {"rows": 12, "memories": [100, None]})]
MATRICES = np.random.default_rng(0).standard_normal((4, 6, 12)) / 6  # measurements, where there may be subsets
OPTIONS += [("ito2018.BlockBandit", {"family": MATRICES, "inner": inner, "block": 20}) for inner in ("vaw", "ons", "ogd")]


def make(key, d=12, budget=6, **kw):
    "A learner for streams of normal features, by its example: `step` multiplies its step, whatever that is called, if it has one."
    given, example = declared(CLASSES[key]), CLASSES[key].example
    if "step" in kw and "step" not in given:
        step = kw.pop("step")
        kw |= {name: step * unit for name, unit in STEPS.items() if name in given}
    shaped = {name: shape(d, budget) for name, shape in SHAPED.items() if name in example}
    if "top" in example: shaped["top"] = min(example["top"], budget - 2)
    arguments = SCALES | {"d": d, "budget": budget} | example | shaped
    return CLASSES[key](**{name: value for name, value in arguments.items() if name in given} | kw)


@cache
def budgets(key, d):
    "The budgets that a learner takes for so many features."
    def fits(budget):
        try: return make(key, d, budget).budget == budget
        except ValueError: return False
    return [budget for budget in range(1, d + 1) if fits(budget)]


def query(lr):
    "Start a round; what it wants to buy."
    if lr.protocol != "OSLR": lr.commit()
    return lr.query()


def bought(x, asked):
    "What a query for coordinates or for measurements is answered with."
    return oslr.environment.measure(x, *oslr.environment.split_query(asked, len(x)))


def cost(lr):
    "Start a round; how many numbers it wants to buy."
    query(lr)
    return lr._cost


def take(lr, values):
    "Hand over what was bought; the prediction, where there is one."
    return lr.predict(values) if lr.protocol == "OSLR" else lr.observe(values)


def state(lr):
    "Everything that a learner remembers, in a form that can be compared."
    header, arrays = lr.state()
    return json.dumps(header), {name: a.tolist() for name, a in arrays.items()}


def environment(key, X, y, budget, average=False): return oslr.Environment(X, y, budget, oslr.LEARNERS[key].protocol, 2, average=average)


def test_the_registry_is_complete():
    assert ADAPTIVE and SCALE_FREE and BALL and len(OPTIONS) > len(COMBINED)
    for key, e in oslr.LEARNERS.items():
        assert key == f"{e.paper}.{e.cls.__name__}" and e.protocol in oslr.environment.PROTOCOLS
        assert all((e.budget, e.assumptions, e.bound, e.cost)) and e.cls.__doc__


@every_learner
def test_help_is_all_that_a_user_needs(key):
    doc, names = CLASSES[key].__doc__, inspect.signature(CLASSES[key]).parameters
    assert all(f"\n{name} : " in doc for name in names)
    assert all(part in doc for part in ("\nRaises\n", "\nNotes\n", "\nSee Also\n", "Source"))


@every_learner
@given(d=st.integers(4, 30), share=st.floats(0, 1), seed=st.integers(0, 2**32), step=st.floats(0.05, 20), ties=st.booleans())
def test_play_equals_simulate(key, d, share, seed, step, ties):
    "With adaptive steps, whose first rounds see no gradient at all, bit for bit where the learner adds in the order of its query."
    adaptive = key in ADAPTIVE and seed % 2 == 0
    budget = (possible := budgets(key, d))[round(share * (len(possible) - 1))]
    s = sparse_linear(d, 2, 120, seed)
    X, kw = np.round(s.X) if ties else s.X, {"step": "adaptive" if adaptive else step, "seed": seed}
    if adaptive: X[:3] = 0.0
    if adaptive and "TwoPhase" in key: kw["T"] = 120
    a = oslr.simulate(lr := make(key, d, budget, **kw), X, s.y)
    b = oslr.play(again := make(key, d, budget, **kw), environment(key, X, s.y, budget))
    near = 0 if adaptive and lr.protocol != "training-only" else 1e-12  # scores of whole examples are added up in another order
    assert np.abs(a.predictions - b.predictions).max() <= near * max(1, np.abs(a.predictions).max())
    assert (a.n_observed == b.n_observed).all() and np.isfinite(a.predictions).all()
    if adaptive: assert state(lr)[1] == state(again)[1] and (a.predictions[:3] == 0).all()


@every_learner
def test_purchases_are_counted_in_blocks(key):
    "The same run, with the purchases of each feature in 40 blocks, which are those that the environment sold; rounds of one's own refuse."
    X, y, ahead = stream.X[:330], stream.y[:330], make(key, seed=4)
    if ahead.plays_compiled and not ahead.plays_common_loop:
        with pytest.raises(ValueError, match=r"^purchases = True: it must be False"): oslr.simulate(ahead, X, y, purchases=True)
        return
    oslr.play(ahead, env := environment(key, X, y, 6))
    sold = np.zeros((330, 12), np.int64)
    for t, S, _ in env.ledger: np.add.at(sold[t], S, 1)
    run, plain = oslr.simulate(make(key, seed=4), X, y, purchases=True), oslr.simulate(make(key, seed=4), X, y)
    assert np.array_equal(run.predictions, plain.predictions, equal_nan=True) and plain.purchases is None
    assert (run.purchases == [block.sum(axis=0) for block in np.array_split(sold, 40)]).all() and run.purchases.shape == (40, 12)


@pytest.mark.parametrize(("key", "kw"), OPTIONS, ids=lambda v: str(v)[:60])
def test_options_play_and_resume(key, kw, tmp_path):
    X, y = stream.X[:400], stream.y[:400]
    if "T" in CLASSES[key].example: kw = kw | {"T": 300}  # the last hundred rounds come after T
    if takes(key, "C"): kw = kw | {"C": 1e-4}  # with the theorem's radius nothing is learnt in so few rounds
    run = oslr.simulate(whole := make(key, seed=4, **kw), X, y)
    again = oslr.play(make(key, seed=4, **kw), environment(key, X, y, 6, kw.get("average", False)))
    assert np.abs(run.predictions - again.predictions).max() <= (0 if key.startswith("own.") and key in OSLR else 1e-12)
    if key == "own.PairwiseLeastSquares":  # it learns, whatever the option, unless it forgets at once
        assert (run.n_observed == 6).all() or "average" in kw
        assert kw.get("memories") in ([2], [10]) or run.losses[-200:].mean() < 0.7 * y.var()
    assert np.ptp(run.predictions[-90:]) > 0 or kw.get("inner") == "ons"  # it plays blocks of a single round
    lr = make(key, seed=4, **kw)
    for start, stop in ((0, 150), (150, 290), (290, 400)):
        oslr.simulate(lr, X[start:stop], y[start:stop])
        lr.save(tmp_path / "a.npz")
        lr = oslr.load(tmp_path / "a.npz")
    assert state(lr)[1] == state(whole)[1] and (lr.coef_ == whole.coef_).all() and lr.intercept_ == whole.intercept_
    if lr.protocol != "training-only": return
    blind = make(key, seed=4, **kw)
    assert np.isnan(oslr.simulate(blind, X, y, score=False).predictions).all()
    assert (blind.coef_ == whole.coef_).all() and blind.intercept_ == whole.intercept_


@pytest.mark.parametrize("key", [k for k in KEYS if takes(k, *SCALES)])
def test_beyond_the_scale_of_the_theorem(key):
    "Values and labels beyond what the learner was told are refused by both drivers, the state as it was."
    lr = make(key, seed=0)
    name, limit, norm = lr.x_limit
    assert name in lr.params and lr.params[name] == limit
    labels = takes(key, "y_max")
    assert not labels or lr.y_limit == ("y_max", 40.0)
    before = state(lr)
    for X, y, what in ((100 * stream.X, stream.y, name), (stream.X, 1000 * stream.y, "y_max"))[: 1 + labels]:
        with pytest.raises(ValueError, match=f"{what} = "): oslr.simulate(lr, X, y)
        assert state(lr) == before
    take(lr, bought(np.zeros(12), query(lr)))
    if labels:
        with pytest.raises(ValueError, match=r"y = 41.0: .*y_max = 40"): lr.update(41.0)
    lr.update(0.0)
    rows, S = oslr.environment.split_query(query(lr), 12)  # a measurement along the weights is no coordinate, and may be 0
    if not len(S): rows, S = rows[:0], rows  # columns of a dictionary, no weights among them
    most = np.append(np.zeros(len(rows)), np.full(len(S), limit / np.sqrt(len(S)) if norm else limit))
    with pytest.raises(ValueError, match=f"{name} = {limit:g}"): take(lr, 1.01 * most)
    take(lr, most)
    lr.update(-40.0)
    X = np.full((2, 12), limit / np.sqrt(12) if norm else limit)  # just at the limits, also compiled
    assert np.isfinite(oslr.simulate(lr, X, np.array([40.0, -40.0])).predictions).all()


@pytest.mark.parametrize("key", SCALE_FREE)
def test_a_scale_changes_nothing_but_the_scale(key):
    "Features and label, or one feature, in another unit: exactly for powers of two, up to rounding for 10^6."
    X, y = stream.X[:800], stream.y[:800]
    run = lambda a, b: oslr.simulate(make(key, seed=3), X * a, y * b).predictions / b
    plain, alone = run(1.0, 1.0), np.where(np.arange(12) == 4, 2.0**30, 2.0**-3)
    assert np.ptp(plain[-100:]) > 0
    for a in (2.0**-40, 2.0**40, alone):
        for b in (2.0**-40, 2.0**40): assert (run(a, b) == plain).all()
    for a, b in itertools.product((1e-6, 1e6), repeat=2): assert np.abs(run(a, b) - plain).max() < 1e-9 * np.abs(y).max()


@every_learner
@pytest.mark.parametrize("calls", [1, 2], ids=["after the query", "after the purchase"])
def test_a_skipped_round_leaves_no_trace(key, calls):
    "A learner that skips rounds goes on like one that never began them, with the generator where it is."
    lr, twin = make(key, seed=8), make(key, seed=8)
    for t, skipped in enumerate(np.random.default_rng(1).random(200) < 0.5):
        if skipped:
            weights, S = lr.coef_.copy(), query(lr)
            if calls == 2: take(lr, bought(stream.X[t], S))
            lr.skip()
            assert (lr.coef_ == weights).all()
            twin.rng.bit_generator.state = lr.rng.bit_generator.state
        for one in (lr, twin):
            take(one, bought(stream.X[t], query(one)))
            one.update(stream.y[t])
        assert np.allclose(lr.coef_, twin.coef_, rtol=1e-9, atol=1e-12)  # the favourites may be listed in another order


@every_learner
def test_play_can_skip_what_fails(key):
    X, y = stream.X[:100].copy(), stream.y[:100].copy()
    X[7], y[11] = np.nan, np.nan
    env = environment(key, X, y, 6)
    with pytest.raises(ValueError): oslr.play(make(key, seed=1), env)
    env = environment(key, X, y, 6)
    run = oslr.play(lr := make(key, seed=1), env, skip=True)
    assert env.t == 100 and np.flatnonzero(~run.scored).tolist() == [7, 11] and np.isnan(run.predictions[7])
    assert np.isfinite(run.regret(np.zeros(12))).all() and np.isfinite(lr.coef_).all()
    if not takes(key, "y_max"): return
    y[20] = 1000.0
    with pytest.raises(ValueError, match=r"y = 1000\.0: .*y_max"): oslr.play(make(key, seed=1), environment(key, X, y, 6), skip=True)


@every_learner
def test_one_thread_at_a_time(key):
    "A second thread is told so; what the first one does is not disturbed."
    lr, refusals = make(key, seed=2), []
    def intrude():
        for call in (getattr(lr, lr.calls[0]), lr.query, lr.skip, lambda: oslr.simulate(lr, stream.X, stream.y)):
            try: call()
            except oslr.ProtocolError as e: refusals.append(str(e))
    with lr._alone:
        (thread := threading.Thread(target=intrude)).start()
        thread.join()
    assert len(refusals) == 4 and all("another thread is inside" in r for r in refusals)
    again = copy.deepcopy(lr)
    assert (oslr.simulate(lr, stream.X, stream.y).predictions == oslr.simulate(again, stream.X, stream.y).predictions).all()


@pytest.mark.parametrize("key", ADAPTIVE)
def test_an_adaptive_step_has_no_scale(key):
    "Labels and radius a power of two larger: so are the predictions, to the last bit. The declared limits do not enter."
    kw = {"l1": 0.0} if key == "ito2017.RDA3" else {}
    run = lambda c, **more: oslr.simulate(make(key, seed=5, step="adaptive", radius=c, **kw, **more), stream.X, c * stream.y).predictions
    assert np.ptp(run(1.0)[-100:]) > 0
    for c in (2.0**-30, 2.0**20): assert (run(c, y_max=1e9) == c * run(1.0)).all()
    more = {"y_max": 1e5} | ({} if "TwoPhase" in key else {"x_norm": 1e7})  # in two phases x_norm enters the draws
    assert (run(1.0, **more) == run(1.0)).all()


@pytest.mark.parametrize("key", RDA)
def test_everything_bought_is_the_textbook_recursion(key):
    lr = make(key, 12, 12, seed=0)
    run, lam = oslr.simulate(lr, stream.X, stream.y), lr.rate * np.sqrt(np.arange(1, 1501))
    w, _ = dual_averaging(lambda t, w: 2 * (w @ stream.X[t] - stream.y[t]) * stream.X[t], 12, lam)
    assert np.abs(run.predictions - (w * stream.X).sum(axis=1)).max() < 1e-12
    run = oslr.simulate(make(key, 12, 12, seed=0, step="adaptive"), stream.X, stream.y)
    w, _ = adaptive_dual_averaging(lambda t, w: 2 * (w @ stream.X[t] - stream.y[t]) * stream.X[t], 12, 1500)
    assert np.abs(run.predictions - (w * stream.X).sum(axis=1)).max() < 1e-12


@every_learner
def test_an_unbought_feature_is_never_seen(key):
    "Where it stands is no number, or another one for learners scored with all features. A trap in what is bought stops the run."
    run = oslr.play(lr := make(key, seed=3), env := environment(key, stream.X, stream.y, 6))
    assert all(len(set(S)) == len(S) <= 6 for _, S, _ in env.ledger)
    if any(len(rows) for _, _, rows in env.ledger): return  # it buys linear measurements, for which all features are read
    trap = np.full_like(stream.X, np.nan) if key in OSLR else np.random.default_rng(9).standard_normal(stream.X.shape)
    for t, S, _ in env.ledger: trap[t, S] = stream.X[t, S]
    assert (trap != stream.X).any()
    again = oslr.simulate(same := make(key, seed=3), trap, stream.y)
    assert state(same)[1] == state(lr)[1] and (key not in OSLR or (again.predictions == run.predictions).all())
    if key in OSLR: assert (oslr.play(make(key, seed=3), environment(key, trap, stream.y, 6)).predictions == run.predictions).all()
    env = environment(key, stream.X, stream.y, 6)
    oslr.play(make(key, seed=3), env)
    X = stream.X.copy()
    X[700, [0, *env.ledger[700][1]][-1]] = np.nan
    lr = make(key, seed=3)
    before = state(lr)
    with pytest.raises(ValueError, match=r"X\[700, \d+\] = nan: it must be a finite number"): oslr.simulate(lr, X, stream.y)
    assert state(lr) == before
    again = oslr.simulate(lr, stream.X, stream.y)
    assert (again.predictions == oslr.simulate(make(key, seed=3), stream.X, stream.y).predictions).all()


@every_learner
@pytest.mark.parametrize("go_on", ["play", "simulate"])
def test_a_refused_sale_changes_nothing(key, go_on):
    "After refusals the round begins again with the same query, and all goes on as if nothing had happened."
    X, y, whole = stream.X[:60], stream.y[:60], make(key, seed=8)
    oslr.simulate(whole, X, y)
    lr, trap = make(key, seed=8), X.copy()
    trap[5] = np.nan
    env = environment(key, trap, y, 6)
    for _ in range(3):
        with pytest.raises(ValueError): oslr.play(lr, env)
    if go_on == "simulate": oslr.simulate(lr, X[5:], y[5:])
    else:
        env._X[5] = X[5]
        oslr.play(lr, env)
    for name, value in state(whole)[1].items(): assert np.allclose(state(lr)[1][name], value, atol=1e-12), name


@every_learner
def test_seeds_and_threads(key):
    a, b = make(key, seed=7), make(key)
    assert (oslr.simulate(a, stream.X, stream.y).predictions == oslr.simulate(b, stream.X, stream.y, seed=7).predictions).all()
    run = lambda seed: oslr.simulate(make(key, seed=seed), stream.X, stream.y).predictions
    alone = [run(seed) for seed in range(8)]
    with ThreadPoolExecutor(4) as pool: assert all((a == b).all() for a, b in zip(alone, pool.map(run, range(8)), strict=True))


@every_learner
def test_any_layout(key, tmp_path):
    "The order and size in which the numbers of a table are kept change nothing; none is written into, and a file on disk is not copied."
    X, y = stream.X.astype(np.float32), stream.y.copy()
    y.flags.writeable = False
    wide = np.full((2 * len(X), 3 * X.shape[1]), np.nan, np.float32)
    wide[::2, 1::3] = X
    tables = [np.asfortranarray(X), wide[::2, 1::3], X[::-1].copy()[::-1], X.astype(float)]
    for table in tables: table.flags.writeable = False
    for i, table in enumerate((X, tables[0], tables[3])):
        np.save(tmp_path / f"{i}.npy", table)
        tables.append(np.load(tmp_path / f"{i}.npy", mmap_mode="r"))
    expected = oslr.simulate(make(key, seed=1), X, y).predictions
    for table in tables:
        run = oslr.simulate(make(key, seed=1), table, np.repeat(y, 2)[::2])
        assert (run.predictions == expected).all() and (not isinstance(table, np.memmap) or np.shares_memory(run.X, table))


@every_learner
def test_a_generator_may_be_shared(key):
    "What a learner draws is taken from the generator that it was given, in compiled rounds and in rounds by hand."
    rng, twin = np.random.default_rng(4), np.random.default_rng(4)
    lr, same = make(key, seed=rng), make(key, seed=4)
    for n in range(3):
        rows = np.arange(5) + 5 * n
        one, other = (oslr.simulate(learner, stream.X, stream.y, rows=rows).predictions for learner in (lr, same))
        assert (one == other).all()
        take(lr, bought(stream.X[n], query(lr)))
        take(same, bought(stream.X[n], query(same)))
        lr.update(0.1)
        same.update(0.1)
    assert lr.rng is rng and rng.bit_generator.state == same.rng.bit_generator.state
    played = [oslr.simulate(make(key, seed=seed), stream.X, stream.y).predictions for seed in (4, 5)]
    assert rng.bit_generator.state != twin.bit_generator.state or (played[0] == played[1]).all()


@every_learner
def test_long_run_stays_finite(key):
    "A million rounds, which also crosses the place where the norm is summed afresh."
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 8))
    y, lr = X @ rng.standard_normal(8), make(key, 8, next(b for b in budgets(key, 8) if b >= 4), step=3, seed=0)
    run = oslr.simulate(lr, X, y, rows=rng.integers(500, size=1_100_000))
    assert np.isfinite(run.predictions).all() and (key not in BALL or np.linalg.norm(lr.coef_) <= 1 + 1e-9)
    if key in RDA:
        norm2 = lr.num.view(sys.modules[type(lr).__module__].SCALARS)[0]["norm2"]
        assert abs(norm2 - lr.h @ lr.h) <= 1e-8 * (lr.h @ lr.h)


@every_learner
@pytest.mark.parametrize("scale", [1e-160, 1e-9, 1e9, 1e50])
def test_extreme_scales(key, scale):
    "Tiny and huge inputs give numbers or a clear refusal, never a silent NaN."
    try: lr = make(key, seed=0, **{name: max(v, v * scale) for name, v in SCALES.items() if name in make(key).params})
    except ValueError as e:
        assert scale == 1e50 and "it must be" in str(e)
        return
    assert np.isfinite(oslr.simulate(lr, stream.X * scale, stream.y * scale).predictions).all()


BAD_PURCHASES = [  # of n numbers
    lambda n: [1.0] * (n - 1), lambda n: [np.nan] + [1.0] * (n - 1), lambda n: ["a"] * n, lambda n: None, lambda n: np.ones((2, n)),
    lambda n: "abcdef",
]  # fmt: skip


@every_learner
def test_bad_values_labels_and_calls_leave_the_state_alone(key):
    lr = make(key, seed=0)
    n, before = cost(lr), state(lr)
    for bad in BAD_PURCHASES:
        with pytest.raises(ValueError, match="values"): take(lr, bad(n))
        assert state(lr) == before
    take(lr, np.ones(n))
    before = state(lr)
    for bad in (np.nan, np.inf, "1", None, [1.0]):
        with pytest.raises(ValueError, match="y = "): lr.update(bad)
        assert state(lr) == before
    lr.update(1.0)
    lr = make(key, seed=0)
    calls = {"query": lr.query, "commit": lr.commit, "update": lambda: lr.update(1.0)}
    calls |= {name: lambda name=name: getattr(lr, name)(np.ones(lr._cost)) for name in ("predict", "observe")}
    for expected in lr.calls[:2]:
        for name in set(calls) & set(lr.calls) - {expected}:
            with pytest.raises(oslr.ProtocolError, match=f"expected {expected}"): calls[name]()
        calls[expected]()
