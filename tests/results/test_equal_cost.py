"""The comparison at equal cost: streams, search, stored results."""
import json
import math

import numpy as np
import pytest

from oslr_nb.practice.data import stored_result
from oslr_nb.results import equal_cost as pages
from oslr_nb.results import experiments

QUICK = [n for n, s in pages.STREAMS.items() if not s.source]


@pytest.fixture(scope="module")
def kept(): return stored_result("equal_cost")


def test_streams_are_kept_apart(monkeypatch, tmp_path):
    "Those that were looked at; and the user's data are left out where they are not."
    assert not set(pages.DEVELOPMENT) & set(pages.HELD_OUT) and all(s.held == (n in pages.HELD_OUT) for n, s in pages.STREAMS.items())
    assert min(sum(n in side for n in QUICK) for side in (pages.DEVELOPMENT, pages.HELD_OUT)) >= 12
    assert all(2 < s.budget < s.d and 1 <= s.k <= s.budget and s.fails in ("", "i.i.d.", "bounded") for s in pages.STREAMS.values())
    assert not set(pages.TUNING) & set(range(pages.JUDGED))
    monkeypatch.setenv("OSLR_DATA", str(tmp_path))
    pages.fetched.cache_clear()
    names = [c.config["name"] for c in pages.full_cells(5)["OSLR"]]
    assert names == QUICK and pages.full_cells(1) == {} == pages.replay_cells(5)


@pytest.mark.parametrize("place", [(0.0, 0.0), (7.3, -2.2), (-8.0, 20.5)])
def test_the_search_ends_inside(place):
    calls = []
    def loss(kw):
        calls.append(kw)
        return 1 + sum((math.log2(v) - p) ** 2 for v, p in zip((kw["a"], kw["b"]), place, strict=True))
    found = pages.search(loss, ({"a": 1.0}, {"b": 1.0}))
    assert found["enclosed"] and found["candidates"] == len(calls) >= pages.CANDIDATES and found["loss"] < 1.5
    assert {"a": 1.0, "b": 1.0} in calls  # theory's values are among the candidates


def test_what_is_told():
    "It is true, nothing for auto, which a user gets from d and the budget; an optimum at an edge; the command knows the sections."
    s, told = pages.drawn("table 2", 0)
    assert told.radius == pytest.approx(np.linalg.norm(s.w), rel=0.05) and told.sigma == pytest.approx(0.1, rel=0.05)
    assert told.x_norm >= np.linalg.norm(s.X, axis=1).max() and told.y_max >= np.abs(s.y).max() and told.x_max >= np.abs(s.X).max()
    s, told = pages.drawn("diabetes", 0)
    lr, plain = pages.OURS["auto"].build(told, 7), pages.auto(10, 5, seed=pages.generator(7))
    assert type(lr) is type(plain) and lr.params == plain.params and (lr.d, lr.budget) == (s.X.shape[1], 5)
    assert not pages.search(lambda kw: 1 / (1 + kw["a"]), ({"a": 1.0},))["enclosed"]
    experiments.load_sections()
    assert {"own_equal_cost", "own_equal_cost_again"} <= set(experiments.plan(["own"])) | {"own_equal_cost"}
    assert "own_equal_cost" not in experiments.plan(["own"]) and "own_equal_cost" in experiments.plan(["own"], full=True)


@pytest.mark.parametrize("protocol", list(pages.GROUPS))
def test_every_learner_plays_within_the_budget(protocol):
    papers, ours = pages.group(protocol, "diabetes")
    assert papers and "auto" in ours
    for name, m in (papers | ours).items():
        got = pages.judged("diabetes", m, 1)
        most = 5 + 3 * (protocol == "POSLR")  # the features of committed weights come on top there
        assert 0 < got["bought"] <= most and len(got["loss"]) == 1, name


def test_stored_results(kept):
    "They have all streams, and come again."
    assert set(kept["OSLR"]) >= set(QUICK) and all(set(kept[p]) == set(pages.OTHER) for p in ("POSLR", "training-only"))
    for p, group in kept.items():
        for n, f in group.items():
            papers, ours = pages.group(p, n)
            assert set(f["papers"]) == set(papers) and set(f["own"]) == set(ours), (p, n)
            for by in f["papers"].values():
                assert by["search"]["candidates"] >= pages.CANDIDATES and by["search"]["enclosed"]
                assert len(by["theory"]["loss"]) == len(by["tuned"]["loss"]) == pages.JUDGED
    for p, n in (("OSLR", "diabetes"), ("OSLR", "narrow"), ("POSLR", "diabetes"), ("training-only", "diabetes")):
        steps = {m: by["search"]["best"] for m, by in kept[p][n]["papers"].items()}
        for m, x in pages.own_replay(p, n, steps, 1).items():
            before = kept[p][n]["own"][m] if m in kept[p][n]["own"] else kept[p][n]["papers"][m]["tuned"]
            assert x[0] == pytest.approx(before["loss"][0], rel=0.01), (p, n, m)  # where last digits differ, AERR draws other features


def test_report(monkeypatch, tmp_path):
    "The section of a full run writes both files and its tables; that of a short run compares."
    monkeypatch.setattr(pages, "STREAMS", {n: pages.STREAMS[n] for n in ("table 2", "narrow")})
    monkeypatch.setattr(pages, "OTHER", ("narrow",))
    monkeypatch.setattr(pages, "SHOWN", ("narrow",))
    monkeypatch.setattr(pages, "CANDIDATES", 4)
    few = {n: pages.PAPERS[n] for n in ("RDA1", "Hybrid")}
    ours = {n: m for n, m in pages.OURS.items() if n != "CoinBetting"} | {"CoinBetting": pages.OURS["RDA1, adaptive"]}
    two = lambda by: dict(list(by.items())[-2:])
    groups = {"OSLR": (few | pages.LINEAR, ours)} | {p: (two(g[0]), g[1]) for p, g in pages.GROUPS.items() if p != "OSLR"}
    monkeypatch.setattr(pages, "GROUPS", groups)
    monkeypatch.setattr(pages, "JUDGED", 2)
    cells = pages.full_cells(5)
    text = pages.own_equal_cost({p: experiments.run_cells(c, tmp_path / "cells") for p, c in cells.items()}, tmp_path)
    found = json.loads((tmp_path / "equal_cost.json").read_text())
    curves = json.loads((tmp_path / "equal_cost_curves.json").read_text())
    assert set(found["OSLR"]) == {"table 2", "narrow"} and "| table 2 |" in text and set(curves) == {"narrow"}
    assert np.shape(curves["narrow"]["auto"]) == (2, pages.POINTS) and "curve" not in json.dumps(found)
    monkeypatch.setattr(pages, "stored_result", lambda name: found)
    monkeypatch.setattr(pages, "REPLAYED", ("table 2",))
    again = {p: experiments.run_cells(c, tmp_path / "cells") for p, c in pages.replay_cells(1).items()}
    words = pages.own_equal_cost_again(again, tmp_path)
    gaps = [float(line.split("|")[4]) for line in words.splitlines()[2:]]
    assert len(gaps) == 3 and max(gaps) < 1e-5
