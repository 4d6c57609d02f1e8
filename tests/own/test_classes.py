"""Classes: probabilities by hand, whatever the labels are called; prices, history, new examples; what is refused."""

import math
import pickle

import numpy as np
import pytest
from conftest import refused

import oslr_nb as oslr


def stream(T: int = 3000, d: int = 20, seed: int = 0):
    "Features, labels 0 and 1, and the chance of 1."
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((T, d)) * 10.0 ** rng.integers(-3, 4, d) + rng.standard_normal(d)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    chance = 1 / (1 + np.exp(-(2.5 * Z[:, 3] - 2.5 * Z[:, 11] + 0.5)))
    return X, (rng.random(T) < chance).astype(int), chance


def played(lr, X, labels):
    "Probabilities (T, K) of a classifier before each label."
    out = []
    for x, label in zip(X, labels, strict=True):
        out.append(lr.predict_proba(x[lr.query()]))
        lr.update(label)
    return np.array(out)


def log_loss(p, y): return float(-np.log(p[np.arange(len(y)), y]).mean())


OPTIONS = [{}, {"costs": [1.0] * 10 + [2.0] * 10}, {"groups": np.arange(20) // 2}, {"average": True}]


@pytest.mark.parametrize("options", OPTIONS)
def test_learns(options):
    "Near the loss of the true chances, in rounds and on new examples, of which the favourites alone are read; a saved one goes on."
    X, y, chance = stream()
    lr = oslr.auto(20, 6, classes=[0, 1], seed=1, **options)
    p = played(lr, X, y)
    assert p.shape == (3000, 2) and np.allclose(p.sum(axis=1), 1) and p.min() >= 5e-4 - 1e-12
    best, mean = log_loss(np.column_stack([1 - chance, chance])[1000:], y[1000:]), log_loss(np.full((2000, 2), 0.5), y[1000:])
    assert log_loss(p[1000:], y[1000:]) < best + 0.25 * (mean - best)
    F = lr.favourites_
    only = np.full(X.shape, np.nan)
    only[:, F] = X[:, F]
    q = lr.predict_proba_of(only)
    assert np.array_equal(q, lr.predict_proba_of(X)) and log_loss(q, y) < best + 0.25 * (mean - best)
    again = pickle.loads(pickle.dumps(lr))
    assert np.array_equal(played(lr, X[:50], y[:50]), played(again, X[:50], y[:50]))


def test_labels_of_any_kind():
    "Numbers, booleans, signs and words give the same probabilities; more classes sum to 1 and are found."
    X, y, _ = stream(400)
    words = np.where(y, "yes", "no")
    kinds = [((0, 1), y), ((False, True), y.astype(bool)), ((-1, 1), 2 * y - 1), (("no", "yes"), words), ((0.0, 1.0), y * 1.0)]
    runs = [played(oslr.auto(20, 6, classes=classes, seed=3), X, labels) for classes, labels in kinds]
    assert all(np.array_equal(run, runs[0]) for run in runs)
    rng = np.random.default_rng(1)
    three = rng.integers(3, size=2000)
    Z = rng.standard_normal((2000, 12))
    Z[:, 5] += 2.0 * three
    Z[:, 7] += 3.0 * (three == 1)
    lr = oslr.auto(12, 4, classes=["a", "b", "c"], seed=0)
    p = played(lr, Z, np.array(["a", "b", "c"])[three])
    assert np.allclose(p.sum(axis=1), 1) and {5, 7} <= set(lr.favourites_)
    assert (p.argmax(axis=1) == three)[1000:].mean() > 0.75 < (lr.predict_proba_of(Z).argmax(axis=1) == three).mean()


def test_history_and_gaps():
    "Known rows come first and are worth something; a missing value of a new example stands at the mean."
    X, y, _ = stream(1600)
    old = np.where(np.random.default_rng(2).random((600, 20)) < 0.7, X[:600], np.nan)
    lost = []
    for taught in (False, True):
        lr = oslr.auto(20, 6, classes=[0, 1], seed=5)
        if taught: lr.learn_whole(old, y[:600])
        lost.append(log_loss(played(lr, X[600:900], y[600:900]), y[600:900]))
    assert lost[1] < lost[0]
    means = lr.learner.means_
    assert np.allclose(lr.predict_proba_of(np.full((1, 20), np.nan)), lr.predict_proba_of(means[None]), atol=1e-9)
    assert np.allclose(oslr.auto(20, 6, classes=[0, 1]).predict_proba_of(X[:3]), 0.5)


@pytest.mark.parametrize(("make", "said"), [
    (lambda: oslr.auto(5, 3, classes=[1]), r"classes = \[1\]: it must be at least 2"),
    (lambda: oslr.auto(5, 3, classes=["a", "a"]), "all of them distinct"),
    (lambda: oslr.auto(5, 3, classes="ab"), "classes = 'ab'"), (lambda: oslr.auto(5, 3, classes=7), "classes = 7"),
    (lambda: oslr.auto(5, 3, classes=[[1], [2]]), "classes = "),
    (lambda: oslr.auto(5, 3, classes=[1, True]), "all of them distinct"),
    (lambda: oslr.auto(5, 3, classes="ab", protocol="POSLR"), "protocol = 'POSLR'"),
    (lambda: oslr.auto(5, 9, classes=[0, 1]), "budget = 9"),
    (lambda: oslr.auto(5, 3.0, classes=[0, 1, 2], costs=[1.0] * 5), r"classes = \[0, 1, 2\]: it must be 2 with costs"),
    (lambda: oslr.auto(5, 3, classes=[0, 1]).learn_whole(np.zeros((2, 5)), [0, 2]), r"y\[1\] = 2: it must be one of the classes: 0, 1"),
    (lambda: oslr.auto(5, 3, classes=[0, 1]).predict_proba_of(np.zeros((2, 4))), "number of columns of X = 4"),
])
def test_refused(make, said):
    with refused(said): make()


def test_questions_change_nothing():
    "Predictions for other examples, also while a label is awaited, leave the learner as it was; there may be very many classes."
    X, y, _ = stream(300)
    lr, asked = (oslr.auto(20, 6, classes=[0, 1], seed=2) for _ in range(2))
    for t in range(300):
        told = [one.predict_proba(X[t, one.query()]) for one in (lr, asked)]
        asked.predict_proba_of(X[: 1 + t % 7])
        assert np.array_equal(*told)
        for one in (lr, asked): one.update(y[t])
    many = oslr.auto(8, 3, classes=range(1500), seed=0)
    p = played(many, X[:40, :8], np.arange(40))
    assert np.allclose(p.sum(axis=1), 1) and p.min() > 0


def test_a_refused_label_waits():
    "The round stands until a class is named; calls out of order change nothing."
    X, y, _ = stream(60)
    lr, twin = (oslr.auto(20, 6, classes=[0, 1], seed=2) for _ in range(2))
    for t in range(60):
        for one in (lr, twin): one.predict_proba(X[t, one.query()])
        for wrong in (2, "0", None, math.nan, [1]):
            with refused("label = "): twin.update(wrong)
        with pytest.raises(oslr.ProtocolError): twin.query()
        for one in (lr, twin): one.update(y[t])
        with pytest.raises(oslr.ProtocolError): twin.update(1)
    with pytest.raises(ValueError, match="values"): twin.predict_proba(np.full(twin.query().size, np.nan))
    for one in (lr, twin): one.query() if one is lr else None
    assert np.array_equal(lr.predict_proba(X[0, lr._S]), twin.predict_proba(X[0, twin._S]))
    for one in (lr, twin): one.skip()
    assert np.array_equal(lr.query(), twin.query())
