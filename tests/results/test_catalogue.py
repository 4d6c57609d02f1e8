"""Streams and data sets by name: the instances are those of the experiments, and a table on disk holds the same bits."""

import hashlib
import itertools
import math
import os
import re

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from conftest import command as run
from conftest import refusals
from joblib import Parallel, delayed

import oslr_nb as oslr
from oslr_nb.practice import data, tables
from oslr_nb.practice.reading import survey_table
from oslr_nb.results import catalogue, cesabianchi2010, datasets, ito2017, ito2018, kale2017, murata2018
from oslr_nb.results import equal_cost as own
from oslr_nb.results.catalogue import DATASETS, GENERATORS, export, load_dataset

DRAWN = [name for name, g in oslr.streams().items() if "needs the data" not in g.what]
SLOW = {"own.images_ct_like": 8000}  # made of so many rows


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    "An empty data folder."
    place = tmp_path / "data"
    place.mkdir()
    monkeypatch.setenv("OSLR_DATA", str(place))
    return place


def equal(a, b):
    return np.array_equal(a.X, b.X) and np.array_equal(a.y, b.y) and (a.w is None) == (b.w is None) and (a.w is None or (a.w == b.w).all())


@pytest.mark.parametrize("name", sorted(set(DRAWN) - set(SLOW)))
def test_every_stream_is_drawn_by_its_seed(name):
    short = {"T": 40} if "T" in oslr.streams()[name].arguments else {}
    s = oslr.stream(name, seed=1, **short)
    assert s.X.ndim == 2 and s.y.shape == (len(s.X),) and np.isfinite(s.X).all() and np.isfinite(s.y).all()
    assert s.w is None or s.w.shape == (s.X.shape[1],)
    assert len(s.X) == short.get("T", len(s.X)) and equal(oslr.stream(name, seed=1, **short), s)
    if name != "kale2017.hadamard": assert not equal(oslr.stream(name, seed=2, **short), s)


def test_instances_are_those_of_the_experiments():
    "And every paper with experiments has streams."
    assert equal(oslr.stream("ito2017.synthetic", 3), ito2017.stream("table 2", 3))
    assert equal(oslr.stream("ito2017.synthetic", 3, d=20, k=5), ito2017.stream("figure 1", 3))
    assert equal(oslr.stream("ito2018.synthetic", 2, d=20, k=8), ito2018.draw(ito2018.FITTED, 20, 8, 2).stream)
    assert equal(oslr.stream("kale2017.signs", 5, T=50, design="chain", rho=0.6), kale2017.draw_stream("chain", 0.6, 12, 2, 50, 5))
    assert equal(oslr.stream("murata2018.synthetic", 4, T=30), murata2018.gaussian_stream(30, seed=np.random.default_rng([4, 26])))
    assert equal(oslr.stream("own.tiny_signals", 6), own.stream("tiny signals", 6))
    images = oslr.stream("cesabianchi2010.digits", 2, negative=1, positive=7)
    assert equal(images, data.Stream(*cesabianchi2010.problem("digits", (1, 7), 2).train))
    papers = {name.split(".")[0] for name in GENERATORS}
    assert papers == {*oslr.claims.papers()} - {"core"}
    laws = {s.make for title, s in own.STREAMS.items() if ", buy " not in title}
    assert len(catalogue.own_generators()) == len(laws)


test_what_cannot_be_drawn_is_refused_in_a_sentence = refusals([
    ("ito2017.synthetc", 0, {}, "near: ito2017.synthetic"), ("", 0, {}, "oslr data"), (None, 0, {}, "oslr data"),
    ("own.jumps", -1, {}, "seed = -1"), ("own.jumps", 0.5, {}, "seed = 0.5"), ("own.jumps", 0, {"d": 3}, "'d': it must be one of T"),
    ("ito2017.synthetic", 0, {"k": 11}, "k = 11"), ("ito2017.synthetic", 0, {"weights": "cauchy"}, "weights = 'cauchy'"),
    ("kale2017.signs", 0, {"design": "pairs", "d": 5}, "even"), ("kale2017.signs", 0, {"rho": 2.0}, "rho = 2"),
    ("foster2016.signs", 0, {"d": 40}, "d = 40"), ("ito2018.dictionary", 0, {"r": 11}, "r = 11"), ("li2025.signs", 0, {"d": 2}, "d = 2"),
    ("cesabianchi2010.digits", 0, {"positive": 3}, "other than negative"), ("cesabianchi2010.hidden", 0, {"eps": 0.5}, "eps = 0.5"),
    ("ito2017.cover", 0, {"share": -1.0}, "share = -1"), ("hazan2012.signs", 0, {"d": 1}, "d = 1"),
    ("hazan2012.hard", 0, {"rare": 2.0}, "rare = 2"), ("ito2017.correlated", 0, {"rho": 3.0}, "rho = 3"),
    ("ito2018.oblique", 0, {"noise": 2.0}, "noise = 2"), ("murata2018.normal", 0, {"k": 200}, "k = 200"),
], lambda name, seed, kw: oslr.stream(name, seed, **kw))


@pytest.mark.parametrize("name", DRAWN)
def test_every_argument_has_its_kind(name):
    for argument, bad in itertools.product(oslr.streams()[name].arguments, ("x", None, math.nan, [1], 10**400)):
        with pytest.raises(ValueError, match=f"^{argument} = "): oslr.stream(name, 0, **{argument: bad})


@pytest.mark.parametrize("name", [name for name in DATASETS if name not in datasets.SOURCES])
def test_bundled_sets_have_the_size_that_is_told(name):
    s, names = load_dataset(name)
    told = DATASETS[name]
    assert s.X.shape == (told.rows, told.features) and s.y.shape == (told.rows,) and len({*names, "y"}) == told.features + 1
    assert told.place.startswith("bundled")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["hepatitis", "own.mixed_scales"])
def test_a_table_holds_the_same_bits(name, ending, tmp_path, monkeypatch):
    out, rows = tmp_path / f"a.{ending}", 100 if name == "hepatitis" else 400
    assert export(name, out, rows=rows, seed=3) == (rows, 19 if name == "hepatitis" else 40)
    s, names = catalogue.rows_of(name, rows, 3, False)
    read = (pyarrow.csv.read_csv if ending == "csv" else pyarrow.parquet.read_table)(out)
    assert read.column_names == [*names, "y"]
    X = np.column_stack([c.to_numpy().astype(float) for c in read.columns])
    assert np.array_equal(X[:, :-1], s.X, equal_nan=True) and (X[:, -1] == s.y).all()
    assert name != "hepatitis" or (np.isnan(X).any() and read.column("protime").null_count)


def test_long_tables_order_and_writes_that_fail(tmp_path, monkeypatch):
    "A long table is written in parts; so many rows, in another order; a write that fails leaves what was there."
    X = np.random.default_rng(0).standard_normal((2500, 2))
    parts = [(*X[i : i + 1000].T,) for i in range(0, 2500, 1000)]
    catalogue.write_rows(tmp_path / "a.csv", ("a", "b"), parts)
    read = pyarrow.csv.read_csv(tmp_path / "a.csv")
    assert read.num_rows == 2500 and (np.column_stack([c.to_numpy() for c in read.columns]) == X).all()
    s, _ = load_dataset("wine")
    first, _ = catalogue.rows_of("wine", 10, None, False)
    mixed, _ = catalogue.rows_of("wine", None, 5, False)
    assert (first.X == s.X[:10]).all() and (mixed.X == data.shuffled(s, 5).X).all() and (np.sort(mixed.y) == np.sort(s.y)).all()
    out = tmp_path / "a.csv"
    out.write_text("mine\n")
    def parts():
        yield [1.0], [2.0]
        raise OSError("disk full")
    with pytest.raises(OSError, match="disk full"): catalogue.write_rows(out, ("a", "b"), parts())
    assert out.read_text() == "mine\n" and list(tmp_path.glob("*.part")) == []
    monkeypatch.setattr(os, "replace", lambda *a: (_ for _ in ()).throw(OSError("read only")))
    told = run("data", "wine", "--out", out)
    assert told.exit_code == 2 and "read only" in told.output and out.read_text() == "mine\n" and list(tmp_path.glob("*.part")) == []


@pytest.mark.parametrize("name", data.PRICED)
def test_prices_are_read_by_oslr_run(name, tmp_path):
    told = run("data", name, "--out", tmp_path / "a.parquet", "--costs", tmp_path / "prices.csv")
    s = data.priced(name)
    assert told.exit_code == 0 and f"{len(s.y)} rows" in told.output
    survey = survey_table(tmp_path / "a.parquet", "y", False, True)
    assert survey.names == s.names and tables.read_costs(tmp_path / "prices.csv", survey)[0].tolist() == s.costs.tolist()


def test_list_download_and_data_dir(tmp_path, monkeypatch):
    "The list names everything; downloads and the folder of data are asked for."
    listed, streams = run("data").output, run("list", "--streams").output
    assert all(f"\n{name}\n" in listed for name in [*DATASETS, *oslr.streams()])
    assert all(name in streams.splitlines() for name in oslr.streams()) and "heart" not in streams.splitlines()
    assert "T=5000, d=10, k=2" in run("data", "ito2017.synthetic").output and "303 rows" in run("data", "heart").output
    asked = []
    monkeypatch.setattr(datasets._pooch(), "retrieve", lambda url, *more, **how: asked.append(url) or 1 / 0)
    assert run("data", "blog_feedback", "--out", tmp_path / "a.csv").exit_code == 2 and asked == []
    run("data", "blog_feedback", "--out", tmp_path / "a.csv", "--download")
    assert asked == [datasets.SOURCES["blog_feedback"].url] and not (tmp_path / "a.csv").exists()
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "mnist.npz").write_bytes(b"not an archive")
    told = run("reproduce", "cesabianchi2010", "--full", "--data-dir", mine, "--out", tmp_path / "out")
    assert told.exit_code == 2 and "mnist.npz" in told.output and "damaged" in told.output, told.output
    assert run("reproduce", "cesabianchi2010", "--data-dir", tmp_path / "gone").exit_code == 2


@pytest.mark.parametrize(("args", "message"), [
    (["nobody", "--out", "a.csv"], "name = 'nobody'"), (["nobody"], "name = 'nobody'"), (["heart", "--out", "a.txt"], "ends in .csv"),
    (["heart", "--out", "no/a.csv"], "folder that exists"), (["--out", "a.csv"], "with the name"), (["heart", "--rows", "3"], "rows = '3'"),
    (["heart", "--download"], "download"), (["heart", "--out", "a.csv", "--rows", "304"], "rows = 304"),
    (["heart", "--out", "a.csv", "--seed", "-1"], "seed = -1"), (["wine", "--out", "a.csv", "--costs", "b.csv"], "known of heart"),
    (["heart", "--out", "a.csv", "--costs", "a.csv"], "another"), (["heart", "--out", "a.csv", "--costs", "b.x"], "costs = 'b.x'"),
    (["mnist", "--out", "a.csv"], "mnist.*--data-dir"), (["cesabianchi2010.digits", "--out", "a.csv", "--rows", "5"], "left out"),
    (["own.ct_slice", "--out", "a.csv"], "ct_slice.*--data-dir"), (["heart", "--data-dir", "no"], "data_dir = 'no'"),
])
def test_wrong_calls_end_with_a_sentence(args, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = run("data", *args)
    assert told.exit_code == 2 and re.search(message, told.output) and "Traceback" not in told.output, told.output
    assert [p.name for p in tmp_path.iterdir()] == ["data"]


def test_data_dir_is_where_data_lie_for_the_process_and_its_workers(tmp_path, folder, monkeypatch):
    "A small MNIST stands for the data; nothing is downloaded unless that is asked for."
    pixels = np.random.default_rng(2).integers(256, size=(4, 28, 28)).astype("u1")
    arrays = {"x_train": pixels[:3], "y_train": np.array([5, 3, 3], "u1"), "x_test": pixels[3:], "y_test": np.array([5], "u1")}
    digest = lambda key: hashlib.sha256(datasets._to_idx(arrays[key])).hexdigest()
    parts = {key: (name, digest(key)) for key, (name, _) in datasets.MNIST_PARTS.items()}
    monkeypatch.setattr(datasets._read_mnist, "__defaults__", (parts,))
    monkeypatch.setitem(catalogue.DATASETS, "mnist", catalogue.DataSet("mnist", 4, 784, "digit", "made here"))
    mine = tmp_path / "mine"
    mine.mkdir()
    np.savez(mine / "mnist.npz", **arrays)
    assert "to be fetched from https://" in run("data", "mnist").output and datasets.data_file("mnist") is None
    told = run("data", "mnist", "--out", tmp_path / "a.csv", "--data-dir", mine)
    assert told.exit_code == 0 and pyarrow.csv.read_csv(tmp_path / "a.csv").column("y").to_pylist() == [5, 3, 3, 5]
    assert datasets.data_folder() == mine and datasets.data_file("mnist") == mine / "mnist.npz"
    assert f"found at {mine}" in run("data", "mnist").output
    assert Parallel(n_jobs=2, backend="loky")(delayed(datasets.data_folder)() for _ in range(2)) == [mine, mine]
    assert sorted(datasets.mnist_pair().y) == [-1, -1, 1, 1]
