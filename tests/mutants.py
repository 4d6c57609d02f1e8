"""Mutation testing (`make mutants`): would a wrong constant, sign, power or index in the mathematics be noticed?

Source mutants are made one at a time in the functions that carry the mathematics: kernels, learners, estimators, designs, `bound_*`.
Each is first put before the claims that call the mutated function (what `oslr verify` would say), and if they all hold, before the
tests of the learners and the page that the module comes from. Writes _results/mutants.json; `oslr_nb/stored/mutants.json` is the stored
one, shown by the page on mutants. `python -m tests.mutants --help` lists the options.
"""

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from queue import Queue

from oslr_nb.core.base.kernels import source_digest

TOP = Path(__file__).parents[1]
# Of the core, these modules; and every module of the papers and of our own.
MODULES = ["compiled", "designs", "geometry", "oco", "experts", "bandits", "trees", "sparse/dantzig_selector", "sparse/selectors"]
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
    no_papers = ("core", "own", "claims.py", "problems.py")
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
            self.add("function", *self.span(node), f"({inner})", node)
        if name_of(node) in ("min", "max") and len(node.args) == 2:
            end = self.span(node.func)[1]
            self.add("function", end - 3, end, "max" if name_of(node) == "min" else "min", node)
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
        if function.name.startswith("bound_"):
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and node.value is not None and "inf" not in ast.unparse(node.value).split("."):
                    a, b = self.span(node.value)
                    for factor in (0.9, 1.1): self.add("bound", a, b, f"{factor} * ({self.text[a:b]})", node)
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
    "All changes of bound functions by a factor, and `count` others: one function after another, so that none is left out for long."
    rng, groups = random.Random(seed), {}
    chosen = [m for m in all_mutants if m.kind == "bound"]
    for m in all_mutants:
        if m.kind != "bound": groups.setdefault((m.module, m.function), []).append(m)
    for group in groups.values(): rng.shuffle(group)
    order, rest = list(groups.values()), []
    while len(rest) < count and any(order):
        rng.shuffle(order)
        rest += [m for m in (group.pop() for group in order if group) if count > 10**6 or compiles(m)][:count - len(rest)]
    return chosen + rest


# What runs in a fresh process: `trace` notes which functions each claim calls, `verify` runs claims until one notices the mutant.
DRIVER = '''
import json, os, sys, time
from oslr_nb.ledger.claims import CLAIMS, claim_ids, run_claim
mode, argument = sys.argv[1:3]
out = {}
if mode == "trace":
    root = os.path.dirname(sys.modules["oslr_nb"].__file__)
    for id in claim_ids(json.loads(argument)):
        seen = set()
        def look(frame, event, arg):
            code = frame.f_code
            if event == "call" and code.co_filename.startswith(root): seen.add((code.co_filename[len(root) + 1:], code.co_name))
        start = time.perf_counter()
        sys.setprofile(look)
        try: record = run_claim(id, CLAIMS[id].paper)
        finally: sys.setprofile(None)
        assert record.as_expected, record
        out[id] = [time.perf_counter() - start, sorted(seen)]
else:
    caught = ""
    for id, paper in json.loads(argument):
        try: expected = run_claim(id, paper).as_expected
        except Exception: expected = False
        if not expected: caught = id; break
    out = {"caught": caught}
print("RESULT" + json.dumps(out))
'''


def environment(root: Path, mutant: Mutant | None) -> dict[str, str]:
    """Variables for a process that runs the package under `root`. Compiled code is kept by the digest of all sources. A mutant outside
    the kernels may use that of the sound sources, which is right for it; numba compiles the kernels of the changed file anew."""
    sound = {} if mutant and mutant.function in kernels() else {"OSLR_KERNELS": source_digest()[:16]}
    return {**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1", "OSLR_QUIET": "1", **sound}


def drive(root: Path, mode: str, argument: str, timeout: float, mutant: Mutant | None = None) -> dict | None:
    "Run the driver on the package under `root`; None if it does not come back in time or breaks before its end."
    env, command = environment(root, mutant), [sys.executable, "-c", DRIVER, mode, argument]
    try: done = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired: return None
    found = re.search(r"^RESULT(.*)$", done.stdout, re.M)
    if mode == "trace" and not found: raise SystemExit(done.stderr[-3000:])
    return json.loads(found[1]) if found else None


class Slot:
    "A place where one mutant after another is tried: compiled code is found again only under the same path."

    def __init__(self, folder: str, number: int) -> None:
        self.root, self.sound = Path(folder, f"slot{number}"), Path(folder, f"sound{number}")
        for name in PARTS:
            if (TOP / name).is_dir(): shutil.copytree(TOP / name, self.root / name, ignore=shutil.ignore_patterns("mathjax", "kernels-*"))
            else: shutil.copy2(TOP / name, self.root / name)

    def keep(self) -> None:
        "Remember the tree as it is, compiled code included."
        shutil.copytree(self.root, self.sound)

    def restore(self) -> None:
        "Put it back, with the times of the files."
        shutil.rmtree(self.root)
        shutil.copytree(self.sound, self.root)


@cache
def users(root: Path) -> dict[str, set[str]]:
    "For every name of a kernel: the functions and methods, anywhere in the package, whose body names it, also through other kernels."
    direct: dict[str, set[str]] = {}
    for path in (root / "oslr_nb").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                for part in ast.walk(node):
                    if isinstance(part, (ast.Name, ast.Attribute)):
                        direct.setdefault(part.id if isinstance(part, ast.Name) else part.attr, set()).add(node.name)
    closed = {name: set(found) for name, found in direct.items()}
    for _ in range(4):
        for name, found in closed.items(): closed[name] = found | set().union(*(direct.get(f, set()) for f in found if f in kernels()))
    return closed


def concerned(m: Mutant, trace: dict, root: Path) -> list[str]:
    "Claims that call the mutated function, quickest first."
    short, file = m.function.split(".")[-1], m.module.removeprefix("oslr_nb/")
    callers = users(root).get(short, set()) if short in kernels() else set()
    hit = [i for i, (_, seen) in trace.items() if any((f == file and n == short) or n in callers for f, n in seen)]
    return sorted(hit, key=lambda i: trace[i][0])


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


def try_one(m: Mutant, trace: dict, slots: Queue, tests: bool) -> dict:
    "What notices one mutant: a claim, a test, or nothing."
    from oslr_nb.ledger.claims import CLAIMS, claim_ids

    claim_ids([])
    slot = slots.get()
    try:
        start, ids = time.perf_counter(), concerned(m, trace, slot.sound)
        apply(m, slot.root)
        wanted = json.dumps([(i, CLAIMS[i].paper) for i in ids])
        found = drive(slot.root, "verify", wanted, 150 + 3 * sum(trace[i][0] for i in ids), m)
        caught = "no answer" if found is None else found["caught"]
        noticed = "" if caught or not tests else run_tests(m, slot.root, 600)
    finally:
        slot.restore()
        slots.put(slot)
    known = {k: v for k, v in asdict(m).items() if k not in ("start", "end", "new")}
    found = {"claims": len(ids), "verify": caught, "tests": noticed, "seconds": round(time.perf_counter() - start, 1)}
    return {"key": m.key, **known, **found}


def main() -> int:
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=600, help="source mutants besides those of bound functions")
    parser.add_argument("--bounds", action="store_true", help="only mutants of functions whose name begins with bound_")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="only mutants whose key matches this regular expression")
    parser.add_argument("--papers", nargs="*", default=[], help="only claims of these papers")
    parser.add_argument("--no-tests", action="store_true", help="claims only")
    parser.add_argument("--again", action="store_true", help="only the survivors in the file of --out, which is brought up to date")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="print the chosen mutants and stop")
    parser.add_argument("--out", type=Path, default=Path("_results/mutants.json"))
    args = parser.parse_args()
    known = json.loads(args.out.read_text()) if args.again else []
    wanted = {r["key"] for r in known if not (r["verify"] or r["tests"])}
    chosen = [m for m in sample(mutants(TOP), 10**9 if args.again else args.count, args.seed) if re.search(args.only, m.key)]
    if args.bounds: chosen = [m for m in chosen if m.function.startswith("bound_")]
    if args.again: chosen = list({m.key: m for m in chosen if m.key in wanted}.values())
    if args.list:
        for m in chosen: print(f"{m.kind:12} {m.key}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        ready, slots = [Slot(folder, number) for number in range(args.jobs)], Queue()
        print("tracing the claims", flush=True)
        with ThreadPoolExecutor(args.jobs) as pool:  # each slot, so that each has its compiled code
            trace, *_ = pool.map(lambda slot: drive(slot.root, "trace", json.dumps(args.papers), 3600), ready)
        for slot in ready:
            slot.keep()
            slots.put(slot)
        rows = []
        with ThreadPoolExecutor(args.jobs) as pool:
            for row in pool.map(lambda m: try_one(m, trace, slots, not args.no_tests), chosen):
                rows.append(row)
                mark = row["verify"] or row["tests"] or "SURVIVES"
                what = f"{row['module']}:{row['function']}: {row['before']} -> {row['after']}"
                print(f"{len(rows):4}/{len(chosen)} {mark:24} {what} ({row['seconds']} s)", flush=True)
                args.out.parent.mkdir(exist_ok=True)
                fresh = {r["key"]: r for r in rows}
                args.out.write_text(json.dumps([fresh.pop(r["key"], r) for r in known] + list(fresh.values()), indent=1))
    rows = json.loads(args.out.read_text())
    for name, part in (("source", [r for r in rows if r["kind"] != "bound"]), ("bound", [r for r in rows if r["kind"] == "bound"])):
        if part:
            by_claims, by_all = sum(bool(r["verify"]) for r in part), sum(bool(r["verify"] or r["tests"]) for r in part)
            shares = f"noticed by claims: {by_claims / len(part):.0%}; by claims or tests: {by_all / len(part):.0%}"
            print(f"{name} mutants: {len(part)}; {shares}")
    return 0


if __name__ == "__main__": sys.exit(main())
