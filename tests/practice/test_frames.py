"""Tables with names: the order of the columns changes no result silently, whoever takes them; and columns that hold no numbers."""

import copy
import datetime
import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import refused
from test_learners import make

import oslr_nb as oslr
from oslr_nb.practice.adapters import OSLRLearner, OSLRRegressor
from oslr_nb.practice.blocks import TableBlocks, simulate_blocks
from oslr_nb.practice.data import sparse_linear

S, NAMES = sparse_linear(12, 2, 300, seed=1), [f"x{i}" for i in range(12)]
FIRST, THEN = slice(0, 120), slice(120, 300)
RNG = np.random.default_rng(0)
KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
KINDS["batch"] = lambda columns: pa.RecordBatch.from_arrays(list(map(pa.array, columns.values())), list(columns))


def frame(kind, part, order): return KINDS[kind]({NAMES[i]: S.X[part, i] for i in order})


def saved(lr, folder):
    lr.save(folder / "lr.npz")
    return oslr.load(folder / "lr.npz")


def in_blocks(lr, X, y): return simulate_blocks(lr, [(X, y)])
def with_label(X, y): return (X.to_pandas() if hasattr(X, "to_pandas") else X).assign(sold=y)
def in_tables(lr, X, y): return simulate_blocks(lr, [with_label(X, y)], target="sold")


def on_disk(lr, X, y, folder, blocks=False):
    with_label(X, y).to_parquet(folder / "t.parquet", index=False)
    if blocks: return simulate_blocks(lr, TableBlocks(folder / "t.parquet", "sold"))
    return simulate_blocks(lr, folder / "t.parquet", target="sold")


def by_hand(lr, X, y): return oslr.play(lr, oslr.Environment(X, y, lr.budget, lr.protocol, lr.params.get("k")))


WAYS = {"simulate": oslr.simulate, "play": by_hand, "blocks": in_blocks, "tables": in_tables, "file": on_disk}
WAYS["TableBlocks"] = partial(on_disk, blocks=True)
COPIES = [lambda lr, _: lr, lambda lr, _: copy.deepcopy(lr), lambda lr, _: pickle.loads(pickle.dumps(lr)), saved]
LEARNERS = ["own.PairwiseLeastSquares", "own.PairwisePOSLR", "own.PairwiseTrainingOnly", "ito2017.RDA1", "ito2018.LinearProjection"]


@pytest.mark.parametrize("key", LEARNERS)
@pytest.mark.parametrize("way", WAYS)
def test_later_tables_are_put_in_order(way, key, tmp_path):
    play = partial(WAYS[way], folder=tmp_path) if WAYS[way] in (on_disk, WAYS["TableBlocks"]) else WAYS[way]
    kind = list(KINDS)[RNG.integers(4)]
    for copied in COPIES:
        one, lr, first, order = make(key, seed=1), make(key, seed=1), RNG.permutation(12), RNG.permutation(12)
        oslr.simulate(one, S.X[FIRST][:, first], S.y[FIRST])
        play(lr, frame(kind, FIRST, first), S.y[FIRST])
        assert lr.names_ == tuple(NAMES[i] for i in first)
        wanted, lr = oslr.simulate(one, S.X[THEN][:, first], S.y[THEN]), copied(lr, tmp_path)
        run = play(lr, frame(kind, THEN, order), S.y[THEN])
        assert np.allclose(run.predictions, wanted.predictions, rtol=1e-7, atol=1e-9, equal_nan=True)
        assert np.allclose(lr.coef_, one.coef_, rtol=1e-7, atol=1e-9)
        if hasattr(run, "regret"): assert np.allclose(run.regret(one.coef_), wanted.regret(one.coef_), atol=1e-6, equal_nan=True)
        before = pickle.dumps(lr)
        for columns in (NAMES[:11] + ["new"], NAMES[:11], [*NAMES, "new"]):
            table = pd.DataFrame(dict.fromkeys(columns, np.zeros(9)))
            with refused(r"(x11 is missing|new is new).*taken by position"): play(lr, table, np.zeros(9))
            assert pickle.dumps(lr) == before


def test_positions_and_prices():
    "What has no names is taken by position; prices go with the names."
    lr = oslr.auto(12, 4, seed=0)
    for X in (S.X, pd.DataFrame(S.X), S.X.tolist()): oslr.simulate(lr, X, S.y)
    assert lr.names_ == ()
    oslr.simulate(lr, pd.DataFrame(S.X, columns=NAMES), S.y)
    assert lr.names_ == tuple(NAMES)
    oslr.simulate(lr, pd.DataFrame(S.X), S.y)
    with pytest.raises(ValueError, match="columns of X"): oslr.simulate(lr, pd.DataFrame(S.X)[list(range(11, -1, -1))], S.y)
    costs, order = np.arange(1.0, 13.0), RNG.permutation(12)
    one, lr = (oslr.own.PairwiseLeastSquares(12, 20.0, costs=costs, seed=1) for _ in range(2))
    for part in (FIRST, THEN):
        wanted, turned = oslr.simulate(one, S.X[part], S.y[part]), order if part is THEN else np.arange(12)
        env = oslr.Environment(frame("polars", part, turned), S.y[part], 20.0, costs=costs[turned])
        run = oslr.play(lr, env)
        assert (run.predictions == wanted.predictions).all() and np.allclose(run.spent, wanted.spent)
    assert env.names == tuple(NAMES[i] for i in order) and env.purchases.sum() == run.n_observed.sum()
    other = oslr.Environment(frame("polars", THEN, order), S.y[THEN], 20.0, costs=costs)
    with pytest.raises(ValueError, match=r"learner\.costs"): oslr.play(lr, other)


@pytest.mark.parametrize("names", [range(12), [("a", i) for i in range(12)], [*NAMES[:11], 0], np.arange(1.0, 13.0)], ids=str)
def test_names_of_other_kinds(names):
    D, (one, lr) = pd.DataFrame(S.X, columns=pd.Index(names, tupleize_cols=False)), (oslr.auto(12, 4, seed=0) for _ in range(2))
    for _ in range(3):
        wanted = oslr.simulate(one, S.X, S.y)
        assert (oslr.simulate(lr, D, S.y).predictions == wanted.predictions).all()
        D = D[[names[i] for i in RNG.permutation(12)]]
    lr = pickle.loads(pickle.dumps(lr))
    assert (oslr.simulate(lr, D, S.y).predictions == oslr.simulate(one, S.X, S.y).predictions).all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_regressor_finds_columns_by_name(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5):
            first, then = RNG.permutation(12), RNG.permutation(12)
            one = OSLRRegressor(4, random_state=0).fit(S.X[FIRST][:, first], S.y[FIRST]).partial_fit(S.X[THEN][:, first], S.y[THEN])
            model = OSLRRegressor(4, random_state=0).fit(frame(kind, FIRST, first), S.y[FIRST])
            model = pickle.loads(pickle.dumps(model)).partial_fit(frame(kind, THEN, then), S.y[THEN])
            assert model.feature_names_in_.tolist() == [NAMES[i] for i in first] and (model.coef_ == one.coef_).all()
            assert (model.predict(frame(kind, THEN, then)) == one.predict(S.X[THEN][:, first])).all()
            run = oslr.simulate(model.learner_, frame(kind, THEN, then), S.y[THEN])
            assert (run.predictions == oslr.simulate(one.learner_, S.X[THEN][:, first], S.y[THEN]).predictions).all()
    for call in (model.predict, partial(model.partial_fit, y=S.y)):
        with pytest.raises(ValueError, match="x0 is missing and z is new"): call(pd.DataFrame(S.X, columns=["z", *NAMES[1:]]))


def test_river_recommend_and_labels():
    "Indexes and arrays are labels."
    model = OSLRLearner(4, seed=0)
    for x, y in zip(S.X[:50], S.y[:50], strict=True): model.learn_one({NAMES[i]: x[i] for i in RNG.permutation(12)}, y)
    assert model.learner_.names_ == model.names_ == tuple(sorted(NAMES))
    one, sort = copy.deepcopy(model.learner_), sorted(range(12), key=lambda i: repr(NAMES[i]))
    wanted = oslr.simulate(one, S.X[:, sort], S.y)
    model.learner_.skip()
    one = oslr.simulate(model.learner_, frame("pandas", slice(0, 300), RNG.permutation(12)), S.y)
    assert np.isfinite(one.predictions).all() and one.X.shape == wanted.X.shape and (one.X == wanted.X).all()
    columns = lambda text: [line for line in text.splitlines() if "Columns" in line]
    flat = lambda order: str(oslr.recommend(frame("pandas", slice(0, 300), order).assign(flat=1.0), S.y, budget=4))
    assert [columns(flat(order)) for order in (RNG.permutation(12), range(12))] == [["**Columns.** constant: flat."]] * 2
    X = np.random.default_rng(0).normal(size=(6, 3))
    wanted = oslr.simulate(oslr.auto(3, 2, seed=0), X, np.arange(6.0)).losses
    whole = pd.array(range(6), dtype="Int64")
    for y in (pd.RangeIndex(6), pd.Index(np.arange(6.0)), whole, pa.array(range(6)), pd.Series(range(6), dtype=object)):
        assert (oslr.simulate(oslr.auto(3, 2, seed=0), X, y).losses == wanted).all()
        OSLRRegressor(2).fit(X, y)


# --- columns that hold no numbers
ODD = {
    "dates": pd.date_range("2020", periods=6), "zone": pd.date_range("2020", periods=6, tz="UTC"), "spans": pd.to_timedelta(range(6), "D"),
    "categories": pd.Categorical(list("aabbcc")), "numbers as categories": pd.Categorical([1, 1, 2, 2, 3, 3]), "words": list("abcdef"),
    "numbers as words": list("123456"), "objects": [object()] * 6, "mixed": [1, 2.0, "three", 4, 5, 6],
    "days": [datetime.date(2020, 1, 1)] * 6,
    "times": [datetime.time(1)] * 6, "complex": np.arange(6) * 1j, "months": pd.period_range("2020", periods=6, freq="M"),
    "lists": [[1, 2]] * 6, "intervals": pd.interval_range(0, 6), "huge": pd.Series([10**400] * 6, dtype=object), "bytes": [b"a"] * 6,
}
AS_ARRAYS = ("numbers as categories", "numbers as words")  # numbers, or what scikit-learn takes for numbers, once they are an array
SEVERAL = ("Environment", "fit", "partial_fit")  # which take two labels of each row
CALLS = {
    "simulate": lambda X, y: oslr.simulate(oslr.auto(3, 2), X, y), "Environment": lambda X, y: oslr.Environment(X, y, 2),
    "blocks": lambda X, y: simulate_blocks(oslr.auto(3, 2), [(X, y)]), "recommend": lambda X, y: oslr.recommend(X, y, budget=2),
    "fit": lambda X, y: OSLRRegressor(2).fit(X, y), "partial_fit": lambda X, y: OSLRRegressor(2).partial_fit(X, y),
    "best_sparse": lambda X, y: oslr.best_sparse(X, y, 1),
}


def variants(values):
    "A column in the libraries that can hold it."
    D = pd.DataFrame({"a": np.arange(6.0), "b": np.ones(6), "when": values})
    yield D
    if isinstance(values, (pd.PeriodIndex, pd.Categorical)): return  # these become numbers
    for convert in (pl.from_pandas, pa.Table.from_pandas):
        try: yield convert(D)
        except Exception: continue  # it cannot hold such a column


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("odd", ODD)
def test_a_column_that_holds_no_numbers_is_named(odd, call):
    y = np.arange(6.0)
    for table in variants(ODD[odd]):
        words = r"column 'when' of X = .*: it must be numbers \(.*leave the column out\)[.;]"
        with refused(words): CALLS[call](table, y)
        label = table["when"]
        for labels in (label, label.to_numpy()) if odd not in AS_ARRAYS else [label]:
            if getattr(labels, "ndim", 1) == 2 and call in SEVERAL: continue  # polars makes two numbers of an interval
            with refused("y"): CALLS[call](np.eye(6)[:, :3], labels)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("bad", [
    pd.NA, pd.NaT, pd.Timestamp("2020"), pd.date_range("2020", periods=6), [pd.NA] * 6, pl.DataFrame({"a": [1.0]}).lazy(),
    pd.array(["a"] * 6), pa.array(["a"] * 6), pa.scalar(1.0), pd.MultiIndex.from_product([[1, 2], [1, 2, 3]]),
], ids=lambda bad: type(bad).__name__)
def test_other_things_of_those_libraries(bad, call):
    for X, y in ((bad, np.arange(6.0)), (np.eye(6)[:, :3], bad)):
        with pytest.raises(ValueError): CALLS[call](X, y)


@pytest.mark.parametrize("column", [
    pd.array([1, None] * 3, dtype="Int64"), pd.array([True, None] * 3, dtype="boolean"), [1, None] * 3,
    pd.Series([1, pd.NA, 2.5, 1, 1, 1], dtype=object), pd.arrays.SparseArray([1.0, np.nan] * 3),
], ids=lambda column: type(column).__name__)
def test_gaps_may_not_be_bought(column):
    D = pd.DataFrame({"a": np.arange(6.0), "b": np.ones(6), "gap": column})
    with pytest.raises(ValueError, match=r"X\[1, 2\] = nan"): oslr.simulate(oslr.auto(3, 3), D, range(6))
    with pytest.warns(UserWarning, match="rows were left out"): OSLRRegressor(3).fit(D, range(6))
    awkward = pd.DataFrame({"toarray": [1.0, 2], "column_names": [2.0, 3], "dtype": [1.0, 5], "columns": [0.0, 1]})
    assert oslr.simulate(lr := oslr.auto(4, 2), awkward, [1, 2]).X.shape == (2, 4) and lr.names_ == tuple(awkward)


@pytest.mark.parametrize("call", [lambda X, y: oslr.simulate(oslr.auto(6, 2), X, y), lambda X, y: OSLRRegressor(2).fit(X, y),
                                  lambda X, y: oslr.auto(6, 2).learn_whole(X, y), lambda X, y: oslr.Environment(X, y, 2)])
def test_a_name_that_is_nan(call):
    "It is not equal to itself, so that its column could not be found again."
    X = pd.DataFrame(S.X[:20, :6], columns=[1.5, np.nan, 3, 4, 5, 6])
    with refused("columns of X = .*it must be names, none of them NaN"): call(X, S.y[:20])


@pytest.mark.parametrize("alike", [[1, "1"], ["True", True], [2.5, "2.5"], ["None", None], ["-3", -3]], ids=str)
def test_names_that_are_one_name_in_a_file(alike):
    X = pd.DataFrame(S.X[:20, :6], columns=pd.Index([*alike, 3, 4, 5, 6], dtype=object))
    for call in (lambda: oslr.simulate(oslr.auto(6, 2), X, S.y[:20]), lambda: oslr.auto(6, 2).learn_whole(X, S.y[:20])):
        with refused("columns of X = .*it must be names that differ as texts too"): call()
