"""Run the ledger with other seeds and other rounding: `make shake`, or `python -m tests.shake [PAPER or ID ...] --seeds 20`.

A claim that holds for one seed on one machine certifies nothing. A *salt* is a word that every seed gets on its way to numpy; with it go
numbers that Python code draws moved by one unit in the last place. Beside the salts the ledger is run as it is under other kernels of
linear algebra and without numpy's wide instructions. What is not as expected even once is listed, and so is every row whose two sides
come near each other for chance to play a part.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

TOP = Path(__file__).parents[1]
MACHINES = {  # names of the other machines, and what shows them here
    "Haswell": {"OPENBLAS_CORETYPE": "Haswell"}, "Prescott": {"OPENBLAS_CORETYPE": "Prescott"},
    "narrow": {"NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX2 FMA3", "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA"},
}
ROOM = 4.4  # standard deviations: a normal number is farther off in 5 of a million cases
CERTAIN = 12.2  # cases of a control that fail on average: none fails in 5 of a million draws if they are independent
CHEAP = 1.0  # seconds of a row after which its controls stop at the first case that fails


class Shaken(np.random.Generator):
    "A generator whose real numbers are moved by one unit in the last place, up or down."

    def __reduce__(self): return type(self), (self.bit_generator,)


def moved(x):
    "The number or array, moved; whole numbers stay, since signs and counts are exact on every machine."
    a = np.asarray(x)
    if a.dtype != np.float64 or not a.size: return x
    up = np.nextafter(a, np.where(a.view(np.uint64) & 2, np.inf, -np.inf))
    new = np.where(a == np.floor(a), a, up)
    return new if isinstance(x, np.ndarray) else float(new)


DRAWS = ("standard_normal", "normal", "uniform", "random", "dirichlet", "exponential", "standard_exponential", "beta", "gamma", "laplace")
for name in DRAWS:
    def draw(self, *args, _name=name, **kw): return moved(getattr(np.random.Generator, _name)(self, *args, **kw))

    setattr(Shaken, name, draw)


@contextmanager
def salted(word: int, shake: bool = False) -> Iterator[None]:
    "Every seed that is given to numpy gets one more word; with `shake` real numbers are moved, too. 0 changes no seed."
    whole, plain = np.random.SeedSequence, np.random.default_rng

    class Salted(whole):
        def __init__(self, entropy=None, **kw):
            if entropy is not None and word: entropy = [*np.atleast_1d(np.asarray(entropy, dtype=object)).tolist(), word]
            super().__init__(entropy, **kw)

    def default_rng(seed=None):
        if isinstance(seed, (np.random.Generator, np.random.BitGenerator)): return plain(seed)
        bits = np.random.PCG64(seed if isinstance(seed, whole) else Salted(seed))
        return Shaken(bits) if shake else np.random.Generator(bits)

    np.random.SeedSequence, np.random.default_rng = Salted, default_rng
    try: yield
    finally: np.random.SeedSequence, np.random.default_rng = whole, plain


def run_salt(word: int, names: list[str], path: Path) -> None:
    "All rows with one salt, in this process: a line of JSON each, with all cases, of cheap controls too."
    import oslr_nb.ledger.claims as engine

    with salted(word, shake=word > 0), engine.one_thread(), path.open("w") as out:
        for id in engine.claim_ids(names):
            begun, claim, found = time.process_time(), engine.CLAIMS[id], {}

            def evidence(check, until_failure=False, claim=claim, found=found, begun=begun):  # controls go on after their first failure
                cheap, plain = time.process_time() - begun < CHEAP, partial(engine.Claim.evidence, claim, check)
                try: sides = plain(until_failure and not cheap)
                except ValueError: sides = plain(until_failure)  # a control may leave the domain of its bound behind the case that fails
                found.setdefault(check, sides)
                return [next((e for e in sides if not e.holds), sides[-1])] if until_failure else sides

            claim.evidence = evidence
            try: record = claim.run()
            except Exception as e:
                row = {"id": id, "tier": "", "status": f"{type(e).__name__}: {e}", "ok": False, "claim": [], "controls": {}}
                out.write(json.dumps(row) + "\n")
                continue
            told = lambda check, found=found: [[float(e.lhs), e.op, float(e.rhs), e.holds] for e in found[check]]
            row = {"id": id, "tier": record.tier, "status": record.status, "ok": record.as_expected, "seconds": time.process_time() - begun,
                   "claim": told(claim.correction[1] if claim.correction else claim.check),
                   "controls": {why: told(f) for why, f in claim.controls.items()}}
            out.write(json.dumps(row) + "\n")
            out.flush()


def start(name: str, word: int, names: list[str], folder: Path) -> str:
    "A process for one salt or machine; what went wrong, or nothing."
    path = folder / f"{name}.jsonl"
    if path.exists(): return ""
    command = [sys.executable, "-m", "tests.shake", "--one", str(word), "--file", str(path) + ".part", *names]
    env = os.environ | MACHINES.get(name, {})
    done = subprocess.run(command, cwd=TOP, env=env, capture_output=True, text=True, check=False)
    if done.returncode: return f"{name}: {done.stderr[-2000:]}"
    os.replace(str(path) + ".part", path)
    return ""


def room(cases: list[list[list]]) -> np.ndarray:
    """How far each case is from the limit of its relation, over the salts: one less the mean quotient of smaller and larger side, in
    standard deviations of the quotient; positive where it holds; infinite where nothing varies, or a side is not positive."""
    found = []
    for case in zip(*cases, strict=True):
        logs = [math.log(a / b) if op == "<=" else math.log(b / a) for a, op, b, _ in case if op != "==" and a > 0 and b > 0]
        sign = -1 if logs and np.mean(logs) > 0 else 1
        quotient = np.exp(sign * np.array(logs))
        spread = np.std(quotient, ddof=1) if len(logs) == len(case) > 1 else 0.0
        holds = all(e[3] for e in case) - all(not e[3] for e in case)
        found.append(sign * (1 - quotient.mean()) / spread if spread > 1e-6 else holds * math.inf if holds else 0.0)
    return np.array(found)


def doubts(found: list[dict]) -> Iterator[str]:
    "What of a row may go wrong by chance."
    if found[0]["tier"] in ("statistical", "rate"):
        z = room([row["claim"] for row in found])
        if z.min() < ROOM: yield f"case {z.argmin()} has room {z.min():.1f}"
    for why in found[0]["controls"]:
        cases = [row["controls"][why] for row in found]
        few = min(map(len, cases))
        z = room([c[:few] for c in cases])
        failing = np.mean([sum(not e[3] for e in c) for c in cases])
        if z.min() > -ROOM and failing < CERTAIN: yield f"control with room {-z.min():.1f}, {failing:.1f} of {few} cases fail: {why}"


def report(folder: Path) -> bool:
    "Print what was ever not as expected, and what may be so by chance; keep the figures."
    runs = {p.stem: {row["id"]: row for row in map(json.loads, p.open())} for p in sorted(folder.glob("*.jsonl"))}
    ids, red, doubtful, kept = list(dict.fromkeys(id for found in runs.values() for id in found)), 0, 0, {}
    for id in ids:
        found = {name: rows[id] for name, rows in runs.items() if id in rows}
        wrong = [name for name, row in found.items() if not row["ok"]]
        if wrong: print(f"{id:6} not as expected in {len(wrong)} of {len(found)} ({', '.join(wrong[:6])}): {found[wrong[0]]['status']}")
        salts = [row for name, row in found.items() if name.startswith("salt") and row["claim"]]
        for doubt in doubts(salts) if len(salts) > 1 else ():
            print(f"{id:6} {doubt}")
            doubtful += 1
        red += bool(wrong)
        if salts and salts[0]["tier"] in ("statistical", "rate"): kept[id] = room([row["claim"] for row in salts]).min()
    print(f"{len(runs)} runs of {len(ids)} rows: {red} ever not as expected, {doubtful} with little room")
    (folder / "room.json").write_text(json.dumps({"runs": sorted(runs), "red": red, "room": kept}, indent=1))
    return not red


def main() -> None:
    "The command."
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="papers or ids (default: all)")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1, help="first salt")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--no-machines", action="store_true")
    parser.add_argument("--folder", type=Path, default=TOP / "_results" / "shake")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.one is not None: return run_salt(told.one, told.names, told.file)
    told.folder.mkdir(parents=True, exist_ok=True)
    todo = [] if told.no_machines else [(name, 0) for name in MACHINES]
    todo += [(f"salt{w}", w) for w in range(told.first, told.first + told.seeds)]
    begun = time.perf_counter()
    with ThreadPoolExecutor(told.jobs) as pool:
        for problem in pool.map(lambda job: start(*job, told.names, told.folder), todo):
            if problem: print(problem)
    print(f"{time.perf_counter() - begun:.0f} s")
    sys.exit(not report(told.folder))


if __name__ == "__main__": main()
