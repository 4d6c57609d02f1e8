"""oslr.auto: what it makes, what it refuses, and that it knows no scale."""
import inspect

import numpy as np
import pytest
from conftest import refusals

import oslr_nb as oslr
from oslr_nb.own import choice

RNG = np.random.default_rng(0)
X = RNG.standard_normal((1500, 10))
Y = X[:, 2] - 0.5 * X[:, 7] + 0.1 * RNG.standard_normal(1500)


@pytest.mark.parametrize(("args", "kw", "made"), [
    ((64, 8), {}, "own.PairwiseLeastSquares"), ((2, 2), {}, "own.PairwiseLeastSquares"), ((64, 64), {}, "own.PairwiseLeastSquares"),
    ((1_000_000, 30), {}, "own.CoinBetting"), ((3000, 2001), {}, "own.CoinBetting"),
    ((64, 8), {"protocol": "POSLR"}, "own.PairwisePOSLR"), ((64, 8), {"protocol": "training-only"}, "own.PairwiseTrainingOnly"),
])
def test_what_it_makes(args, kw, made):
    lr = oslr.auto(*args, **kw)
    assert type(lr) is oslr.LEARNERS[made].cls and (lr.d, lr.budget) == args and lr.protocol == kw.get("protocol", "OSLR")


def test_defaults():
    "Pairs are kept while they fit; k is half of the budget; no argument but two is needed."
    whole, part = oslr.auto(4729, 30), oslr.auto(4730, 30)
    assert whole.rows is None and whole.pairs.nbytes <= choice.MEMORY < 48 * 4730**2
    assert part.rows == choice.MEMORY // (96 * 4730) and part.pairs.nbytes <= choice.MEMORY and oslr.auto(100_000, 30).rows >= 60
    assert oslr.auto(8192, 30, protocol="POSLR").rows is None
    assert [oslr.auto(20, b, protocol="POSLR").top for b in (3, 4, 5, 8, 9)] == [1, 2, 2, 4, 4]
    assert oslr.auto(20, 8, protocol="POSLR", k=6).top == 6
    needed = [n for n, p in inspect.signature(oslr.auto).parameters.items() if p.default is p.empty]
    assert needed == ["d", "budget"]


test_what_it_refuses_in_one_sentence = refusals([
    ({"d": 1}, "d = 1: it must be an integer from 2"), ({"budget": 1}, "budget = 1: it must be an integer from 2 to 10"),
    ({"budget": 11}, "budget = 11: it must be an integer from 2 to 10"), ({"protocol": "x"}, "protocol = 'x': it must be one of OSLR"),
    ({"k": 2}, "k = 2: it must be None for protocol = 'OSLR'"),
    ({"protocol": "POSLR", "budget": 2}, "budget = 2: it must be an integer from 3"),
    ({"protocol": "POSLR", "k": 4}, "k = 4: it must be an integer from 1 to 3"),
    ({"protocol": "training-only", "d": 5001}, "d = 5001: it must be an integer from 2 to 5000"),
    ({"protocol": "POSLR", "d": 1_000_000, "budget": 40}, "budget = 40: it must be at most 16 for d = 1000000"),
    ({"seed": "x"}, "seed"),
], lambda kw: oslr.auto(**{"d": 10, "budget": 5} | kw), form="^{}")


def test_it_learns_and_follows_a_jump():
    loss = lambda y: oslr.simulate(oslr.auto(10, 5, seed=0), X, y).losses[-200:].mean()
    assert loss(Y) < 0.03 and loss(np.r_[Y[:750], -Y[750:]]) < 0.1 * Y.var()
