"""Streams in blocks: the numbers of one run wherever it is cut, constant memory, and what is wrong said in one sentence."""

import itertools
import pickle
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import python, refusals
from test_learners import KEYS, make, state

import oslr_nb as oslr
from oslr_nb.practice.blocks import BlockRefused, TableBlocks, simulate_blocks
from oslr_nb.practice.data import sparse_linear

stream = sparse_linear(12, 2, 300, seed=3)


def cut(X, y, places):
    "The rows in blocks that end at these places."
    for a, b in itertools.pairwise([0, *sorted(places), len(X)]): yield X[a:b], y[a:b]


def new(): return oslr.own.CoinBetting(12, 4, seed=5)


@pytest.mark.parametrize("key", KEYS)
def test_any_cut_gives_the_numbers_of_one_run(key):
    X, y, rng = stream.X, stream.y, np.random.default_rng(len(key))
    one = oslr.simulate(whole := make(key, seed=1), X, y, seed=7)
    for places in ([1, 40, 40], rng.integers(0, 300, 9)):
        run = simulate_blocks(lr := make(key, seed=2), cut(X, y, places), seed=7)
        assert (run.predictions == one.predictions).all() and (run.losses == one.losses).all() and (run.n_observed == one.n_observed).all()
        assert state(lr)[1] == state(whole)[1] and (lr.coef_ == whole.coef_).all()
        assert (run.rounds, run.scored, run.blocks) == (300, 300, len(places) + 1) and run.bought == one.n_observed.sum()
    assert run.loss == pytest.approx(one.losses.sum(), rel=1e-12)
    assert all(f"mean loss after the first {one.losses[1:].mean():.4g}" in repr(r) for r in (one, run))
    if whole.protocol != "training-only": return
    blind = simulate_blocks(lr := make(key, seed=2), cut(X, y, places), seed=7, score=False)
    assert np.isnan(blind.predictions).all() and blind.scored == 0 and "nothing scored" in repr(blind) and (lr.coef_ == whole.coef_).all()


def test_sums_do_not_depend_on_the_cut():
    "Nor does what was spent; blocks may have an order of play."
    runs = [simulate_blocks(new(), cut(stream.X, stream.y, places), keep=False) for places in ([], [1], range(1, 300, 7))]
    assert len({(r.loss, r.rounds, r.scored, r.bought) for r in runs}) == 1 and all(r.predictions.size == 0 for r in runs)
    rows = np.random.default_rng(0).integers(300, size=1000)
    one = oslr.simulate(whole := new(), stream.X, stream.y, rows=rows)
    run = simulate_blocks(lr := new(), ([stream.X, stream.y, part] for part in (rows[:10], [], rows[10:])))
    assert (run.losses == one.losses).all() and state(lr)[1] == state(whole)[1]
    learner = lambda: oslr.own.PairwiseLeastSquares(12, 9.0, costs=np.arange(1.0, 13.0), seed=1)
    one = oslr.simulate(learner(), stream.X, stream.y)
    runs = [simulate_blocks(learner(), cut(stream.X, stream.y, places)) for places in ([], [7, 100], range(1, 300, 11))]
    assert len({r.spent for r in runs}) == 1 and runs[0].spent == pytest.approx(one.spent.sum(), rel=1e-12)
    assert all((r.predictions == one.predictions).all() and (r.n_observed == one.n_observed).all() for r in runs)
    assert simulate_blocks(new(), cut(stream.X, stream.y, [7])).spent is None
    assert simulate_blocks(learner(), []).spent == 0 and oslr.simulate(learner(), stream.X, stream.y, rows=[]).spent.size == 0


def test_tables_in_blocks():
    "That tables are put in order is shown for all libraries in test_frames.py."
    names = [f"x{i}" for i in range(12)]
    tables = [pd.DataFrame(stream.X[part], columns=names).assign(sold=stream.y[part]) for part in (slice(0, 130), slice(130, 300))]
    for bad, words in ((tables[1].drop(columns="x0"), "x0 is missing"), (tables[1].assign(z=1.0), "z is new")):
        with pytest.raises(BlockRefused, match=rf"blocks\[1\]: columns of X = .*{words}.*; the 130 rounds before it are learnt\.$"):
            simulate_blocks(new(), [tables[0], bad], target="sold")
    with pytest.raises(BlockRefused, match="target = 'age'"): simulate_blocks(new(), tables, target="age")
    with pytest.raises(ValueError, match=r"blocks = .*an iterable of blocks"): simulate_blocks(new(), tables[0], target="sold")
    table = pa.table({f"x{i}": stream.X[:, i] for i in range(12)} | {"sold": stream.y})
    run = simulate_blocks(new(), table.to_batches(max_chunksize=77), target="sold")
    assert (run.predictions == oslr.simulate(new(), stream.X, stream.y).predictions).all() and run.blocks == 4


def good(stream): return stream.X[:50], stream.y[:50]


def raises_midway(stream):
    yield good(stream)
    raise OSError("the disk\nis gone.")


def hole(stream):
    X = stream.X[50:90].copy()
    X[33:] = np.nan
    return X, stream.y[50:90]


BROKEN = {
    "raises": (raises_midway, r"blocks\[1\]: OSError while it was fetched or played \(the disk is gone\.?\)"),
    "no pair": (lambda s: [good(s), s.X], r"blocks\[1\]: item = .*a pair \(X, y\)"),
    "nothing": (lambda s: [good(s), None], r"blocks\[1\]: item = None"),
    "too many": (lambda s: [good(s), (*good(s), [0], [1])], r"blocks\[1\]: item = "),
    "other d": (lambda s: [good(s), (s.X[:9, :11], s.y[:9])], r"blocks\[1\]: learner\.d = 12: it must be 11"),
    "empty, other d": (lambda s: [good(s), (s.X[:0, :11], s.y[:0])], r"blocks\[1\]: learner\.d = 12: it must be 11"),
    "labels": (lambda s: [good(s), (s.X[:9], s.y[:8])], r"blocks\[1\]: shape of y = \(8,\)"),
    "text": (lambda s: [good(s), (s.X[:9].astype(str), s.y[:9])], r"blocks\[1\]: X = "),
    "label not a number": (lambda s: [good(s), (s.X[:9], np.r_[s.y[:8], np.nan])], r"blocks\[1\]: y\[8\] = nan"),
    "rows": (lambda s: [good(s), (*good(s), [0, 50])], r"blocks\[1\]: rows = \[0, 50\]"),
    "bought, not a number": (lambda s: [good(s), hole(s)], r"blocks\[1\]: X\[33, \d+\] = nan: .*in round 84"),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("key", ["own.CoinBetting", "ito2017.RDA2", "kale2017.DantzigPOSLR"])
def test_a_refused_block(name, key):
    "One sentence; the learner is as it was before that block, with the generator; the results so far are there; it plays on."
    blocks, words = BROKEN[name]
    oslr.simulate(twin := make(key, seed=4), *good(stream))
    with pytest.raises(BlockRefused, match=rf"^(?s:{words}.*; the 50 rounds before it are learnt\.)$") as caught:
        simulate_blocks(lr := make(key, seed=4), blocks(stream))
    e = caught.value
    assert "\n" not in str(e) and state(lr) == state(twin) and (e.block, e.run.rounds, len(e.run.losses)) == (1, 50, 50)
    again = pickle.loads(pickle.dumps(e))
    assert str(again) == str(e) and again.block == 1 and (again.run.predictions == e.run.predictions).all()
    rest = stream.X[50:], stream.y[50:]
    assert (simulate_blocks(lr, [rest]).predictions == oslr.simulate(twin, *rest).predictions).all()


def test_ends_of_a_run():
    "The first block is refused; empty ones are passed over, the seed waits for the first round; what is used up is a run of no rounds."
    before = state(lr := new())
    with pytest.raises(BlockRefused, match=r"blocks\[0\]: .*; nothing has been learnt\.$") as caught:
        simulate_blocks(lr, iter([(np.full((3, 12), np.nan), np.zeros(3))]), seed=9)
    assert state(lr) == before and caught.value.run.rounds == 0
    empty = stream.X[:0], stream.y[:0]
    run = simulate_blocks(lr := new(), [empty, good(stream), empty], seed=3)
    assert (run.rounds, run.blocks) == (50, 3) and (run.predictions == oslr.simulate(new(), *good(stream), seed=3).predictions).all()
    used = cut(stream.X, stream.y, [100])
    assert simulate_blocks(lr, used).rounds == 300
    before = state(lr)
    for nothing in (used, [], [empty]): assert simulate_blocks(lr, nothing, seed=1).rounds == 0 and state(lr) == before
    with pytest.raises(ValueError, match="learner = 3"): simulate_blocks(3, [])
    lr = new()
    lr.query()
    before = state(lr)
    with pytest.raises(oslr.ProtocolError, match="query is out of order"): simulate_blocks(lr, [good(stream)])
    assert state(lr) == before


test_arguments = refusals([
    (7, {}, "blocks = 7"), (np.zeros((4, 12)), {}, "an iterable of blocks"), (None, {}, "blocks = None"), ([], {"keep": 1}, "keep = 1"),
    ([], {"seed": -1}, "seed = -1"), ("no such file.csv", {"target": "y"}, "no such file.csv"),
], lambda blocks, more: simulate_blocks(new(), blocks, **more))


@pytest.fixture
def file(tmp_path):
    table = pa.table({f"x{i}": stream.X[:, i] for i in range(12)} | {"sold": stream.y})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=64)
    return tmp_path / "a.parquet"


def test_tables_on_disk(file):
    one = oslr.simulate(new(), stream.X, stream.y)
    for blocks, more in ((file, {"target": "sold"}), (str(file), {"target": "sold"}), (TableBlocks(file, "sold", size=7), {})):
        assert (simulate_blocks(new(), blocks, **more).predictions == one.predictions).all()
    table = TableBlocks(file, "sold", size=100, skip=250)
    assert table.rows == 300 and table.names == tuple(f"x{i}" for i in range(12))
    for _ in range(2): assert [len(y) for _, y in table] == [50]
    pd.read_parquet(file).assign(city=["Rome", "Bern"] * 150).to_csv(file.with_suffix(".csv"), index=False)
    with pytest.raises(ValueError, match="column 'city' = 'Rome'"): simulate_blocks(new(), file.with_suffix(".csv"), target="sold")
    blocks = TableBlocks(file.with_suffix(".csv"), "sold", ignore=("city",))
    assert (simulate_blocks(new(), blocks).predictions == one.predictions).all()


@pytest.mark.parametrize(("change", "words"), [
    (lambda t: t.drop(columns="x3"), "learner.d = 12: it must be 11"), (lambda t: t.assign(z=1.0), "learner.d = 12: it must be 13"),
    (lambda t: t.rename(columns={"sold": "price"}), "target = 'sold'"), (lambda t: t.assign(sold="high"), "column 'sold' = 'high'"),
    (lambda t: t.iloc[:0], "at least one row"), (lambda t: t.assign(sold=t.sold.where(t.index != 7)), "column 'sold', row 8"),
])
def test_other_columns_on_disk(file, change, words):
    change(pd.read_parquet(file)).to_parquet(file, index=False)
    before = state(lr := new())
    with pytest.raises(ValueError, match=words): simulate_blocks(lr, file, target="sold")
    assert state(lr) == before


def test_tables_with_gaps_and_tables_that_change(file):
    "What is missing on disk may not be bought; a table that has lost rows is refused."
    table = pd.read_parquet(file)
    table.loc[200:, "x0"] = np.nan
    table.to_parquet(file, index=False)
    with pytest.raises(BlockRefused, match=r"blocks\[\d\]: X\[\d+, 0\] = nan") as caught:
        simulate_blocks(new(), TableBlocks(file, "sold", size=50))
    assert caught.value.run.rounds >= 200 and caught.value.run.rounds % 50 == 0
    blocks = TableBlocks(file, "sold")
    pd.read_parquet(file).iloc[:200].to_parquet(file, index=False)
    with pytest.raises(BlockRefused, match=r"a table of 300 rows.*200 were read"): simulate_blocks(new(), blocks)


@pytest.mark.parametrize(("more", "words"), [
    ({"size": 0}, "size = 0"), ({"skip": 301}, "skip = 301"), ({"encode": 2}, "encode = 2"), ({"ignore": ("q",)}, "ignore = 'q'"),
])
def test_arguments_of_tables(file, more, words):
    with pytest.raises(ValueError, match=words): TableBlocks(file, "sold", **more)


@pytest.mark.parametrize("key", KEYS)
def test_reading_ahead_changes_no_number(key):
    "From 2^17 numbers on the compiled rounds ask for the memory of the next purchases before these are drawn."
    one = oslr.simulate(small := make(key, seed=1), stream.X, stream.y)
    X, y = (np.concatenate([part] * 40) for part in (stream.X, stream.y))
    run = oslr.simulate(large := make(key, seed=1), X, y, rows=np.arange(300) + 300 * (np.arange(300) % 40))
    assert X.size > 2**17 and (run.predictions == one.predictions).all() and state(large) == state(small)


TYPES = [np.uint8, np.int8, bool, np.float16, ">f8", ">i4", np.int64]


@pytest.mark.parametrize("key", ["own.CoinBetting", "own.PairwisePOSLR", "cesabianchi2010.AER", "ito2018.LinearProjection"])
@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_memory_mapped_files_of_other_types(key, kind, tmp_path, monkeypatch):
    "Converted a few rows at a time, in the order of play, with the numbers of a table in memory."
    monkeypatch.setattr("oslr_nb.core.game.driver.CONVERTED", 12 * 50)
    X, rows = (stream.X > 0 if kind is bool else np.abs(np.round(stream.X))).astype(kind), np.random.default_rng(1).integers(300, size=500)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    run = oslr.simulate(lr := make(key, seed=1), mapped, stream.y, rows=rows)
    one = oslr.simulate(twin := make(key, seed=1), X.astype(float), stream.y, rows=rows)
    assert (run.predictions == one.predictions).all() and (run.n_observed == one.n_observed).all() and state(lr) == state(twin)
    assert np.shares_memory(run.X, mapped) and (run.regret(np.ones(12)) == one.regret(np.ones(12))).all()
    views = oslr.simulate(make(key, seed=1), np.asarray(mapped)[:, ::-1], stream.y), oslr.simulate(make(key, seed=1), X[:, ::-1], stream.y)
    assert (views[0].predictions == views[1].predictions).all()


@pytest.mark.parametrize("key", ["own.CoinBetting", "ito2017.RDA1", "kale2017.DantzigPOSLR", "hazan2012.AELR", "ito2018.LinearProjection"])
def test_a_bad_value_in_a_file_of_another_type(key, tmp_path, monkeypatch):
    "Row, round and sentence are those of a table in memory, and nothing is learnt."
    monkeypatch.setattr("oslr_nb.core.game.driver.CONVERTED", 12 * 50)
    X, rows = np.round(stream.X).astype(np.float16), np.random.default_rng(1).permutation(300)
    X[rows[230:]] = np.nan
    np.save(tmp_path / "X.npy", X)
    before, said = state(lr := make(key, seed=1)), []
    for table in (np.load(tmp_path / "X.npy", mmap_mode="r"), X):
        with pytest.raises(ValueError, match=rf"X\[{rows[230]}.*in round 231") as caught: oslr.simulate(lr, table, stream.y, rows=rows)
        said.append(str(caught.value))
        assert state(lr) == before and (caught.value.row, caught.value.round) == (rows[230], 231)
        assert str(pickle.loads(pickle.dumps(caught.value))) == said[-1]
    assert said[0] == said[1]


def test_a_bad_value_after_a_refused_sale():
    "The first round is then played by hand; rows and rounds are counted from there on as everywhere."
    X, rows = stream.X.copy(), np.random.default_rng(1).permutation(300)
    X[rows[0]] = np.nan
    lr = new()
    with pytest.raises(ValueError, match=r"X\[0, \d+\] = nan"): oslr.play(lr, oslr.Environment(X[rows], stream.y[rows], lr.budget))
    with pytest.raises(ValueError, match=rf"X\[{rows[0]}, \d+\] = nan"): oslr.simulate(lr, X, stream.y, rows=rows)
    rows = [*rows[1:7], rows[0]]
    with pytest.raises(ValueError, match=rf"X\[{rows[6]}, \d+\] = nan.*in round 7"): oslr.simulate(lr, X, stream.y, rows=rows)


MEASURE = """
import sys
import numpy as np
import oslr_nb as oslr
from tests.measure import watched

def more(play):
    first, most = watched(play, 0.002)
    return round(most - first)

X, B, y = (np.load(f"{sys.argv[1]}/{name}.npy", mmap_mode="r") for name in "XBy")
lr, rng = oslr.ito2017.UniformRDA(X.shape[1], 4, seed=1), np.random.default_rng(0)
turns = lambda n: ((X, y, rng.integers(len(X), size=2**14)) for _ in range(n))
blocks = lambda n: oslr.simulate_blocks(lr, turns(n), keep=False)
one = lambda X, T: oslr.simulate(lr, X, y, rows=rng.integers(len(X), size=T))
table = lambda size: oslr.simulate_blocks(oslr.own.CoinBetting(20, 2, seed=1), f"{sys.argv[1]}/{size}.parquet", target="y", keep=False)
blocks(1)
found = [more(lambda: blocks(8)), more(lambda: blocks(128)), more(lambda: one(X, 2**21)), more(lambda: one(B, 2**12))]
table("small")
print(*found, more(lambda: table("large")))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory(tmp_path):
    "Own (anonymous) memory in MB: a mapped table of 400 MB is not copied, bytes are converted in parts; 16 times the blocks take no more."
    for name, kind in (("X", np.float64), ("B", np.uint8)):  # sparse files of zeros; B would be 400 MB as 64-bit numbers
        np.lib.format.open_memmap(tmp_path / f"{name}.npy", mode="w+", dtype=kind, shape=(500, 100_000))[:, :4] = 0.1
    np.save(tmp_path / "y.npy", np.ones(500))
    part = pa.table({f"x{i}": np.random.default_rng(i).standard_normal(10_000) for i in range(20)} | {"y": np.ones(10_000)})
    for name, parts in (("small", 2), ("large", 40)):  # the large one holds 67 MB of numbers
        with pq.ParquetWriter(tmp_path / f"{name}.parquet", part.schema) as writer:
            for _ in range(parts): writer.write_table(part)
    few, many, one, converted, table = map(int, python(MEASURE, tmp_path).split())
    assert few < 40 and many < few + 20 and converted < 100 and table < 30
    assert one < 40 + 3 * 8 * 2**21 / 2**20  # rows, predictions, purchases: 48 MB
