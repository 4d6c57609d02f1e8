"""Several labels over the lines of a service: lists of numbers, null for one that is not known; files, kills, refusals."""


import numpy as np
import pytest
from conftest import ask, command, refused

import oslr_nb as oslr
from oslr_nb.practice import service as sv

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 10))
Y = np.column_stack([X[:, 2] - X[:, 7], 1e3 + 100 * X[:, 5]]) + RNG.standard_normal((300, 2)) * [0.1, 10]
Y[RNG.random(Y.shape) < 0.15] = np.nan
plain = lambda y: [None if v != v else v for v in y.tolist()]


def fresh(): return sv.Service(oslr.auto(10, 4, labels=2, seed=3))


def test_lines_are_simulate():
    service, run = fresh(), oslr.simulate(oslr.auto(10, 4, labels=2, seed=3), X, Y)
    assert service.ready()["labels"] == 2
    for t in range(300):
        S = ask(service, "query", id=t)["features"]
        told = ask(service, "values", id=t, values=X[t, S].tolist(), level=0.9)
        assert told["prediction"] == run.predictions[t].tolist() and len(told["interval"]) == 2
        assert ask(service, "label", id=t, label=plain(Y[t]))["rounds"] == t + 1
    stats, weights, lr = ask(service, "stats"), ask(service, "weights"), service.learner
    for j in range(2):
        known = np.flatnonzero(~np.isnan(Y[:, j]))
        assert stats["mean_loss"][j] == pytest.approx(run.losses[known[1:], j].mean())
        before = np.cumsum(Y[known, j])[:-1] / np.arange(1, len(known))
        assert stats["mean_loss_of_mean_label"][j] == pytest.approx(np.mean((Y[known[1:], j] - before) ** 2))
    w, level = lr.linear_function()
    assert weights["weights"] == w[:, weights["features"]].tolist() and weights["intercept"] == level.tolist()
    assert not np.delete(w, weights["features"], axis=1).any()


def test_a_file_keeps_open_examples(tmp_path):
    service, waiting = fresh(), []
    for t in range(120):
        S = ask(service, "query", id=t)["features"]
        if t % 5: ask(service, "values", id=t, values=[None if t % 7 == 0 else X[t, S[0]], *X[t, S[1:]].tolist()])
        waiting.append(t)
        if len(waiting) > 6 and (i := waiting.pop(int(RNG.integers(6)))) % 5: ask(service, "label", id=i, label=plain(Y[i]))
    service.save(tmp_path / "s.npz")
    other = fresh()
    other.restore(tmp_path / "s.npz")
    assert other.losses == service.losses and other.rounds == service.rounds and set(other.open) == set(service.open)
    for t in list(service.open):
        said = [ask(s, "label", id=t, label=plain(Y[t])) if t % 5 else ask(s, "skip", id=t) for s in (service, other)]
        assert said[0] == said[1] and "error" not in said[0]
    for op in ("stats", "weights"): assert ask(service, op) == ask(other, op)


def test_for_people(tmp_path):
    service = fresh()
    S = ask(service, "query", id="a")["features"]
    ask(service, "values", id="a", values=X[0, S].tolist())
    for bad in ([1.0], [1, 2, 3], 1.0, "a", [1, "a"], [1, 1e300], [[1, 2]], {"a": 1}, True, None, []):
        assert "label" in ask(service, "label", id="a", label=bad)["error"]
    assert ask(service, "label", id="a", label=[None, None]) == {"id": "a", "rounds": 1}
    assert ask(service, "stats")["mean_loss"] == [None, None]
    lr = oslr.auto(10, 4, labels=2, seed=0)
    lr.save(tmp_path / "lr.npz")
    assert sv.Service(sv.first_learner(str(tmp_path / "lr.npz"), None, None, None)).ready()["labels"] == 2
    (tmp_path / "old.csv").write_text("a,b,y\n1,2,3\n")
    more = {"history": tmp_path / "old.csv", "target": "y"}
    with refused("history = "): sv.serve(10, 4, labels=2, **more)
    with refused("history = "): sv.serve(learner=str(tmp_path / "lr.npz"), **more)
    with refused("labels = 2: it must be left out"): sv.serve(10, 4, "own.CoinBetting", labels=2)


def test_places_of_what_is_wrong():
    "A number is named by its place, also behind null; a state of another number of labels by the learner."
    service = fresh()
    ask(service, "query", id=0)
    assert "values[2] = 1e+70" in ask(service, "values", id=0, values=[None, 1, 1e70, None])["error"]
    for bad in ([None, None, 10**400, 1], [None, "1", 2, 3], [None, True, 1, 2]):
        assert "it must be a list of numbers" in ask(service, "values", id=0, values=bad)["error"]
    ask(service, "values", id=0, values=[None, 1, 2, None])
    for bad in ([None, 1e70], [1e61, None], [None, -1e300]):
        assert f"label[{int(bad[0] is None)}] = " in ask(service, "label", id=0, label=bad)["error"]
    assert ask(service, "label", id=0, label=[None, 2])["rounds"] == 1


def test_states_of_other_learners(tmp_path):
    makers = [lambda: oslr.auto(10, 4, labels=2, seed=3), lambda: oslr.auto(10, 4, labels=3), lambda: oslr.auto(10, 4),
              lambda: oslr.auto(10, 4, classes=["a", "b"]), lambda: oslr.auto(10, 5, labels=2)]
    for i, make in enumerate(makers):
        sv.Service(make()).save(tmp_path / "s.npz")
        for j, other in enumerate(makers):
            if i == j: sv.Service(other()).restore(tmp_path / "s.npz")
            else:
                with refused("learner of the file = .*asked for now"): sv.Service(other()).restore(tmp_path / "s.npz")


@pytest.mark.parametrize(("words", "said"), [
    ("run t.csv --target a --budget 2 --target b", "target = ['a', 'b']: it must be one column"),
    ("run t.csv --target a --budget 2 --option labels=2", "a run predicts one column"),
    ("recommend t.csv --target a --budget 2 --target b", "target = ['a', 'b']: it must be one column"),
    ("serve --features 10 --budget 4 --labels 1", "labels = 1: "),
    ("serve --features 10 --budget 4 --labels 2 --classes a,b", "labels = 2: it must be None with classes"),
])
def test_what_commands_refuse(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,b,c,d\n1,2,3,4\n2,3,4,5\n")
    done = command(*words.split(), input="")
    assert done.exit_code == 2 and said in done.output and [p.name for p in tmp_path.iterdir()] == ["t.csv"]
