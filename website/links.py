"""Checks on the finished pages: ids, links, anchors, assets, and markup that was not understood."""

import os
import re
import shutil
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from website.cells import Page

LEFT_OVER = r":::+.*|\{[#.][\w-]+.*|\$\$.*|\\\(.*"


class Reader(HTMLParser):
    """Collects the ids, links, assets and the text outside code and math of a page; `main`: ids and text of the main column."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids, self.links, self.assets, self.text, self.inside, self.main = [], [], [], [], [], ([], [])
        self.in_main = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        given = {k: v or "" for k, v in attrs}
        if tag == "main": self.in_main = True
        if "id" in given:
            self.ids.append(given["id"])
            if self.in_main: self.main[0].append(given["id"])
        for key in {"src", "href", "data", "poster"} & given.keys():
            (self.links if tag == "a" else self.assets).append(given[key])
        if tag in ("pre", "code", "script", "style") or "math" in given.get("class", "").split(): self.inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "main": self.in_main = False
        if self.inside and self.inside[-1] == tag: self.inside.pop()

    def handle_data(self, data: str) -> None:
        if self.inside: return
        self.text.append(data)
        if self.in_main: self.main[1].append(data)


def check(pages: list[Page], proc: Path, out: Path, whole: bool = True) -> list[str]:
    """The problems of the pages in `out`; a file of `proc` that a page refers to is copied on the way.

    `whole=False`: what surrounds the main column is another renderer's, with its own ids, text and empty links.
    """
    found = {page.url: Reader((out / page.url).read_text(encoding="utf-8")) for page in pages}
    problems = []
    for page in pages:
        here = found[page.url]
        ids, words = (here.ids, here.text) if whole else here.main
        texts = [f"duplicate id {name}" for name, n in Counter(ids).items() if n > 1]
        texts += [f"markup left over: {text[:60]}" for text in re.findall(LEFT_OVER, "".join(words))]
        texts += [f"external asset {url}" for url in here.assets if re.match(r"\w+:|//", url) and not url.startswith("data:")]
        for url in here.links + here.assets:
            if re.match(r"(https?|mailto|data):|//", url) or (not whole and re.match(r"$|#$|javascript:", url)): continue
            texts += target(url, page, found, proc, out)
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
