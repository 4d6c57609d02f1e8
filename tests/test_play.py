"""The figures that answer to the hand: their arithmetic is that of the Python learners, and they fill their boxes."""

import itertools
import json
import math
import re

import conftest
import numpy as np
import pytest
from conftest import TOP

from oslr_nb.core.game.run import best_sparse
from oslr_nb.core.mathematics.designs import bound_observe_moment
from oslr_nb.core.mathematics.geometry import top_k
from oslr_nb.core.mathematics.oco import dual_averaging_step
from oslr_nb.papers.ito2017.algorithm1 import algorithm_1

SCRIPT = TOP / "nbs" / "play.js"


def javascript(expression: str, **given):
    "The value of an expression in which the script's functions are `play` and the given values have their names."
    names = "".join(f"const {name} = {json.dumps(value)};" for name, value in given.items())
    return conftest.javascript(f"const play = require({json.dumps(str(SCRIPT))}); {names} const answer = {expression};")


@pytest.mark.parametrize(("budget", "top", "rate"), [(4, 2, 0), (5, 2, 3.0), (3, 0, 0), (6, 4, 0), (6, 0, 2.0)])
def test_the_learner_is_algorithm_1(budget, top, rate):
    "With the same draws: the same favourites, predictions and sums of gradients, for both kinds of steps."
    rng = np.random.default_rng(budget)
    X, radius = rng.standard_normal((60, 6)) / 3, 1.5
    y = X @ rng.standard_normal(6) / 2 + 0.1 * rng.standard_normal(60)
    how = {"budget": budget, "top": top, "rate": rate, "radius": radius, "seed": 7}
    run = javascript("play.algorithm1(X, y, how)", X=X.tolist(), y=y.tolist(), how=how)
    lam = np.array(run["lambdas"])
    if rate: np.testing.assert_allclose(lam, rate * np.sqrt(np.arange(1, 61)))
    else: lam[0] = lam[1]  # no gradient was seen yet, and the weights are zero whatever it is
    chosen = []
    def choose(t: int, w: np.ndarray) -> np.ndarray:
        chosen.append(w.copy())
        return np.array(run["bought"][t])
    predictions, h = algorithm_1(X, y, budget, top, lam, choose, radius)
    np.testing.assert_allclose(run["predictions"], predictions, atol=1e-10)
    np.testing.assert_allclose(run["h"], h, atol=1e-8)
    for S, w in zip(run["bought"], chosen, strict=True): assert len(set(S)) == budget and set(S[:top]) == set(top_k(w, top).tolist())
    if not rate:
        sums = [np.zeros(6)] + [algorithm_1(X[:t], y[:t], budget, top, lam[:t], choose, radius)[1] for t in range(1, 60)]
        squares = np.cumsum([np.sum((b - a) ** 2) for a, b in itertools.pairwise(sums)])
        np.testing.assert_allclose(run["lambdas"][1:], np.sqrt(squares) / radius, atol=1e-8)


def test_greedy_lots_prices_cuts_and_the_best_two():
    "Without random features outsiders are never bought, with one their pairs do not count; pairs come up equally often."
    for d, budget, top in ((20, 12, 0), (20, 12, 7), (9, 2, 0), (30, 30, 4)):
        assert math.isclose(sum(javascript(f"play.price({d}, {budget}, {top})").values()), bound_observe_moment(d, budget, top))
    rng = np.random.default_rng(0)
    for a, b in rng.uniform(0, 1.2, (5, 2)).tolist():
        found, cut = javascript(f"play.cutRatio({a}, {b})"), [a, 0] if a > b else [0, b]
        assert found["cut"] == cut and math.isclose(found["ratio"], (cut[0] ** 2 + (cut[1] - 1) ** 2) / (a**2 + (b - 1) ** 2))
    X = rng.integers(-3, 4, (10, 8)).astype(float)
    y = 2 * X[:, 1] - X[:, 4] + rng.standard_normal(10)
    assert math.isclose(javascript("play.bestTwo(X, y)", X=X.tolist(), y=y.tolist()), best_sparse(X, y, 2).loss)
    X, y = [[0.5, -0.4, 0.3, 0.2]] * 5, [0.7] * 5
    assert javascript("play.algorithm1(X, y, {budget: 2, top: 2}).bought", X=X, y=y) == [[0, 1]] * 5
    x, w = np.array(X[0]), dual_averaging_step(np.array(javascript("play.algorithm1(X, y, {budget: 3, top: 2}).h", X=X[:1], y=y[:1])), 1e9)
    assert np.count_nonzero(w) == 3 and np.sign(w[:2]).tolist() == np.sign(x[:2]).tolist()
    bought = javascript("play.algorithm1(X, y, {budget: 3, top: 1, seed: 3}).bought", X=[[0.0] * 5] * 6000, y=[0.0] * 6000)
    pairs = np.unique([sorted(S[1:]) for S in bought], axis=0, return_counts=True)
    assert {S[0] for S in bought} == {0} and len(pairs[0]) == 6 and np.abs(pairs[1] - 1000).max() < 5 * math.sqrt(6000 * 5 / 36)


def test_every_figure_has_its_box():
    "And each page that has a box loads the script, and says just before the box that it is filled on the site."
    boxes = re.findall(r'"(play-\w+)": \w+', SCRIPT.read_text())
    pages = {p: p.read_text() for p in (TOP / "nbs" / "book").glob("*.ipynb")}
    for text in pages.values():
        for before in text.split("<div id=\\\"play-")[:-1]: assert re.search(r"On the site[^\"]+\\n\",\s+\"\\n\",\s+\"$", before)
    found = [(box, p) for p, text in pages.items() for box in re.findall(r'<div id=\\"(play-\w+)\\">', text)]
    assert sorted(boxes) == sorted(box for box, _ in found) and all('src=\\"../play.js\\"' in pages[p] for _, p in found)
