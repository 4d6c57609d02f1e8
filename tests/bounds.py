"""Every bound function before the claims alone: `python -m tests.bounds` multiplies each value that it returns by 0.9, doubles each
exponent and leaves out each root, one at a time and in this process, and writes oslr_nb/stored/mutants_bounds.json. Some minutes."""

import ast
import importlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

from oslr_nb.ledger.claims import CLAIMS, Claim, claim_ids, run_claim, stored_rows
from tests.mutants import SKIPPED_CALLS, TOP, Finder, functions, name_of, sources, users

LONGEST = 5.0  # seconds of a claim


def changes(text: str, function: ast.FunctionDef) -> Iterator[tuple[str, str, str, str]]:
    "Kind of the change, the expression before and after, the module with it; checks of arguments, 0 and infinity are left as they are."
    at, calls = Finder(text), [n for n in ast.walk(function) if isinstance(n, ast.Call) and SKIPPED_CALLS.match(name_of(n))]
    checks = {id(part) for call in calls for part in ast.walk(call)}
    for node in ast.walk(function):
        found = []
        if id(node) in checks: continue
        if isinstance(node, ast.Return) and ast.unparse(node.value) not in ("0.0", "math.inf", "-math.inf"):
            found = [("value", node.value, "0.9 * ({})", node.value)]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow): found = [("exponent", node.right, "(2 * ({}))", node.right)]
        if isinstance(node, ast.Call) and name_of(node) == "sqrt": found = [("root", node, "({})", node.args[0])]
        for kind, place, form, inner in found:
            (a, b), (c, d) = at.span(place), at.span(inner)
            new = form.format(text[c:d])
            yield kind, " ".join(text[a:b].split()), " ".join(new.split()), text[:a] + new + text[b:]


def code_of(name: str, code: CodeType) -> CodeType:
    "The code of a function in the code of its module."
    return next(part for part in code.co_consts if isinstance(part, CodeType) and part.co_name == name)


def near(name: str) -> list[Claim]:
    "Claims whose module names the function, or one that calls it, the quickest first."
    known = users(TOP).get(name, set())
    word = re.compile(rf"\b({'|'.join({name, *known})})\b")
    pages = {c.check.__module__ for c in CLAIMS.values() if word.search(Path(sys.modules[c.check.__module__].__file__).read_text("utf8"))}
    seconds = {i: r.seconds for i, r in stored_rows().items() if r.seconds <= LONGEST}
    return sorted((c for i, c in CLAIMS.items() if c.check.__module__ in pages and i in seconds), key=lambda c: seconds[c.id])


def forget() -> None:
    "Empty the caches of the package."
    for name, module in list(sys.modules.items()):
        for value in list(vars(module).values()) if name.startswith("oslr_nb") else ():
            if hasattr(value, "cache_clear"): value.cache_clear()


def noticed_by(claims: list[Claim]) -> str:
    "The first claim that is not as expected."
    for c in claims:
        forget()
        try: expected = run_claim(c.id, c.paper).as_expected
        except Exception: expected = False
        if not expected: return c.id
    return ""


def main() -> None:
    claim_ids([])
    rows = []
    for path in sources(TOP):
        text, place = path.read_text("utf8"), path.relative_to(TOP).as_posix()
        for name, node in functions(ast.parse(text)):
            if not name.startswith("bound_") or "/ledger/" in place: continue
            function = getattr(importlib.import_module(place.removesuffix(".py").replace("/", ".")), name)
            function = getattr(function, "__wrapped__", function)
            claims, sound = near(name), function.__code__
            for kind, before, after, changed in changes(text, node):
                function.__code__ = code_of(name, compile(changed, str(path), "exec"))
                found = noticed_by(claims)
                function.__code__ = sound
                told = {"kind": kind, "before": before[:110], "after": after[:110], "verify": found}
                rows.append({"module": place, "function": name} | told)
                if not found: print(f"SURVIVES {place}:{name}: {before} -> {after}", flush=True)
    (TOP / "oslr_nb/stored/mutants_bounds.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf8")
    print(f"{len(rows)} changes, {sum(bool(r['verify']) for r in rows)} noticed")


if __name__ == "__main__": main()
