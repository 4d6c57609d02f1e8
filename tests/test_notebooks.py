"""Every notebook runs, fast enough, and gives the outputs that are committed."""

import re

import nbformat
import pytest
from conftest import NOTEBOOKS, TOP
from running import run_page

PIECES = 5000  # of the processor time of `running.piece`: twice what the longest pages took on a machine that was busy with other work
NAMES = [str(p.relative_to(TOP / "nbs")) for p in NOTEBOOKS]
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")


def text_of(outputs) -> str:
    "What a cell shows, as text: what it prints before what it displays; a figure is only named, since its bytes depend on fonts."
    printed = ["".join(o["text"]) for o in outputs if o["output_type"] == "stream" and o["name"] == "stdout"]
    shown = []
    for o in outputs:
        if o["output_type"] != "stream":
            data = o.get("data", {})
            figure = any(k.startswith("image/") for k in data)
            shown.append("<figure>" if figure else "".join(data.get("text/markdown") or data.get("text/plain", "")))
    return "\n".join("".join(s).strip() for s in (printed, shown))


def same(a: str, b: str) -> bool:
    "Equal words, and numbers equal to one part in a thousand (linear algebra differs between machines)."
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    return all(
        x == y or abs(float(x) - float(y)) <= 1e-3 * max(abs(float(x)), abs(float(y))) + 1e-9
        for x, y in zip(NUMBER.findall(a), NUMBER.findall(b), strict=True)
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_runs_and_shows_what_is_committed(path):
    committed = nbformat.read(path, as_version=4)
    cells, error, pieces = run_page(path)
    assert not error, error
    for old, (source, outputs) in zip(committed.cells, cells, strict=True):
        assert same(text_of(old.get("outputs", [])), text_of(outputs)), f"the output of this cell is not the committed one:\n{source}"
    assert pieces < PIECES, f"the page takes as long as {pieces:.0f} pieces of work; the limit is {PIECES}"


def faults(path):
    """What is wrong with a notebook as it is committed.

    A claim's cell is what the ledger links to, and is exported without making the claim public; the site leaves out cells that say
    `export`: right for imports and constants, while a function or a class says `exports`, or `exporti`. Title and description are read from
    the first cell; the description would be exported if it began with the title.
    """
    nb = nbformat.read(path, as_version=4)
    cells, kept = nb.cells, ({}, {"jupyter": {"source_hidden": True}})  # what JupyterLab collapses
    if not (set(nb.metadata) <= {"kernelspec"} and all(c.metadata in kept for c in cells)): yield "metadata are not clean"
    if not re.match(r"<!-- front matter\n.*^# \S.*^> \S", cells[0].source, re.M | re.S): yield "no front matter, which is no docstring"
    code = [c for c in cells if c.cell_type == "code" and c.source.strip()]
    if len(code) >= 4 and not any(c.outputs for c in code): yield "commit notebooks executed, with outputs"
    for c in cells:
        outputs = c.get("outputs", [])
        if any(o.output_type == "error" for o in outputs): yield f"an error stands on the page: {c.source[:200]}"
        if any("image/svg+xml" in o.get("data", {}) and "image/png" not in o.data for o in outputs): yield "no picture without trust"
        if any(o.get("name") == "stderr" for o in outputs): yield f"a warning stands on the page: {c.source[:200]}"
        if any("text/html" in o.get("data", {}) for o in outputs): yield f"tables are Markdown: {c.source[:200]}"
        if re.search(r"^#\|\s*export", c.source) and "@claim(" in c.source:
            if not (c.source.startswith("#| exporti") and c.source.count("@claim(") == 1): yield f"one claim a cell: {c.source[:200]}"
        if re.match(r"#\| export\n", c.source) and re.search(r"^(def|class) ", c.source, re.M): yield f"not on the site: {c.source[:200]}"


def test_committed_pages_are_fit_for_the_site():
    assert not [f"{name}: {fault}" for name, path in zip(NAMES, NOTEBOOKS, strict=True) for fault in faults(path)]


def test_the_comparison_of_outputs_can_fail():
    assert same("a 1.0000 b", "a 1.0002 b") and not same("a 1.0 b", "a 1.1 b") and not same("a 1 b", "a 1 c")
    assert not same("a 1", "a 1 1")
