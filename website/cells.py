"""From a processed notebook to one Markdown text and its images."""

import base64
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

OPTIONS = {"label", "fig-cap", "fig-alt", "tbl-cap", "echo", "output", "include", "code-fold", "code-summary", "eval", "warning"}
IMAGES = {"image/svg+xml": ("svg", str.encode), "image/png": ("png", base64.b64decode)}
Cell = dict[str, Any]


@dataclass
class Page:
    """A notebook and the page made from it; `source` is relative to the notebooks, `url` to the site.

    `section` is its part of the book, `chapter` the name of a chapter of several pages; `number`, such as 4 or 4.1, its place.
    """

    source: str
    section: str
    chapter: str = ""
    number: str = ""
    title: str = ""
    description: str = ""
    keywords: str = ""
    url: str = ""
    markdown: str = ""
    images: dict[str, bytes] = field(default_factory=dict)


def read(page: Page, proc: Path) -> list[str]:
    """Fill in a page from its notebook under `proc`; returns the problems."""
    path, problems, texts, meta = Path(page.source), [], [], {}
    for i, cell in enumerate(json.loads((proc / path).read_text(encoding="utf-8"))["cells"]):
        if not isinstance(cell["source"], list): problems.append(f"cell {i}: its source is one text, whose lines Quarto runs together")
        source = "".join(cell["source"])
        if cell["cell_type"] == "raw":
            meta |= yaml.safe_load(re.sub(r"\A---\s*\n|\n---\s*\Z", "", source))
        elif cell["cell_type"] == "markdown":
            texts.append(source)
        else:
            try: texts.append(code_cell(source, cell["outputs"], f"{path.stem}_files/cell-{i}", page.images))
            except ValueError as error: problems.append(f"cell {i}: {error}")
    page.title, page.description = meta.get("title", ""), meta.get("description", "")
    page.keywords = ", ".join(meta.get("keywords", []))
    page.url = path.with_name(meta.get("output-file", path.stem + ".html")).as_posix()
    kept = {key: meta[key] for key in ("title", "description", "statements") if meta.get(key)}
    head = yaml.safe_dump(kept, allow_unicode=True)
    page.markdown = "\n\n".join([f"---\n{head}---", *texts])
    return problems + [f"no {key} in the front matter" for key in ("title", "description") if not meta.get(key)]


def code_cell(source: str, outputs: list[Cell], name: str, images: dict[str, bytes]) -> str:
    """A code cell and its outputs as Markdown; images are added to `images`. `ValueError`: what cannot be shown."""
    head = re.match(r"(?:#\|.*\n?)*", source)[0]
    lines = [line[2:].removeprefix(" ") for line in head.splitlines()]
    options = yaml.safe_load("\n".join(line for line in lines if not re.fullmatch(r"[\w-]+", line))) or {}
    if unknown := set(options) - OPTIONS: raise ValueError(f"unknown cell option {', '.join(sorted(unknown))}")
    names = re.findall(r"^([\w-]+):", "\n".join(lines), re.M)
    if twice := [name for name, n in Counter(names).items() if n > 1]: raise ValueError(f"cell option {', '.join(twice)} given twice")
    if not re.fullmatch("((fig|tbl)-[^A-Z]+)?", str(options.get("label", ""))):
        raise ValueError(f"label {options['label']}: only figures and tables have labels, in lower case, as Quarto writes them")
    if options.get("include") is False: return ""
    if options.get("output") is False: outputs = []
    shown = [show(output, f"{name}-{j}", images, options) for j, output in enumerate(outputs, 1)]
    parts = [caption(text, kind, options) for kind, text in shown]
    code = source[len(head):].strip("\n")
    for label in ("fig", "tbl"):
        count = sum(kind == label for kind, _ in shown)
        wanted = f"{label}-cap" in options or str(options.get("label", "")).startswith(label + "-")
        if wanted and (count != 1 or f"{label}-cap" not in options):
            raise ValueError(f"a cell with a {label} label or caption needs both and one such output, not {count}")
    if code and options.get("echo") is not False:
        fold = {"show": "show", True: "hide", "true": "hide"}.get(options.get("code-fold"))
        summary = quoted(options.get("code-summary", "Code"))
        parts.insert(0, div(f".cell-code fold={fold} summary={summary}" if fold else ".cell-code", fenced(code, ".python")))
    return div(".cell", *parts) if parts else ""


def show(output: Cell, name: str, images: dict[str, bytes], options: dict) -> tuple[str, str]:
    """The kind of an output (fig, tbl or text) and the output as Markdown."""
    if output["output_type"] == "stream":
        text = "".join(output["text"])
        return ("tbl", text) if options.get("output") == "asis" else ("text", div(".cell-output", fenced(text)))
    if output["output_type"] == "error":
        return "text", div(".cell-output .cell-error", fenced("\n".join(output["traceback"])))
    data = {mime: value if isinstance(value, str) else "".join(value) for mime, value in output["data"].items()}
    for mime in ("text/markdown", "text/latex"):
        if mime in data: return "tbl", data[mime]
    for mime, (suffix, decode) in IMAGES.items():
        if mime in data: return "fig", image(data[mime], f"{name}.{suffix}", decode, images, options)
    if "text/plain" not in data or "text/html" in data: raise ValueError(f"an output of type {', '.join(data)} cannot be shown")
    return "text", div(".cell-output", fenced(data["text/plain"]))


def image(data: str, name: str, decode: Callable, images: dict[str, bytes], options: dict) -> str:
    """A link to an image; without words for those who cannot see it, it is refused."""
    alt = options.get("fig-alt")
    if not alt and not options.get("fig-cap"): raise ValueError("a figure needs fig-alt or fig-cap")
    images[name] = decode(data)
    return f"![]({name})" + (f"{{fig-alt={quoted(alt)}}}" if alt else "")


def caption(text: str, kind: str, options: dict) -> str:
    """A figure or table with the caption and label that the cell gives it."""
    words = options.get(f"{kind}-cap")
    if not words: return text
    label = str(options.get("label", ""))
    return div(f"#{label}" if label.startswith(kind + "-") else ".captioned", text, " ".join(words.split()))


def quoted(text: str) -> str: return json.dumps(" ".join(text.split()), ensure_ascii=False)


def div(attributes: str, *parts: str) -> str:
    """A block around the parts, with more colons than any block inside it."""
    body = "\n\n".join(parts)
    colons = ":" * max(3, 1 + max(map(len, re.findall("^:+", body, re.M)), default=0))
    return f"{colons} {{{attributes}}}\n\n{body}\n\n{colons}"


def fenced(text: str, attributes: str = "") -> str:
    """A code block without terminal colours, with a fence longer than any in the text."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).rstrip()
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{f' {{{attributes}}}' if attributes else ''}\n{text}\n{fence}"
