"""One letter for each thing: the table on book/notation against the pages, and against the tables of the chapters."""

import json
import re

import pytest

CHAPTERS = ("book", "core/game", "core/mathematics", "own", "papers")
NOTATION = "book/notation.ipynb"


def texts(top) -> dict[str, str]:
    "The Markdown of each chapter by its path in nbs/."
    found = {}
    for folder in CHAPTERS:
        for path in sorted((top / "nbs" / folder).rglob("*.ipynb")):
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            found[path.relative_to(top / "nbs").as_posix()] = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return found


def tables(text: str):
    "Tables as (heading, rows), each row a list of cells."
    for block in re.findall(r"(?:^\|.*\|$\n?)+", text, re.M):
        head, _, *rows = ([cell.strip() for cell in line[1:-1].split(" | ")] for line in block.replace("| |", "|  |").strip().split("\n"))
        yield head, rows


def formulas(text: str) -> list[str]:
    return re.findall(r"(?<!\\)\$([^$]+)\$", text.replace("$$", "$"))


def letters(cell: str) -> set[str]:
    "The letters that a cell of a table is about: the formulas split at commas, without their values, arguments and running indices."
    found = set()
    for part in (part for f in formulas(cell) for part in re.split(r",(?![^{(]*[})])|;", f)):
        name = re.split(r"=|\\l[et]|\\ge|\\subseteq|\\in\b", part)[0]
        name = re.sub(r"\\[,; ]|\(.*\)|_(\{[tsijb, ]+\}|[tsijSTb](?![A-Za-z]))|\s", "", name)
        if name: found.add(name)
    return found


def words(cell: str) -> list[str]:
    return [word.lower() for word in re.findall(r"\*\*(.+?)\*\*", cell)]


def glossary(text: str) -> dict[str, tuple[list[str], str]]:
    "Of each letter of the table: the bold words that say what it is, and the page that it stands on."
    rows = next(rows for head, rows in tables(text) if head[0] == "letter")
    return {letter: (words(row[2]), re.findall(r"\]\(([^)#]+)", row[3])[0]) for row in rows for letter in letters(row[0])}


def exceptions(text: str) -> dict[str, set[str]]:
    "Letters that the dictionary of a paper, or of a page of ours, sets apart, by the folder or page that it is for."
    found: dict[str, set[str]] = {}
    for name, section in re.findall(r'^### <a id="(\w+)"></a>(.*?)(?=^### |\Z)', text.split('<a id="dictionary"></a>')[1], re.M | re.S):
        for head, rows in tables(section):
            for row in rows:
                pages = re.findall(r"\]\(\.\./([^)#]+)\)", row[0]) if head[0] == "page" else [f"papers/{name}"]
                for page in pages: found.setdefault(page, set()).update(letters(row[0]))
    return found


def absent(found: dict[str, tuple[list[str], str]], pages: dict[str, str]) -> list[str]:
    "Letters of the table that do not stand on the page that it names."
    missing = []
    for letter, (_, link) in found.items():
        page = link.removeprefix("../") if link.startswith("..") else f"book/{link}"
        symbol = re.escape(letter).replace(r"\hat", r"\hat ?")
        if not re.search(rf"(?<![A-Za-z\\]){symbol}(?![A-Za-z'])", " | ".join(formulas(pages[page]))): missing.append(f"{letter} on {page}")
    return missing


def clashes(page: str, text: str, book: dict[str, tuple[list[str], str]], apart: set[str]) -> list[str]:
    "Rows of the tables of letters of a page that give a letter of the book another meaning, without a line in the dictionary."
    wrong = []
    for head, rows in tables(text):
        if head[0] not in ("paper", "papers", "paper (our notes)", "here", "symbol", "name"): continue
        if "meaning" not in head: continue
        names = [i for i, title in enumerate(head) if title not in ("meaning", "unit", "in code", "code", "usual range")]
        for row in rows:
            said = " ".join(row).lower()
            for letter in {letter for i in names for letter in letters(row[i])} & set(book) - apart:
                if not any(word in said for word in book[letter][0]): wrong.append(f"{page}: {letter} in | {' | '.join(row)} |")
    return wrong


@pytest.fixture
def pages(top): return texts(top)


def test_letters_stand_on_their_pages(pages):
    book = glossary(pages[NOTATION])
    assert len(book) > 30 and {"k'", "k_1", "m", "r", "c"} <= set(book)
    assert absent(book, pages) == []
    assert absent({r"\aleph": (["rank"], "01_game.ipynb")}, pages) == [r"\aleph on book/01_game.ipynb"]


def test_no_letter_has_two_meanings(pages):
    book, apart = glossary(pages[NOTATION]), exceptions(pages[NOTATION])
    found = []
    for page, text in pages.items():
        mine = set().union(*(names for place, names in apart.items() if page.startswith(place)))
        found += clashes(page, text, book, mine)
    assert found == []


@pytest.mark.parametrize(("row", "wrong"), [
    ("| $k_1$ |  | the favourites | count |", 0), ("| $m$ |  | the favourites, bought each round | count |", 1),
    ("| $d$, $b$ | `b` | features, budget | counts |", 0), ("|  | $V$, $k'$ | second moments; colours of the label | |", 1),
    ("| $\\hat w_t$ |  | solution of the programme |  |", 0), ("| $c_i=\\mathbb E yx_i$ |  | covariances | |", 1),
])
def test_a_clash_is_seen(pages, row, wrong):
    table = f"Text.\n\n| paper | here | meaning | unit |\n| --- | --- | --- | --- |\n{row}\n"
    assert len(clashes("trial", table, glossary(pages[NOTATION]), set())) == wrong
    assert clashes("trial", table, glossary(pages[NOTATION]), {"m", "k'", "c"}) == []
