"""What happens to a notebook before it becomes a page: folds, marks, numbers."""

import pytest


@pytest.fixture(autouse=True)
def _path(monkeypatch, top): monkeypatch.syspath_prepend(top)


def cell(source: str, *directives: str):
    "A cell as nbdev hands it on."

    class Cell(dict):
        source = property(lambda self: self["source"])
        cell_type, directives_ = "code", dict.fromkeys(directives)

    return Cell(source=source)


@pytest.mark.parametrize(("source", "directives", "summary"), [
    ("# the sum is one\nassert sum(p) == 1", (), "Check: the sum is one"),
    ("for x in (1, 2):\n    assert x", (), "Check"),
    ("#| fig-cap: A line\nplt.plot(x)", (), "Code of the figure"),
    ("rows = table()\nMarkdown(rows)", (), "Code of the table"),
    ("checked(lemma)\nchecked(theorem)", (), "The checks run"),
    ('@claim("p", "x", id="A9")\ndef f(): pass', ("exporti",), "Check of A9"),
    ("def f(): pass", ("exporti",), "Code behind the checks"),
    ('#| code-fold: show\n#| code-summary: "Exported source"\ndef f():\n' + "    x = 1\n" * 50 + "class G: pass\nN = 1", ("exports",),
     "Exported source: f, G, N"),
])
def test_folded(source, directives, summary):
    from website.procs import fold

    c = cell(source, *directives)
    fold(c)
    assert f'#| code-fold: true\n#| code-summary: "{summary}"\n' in c.source
    assert c.source.endswith(source.split("|")[-1][-10:])


@pytest.mark.parametrize(("source", "directives"), [
    ("learner = RDA1(10, 4)\nprint(learner)", ()),
    ("def f(): pass", ("exports",)),
    ("#| code-fold: show\nassert x", ()),
    ("#| code-fold: show\ndef kernel(): pass", ("exporti",)),
    ("#| echo: false\nassert x", ()),
])
def test_open(source, directives):
    from website.procs import fold

    c = cell(source, *directives)
    fold(c)
    assert c.source == source


def test_hidden():
    from website.procs import fold

    c = cell("import os", "export")
    fold(c)
    assert "source" not in c


def test_statements_name_their_claims():
    from website.procs import marked

    record = {"id": "A9", "proof": "thm-two", "status": "holds", "resolution": 0.7}
    text = "Before.\n\n::: {#thm-two}\n\n## Title\n\n::: {.note}\nx\n:::\n\nText.\n\n:::\n\n::: {.proof}\n\nEnd.\n\n:::"
    mark = "[[A9](#claim-A9) holds, within 2]{.claims}"
    assert marked(text, [record]) == text.replace("Text.\n\n:::", f"Text.\n\n{mark}\n\n:::")
    assert marked(text, [record | {"proof": "thm-three"}]) == text


def test_own_numbers():
    from website.procs import own_numbers

    assert own_numbers("---\ntitle: A\n---") == "---\ntitle: A\n---"
    front = own_numbers("---\ntitle: A\nstatements: XX\n---")
    assert "thm-title: Theorem XX" in front and "lem-prefix: Lemma XX" in front and front.endswith("---")


def test_all_pages_are_processed(top):
    assert "procs = website.procs:Page" in (top / "settings.ini").read_text()
