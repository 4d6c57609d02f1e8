"""Measure speed (`make bench`): rounds a second, one round by hand, the papers' runs, cold start. Writes _results/speed.json.

`make store` keeps it in nbs/results/, where the page on speed shows it.

Times are the best of several repetitions on one thread, in processor time; they are noisy, so compare ratios within one run.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import oslr_nb as oslr
from oslr_nb.designs import Observe, gradient_estimate
from oslr_nb.geometry import proj_l1, top_k
from oslr_nb.oco import dual_averaging_step

# (d, top, budget, rows of the table, rounds): a table that stays in the cache, and one read from memory
SIZES = [
    (20, 5, 10, 1000, 1_000_000),
    (384, 5, 10, 100, 1_000_000),
    (384, 5, 10, 50_000, 1_000_000),
    (384, 60, 70, 53_500, 53_500),
    (10_000, 5, 10, 100, 1_000_000),
    (1_000_000, 5, 10, 50, 1_000_000),
]
TARGETS = {20: 5e6, 384: 5e6, 10_000: 2e6, 1_000_000: 1e6}


def best_of(repetitions, work):
    "Smallest processor time of several repetitions; work() returns the function to be timed."
    times = []
    for _ in range(repetitions):
        f = work()
        start = time.process_time()
        f()
        times.append(time.process_time() - start)
    return min(times)


def stream(d, n):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, 0.5 * X[:, 0] - 0.5 * X[:, d // 2]


def compiled(d, top, budget, n, T):
    "Rounds a second of simulate."
    X, y = stream(d, n)
    rows = np.arange(T) % n

    def work():
        lr = oslr.ito2017.RDA1(d, budget, top=top, step=2, seed=1)
        oslr.simulate(lr, X, y, rows=rows[:100])
        return lambda: oslr.simulate(lr, X, y, rows=rows)

    return T / best_of(5, work)


def by_hand(d, top, budget, n, rounds=2000):
    "Seconds of one query, predict, update, checks included."
    X, y = stream(d, n)

    def work():
        lr = oslr.ito2017.RDA1(d, budget, top=top, step=2, seed=1)

        def play(count):
            for t in range(count):
                S = lr.query()
                lr.predict(X[t % n, S])
                lr.update(y[t % n])

        play(50)
        return lambda: play(rounds)

    return best_of(3, work) / rounds


def textbook(d, top, budget, rounds=300):
    "Seconds of one round of Algorithm 1 in plain numpy, dense, with d x d probabilities."
    X, y = stream(d, rounds)
    rng = np.random.default_rng(0)

    def play():
        h = np.zeros(d)
        for t in range(rounds):
            w = dual_averaging_step(h, 8 * np.sqrt(t + 1))
            U = top_k(w, top)
            S = np.concatenate([U, rng.choice(np.setdiff1d(np.arange(d), U), budget - top, replace=False)])
            h = h + gradient_estimate(X[t, S], S, y[t], w, Observe(d, budget, tuple(U)).second())

    return best_of(2, lambda: play) / rounds


def papers():
    "Seconds of the runs whose times Ito et al. 2017 report, with their seconds and our goals: rows of the page on speed."
    small, big = (20, 5, 5, 7, 5000), (384, 60, 60, 70, 53_500)  # d, k, top, budget, rounds
    make = {
        "FKK": lambda d, k, top, b, T: oslr.foster2016.FKK(d, b, k, T, seed=1),
        "OnlineAELR": lambda d, k, top, b, T: oslr.hazan2012.OnlineAELR(d, b, T, seed=1),
        "RDA1": lambda d, k, top, b, T: oslr.ito2017.RDA1(d, b, top=top, step=2, seed=1),
        "RDA2": lambda d, k, top, b, T: oslr.ito2017.RDA2(d, b, seed=1),
        "RDA3": lambda d, k, top, b, T: oslr.ito2017.RDA3(d, b, seed=1),
        "GreedyRDA": lambda d, k, top, b, T: oslr.ito2017.GreedyRDA(d, b, step=2, seed=1),
        "UniformRDA": lambda d, k, top, b, T: oslr.ito2017.UniformRDA(d, b, step=2, seed=1),
    }
    goals = {
        ("FKK", small): (3.0, 1176), ("OnlineAELR", small): (0.02, 6), ("RDA1", small): (None, 1),
        ("RDA1", big): (0.06, 195), ("RDA2", big): (0.06, 35), ("RDA3", big): (0.06, None),
        ("GreedyRDA", big): (None, 147), ("UniformRDA", big): (None, 382), ("OnlineAELR", big): (None, 477),
    }  # fmt: skip
    rows = []
    for (name, size), (goal, paper) in goals.items():
        d, _, _, budget, T = size
        X, y = stream(d, T)
        oslr.simulate(make[name](*size), X[:50], y[:50])  # compiled before the clock starts
        seconds = best_of(3, lambda: lambda: oslr.simulate(make[name](*size), X, y))  # noqa: B023  (called at once)
        rows.append({"learner": name, "d": d, "budget": budget, "T": T, "seconds": seconds, "goal": goal, "paper": paper})
        aim = f" (goal {goal:g} s)" if goal else ""
        print(f"{name}, d = {d}, k' = {budget}, T = {T:,}: {seconds:.4f} s{aim}; paper {paper or '-'} s", flush=True)
    return rows


def pixels(d, n):
    "n rows like images: half of the d values are 0, the others between 0 and 1; the labels are two groups of rows."
    rng = np.random.default_rng(0)
    X = rng.random((n, d))
    X[rng.random((n, d)) < 0.5] = 0
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X[:, : d // 2] *= 0.5 + 0.5 * (y[:, None] > 0)
    return X, y


def textbook_aer(d, lam, radius, rounds):
    "Seconds of one round of AER with k = 4 in plain numpy."
    X, y = pixels(d, 50)
    rng = np.random.default_rng(0)

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

    return best_of(2, lambda: play) / rounds


def aer():
    "Rounds a second of AER without scoring, k = 4, with our goals, and seconds of a textbook round."
    table = []
    sizes = (784, 1000, 1_000_000, 1.5e6, 2000), (10_000, 100, 1_000_000, 0.7e6, 300), (10**6, 50, 400_000, 0.3e6, 5)
    for d, n, T, goal, rounds in sizes:  # n rows of the table, T rounds of AER, `rounds` of the textbook
        X, y = pixels(d, n)
        rows, lam = np.arange(T) % n, 15 * d / 784

        def work(d=d, T=T, lam=lam, X=X, y=y, rows=rows):
            lr = oslr.cesabianchi2010.AER(d, 4, T=T, radius=8.0, lam=lam, seed=1)
            oslr.simulate(lr, X, y, rows=rows[:100], score=False)
            return lambda: oslr.simulate(lr, X, y, rows=rows, score=False)

        row = {"d": d, "budget": 4, "rounds_per_second": T / best_of(3, work), "goal": goal}
        row["textbook_seconds"] = textbook_aer(d, lam, 8.0, rounds)
        table.append(row)
        ratio = row["textbook_seconds"] * row["rounds_per_second"]
        print(f"AER, d = {d:>9,}, k = 4: {row['rounds_per_second'] / 1e6:.2f} M rounds/s (goal {goal / 1e6:g} M); ", end="")
        print(f"textbook numpy {row['textbook_seconds'] * 1e6:,.0f} us a round, {ratio:,.0f} times slower", flush=True)
    return table


def cold_start():
    "Seconds of wall time in a fresh process: import; first simulate with and without compiled code on disk."
    code = "import time; a = time.perf_counter(); import oslr_nb as o; b = time.perf_counter(); import numpy as np; "
    code += "o.simulate(o.ito2017.RDA1(20, 10, k=5), np.ones((9, 20)) / 5, np.ones(9)); print(b - a, time.perf_counter() - b)"
    found = {}
    with tempfile.TemporaryDirectory() as cache:
        run = lambda: [
            float(v)
            for v in subprocess.run(
                [sys.executable, "-c", code], env=os.environ | {"NUMBA_CACHE_DIR": cache}, capture_output=True, text=True, check=True
            ).stdout.split()
        ]
        shutil.rmtree(cache)
        Path(cache).mkdir()
        found["import oslr_nb"], found["first simulate, nothing compiled yet"] = run()
        found["first simulate, compiled code on disk"] = min(run()[1] for _ in range(3))
    return found


def main():
    rounds = []
    for size in SIZES:
        d, top, budget, n, _ = size
        row = {"d": d, "top": top, "budget": budget, "rows": n}
        row |= {"rounds_per_second": compiled(*size), "seconds_by_hand": by_hand(d, top, budget, n)}
        rounds.append(row)
        rate, hand = row["rounds_per_second"] / 1e6, row["seconds_by_hand"] * 1e6
        goal = f" (goal {TARGETS[d] / 1e6:g} M)" if budget == 10 and n != 50_000 else ""
        print(f"d = {d:>9,}, k1 = {top}, k' = {budget}, {n:>6,} rows: ", end="")
        print(f"simulate {rate:5.2f} M rounds/s{goal}; by hand {hand:.1f} us", flush=True)
    plain = textbook(20, 5, 10)
    ratio = plain * rounds[0]["rounds_per_second"]
    print(f"textbook numpy, d = 20: {plain * 1e6:.0f} us a round; simulate is {ratio:,.0f} times faster")
    table, aer_table = papers(), aer()
    cold = cold_start()
    for name, seconds in cold.items(): print(f"{name}: {seconds:.2f} s")
    machine = {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()}
    machine |= {"python": platform.python_version(), "numpy": np.__version__}
    result = {"machine": machine, "rounds": rounds, "textbook_seconds": plain, "ratio_to_textbook": ratio}
    result |= {"papers": table, "aer": aer_table, "cold_seconds": cold}
    path = Path(__file__).parents[1] / "_results" / "speed.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n")
    print(f"stored in {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")


if __name__ == "__main__":
    main()
