"""The classifier for scikit-learn: its checks, words and columns by name, parts and passes, gaps, history, prices; what is refused."""

import copy

import numpy as np
import pandas as pd
import pytest
import river.base
from conftest import command, refused
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator

import oslr_nb as oslr
from oslr_nb.practice.adapters import OSLRClassifier, OSLRStreamClassifier

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.standard_normal((1500, 12)) * [10.0**i for i in range(-6, 6)], columns=[f"c{i}" for i in range(12)])
Z = X / X.std()
Y = np.where(RNG.random(1500) < 1 / (1 + np.exp(-3 * (Z["c2"] - Z["c7"]))), "yes", "no")


@pytest.mark.parametrize("model", [OSLRClassifier(), OSLRClassifier(0.3, passes=2)], ids=str)
def test_all_checks_of_scikit_learn(model):
    results = check_estimator(model, on_skip=None) or []
    assert {r["check_name"] for r in results if r["status"] != "passed"} <= {"check_array_api_input"}


def test_words_names_and_parts():
    "Better than the larger class, read from its features alone, in any order of the columns; parts are the whole."
    model = OSLRClassifier(4, shuffle=False, random_state=0).fit(X[:1000], Y[:1000])
    assert model.classes_.tolist() == ["no", "yes"] and model.score(X[1000:], Y[1000:]) > 0.75 and len(model.features_) <= 4
    p = model.predict_proba(X[1000:])
    gone = X[1000:].astype(float)
    gone.iloc[:, np.setdiff1d(np.arange(12), model.features_)] = np.nan
    assert np.array_equal(p, model.predict_proba(gone)) and np.array_equal(p, model.predict_proba(X[1000:][X.columns[::-1]]))
    assert model.n_filled_ == 0 and model.n_features_seen_ == 4000
    parts = OSLRClassifier(4, random_state=0)
    for rows in np.array_split(np.arange(1000), 7): parts.partial_fit(X.iloc[rows], Y[rows], classes=["yes", "no"])
    assert np.array_equal(parts.predict_proba(X[1000:]), p) and parts.n_features_seen_ == 4000
    twice = OSLRClassifier(4, shuffle=False, random_state=0, passes=2).fit(X[:300], Y[:300])
    assert twice.n_features_seen_ == 2400
    assert cross_val_score(OSLRClassifier(4, random_state=0), X, Y, cv=3).min() > 0.7
    model.predict_proba(X[:5].assign(**{f"c{model.features_[0]}": np.nan}))
    assert model.n_filled_ == 5


def test_history_prices_and_gaps():
    old = X[:500].mask(RNG.random((500, 12)) < 0.3)[X.columns[::-1]]
    plain, taught = (OSLRClassifier(4, random_state=0).fit(X[500:512], Y[500:512], history=h) for h in (None, (old, Y[:500])))
    assert taught.score(X[700:], Y[700:]) > plain.score(X[700:], Y[700:]) + 0.05 and taught.n_features_seen_ == 48
    for budget, more in ((4.0, {"costs": {f"c{i}": 1.0 + (i == 7) for i in range(12)}}), (2, {"feature_groups": [*"aaabbbcccddd"]})):
        assert OSLRClassifier(budget, random_state=0, **more).fit(X, Y).score(X, Y) > 0.75
    with pytest.warns(UserWarning, match="rows were left out"):
        holes = OSLRClassifier(4, random_state=0).fit(X.mask(RNG.random(X.shape) < 0.05), Y)
    assert 0 < holes.n_left_out_ < 600 and holes.score(X, Y) > 0.7


def test_refused():
    "A sentence; the model stays as it was."
    model = OSLRClassifier(4, random_state=0).fit(X[:300], Y[:300])
    before = copy.deepcopy(vars(model))
    with refused("y\\[2\\] = "): model.partial_fit(X[:3], ["yes", "no", "perhaps"])
    with refused("classes = "): model.partial_fit(X[:3], Y[:3], classes=["yes", "perhaps"])
    with refused("classes = None"): OSLRClassifier(4).partial_fit(X, Y)
    with refused("classes in y = "): OSLRClassifier(4).fit(X, ["yes"] * 1500)
    with refused("y\\[0\\] = "): OSLRClassifier(4).fit(X, Y, history=(X, ["perhaps"] * 1500))
    with refused("columns of X"): model.predict(X.rename(columns={"c0": "new"}))
    with pytest.raises(ValueError, match=r"(?i)continuous"): OSLRClassifier(4).fit(X, Z["c2"])
    with pytest.raises(ValueError, match="inf"): model.predict(X * np.inf)
    assert vars(model).keys() == before.keys() and model.n_features_seen_ == before["n_features_seen_"]


def test_river():
    "Bought names alone are read; classes of any kind give the same; a refusal changes nothing; the probabilities are those of the learner."
    rng = np.random.default_rng(1)
    rows = [dict(zip("abcdef", map(float, x), strict=True)) for x in rng.standard_normal((800, 6))]
    truth = [row["b"] - row["e"] > 0.3 * z for row, z in zip(rows, rng.standard_normal(800), strict=True)]
    words, bools = OSLRStreamClassifier(["no", "yes"], budget=2, seed=0), OSLRStreamClassifier([False, True], budget=2, seed=0)
    lr, names, right = oslr.auto(6, 2, classes=[0, 1], seed=0), "abcdef", []
    for row, y in zip(rows, truth, strict=True):
        p = words.predict_proba_one(row)
        S = lr.query()
        assert p == words.predict_proba_one({names[i]: row[names[i]] for i in S}) and list(p) == ["no", "yes"]
        assert list(p.values()) == list(bools.predict_proba_one(row).values()) == lr.predict_proba([row[names[i]] for i in S]).tolist()
        right.append((words.predict_one(row) == "yes") == y)
        with refused("y = 'perhaps'"): words.learn_one(row, "perhaps")
        words.learn_one(row, "yes" if y else "no")
        bools.learn_one(row, y)
        lr.update(int(y))
    assert np.mean(right[300:]) > 0.8 and words.n_features_seen_ == 1600 and isinstance(words, river.base.Classifier)
    words.learn_one(rows[0], "no", given=True)
    assert words.learner_.label["count"][0] == 801
    with refused("classes = "): OSLRStreamClassifier(["no"]).learn_one(rows[0], "no")
    three = OSLRStreamClassifier("abc", budget=2)
    with refused("classes = 'abc'"): three.learn_one(rows[0], "a")


@pytest.mark.parametrize(("y", "words"), [
    (lambda k: np.array([None if i == 3 else c for i, c in enumerate(k)], object), r"y\[3\] = None: it must be a class"),
    (lambda k: pd.Series(k, dtype="string").mask(np.arange(len(k)) == 3), r"y\[3\] = None: it must be a class"),
    (lambda k: pd.Series(k, dtype="category").mask(np.arange(len(k)) == 3), r"y\[3\] = None: it must be a class"),
    (lambda k: np.array([1 if i == 3 else c for i, c in enumerate(k)], object), "words or numbers, not both"),
    (lambda k: np.where(np.arange(len(k)) == 3, np.nan, k == "a"), "NaN"),
])
def test_missing_and_mixed_classes_are_refused(y, words):
    X = np.random.default_rng(0).normal(size=(60, 4))
    with pytest.raises(ValueError, match=words): oslr.OSLRClassifier(2).fit(X, y(np.where(X[:, 0] > 0, "a", "b")))


def test_a_score_matches_labels_by_their_index():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 4)))
    X.index, y = X.index + 7, np.where(X[0] > 0, "a", "b")
    model, y = oslr.OSLRClassifier(2, random_state=0).fit(X, y), pd.Series(y, X.index)
    assert model.score(X, y.sample(frac=1, random_state=0)) == model.score(X, y) > 0.8


@pytest.mark.parametrize("hidden", [np.ma.array(Y, mask=Y == "no"), np.ma.array(Y.astype(object), mask=Y == "no"),
                                    np.ma.array(Y == "yes", mask=Y == "no"), np.ma.array(1 * (Y == "yes"), mask=Y == "no")])
def test_masked_classes_are_missing(hidden):
    with refused(f"y\\[{np.argmax(Y == 'no')}\\] = None: it must be a class"): OSLRClassifier(4).fit(X, hidden)
    with refused(f"y\\[{np.argmax(Y == 'no')}\\] = "): oslr.simulate(oslr.auto(12, 4, classes=list(np.unique(hidden.data))), X, hidden)
    with refused(f"y\\[{np.argmax(Y == 'no')}\\] = None: it must be a class"): OSLRClassifier(4).fit(X, hidden.data, history=(X, hidden))
    shown, plain = (OSLRClassifier(4, random_state=0).fit(X, y) for y in (np.ma.array(Y, mask=False), Y))
    assert np.array_equal(shown.predict(X), plain.predict(X))


@pytest.mark.parametrize("classes", ["a,,b", "a,b,", ",a,b", " , ", ""])
def test_classes_of_a_service_have_names(classes):
    "A comma too many is no class that never comes."
    done = command("serve", "--features", 4, "--budget", 2, "--classes", classes)
    assert done.exit_code == 2 and done.output.startswith(f"classes = {classes!r}: it must be") and done.output.count("\n") == 1
