"""Mutation testing (`make mutants`): would a wrong constant, sign, power or index in the mathematics be noticed?

Mutants are made one at a time in the functions that carry the mathematics: kernels, learners, estimators, designs, `bound_*`. Each is
put before the claims that call the function and take at most a second each, and if all hold, before the tests of its module.
A function that is not compiled is changed in a fork of this process; a kernel is changed in a copy of the package, where numba compiles
it and all that uses it anew. Writes _results/mutants.json; `python -m tests.mutants --help` lists the options.
"""

import argparse
import ast
import importlib
import json
import multiprocessing
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from queue import Queue
from types import CodeType, FrameType, FunctionType
from typing import Any

from oslr_nb.core.base.kernels import source_digest
from oslr_nb.ledger.claims import CLAIMS, claim_ids, run_claim, stored_rows

TOP = Path(__file__).parents[1]
# Of the core, these modules; and every module of the papers and of our own.
MODULES = ["compiled", "designs", "geometry", "oco", "experts", "bandits", "trees", "sparse/dantzig_selector", "sparse/selectors"]
PATIENCE = 120.0  # seconds of all claims that are tried on one mutant; five times as many where kernels compile, and for tests
FORK = multiprocessing.get_context("fork")
PARTS = ("oslr_nb", "nbs", "tests", "website", "settings.ini", "pyproject.toml", "_quarto.yml")
# Argument checks and array sizes are no mathematics; a mutant there says nothing about a theorem.
SKIPPED_CALLS = re.compile(r"^(check_\w+|fail|warn|zeros|empty|arange|register|refuse\w*|isclose|allclose|top_buffer|default_rng)$")
SWAPS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*"}
COMPARISONS = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}


@dataclass(frozen=True)
class Mutant:
    "One change of the source: `new` in the place of text[start:end], in a function of a module; the expression before and after."

    module: str
    function: str
    line: int
    kind: str
    before: str
    after: str
    start: int
    end: int
    new: str

    @property
    def key(self) -> str:
        "A name that does not change when lines move."
        return f"{self.module}:{self.function}: {self.before} -> {self.after}"

    def applied(self, text: str) -> str:
        "The module's text with the change."
        return text[: self.start] + self.new + text[self.end :]


def sources(root: Path) -> list[Path]:
    "The modules that hold mathematics: some of the core, the papers, our own, and the kernels of the papers' checks."
    package = root / "oslr_nb"
    found = [next((package / "core").rglob(f"{name}.py")) for name in MODULES]
    found += [path for part in ("papers", "own") for path in (package / part).rglob("*.py")]
    no_papers = ("core.py", "own", "claims.py", "problems.py")
    found += [p for p in (package / "ledger").rglob("*.py") if p.relative_to(package).parts[1] not in no_papers]
    return sorted(p for p in found if p.name != "__init__.py")


def name_of(node: ast.AST) -> str:
    "Last part of a called or decorating name."
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions and methods that carry mathematics, with their qualified names; claims and their scaffolding are left out. Of a class
    also the methods of a base that is not public, such as the state of a learner."""
    public = next((ast.literal_eval(n.value) for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == "__all__"), [])
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    bases = {name_of(base) for node in classes if node.name in public for base in node.bases}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            if node.name in public or any(name_of(d) == "kernel" for d in node.decorator_list): yield node.name, node
        elif isinstance(node, ast.ClassDef) and node.name in set(public) | bases:
            for part in node.body:
                if isinstance(part, ast.FunctionDef): yield f"{node.name}.{part.name}", part


class Finder(ast.NodeVisitor):
    "Collects the changes that can be made inside one function."

    def __init__(self, text: str) -> None:
        self.text, self.found = text, []
        self.starts = [0]
        for line in text.splitlines(keepends=True): self.starts.append(self.starts[-1] + len(line))

    def at(self, line: int, column: int) -> int:
        "Offset of a position; columns count bytes."
        begin = self.starts[line - 1]
        return begin + len(self.text[begin:self.starts[line]].encode()[:column].decode())

    def span(self, node: ast.AST) -> tuple[int, int]:
        "Offsets of a node."
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def add(self, kind: str, start: int, end: int, new: str, node: ast.AST) -> None:
        "Note one change, together with the expression around it."
        a, b = self.span(node)
        shown = lambda s: " ".join(s.split())[:110]
        self.found.append((kind, start, end, new, shown(self.text[a:b]), shown(self.text[a:start] + new + self.text[end:b]), node.lineno))

    def visit_Call(self, node: ast.Call) -> None:
        if SKIPPED_CALLS.match(name_of(node)): return
        if name_of(node) == "sqrt" and len(node.args) == 1:
            inner = self.text[slice(*self.span(node.args[0]))]
            self.add("root", *self.span(node), f"({inner})", node)
        if name_of(node) in ("min", "max") and len(node.args) == 2:
            end = self.span(node.func)[1]
            self.add("min or max", end - 3, end, "max" if name_of(node) == "min" else "min", node)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        between = self.span(node.left)[1], self.span(node.right)[0]
        gap = self.text[slice(*between)]
        sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//"}.get(type(node.op))
        if sign and gap.count(sign) == 1:
            start = between[0] + gap.index(sign)
            self.add("sign" if sign in "+-" else "power", start, start + len(sign), SWAPS[type(node.op)], node)
        if isinstance(node.op, (ast.Add, ast.Sub)) and not isinstance(node.right, ast.Constant):
            self.add("dropped term", self.span(node.left)[1], self.span(node)[1], "", node)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.USub): self.add("sign", self.span(node)[0], self.span(node.operand)[0], "", node)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
            a, b = self.span(node.left)[1], self.span(node.comparators[0])[0]
            new = f" {COMPARISONS[type(node.ops[0])]} "
            self.add("off by one", a, b, new, node)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if type(node.value) not in (int, float) or 0 < abs(node.value) < 1e-6 or abs(node.value) >= 1e6: return
        new = {0: "1", 1: "2"}.get(node.value, str(node.value + 1) if isinstance(node.value, int) else repr(node.value * 1.5))
        self.add("constant", *self.span(node), new, self.around.get(node, node))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value: self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None: pass

    def visit_Assert(self, node: ast.Assert) -> None: pass

    def search(self, function: ast.FunctionDef) -> list:
        "All changes inside the body."
        self.around = {}
        for parent in ast.walk(function):
            for child in ast.iter_child_nodes(parent):
                if isinstance(child, ast.Constant): self.around[child] = parent if isinstance(parent, ast.expr) else child
        for statement in function.body: self.visit(statement)
        for node in ast.walk(function) if function.name.startswith("bound_") else ():
            if isinstance(node, ast.Return) and ast.unparse(node.value) not in ("0.0", "math.inf", "-math.inf"):
                self.add("value", *self.span(node.value), f"0.9 * ({self.text[slice(*self.span(node.value))]})", node.value)
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
                self.add("exponent", *self.span(node.right), f"(2 * ({self.text[slice(*self.span(node.right))]}))", node)
        return self.found


def mutants(root: Path) -> list[Mutant]:
    "Every mutant of every function, in the order of the files."
    out = []
    for path in sources(root):
        text, module = path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()
        for name, node in functions(ast.parse(text)):
            for kind, start, end, new, before, after, line in Finder(text).search(node):
                out.append(Mutant(module, name, line, kind, before, after, start, end, new))
    return out


def compiles(m: Mutant, root: Path = TOP) -> bool:
    "Whether the changed module is still a program; a few changes of operators are not."
    try: ast.parse(m.applied((root / m.module).read_text(encoding="utf-8")))
    except SyntaxError: return False
    return True


@cache
def kernels() -> frozenset[str]:
    "Names of the compiled functions among the sources."
    found = [f for path in sources(TOP) for f in functions(ast.parse(path.read_text(encoding="utf-8")))]
    return frozenset(name for name, f in found if any(name_of(d) == "kernel" for d in f.decorator_list))


def sample(all_mutants: list[Mutant], count: int, seed: int) -> list[Mutant]:
    "So many mutants: one function after another, so that none is left out for long."
    rng, groups = random.Random(seed), {}
    for m in all_mutants: groups.setdefault((m.module, m.function), []).append(m)
    for group in groups.values(): rng.shuffle(group)
    order, chosen = list(groups.values()), []
    while len(chosen) < count and any(order):
        rng.shuffle(order)
        chosen += [m for m in (group.pop() for group in order if group) if compiles(m)][:count - len(chosen)]
    return chosen


def change(m: Mutant) -> None:
    "Give the function of this process the code that the mutant has."
    path, owner = TOP / m.module, importlib.import_module(m.module.removesuffix(".py").replace("/", "."))
    *parts, name = m.function.split(".")
    for part in parts: owner = getattr(owner, part)
    found = vars(owner)[name]
    while not isinstance(found, FunctionType) or hasattr(found, "__wrapped__"):  # a property, a class method, a cached function
        found = next(getattr(found, a) for a in ("__wrapped__", "fget", "func", "__func__") if hasattr(found, a))
    codes = [compile(m.applied(path.read_text(encoding="utf-8")), str(path), "exec")]
    for code in codes: codes += [part for part in code.co_consts if isinstance(part, CodeType)]
    found.__code__ = next(c for c in codes if (c.co_name, c.co_firstlineno) == (name, found.__code__.co_firstlineno))


def forget() -> None:
    "Empty the caches of the package."
    for name, module in list(sys.modules.items()):
        for value in list(vars(module).values()) if name.startswith("oslr_nb") else ():
            if hasattr(value, "cache_clear"): value.cache_clear()


def noticed_by(ids: list[str]) -> str:
    "The first of these claims that is not as expected."
    for i in ids:
        forget()
        try: expected = run_claim(i, CLAIMS[i].paper).as_expected
        except Exception: expected = False
        if not expected: return i
    return ""


def traced(id: str) -> set[tuple[str, str]]:
    "Module and name of each function of the package that a claim calls."
    root, seen = f"{TOP}/", set()
    def look(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(root): seen.add((code.co_filename.removeprefix(root), code.co_name))
    forget()
    sys.setprofile(look)
    try: run_claim(id, CLAIMS[id].paper)
    finally: sys.setprofile(None)
    return seen


def forked(work: Callable, *given: Any, seconds: float) -> Any:
    "What a function returns in a fork of this process; `no answer` if it ends otherwise, or not in time."
    mine, its = FORK.Pipe(duplex=False)
    process = FORK.Process(target=lambda: its.send(work(*given)))
    process.start()
    its.close()
    try: return mine.recv() if mine.poll(seconds) else "no answer"
    except EOFError: return "no answer"
    finally:
        process.kill()
        process.join()


@cache
def users() -> dict[str, set[str]]:
    "For every name of a kernel: the functions and methods, anywhere in the package, whose body names it, also through other kernels."
    direct: dict[str, set[str]] = {}
    for path in (TOP / "oslr_nb").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                for part in ast.walk(node):
                    if isinstance(part, (ast.Name, ast.Attribute)):
                        direct.setdefault(part.id if isinstance(part, ast.Name) else part.attr, set()).add(node.name)
    closed = {name: set(found) for name, found in direct.items()}
    for _ in range(4):
        for name, found in closed.items(): closed[name] = found | set().union(*(direct.get(f, set()) for f in found if f in kernels()))
    return closed


def concerned(m: Mutant, trace: dict[str, set[tuple[str, str]]]) -> list[str]:
    "Claims that call the function, the quickest first."
    short = m.function.split(".")[-1]
    callers = users().get(short, set()) if short in kernels() else set()
    return [i for i, seen in trace.items() if any((f, n) == (m.module, short) or n in callers for f, n in seen)]


def environment(root: Path, m: Mutant) -> dict[str, str]:
    """Variables for a process that runs the package under `root`. Compiled code is kept by the digest of all sources. A mutant outside
    the kernels may use that of the sound sources, which is right for it; numba compiles the kernels of the changed file anew."""
    sound = {} if m.function in kernels() else {"OSLR_KERNELS": source_digest()[:16]}
    return {**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1", "OSLR_QUIET": "1", **sound}


class Slot:
    "A copy of the repository in which one mutant after another is tried: compiled code is found again only under the same path."

    def __init__(self, folder: str, number: int) -> None:
        self.root, self.sound = Path(folder, f"slot{number}"), Path(folder, f"sound{number}")
        for name in PARTS:
            if (TOP / name).is_dir(): shutil.copytree(TOP / name, self.sound / name, ignore=shutil.ignore_patterns("mathjax"))
            else: shutil.copy2(TOP / name, self.sound / name)

    def restore(self) -> None:
        "Put it back, with the times of the files."
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.sound, self.root)


def apply(m: Mutant, root: Path) -> None:
    "Write the mutant into the module and into the cell it comes from."
    path = root / m.module
    text = path.read_text(encoding="utf-8")
    path.write_text(m.applied(text), encoding="utf-8")
    marker = list(re.finditer(r"^# %% (?:\.\./)+(nbs/\S+) #(\w+)\n", text[: m.start], re.M))[-1]
    tail = text.find("\n# %% ", m.start)
    a, b = marker.end(), tail if tail > 0 else len(text)  # of the cell's code
    chunks = text[a:b].strip("\n"), (text[a : m.start] + m.new + text[m.end : b]).strip("\n")
    book = root / marker[1]
    data = json.loads(book.read_text(encoding="utf-8"))
    for cell in data["cells"]:
        source = "".join(cell["source"])
        if cell["id"] != marker[2]: continue
        if chunks[0] not in source:  # the export has changed an import of the cell: the changed lines alone
            a, b = text.rfind("\n", 0, m.start) + 1, text.find("\n", m.end)
            chunks = text[a:b], text[a : m.start] + m.new + text[m.end : b]
        cell["source"] = source.replace(*chunks, 1).splitlines(keepends=True)
    book.write_text(json.dumps(data), encoding="utf-8")


VERIFY = "import json, sys; from tests import mutants as m; m.claim_ids([]); print('RESULT', m.noticed_by(json.loads(sys.argv[1])))"


def compiled_anew(m: Mutant, root: Path, ids: list[str]) -> str:
    "The first claim that notices a changed kernel."
    command = [sys.executable, "-c", VERIFY, json.dumps(ids)]
    env = environment(root, m)
    try: done = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, timeout=5 * PATIENCE, check=False)
    except subprocess.TimeoutExpired: return "no answer"
    found = re.search(r"^RESULT (.*)$", done.stdout, re.M)
    return found[1] if found else "no answer"


def run_tests(m: Mutant, root: Path, timeout: float) -> str:
    "The first test that notices the mutant, or an empty string; slow pages come last."
    pages = re.findall(r"^# %% \S*?nbs/(\S+\.ipynb) ", (root / m.module).read_text(encoding="utf-8"), re.M)
    pages = " or ".join(sorted({Path(page).stem for page in pages if "/00_" not in page}))  # with that of its proofs
    part, *names = Path(m.module).with_suffix("").parts[1:]
    paper = names[0] if part in ("papers", "ledger") else "own" if part == "own" else ""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    env = environment(root, m)
    room, stem = Path(m.module).parent.name, Path(m.module).stem
    stems = (paper, stem, f"{room}_{stem}", f"{part}_{names[0]}")
    own = [[str(p)] for name in dict.fromkeys(stems) for p in (root / "tests").rglob(f"test_{name}.py")]
    steps = [["tests/test_learners.py", "-k", paper], *own, ["tests/test_notebooks.py", "-k", f"shows and ({pages})"]]
    for step in steps:
        try: done = subprocess.run(command + step, cwd=root, env=env, capture_output=True, text=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired: return "timeout"
        if done.returncode not in (0, 5) and "; the limit is" not in done.stdout:  # a slow page on a busy machine notices nothing
            found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.M)
            return found[1] if found else "tests"
    return ""


def try_one(m: Mutant, trace: dict[str, set[tuple[str, str]]], slots: Queue, tests: bool) -> dict:
    "What notices one mutant: a claim, a test, or nothing."
    start, ids, caught, noticed, compiled = time.perf_counter(), concerned(m, trace), "", "", m.function in kernels()
    if not compiled: caught = forked(lambda: (change(m), noticed_by(ids))[1], seconds=PATIENCE)
    if not caught and (compiled or tests):
        slot = slots.get()
        try:
            slot.restore()
            apply(m, slot.root)
            if compiled: caught = compiled_anew(m, slot.root, ids)
            if tests and not caught: noticed = run_tests(m, slot.root, 5 * PATIENCE)
        finally: slots.put(slot)
    known = {k: v for k, v in asdict(m).items() if k not in ("start", "end", "new")}
    found = {"compiled": compiled, "claims": len(ids), "verify": caught, "tests": noticed}
    return {"key": m.key, **known, **found, "seconds": round(time.perf_counter() - start, 1)}


def main() -> int:
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=600, help="how many mutants are drawn")
    parser.add_argument("--bounds", action="store_true", help="of each bound function all values, exponents and roots")
    parser.add_argument("--longest", type=float, default=1.0, help="seconds of the claims that are tried; 5 for the bounds of the page")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="only mutants whose key matches this regular expression")
    parser.add_argument("--plain", action="store_true", help="of those that are drawn only functions that are not compiled (seconds each)")
    parser.add_argument("--no-tests", action="store_true", help="claims only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, default=Path("_results/mutants.json"))
    args = parser.parse_args()
    found = [m for m in mutants(TOP) if re.search(args.only, m.key)]
    of_bounds = [m for m in found if m.function.startswith("bound_") and m.kind in ("value", "exponent", "root") and compiles(m)]
    chosen = of_bounds if args.bounds else sample([m for m in found if m.kind not in ("value", "exponent")], args.count, args.seed)
    if args.plain: chosen = [m for m in chosen if m.function not in kernels()]
    claim_ids([])
    quick = sorted((r.seconds, i) for i, r in stored_rows().items() if r.seconds <= args.longest)
    print("tracing the claims", flush=True)
    trace = {i: traced(i) for _, i in quick}  # in this process, whose forks then have the kernels
    with tempfile.TemporaryDirectory() as folder:
        slots = Queue()
        for number in range(args.jobs): slots.put(Slot(folder, number))
        rows = []
        with ThreadPoolExecutor(args.jobs) as pool:
            for row in pool.map(lambda m: try_one(m, trace, slots, not args.no_tests), chosen):
                rows.append(row)
                mark = row["verify"] or row["tests"] or "SURVIVES"
                what = f"{row['module']}:{row['function']}: {row['before']} -> {row['after']}"
                print(f"{len(rows):4}/{len(chosen)} {mark:24} {what} ({row['seconds']} s)", flush=True)
                args.out.parent.mkdir(exist_ok=True)
                args.out.write_text(json.dumps(rows, indent=1))
    by_claims, by_all = sum(bool(r["verify"]) for r in rows), sum(bool(r["verify"] or r["tests"]) for r in rows)
    print(f"{len(rows)} mutants; noticed by claims: {by_claims / len(rows):.0%}; by claims or tests: {by_all / len(rows):.0%}")
    return 0


if __name__ == "__main__": sys.exit(main())
