"""Measure speed (`make bench`, some eight minutes): each table of the page on speed is one function that yields its rows.

Writes _results/speed.json; `make store` keeps it in oslr_nb/stored/, where the page shows it. What the words mean stands there too.

Times are processor time on one thread, the smallest of several repetitions; what is compared is run in turn in one process,
so compare ratios, and times only within one table.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numba
import numpy as np
from threadpoolctl import threadpool_limits

import oslr_nb as oslr
from oslr_nb.core.mathematics import sparse
from oslr_nb.results.datasets import ct_like
from tests.measure import floor, in_turn, repeated, rounds_by_hand, rounds_of, stream, textbook, textbook_aer

# (d, top, budget, rows of the table, goal for the ratio to the floor): tables that stay in the cache, and some that do not
SIZES = [
    (20, 5, 10, 1000, 2.9), (384, 5, 10, 100, 2.2), (384, 5, 10, 50_000, None), (384, 60, 70, 100, None),
    (384, 60, 70, 53_500, None), (10_000, 5, 10, 100, 0.7), (1_000_000, 5, 10, 50, 0.8),
]  # fmt: skip
ROWS = {20: 1000, 384: 100, 10_000: 100, 1_000_000: 50}  # of the tables where only d matters
MANY = 10**7  # more rounds than any learner here plays: T of those whose step depends on it


def seconds_of(new, X, y, rows, repetitions=3, first=100):
    "Processor time of a whole run of a new learner over these rows; a short run is compiled before the clock starts."
    play = lambda rows: oslr.simulate(new(), X, y, rows=rows)
    play(rows[:first])
    return in_turn({"run": lambda: play(rows)}, repetitions)["run"]


def in_turns(works, turns):
    "All pieces of work in turn, so many times: the times of each turn."
    return [in_turn(works, 1) for _ in range(turns)]


def to_the_floor():
    "RDA1 beside a loop that only draws and reads: the least nanoseconds a round, and the median ratio of what ran in turn."
    for d, top, budget, n, goal in SIZES:
        X, y = stream(d, n)
        in_order = np.arange(10_000 if d < 10**6 else 400_000) % n  # a long state takes time to copy at each call
        orders = {"in order": in_order}
        if n == 50_000: orders["at random"] = np.random.default_rng(2).permutation(in_order)
        for order, rows in orders.items():
            lr = oslr.ito2017.RDA1(d, budget, top=top, step=2, seed=1)
            works = floor(X, rows, budget) | {"simulate": rounds_of(lr, X, y, rows, warm=100_000)}
            turns = in_turns(works, 150 if d < 10**6 else 12)
            row = {"d": d, "top": top, "budget": budget, "rows": n, "order": order}
            row |= {f"{name}_ns": 1e9 * min(turn[name] for turn in turns) / len(rows) for name in works}
            row |= {"rounds_per_second": 1e9 / row["simulate_ns"], "goal": goal}
            yield row | {"ratio": float(np.median([turn["simulate"] / turn["floor"] for turn in turns]))}


def against_textbook():
    "Seconds of a round of Algorithm 1 in plain numpy at d = 20, and how many times faster simulate is in the same run."
    X, y = stream(20, 1000)
    rows = np.arange(100_000) % 1000
    lr = oslr.ito2017.RDA1(20, 10, top=5, step=2, seed=1)
    times = in_turn({"textbook": textbook(X, y, 5, 10, 300), "simulate": rounds_of(lr, X, y, rows)}, 10)
    seconds = times["textbook"] / 300
    return {"textbook_seconds": seconds, "ratio_to_textbook": seconds * len(rows) / times["simulate"]}


def learners_at(d, budget=10):
    "Each learner that can be run with d features, by name; and whether its scores are wanted, where there is a choice."
    ito, hazan, cesa = oslr.ito2017, oslr.hazan2012, oslr.cesabianchi2010
    found = {"RDA1": (ito.RDA1(d, budget, top=5, step=2, seed=1), {})}
    for cls in (ito.RDA2, ito.RDA3, ito.GreedyRDA, ito.UniformRDA): found[cls.__name__] = (cls(d, budget, seed=1), {})
    found["OnlineAELR"] = (hazan.OnlineAELR(d, budget, T=MANY, seed=1), {})
    for score in (False, True):
        lam = 15 * max(d / 784, 1)  # the strength of the runs on images, where weights neither vanish nor fill the ball
        choices = [hazan.AERR(d, budget, T=MANY, seed=1), hazan.AELR(d, budget, T=MANY, seed=1)]
        choices.append(cesa.AER(d, budget, T=MANY, lam=lam, radius=8.0, seed=1))
        if d <= (384 if score else 10_000): choices.append(cesa.Baseline(d, budget, seed=1))
        for lr in choices: found[type(lr).__name__ + (", scored" if score else "")] = (lr, {"score": score})
    return found


def length(name, d):
    "Rounds of a learner between two looks at the clock: few enough to repeat them, enough for what a call costs by itself not to count."
    if name == "Baseline" and d == 10_000: return 500_000  # a call copies d x d numbers
    if "scored" in name: return {20: 20_000, 384: 5000, 10_000: 1000}.get(d, 100)
    return 50_000 if d < 10**6 else 20_000


def each_learner():
    "Nanoseconds a round of each learner at several d, and the exponent of d between the two largest."
    found = {}
    for d, n in ROWS.items():
        X, y = stream(d, n)
        learners = learners_at(d)
        rows = {name: np.arange(length(name, d)) % n for name in ("floor", *learners)}
        works = {"floor": floor(X, rows["floor"], 10)["floor"]}
        for name, (lr, options) in learners.items():
            works[name] = rounds_of(lr, X, y, rows[name], warm=min(len(rows[name]), 20_000), **options)
        times = in_turn(works, 5 if d < 10**6 else 3)
        for name, seconds in times.items(): found.setdefault(name, {})[d] = 1e9 * seconds / len(rows[name])
    for name, ns in found.items():
        (d1, a), (d2, b) = list(ns.items())[-2:]
        yield {"learner": name, "ns": ns, "exponent": np.log(b / a) / np.log(d2 / d1), "from": d1, "to": d2, "goal": None}
    X, y = stream(20, 1000)
    seconds = in_turn({"FKK": rounds_of(oslr.foster2016.FKK(20, 7, k=5, T=MANY, seed=1), X, y, np.arange(300), warm=300)}, 3)["FKK"]
    yield {"learner": "FKK (k = 5, k' = 7)", "ns": {20: 1e9 * seconds / 300}, "exponent": None, "goal": None}


def adaptive_steps(goal=1.1):
    """Time of a round with step = "adaptive" over that with a multiple of the theorem's step: median of the ratios of what ran in turn.

    The multiple is one with which the weights move about as much: weights that stay near 0 make a round cheaper, whatever the step.
    """
    plain = {"RDA1": 2000.0, "GreedyRDA": 2000.0, "UniformRDA": 2000.0, "AERR": 4.0, "AELR": 64.0, "OnlineAELR": 64.0}
    for d, n in ((20, 1000), (384, 100)):
        X, y = stream(d, n)
        rows = np.arange(20_000) % n
        for name, multiple in plain.items():
            page, more = (oslr.ito2017, {}) if "RDA" in name else (oslr.hazan2012, {"T": 100_000})
            if name == "RDA1": more["top"] = 5
            options = {"score": False} if name in ("AERR", "AELR") else {}
            works = {step: rounds_of(getattr(page, name)(d, 10, step=step, seed=1, **more), X, y, rows, warm=100_000, **options)
                     for step in (multiple, "adaptive")}  # fmt: skip
            turns = in_turns(works, 60)
            ns = 1e9 * min(turn["adaptive"] for turn in turns) / len(rows)
            ratio = float(np.median([turn["adaptive"] / turn[multiple] for turn in turns]))
            yield {"learner": name, "d": d, "multiple": multiple, "ns": ns, "ratio": ratio, "goal": goal}


def moments():
    "Rounds a second of least squares on pairwise second moments in whole runs from the start, and its state over 8 d^2 bytes."
    for d, budget, goal in ((64, 8, 50_000), (784, 30, 2000)):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((2000, d))
        y = X[:, :5].sum(axis=1) + 0.1 * rng.standard_normal(2000)
        new, rows = partial(oslr.own.PairwiseLeastSquares, d, budget, seed=1), np.arange(20_000) % 2000
        row = {"learner": "PairwiseLeastSquares", "d": d, "budget": budget, "goal": goal, "squares_goal": 7.0}
        row |= {"rounds_per_second": len(rows) / seconds_of(new, X, y, rows, first=2000), "bytes": state_bytes(new())}
        yield row | {"squares": row["bytes"] / (8 * d * d)}


def heads(turns=15):
    "Microseconds a round that probabilities add to the default learner on numbers: median of the differences of what ran in turn."
    rng, rows = np.random.default_rng(0), np.arange(20_000) % 2000
    X = rng.standard_normal((2000, 64))
    for kinds, goal in ((2, 2.0), (10, None)):
        y = np.digitize(X[:, :5].sum(axis=1) + rng.standard_normal(2000), np.linspace(-3, 3, kinds + 1)[1:-1]).astype(float)
        learners = {"numbers": oslr.auto(64, 8, seed=1), "classes": oslr.auto(64, 8, classes=range(kinds), seed=1)}
        works = {name: rounds_of(lr, X, y, rows) for name, lr in learners.items()}
        us = [1e6 * (turn["classes"] - turn["numbers"]) / len(rows) for turn in in_turns(works, turns)]
        yield {"classes": kinds, "d": 64, "budget": 8, "us": float(np.median(us)), "goal": goal}


def state_bytes(lr): return sum(getattr(lr, name).nbytes for name in lr.arrays)


def in_lots(works):
    "Go on with each work in turn until all have ended."
    while works: works = [work for work in works if next(work, works) is None]


class Client:
    "Both ends of `oslr serve`, each on a core of its own where that can be said; lines are made and read with little work."

    def __init__(self, command):
        self.cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        if len(self.cores) > 1: os.sched_setaffinity(0, self.cores[:1])  # the new process inherits it
        self.p = subprocess.Popen([sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=2**16)
        if len(self.cores) > 1: os.sched_setaffinity(0, self.cores[1:2])
        X, y = stream(384, 1000)
        self.X, self.y = [[repr(v) for v in row] for row in X.round(6).tolist()], [repr(v) for v in y.tolist()]

    def send(self, lines): os.write(self.p.stdin.fileno(), ("\n".join(lines) + "\n").encode())

    def told(self, t, answer):
        "The line with the values of example t, for the answer to its query."
        start = answer.index(b"[") + 1
        row, features = self.X[t % 1000], answer[start : answer.index(b"]", start)].split(b",")
        return f'{{"op":"values","id":{t},"values":[{",".join([row[int(i)] for i in features])}]}}'

    def blocks(self, start, n):
        "64 examples are open: while one half of them is answered the lines of the other are made, all of a kind sent together."
        for t in range(start, start + n, 64): in_lots([self.round(range(t + a, t + a + 32)) for a in (0, 32)])

    def round(self, ids):
        "Query, values, label of these examples; waits wherever it has sent something."
        hear = self.p.stdout.readline
        self.send([f'{{"op":"query","id":{i}}}' for i in ids])
        yield
        self.send([self.told(i, hear()) for i in ids])
        yield
        for _ in ids: hear()
        self.send([f'{{"op":"label","id":{i},"label":{self.y[i % 1000]}}}' for i in ids])
        yield
        for _ in ids: hear()

    def ahead(self, start, n):
        "The same, but labels carry the query of the one 64 further on: two lines a round. 64 stay open from piece to piece."
        if start == 0:
            self.waiting = [range(10**6 + a, 10**6 + a + 32) for a in (0, 32)]
            self.send([f'{{"op":"query","id":{i}}}' for ids in self.waiting for i in ids])
            self.waiting = [(ids, [self.p.stdout.readline() for _ in ids]) for ids in self.waiting]
        in_lots([self.chain(half, n // 64) for half in (0, 1)])

    def chain(self, half, lots):
        "Half of the open examples; begins and ends with the answers to their queries."
        hear, (ids, answers) = self.p.stdout.readline, self.waiting[half]
        for _ in range(lots):
            self.send([self.told(i, answer) for i, answer in zip(ids, answers, strict=True)])
            yield
            for _ in ids: hear()
            self.send([f'{{"op":"label","id":{i},"label":{self.y[i % 1000]},"query":{i + 64}}}' for i in ids])
            yield
            ids, answers = range(ids.start + 64, ids.stop + 64), [hear() for _ in ids]
        self.waiting[half] = ids, answers

    def single(self, start, n, answer=b""):
        "One line at a time, three a round: each waits for the answer to the one before; or for anything, where the answer is known."
        hear = self.p.stdout.readline
        for t in range(start, start + n):
            self.send([f'{{"op":"query","id":{t}}}'])
            heard = hear()
            self.send([self.told(t, answer or heard)])
            hear()
            self.send([f'{{"op":"label","id":{t},"label":{self.y[t % 1000]}}}'])
            hear()

    def busy(self):
        "Processor seconds of the other process so far, where the system tells."
        path = Path(f"/proc/{self.p.pid}/schedstat")
        return int(path.read_text().split()[0]) / 1e9 if path.exists() else float("nan")

    def measure(self, play, rounds, pieces, of=np.min):
        "Rounds a second, microseconds a round of the other process and of this one: each the best of many short pieces, or their median."
        play(0, rounds)
        found = []
        for i in range(1, pieces + 1):
            before = time.perf_counter(), self.busy(), time.process_time()
            play(i * rounds, rounds)
            after = time.perf_counter(), self.busy(), time.process_time()
            found.append([(b - a) / rounds for a, b in zip(before, after, strict=True)])
        wall, server, client = of(found, axis=0)
        return {"rounds_per_second": 1 / wall, "server_us": 1e6 * server, "client_us": 1e6 * client}

    def end(self):
        self.p.stdin.close()
        self.p.stdout.close()
        self.p.wait()
        if len(self.cores) > 1: os.sched_setaffinity(0, self.cores)


ECHO = "import os\nwhile data := os.read(0, 65536): os.write(1, data)"


def serving(goal=20_000):
    "Rounds a second of `oslr serve` at d = 384 over pipes, the client on another core; first a process that only sends back what it hears."
    (echo := Client(["-S", "-c", ECHO])).send(["ready"])
    echo.p.stdout.readline()
    play = partial(echo.single, answer=b"[0,1,2,3,4,5,6,7,8,9]")
    yield {"learner": "echo", "budget": 10, "way": "one line at a time"} | echo.measure(play, 64, 20) | {"goal": None}
    echo.end()
    for learner, budget in (("own.PairwiseLeastSquares", 10), ("own.PairwiseLeastSquares", 20), ("own.CoinBetting", 10)):
        client = Client(["-m", "oslr_nb", "serve", "--features", "384", "--budget", str(budget), "--learner", learner, "--seed", "1"])
        client.p.stdout.readline()
        ways = {"64 open examples": (client.blocks, 64, 250), "the same, labels carry queries": (client.ahead, 128, 125),
                "one line at a time": (client.single, 64, 20)}  # fmt: skip
        for way, measured in ways.items():
            row = {"learner": learner, "budget": budget, "way": way} | client.measure(*measured)
            yield row | {"goal": goal if budget == 10 and way != "one line at a time" else None}
        client.end()


KEEPS = """import sys
from oslr_nb.practice import service
service.SYNCHRONOUS = sys.argv[1]
service.serve(384, 10, seed=1, state=sys.argv[2])"""


def keeping():
    "What it costs that an answer is kept, at d = 384: no journal, and both ways of forcing it to the disk, whose waits vary (so medians)."
    for way, play, rounds in (("one line at a time", "single", 64), ("32 lines at a time", "blocks", 1024)):
        for kept in ("nothing", "NORMAL", "FULL"):
            with tempfile.TemporaryDirectory() as folder:
                plain = ["-m", "oslr_nb", "serve", "--features", "384", "--budget", "10", "--seed", "1"]
                client = Client(plain if kept == "nothing" else ["-c", KEEPS, kept, f"{folder}/s.npz"])
                client.p.stdout.readline()
                row = {"way": way, "kept": kept} | client.measure(getattr(client, play), rounds, 15, np.median)
                client.end()
            if kept == "nothing": fastest = row["rounds_per_second"]
            yield row | {"ratio": fastest / row["rounds_per_second"]}


def by_hand():
    "Microseconds of a round from Python: query, predict, update; and play with an Environment that keeps the books."
    for d in (20, 384):
        X, y = stream(d, 1000)
        learners = [oslr.ito2017.RDA1(d, 10, top=5, step=2, seed=1) for _ in range(2)]
        shops = iter([oslr.Environment(X, y, 10) for _ in range(11)])
        works = {"query, predict, update": rounds_by_hand(learners[0], X, y, 1000),
                 "play(learner, Environment)": lambda learners=learners, shops=shops: oslr.play(learners[1], next(shops))}
        works["play(learner, Environment)"]()
        for (what, seconds), goal in zip(in_turn(works, 10).items(), (11.0, 30.0), strict=True):
            yield {"what": what, "d": d, "us": seconds * 1000, "goal": goal}


def few_rows():
    "Microseconds of a call of simulate that plays one row: what a call costs besides its rounds."
    for what, d, n, order in (("d = 384, table of 100 rows", 384, 100, "C"), ("d = 384, table of 50,000 rows", 384, 50_000, "C"),
                              ("d = 384, table of 50,000 rows in Fortran order", 384, 50_000, "F"),
                              ("d = 1,000,000, table of 50 rows", 10**6, 50, "C")):  # fmt: skip
        X, y = stream(d, n)
        one = partial(oslr.simulate, oslr.ito2017.RDA1(d, 10, top=5, step=2, seed=1), np.asarray(X, order=order), y, rows=[0])
        one()
        yield {"what": what, "us": 1e6 * in_turn({what: one}, 5 if order == "F" else 100)[what], "goal": None}


@numba.njit(error_model="numpy", fastmath=True)  # sums in any order, so that the processor adds several at once
def descend(X, y, rows, w, out, step):
    "The honest neighbour: online gradient descent that reads every feature of every row."
    for t in range(len(rows)):
        x, yhat = X[rows[t]], 0.0
        for i in range(len(w)): yhat += w[i] * x[i]
        out[t] = yhat
        c = step * (yhat - y[rows[t]])
        for i in range(len(w)): w[i] -= c * x[i]


def descend_numpy(X, y, rounds):
    w, n = np.zeros(X.shape[1]), len(X)
    def step(t):
        x = X[t % n]
        yhat = w @ x
        w[:] -= 0.1 * (yhat - y[t % n]) * x
    return repeated(step, rounds)


def river_linear(X, y, rounds):
    from river import linear_model

    model, examples = linear_model.LinearRegression(), [dict(enumerate(x.tolist())) for x in X]
    labels, n = y.tolist(), len(X)
    def step(t):
        model.predict_one(examples[t % n])
        model.learn_one(examples[t % n], labels[t % n])
    return repeated(step, rounds)


def vowpal_wabbit(X, y, rounds):
    from vowpalwabbit import Workspace

    model, n = Workspace("--quiet --noconstant"), len(X)
    text = [f"{label} | " + " ".join(f"{i}:{v}" for i, v in enumerate(x)) for x, label in zip(X, y, strict=True)]
    examples = [model.example(line) for line in text]
    def step(t):
        model.predict(examples[t % n])
        model.learn(examples[t % n])
    return repeated(step, rounds)


def sgd(X, y, rounds, batch):
    from sklearn.linear_model import SGDRegressor

    model, n = SGDRegressor(), len(X)
    model.partial_fit(X, y)
    def step(t):
        part = slice(t % n, t % n + batch)
        model.predict(X[part])
        model.partial_fit(X[part], y[part])
    return repeated(step, rounds, batch)


OUTSIDE = {  # packages beside which RDA1 is run: module, work of so many rounds, rounds
    "river LinearRegression": ("river", river_linear, 500),
    "Vowpal Wabbit, examples parsed before": ("vowpalwabbit", vowpal_wabbit, 500),
    "scikit-learn SGDRegressor, row by row": ("sklearn", partial(sgd, batch=1), 50),
    "scikit-learn SGDRegressor, batches of 100": ("sklearn", partial(sgd, batch=100), 2000),
}


def peer_versions():
    "Versions of the packages that are installed."
    used = {module for module, _, _ in OUTSIDE.values() if find_spec(module)}
    return {module: version({"sklearn": "scikit-learn"}.get(module, module)) for module in sorted(used)}


def peers():
    "Microseconds a row on one stream, predict before learn: packages (as far as they are installed), plain descent, RDA1."
    installed = peer_versions()
    for module in sorted({module for module, _, _ in OUTSIDE.values()} - installed.keys()):
        print(f"{module}: not installed, skipped (pip install oslr-nb[peers])", flush=True)
    for d in (20, 384):
        X, y = stream(d, 1000)
        rows = np.arange(20_000) % 1000
        a, b = (oslr.ito2017.RDA1(d, 10, top=5, step=2, seed=1) for _ in range(2))
        w, out = np.zeros(d), np.empty(len(rows))
        descend(X, y, rows[:9], w, out, 0.1)
        works = {"RDA1, simulate": (rounds_of(a, X, y, rows), len(rows), 10), "RDA1, by hand": (rounds_by_hand(b, X, y, 500), 500, 10),
                 "gradient descent in numba": (partial(descend, X, y, rows, w, out, 0.1), len(rows), d),
                 "gradient descent in numpy": (descend_numpy(X, y, 1000), 1000, d)}  # fmt: skip
        works |= {name: (make(X, y, count), count, d) for name, (module, make, count) in OUTSIDE.items() if module in installed}
        for work, _, _ in works.values(): work()
        times = in_turn({name: work for name, (work, _, _) in works.items()}, 10)
        us = {name: 1e6 * seconds / works[name][1] for name, seconds in times.items()}
        for name, (_, _, reads) in works.items():
            row = {"who": name, "d": d, "reads": reads, "us": us[name], "goal": None}
            yield row | {"ratio": us[name] / us["RDA1, simulate"], "ratio_by_hand": us[name] / us["RDA1, by hand"]}


# What a fresh process does: import the package, then play a small learner for the first time; it prints the seconds of the second.
COLD = """import time, oslr_nb as oslr
start = time.perf_counter()
import numpy as np
from oslr_nb.core.game.registry import class_of
from oslr_nb.practice.warm import sample_learner
lr = sample_learner(class_of({key!r}))
oslr.simulate(lr, np.ones((200, lr.d)) / 5, np.ones(200))
print(time.perf_counter() - start)"""


def fresh(code, cache):
    "The numbers that a fresh process prints; `cache` is the folder of its compiled code."
    variables = {"NUMBA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def cold_starts():
    "Seconds until a fresh process has simulated 200 rounds: with nothing compiled yet, and with the compiled code on disk."
    for key in sorted(oslr.LEARNERS):
        with tempfile.TemporaryDirectory() as cache: cold, warm = (fresh(COLD.format(key=key), cache) for _ in range(2))
        yield {"learner": key, "cold_seconds": cold, "goal": 8.0, "warm_seconds": warm}


def importing():
    "Seconds of import oslr_nb."
    code = "import time; a = time.perf_counter(); import oslr_nb; print(time.perf_counter() - a)"
    with tempfile.TemporaryDirectory() as cache: return min(fresh(code, cache) for _ in range(5))


def papers():
    "Seconds of the runs whose times Ito et al. 2017 report, with their seconds and our goals: rows of the page on speed."
    ito, small, big = oslr.ito2017, (20, 7, 5000), (384, 70, 53_500)  # d, budget, rounds
    for (d, budget, T), name, new, goal, paper in (
        (small, "FKK", partial(oslr.foster2016.FKK, k=5, T=5000), 3.0, 1176),
        (small, "OnlineAELR", partial(oslr.hazan2012.OnlineAELR, T=5000), 0.02, 6),
        (small, "RDA1", partial(ito.RDA1, top=5, step=2), None, 1), (big, "RDA1", partial(ito.RDA1, top=60, step=2), 0.06, 195),
        (big, "RDA2", ito.RDA2, 0.06, 35), (big, "RDA3", ito.RDA3, 0.06, None),
        (big, "GreedyRDA", partial(ito.GreedyRDA, step=2), None, 147), (big, "UniformRDA", partial(ito.UniformRDA, step=2), None, 382),
        (big, "OnlineAELR", partial(oslr.hazan2012.OnlineAELR, T=53_500), None, 477),
    ):  # fmt: skip
        seconds = seconds_of(partial(new, d, budget, seed=1), *stream(d, T), np.arange(T), first=50)
        yield {"learner": name, "d": d, "budget": budget, "T": T, "seconds": seconds, "goal": goal, "paper": paper}


def pixels(d, n):
    "n rows like images: half of the d values are 0, the others between 0 and 1; the labels are two groups of rows."
    rng = np.random.default_rng(0)
    X = rng.random((n, d))
    X[rng.random((n, d)) < 0.5] = 0
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X[:, : d // 2] *= 0.5 + 0.5 * (y[:, None] > 0)
    return X, y


def aer():
    "Rounds a second of AER without scoring, k = 4, with our goals, and seconds of a textbook round."
    for d, n, T, goal, rounds in (784, 1000, 300_000, 1.5e6, 500), (10_000, 100, 300_000, 0.7e6, 200), (10**6, 50, 200_000, 0.3e6, 5):
        X, y = pixels(d, n)
        rows, lam = np.arange(T) % n, 15 * d / 784
        lr = oslr.cesabianchi2010.AER(d, 4, T=MANY, radius=8.0, lam=lam, seed=1)
        works = {"simulate": rounds_of(lr, X, y, rows, score=False), "textbook": textbook_aer(X, y, lam, 8.0, rounds)}
        times = in_turn(works, 4)
        row = {"d": d, "budget": 4, "rounds_per_second": T / times["simulate"], "goal": goal}
        yield row | {"textbook_seconds": times["textbook"] / rounds}


def observed_moments(d, n, k0):
    "Unbiased moments from k0 random features of each of n rows; the labels depend on eight features."
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = X[:, :8] @ np.linspace(-1, 1, 8) + 0.1 * rng.standard_normal(n)
    X *= rng.random((n, d)).argsort(1) < k0
    G = X.T @ X / n * (d * (d - 1) / (k0 * (k0 - 1)))
    np.fill_diagonal(G, (X**2).mean(0) * d / k0)
    return G, X.T @ y / n * d / k0


def dantzig_paths(goal=10.0):
    "Seconds of the Dantzig selector's path down to a radius, and of one call of HiGHS at that radius alone, at d = 384."
    for n, k0 in (32_768, 50), (4096, 192):
        G, c = observed_moments(384, n, k0)
        for fraction in (0.5, 0.2, 0.1, 0.05):
            path = partial(sparse.dantzig, G, c, fraction * np.abs(c).max())
            found, times = path(), in_turn({"path": path}, 10) | in_turn({"highs": partial(path, method="highs")}, 2)
            row = {"n": n, "k0": k0, "fraction": fraction, "active": int(np.count_nonzero(found.w)), "pivots": found.pivots}
            row |= {f"{name}_seconds": seconds for name, seconds in times.items()}
            yield row | {"ratio": times["highs"] / times["path"], "goal": goal if row["active"] <= 20 else None}


def kale():
    "Seconds of whole runs of both algorithms of Kale et al. 2017; Ito et al. 2018 report more than three hours for the second."
    rng, page = np.random.default_rng(0), oslr.kale2017
    X = rng.choice([-1.0, 1.0], (2000, 384))
    y = X[:, :5].mean(axis=1)
    for name, T, goal, new in (
        ("DantzigPOSLR", 32_768, 1.5, partial(page.DantzigPOSLR, 384, 50, 50, sigma=0.1, rule="printed", C=0.03, seed=1)),
        ("OnlineGreedyOSLR", 53_500, 0.4, partial(page.OnlineGreedyOSLR, 384, 50, k=5, T=53_500, k1=25, batch=40, seed=1)),
    ):
        seconds = seconds_of(new, X, y, rng.integers(2000, size=T), 5, first=4096)
        yield {"learner": name, "d": 384, "k0": 50, "T": T, "seconds": seconds, "goal": goal}


def projection():
    "Seconds of Algorithm 2 of Ito et al. 2018 on a table of the size of their CT slices, which took its authors 6.6 s."
    rng = np.random.default_rng(0)
    X = rng.standard_normal((53_500, 384))
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = X @ rng.standard_normal(384) / 25
    for schedule, step in (("theorem", 1.0), ("adaptive", "adaptive")):
        seconds = seconds_of(partial(oslr.ito2018.LinearProjection, 384, 50, step=step, seed=1), X, y, np.arange(53_500), 10)
        row = {"learner": "LinearProjection", "schedule": schedule, "d": 384, "budget": 50, "T": 53_500}
        yield row | {"seconds": seconds, "goal": 0.05}


def dictionary():
    "Seconds of Algorithm 3 of Ito et al. 2018 at the size of its experiment (theirs: 11,036 s), and of scikit-learn's pursuit."
    from sklearn.linear_model import orthogonal_mp_gram

    d, m, budget, keep, T, rng = 384, 200, 50, 40, 53_500, np.random.default_rng(0)
    A, stream = rng.standard_normal((d, m)), ct_like(4000, seed=0)
    order, scale = rng.integers(4000, size=T), float(np.linalg.norm(stream.X, axis=1).max())
    new = partial(oslr.ito2018.DictionaryProjection, A, budget, keep, radius=50, x_norm=scale, y_max=200, step="adaptive", seed=1)
    seconds = seconds_of(new, stream.X, stream.y, order)
    oslr.simulate(lr := new(), stream.X, stream.y, rows=order[:1000])
    other = lambda: [orthogonal_mp_gram(lr.G, lr.alpha, n_nonzero_coefs=keep) for _ in range(20)]
    row = {"learner": "DictionaryProjection", "d": d, "m": m, "budget": budget, "keep": keep, "T": T, "seconds": seconds}
    yield row | {"paper": 11_035.7, "sklearn_pursuit_seconds": in_turn({"other": other}, 3)["other"] / 20, "goal": 3.0}


def thresholding():
    "Examples a second of the learners of Murata & Suzuki 2018, float32 rows in memory, read at random."
    for name, d, n, batch, goal in (("Exploration", 784, 20_000, 20, 4.0), ("Exploration", 10**6, 100, 1, 2.0),
                                    ("Hybrid", 784, 20_000, 20, None), ("Exploitation", 784, 20_000, 20, None)):
        rng = np.random.default_rng(0)
        X = np.stack([rng.random(d, dtype=np.float32) for _ in range(n)])
        rows, S, start = rng.integers(n, size=600_000), rng.permutation(d)[:5], np.full(5, 0.2)
        given = {"Exploration": {"top": 5, "batch": batch}, "Hybrid": {"top": 5, "explore": (3, batch), "exploit": (10, None), "growth": 1},
                 "Exploitation": {"batch": batch}}[name]
        lr = getattr(oslr.murata2018, name)(d, 10, **given, eta=0.05, support=S, start=start)
        seconds = in_turn({"run": rounds_of(lr, X, X[:, 0], rows, warm=100)}, 5)["run"]
        row = {"learner": name, "d": d, "budget": 10, "top": 5, "batch": batch, "rounds_per_second": 6e5 / seconds}
        yield row | {"bytes": state_bytes(lr), "goal": 1e6 * goal if goal else None}


LONG = """
import json, resource, sys, time
import numpy as np
import oslr_nb as oslr
from tests.measure import watched

folder, key, way, T = *sys.argv[1:4], int(sys.argv[4])
X, y = (np.load(f"{folder}/{name}.npy", mmap_mode="r") for name in "Xy")
lr, rng = oslr.LEARNERS[key].cls(X.shape[1], 10, seed=1), np.random.default_rng(2)
oslr.simulate(lr, X, y, rows=[0] * 9)  # compiled before the clock starts

def play():
    if way == "one call": return oslr.simulate(lr, X, y, rows=rng.integers(len(X), size=T))
    turns = ((X, y, rng.integers(len(X), size=min(2**17, T - done))) for done in range(0, T, 2**17))
    assert oslr.simulate_blocks(lr, turns, keep=way == "blocks, all kept").rounds == T

start = time.process_time()
first, most = watched(play)
seconds, peak = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1.024e-3
finite = all(bool(np.isfinite(getattr(lr, name)).all()) for name in lr.arrays)
print(json.dumps({"seconds": seconds, "peak_mb": peak, "own_mb": most, "start_mb": first, "finite": finite}))
"""


def long_runs(T=10**7, seconds=60.0, megabytes=500.0):
    "Processor time and memory of runs at d = 10^5 from a memory-mapped file of 256 rows, played in random order; a process for each."
    d, n = 100_000, 256
    if not sys.platform.startswith("linux"): return  # memory is read from /proc
    plan = [("ito2017.UniformRDA", way, rounds) for way in ("one call", "blocks, all kept", "blocks, sums") for rounds in (T // 10, T)]
    plan += [(key, way, T) for key in ("ito2017.RDA2", "own.CoinBetting") for way in ("one call", "blocks, sums")]
    with tempfile.TemporaryDirectory() as folder:
        X = np.lib.format.open_memmap(Path(folder, "X.npy"), mode="w+", dtype=np.float32, shape=(n, d))
        rng = np.random.default_rng(0)
        for i in range(n):
            x = rng.standard_normal(d, dtype=np.float32)
            X[i] = x / (np.linalg.norm(x) * np.float32(1.0001))  # rounding must not lift it above 1
        y = X[:, :20].sum(axis=1, dtype=np.float64)
        np.save(Path(folder, "y.npy"), y / np.abs(y).max())
        X.flush()
        del X

        def play(key, way, rounds):
            command = [sys.executable, "-c", LONG, folder, key, way, str(rounds)]
            done = subprocess.run(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout)

        for key in {key for key, *_ in plan}: play(key, "one call", 9)  # compiled in another process: the memory of a compiler is not ours
        for key, way, rounds in plan:
            row = {"learner": key, "d": d, "budget": 10, "way": way, "rounds": rounds, **play(key, way, rounds)}
            yield row | {"goal": seconds, "memory_goal": megabytes}


def machine():
    "Where it was measured."
    found = {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count(), "python": platform.python_version()}
    return found | {name: version(name) for name in ("numpy", "numba")}


# By name: the function, and the value that its goal is about; other goals are about these. Of AT_LEAST the goal is the least.
TABLES = {
    "rounds": (to_the_floor, "ratio"), "learners": (each_learner, ""), "adaptive": (adaptive_steps, "ratio"),
    "moments": (moments, "rounds_per_second"), "heads": (heads, "us"), "serving": (serving, "rounds_per_second"), "keeping": (keeping, ""),
    "by_hand": (by_hand, "us"), "few_rows": (few_rows, "us"), "papers": (papers, "seconds"), "aer": (aer, "rounds_per_second"),
    "dantzig": (dantzig_paths, "ratio"), "kale": (kale, "seconds"), "projection": (projection, "seconds"),
    "dictionary": (dictionary, "seconds"), "thresholding": (thresholding, "rounds_per_second"), "long": (long_runs, "seconds"),
    "cold": (cold_starts, "cold_seconds"), "peers": (peers, ""),
}  # fmt: skip
OTHER_GOALS = {"squares_goal": "squares", "memory_goal": "peak_mb"}
AT_LEAST = ("rounds_per_second", ("dantzig", "ratio"))


def words(name, key, value, row, about):
    "A value of a row as it is printed, with its goal."
    number = lambda v: str(v) if isinstance(v, (str, bool)) else f"{v:,.0f}" if abs(v) >= 1000 else f"{v:.4g}"
    text = f"{key} " + (", ".join(f"{k}: {number(v)}" for k, v in value.items()) if isinstance(value, dict) else number(value))
    goal = next((row[g] for g, measured in about.items() if measured == key and row.get(g) is not None), None)
    if goal is None: return text
    missed = value < goal if key in AT_LEAST or (name, key) in AT_LEAST else value > goal
    return f"{text} (goal {number(goal)}{', missed' if missed else ''})"


def measured(name):
    "A table, each row printed as soon as it is there."
    function, measure = TABLES[name]
    table, about = [], {"goal": measure, **OTHER_GOALS}
    for row in function():
        table.append(row)
        shown = {k: v for k, v in row.items() if v is not None and k not in about}
        print(f"{name}: {'; '.join(words(name, k, v, row, about) for k, v in shown.items())}", flush=True)
    return table


def main(names):
    "Measure everything; or tables by their names (serving, moments, long ...), beside what is stored of the others."
    unknown = set(names) - TABLES.keys()
    if unknown: sys.exit(f"unknown: {', '.join(sorted(unknown))}; the tables are {', '.join(TABLES)}")
    top = Path(__file__).parents[1]
    if names: result = json.loads((top / "oslr_nb/stored/speed.json").read_text())
    else:
        result = {"machine": machine(), **against_textbook(), "import_seconds": importing(), "peer_versions": peer_versions()}
        print(result, flush=True)
    result |= {name: measured(name) for name in names or TABLES}
    path = top / "_results" / "speed.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"stored in {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    os.environ["OSLR_QUIET"] = "1"
    with threadpool_limits(1): main(sys.argv[1:])
