"""The book as one text: what the site closes is left out, labels belong to their page, links lead to places in the book or are words."""

import json
import subprocess

import pypandoc

from website import book
from website.cells import Page


def tree(text):
    "A text as pandoc reads it behind the filter of the site."
    command = [pypandoc.get_pandoc_path(), "--from=markdown", "--to=json", f"--lua-filter={book.HERE / 'filter.lua'}"]
    return json.loads(subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout)


def written(blocks):
    command = [pypandoc.get_pandoc_path(), "--from=json", "--to=typst", "--wrap=preserve"]
    whole = {"pandoc-api-version": [1, 23, 1], "meta": {}, "blocks": blocks}
    return subprocess.run(command, input=json.dumps(whole).encode(), capture_output=True, check=True).stdout.decode()


TEXT = """
::: {#thm-a}

## Main

Text.

:::

$$ a = b $$ {#eq-one}

See @thm-a, @eq-one, [there](02_b.ipynb#x) and [out](https://example.org).

| a | b |
|---|---|
| one<br>two | 2 |

## In code: a kernel {#kernel}

Kernels.

## Next {#next}

:::: {.cell}

::: {.cell-code fold=hide summary="The checks run"}

```python
checked(a)
```

:::

All hold.

::::

:::: {.cell}

::: {.cell-code fold=hide summary="Code of the figure"}

```python
plot()
```

:::

A figure.

::::
"""


def test_a_page_of_the_book():
    page = Page("papers/01_a.ipynb", "I One")
    blocks = book.localised(page, tree(TEXT))
    assert {"papers-01_a--thm-a", "papers-01_a--eq-one", "papers-01_a--next"} <= set(book.labels(blocks))
    text = written(blocks)
    there = ("#box-of[", '#numbered("1")[', "#link(<papers-01_a--thm-a>)", "#link(<papers-02_b--x>)", "https://example.org", "A figure.")
    for part in (*there, "one \\\n"): assert part in text, part
    for part in ("Kernels.", "All hold.", "checked(a)", "plot()", "tag"): assert part not in text, part


def test_the_engine_is_brought_by_make_pdf(top):
    "No other target, and no page, needs it."
    assert "typst==" in (top / "Makefile").read_text().split("\npdf:")[1].split("\n\n")[0]
    assert "typst" not in (top / "pyproject.toml").read_text()


def test_names_of_pages():
    for source, name in (("own/index.ipynb", "own-index"), ("papers/ito2017/01_a.ipynb", "papers-ito2017-01_a")):
        assert book.slug(Page(source, "")) == name
