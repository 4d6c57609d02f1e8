"""The chapters as one PDF, from the same notebooks: python -m website.book _docs/oslr_nb.pdf (`make pdf`, which brings typst).

Parts I to III of the book. Left out is what the site closes: folded code, sections on kernels and on checks. Each page goes through pandoc
and the filter of the site to typst; its labels get the name of the page in front, and links between pages lead to places in the book.
A link to a page that is no chapter stays as its words.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from website.cells import Page
from website.render import HERE, Site, processed

PARTS = ("I ", "II ", "III ")
CLOSED = ("In code: ", "Checked: ", "The ledger", "The module")
LEFT_OUT = {"check-line", "claims", "to-proof", "to-statement"}
HEAD = r"""
#set document(title: "oslr_nb: online sparse linear regression")
#set page(paper: "a4", margin: (x: 2.6cm, y: 2.8cm), numbering: "1")
#set text(size: 10.5pt, lang: "en")
#set par(justify: true)
#set heading(numbering: none)
#show heading.where(level: 1): it => { pagebreak(weak: true); it; v(0.6em) }
#show raw: set text(size: 8.5pt)
#show raw.where(block: true): set par(justify: false)
#show link: set text(fill: rgb("#0f5a88"))
#set table(stroke: none, inset: 4pt)
#show table: set text(size: 8.5pt)
#show table: set par(justify: false)
#show table: set align(left)
#show figure: set block(breakable: true)
#show figure.caption: it => align(left, text(size: 9pt, it.body))
#let horizontalrule = line(length: 100%, stroke: 0.5pt + gray)
#let numbered(n, body) = block(width: 100%, grid(columns: (1fr, auto), align: (center + horizon, right + horizon), body, [(#n)]))
#let box-of(body) = block(width: 100%, stroke: (left: 2pt + rgb("#0f7bb8")), inset: (left: 10pt, y: 6pt), body)
#let sect = sym.inter
#align(center + horizon)[
  #text(size: 26pt)[oslr_nb] \ #v(1em)
  #text(size: 15pt)[Learning from a few features: \ online sparse linear regression, proved and executed]
]
#pagebreak()
#outline(depth: 1)
"""
Node = dict[str, Any]


def slug(page: Page) -> str: return re.sub(r"\W+", "-", page.source.removesuffix(".ipynb"))


def walk(node: Any, change: Callable[[Node], Any]) -> Any:
    """The tree with `change` applied to each element, the inner ones first; it gives an element, a list in its place, or None."""
    if isinstance(node, list):
        out = []
        for item in node:
            made, element = walk(item, change), isinstance(item, dict) and "t" in item
            if element and made is None: continue
            if element and isinstance(made, list): out += made
            else: out.append(made)
        return out
    if not isinstance(node, dict): return node
    if "t" not in node: return {key: walk(value, change) for key, value in node.items()}
    return change({**node, **({"c": walk(node["c"], change)} if "c" in node else {})})


def ast(site: Site, page: Page) -> Node:
    """A page as pandoc sees it behind the filter of the site."""
    command = [site.binary, "--from=markdown", "--to=json", f"--lua-filter={HERE / 'filter.lua'}", "--wrap=preserve"]
    command += [f"--bibliography={site.proc / 'references.bib'}"]
    return json.loads(subprocess.run(command, input=page.markdown.encode(), capture_output=True, check=True).stdout)


def words(inlines: list) -> str:
    return "".join(i["c"] if i["t"] == "Str" else " " if i["t"] in ("Space", "SoftBreak") else words(i["c"][-1])
                   if i["t"] in ("Link", "Span") else words(i["c"]) if i["t"] in ("Emph", "Strong") else "" for i in inlines)


def chapter_blocks(blocks: list) -> list:
    """Without the sections that the site closes."""
    out, closed = [], False
    for block in blocks:
        if block["t"] == "Header" and block["c"][0] <= 2: closed = words(block["c"][2]).startswith(CLOSED)
        if not closed: out.append(block)
    return out


def is_check(attributes: list, blocks: list) -> bool:
    """A cell that does nothing but check: its output is the checks'."""
    inner = next((b["c"][0] for b in blocks if b["t"] == "Div" and "cell-code" in b["c"][0][1]), None)
    return "cell" in attributes[1] and bool(inner) and dict(inner[2]).get("summary", "").startswith(("The checks run", "Check"))


def localised(page: Page, tree: Node) -> list:
    """The blocks of a page with labels of its own, and images from the folder of the book."""
    name = slug(page)

    def change(node: Node) -> Any:
        kind, content = node["t"], node.get("c")
        if kind in ("Div", "Span", "CodeBlock", "Code", "Link", "Figure", "Table"): attributes = content[0]
        elif kind == "Header": attributes = content[1]
        else: attributes = None
        if attributes:
            if LEFT_OUT & set(attributes[1]) or ("cell-code" in attributes[1] and dict(attributes[2]).get("fold") == "hide"): return None
            if attributes[0]: attributes[0] = f"{name}--{attributes[0]}"
        if kind == "RawInline" and content[1] == "<br>": return {"t": "LineBreak"}
        if kind in ("RawBlock", "RawInline"): return None
        if kind == "Cite": return content[1]  # already in words
        if kind == "Header": return {"t": "Header", "c": [min(content[0], 5), attributes, content[2]]}
        if kind == "Image":
            content[2][0] = Path(page.source).parent.joinpath(content[2][0]).as_posix()
        if kind == "Link":
            target = content[2][0]
            if target.startswith("#"): content[2][0] = f"#{name}--{target[1:]}"
            elif ".ipynb" in target and ":" not in target:
                path, _, anchor = unquote(target).partition("#")
                other = os.path.normpath(os.path.join(os.path.dirname(page.source), path)).removesuffix(".ipynb")
                content[2][0] = "#" + re.sub(r"\W+", "-", other) + (f"--{anchor}" if anchor else "")
            elif ":" not in target: content[2][0] = "#nowhere"
        if kind == "Span" and "equation" in attributes[1]: return equation(node)
        if kind == "Math" and content[0]["t"] == "InlineMath": content[1] = content[1].strip()
        if kind == "Div" and "theorem" in attributes[1]:
            return [raw("#box-of["), {"t": "Div", "c": [[attributes[0], [], []], content[1]]}, raw("]")]
        return node

    return walk(chapter_blocks([block for block in tree["blocks"] if block["t"] != "Div" or not is_check(*block["c"])]), change)


def raw(text: str, kind: str = "RawBlock") -> Node: return {"t": kind, "c": ["typst", text]}


def equation(span: Node) -> list:
    """A displayed formula with its number at the right."""
    attributes, inner = span["c"]
    number = re.search(r"\\tag\{([^}]*)\}", inner[0]["c"][1])
    inner[0]["c"][1] = re.sub(r"\s*\\tag\{[^}]*\}", "", inner[0]["c"][1])
    return [raw(f'#numbered("{number[1] if number else ""}")[', "RawInline"), inner[0], raw(f"] <{attributes[0]}>", "RawInline")]


def labels(blocks: list) -> list[str]:
    found: list[str] = []

    def change(node: Node) -> Any:
        content = node.get("c")
        if node["t"] in ("Div", "Span", "Figure", "Table", "CodeBlock", "Code") and content[0][0]: found.append(content[0][0])
        if node["t"] == "Header" and content[1][0]: found.append(content[1][0])
        if node["t"] == "RawInline" and (label := re.fullmatch(r"\] <(.*)>", content[1])): found.append(label[1])
        return node

    walk(blocks, change)
    return found


def typst(site: Site, folder: Path) -> str:
    """The text of the book in typst."""
    pages = [page for page in site.pages if page.section.startswith(PARTS)]
    blocks, part = [], ""
    for page in pages:
        if page.section != part:
            part = page.section
            blocks.append(raw(f"#pagebreak(weak: true)\n#align(center + horizon)[#text(size: 22pt)[{part}]]\n#pagebreak()"))
        title = [{"t": "Str", "c": f"{page.number} {page.title}".strip()}]
        blocks.append({"t": "Header", "c": [1, [slug(page), [], []], title]})
        inner = localised(page, ast(site, page))
        blocks += [{"t": "Para", "c": [{"t": "Emph", "c": [{"t": "Str", "c": page.description}]}]}, *inner]
        for name, data in page.images.items():
            path = folder / Path(page.source).parent / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    there = labels(blocks)
    twice, known = {name for name in there if there.count(name) > 1}, set(there)
    if twice: raise SystemExit(f"labels given twice: {', '.join(sorted(twice))}")

    def change(node: Node) -> Any:
        if node["t"] != "Link": return node
        target = node["c"][2][0]
        return node["c"][1] if target.startswith("#") and target[1:] not in known else node

    tree = {"pandoc-api-version": [1, 23, 1], "meta": {}, "blocks": walk(blocks, change)}
    command = [site.binary, "--from=json", "--to=typst", "--wrap=preserve"]
    done = subprocess.run(command, input=json.dumps(tree).encode(), capture_output=True, check=True)
    return HEAD + done.stdout.decode()


def main(out: str) -> None:
    import typst as engine  # what `make pdf` installs

    site = Site(processed(), Path("_docs"), Path("nbs"))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        source = folder / "book.typ"
        source.write_text(typst(site, folder), encoding="utf-8")
        Path(out).parent.mkdir(parents=True, exist_ok=True)
        engine.compile(str(source), output=out, root=place)
    print(f"{out}: {Path(out).stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__": main(*sys.argv[1:])
