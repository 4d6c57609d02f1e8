"""From the form in which notebooks are committed to the one that pandoc and Quarto number.

Notebooks are read in JupyterLab, on GitHub and in editors, so their Markdown uses nothing that these do not show: a statement is
a block quote with an id, a proof ends with a tombstone, an equation has a tag and an anchor, a reference and a citation are
links whose words and numbers stand in the text. `rich` turns each of these back into the fence, label or `@key` that it stands
for; `website.numbers` keeps the numbers right. nbs/house.ipynb shows the form.
"""

import json
import re
from collections.abc import Callable
from typing import Any

BOXES = {"thm": "Theorem", "lem": "Lemma", "prp": "Proposition", "cor": "Corollary", "cnj": "Conjecture", "def": "Definition",
         "exm": "Example", "exr": "Exercise", "rem": "Remark", "alg": "Algorithm"}
FLOATS = {"fig": "Figure", "tbl": "Table"}
NAMES = BOXES | FLOATS | {"eq": "Equation"}
Cell = Any  # of nbdev or of a plain notebook: what matters are cell_type and source

END = " ∎"
BOX = re.compile(rf'^<blockquote id="((?:{"|".join(BOXES)})-[\w-]+)">\n\n\*\*([^*\n]+)\*\*(?: \((.*)\))?$', re.M)
PROOF = re.compile(r"^\*Proof(?: \((.*?)\))?\.\*(?: |\n\n)(?=\S)", re.M)
NOTE = re.compile(r'^<details(?: id="([\w-]+)")?>\n<summary>(.*)</summary>$', re.M)
EQUATION = re.compile(r'^<a id="(eq-[\w-]+)"></a>\n\$\$((?:(?!\$\$).)*?) \\tag\{([^{}]*)\}(\s*)\$\$', re.M | re.S)
HEADING = re.compile(r'^(#+) <a id="([\w.-]+)"></a>(.*)$', re.M)
CAPTION = re.compile(r'\A(?:<a id="((?:fig|tbl)-[\w-]+)"></a>)?\*\*(Figure|Table)(?: (\d+|\?))?\.\*\* (.*)\Z', re.S)
NUMBER = re.compile(rf'\[(\?|({"|".join(NAMES.values())})(?: ([A-Z]+))? (?:\d+|\?))\]\(([^()#\s]*)#(({"|".join(NAMES)})-[\w-]+)\)')
SECTION = re.compile(r"\[([^\[\]]+)\]\(#(sec-[\w-]+)\)")
CITATION = re.compile(r"\[([^\[\]]+)\]\(#ref-([\w-]+)\)")
LETTERS = re.compile(r"^(?:- )?statements: (\w+)$", re.M)
REFERENCES = "## References\n\n<a id=\"ref-"
SHIELD = re.compile(r"^(`{3,}|~{3,})[^\n]*\n.*?^\1[`~]*[ \t]*$|(?<!`)(`+)(?!`).+?(?<!`)\2(?!`)|(?<!\\)\$\$.+?\$\$"
                    r"|(?<![\\$])\$(?=[^\s$])(?:\\.|[^$\\])+?(?<=\S)\$(?!\d)", re.M | re.S)


def shielded(change: Callable[[str], str], text: str) -> str:
    """`change(text)`, with code and formulas out of its sight."""
    kept: list[str] = []

    def hide(match: re.Match) -> str:
        kept.append(match[0])
        return f"\0{len(kept) - 1}\0"

    return re.sub(r"\0(\d+)\0", lambda m: kept[int(m[1])], change(SHIELD.sub(hide, text)))


def rich(cells: list[Cell]) -> list[Cell]:
    """The cells of a page in the form with fences; the cells are changed in place, captions and references leave the list."""
    texts = [text_of(cell) for cell in cells if cell["cell_type"] == "markdown"]
    titles = {found[2]: found[3].strip() for text in texts for found in HEADING.finditer(text)}
    letters = next((found[1] for cell in cells[:1] if (found := LETTERS.search(text_of(cell)))), "")
    out: list[Cell] = []
    for cell in cells:
        text = text_of(cell)
        if cell["cell_type"] != "markdown":
            for data in shown(cell):
                made = fenced("".join(data["text/markdown"]), titles, letters)
                data["text/markdown"] = made.splitlines(keepends=True)  # as one text Quarto would run its lines together
            out.append(cell)
        elif text.startswith(REFERENCES): continue
        elif (found := CAPTION.match(text)) and out and out[-1]["cell_type"] == "code":
            out[-1]["source"] = with_caption(text_of(out[-1]), found, titles, letters)
        else:
            cell["source"] = fenced(text, titles, letters)
            out.append(cell)
    return out


def unlabelled(text: str) -> str:
    """A docstring or a comment without the labels behind its numbers, by which `website.numbers` keeps them right."""
    return re.sub(rf"(?<=\d)\s+\((?:{'|'.join(NAMES)})-[\w-]+\)", "", text)


def text_of(cell: Cell) -> str: return "".join(cell["source"])


def shown(cell: Cell) -> list[dict[str, Any]]:
    """The outputs of a cell that are Markdown."""
    return [out["data"] for out in cell.get("outputs", []) if "text/markdown" in out.get("data", {})]


def with_caption(source: str, found: re.Match, titles: dict[str, str], letters: str) -> str:
    """A code cell's source with the option that makes the text under its figure or table the caption."""
    kind = next(kind for kind, name in FLOATS.items() if name == found[2])
    line = f"#| {kind}-cap: {json.dumps(fenced(found[4].strip(), titles, letters), ensure_ascii=False)}\n"
    head = re.match(r"(?:#\|(?! *fig-alt).*\n)*", source)[0]
    return head + line + source[len(head):]


def fenced(text: str, titles: dict[str, str], letters: str) -> str:
    """One Markdown text with fences, labels and short references."""
    text = EQUATION.sub(lambda m: f"$${m[2]}{m[4]}$$ {{#{m[1]}}}", text)
    text = SECTION.sub(lambda m: short(m, m[2]) if titles.get(m[2]) == m[1] else m[0], text)
    return shielded(lambda text: citations(references(blocks(text), letters)), text)


def blocks(text: str) -> str:
    text = HEADING.sub(lambda m: f"{m[1]} {m[3]}{{#{m[2]}}}", text)  # no blank before: pandoc would keep it after "al."
    text = BOX.sub(lambda m: f"::: {{#{m[1]}}}" + (f"\n\n## {m[3]}" if m[3] else ""), text)
    text = re.sub(r"^</blockquote>$", ":::", text, flags=re.M)
    text = NOTE.sub(lambda m: f'::: {{{f"#{m[1]} " if m[1] else ""}.callout-note collapse="true"}}\n\n## {m[2]}', text)
    text = re.sub(r"^</details>$", ":::", text, flags=re.M)
    out, at = [], 0
    while found := PROOF.search(text, at):
        end = re.compile(rf"(?:\n\n|{END[0]}){END[1]}$", re.M).search(text, found.end())
        other = PROOF.search(text, found.end())
        if not end or (other and other.start() < end.start()):  # a proof that does not say where it ends is left as it is
            out.append(text[at:found.end()])
            at = found.end()
            continue
        title = f"## {found[1]}\n\n" if found[1] else ""
        out.append(f"{text[at:found.start()]}::: {{.proof}}\n\n{title}{text[found.end():end.start()]}\n\n:::")
        at = end.end()
    return "".join(out) + text[at:]


def references(text: str, letters: str) -> str:
    """Numbers within the page become `@label`; those of other pages, and other words, stay links."""
    return NUMBER.sub(lambda m: short(m, m[5]) if not m[4] and is_number(m, letters) else m[0], text)


def is_number(match: re.Match, letters: str) -> bool:
    """Whether a link says `?` or what its target is called on a page with these letters; "Theorem 1" may be the paper's."""
    return match[1] == "?" or (match[2] == NAMES[match[6]] and (match[3] or "") == (letters if match[6] in BOXES else ""))


def short(match: re.Match, label: str) -> str:
    """`@label` in place of a link; in brackets where what follows would be read as a part of it."""
    after = match.string[match.end():match.end() + 2]
    return f"[@{label}]" if re.match(r"[\w-]|[:.#$%&+?<>~/]\w| \[", after) else f"@{label}"


def citations(text: str) -> str:
    """`[Name (Year)](#ref-key)` becomes `@key`, and the parenthesis around `[Name Year](#ref-key)` becomes `[@key]`."""
    while found := next((m for m in CITATION.finditer(text) if not m[1].endswith(")")), None):
        start, end = parenthesis(text, found.start(), found.end())
        inner = CITATION.sub(lambda m: m[0] if m[1].endswith(")") else f"@{m[2]}", text[start + 1:end])
        text = f"{text[:start]}[{inner}]{text[end + 1:]}"

    def narrative(match: re.Match) -> str:
        place = re.search(r"\([^(),]*, (.*)\)$", match[1])
        return f"@{match[2]}" + (f" [{place[1]}]" if place else "")

    return CITATION.sub(narrative, text)


def parenthesis(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the parenthesis around a part of a text begins and ends."""
    depth, start = 0, start - 1
    while start >= 0 and (depth or text[start] != "("):
        depth += {")": 1, "(": -1}.get(text[start], 0)
        start -= 1
    depth = 0
    while end < len(text) and (depth or text[end] != ")"):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    if start < 0 or end == len(text): raise ValueError(f"no parenthesis around the citation in ...{text[max(0, start):end][-80:]}")
    return start, end
