"""Rounds before anything is compiled: interpreted, with the same bits, while another process compiles."""

import linecache
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from conftest import TOP
from numba.core.dispatcher import Dispatcher
from test_learners import KEYS, OPTIONS, bought, make, query, state, take

import oslr_nb as oslr
from oslr_nb.core import checks
from oslr_nb.practice.data import sparse_linear

CASES = [(key, {}) for key in KEYS] + OPTIONS
REFUSED = {"aer_shrink", "plain_aer", "eg_step", "hard_steps", "one_pass"}  # kernels that are always compiled; none plays a round


def interpret(monkeypatch):
    "Interpret all kernels of the package, wherever they are called from; the names of those that cannot be."
    monkeypatch.setattr(checks, "PATIENCE", 100.0)
    modules, refused = [m for name, m in list(sys.modules.items()) if name.split(".")[0] == "oslr_nb"], set()
    found = [(module, name, f) for module in modules for name, f in vars(module).items() if isinstance(f, Dispatcher)]
    for module, name, f in found:
        try: checks.interpreted(f)
        except checks.NotInterpreted: refused.add(name)
        else: monkeypatch.setattr(module, name, partial(checks.call_interpreted, f, None))
    return refused


def by_hand(lr, X, y):
    said = []
    for x, label in zip(X, y, strict=True):
        said.append(take(lr, bought(x, query(lr))))
        lr.update(label)
    return said


@pytest.mark.parametrize(("key", "kw"), CASES, ids=str)
def test_interpreted_and_compiled_rounds_have_the_same_bits(key, kw, monkeypatch):
    s = sparse_linear(12, 2, 40, seed=3)
    if key in ("murata2018.Exploration", "murata2018.Exploitation"): kw = kw | {"batch": 4}
    learners = [make(key, seed=5, **kw) for _ in range(2)]
    said, run = by_hand(learners[0], s.X, s.y), oslr.simulate(learners[1], s.X, s.y)
    assert interpret(monkeypatch) <= REFUSED
    others = [make(key, seed=5, **kw) for _ in range(2)]
    again = by_hand(others[0], s.X, s.y)
    assert again == said and list(map(type, again)) == list(map(type, said))
    second = oslr.simulate(others[1], s.X, s.y)
    assert np.array_equal(second.predictions, run.predictions) and np.array_equal(second.n_observed, run.n_observed)
    assert [state(lr) for lr in others] == [state(lr) for lr in learners]
    assert (others[0].coef_ == learners[0].coef_).all()


@checks.kernel
def spend(a):
    a[0] = 1.0
    while a[1] < 5.0: a[1] += a[0] / a[2] ** 2
    return a[1] / (a[2] - 4.0)


def test_what_takes_too_long_is_taken_back(monkeypatch):
    answer, compiled, plain = threading.Event(), np.array([0.0, 2.0, 4.0]), np.array([0.0, 2.0, 4.0])
    assert spend(compiled) == checks.call_interpreted(spend, answer, plain) == np.inf and not answer.is_set()
    monkeypatch.setattr(checks, "PATIENCE", -1.0)
    again = np.array([0.0, 2.0, 4.0])
    threading.Timer(0.2, answer.set).start()
    start = time.monotonic()
    assert checks.call_interpreted(spend, answer, again) == np.inf and time.monotonic() > start + 0.1
    assert (compiled == plain).all() and (again == plain).all()
    again = np.array([0.0, 2.0, 4.0])
    with pytest.raises(checks.NotInterpreted): checks.call_interpreted(spend, None, again)


def test_what_is_not_exact_is_refused():
    for body in ("np.sum(a)", "a.sum()", "np.exp(a[0])"):
        source = f"def other(a): return {body}"
        linecache.cache["<other>"] = (len(source), None, [source], "<other>")
        scope = {"np": np}
        exec(compile(source, "<other>", "exec"), scope)
        with pytest.raises(checks.NotInterpreted): checks.interpreted(type("Other", (), {"py_func": staticmethod(scope["other"])})())


START = """
import os, time, numpy as np, oslr_nb as oslr
from oslr_nb.core import checks
lr = oslr.ito2017.GreedyRDA(4, 2, seed=1, x_norm=2)
def play():
    S = lr.query()
    said.append(lr.predict(np.eye(4)[0, S]))
    lr.update(1.0)
said = []
play()
"""
TAKEN = START + """
from oslr_nb.papers.ito2017 import algorithm1
kernels = algorithm1.rda_select, algorithm1.rda_predict, algorithm1.rda_update
compiled = [len(k.signatures) for k in kernels]
for event in list(checks.BACKGROUND.answers.values()): event.wait(300)
play()
print(compiled, [len(k.signatures) for k in kernels])
"""
STREAM = """
import numpy as np, oslr_nb as oslr
from oslr_nb.core import checks
X, y = np.random.default_rng(0).uniform(-0.4, 0.4, (150, 6)), np.full(150, 0.5)
def play():
    lr = oslr.ito2017.RDA2(6, 4, seed=1)
    said = oslr.simulate(lr, X, y, seed=3).predictions.tolist(), lr.rng.random()
    bad = X.copy()
    bad[120:] = np.nan
    try: oslr.simulate(oslr.ito2017.RDA2(6, 4, seed=1), bad, y)
    except ValueError as e: return *said, str(e)
first = play()
for event in list(checks.BACKGROUND.answers.values()): event.wait(300)
print(len(checks.BACKGROUND.answers) > 0, play() == first, "X[120" in first[2])
"""
WARM = """
from pathlib import Path
import numpy as np, oslr_nb as oslr
from oslr_nb.core import checks, driver
oslr.foster2016
driver.warm("foster2016")
files = lambda: sorted(Path(checks.kernel_folder()).rglob("*.nbc"))
before = files()
lr = oslr.foster2016.FKK(9, 5, k=3, T=50, radius=2.0, seed=1)
oslr.play(lr, oslr.Environment(np.zeros((5, 9)), np.zeros(5), 5))
oslr.simulate(lr, np.zeros((5, 9)), np.zeros(5))
print(len(before) > 10, files() == before)
"""
FORK = START + """
if pid := os.fork():
    os.write(1, f"{checks.BACKGROUND.crew[0].pid} {pid} {checks.BACKGROUND.usable()}\\n".encode())
    os.waitpid(pid, 0)
else:
    os.write(1, f"{checks.BACKGROUND.usable()}\\n".encode())
    time.sleep(20)
    os._exit(0)
"""


def fresh(code, cache, **env):
    "A process without compiled code, which may have another one compile."
    env = os.environ | {"NUMBA_CACHE_DIR": str(cache), "OSLR_BACKGROUND": "1"} | env
    return subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=TOP, text=True)


def ended(pid, seconds=30.0):
    "Whether a process ends in this time, or is dead and only not fetched by who adopted it."
    status = Path(f"/proc/{pid}/stat")
    until = time.monotonic() + seconds
    while time.monotonic() < until and status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z": time.sleep(0.05)
    return time.monotonic() < until


cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
several_cores = pytest.mark.skipif(cores < 2, reason="with one core nothing is compiled in the background")
linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")


def test_switched_off(tmp_path):
    assert fresh(TAKEN, tmp_path, OSLR_BACKGROUND="0").communicate() == ("[1, 1, 1] [1, 1, 1]\n", "")


@several_cores
def test_compiled_by_another_process_meanwhile(tmp_path):
    assert fresh(TAKEN, tmp_path).communicate() == ("[0, 0, 0] [1, 1, 1]\n", "")


@several_cores
def test_a_short_stream_is_interpreted(tmp_path):
    assert fresh(STREAM, tmp_path).communicate() == ("True True True\n", "")


@several_cores
def test_compiled_ahead(tmp_path):
    "What warm() has compiled is what rounds by hand and streams use: nothing more is written."
    told = fresh(WARM, tmp_path).communicate()
    assert told == ("True True\n", "")


@several_cores
@linux
def test_the_other_process_ends_with_this_one(tmp_path):
    "At the normal end of a process, and when it is killed while a fork of it lives on; the fork asks for nothing."
    (pid,) = map(int, fresh(START + "print(checks.BACKGROUND.crew[0].pid)", tmp_path).communicate()[0].split())
    assert ended(pid)
    parent = fresh(FORK, tmp_path / "other")
    told = [parent.stdout.readline().split() for _ in range(2)]
    (pid, fork, usable), (forked,) = sorted(told, key=len, reverse=True)
    assert (usable, forked) == ("True", "False")
    parent.kill()
    parent.wait()
    assert ended(int(pid)) and not ended(int(fork), 0.1)
    os.kill(int(fork), signal.SIGKILL)
    parent.stdout.close()
    parent.stderr.close()
