"""What nbdev does to a notebook before it becomes a page; `settings.ini` names the class, so Quarto and our renderer see the same."""

import json
import re
from functools import cache
from importlib.resources import files
from pathlib import Path

import yaml
from nbdev.config import get_config
from nbdev.process import Processor, mk_cell

from website.reference import link_names
from website.rich import BOXES, rich, unlabelled

HIDDEN = {"export", "hide", "default_exp"}
LONG, CHAPTER = 25, 12  # lines; a longer exported cell is folded, in a chapter all but the textbook versions


@cache
def ledger() -> tuple[dict, ...]:
    """The stored records of all claims."""
    return tuple(json.loads((files("oslr_nb") / "claims.json").read_text(encoding="utf-8")))


def outcome(record: dict) -> str:
    """Status and resolution in a few words."""
    from oslr_nb.ledger.claims import resolution_word

    word = "" if record["resolution"] is None else f", {resolution_word(record['resolution'])}"
    return record["status"] + word


class Page(Processor):
    """Folds code that the reader need not see, and links statements, checks and the ledger."""

    def begin(self) -> None:
        """Give the page its fences and labels, its boxes their own letters (`statements: XX`), and put a line before each check."""
        self.place = Path(self.nb["path_"]).resolve().relative_to(Path(get_config().nbs_path).resolve()).as_posix()
        self.mine = {r["id"]: r for r in ledger() if r["page"] == self.place}
        self.nb.cells = rich(self.nb.cells)
        for cell in self.nb.cells:
            if cell.cell_type == "raw": cell["source"] = own_numbers(cell.source)
        cells = []
        for cell in self.nb.cells:
            found = claim_of(cell)
            if found in self.mine:
                line = mk_cell(self.line(self.mine[found]), "markdown")
                line.directives_ = {}
                cells.append(line)
            cells.append(cell)
        self.nb.cells = cells

    def line(self, record: dict) -> str:
        """What a check is about and how it ended, with links to its statement and to the ledger; the place that links to a check mean."""
        anchor = record["proof"]
        statement = f"@{anchor}" if anchor.split("-")[0] in {*BOXES, "eq"} else f"[{record['item']}](#{anchor})"
        root = "../" * self.place.count("/")
        text = f"**{record['id']}** checks {statement}: {outcome(record)} · [ledger]({root}results/claims.ipynb#row-{record['id']})"
        return f"::: {{#claim-{record['id']} .check-line}}\n\n{text}\n\n:::"  # not the cell's label: Quarto writes that in lower case

    def cell(self, cell) -> None:
        if cell.cell_type == "markdown": cell["source"] = link_names(marked(cell.source, list(self.mine.values())), self.place)
        elif cell.cell_type == "code": fold(cell, self.place)


def own_numbers(front: str) -> str:
    """Front matter with titles such as "Theorem XX" for Quarto; ours reads `statements` itself."""
    meta = yaml.safe_load(re.sub(r"\A---\s*\n|\n---\s*\Z", "", front)) or {}
    if "statements" not in meta: return front
    names = {f"{kind}-{part}": f"{name} {meta['statements']}" for kind, name in BOXES.items() for part in ("title", "prefix")}
    meta |= {"crossref": names, "language": {"environment-remark-title": names["rem-title"]}}
    return "---\n" + yaml.safe_dump(meta, sort_keys=False, allow_unicode=True) + "---"


def claim_of(cell) -> str | None:
    """The id of the claim that a cell states."""
    found = cell.cell_type == "code" and re.search(r'@claim\([^@]*?\bid="([^"]+)"', cell.source)
    return found[1] if found else None


def marked(text: str, records: list[dict]) -> str:
    """Statement boxes with a last line that names their claims."""
    out, inside = [], []
    for line in text.split("\n"):
        opened, closed = re.match(r":{3,}\s*\{#?([\w-]*)", line), re.fullmatch(r":{3,}\s*", line)
        if opened: inside.append(opened[1])
        if closed and inside:
            anchor = inside.pop()
            about = [r for r in records if r["proof"] == anchor] if anchor.split("-")[0] in BOXES else []
            if about: out += chip(about)
        out.append(line)
    return "\n".join(out)


def chip(about: list[dict]) -> list[str]:
    """One line that says how often a statement is checked, and how close the closest check comes; it opens to the checks."""
    ratios = [r["resolution"] for r in about if r["resolution"] is not None and r["resolution"] <= 1.000001]
    ways = "once" if len(about) == 1 else f"in {len(about)} ways"
    text = f"Checked by machine {ways}" + (f", at most {max(ratios):.2f} of the bound" if ratios else "")
    rows = [f"- [{r['id']}](#claim-{r['id']}): {outcome(r)}" for r in about]
    words = "*tight*: from 0.99 of the bound; *within 2*, *within 10*: at least a half, a tenth of it; *order only*: less."
    return ["", "::: {.claims}", f"<details><summary>{text}</summary>", "", *rows, "", words, "", "</details>", ":::", ""]


def is_long(body: str, place: str) -> bool:
    """Whether the exported source on a page folds to a line; a textbook version says that it is "line for line"."""
    chapter = place.startswith(("papers/", "own/")) and "line for line" not in body
    return body.count("\n") >= (CHAPTER if chapter else LONG)


def fold(cell, place: str = "") -> None:
    """Leave out exported plumbing and hidden cells; fold checks, figures and long source, unless the notebook says how it is to be."""
    kinds = set(cell.directives_ or ())
    if kinds & HIDDEN:
        del cell["source"]
        return
    head = re.match(r"(?:#\|.*\n?)*", cell.source)[0]
    body, how = cell.source[len(head):], "true"
    if re.search("echo: false|include: false" + ("" if "exports" in kinds else "|code-fold"), head): return
    names = ", ".join(a or b for a, b in re.findall(r"^(?:def|class) (\w+)|^(\w+)(?:: [^=\n]+)? = ", body, re.M))
    if re.search(r"^@kernel", body, re.M) and kinds & {"exporti", "exports"}: summary = f"Kernel: {names}"
    elif " = Annotated[" in body and "exporti" in kinds: summary = "Parameters"
    elif "exporti" in kinds:
        found = claim_of(cell)
        summary = f"Check of {found}" if found else "Code behind the checks" if cell.directives_["exporti"] else f"Exported source: {names}"
    elif "exports" in kinds:
        how, summary = "show", "Exported source"
        if is_long(body, place): how, summary = "true", f"Exported source: {names}"
    else: summary = kind_of(head, body)
    options = {"code-fold": how, "code-summary": json.dumps(summary, ensure_ascii=False)} if summary else {}
    cell["source"] = "".join(f"#| {name}: {value}\n" for name, value in options.items() if f"{name}:" not in head) + cell.source


def kind_of(head: str, body: str) -> str:
    """The line to which a cell of the page alone folds; empty for an example, which stays open."""
    comment, last = re.match(r"\s*# (.+)", body), (body.rstrip().splitlines() or [""])[-1]
    if "fig-cap" in head or "fig-alt" in head: return "Code of the figure"
    if re.search(r"^\s*assert ", body, re.M): return f"Check: {unlabelled(comment[1])}" if comment else "Check"
    if all(re.match(r"(checked|book = )", line) for line in body.strip().splitlines()): return "The checks run"
    return "Code of the table" if last.startswith("Markdown(") else ""
