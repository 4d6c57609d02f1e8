"""What anyone would write first: the fresh streams, the rivals, stored results."""
import json

import numpy as np
import pytest

from oslr_nb.practice.data import Stream, stored_result
from oslr_nb.results import experiments
from oslr_nb.results import rivals as pages

QUICK = ("short", "diabetes, products")


@pytest.mark.parametrize("name", [n for n in pages.FRESH if n != "thousand"])
def test_fresh_streams(name):
    s = pages.FRESH[name]
    a, again, other = (s.make(np.random.default_rng([i, 77]), s.T) for i in (0, 0, 1))
    assert a.X.shape == (s.T, s.d) and a.y.shape == (s.T,) and np.isfinite(a.X).all() and np.isfinite(a.y).all()
    assert (a.X == again.X).all() and (a.y == again.y).all() and (a.y != other.y).any() and 2 < s.budget < s.d


@pytest.mark.parametrize("name", pages.RIVALS)
def test_rivals_learn_and_look_at_no_label_before_they_predict(name):
    "On an easy stream each ends far below the variance, but for the mean; later rows do not change earlier losses."
    rng = np.random.default_rng(3)
    X = rng.standard_normal((4000, 8))
    y = X[:, 2] - 2 * X[:, 5] + 0.1 * rng.standard_normal(4000) + 3
    play = pages.RIVALS[name]
    loss = play(Stream(X, y), 4, 0)
    assert loss[-500:].mean() > 4 if name == "running mean" else loss[-500:].mean() < 0.1
    z = y.copy()
    z[3000:] += 50
    assert (play(Stream(X, z), 4, 0)[:3000] == loss[:3000]).all()


def test_the_pilot():
    "It predicts from whole rows, then from the columns that matter."
    rng = np.random.default_rng(4)
    X = rng.standard_normal((3000, 12))
    y = X[:, 2] - 2 * X[:, 5] + 0.1 * rng.standard_normal(3000)
    loss, rows = pages.pilot(Stream(X, y), 4, 3), pages.whole_rows(3000, 12, 4, 3)
    assert loss[40:rows].mean() < 0.1 and loss[rows:].mean() < 0.02 and loss[0] == y[0] ** 2


def test_the_section_writes_what_is_stored(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "SETTINGS", {n: pages.FRESH[n] for n in QUICK})
    assert pages.rival_cells(1) == {}
    text = pages.own_rivals({g: experiments.run_cells(c, tmp_path / "cells") for g, c in pages.rival_cells(5).items()}, tmp_path)
    found, kept = json.loads((tmp_path / "rivals.json").read_text()), stored_result("rivals")
    assert all(f"| {n} |" in text for n in QUICK) and "nan" not in text
    for n in QUICK:
        for m, x in found[n].items(): assert x == pytest.approx(kept[n][m], rel=1e-3), (n, m)


def test_auto_is_that_of_the_comparison():
    compared = stored_result("equal_cost")["OSLR"]
    for n, f in stored_result("rivals").items():
        if n in compared: assert f["auto"] == pytest.approx(compared[n]["own"]["auto"]["loss"], rel=1e-5), n
