"""Checks on the finished pages: ids, links, anchors, assets, and markup that was not understood."""

import html
import os
import re
import shutil
from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urlsplit

from website.cells import Page
from website.rich import NAMES

LABEL = rf"\b(?:{'|'.join(NAMES)})-[a-z][\w-]*"  # of a statement or a figure: words for the source alone
LEFT_OVER = rf"{LABEL}|" + r":::+.*|\{[#.][\w-]+.*|\$\$.*|\\\(.*"
DEAD = re.compile(r"<!--.*?-->|(<(script|style)\b[^>]*>).*?</\2>", re.S | re.I)  # what is no text and holds no tag
TAG = re.compile(r"""<[/!]?(\w[\w-]*)([^"'>]*(?:(?:"[^"]*"|'[^']*')[^"'>]*)*)>""")
ATTRIBUTE = re.compile(r"""\s(id|src|href|data|poster)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.I)
UNREAD = re.compile(r"""<(pre|code)\b.*?</\1>|<(\w+)\s+class="(?:[^"]*\s)?math[\s"].*?</\2>""", re.S)


class Reader:
    """The ids, links and assets of a page; `own` ids and `text`, outside code and formulas, of its main column unless `whole`."""

    def __init__(self, text: str, whole: bool = True) -> None:
        text = DEAD.sub(r"\1", text)
        main = text if whole else text[text.find("<main"):text.find("</main>")]
        found = attributes(text)
        self.ids = {value for _, name, value in found if name == "id"}
        self.links = [value for tag, name, value in found if name != "id" and tag == "a"]
        self.assets = [value for tag, name, value in found if name != "id" and tag != "a"]
        self.own = [value for _, name, value in (found if whole else attributes(main)) if name == "id"]
        self.text = html.unescape(TAG.sub("", UNREAD.sub("", main)))


def attributes(text: str) -> list[tuple[str, str, str]]:
    """Tag, name and value of every attribute that gives a place or leads to one."""
    return [(tag.lower(), name.lower(), html.unescape("".join(values)))
            for tag, inner in TAG.findall(text) if "=" in inner for name, *values in ATTRIBUTE.findall(inner)]


def check(pages: list[Page], proc: Path, out: Path, whole: bool = True) -> list[str]:
    """The problems of the pages in `out`; a file of `proc` that a page refers to is copied on the way.

    `whole=False`: what surrounds the main column is another renderer's, with its own ids, text and empty links.
    """
    found = {page.url: Reader((out / page.url).read_text(encoding="utf-8"), whole) for page in pages}
    problems, targets = [], {}
    for page in pages:
        here = found[page.url]
        texts = [f"duplicate id {name}" for name, n in Counter(here.own).items() if n > 1]
        texts += [f"markup left over: {text[:60]}" for text in re.findall(LEFT_OVER, here.text)]
        texts += [f"external asset {url}" for url in here.assets if re.match(r"\w+:|//", url) and not url.startswith("data:")]
        for url in here.links + here.assets:
            if re.match(r"(https?|mailto|data):|//", url) or (not whole and re.match(r"$|#$|javascript:", url)): continue
            place = page.url if url.startswith("#") else os.path.dirname(page.url), url
            if place not in targets: targets[place] = target(url, page, found, proc, out)
            texts += targets[place]
        problems += [f"{page.source}: {text}" for text in texts]
    for css in out.glob("*.css"):
        text = re.sub(r"/\*.*?\*/", "", css.read_text(encoding="utf-8"), flags=re.S)
        problems += [f"{css.name}: external asset {url}" for url in re.findall(r"(?:https?:)?//[^\s)\"']+", text)]
    return problems


def target(url: str, page: Page, found: dict[str, Reader], proc: Path, out: Path) -> list[str]:
    """What is wrong with one link of a page."""
    parts = urlsplit(url)
    path = os.path.normpath(os.path.join(os.path.dirname(page.url), unquote(parts.path))) if parts.path else page.url
    if not (out / path).exists() and (proc / path).is_file() and not path.endswith(".ipynb"):
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(proc / path, out / path)
    if parts.scheme or path.startswith(("/", "..")) or not (out / path).is_file(): return [f"broken link {url}"]
    if parts.fragment and path in found and unquote(parts.fragment) not in found[path].ids: return [f"no such anchor {url}"]
    return []
