"""Budgets of money: who sells, who buys, and what is refused; that no round spends more is in test_groups.py."""

import numpy as np
import pytest
from conftest import refusals, refused

import oslr_nb as oslr
from oslr_nb.core.base.storage import read_file, write_file
from oslr_nb.core.game.environment import PRICE_SLACK
from oslr_nb.own.choice import make_learner, priced_learners
from oslr_nb.own.moments.learner import PairwiseLeastSquares
from oslr_nb.practice.adapters import OSLRLearner, OSLRRegressor

RNG = np.random.default_rng(0)
X = RNG.standard_normal((1200, 12))
Y = X[:, 2] - 0.5 * X[:, 7] + 0.4 * X[:, 5] + 0.1 * RNG.standard_normal(1200)
COSTS = np.array([1.0, 2.5, 3.3, 0.0, 7.0, 0.5, 20.0, 4.0, 1.0, 0.0, 6.0, 0.1])  # one dear, two for nothing


def priced(budget=9.0, costs=COSTS, **kw): return PairwiseLeastSquares(len(costs), budget, costs=costs, **({"seed": 1} | kw))


def test_equal_prices_are_a_count():
    "The same favourites, nearly the loss, in any unit of money; nothing to choose where all can be had, as with a count of d."
    Z = np.random.default_rng(3).standard_normal((4000, 20)) @ (np.eye(20) + 0.1)
    y = Z[:, :5] @ [2.0, -1.5, 1.2, 1.0, 0.8] + 0.3 * np.random.default_rng(4).standard_normal(4000)
    count, money = PairwiseLeastSquares(20, 6, seed=1), priced(6.0, np.ones(20))
    a, b = oslr.simulate(count, Z, y), oslr.simulate(money, Z, y)
    assert set(count.favourites_[:5]) == set(money.favourites_[:5]) == set(range(5)) and (b.n_observed == 6).all()
    assert money.most == 6 and 0.5 < b.losses[2000:].mean() / a.losses[2000:].mean() < 2
    other = priced(6.0 * 2**20, np.full(20, 2.0**20))
    assert (oslr.simulate(other, Z, y).predictions == b.predictions).all()
    for budget, costs in ((1e-9, np.zeros(12)), (1.2, np.full(12, 0.1))):  # twelve times 0.1 is more than 1.2
        lr = priced(budget, costs)
        run = oslr.simulate(lr, X, Y)
        assert lr.most == 12 and not lr.favourites_.size and (run.n_observed == 12).all()
        assert abs(run.losses[-600:].mean() / oslr.simulate(oslr.auto(12, 12, seed=1), X, Y).losses[-600:].mean() - 1) < 1e-6


@pytest.mark.parametrize(("costs", "budget", "weights", "favourites"), [
    ([10.0, 6.0, 6.0], 12.0, [1.0, 0.8, 0.8], {1, 2}),  # by gain per price the two cheap ones
    ([10.0, 6.0, 10.0], 12.0, [1.0, 0.8, 0.8], {0}),  # only one of these fits: the best
    ([10.0, 6.0, 0.0], 12.0, [1.0, 0.8, 0.8], {0, 2}),  # and what is free comes with it
    ([0.01, *[10.0] * 5], 10.0, [0.2, 2.0, 0, 0, 0, 0], {1}),  # a crumb with the best quotient does not cost the dear feature
    ([0.6] * 6, 1.0, [0.5, 1.0, 0, 0, 0, 0.4], {1}),  # no pair can be had, and none is needed
], ids=str)
def test_bargains(costs, budget, weights, favourites):
    Z, lr = np.random.default_rng(5).standard_normal((6000, len(costs))), priced(budget, np.array(costs))
    oslr.simulate(lr, Z, Z @ weights)
    assert set(lr.favourites_) == favourites


def test_late_labels():
    "A whole round from outside is the round of its own; a purchase that the budget does not pay is refused."
    plain, late = priced(), priced()
    oslr.simulate(plain, X[:300], Y[:300])
    for t in range(300):
        S, explored = late.query(), late.explored_
        late.skip()
        assert late.predict_from(S, X[t, S]) == late.learn(S, X[t, S], Y[t], explored=explored)
    names = [n for n in late.arrays if n != "mark"]
    assert all((getattr(late, n) == getattr(plain, n)).all() for n in names)
    for S, words in (([2, 7, 4], r"price of S = 14.3: .* at most 9"), ([6], "price of S = 20")):
        with pytest.raises(ValueError, match=words): late.learn(S, np.zeros(len(S)), 1.0)


def test_large_d():
    "Ten thousand prices, rows of pairs: a purchase costs what it buys, not d."
    rng = np.random.default_rng(2)
    Z, costs = rng.standard_normal((1500, 10_000)).astype(np.float32), rng.uniform(0.5, 2, 10_000)
    lr = priced(8.0, costs, rows=100)
    run = oslr.simulate(lr, Z, 3 * Z[:, 0].astype(float))
    assert np.isfinite(run.predictions).all() and run.spent.max() <= 8 * (1 + PRICE_SLACK) and 4 <= run.n_observed.min()
    assert "costs" not in repr(lr)
    again = oslr.play(priced(8.0, costs, rows=100), oslr.Environment(Z[:300], 3 * Z[:300, 0].astype(float), 8.0, costs=costs))
    assert (again.predictions == run.predictions[:300]).all()


test_nonsense_is_refused_in_one_sentence = refusals([
    ({"costs": COSTS[:3]}, r"shape of costs = \(3,\): it must be \(12,\)"),
    ({"costs": -COSTS}, r"costs\[0\] = -1.0: it must be a price of at least 0"),
    ({"costs": np.where(COSTS == 7, np.nan, COSTS)}, r"costs\[4\] = nan: it must be a finite number"),
    ({"costs": np.where(COSTS == 7, 1e200, COSTS)}, "costs"),
    ({"costs": COSTS + 10}, r"budget = 9.0: it must be at least 10, the smallest price"),
    ({"budget": 0}, "budget = 0: it must be a finite number above 0"), ({"budget": "9"}, "budget = '9'"),
    ({"top": 2}, "top = 2: it must be None with costs"), ({"support": "exact"}, "support = 'exact': it must be 'greedy' with costs"),
    ({"d": 3000, "costs": np.zeros(3000)}, "it buys 3000 features"),
], lambda kw: PairwiseLeastSquares(**{"d": 12, "budget": 9.0, "costs": COSTS} | kw))


def test_the_environment():
    "A learner that counts may be sold to if no purchase of its size can be too dear; then the money is booked too."
    env = oslr.Environment(X, Y, 0.3, costs=np.full(12, 0.1))
    assert env.observe([0, 1]).tolist() == X[0, :2].tolist() and env.observe([2]).size == 1  # 0.1 + 0.1 + 0.1 is more than 0.3
    with pytest.raises(oslr.environment.BudgetExceeded, match=r"query costs 0.1, but 0 of 0.3 is left in round 1\."): env.observe([3])
    assert env.n_observed[0] == 3 and abs(env.spent[0] - 0.3) < 1e-15 and "costs" in repr(env)
    with pytest.raises(ValueError, match="number of measurements = 1: it must be 0"): env.observe(np.ones((1, 12)))
    env.skip()
    assert env.observe([0]).size == 1
    for kw in ({"protocol": "POSLR", "k": 2}, {"costs": [1.0]}, {"budget": -1.0}, {"budget": np.nan}):
        with pytest.raises(ValueError, match="it must be"): oslr.Environment(X, Y, **{"budget": 1.0, "costs": COSTS} | kw)
    assert oslr.Environment(X, Y, 2).spent is None and oslr.simulate(oslr.auto(12, 2), X, Y).spent is None
    run = oslr.play(oslr.auto(12, 3, seed=0), oslr.Environment(X, Y, 33.0, costs=COSTS))
    assert run.spent.max() <= 33 and (run.n_observed == 3).all() and run.spent.min() < 10
    train = oslr.play(oslr.auto(12, 3, protocol="training-only", seed=0), oslr.Environment(X, Y, 33.0, "training-only", costs=COSTS))
    assert (train.spent > 0).any() and oslr.play(priced(), oslr.Environment(X[:50], Y[:50], 12)).spent is None
    for learner, kw, words in ((oslr.auto(12, 3), {"budget": 32.0, "costs": COSTS}, "dearest purchase = 33.0: .* at most 32"),
                               (priced(), {"budget": 8.0, "costs": COSTS}, "learner.budget = 9.0: .* at most 8"),
                               (priced(), {"budget": 9.0, "costs": COSTS + 1}, "learner.costs = .*: it must be the prices of the env"),
                               (priced(), {"budget": 3}, "learner.most = 8: ")):
        with pytest.raises(ValueError, match=words): oslr.play(learner, oslr.Environment(X, Y, **kw))


def test_auto_and_make_learner():
    lr = oslr.auto(12, 9.0, costs=COSTS, seed=3)
    assert type(lr) is PairwiseLeastSquares and (lr.costs == COSTS).all() and lr.budget == 9.0
    assert oslr.auto(10_000, 5.0, costs=np.ones(10_000)).rows == oslr.auto(10_000, 5).rows
    with pytest.raises(ValueError, match=r"budget = 400: it must be less .it buys 400 features at once, and for d = 100000 .* fit for 55"):
        oslr.auto(100_000, 400, costs=np.ones(100_000))
    assert priced_learners() == ["own.PairwiseLeastSquares"]
    a, b = make_learner("auto", 12, 9.0, 3, COSTS), make_learner("own.PairwiseLeastSquares", 12, 9.0, 3, costs=COSTS)
    assert (oslr.simulate(a, X, Y).predictions == oslr.simulate(b, X, Y).predictions).all()
    for learner in ("own.CoinBetting", "ito2017.RDA2"):
        with pytest.raises(ValueError, match=f"learner = '{learner}': it must be \"auto\" or own.PairwiseLeastSquares"):
            make_learner(learner, 12, 9.0, costs=COSTS)
    for made, words in ((lambda d, b, seed: oslr.auto(d, 3), "costs= and seed= alone"),
                        (lambda d, b, seed, costs: oslr.auto(d, 3), "costs of the learner"),
                        (lambda d, b, seed, costs: oslr.auto(d, 2 * b, costs=costs), "budget of the learner = 18.0: .* at most 9")):
        with pytest.raises(ValueError, match=words): make_learner(made, 12, 9.0, costs=COSTS)
    for options in ("k=2", ["k"], 1, {"explore"}):
        with pytest.raises(ValueError, match=r"options = .* a dict of further"): make_learner("auto", 12, 9, options=options)
    with pytest.raises(ValueError, match="k = 2: it must be None"): oslr.auto(12, 9.0, costs=COSTS, k=2)
    for protocol in ("POSLR", "training-only"):
        with pytest.raises(ValueError, match=f"protocol = '{protocol}': it must be 'OSLR' with costs"):
            oslr.auto(12, 9.0, costs=COSTS, protocol=protocol)


def test_adapters():
    "Prices by name, and those that lack a feature, are in test_reports.py."
    pd, names = pytest.importorskip("pandas"), [f"f{i}" for i in range(12)]
    plain = OSLRRegressor(9.0, costs=COSTS, random_state=0).fit(X, Y)
    table, by_name = pd.DataFrame(X, columns=names), pd.Series(COSTS, names)
    assert COSTS[plain.features_].sum() <= 9 * (1 + PRICE_SLACK) and plain.score(X, Y) > 0.9
    assert OSLRRegressor(costs=COSTS, random_state=0).fit(X, Y).learner_.budget == COSTS.sum() / 2
    for wrong, words in ((COSTS[1:], "shape of costs"), (dict(by_name) | {"f3": "x"}, r"costs\['f3'\]"),
                         (pd.concat([by_name, by_name[["f3"]]]), r"costs\['f3'\]")):
        with refused(words): OSLRRegressor(9.0, costs=wrong).fit(table, Y)
    model = OSLRLearner(9.0, costs=dict(by_name), seed=0)  # what it reads is in test_adapters.py
    for x, y in zip(table.to_dict("records")[:50], Y, strict=False): model.learn_one(x, y)
    assert model.learner_.costs.tolist() == by_name[list(model.names_)].tolist() and model.learner_.budget == 9


def test_damaged_files(tmp_path):
    "What is sold is a count that a purchase can have."
    lr = priced()
    lr.predict(X[0, lr.query()])
    lr.save(tmp_path / "a.npz")
    header, data = read_file(tmp_path / "a.npz")
    for sold in (-1, lr.most + 1):
        write_file(tmp_path / "b.npz", header, data | {"sold": np.array([sold])})
        with pytest.raises(ValueError, match="whole file written by save"): oslr.load(tmp_path / "b.npz")
