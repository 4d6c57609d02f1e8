"""oslr serve: equal to plain play, any order of examples, kill -9 and restart, signals, nonsense on the line, refusals."""

import copy
import itertools
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import urllib.request

import numpy as np
import pytest
from conftest import ask, command, refused

import oslr_nb as oslr
from oslr_nb.core.base.storage import read_file, write_file
from oslr_nb.core.game.environment import split_query
from oslr_nb.own.choice import make_learner
from oslr_nb.practice import service as sv

RNG = np.random.default_rng(0)
D, BUDGET = 10, 4
X = RNG.standard_normal((400, D)) * 3 + 1
Y = X[:, 2] - 0.5 * X[:, 7] + 0.1 * RNG.standard_normal(400)
ARGS = ["--features", str(D), "--budget", str(BUDGET), "--seed", "3"]


def fresh(learner="auto", budget=BUDGET, seed=3): return sv.Service(make_learner(learner, D, budget, seed))


def play(service, rows, ids=None):
    "Rounds one after the other; the predictions."
    out = []
    for t in rows:
        name = t if ids is None else ids[t]
        S = ask(service, "query", id=name)["features"]
        out.append(ask(service, "values", id=name, values=X[t, S].tolist())["prediction"])
        assert ask(service, "label", id=name, label=Y[t])["id"] == name
    return np.array(out)


ROUND = """{{"op": "query", "id": {0}}}
{{"op": "values", "id": {0}, "values": [1, 2, 3, 4]}}
{{"op": "label", "id": {0}, "label": {0}}}
"""


class Process:
    "The command in a process of its own, with pipes."

    def __init__(self, *args):
        command = [sys.executable, "-m", "oslr_nb", "serve", *ARGS, *map(str, args)]
        self.p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.p.stdout.readline()
        assert line, self.p.stderr.read().decode()
        self.ready = json.loads(line)

    def send(self, *lines):
        self.p.stdin.write(b"".join(line + b"\n" for line in lines))
        self.p.stdin.flush()

    def answers(self, n): return [self.p.stdout.readline() for _ in range(n)]

    def end(self, number=None):
        if number is None: self.p.stdin.close()
        else: self.p.send_signal(number)
        code, rest, err = self.p.wait(), self.p.stdout.read(), self.p.stderr.read()
        for f in (self.p.stdin, self.p.stdout, self.p.stderr): f.close()
        return code, rest, err


def session(seed=5, n=120, most=9):
    "Lines and answers of a session with up to nine open examples, labels in any order, skips, and nonsense in between."
    rng, service, lines, answers, waiting = np.random.default_rng(seed), fresh(), [], [], {}
    def say(op, **fields):
        lines.append(json.dumps({"op": op, **fields}).encode())
        answers.append(service.answer(lines[-1]).encode() + b"\n")
        return json.loads(answers[-1])
    t, learnt = 0, []
    while len(learnt) < n:
        u, names = rng.random(), list(waiting)
        if not names or (u < 0.4 and len(names) < most):
            name = t if t % 2 else f"é{t}"
            waiting[name] = [t, say("query", id=name)["features"], False]
            t += 1
            continue
        name = names[rng.integers(len(names))]
        row, S, told = waiting[name]
        if u > 0.97: say("dance", id=name)
        elif u > 0.95: del waiting[name], say("skip", id=name)["id"]
        elif not told:
            say("values", id=name, values=X[row % 400, S].tolist())
            waiting[name][2] = True
        else:
            say("label", id=name, label=Y[row % 400])
            learnt.append((S, row % 400))
            del waiting[name]
    return service, lines, answers, learnt


def same_state(a, b):
    (h, p), (g, q) = a.learner.state(whole=True), b.learner.state(whole=True)
    assert h == g and all(np.array_equal(p[name], q[name]) for name in p)
    one, other = ({k: str(v) for k, v in vars(s).items() if k not in ("learner", "calls")} for s in (a, b))
    assert one == other


@pytest.mark.parametrize("learner", ["auto", "own.CoinBetting", "ito2017.UniformRDA", "ito2018.LinearProjection"])
def test_one_after_the_other_is_play(learner, tmp_path):
    "With a restart in the middle of each round."
    service = fresh(learner)
    scale = 1e-3  # some learners declare scales
    lr, out = make_learner(learner, D, BUDGET, 3), []
    for t in range(150):
        asked = ask(service, "query", id=t)
        service.save(tmp_path / "s.npz")
        (service := fresh(learner, seed=8)).restore(tmp_path / "s.npz")
        values = [float(np.array(row) @ X[t]) * scale for row in asked.get("measurements", [])] + (X[t, asked["features"]] * scale).tolist()
        assert len(split_query(lr.query(), D)[0]) == len(asked.get("measurements", []))
        out.append(ask(service, "values", id=t, values=values)["prediction"] == lr.predict(np.array(values)))
        ask(service, "label", id=t, label=Y[t] * scale)
        lr.update(Y[t] * scale)
    assert all(out) and ask(service, "stats")["rounds"] == 150


def test_it_is_simulate_through_pipes():
    run, out, p = oslr.simulate(oslr.auto(D, BUDGET, seed=3), X[:120], Y[:120]), [], Process()
    p.send(b'{"op":"query","id":0}')
    for t in range(120):
        S = json.loads(p.answers(1)[0])["features"]
        p.send(json.dumps({"op": "values", "id": t, "values": X[t, S].tolist()}).encode())
        out.append(json.loads(p.answers(1)[0])["prediction"])
        p.send(json.dumps({"op": "label", "id": t, "label": Y[t], "query": t + 1}).encode())
    assert p.ready["ready"] == "own.PairwiseLeastSquares" and (np.array(out) == run.predictions).all()
    last = json.loads(p.answers(1)[0])
    assert last["learnt"] == 119 and last["id"] == last["rounds"] == 120
    p.send(b'{"op":"stats"}', b'{"op":"weights"}', b'{"op":"quit"}')
    stats, weights, ended = map(json.loads, p.answers(3))
    assert stats["mean_loss"] == pytest.approx(run.losses[1:].mean()) and stats["open"] == 1 and ended["ended"]
    assert stats["mean_loss_of_mean_label"] == pytest.approx(((np.cumsum(Y[:119]) / np.arange(1, 120) - Y[1:120]) ** 2).mean())
    lr = oslr.auto(D, BUDGET, seed=3)
    oslr.simulate(lr, X[:120], Y[:120])
    assert (lr.coef_[weights["features"]] == weights["weights"]).all() and lr.intercept_ == weights["intercept"]
    assert p.end() == (0, b"", b"")


def test_what_is_predicted_before_the_first_label_is_not_judged(tmp_path):
    "Labels far from 0, three examples open before the first of them."
    found = []
    for shift in (0.0, 1e6):
        service = fresh()
        tell = lambda t, service=service: ask(service, "values", id=t, values=X[t, service.open[t].features].tolist())
        label = lambda t, service=service, shift=shift: ask(service, "label", id=t, label=Y[t] + shift)
        for t in range(40):
            ask(service, "query", id=t)
            tell(t)
            if t == 3:
                service.save(tmp_path / "s.npz")
                service.restore(tmp_path / "s.npz")
            if t >= 3: label(t)
        for t in range(3): label(t)
        found.append(ask(service, "stats"))
    assert found[0]["rounds"] == 40 and service.losses[0][3] == 36
    for name, rel in (("mean_loss", 0.1), ("mean_loss_of_mean_label", 1e-6)):
        assert found[0][name] == pytest.approx(found[1][name], rel=rel)


GIVEN = [("auto", D), ("auto", 4), ("own.CoinBetting", 4), ("own.CoinBetting", D), ("ito2017.UniformRDA", 4), ("ito2017.GreedyRDA", 4),
         ("ito2017.RDA2", 4), ("ito2017.RDA3", 4)]


@pytest.mark.parametrize(("learner", "budget"), GIVEN)
def test_late_labels_are_learnt_in_their_order(learner, budget, tmp_path):
    """Labels come 30 examples late and out of order, each second round is put aside after its query, and there is a restart on the way;
    beside it the calls by hand, on a learner with other draws."""
    X, Y = (globals()[name] * (1e-2 if "RDA" in learner else 1) for name in "XY")
    rng, service, lr, open_ = np.random.default_rng(5), fresh(learner, budget), make_learner(learner, D, budget, 8), {}
    for t in range(300):
        S = ask(service, "query", id=t)["features"]
        open_[t] = S, service.learner.explored_
        if t % 2: ask(service, "query", id=-t)
        assert ask(service, "values", id=t, values=X[t, S].tolist())["prediction"] == lr.predict_from(S, X[t, S])
        if t % 2: ask(service, "skip", id=-t)
        if t == 150:
            service.save(tmp_path / "s.npz")
            (service := fresh(learner, budget, seed=9)).restore(tmp_path / "s.npz")
        if len(open_) > 30:
            name = rng.choice(list(open_)).item()
            ask(service, "label", id=name, label=Y[name])
            S, explored = open_.pop(name)
            lr.learn(S, X[name, S], Y[name], explored=explored)
    service.learner.skip()
    names = {"auto": ("pairs", "single", "shares", "arms"), "own.CoinBetting": ("w", "bets", "buf"), "ito2017.RDA2": ("h", "H", "mean"),
             "ito2017.RDA3": ("h", "H", "mean")}.get(learner, ("h", "buf"))
    for name in names: assert np.array_equal(getattr(lr, name), getattr(service.learner, name)), name


@pytest.mark.parametrize(("learner", "options"), [("own.CoinBetting", {}), ("ito2017.RDA1", {"step": 300.0, "x_norm": 30.0})])
def test_late_favourites_change_places(learner, options, tmp_path):
    "The features of an old query have been favourites and are none now: the favourites stay the best, and every state is loaded again."
    rng, late = np.random.default_rng(0), []
    X = rng.standard_normal((600, 64)) / (1 if "own" in learner else 20)
    y, lr = X[:, :8] @ rng.standard_normal(8) / 5, oslr.LEARNERS[learner].cls(64, 8, top=4, **options, seed=0)
    for t in range(600):
        late.append((t, lr.query()))
        lr.skip()
        if len(late) <= 10: continue
        s, S = late.pop(0)
        lr.learn(S, X[s, S], y[s])
        assert set(lr.buf[: lr.top]) == set(oslr.geometry.top_k(lr.score if "own" in learner else lr.h, lr.top))
        lr.set_state(*lr.state())
    lr.save(tmp_path / "a.npz")
    assert (oslr.load(tmp_path / "a.npz").query() == lr.query()).all()


def late(name, *sizes, **kw): return lambda: getattr(oslr.ito2017, name)(*sizes, **kw)


@pytest.mark.parametrize("make", [late("RDA1", 5, 4, top=2, step=9), late("UniformRDA", 5, 3, step=9), late("RDA2", 5, 3, top=0),
                                  late("RDA2", 5, 3, top=1)])
def test_late_estimates_are_unbiased(make):
    """The mean of what is learnt over all random features, with favourites that are none by now, is the gradient at the weights of today:
    of dual averaging, and of an explorer, which learns from rounds that explored alone."""
    h, x, y, sums = np.array([0.3, -0.1, 0.2, 0.5, -0.4]), np.array([0.5, -0.2, 0.4, 0.1, -0.6]), 0.3, []
    explorer, top = {"explored": True} if hasattr(make(), "H") else {}, getattr(make(), "top", 0)
    for V in itertools.combinations(range(top, 5), make().budget - top):
        lr = make()
        lr.h[:] = h
        if not explorer: lr.num[[0, 1]] = 5.0, h @ h
        S, w = [*range(top), *V], lr.coef_
        lr.learn(S, x[S], y, **explorer)
        sums.append(lr.h - h)
        if not explorer: continue
        w = lr.w.copy()
        lr.learn(S, x[S], y, explored=False)
        assert (lr.h == h + sums[-1]).all() and lr.H.any() and lr.num[0] == 2 and lr.num[3] == 1
    assert np.abs(np.mean(sums, axis=0) - 2 * (w @ x - y) * x).max() < 1e-12 < np.abs(w).min()


def test_late_explorations_are_as_many_as_the_squares_say():
    lr, waiting, explored, x = oslr.ito2017.RDA2(4, 3), [], 0, np.array([0.5, -0.2, 0.4, 0.1])
    for _ in range(1000):
        waiting.append((lr.query(), lr.explored_))
        explored += lr.explored_
        lr.skip()
        if len(waiting) > 20:
            S, kind = waiting.pop(0)
            lr.learn(S, x[S], 0.3, explored=kind)
    assert 31 <= explored <= 31 + 21


def test_questions_may_be_repeated_and_open_examples_are_limited(monkeypatch):
    service = fresh()
    first = ask(service, "query", id="a")
    ask(service, "query", id="b")
    assert ask(service, "query", id="a") == first
    told = ask(service, "values", id="a", values=[1, 2, 3, 4])
    assert ask(service, "values", id="a", values=[1, 2, 3, 4]) == told
    assert "the same as before" in ask(service, "values", id="a", values=[1, 2, 3, 5])["error"]
    assert "the label comes last" in ask(service, "label", id="b", label=1)["error"]
    assert ask(service, "skip", id="a")["skipped"] == 1 and "open example" in ask(service, "label", id="a", label=1)["error"]
    monkeypatch.setattr(sv, "MOST_OPEN", 3)
    service = fresh()
    for t in range(3): ask(service, "query", id=t)
    assert "it must be at most 3" in ask(service, "query", id=3)["error"]
    ask(service, "values", id=0, values=[0, 0, 0, 0])
    assert ask(service, "label", id=0, label=1, query=3)["id"] == 3


@pytest.mark.parametrize("learner", ["ito2018.LinearProjection"])
def test_other_learners_hold_one_example(learner):
    service, plain = fresh(learner), fresh(learner)
    asked = ask(service, "query", id=1)
    for _ in range(2): assert "holds one example at a time" in ask(service, "query", id=2)["error"]
    values = [0.01] * (len(asked["features"]) + len(asked.get("measurements", [])))
    ask(plain, "query", id=1)
    assert ask(service, "values", id=1, values=values) == ask(plain, "values", id=1, values=values)
    assert ask(service, "label", id=1, label=0.5, query=2) == ask(plain, "label", id=1, label=0.5, query=2)


def test_quick_reading_is_careful_reading(monkeypatch):
    "Lines that both read, lines that one of them alone could misread: the same object or the same sentence."
    lines = [b"", b"[" * 100_000, b"9" * 10_000, b'{"op":"query","id":1,"id":2}', b'{"op":"label","id":8,"label":NaN}',
             b'{"op":"stats"} {}', b'{"op":"values","id":7,"values":[1e999,0,0,0]}', b'{"op":"values","id":7,"values":[1e300,0,0,0]}',
             b'\xff\xfe{"op":"stats"}', b'{"op":"label","id":8,"label":1e61}', b'{"op":"label","id":8,"label":true}',
             b'{"op":"query","id":"a:b"}', b'{"op":"query","id":"\\ud800"}', b' {"op":"stats"}\t\r', b'{"op":"label","id":8,"label":1e400}',
             b'{"op":"label","id":8,"label":-0.0}', b'{"op":"query","id":"x","op":"query"}', b'{"op":"query","\\u0069d":1,"id":2}',
             b"\xef\xbb\xbf{}", b'{"a":{"b":1,"b":2}}']
    numbers = np.random.default_rng(2).integers(0, 2**64, 300, np.uint64).view(np.float64)
    lines += [f'{{"op":"values","id":7,"values":[{v!r}]}}'.encode() for v in numbers[np.isfinite(numbers)].tolist()]
    def said(read, line):
        try: return repr(read(line))
        except ValueError as error: return str(error)
    quick = [said(sv.read_object, line) for line in lines]
    monkeypatch.setattr(sv.orjson, "loads", lambda line: int("no JSON"))
    for line, found in zip(lines, quick, strict=True): assert said(sv.read_object, line) == found, line
    monkeypatch.undo()
    assert "it must be a text" in ask(fresh(), "query", id=2**64)["error"]


ENDS = {"SIGTERM": 0, "SIGINT": 130, "SIGUSR1": None, "SIGHUP": -1, "SIGQUIT": -3}  # exit codes, None where the service continues


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize("http", [False, True])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("end", [*ENDS, "input", "half a line", "quit", "output closed", "errors closed, SIGUSR1", "two signals"])
def test_the_ends_of_a_service(end, keep, http, tmp_path):
    "Each signal and each end of input, with and without a state, over pipes and HTTP: code, output, what is said and what is kept."
    words = [sys.executable, "-m", "oslr_nb", "serve", *ARGS, *["--state", tmp_path / "s.npz"] * keep, *["--http", "0"] * http]
    for number in (getattr(signal, name) for name in ENDS):  # a test run under nohup would hand on that it is ignored
        if signal.getsignal(number) == signal.SIG_IGN: signal.signal(number, signal.SIG_DFL)
    p = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    ready = json.loads(p.stdout.readline())

    def say(op, **fields):
        line = json.dumps({"op": op, **fields}).encode()
        if not http:
            p.stdin.write(line + b"\n")
            p.stdin.flush()
            return json.loads(p.stdout.readline())
        with urllib.request.urlopen(urllib.request.Request(ready["http"], line, {"Content-Type": "application/json"})) as answer:
            return json.load(answer)

    assert len(say("query", id=1)["features"]) == BUDGET
    idle = [socket.create_connection(("127.0.0.1", int(ready["http"].split(":")[-1][:-1])))] if http else []  # asks nothing
    if end in ENDS: p.send_signal(getattr(signal, end))
    elif end == "half a line": p.stdin.write(b'{"op": "stats"}')
    elif end == "quit": say("quit")
    elif end == "output closed": p.stdout.close()
    elif end == "two signals": [p.send_signal(number) for number in (signal.SIGTERM, signal.SIGINT)]  # the second perhaps after the end
    elif end.startswith("errors"):
        p.stderr.close()
        p.send_signal(signal.SIGUSR1)
    lasts = "SIGUSR1" in end or (http and end in ("input", "half a line", "output closed"))  # over HTTP nobody looks at the pipes
    if lasts: assert say("stats")["open"] == 1
    p.stdin.close()
    if lasts and http: say("quit")
    code, out, err = p.wait(60), b"" if p.stdout.closed else p.stdout.read(), b"" if p.stderr.closed else p.stderr.read()
    assert code in ((0, 130, -2) if end == "two signals" else (ENDS.get(end) or 0,))
    assert out == b"" if http or end != "half a line" else json.loads(out)["open"] == 1
    assert err == (b"state = None: it must be a file (--state FILE).\n" if end == "SIGUSR1" and not keep else b"")
    if keep:
        again = Process("--state", tmp_path / "s.npz")
        assert again.ready["open"] == 1 and again.end() == (0, b"", b"")
    for f in (p.stdout, p.stderr, *idle): f.close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no file that is always full")
@pytest.mark.parametrize("http", [[], ["--http", "0"]])
def test_an_output_that_is_full_and_an_input_that_is_closed(http, tmp_path):
    "They are named, not the state; standard error that is closed takes nothing into the answers."
    words = [sys.executable, "-m", "oslr_nb", "serve", *ARGS, *http]
    for more in ([], ["--state", tmp_path / "s.npz"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([*words, *more], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 2 and done.stderr.count(b"\n") == 1
        assert done.stderr.startswith(b"sink = 1: it must be a file descriptor that can be written")
    if http: return
    done = subprocess.run(words, stdin=None, capture_output=True, preexec_fn=lambda: os.close(0))
    assert done.returncode == 2 and done.stderr.startswith(b"source = 0: it must be a file descriptor that can be read")
    p = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=lambda: os.close(2))
    p.stdout.readline()
    p.send_signal(signal.SIGUSR1)
    out, _ = p.communicate(b'{"op": "stats"}\n')
    assert p.returncode == 0 and json.loads(out)["lines"] == 1


def test_sessions_are_the_same(tmp_path):
    "Of a service that is saved and restored after every line, and of one whose lines are found however they arrive."
    whole, lines, answers, _ = session(n=25)
    service = fresh()
    for line, answer in zip(lines, answers, strict=True):
        service.save(tmp_path / "s.npz")
        service = fresh(seed=99)
        service.restore(tmp_path / "s.npz")
        assert service.answer(line).encode() + b"\n" == answer
    same_state(whole, service)
    _, lines, answers, _ = session(n=8)
    p, data = Process(), b"".join(line + b"\n" for line in lines) + b"[" * (2 * sv.LONGEST) + b'\n{"op":"stats"}'
    rng = np.random.default_rng(0)
    while data:
        n = int(rng.integers(1, 400)) if len(data) < 5000 or data[0:1] != b"[" else 100_000
        os.write(p.p.stdin.fileno(), data[:n])
        data = data[n:]
    assert p.answers(len(lines)) == answers
    p.p.stdin.close()
    long, stats = map(json.loads, p.answers(2))
    assert "at most" in long["error"] and stats["lines"] == len(lines) + 2 and p.end()[0] == 0


@pytest.mark.parametrize(("args", "words"), [
    (["--budget", "11"], "budget = 11: it must be"), (["--learner", "nobody"], "learner = 'nobody': it must be \"auto\", a key"),
    (["--learner", "kale2017.DantzigOSLR"], "it must be callable with d, budget and seed= alone"),
    (["--every", "-1"], "every = -1: it must be"), (["--learner", "own.PairwiseTrainingOnly"], "it must be one of protocol OSLR"),
    (["--state", "/dev/null/x"], "it must be"), (["--state", "/nowhere/at/all"], "it must be a file that can be written"),
    (["--seed", "-1"], "seed = -1"), (["--state", ""], "it must be"),
])
def test_wrong_arguments(args, words):
    done = command("serve", *ARGS, *args)
    assert done.exit_code == 2 and words in done.output and done.output.count("\n") == 1, done.output


def test_files(tmp_path):
    "A learner from a file goes on, its sizes may be left out and are refused if they are others; other files are refused."
    path = str(tmp_path / "m.npz")
    play(before := fresh(), range(40))
    before.learner.save(path)
    served = sv.Service(sv.first_learner(path, None, None, None))
    found, plain = (play(service, range(40, 60)) for service in (served, sv.Service(oslr.load(path))))
    assert np.array_equal(found, plain) and not np.array_equal(found, play(fresh(), range(40, 60)))
    assert sv.first_learner(path, D, BUDGET, None).d == D
    for args, words in [
        ((path, D + 1, None, None), "features = 11: it must be 10, as in"), ((path, D, 2, None), "budget = 2: it must be 4"),
        ((path, None, None, 3), "seed = 3: it must be left out"), (("auto", None, 4, None), "features = None: it must be given"),
        ((f"{tmp_path}/no.npz", None, None, None), "it must be a file [(]there is none"),
    ]:
        with pytest.raises(ValueError, match=words): sv.first_learner(*args)
    path, service = tmp_path / "s.npz", fresh()
    play(service, range(5))
    service.save(path)
    whole = path.read_bytes()
    for other in (fresh(budget=5), fresh("own.CoinBetting")):
        with pytest.raises(ValueError, match=r"^state = .*: it must be a whole file .*learner of the file = "): other.restore(path)
    for data in (whole[:-30], whole[:100], b"", b"text", whole[:4000] + bytes([whole[4000] ^ 1]) + whole[4001:]):
        path.write_bytes(data)
        with refused(r"^state = .*: it must be a whole file"): (other := fresh()).restore(path)
        assert other.rounds == 0
    oslr.auto(D, BUDGET).save(path)
    with pytest.raises(ValueError, match=r"^state = .*: it must be a whole file"): fresh().restore(path)
    service.save(path)
    header, arrays = read_file(path)
    for change in ({"current": "x"}, {"open": [[1, [0, 99], [], True]]}, {"open": [[1, [0, 1], [], True, [1.0, "x"], 0.0]]}):
        write_file(path, header | change, arrays)
        with pytest.raises(ValueError, match=r"^state = .*: it must be a whole file"): fresh().restore(path)
    with pytest.raises(FileNotFoundError): fresh().restore(tmp_path / "none")
    assert command("serve", *ARGS, "--state", path).exit_code == 2


TESTS = [f"test_{i}" for i in range(6)]


def named_service(**kw):
    "A service whose learner knows names, as that of a table does."
    learner = oslr.auto(6, 3, seed=0, **kw)
    learner.names_ = tuple(TESTS)
    return sv.Service(learner)


@pytest.mark.parametrize("key", ["auto", "own.CoinBetting", "ito2017.UniformRDA"])
@pytest.mark.parametrize("late", [False, True])
def test_a_measurement_that_failed(key, late, tmp_path):
    "What came is used; a label that comes later too, and a restart in between."
    learner = make_learner(key, 6, 3, 0)
    service, rng = sv.Service(learner), np.random.default_rng(1)
    if late and not service.learner.late_labels: return
    losses = []
    for t in range(600):
        x = rng.uniform(-1, 1, 6) / 3
        y, asked = float(2 * x[0] - x[1]), ask(service, "query", id=t)["features"]
        values = [None if rng.random() < 0.2 else x[i] for i in asked]
        if t == 300: values = [None, None, None]
        told, again = (ask(service, "values", id=t, values=values) for _ in range(2))
        assert told == again and abs(told["prediction"]) < 10, told
        if late: ask(service, "query", id="another")
        if t == 400:
            service.save(tmp_path / "s.npz")
            (service := sv.Service(make_learner(key, 6, 3, 0))).restore(tmp_path / "s.npz")
        assert ask(service, "label", id=t, label=y)["rounds"] == t + 1
        if late: ask(service, "skip", id="another")
        losses.append((told["prediction"] - y) ** 2)
    if key == "auto": assert np.mean(losses[-200:]) < 0.5 * 5 / 27, "half of the variance of the labels"


@pytest.mark.parametrize("gone", [(0,), (1, 2), (0, 1, 2)])
def test_what_came_is_all_that_is_learnt(gone):
    "The sums are those of the features that came."
    service = named_service()
    asked = ask(service, "query", id=1)["features"]
    ask(service, "values", id=1, values=[None if i in gone else 1.0 for i in range(3)])
    ask(service, "label", id=1, label=2)
    assert service.learner.purchases_.nonzero()[0].tolist() == sorted(asked[i] for i in range(3) if i not in gone)


def test_names_and_prices_of_a_service(tmp_path):
    (tmp_path / "prices.csv").write_text("feature,price\n" + "".join(f"{name},{1 + i}\n" for i, name in enumerate(TESTS)))
    words, lines = ("serve", "--costs", tmp_path / "prices.csv"), b'{"op": "query", "id": 1}\n{"op": "quit"}\n'
    line = [sys.executable, "-m", "oslr_nb", *map(str, words), "--budget", "7.5", "--seed", "0"]
    done = subprocess.run(line, input=lines, capture_output=True, check=True)
    ready, asked, _ = map(json.loads, done.stdout.splitlines())
    assert ready["features"] == 6 and ready["budget"] == 7.5 and asked["names"] == [TESTS[i] for i in asked["features"]]
    assert sum(1 + i for i in asked["features"]) <= 7.5
    for wrong in (("--features", 5), ("--learner", "own.CoinBetting"), ("--learner", tmp_path / "a.npz")):
        assert command(*words, "--budget", 7.5, *wrong, input=b"").exit_code == 2
    assert command(*words, input=b"").exit_code == 2 and command("serve", "--features", 6, "--budget", 2.5, input=b"").exit_code == 2
    plain, named, rng = sv.Service(oslr.auto(6, 3, seed=0)), named_service(), np.random.default_rng(0)
    for t in range(60):
        x, y = rng.normal(size=6), float(rng.normal())
        one, two = (ask(s, "query", id=t) for s in (plain, named))
        assert one["features"] == two["features"] and two["names"] == [TESTS[i] for i in two["features"]] and "names" not in one
        values = [round(x[i], 3) for i in one["features"]]
        given = dict(zip(two["names"], values, strict=True))
        if t % 2: given = dict(reversed(given.items()))
        for service, told in ((plain, values), (named, given)):
            assert "prediction" in ask(service, "values", id=t, values=told) and "rounds" in ask(service, "label", id=t, label=y)
    one, two = (ask(s, "weights") for s in (plain, named))
    assert one["weights"] == two["weights"] and two["names"] == [TESTS[i] for i in two["features"]]
    asked = ask(named, "query", id="x")["features"]
    for wrong, words in (({}, "has none"), (dict.fromkeys(TESTS, 1), "none of them"), ({TESTS[i]: "a" for i in asked}, "a number or null"),
                         ({TESTS[i]: 1e70 for i in asked}, "it must be"), ([1], "3 numbers"), ([None, 1, "a"], "a list of numbers")):
        assert words in ask(named, "values", id="x", values=wrong)["error"] and len(named.open["x"].values) == 0
    ask(plain, "query", id="x")
    assert "no names" in ask(plain, "values", id="x", values={"test_1": 2})["error"]


def test_groups_of_a_service(tmp_path):
    "Dummies by name, and columns of one group of the prices, are asked for together and paid once."
    names = ["city=Rome", "city=Oslo", "city=", "age", "iron", "zinc", "sex"]
    table = lambda group, iron=4: "feature,price,group\n" + "".join(f"{n},2,\n" for n in names[:3]) + f"age,1,\niron,{iron},{group}\n" \
        + f"zinc,4,{group}\nsex,1,\n"
    (tmp_path / "p.csv").write_text(table("blood"))
    lr = sv.first_learner("auto", None, 5.0, 0, tmp_path / "p.csv")
    assert lr.params["groups"] == ["city"] * 3 + ["age", "blood", "blood", "sex"] and lr.costs.tolist() == [2, 1, 4, 1]
    service, wholes = sv.Service(lr), ({"city=Rome", "city=Oslo", "city="}, {"iron", "zinc"})
    for t in range(40):
        asked = set(ask(service, "query", id=t)["names"])
        assert all(whole <= asked or not whole & asked for whole in wholes)
        assert sum(1 + i * 2 for i, whole in enumerate(wholes) if whole <= asked) + len(asked & {"age", "sex"}) <= 5
        ask(service, "values", id=t, values=dict.fromkeys(asked, 0.5 * t))
        ask(service, "label", id=t, label=t)
    service.save(tmp_path / "s.npz")
    (again := sv.Service(sv.first_learner("auto", None, 5.0, 0, tmp_path / "p.csv"))).restore(tmp_path / "s.npz")
    assert ask(again, "query", id="x") == ask(service, "query", id="x")
    for text, words in ((table("blood", 3), "price of 'zinc' = 4.0: it must be 3, as that of 'iron'"),
                        (table("").replace("Oslo,2", "Oslo,3"), "price of 'city=Oslo' = 3.0: it must be 2, as that of 'city=Rome'")):
        (tmp_path / "q.csv").write_text(text)
        with pytest.raises(ValueError, match=words): sv.first_learner("auto", None, 5.0, 0, tmp_path / "q.csv")


def test_a_full_disk_ends_nothing(tmp_path, monkeypatch, capsys):
    source, target = os.pipe()
    answers, sink = os.pipe()
    def full(*args): raise OSError("no space")
    state, service = sv.State(tmp_path / "s.npz"), fresh()
    state.begin(service)
    monkeypatch.setattr(sv, "write_file", full)
    os.write(target, b'{"op":"save"}\n{"op":"quit"}\n{"op":"stats"}\n')
    os.close(target)
    assert sv.Pipes(service, state, 1, source, sink).run() == 1
    _, save, quits, stats = map(json.loads, os.read(answers, 9999).decode().splitlines())
    assert "it must be a file that can be written" in save["error"] and "error" in quits and stats["lines"] == 3
    assert "no space" in capsys.readouterr().err
    for f in (source, sink, answers): os.close(f)


LEFT = []


def lives(state, *batches, every=0):
    "A service in this process that answers batches of lines, and is then left as a kill leaves it until the next one; and its answers."
    while LEFT: LEFT.pop().journal.close()
    kept, service, (source, sink) = sv.State(state), fresh(), os.pipe()
    LEFT.append(kept)
    kept.begin(service)
    pipes = sv.Pipes(service, kept, every, 0, sink)
    for batch in batches:
        for line in batch: pipes.do(line)
        pipes.flush()
    os.close(sink)
    with open(source, "rb") as f: return service, kept, f.read()


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_journal_leads_to_the_state_that_was_left(size, tmp_path):
    "With refused lines, and counts, at every place where the lines may be cut into batches."
    _, lines, answers, _ = session(n=30)
    lines += [b"nonsense", b'{"op":"stats"}', None, b"more"]
    service, _, said = lives(tmp_path / "s.npz", *(lines[i : i + size] for i in range(0, len(lines), size)))
    assert said.startswith(b"".join(answers)) and read_file(tmp_path / "s.npz")[0]["lines"] == 0
    same_state(service, lives(tmp_path / "s.npz")[0])
    service.save(tmp_path / "whole.npz")
    assert (tmp_path / "s.npz").read_bytes() == (tmp_path / "whole.npz").read_bytes()


@pytest.mark.parametrize("rest", [[], [b'{"op":"query","id":"z"}', b"nonsense"]])
def test_a_journal_that_was_not_emptied_is_skipped(rest, tmp_path):
    "Ended between the state file and the journal; and gone on in that state."
    _, lines, _, _ = session(n=10)
    _, kept, _ = lives(tmp_path / "s.npz", lines)
    rows = kept.journal.execute("SELECT * FROM lines").fetchall()
    service, kept, _ = lives(tmp_path / "s.npz", rest)
    kept.journal.executemany("INSERT INTO lines VALUES (?, ?, ?)", rows)
    same_state(service, lives(tmp_path / "s.npz")[0])


def test_the_state_file_is_written_by_rounds_by_lines_and_by_the_clock(tmp_path, monkeypatch):
    lines = "".join(map(ROUND.format, range(40))).encode().splitlines()
    known = lambda: tuple(read_file(tmp_path / "s.npz")[0][name] for name in ("rounds", "lines"))
    lives(tmp_path / "s.npz", lines, every=7)
    assert known()[0] == 35
    lives(tmp_path / "s.npz", [b"nonsense"] * 30, every=7)
    assert known() == (40, 120 + 28)
    service, kept, _ = lives(tmp_path / "s.npz")
    assert known() == (40, 120 + 30)
    pipes = sv.Pipes(service, kept, 10_000, 0, os.open(os.devnull, os.O_WRONLY))
    monkeypatch.setattr(sv.time, "monotonic", lambda now=sv.time.monotonic: now() + 61)
    for line in (b'{"op":"query","id":"z"}', b'{"op":"values","id":"z","values":[1,2,3,4]}'): pipes.do(line)
    assert known()[0] == 40
    pipes.do(b'{"op":"label","id":"z","label":1}')
    assert known()[0] == 41
    os.close(pipes.sink)


def test_a_journal_of_another_state_is_refused(tmp_path):
    _, lines, _, _ = session(n=10)
    state, journal = tmp_path / "s.npz", tmp_path / "s.npz.journal"
    lives(state, lines)[1].journal.close()
    begun = state.read_bytes()
    def other_journal(words):
        with refused(r"^state = .*: its journal s.npz.journal must be that of this file [(].*" + words): sv.serve(D, BUDGET, state=state)
    state.unlink()
    other_journal("remove the journal too")
    fresh(seed=8).save(state)
    other_journal("answered differently")
    state.write_bytes(begun)
    file = sqlite3.connect(journal)
    file.execute("DELETE FROM lines WHERE number < 5")
    file.commit()
    file.close()
    other_journal("knows 0 lines, and it goes on with line 5")
    journal.write_bytes(b"text" * 1000)
    done = command("serve", *ARGS, "--state", state)
    assert done.exit_code == 2 and "file is not a database" in done.output and done.output.count("\n") == 1
    journal.unlink()
    assert lives(state)[0].lines == 0


@pytest.mark.parametrize("both", [False, True])
def test_what_cannot_be_kept_is_not_answered(both, tmp_path, monkeypatch, capsys):
    "The journal cannot be written: the state file is; if that cannot be either, the service ends."
    _, lines, answers, _ = session(n=10)
    service, kept, _ = lives(tmp_path / "s.npz", lines[:10])
    kept.journal.execute("PRAGMA query_only=ON")
    if both: monkeypatch.setattr(sv, "write_file", lambda *args: open("/nowhere/at/all"))
    source, sink = os.pipe()
    pipes = sv.Pipes(service, kept, 0, 0, sink)
    for line in lines[10:20]: pipes.do(line)
    if both:
        with pytest.raises(SystemExit) as ended: pipes.flush()
        assert ended.value.code == 1
    else: pipes.flush()
    os.close(sink)
    with open(source, "rb") as f: assert f.read() == (b"" if both else b"".join(answers[10:20]))
    assert "its journal must be a file that can be written" in capsys.readouterr().err
    monkeypatch.undo()
    assert lives(tmp_path / "s.npz")[0].lines == (10 if both else 20)


def test_a_second_service_on_one_state_is_refused(tmp_path):
    "In another process, by other names of the file; the first goes on, and what it answered is kept. When it is dead the state is free."
    state = tmp_path / "s.npz"
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "other.npz").symlink_to(state)
    first, part = Process("--state", state), tmp_path / f"s.npz.{'0' * 16}.part"
    part.write_text("of the first")
    for other in ([state], [state, "--learner", "own.CoinBetting"], [tmp_path / "link" / "s.npz"], [tmp_path / "other.npz"]):
        line = [sys.executable, "-m", "oslr_nb", "serve", *ARGS, "--state", *map(str, other)]
        done = subprocess.run(line, capture_output=True, text=True, check=False, input="")
        assert done.returncode == 2 and "another process is using it (the service that holds it has to end first" in done.stderr
        assert done.stderr.count("\n") == 1 and not done.stdout
    assert part.exists()
    out, err = first.p.communicate("".join(map(ROUND.format, range(10))).encode())
    assert (first.p.returncode, err, len(out.splitlines())) == (0, b"", 30)
    second = Process("--state", tmp_path / "other.npz")
    assert second.ready["rounds"] == 10 and second.end() == (0, b"", b"") and not part.exists()
    state = tmp_path / "s.npz"
    Process("--state", state).end(signal.SIGKILL)
    for learner, words in (("own.CoinBetting", "learner of the file"), ("auto", "")):
        done = command("serve", *ARGS, "--state", state, "--learner", learner, input="")
        assert words in done.output
    assert Process("--state", state).end() == (0, b"", b"")


MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize(("lots", "refused"), [
    ([MARK + b'{"op":"query","id":1}\n{"op":"stats"}\n'], [False, False]),
    ([MARK[:1], MARK[1:] + b'{"op":"query","id":1}', b'\n{"op":"stats"}\n'], [False, False]),
    ([b'{"op":"query","id":1}\n' + MARK + b'{"op":"stats"}\n'], [False, True]),
    ([MARK + MARK + b'{"op":"query","id":1}\n{"op":"stats"}\n'], [True, False]),
    ([MARK + b'{"op":"query","id":1}\r\n', b'{"op":"stats"}'], [False, False]),
])
def test_a_byte_order_mark_before_the_first_request(lots, refused):
    "The one that PowerShell puts before what it pipes; nowhere else."
    pipes, out = sv.Pipes(fresh(), None, 0, 0, 1), []
    for lot in [*lots, b""]: out += pipes.split(lot)
    assert ["error" in json.loads(fresh().answer(line)) for line in out] == refused


def test_a_refusal_leaves_the_round_that_is_open():
    "Each is about an example that is not the current one."
    service = fresh()
    for name in (7, 8, 9): ask(service, "query", id=name)
    ask(service, "values", id=8, values=[1, 2, 3, 4])
    ask(service, "query", id=10)
    before = copy.deepcopy(service)
    for op, fields in (("values", {"id": 7, "values": [1, 2, 3]}), ("label", {"id": 8, "label": 1e61}), ("label", {"id": 7, "label": 1})):
        assert "error" in ask(service, op, **fields)
        before.lines += 1
        same_state(service, before)
