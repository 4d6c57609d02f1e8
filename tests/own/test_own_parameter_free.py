"Coin betting: arguments, edges, scales, and what the page need not show."

import math

import numpy as np
import pytest

import oslr_nb as oslr
from oslr_nb.own import parameter_free as page
from oslr_nb.papers.ito2017 import observe
from oslr_nb.practice.data import sparse_linear

CoinBetting = page.CoinBetting


@pytest.mark.parametrize(("budget", "top"), [(2, 0), (3, 1), (4, 2), (5, 3), (6, 3), (8, 4), (12, 6)])
def test_half_of_the_budget_are_favourites(budget, top): assert CoinBetting(12, budget).top == top


def test_the_textbook_learns_and_refuses_other_sets():
    s, rng = sparse_linear(8, 2, 200, seed=1), np.random.default_rng(0)
    predictions, _ = page.coin_betting(s.X, s.y, 5, 2, lambda t, scores: observe(scores, 5, 2, rng))
    assert np.isfinite(predictions).all() and ((predictions - s.y)[-100:] ** 2).mean() < (s.y[-100:] ** 2).mean()
    with pytest.raises(ValueError, match=r"size of choose\(t, scores\) = 2: it must be budget = 5"):
        page.coin_betting(s.X, s.y, 5, 2, lambda t, scores: [0, 1])


def test_range_and_constants():
    "Predictions stay in the range of labels. Features or labels that are always 0: weights 0. A constant label is predicted."
    s = sparse_linear(12, 2, 500, seed=3)
    run = oslr.simulate(CoinBetting(12, 6, seed=0), s.X, s.y + 3)
    low, high = np.minimum.accumulate(np.minimum(s.y + 3, 0)), np.maximum.accumulate(np.maximum(s.y + 3, 0))
    assert run.predictions[0] == 0 and (low[:-1] <= run.predictions[1:]).all() and (run.predictions[1:] <= high[:-1]).all()
    X, y = np.random.default_rng(0).standard_normal((300, 6)), np.zeros(300)
    X[:, 2] = 0
    lr = CoinBetting(6, 4, seed=0)
    assert (oslr.simulate(lr, X, y).predictions == 0).all() and (lr.coef_ == 0).all()
    oslr.simulate(lr, X, X[:, 0])
    assert lr.coef_[2] == 0 and abs(lr.coef_[0]) > 0
    rng, lr = np.random.default_rng(0), oslr.auto(10**6, 20, seed=0)
    for _ in range(50):
        lr.query()
        guess = lr.predict(rng.normal(size=20))
        lr.update(300.0)
    assert guess == 300


def test_bets_and_their_bound():
    "Bets refuse; the bound grows like the root."
    for g in ([np.nan], [[1.0]], "a", [1e61]):
        with pytest.raises(ValueError, match="it must be"): page.bets_of(g)
    for kw in ({"endowment": 0}, {"limit": -1.0}, {"limit": "a"}):
        with pytest.raises(ValueError, match="it must be"): page.bets_of([1.0], **kw)
    assert page.bound_bet(0.0, 1.0, 5.0) == 1.0 and page.bound_bet(3.0, 0.0, 0.0, endowment=2.0) == 2.0
    for hint in (1e-160, 1e-140):  # of any unit: not less where the squared hint is no number
        assert page.bound_bet(1.0, hint, hint * 5.0) >= page.bound_bet(1.0, hint, 0.0) > 0
    assert page.bound_bet(1.0, 1e-151, 1.0) > 2.0
    good = {"k": 2, "d": 6, "budget": 5, "top": 2, "eigenvalue": 0.5, "condition": 2.0, "log": 5.0}
    bound = lambda T, **kw: page.bound_coin_betting(**({"T": T} | good | kw))
    assert 0.45 < math.log(bound(10**14) / bound(10**12)) / math.log(100) < 0.55
    for kw in ({"k": 3}, {"eigenvalue": 0}, {"eigenvalue": 2}, {"condition": 0.5}, {"log": 0.5}, {"spread": 0.9}, {"T": 0}, {"top": 4}):
        with pytest.raises(ValueError, match="it must be"): bound(kw.pop("T", 100), **kw)
    assert bound(1000, early=10.0) > bound(1000) and bound(1000, spread=2.0) > bound(1000) and bound(1000, w_norm=2.0) > bound(1000)


@pytest.mark.parametrize(("d", "budget", "top"), [(6, 4, 2), (5, 3, 0), (7, 7, 5)])
def test_late_labels_are_the_textbook_in_their_order(d, budget, top):
    "Labels up to 20 examples late and out of order: what `learn` says and leaves is the textbook's, given the sets in that order."
    rng, lr, open_, order, told = np.random.default_rng(d), CoinBetting(d, budget, top=top, centre=False, seed=4), {}, [], []
    X = rng.standard_normal((300, d))
    y, sets = X @ rng.uniform(-1, 1, d) + 0.1 * rng.standard_normal(300), []
    for t in range(300):
        sets.append(lr.query())
        assert lr.predict(X[t, sets[t]]) == (lr.skip() or lr.predict_from(sets[t], X[t, sets[t]]))
        open_[t] = sets[t]
        while len(open_) > (20 if t < 299 else 0):
            order.append(rng.choice(list(open_)).item())
            S = open_.pop(order[-1])
            told.append(lr.learn(S.tolist(), X[order[-1], S], y[order[-1]]))
    predictions, w = page.coin_betting(X[order], y[order], budget, top, lambda t, scores: sets[order[t]])
    assert np.abs(predictions - told).max() < 1e-7 and np.abs(w - lr.w).max() < 1e-7 * np.abs(w).max()


@pytest.mark.parametrize("make", [lambda: CoinBetting(6, 3, seed=0), lambda: oslr.ito2017.RDA1(6, 3, k=1, x_norm=9, y_max=9, seed=0),
                                  lambda: oslr.own.PairwiseLeastSquares(6, 3, seed=0)])
def test_rounds_given_whole_refuse_and_change_nothing(make):
    lr, good = make(), ([0, 1, 2], [1.0, 2.0, 3.0])
    lr.learn(*good, 1.0)
    before = str(lr.state())
    bad = [([0, 1, 2, 3], [1.0] * 4), ([0, 1, 6], good[1]), ([0, 1, 1], good[1]), (good[0], [1.0, 2.0]), (good[0], [1.0, math.nan, 2.0]),
           (good[0], [1e61, 0, 0]), ("abc", good[1]), ([0.0, 1.0, 2.0], good[1])]
    if not getattr(lr, "takes_fewer", False): bad.append(([0, 1], [1.0, 2.0]))
    for S, values in bad:
        with pytest.raises(ValueError, match="it must be"): lr.predict_from(S, values)
        with pytest.raises(ValueError, match="it must be"): lr.learn(S, values, 1.0)
    for y in (math.nan, 1e61, "a", True):
        with pytest.raises(ValueError, match="it must be"): lr.learn(*good, y)
    with pytest.raises(ValueError, match="explored = 2"): lr.learn(*good, 1.0, explored=2)
    assert str(lr.state()) == before
    lr.query()
    for call in (lambda: lr.learn(*good, 1.0), lambda: lr.predict_from(*good)):
        with pytest.raises(oslr.ProtocolError, match="out of order"): call()


# --- means taken out
@pytest.mark.parametrize(("level", "places"), [(0.0, 0.0), (300.0, 0.0), (-1e6, 40.0), (300.0, -1e4)])
def test_centring_is_the_plain_learner_on_centred_examples(level, places):
    "The centred learner's errors are those of `centre=False` on values and labels less the means of what came before."
    s = sparse_linear(12, 2, 800, seed=0)
    X, y, n, sums = s.X + places, s.y + level, np.zeros(12), np.zeros(12)
    run = oslr.play(CoinBetting(12, 6, seed=0), env := oslr.Environment(X, y, 6))
    Z, before = np.zeros_like(X), np.r_[y[0], np.cumsum(y)[:-1] / np.arange(1, 800)]
    for t, S, _ in env.ledger:
        Z[t, S] = np.where(n[S] > 0, X[t, S] - sums[S] / np.maximum(n[S], 1), 0)
        n[S], sums[S] = n[S] + 1, sums[S] + X[t, S]
    plain = oslr.simulate(CoinBetting(12, 6, centre=False, seed=0), Z, y - before)
    assert np.abs((run.predictions - y - (plain.predictions - (y - before)))[1:]).max() < 1e-6 * (2 + abs(places) * 1e-3)


@pytest.mark.parametrize("make", [lambda: oslr.own.CoinBetting(8, 4, seed=0), lambda: oslr.auto(8, 4, protocol="POSLR", seed=0),
                                  lambda: oslr.auto(8, 4, seed=0), lambda: oslr.auto(8, 4, protocol="training-only", seed=0)])
def test_the_level_of_labels_and_features_does_not_matter(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 8))
    y, losses = X @ [2, -1, 0.5, 0, 0, 0, 0, 0] + 0.1 * rng.normal(size=3000), []
    for level, places in ((0, 0), (300, 0), (-1e5, 0), (300, 50)):
        lr = make()
        losses.append(oslr.simulate(lr, X + places, y + level).losses[-500:].mean())
        score = (X + places) @ lr.coef_ + lr.intercept_
        assert ((score - y - level) ** 2)[-500:].mean() < 0.2 * y.var()
    assert max(losses) < 1.05 * min(losses) + 0.01
