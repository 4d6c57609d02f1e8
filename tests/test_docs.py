"""The site: the real notebooks make it without a problem, and every kind of defect is noticed."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

PNG = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=")
SETTINGS = """
project: {type: website, output-dir: _docs, resources: [mathjax]}
website:
  title: Trial
  description: A trial
  sidebar: {contents: [index.ipynb, {section: More, contents: [more/01_page.ipynb]}]}
bibliography: references.bib
format:
  html: {css: styles.css, toc: true, html-math-method: {method: mathjax, url: /mathjax/tex-svg-full.js}}
"""
MORE = [("raw", "---\ntitle: More\ndescription: Another page\noutput-file: page.html\n---"), "## A heading"]


def notebook(cells) -> str:
    "A notebook from texts (Markdown), (kind, text) and (code, outputs) in a list."
    out = []
    for cell in cells:
        if isinstance(cell, str): cell = ("markdown", cell)
        if isinstance(cell, list): out.append({"cell_type": "code", "source": cell[0], "outputs": cell[1], "metadata": {}})
        else: out.append({"cell_type": cell[0], "source": cell[1], "metadata": {}})
    return json.dumps({"cells": out, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def data(**kinds) -> list:
    return [{"output_type": "display_data", "metadata": {}, "data": {k.replace("_", "/"): v for k, v in kinds.items()}}]


@pytest.fixture
def build(tmp_path, monkeypatch, top):
    "A function that builds a small site with the given cells on the front page; returns (problems, front page)."
    monkeypatch.syspath_prepend(top)
    from website.render import Site

    def run(*cells, settings=SETTINGS, front="---\ntitle: Front\ndescription: The front\n---", css="", **extra):
        proc = tmp_path / "_proc"
        (proc / "more").mkdir(parents=True)
        (tmp_path / "_quarto.yml").write_text(settings)
        (proc / "_quarto.yml").write_text("metadata-files: [../_quarto.yml]")
        (proc / "references.bib").write_text("@book{knuth, author={Knuth, Donald}, title={Algorithms}, year={1997}}")
        (proc / "styles.css").write_text(css)
        (proc / "index.ipynb").write_text(notebook([("raw", front), *cells]))
        (proc / "more" / "01_page.ipynb").write_text(notebook(MORE))
        for name, text in extra.items(): (proc / f"{name}.ipynb").write_text(text)
        (proc / "mathjax").mkdir()
        (proc / "mathjax" / "tex-svg-full.js").touch()
        return Site(proc, tmp_path / "out").build(search=False), (tmp_path / "out" / "index.html").read_text(encoding="utf-8")

    return run


def test_real_site(tmp_path, top):
    """All of it, as `make docs` does it: nbdev, pandoc, checks, README.md, search index."""
    for name in ("settings.ini", "_quarto.yml", "README.md"): shutil.copy(top / name, tmp_path)
    shutil.copytree(top / "nbs", tmp_path / "nbs", ignore=shutil.ignore_patterns(".*", "mathjax"))
    command, env = [sys.executable, "-m", "website", "--check"], os.environ | {"PYTHONPATH": str(top)}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 problems" in done.stdout and (tmp_path / "nbs" / "mathjax" / "tex-svg-full.js").stat().st_size > 1e6


def test_markup(build):
    """What notebooks use, on one page, with numbers that follow the order of the page."""
    problems, page = build(
        "See @thm-b, [-@thm-a], @eq-one, @fig-dot, @tbl-t, @sec-s, [@knuth, p. 3] and @thm-a [@knuth].[^1]\n\n[^1]: A note.",
        "## Words {#sec-s}\n\n$$ a = b $$ {#eq-one}\n\nLink: [more](more/01_page.ipynb#a-heading), [out](https://example.org).",
        "::: {#thm-a}\n\n## First\n\nText.\n\n:::\n\n::: {#thm-b}\n\nText.\n\n:::\n\n::: {#lem-c}\n\nText.\n\n:::",
        "::: {.proof}\n\nBecause.\n\n:::\n\n::: {.callout-tip collapse=\"true\"}\n\n## Hint\n\nTry.\n\n:::",
        "::: {.panel-tabset}\n\n## One\n\n1\n\n## Two\n\n2\n\n:::\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n: Numbers {#tbl-t}",
        ['#| label: fig-dot\n#| fig-cap: "A dot [0, 1)"\nplot("`")', data(image_png=PNG, text_plain="<Figure>")],
        ['#| code-fold: show\n#| code-summary: "Exported source"\ndef f(): pass', []],
        ["#| echo: false\nshow_doc(f)", []],
        ["1", [{"output_type": "stream", "name": "stdout", "text": ["\x1b[31mred\x1b[0m\n", "```\n"]}]],
        ["2", data(text_markdown="| c |\n|---|\n| $x$ |")],
    )
    assert problems == []
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page.split("<main")[1])).replace("\u00a0", " ")
    assert "See Theorem 2, 1, Equation 1, Figure 1, Table 1, Words, (Knuth 1997, 3) and Theorem 1 (Knuth 1997)." in text
    for part in ("Theorem 1 (First)", "Lemma 1 Text.", "Proof. Because.", "Figure 1: A dot [0, 1)", "Table 1: Numbers", "References"):
        assert part in text, part
    assert r"a = b \tag{1}" in page and "show_doc" not in page and "\x1b" not in page
    assert 'href="more/page.html#a-heading"' in page and "<details><summary>" in page and page.count('type="radio"') == 2
    assert "<details open><summary>" in page and 'alt="A dot [0, 1)"' in page


def test_image_is_written(build, tmp_path):
    assert build(["#| fig-alt: A dot\nplot()", data(image_png=PNG)])[0] == []
    [file] = (tmp_path / "out" / "index_files").iterdir()
    assert file.read_bytes() == base64.b64decode(PNG)


@pytest.mark.parametrize(("cell", "problem"), [
    ("By @thm-nothing.", "unknown reference @thm-nothing"),
    ("As in @nobody2020.", "nobody2020"),
    ("[a](more/02_gone.ipynb)", "broken link more/02_gone.ipynb"),
    ("[a](more/01_page.ipynb#gone)", "no such anchor more/page.html#gone"),
    ("[a](#gone)", "no such anchor #gone"),
    ("[a](/more/page.html)", "broken link /more/page.html"),
    ("![a picture](gone.png)", "broken link gone.png"),
    ("![a picture](https://example.org/a.png)", "external asset https://example.org/a.png"),
    ('<script src="//example.org/a.js"></script>', "external asset //example.org/a.js"),
    ("## A {#a}\n\n## B {#a}", "duplicate id a"),
    ("::: {#thm-a}\n\nx\n\n:::\n\n::: {#thm-a}\n\ny\n\n:::", "duplicate id thm-a"),
    ("::: {#thm-a}\ntext\n\nmore\n::: ::: {#x", "markup left over"),
    ("Text $$ a $$ and {#eq-a}", "markup left over: {#eq-a}"),
    (r"$\frac{1}{2$", "Could not convert TeX math"),
    ("::: {#fig-a}\n\n![a](styles.css)\n\n:::", "no caption in the block fig-a"),
    (["#| fig-capt: x\n1", []], "unknown cell option fig-capt"),
    (["plot()", data(image_png=PNG)], "a figure needs fig-alt or fig-cap"),
    (["#| label: fig-a\n#| fig-cap: x\n1", []], "needs both and one such output, not 0"),
    (["1", data(text_html="<b>x</b>", text_plain="x")], "text/html"),
])
def test_defects(build, cell, problem):
    problems, _ = build(cell)
    assert any(p.startswith("index.ipynb: ") and problem in p for p in problems), problems


def test_navigation_defects(build):
    problems, _ = build(settings=SETTINGS.replace("[more/01_page.ipynb]", "[more/02_gone.ipynb]"))
    assert problems == ["_quarto.yml: more/02_gone.ipynb in the navigation does not exist",
                        "_quarto.yml: more/01_page.ipynb is not in the navigation"]


def test_front_matter_and_style_defects(build):
    problems, _ = build(front="---\ntitle: Front\n---", css="@import url(https://example.org/font.css);")
    assert problems == ["index.ipynb: no description in the front matter", "styles.css: external asset https://example.org/font.css"]


def test_two_notebooks_one_page(build):
    settings = SETTINGS.replace("[index.ipynb,", "[index.ipynb, other.ipynb,")
    other = notebook([("raw", "---\ntitle: Other\ndescription: Other\noutput-file: index.html\n---")])
    assert "index.html: made twice" in build(settings=settings, other=other)[0]
