"""Rows that are known already, in a file: columns and words by name, what is said of them, a run resumed, a service begun again."""

import warnings

import numpy as np
import pytest
from conftest import ask, refused

import oslr_nb as oslr
from oslr_nb.practice.service import History, Service, first_learner
from oslr_nb.practice.tables import run_table


def write(path, X, city, y, columns, more=""):
    "A table of some columns x0, x1, ... in this order, a word and the label; NaN and None are empty."
    text = lambda v: "" if v is None or v != v else str(v)
    lines = [",".join([*(f"x{i}" for i in columns), "city", "y", *[more] * bool(more)])]
    lines += [",".join([*(text(round(float(x[i]), 4)) for i in columns), text(c), text(round(float(v), 4)), *["?"] * bool(more)])
              for x, c, v in zip(X, city, y, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def tables(tmp_path):
    "A table of 300 rows, and an old one of 250 with a column less, another one more, gaps, a word that is new and one that is missing."
    rng = np.random.default_rng(0)
    X, city = rng.standard_normal((550, 6)), rng.choice(["Oslo", "Rome", "Bern"], 550).astype(object)
    y = 2 * X[:, 1] - X[:, 4] + 2.0 * (city == "Rome") + 0.3 * rng.standard_normal(550)
    new = write(tmp_path / "new.csv", X[:300], city[:300], y[:300], range(6))
    old = X[300:].copy()
    old[rng.random(old.shape) < 0.2] = np.nan
    old[y[300:] < 0, 4] = np.nan  # measured where the label is large
    city[300:302], city[302] = "Lima", None
    y[310] = np.nan
    return new, write(tmp_path / "old.csv", old, city[300:], y[300:], (5, 4, 3, 1, 0), "other")


def test_run(tables, tmp_path):
    "It loses less at first, says what it knew, and goes on after a stop with the same numbers."
    new, old = tables
    plain = run_table(new, target="y", budget=3, encode=True, out=tmp_path / "a")
    taught = run_table(new, target="y", budget=3, encode=True, out=tmp_path / "b", history=old)
    assert taught["loss"] < 0.6 * plain["loss"] and sum(taught["bought"]) <= 3 * 300 * 3
    assert (told := taught["history"])["rows"] == 249 and told["lacks"] == ["x2"]
    assert [text.split(" ")[0] for text in told["for_a_reason"]] == ["'x4'"]
    report = (tmp_path / "b" / "report.md").read_text()
    assert told["strange"] == {"city": 2} and "Words that data does not have count as not known: 2 of 'city'." in report
    assert "History: 249 rows of old.csv were learnt first" in report and "measured for a reason" in report
    again = run_table(new, target="y", budget=3, encode=True, out=tmp_path / "b", history=old, resume=True)
    assert again["loss"] == taught["loss"] and again["weights"] == taught["weights"]
    with refused("history = None"): run_table(new, target="y", budget=3, encode=True, out=tmp_path / "b", resume=True)


@pytest.mark.parametrize(("text", "said"), [
    ("a,b\n1,2\n", "target of history = 'y'"), ("q,y\n1,2\n", "columns of history"),
    ("x1,y\n2,1\nred,1\n", "column 'x1' of history, row 2 = 'red'"),
    ("x1,y\n1,\n", "history = 'h.csv': it must be a table with labels"), ("x1,x1,y\n1,2,3\n", "columns of history = 'x1'"),
    ("x1,y\n1e99,2\n", r"1e\+99"), ("y,x1\n?,1\n", "column 'y' of history, row 1 = '?'"),
])
def test_refused(tables, tmp_path, text, said):
    "A sentence that names what is wrong with the history."
    (tmp_path / "h.csv").write_text(text)
    with refused(said): run_table(tables[0], target="y", budget=3, encode=True, out=tmp_path / "o", history=tmp_path / "h.csv")


def test_papers_say_no(tables, tmp_path):
    "A learner of whole rows says where one is not whole, another that it cannot use any."
    with refused("draws alone"):
        run_table(tables[0], target="y", budget=4, encode=True, out=tmp_path / "o", history=tables[1], learner="kale2017.OnlineGreedyOSLR",
                  options={"k": 1, "T": 100})
    with refused("RDA1 learns from whole rows"):
        run_table(tables[0], target="y", budget=3, encode=True, out=tmp_path / "o", history=tables[1], learner="ito2017.RDA1")


@pytest.mark.parametrize(("column", "row", "value"), [("a", 0, "inf"), ("b", 7, "-1e300"), ("y", 3, "1e70"), ("y", 0, "-inf")])
def test_no_number(tmp_path, column, row, value):
    "Too large, or infinite: the column and the row of the file are named, without a warning of numpy."
    rows = [{"a": str(t % 7), "b": str(t * t % 11), "y": str(t % 3)} for t in range(30)]
    for name in ("new", "old"):
        if name == "old": rows[row][column] = value
        (tmp_path / f"{name}.csv").write_text("a,b,y\n" + "".join(f"{r['a']},{r['b']},{r['y']}\n" for r in rows))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with refused(f"column '{column}' of history, row {row + 1} = "):
            run_table(tmp_path / "new.csv", target="y", budget=2, out=tmp_path / "o", history=tmp_path / "old.csv")
        with refused(f"column '{column}', row {row + 1} = "):
            run_table(tmp_path / "old.csv", target="y", budget=2, out=tmp_path / "o")


def test_service(tmp_path):
    "The names of the columns are those of the features; it is learnt as whole rows are."
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 4))
    path = tmp_path / "old.csv"
    path.write_text("y,a,b,c,d\n" + "".join(f"{2 * x[1]:.6f}," + ",".join(f"{v:.6f}" for v in x) + "\n" for x in X))
    old = History(path, "y")
    for names, order in (((), slice(None)), (tuple("dcba"), slice(None, None, -1))):
        lr, plain = (first_learner("auto", 4, 2, 0) for _ in range(2))
        lr.names_ = names
        old.teach(lr)
        plain.learn_whole(X[:, order].round(6), (2 * X[:, 1]).round(6))
        assert all(np.array_equal(a, b) for a, b in zip(lr.state()[1].values(), plain.state()[1].values(), strict=True))
        assert lr.names_ == (names or tuple("abcd")) and set(ask(Service(lr), "query", id=0)["names"]) <= {*"abcd"}
    with refused("columns of history"): old.teach(first_learner("auto", 5, 2, 0))
    with refused("target = None"): History(path, None)
    old.teach(first_learner("own.CoinBetting", 4, 2, 0))
    with refused("draws alone"): old.teach(oslr.kale2017.OnlineGreedyOSLR(4, 3, k=1, T=100))
    path.write_text("a,b,y\n1,red,2\n")
    with refused(r"column 'b' = 'red': it must be numbers\.$"): History(path, "y")  # a service has no --encode
