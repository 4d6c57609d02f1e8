"""Notebooks read well in every viewer, and the numbers in their text are those that the site counts."""

import copy
import json
import re

import pytest
from conftest import TOP

from website import numbers
from website import rich as fences

NBS = TOP / "nbs"


def md(text: str) -> dict: return {"cell_type": "markdown", "id": "a", "metadata": {}, "source": text.splitlines(keepends=True)}
def code(text: str) -> dict: return md(text) | {"cell_type": "code", "id": "b", "outputs": []}


def rich(*cells) -> str:
    "The cells in the form with fences, as one text."
    return "\n\n".join(fences.text_of(cell) for cell in fences.rich(list(cells)))


PLAIN = "\n\n".join([
    '<blockquote id="thm-a">', "**Theorem XX 1** (Square roots, after [Ito et al. (2017)](#ref-ito2017))", "For every $T$",
    '<a id="eq-a"></a>\n$$\nR_T\\le\\sqrt T . \\tag{1}\n$$', "</blockquote>",
    "*Proof.* By [Lemma XX 2](#lem-b) and [Equation 1](#eq-a). ∎", "*Proof (of [Theorem XX 1](#thm-a)).* Trivially", "$$\n0\\le1 .\n$$",
    "∎", "<details>\n<summary>How to read this page</summary>",
    "From the top ([Ito et al. 2017](#ref-ito2017), section (2); [Kale 2014](#ref-kale2014)).", "</details>",
])

RICH = "\n\n".join([
    "::: {#thm-a}", "## Square roots, after @ito2017", "For every $T$", "$$\nR_T\\le\\sqrt T .\n$$ {#eq-a}", ":::", "::: {.proof}",
    "By @lem-b and @eq-a.", ":::", "::: {.proof}", "## of @thm-a", "Trivially", "$$\n0\\le1 .\n$$", ":::",
    '::: {.callout-note collapse="true"}', "## How to read this page", "From the top [@ito2017, section (2); @kale2014].", ":::",
])

FRONT = "<!-- front matter\n- statements: XX\n-->\n# A page\n\n> What it is about."


def test_the_form_becomes_fences(): assert rich(md(FRONT), md(PLAIN)) == FRONT + "\n\n" + RICH


@pytest.mark.parametrize(("plain", "fenced"), [
    ("## <a id=\"sec-a\"></a>A section", "## A section{#sec-a}"),
    ("See [Theorem 1](#thm-a), the paper's.", "See [Theorem 1](#thm-a), the paper's."),  # without the page's letters: words
    ("See [Theorem XX 3](b.ipynb#thm-a).", "See [Theorem XX 3](b.ipynb#thm-a)."),  # of another page
    ("See [Theorem XX 3](#thm-a)'s [proof](#the-proof).", "See @thm-a's [proof](#the-proof)."),
    ("[Lemma XX 1](#lem-a) [of course](b.ipynb)", "[@lem-a] [of course](b.ipynb)"),  # no place within the lemma
    ("[Kale (2014, Theorem 3)](#ref-kale2014)", "@kale2014 [Theorem 3]"),
    ("(the idea of [Kale 2014](#ref-kale2014))", "[the idea of @kale2014]"),
    ("`[Lemma XX 1](#lem-a)`", "`[Lemma XX 1](#lem-a)`"),
    ("*Proof.* No end.", "*Proof.* No end."),
])
def test_single_marks(plain, fenced): assert rich(md(FRONT), md(plain)).removeprefix(FRONT + "\n\n") == fenced


def test_captions_and_references():
    "A caption goes back to its cell; references are made by the site; a citation needs its parenthesis."
    text = rich(code("#| label: fig-a\n#| fig-alt: A line\nplot()"), md('<a id="fig-a"></a>**Figure 1.** It "rises", [Lemma 1](#lem-a).'))
    assert text == '#| label: fig-a\n#| fig-cap: "It \\"rises\\", @lem-a."\n#| fig-alt: A line\nplot()'
    assert rich(md("Text."), md('## References\n\n<a id="ref-a"></a>A.')) == "Text."
    with pytest.raises(ValueError, match="no parenthesis"): rich(md("See [Kale 2014](#ref-kale2014)."))


def page(folder, *cells) -> dict:
    "A notebook of these cells under a folder, beside a bibliography."
    book = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "a.ipynb").write_text(json.dumps(book))
    (folder / "references.bib").write_text("@book{knuth, author={Knuth, Donald}, title={Algorithms}, year={1997}}")
    return book


def test_numbers_are_filled_in(tmp_path):
    box = '<blockquote id="{0}">\n\n**{1} ?**\n\nText.\n\n</blockquote>'
    equation = '\n\n<a id="eq-z"></a>\n$$ a=b \\tag{?} $$'
    page(tmp_path, md(FRONT), md("By [?](#lem-b), [?](#eq-z) and [?](#ref-knuth); also ([?](#ref-knuth), page 3)."),
         md(box.format("lem-a", "Lemma")), md(box.format("lem-b", "Lemma") + equation), code("#| exporti\nx = 1"))
    assert numbers.renew(tmp_path) == ["a.ipynb"] and numbers.renew(tmp_path) == [] == numbers.problems(tmp_path)
    texts = ["".join(cell["source"]) for cell in json.loads((tmp_path / "a.ipynb").read_text())["cells"]]
    assert texts[1] == ("By [Lemma XX 2](#lem-b), [Equation 1](#eq-z) and [Knuth (1997)](#ref-knuth); "
                        "also ([Knuth 1997](#ref-knuth), page 3).")
    assert "**Lemma XX 1**" in texts[2] and "**Lemma XX 2**" in texts[3] and texts[3].endswith("$$ a=b \\tag{1} $$")
    assert texts[5].startswith('## References\n\n<a id="ref-knuth"></a>Knuth, Donald. 1997.')


def test_labels_in_docstrings_and_letters_of_two_pages(tmp_path):
    "Labels have their numbers, and one number means one statement."
    box = '<blockquote id="lem-{0}">\n\n**Lemma ?**\n\nText.\n\n</blockquote>'
    text = 'def f():\n    "Bound of {}."\n    return "lem-b"  # {}'
    page(tmp_path, md(FRONT), md(box.format("b")), md(box.format("a")), code(text.format("lem-b", "as in Lemma XX 7 (lem-a), lem-gone")))
    numbers.renew(tmp_path)
    source = "".join(json.loads((tmp_path / "a.ipynb").read_text())["cells"][3]["source"])
    assert source == text.format("Lemma XX 1 (lem-b)", "as in Lemma XX 2 (lem-a), lem-gone") and numbers.renew(tmp_path) == []
    page(tmp_path, md(FRONT))
    (tmp_path / "a.ipynb").rename(tmp_path / "b.ipynb")
    page(tmp_path, md(FRONT), md("[Lemma YY 1](#lem-a)"))
    assert {"letters XX of two pages", "a.ipynb: letters of no such page in [Lemma YY 1](#lem-a)"} <= set(numbers.problems(tmp_path))


@pytest.mark.parametrize(("text", "problem"), [
    ("::: {#thm-a}", "old markup"), ("By @lem-a.", "old markup"), ("$$ a $$ {#eq-a}", "old markup"), ("As in [@knuth].", "old markup"),
    ("See [?](#lem-gone).", "no number"), ("See [there](#gone).", "no such place #gone"), ('<a id="x"></a> <a id="x"></a>', "given twice"),
    ("*Proof.* By induction.", "a proof without an end"),
])
def test_problems_are_noticed(tmp_path, text, problem):
    page(tmp_path, md(text))
    numbers.renew(tmp_path)
    assert any(problem in found for found in numbers.problems(tmp_path))


def test_the_notebooks():
    "`make export` has been run, no markup is left. Numbers are counted as the site does: with fences, in the order of the page."
    assert numbers.renew(NBS, write=False) == [] and numbers.problems(NBS) == []
    for name, book in numbers.read(NBS).items():
        text = "\n\n".join("".join(cell["source"]) for cell in fences.rich(copy.deepcopy(book["cells"])))
        order = re.findall(r"^::: \{#([\w-]+)\}|\$\$ \{#(eq-[\w-]+)\}|^#\| label: ((?:fig|tbl)-[\w-]+)$", text, re.M)
        found = ["".join(one) for one in order if "".join(one).split("-")[0] in numbers.NAMES]
        for kind in numbers.NAMES:
            mine = [label for label in numbers.labels_of(book) if label.startswith(kind + "-")]
            assert [label for label in found if label.startswith(kind + "-")] == mine, name
    for name, book in numbers.read(NBS).items():
        for text in filter(numbers.CAPTION.match, numbers.prose(book)):
            bare = re.sub(r"\$[^$]*\$|`[^`]*`|\]\([^)]*\)|<[^>]*>", "", text)
            assert not re.search(r" = |\w=\w|\w\^|sqrt\(|\b\w_\w", bare), f"{name}: {bare}"
