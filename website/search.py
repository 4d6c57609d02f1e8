"""The search indexes: one of names, statements and page titles, searched first, and Pagefind's, of everything.

Pagefind reads a plainer copy of the pages, in which a statement is a heading that weighs more than prose.
"""

import ast
import html
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from website import reference
from website.cells import Page

STATEMENT = r'<div id="([^"]+)" class="theorem[^>]*>\s*<(h\d) class="theorem-title">'
LEFT_OUT = "|".join([
    r"<pre.*?</pre>", r'<span\s+class="math display">.*?</span>', r"<summary>(?!\s*<h2).*?</summary>",
    r'<(aside|nav|p) class="(?:turn|tools|foot|crumbs)".*?</\1>', r'<a [^>]*class="to-(?:proof|statement)".*?</a>',
    r'<span class="number">.*?</span>',
])
SIGNS = dict(zip(
    """alpha beta gamma delta varepsilon epsilon eta theta kappa lambda mu nu xi pi rho sigma tau phi varphi chi psi omega
    Delta Sigma Omega le leq ge geq ne sqrt sum prod infty to times cdot cdots dots ldots in top langle rangle
    lVert rVert Vert lvert rvert approx ll gg sim subseteq Rightarrow ell""".split(),
    """α β γ δ ε ε η θ κ λ μ ν ξ π ρ σ τ φ φ χ ψ ω Δ Σ Ω ≤ ≤ ≥ ≥ ≠ √ ∑ ∏ ∞ → × · … … … ∈ ᵀ ⟨ ⟩
    ‖ ‖ ‖ | | ≈ ≪ ≫ ∼ ⊆ ⇒ ℓ""".split(), strict=True))


def index(pages: list[Page], site: Path) -> None:
    """Write `site/statements.json` and `site/pagefind`."""
    rows = [row for page in pages for row in statements(page, (site / page.url).read_text(encoding="utf-8"), names(page))]
    (site / "statements.json").write_text(json.dumps(rows, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for page in pages:
            target = Path(folder, page.url)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(plainer((site / page.url).read_text(encoding="utf-8")), encoding="utf-8")
        command = [sys.executable, "-m", "pagefind", "--quiet", "--site", folder, "--output-path", site / "pagefind"]
        subprocess.run(command, check=True)


def names(page: Page) -> str:
    """The public names that a page documents, or that its notebook defines; a plain word only if it is a class or users type it."""
    here = [module for module in reference.shown() if page.source in (module.page, module.notebook)]
    word = lambda name: name.isalpha() and (name.islower() or name.isupper()) and name not in reference.home()
    return " ".join(n for module in here for n in module.public if isinstance(module.nodes[n], ast.ClassDef) or not word(n))


def statements(page: Page, text: str, public: str = "") -> list[list[str]]:
    """Title, page, address and keywords of a page, of the section to which a keyword leads and of each statement; a page's public names.

    A keyword leads to a section whose id it is, or of whose id it contains every word: "what is regret" to `#regret`.
    """
    name = plain(page.title) if not page.chapter or page.title.startswith(page.chapter) else f"{page.chapter}: {plain(page.title)}"
    sections, kept = [], [word for word in page.keywords.split(", ") if word]
    for anchor, title in re.findall(r'<h[2-4]\s[^>]*?id="([^"]+)"[^>]*>(.*?)</h', text, re.S) if kept else ():
        mine = [word for word in kept if set(anchor.split("-")) <= set(re.findall(r"\w+", word.lower()))]
        if mine: sections.append([words_of(title), name, f"{page.url}#{anchor}", ", ".join(mine)])
        kept = [word for word in kept if word not in mine]
    found = [[plain(page.title), plain(page.description), page.url, ", ".join(kept), *([public] if public else [])], *sections]
    for match in re.finditer(STATEMENT + r"(.*?)</h\d>", text, re.S):
        title = re.sub(r'<a [^>]*class="to-proof".*?</a>', "", match[3], flags=re.S)
        found.append([words_of(title), name, f"{page.url}#{match[1]}", ""])
    return found


def words_of(text: str) -> str:
    """A heading without tags."""
    return " ".join(html.unescape(plain(re.sub(r"<[^>]+>", "", text))).split())


def plain(text: str) -> str:
    """A line without the marks of Markdown and TeX."""
    return re.sub(r"[$*`]", "", untex(text))


def plainer(text: str) -> str:
    """A page as the index reads it: the main column without code, displayed formulas and buttons."""
    main = re.search(r"<main.*</main>", text, re.S)
    body = re.sub(LEFT_OUT, " ", main[0] if main else "", flags=re.S)
    body = re.sub(STATEMENT, r'<div><\2 id="\1" data-pagefind-weight="9">', body)
    formula, light = r'<span\s+class="math inline">(.*?)</span>', '<span data-pagefind-weight="0.1">{}</span>'
    body = re.sub(formula, lambda m: light.format(untex(m[1])), body, flags=re.S)
    return f'<!DOCTYPE html><html lang="en"><body>{body}</body></html>'


def untex(text: str) -> str:
    """A formula within a line, as words that an excerpt can show."""
    text = re.sub(r"\\\(|\\\)|\\[,;!: ]|\\(?:big|Big|bigg|Bigg)?(?:left|right|l|r)?(?=[()\[\]|.])", "", text)
    text = re.sub(r"\\[dt]?frac\s*(\w|\{[^{}]*\})\s*(\w|\{[^{}]*\})", r"\1/\2", text)
    text = re.sub(r"\\(?:mathbb|mathrm|mathcal|mathbf|operatorname|text|hat|widehat|tilde|bar)\*?\s*", "", text)
    text = re.sub(r"\\([A-Za-z]+)", lambda m: SIGNS.get(m[1], m[1]), text)
    return re.sub(r"[{}$\\]", "", text)
