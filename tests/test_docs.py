"""The site: the real notebooks make it without a problem, and every kind of defect is noticed."""

import base64
import importlib
import inspect
import json
import os
import pkgutil
import re
import shutil
import sys
from functools import partial

import pytest
from conftest import TOP, javascript, run

import oslr_nb
from website import quarto, reference
from website.cells import Page
from website.render import Site, address, navigation, number, with_its_marks
from website.search import names, plainer, statements, untex

PNG = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=")
SETTINGS = """
project: {type: website, output-dir: _docs, resources: [mathjax]}
website:
  title: Trial
  description: A trial
  sidebar: {contents: [index.ipynb, {section: More, contents: [more/01_page.ipynb]}]}
bibliography: references.bib
format:
  html: {css: styles.css, toc: true, include-after-body: after.html, html-math-method: {method: mathjax, url: /mathjax/tex-svg-full.js}}
"""
FRONT = "---\ntitle: Front\ndescription: The front\n---"
MORE = [("raw", "---\ntitle: More\ndescription: Another page\noutput-file: page.html\n---"), "## A heading"]


def notebook(cells) -> str:
    "A notebook from texts (Markdown), (kind, text) and (code, outputs) in a list."
    out = []
    for cell in cells:
        if isinstance(cell, str): cell = ("markdown", cell)
        if isinstance(cell, list): cell = ("code", *cell)
        out.append({"cell_type": cell[0], "source": cell[1].splitlines(keepends=True), "outputs": cell[2:] and cell[2], "metadata": {}})
    return json.dumps({"cells": out, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def data(**kinds) -> list:
    return [{"output_type": "display_data", "metadata": {}, "data": {k.replace("_", "/"): v for k, v in kinds.items()}}]


def small_site(folder, *cells, settings=SETTINGS, front=FRONT, css="", **extra):
    "Builds a small site with the given cells on the front page; returns (problems, front page)."
    proc = folder / "_proc"
    (proc / "more").mkdir(parents=True)
    (folder / "_quarto.yml").write_text(settings)
    (proc / "_quarto.yml").write_text("metadata-files: [../_quarto.yml]")
    (proc / "references.bib").write_text("@book{knuth, author={Knuth, Donald}, title={Algorithms}, year={1997}}")
    (proc / "styles.css").write_text(css)
    (proc / "after.html").write_text("<script>after()</script>")
    (folder / "CITATION.cff").write_text("{title: Trial, version: 1.2, date-released: '2026-01-02', authors: [{name: The authors}]}")
    (proc / "index.ipynb").write_text(notebook([("raw", front), *cells]))
    (proc / "more" / "01_page.ipynb").write_text(notebook(MORE))
    for name, text in extra.items(): (proc / f"{name}.ipynb").write_text(text)
    (proc / "mathjax").mkdir()
    (proc / "mathjax" / "tex-svg-full.js").touch()
    return Site(proc, folder / "out").build(search=False), (folder / "out" / "index.html").read_text(encoding="utf-8")


@pytest.fixture
def build(tmp_path): return partial(small_site, tmp_path)


def test_real_site(tmp_path, top):
    """All of it, as `make docs` does it: nbdev, pandoc, checks, README.md, search index."""
    for name in ("settings.ini", "_quarto.yml", "README.md"): shutil.copy(top / name, tmp_path)
    shutil.copytree(top / "nbs", tmp_path / "nbs", ignore=shutil.ignore_patterns(".*", "mathjax"))
    assert " 0 problems" in run(sys.executable, "-m", "website", "--check", cwd=tmp_path, PYTHONPATH=top)
    assert (tmp_path / "nbs" / "mathjax" / "tex-svg-full.js").stat().st_size > 1e6


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
    text = words(page.split("<main")[1])
    assert "See Theorem 2, 1, Equation 1, Figure 1, Table 1, Words, (Knuth 1997, 3) and Theorem 1 (Knuth 1997)." in text
    for part in ("Theorem 1 (First)", "Lemma 1 Proof Text.", "Proof. ↑ Because.", "Figure 1: A dot [0, 1)", "Table 1: Numbers"):
        assert part in text, part
    assert r"a = b \tag{1}" in page and "show_doc" not in page and "\x1b" not in page
    assert 'href="more/page.html#a-heading"' in page and "<details><summary>" in page and page.count('type="radio"') == 2
    assert "<details open><summary>" in page and 'alt="A dot [0, 1)"' in page


def test_sections_that_are_one_line(build):
    "Their headings stay, with their places, and open what follows up to the next section; a table of notation names its letters."
    problems, page = build("## In code: the learner {#the-learner}\n\nKernels.\n\n### A part\n\nMore.",
                           "## Next\n\nOpen. See [it](#the-learner) in [@knuth].", "## Departures from the paper, errata\n\nA sign.",
                           "## Checked: all\n\nThe last.", "## Notation\n\nWords.\n\n| paper | here |\n|---|---|\n| $a$ | `a` |\n| $b$ | |")
    assert problems == []
    main = page.split("<main")[1]
    found = re.findall(r'<details class="behind (\w+)"><summary>\s*<h2[^>]*id="[^"]+">(.*?)</h2>\s*</summary>(.*?)</details>', main, re.S)
    kinds = {"In code: the learner": "code", "Departures from the paper, errata": "print", "Checked: all": "code", "References": "print"}
    assert {title: kind for kind, title, _ in found} == kinds
    inside = {title: text for _, title, text in found}
    for title, text in zip(kinds, ("A part", "A sign.", "The last.", 'id="ref-knuth"'), strict=True): assert text in inside[title]
    assert not any(part in text for text in inside.values() for part in ("Open.", "Words."))
    assert 'href="#the-learner"' in page.split("<main")[0]
    letters, table = re.search(r'<p>Words.</p>\s*<details class="print"><summary>(.*?)</summary>(.*?)</details>', main, re.S).groups()
    assert words(letters).split() == ["The", "letters:", r"\(a\),", r"\(b\)"] and "<code>a</code>" in table
    assert ">In code: the learner</h2>" in plainer(page)   # the search finds it


def test_checks_in_a_row_are_one_line(build):
    "Their claims are named, and links to them still lead there; a single check stays as it is."
    cell = ["#| code-fold: true\n#| code-summary: 'Check of A9'\ndef f(): pass", []]
    other = ["#| code-fold: true\n#| code-summary: 'The checks run'\nchecked(f)", []]
    line = "::: {#claim-A9 .check-line}\n\n**A9** checks it.\n\n:::"
    problems, page = build("Words.", line, cell, other, "Between. See [A9](#claim-A9).", other)
    assert problems == []
    main = page.split("<main")[1]
    found = re.findall(r'<div class="checks">\s*<details><summary>\s*(.*?)\s*</summary>', main)
    assert found == ["Checks: A9"] and main.count("The checks run") == 2 and 'id="claim-A9"' in main


@pytest.mark.parametrize("alone", [False, True])
def test_long_proofs_are_closed(build, alone):
    "Its line names the steps and leads back to the statement; a short proof is open, and so is the only proof of a page."
    proof = "::: {.proof}\n\n*Step 1, cone.* " + "Words. " * 200 + "*Step 2, end* (checked).\n\n:::"
    other = [] if alone else ["::: {#lem-b}\n\nText.\n\n:::\n\n::: {.proof}\n\nClear.\n\n:::"]
    problems, page = build("::: {#lem-a}\n\nText.\n\n:::", proof, *other)
    main = page.split("<main")[1]
    found = re.findall(r'<div id="proof-lem-a" class="proof">\s*<details><summary>(.*?)</summary>(.*?)</details>', main, re.S)
    assert problems == [] and [words(line).strip() for line, _ in found] == ["Proof. ↑ Step 1, cone. Step 2, end."] * (not alone)
    assert main.count("<details>") == len(found) and all("(checked)" in inside for _, inside in found)


def test_what_is_proved_on_a_page_of_its_own(build):
    "The proof leads to the statement on the other page, and is open, however long; it counts for no statement of this page."
    proof = "::: {.proof}\n\n## of [Theorem AA 1](more/01_page.ipynb#thm-far)\n\n" + "Words. " * 200 + "\n\n:::"
    front, more = "---\ntitle: Front\ndescription: The front\n---", notebook([*MORE[:1], "::: {#thm-far}\n\nText.\n\n:::"])
    problems, page = build("::: {#lem-a}\n\nText.\n\n:::", proof, "::: {.proof}\n\nClear.\n\n:::", front=front, **{"more/01_page": more})
    main = page.split("<main")[1]
    assert problems == [] and re.findall(r'<a\s+href="([^"]+)"\s+class="to-statement"', main) == ["more/page.html#thm-far", "#lem-a"]
    assert "<details>" not in main.split('id="proof-thm-far"')[1].split("Clear.")[0]


def test_place_in_the_book(build, tmp_path):
    """Parts are folded but for the current one, chapters numbered; statements and proofs lead to each other; titles have an index."""
    part = {"section": "I One", "contents": ["b", {"section": "C", "contents": ["c", "d"]}]}
    pages = list(navigation(["a", part, {"section": "More", "contents": ["e"]}]))
    number(pages)
    assert [(p.section, p.chapter, p.number) for p in pages] == [
        ("", "", ""), ("I One", "", "1"), ("I One", "C", "2"), ("I One", "C", "2.1"), ("More", "", "")]
    problems, page = build(
        "::: {#thm-main}\n\n## Main\n\nText.\n\n:::", "::: {#lem-a}\n\n## First $x^2$\n\nText.\n\n:::\n\n::: {.proof}\n\nClear.\n\n:::",
        "::: {#lem-b}\n\nText.\n\n:::\n\n::: {.proof}\n\n## of @lem-a, again\n\nClear.\n\n:::",
        "## The proof\n\n::: {.proof}\n\nBy both.\n\n:::")
    assert problems == []
    assert re.findall(r'<a\s+href="(#[^"]+)"\s+class="to-proof"', page) == ["#the-proof", "#proof-lem-a"]  # lem-b has none
    assert re.findall(r'<a\s+href="(#[^"]+)"\s+class="to-statement"', page) == ["#lem-a", "#lem-a", "#thm-main"]
    assert page.count("<details><summary>More</summary>") == 1 and 'aria-label="Place in the book"' not in page
    other = (tmp_path / "out" / "more" / "page.html").read_text(encoding="utf-8")
    assert "<details open><summary>More</summary>" in other and re.search(r'aria-label="Place in the book"[^>]*>More<', other)
    rows = statements(Page("index.ipynb", "", title="Front", description="It", url="index.html", keywords="way in"), page)
    assert rows == [["Front", "It", "index.html", "way in"], ["Theorem 1 (Main)", "Front", "index.html#thm-main", ""],
                    ["Lemma 1 (First x^2)", "Front", "index.html#lem-a", ""], ["Lemma 2", "Front", "index.html#lem-b", ""]]


def test_the_reference_has_groups(build, tmp_path):
    "Their names stand between the pages, all of which are listed; before a release there is no year to cite."
    groups = "{section: Use, contents: [more/01_page.ipynb, b.ipynb]}, {section: Inside, contents: [c.ipynb]}"
    settings = SETTINGS.replace("{section: More, contents: [more/01_page.ipynb]}", f"{{section: Reference, contents: [{groups}]}}")
    more = {name: notebook([("raw", f"---\ntitle: {name}.x\ndescription: A module\n---")]) for name in "bc"}
    assert build(settings=settings, **more)[0] == []
    page = (tmp_path / "out" / "c.html").read_text(encoding="utf-8").split("</nav>")[0].split('aria-label="Pages">')[1]
    assert words(page).split() == ["←", "Trial", "Reference", "Use", "More", "b.x", "Inside", "c.x"]
    site = Site(tmp_path / "_proc", tmp_path / "out")
    del site.citation["date-released"]
    assert "The authors. Front. In Trial, version 1.2." in site.foot(site.front()) and "year" not in site.foot(site.front())


def test_image_is_written(build, tmp_path):
    assert build(["#| fig-alt: A dot\nplot()", data(image_png=PNG)])[0] == []
    [file] = (tmp_path / "out" / "index_files").iterdir()
    assert file.read_bytes() == base64.b64decode(PNG)


DEFECTS = [
    ("By @thm-nothing.", "unknown reference @thm-nothing"), ("As in @nobody2020.", "nobody2020"),
    ("[a](more/02_gone.ipynb)", "broken link more/02_gone.ipynb"), ("[a](more/01_page.ipynb#gone)", "no such anchor more/page.html#gone"),
    ("[a](#gone)", "no such anchor #gone"), ("[a](/more/page.html)", "broken link /more/page.html"),
    ("![a picture](gone.png)", "broken link gone.png"),
    ("![a picture](https://example.org/a.png)", "external asset https://example.org/a.png"),
    ('<script src="//example.org/a.js"></script>', "external asset //example.org/a.js"), ("## A {#a}\n\n## B {#a}", "duplicate id a"),
    ("::: {#thm-a}\n\nx\n\n:::\n\n::: {#thm-a}\n\ny\n\n:::", "duplicate id thm-a"),
    ("::: {#thm-a}\ntext\n\nmore\n::: ::: {#x", "markup left over"), ("Text $$ a $$ and {#eq-a}", "markup left over: {#eq-a}"),
    ("By the bound of thm-two.", "markup left over: thm-two"), (r"$\frac{1}{2$", "Could not convert TeX math"),
    ("::: {#fig-a}\n\n![a](styles.css)\n\n:::", "no caption in the block fig-a"),
    (["#| fig-capt: x\n1", []], "unknown cell option fig-capt"), (["plot()", data(image_png=PNG)], "a figure needs fig-alt or fig-cap"),
    (["#| label: fig-a\n#| fig-cap: x\n1", []], "needs both and one such output, not 0"),
    (["1", data(text_html="<b>x</b>", text_plain="x")], "text/html"),
    (["#| code-fold: show\n#| code-fold: true\n1", []], "cell option code-fold given twice"),
    (["#| label: claim-D2\n1", []], "label claim-D2: only figures and tables have labels"),
    (["#| label: fig-D2\n#| fig-cap: x\nplot()", data(image_png=PNG)], "label fig-D2: only figures and tables have labels, in lower case"),
]


@pytest.fixture(scope="module")
def defective(tmp_path_factory):
    "The problems of one site with each defect on a page of its own."
    pages = {f"page{i}": notebook([("raw", FRONT), cell]) for i, (cell, _) in enumerate(DEFECTS)}
    settings = SETTINGS.replace("[index.ipynb,", "[index.ipynb, " + "".join(f"{name}.ipynb, " for name in pages))
    return small_site(tmp_path_factory.mktemp("defective"), settings=settings, **pages)[0]


@pytest.mark.parametrize("i", range(len(DEFECTS)), ids=[problem for _, problem in DEFECTS])
def test_defects(defective, i): assert any(p.startswith(f"page{i}.ipynb: ") and DEFECTS[i][1] in p for p in defective), defective


def test_every_source_is_a_list_of_lines(build):
    "Quarto runs together the lines of a source that is one text."
    whole = json.loads(notebook([("raw", FRONT)]))
    whole["cells"].append({"cell_type": "markdown", "source": "One.\nTwo.", "metadata": {}})
    settings = SETTINGS.replace("[index.ipynb,", "[index.ipynb, whole.ipynb,")
    problems, _ = build(settings=settings, whole=json.dumps(whole))
    assert problems == ["whole.ipynb: cell 1: its source is one text, whose lines Quarto runs together"]
    cells = [reference.markdown("One.\n\nTwo.", "a.ipynb"), reference.folded("x = 1\ny = 2", "Code")]
    made = [cell["source"] for cell in json.loads(reference.notebook("Title", "About it", cells))["cells"]]
    assert [len(source) for source in made] == [4, 3, 4] and made[2][-2:] == ["x = 1\n", "y = 2"]


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


def words(page: str) -> str: return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page)).replace("\u00a0", " ")


def test_page_letters_in_statement_numbers(build):
    front = "---\ntitle: Front\ndescription: The front\nstatements: XX\n---"
    boxes = "::: {#thm-a}\n\n## Large\n\nText.\n\n:::\n\n::: {#lem-b}\n\nText.\n\n:::"
    problems, page = build("By @thm-a and [-@lem-b], @eq-c.\n\n$$ a $$ {#eq-c}", boxes, front=front)
    assert problems == [] and "By Theorem XX 1 and XX 1, Equation 1." in words(page)
    assert "Theorem XX 1 (Large)" in words(page) and "Lemma XX 1 Text" in words(page)


def test_what_every_page_offers(build, tmp_path):
    "Notebook, citation, contents at every width, a switch for code, the shared script; statements are headings below their section."
    problems, page = build("## Part\n\n::: {#thm-a}\n\n### Large\n\nText.\n\n:::", ["1", []], "### Piece\n\n::: {#lem-b}\n\nText.\n\n:::",
                           "|  | b |\n|---|---|\n| E-D5 | 2 |")
    assert problems == [] and "<script>after()</script>" in page and 'id="code"' in page
    assert page.count('<a download href="index.ipynb">') == 2 and (tmp_path / "out" / "index.ipynb").exists()
    assert "To cite this page The authors (2026). Front. In Trial, version 1.2." in words(page)
    assert '<details open><summary>On this page</summary>' in page.replace("\n", "")
    assert re.findall(r'<(h\d) class="theorem-title">', page) == ["h3", "h4"] and "Large" not in page.split("<main")[0]
    assert "<th></th>" not in page and "<th>b</th>" in page and '<span class="id">E-D5</span>' in page


def test_words_of_search_warnings_and_commas():
    "A keyword leads to its section, warnings of Quarto name their page, commas stay with formulas."
    text = plainer('''<nav>Menu</nav><main><h1>T</h1><p class="tools">Cite</p><div id="thm-a" class="theorem">
<h3 class="theorem-title">
Theorem 2</h3><p>If <span class="math inline">\\(\\lambda\\le\\frac{1}{2}\\)</span>.</p></div><pre>2</pre></main>''')
    assert '<h3 id="thm-a" data-pagefind-weight="9">' in text and "λ≤1/2" in text
    assert not any(word in text for word in ("Menu", "Cite", "<pre>", "\\")) and untex(r"\(\mathbb{E}\left[x\right]\)") == "E[x]"
    page = Page("book/01_game.ipynb", "", title="The game", description="It", url="a.html", keywords="what is regret, regret, round")
    rows = statements(page, '<h2 id="a-round">A round</h2><h2\nid="regret">Regret, <em>not</em> loss</h2>', "Game play")
    assert rows == [["The game", "It", "a.html", "round", "Game play"],
                    ["Regret, not loss", "The game", "a.html#regret", "what is regret, regret"]]
    chapter, code = (names(Page(source, "")) for source in ("papers/ito2017/01_algorithm1.ipynb", "reference/ito2017.algorithm1.ipynb"))
    assert chapter == code and "RDA1" in code.split() and names(page) == ""
    told = ["\x1b[1m\x1b[34m", "[ 1/19] a.ipynb\x1b[39m", "\x1b[33mWARNING: x", "\x1b[39m[WARNING] Citeproc: y", "[ 2/19] b/c.ipynb",
            "WARN: z", "Output created"]
    assert quarto.warnings(told) == ["a.ipynb: Quarto: WARNING: x", "a.ipynb: Quarto: [WARNING] Citeproc: y", "b/c.ipynb: Quarto: WARN: z"]
    assert quarto.warnings(["ERROR: w"]) == ["_quarto.yml: Quarto: ERROR: w"]
    span = '<span\nclass="math inline">\\(a\\)</span>'
    assert with_its_marks(f"({span}), {span} b") == f'<span class="together">({span}),</span> {span} b'


ROWS = [  # of statements.json, in the order of the site
    ["Your own data", "A session in a terminal", "start/your_data.html", "csv, missing values"],
    ["The game", "One round in pictures", "book/01_game.html", "round, budget"],
    ["Regret, not loss", "The game", "book/01_game.html#regret", "what is regret, regret"],
    ["Algorithm 1", "Favourites and random features", "papers/ito2017/algorithm1.html", "", "RDA1 GreedyRDA"],
    ["Theorem IA 1 (The regret of Algorithm 1)", "Algorithm 1", "papers/ito2017/algorithm1.html#thm-two", ""],
    ["Tables", "From a file to a report, with missing values", "practice/tables.html", "csv, missing values"],
    ["RDA1 and the floor", "How fast it is", "results/speed.html#rda1-and-the-floor", ""],
    ["The run and its regret", "What a run knows", "core/game/run.html", "regret, what is regret, missing values"],
    ["ito2017.algorithm1", "Reference of oslr_nb.papers.ito2017.algorithm1", "reference/ito2017.algorithm1.html", "", "RDA1 GreedyRDA"],
]


@pytest.mark.parametrize(("query", "order"), [
    ("regret", ["book/01_game.html#regret", "papers/ito2017/algorithm1.html#thm-two", "core/game/run.html"]),
    ("what is regret", ["book/01_game.html#regret", "core/game/run.html"]),
    ("rda1", ["reference/ito2017.algorithm1.html#RDA1", "papers/ito2017/algorithm1.html", "results/speed.html#rda1-and-the-floor"]),
    ("missing values", ["start/your_data.html", "practice/tables.html", "core/game/run.html"]),
])
def test_search_order(top, query, order):
    "The definition, then theorems; the code of a name, then its chapter; pages of users before those of the code."
    text = (top / "website" / "site.js").read_text(encoding="utf-8")
    functions = [re.search(rf"^function {name}\(.*?(?:^\}}$|\}} *//[^\n]*$)", text, re.M | re.S)[0] for name in ("inside", "ranked")]
    found = f"ranked({json.dumps(query)}, {json.dumps(ROWS)}).map((hit) => hit.url)"
    assert javascript("\n".join([*functions, f"const answer = {found};"])) == order


def test_sitemap_only_with_an_address(build, tmp_path):
    (tmp_path / "settings.ini").write_text("[DEFAULT]\ndoc_host = https://example.org\ndoc_baseurl = /oslr/\n")
    assert build()[0] == [] and "https://example.org/oslr/more/page.html" in (tmp_path / "out" / "sitemap.xml").read_text()
    (tmp_path / "settings.ini").write_text("[DEFAULT]\ndoc_host =\n")
    assert address(tmp_path / "settings.ini") == ""


def test_output_of_quarto(build, tmp_path):
    "Its pages are finished and checked like ours; its warnings count."
    build()
    site = Site(tmp_path / "_proc", tmp_path / "quarto")
    polyfill = '<script src="https://cdnjs.cloudflare.com/polyfill/v3/polyfill.min.js?features=es6"></script>'
    page = '<head>{}</head><a href="">theme</a><b id="x"></b><main><p id="x">{}</p></main>'
    def made(text):
        for name in ("index.html", "more/page.html"):
            (tmp_path / "quarto" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "quarto" / name).write_text(page.format(polyfill, text))
        for _ in range(2): quarto.finish(site)
        return quarto.check_output(site), (tmp_path / "quarto" / "index.html").read_text()
    problems, text = made('Fine.<span class="menu-text">own.moments</span><table><th scope="col"></th></table>')
    assert problems == [] and "polyfill" not in text and text.count("To cite this page") == 1 and '<td scope="col"></td>' in text
    assert "own.<wbr>moments" in text
    assert made('<a href="gone.html">a</a>')[0] == ["index.ipynb: broken link gone.html", "more/01_page.ipynb: broken link gone.html"]
    assert any("external asset" in p for p in made('<img src="https://example.org/a.png">')[0])
    assert any("duplicate id y" in p for p in made('<i id="y"></i><i id="y"></i>')[0])
    assert any("markup left over" in p for p in made("::: {#thm-a}")[0])
    (tmp_path / "quarto" / "index.html").unlink()
    assert "index.ipynb: no page index.html" in quarto.check_output(site)


def test_quarto_is_run(tmp_path, monkeypatch, capfd):
    "Its lines are passed on, its exit code too."
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "quarto").write_text("#!/bin/sh\necho one >&2\nexit $CODE\n")
    (tmp_path / "quarto").chmod(0o755)
    monkeypatch.setenv("CODE", "0")
    assert quarto.render(tmp_path) == ["one\n"] and capfd.readouterr().err == "one\n"
    monkeypatch.setenv("CODE", "3")
    with pytest.raises(SystemExit, match="3"): quarto.render(tmp_path)


def contrast(a: str, b: str) -> float:
    "The contrast of two colours by WCAG."
    def luminance(colour):
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def colours(top, name: str) -> dict[str, str]: return dict(re.findall(r"\$([\w-]+): (#\w{6});", (top / "nbs" / name).read_text()))


def over(ground: str, ink: tuple, share: float) -> str:
    "A translucent colour on a ground."
    below = [int(ground[i:i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in zip(ink, below, strict=True))


@pytest.mark.parametrize(("name", "page"), [("light.scss", "#ffffff"), ("dark.scss", "#17191d")])
def test_links_are_legible_on_every_ground(top, name, page):
    "The page, printed outputs, code, statement boxes, and the list of references, which Quarto makes paler; the same colour as in ours."
    scss, css = colours(top, name), (top / "nbs" / "styles.css").read_text()
    boxes = re.findall(r"background: rgba\((\d+), (\d+), (\d+), ([\d.]+)\)", css)
    grounds = [page, "#f8f9fa" if name == "light.scss" else page, scss["code-block-bg"]]
    grounds += [over(page, tuple(map(int, box[:3])), float(box[3])) for box in boxes]
    link = scss["link-color"]
    pale = over(page, [int(link[i:i + 2], 16) for i in (1, 3, 5)], 0.9)
    assert len(boxes) == 5 and min(contrast(link, ground) for ground in grounds) >= 4.5 and contrast(pale, page) >= 4.5
    own = dict(re.findall(r"--(\w+): light-dark\((.*?)\);", (top / "website" / "site.css").read_text()))
    assert link == own["link"].split(", ")[name == "dark.scss"]


def test_dark_theme_and_figures_are_legible(top):
    scss = colours(top, "dark.scss")
    assert "pre-color" in scss  # bootstrap's is black on every ground
    grounds = {scss.pop(name) for name in list(scss) if name.endswith("-bg")}
    inks = {value for name, value in scss.items() if "border" not in name}
    assert min(contrast(ink, ground) for ink in inks for ground in grounds) > 6
    style = (top / "oslr_nb" / "figures.mplstyle").read_text()
    assert contrast("#" + re.search(r"text.color: (\w+)", style)[1], "#ffffff") >= 4.5
    lines = re.findall(r'"([0-9a-f]{6})"', style)
    assert len(lines) == 7 and min(contrast("#" + c, ground) for c in lines for ground in ("#ffffff", "#17191d")) > 3.3


def test_references_and_calls_in_prose(top):
    "A reference has a doi, an arXiv number or an address, or stands in the last comment; `f(name=...)` has such an argument."
    text = (top / "nbs" / "references.bib").read_text(encoding="utf-8")
    entries = dict(re.findall(r"^@\w+\{(\w+),(.*)$", text, re.M))
    unknown = set(re.findall(r"\w+", re.search(r"% No address is known of: (.*)", text)[1])) - {"none"}
    assert unknown <= set(entries)
    assert {key for key, entry in entries.items() if not re.search(r"\b(doi|eprint|url) = \{", entry)} == unknown
    assert text == (top / "oslr_nb" / "references.bib").read_text(encoding="utf-8")
    known, calls = {}, 0
    for module in pkgutil.walk_packages(oslr_nb.__path__, "oslr_nb."):
        if module.name.endswith("__main__"): continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if callable(value) and str(getattr(value, "__module__", "")).startswith("oslr_nb"):
                try: known.setdefault(name, set()).update(inspect.signature(value).parameters)
                except (TypeError, ValueError): continue
    for page in (TOP / "nbs").rglob("*.ipynb"):
        for cell in json.loads(page.read_text(encoding="utf-8"))["cells"]:
            prose = "".join(cell["source"]) if cell["cell_type"] == "markdown" else ""
            for name, arguments in re.findall(r"`(?!(?:np|pd|pl|pa)\.)(?:[a-z]+\d*\.)*(\w+)\(([^`]*)\)`", prose):
                for argument in re.findall(r"(\w+)=", arguments) if name in known else ():
                    calls += 1
                    assert argument in known[name], f"{page.name}: {name} has no {argument}"
    assert calls >= 5
