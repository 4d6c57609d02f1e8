"""Kill -9 while `oslr run` plays and while `oslr serve` answers: `python -m tests.kills run FOLDER 50`, or `serve`.

One warm process forks the command again and again, so that a life costs some milliseconds instead of the start of Python. Half of the
kills come at random moments of the clock, half as soon as a file is being written. What the command leaves has to equal, byte for
byte, what it leaves when nobody disturbs it. Prints as JSON how many kills there were and what they hit.
"""

import contextlib
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from tqdm import tqdm

from oslr_nb.cli import app
from oslr_nb.core.base.storage import read_file
from oslr_nb.practice import service as sv
from oslr_nb.practice.tables import run_table

FILES = ("report.md", "report.html", "card.md", "results.json", "model.json", "model.npz", "loss.png", "checkpoint.npz")
ROWS, PASSES = 400, 30
tqdm.set_lock(threading.RLock())  # its own is shared with all forks: one that is killed while it holds it would stop the others for ever


def fork(*args: Any, fds: tuple[int, ...], done: tuple[int, ...] = ()) -> BaseProcess:
    "The command in a fork, with these as its standard input, output and error; it closes those of `done`."

    def work() -> None:
        sync = os.fsync
        os.fsync = lambda f: (time.sleep(0.003), sync(f))  # a slow disk: a file that is being written is seen on any machine
        for target, source in enumerate(fds): os.dup2(source, target)
        for f in done: os.close(f)
        app([str(a) for a in args])

    (process := get_context("fork").Process(target=work)).start()
    return process


def parts(folder: Path) -> set[str]:
    "Files that are half written."
    with contextlib.suppress(FileNotFoundError): return {e.name for e in os.scandir(folder) if e.name.endswith(".part")}
    return set()


def enough(done: int, hits: int, kills: int) -> bool:
    "Whether there were as many kills as asked for, three of them in the middle of a write; on a busy machine that takes some more."
    return done >= kills and (hits >= 3 or done >= 4 * kills)


def kill(process: BaseProcess, folder: Path, rng: random.Random, span: float, ready: Callable[[], bool] = lambda: True) -> None:
    "Kill -9 a random share of `span` seconds after it is ready; every second time as soon as a file is being written after that."
    while process.is_alive() and not ready(): time.sleep(0.001)
    moment, writing = time.monotonic() + rng.uniform(0, span), rng.random() < 0.5
    while process.is_alive() and (left := moment - time.monotonic()) > 0: time.sleep(min(0.001, left))
    old = parts(folder)
    while writing and process.is_alive() and time.monotonic() < moment + 2 * span and not parts(folder) - old: time.sleep(0.0001)
    if writing: time.sleep(max(0, rng.uniform(-0.001, 0.001)))
    process.kill()


# --- oslr run
def write_tables(folder: Path) -> dict[str, list[str]]:
    "Two tables, one with gaps, and the options with which they are played."
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, 12)) + 1
    y = X[:, 3] - X[:, 8] + rng.standard_normal(ROWS)
    out = {}
    for name, more in (("whole", []), ("gaps", ["--impute"])):
        if more: X[rng.random(X.shape) < 0.02] = np.nan
        pa.csv.write_csv(pa.table({f"x{i}": pa.array(X[:, i], from_pandas=True) for i in range(12)} | {"y": y}), folder / f"{name}.csv")
        out[name] = ["run", folder / f"{name}.csv", "--target", "y", "--budget", 4, "--passes", PASSES, "--every", 0, "--resume", *more]
    return out


def rounds_in(out: Path) -> int:
    "Rounds that the checkpoint knows."
    return read_file(out / "checkpoint.npz")[0]["done"] if (out / "checkpoint.npz").exists() else 0


def left_alone(args: list[Any], folder: Path, out: Path, silent: int) -> tuple[dict[str, bytes], float, float]:
    "What a run writes that nobody disturbs, and the seconds of a pass and of the report."
    run_table(args[1], target="y", budget=4, out=folder / f"warm {out.name}", impute="--impute" in args)  # compiles, or reads the cache
    start = time.time()
    process = fork(*args, "--out", out, fds=(silent, silent, silent))
    process.join()
    assert process.exitcode == 0
    played = (out / "checkpoint.npz").stat().st_mtime  # the last one; then comes the report
    return {f: (out / f).read_bytes() for f in FILES}, (played - start) / PASSES, time.time() - played


def kill_runs(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    "Runs that are killed and resumed until they are done, compared with one that was left alone; each tenth kill is to hit the report."
    silent, rng, hits, places, series = os.open(os.devnull, os.O_RDWR), random.Random(seed), 0, [], 0
    commands = write_tables(folder)
    whole = {name: left_alone(args, folder, folder / name, silent) for name, args in commands.items()}
    while not enough(len(places), hits, kills):
        name, out = list(commands)[series % 2], folder / f"cut {series}"
        wanted, of_pass, of_report = whole[name]
        series += 1
        while True:
            process, report = fork(*commands[name], "--out", out, fds=(silent, silent, silent)), len(places) % 10 == 9
            goal = ROWS * PASSES if report else rounds_in(out) + ROWS * rng.randint(0, PASSES // 5)
            if not enough(len(places), hits, kills):
                kill(process, out, rng, of_report if report else of_pass, lambda out=out, goal=goal: rounds_in(out) >= goal)
            process.join()
            if process.exitcode == 0: break
            assert process.exitcode == -signal.SIGKILL, process.exitcode
            hits += bool(parts(out))
            places.append(rounds_in(out) / (ROWS * PASSES))
        assert {f: (out / f).read_bytes() for f in FILES} == wanted and not parts(out), f"another result in {out}"
    return {"kills": len(places), "while writing": hits, "series": series, "places": [round(p, 3) for p in places]}


# --- oslr serve
def talk(source: int, sink: int, lines: list[bytes], rng: random.Random, said: bytearray) -> None:
    "Send lines in lots of one to twenty, and wait for the answers to each lot; ends when the service does."
    lots, expected = list(lines), 0
    with contextlib.suppress(BrokenPipeError):
        while lots:
            size = rng.randint(1, 20)
            lot, lots, expected = lots[:size], lots[size:], expected + len(lots[:size])
            os.write(sink, b"".join(line + b"\n" for line in lot))
            while said.count(b"\n") < expected:
                if not (chunk := os.read(source, 2**16)): return
                said += chunk


def session(folder: Path) -> tuple[list[Any], list[bytes], list[bytes]]:
    """Arguments of a service with prices, groups and history, the lines of a session in which a third of the measurements fail, values
    come by name and labels late, with nonsense in between, and its answers; the history has unknown values, too."""
    rng, names = np.random.default_rng(4), ["city=Oslo", "city=Rome", "city=", *(f"test {i}" for i in range(9))]
    X = np.column_stack([np.eye(3)[rng.integers(3, size=700)], rng.standard_normal((700, 9))])
    y = 3 * X[:, 0] - 2 * X[:, 5] + X[:, 8] + 0.1 * rng.standard_normal(700)
    known = np.where(rng.random((300, 12)) < 0.3, np.nan, X[:300])
    columns = {name: pa.array(known[:, i], from_pandas=True) for i, name in enumerate(names)}
    pa.csv.write_csv(pa.table(columns | {"y": y[:300]}), folder / "old.csv")
    prices = [f"{name},{2 if i < 3 else 1 + i % 4 // 2},{'blood' if i in (6, 7) else ''}" for i, name in enumerate(names)]
    (folder / "prices.csv").write_text("\n".join(["feature,price,group", *prices]))
    learner = sv.first_learner("auto", None, 7.0, 3, folder / "prices.csv")
    sv.History(folder / "old.csv", "y").teach(learner)
    service, lines, answers, waiting = sv.Service(learner), [], [], []

    def say(op: str, **fields: Any) -> dict[str, Any]:
        lines.append(json.dumps({"op": op, **fields}).encode())
        answers.append(service.answer(lines[-1]).encode() + b"\n")
        return json.loads(answers[-1])

    for t in range(120):
        asked = say("query", id=t)["names"]
        row = dict(zip(names, X[300 + t].tolist(), strict=True))
        assert "prediction" in say("values", id=t, values={name: None if rng.random() < 0.3 else row[name] for name in asked})
        if t % 9 == 8: say("values", id=t, values={"no": 1})
        if t % 9 == 7: say("dance", id=t)
        if t % 9 == 4: say("skip", id=t)
        else: waiting.append(t)
        if len(waiting) > 5: say("label", id=(late := waiting.pop(int(rng.integers(len(waiting))))), label=float(y[300 + late]))
    assert service.rounds > 90 and service.learner.params["groups"][6:8] == ["blood", "blood"]
    args = ["--costs", folder / "prices.csv", "--budget", 7, "--seed", 3, "--history", folder / "old.csv", "--target", "y"]
    return args, lines, answers


def serve_once(
    args: list[Any], state: Path, lines: list[bytes], rng: random.Random, pace: float | None, silent: int
) -> tuple[int, int, int, list[bytes]]:
    """One life of the service, which is sent some of the lines that it does not know, and killed while it answers.

    Without `pace`, seconds a line, it is sent all of them, and not killed. Exit code, lines that it knew (-1: it was not asked), lines
    that it was sent, answers.
    """
    (source, to_child), (from_child, sink) = os.pipe(), os.pipe()
    process = fork("serve", *args, "--state", state, "--every", 4, fds=(source, sink, silent), done=(to_child, from_child))
    os.close(source)
    os.close(sink)
    known, sent, said, left = -1, 0, bytearray(), to_child
    if pace is not None and rng.random() < 0.1: kill(process, state.parent, rng, 0.01)  # it is killed while it starts
    else:
        first = b""
        while not first.endswith(b"\n"): first += os.read(from_child, 1)
        known = json.loads(first)["lines"]
        sent = len(lines) - known if pace is None else rng.randint(0, min(len(lines) - known, len(lines) // 4))
        words = from_child, to_child, lines[known : known + sent], random.Random(rng.random()), said
        (client := threading.Thread(target=talk, args=words)).start()
        if pace is not None: kill(process, state.parent, rng, pace * sent)
        client.join()
    if pace is None: left = os.close(to_child)
    while chunk := os.read(from_child, 2**16): said += chunk
    os.close(from_child)
    if left is not None: os.close(left)
    process.join()
    return process.exitcode, known, sent, bytes(said).splitlines(keepends=True)


def kill_services(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    "Services that are killed and started again: each knows what was answered, and the file at the end is that of one that was left alone."
    rng, silent, done, hits, series, unheard, places = random.Random(seed), os.open(os.devnull, os.O_RDWR), 0, 0, 0, 0, []
    args, lines, answers = session(folder)
    serve_once(args, folder / "warm.npz", lines[:5], rng, None, silent)
    start = time.monotonic()
    code, _, _, said = serve_once(args, folder / "whole.npz", lines, rng, None, silent)
    pace = (time.monotonic() - start) / len(lines)
    assert code == 0 and said == answers
    while not enough(done, hits, kills):
        state, heard, told = folder / str(series) / "s.npz", 0, 0  # lines that were answered, and that were sent
        state.parent.mkdir()
        series += 1
        while True:
            undisturbed = enough(done, hits, kills) or heard > 0.97 * len(lines)
            code, known, sent, said = serve_once(args, state, lines, rng, None if undisturbed else pace, silent)
            if known >= 0:
                assert heard <= known <= told, f"{heard} lines were answered, {told} sent, and {known} are known"
                assert b"".join(answers[known:]).startswith(b"".join(said)), "another answer"
                unheard += known - heard
                heard, told = known + sum(a.endswith(b"\n") for a in said), known + sent
            if code == 0: break
            assert code == -signal.SIGKILL, code
            done, hits = done + 1, hits + bool(parts(state.parent))
            places.append(heard / len(lines))
        assert heard == len(lines) and {f.name for f in state.parent.iterdir()} == {"s.npz", "s.npz.journal"}
        assert state.read_bytes() == (folder / "whole.npz").read_bytes(), f"another state in {state}"
    return {"kills": done, "while writing": hits, "series": series, "kept unheard": unheard, "places": [round(p, 3) for p in places]}


if __name__ == "__main__":
    kind, place, number = sys.argv[1:4]
    kinds = {"run": kill_runs, "serve": kill_services}
    print(json.dumps(kinds[kind](Path(place), int(number), int(sys.argv[4]) if sys.argv[4:] else 0)))
