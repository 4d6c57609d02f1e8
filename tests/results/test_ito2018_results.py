"""The experiments of Ito et al. 2018: instances, learners, stored results and the sections of the report."""
import math

import numpy as np
import pytest
from conftest import refusals

from oslr_nb.practice.data import stored_result
from oslr_nb.results import experiments
from oslr_nb.results import ito2018 as pages
from oslr_nb.results.datasets import ct_like


@pytest.mark.parametrize("normalise", pages.NORMALISED)
def test_instances_are_what_the_paper_says(normalise):
    s = pages.instance(6, 3, 5, normalise, unit=False, m=9, T=40_000)
    assert s.A.shape == (6, 9) and (np.flatnonzero(s.u) == [0, 1, 2]).all() and np.allclose(s.stream.w, s.A @ s.u)
    size = {"spectral": np.linalg.norm(s.A, 2), "columns": np.linalg.norm(s.A, axis=0), "none": 1.0}[normalise]
    assert np.allclose(size, 1)
    assert abs(np.var(s.stream.y - s.stream.X @ s.stream.w) - 1) < 0.03 and np.abs(np.cov(s.stream.X.T) - np.eye(6)).max() < 0.04
    one = pages.instance(6, 3, 5, normalise, m=9, T=40_000)
    assert math.isclose(np.linalg.norm(one.stream.w), 1) and (one.stream.X == s.stream.X).all()  # the same raw draws
    assert np.allclose(one.u / np.linalg.norm(one.u), s.u / np.linalg.norm(s.u))
    assert (pages.instance(6, 3, 5, normalise, noise=0.0).stream.y == (lambda i: i.stream.X @ i.stream.w)(
        pages.instance(6, 3, 5, normalise))).all()


test_what_an_instance_refuses = refusals([
    ({"d": 0}, "d = 0"), ({"k": 101}, "there are m = 100 columns"), ({"normalise": "rows"}, "normalise"), ({"unit": 1}, "unit"),
    ({"T": 0}, "T = 0"), ({"seed": "x"}, "seed"), ({"m": 2.5}, "m = 2.5"), ({"noise": -1}, "noise = -1.0: it must be at least 0"),
], lambda kw: pages.instance(**{"d": 4, "k": 2} | kw))


def test_methods():
    "KKLP is the baseline; fitted steps are the printed ones times the length of x; every method buys k numbers."
    lr = pages.kklp(20, 8, 5000, seed=0)
    assert (lr.budget, lr.k1, lr.batch, lr.ridge) == (8, 4, 40, 1.0) and pages.kklp(20, 8, 5000, top=2, batch=10, seed=0).k1 == 2
    with pytest.raises(ValueError, match="it must be"): pages.kklp(20, 8, 5000, top=9)
    assert pages.kklp(20, 1, 5000).k1 == 1  # as the docstring says: it buys its special feature only
    s = pages.draw(pages.FITTED, 10, 8, 0)
    two, three = (pages.learner(m, s, (10, 5, 8), 0) for m in pages.METHODS[:2])
    assert math.isclose(two.rate, math.sqrt(10 * 8 * 10 / 7)) and math.isclose(three.rate, math.sqrt(10 * 8 * 100 / 3))
    assert math.isclose(pages.learner("Algorithm 2", s, (10, 5, 8), 0, "printed, D = 1").rate, math.sqrt(8 * 10 / 7))
    for d, keep, k in pages.ROWS:
        s = pages.draw(pages.FITTED, d, k, 0)
        for m in pages.METHODS:
            run = pages.simulate(pages.learner(m, s, (d, keep, k), 0), pages.features(m, s)[:200], s.stream.y[:200])
            assert run.n_observed.max() <= k
    for d, k in pages.SIZES:
        for m in pages.RIVALS:
            lr, X = pages.rival(m, pages.draw(pages.FITTED, d, k, 0), k, np.random.default_rng(0))
            assert pages.simulate(lr, X[:200], s.stream.y[:200]).n_observed.max() <= k


@pytest.mark.parametrize("method", pages.METHODS[:2])
def test_a_dictionary_of_another_size_gives_the_same_predictions(method):
    "Algorithm 3 on 2 A in a ball of radius 1 is Algorithm 3 on A in one of radius 2, its lambda four times larger."
    s = pages.draw(pages.FITTED, 10, 4, 1)
    twice = pages.replace(s, A=2 * s.A)
    runs = [pages.simulate(pages.learner(method, i, (10, 2, 4), 3), i.stream.X[:400], i.stream.y[:400]).predictions for i in (s, twice)]
    assert np.allclose(*runs) == (method == "Algorithm 2")
    if method == "Algorithm 3":
        scales = pages.scales_of(s, 1.0, 0.5, 2.0)
        assert (scales["radius"], scales["step"]) == (2.0, 4 / math.sqrt(10))


def test_cells_give_what_is_stored(monkeypatch):
    "One of each kind but that which the page runs again."
    kept = stored_result("ito2018_tables")[pages.FITTED]
    found = pages.ito2018_regrets([20, 2, 4], pages.FITTED, "adaptive, D = 1", list(pages.METHODS[:2]), 1)
    for m in pages.METHODS[:2]: assert np.allclose(found[m], kept["adaptive, D = 1"][m][3][:1], rtol=1e-3)
    kept = stored_result("ito2018_others")
    assert np.allclose(pages.ito2018_comparators(10, 4, 1)["sparse"], kept["comparators"]["10, 4"]["sparse"][:1], rtol=1e-3)
    assert np.allclose(pages.ito2018_kklp(10, 4, 1)["2, 40"]["KKLP"], kept["kklp"]["10, 4"]["2, 40"]["KKLP"][:1], rtol=1e-3)
    monkeypatch.setattr(pages, "LONG", (100, 1000))
    found = pages.ito2018_long([10, 5, 8], 1)
    assert found.keys() == pages.LONG_RUNS.keys() and len(found["Algorithm 3"][0]) == 2 and found["Algorithm 2"][0][1] > 0
    s = pages.long_stream([10, 5, 8], 0, 1)
    assert (s.A == pages.long_stream([10, 5, 8], 0, 50).A).all() and np.isclose(np.linalg.norm(s.A, 2), 1)
    curves, kept = pages.ito2018_curves([10, 2, 4], 5), stored_result("ito2018_figures")["figure 1a"]
    for m in pages.METHODS: assert np.allclose(curves[m]["five"], kept[m]["five"], rtol=1e-3, atol=0.01)


def test_experiments_run_small(monkeypatch):
    "Searches and times in a few hundred rounds."
    take = lambda loss, names, candidates: {"best": dict.fromkeys(names, 1.0), "label": "1", "losses": {"1": loss({})}}
    monkeypatch.setattr(experiments, "tune", take)
    for m in pages.RIVALS:
        found = pages.ito2018_rivals(10, 4, m, 2)
        assert len(found["untuned"]) == 2 and np.isfinite(found["tuned"]).all()
    s = ct_like(300, 0)
    monkeypatch.setattr(pages, "ct_data", lambda name: s)
    pages.ct_products.cache_clear()
    for m in pages.METHODS:
        found = pages.ito2018_ct("ct_like", m, 2)
        assert len(found["tuned"]["mean"]) == 100 and found["untuned"]["seconds"] > 0 and found["plain"] > 0
        assert ("one batch" in found) == ("KKLP" in m)
        for kind in found.keys() - {"tuning", "plain"}:
            low, mean, high = (np.array(found[kind][n]) for n in ("low", "mean", "high"))
            assert (low <= mean).all() and (mean <= high).all()
    pages.ct_products.cache_clear()
    monkeypatch.setattr(pages, "draw", lambda law, d, k, i: pages.instance(d, k, i, T=60))
    times = pages.ito2018_times([10, 2, 4], 3)
    for median, least, most in (t for by in times.values() for t in by.values()): assert 0 < least <= median <= most < 60
