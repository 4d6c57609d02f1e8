"""oslr run: tables in, learner out; through the command line, with files that are broken in many ways, and killed."""

import json
import math
import sqlite3
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from conftest import command
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

import oslr_nb
from oslr_nb.core.base.storage import read_file, write_file
from oslr_nb.practice import reading, tables
from oslr_nb.practice.data import sparse_linear
from oslr_nb.practice.tables import read_options, run_table

BUNCH = load_diabetes(scaled=False)
TABLE = pa.table({name: BUNCH.data[:, i] for i, name in enumerate(BUNCH.feature_names)} | {"progression": BUNCH.target})
FILES = ("report.md", "results.json", "model.npz", "loss.png", "report.html", "card.md", "model.json")


def oslr(*args, **how): return command("run", *args, **how)


def good(*args) -> str:
    done = oslr(*args)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    pa.csv.write_csv(TABLE, folder / "p.csv")
    pa.parquet.write_table(TABLE, folder / "p.parquet", row_group_size=100)
    return folder


def numbers(out: Path) -> dict: return json.loads((out / "results.json").read_text())


def test_a_report_from_csv_and_from_parquet(files, tmp_path):
    "The run is that of simulate; a learner that forgets counts its purchases, too."
    for name in ("p.csv", "p.parquet"):
        shown = good(files / name, "--target", "progression", "--budget", 4, "--passes", 5, "--out", tmp_path / name)
        assert "## Losses" in shown and "| bmi |" in shown
    a, b = (numbers(tmp_path / name) for name in ("p.csv", "p.parquet"))
    assert {k: v for k, v in a.items() if k not in ("data", "table")} == {k: v for k, v in b.items() if k not in ("data", "table")}
    assert sum(a["bought"]) == 4 * 5 * 442 and a["loss"] < 0.6 * a["loss_of_running_mean"]
    labels = np.tile(BUNCH.target, 5)
    before = np.cumsum(labels)[:-1] / np.arange(1, 5 * 442)
    assert math.isclose(a["loss_of_running_mean"], ((labels[1:] - before) ** 2).mean(), rel_tol=1e-12)
    S = BUNCH.data[:, a["hindsight"]["support"]]
    assert math.isclose(a["hindsight"]["sparse"], ((LinearRegression().fit(S, BUNCH.target).predict(S) - BUNCH.target) ** 2).mean())
    good(files / "p.csv", "--target", "progression", "--budget", 4, "--seed", 3, "--out", tmp_path / "plain")
    lr = oslr_nb.auto(10, 4, seed=3)
    run = oslr_nb.simulate(lr, BUNCH.data, BUNCH.target)
    r, saved = numbers(tmp_path / "plain"), oslr_nb.load(tmp_path / "plain" / "model.npz")
    assert math.isclose(r["loss"], run.losses[1:].mean(), rel_tol=1e-12) and r["weights"] == lr.coef_.tolist()
    S = lr.query()
    assert r["bought"] == lr.purchases_.tolist() and saved.query_names() == [BUNCH.feature_names[i] for i in S]
    assert sum(r["bought"]) == 4 * 442


@pytest.mark.parametrize("learner", ["auto", "own.CoinBetting", "ito2017.RDA1"])
def test_by_hand_and_compiled_are_the_same(learner, monkeypatch):
    "With missing values, of which the first have no mean."
    rng = np.random.default_rng(4)
    X, rounds = rng.standard_normal((900, 9)) * 10.0 ** np.arange(9), []
    y = X[:, 1] / 10 - X[:, 4] / 1e4 + rng.standard_normal(900)
    X[rng.random((900, 9)) < 0.1] = X[:2] = math.nan
    for by_hand in (False, True):
        lr, tally = tables.new_learner(learner, 9, 5, 3, {"k": 2} if "ito2017" in learner else {}, "auto", 900), tables.fresh_tally(9)
        if by_hand: monkeypatch.setattr(tables, "play_filled", lambda lr, X, y, start, m, out: start)
        out = np.concatenate([tables.play_block(lr, X[t : t + 150], y[t : t + 150], tally) for t in range(0, 900, 150)])
        rounds.append([out, lr.coef_, *tally.values()])
    assert all(np.array_equal(a, b) for a, b in zip(*rounds, strict=True)) and tally["made_up"].sum() > 200 and tally["unknown"].any()


def test_missing_values_count_as_the_mean_of_those_bought(monkeypatch):
    "Round by round, with a learner that only notes what it is given."
    class Notes:
        d, given, plays_common_loop = 3, [], False
        def query(self): return np.array([0, 2])
        def predict(self, values):
            self.given.append(values.tolist())
            return 0.0
        def update(self, y): pass
        def _named(self, y): return y
        def skip(self): self.given.append([])
    X = np.array([[math.nan, 9, 1], [2, 9, math.nan], [4, 9, 5], [math.nan, 9, math.nan]])
    tally = tables.fresh_tally(3)
    tables.play_block(Notes(), X, np.zeros(4), tally)
    assert Notes.given == [[], [2, 1], [4, 5], [3, 3]] and tally["counts"].tolist() == [4, 0, 4]
    assert tally["made_up"].tolist() == [1, 0, 2] and tally["unknown"].tolist() == [1, 0, 0] and tally["learnt"].tolist() == [3, 1]


def test_text_missing_values_and_prices(tmp_path):
    rng = np.random.default_rng(0)
    city, size = rng.choice(["Oslo", "Rome", "a|b"], 600), rng.standard_normal(600)
    y = 3 * (city == "Rome") + size + 0.1 * rng.standard_normal(600)
    size[rng.random(600) < 0.1] = math.nan
    table = pa.table({"city": pa.array(city).dictionary_encode(), "size": pa.array(size, from_pandas=True), "no": np.arange(600), "y": y})
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    pa.csv.write_csv(table.set_column(0, "city", pa.array(city)), tmp_path / "a.csv")
    (tmp_path / "prices.csv").write_text("feature,price\nsize,2\ncity,0.5\n")
    options = ("--target", "y", "--budget", 2, "--encode", "--impute", "--ignore", "no", "--costs", tmp_path / "prices.csv")
    for name in ("a.csv", "a.parquet"): shown = good(tmp_path / name, *options, "--out", tmp_path / f"of {name}")
    assert "2 of 2 groups of 4 features" in shown and "Bought together, and counted or paid once: 'city' (3 features)." in shown
    singly = good(tmp_path / "a.csv", *options, "--learner", "own.CoinBetting", "--out", tmp_path / "singly")
    assert "this sum counts each column once" in singly and "2 of 4 features" in singly
    a, b = numbers(tmp_path / "of a.csv"), numbers(tmp_path / "of a.parquet")
    assert a["features"] == ["city=Oslo", "city=Rome", "city=a|b", "size"] and a["bought"] == b["bought"] and a["loss"] == b["loss"]
    assert numbers(tmp_path / "singly")["prices"] == [0.5, 0.5, 0.5, 2] and a["groups"] == ["city"] * 3 + ["size"]
    assert a["prices"] == [0.5, 0, 0, 2] and a["spent"] == np.dot(a["prices"], a["bought"]) == 2.5 * 600 == a["price_of_everything"]
    assert a["loss_last_tenth"] < 0.6 * a["loss_of_running_mean_last_tenth"] and "city=a\\|b" in shown and "Spent:" in shown


def badly_scaled(folder, rows=3000) -> Path:
    "Features that differ in size by ten orders of magnitude and stand far from 0, a column of zeros, and a label in the thousands."
    s = sparse_linear(8, 2, rows, seed=1)
    X, y = s.X * 10.0 ** np.linspace(-5, 5, 8) + 10.0 ** np.linspace(-4, 6, 8), 5000 + 300 * s.y
    pa.parquet.write_table(pa.table({f"x{i}": X[:, i] for i in range(8)} | {"none": np.zeros(rows), "y": y}), folder / "s.parquet")
    return folder / "s.parquet"


RDA1 = ("--learner", "ito2017.RDA1", "--option", "k=2", "--option", "step=adaptive")


def test_a_paper_s_learner_learns_where_it_is_given_scales(tmp_path):
    data, found = badly_scaled(tmp_path), {}
    limits = ("--scale", "none", "--option", "x_norm=1e8", "--option", "y_max=1e4")
    for name, more in (("auto", ()), ("none", limits)):
        shown = good(data, "--target", "y", "--budget", 5, *RDA1, *more, "--out", tmp_path / name)
        found[name] = numbers(tmp_path / name)
    assert found["auto"]["loss_last_tenth"] < 0.1 * found["auto"]["loss_of_running_mean_last_tenth"]
    assert found["none"]["loss_last_tenth"] > 0.9 * found["none"]["loss_of_running_mean_last_tenth"] and "standardised" not in shown
    r, lr = found["auto"], oslr_nb.load(tmp_path / "auto" / "model.npz")
    assert r["scaling"]["warm"] == lr.warm == 36 and r["weights"] == lr.coef_.tolist() and r["intercept"] == lr.intercept_
    assert r["scaling"]["features"]["centre"] == lr.centre[:-1].tolist() and r["learner_made"] == "ito2017.RDA1"
    x, w = pa.parquet.read_table(data), np.array(r["weights"])
    fitted = np.column_stack([x[name].to_numpy() for name in r["features"]]) @ w + r["intercept"]
    assert ((fitted - x["y"].to_numpy()) ** 2)[1000:].mean() < 0.1 * r["loss_of_running_mean"]  # the weights are in the units of the table
    told = oslr(data, "--target", "y", "--budget", 5, *RDA1, "--scale", "none", "--out", tmp_path / "told")
    assert told.exit_code == 2 and "x_norm = 1" in told.output  # beyond the declared limits: a sentence, never silently


def test_scaled_runs_go_on_bit_for_bit(tmp_path, monkeypatch):
    "Stopped in the warm-up and after it; other options or scales are refused."
    data = badly_scaled(tmp_path, 600)
    monkeypatch.setattr(reading.Survey, "block", 25)
    args = (data, "--target", "y", "--budget", 5, *RDA1, "--every", 0)
    good(*args, "--out", tmp_path / "whole")
    kept, blocks = tables.play_block, []
    for stop in (2, 5):
        blocks.clear()
        block = lambda *a, stop=stop: blocks.append(1) or (kept(*a) if len(blocks) < stop else next(iter(())))
        monkeypatch.setattr(tables, "play_block", block)
        with pytest.raises(StopIteration): oslr(*args, "--out", tmp_path / "cut", "--resume", catch_exceptions=False)
    monkeypatch.setattr(tables, "play_block", kept)
    for more, words in ((("--scale", "none"), "scale = "), (("--option", "radius=2"), "options = ")):
        done = oslr(*args, *more, "--out", tmp_path / "cut", "--resume")
        assert done.exit_code == 2 and words in done.output and "as in the run that is resumed" in done.output
    good(*args, "--out", tmp_path / "cut", "--resume")
    for name in FILES: assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_budget_of_money(files, tmp_path):
    "What is spent stays within the budget; the comparator has the same money; the run that imputes plays by hand, and the same."
    prices = dict(zip(BUNCH.feature_names, (1, 1, 1, 2, 10, 10, 10, 10, 10, 10), strict=True))
    (tmp_path / "prices.csv").write_text("feature,price\n" + "".join(f"{n},{p}\n" for n, p in prices.items()))
    args = (files / "p.csv", "--target", "progression", "--budget", 15.5, "--priced", "--costs", tmp_path / "prices.csv")
    shown = good(*args, "--out", tmp_path / "a")
    good(*args, "--impute", "--out", tmp_path / "b")
    a, b = numbers(tmp_path / "a"), numbers(tmp_path / "b")
    assert a.pop("impute") is False and b.pop("impute") is True and a == b
    assert a["spent"] == np.dot(list(prices.values()), a["bought"]) and 0.8 * 15.5 * 442 < a["spent"] <= 15.5 * 442
    assert "of the budget" in shown
    assert sum(prices[a["features"][i]] for i in a["hindsight"]["support"]) <= 15.5
    assert a["loss"] < 0.8 * a["loss_of_running_mean"] and oslr_nb.load(tmp_path / "a" / "model.npz").budget == 15.5
    assert "learner = 'own.CoinBetting'" in oslr(*args, "--learner", "own.CoinBetting", "--out", tmp_path / "c").output
    assert "costs = None" in oslr(*args[:5], "--priced", "--out", tmp_path / "c").output
    assert "budget = 15.5: it must be an integer" in oslr(*args[:5], "--out", tmp_path / "c").output


BAD = {
    "empty": (b"", "it must be a whole CSV"), "names only": (b"a,b,y\n", "at least one row"),
    "no column": (b"a,b,c\n1,2,3\n", "target = 'y'"),
    "semicolons": (b"a;b;y\n0,5;2;3\n", "with commas between values and points in numbers"),
    "tabs": (b"a\tb\ty\n1\t2\t3\n", "separated by commas"), "short row": (b"a,b,y\n1,2,3\n1,2\n", "Expected 3 columns, got 2"),
    "encoding": ("a,b,y\n1,2,3\n1,Z\xfcrich,3\n".encode("latin-1"), "UTF"), "utf-16": ("a,b,y\n1,2,3\n".encode("utf-16"), "data = "),
    "no number": (b"a,b,y\nu,v,1\nw,x,2\n", "column 'a' = 'u': it must be numbers"), "nothing": (b"y\n1\n2\n", "at least two columns"),
    "missing": (b"a,b,y\n1,2,3\n1,,3\n", "column 'b', row 2: the value is missing"),
    "inf": (b"a,b,y\n1,2,3\n1,inf,3\n", "column 'b', row 2 = inf"),
    "label": (b"a,b,y\n1,2,3\n1,2,\n", "column 'y', row 2: the value is missing; it must be a number (--labelled leaves out this row)."),
    "word": (b"a,b,y\n1,2,3\n1,2,no\n", "column 'y' = 'no'"),
    "twice": (b"a,a,y\n1,2,3\n", "columns of data = 'a': it must be distinct"), "unnamed": (b"a,,y\n1,2,3\n", "column 2 of"),
    "budget": (b"a,b,y\n1,2,3\n", "budget = 3: it must be the integer 2"),
    "late word": (b"a,b,y\n" + b"1,2,3\n" * 9 + b"1,?,3\n", "column 'b' = '?'"), "parquet": (b"PAR1 and so on", "it must be a whole CSV"),
    "bytes": (bytes(range(256)), "data = "), "quote": (b'a,b,y\n1,"2,3\n', "data = "),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_end_with_one_sentence(name, tmp_path):
    body, words = BAD[name]
    (tmp_path / "bad.csv").write_bytes(body)
    done = oslr(tmp_path / "bad.csv", "--target", "y", "--budget", 3, "--out", tmp_path / "out")
    said = [line for line in done.output.strip().split("\n") if not line.startswith("this would work: oslr run ")][-1]
    assert done.exit_code == 2 and words in done.output and said.endswith(".") and "Traceback" not in done.output, done.output
    assert isinstance(done.exception, SystemExit) and not (tmp_path / "out" / "report.md").exists()


WRONG = [
    ("--budget", 1), ("--budget", 11), ("--passes", 0), ("--seed", -1), ("--every", "nan"), ("--learner", "ito2017.RDA9"),
    ("--learner", "hazan2012.AERR"), ("--learner", "hazan2012.DDAERR"), ("--learner", "ito2018.LinearProjection"),
    ("--learner", "own.PairwisePOSLR"), ("--option", "top"), ("--option", "d=3"), ("--option", "protocol=POSLR"), ("--option", "height=3"),
    ("--option", "k=x"), ("--scale", "no.csv"), ("--target", "height"), ("--ignore", "height"), ("--ignore", "progression"),
    ("--costs", "nothing.csv"), ("--out", "p.csv"),
]


def test_options_are_read_as_python_and_json_write_them():
    said = read_options(["a=True", "b=true", "c=None", "d=.5", "e=[null, 100]", "f=adaptive", "g="])
    assert said == {"a": True, "b": True, "c": None, "d": 0.5, "e": [None, 100], "f": "adaptive", "g": ""}


@pytest.mark.parametrize("option", WRONG, ids=str)
def test_wrong_arguments(option, files, tmp_path, monkeypatch):
    monkeypatch.chdir(files)
    args = {"--target": "progression", "--budget": 4, "--out": tmp_path} | {option[0]: option[1]}
    done = oslr("p.csv", *(v for pair in args.items() for v in pair))
    assert done.exit_code == 2 and "Traceback" not in done.output and "it must be" in done.output.split("\n")[-2]


@pytest.mark.parametrize(("text", "words"), [
    ("feature,cost\na,1\n", "columns of costs"), ("feature,price\nage,one\n", "a table with numbers as price"),
    ("feature,price\nage,-1\n", "price of 'age'"), ("feature,price\nage,1\n", "costs of 'sex': it must be in the file"),
    ("feature,price\nage,1\nage,1\n", "named once"), ("feature,price\nheight,1\n", "'height'"), ("", "costs = "),
])
def test_wrong_prices(text, words, files, tmp_path):
    (tmp_path / "prices.csv").write_text(text)
    done = oslr(files / "p.csv", "--target", "progression", "--budget", 4, "--out", tmp_path, "--costs", tmp_path / "prices.csv")
    assert done.exit_code == 2 and words in done.output and "Traceback" not in done.output


def test_columns_and_blocks(tmp_path, files, monkeypatch):
    "Too many values; blocks do not depend on how the file is cut."
    pa.csv.write_csv(pa.table({"name": [f"n{i}" for i in range(1500)], "a": np.arange(1500), "y": np.arange(1500)}), tmp_path / "a.csv")
    done = oslr(tmp_path / "a.csv", "--target", "y", "--budget", 2, "--encode", "--out", tmp_path / "b")
    assert done.exit_code == 2 and "more than 1000 different values" in done.output
    parts = {}
    for size in (700, 2**24):
        monkeypatch.setattr(reading, "BLOCK", size)
        survey = reading.survey_table(files / "p.csv", "progression", False, False)
        parts[size] = list(reading.blocks(files / "p.csv", survey, 100, 200))
    for (X, y), (Z, z) in zip(*parts.values(), strict=True): assert np.array_equal(X, Z) and np.array_equal(y, z)


def test_a_folder_holds_one_run(files, tmp_path):
    args = (files / "p.csv", "--target", "progression", "--budget", 4, "--out", tmp_path)
    good(*args)
    first = {name: (tmp_path / name).read_bytes() for name in FILES}
    assert oslr(*args).exit_code == 2 and "--resume" in oslr(*args).output
    good(*args, "--resume")
    assert first == {name: (tmp_path / name).read_bytes() for name in FILES}
    for more, words in ((("--seed", 1), "seed = 1: it must be 0, as in the run"), (("--budget", 5), "budget = 5"),
                        (("--impute",), "impute = True")):
        done = oslr(*args, "--resume", *more)
        assert done.exit_code == 2 and words in done.output
    pa.csv.write_csv(TABLE.slice(1), tmp_path / "other.csv")
    assert "table of the run" in oslr(tmp_path / "other.csv", *args[1:], "--resume").output


def test_a_second_run_in_the_same_folder_is_refused(files, tmp_path, monkeypatch):
    "The first ends as if nothing had been. The lock ends with a run that was refused, one that failed, and one that ended."
    play, args, second = tables.play_table, (files / "p.csv", "--target", "progression", "--budget", 4, "--out", tmp_path / "o"), []
    def meanwhile(*more):
        monkeypatch.setattr(tables, "play_table", play)
        second.extend(oslr(*args, "--seed", 2, *how) for how in ((), ("--resume",)))
        return play(*more)
    monkeypatch.setattr(tables, "play_table", meanwhile)
    good(*args, "--seed", 1)
    for done in second:
        assert done.exit_code == 2 and "another process is using it (the run that holds it has to end first" in done.output
        assert done.output.count("\n") == 1
    assert len(second) == 2 and numbers(tmp_path / "o")["seed"] == 1
    args = ("--target", "progression", "--budget", 4, "--out", tmp_path)
    assert oslr(files / "p.csv", "--target", "nobody", *args[2:]).exit_code == 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "play_table", lambda *more: 1 / 0)
        assert isinstance(oslr(files / "p.csv", *args).exception, ZeroDivisionError)
    said = good(files / "p.csv", *args)
    assert "run.lock" not in said.splitlines()[-1] and "--resume" in oslr(files / "p.csv", *args).output


@pytest.mark.parametrize("words", ["disk I/O error", "unable to open database file", "attempt to write a readonly database"])
def test_a_folder_that_cannot_be_locked_is_refused(words, files, tmp_path, monkeypatch):
    "What SQLite says of a file system without locks, and of folders that cannot be written; nothing is played first."
    def connect(*args, **more): raise sqlite3.OperationalError(words)
    monkeypatch.setattr(sqlite3, "connect", connect)
    done = oslr(files / "p.csv", "--target", "progression", "--budget", 4, "--out", tmp_path)
    assert done.exit_code == 2 and f"it must be a folder that can be written (run.lock: {words})" in done.output
    assert done.output.count("\n") == 1


@pytest.mark.parametrize("name", ["a", "a b", "", "it's", "a\nb", "a\n'b'\t\\", "h\u00f6he\x01"])
def test_a_shell_reads_a_name_back(name):
    line = reading.shell_word(name)
    said = subprocess.run(["bash", "-c", f"printf %s {line}"], capture_output=True, check=True).stdout
    assert line.isprintable() and said.decode() == name


def test_groups_of_columns(tmp_path):
    "A column of words is one question, a panel of columns has one price; the same as in Python; resumed; what is wrong is said."
    rng, T = np.random.default_rng(4), 900
    kind, Q = rng.integers(0, 6, T), rng.standard_normal((T, 5)).round(6)
    y = (np.array([2.0, -2, 1, -1, 3, 0])[kind] + Q @ [1.0, 0.8, 0.5, 0, 0] + 0.3 * rng.standard_normal(T)).round(6)
    names = ["kind", "a", "b", "c", "d", "e", "y"]
    rows = [",".join([f"k{k}", *map(repr, q), repr(v)]) for k, q, v in zip(kind, Q.tolist(), y.tolist(), strict=True)]
    (tmp_path / "t.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    prices = {"kind": (10, ""), "a": (5, "panel"), "b": (1, ""), "c": (5, "panel"), "d": (1, ""), "e": (5, "panel")}
    listed = lambda prices: "feature,group,price\n" + "".join(f"{name},{group},{p}\n" for name, (p, group) in prices.items())
    (tmp_path / "p.csv").write_text(listed(prices))
    call = {"target": "y", "encode": True, "seed": 3}
    groups = ["kind"] * 6 + ["panel", "b", "panel", "d", "panel"]
    X = np.column_stack([kind[:, None] == np.arange(6), Q]).astype(float)
    for budget, more, kw in ((2, {}, {"groups": ["kind"] * 6 + names[1:6]}),
                             (2.5, {"average": True, "options": {"ahead": 5}},
                              {"groups": ["kind"] * 6 + names[1:6], "average": True, "ahead": 5}),
                             (2, {"costs": tmp_path / "p.csv"}, {"groups": groups}),
                             (15.0, {"costs": tmp_path / "p.csv", "priced": True},
                              {"groups": groups, "costs": {"kind": 10.0, "panel": 5.0, "b": 1.0, "d": 1.0}})):
        out = tmp_path / f"out {len(list(tmp_path.iterdir()))}"
        found = run_table(tmp_path / "t.csv", budget=budget, out=out, **call, **more)
        run = oslr_nb.simulate(lr := oslr_nb.auto(11, budget, seed=3, **kw), X, y)
        assert found["bought"] == lr.purchases_.tolist() and math.isclose(found["loss"], run.losses[1:].mean())
        assert found["groups"] == kw["groups"] and math.isclose(found["spent"], run.spent.sum()) if "priced" in more else True
        again = run_table(tmp_path / "t.csv", budget=budget, out=out, resume=True, **call, **more)
        assert again == found
        model = json.loads((out / "model.json").read_text())
        assert {f["group"] for f in model["features"]} <= set(kw["groups"])
        assert (oslr_nb.load(out / "model.npz").coef_ == lr.coef_).all()
    assert 0.65 < found["hindsight"]["sparse"] < 0.8 and sorted(found["hindsight"]["support"]) == [*range(7), 8, 10]
    assert "for 15 by forward selection" in (out / "report.md").read_text()
    alone = {name: (p, f"g{i}") for i, (name, (p, _)) in enumerate(prices.items())}
    for text, words, more in ((listed(prices | {"c": (4, "panel")}), r"price of 'c' = 4.0: it must be 5, as that of 'a' \(they are", {}),
                              (listed(prices).replace("group", "grup"), "feature and price, and perhaps group", {}),
                              (listed(prices), "no other learner knows groups", {"learner": "own.CoinBetting"}),
                              (listed(prices), "average = True: it must be False for own", {"learner": "own.CoinBetting", "average": True}),
                              (listed(prices), r"budget = 5: it must be an integer from 2 to 4 \(its 11 features", {"budget": 5}),
                              (listed(alone), r"budget = 7: it must be an integer from 2 to 6", {"budget": 7}),
                              (listed(prices), "option = 'groups': it must be another name", {"options": {"groups": 1}})):
        (tmp_path / "q.csv").write_text(text)
        with pytest.raises(ValueError, match=words):
            run_table(tmp_path / "t.csv", out=tmp_path / "no", costs=tmp_path / "q.csv", **{"budget": 2} | call | more)


def test_an_old_run_goes_on_without_groups(tmp_path):
    "A checkpoint of a release that bought each word singly is resumed as it began."
    rng = np.random.default_rng(5)
    rows = "".join(f"{'uvw'[k]},{a},{b},{k + a}\n" for k, a, b in zip(rng.integers(0, 3, 300), *rng.standard_normal((2, 300)), strict=True))
    (tmp_path / "t.csv").write_text("k,a,b,y\n" + rows)
    call = {"target": "y", "encode": True, "out": tmp_path / "o", "budget": 4, "learner": "own.CoinBetting"}
    run_table(tmp_path / "t.csv", **call)
    header, arrays = read_file(tmp_path / "o" / "checkpoint.npz")
    assert header["run"].pop("groups") is None
    write_file(tmp_path / "o" / "checkpoint.npz", header, arrays)
    assert run_table(tmp_path / "t.csv", **call, resume=True)["budget"] == 4
    with pytest.raises(ValueError, match=r"learner = 'auto': it must be 'own.CoinBetting', as in the run"):
        run_table(tmp_path / "t.csv", **call | {"learner": "auto"}, resume=True)
    with pytest.raises(ValueError, match="budget = 4: it must be an integer from 2 to 3"):
        run_table(tmp_path / "t.csv", **call | {"learner": "auto", "out": tmp_path / "new"})


def test_rows_without_a_label_are_left_out_when_asked(tmp_path):
    "As if they were not there, whatever stands for the missing label; numbers and classes, CSV and Parquet, and what else reads tables."
    rng = np.random.default_rng(0)
    X, gone = rng.standard_normal((300, 4)), rng.random(300) < 0.2
    for kind in ("number", "class"):
        y = X[:, 0] + 0.1 * rng.standard_normal(300)
        label = np.where(y > 0, "yes", "no").astype(object) if kind == "class" else y.astype(object)
        label[gone] = None
        whole = pa.table({f"f{i}": X[:, i] for i in range(4)} | {"y": pa.array(label.tolist())})
        empty = [f"{','.join(map(str, x))},{'NA' if v is None and kind == 'number' else v or ''}" for x, v in zip(X, label, strict=True)]
        (tmp_path / "gaps.csv").write_text("\n".join(["f0,f1,f2,f3,y", *empty]))
        pa.parquet.write_table(whole, tmp_path / "gaps.parquet", row_group_size=70)
        pa.parquet.write_table(whole.filter(pa.array(~gone)), tmp_path / "known.parquet")
        say = {"target": "y", "classify": kind == "class"}
        sure = run_table(tmp_path / "known.parquet", **say, budget=2, out=tmp_path / f"{kind} sure")
        said = f"{gone.sum()} of 300 rows, which have no label"
        for name in ("gaps.csv", "gaps.parquet"):
            with pytest.raises(ValueError, match=rf"row {1 + gone.argmax()}: .* missing; .*labelled=True leaves out the {gone.sum()} rows"):
                run_table(tmp_path / name, **say, budget=2, out=tmp_path / "no")
            found = run_table(tmp_path / name, **say, budget=2, labelled=True, out=tmp_path / f"{kind} {name}")
            assert found["rows"] == sure["rows"] == 300 - gone.sum() and said in found["left_out"]
            assert found["bought"] == sure["bought"] and found["loss"] == sure["loss"] and found["weights"] == sure["weights"]
            assert said in str(oslr_nb.practice.recommend.recommend_table(tmp_path / name, **say, labelled=True))
    blocks = oslr_nb.practice.blocks.TableBlocks(tmp_path / "known.parquet", "f0", labelled=True, ignore=["y"])
    assert blocks.rows == 300 - gone.sum()
    (tmp_path / "none.csv").write_text("a,b,y\n1,2,\n2,1,\n")
    with pytest.raises(ValueError, match="a table with at least one row with a label"):
        run_table(tmp_path / "none.csv", target="y", budget=2, labelled=True, out=tmp_path / "none")
