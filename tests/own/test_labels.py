"""Several labels: the purchase is that of all, a round is whole or nothing, and each label is learnt as if it were the only one."""

import pickle

import numpy as np
import pytest

import oslr_nb as oslr


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
    with pytest.raises(ValueError, match="shape of Y"): lr.learn_whole(np.ones((3, 12)), np.ones((3, 3)))
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
        with pytest.raises(ValueError, match=r"[XY]"): lr.learn_whole(*history)
    lr.query()
    with pytest.raises(oslr.ProtocolError): lr.learn_whole(X[:60], Y[:60])
    assert [r.num[0]["rounds"] for r in lr.party] == before
