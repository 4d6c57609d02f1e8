"""Classes: probabilities by hand, whatever the labels are called; prices, history, new examples; what is refused."""

import math
import pickle

import matplotlib.pyplot as plt
import numpy as np
import pytest
from conftest import refused

import oslr_nb as oslr
from oslr_nb.own.moments.classes import COUNTS, CUT, KEEP


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
    F = lr.features_
    assert len(F) <= 13
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
    means = lr.means_
    assert np.allclose(lr.predict_proba_of(np.full((1, 20), np.nan)), lr.predict_proba_of(means[None]), atol=1e-9)
    assert np.allclose(oslr.auto(20, 6, classes=[0, 1]).predict_proba_of(X[:3]), 0.5)


@pytest.mark.parametrize(("make", "said"), [
    (lambda: oslr.auto(5, 3, classes=[1]), r"classes = \[1\]: it must be at least 2"),
    (lambda: oslr.auto(5, 3, classes=["a", "a"]), "all of them distinct"),
    (lambda: oslr.auto(5, 3, classes="ab"), "classes = 'ab'"), (lambda: oslr.auto(5, 3, classes=7), "classes = 7"),
    (lambda: oslr.auto(5, 3, classes=[[1], [2]]), "classes = "), (lambda: oslr.auto(5, 3, classes={"a", "b"}), "their order"),
    *((lambda classes=classes: oslr.auto(5, 3, classes=classes), "classes = ") for classes in (  # alike as text; JSON knows no infinity
        [0, math.nan], ["1", 1], [True, "True"], ["0.5", 0.5, "b"], [np.inf, 1.0], [-np.inf, "a"])),
    (lambda: oslr.simulate(oslr.auto(5, 3, classes=[0, 1]), np.zeros((2, 5)), [0, 1]).regret(np.zeros(5)), "log losses"),
    (lambda: oslr.merge([oslr.auto(5, 3, classes=[0, 1])] * 2), "no sum over rounds"),
    (lambda: oslr.auto(5, 3, classes=[0, 1]).half_width(), "learner = 'Classifier'"),
    (lambda: oslr.auto(5, 3, classes=[1, True]), "all of them distinct"),
    (lambda: oslr.auto(5, 3, classes="ab", protocol="POSLR"), "protocol = 'POSLR'"),
    (lambda: oslr.auto(5, 9, classes=[0, 1]), "budget = 9"),
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
            with refused("y = "): twin.update(wrong)
        with pytest.raises(oslr.ProtocolError): twin.query()
        for one in (lr, twin): one.update(y[t])
        with pytest.raises(oslr.ProtocolError): twin.update(1)
    with pytest.raises(ValueError, match="values"): twin.predict_proba(np.full(twin.query().size, np.nan))
    S = lr.query()
    assert np.array_equal(lr.predict_proba(X[0, S]), twin.predict_proba(X[0, S]))
    for one in (lr, twin): one.skip()
    assert np.array_equal(lr.query(), twin.query())


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("K", [2, 3])
def test_compiled_saved_and_late(options, K, tmp_path):
    "Compiled rounds, rounds by hand, a saved classifier, labels that come late and the environment: the same probabilities."
    X, y, _ = stream(500)
    y = y if K == 2 else y + (X[:, 5] > np.median(X[:, 5]))
    names = ("b", "a", "c")[:K]
    words = np.array(names)[y]
    make = lambda kinds=names: oslr.auto(20, 6, classes=kinds, seed=4, **options)
    by_hand, compiled, numbered = make(), make(), make(range(K))
    p = played(by_hand, X, words)
    run = oslr.simulate(compiled, X[:300], words[:300])
    compiled.save(tmp_path / "lr.npz")
    again = oslr.load(tmp_path / "lr.npz")
    assert again.classes == names and np.array_equal(played(again, X[300:], words[300:]), p[300:])
    prices = {"average": True} if "average" in options else {}
    groups = {name: options[name] for name in ("costs", "groups") if name in options}
    env = oslr.play(numbered, oslr.Environment(X, y.astype(float), 6, **groups, **prices))
    assert np.array_equal(run.predictions, p[:300, -1]) and np.array_equal(env.predictions, p[:, -1])
    assert np.allclose(env.losses, -np.log(p[np.arange(500), y])) if K == 2 else np.isnan(env.losses).all()
    cases = [by_hand.open() for _ in range(3)]
    for case, x in zip(cases, X, strict=False):
        case.give(np.where(np.arange(case.wanted) == 1, np.nan, x[case.wants()]))
        assert case.predict() == case.predict_proba()[-1] and np.isclose(case.predict_proba().sum(), 1)
    for case in cases[::-1]: case.learn(names[0])
    free = by_hand.open(explore=False)
    free.give(X[7, free.wants()])
    assert np.array_equal(free.predict_proba(), by_hand.predict_proba_of(X[7:8])[0]) and by_hand.label["count"][0] == 503


def test_a_run_of_probabilities_travels():
    "A copy has the same losses, refuses a regret as the first does, and draws no line of least squares; that of numbers keeps both."
    X, y, _ = stream(60)
    run = oslr.simulate(oslr.auto(20, 6, classes=[0, 1], seed=0), X, y)
    numbers = oslr.simulate(oslr.auto(20, 6, seed=0), X, y * 1.0)
    for copied in (pickle.loads(pickle.dumps(run)), run):
        with refused("log losses"): copied.regret(np.zeros(20))
        assert np.array_equal(copied.losses, run.losses) and "least squares" not in words_of(copied)
    for copied in (pickle.loads(pickle.dumps(numbers)), numbers):
        assert np.isfinite(copied.regret(np.zeros(20))).all() and "least squares" in words_of(copied)


def words_of(run) -> str:
    "The legend of the figure of a run."
    figure = run.plot()
    told = " ".join(text.get_text() for text in figure.axes[0].get_legend().get_texts())
    plt.close(figure)
    return told


def test_groups_of_several():
    "Two groups of six, of which one label needs three features together: they are bought together."
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 18))
    y = np.argmax(np.column_stack([X[:, 3] + X[:, 4] + X[:, 5], X[:, 9] - X[:, 10] + X[:, 11], np.zeros(3000)]), axis=1)
    lr = oslr.auto(18, 2, classes=range(3), groups=np.arange(18) // 3, seed=0)
    oslr.simulate(lr, X, y)
    assert set(lr.favourites_.tolist()) == {3, 4, 5, 9, 10, 11} and (lr.predict_proba_of(X).argmax(axis=1) == y).mean() > 0.8
    dear = oslr.auto(18, 2.0, classes=range(3), groups=np.arange(18) // 3, costs=[1.0, 2.5, 1.0, 1.0, 1.0, 1.0], seed=0)
    oslr.simulate(dear, X, y)
    assert not {3, 4, 5} & set(dear.favourites_.tolist())
    known = oslr.auto(18, 2, classes=range(3), groups=np.arange(18) // 3, seed=0)
    known.learn_whole(X[:500], y[:500])
    assert set(known.favourites_.tolist()) == {3, 4, 5, 9, 10, 11}


def test_features_of_no_use_cost_no_more_than_the_theorem_says():
    "Labels that no feature has to do with, nearly all of one class: beside the shares so far, with the uniform part (Theorem CL 1)."
    T = 1000
    for K in (2, 4):
        rng = np.random.default_rng(K)
        X, y = rng.standard_normal((T, 30)), rng.choice(K, T, p=[0.97, *[0.03 / (K - 1)] * (K - 1)])
        lr, tally, more = oslr.auto(30, 6, classes=list(range(K)), seed=0), np.full(K, 0.5), 0.0
        for x, c in zip(X, y, strict=True):
            p = lr.predict_proba(x[lr.query()])
            lr.update(int(c))
            more += math.log((1 - CUT) * tally[c] / tally.sum() + CUT / K) - math.log(p[c])
            tally[c] += 1
        assert more <= (1 + T * (1 - KEEP) / KEEP) * math.log(4 if K == 2 else 3) / COUNTS
