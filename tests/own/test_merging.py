"""Learners of several places put together: in any order, since a common beginning, going on, and what is refused."""

import copy
import itertools

import numpy as np
import pytest
from conftest import refused

import oslr_nb as oslr
from oslr_nb.core.game.saving import merge
from oslr_nb.own.moments.merging import moved


def places(K: int = 3, n: int = 150, d: int = 8, **options):
    "Learners of some places, with the features and labels of each."
    rng, found = np.random.default_rng(0), []
    for k in range(K):
        X = rng.standard_normal((n, d)) + 3
        y = 2 * X[:, 1] - X[:, 4] + 50 + 0.2 * rng.standard_normal(n)
        lr = oslr.own.PairwiseLeastSquares(d, 4, seed=k, **options)
        oslr.simulate(lr, X, y)
        found.append((lr, X, y))
    return found


OPTIONS = [{}, {"memories": [None]}, {"centre": False}, {"costs": [1.0] * 8}, {"groups": [0, 0, 1, 2, 2, 3, 4, 5]}]


@pytest.mark.parametrize("options", OPTIONS)
def test_any_order(options):
    "The same correlations, favourites and counts from every order; what is merged stays as it was; it goes on well."
    made = [lr for lr, _, _ in places(**options)]
    before, all_of_them = copy.deepcopy(made), [merge(order) for order in itertools.permutations(made)]
    for one in all_of_them:
        for mine, first in zip(one.moments(), all_of_them[0].moments(), strict=True): assert np.allclose(mine, first, atol=1e-9)
        assert one.num[0]["rounds"] == 450 and set(one.favourites_) == set(all_of_them[0].favourites_)
        assert np.allclose(one.purchases_, sum(lr.purchases_ for lr in made))
    assert all(np.array_equal(lr.pairs, old.pairs) for lr, old in zip(made, before, strict=True))
    _, X, y = places(1, 400)[0]
    lost = [oslr.simulate(lr, X[200:], y[200:]).losses.mean() for lr in (all_of_them[0], made[0])]
    assert lost[0] < 2 * lost[1]


def test_since():
    "Places that began as copies: each round counts once; one place alone gives itself back; an empty one adds nothing."
    (start, X, y), *_ = places(1, 300)
    parts = []
    for k in range(3):
        lr = copy.deepcopy(start)
        oslr.simulate(lr, X[100 * k : 100 * k + 100], y[100 * k : 100 * k + 100], seed=k)
        parts.append(lr)
    one = merge(parts, start)
    assert one.num[0]["rounds"] == 600 and one.label["count"][0] == pytest.approx(600)
    assert one.purchases_.sum() == pytest.approx(sum((lr.purchases_ - start.purchases_).sum() for lr in parts) + start.purchases_.sum())
    again = merge([start, start], start)
    known = lambda lr: np.concatenate([sums.ravel() for sums in moved(lr._state, start._state)])
    assert np.allclose(known(again), known(start), rtol=1e-7, atol=1e-5) and again.num[0]["rounds"] == start.num[0]["rounds"]
    empty = oslr.own.PairwiseLeastSquares(8, 4, seed=9)
    for pair in ((start, empty), (empty, start)): assert np.allclose(known(merge(pair)), known(start), rtol=1e-7, atol=1e-5)
    assert merge([empty, empty]).num[0]["rounds"] == 0


@pytest.mark.parametrize("bad", [1e4, -1e6])
@pytest.mark.parametrize("sizes", [(3, 200), (3, 4), (200, 3), (2, 2, 3)])
def test_bad_first_values(bad, sizes):
    "A bad first label and a bad first value of a place are forgotten after the merger, whether or not the others have judged theirs."
    parts, rng = [], np.random.default_rng(5)
    for k, n in enumerate(sizes):
        X = rng.standard_normal((n, 6))
        y, lr = X[:, 1] + 0.2 * rng.standard_normal(n), oslr.auto(6, 4, seed=k)
        if n == 3: X[1, 2], y[1] = bad, bad
        lr.learn_whole(X, y)
        parts.append(lr)
    one = merge(parts)
    X = rng.standard_normal((400, 6))
    y = X[:, 1] + X[:, 2] + 0.2 * rng.standard_normal(400)
    assert oslr.simulate(one, X, y).losses[200:].mean() < 0.5 and np.abs(one.coef_ - [0, 1, 1, 0, 0, 0]).max() < 0.5


def test_since_that_forgets():
    "What a place has forgotten of a feature is not taken away again; a beginning that may still forget its labels is refused."
    rng = np.random.default_rng(6)
    X, start = rng.standard_normal((100, 6)), oslr.auto(6, 3, seed=0)
    X[:, 4], X[:3, 4] = np.nan, [0.1, 500.0, -0.2]
    start.learn_whole(X, np.nan_to_num(X).sum(axis=1))
    parts = [copy.deepcopy(start) for _ in range(3)]
    for k, lr in enumerate(parts): lr.learn_whole(np.eye(6)[[4] * (5 * k)] * rng.standard_normal((5 * k, 1)), np.ones(5 * k))
    one = merge(parts, start)
    assert one.single["n"].min() >= 0 and one.single["square"].min() >= 0 and one.pairs[..., 0].min() >= 0
    assert np.isfinite(oslr.simulate(one, rng.standard_normal((300, 6)), rng.standard_normal(300)).losses).all()
    young = oslr.auto(6, 3, seed=0)
    young.learn_whole(X[:2], [1.0, 2.0])
    with refused("rounds of since = 2"): merge([copy.deepcopy(young)] * 2, young)


def test_again_and_again():
    "A hundred mergers change no scale: counts of the ways to buy and widths stay those of one learner."
    (start, X, y), *_ = places(1, 300)
    one = start
    for t in range(100):
        parts = [copy.deepcopy(one) for _ in range(3)]
        for k, lr in enumerate(parts): oslr.simulate(lr, X[[t, t + k]], y[[t, t + k]], seed=t + k)
        one = merge(parts, one)
    assert one.num[0]["rounds"] == 900 and one.arms.max() < 1e4 and np.isfinite(one.arms).all()
    assert 0 < one.half_width(0.9) <= 2 * one.num[0]["reach"] and one.intervals["judged"].max() < 900


def test_refused():
    "Other arguments, other names, another kind of learner, a round that is not over, nothing."
    a, b = oslr.auto(6, 3, seed=0), oslr.auto(6, 4, seed=0)
    with refused("learners = "): merge([a, b])
    with refused("learners = "): merge([oslr.auto(12, 5, labels=m, seed=0) for m in (2, 3)])
    with refused("learners = "): merge([])
    with refused("learners = "): merge(a)
    with refused("learner = 3"): merge([a, 3])
    with refused("learners = 'RDA1'"): merge([oslr.ito2017.RDA1(12, 6, top=4, seed=0)] * 2)
    with refused("rows = 12"): merge([oslr.own.PairwiseLeastSquares(12, 4, rows=12)] * 2)
    c = copy.deepcopy(a)
    a.names_, c.names_ = tuple("abcdef"), tuple("fedcba")
    with refused("names_ = "): merge([a, c])
    c.names_ = ()
    assert merge([c, a]).names_ == a.names_
    c.query()
    with pytest.raises(oslr.ProtocolError): merge([a, c])


@pytest.mark.parametrize("labels", [None, 2])
def test_since_that_knows_more(labels):
    "Copies know at least what their beginning knew; otherwise its sums would be taken away from nothing."
    rng = np.random.default_rng(0)
    make = lambda: oslr.auto(6, 3, seed=0, **({"labels": labels} if labels else {}))
    X = rng.standard_normal((400, 6))
    y = X[:, :2] if labels else X[:, 0]
    much, little = make(), make()
    oslr.simulate(much, X, y), oslr.simulate(little, X[:200], y[:200])
    for parts in ([little, make()], [much, little], [make(), make()]):
        with refused("rounds of learners = [02]0*: it must be at least 400, as of since"): merge(parts, much)
    assert np.allclose(merge([much, copy.deepcopy(much)], much).coef_, much.coef_, atol=1e-6)
