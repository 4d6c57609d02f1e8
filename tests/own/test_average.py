"""A budget on average: what is spent, whole rows, refusals."""

import numpy as np
import pytest
from conftest import refusals

import oslr_nb as oslr

RNG = np.random.default_rng(0)
X = RNG.standard_normal((1500, 12))
Y = X[:, 1] - X[:, 4] + 0.5 * X[:, 7] + 0.3 * RNG.standard_normal(1500)
COSTS = np.arange(1, 13) / 2


@pytest.mark.parametrize("ahead", [1, 30])
@pytest.mark.parametrize(("budget", "costs"), [(4, None), (4.5, None), (9.0, COSTS)])
def test_by_hand_and_compiled_spend_the_same(budget, costs, ahead):
    "Within the books of an environment that sells on average; a learner that was saved half-way goes on."
    make = lambda: oslr.auto(12, budget, costs=costs, average=True, ahead=ahead, seed=1)
    env = oslr.Environment(X, Y, budget, costs=costs, average=True, ahead=ahead)
    by_hand, lr = oslr.play(make(), env), make()
    parts = [oslr.simulate(lr, X[:700], Y[:700]), oslr.simulate(lr, X[700:], Y[700:])]
    assert np.array_equal(by_hand.predictions, np.concatenate([p.predictions for p in parts]))
    spent = by_hand.n_observed if costs is None else by_hand.spent
    assert 0.9 * budget < spent.mean() <= budget + ahead * env.menu.row(12) / 1500 and (by_hand.n_observed == 12).sum() > ahead
    assert by_hand.losses[-500:].mean() < 0.2 * Y.var()


def test_whole_rows_ahead_are_worth_it():
    "With the same total, whole rows early and favourites afterwards lose less than as many values in each round."
    rng, T = np.random.default_rng(2), 4000
    Z = rng.standard_normal((T, 40))
    y = Z[:, :5] @ [1.0, -1, 0.8, 0.6, -0.5] + 0.3 * rng.standard_normal(T)
    runs = [oslr.simulate(oslr.auto(40, budget, seed=0, **kw), Z, y) for budget, kw in ((8, {}), (7, {"average": True, "ahead": T // 40}))]
    assert runs[1].losses.mean() < 0.85 * runs[0].losses.mean() and runs[1].n_observed.mean() <= 8


def test_wide_rows_are_predicted_from_favourites():
    Z = np.random.default_rng(3).standard_normal((800, 150))
    run = oslr.simulate(lr := oslr.auto(150, 6, average=True, seed=0), Z, Z[:, 5] - Z[:, 9])
    assert np.isfinite(run.predictions).all() and set(np.unique(run.n_observed)) <= {0, 3, 4, 5, 150} and lr.most == 150


test_refusals = refusals([
    ({"budget": 13}, "budget = 13"), ({"budget": 1}, "budget = 1"), ({"top": 2}, "top = 2"),
    ({"rows": 12}, "rows = 12"), ({"support": "lasso"}, "support = 'lasso'"), ({"ahead": 0}, "ahead = 0"), ({"d": 2001}, "d = 2001"),
    ({"average": 1}, "average = 1"), ({"average": False, "ahead": 3}, "ahead = 3"),
], lambda kw: oslr.own.PairwiseLeastSquares(**{"d": 12, "budget": 4, "average": True} | kw), form=r"{}: it must be [^\n]*\.$")


def test_environments_that_sell_less_refuse():
    lr = oslr.auto(12, 4, average=True, ahead=3, seed=0)
    for env, words in ((oslr.Environment(X, Y, 4), "rows ahead"), (oslr.Environment(X, Y, 4, average=True), "rows ahead"),
                       (oslr.Environment(X, Y, 3.5, average=True, ahead=3), "learner.budget = 4")):
        with pytest.raises(ValueError, match=words): oslr.play(lr, env)
    env = oslr.Environment(X, Y, 4, average=True)
    env.observe(range(12))
    env.predict(0.0)
    words = "query costs 12, but 8 may be spent in round 2, with 4 a round on average"
    with pytest.raises(oslr.BudgetExceeded, match=words): env.observe(range(12))
    with pytest.raises(ValueError, match="average = True: it must be False for POSLR"):
        oslr.Environment(X, Y, 4, "POSLR", k=2, average=True)
    with pytest.raises(ValueError, match="protocol = 'POSLR'"): oslr.auto(12, 4, protocol="POSLR", average=True)
    with pytest.raises(ValueError, match="ahead = 3: it must be 1 without average"): oslr.Environment(X, Y, 4, ahead=3)
