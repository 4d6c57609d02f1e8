"""The imports that nobody keeps by hand: `make export` writes them from the pages that there are.

A front page hands on the public names of the modules of its folder; the face tells checkers of types which names and modules there are.
Each in a cell that begins with `MADE`.
"""

import ast
import re
from typing import Any

MADE = "# Written by make export:"
WIDTH = 140


def renew(books: dict[str, dict[str, Any]]) -> None:
    """Write the cells that begin with `MADE` anew. books: all notebooks by their path."""
    found = modules(books)
    for page, book in books.items():
        for cell in book["cells"]:
            head, made, _ = "".join(cell["source"]).partition(MADE)
            if not made or cell["cell_type"] != "code": continue
            text = face(found, home(book)) if page == found["__init__"] else front(page, found, books)
            cell["source"] = f"{head}{MADE} {text}".splitlines(keepends=True)


def code(book: dict[str, Any]) -> str: return "\n".join("".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code")


def modules(books: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The modules and the pages that make them, in the order of the pages; without the checks."""
    pages = {}
    for page, book in books.items():
        name = re.search(r"^#\| default_exp (\S+)", code(book), re.M)
        if name and (not name[1].startswith("ledger.") or name[1] in ("ledger.claims", "ledger.problems")): pages[name[1]] = page
    return pages


def front(page: str, found: dict[str, str], books: dict[str, dict[str, Any]]) -> str:
    """The imports of a front page: all modules of its folder, but those that import the front page themselves."""
    folder = next(name for name, of in found.items() if of == page).removesuffix("__init__")
    above = f"from oslr_nb import {folder.removesuffix('.')}\n"
    inner = {name: of for name, of in found.items() if name.startswith(folder) and not name.endswith("__init__")}
    names = [name for name, of in inner.items() if above not in code(books[of])]
    lines = [f"from oslr_nb.{name} import *" for name in names]
    return "\n".join(["the public names of the pages of this folder", *lines, "", '__all__ = [name for name in dir() if name[0] != "_"]'])


def home(book: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """The table of names that the face gives directly."""
    trees = (ast.parse("".join(cell["source"])) for cell in book["cells"] if "HOME = {" in "".join(cell["source"]))
    return next(ast.literal_eval(n.value) for tree in trees for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == "HOME")


def face(found: dict[str, str], names: dict[str, tuple[str, ...]]) -> str:
    """The names of the face for checkers of types, which take `from a import b as b` for a public name."""
    storeys = ["papers", "core", "core.game", "core.mathematics", "core.base", "own", "practice", "ledger", "results"]
    seen: set[str] = set()
    given: dict[str, Any] = names | {"core.game.registry": ("LEARNERS",)}
    given |= {"": [*(s for s in storeys if "." not in s), "cli"]} | {storey: [] for storey in storeys}
    for name in sorted(found):
        storey = max((s for s in storeys if name.startswith(f"{s}.")), key=len, default="")
        inner = name.removeprefix(f"{storey}.").split(".")[0]
        if storey not in ("", "core") and inner != "__init__": given[storey].append(inner)
    lines = []
    for module, listed in given.items():
        new = [name for name in dict.fromkeys(listed) if name not in seen]  # what stands first is found first
        seen |= set(new)
        line = start = f"    from {'.'.join(filter(None, ('oslr_nb', module)))} import "
        for name in new:
            if len(line) + 2 * len(name) + 6 > WIDTH:
                lines.append(line.rstrip(", "))
                line = start
            line += f"{name} as {name}, "
        if new: lines.append(line.rstrip(", "))
    return "\n".join(["names and modules, for checkers of types alone", "if TYPE_CHECKING:", *lines])
