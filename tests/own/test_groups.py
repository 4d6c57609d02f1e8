"""Prices, and groups of features that are bought together and paid once: purchases, books, favourites, refusals."""
from collections import Counter

import numpy as np
import pytest
from conftest import refusals
from hypothesis import given
from hypothesis import strategies as st

import oslr_nb as oslr
from oslr_nb.core.game.environment import PRICE_SLACK, Menu
from oslr_nb.ledger.own.moments import MARKETS, purchase_chances
from oslr_nb.own.moments.learner import PairwiseLeastSquares, spendable

RNG = np.random.default_rng(0)
X = RNG.standard_normal((1200, 12)) @ (np.eye(12) + 0.1 * RNG.standard_normal((12, 12)))
Y = X[:, 2] - 0.5 * X[:, 7] + 0.4 * X[:, 5] + 0.1 * RNG.standard_normal(1200)
WORDS = ["blood"] * 4 + ["age", "scan", "blood", "scan", "scan", "age", "sex", "sex"]  # of unequal size, not side by side
PRICES = {"blood": 6.0, "age": 1.0, "scan": 4.0, "sex": 0.0}
COSTS = np.array([1.0, 2.5, 3.3, 0.0, 7.0, 0.5, 20.0, 4.0, 1.0, 0.0, 6.0, 0.1])  # one dear, two for nothing
SHAPES = {
    "names and prices": (9.0, {"groups": WORDS, "costs": PRICES}), "counted": (2, {"groups": WORDS}),
    "in order": (9.0, {"groups": WORDS, "costs": list(PRICES.values())}),
    "one is too dear": (5.0, {"groups": WORDS, "costs": PRICES}), "one big group": (1, {"groups": [7] * 12}),
    "one big group with a price": (3.5, {"groups": ["all"] * 12, "costs": [3.0]}), "one": (1, {"groups": WORDS}),
    "pairs": (3, {"groups": np.arange(12) // 2}), "across": (2, {"groups": np.arange(12) % 3 * 10 - 5}),
    "one of eleven": (1, {"groups": [0] * 11 + [1]}), "all": (4, {"groups": WORDS}),
    "on average": (2, {"groups": WORDS, "average": True}), "money on average": (6.5, {"groups": WORDS, "costs": PRICES, "average": True}),
    "rows": (2, {"groups": np.arange(12) // 2, "rows": 12}), "no means": (2, {"groups": WORDS, "centre": False, "memories": [100]}),
    **{f"prices alone {kw}": (9.0, {"costs": COSTS} | kw) for kw in (
        {}, {"memories": [100]}, {"centre": False}, {"rows": 12}, {"explore": 1.0}, {"explore": 0.0})},
}


def made(budget, kw, seed=1): return PairwiseLeastSquares(12, budget, seed=seed, **kw)
def sold(kw): return {name: value for name, value in kw.items() if name in ("groups", "costs", "average")}
def arrays(lr): return {name: getattr(lr, name).tolist() for name in lr.arrays}


@pytest.mark.parametrize("shape", SHAPES)
def test_both_drivers_and_the_books(shape, tmp_path):
    "Bit for bit, saved half-way; whole groups alone are sold, and paid once; favourites and weights are within the budget."
    budget, kw = SHAPES[shape]
    groups, ahead = kw.get("groups", range(12)), kw.get("average", False)
    env, lr = oslr.Environment(X, Y, budget, **sold(kw)), made(budget, kw)
    run, by_hand = oslr.simulate(lr, X, Y), oslr.play(other := made(budget, kw), env)
    for name in ("predictions", "n_observed", "spent"): assert (getattr(run, name) == getattr(by_hand, name)).all()
    assert arrays(lr) == arrays(other) and (env.spent == run.spent).all() and (lr.groups is not None) == ("groups" in kw)
    half = made(budget, kw)
    oslr.simulate(half, X[:500], Y[:500])
    half.save(tmp_path / "a.npz")
    loaded = oslr.load(tmp_path / "a.npz")
    assert (oslr.simulate(loaded, X[500:], Y[500:]).predictions == run.predictions[500:]).all() and loaded.params == lr.params
    cost = dict(zip(groups, lr.menu.terms(12)["costs"].tolist(), strict=True))
    for (_, S, _), paid in zip(env.ledger, run.spent, strict=True):
        names = {groups[i] for i in S}
        assert set(S) == {i for i in range(12) if groups[i] in names} and abs(sum(cost[n] for n in names) - paid) < 1e-9
    assert run.spent.max() <= (sum(cost.values()) if ahead else budget) * (1 + PRICE_SLACK) and run.n_observed.max() <= lr.most
    for chosen in (lr.favourites_, np.flatnonzero(lr.coef_), np.flatnonzero(lr.linear_function()[0])):
        assert sum(cost[n] for n in {groups[i] for i in chosen}) <= budget * (1 + PRICE_SLACK)
    assert (np.sort(lr.favourites_) == np.sort(lr.menu.whole(lr.favourites_))).all() and np.isfinite(run.predictions).all()
    assert run.losses[-600:].mean() < (1.1 if budget in (1, 5.0) or ahead else 0.7) * Y.var()


def test_groups_of_one_are_features():
    "To the last bit, in whatever order they are named; with prices by name."
    costs = RNG.exponential(1, 12)
    names = [f"g{i}" for i in RNG.permutation(12)]
    prices = dict(zip(names, costs.tolist(), strict=True))
    for budget, kw, more in ((5, {}, {}), (4.0, {"costs": costs}, {"costs": dict(sorted(prices.items()))}),
                             (4.5, {"average": True}, {"average": True}), (5, {"support": "lasso"}, {"support": "lasso"})):
        runs = [oslr.simulate(lr := made(budget, k), X, Y) for k in (kw, {"groups": names} | more)]
        assert (runs[0].predictions == runs[1].predictions).all() and lr.groups is None and "groups" not in lr.params
    env = oslr.Environment(X, Y, 4.0, costs=prices, groups=names)
    assert (oslr.play(made(4.0, {"costs": costs}), env).predictions == oslr.simulate(made(4.0, {"costs": costs}), X, Y).predictions).all()


@given(d=st.integers(2, 20), seed=st.integers(0, 2**32), share=st.floats(0, 1.2), priced=st.booleans(), single=st.booleans())
def test_any_groups(d, seed, share, priced, single):
    "No round spends more than it may, and nothing could be added to a purchase; its size is within the bound."
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, rng.integers(1, d + 1), d)
    groups[rng.integers(d)] = 0
    if single: groups = np.arange(d)
    n, Z = len(set(groups)), rng.standard_normal((60, d))
    costs = np.where(rng.random(n) < 0.3, rng.integers(0, 3, n) * 0.1, rng.exponential(1, n)) if priced else np.ones(n)
    budget = max(float(costs.min() + share * (costs.sum() - costs.min())), 1e-3) if priced else 1 + int(share * (n - 1) / 1.2)
    if n == d and not priced: budget = max(budget, 2)
    kw = {"groups": groups} | ({"costs": costs} if priced else {})
    env = oslr.Environment(Z, Z[:, 0], budget, **kw)
    lr = PairwiseLeastSquares(d, budget, seed=seed, **kw)
    oslr.play(lr, env)
    cost = dict(zip(sorted(set(groups)), costs, strict=True))
    for _, S, _ in env.ledger:
        paid = sum(cost[g] for g in set(groups[S]))
        rest = [p for g, p in cost.items() if g not in groups[S]]
        assert paid <= budget * (1 + PRICE_SLACK) and not (np.array(rest) < (budget - paid) * (1 - 1e-6)).any() and len(S) <= lr.most
    assert spendable(lr.menu, d) <= d


def saves(V, b, S): return b[S] @ np.linalg.solve(V[np.ix_(S, S)], b[S]) if S else 0.0


def test_favourites_save_what_least_squares_saves():
    "Forward selection by blocks, and the same in numpy."
    for seed in range(20):
        rng = np.random.default_rng(seed)
        groups, costs = rng.integers(0, 6, 12), rng.exponential(1, 6)
        groups[:6] = range(6)
        lr = made(float(costs.sum() / 2), {"groups": groups, "costs": costs, "scales": (1.0,)}, seed)
        oslr.simulate(lr, X[:300], Y[:300])
        V, b = lr.moments()
        for divide in (True, False):
            S, money = [], lr.budget * (1 + PRICE_SLACK / 2)
            while True:
                left = [g for g in range(6) if g not in groups[S] and costs[g] <= money]
                gains = {g: saves(V, b, [*S, *np.flatnonzero(groups == g)]) - saves(V, b, S) for g in left}
                if not gains: break
                g = max(gains, key=lambda g: gains[g] / costs[g] if divide else gains[g])
                S, money = [*S, *np.flatnonzero(groups == g).tolist()], money - costs[g]
            found, saved = lr._bargains(lr.most, lr.budget * (1 + PRICE_SLACK / 2), divide)
            assert found.tolist() == S and abs(saved - saves(V, b, S)) < 1e-9


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(("costs", "budget", "favourites"), [*MARKETS, ((1, 1, 1, 1, 9, 8, 2, 2), 10, (5, 0))], ids=str)
def test_the_compiled_draw_has_its_law(costs, budget, favourites, grouped):
    "Frequencies of all sets of groups in 20,000 rounds that explore, and their exact chances: within five standard errors."
    n, T, counts = len(costs), 20_000, Counter()
    groups = np.r_[np.arange(n), np.arange(n)[::-1], 0] if grouped else np.arange(n)  # of two features, and one of three
    lr = PairwiseLeastSquares(len(groups), float(budget), groups=groups, costs=np.array(costs, float), explore=1.0, seed=1)
    num, held = lr.num[0], np.concatenate([np.empty(0, int), *(np.flatnonzero(groups == g) for g in favourites)])
    lr.favourites[: len(held)], num["held"] = held, len(held)
    for t in range(T):
        num["rounds"], lr._next, lr.arms[:] = t, 0, 0
        counts[frozenset(groups[lr.query()].tolist())] += 1
    exact = purchase_chances(costs, budget, favourites)
    assert set(counts) <= set(exact)
    for S, p in exact.items(): assert abs(counts[S] - T * p) <= 5 * (T * float(p * (1 - p))) ** 0.5 + 1e-9, (S, p)


def test_measurements_that_fail():
    "A value of a group that is missing: the others are learnt from; the favourites stay whole; a part costs what the group costs."
    lr, rng = made(2, {"groups": WORDS}), np.random.default_rng(3)
    Z = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    for x, y in zip(Z, Y, strict=True):
        case = lr.open()
        case.give(x[case.wants()])
        case.predict()
        case.learn(y)
    assert set(lr.favourites_) == {i for i in range(12) if WORDS[i] in ("blood", "scan")} and {2, 5, 7} <= set(np.flatnonzero(lr.coef_))
    case = lr.open(explore=False)
    assert set(case.wants()) == {i for i in range(12) if WORDS[i] in ("blood", "scan")}
    case.give(Z[0, case.wants()])
    assert abs(case.predict() - Y[0]) < 2
    lr.learn([0, 6], [1.0, 2.0], 3.0)
    assert lr.menu.price(np.array([0, 6])) == 1 and lr.menu.price(np.array([6, 4, 0])) == 2
    with pytest.raises(ValueError, match=r"price of S = 3: it must be .* at most 2"): lr.learn([0, 4, 5], [1.0, 2.0, 0.0], 3.0)
    env = oslr.Environment(Z, Y, 2, groups=WORDS)
    skipped = int(np.isnan(oslr.play(made(2, {"groups": WORDS}), env, skip=True).predictions).sum())
    assert 600 < skipped < 1200


def test_the_environment():
    env = oslr.Environment(X, Y, 9.0, costs=PRICES, groups=WORDS)
    assert "with costs, with groups" in repr(env) and env.budget == 9.0
    with pytest.raises(oslr.ProtocolError, match=r"query lacks coordinate 9, which is sold together with others"): env.observe([4])
    assert env.observe([4, 9]).tolist() == X[0, [4, 9]].tolist() and env.spent[0] == 1
    with pytest.raises(oslr.BudgetExceeded, match="query costs 10, but 8 of 9 is left"): env.observe([0, 1, 2, 3, 6, 5, 7, 8])
    with pytest.raises(ValueError, match="number of measurements = 1"): env.observe(np.ones((1, 12)))
    env.observe([5, 7, 8])
    assert env.spent[0] == 5 and env.n_observed[0] == 5
    counted = oslr.Environment(X, Y, 1, groups=WORDS)
    with pytest.raises(oslr.BudgetExceeded, match="query costs 2, but 1 of 1"): counted.observe([4, 9, 10, 11])
    other = ["b" if w == "blood" else w for w in WORDS]
    fits = oslr.play(made(2, {"groups": WORDS}), oslr.Environment(X[:50], Y[:50], 2, groups=other))  # other names for the same groups
    assert fits.spent.max() == 2 and oslr.play(made(1, {"groups": WORDS}), oslr.Environment(X[:50], Y[:50], 5)).spent is None
    for learner, kw, words in ((oslr.auto(12, 2), {"budget": 2, "groups": WORDS}, "learner.groups = None: it must be the groups"),
                               (made(2, {"groups": [0] * 6 + [1] * 6}), {"budget": 2, "groups": WORDS}, "learner.groups"),
                               (made(2, {"groups": WORDS}), {"budget": 9.0, "groups": WORDS, "costs": PRICES}, "learner.costs = None"),
                               (made(2, {"groups": WORDS}), {"budget": 4}, "learner.most = 8"),
                               (made(2, {"groups": WORDS}), {"budget": 1, "groups": WORDS}, "learner.budget = 2")):
        with pytest.raises(ValueError, match=words): oslr.play(learner, oslr.Environment(X, Y, **kw))


def test_tables_find_their_groups_by_name():
    pd = pytest.importorskip("pandas")
    names = [f"f{i}" for i in range(12)]
    table, by_name = pd.DataFrame(X, columns=names), dict(zip(reversed(names), reversed(WORDS), strict=True))
    env = oslr.Environment(table[names[::-1]], Y, 9.0, costs=PRICES, groups=by_name)
    lr = PairwiseLeastSquares(12, 9.0, groups=pd.Series(WORDS, names), costs=pd.Series(PRICES), seed=1)
    assert lr.names_ == tuple(names) and lr.params["groups"] == WORDS
    assert (oslr.play(lr, env).predictions == oslr.simulate(made(9.0, {"groups": WORDS, "costs": PRICES}), X, Y).predictions).all()
    assert Menu(2.0, None, 0, np.zeros(3, int)).prices(3).tolist() == [1, 0, 0]


test_refusals = refusals([
    ({"groups": WORDS[1:]}, r"number of groups = 11: it must be 12"), ({"groups": 3}, r"groups = 3: it must be a list of names or numbers"),
    ({"groups": "blood"}, r"number of groups = 1"), ({"groups": [*WORDS[:11], None]}, r"groups\[11\] = None: it must be a text"),
    ({"groups": [*WORDS[:11], 4]}, r"groups\[11\] = 4"), ({"groups": np.linspace(0, 1, 12)}, r"groups\[0\] = 0.0"),
    ({"groups": [True] * 12}, r"groups\[0\] = True"), ({"groups": np.zeros((12, 2))}, r"groups\[0\] = array"),
    ({"groups": dict.fromkeys("abc", 1)}, r"number of groups = 3"),
    ({"groups": WORDS, "budget": 5}, r"budget = 5: it must be an integer from 1 to 4 \(it counts groups, and there are 4\)"),
    ({"groups": WORDS, "budget": 2.5}, r"budget = 2.5"), ({"groups": WORDS, "budget": 0}, r"budget = 0"),
    ({"groups": WORDS, "costs": [1.0] * 12}, r"shape of costs = \(12,\): it must be \(4,\)"),
    ({"groups": WORDS, "costs": {**PRICES, "x": 1.0}}, "'x' is none of them"), ({"groups": WORDS, "costs": {"age": 1.0}}, "'blood' has no"),
    ({"groups": WORDS, "costs": [7.0, 6, 8, 9], "budget": 3.0}, r"budget = 3.0: it must be at least 6, the smallest price"),
    ({"groups": WORDS, "top": 1}, "top = 1: it must be None with groups"), ({"groups": WORDS, "support": "lasso"}, "'greedy' with groups"),
    ({"groups": WORDS, "average": True, "budget": 1}, r"budget = 1: it must be above 1.1"),
    ({"groups": WORDS, "average": True, "budget": 4.5}, r"budget = 4.5: it must be .* at most 4"),
    ({"groups": [0] * 2500, "d": 2500, "budget": 1}, "it buys 2500 features at once"),
], lambda kw: PairwiseLeastSquares(**{"d": 12, "budget": 2} | kw), form=r"{}[^\n]*\.$")


def test_other_learners_and_protocols():
    for ask, words in ((lambda: oslr.auto(12, 3, protocol="POSLR", groups=WORDS), "protocol = 'POSLR': it must be 'OSLR' with groups"),
                       (lambda: oslr.choice.make_learner("own.CoinBetting", 12, 2, groups=WORDS), "no other learner knows groups"),
                       (lambda: oslr.Environment(X, Y, 4, "POSLR", k=2, groups=WORDS), "groups = .*: it must be None for POSLR"),
                       (lambda: oslr.Environment(X, Y, 5, groups=WORDS), "there are d = 12 features in 4 groups"),
                       (lambda: oslr.choice.make_learner(lambda d, b, **kw: oslr.auto(d, b), 12, 2, groups=WORDS), "groups of the")):
        with pytest.raises(ValueError, match=words): ask()
    lr = oslr.choice.make_learner("auto", 12, 2, 3, groups=WORDS)
    assert type(lr) is PairwiseLeastSquares and lr.budget == 2 and "groups" in repr(lr)
    assert oslr.auto(10_000, 5, groups=np.arange(10_000) // 2).rows == oslr.auto(10_000, 5).rows
