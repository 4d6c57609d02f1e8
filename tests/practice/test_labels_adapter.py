"""Several labels in the estimator of scikit-learn: shapes, missing labels, tables, and what is refused."""

import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from conftest import refused
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_predict, cross_val_score

import oslr_nb as oslr
from oslr_nb.practice.adapters import OSLRClassifier, OSLRLearner, OSLRRegressor

RNG = np.random.default_rng(0)
X = RNG.standard_normal((700, 12))
Y = np.column_stack([X[:, 1] - X[:, 4], X[:, 4] + X[:, 7], 100 * X[:, 1] - 100 * X[:, 9]])
Y += RNG.standard_normal((700, 3)) * [0.3, 0.3, 30]


def test_fit_is_simulate_and_score_is_that_of_scikit_learn():
    model = OSLRRegressor(5, shuffle=False, random_state=3).fit(X, Y)
    lr = oslr.auto(12, 5, labels=3, seed=3)
    run = oslr.simulate(lr, X, Y)
    w, level = lr.linear_function()
    assert np.array_equal(w, model.coef_) and np.array_equal(level, model.intercept_) and model.coef_.shape == (3, 12)
    assert model.n_features_seen_ == run.n_observed.sum() == 5 * 700 and len(model.features_) <= 5
    assert not model.coef_[:, np.setdiff1d(range(12), model.features_)].any()
    p = model.predict(X)
    assert p.shape == (700, 3) and np.allclose(p, np.clip(lr.predict_of(X), Y.min(axis=0), Y.max(axis=0)))
    assert model.score(X, Y) == r2_score(Y, p) > 0.8
    ends = model.predict_interval(X, 0.8)
    assert ends.shape == (700, 3, 2) and np.allclose(ends.mean(axis=-1), p)
    assert 0.6 < ((ends[..., 0] <= Y) & (Y <= ends[..., 1])).mean() <= 1
    parts = OSLRRegressor(5, random_state=3).partial_fit(X[:300], Y[:300]).partial_fit(X[300:], Y[300:])
    assert np.array_equal(parts.coef_, model.coef_) and np.array_equal(parts.y_range_, model.y_range_)
    assert cross_val_score(clone(model), X, Y, cv=3).min() > 0.7 and cross_val_predict(clone(model), X, Y, cv=3).shape == Y.shape


def test_labels_of_all_kinds():
    whole = np.round(Y)
    told = [OSLRRegressor(5, random_state=0).fit(X, y).predict(X) for y in (whole, whole.astype(object))]  # others: test_labels.py
    assert np.array_equal(*told)
    one = OSLRRegressor(5, random_state=0).fit(X, Y[:, 0])
    with pytest.warns(DataConversionWarning): column = OSLRRegressor(5, random_state=0).fit(X, Y[:, :1])
    assert np.array_equal(one.coef_, column.coef_) and column.predict(X).shape == (700,)
    assert OSLRRegressor(5, random_state=0).fit(X, Y > 0).predict(X).shape == (700, 3)


def test_missing_labels_and_values():
    gone = np.where(RNG.random(Y.shape) < [0.05, 0.5, 0.05], np.nan, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = OSLRRegressor(5, random_state=0).fit(X, gone)
        assert model.score(X, Y) > 0.75 and [lr.num[0]["rounds"] for lr in model.learner_.party] == np.isfinite(gone).sum(axis=0).tolist()
        never = OSLRRegressor(5, random_state=0).fit(X, np.where(np.arange(3) == 1, np.nan, Y))
        p = never.predict(X)
    assert np.isnan(p[:, 1]).all() and np.isnan(never.y_range_[0][1]) and r2_score(Y[:, [0, 2]], p[:, [0, 2]]) > 0.75
    never.partial_fit(X, Y)
    assert np.isfinite(never.predict(X)).all()
    holes = np.where(RNG.random(X.shape) < 0.02, np.nan, X)
    with pytest.warns(UserWarning, match="rows were left out"): part = OSLRRegressor(5, random_state=0).fit(holes, gone)
    assert 0 < part.n_left_out_ < 200 and np.isfinite(part.predict(holes)).all() and part.n_filled_ > 0
    assert part.score(X, Y) > 0.7


def test_tables_prices_groups_and_history():
    names = [f"f{i}" for i in range(12)]
    frame, labels = pd.DataFrame(X, columns=names, index=[f"r{i}" for i in range(700)]), pd.DataFrame(Y, columns=list("abc"))
    labels.index = frame.index
    model = OSLRRegressor(5, random_state=0).fit(frame, labels.sample(frac=1, random_state=1))
    assert np.array_equal(model.coef_, OSLRRegressor(5, random_state=0).fit(X, Y).coef_)
    assert np.array_equal(model.predict(frame[names[::-1]]), model.predict(frame)) and model.score(frame, labels[::-1]) > 0.8
    for more in ({"costs": np.linspace(1, 2, 12), "budget": 8.0}, {"feature_groups": np.repeat(range(6), 2), "budget": 3}):
        assert OSLRRegressor(random_state=0, **more).fit(X, Y).score(X, Y) > 0.3
    few = frame[:20], labels[:20]
    old = frame[20:], labels[20:].mask(labels[20:] > 200)
    plain, taught = (OSLRRegressor(5, random_state=0).fit(*few, history=h) for h in (None, old))
    assert taught.score(frame, labels) > 0.8 > plain.score(frame, labels)
    assert taught.n_features_seen_ == 100 and plain.coef_.shape == (3, 12)
    single = OSLRRegressor(random_state=0).fit(X[:, 1:2], Y)
    assert single.coef_.shape == (3, 1) and single.predict(X[:, 1:2]).shape == (700, 3)


def test_for_people():
    model = OSLRRegressor(5, random_state=0).fit(X, Y)
    before = pickle.dumps(model)
    with refused("shape of y = \\(700, 2\\): it must be \\(700, 3\\)"): model.partial_fit(X, Y[:, :2])
    with refused("shape of y = \\(700,\\)"): model.partial_fit(X, Y[:, 0])
    with refused("shape of y = \\(700, 3\\): it must be \\(700,\\)"): OSLRRegressor(5).fit(X, Y[:, 0]).partial_fit(X, Y)
    with refused("shape of y = "): OSLRRegressor(5).fit(X, Y, history=(X, Y[:, 0]))
    for bad in (np.where(Y > 2, np.inf, Y), 1e61 * Y):
        with pytest.raises(ValueError, match=r"y"): model.partial_fit(X, bad)
    with refused("y = .*numbers"): model.partial_fit(X, np.full(Y.shape, "a"))
    with pytest.raises(ValueError): model.fit(X, Y[:, :, None])
    with pytest.raises(ValueError): model.fit(X, Y[:600])
    assert pickle.dumps(model) == before
    for learner in ("own.CoinBetting", "ito2017.RDA1"):
        with refused(f"learner = '{learner}': it must be \"auto\" for 3 labels"): OSLRRegressor(5, learner=learner).fit(X, Y)
    with refused("labels="): OSLRRegressor(5, learner=oslr.own.CoinBetting).fit(X, Y)
    assert OSLRRegressor(5, learner=oslr.auto, random_state=0).fit(X, Y).coef_.shape == (3, 12)
    with pytest.raises(ValueError): OSLRClassifier(5).fit(X, np.sign(Y))
    with refused("learner = .*one of one label"): OSLRLearner(5, learner=partial(oslr.auto, labels=3)).predict_one(dict(enumerate(X[0])))
