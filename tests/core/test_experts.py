"""Hedge, exponentiated gradient and limited advice: what rests on several arguments; the ends of their range."""

import numpy as np
from conftest import refusals

from oslr_nb.core.base.compiled import generator_words
from oslr_nb.core.mathematics import experts as e

ONE = np.ones((3, 2))


test_refused = refusals([
    (e.hedge, ([[1e300], [0]], 1e60), "sums of costs"),
    (e.hedge_regret_bound, ([[-800.0, 0]], [[0.5, 0.5]], 1.0), "a = 800"),
    (e.exponentiated_gradient, (lambda j, w: [1.0], 2, 1, 1), "gradient"),
    (e.exponentiated_gradient, (lambda j, w: [1e308], 1, 10.0, 3), "sum of gradients"),
    (e.exponentiated_gradient, (lambda j, w: [1.5e308], 1, 1e-9, 3), "sum of gradients"),
    *((e.limited_advice, (ONE, 1, *bad), words) for bad, words in
      (((1, 0, True), "M = 1.*centred"), ((0,), "eta"), (([1, 2, 3],), "nonincreasing"), (([1, 1],), "eta"), (([1, 1, 0],), "eta"))),
    *((e.limited_chances, bad, words) for bad, words in
      ((([0.5, 0.6], 1), "q = "), (([-0.5, 1.5], 1), "q = "), (([0.5, 0.5], 3), "M"), (([], 1), "q = "))),
    *((f, (9, 8, 1, True), "M = 1") for f in (e.bexp_rate, e.bound_bexp)),
])


def test_limited_advice():
    "One expert; all asked is Hedge; weights that underflow are never drawn; rates and seed are used, no other randomness is touched."
    played, asked, chances = e.limited_advice([[0.3], [1.0]], 1, 1.0, 0)
    assert played.tolist() == [0, 0] and asked.tolist() == [[0], [0]] and (chances == 1).all()
    losses = np.random.default_rng(0).random((50, 4))
    for centred in (False, True): assert np.allclose(e.limited_advice(losses, 4, 0.5, 1, centred)[2], e.hedge(losses, 0.5), rtol=1e-12)
    L, U, p, mark = np.array([1e6, 0.0, 1e300]), np.empty(1, np.int64), np.empty(3), np.full(3, -1)
    words = generator_words(np.random.default_rng(2))
    for t in range(50):
        e.bexp_draw(words, L, 1.0, U, p, mark, t)
        assert U[0] == 1 and p.tolist() == [0, 1, 0]
    losses = np.random.default_rng(0).random((30, 5))
    one, two = (e.limited_advice(losses, 2, eta, 7) for eta in (0.4, np.full(30, 0.4)))
    assert all((a == b).all() for a, b in zip(one, two, strict=True)) and (e.limited_advice(losses, 2, 0.4, 8)[0] != one[0]).any()
    falling = e.limited_advice(losses, 2, np.linspace(0.8, 0.1, 30), 7)[2]
    assert not np.allclose(falling[1], one[2][1]) and np.allclose(falling[0], 0.2)
