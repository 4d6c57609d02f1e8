"""oslr.recommend: streams on which each assumption holds or fails by construction, horizons, and what it refuses."""

import itertools
import math
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow
import pyarrow.csv
import pytest
from conftest import command as oslr_command
from conftest import refusals
from pyarrow import parquet

import oslr_nb as oslr
from oslr_nb.practice import recommend as advice

RNG = np.random.default_rng(0)
N, D = 3000, 8
X = RNG.uniform(-1, 1, (N, D))
W = np.array([1.0, 0, 0, -0.5, 0, 0, 0, 0])
NOISE = 0.1 * RNG.standard_normal(N)
Y = X @ W + NOISE


def found(X, y=None, budget=6, **kw): return oslr.recommend(X, y, budget=budget, **kw)


@pytest.fixture(scope="module")
def clean(): return found(X, Y)


def test_a_sample_in_which_nothing_stands_in_the_way(clean):
    assert clean.call == "oslr.auto(8, 6)" and "None is seen" in str(clean) and "Columns" not in str(clean)
    assert clean.losses["auto, second half"] < 2 * np.mean(NOISE**2) / np.mean(Y**2)
    scaled = found(X * 10.0 ** np.arange(-4, 4), 1e-3 * Y + 10)  # nor does the zero of the label matter
    assert scaled.losses["auto"] == pytest.approx(clean.losses["auto"])
    for factor in (1e-300, 1e50): assert found(X * factor, Y * factor).losses["auto"] == pytest.approx(clean.losses["auto"])


def copied(X): return np.column_stack([X, X[:, -1]])


def test_change():
    t = np.arange(N)[:, None] / N
    for moved in (X + 0.3 * (t > 0.5), X * (1 + 0.5 * (t > 0.5)), X + 2 * t): assert "The law changes" in str(found(moved, None))
    jump = found(X, np.where(t[:, 0] < 0.5, 1, -1) * Y)
    assert jump.call == "oslr.auto(8, 6)" and "The law changes" in str(jump)
    assert "only 99 examples" in str(found(X[:99], Y[:99])) and "The law changes" in str(found(X, np.sort(Y)))


def test_a_false_alarm_is_rare():
    "The chance is below 0.01 in each of 60 draws: more than five alarms have a chance below 1e-4."
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((400, 6))
        alarms += advice.drift(advice.read_sample(x, x[:, 0] + rng.standard_normal(400), 4))[0]
    assert alarms <= 5, alarms


def test_every_learner_has_a_row(clean):
    "Also where the budget is too small for it, and where features are copies or fewer rows than features."
    names = [n for n, e in oslr.LEARNERS.items() if e.protocol == "OSLR"]
    for told in (clean, found(copied(X), Y), found(X[:5], Y[:5]), found(np.zeros((200, 4)), np.ones(200), budget=4)):
        rows = [line for line in told.theory.split("\n") if line.startswith("|")][2:]
        assert told._repr_markdown_() == str(told) and [row.split(" | ")[0] for row in rows] == [f"| {n}" for n in names]
        assert all(row.count("|") == 4 for row in rows)
    assert "| nothing: budget 2 below 2 + k |" in found(X, Y, budget=2).theory
    for n in ("ito2017.RDA1", "foster2016.FKK"): assert re.search(rf"{n} .*from T = ", clean.theory)
    assert not re.search("ito2017.RDA1 .*from T = ", found(copied(X), Y).theory)  # they divide by the smallest eigenvalue


def test_the_horizon_of_a_bound(clean):
    "RDA1 at its horizon, with the step of the theorem: less loss than predicting the mean."
    c, gain = advice.constants(clean.sample)
    Z, y = (X - X.mean(axis=0)) / X.std(axis=0), (Y - Y.mean()) / Y.std()
    assert c.low == pytest.approx(math.sqrt(np.linalg.eigvalsh(Z.T @ Z / N)[0]))
    assert gain == pytest.approx(1 - np.mean(NOISE**2) / np.var(Y), abs=0.01)
    for name in ("ito2017.RDA1", "foster2016.FKK", "kale2017.DantzigOSLR", "ito2018.LinearProjection"):
        bound = partial(oslr.LEARNERS[name].bound_of, c)
        T = int(advice.horizon(bound, gain))
        assert bound(T) < gain * T and bound(round(0.99 * T)) > gain * round(0.99 * T) and f"from T = {T:.2g} |" in clean.theory, name
    assert advice.horizon(lambda T: float(int("x")), 0.1) is None
    T = int(advice.horizon(partial(oslr.LEARNERS["ito2017.RDA1"].bound_of, c), gain))
    norm, w = float(np.linalg.norm(Z, axis=1).max()), float(np.linalg.norm(np.linalg.lstsq(Z, y, rcond=None)[0]))
    lr = oslr.ito2017.RDA1(D, 6, top=2, x_norm=norm, y_max=float(np.abs(y).max()), radius=w, seed=0)
    assert oslr.simulate(lr, Z, y, rows=np.random.default_rng(0).integers(N, size=T)).losses.mean() < np.mean(y**2)


@pytest.mark.parametrize(("features", "labels"), [(8.0, 1.0), (1.0, 8.0)])
def test_bounds_do_not_depend_on_units(clean, features, labels):
    "Those of Kale et al. are for features of the size that `recommend` gives them."
    c, bounds = advice.constants(clean.sample)[0], {k: e.bound_of for k, e in oslr.LEARNERS.items()}
    other = replace(c, w=c.w * labels / features, norm=c.norm * features, entry=c.entry * features, label=c.label * labels,
                    low=c.low * features, high=c.high * features, phi=c.phi * features, sigma=c.sigma * labels)
    keys = [k for k, bound in bounds.items() if bound and k != "li2025.DSOSLRC" and (features == 1 or not k.startswith("kale2017.Dantzig"))]
    assert len(keys) > 10
    for key, T in itertools.product(keys, (10**3, 10**12)):
        assert bounds[key](other, T) == pytest.approx(labels**2 * bounds[key](c, T)), key


def test_tables_without_labels_with_names_and_with_odd_columns():
    a = found(X)
    assert a.losses == {} and a.curve == [] and "Without labels" in a.theory
    table = pyarrow.table({f"f{i}": X[:, i] for i in range(D)} | {"flat": np.ones(N)})
    for t in (table, table.to_pandas()): assert "constant: flat" in str(found(t, Y))
    assert "copies of each other: x7 = x8" in str(found(copied(X), Y))
    assert "copies" not in str(found(np.column_stack([X, X[:, :3].sum(axis=1)]), Y))  # no two of them are
    assert found(X > 0, Y > 0).n == N and found(X.astype(np.float32), Y).d == D and found((10 * X).astype(int), list(Y)).n == N
    assert "none below 5e14" in found(X, np.zeros(N)).theory and found(X[:2], Y[:2]).n == 2


test_what_it_refuses_in_one_sentence = refusals([
    ((X, Y), {"budget": 9}, "budget = 9: it must be an integer from 2 to 8"),
    ((X,), {"budget": None}, "budget = None: it must be given"),
    ((X, Y[:-1]), {}, "shape of y"), ((X[0], Y), {}, r"X = 'float64 array of shape \(8,\)': it must be numbers"),
    ((X[:, :1], Y), {}, "number of columns of X = 1: it must be"), ((X[:1], Y[:1]), {}, "number of rows of X = 1: it must be at least 2"),
    ((np.where(np.arange(N)[:, None] == 7, np.nan, X), Y), {}, r"X\[7, 0\] = nan: it must be a finite number"),
    ((X, np.where(np.arange(N) == 3, np.inf, Y)), {}, r"y\[3\] = inf: it must be a finite number"),
    ((1e70 * X, Y), {}, r"X\[0, 0\] = "), ((X.astype(str), Y), {}, "X = "),
    ((X, Y), {"groups": [0, 1]}, "number of groups = 2: it must be 8"),
    ((X, Y), {"groups": [0, 0, 0, 1, 1, 1, 2, 2]}, "budget = 6: it must be"),
    ((X, Y), {"groups": [0] * 4 + [1] * 4, "costs": [1, 2, 3]}, "shape of costs"),
], lambda args, kw: found(*args, **kw), form="^{}")


WORD = RNG.integers(3, size=500)
KIND = {"1": WORD == 0, "2": WORD == 1, "3": WORD == 2, "m": WORD > 0, "f": WORD == 0, "0": WORD < 0, "b": RNG.random(500) < 0.5}


@pytest.mark.parametrize(("columns", "spare"), [
    ("zb", []), ("bbz", []), ("123", [2]), ("z123", [3]), ("z321qmf", [3, 6]), ("mf", []), ("fmz", [1]), ("z0123", [4]), ("b123b", [3]),
])
def test_dummies_are_not_blamed(columns, spare):
    "1, 2, 3 are dummies of a word, m, f of another; b is a flag, 0 a constant, and all else are numbers."
    M = np.column_stack([KIND.get(c, RNG.standard_normal(500)) for c in columns]).astype(float)
    told = oslr.recommend(M, M @ np.ones(len(columns)) + RNG.standard_normal(500), budget=2)
    assert told.spare == [f"x{i}" for i in spare] and told.d == len(columns) and told.call.startswith(f"oslr.auto({len(columns)}, 2")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    "The same sample as CSV and as Parquet."
    folder, names = tmp_path_factory.mktemp("tables"), [f"f{i}" for i in range(D)] + ["label"]
    np.savetxt(folder / "a.csv", np.column_stack([X, Y])[:400], delimiter=",", header=",".join(names), comments="", fmt="%.17g")
    parquet.write_table(pyarrow.table(dict(zip(names, np.column_stack([X, Y])[:400].T, strict=True))), folder / "a.parquet")
    return folder


command = partial(oslr_command, "recommend")


def test_the_command_says_what_the_function_says(files):
    said = [command(files / name, "--target", "label", "--budget", 6, "--theory") for name in ("a.csv", "a.parquet")]
    assert said[0].exit_code == said[1].exit_code == 0 and said[0].output == said[1].output
    table = pyarrow.table({f"f{i}": X[:400, i] for i in range(D)})
    told = found(table, Y[:400])
    assert said[0].output.strip() == f"{told}\n\n{told.theory}"


def test_the_command_reads_as_run_does(tmp_path):
    "Text is encoded, a missing value is the mean of the known ones, a column is left out."
    city = np.array(["Oslo", "Rome"])[(X[:300, 0] > 0).astype(int)]
    gaps = pyarrow.array(np.where(np.arange(300) % 7 == 0, np.nan, X[:300, 1]), from_pandas=True)
    columns = {"when": [f"2024-01-{1 + i % 28:02}" for i in range(300)], "city": city, "size": gaps, "label": Y[:300]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    options = ("--target", "label", "--budget", 2, "--encode", "--impute", "--ignore", "when")
    size = np.where(np.arange(300) % 7 == 0, gaps.drop_null().to_numpy().mean(), X[:300, 1])
    table = pyarrow.table({"city=Oslo": 1.0 * (city == "Oslo"), "city=Rome": 1.0 * (city == "Rome"), "size": size})
    told = command(tmp_path / "a.parquet", *options).output.strip()
    same = oslr.recommend(table, Y[:300], budget=2, groups=["city", "city", "size"])
    gaps, end = "Missing values, 43 of 600, are replaced by the means of their columns: 43 of 'size'.\n\n", "What each theorem"
    assert told == str(same).replace("300 whole examples", "300 examples").replace(end, gaps + end)
    assert "determine them: city=Rome." in told
    (tmp_path / "prices.csv").write_text("feature,price\ncity,2\nsize,1\n")
    told = command(tmp_path / "a.parquet", *options, "--theory", "--costs", tmp_path / "prices.csv")
    assert "`oslr.auto(3, 2, costs=costs, groups=groups)`" in told.output and "it knows no prices" in told.output
    for left_out, words in (("--encode", "column 'city' = "), ("--impute", "column 'size', row 1: the value is missing")):
        told = command(tmp_path / "a.parquet", *(o for o in options if o != left_out))
        assert told.exit_code == 2 and told.output.startswith(words)


def test_groups_are_bought_whole_and_paid_once(tmp_path):
    "Three words of equal weight, of which none alone says much, beside eight numbers; by prices, too."
    rng, n = np.random.default_rng(1), 900
    word, Z = rng.integers(6, size=n), rng.normal(size=(n, 4))
    M, groups = np.column_stack([np.eye(6)[word], Z]), ["city"] * 6 + ["a", "b", "c", "d"]
    y = np.array([3, -3, 2, -2, 1, -1.0])[word] + 0.7 * Z[:, 1] + 0.1 * rng.normal(size=n)
    told, apart = oslr.recommend(M, y, groups=groups), oslr.recommend(M, y)
    assert told.call == "oslr.auto(10, 2, groups=groups)" and "2 of 5 groups" in str(told) and "| groups |" in str(told)
    assert told.curve[0].loss < 0.01 < 0.2 < apart.curve[0].loss and [o.budget for o in told.curve] == [2, 3, 4, 5]
    assert re.search("own.CoinBetting .*nothing: it knows no groups", told.theory)
    costs = {"city": 3.0, "a": 1, "b": 1, "c": 1, "d": 1}
    told = oslr.recommend(M, y, budget=4, groups=groups, costs=costs)
    assert next(o for o in told.curve if o.budget == 4).loss < 0.01 and told.call == "oslr.auto(10, 4, costs=costs, groups=groups)"
    names = [f"city={i}" for i in range(6)] + ["a", "b", "c", "d"]
    pyarrow.csv.write_csv(pyarrow.table(dict(zip(names, M.T, strict=True)) | {"y": y}), tmp_path / "t.csv")
    lines = [f"{name},{3 if '=' in name else 1},{group}" for name, group in zip(names, groups, strict=True)]
    (tmp_path / "p.csv").write_text("\n".join(["feature,price,group", *lines]))
    said = command(tmp_path / "t.csv", "--target", "y", "--budget", 4, "--costs", tmp_path / "p.csv")
    assert said.exit_code == 0 and [line for line in said.output.splitlines() if line.startswith("| 4 |")] == [
        line for line in str(told).splitlines() if line.startswith("| 4 |")]


def test_what_history_is_worth():
    "Of sixty features two matter, and rows before show which. All of three features are bought: little is worth knowing before."
    rng = np.random.default_rng(2)
    wide, narrow = rng.normal(size=(1000, 60)), rng.normal(size=(4000, 3))
    for M, noise, words in ((wide, 0.1, "of them pay"), (narrow, 1.0, "they change little")):
        y = M[:, 0] - M[:, -1] + noise * rng.normal(size=len(M))
        assert words in str(oslr.recommend(M, y, budget=3)), words
    assert "History" not in str(oslr.recommend(wide[:90], y[:90], budget=3))


def test_samples_that_are_too_small_or_too_wide(tmp_path):
    "Other files that will not do are in test_tables.py and test_bad_inputs.py."
    wide = "label," + ",".join(map(str, range(2001))) + 2 * ("\n1" + ",1" * 2001) + "\n"
    for body, words in (("a,b,label\n1,2,3\n", "rows of X = 1"), (wide, "columns of X = 2001")):
        (tmp_path / "b.csv").write_text(body)
        told = command(tmp_path / "b.csv", "--target", "label", "--budget", 2)
        assert told.exit_code == 2 and told.output.startswith(f"number of {words}"), told.output
