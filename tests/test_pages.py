"""What happens to a notebook before it becomes a page: folds, marks, numbers."""

import ast
import builtins
import itertools
import json
import re
from types import SimpleNamespace

import pytest

from website.procs import Page, chip, fold, marked, own_numbers


def cell(source: str, *directives: str):
    "A cell as nbdev hands it on."
    class Cell(dict):
        source = property(lambda self: self["source"])
        cell_type, directives_ = "code", dict.fromkeys(directives)
    return Cell(source=source)


@pytest.mark.parametrize(("source", "directives", "shown"), [
    ("# the sum is one\nassert sum(p) == 1", (), "true Check: the sum is one"), ("for x in (1, 2):\n    assert x", (), "true Check"),
    ("#| fig-cap: A line\nplt.plot(x)", (), "true Code of the figure"), ("rows = table()\nMarkdown(rows)", (), "true Code of the table"),
    ("checked(lemma)\nchecked(theorem)", (), "true The checks run"),
    ('@claim("p", "x", id="A9")\ndef f(): pass', ("exporti",), "true Check of A9"),
    ("def f(): pass", ("exporti",), "true Exported source: f"), ("def f(): pass", ("exports",), "show Exported source"),
    ("def f():\n" + "    x = 1\n" * 50 + "class G: pass\nN = 1", ("exports",), "true Exported source: f, G, N"),
    ("#| code-fold: true\ndef f(): pass", ("exports",), "true Exported source"),
    ("@kernel\ndef f(): pass\n\n\n@kernel(apart=True)\ndef g(): pass", ("exporti",), "true Kernel: f, g"),
    ("learner = RDA1(10, 4)\nprint(learner)", (), ""),
    ('#| code-fold: show\n#| code-summary: "The kernel"\ndef f():\n' + "    x = 1\n" * 50, ("exports",), ""),
    ("#| code-fold: show\nassert x", (), ""), ("#| code-fold: show\ndef kernel(): pass", ("exporti",), ""),
    ("#| echo: false\nassert x", (), ""),
])
def test_folded(source, directives, shown):
    "Folded, or open under a line with a summary, or as it is."
    c = cell(source, *directives)
    fold(c)
    if not shown: assert c.source == source
    else:
        how, summary = shown.split(" ", 1)
        assert {f"#| code-fold: {how}", f'#| code-summary: "{summary}"'} <= set(c.source.splitlines()) and c.source.endswith(source[-10:])
        assert c.source.count("code-fold") == c.source.count("code-summary") == 1


def test_source_in_a_chapter_is_short():
    "Or a textbook version; other pages show more of it."
    for words, place, how in (("", "papers/a.ipynb", "true"), (" It, line for line.", "own/a.ipynb", "show"), ("", "core/a.ipynb", "show")):
        c = cell(f'def f():\n    "It.{words}"\n' + "    x = 1\n" * 15, "exports")
        fold(c, place)
        assert f"#| code-fold: {how}\n" in c.source


def test_hidden_cells_own_numbers_and_all_pages(top):
    "By our class, and not by nbdev's own folds too: they would come on top of those that a notebook has."
    c = cell("import os", "export")
    fold(c)
    assert "source" not in c and own_numbers("---\ntitle: A\n---") == "---\ntitle: A\n---"
    front = own_numbers("---\ntitle: A\nstatements: XX\n---")
    assert "thm-title: Theorem XX" in front and "lem-prefix: Lemma XX" in front and front.endswith("---")
    assert "environment-remark-title: Remark XX" in front  # of remarks, which Quarto draws as it draws proofs
    settings = (top / "settings.ini").read_text()
    assert "procs = website.procs:Page" in settings and "add_fold" in settings.split("skip_procs =")[1].splitlines()[0]


def test_statements_and_claims_lead_to_each_other():
    "The place of a check is no label of a cell, since Quarto would write that in lower case."
    record = {"id": "A9", "proof": "thm-two", "status": "holds", "resolution": 0.7}
    text = "Before.\n\n::: {#thm-two}\n\n## Title\n\n::: {.note}\nx\n:::\n\nText.\n\n:::\n\n::: {.proof}\n\nEnd.\n\n:::"
    mark, two = "\n".join(chip([record])), chip([record, record | {"id": "B1", "resolution": None}])
    assert marked(text, [record]) == text.replace("Text.\n\n:::", f"Text.\n\n{mark}\n:::")
    assert "Checked by machine once, at most 0.70 of the bound" in mark and "- [A9](#claim-A9): holds, within 2\n" in mark
    assert "Checked by machine in 2 ways, at most 0.70 of the bound" in "".join(two) and "- [B1](#claim-B1): holds" in two
    assert marked(text, [record | {"proof": "thm-three"}]) == text
    record = {"id": "A9", "proof": "thm-two", "item": "Theorem 2", "status": "holds", "resolution": None}
    line = Page.line(SimpleNamespace(place="papers/a/01.ipynb"), record)
    assert "{#claim-A9 .check-line}" in line and "(../../results/claims.ipynb#row-A9)" in line
    assert "(#claim-A9)" in marked("::: {#thm-two}\n\nText.\n\n:::", [record])


def names(source):
    "The names that a program binds, and those that it uses."
    nodes = list(ast.walk(ast.parse(source)))
    made = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    made |= {n.arg for n in nodes if isinstance(n, ast.arg)} | {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
    made |= {a.asname or a.name for n in nodes if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names}
    return made, {n.id for n in nodes if isinstance(n, ast.Name)}


def test_programs_of_the_gallery_are_short_and_run_alone(top):
    "Each has fewer than thirty lines, uses nothing of another one but the imports of all, and leads to a page."
    cells = [(c["cell_type"], "".join(c["source"])) for c in json.loads((top / "nbs/start/gallery.ipynb").read_text())["cells"]]
    common, _ = names(next(source for kind, source in cells if kind == "code" and source.startswith("import")))
    programs = [(source, after) for (_, source), (_, after) in itertools.pairwise(cells) if source.startswith("#| label: fig-")]
    assert len(programs) >= 9
    for source, caption in programs:
        made, used = names(source)
        assert used <= made | common | set(dir(builtins)), used - made
        assert sum(bool(line.strip()) and not line.startswith("#|") for line in source.splitlines()) < 30
        pages = re.findall(r"\]\(([^()#]+\.ipynb)", caption)
        assert pages and all((top / "nbs/start" / page).exists() for page in pages), caption


def test_chapters_have_three_exercises_with_solutions(top):
    "All of parts I to III but front pages, the two tables of the book, learners in code, and pages that say that they are the proof."
    import yaml

    parts = yaml.safe_load((top / "_quarto.yml").read_text())["website"]["sidebar"]["contents"]
    pages = [page for part in parts if re.match("I+ ", part["section"]) for page in part["contents"]]
    chapters = [page for entry in pages for page in (entry["contents"] if isinstance(entry, dict) else [entry])]
    fronts = {page for page in chapters if (top / "nbs" / page.removesuffix(".ipynb")).is_dir() and page.startswith("papers")}
    assert len(fronts) == 6 and len(chapters) > 40
    others = {"own/index.ipynb", "book/notation.ipynb", "book/map.ipynb"}
    for page in set(chapters) - fronts - others:
        text = "\n".join("".join(c["source"]) for c in json.loads((top / "nbs" / page).read_text())["cells"])
        if "**The learner in code.**" in text or re.search("^# (.*: )?[Tt]he proof ", text, re.M): continue
        asked, _, solved = text.partition("## Exercises")[2].partition("<summary>Solutions</summary>")
        for number in (1, 2, 3): assert f"\n{number}. " in asked and f"**{number}.** " in solved, f"{page}: exercise {number}"
