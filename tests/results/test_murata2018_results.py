"""The experiments of Murata & Suzuki 2018: data, learners, stored results and the sections of the report."""
import itertools
import json

import numpy as np
import pytest
from conftest import refusals

from oslr_nb.core.game.driver import simulate
from oslr_nb.practice.data import stored_result
from oslr_nb.results import experiments
from oslr_nb.results import murata2018 as pages


@pytest.fixture
def small(monkeypatch):
    "The synthetic comparison with 40 features, 2000 examples and two candidates a method."
    monkeypatch.setattr(pages, "SIZES", {"d": 40, "k": 4, "budget": 10})
    for name, value in (("TRAIN", 2000), ("TEST", 500), ("POINTS", [500, 1000, 2000]), ("DANTZIG_POINTS", [1000, 2000])):
        monkeypatch.setattr(pages, name, value)
    monkeypatch.setattr(pages, "HYBRID", {"eta": (0.1, 0.2), "explore": (60,), "exploit": (100,), "steps": (5,)})
    monkeypatch.setattr(pages, "GROWING", {"eta": (0.2, 0.3), "batch": (60,), "growth": (1.3,)})
    monkeypatch.setattr(pages, "CONSTANT", {"eta": (0.2,), "batch": (60, 100), "growth": (1.0,)})
    monkeypatch.setattr(pages, "RATES", {"top": (3, 4), "radius": (2.0,), "rate": (20.0,), "keep": (4,)})
    monkeypatch.setattr(pages, "NORMS", (4.0, 8.0))
    pages.synthetic.cache_clear()
    yield
    pages.synthetic.cache_clear()


def test_the_generator_the_judge_and_signs():
    s = pages.gaussian_stream(20_000, 12, 5, 0.5, seed=1)
    assert s.w.tolist() == [1, 1, 1, -1, -1] + [0] * 7
    assert np.abs(np.cov(s.X.T) - np.eye(12)).max() < 0.04 and abs(np.std(s.y - s.X @ s.w) - 0.5) < 0.01
    again, other = (pages.gaussian_stream(20_000, 12, 5, 0.5, seed=i) for i in (1, 2))
    assert (s.X == again.X).all() and (s.y == again.y).all() and (s.X != other.X).any()
    whole = pages.gaussian_stream(10)
    assert whole.X.shape == (10, 500) and (whole.w > 0).sum() == 13 and (whole.w < 0).sum() == 12
    rng = np.random.default_rng(0)
    X, y, W = rng.standard_normal((50, 4)), rng.standard_normal(50), rng.standard_normal((3, 4))
    assert np.allclose(pages.Judge(X, y)(W), ((W @ X.T - y) ** 2).mean(axis=1))
    rng = np.random.default_rng(0)
    w = pages.sparse_truth(rng, 30, 0.04)
    assert sorted(np.abs(w[w != 0]).round(12)) == [0.2, 1, 1, 1, 1]
    X, y = pages.sign_examples(rng, 20_000, w)
    assert X.shape == (20_000, 30) and set(np.unique(X)) == {-1.0, 1.0} and np.abs(X.T @ X / len(X) - np.eye(30)).max() < 0.04
    assert abs(np.std(y - X @ w) - 1) < 0.02


test_what_the_generator_refuses = refusals([
    ({"T": 0}, "T = 0"), ({"k": 13}, "there are d = 12 features"), ({"seed": "x"}, "seed"), ({"noise": -1}, "noise = -1.0: it must be"),
], lambda kw: pages.gaussian_stream(**{"T": 5, "d": 12, "k": 3} | kw))


def test_methods():
    "Each stays within s', Dantzig with k0 = s' has the weights on top; moments and the path give the weights of the learner."
    s = pages.gaussian_stream(3000, 40, 4, seed=0)
    learners = [pages.murata2018.Hybrid(40, 10, 4, eta=0.1, explore=(2, 40), exploit=(5, 50), growth=1.5),
                pages.murata2018.Exploration(40, 10, 4, eta=0.3, batch=40, growth=1.3),
                pages.ito2017.RDA1(40, 10, top=4, x_norm=20.0, y_max=40.0)]
    for lr in learners: assert simulate(lr, s.X, s.y).n_observed.max() <= 10
    within, above = (pages.kale2017.DantzigPOSLR(40, k0, 4, x_max=7.0, rule="printed", C=1e-3, radius=4.0, seed=0) for k0 in (6, 10))
    assert simulate(within, s.X, s.y).n_observed.max() <= 10 < simulate(above, s.X, s.y).n_observed.max() <= 14
    s, kw = pages.gaussian_stream(1023, 20, 3, seed=3), {"radius": 3.0, "x_max": 7.0}
    found = pages.dantzig_weights(s, [1023], 12, 3, **kw, least=1e-3, seed=5, count=4, norms=(3.0,))
    lr = pages.kale2017.DantzigPOSLR(20, 12, 3, **kw, rule="printed", C=1e-3 * 2**1.5, seed=5)
    simulate(lr, s.X, s.y)
    both = pages.dantzig_weights(s, [1023], 12, 3, **kw, least=1e-3, seed=5, count=4, norms=(2.0, 3.0))
    assert len(both) == 8 and all(np.abs(W).sum() <= 2 + 1e-9 for n, W in both.items() if n.endswith("norm=2"))
    assert all(np.allclose(W, both[n]) for n, W in found.items())
    assert len(found) == 4 and np.allclose(list(found.values())[3][0], lr.coef_) and lr.coef_.any()


def test_a_small_comparison(small):
    "All methods with all parameters, the choice, the tables."
    cells = [json.loads(json.dumps(pages.murata2018_synthetic(i))) for i in range(3)]
    data = pages.join_synthetic({"judged": cells[:2], "tuning": cells[2:]})
    for way in ("separate", "paper"):
        assert list(data[way]) == list(pages.METHODS)
        for m, by in data[way].items():
            assert np.shape(by["mse"]) == (2, 2 if "Dantzig" in m else 3) and by["label"] in cells[0]["mse"][m]
            assert by["candidates"] == len(cells[0]["mse"][m]) >= 2
    assert data["start"]["RDA"]["label"] in cells[0]["mse"]["RDA"]
    last = lambda c, m: min(c["mse"][m].values(), key=lambda x: x[-1])[-1]
    for c in cells: assert 0.7 < c["floor"] < last(c, "Hybrid") < c["zero"]


def test_the_choice_of_parameters_exponents_and_the_first_below():
    draw = lambda a, b: {"valid": {"m": {"a": [9.0, a], "b": [0.0, b]}}, "test": {"m": {"a": [1.0, 2.0], "b": [3.0, 4.0]}}}
    draws = [draw(1.0, 2.0), draw(1.0, 0.5)]
    assert pages.best_label(draws[:1], "m", "valid") == "a" and pages.best_label(draws[1:], "m", "valid") == "b"
    assert pages.best_label(draws, "m", "valid") == "a"
    assert pages.best_label(draws, "m", "valid", places=pages.WHOLE) == "b"  # 1 against 1.25
    assert pages.picked(draws, draws[1:], ("m",), "valid", ("test",)) == {"m": {"label": "a", "candidates": 2, "test": [[1.0, 2.0]]}}
    values, rng = np.array([1.0, 2.0, 4.0, 8.0]), np.random.default_rng(0)
    counts = 100 * values**-1.5 * np.exp(0.1 * rng.standard_normal((50, 4)))
    mean, low, high = pages.exponents(values, counts)
    assert low < -1.5 < high and abs(mean + 1.5) < 0.05 and high - low < 0.1
    N = np.array(pages.rounds_of(pages.CAP // 2))
    rda = [[(3 * N**-0.5).tolist()] * 2, [(2 * N**-0.7).tolist()] * 2]
    assert np.allclose(pages.rda_exponent(rda), -0.7) and np.allclose(pages.envelope(rda)[-1], 2 * N[-1] ** -0.7)
    N = pages.rounds_of(pages.CAP)
    assert pages.first_below([3.0, 1.0, 2.0], 1.5) == N[1] and pages.first_below([3.0, 1.0], 0.5) is None
    assert all(b <= 1.12 * a for a, b in itertools.pairwise(N)) and N[0] == 200


def test_cells_give_what_is_stored():
    "Runs of the exponents, played again."
    data, found = stored_result("murata2018_slopes"), pages.murata2018_slope("width", 100, 40)
    j = pages.SLOPES["width"]["values"].index(100)
    for m in found: assert found[m] == data["width"][m][j]
    assert np.allclose(pages.murata2018_rda(pages.RDA_STEPS[1], 1), data["rda"][1][:1], rtol=1e-3)
    assert np.allclose(pages.murata2018_rda(pages.RDA_STEPS[1], 1, wide=2.0), data["rda wide"][1][:1], rtol=1e-3)


def test_real_data_run_small(monkeypatch):
    "A split of a short stand-in, all methods with few parameters."
    s = pages.ct_like(6000, 0)
    monkeypatch.setattr(pages, "real_data", lambda name: pages.Stream(s.X[:, s.X.std(axis=0) > 0], s.y))
    monkeypatch.setattr(pages, "REAL_POINTS", [2000, 4800])
    monkeypatch.setattr(pages, "REAL_DANTZIG", [4800])
    monkeypatch.setattr(pages, "REAL_HYBRID", {"eta": (0.02, 0.04), "explore": (20,), "exploit": (50,), "steps": (10,)})
    monkeypatch.setattr(pages, "REAL_EXPLORATION", {"eta": (0.02, 0.04), "batch": (25,), "growth": (1.0,)})
    monkeypatch.setattr(pages, "REAL_RATES", {"top": (5,), "radius": (1.0,), "rate": (400.0,), "keep": (10, 20)})
    cells = [json.loads(json.dumps(pages.murata2018_real("ct_like", i))) for i in range(2)]
    for c in cells:
        assert c["full"]["least squares"] < c["full"]["greedy"] < 1 < c["smoothness"]
        assert min(x[-1] for x in c["test"]["Hybrid"].values()) < 1
    text = pages.table_real({"ct_like": pages.join_real(cells)})
    assert "nan" not in text and text.count("\n") == len(pages.REAL_METHODS) + 4


def test_blog_feedback(monkeypatch, tmp_path):
    "A run without it says so, and leaves what is stored of it as it is; a damaged file is seen."
    monkeypatch.setenv("OSLR_DATA", str(tmp_path))
    cells = experiments.SECTIONS["murata2018_real_figure"].cells(1)
    assert pages.real_names() == ["ct_like"] == list(cells) and not list(tmp_path.iterdir())
    monkeypatch.setattr(pages, "join_real", lambda cells: cells)
    text = pages.murata2018_real_figure({"ct_like": stored_result("murata2018_ct_like")}, tmp_path)
    assert "Not at hand, left out: blog_feedback (see `oslr_nb.results.datasets.blog_feedback`)" in text
    assert [p.name for p in tmp_path.iterdir()] == ["murata2018_ct_like.json"]
    def damaged(): raise ValueError("not the data set")
    monkeypatch.setattr(pages, "blog_feedback", damaged)
    with pytest.raises(ValueError, match="not the data set"): pages.real_names()
