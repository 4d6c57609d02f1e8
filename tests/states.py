"""State files of each release, with what has to come next: `python -m tests.states` writes those that are missing.

A file that is there is never written anew: later releases have to load it and go on with the same numbers (`test_states.py`). A new
version of the files (`storage.VERSION`) has a folder of its own. Before a release, while nobody has such files yet, a file whose
learner has changed may be removed and written again.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import oslr_nb as oslr
from oslr_nb.core.base.storage import VERSION
from oslr_nb.core.game.environment import measure, split_query
from oslr_nb.core.game.learner import Learner
from oslr_nb.own.choice import make_learner
from oslr_nb.practice import tables
from oslr_nb.practice.service import Service

HERE = Path(__file__).parent / "states"
FOLDER = HERE / str(VERSION)
D, BUDGET, PLAYED = 10, 6, 25
OPTIONS: list[tuple[str, dict[str, Any]]] = [  # besides those of test_learners.py
    ("own.PairwiseLeastSquares", {"memories": [10, None]}), ("own.PairwiseLeastSquares", {"budget": 4, "rows": 8}),
    ("own.PairwiseLeastSquares", {"budget": 4, "support": "exact"}),
    ("own.PairwiseLeastSquares", {"centre": False}), ("own.PairwisePOSLR", {"memory": 10}), ("own.PairwiseTrainingOnly", {"memory": 10}),
    ("own.CoinBetting", {"top": 1}),
]
SERVED = {"serve-auto": ("auto", 4), "serve-own.CoinBetting": ("own.CoinBetting", 4)}
RUNS = {"run-auto": {"budget": 3, "passes": 3}, "run-own.CoinBetting": {"budget": 3, "passes": 3, "learner": "own.CoinBetting",
                                                                        "impute": True, "encode": True}}


def stream() -> tuple[np.ndarray, np.ndarray]:
    "Forty small examples, kept as text: no generator has to give the same numbers in years to come."
    path = HERE / "stream.json"
    if not path.exists():
        rng = np.random.default_rng(17)
        X = np.round(rng.standard_normal((40, D)), 3)
        path.write_text(json.dumps({"X": X.tolist(), "y": np.round(X[:, 1] - X[:, 4] + 0.1 * rng.standard_normal(40), 3).tolist()}) + "\n")
    kept = json.loads(path.read_text())
    return np.array(kept["X"]), np.array(kept["y"])


def names() -> dict[str, tuple[str, dict[str, Any]]]:
    "Learner and options of each file."
    from test_learners import COMBINED, KEYS

    named = lambda key, kw: ",".join([key, *(f"{k}={v}".replace(" ", "") for k, v in kw.items())])
    return {named(key, kw): (key, kw) for key, kw in [*((key, {}) for key in KEYS), *COMBINED, *OPTIONS]}


def next_calls(lr: Learner, stage: int, x: np.ndarray, y: float) -> list[list[Any]]:
    "Play a round up to one of its calls; what is left of it, with arguments."
    arguments = {"update": y}
    for call in lr.calls[:stage]:
        answer = getattr(lr, call)(*([arguments[call]] if call in arguments else []))
        if call == "query": arguments[lr.calls[-2]] = measure(x, *split_query(answer, lr.d)).tolist()
    return [[call, arguments[call]] for call in lr.calls[stage:]] if stage else []


def go_on(lr: Learner, calls: list[list[Any]]) -> dict[str, Any]:
    "Finish the round, play the stream to its end, and tell what came out."
    X, y = stream()
    first = [None if (answer := getattr(lr, call)(value)) is None else float(answer) for call, value in calls]
    run = oslr.simulate(lr, X[PLAYED + 1 :], y[PLAYED + 1 :])
    return {"first": first, "predictions": run.predictions.tolist(), "coef": np.asarray(lr.coef_).tolist(),
            "intercept": float(lr.intercept_), "draw": lr.rng.random()}


def write_learner(name: str, path: Path) -> dict[str, Any]:
    "A learner in the middle of a stream, each one at another call of the round."
    from test_learners import CLASSES, budgets, make

    key, kw = names()[name]
    kw = ({"T": 40} if "T" in CLASSES[key].example else {}) | kw  # a horizon within which all phases are played
    lr = make(key, D, kw.pop("budget", next(b for b in budgets(key, D) if b >= BUDGET)), seed=4, **kw)
    X, y = stream()
    oslr.simulate(lr, X[:PLAYED], y[:PLAYED])
    stage = (0, 2, len(lr.calls) - 1)[sorted(names()).index(name) % 3]
    calls = next_calls(lr, stage, X[PLAYED], float(y[PLAYED]))
    lr.save(path)
    return {"calls": calls} | go_on(oslr.load(path), calls)


def read_learner(path: Path, told: dict[str, Any]) -> dict[str, Any]:
    "Load such a file and go on."
    return go_on(oslr.load(path), told["calls"])


def session(service: Service, rows: range, say: Callable[..., Any]) -> None:
    "Examples of the stream one after the other; every fourth is left without a label, where that is allowed."
    X, y = stream()
    for t in rows:
        S = say("query", id=f"é{t}")["features"]
        say("values", id=f"é{t}", values=X[t, S].tolist())
        if t % 4 or not service.learner.late_labels: say("label", id=f"é{t}", label=float(y[t]))


def write_service(name: str, path: Path) -> dict[str, Any]:
    "A service with open examples, and one in the middle of the only round that it may have."
    learner, budget = SERVED[name]
    service, lines, answers = Service(make_learner(learner, D, budget, 4)), [], []

    def say(op: str, **fields: Any) -> dict[str, Any]:
        lines.append(json.dumps({"op": op, **fields}))
        answers.append(service.answer(lines[-1].encode()))
        return json.loads(answers[-1])

    session(service, range(PLAYED), say)
    say("query", id=99)
    service.save(path)
    told = len(lines)
    say("skip", id=99)
    session(service, range(PLAYED, 40), say)
    say("weights")
    say("stats")
    return {"lines": lines[told:], "answers": answers[told:]}


def read_service(path: Path, told: dict[str, Any]) -> dict[str, Any]:
    "Restore a service and answer the same lines."
    learner, budget = SERVED[path.stem]
    service = Service(make_learner(learner, D, budget))
    service.restore(path)
    return {"answers": [service.answer(line.encode()) for line in told["lines"]]}


def write_table(path: Path) -> None:
    "The stream as CSV, with a column of text and a few gaps."
    X, y = stream()
    head = ",".join([*(f"x{i}" for i in range(D)), "city", "y"])
    rows = [[*map(repr, X[t].tolist()), ("Oslo", "Rome")[t % 2], repr(float(y[t]))] for t in range(len(y))]
    for t in range(3, 40, 7): rows[t][t % D] = ""
    path.write_text("\n".join([head, *(",".join(row) for row in rows)]) + "\n")


def run(folder: Path, name: str, **more: Any) -> dict[str, Any]:
    "Play the table; what the report holds, as JSON gives it back."
    write_table(folder / "table.csv")
    options = {"encode": True, "impute": True, "seed": 4, "every": 0} | RUNS[name] | more
    results = tables.run_table(folder / "table.csv", target="y", out=folder / "out", **options)
    return {k: results[k] for k in ("loss", "loss_of_running_mean", "bought", "weights", "intercept", "curve", "hindsight")}


class Enough(BaseException):
    "The run has come as far as it should."


def write_run(name: str, path: Path) -> dict[str, Any]:
    "The checkpoint of a run that was stopped after its second pass."
    with tempfile.TemporaryDirectory() as tmp:
        save, done = tables.save_checkpoint, []

        def stop(*args: Any) -> None:
            save(*args)
            done.append(args)
            if len(done) == 2: raise Enough

        tables.save_checkpoint = stop
        try: run(Path(tmp), name)
        except Enough: pass
        finally: tables.save_checkpoint = save
        path.write_bytes((Path(tmp) / "out" / "checkpoint.npz").read_bytes())
        return json.loads(json.dumps(run(Path(tmp), name, resume=True)))


def read_run(path: Path, told: dict[str, Any]) -> dict[str, Any]:
    "Resume from a copy of the checkpoint."
    with tempfile.TemporaryDirectory() as tmp:
        (Path(tmp) / "out").mkdir()
        (Path(tmp) / "out" / "checkpoint.npz").write_bytes(path.read_bytes())
        return json.loads(json.dumps(run(Path(tmp), path.stem, resume=True)))


def kinds() -> Iterator[tuple[str, Callable[..., Any], Callable[..., Any]]]:
    "Name of each file, what writes it and what reads it."
    for found, write, read in ((names(), write_learner, read_learner), (SERVED, write_service, read_service), (RUNS, write_run, read_run)):
        for name in found: yield name, write, read


def main() -> None:
    "Write what is missing."
    FOLDER.mkdir(parents=True, exist_ok=True)
    written = []
    for name, write, _ in kinds():
        path, beside = FOLDER / f"{name}.npz", FOLDER / f"{name}.json"
        if beside.exists(): continue
        told = write(name, path)
        beside.write_text(json.dumps(told) + "\n")
        written.append(name)
    kept = len(list(kinds())) - len(written)
    print(f"written: {', '.join(written) or 'nothing'}; {kept} files were there and stay as they are ({os.path.relpath(FOLDER)})")


if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent / "practice")]  # as pytest has it
    main()
