"""The numbers that stand in the notebooks: of statements, equations, figures, references and citations, kept right by `make export`.

Write `?` where a number belongs (`**Theorem ?** (Title)`, `\\tag{?}`, `[?](#lem-top)`, `[?](../ito2017.ipynb#thm-one)`,
`[?](#ref-ito2017)`); `renew` fills it in, puts right what has moved, writes the list of references, and collapses the cells that
the site folds. `problems` says what it cannot put right.
"""

import hashlib
import json
import re
from collections import Counter
from functools import cache
from os.path import dirname, join, normpath
from pathlib import Path
from typing import Any

import pypandoc

from website import fronts
from website.procs import HIDDEN, is_long, kind_of
from website.rich import (
    BOXES,
    CAPTION,
    CITATION,
    EQUATION,
    LETTERS,
    NAMES,
    NUMBER,
    REFERENCES,
    is_number,
    rich,
    shielded,
    shown,
    text_of,
)

Notebook = dict[str, Any]
DOCSTRING = re.compile(r'^ *"""(?:.|\n)*?"""|(?<=:\n) *"[^"\n]+"$|# .*$', re.M)  # and comments
LABELS = "|".join((*BOXES, "eq"))
LABEL = re.compile(rf"(?:{'|'.join(NAMES.values())})\s+(?:[A-Z]+\s+)?\d+\s+\(((?:{LABELS})-[\w-]+)\)|(?<![\w#/-])((?:{LABELS})-[\w-]+)")
OPENING = re.compile(rf'^(<blockquote id="((?:{"|".join(BOXES)})-[\w-]+)">\n\n)\*\*[^*\n]+\*\*', re.M)
PLACE = re.compile(rf'^<(?:blockquote|a) id="((?:{"|".join(NAMES)})-[\w-]+)">', re.M)
ANCHOR = re.compile(r'<\w+ [^>]*\bid="([^"]+)"')
LINK = re.compile(r"\]\(([^()#\s]*)#([^()\s]+)\)")
LEFT_OVER = re.compile(rf"^:::.*|\{{#[\w-]+\}}|(?<![\w\\])@(?:{'|'.join(NAMES)}|sec)-[\w-]+|(?<!\w)\[@\w+", re.M)
MADE_LATER = re.compile(r"(claim|row)-")  # anchors that only the site has


def renew(folder: Path, write: bool = True) -> list[str]:
    """Bring all notebooks under `folder` up to date; returns those that were not. The rest is `problems`."""
    books, changed = read(folder), []
    labels, letters = ({name: of(book) for name, book in books.items()} for of in (labels_of, letters_of))
    bibliography = str(folder / "references.bib")
    before = {name: json.dumps(book, sort_keys=True) for name, book in books.items()}
    fronts.renew(books)
    for name, book in books.items():
        renumber(name, book, labels, letters, bibliography)
        if json.dumps(book, sort_keys=True) != before[name]:
            changed.append(name)
            if write: (folder / name).write_text(json.dumps(book, sort_keys=True, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return changed


def read(folder: Path) -> dict[str, Notebook]:
    """All notebooks under `folder` by their path."""
    files = (f for f in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in f.parts)
    return {f.relative_to(folder).as_posix(): json.loads(f.read_text(encoding="utf-8")) for f in sorted(files)}


def prose(book: Notebook, outputs: bool = False) -> list[str]:
    """The Markdown texts of a notebook, with those that code has made if asked for."""
    made = ["".join(data["text/markdown"]) for cell in book["cells"] for data in shown(cell)] if outputs else []
    return [text_of(cell) for cell in book["cells"] if cell["cell_type"] == "markdown"] + made


def labels_of(book: Notebook) -> dict[str, str]:
    """What each numbered thing of a page is called, in the order of the page, as the site counts."""
    texts, counts, labels = prose(book), Counter(), {}
    letters = letters_of(book) + " "
    for label in (found[1] for text in texts for found in PLACE.finditer(text)):
        kind = label.split("-")[0]
        counts[kind] += 1
        labels[label] = f"{NAMES[kind]} {letters.lstrip() if kind in BOXES else ''}{counts[kind]}"
    return labels


def letters_of(book: Notebook) -> str: return next((found[1] for text in prose(book)[:1] if (found := LETTERS.search(text))), "")


def renumber(name: str, book: Notebook, labels: dict[str, dict[str, str]], letters: dict[str, str], bibliography: str) -> None:
    """Put numbers, words of citations, references and collapsed cells of one notebook right."""
    own, cells = labels[name], [cell for cell in book["cells"] if not text_of(cell).startswith(REFERENCES)]
    cited = {found[2] for text in prose({"cells": cells}, outputs=True) for found in CITATION.finditer(text)} & set(entries(bibliography))
    for cell in cells:
        if cell["cell_type"] == "markdown":
            text = OPENING.sub(lambda m: f"{m[1]}**{own[m[2]]}**", text_of(cell))
            text = EQUATION.sub(lambda m: m[0].replace(f" \\tag{{{m[3]}}}", f" \\tag{{{own[m[1]].split()[-1]}}}"), text)
            if (found := CAPTION.match(text)) and found[1]: text = f'<a id="{found[1]}"></a>**{own[found[1]]}.** {found[4]}'
            text = shielded(lambda text: linked(cite(text, bibliography), name, labels, letters), text)
            cell["source"] = text.splitlines(keepends=True)
        elif cell["cell_type"] == "code":
            collapse(cell, name)
            text = DOCSTRING.sub(lambda m: counted(m[0], name, labels), linked(text_of(cell), name, labels, letters))
            cell["source"] = text.splitlines(keepends=True)
            for data in shown(cell):
                text = linked("".join(data["text/markdown"]), name, labels, letters)
                data["text/markdown"] = text.splitlines(keepends=True)
    if cited:
        known = entries(bibliography)  # in the order of the list
        text = "## References\n\n" + "\n\n".join(f'<a id="ref-{key}"></a>{known[key][2]}' for key in known if key in cited)
        source = text.splitlines(keepends=True)
        cells.append({"cell_type": "markdown", "id": new_id(name, "references"), "metadata": {}, "source": source})
    book["cells"] = cells


def new_id(*parts: str) -> str: return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]


def linked(text: str, name: str, labels: dict[str, dict[str, str]], letters: dict[str, str]) -> str:
    """A text whose references carry the numbers of what they lead to, on this page or another."""
    def number(match: re.Match) -> str:
        page = normpath(join(dirname(name), match[4])) if match[4] else name
        if not is_number(match, letters.get(page, "")): return match[0]
        return f"[{labels.get(page, {}).get(match[5], '?')}]({match[4]}#{match[5]})"

    return NUMBER.sub(number, text)


def counted(text: str, name: str, labels: dict[str, dict[str, str]]) -> str:
    """A docstring or a comment with "Lemma XX 1 (lem-top)" for the label lem-top, of this page or of the only page that has it."""
    def number(match: re.Match) -> str:
        label = match[1] or match[2]
        found = {page: known[label] for page, known in labels.items() if label in known}
        words = found.get(name) or (next(iter(found.values())) if len(found) == 1 else "")
        text = f"{words} ({label})"
        return text if words and text != " ".join(match[0].split()) else match[0]  # lines may break within it

    return LABEL.sub(number, text)


def cite(text: str, bibliography: str) -> str:
    """A text whose citations name authors and year as the site does."""
    known = entries(bibliography)

    def name(match: re.Match) -> str:
        if match[2] not in known: return match[0]
        inside = match[1] == "?" and re.search(r"[(;] ?$", text[:match.start()])
        place = re.search(r"\([^(),]*, (.*)\)$", match[1])
        if inside or not (match[1] == "?" or match[1].endswith(")")): return f"[{known[match[2]][1]}](#ref-{match[2]})"
        words = known[match[2]][0]
        return f"[{words[:-1]}, {place[1]})](#ref-{match[2]})" if place else f"[{words}](#ref-{match[2]})"

    return CITATION.sub(name, text)


@cache
def entries(bibliography: str) -> dict[str, tuple[str, str, str]]:
    """Of each key: Name (Year), Name Year, and the entry in the list of references; in the order of that list."""
    keys = re.findall(r"^@\w+\{([^,\s]+),", Path(bibliography).read_text(encoding="utf-8"), re.M)
    text = "\n\n".join(f"@{key}\n\n[@{key}]" for key in keys) + "\n\n# References"
    options = ["--citeproc", f"--bibliography={bibliography}", "--wrap=none"]
    parts = pypandoc.convert_text(text, "commonmark-raw_html", "markdown", extra_args=options).strip().split("\n\n")
    tree = json.loads(pypandoc.convert_text(text, "json", "markdown", extra_args=options))
    listed = [block["c"][0][0].removeprefix("ref-") for block in tree["blocks"][-1]["c"][1]]
    words = {key: (parts[2 * i], parts[2 * i + 1][1:-1]) for i, key in enumerate(keys)}
    return {key: (*words[key], entry) for key, entry in zip(listed, parts[2 * len(keys) + 1:], strict=True)}


def collapse(cell: dict[str, Any], place: str) -> None:
    """Hide the source of a cell in JupyterLab if the site folds it or leaves it out."""
    text = text_of(cell)
    head = re.match(r"(?:#\|.*\n?)*", text)[0]
    kinds, body = set(re.findall(r"^#\| *([\w-]+)(?!.*:)", head, re.M)), text[len(head):]
    if kinds & HIDDEN or re.search("echo: false|include: false|code-fold: true", head): hidden = True
    elif "code-fold" in head: hidden = False
    elif "exporti" in kinds: hidden = True
    elif "exports" in kinds: hidden = is_long(body, place) or re.search("^@kernel", body, re.M) is not None
    else: hidden = bool(kind_of(head, body))
    cell["metadata"].pop("jupyter", None)
    if hidden: cell["metadata"]["jupyter"] = {"source_hidden": True}


def problems(folder: Path) -> list[str]:
    """What a person has to put right: old markup, unknown references, links to places that do not exist, ids given twice."""
    books, found = read(folder), []
    anchors = {name: [m[1] for text in prose(book, outputs=True) for m in ANCHOR.finditer(text)] for name, book in books.items()}
    letters = {name: letters_of(book) for name, book in books.items()}
    found += [f"letters {used} of two pages" for used, n in Counter(filter(None, letters.values())).items() if n > 1]
    for name, book in books.items():
        found += [f"{name}: id {label} given twice" for label, n in Counter(anchors[name]).items() if n > 1]
        for text in prose(book, outputs=True):
            bare = re.sub(r"(`+).+?\1|\$[^$]*\$", "", text)
            found += [f"{name}: old markup {m[0]}" for m in LEFT_OVER.finditer(bare)]
            found += [f"{name}: no number in {m[0]}" for m in re.finditer(r"\[\?\]\(#.*?\)|\*\*\w+ \?\*\*|\\tag\{\?\}", bare)]
            for match in NUMBER.finditer(bare):
                page = normpath(join(dirname(name), match[4])) if match[4] else name
                if match[3] and match[3] != letters.get(page): found.append(f"{name}: letters of no such page in {match[0]}")
            for match in LINK.finditer(bare):
                page = normpath(join(dirname(name), match[1])) if match[1] else name
                if page in books and match[2] not in anchors[page] and not MADE_LATER.match(match[2]):
                    found.append(f"{name}: no such place {match[1]}#{match[2]}")
        copy = json.loads(json.dumps(book))
        try: rich(copy["cells"])
        except ValueError as error: found.append(f"{name}: {error}")
        found += [f"{name}: a proof without an end" for text in prose(copy) if re.search(r"^\*Proof\b", text, re.M)]
        code = [text_of(cell) for cell in book["cells"] if cell["cell_type"] == "code"]
        labels = [m[1] for text in code for m in re.finditer(r"^#\| label: (\S+)", text, re.M)]
        found += [f"{name}: no caption for {label}" for label in labels if label not in anchors[name]]
    return found
