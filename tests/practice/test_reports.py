"""Faults that users of neighbouring tools met, each with inputs of its kind: nothing in a table may be silently wrong."""

import bz2
import contextlib
import functools
import gzip
import json
import os
import pickle
import shlex
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import command, refused
from pyarrow import parquet
from sklearn.model_selection import GridSearchCV

import oslr_nb as oslr
from oslr_nb.core.base import frames, storage
from oslr_nb.practice import report, tables
from oslr_nb.practice.blocks import TableBlocks
from oslr_nb.practice.budgets import BudgetLoss
from oslr_nb.practice.reading import read_whole, survey_table
from oslr_nb.practice.scaling import Scaled
from oslr_nb.practice.service import Service, serve


def table(body, name="t.csv"):
    path = Path(tempfile.mkdtemp()) / name
    path.write_bytes(body if isinstance(body, bytes) else body.encode())
    return path


def cli(name, path, *words, out=None):
    "Exit code, what was said, results.json (None if there is none)."
    out = out or tempfile.mkdtemp() + "/out"
    folder = ("--out", out) if name == "run" else ()
    done, found = command(name, path, "--target", "y", *words, *folder), Path(out, "results.json")
    return done.exit_code, done.output, json.loads(found.read_text()) if found.exists() else None


def no(name, path, *words, **how):
    "What is said where it is refused."
    code, said, _ = cli(name, path, *words, **how)
    assert code == 2, said
    return said


def written(frame, path):
    "A frame as CSV or as Parquet, by the ending."
    frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path)
    return path


def csv(names, *columns):
    "A CSV of columns."
    return "\n".join([names, *(",".join(map(str, row)) for row in zip(*columns, strict=True))]) + "\n"


# K1: no measure depends on where the zero of the label is, or on its unit.
def shifted(c, n=120, scale=1.0, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, 3))
    y = 3 * A[:, 0] - 2 * A[:, 1] + 0.1 * rng.normal(size=n)
    return table(csv("a,b,c,y", *A.T.tolist(), (scale * y + c).tolist()))


def measures(said, r):
    "All numbers of a report and of results.json that judge, losses in units of the label's variance."
    unit = r["hindsight"]["variance"]
    lines = [line.split("|") for line in said.split("\n") if " as it went |" in line or " in hindsight |" in line]
    out = [v for row in lines for v in (float(row[3]) / unit, float(row[4]))]
    keys = ("loss", "loss_of_running_mean", "loss_last_tenth", "loss_of_running_mean_last_tenth")
    out += [r[key] / unit for key in keys] + [r["hindsight"][key] / unit for key in ("ridge", "sparse")]
    assert len(lines) >= 4
    return np.array(out + [v / unit for row in r["curve"]["losses"] for v in row])


ADAPTIVE = "--learner", "ito2017.RDA1", "--option", "step=adaptive"


@pytest.mark.parametrize("words", [ADAPTIVE, (), ("--passes", 2), ("--impute",)])
def test_no_measure_depends_on_origin_or_unit(words):
    "`auto` itself buys a little otherwise where labels are far from 0; its curve is not compared."
    found = {}
    for c, scale in ((0, 1), (300, 1), (1e6, 1), (-1e4, 1), (0, 1e3), (0, 1e-3), (300, 1e3)):
        _, said, r = cli("run", shifted(c, 500, scale), "--budget", 2, *words)
        found[c, scale] = measures(said, r)
    base, (n, rtol, atol) = found.pop((0, 1)), (None, 1e-4, 1e-3) if words == ADAPTIVE else (18, 0, 0.05)
    for key, m in found.items(): np.testing.assert_allclose(m[:n], base[:n], rtol=rtol, atol=atol, err_msg=str(key))


# K4: where nothing is known nothing is learnt; K12: what was made up is counted.
def rows_of(n=1000, centre=300, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, 4))
    y = 3 * A[:, 0] - 2 * A[:, 1] + 0.1 * rng.normal(size=n)
    return [",".join(f"{5 * v + centre:.3f}" for v in r) + f",{b:.3f}\n" for r, b in zip(A, y, strict=True)]


def tail(r): return 1 - r["loss_last_tenth"] / r["loss_of_running_mean_last_tenth"]


@pytest.mark.parametrize("learner", [(), ADAPTIVE])
def test_columns_that_are_not_known_at_first(learner):
    "Sensors that begin later: as good as on the rows after that; what was skipped is counted and said."
    rows = rows_of(1000, 3000)
    late = [",".join(["", *r.split(",")[1:2], "NA", *r.split(",")[3:]]) if t < 30 else r for t, r in enumerate(rows)]
    whole = cli("run", table("a,b,c,d,y\n" + "".join(rows)), "--budget", 3, *learner)[2]
    _, said, r = cli("run", table("a,b,c,d,y\n" + "".join(late)), "--budget", 3, "--impute", *learner)
    assert tail(r) > tail(whole) - 0.05, (tail(whole), tail(r))
    assert 0 < r["skipped"] <= 30 and f"no value of 'a', 'c' was known yet: {r['skipped']}." in said
    assert r["gaps"]["a"]["missing"] == r["gaps"]["c"]["missing"] == 30 and set(r["gaps"]) == {"a", "c"}


def test_what_is_missing():
    "Labels are predicted by their mean until something is learnt; a column without any value is refused; words for missing."
    body = "a,b,y\n" + ",,500\n" * 3 + "".join(f"{i % 7},{i % 5},{500 + i % 7}\n" for i in range(30))
    r = cli("run", table(body), "--budget", 2, "--impute")[2]
    assert r["skipped"] == 3 and r["loss"] < 100
    code, said, _ = cli("run", table("a,b,c,y\n" + "".join(f"{i % 7},{i % 5},NA,{i % 3}\n" for i in range(50))), "--budget", 2, "--impute")
    assert code == 2 and "column 'c'" in said and "--ignore c" in said
    frame = pd.DataFrame({"a": [-999.0 if i % 5 == 0 else i % 7 for i in range(100)], "b": np.arange(100) % 3, "y": np.arange(100) % 4})
    for path in (table("", "t.parquet"), table("", "t.csv")):
        _, said, r = cli("run", written(frame, path), "--budget", 2, "--impute", "--missing", "-999")
        assert r["gaps"]["a"]["missing"] == 20 and "'a' lacks 20 of 100" in said, said


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_missing_text_is_a_value_of_its_own(name, tmp_path):
    rows = range(200)
    frame = pd.DataFrame({"code": [("NA", "null", None, "x")[i % 4] for i in rows], "a": [i % 7 if i % 9 else None for i in rows],
                          "b": [i % 5 for i in rows], "y": [i % 4 + i % 7 for i in rows]})
    said = no("run", written(frame, tmp_path / name), "--budget", 3, "--encode")
    assert "column 'a', row 1: the value is missing" in said and "column 'code'" not in said
    _, said, r = cli("run", tmp_path / name, "--budget", 3, "--encode", "--impute")
    assert r["features"] == ["code=", "code=NA", "code=null", "code=x", "a", "b"], r["features"]
    assert r["gaps"]["a"]["missing"] == 23 and "'a' lacks 23 of 200" in said and r["gaps"]["a"]["made_up"] > 0
    r = cli("run", tmp_path / name, "--budget", 3, "--encode", "--impute", "--missing", "null", "--missing", "NA")[2]
    assert r["features"] == ["code=", "code=x", "a", "b"]


# K5: numbers with a mark among them, names and dates are not made into features unasked.
def marked(mark="?", rows=300, every=0, distinct=101):
    body = [[str(i * 37 % distinct), i * 17 % 97, "mf"[i % 2], 3 * (i * 37 % distinct) + i * 17 % 97] for i in range(rows)]
    for i in range(7, rows, every or rows): body[i][0] = mark
    return table("a,b,s,y\n" + "".join(",".join(map(str, r)) + "\n" for r in body))


def last_command(said): return said.strip().splitlines()[-1].removeprefix("this would work: oslr run ")


def works(said):
    "The command that the refusal proposes, run."
    done = command("run", *shlex.split(last_command(said)), "--out", tempfile.mkdtemp() + "/out")
    assert done.exit_code == 0, (last_command(said), done.output)
    return done.output


def test_A07():
    "The first pass looks once more where the first word comes after megabytes of numbers."
    body = "".join(f"{i * 37 % 101}.000000000000,{i * 17 % 97}.000000000000,{'mf'[i % 2]},{3 * (i * 37 % 101) + i * 17 % 97}\n"
                   for i in range(150_000))
    code, said, _ = cli("run", table("a,b,s,y\n" + body + "NR,1,m,5\n"), "--budget", 2, "--encode")
    assert code == 2 and "'NR' (1 time, first in row 150001)" in said and "--missing NR" in said
    n = 300_000
    body = "".join(f"{i % 5}.000000,{i % 7}.000,{i % 3}\n" for i in range(n)) + "none,3,1\n" * 100_000
    assert cli("run", table("a,b,y\n" + body), "--budget", 2, "--encode", "a")[2]["features"][:6] == [
        "a=0.000000", "a=1.000000", "a=2.000000", "a=3.000000", "a=4.000000", "a=none"]


def commas(first): return table("a,b,s,y\n" + "".join(f'"{first(i)}",{i % 7},{"mf"[i % 2]},{i % 5}\n' for i in range(300)))


moved = lambda v, by: "".join(chr(ord(c) + by) for c in str(v))
MARKS = {
    "no-break space": lambda v: f"{v:,}".replace(",", "\u00a0"), "narrow no-break space": lambda v: f"{v:,}".replace(",", "\u202f"),
    "minus sign": lambda v: f"\u2212{v}", "brackets": lambda v: f"({v})", "unit": lambda v: f"{v} mg",
    "unit right behind": lambda v: f"{v}mg",
    "Fortran": lambda v: f"{v / 100:.2f}D+02", "currency word": lambda v: f"EUR {v}", "number sign": lambda v: f"#{v}",
    "full width": lambda v: moved(v, 0xFEE0), "Arabic digits": lambda v: moved(v, 0x630), "about": lambda v: f"ca. {v}",
    "long unit": lambda v: f"{v} milligrams per litre", "apostrophe": lambda v: f"{v:,}".replace(",", "\u2019"),
}


def all_marked(mark, every):
    "Multiples of 250 with a mark, all or some of them."
    rng = np.random.default_rng(0)
    a, b = 250 * rng.integers(4, 16, 600), rng.integers(0, 50, 600)
    return table(csv("a,b,s,y", [mark(int(v)) if i % every == 0 else v for i, v in enumerate(a)], b, ["m", "f"] * 300, a / 100 + b))


@pytest.mark.parametrize(("path", "words", "values"), [
    (marked("<0.5", every=10), "'<0.5'", 1), (marked("?", every=3), "'?' (98 times", 1), (marked("*", distinct=6), "'*'", 1),
    (marked(), "'?' (1 time, first in row 8)", 1), (marked("12 mg"), "'12 mg'", 1), (marked("?", rows=40, distinct=13, every=9), "'?'", 1),
    (commas(lambda i: f"0,{126 + i * 37 % 101}"), "numbers with points", 1),
    (commas(lambda i: f"{1 + i % 9},{100 + i * 37 % 101}.5"), "numbers with points", 1),
    *((all_marked(mark, every), "column 'a'", 12) for mark in MARKS.values() for every in (1, 3)),
], ids=[*range(8), *(f"{name} {every}" for name in MARKS for every in (1, 3))])
def test_marks_among_numbers(path, words, values):
    "Whatever the mark."
    for encode in (("--encode",), ()):
        code, said, _ = cli("run", path, "--budget", 2, *encode)
        assert code == 2 and "column 'a'" in said and words in said and "--ignore a" in said and "--encode a" in said, said
        if values == 1: works(said)
    assert "column 'a'" in cli("recommend", path, "--budget", 2, "--encode")[1]
    with pytest.raises(ValueError, match="column 'a'"): TableBlocks(path, "y", encode=True)
    code, said, r = cli("run", path, "--budget", 2, "--encode", "a", "--encode")
    assert code == 0 and sum(name.startswith("a=") for name in r["features"]) >= values


@pytest.mark.parametrize("values", [
    [f"Smith {i}" for i in range(60)], [f"2024-{1 + i // 28:02}-{1 + i % 28:02}" for i in range(60)],
    [f"2024-01-{1 + i // 3:02}T10:00" for i in range(90)], [f"K{i // 2}" for i in range(200)], [f"{i}.3.2020" for i in range(1, 29)] * 10,
], ids=lambda v: v[0])
def test_names_and_dates(values):
    "51 rows with a name each made 51 features; each date made one."
    n = len(values)
    path = table(csv("who,s,a,b,y", values, ["mf"[i % 2] for i in range(n)], *(np.arange(n) % k for k in (7, 5, 3))))
    for encode in (("--encode",), ()):
        code, said, _ = cli("run", path, "--budget", 2, *encode)
        assert code == 2 and "column 'who'" in said and "--encode who" in said
        assert f"{len(set(values))} different values in {n} rows" in said and "2 of 3 groups of 4 features" in works(said)
    r = cli("run", path, "--budget", 2, "--encode", "who", "--encode", "s")[2]
    assert len(r["features"]) == len(set(values)) + 4


def test_words_that_make_sense_are_encoded():
    "Grades, codes with letters, numbers that are only some of the words; a number by force."
    n = 400
    columns = [["ABCD"[i % 4] for i in range(n)], [("1", "2", "3a", "3b", "3c", "4d")[i % 6] for i in range(n)],
               [("yes", "no", "1")[i % 3] for i in range(n)], [1000 + i % 3 for i in range(n)], np.arange(n) % 5]
    path = table(csv("grade,code,answer,post,y", *columns))
    assert len(cli("run", path, "--budget", 2, "--encode")[2]["features"]) == 4 + 6 + 3 + 1
    r = cli("run", path, "--budget", 2, "--encode", "--encode", "post")[2]
    assert [name for name in r["features"] if name.startswith("post")] == ["post=1000", "post=1001", "post=1002"]
    for words in (("--encode", path), (path, "--encode")):
        out = tempfile.mkdtemp() + "/out"
        assert command("run", *words, "--target", "y", "--budget", 2, "--out", out).exit_code == 0


# K6: a changed table is not the old one.
def numbers_table(y, n=600, seed=0):
    X = np.random.default_rng(seed).integers(0, 50, (n, 3))
    return csv("a,b,c,y", *X.T, y(X))


@pytest.mark.parametrize("change", ["rows", "cells", "columns", "words"])
def test_changes_that_leave_all_means(change, tmp_path):
    rows = [line.split(",") for line in numbers_table(lambda X: X[:, 0]).split()]
    for i, row in enumerate(rows): row.insert(0, "w" if not i else "mfx"[i % 3])
    path, out = tmp_path / "t.csv", str(tmp_path / "o")
    write = lambda: path.write_text("\n".join(map(",".join, rows)) + "\n")
    write()
    assert cli("run", path, "--budget", 2, "--encode", out=out)[0] == 0
    if change == "rows": rows[1:] = rows[:0:-1]
    if change == "cells": rows[3][1], rows[4][1] = rows[4][1] + "1", rows[3][1]
    if change == "columns": rows = [[r[0], r[2], r[1], *r[3:]] if i else r for i, r in enumerate(rows)]
    if change == "words": rows[1][0], rows[2][0] = rows[2][0], rows[1][0]
    write()
    assert "rows, columns or values differ" in no("run", path, "--budget", 2, "--encode", "--resume", out=out)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_rows_that_were_appended(name, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 50, (600, 4)), columns=list("abcy"))
    path = written(frame[:500], tmp_path / name)
    for more in ((), ("--resume",)): assert cli("run", path, "--budget", 2, *more, out=str(tmp_path / "o"))[0] == 0
    for rows in (600, 400):
        said = no("run", written(frame[:rows], path), "--budget", 2, "--resume", out=str(tmp_path / "o"))
        assert "rows that were appended need a run of their own" in said


# K11: an index of pandas is no feature.
@pytest.mark.parametrize("index", [["i"], ["i", "j"], [None]])
def test_an_index_of_pandas_is_left_out(index):
    n = 60
    df = pd.DataFrame({"a": np.arange(n) % 7, "b": np.arange(n) % 5, "y": np.arange(n) % 3})
    df.index = pd.Index(np.arange(n) * 2.0, name=index[0])
    if len(index) > 1: df.index = pd.MultiIndex.from_arrays([np.arange(n)[::-1]] * len(index), names=index)
    path = table("", "t.parquet")
    df.to_parquet(path)
    _, said, r = cli("run", path, "--budget", 2)
    assert r["features"] == ["a", "b"] and len(r["left_out"]) == len(index)
    left_out = f"Left out: '{index[0] or '__index_level_0__'}'"
    assert left_out in said and left_out in cli("recommend", path, "--budget", 2)[1] and TableBlocks(path, "y").names == ("a", "b")


# K13: a refusal shows names as they are; K14: columns without a name; K15: files that are none.
def test_names_are_shown_as_they_are_and_the_nearest_is_offered():
    "A18: blanks around them are none of theirs."
    assert cli("run", table("a, b, y\n" + "1,2,3\n2,3,5\n" * 9), "--budget", 2)[0] == 0
    path = table("Age, Yield,weight\n1,2,3\n2,3,5\n")
    assert "they are 'Age', 'Yield', 'weight'" in no("run", path, "--budget", 2)
    words = ["--target", "yeild", "--ignore", "wieght", "--encode", "ag"]
    done = command("run", path, "--budget", 2, *words, "--out", tempfile.mkdtemp())
    assert all(f"did you mean '{name}'?" in done.output for name in ("Yield", "weight", "Age")) and done.output.count("\n") == 3


@pytest.mark.parametrize(("body", "words"), [
    ("x1 x2 y\n5 162 60\n2 110 61\n", "separated by commas; they are 'x1 x2 y'"),
    ("x1\tx2\ty\n5\t162\t60\n", "separated by commas; they are"),
    ("x1;x2;y\n5,1;162;60\n", "with commas between values and points in numbers"),
    ("x1 [mm, dry];x2;y\n5,1;162;60\n", "they are 'x1 [mm', 'dry];x2;y'"),
])
def test_A21(body, words): assert words in no("run", table(body), "--budget", 2).strip().splitlines()[-1]


def test_A19():
    "An empty column without a name is left out unasked; of the others a refusal names the first."
    body = '"","a","b","y"\n' + "".join(f'"{i}",{i % 7},{i % 5},{i % 3}\n' for i in range(50))
    said = no("run", table(body), "--budget", 2)
    assert "--ignore ''" in said and "2 of 2 features" in works(said)
    assert cli("recommend", table(body), "--budget", 2, "--ignore", "")[0] == 0
    body = "a,b,y,\n" + "".join(f"{i % 7},{i % 5},{i % 3},\n" for i in range(50))
    code, said, r = cli("run", table(body), "--budget", 2)
    assert code == 0 and r["features"] == ["a", "b"] and "column 4 (without a name and empty)" in said
    body = ",a,b,y,,\n" + "".join(f"r{i},{i % 7},{i % 5},{i % 3},,\n" for i in range(50))
    said = no("run", table(body), "--budget", 2)
    assert "column 1 of t.csv has none" in said and "column 5" not in said
    assert cli("run", table(body), "--budget", 2, "--ignore", "")[2]["features"] == ["a", "b"]
    twice = table("a,a,b,c,y\n" + "1,2,3,4,5\n2,3,5,1,0\n" * 9)
    assert "2 columns have this one" in cli("run", twice, "--budget", 2)[1]
    assert cli("run", twice, "--budget", 2, "--ignore", "a")[2]["features"] == ["b", "c"]


TAR = bytes(257) + b"ustar" + bytes(250)


@pytest.mark.parametrize(("kind", "body"), [
    ("xlsx", b"PK\x03\x04"), ("tar.gz", gzip.compress(TAR, mtime=0)), ("csv", gzip.compress(b"a,b,y\n", mtime=0)),
    ("bz", bz2.compress(b"a,b,y\n")), ("sqlite", b"SQLite format 3\0"), ("csv", "a,b,y\n1,2,3\n".encode("utf-16")),
])
def test_A22(kind, body):
    for name in ("run", "recommend"):
        last = no(name, table(body, f"t.{kind}"), "--budget", 2).strip().split("data = ")[-1]
        assert "unpack an archive, save a workbook as CSV" in last and last.isprintable() and "PK" not in last, ascii(last)


def test_A23(tmp_path):
    "And nothing is drawn into a pipe."
    words = [sys.executable, "-m", "oslr_nb", "run", "/dev/stdin", "--target", "y", "--budget", "2", "--out", str(tmp_path)]
    done = subprocess.run(words, input=b"a,b,y\n1,2,3\n2,3,5\n", capture_output=True, check=False)
    assert done.returncode == 2 and b"a pipe or a device" in done.stderr and b"lseek" not in done.stderr, done.stderr
    os.mkfifo(tmp_path / "fifo")
    assert "a pipe or a device" in cli("run", tmp_path / "fifo", "--budget", 2)[1]
    assert "it is a folder" in cli("run", tmp_path, "--budget", 2)[1]
    X, y = linear(300)
    path = table(csv("a,b,c,d,e,f,y", *X.T, y))
    words = [sys.executable, "-m", "oslr_nb", "run", str(path), "--target", "y", "--budget", "2", "--out", str(tmp_path / "o")]
    assert subprocess.run(words, capture_output=True, check=True).stderr == b""


# The first ten minutes.
def test_all_arguments_are_checked_at_once_and_before_the_folder(tmp_path, monkeypatch):
    path, out = table("a,b,c,y\n" + "".join(f"{i % 7},{i % 5},{i % 3},{i % 4}\n" for i in range(50))), tmp_path / "o"
    assert cli("run", path, "--budget", 2, out=str(out))[0] == 0
    words = ("--budget", 1, "--learner", "RDA1", "--seed", -1, "--ignore", "d", "--passes", 0)
    code, said, _ = cli("run", path, *words, out=str(out))
    assert code == 2 and said.count("\n") == 5 and "did you mean ito2017.RDA1?" in said and "a folder without a run" not in said
    assert "each learner needs a pair of features" in said
    assert all(f"{name} = " in said for name in ("seed", "passes", "ignore", "learner"))
    assert "budget = 9" in cli("run", path, "--budget", 9, out=str(out))[1]
    assert "a folder without a run" in cli("run", path, "--budget", 2, out=str(out))[1]
    assert "it must be NAME=VALUE" in cli("run", path, "--budget", 2, "--option", "step", "--seed", -1)[1]
    monkeypatch.chdir(tmp_path)
    plain = ["run", path, "--target", "y", "--budget", 2]
    for i in range(3): assert command(*plain, "--seed", i).exit_code == 0
    done = command(*plain, "--seed", 2, "--resume")
    assert done.exit_code == 0 and sorted(p.name for p in tmp_path.glob("oslr_run*")) == ["oslr_run", "oslr_run_2", "oslr_run_3"]
    assert command(*plain, "--budget", 8).exit_code == 2 and not (tmp_path / "oslr_run_4").exists()


def test_all_columns_at_once_and_a_command_that_works():
    "Many columns with gaps are one line."
    n = 200
    path = table(csv("id,when,s,crp,gap,tags,y", [f"P{i}" for i in range(n)], [f"2024-01-{1 + i % 28:02}" for i in range(n)],
                     ["mf"[i % 2] for i in range(n)], ["<0.5" if i % 20 == 0 else i % 37 for i in range(n)],
                     ["" if i % 9 == 0 else i % 5 for i in range(n)], ["a b"] * n, np.arange(n) % 6))
    code, said, _ = cli("run", path, "--budget", 20)
    assert code == 2 and all(f"column '{name}'" in said for name in ("id", "when", "s", "crp", "gap")) and "tags" not in said
    assert last_command(said).endswith("--ignore id --ignore when --encode --missing '<0.5' --impute --budget 3"), last_command(said)
    assert "3 of 3 groups of 4 features bought" in works(said)
    df = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 23)), columns=[f"test_{i:02}" for i in range(22)] + ["y"])
    df["city"] = ["Rome", "Oslo"] * 50
    for i in range(22): df.iloc[i :: 25, i] = np.nan
    said = no("run", written(df, table("", "t.csv")), "--budget", 5)
    assert said.count("\n") == 3 and "22 columns (test_00, test_01, test_02 and 19 more): values are missing" in said, said
    works(said)


def linear(n, d=6, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, 50 + 10 * (2 * X[:, 0] - X[:, 1]) + noise * rng.normal(size=n)


def told(X, y, *words):
    code, said, r = cli("run", table(csv(",".join(f"x{i}" for i in range(X.shape[1])) + ",y", *X.T, y)), *words)
    assert code == 0, said
    return said, r


TURNED = linear(3000)[0], np.where(np.arange(3000) < 2300, linear(3000)[1], 50 - 10 * linear(3000)[0][:, 0])
HINTS = [  # a stream, options, what is told or not
    (linear(1000), ADAPTIVE[:2], True, ("learnt next to nothing", "`--option step=adaptive`")),
    *((linear(1000), words, False, ("next to nothing",)) for words in (ADAPTIVE, ())),
    ((linear(1000)[0], np.random.default_rng(1).normal(size=1000)), (), False, ("next to nothing",)),
    (TURNED, ("--learner", "own.CoinBetting"), True, ("The last fifth of the rounds went worse", "`--learner auto` follows")),
    (TURNED, (), False, ("went worse",)), (linear(3000), (), False, ("went worse",)),
    (linear(3000), (), False, ("went worse",)),
    (linear(16), (), True, ("16 rows are few",)),
    (linear(120), (), False, ("are few",)),
    *(((linear(120)[0], np.full(120, y)), (), True, ("is the same in every row",)) for y in (0.1, 3.0)),
    ((linear(120)[0], 0.1 + 1e-9 * (np.arange(120) == 7)), (), False, ("is the same in every row",)),
    ((linear(120)[0], np.arange(120) // 60), (), True, ("take turns once in 120 rows",)),
    ((linear(120)[0], 1 * (np.arange(120) < 3)), ("--classify",), True, ("fewer than 10 rows: '1' (3).",)),
    ((linear(120)[0], np.arange(120) % 2), ("--classify",), False, ("fewer than 10",)),
]


@pytest.mark.parametrize(("stream", "options", "is_told", "words"), HINTS, ids=range(len(HINTS)))
def test_what_goes_badly_is_told(stream, options, is_told, words):
    "A learner that has learnt nothing, a law that changes, few rows."
    said, _ = told(*stream, "--budget", min(4, len(stream[1]) // 8), *options)
    assert all((part in said) == is_told for part in words)


def test_weights_of_noise_and_purchases_for_nothing_are_marked():
    marked, real = [], []
    for seed in range(8):
        X, y = linear(400, noise=10, seed=seed)
        said, _ = told(X, y, "--budget", 4)
        rows = {line.split("|")[1].strip(): line.split("|")[3].strip() for line in said.split("\n") if line.startswith("| x")}
        marked += ["noise" in rows[f"x{i}"] for i in range(2, 6) if rows[f"x{i}"] != "0"]
        real += ["noise" in rows[f"x{i}"] for i in range(2)]
    assert not any(real) and sum(marked) >= len(marked) - 1, (marked, real)
    r = {"bought": [90, 40], "rounds": 100, "weights": [0.0, 1.0], "features": ["yrs_married", "b"]}
    assert "'yrs_married' was bought more often" in report.idle_hint(r)[0] and "90.0%" in report.idle_hint(r)[0]
    assert not any(report.idle_hint(r | change) for change in ({"weights": [0, 0]}, {"weights": [1, 0]}, {"bought": [40, 30]}))


def test_a_wrong_label_of_the_warm_up_is_named():
    "It has no part in the scales, and the report says so."
    rng = np.random.default_rng(0)
    A = rng.normal(size=(2000, 4))
    y = 3 * A[:, 0] - 2 * A[:, 1]
    y[3] = 4000
    body = "a,b,c,d,y\n" + "".join(f"{p},{q},{r},{s},{v}\n" for (p, q, r, s), v in zip(A, y, strict=True))
    code, said, found = cli("run", table(body), "--budget", 2, "--learner", "ito2017.RDA2", "--option", "step=adaptive")
    assert code == 0 and "1 of the label 'y'" in said and found["scaling"]["label"]["left_out"] == 1
    assert 1 - found["loss_last_tenth"] / found["loss_of_running_mean_last_tenth"] > 0.5


# K18: a quote that is not closed swallows rows.
PLAIN = [f"{a},{b},{2 * a - b}" for a, b in np.random.default_rng(0).integers(0, 50, (600, 2))]
quoted = lambda rows, text="ok", more="": [f"{chr(34) * (i in rows)}{text},{row}{more}" for i, row in enumerate(PLAIN)]
QUOTES = {
    "two in a column that is left out": quoted((100, 400)), "in neighbouring rows": quoted((100, 101)),
    "at the end of the second": [row.replace("ok", 'ok"') if i == 300 else row for i, row in enumerate(quoted((100,)))],
    "before a value in quotes": [f'"Rome, no. {i}",{row}' if i != 100 else f'"Rome,{row}' for i, row in enumerate(PLAIN)],
    "an inch": [row.replace("ok", '5" pipe') if i == 300 else row for i, row in enumerate(quoted((100,)))],
    "with Windows line ends": quoted((100, 400), more="\r"),
}


@pytest.mark.parametrize("rows", QUOTES.values(), ids=QUOTES)
@pytest.mark.parametrize("at", ["first", "last"])
def test_A29(rows, at):
    if at == "last": rows = [",".join([*row.rstrip("\r").split(",")[-3:], row.rstrip("\r").rsplit(",", 3)[0]]) for row in rows]
    names = "note,a,b,y" if at == "first" else "a,b,y,note"
    for name in ("run", "recommend"):
        code, said, r = cli(name, table(names + "\n" + "\n".join(rows) + "\n"), "--budget", 2, "--ignore", "note")
        if code == 0: assert '600 rows' in said or '600 examples' in said or r["rows"] == 600
        else: assert code == 2 and ("row 101" in said or "data = " in said) and "this would work" not in said, said


def test_line_breaks_that_are_meant():
    "Addresses, and notes with commas and numbers in them."
    notes = ["12 Main St\nRome", "one, two\nthree", "first\n\nlast, 5", "a\n1, 2, 3\nb"]
    body = "note,a,b,y\n" + "".join(f'"{notes[i % 4]}",{row}\n' for i, row in enumerate(PLAIN))
    r = cli("run", table(body), "--budget", 2, "--encode")[2]
    assert r["rows"] == 600 and r["words"] == {"note": 4}


# K11: an index in any dress is left out, and named with the option that keeps it.
COUNT = np.arange(300)
HASHED = (COUNT * 7919) % 100_003
INDICES = {
    "pandas": ("Unnamed: 0", COUNT, True), "twice": ("Unnamed: 0", COUNT % 150, True), "grows": ("k", 1000 + COUNT, True),
    "falls": ("k", 500 - COUNT, True), "in steps": ("k", 7 * COUNT, True), "as decimals": ("k", COUNT.astype(float), True),
    "shuffled": ("k", np.random.default_rng(0).permutation(COUNT), True), "an id": ("patient_id", HASHED, True),
    "an ID": ("customerID", HASHED, True), "large": ("k", 10**12 + COUNT, True), "different in every row": ("income", HASHED, False),
    "an hour": ("hour", COUNT % 24, None), "decimals": ("id", COUNT / 7, None),
}


@pytest.mark.parametrize(("name", "values", "left_out"), INDICES.values(), ids=INDICES)
@pytest.mark.parametrize("kind", ["t.csv", "t.parquet"])
def test_an_index_in_any_dress(name, values, left_out, kind):
    path, rng = table("", kind), np.random.default_rng(1)
    df = pd.DataFrame({name: values, "a": rng.normal(size=300), "b": rng.normal(size=300), "y": rng.normal(size=300)})
    _, said, r = cli("run", written(df, path), "--budget", 2)
    assert r["features"] == [*[name] * (not left_out), "a", "b"]
    word = shlex.quote(name)
    assert (f"Left out: {name!r}" in said and f"`--keep {word}` keeps it" in said) == bool(left_out)
    assert (f"`--ignore {word}`" in said) == (left_out is False)
    assert cli("run", path, "--budget", 2, "--keep", name)[2]["features"] == [name, "a", "b"]
    assert TableBlocks(path, "y").names == tuple(r["features"]) and name in TableBlocks(path, "y", keep=[name]).names


# Hints: numbers that may be something else.
DOUBTS = {
    "-999": (lambda v, i: -999 if i % 20 == 0 else v, "`--missing -999 --impute`"),
    "99": (lambda v, i: 99 if i % 9 == 0 else v % 5, "--missing 99 "),
    "-99.9": (lambda v, i: -99.9 if i % 9 == 0 else v, "`--missing -99.9 "),
    "9999": (lambda v, i: 9999 if i % 50 == 0 else v, "--missing 9999 "),
    "1e+20": (lambda v, i: 1e20 if i % 9 == 0 else v, "`--missing 1e+20 "), "above 2^53": (lambda v, i: 2**60 + v, "above 2^53"),
    "codes": (lambda v, i: f"{v:05}", "numbers with zeros in front"), "99 of 100": (lambda v, i: v * 2 + 1, None),
    "0.5": (lambda v, i: f"0.{v}", None), "few": (lambda v, i: -999 if i == 7 else v, None),
}


@pytest.mark.parametrize(("value", "words"), DOUBTS.values(), ids=DOUBTS)
def test_numbers_that_may_be_something_else(value, words):
    rng = np.random.default_rng(0)
    a = [value(int(v), i) for i, v in enumerate(rng.integers(0, 50, 400))]
    code, said, r = cli("run", table(csv("a,b,y", a, rng.integers(0, 9, 400), rng.integers(0, 9, 400))), "--budget", 2)
    assert code == 0 and (len(r["doubts"]) == 0 if words is None else "'a'" in said and words in said), said


# K13: names that look alike are told apart.
@pytest.mark.parametrize(("asked", "name"), [
    ("y", "\u0443"), ("\u0440\u0430", "pa"), ("caf\u00e9", "cafe\u0301"), ("x-1", "x\u22121"), ("a b", "a\u00a0b"),
    ("price", "pr\u200bice"), ("A", "\u0391"),
])
def test_names_that_look_alike(asked, name):
    path = table(csv(f"{name},b,c", *np.random.default_rng(0).integers(0, 9, (3, 50)).tolist()))
    done = command("run", path, "--target", asked, "--budget", 2, "--out", tempfile.mkdtemp())
    odd = [f"U+{ord(c):04X}" for c in name if not c.isascii()]
    assert done.exit_code == 2 and f"did you mean {name!r}" in done.output and all(point in done.output for point in odd), done.output
    learner, X = oslr.auto(2, 2), pd.DataFrame(np.eye(2), columns=[name, "b"])
    oslr.simulate(learner, X, np.ones(2))
    with refused(f"{odd[0].replace('+', '.')}.* is missing" if odd else "U.0440"):
        oslr.simulate(learner, X.rename(columns={name: asked}), np.ones(2))


# K27: thousands of columns.
def test_A39():
    "At most ten times what pandas needs, in turn in one process."
    A, path, ratios = np.random.default_rng(0).normal(size=(600, 3001)).round(3), table("", "w.csv"), []
    pd.DataFrame(A, columns=[f"c{i}" for i in range(3000)] + ["y"]).to_csv(path, index=False)
    for _ in range(3):
        start = time.process_time()
        pd.read_csv(path)
        middle = time.process_time()
        survey_table(path, "y")
        ratios.append((time.process_time() - middle) / (middle - start))
    assert min(ratios) < 10, ratios


# A file in an order; labels far away; what was bought for nothing.
@pytest.mark.parametrize(("y", "sorted_by"), [
    (np.sort(np.random.default_rng(0).normal(size=600)), True), (-np.sort(np.random.default_rng(0).normal(size=600)), True),
    (np.repeat([3.0, 0.0], [200, 400]) + np.repeat([1, 0], [200, 400]) * np.random.default_rng(0).normal(size=600) ** 2, True),
    (np.repeat([0.0, 1.0, 2.0], 200), True), (np.random.default_rng(0).normal(size=600), False), (np.arange(600) % 2.0, False),
    (np.sin(np.arange(600) / 8), False), (np.ones(600), False),
], ids=["rising", "falling", "fair", "classes", "random", "in turn", "season", "constant"])
def test_a_sorted_file(y, sorted_by):
    A = np.random.default_rng(1).normal(size=(600, 2)) + y[:, None]
    path = table(csv("a,b,y", *A.T, y))
    said = cli("run", path, "--budget", 2)[1]
    assert ("sorted by the label" in said) == sorted_by and ("--shuffle 0" in said) == sorted_by
    _, said, one = cli("run", path, "--budget", 2, "--shuffle", 3)
    assert "sorted by the label" not in said and one["loss"] == cli("run", path, "--budget", 2, "--shuffle", 3)[2]["loss"]
    X, table_y = read_whole(path, survey_table(path, "y"))
    order = np.random.default_rng([3, 0]).permutation(600)
    run = oslr.simulate(oslr.auto(2, 2, seed=0), X[order], table_y[order])
    np.testing.assert_allclose(one["loss"], run.losses[1:].mean(), rtol=1e-9, atol=1e-12)


def test_runs_that_are_resumed_or_see_another_table(tmp_path, monkeypatch):
    path = table(csv("a,b,y", *np.random.default_rng(0).normal(size=(3, 20000))))
    words = "--budget", 2, "--shuffle", 5, "--passes", 2, "--every", 0
    whole, judge, calls = cli("run", path, *words)[2], tables.judge_block, []
    monkeypatch.setattr(tables, "judge_block", lambda *args: calls.append(1) or (judge(*args) if len(calls) < 2 else 1 / 0))
    with contextlib.suppress(ZeroDivisionError): cli("run", path, *words, out=str(tmp_path))
    monkeypatch.setattr(tables, "judge_block", judge)
    assert cli("run", path, *words, "--resume", out=str(tmp_path))[2] == whole
    assert "shuffle = 6" in no("run", path, "--budget", 2, "--shuffle", 6, "--passes", 2, "--resume", out=str(tmp_path))
    path, kept = table(numbers_table(lambda X: X[:, 0])), tables.play_table
    def changed(*args):
        path.write_text(numbers_table(lambda X: X[::-1, 0]))
        return kept(*args)
    monkeypatch.setattr(tables, "play_table", changed)
    assert "it has changed since" in no("run", path, "--budget", 2, out=str(tmp_path / "o"))


@pytest.mark.parametrize("far", [
    {5: 1000.0}, {0: -1000.0}, {599: 300.0}, {3: 500.0, 4: 400.0, 300: -900.0}, {i: 1e6 + i for i in range(0, 600, 100)}, {}])
def test_labels_far_away_are_named(far):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 2)), rng.normal(size=600)
    for i, v in far.items(): y[i] = v
    _, said, r = cli("run", table(csv("a,b,y", *X.T, y)), "--budget", 2)
    assert {v["row"] - 1 for v in r["far_labels"]} == set(far) and ("far from all others" in said) == bool(far)
    if far: assert f"in row {max(far, key=lambda i: abs(far[i])) + 1}" in said


# K20: what has names on both sides is matched by them, or refused.
def stream(n=2000):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 6))
    return X, X @ [2, -1, 0.5, 0, 0, 0] + 0.1 * rng.normal(size=n)


ROWS, Y = stream()
FRAME, LABELS = pd.DataFrame(ROWS, columns=list("abcdef")), pd.Series(Y)
named = lambda index: (FRAME.set_axis(index), LABELS.set_axis(index))
ORDERS = {
    "shuffled": (FRAME.sample(frac=1, random_state=1), LABELS), "labels shuffled": (FRAME, LABELS.sample(frac=1, random_state=1)),
    "words": tuple(v.sample(frac=1, random_state=i) for i, v in enumerate(named([f"r{i}" for i in range(2000)]))),
    "dates": tuple(v.sample(frac=1, random_state=i) for i, v in enumerate(named(pd.date_range("2020", periods=2000)))),
    "two levels": tuple(v[::1 - 2 * i] for i, v in enumerate(named(pd.MultiIndex.from_product([range(50), range(40)])))),
    "a frame of labels": (FRAME[::-1], LABELS.to_frame()), "sorted by the label": (FRAME, LABELS.sort_values()),
    "other names": (FRAME.set_axis([f"r{i}" for i in range(2000)]), LABELS.set_axis([f"s{i}" for i in range(2000)])),
    "names twice": (FRAME.set_axis(np.arange(2000) % 100 + 5), LABELS.set_axis(np.arange(2000)[::-1] % 100 + 5)),
    "one counts": (FRAME.set_axis([f"r{i}" for i in range(2000)]), LABELS),
    "labels count anew": (FRAME.set_axis(np.arange(2000) + 7), LABELS),
}
USES = {
    "fit": lambda X, y: oslr.OSLRRegressor(3, random_state=0).fit(X, y.squeeze()).score(X, y.squeeze()),
    "partial_fit": lambda X, y: oslr.OSLRRegressor(3, random_state=0).partial_fit(X, y.squeeze()).score(FRAME, LABELS),
    "simulate": lambda X, y: 1 - oslr.simulate(oslr.auto(6, 3, seed=0), X, y.squeeze()).losses[-500:].mean() / Y.var(),
    "play": lambda X, y: 1 - oslr.play(oslr.auto(6, 3, seed=0), oslr.Environment(X, y.squeeze(), 3)).losses[-500:].mean() / Y.var(),
    "blocks": lambda X, y: 1 - oslr.simulate_blocks(oslr.auto(6, 3, seed=0), [(X, y.squeeze())]).losses[-500:].mean() / Y.var(),
    "best_sparse": lambda X, y: 1 - oslr.best_sparse(X, y.squeeze(), 3).loss / (Y**2).sum(),
    "recommend": lambda X, y: 1 - oslr.recommend(X, y.squeeze(), budget=3).curve[-1].loss,
}


@pytest.mark.parametrize(("X", "y"), ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize("use", USES)
def test_A31(use, X, y):
    try: found = USES[use](X, y)
    except ValueError as error: assert "index of y" in str(error) and (y.index[0] == "s0" or not X.index.is_unique), error
    else: assert found > 0.9 and X.index.is_unique, found


PRICES = [1, 1, 1, 10, 10, 10.0]
TOLD = {
    "a Series": pd.Series(PRICES[::-1], index=list("fedcba")), "a mapping": dict(zip("fedcba", PRICES[::-1], strict=True)),
    "in order": pd.Series(PRICES, index=list("abcdef")), "numbered": pd.Series(PRICES), "a list": PRICES,
}


@pytest.mark.parametrize("costs", TOLD.values(), ids=TOLD)
@pytest.mark.parametrize("table", ["frame", "other order", "array"])
def test_A40(costs, table):
    X = {"frame": FRAME, "other order": FRAME[list("cafebd")], "array": ROWS}[table]
    right = pd.Series(PRICES, index=list("abcdef"))
    if not frames.has_names(costs): costs = PRICES if table != "other order" else right[list("cafebd")].tolist()
    elif table == "array": costs = right
    model = oslr.auto(6, 3.0, costs=costs, seed=0)
    assert 1 - oslr.simulate(model, X, LABELS).losses[-500:].mean() / Y.var() > 0.9
    env = oslr.Environment(X, LABELS, 3.0, costs=costs)
    oslr.play(oslr.auto(6, 3.0, costs=costs, seed=0), env)
    assert env.spent.max() <= 3.0 + 1e-6 and 1 - np.nanmean((env.predictions - Y)[-500:] ** 2) / Y.var() > 0.9
    assert oslr.OSLRRegressor(3.0, costs=costs, random_state=0).fit(X, LABELS).score(X, LABELS) > 0.9


def test_prices_and_weights_of_others():
    of = lambda names: pd.Series([*PRICES, 1][: len(names)], index=list(names))
    for wrong, words in ((of("abcdeg"), "'f' has no price"), (of("abcdefg"), "'g' is none of them")):
        with refused(words): oslr.Environment(FRAME, LABELS, 3.0, costs=wrong)
        with refused(words): oslr.OSLRRegressor(3.0, costs=wrong).fit(FRAME, LABELS)
    with refused("columns of X"): oslr.simulate(oslr.auto(6, 3.0, costs=of("abcdeg")), FRAME, LABELS)
    with refused("the features have no names"): oslr.Environment(ROWS, LABELS, 3.0, costs=dict(zip("abcdef", PRICES, strict=True)))
    run = oslr.simulate(oslr.auto(6, 3, seed=0), FRAME, LABELS)
    w = pd.Series([0, 0, 0, 0.5, -1, 2], index=list("fedcba"))
    assert np.array_equal(run.regret(w), run.regret([2, -1, 0.5, 0, 0, 0])) and np.array_equal(run.regret(dict(w)), run.regret(w))
    with refused("'f' has no weight"): run.regret(w.drop("f"))


# K21: one bad value does not rule what comes after it.
OURS = {
    "auto": lambda: oslr.auto(6, 3, seed=0), "with all rounds": lambda: oslr.own.PairwiseLeastSquares(6, 3, memories=[None], seed=0),
    "with a short memory": lambda: oslr.own.PairwiseLeastSquares(6, 3, memories=[200], seed=0),
    "priced": lambda: oslr.auto(6, 3.0, costs=[1] * 6, seed=0),
    "POSLR": lambda: oslr.auto(6, 4, protocol="POSLR", k=2, seed=0),
    "without centre": lambda: oslr.own.PairwiseLeastSquares(6, 3, centre=False, seed=0),
    "few rows": lambda: oslr.own.PairwiseLeastSquares(6, 2, rows=4, seed=0),
    "training-only": lambda: oslr.auto(6, 3, protocol="training-only", seed=0), "coin betting": lambda: oslr.own.CoinBetting(6, 3, seed=0),
    "scaled": lambda: Scaled(6, 3, "ito2017.RDA1", options={"top": 1, "step": "adaptive"}, seed=0),
    "scaled coins": lambda: Scaled(6, 3, "own.CoinBetting", seed=0),
}
BAD_X, BAD_Y = stream(6000)


@functools.cache
def last_tenth(name, bad=()):
    "1 - error / variance in the last tenth; bad: row, column (None: the label) and the value there."
    X, y = BAD_X.copy(), BAD_Y.copy()
    for row, column, value in bad:
        if column is None: y[row] = value
        else: X[row, column] = value
    return 1 - oslr.simulate(OURS[name](), X, y).losses[-600:].mean() / BAD_Y.var()


@pytest.mark.parametrize("bad", [
    ((5, None, 1e3),), ((5, None, -300.0),), ((3, None, -1e5),), ((50, None, 1e6),), ((3000, None, 1e3),), ((1, None, 1e3),),
    ((0, None, -1e4),), ((5, None, 20.0),), ((5, None, 50.0),),
    ((10, None, 1e3), (2000, None, -1e4)), ((5, 0, 1e3),), ((3000, 0, 1e3),), ((3000, 1, -1e6),), ((0, 0, 1e5), (0, 1, 1e5)),
], ids=str)
@pytest.mark.parametrize("name", OURS)
def test_A32(name, bad):
    if name == "coin betting" and bad[0][0] < 2: return  # it takes the first three as they are, and says so
    assert last_tenth(name, bad) > last_tenth(name) - 0.1 and last_tenth(name) > 0.6


@pytest.mark.parametrize("change", [
    lambda X, y: (X, y + 100), lambda X, y: (X, y - 1e4), lambda X, y: (X + 50 * np.eye(6)[0], y), lambda X, y: (100 * X, y),
    lambda X, y: (X + 1e3, 1e3 * y),
], ids=["label", "far", "feature", "unit", "all"])
@pytest.mark.parametrize("name", ["scaled", "scaled coins"])
def test_a_level_that_moves_after_the_warm_up(name, change):
    X, y = BAD_X.copy(), BAD_Y.copy()
    X[500:], y[500:] = change(X[500:], y[500:])
    found = 1 - oslr.simulate(learner := OURS[name](), X, y).losses[-600:].mean() / y[-600:].var()
    assert found > 0.6 and 0 < learner.moved.sum() <= 12


def test_new_levels_and_settings_that_stay():
    "Two labels in a row are a new level; settings that stay are no change."
    X, y = BAD_X, np.where(np.arange(6000) < 3000, BAD_Y, BAD_Y + 1e3)
    assert 1 - oslr.simulate(oslr.own.PairwiseLeastSquares(6, 3, memories=[150], seed=0), X, y).losses[-600:].mean() / BAD_Y.var() > 0.9
    for costs in (None, PRICES, np.array(PRICES), pd.Series(PRICES), TOLD["a Series"]):
        model = oslr.OSLRRegressor(3 if costs is None else 3.0, costs=costs, random_state=np.random.RandomState(0))
        model.partial_fit(FRAME, LABELS)
        copied = pickle.loads(pickle.dumps(model))
        assert copied.set_params(**copied.get_params() | {"passes": 3}).partial_fit(FRAME, LABELS).n_features_seen_ > model.n_features_seen_


# K22: settings that are changed later take effect or are refused.
@pytest.mark.parametrize("change", [
    {"budget": 2}, {"budget": 0.5}, {"budget": None}, {"learner": "own.CoinBetting"}, {"random_state": 1}, {"costs": [1] * 6},
])
def test_A33(change):
    model = oslr.OSLRRegressor(3, random_state=0).partial_fit(ROWS, Y)
    kept = model.coef_.copy()
    with refused("as when the model began"): model.set_params(**change).partial_fit(ROWS, Y)
    assert (model.coef_ == kept).all() and model.n_features_seen_ == 6000
    model.set_params(budget=3, learner="auto", random_state=0, costs=None).partial_fit(ROWS, Y)
    assert model.n_features_seen_ == 12_000
    model.set_params(**change | {"budget": change.get("budget", 3)}).fit(ROWS, Y)  # anew
    river = oslr.OSLRLearner(3, seed=0)
    river.learn_one(dict(zip("abcdef", ROWS[0], strict=True)), Y[0])
    for name, value in change.items(): setattr(river, name.replace("random_state", "seed"), value)
    for call in (lambda x: river.learn_one(x, 0.0), river.predict_one):
        with refused("as when the model began"): call(dict(zip("abcdef", ROWS[1], strict=True)))


# K25: examples for river that are rows of a table.
@pytest.mark.parametrize("example", [
    lambda i: FRAME.iloc[i], lambda i: FRAME.iloc[i].to_dict(), lambda i: FRAME.iloc[i][::-1], lambda i: FRAME.iloc[i].rename("row"),
    lambda i: FRAME.iloc[i].astype(object), lambda i: FRAME.iloc[i].convert_dtypes(),
], ids=["row", "dict", "reversed", "named", "objects", "nullable"])
def test_A36(example):
    model, losses = oslr.OSLRLearner(budget=3, seed=0), []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i, v in enumerate(Y[:1000]):
            losses.append((model.predict_one(example(i)) - v) ** 2)
            model.learn_one(example(i), v)
    assert 1 - np.mean(losses[-300:]) / Y.var() > 0.9 and set(model.names_) == set("abcdef")


@pytest.mark.parametrize("kind", [
    pa.string_view(), pa.large_string(), pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.large_string()), pa.string(),
], ids=str)
def test_A38(kind, tmp_path):
    rng = np.random.default_rng(0)
    words = pa.array(["xyz"[a % 3] for a in rng.integers(0, 9, 60)])
    parquet.write_table(pa.table({"s": words.cast(kind), "b": rng.integers(0, 9, 60), "y": rng.integers(0, 9, 60)}), tmp_path / "t.parquet")
    code, said, r = cli("run", tmp_path / "t.parquet", "--budget", 2, "--encode")
    assert code == 0 and r["features"] == ["s=x", "s=y", "s=z", "b"], said


@pytest.mark.parametrize("values", [[[1], [2]], [{"a": 1}, {"a": 2}], [b"a", b"b"], [None, None]], ids=str)
def test_columns_that_are_neither_numbers_nor_words(values, tmp_path):
    rng = np.random.default_rng(0)
    table = {"odd": pa.array(values * 30), "a": rng.integers(0, 9, 60), "b": rng.integers(0, 9, 60), "y": rng.integers(0, 9, 60)}
    parquet.write_table(pa.table(table), tmp_path / "t.parquet")
    for words in ((), ("--encode",), ("--encode", "odd")):
        code, said, _ = cli("run", tmp_path / "t.parquet", "--budget", 2, *words)
        if not (values[0] == b"a" and words == ("--encode", "odd")): assert code == 2 and "column 'odd'" in said, said


def test_a_grid_search_over_a_table_with_gaps():
    "Each candidate has a score, and the best is not the first."
    X = FRAME.mask(np.random.default_rng(0).random(FRAME.shape) < 0.04)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows that are left out of fits
        found = GridSearchCV(oslr.OSLRRegressor(random_state=0), {"budget": [2, 4], "passes": [1, 2]}, cv=3).fit(X, LABELS)
    assert np.isfinite(found.cv_results_["mean_test_score"]).all() and found.best_params_["budget"] == 4 and found.best_score_ > 0.8
    assert np.isfinite(found.predict(X)).all() and found.best_estimator_.n_filled_ > 0


# K17, K23, K24: files of others.
NUMBERS = csv("a,b,y", *np.random.default_rng(0).integers(0, 50, (3, 60)).tolist())


@pytest.mark.parametrize("name", [
    "data.tar.part", "model.npz.part", "report.md.0123456789ABCDEF.part", "x.0123456789abcdef.part", "report.md.0123456789abcdef.part.txt",
    "notes.md", ".hidden.part",
])
def test_A27(name, tmp_path):
    (tmp_path / name).write_text("half of it")
    killed = tmp_path / "report.md.0123456789abcdef.part"
    killed.write_text("what a killed run leaves")
    assert cli("run", table(NUMBERS), "--budget", 2, out=str(tmp_path))[0] == 0
    assert (tmp_path / name).read_text() == "half of it" and not killed.exists()


@pytest.mark.parametrize("name", ["report.md", "results.json", "model.npz", "loss.png", "checkpoint.npz", "run.lock"])
@pytest.mark.parametrize("words", [(), ("--resume",)], ids=str)
def test_A28(name, words, tmp_path):
    (tmp_path / name).write_text("mine, and no database")
    done = command("run", table(NUMBERS), "--target", "y", "--budget", 2, *words, "--out", tmp_path)
    assert done.exit_code == 2 and (tmp_path / name).read_text() == "mine, and no database", done.output
    assert set(os.listdir(tmp_path)) <= {name, "run.lock"}


@pytest.mark.parametrize("name", ["report.md", "claims.json", "ito2017_tables.json", "digits.png"])
def test_results_of_others_are_not_overwritten(name, tmp_path):
    (tmp_path / name).write_text("mine")
    (tmp_path / "cells").mkdir()
    (tmp_path / "cells" / "mine.json").write_text("{}")
    done = command("reproduce", "hazan2012", "--out", tmp_path)
    assert done.exit_code == 2 and f"a folder without {name}" in done.output and (tmp_path / name).read_text() == "mine", done.output


def test_files_of_others_stay(tmp_path, monkeypatch):
    "A database is no journal; a file that must not be written."
    with contextlib.closing(sqlite3.connect(tmp_path / "state.npz.journal")) as other: other.execute("CREATE TABLE songs (name TEXT)")
    before = (tmp_path / "state.npz.journal").read_bytes()
    done = command("serve", "--features", 5, "--budget", 2, "--state", tmp_path / "state.npz", input="")
    assert done.exit_code == 2 and "it has other tables" in done.output and (tmp_path / "state.npz.journal").read_bytes() == before
    monkeypatch.setattr(storage.os, "access", lambda path, mode: False)  # what anybody but root is told of a file of mode 444
    (path := tmp_path / "alone" / "m.npz").parent.mkdir()
    path.write_text("precious")
    with pytest.raises(PermissionError): oslr.auto(6, 3).save(path)
    assert os.listdir(path.parent) == ["m.npz"] and path.read_text() == "precious"


WRITERS = {
    "save": lambda path: oslr.auto(6, 3, seed=0).save(path),
    "data": lambda path: command("data", "diabetes", "--out", path.with_suffix(".csv")),
    "costs": lambda path: command("data", "heart", "--out", path.with_name("x.csv"), "--costs", path),
    "serve": lambda path: command("serve", "--features", 5, "--budget", 2, "--state", path, input=""),
    "text": lambda path: storage.write_whole(path, "words"),
}


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755], ids=oct)
@pytest.mark.parametrize("writer", WRITERS)
def test_A34(writer, mode, tmp_path):
    "A file that is written again keeps its mode, and a link stays a link."
    path, write = tmp_path / "m.csv", WRITERS[writer]
    write(path)
    path.chmod(mode)
    write(path)
    assert path.stat().st_mode & 0o7777 == mode and path.stat().st_size
    (tmp_path / "deep").mkdir()
    target = tmp_path / "deep" / "other.csv"
    os.rename(path, target)
    path.symlink_to(os.path.join("deep", "other.csv"))
    inode = target.stat().st_ino
    write(path)
    assert path.is_symlink() and target.stat().st_mode & 0o7777 == mode and target.stat().st_ino != inode


@pytest.mark.parametrize("what", ["pipe", "folder", "/dev/zero", "/dev/full", "socket"])
def test_A35(what, tmp_path):
    "What is no regular file is refused at once, read or written."
    path = Path(what) if what.startswith("/") else tmp_path / "m.npz"
    if what == "pipe": os.mkfifo(path)
    elif what == "folder": path.mkdir()
    elif what == "socket": socket.socket(socket.AF_UNIX).bind(str(path))
    model = oslr.auto(6, 3)
    for call in (lambda: oslr.load(path), lambda: model.save(path)):
        with refused("it must be a file"): call()
    for words in (("serve", "--learner", path), ("serve", "--features", 5, "--budget", 2, "--state", path)):
        if words[1] == "--learner" and path.suffix != ".npz": continue
        done = command(*words, input="")
        assert done.exit_code == 2 and "it must be a file" in done.output, done.output
    os.mkfifo(tmp_path / "x.journal")
    with refused("a pipe or a device"): serve(5, 2, state=tmp_path / "x")


# Tables of strangers.
def clinic(n=200):
    "Words, two of them alike in every row, a copy, a name of each row, and a label."
    rng = np.random.default_rng(5)
    age, dose, ward = rng.integers(18, 90, n), rng.normal(size=n).round(2), rng.choice(["A&E", "ICU"], n)
    y = (0.1 * age + dose + 2 * (ward == "ICU")).round(2)
    ill = np.where(y > 6, "ja", "nein")
    return pd.DataFrame({"Größe": age, "剂量": dose, "ward": ward, "land": "DE", "site": "north", "ill": ill, "y": y})


def test_prices_may_name_what_is_not_used(tmp_path):
    path = written(clinic(), tmp_path / "t.csv")
    (tmp_path / "p.csv").write_text("feature,price\n" + "".join(f"{name},1\n" for name in clinic()))
    words = (path, "--budget", 2, "--costs", tmp_path / "p.csv", "--encode", "--ignore", "剂量", "--ignore", "ill")
    code, said, r = cli("run", *words, "--priced")
    assert code == 0 and r["features"] == ["Größe", "ward=A&E", "ward=ICU"] and "'land' (the same word in every row; `--keep land`" in said
    assert cli("recommend", *words)[0] == 0 and "land=DE" in cli("run", *words, "--keep", "land")[1]
    (tmp_path / "p.csv").write_text("feature,price\nGröße,1\nward,1\nnobody,1\n")
    assert "feature of costs = 'nobody'" in no("run", *words)


def test_an_option_is_advised_once_and_only_where_there_is_one():
    path = written(clinic().assign(dose=["n/a", "?", *["1.5"] * 198]), Path(tempfile.mkdtemp()) / "t.csv")
    assert no("recommend", path, "--encode", "--impute").strip().splitlines()[-1].count("--impute") == 1


def test_a_sample_with_two_classes():
    path = written(clinic().drop(columns=["y"]).rename(columns={"ill": "y"}), Path(tempfile.mkdtemp()) / "t.csv")
    assert "which `--classify` predicts" in no("recommend", path, "--encode")
    code, said, _ = cli("recommend", path, "--encode", "--classify")
    assert code == 0 and "counts as 'ja' = 0 and 'nein' = 1" in said
    three = written(clinic().assign(y=list("abca") * 50), path)
    assert "classes of the target = 3: it must be 2" in no("recommend", three, "--encode", "--classify")


@pytest.mark.parametrize(("asked", "name"), [("x1", "剂量"), ("ab", "גו"), ("dose", "用量多少"), ("a", "あ"), ("price", "الثمن")])
def test_names_of_other_scripts_are_not_alike(asked, name): assert not frames.looks_like(asked, name)


def test_an_interval_has_two_ends_in_their_order():
    for loss in np.linspace(0, 1.2, 7): assert "to -" not in BudgetLoss(2.0, loss, 0.01, 2.0).words
    assert BudgetLoss(2.0, 1.1, 0.01, 2.0).words == "0.0% (0.0% to 0.0%)"


def test_a_service_shows_numbers_as_they_were_sent():
    learner = oslr.auto(3, 2, seed=0)
    learner.names_ = ("a", "b", "c")
    service = Service(learner)
    service.answer(b'{"op":"query","id":1}')
    assert "{'q': 1.5, 'r': None}" in service.answer(b'{"op":"values","id":1,"values":{"q":1.5,"r":null}}').replace("nan", "None")


@pytest.mark.parametrize("mark", ["{:.3f} EUR", "{:.1f}%", "$ {:.2f}", "{:,.2f} km", "x{:.4f}"])
def test_a_label_of_marked_numbers_is_no_class(mark):
    frame = clinic()
    path = written(frame.assign(y=[mark.format(1000 + v) for v in frame["y"]]), Path(tempfile.mkdtemp()) / "t.csv")
    said = no("run", path, "--budget", 2, "--encode")
    assert "column 'y' = " in said and "classify" not in said


def test_a_label_that_is_the_same_in_every_row(tmp_path):
    code, said, _ = cli("recommend", written(clinic().assign(y=3.0), tmp_path / "t.csv"), "--encode")
    assert code == 0 and "The label is the same in every row: there is nothing to predict." in said
    assert "Rounds" not in said and "History" not in said and "too few" not in said
    _, said, _ = cli("recommend", written(clinic()[:5], tmp_path / "t.csv"), "--encode")
    assert "too few rows" in said and "Rounds" not in said
