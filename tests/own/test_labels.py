"""Several labels: the purchase is that of all, a round is whole or nothing, and each label is learnt as if it were the only one."""

import copy
import json
import pickle
import warnings

import numpy as np
import pytest
from conftest import refused

import oslr_nb as oslr
from oslr_nb.practice.models import predict_table


def table(seed=0, T=600, d=12, m=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((T, d))
    return X, X @ (rng.standard_normal((d, m)) * (rng.random((d, m)) < 0.3)) + 0.2 * rng.standard_normal((T, m))


def play(lr, X, Y):
    out, bought = np.zeros(Y.shape), []
    for t, (x, y) in enumerate(zip(X, Y, strict=True)):
        bought.append(lr.query())
        out[t] = lr.predict(x[bought[-1]])
        lr.update(y)
    return out, bought


MENUS = {
    "plain": {}, "prices": {"costs": np.linspace(0.5, 2, 12)}, "groups": {"groups": np.repeat(range(6), 2)}, "average": {"average": True},
}  # fmt: skip


@pytest.mark.parametrize("menu", MENUS)
def test_the_same_label_twice_is_one_label(menu):
    X, Y = table(m=1)
    one, few = oslr.auto(12, 5, seed=1, **MENUS[menu]), oslr.auto(12, 5, labels=2, seed=1, **MENUS[menu])
    out, bought = play(few, X, np.hstack([Y, Y]))
    for t, x in enumerate(X):
        S = one.query()
        assert np.array_equal(S, bought[t]) and one.predict(x[S]) == out[t, 0] == out[t, 1]
        one.update(Y[t, 0])


@pytest.mark.parametrize("menu", MENUS)
def test_each_label_is_learnt_from_the_purchase_of_all(menu):
    X, Y = table(3)
    lr, alone = oslr.auto(12, 5, labels=3, seed=2, **MENUS[menu]), [oslr.auto(12, 5, seed=7, **MENUS[menu]) for _ in range(3)]
    for x, y in zip(X, Y, strict=True):
        S = lr.query()
        told, explored = lr.predict(x[S]), lr.party[0].explored_
        lr.update(y)
        assert np.allclose(told, [one.learn(S, x[S], v, explored=explored) for one, v in zip(alone, y, strict=True)], rtol=1e-9)
    assert np.mean((lr.predict_of(X) - Y)[300:] ** 2) < 0.6 * Y.var()


def test_units_of_a_label_choose_nothing():
    X, Y = table(4)
    a, b = (oslr.auto(12, 5, labels=3, seed=0) for _ in range(2))
    (p, S), (q, R) = play(a, X, Y), play(b, X, Y * [1, 2**30, 2**-20])
    assert all(map(np.array_equal, S, R)) and np.array_equal(p * [1, 2**30, 2**-20], q)


def test_unknown_labels_history_and_copies():
    X, Y = table(5)
    Y[::3, 0], Y[1::4, 2] = np.nan, np.nan
    lr = oslr.auto(12, 5, labels=3, seed=0)
    lr.learn_whole(X[:100], Y[:100])
    assert [r.num[0]["given"] for r in lr.party] == [np.isfinite(Y[:100, j]).sum() for j in range(3)]
    play(lr, X[100:300], Y[100:300])
    twin = pickle.loads(pickle.dumps(lr))
    for made in (lr, twin): made.told = play(made, X[300:], Y[300:])[0]
    assert np.array_equal(lr.told, twin.told) and all(r.party is twin.party for r in twin.party)
    assert twin.party[2].rng is twin.rng and twin.party is not lr.party
    X[0, 0] = np.nan
    assert np.isfinite(lr.predict_of(X)).all()


def test_for_people():
    lr = oslr.auto(12, 5, labels=2, seed=0)
    for bad in (1, 0, 1.5, "two", 1001):
        with pytest.raises(ValueError, match=r"labels = .* integer from 2"): oslr.auto(12, 5, labels=bad)
    with pytest.raises(ValueError, match="None with classes"): oslr.auto(12, 5, labels=2, classes="ab")
    with pytest.raises(ValueError, match="'OSLR' with labels"): oslr.auto(12, 5, labels=2, protocol="POSLR")
    for call in (lambda: lr.predict(np.ones(5)), lambda: lr.update([1, 2])):
        with pytest.raises(oslr.ProtocolError, match="out of order"): call()
    before = pickle.dumps([r.state() for r in lr.party])
    x = np.arange(12.0)
    S = lr.query()
    with pytest.raises(ValueError, match="values"): lr.predict(x[S][:-1])
    lr.predict(x[S])
    for bad in ([1.0], [1.0, 2.0, 3.0], [1.0, "a"], [1.0, np.inf], 1.0, None):
        with pytest.raises(ValueError, match=r"^y"): lr.update(bad)
    lr.skip()
    after = [r.state() for r in lr.party]
    same = zip(pickle.loads(before), after, strict=True)
    assert all(np.array_equal(a[1][n], b[1][n]) for a, b in same for n in ("pairs", "label", "single", "shares", "arms"))
    with pytest.raises(ValueError, match="shape of y"): lr.learn_whole(np.ones((3, 12)), np.ones((3, 3)))
    with pytest.raises(ValueError, match="number of columns of X"): lr.predict_of(np.ones((3, 5)))


def test_one_bad_label_does_not_decide_what_is_explored():
    X, Y = table(6, T=400, m=2)
    Y[200, 1] = 1e9
    lr = oslr.auto(12, 5, labels=2, seed=0)
    play(lr, X, Y)
    assert lr.party[0].arms[1::2].max() < 1e3 * Y[:, 0].var()


def test_history_is_learnt_wholly_or_not():
    X, Y = table(7)
    lr = oslr.auto(12, 5, labels=3, seed=0)
    play(lr, X[:50], Y[:50])
    before = [r.num[0]["rounds"] for r in lr.party]
    wrong, far = Y[:60].copy(), X[:60].copy()
    wrong[9, 0], far[3, 2] = 1e300, np.inf
    for history in ((X[:60], wrong), (far, Y[:60]), (X[:60, :5], Y[:60])):
        with pytest.raises(ValueError, match=r"[Xy]"): lr.learn_whole(*history)
    lr.query()
    with pytest.raises(oslr.ProtocolError): lr.learn_whole(X[:60], Y[:60])
    assert [r.num[0]["rounds"] for r in lr.party] == before


def same(a, b):
    (h, x), (k, z) = a.state(), b.state()
    return h == k and all(np.array_equal(x[name], z[name]) for name in x)


@pytest.mark.parametrize("menu", MENUS)
def test_simulate_plays_the_rounds_by_hand(menu):
    X, Y = table(8)
    Y[::7, 1], Y[5:9, 0], Y[30] = np.nan, np.nan, np.nan
    hand, lr, twin = (oslr.auto(12, 5, labels=3, seed=3, **MENUS[menu]) for _ in range(3))
    out, bought = play(hand, X, Y)
    run = oslr.simulate(lr, X[:400], Y[:400], purchases=True)
    rest = oslr.simulate(lr, X, Y, rows=np.arange(400, 600))
    assert np.array_equal(np.vstack([run.predictions, rest.predictions]), out) and same(lr, hand)
    assert run.purchases.sum() == sum(map(len, bought[:400])) and run.n_observed.tolist() == list(map(len, bought[:400]))
    env = oslr.Environment(X, Y, 5, **MENUS[menu])
    again = oslr.play(twin, env)
    assert np.array_equal(again.predictions, out) and same(twin, hand)
    assert np.allclose(run.losses, (out - Y)[:400] ** 2, equal_nan=True) and np.array_equal(run.scored, np.isfinite(Y[:400]))
    alone = run.of(2)
    assert np.array_equal(alone.y, Y[:400, 2], equal_nan=True) and np.isfinite(alone.regret(np.zeros(12))[-1])
    assert alone.best_sparse(2).exact


def test_a_run_of_several_labels_is_drawn_and_compared():
    import matplotlib.pyplot as plt

    X, Y = table(9)
    lr = oslr.auto(12, 5, labels=3, seed=0)
    run = oslr.simulate(lr, X, Y * [1, 1e6, 1e-6])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fig = run.plot(lr)
        holes = oslr.simulate(oslr.auto(12, 5, labels=3, seed=0), X, np.where(np.arange(3) == 1, np.nan, Y)).plot()
    of_learner, of_mean = (line.get_ydata() for line in fig.axes[0].lines[:2])
    least = fig.axes[0].lines[2].get_ydata()[0]
    assert least < of_learner[-20:].mean() < 0.8 < of_mean[-20:].mean() < 1.2 and np.isfinite(holes.axes[0].lines[0].get_ydata()).all()
    plt.close("all")
    assert repr(run).count(",") == 5 and "12" in repr(run)
    for call in (lambda: run.regret(np.zeros(12)), lambda: run.best_sparse(2)):
        with pytest.raises(ValueError, match=r"labels of the run = 3.*run.of\(0\)"): call()
    for bad in (3, -1, "a"):
        with pytest.raises(ValueError, match="label = "): run.of(bad)
    with pytest.raises(ValueError, match="several"): run.of(0).of(0)


def test_streams_that_are_refused_change_nothing():
    X, Y = table(10, T=60)
    lr = oslr.auto(12, 5, labels=3, seed=0)
    oslr.simulate(lr, X, Y)
    kept = copy.deepcopy(lr)
    far, gone = Y.copy(), X.copy()
    far[40, 1], gone[30] = np.inf, np.nan
    wrong = [(X, Y[:, :2], "shape of y = .*3 labels per row"), (X, Y[:, 0], "shape of y"), (X, Y[:50], "shape of y"),
             (X, far, r"y\[40\]\[1\] = inf"), (X, np.full(Y.shape, "a"), "y = .*numbers"),
             (gone, Y, r"X\[30, \d+\] = nan"), (X[:, :5], Y, "learner.d")]
    for x, y, words in wrong:
        with pytest.raises(ValueError, match=words): oslr.simulate(lr, x, y)
        assert same(lr, kept)
    with pytest.raises(ValueError, match="score"): oslr.simulate(lr, X, Y, score=False)
    one = oslr.auto(12, 5, seed=0)
    with pytest.raises(ValueError, match=r"shape of y = .*one label"): oslr.simulate(one, X, Y)
    with pytest.raises(ValueError, match=r"shape of a label = \(3,\)"): oslr.play(one, oslr.Environment(X, Y, 5))
    with pytest.raises(ValueError, match=r"shape of a label = \(\)"): oslr.play(lr, oslr.Environment(X, Y[:, 0], 5))
    for make in (lambda: oslr.Environment(X, Y[:, :1], 5), lambda: oslr.Environment(X, Y, 5, "POSLR", k=2)):
        with pytest.raises(ValueError, match="shape of y"): make()
    with pytest.raises(ValueError, match=r"learner = 'own.SeveralLabels'.*one of one label"): oslr.simulate_blocks(lr, [(X, Y)])


def test_integers_tables_and_single_precision():
    pd = pytest.importorskip("pandas")
    X, Y = table(11)
    whole = np.round(3 * Y)
    names = [f"f{i}" for i in range(12)]
    frame, labels = pd.DataFrame(X, columns=names), pd.DataFrame(whole, columns=list("abc"))
    told = [oslr.simulate(oslr.auto(12, 5, labels=3, seed=0), x, y).predictions for x, y in (
        (X, whole), (X, whole.astype(int)), (X, whole.astype(np.float32)), (X, whole.tolist()), (frame, labels),
        (frame, labels.sample(frac=1, random_state=0)))]
    assert all(np.array_equal(told[0], other) for other in told[1:])
    lr = oslr.auto(12, 5, labels=3, seed=0)
    oslr.simulate(lr, frame, labels)
    assert lr.names_ == tuple(names) and set(lr.query_names()) <= set(names)
    assert oslr.simulate(oslr.auto(12, 5, labels=3, seed=0), X, Y > 0).predictions.shape == (600, 3)


def test_cases_wait_side_by_side_and_labels_come_late():
    X, Y = table(12)
    lr, alone = oslr.auto(12, 5, labels=3, seed=0), [oslr.auto(12, 5, seed=9) for _ in range(3)]
    rng, waiting = np.random.default_rng(0), []
    for x, y in zip(X, Y, strict=True):
        case = lr.ask(lambda S, x=x: np.where(rng.random(len(S)) < 0.1, np.nan, x[S]))
        assert case.prediction.shape == (3,) and np.array_equal(case.predict(), case.prediction)
        waiting.append((case, y))
        if len(waiting) < 5: continue
        case, y = waiting.pop(rng.integers(5))
        S, values = case._usable()
        case.explored = lr.explored_ if case.current else case.explored
        expected = [one.learn(S, values, v, explored=case.explored) for one, v in zip(alone, y, strict=True)]
        low, high = case.predict_interval(0.8)
        assert np.allclose(high - case.prediction, case.prediction - low) and (high - low).shape == (3,) and (high >= low).all()
        for bad in ([1.0, 2.0], "abc", np.inf * y):
            with pytest.raises(ValueError, match=r"^y"): case.learn(bad)
        case.learn(y)
        assert all(np.isclose(lr.party[j].label["sum"], alone[j].label["sum"]).all() for j in range(3)) and len(expected) == 3
    look = lr.open(explore=False)
    assert set(look.wants()) == set(lr.features_.tolist())
    look.give(X[0, look.wants()])
    assert np.allclose(look.predict(), lr.predict_of(X[:1])[0]) and np.mean((lr.predict_of(X) - Y) ** 2) < 0.6 * Y.var()
    late = oslr.auto(12, 5, labels=2, seed=0)
    S = late.query()
    late.skip()
    assert np.array_equal(late.predict_from(S, X[0, S]), late.learn(S, X[0, S], [1.0, np.nan]))
    assert [one.num[0]["rounds"] for one in late.party] == [1, 0]
    late.learn([0, 3], [1.0, 2.0], [np.nan, 2.0], given=True)
    assert [one.num[0]["given"] for one in late.party] == [0, 1]


@pytest.mark.parametrize("stop", range(3))
def test_saved_and_loaded_anywhere_in_a_round(tmp_path, stop):
    X, Y = table(13)
    lr = oslr.auto(12, 4.5, labels=3, seed=0, costs=dict.fromkeys([f"f{i}" for i in range(12)], 1.0))
    lr.learn_whole(X[:50], Y[:50])
    oslr.simulate(lr, X[50:200], Y[50:200])
    x, y = X[200], Y[200]
    S = lr.query() if stop else None
    if stop == 2: told = lr.predict(x[S])
    lr.save(tmp_path / "lr.npz")
    new = oslr.load(tmp_path / "lr.npz")
    assert repr(new) == repr(lr) and new.names_ == lr.names_ and new.params == lr.params
    for made in (lr, new):
        if not stop: S = made.query()
        if stop < 2: told = made.predict(x[S])
        made.update(y)
        made.learn_whole(X[201:260], Y[201:260])
        made.told = oslr.simulate(made, X[260:], Y[260:]).predictions
    assert np.array_equal(lr.told, new.told) and same(lr, new) and told.shape == (3,)
    model = json.loads(new.to_json())
    F = [feature["name"] for feature in model["features"]]
    w = np.array([feature["weight"] for feature in model["features"]])
    assert np.allclose(X[:, [int(name[1:]) for name in F]] @ w + model["intercept"], new.predict_of(X))
    rows = tmp_path / "rows.csv"
    rows.write_text("\n".join([",".join(lr.names_), *(",".join(map(str, x)) for x in X[:30].tolist())]))
    new.save(tmp_path / "after.npz")
    found, _ = predict_table(tmp_path / "after.npz", rows)
    assert list(found) == [f"prediction {j}" for j in range(3)] and np.allclose(np.column_stack([*found.values()]), new.predict_of(X[:30]))
    header, arrays = new.state()
    arrays["2.num"]["held"] = 99
    with pytest.raises(ValueError, match=r"2\.held"): new.set_state(header, arrays)


def test_where_everything_is_bought_all_features_predict():
    X, Y = table(15)
    lr = oslr.auto(12, 12, labels=3, seed=0)
    assert np.isfinite(lr.predict_of(X)).all() and lr.linear_function()[0].shape == (3, 12)
    oslr.simulate(lr, X, Y)
    Z = np.column_stack([X, np.ones(600)])
    best = np.mean((Z @ np.linalg.lstsq(Z, Y, rcond=None)[0] - Y) ** 2)
    assert np.mean((lr.predict_of(X) - Y) ** 2) < 1.2 * best


def test_new_rows_are_numbers_or_missing():
    "Infinity is refused where it would be read, and is not looked at elsewhere."
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 6))
    lr = oslr.auto(6, 3, labels=2, seed=0)
    oslr.simulate(lr, X, X[:, :2])
    for v in (np.inf, -np.inf):
        row, other = X[:2].copy(), X[:2].copy()
        row[1, lr.features_[0]] = other[0, np.delete(np.arange(6), lr.features_)] = v
        with refused("it must be a finite number, or NaN"): lr.predict_of(row)
        assert np.isfinite(lr.predict_of(other)).all()
