"""Models that travel: predictions from the bought columns alone, in Python, from a terminal, from JSON, and in a service by name."""

import csv
import json

import matplotlib.pyplot
import numpy as np
import pandas
import pytest
from conftest import ask, command, refused

import oslr_nb as oslr
from oslr_nb.practice import service as sv
from oslr_nb.practice.models import predict_table
from oslr_nb.practice.tables import run_table

CITIES = ["Oslo", "Rome", "NA", "Paris"]


def rows_of(n: int, seed: int, gaps: float = 0.0) -> list[dict[str, str]]:
    "Rows in which the city, two numbers and one with gaps matter."
    rng = np.random.default_rng(seed)
    X, city = rng.standard_normal((n, 6)), rng.choice(CITIES, n)
    y = 2 * X[:, 0] - X[:, 3] + 3 * (city == "Rome") + 2 * (city == "Oslo") + 0.1 * rng.standard_normal(n)
    gone = rng.random((n, 6)) < gaps
    return [{f"x{i}": "?" if gone[t, i] else repr(float(X[t, i])) for i in range(6)} | {"city": str(city[t]), "y": repr(float(y[t]))}
            for t in range(n)]


def write(path, rows, columns=None):
    with open(path, "w", newline="") as f:
        table = csv.DictWriter(f, columns or list(rows[0]), extrasaction="ignore")
        table.writeheader()
        table.writerows(rows)
    return path


@pytest.fixture(scope="module", params=["auto", "ito2017.RDA1", "priced"])
def made(request, tmp_path_factory):
    "A run, the file of its model, its JSON."
    folder = tmp_path_factory.mktemp("models")
    more = {"learner": request.param, "budget": 5}
    if request.param == "ito2017.RDA1": more |= {"options": ["k=3", "step=adaptive"], "passes": 3}
    if request.param == "priced":
        (folder / "prices.csv").write_text("feature,price\ncity,3\n" + "".join(f"x{i},{1 + i / 2}\n" for i in range(6)))
        more = {"budget": 9.0, "costs": folder / "prices.csv", "priced": True}
    r = run_table(write(folder / "old.csv", rows_of(2000, 0, 0.05)), target="y", encode=["*"], impute=True, missing=["?"],
                  out=folder / "run", **more)
    path = folder / "run" / "model.npz"
    return r, path, oslr.load(path).to_json()


def values_by_hand(model: dict, row: dict[str, str]) -> list[float]:
    "The values of a row, as a program without this package finds them."
    out = []
    for f in model["features"]:
        word = row.get(f["column"], "").strip()
        if word in model["missing"]: word = ""
        if "word" in f: out.append(float(word == f["word"]) if word in model["words"][f["column"]] else f["mean"])
        else: out.append(float(word) if word else f["mean"])
    return out


def by_hand(text: str, row: dict[str, str]) -> float:
    "What a program without this package predicts."
    model = json.loads(text)
    return sum((f["weight"] * v for f, v in zip(model["features"], values_by_hand(model, row), strict=True)), model["intercept"])


def test_three_ways_to_the_same_numbers(made, tmp_path):
    r, path, text = made
    model, learner, new = json.loads(text), oslr.load(path), rows_of(500, 1, 0.1)
    needed = list(dict.fromkeys(f["column"] for f in model["features"]))
    assert model["target"] == "y" and len(needed) <= 5 and ("price" in model["features"][0]) == r["priced"]
    new[3]["city"], new[7]["city"] = "Madrid", ""
    found, said = predict_table(path, write(tmp_path / "new.csv", new, needed[::-1]))
    assert list(found) == ["prediction"]
    found = found["prediction"]
    assert found.tolist() == [by_hand(text, row) for row in new]
    y = np.array([float(row["y"]) for row in new])
    assert 1 - np.mean((found - y) ** 2) / y.var() > (0.5 if r["learner"] == "ito2017.RDA1" else 0.8)
    if "city" in needed:
        assert any("1 of 500 rows = 'Madrid'" in line for line in said) and "1 in 'city'" in said[0]
    assert all(f"in '{c}'" in said[0] for c in needed if c != "city")
    for row, prediction in list(zip(new, found, strict=True))[10:60]:
        case = learner.open(explore=False)
        given = [row["city"] == name[5:] if "=" in name else np.nan if row[name] == "?" else float(row[name]) for name in case.names()]
        case.give(given)
        assert case.predict() == pytest.approx(prediction, rel=1e-9, abs=1e-9)
    out = tmp_path / "p.csv"
    assert command("predict", path, tmp_path / "new.csv", "--out", out).exit_code == 0
    printed = command("predict", path, tmp_path / "new.csv")
    assert out.read_text() == "prediction\n" + "".join(f"{v!r}\n" for v in found.tolist()) and out.read_text() in printed.output


def test_the_card_of_a_model(made):
    r, path, text = made
    card, model = (path.parent / "card.md").read_text(), json.loads(text)
    assert (path.parent / "model.json").read_text() == text
    for f in model["features"]:
        i = r["features"].index(f["name"])
        row = next(line for line in card.splitlines() if line.startswith(f"| {f['name']} |"))
        assert f"{r['bought'][i] / r['rounds']:.1%}" in row and f"{r['weights'][i]:.4g}" in row and row.count("|") == 4 + r["priced"]
    assert ("Learning has cost" in card) == (", for " in card) == r["priced"] and "## What it reached" in card


def test_the_report_stands_alone(made, tmp_path):
    "No HTML, link or picture of a name gets through; nothing is loaded; the figure is there; what was bought adds up."
    r, path, _ = made
    page = (path.parent / "report.html").read_text()
    assert page.count("<svg") == 1 and "prefers-color-scheme: dark" in page and "<h1>Model card: y</h1>" in page and "![" not in page
    assert not any(word in page for word in ("<script", "<link", "@import", 'src="', 'href="http', "url(http"))
    assert np.sum(r["raster"]["bought"], axis=0).tolist() == r["bought"] and sum(r["raster"]["rounds"]) == r["rounds"]
    names = ["<script>alert(1)</script>", "![x](http://a.b/c)", "[x](http://a.b)", "a|b", "$x_1$", "**x**", "y"]
    values = np.random.default_rng(0).standard_normal((45, 7)).tolist()
    write(tmp_path / "odd.csv", [dict(zip(names, map(repr, row), strict=True)) for row in values])
    run_table(tmp_path / "odd.csv", target="y", budget=3, out=tmp_path / "odd")
    page = (tmp_path / "odd" / "report.html").read_text()
    assert "&lt;script&gt;" in page and "<script" not in page and "<img" not in page and "<a " not in page and "<td>a|b</td>" in page


@pytest.mark.parametrize("n", [1, 2, 41])
def test_short_runs_have_a_figure(n, tmp_path):
    write(tmp_path / "a.csv", rows_of(n, 0))
    r = run_table(tmp_path / "a.csv", target="y", ignore=["city"], budget=2, out=tmp_path / "a")
    assert len(r["raster"]["rounds"]) == min(n, 40) and "<svg" in (tmp_path / "a" / "report.html").read_text()


def test_the_bar_shows_loss_and_purchases(tmp_path, monkeypatch, capsys):
    write(tmp_path / "a.csv", rows_of(300, 0))
    r = run_table(tmp_path / "a.csv", target="y", encode=["*"], budget=4, out=tmp_path / "a", progress=True)
    told = f"loss {r['loss']:.4g}, of the mean {r['loss_of_running_mean']:.4g}, {sum(r['bought']) / 300:.3g} bought a row"
    assert told in capsys.readouterr().err


def test_a_run_is_drawn():
    "With and without a learner, names, prices, missing labels, many features."
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 6)), rng.standard_normal(300)
    for kw in ({}, {"costs": np.arange(1.0, 7)}):
        learner = oslr.auto(6, 3, seed=0, **kw)
        run = oslr.simulate(learner, X, y + 3 * X[:, 1])
        with matplotlib.rc_context({"backend": "agg"}):
            for given, panels in ((None, 2), (learner, 3)):
                figure = run.plot(given)
                assert len(figure.axes) == panels and figure.axes[-1].get_ylabel() == ("money spent" if kw else "numbers bought")
                assert figure.axes[0].get_lines()[-1].get_label() == "least squares on all features"
                assert figure.axes[-1].get_lines()[0].get_ydata()[-1] == (run.n_observed.sum() if not kw else run.spent.sum())
                matplotlib.pyplot.close(figure)
    run = oslr.simulate(oslr.auto(6, 3, seed=0), X, y, purchases=True)
    with matplotlib.rc_context({"backend": "agg"}): figure = run.plot()
    most = np.argsort(-run.purchases.sum(axis=0), kind="stable")
    raster = figure.axes[1].get_images()[0].get_array()
    assert [label.get_text() for label in figure.axes[1].get_yticklabels()] == [f"x{i}" for i in most] and raster.shape == (6, 40)
    assert np.allclose(raster.sum(axis=0), 3) and raster.max() <= 1
    matplotlib.pyplot.close(figure)
    gaps = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    figure = oslr.play(oslr.auto(6, 3, seed=0), oslr.Environment(gaps, y, 3), skip=True).plot()
    assert len(figure.axes) == 2 and len(figure.axes[0].get_lines()) == 2
    with pytest.raises(ValueError, match="at least 2"): oslr.simulate(oslr.auto(6, 3), X[:1], y[:1]).plot()


def test_what_cannot_be_predicted_is_refused(made, tmp_path):
    _, path, text = made
    new, needed = rows_of(20, 1), list(dict.fromkeys(f["column"] for f in json.loads(text)["features"]))
    number = next(c for c in needed if c != "city")
    good = write(tmp_path / "new.csv", new)
    other = [*(c for c in needed if c != number), number.upper()]
    bad = {"lacking.csv": ([{**row, number.upper(): row[number]} for row in new], other, "did you mean"),
           "words.csv": ([{**row, number: "high"} for row in new], needed, f"column '{number}', row 1 = 'high'"),
           "large.csv": ([*new, {**new[0], number: "1e61"}], needed, f"'{number}', row 21"),
           "twice.csv": (new, [*needed, number], "2 have it")}
    for name, (rows, columns, words) in bad.items():
        done = command("predict", path, write(tmp_path / name, rows, columns))
        assert done.exit_code == 2 and words in done.output and done.output.count("\n") == 1, done.output
    (tmp_path / "empty.csv").write_text("")
    new_one, plain = oslr.auto(4, 2, seed=0), oslr.auto(4, 2, seed=0)
    new_one.names_ = ("a", "b", "c", "d")
    for name, learner in (("new.npz", new_one), ("plain.npz", plain)): learner.save(tmp_path / name)
    for model, rows, words in ((tmp_path / "no.npz", good, "there is none"), (good, good, "a whole file"), (tmp_path, good, "a folder"),
                               (path, tmp_path / "no.csv", "there is none"), (path, tmp_path / "empty.csv", "rows"),
                               (tmp_path / "new.npz", good, "weights"), (tmp_path / "plain.npz", good, "names")):
        done = command("predict", model, rows)
        assert done.exit_code == 2 and words in done.output and done.output.count("\n") == 1, done.output
    assert command("predict", path, good, "--out", tmp_path).exit_code == 2


def test_a_file_with_a_wrong_table_is_refused(made, tmp_path):
    learner = oslr.load(made[1])
    for wrong in ({"columns": [1] * learner.d}, {"words": [None]}, {"missing": [None]}, {"target": 1}, {"prices": [1.0]}):
        learner.table_ = oslr.load(made[1]).table_ | wrong
        learner.save(tmp_path / "m.npz")
        with pytest.raises(ValueError, match="a whole file"): oslr.load(tmp_path / "m.npz")


def test_a_service_takes_words_by_their_column(tmp_path):
    write(tmp_path / "old.csv", rows_of(600, 0))
    run_table(tmp_path / "old.csv", target="y", encode=["*"], budget=5, out=tmp_path / "run")
    services, new = [sv.Service(oslr.load(tmp_path / "run" / "model.npz")) for _ in range(2)], rows_of(200, 1)
    words = 0
    for t, row in enumerate(new):
        asked, _ = (ask(s, "query", id=t)["names"] for s in services)
        plain = {name: float(row["city"] == name[5:]) if "=" in name else float(row[name]) for name in asked}
        by_column = {name.split("=")[0]: row["city"] if "=" in name else float(row[name]) for name in asked}
        words += len(by_column) < len(plain)
        told = [ask(s, "values", id=t, values=v) for s, v in zip(services, (plain, by_column), strict=True)]
        assert "prediction" in told[0] and told[0] == told[1], told
        for s in services: ask(s, "label", id=t, label=float(row["y"]))
    assert words > 20
    one, t, asked = services[0], len(new), []
    while not any("=" in name for name in asked):
        t += 1
        asked = ask(one, "query", id=t)["names"]
    rest = {name: 1.0 for name in asked if "=" not in name}
    assert "one of 'NA', 'Oslo'" in ask(one, "values", id=t, values=rest | {"city": "Madrid"})["error"]
    assert "one of 'NA', 'Oslo'" in ask(one, "values", id=t, values=rest | {"city": 3})["error"]
    if rest: assert "a number or null" in ask(one, "values", id=t, values=rest | {"city": "Rome", next(iter(rest)): "Rome"})["error"]
    assert "prediction" in ask(one, "values", id=t, values=rest | {"city": None})


@pytest.mark.parametrize("K", [2, 3])
def test_classes(K, tmp_path):
    "A run over words, its report, its card; the model in Python, from a terminal and from JSON; in a service by name."
    rows, kinds = rows_of(1500, 2, 0.05), ["low", "mid", "top"]
    cuts = np.quantile([float(row["y"]) for row in rows], [0.5] if K == 2 else [0.3, 0.6])
    for row in rows: row["y"] = kinds[int(np.searchsorted(cuts, float(row["y"])))]
    (tmp_path / "costs.csv").write_text("class,answer,cost\nlow,mid,3\n")
    r = run_table(write(tmp_path / "old.csv", rows[:1200]), target="y", budget=4, encode=["*"], impute=True, missing=["?"], passes=2,
                  out=tmp_path / "run", classify=True, mistakes=tmp_path / "costs.csv", history=write(tmp_path / "h.csv", rows[1100:1200]))
    assert r["classes"]["names"] == kinds[:K] and np.sum(r["classes"]["confusion"]) == 2399 and r["loss"] < 0.8 * r["loss_of_running_mean"]
    assert r["hindsight"]["all"] < r["loss"] and sum(n for n, *_ in r["classes"]["reliable"]) == 2399
    text, card = ((tmp_path / "run" / name).read_text() for name in ("report.md", "card.md"))
    assert "## Probabilities" in text and "least expected cost" in text and "answer mid" in text and "log loss" in card
    path = tmp_path / "run" / "model.npz"
    needed = {f["column"] for f in json.loads(oslr.load(path).to_json())["features"]}
    new = [{name: row[name] for name in row if name in needed} for row in rows[1200:]]
    new[4] = dict.fromkeys(new[4], "")
    found, said = predict_table(path, write(tmp_path / "new.csv", new))
    P = np.column_stack([found[f"probability of {c}"] for c in kinds[:K]])
    assert np.allclose(P, [classes_by_hand((tmp_path / "run" / "model.json").read_text(), row) for row in new], atol=1e-12) and said
    assert np.mean(found["prediction"] == [row["y"] for row in rows[1200:]]) > 0.7
    printed = command("predict", path, tmp_path / "new.csv")
    assert printed.exit_code == 0 and "prediction,probability of low" in printed.output
    service = sv.Service(oslr.load(path))
    assert service.ready()["classes"] == kinds[:K]
    asked = ask(service, "query", id=1)
    told = ask(service, "values", id=1, values={name.split("=")[0]: "Rome" if "=" in name else 0.5 for name in asked["names"]})
    assert list(told["probabilities"]) == kinds[:K] and sum(told["probabilities"].values()) == pytest.approx(1)
    assert "one of the classes" in ask(service, "label", id=1, label="none")["error"]
    service.save(tmp_path / "state.npz")
    again = sv.Service(oslr.load(path))
    again.restore(tmp_path / "state.npz")
    for one in (service, again): assert "rounds" in ask(one, "label", id=1, label="low")
    assert ask(service, "query", id=2) == ask(again, "query", id=2)


def classes_by_hand(text: str, row: dict[str, str]) -> np.ndarray:
    "What a program without this package does."
    m = json.loads(text)
    values = values_by_hand(m, row)
    z = [np.clip((v - f["mean"]) / f["deviation"], -m["extreme"], m["extreme"]) if f["deviation"] else 0.0
         for v, f in zip(values, m["features"], strict=True)]
    total = np.zeros(len(m["classes"]))
    for head in m["heads"]:
        if "line" in head:
            s = np.clip(head["line"]["intercept"] + np.dot(head["line"]["weights"], values), -0.5, 1.5) - 0.5
            scores = np.multiply(head["slope"], s) + head["offset"]
        else: scores = np.array([part["intercept"] + np.dot(part["weights"], z) for part in head["scores"]])
        scores = np.append(0.0, scores) if len(scores) == 1 else scores
        p = np.exp(scores - scores.max())
        total += head["share"] * p / p.sum()
    return (1 - m["uniform"]) * total + m["uniform"] / len(total)


@pytest.mark.parametrize(("target", "more", "said"), [
    ("y", {"learner": "ito2017.RDA1"}, "learner = 'ito2017.RDA1'"), ("y", {"mistakes": "m.csv", "classify": False}, "mistakes = "),
    ("one", {}, "at least 2 classes"), ("x0", {}, "more than 100 different values"), ("gap", {}, "class is missing"),
    ("y", {"mistakes": "bad.csv"}, "answer of mistakes = 'none'"), ("y", {"mistakes": "x.csv"}, "columns of mistakes"),
    ("y", {"history": "h.csv"}, "class of a row = 'other'"),
])
def test_classes_refused(target, more, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [row | {"y": "ab"[t % 2], "one": "a", "gap": "a" if t else ""} for t, row in enumerate(rows_of(200, 0))]
    write("t.csv", rows)
    write("h.csv", [row | {"y": "other"} for row in rows])
    for name, text in (("m.csv", "class,answer,cost\n"), ("bad.csv", "class,answer,cost\na,none,1\n"), ("x.csv", "a,b\n1,2\n")):
        (tmp_path / name).write_text(text)
    with refused(said): run_table("t.csv", target=target, budget=3, encode=True, out="out", **{"classify": True, **more})


@pytest.mark.parametrize(
    "names", [[2001, 2002, 2003, 2004], [0.5, 1.5, 2.5, 3.5], ["a", 7, 2.5, True], ["", "a=b", "c,d", "e\nf"]], ids=str)
def test_names_that_are_no_words(tmp_path, names):
    "They are in the file of the learner, and a table of text has them as text."
    X = np.random.default_rng(0).standard_normal((200, 4))
    lr = oslr.auto(4, 2, seed=0)
    oslr.simulate(lr, pandas.DataFrame(X, columns=pandas.Index(names, dtype=object)), X[:, 1] - X[:, 2])
    lr.save(tmp_path / "m.npz")
    assert oslr.load(tmp_path / "m.npz").names_ == tuple(names)
    pandas.DataFrame(X[:, ::-1], columns=names[::-1]).to_csv(tmp_path / "rows.csv", index=False)
    found, said = predict_table(tmp_path / "m.npz", tmp_path / "rows.csv")
    w, level = lr.linear_function()
    assert np.allclose(found["prediction"], X @ w + level) and not said


def test_names_that_no_file_holds(tmp_path):
    dates = pandas.DataFrame(np.random.default_rng(0).standard_normal((50, 4)), columns=pandas.date_range("2020-01-01", periods=4))
    lr = oslr.auto(4, 2, seed=0)
    oslr.simulate(lr, dates, np.arange(50.0))
    with pytest.warns(UserWarning, match="without these names"): lr.save(tmp_path / "m.npz")
    assert oslr.load(tmp_path / "m.npz").names_ == ()
