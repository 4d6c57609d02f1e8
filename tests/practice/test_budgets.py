"""How much to buy: curves of loss against the budget, what is enough, how soon a learner is there, and what stands in the way."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from conftest import command

import oslr_nb as oslr
from oslr_nb.practice import report
from oslr_nb.practice.budgets import budgets_of, enough, loss_curve, residual, rounds_needed, steps
from oslr_nb.practice.recommend import most_rounds, read_sample
from oslr_nb.practice.tables import run_table as report_run

RNG = np.random.default_rng(3)
N, D = 1200, 10
X = RNG.standard_normal((N, 3)) @ RNG.standard_normal((3, D)) / 2 + RNG.standard_normal((N, D))
Y = 2 * X[:, 1] - X[:, 4] + 0.7 * X[:, 8] + 0.5 * RNG.standard_normal(N)
COSTS = np.where(np.isin(np.arange(D), (1, 4, 8)), 4.0, 1.0)


def moments(X, y):
    Z = np.column_stack([X, y, np.ones(len(y))])
    return Z.T @ Z


def test_the_residual_is_that_of_least_squares():
    "With a ridge of as many features as a share of the rows; for all features, and for the best three."
    for budget, S in ((10, np.arange(10)), (3, [1, 4, 8])):
        v = residual(moments(X, Y), budget, None)
        Z = (X - X.mean(axis=0))[:, S] / X.std(axis=0)[S]
        w = np.linalg.solve(Z.T @ Z / N + len(S) / N * np.eye(len(S)), Z.T @ (Y - Y.mean()) / N)
        found = np.column_stack([X, Y, np.ones(N)]) @ v
        assert np.allclose(found, Y - Y.mean() - Z @ w) and set(np.flatnonzero(v[:-2])) == set(S)
    assert np.flatnonzero(residual(moments(X, Y), 5.0, COSTS)[:-2]).size == 2, "one that matters, and one that is cheap"


def test_the_curve_is_cross_validation_by_blocks_of_neighbours():
    budgets = budgets_of(D, 3)
    curve, E = loss_curve(X, Y, budgets), []
    for rows in np.array_split(np.arange(N), 10):
        kept = np.setdiff1d(np.arange(N), rows)
        out = np.column_stack([X, Y, np.ones(N)])[rows] @ np.array([residual(moments(X[kept], Y[kept]), b, None) for b in budgets]).T
        predicted = np.clip(Y[rows, None] - out, Y[kept].min(), Y[kept].max())
        E.append([np.mean((Y[rows] - Y[kept].mean()) ** 2), *np.mean((Y[rows, None] - predicted) ** 2, axis=0)])
    mean = np.mean(E, axis=0)
    assert np.allclose([o.loss for o in curve], mean[1:] / mean[0]) and [o.budget for o in curve] == budgets == [2, 3, 4, 5, 6, 8, 10]
    assert enough(curve).budget == 3 and all(0 < o.error < 0.1 for o in curve) and curve[1].words.startswith(f"{1 - curve[1].loss:.1%} (")


def test_curves_do_not_depend_on_units_and_know_prices():
    one = loss_curve(X, Y, [3.0, 10.0])
    two = loss_curve((X + 7) * 10.0 ** np.arange(-5, 5), 1e6 * Y - 3, [3.0, 10.0])
    assert np.allclose([(o.loss, o.error) for o in one], [(o.loss, o.error) for o in two], rtol=1e-6)
    curve = loss_curve(X, Y, budgets_of(D, 8.0, COSTS), COSTS)
    assert [o.budget for o in curve] == [2, 4, 6, 8, 12, 16, 19] and round(curve[-1].features, 6) == D
    assert round(curve[0].features, 6) == 2 and enough(curve).budget == 12 and curve[-1].loss == pytest.approx(one[-1].loss)


def test_of_few_things_with_prices_every_sum_is_tried_and_the_steps_are_shown():
    "Three bundles of 1.5, 2.5 and 0.3, of which the last is of no use: no budget between their sums, none at which nothing is won."
    prices, groups = np.array([1.5, 2.5, 0.3]), np.repeat([0, 1, 2], 2)
    Z = RNG.standard_normal((800, 6))
    y = Z[:, 0] + Z[:, 2] + 0.5 * RNG.standard_normal(800)
    budgets = budgets_of(3, 3.0, prices)
    assert budgets == [0.3, 1.5, 1.8, 2.5, 2.8, 3.0, 4.0, 4.3]
    curve = steps(loss_curve(Z, y, budgets, prices, groups), 3.0, prices)
    assert [o.budget for o in curve] == [1.5, 3.0, 4.0, 4.3] and enough(curve).budget == 4
    assert len(budgets_of(6, 3.0, np.ones(6))) < 9 and steps(curve, 3.0, np.ones(6)) is curve
    answer = oslr.recommend(Z, y, costs={"a": 1.5, "b": 2.5, "c": 0.3}, groups=["a", "a", "b", "b", "c", "c"])
    assert answer.call.startswith("oslr.auto(6, 4, ") and "**4 is enough**" in str(answer)


@pytest.mark.parametrize(("X", "y"), [(X[:19], Y[:19]), (X[:50], np.ones(50)), (np.ones((50, 3)), Y[:50])])
def test_where_there_is_nothing_to_say(X, y):
    assert enough(loss_curve(X, y, [2.0, 3.0])) is None
    oslr.recommend(X, y, budget=2)


def test_a_constant_in_a_group_changes_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] + X[:, 1] - X[:, 2] + 0.1 * rng.normal(size=300)
    plain = loss_curve(X, y, [1, 2, 3], None, np.array([0, 0, 1, 2]))
    constant = loss_curve(np.column_stack([X, np.ones(300)]), y, [1, 2, 3], None, np.array([0, 0, 1, 2, 0]))
    assert [o.loss for o in constant] == pytest.approx([o.loss for o in plain], rel=1e-2) and plain[0].loss < 0.6


def test_the_rounds_are_those_after_which_the_loss_stays_low():
    class Late:  # is right after 500 rounds
        def __init__(self, seed): self.seed = seed
    v, lost = residual(moments(X, Y), 3, None), (np.column_stack([X, Y, np.ones(N)]) @ residual(moments(X, Y), 3, None)) ** 2
    def simulate(learner, X, y, rows):
        late = np.where(np.arange(len(rows)) < 500 * (1 + learner.seed), lost.mean(), 0)
        return type("Run", (), {"losses": lost[rows] + late})
    with pytest.MonkeyPatch.context() as m:
        m.setattr("oslr_nb.practice.budgets.simulate", simulate)
        usual, *each = rounds_needed(Late, X, Y, v, 4000)
        assert each == sorted(each) and 500 <= each[0] <= 800 and 2000 <= each[-1] <= 3000 and each[0] < usual <= each[-1]
        assert rounds_needed(Late, X, Y, v, 300)[0] == math.inf
    usual, *each = rounds_needed(lambda seed: oslr.auto(D, 5, seed=seed), X, Y, v, 10_000)
    assert len(each) == 4 and usual < 10_000


def test_what_is_said_of_a_plain_sample():
    a = oslr.recommend(X, Y)
    assert a.budget == 3 and a.call == "oslr.auto(10, 3)" and "**3 is enough**" in str(a) and "None is seen" in str(a)
    assert "**Rounds.**" in str(a) and "In the order of these rows" in str(a) and "whole number" not in str(a)
    assert "**3 would be enough**" in str(oslr.recommend(X, Y, budget=6))
    b = oslr.recommend(X, Y, costs=COSTS)
    assert b.budget == enough(b.curve).budget and f"oslr.auto(10, {b.budget:g}, costs=costs)" in str(b) and "| money |" in str(b)
    noise = oslr.recommend(X, RNG.standard_normal(N))
    assert "No budget explains the label" in str(noise) and noise.budget == 2
    place = np.repeat(np.arange(20), N // 20)  # rows of a place come together, and no other part knows its level
    level = RNG.standard_normal(20)[place]
    vague = str(oslr.recommend(np.column_stack([np.eye(20)[place], X[: len(place), :2]]), level, groups=[0] * 20 + [1, 2]))
    assert "The sample does not show whether a budget explains the label" in vague and "a sorted table" in vague


def test_what_stands_in_the_way_is_said(tmp_path):
    t = np.arange(N)
    Z = np.column_stack([X, X[:, 0] * 3 + 1, np.ones(N), 5000 + 3 * t])
    said = str(oslr.recommend(Z, Y, budget=3))
    assert "copies of each other: x0 = x10" in said and "constant: x11" in said and "'x12' is a whole number" in said
    turned = oslr.recommend(X, np.where(t < N / 2, 1, -1) * Y, budget=3)
    assert "The law changes" in str(turned) and "if it forgets nothing" in str(turned)
    order = np.argsort(Y)
    assert "sorted by the label" in str(oslr.recommend(X[order], Y[order], budget=3)) and "sorted" not in str(turned)
    np.savetxt(tmp_path / "a.csv", np.column_stack([Z, Y]), delimiter=",", header=",".join(f"x{i}" for i in range(13)) + ",y", comments="")
    told = command("recommend", tmp_path / "a.csv", "--target", "y")
    assert told.exit_code == 0 and "'x12'" in told.output and told.output.count("x12") <= 3 and "CoinBetting" not in told.output
    few = command("recommend", tmp_path / "a.csv", "--target", "y", "--theory", "--ignore", "x12")
    assert few.exit_code == 0 and "CoinBetting" in few.output and "x12" not in few.output


def test_the_report_shows_other_budgets_of_small_tables(tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 6))
    y = X[:, 1] - X[:, 4] + 0.5 * rng.normal(size=400)
    pa.csv.write_csv(pa.table({f"f{i}": X[:, i] for i in range(6)} | {"y": y}), tmp_path / "t.csv")
    found = report_run(tmp_path / "t.csv", target="y", budget=3, out=tmp_path / "a")["budgets"]
    wanted = loss_curve(X, y, budgets_of(6, 3))
    assert found == [pytest.approx([o.budget, o.loss, o.error, o.features], rel=1e-6) for o in wanted]
    for name in ("report.md", "report.html"): assert all(o.words in (tmp_path / "a" / name).read_text() for o in wanted)
    monkeypatch.setattr(report, "WHOLE", 2399)
    assert report_run(tmp_path / "t.csv", target="y", budget=3, out=tmp_path / "b")["budgets"] is None
    assert "shown of tables with up to 2,399 numbers" in (tmp_path / "b" / "report.html").read_text()


def test_rounds_are_fewer_where_a_word_has_many_values():
    "What a round may buy decides how many are played: a group of 150 dummies is one thing to buy, and 150 features."
    place = np.arange(600) % 150
    Z = np.column_stack([np.eye(150)[place], RNG.standard_normal((600, 3))])
    for options in ({"budget": 2}, {"budget": 3.0, "costs": [2.0, 1.0, 1.0, 1.0]}):
        s = read_sample(Z, Z[:, 150], groups=[0] * 150 + [1, 2, 3], **options)
        assert 149 <= s.widest <= 153 and 500 < most_rounds(s) <= 4e9 / 149**3
    assert read_sample(X, Y, 3).widest == 3 and most_rounds(read_sample(X, Y, 3)) == 20_000
