"""The adapters for scikit-learn and river: what they promise, what they read, and what they refuse."""

import copy
import pickle
import re
import warnings
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pandas as pd
import pytest
from conftest import python, refusals, refused
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, SequentialFeatureSelector
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from test_learners import KEYS, make

import oslr_nb as oslr
from oslr_nb.own.choice import make_learner
from oslr_nb.practice.adapters import AFAMethod, OSLRLearner, OSLRRegressor, budget_of
from oslr_nb.practice.data import sparse_linear

S = sparse_linear(12, 2, 600, seed=0)
NAMES = [f"f{i:02d}" for i in range(12)]
OSLR = [k for k in KEYS if oslr.LEARNERS[k].protocol == "OSLR" and "Projection" not in k]


def factory(d, budget, seed=None, *, key):
    "A learner of the registry with whatever else it needs."
    return make(key, d, budget) if key.startswith("murata2018.") else make(key, d, budget, seed=seed)


# --- scikit-learn
@pytest.mark.parametrize("model", [OSLRRegressor(), OSLRRegressor(0.3, passes=3)], ids=str)
def test_all_checks_of_scikit_learn(model):
    "None is expected to fail; those that are skipped need another array library."
    results = check_estimator(model, on_skip=None) or []
    assert {r["check_name"] for r in results if r["status"] != "passed"} <= {"check_array_api_input"}


@pytest.mark.parametrize("learner", ["auto", "own.CoinBetting"])
def test_without_shuffling_it_is_simulate(learner):
    model = OSLRRegressor(4, learner=learner, shuffle=False, random_state=5).fit(S.X, S.y)
    lr = make_learner(learner, 12, 4, 5)
    run = oslr.simulate(lr, S.X, S.y)
    w, b = lr.linear_function()
    assert (w == model.coef_).all() and b == model.intercept_ and model.n_features_seen_ == run.n_observed.sum() == 4 * 600


def test_fit_goes_on_and_predict_changes_nothing():
    "Budgets, passes, order and random state."
    whole, parts = OSLRRegressor(4, shuffle=False, random_state=0).fit(S.X, S.y), OSLRRegressor(4, random_state=0)
    for rows in np.array_split(np.arange(600), 7): parts.partial_fit(S.X[rows], S.y[rows])
    assert (parts.coef_ == whole.coef_).all() and parts.n_features_seen_ == whole.n_features_seen_
    assert parts.y_range_ == whole.y_range_ == (S.y.min(), S.y.max())
    whole.partial_fit(S.X, S.y)
    assert whole.n_features_seen_ == 2 * parts.n_features_seen_ and parts.fit(S.X, S.y).n_features_seen_ == 4 * 600
    assert budget_of(None, 2) == budget_of(0.01, 2) == 2
    fits = [OSLRRegressor(4, random_state=0, **kw).fit(S.X, S.y) for kw in ({}, {"shuffle": False}, {"passes": 3}, {})]
    assert fits[2].n_features_seen_ == 3 * fits[0].n_features_seen_
    assert (fits[0].coef_ == fits[3].coef_).all() and all((fits[0].coef_ != f.coef_).any() for f in fits[1:3])
    fits = [OSLRRegressor(4, random_state=np.random.RandomState(3)).fit(S.X, S.y) for _ in range(2)]
    assert (fits[0].coef_ == fits[1].coef_).all()
    np.random.seed(0)  # noqa: NPY002  None is numpy's global state, as everywhere in scikit-learn
    first = OSLRRegressor(4).fit(S.X, S.y).coef_
    np.random.seed(0)  # noqa: NPY002
    assert (OSLRRegressor(4).fit(S.X, S.y).coef_ == first).all() and (OSLRRegressor(4).fit(S.X, S.y).coef_ != first).any()
    model = OSLRRegressor(4, random_state=0).fit(S.X, S.y)
    before, values = pickle.dumps(model), model.predict(S.X)
    assert pickle.dumps(model) == before and (model.predict(S.X) == values).all()
    assert np.allclose([model.predict(x[None])[0] for x in S.X[:20]], values[:20], rtol=1e-12)
    with ThreadPoolExecutor(4) as pool: assert all((p == values).all() for p in pool.map(model.predict, [S.X] * 8))


@pytest.mark.parametrize("key", KEYS)
def test_a_prediction_reads_no_more_than_the_budget(key):
    "For all learners; only those of the protocol training-only may look at everything."
    model = OSLRRegressor(6, learner=partial(factory, key=key), random_state=0).fit(S.X, S.y)
    free = oslr.LEARNERS[key].protocol == "training-only"
    assert len(model.features_) <= (12 if free else 6) and (model.features_ == np.flatnonzero(model.coef_)).all()
    other = np.full((50, 12), -1e6)
    other[:, model.features_] = S.X[:50, model.features_]
    assert (model.predict(other) == model.predict(S.X[:50])).all() and model.n_features_seen_ >= (1 if "cesabianchi" in key else 600)
    guess = np.clip(S.X[:50] @ model.coef_ + model.intercept_, *model.y_range_)
    assert np.allclose(model.predict(S.X[:50]), guess, rtol=0, atol=1e-9)


def test_what_does_not_mislead():
    "Features that nearly repeat each other, before they were bought together; features far from 0, of which few weights are kept."
    rng = np.random.default_rng(0)
    common = rng.standard_normal((500, 1))
    X = np.hstack([common + 0.05 * rng.standard_normal((500, 10)), rng.standard_normal((500, 10))])
    y = common[:, 0] + 0.1 * rng.standard_normal(500)
    scores = [OSLRRegressor(5, random_state=s).fit(X[:400], y[:400]).score(X[400:], y[400:]) for s in range(10)]
    assert min(scores) > 0.5 and np.mean(scores) > 0.9
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 12))
    y, biases = X @ rng.normal(size=12), []
    for level in (0, 1000):
        model = OSLRRegressor(4, learner="own.CoinBetting", random_state=0).fit(X + level, y)
        biases.append((((X + level) @ model.coef_ + model.intercept_) - y).mean())
    assert np.abs(biases).max() < 0.5 * y.std()


def test_pipeline_search_clone_and_copies():
    pipeline = make_pipeline(StandardScaler(), OSLRRegressor(random_state=0))
    search = GridSearchCV(pipeline, {"oslrregressor__budget": [2, 0.5], "oslrregressor__learner": ["auto", "own.CoinBetting"]}, cv=3)
    search.fit(S.X, S.y)
    assert search.best_score_ > 0.9 and len(cross_val_score(OSLRRegressor(0.5), S.X, S.y, cv=3)) == 3
    model = OSLRRegressor(3, learner=partial(oslr.own.PairwiseLeastSquares, memories=[300]), random_state=0)
    assert repr(clone(model)) == repr(model) and not hasattr(clone(model.fit(S.X, S.y)), "coef_")
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        other.partial_fit(S.X, S.y)
        assert (other.coef_ == copy.deepcopy(model).partial_fit(S.X, S.y).coef_).all() and (other.coef_ != model.coef_).any()


test_what_the_regressor_refuses = refusals([
    ({"budget": 13}, "budget = 13: it must be an integer from 1 to 12"), ({"budget": 1}, "budget = 1: it must be an integer from 2 to 12"),
    ({"budget": 0.0}, "budget = 0.0: it must be a finite number above 0"), ({"budget": 1.1}, "budget = 1.1: it must be"),
    ({"budget": True}, "budget = True: it must be"), ({"budget": "2"}, "budget = '2': it must be"),
    ({"passes": 0}, "passes = 0: it must be"), ({"shuffle": 1}, "shuffle = 1: it must be True or False"),
    ({"random_state": -1}, "random_state = -1: it must be"), ({"learner": "nothing.X"}, "learner = 'nothing.X': it must be \"auto\""),
    ({"learner": "foster2016.FKK"}, "learner = 'foster2016.FKK': it must be callable with d, budget"),
    ({"learner": lambda d, b, seed: 3}, "learner = .*it made 3"),
    ({"learner": lambda d, b, seed: oslr.auto(5, 3)}, "d of the learner = 5: it must be 12"),
    ({"budget": 2, "learner": lambda d, b, seed: oslr.auto(d, 3)}, "budget of the learner = 3: it must be an integer from 0 to 2"),
], lambda kw: OSLRRegressor(**kw).fit(S.X, S.y))


def test_too_much_and_too_little_are_refused():
    "That bad tables are refused and change nothing is in test_bad_inputs.py."
    model = OSLRRegressor(4, random_state=0).fit(S.X, S.y)
    for X, y in ((S.X * 1e70, S.y), (S.X, S.y * 1e70), (S.X[:, :5], S.y), (S.X[:5], S.y)):
        with pytest.raises(ValueError): model.partial_fit(X, y)
    with pytest.raises(ValueError, match="n_features = 1"): OSLRRegressor(costs=[1.0]).fit(S.X[:, :1], S.y)
    with pytest.raises(NotFittedError): OSLRRegressor().predict(S.X)


def test_what_is_not_bought_may_be_missing():
    model = OSLRRegressor(4, random_state=0).fit(S.X, S.y)
    for empty in (np.nan, np.inf):
        X = np.full_like(S.X, empty)
        X[:, model.features_] = S.X[:, model.features_]
        for table in (X, pd.DataFrame(X), X[:1]): assert (model.predict(table) == model.predict(S.X[: len(table)])).all()
    X[7, model.features_[1]] = -np.inf
    with refused(rf"X\[7, {model.features_[1]}\] = -inf: it must be a finite number, or NaN"): model.predict(X)
    env = oslr.Environment(S.X, S.y, 4)
    oslr.play(oslr.auto(12, 4, seed=0), env)
    X = np.full_like(S.X, np.nan)
    for t, bought, _ in env.ledger: X[t, bought] = S.X[t, bought]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = OSLRRegressor(4, shuffle=False, random_state=0)
        assert (same.fit(X, S.y).coef_ == clone(same).fit(S.X, S.y).coef_).all() and same.n_left_out_ == 0


def test_rows_that_lack_what_is_bought_are_left_out():
    X = np.where(np.random.default_rng(0).random(S.X.shape) < 0.05, np.nan, S.X)
    model = OSLRRegressor(4, random_state=0)
    with pytest.warns(UserWarning, match=r"\d+ of 600 rows were left out"): model.fit(X, S.y)
    assert 50 < model.n_left_out_ < 200 and model.n_features_seen_ == 4 * (600 - model.n_left_out_) and model.score(S.X, S.y) > 0.9
    guess, gone = model.predict(X), np.isnan(X[:, model.features_])
    filled = np.where(np.isnan(X), model.learner_.means_, X)
    assert np.allclose(guess, model.predict(filled), rtol=1e-12) and model.n_filled_ == gone.sum() > 20
    assert np.abs(model.learner_.means_ - S.X.mean(axis=0)).max() < 0.3 and model.score(X, S.y) > 0.8
    X[0, 0] = np.inf
    with pytest.raises(ValueError): model.partial_fit(X, S.y)


def test_one_feature_is_least_squares():
    x, w = S.X[:, np.flatnonzero(S.w)[:1]], S.y[:400]
    for model in (OSLRRegressor(random_state=0), OSLRRegressor(1, passes=2, random_state=0),
                  OSLRRegressor(0.5, learner="own.CoinBetting", passes=5, random_state=0)):
        model.fit(x[:400], w)
        least = np.polyfit(x[:400, 0], w, 1)
        assert model.features_.tolist() == [0] and np.allclose([*model.coef_, model.intercept_], least, rtol=0, atol=0.1)
        assert model.n_features_seen_ == 400 * model.passes and (model.partial_fit(x, S.y).predict(x[:5]).shape == (5,))
    table = pd.DataFrame({"only": x[:, 0]})
    assert OSLRRegressor().fit(table, S.y).predict(table).shape == (600,)
    for search in (partial(SequentialFeatureSelector, cv=2), RFE):
        found = search(OSLRRegressor(random_state=0), n_features_to_select=1).fit(S.X, S.y).get_support()
        assert set(np.flatnonzero(S.w)) > set(np.flatnonzero(found))
    with pytest.raises(ValueError, match="a share, a float, fits any number"): OSLRRegressor(4).fit(x, S.y)


# --- river
class Counted(Mapping):
    "A mapping that writes down which values it was asked for."

    def __init__(self, values): self.values, self.asked = values, []

    def __getitem__(self, name):
        self.asked.append(name)
        return self.values[name]

    def __iter__(self): return iter(self.values)

    def __len__(self): return len(self.values)


def examples(n=600): return [(dict(zip(NAMES, x.tolist(), strict=True)), float(y)) for x, y in zip(S.X[:n], S.y[:n], strict=True)]


@pytest.mark.parametrize("key", OSLR)
def test_the_stream_is_that_of_simulate(key):
    "However often it predicts, also for other examples: the same numbers as the compiled rounds, for every learner that buys features."
    model = OSLRLearner(6, learner=partial(factory, key=key), seed=3)
    run = oslr.simulate(factory(12, 6, 3, key=key), S.X[:120], S.y[:120])
    for t, (x, y) in enumerate(examples(120)):
        if t % 3 == 0: model.predict_one(examples(5)[t % 5][0])
        guesses = [model.predict_one(x) for _ in range(t % 3)]
        assert all(abs(g - run.predictions[t]) <= 1e-12 * max(1, abs(g)) for g in guesses)
        model.learn_one(x, y)
    assert model.n_features_seen_ == run.n_observed.sum()


def test_it_reads_what_it_buys_and_nothing_else():
    model = OSLRLearner(4, seed=0)
    for x, y in examples(300):
        x = Counted(x)
        model.predict_one(x)
        first = list(x.asked)
        model.predict_one(x)
        model.learn_one(x, y)
        assert len(set(first)) == len(first) == 4 and x.asked == 3 * first
    assert model.n_features_seen_ == 1200 and 1 <= len(model.weights) <= 4 and set(model.weights) <= set(NAMES)


def test_names():
    model, other = OSLRLearner(4, seed=0), OSLRLearner(4, NAMES, seed=0)
    for x, y in examples(200):
        turned = dict(reversed(x.items()))
        assert model.predict_one(x) == other.predict_one(turned | {"new": "rubbish"})
        model.learn_one(x, y)
        other.learn_one(turned, y)
    x = examples(1)[0][0]
    sparse, full = defaultdict(float, {"f03": x["f03"]}), {n: x[n] if n == "f03" else 0.0 for n in NAMES}
    assert model.predict_one(sparse) == model.predict_one(full) == model.predict_one({"f03": x["f03"]}) and list(sparse) == ["f03"]
    assert model.weights == other.weights and model.intercept == other.intercept
    for name in (3, ("a", 1), None): OSLRLearner(features=(name, "b"), seed=0).learn_one({name: 1, "b": True}, np.float32(2))
    assert OSLRLearner().weights == {} and OSLRLearner().intercept == 0
    with pytest.warns(UserWarning, match="'new', 7: not in the first example, so ignored"): model.predict_one(x | {"new": 1, 7: 2})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pickle.loads(pickle.dumps(model)).learn_one(x | {7: "rubbish"}, 1.0)
    with pytest.warns(UserWarning, match="'newer': not in"): model.learn_one(x | {"newer": 1, 7: 2}, 1.0)
    assert model.ignored_ == {"new", 7, "newer"} and other.ignored_ == set()


@pytest.mark.parametrize(("kw", "x", "words"), [
    ({}, {"a": 1.0}, "features = ('a',): it must be at least 2 distinct names"), ({}, {}, "features = (): it"),
    ({}, 3, "x = 3: it must be a mapping"), ({}, None, "x = None"), ({}, pd.Series([1.0, 2.0]), "x = "), ({}, [1.0, 2.0], "x = "),
    ({"features": ("a", "a")}, {}, "features = ('a', 'a'): it"), ({"budget": 3}, {"a": 1, "b": 2}, "budget = 3: it must be"),
    ({"learner": "ito2018.LinearProjection"}, {"a": 1, "b": 2}, "it buys measurements"),
    ({"learner": "own.PairwiseTrainingOnly"}, {"a": 1, "b": 2}, "it plays training-only"),
    ({"seed": "x"}, {"a": 1, "b": 2}, "seed = 'x': it"),
    ({}, {"a": "1", "b": 2}, "x['a'] = '1': it must be a finite number"), ({}, {"a": 1e61, "b": 2}, "x['a'] = 1e+61: it must be"),
])
def test_what_the_model_refuses(kw, x, words):
    model = OSLRLearner(**{"budget": 2} | kw)
    for call in (model.predict_one, partial(model.learn_one, y=1.0)):
        with refused(re.escape(words)): call(x)


def test_river():
    "All its checks, pipelines and metrics; and it is not needed."
    from river import checks
    for kw in ({}, {"budget": 2, "learner": "own.CoinBetting"}): checks.check_estimator(OSLRLearner(**kw))
    assert not OSLRLearner()._unit_test_skips()
    from river import base, datasets, evaluate, metrics, preprocessing
    assert isinstance(OSLRLearner(), base.Regressor)
    for model in (OSLRLearner(3, seed=0), preprocessing.StandardScaler() | OSLRLearner(3, seed=0)):
        assert evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE()).get() < 1.5
    code = "import sys; sys.modules['river'] = None\nimport oslr_nb as oslr\noslr.OSLRLearner(2, seed=0).learn_one({'a': 1, 'b': 2}, 3)"
    python(code)


def test_groups():
    "Dummies by name are one question; groups by name or position; prices are those of groups; learners of papers buy singly."
    rng = np.random.default_rng(6)
    kind, Q = rng.integers(0, 6, 1500), rng.standard_normal((1500, 6))
    y = np.array([2.0, -2, 1, -1, 3, 0])[kind] + Q @ [1, 0.5, 0, 0, 0, 0] + 0.3 * rng.standard_normal(1500)
    X, names = np.column_stack([kind[:, None] == np.arange(6), Q]).astype(float), [*(f"kind={k}" for k in range(6)), *"abcdef"]
    table, groups = pd.DataFrame(X, columns=names), ["kind"] * 6 + list("abcdef")
    model = OSLRRegressor(2, random_state=0).fit(table, y)
    given = OSLRRegressor(2, random_state=0, feature_groups=groups).fit(X, y)
    by_name = OSLRRegressor(2, random_state=0, feature_groups=dict(zip(names[::-1], groups[::-1], strict=True))).fit(table, y)
    assert (model.coef_ == given.coef_).all() and (model.coef_ == by_name.coef_).all() and model.learner_.params["groups"] == groups
    assert set(model.features_) <= {*range(7)} and model.score(table, y) > 0.8
    singly = OSLRRegressor(2, random_state=0, feature_groups=names).fit(table, y)
    assert singly.learner_.groups is None and len(singly.features_) <= 2 and singly.score(table, y) < model.score(table, y)
    assert OSLRRegressor(random_state=0).fit(table, y).learner_.budget == 4  # half of seven groups
    assert OSLRRegressor(3, learner="own.CoinBetting", random_state=0).fit(table, y).learner_.menu.counted
    costs = {"kind": 3.0} | dict.fromkeys("abcdef", 1.0)
    priced = OSLRRegressor(4.0, costs=costs, random_state=0).fit(table, y)
    assert priced.learner_.costs.tolist() == [3, 1, 1, 1, 1, 1, 1] and priced.score(table, y) > 0.8
    holes = table.mask(rng.random(table.shape) < 0.02)
    with pytest.warns(UserWarning, match="rows were left out"): assert OSLRRegressor(2, random_state=0).fit(holes, y).score(table, y) > 0.7
    rows = [dict(zip(names, x, strict=True)) for x in X.tolist()]
    river = OSLRLearner(2, seed=0)
    for x, v in zip(rows, y.tolist(), strict=True): river.learn_one(x, v)
    assert river.learner_.groups is not None and set(river.weights) <= {*names[:6], "a"}
    for kw, words in (({"feature_groups": groups[1:]}, "number of groups = 11"), ({"budget": 8}, "from 1 to 7 .of 7 that are for"),
                      ({"feature_groups": groups, "learner": "own.CoinBetting"}, "no other learner knows groups")):
        with pytest.raises(ValueError, match=words): OSLRRegressor(**{"budget": 2} | kw).fit(table, y)
    model.feature_groups = names
    with pytest.raises(ValueError, match="feature_groups = "): model.partial_fit(table, y)


def with_classes(classes, d):
    "A classifier of two features of d that matter, with new rows and their classes."
    rng = np.random.default_rng(classes)
    X, y = rng.standard_normal((900, d)), rng.integers(classes, size=900)
    X[:, [1, 4]] += y[:, None]
    learner = oslr.auto(d, 3, classes=range(classes), seed=0)
    oslr.simulate(learner, X[:800], y[:800])
    return learner, X[800:], y[800:]


@pytest.mark.parametrize("classes", [2, 3])
def test_a_method_of_afabench(classes, tmp_path):
    "It takes each of its features once, the largest first, whatever is known already, then stops; saved and loaded it says the same."
    learner, rows, _ = with_classes(classes, 9)
    AFAMethod(learner).save(tmp_path / "new" / "folder")
    method, known = AFAMethod.load(tmp_path / "new" / "folder"), np.random.default_rng(9).random(rows.shape) < 0.2
    before, F = known.copy(), learner.features_
    for look in range(4):
        seen = np.where(known, rows, 0.0)
        chosen, p = method.act(seen, known)[:, 0], method.predict(seen, known)
        assert np.array_equal(p, learner.predict_proba_of(np.where(known, rows, np.nan)))
        on = np.flatnonzero(chosen)
        assert not known[on, chosen[on] - 1].any() and np.isin(chosen[on] - 1, F).all()
        assert np.array_equal(chosen == 0, known[:, F].all(axis=1))
        if look == 0: assert (chosen[~before[:, F].any(axis=1)] - 1 == F[np.abs(learner.log_odds_[F]).argmax()]).all()
        known[on, chosen[on] - 1] = True
    assert not on.size and np.array_equal(known | before, known) and not (known & ~before)[:, np.setdiff1d(range(9), F)].any()


def test_tensors_of_all_kinds():
    "Precision, gradients, batches of any size: numbers and shapes of numpy, in the kind of the question."
    torch = pytest.importorskip("torch")
    learner, X, _ = with_classes(2, 6)
    method, known = AFAMethod(learner), np.random.default_rng(1).random(X.shape) < 0.4
    seen = np.where(known, X, 0.0)
    act, p = method.act(seen, known), method.predict(seen, known)
    for dtype, tol in ((torch.float64, 0), (torch.float32, 1e-6), (torch.float16, 1e-2), (torch.bfloat16, 1e-1)):
        for mask, rows in ((torch.bool, slice(None)), (torch.uint8, slice(0, 1)), (torch.float32, slice(0, 0))):
            a, b = torch.as_tensor(seen, dtype=dtype).requires_grad_(mask == torch.bool)[rows], torch.as_tensor(known).to(mask)[rows]
            chosen, said = method.act(a, b), method.predict(a, b)
            assert chosen.dtype == torch.int64 and np.array_equal(chosen.numpy(), act[rows])
            assert said.dtype == dtype and not said.requires_grad and said.device == a.device and said.shape == p[rows].shape
            assert np.allclose(said.double().numpy(), p[rows], rtol=0, atol=tol)
    assert method.predict(torch.as_tensor(seen).round().long(), torch.as_tensor(known)).dtype == torch.float64
    assert method.to(torch.device("cpu")).device == torch.device("cpu")


def test_an_evaluation_as_afabench_makes_it(tmp_path):
    "Calls by name, with labels, features and batches of any shape; a selected feature that is not shown is not selected again."
    learner, X, y = with_classes(2, 6)
    AFAMethod(learner).save(tmp_path)
    method = AFAMethod.load(tmp_path, device="cpu")
    method.set_seed(3)
    method.set_cost_param(cost_param=0.5)
    mask, chosen, active = np.zeros(X.shape, bool), np.zeros(X.shape, bool), np.arange(100)
    broken = int(learner.features_[np.abs(learner.log_odds_[learner.features_]).argmax()])  # this one never comes
    for step in range(9):
        more, seen = {"label": np.eye(2)[y[active]], "feature_shape": (6,)}, np.where(mask, X, 0.0)[active]
        action = method.act(masked_features=seen, feature_mask=mask[active], selection_mask=chosen[active], **more)[:, 0]
        if step == 0: assert set(action.tolist()) == {broken + 1}
        on = action > 0
        chosen[active[on], action[on] - 1] = mask[active[on], action[on] - 1] = True
        mask[:, broken], active = False, active[on]
        if not len(active): break
    assert step == len(learner.features_) and chosen.sum(axis=1).tolist() == [step] * 100
    assert (method.predict(masked_features=X, feature_mask=np.ones(X.shape, bool), **more).argmax(axis=-1) == y).mean() > 0.65
    X, mask, p = X.reshape(5, 20, 2, 3), mask.reshape(5, 20, 2, 3), method.predict(X, mask)
    assert np.array_equal(method.predict(X, mask, None, (2, 3)), p.reshape(5, 20, 2))
    assert method.act(X, mask, None, None, (2, 3)).shape == (5, 20, 1)


def test_what_afabench_is_refused():
    "A learner of numbers, and arrays of other shapes."
    with refused("learner = "): AFAMethod(oslr.auto(4, 2))
    method = AFAMethod(oslr.auto(4, 2, classes=[0, 1]))
    with refused("masked_features"): method.act(np.zeros((3, 5)), np.zeros((3, 5), bool))
    with refused("feature_mask"): method.predict(np.zeros((3, 4)), np.zeros((3, 5), bool))
    with refused("shape of selection_mask = "): method.act(np.zeros((3, 4)), np.zeros((3, 4), bool), np.zeros((3, 2), bool))
    with refused("feature_shape = "): method.predict(np.zeros((3, 4)), np.zeros((3, 4), bool), feature_shape=(2, 3))
    with refused("shape of masked_features"): method.predict(np.zeros(3), np.zeros(3, bool), feature_shape=(2, 2))
    with refused(r"masked_features\[0, 1\] = nan"): method.predict(np.full((3, 4), np.nan), np.arange(12).reshape(3, 4) % 4 == 1)
    assert np.allclose(method.predict(np.full((3, 4), np.nan), np.zeros((3, 4), bool)), 0.5)
    assert method.act(np.zeros((3, 4)), np.ones((3, 4), bool)).tolist() == [[0]] * 3
    assert method.act(np.zeros((3, 4)), np.zeros((3, 4), bool), np.ones((3, 4), bool)).tolist() == [[0]] * 3


def test_masked_values_are_missing():
    "Never the numbers below the mask: rows are left out, and a prediction takes the mean, as for NaN."
    X, y = S.X[:300], S.y[:300]
    hidden = np.ma.array(np.where(np.arange(300)[:, None] % 3, X, 1e6), mask=np.broadcast_to(np.arange(300)[:, None] % 3 == 0, X.shape))
    gone = hidden.astype(float).filled(np.nan)
    with pytest.warns(UserWarning, match="100 of 300 rows were left out"): model = OSLRRegressor(4, random_state=0).fit(hidden, y)
    with pytest.warns(UserWarning): twin = OSLRRegressor(4, random_state=0).fit(gone, y)
    assert np.array_equal(model.coef_, twin.coef_) and np.array_equal(model.predict(hidden), twin.predict(gone))
    with pytest.warns(UserWarning): assert np.array_equal(model.partial_fit(hidden, y).coef_, twin.partial_fit(gone, y).coef_)


def test_labels_of_history_count_for_the_range():
    X, y = S.X, S.y
    for labels in (y, np.column_stack([y, 1 - y])):
        model = OSLRRegressor(4, random_state=0).fit(X[:2], labels[:2], history=(X[2:], labels[2:]))
        assert np.array_equal(model.y_range_, (labels.min(axis=0), labels.max(axis=0))) and model.score(X, labels) > 0.3
