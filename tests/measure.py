"""What `make bench` and the guard in test_speed.py share: streams, the floor, plain rounds, and a fair way to time them."""

import threading
import time

import numba
import numpy as np

import oslr_nb as oslr
from oslr_nb.core.mathematics.designs import Observe, gradient_estimate
from oslr_nb.core.mathematics.geometry import proj_l1, top_k
from oslr_nb.core.mathematics.oco import dual_averaging_step


def in_turn(works, repetitions):
    "Smallest processor time of each piece of work, all run in turn: a busy moment of the machine hits all of them alike."
    best = dict.fromkeys(works, np.inf)
    for _ in range(repetitions):
        for name, work in works.items():
            start = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - start)
    return best


def watched(play, every=0.01):
    "Megabytes of the process's own (anonymous) memory before a piece of work, and the most while it runs; Linux tells them."
    def own():
        with open("/proc/self/status") as f: return next(int(line.split()[1]) for line in f if line.startswith("RssAnon")) / 1000
    samples, over = [own()], threading.Event()
    def watch():
        while not over.wait(every): samples.append(own())
    (thread := threading.Thread(target=watch)).start()
    play()
    over.set()
    thread.join()
    return samples[0], max(samples)


def stream(d, n):
    "n rows of norm 1, and labels that two of their features determine."
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, 0.5 * X[:, 0] - 0.5 * X[:, d // 2]


@numba.njit(nogil=True, error_model="numpy")
def gather(rng, X, rows, budget, out):
    "The floor: draw coordinates (one may come twice), read them, write one number; nothing is decided and nothing learnt."
    d = X.shape[1]
    for t in range(len(rows)):
        row, total = rows[t], 0.0
        for _ in range(budget): total += X[row, np.int64(rng.random() * d)]
        out[t] = total


@numba.njit(nogil=True, error_model="numpy")
def gather_distinct(rng, X, rows, budget, mark, out):
    "The same with distinct coordinates: one that this round has drawn is drawn again."
    d = X.shape[1]
    for t in range(len(rows)):
        row, total, stamp = rows[t], 0.0, mark[d] + 1
        mark[d] = stamp
        for _ in range(budget):
            i = np.int64(rng.random() * d)
            while mark[i] == stamp: i = np.int64(rng.random() * d)
            mark[i] = stamp
            total += X[row, i]
        out[t] = total


def floor(X, rows, budget):
    "Two pieces of work: the floor, and the floor with distinct coordinates; compiled already."
    rng, out, mark = np.random.default_rng(1), np.empty(len(rows)), np.zeros(X.shape[1] + 1, np.int64)
    works = lambda rows: {
        "floor": lambda: gather(rng, X, rows, budget, out), "distinct": lambda: gather_distinct(rng, X, rows, budget, mark, out),
    }
    for work in works(rows[:9]).values(): work()
    return works(rows)


def rounds_of(learner, X, y, rows, warm=20_000, **options):
    "The work of so many rounds of a learner that has played `warm` already: its early rounds change more."
    oslr.simulate(learner, X, y, rows=np.resize(rows, warm), **options)
    return lambda: oslr.simulate(learner, X, y, rows=rows, **options)


def repeated(step, rounds, every=1):
    "The work of a step for each `every`-th number below `rounds`."
    def play():
        for t in range(0, rounds, every): step(t)
    return play


def rounds_by_hand(learner, X, y, rounds):
    "The work of query, predict, update from Python, so many times."
    n = len(X)
    def step(t):
        S = learner.query()
        learner.predict(X[t % n, S])
        learner.update(y[t % n])
    (play := repeated(step, rounds))()
    return play


def textbook(X, y, top, budget, rounds):
    "The work of Algorithm 1 of Ito et al. 2017 in plain numpy: dense, with d x d probabilities."
    d, rng = X.shape[1], np.random.default_rng(0)
    def play():
        h = np.zeros(d)
        for t in range(rounds):
            w = dual_averaging_step(h, 8 * np.sqrt(t + 1))
            U = top_k(w, top)
            S = np.concatenate([U, rng.choice(np.setdiff1d(np.arange(d), U), budget - top, replace=False)])
            h = h + gradient_estimate(X[t, S], S, y[t], w, Observe(d, budget, tuple(U)).second())
    return play


def textbook_aer(X, y, lam, radius, rounds):
    "The work of AER with k = 4 in plain numpy."
    d, rng = X.shape[1], np.random.default_rng(0)
    def play():
        w, total = np.zeros(d), np.zeros(d)
        for t in range(1, rounds + 1):
            x, norm = X[t % 50], np.abs(w).sum()
            C = rng.choice(d, 2, replace=False)
            draws = rng.choice(d, 2, p=np.abs(w) / norm) if norm > 0 else []
            yhat = sum(np.sign(w[i]) * norm * x[i] for i in draws) / 2
            w = (1 - 1 / t) * w
            w[C] -= 2 / (lam * t) * (yhat - y[t % 50]) * d / 2 * x[C]
            w = proj_l1(w, radius)
            total += w
    return play


def ten_calls(rounds):
    "The work of ten small calls of numpy, so many times: what Python and numpy cost on this machine at this moment."
    x, S = np.linspace(-1.0, 1.0, 10), np.arange(10)
    def step(t):
        a = np.asarray(x, dtype=np.float64).copy()
        b = np.abs(a)
        b.max(), b.sum(), np.isfinite(a).all(), a @ b, a[S], np.sort(b)
    return repeated(step, rounds)
