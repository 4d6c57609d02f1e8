"""Ten thousand bad inputs for what people touch: command line, service, adapters, advice, `auto`.

No traceback, no lost state, no wrong answer in silence: what is refused is refused in one sentence and changes nothing; what is
accepted gives finite numbers, and those of the file as another reader finds them. OSLR_FUZZ=100000 asks for ten times as many.
"""

import csv
import decimal
import io
import json
import math
import os
import pickle
import shutil
import sys
import warnings
from datetime import date
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from test_fuzz import answer, budgeted, nonsense
from typer.main import get_command

import oslr_nb as oslr
from oslr_nb.cli import app
from oslr_nb.practice import recommend as advice
from oslr_nb.practice import service, tables

SHARES = {"tables": 0.17, "parquet": 0.05, "arguments": 0.1, "lines": 0.08, "regressor": 0.05, "river": 0.04}
LINES = 8  # inputs of one example of "lines"
PICTURES = tables.write_pictures
COMMAND = get_command(app)  # once: typer reads the signatures of all commands


def test_they_are_ten_thousand(): assert sum(SHARES.values()) + (LINES - 1) * SHARES["lines"] >= 1


@pytest.fixture(scope="module", autouse=True)
def no_figures():
    "The figure takes longer than all else; `test_figures_of_anything` draws some."
    with pytest.MonkeyPatch.context() as m:
        m.setattr(tables, "write_pictures", lambda results, text, folder: None)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    "Where the inputs of this file are, and where commands are run."
    place, before = tmp_path_factory.mktemp("bad"), os.getcwd()
    os.chdir(place)
    yield place
    os.chdir(before)


def command(*args):
    "Run a command; what it said, or None where it was refused in one sentence."
    done = CliRunner().invoke(COMMAND, [str(a).replace("\0", "") for a in args])  # an operating system passes no zero
    assert done.exception is None or isinstance(done.exception, SystemExit), (args, done.exception)
    assert done.exit_code in (0, 2) and "Traceback" not in done.output, (args, done.output)
    if done.exit_code == 0: return done.stdout
    last = done.output.split("\nthis would work: oslr ")[0].rstrip("\n").replace("\r", "\n").split("\n")[-1]
    usage = done.output.startswith("Usage:") and ("Error" in done.output or "No such" in last)
    ours = last.endswith(".") and ("it must be" in last or "checkpoint.npz must be" in last)
    assert usage or ours, (args, done.output)
    return None


# ---------------------------------------------------------------------------------------------------- tables
CELLS = ["", " ", "nan", "NaN", "inf", "-inf", "Infinity", "1e999", "-1e400", "1e-320", "5e-324", "1e60", "-1e61", "1e308", "0x10", "1_0",
         "1,5", "1.234,5", "1 000", "1'000", "½", "１", "٣", "True", "false", "NULL", "NA", "#N/A", "None", "2020-01-01", "12:30", "1/2",
         "[1]", "{}", "a", "ä", "\u202e1", "\ufeff1", "+1", "-0", "0.1e1", ".5", "5.", "1e5", "1E5", "1d5", "007", "9" * 40,
         "-" + "9" * 400, "1\0", "\0", "\t1", "1\t", '"1"', '""', '"', '"1', '1"', "1;2", "\x1b[31m", "1\x0b", "\x1c1", "$x$", "=1+1",
         "e", "1e", "--1", "1e+", "1%"]
NAMES = ["a", "b", "c", "y", "a", "", " ", "é", '"a"', '"a\nb"', "a b", "1", "a=b", "$x^$", "|", "y ", "Y", "\u202e", "x" * 300,
         "feature", "-1"]
NUMBER = st.sampled_from([*map(str, range(-9, 10)), *map(repr, np.random.default_rng(1).normal(0, 10, 30).tolist())])
CELL = st.one_of(st.floats().map(repr), st.sampled_from(CELLS), st.sampled_from(CELLS), st.text(max_size=3))
CODES = ["utf-8"] * 8 + ["utf-8-sig", "latin-1", "utf-16", "utf-16-le", "utf-32", "cp037"]
MISSING = {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "N/A", "NA", "NULL", "NaN", "n/a",
           "nan", "null"}


@st.composite
def csv_files(draw):
    "Bytes that may once have been a table."
    n, d = draw(st.integers(0, 6)), draw(st.integers(1, 4))
    names = ["a", "b", "c"][: d - 1] + ["y"]
    if not draw(st.integers(0, 3)): names = draw(st.lists(st.sampled_from(NAMES), min_size=d, max_size=d))
    rows = [[draw(NUMBER) for _ in names] for _ in range(n)]
    for _ in range(draw(st.integers(0, 3)) if n else 0):
        rows[draw(st.integers(0, n - 1))][draw(st.integers(0, len(names) - 1))] = draw(CELL)
    if n and not draw(st.integers(0, 7)): rows[draw(st.integers(0, n - 1))].append("1")
    comma, end = draw(st.sampled_from([","] * 8 + [";", "\t", "|"])), draw(st.sampled_from(["\n"] * 5 + ["\r\n", "\r", "\n\n", "\n\r"]))
    text = end.join(comma.join(row) for row in [names, *rows]) + draw(st.sampled_from([end, "", end + end, " "]))
    body = text.encode(draw(st.sampled_from(CODES)), errors="replace")
    if draw(st.integers(0, 5)): return body
    at = draw(st.integers(0, len(body)))
    return body[:at] + draw(st.binary(max_size=3)) + body[at + draw(st.integers(0, 9)) :]


def another_reading(body):
    "Names, and rows of text, as Python's own reader finds them; None if it finds no table."
    try: rows = [row for row in csv.reader(io.StringIO(body.decode("utf-8-sig"), newline=""), strict=True) if row]
    except (UnicodeDecodeError, csv.Error): return None
    return (rows[0], rows[1:]) if rows and all(len(row) == len(rows[0]) for row in rows) else None


def numbers(cells):
    "Text as numbers, NaN where one is missing; None if it holds something else."
    read = lambda c: math.nan if c in MISSING else float(int(c, 16)) if c.lower().startswith("0x") else float(c)
    try: return np.array([read(c.strip()) for c in cells])
    except ValueError: return None


def check_report(out, names, columns, options):
    "The report is of the numbers in the file: rows, features, the loss of the mean label, and of least squares on the named features."
    r, y = json.loads((out / "results.json").read_text()), columns[names.index("y")]
    X = {name: c for name, c in zip(names, columns, strict=True) if name != "y" and name not in options.get("ignore", ())}
    assert y is not None and np.isfinite(y).all() and r["rows"] == len(y)
    before = np.cumsum(y)[:-1] / np.arange(1, len(y))  # what is said of the first label is not judged
    if len(y) == 1: assert r["loss"] is None and r["loss_of_running_mean"] is None
    else:
        assert math.isclose(r["loss_of_running_mean"], ((before - y[1:]) ** 2).mean(), rel_tol=1e-9, abs_tol=1e-300)
        assert math.isfinite(r["loss"])
    assert len(r["weights"]) == len(r["bought"]) == len(r["features"]) and np.isfinite(r["weights"]).all()
    if r["groups"] is None: assert sum(r["bought"]) == r["budget"] * r["rounds"]
    if "--encode" in options["flags"]: return
    assert r["features"] == list(X) and all(c is not None for c in X.values())
    if "--impute" in options["flags"] or r["passes"] > 1: return
    Z = np.column_stack([X[r["features"][i]] for i in r["hindsight"]["support"]] + [np.ones(len(y))])
    top = np.abs(Z).max(axis=0)
    assert np.isfinite(Z).all()
    if not (1e-3 < top.min() and max(top.max(), np.abs(y).max()) < 1e6): return
    values = np.linalg.svd(Z, compute_uv=False)
    if values[-1] < 1e-3 * values[0]: return  # nearly dependent: two ways to solve differ
    fit = Z @ np.linalg.lstsq(Z, y, rcond=None)[0]
    assert math.isclose(r["hindsight"]["sparse"], ((fit - y) ** 2).mean(), rel_tol=1e-4, abs_tol=1e-9 * np.abs(y).max() ** 2 + 1e-12)


FLAGS = st.lists(st.sampled_from(["--encode", "--impute"]), unique=True, max_size=2)


@budgeted(SHARES["tables"])
@given(body=csv_files(), flags=FLAGS, ending=st.sampled_from([".csv", ".csv", ".csv", "", ".parquet", ".txt"]))
def test_tables_are_refused_or_read_as_they_are(folder, body, flags, ending):
    if sys.version_info < (3, 11): body = body.replace(b"\0", b"")  # the csv module that reads it too takes no zero byte there
    path, out = folder / f"t{ending}", folder / "out"
    path.write_bytes(body)
    shutil.rmtree(out, ignore_errors=True)
    if command("run", path, "--target", "y", "--budget", 2, "--out", out, *flags) is None:
        assert not (out / "report.md").exists() and path.read_bytes() == body
        return
    names, rows = another_reading(body) or pytest.fail(f"only we find a table in {body!r}")
    columns = [numbers(c) for c in zip(*rows, strict=True)]
    check_report(out, [n.strip('"') for n in names], columns, {"flags": flags})


KINDS = {
    "float": lambda v: pa.array(v, pa.float64()), "single": lambda v: pa.array(v, pa.float32()), "half": lambda v: pa.array(np.float16(v)),
    "int": lambda v: pa.array([int(x) if abs(x) < 1e18 else 2**62 for x in v]), "bool": lambda v: pa.array([x > 0 for x in v]),
    "large": lambda v: pa.array([2**63 + 1 + i for i, _ in enumerate(v)], pa.uint64()),
    "decimal": lambda v: pa.array([decimal.Decimal(int(min(max(x, -1e6), 1e6) * 100)) / 100 for x in v], pa.decimal128(20, 2)),
    "text": lambda v: pa.array([repr(x) for x in v]), "words": lambda v: pa.array(["a", "b", "ä"][: len(v)] + ["a"] * max(len(v) - 3, 0)),
    "dictionary": lambda v: pa.array(["u" if x > 0 else "v" for x in v]).dictionary_encode(),
    "date": lambda v: pa.array([date(2020, 1, 1)] * len(v)), "list": lambda v: pa.array([[x] for x in v]),
    "struct": lambda v: pa.array([{"x": x} for x in v]), "null": lambda v: pa.nulls(len(v)), "binary": lambda v: pa.array([b"1"] * len(v)),
    "gaps": lambda v: pa.array([None if i == 1 else x for i, x in enumerate(v)], pa.float64()),
    "duration": lambda v: pa.array([1] * len(v), pa.duration("s")), "instant": lambda v: pa.array([1] * len(v), pa.timestamp("ms")),
}
AS_NUMBERS = {"float", "single", "half", "int", "bool", "large", "decimal", "text", "binary", "gaps"}


@budgeted(SHARES["parquet"])
@given(data=st.data())
def test_parquet_is_refused_or_read_as_it_is(folder, data):
    path, out, draw = folder / "t.parquet", folder / "out", data.draw
    n = draw(st.integers(0, 5))
    value = st.one_of(st.floats(-100, 100), st.sampled_from([1e61, math.nan, math.inf, 1e-320, 0.0, 1.0]))
    kinds = draw(st.lists(st.sampled_from([*KINDS, "float", "float", "float"]), min_size=3, max_size=3))
    if draw(st.booleans()): kinds[2] = "float"
    with np.errstate(over="ignore"):
        safe = lambda kind, v: [0.0 if kind in ("int", "decimal") and not math.isfinite(x) else x for x in v]
        columns = {name: KINDS[kind](safe(kind, [draw(value) for _ in range(n)])) for name, kind in zip("aby", kinds, strict=True)}
    pa.parquet.write_table(pa.table(columns), path, row_group_size=2)
    body, damage = path.read_bytes(), draw(st.sampled_from(["", "", "cut", "flip", "head", "tail"]))
    at = draw(st.integers(0, len(body) - 1))
    if damage: path.write_bytes({"cut": body[:at], "flip": body[:at] + bytes([body[at] ^ 4]) + body[at + 1 :], "head": b"x" + body,
                                 "tail": body + b"x"}[damage])
    shutil.rmtree(out, ignore_errors=True)
    flags = draw(FLAGS)
    if command("run", path, "--target", "y", "--budget", 2, "--out", out, *flags) is None: return
    if damage: return  # Parquet has checksums only where its writer wanted some
    read = [np.array([math.nan if v is None else float(v) for v in columns[c].to_pylist()]) if k in AS_NUMBERS else None
            for c, k in zip("aby", kinds, strict=True)]
    check_report(out, list("aby"), read, {"flags": flags})


@pytest.mark.parametrize("numbers_", [[1e-300, 1e50, -1e60], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [5e-324, 1e-320, 0.0]])
@pytest.mark.parametrize("name", ["$x^$", "\\frac{", "a" * 500, "\u202e", "中", "\x1b[31m", "a\nb"])
def test_figures_of_anything(folder, numbers_, name):
    "Names that look like formulas, letters without a shape, losses of any size."
    with (folder / "f.csv").open("w", newline="") as f:
        csv.writer(f).writerows([[name, "b", "y"], *([v, i, v] for i, v in enumerate(numbers_))])
    shutil.rmtree(folder / "out", ignore_errors=True)
    PICTURES(tables.run_table(folder / "f.csv", target="y", budget=2, out=folder / "out"), "", folder)
    assert (folder / "loss.png").read_bytes().startswith(b"\x89PNG")


# ---------------------------------------------------------------------------------------------------- arguments
WORDS = st.one_of(
    st.sampled_from(["", " ", "x", "-1", "0", "1", "2", "1.5", "1e9", "nan", "inf", "9" * 400, "é", "a\nb", "None", "True", "../..", "/",
                     ".", "[]", "auto", "own.CoinBetting", "own.PairwisePOSLR", "foster2016.FKK", "ito2017", "own", "y", "a", "OSLR",
                     "z" * 300, "{}", "\udce9"]),
    st.text(max_size=4).filter(lambda s: not s.startswith("-")),
)
GOOD = {
    "run": {"": "good.csv", "--target": "y", "--budget": "2", "--out": "run"},
    "recommend": {"": "good.csv", "--target": "y", "--budget": "2"}, "serve": {"--features": "6", "--budget": "3", "--state": "kept.npz"},
    "cite": {"": "nobody"}, "verify": {"": "nobody"}, "reproduce": {"": "nobody"},
}
MORE = {
    "run": ["--learner", "--seed", "--passes", "--every", "--ignore", "--costs", "--nothing"],
    "recommend": ["--costs", "--ignore"], "serve": ["--learner", "--every", "--seed"],
    "cite": ["--x"], "verify": ["--jobs"], "reproduce": ["--jobs", "--out"],
}


@budgeted(SHARES["arguments"])
@given(name=st.sampled_from(["run", "run", "run", "recommend", "serve", "serve", "cite", "verify", "reproduce"]), data=st.data())
def test_arguments(folder, name, data):
    "Odd words for one or two arguments, beside good ones; a run and a state that are there stay as they are."
    if not (folder / "kept.npz").exists(): prepare(folder)
    args, names = dict(GOOD[name]), [*GOOD[name], *MORE[name]]
    for n in data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=2)): args[n] = data.draw(WORDS)
    if name in ("verify", "reproduce") and (args[""] in oslr.claims.papers()): args[""] = "nobody"
    if name == "run" and args.get("--passes", "1").strip().isdigit() and len(args.get("--passes", "1")) > 3: args["--passes"] = "-3"
    words = [args.pop("", None), *(part for pair in args.items() for part in pair)]
    before = {p: p.read_bytes() for p in (folder / "run").iterdir()} | {folder / "kept.npz": (folder / "kept.npz").read_bytes()}
    with pytest.MonkeyPatch.context() as m:
        m.setattr(service, "Pipes", Silence)
        m.setattr(advice, "recommend", lambda *a, **kw: SimpleNamespace(theory="asked"))
        m.setattr(advice, "replace", lambda answer, **kw: answer)
        command(name, *(w for w in words if w is not None))
    assert all(p.read_bytes() == body for p, body in before.items()), (name, words)


class Silence:
    "A service that nobody talks to."

    def __init__(self, *args): pass

    def receive_signal(self, *args): pass

    def run(self): return 0


def prepare(folder):
    "A table, a finished run of it, and the state of a service."
    rows = [f"{i},{i * i % 7},{-i % 3},{i % 5}" for i in range(40)]
    (folder / "good.csv").write_text("\n".join(["a,b,c,y", *rows]) + "\n")
    assert command("run", *(part for pair in GOOD["run"].items() for part in pair if part)) is not None
    service.Service(oslr.auto(6, 3, seed=0)).save(folder / "kept.npz")


# ---------------------------------------------------------------------------------------------------- service
D, BUDGET = 6, 3
THINGS = [0, 1, -1, 7, 1.5, -0.0, 1e-320, 5e-324, 1e60, -1e61, 1e308, math.nan, math.inf, -math.inf, 10**400, 2**63, -(2**63), True, False,
          None, "", "7", "a", "é", "\ud800", "\0", "x" * 201, "nan", [], [1], [1, 2, 3], [1, "a", 3], [[1, 2, 3]], [None] * 3, [True] * 3,
          [1e61, 0, 0], [math.nan, 0, 0], [10**400, 1, 2], [1, 2, 3, 4], {}, {"a": 1}, {"op": "query"}, [{}], "query"]
THING = st.one_of(*[st.sampled_from(THINGS)] * 3, st.floats(), st.integers(), st.text(max_size=3))
ID = st.sampled_from([7, 8, 8, 9, "a", *THINGS])
LABEL = st.sampled_from([0.5, -3.0, 2, 8.25])
VALUES = st.sampled_from([[1, 2, 3], [1.0, 2.0, 3.0], [0.5, -1.5, 2], [0, 0, 0], *THINGS])
REQUEST = st.fixed_dictionaries({"op": st.sampled_from([*service.OPS, "values", "label", "query", "QUERY", "", None, 1])}, optional={
    "id": ID, "values": VALUES, "label": LABEL | THING, "query": ID, "other": THING})
MUTATE = st.sampled_from(["", "", "", "cut", "twice", "insert", "spaces", "nest", "long", "bom", "utf-16"])


@st.composite
def lines(draw):
    "A request, mended or broken, as bytes."
    if not draw(st.integers(0, 9)): return draw(st.binary(max_size=20)).replace(b"\n", b"")
    request = draw(REQUEST)
    wanted = service.OPS.get(request["op"], set()) if isinstance(request["op"], str) else set()
    if draw(st.integers(0, 2)): request = {k: v for k, v in request.items() if k in wanted} | {
        k: draw({"id": ID, "values": VALUES, "label": LABEL}[k]) for k in sorted(wanted - set(request))}
    text = json.dumps(request).encode()
    how, at = draw(MUTATE), draw(st.integers(0, len(text)))
    return {"": text, "cut": text[:at], "twice": text[:-1] + b', "op": "query"}', "insert": text[:at] + b'"' + text[at:],
            "spaces": b" \t" + text + b" \r", "nest": b'{"a":' * 2000 + text, "long": text[:-1] + b" " * 999 + b"}",
            "bom": b"\xef\xbb\xbf" + text, "utf-16": text.decode().encode("utf-16")}[how].replace(b"\n", b"")


def opened(learner):
    "A service with an example that was asked for, and one with values."
    one = service.Service(oslr.choice.make_learner(learner, D, BUDGET, 5))
    one.answer(b'{"op": "query", "id": 7}')
    if one.learner.late_labels: one.answer(b'{"op": "query", "id": 8}')
    if one.learner.late_labels: one.answer(b'{"op": "values", "id": 8, "values": [1, 2, 3]}')
    return one


def whole(one):
    "All that a service knows, but for the count of lines."
    header, arrays = one.learner.state(whole=True)
    cases = [(name, str(case), case.current) for name, case in one.open.items()]
    return repr([header, cases, one.rounds, one.skipped, one.losses, sorted(map(repr, one.early))]), [a.tobytes() for a in arrays.values()]


@budgeted(SHARES["lines"])
@given(said=st.lists(lines(), min_size=LINES, max_size=LINES), learner=st.sampled_from(["auto", "auto", "own.CoinBetting"]))
def test_lines(said, learner):
    "A refused line changes nothing; the accepted ones are answered as if the others had never come."
    one, twin = opened(learner), opened(learner)
    for line in said:
        before, rounds, text = whole(one), one.rounds, one.answer(line)
        told = json.loads(text, parse_constant=pytest.fail)
        assert text.isascii() and "\n" not in text
        if "error" in told:
            assert "it must be" in told["error"] and told["error"].endswith(".") and "\n" not in told["error"] and whole(one) == before
            continue
        assert json.loads(twin.answer(line)) == told | ({"lines": twin.lines} if "lines" in told else {})
        request = json.loads(line)
        if "id" in request: assert told.get("learnt", told.get("id")) == request["id"]
        assert one.rounds == rounds + (request["op"] == "label")
    assert whole(one) == whole(twin)


# ---------------------------------------------------------------------------------------------------- adapters and others
RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((20, D)), RNG.standard_normal(20)
OPTION = {"budget": nonsense, "learner": nonsense, "passes": st.sampled_from([0, -1, 1.5, None, "2", True, np.nan, 2]), "shuffle": nonsense,
          "random_state": nonsense}


def refused(call):
    "Whether it was refused with a sentence, ours or that of scikit-learn."
    try: call()
    except (ValueError, TypeError) as e:
        assert str(e).strip() and "internal" not in str(e), e
        return True
    return False


@budgeted(SHARES["regressor"])
@given(options=st.dictionaries(st.sampled_from([*OPTION]), st.none(), max_size=1), data=st.data())
def test_regressor(options, data):
    model = oslr.OSLRRegressor(**{"budget": 3, "random_state": 0} | {name: data.draw(OPTION[name]) for name in options})
    for name in data.draw(st.lists(st.sampled_from(["fit", "partial_fit", "predict"]), min_size=1, max_size=3)):
        args = [X, Y][: 1 if name == "predict" else 2]
        if data.draw(st.integers(0, 3)): args[data.draw(st.integers(0, len(args) - 1))] = data.draw(nonsense)
        before = state_of(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # names of columns
            if refused(lambda name=name, args=args: getattr(model, name)(*args)): assert state_of(model) == before
            elif name == "predict":
                out, Z = model.predict(args[0]), np.asarray(args[0], float)
                plain = [sum(float(a) * float(b) for a, b in zip(z, model.coef_, strict=True)) + model.intercept_ for z in Z]
                assert np.isfinite(out).all() and np.allclose(out, np.clip(plain, *model.y_range_), rtol=1e-9, atol=1e-9)
    if hasattr(model, "coef_"): assert np.isfinite(model.coef_).all() and model.coef_.shape == (model.n_features_in_,)


def state_of(model):
    "What a model has learnt."
    return pickle.dumps({k: v for k, v in vars(model).items() if k.endswith("_")})


@budgeted(SHARES["river"])
@given(data=st.data())
def test_river_model(data):
    draw, kw = data.draw, {"budget": 3, "seed": 0}
    if not draw(st.integers(0, 3)): kw[draw(st.sampled_from(["budget", "features", "learner", "seed"]))] = draw(nonsense)
    if kw["seed"] is None: kw["seed"] = 1  # without a seed no two models draw the same
    model, twin = oslr.OSLRLearner(**kw), oslr.OSLRLearner(**kw)
    good = dict(zip("abcdef", X[0].tolist(), strict=True))
    for t in range(draw(st.integers(1, 4))):
        x, y, odd = good, float(Y[t]), draw(st.sampled_from(["x", "value", "y", "name", ""]))
        if odd == "x": x = draw(nonsense)
        if odd == "value": x = good | {draw(st.sampled_from("abcdef")): draw(nonsense)}
        if odd == "name": x = {draw(st.sampled_from([1, None, "", "g", (1, 2), 0.5])): 1.0} | good
        if odd == "y": y = draw(nonsense)
        if answer(lambda x=x, y=y: (model.learn_one(x, y), "done")): twin.learn_one(x, y)
        guess = answer(lambda x=x: model.predict_one(x))
        assert guess is None or math.isfinite(guess)
    if model.names_ == twin.names_: assert model.weights == twin.weights and model.n_features_seen_ == twin.n_features_seen_
