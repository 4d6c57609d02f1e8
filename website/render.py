"""From Markdown to pages: navigation, pandoc, search index."""

import configparser
import html
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import files
from pathlib import Path
from urllib.parse import unquote

import pypandoc
import yaml

from website import reference
from website.cells import Page, read
from website.links import check
from website.search import index

HERE = Path(__file__).resolve().parent
REFERENCE = "Reference"  # the part with a side bar of its own


class Site:
    """The processed notebooks in `proc`, the settings that `proc/_quarto.yml` leads to, and the problems so far.

    Pages offer the notebooks in `source` (by default those in `proc`); what to cite is in CITATION.cff above `proc`.
    """

    def __init__(self, proc: Path, out: Path, source: Path | None = None) -> None:
        self.proc, self.out, self.config = proc.resolve(), out.resolve(), settings(proc / "_quarto.yml")
        self.source, cff = source or self.proc, self.proc.parent / "CITATION.cff"
        self.citation = yaml.safe_load(cff.read_text(encoding="utf-8")) if cff.exists() else {}
        self.address = address(self.proc.parent / "settings.ini")
        self.html, self.title = self.config["format"]["html"], self.config["website"]["title"]
        self.binary = pypandoc.get_pandoc_path()  # once: while it searches, other threads are given any old pandoc
        listed = list(navigation(self.config["website"]["sidebar"]["contents"]))
        there = {p.relative_to(proc).as_posix() for p in proc.rglob("*.ipynb")}
        there -= {s for s in there if re.match(r"ledger/(\w+/)*00_", s)}  # they only make modules of the ledger
        self.pages = [p for p in listed if p.source in there]
        self.problems = [f"_quarto.yml: {p.source} in the navigation does not exist" for p in listed if p not in self.pages]
        self.problems += [f"_quarto.yml: {s} is not in the navigation" for s in sorted(there - {p.source for p in listed})]
        number(self.pages)
        for page in self.pages: self.problems += [f"{page.source}: {text}" for text in read(page, self.proc)]
        self.problems += [f"{url}: made twice" for url, n in Counter(p.url for p in self.pages).items() if n > 1]

    def build(self, search: bool = True) -> list[str]:
        """Write the site and return the problems."""
        shutil.rmtree(self.out, ignore_errors=True)
        for name in as_list(self.config["project"].get("resources")) + as_list(self.html.get("css")) + as_list(self.favicon() or None):
            copy(self.proc / name, self.out / name)
        for name in ("site.css", "site.js"): copy(HERE / name, self.out / name)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for problems in pool.map(self.write, self.pages): self.problems += problems
        self.extras()
        self.problems += check(self.pages, self.proc, self.out)
        if search: index(self.pages, self.out)
        return self.problems

    def extras(self) -> None:
        """What lies beside the pages: the notebooks, llms.txt, and sitemap.xml if the site has an address."""
        for page in self.pages:
            if self.notebook(page): copy(self.source / page.source, self.out / page.source)
        (self.out / "llms.txt").write_text(self.overview(), encoding="utf-8")
        if self.address:
            lines = [f"<url><loc>{self.address}/{page.url}</loc></url>" for page in self.pages]
            head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
            (self.out / "sitemap.xml").write_text("\n".join([head, *lines, "</urlset>\n"]), encoding="utf-8")

    def write(self, page: Page) -> list[str]:
        """Write one page and its images; returns the problems."""
        root = "../" * page.url.count("/")
        variables = {
            "root": root, "site": self.title, "home": page.url == "index.html", "blurb": html.escape(plain(page.description)),
            "nav": self.sidebar(page), "crumbs": self.crumbs(page), "number": page.number,
            "turn": self.turn(page), "mathjax": self.html["html-math-method"]["url"].lstrip("/"),
            "favicon": self.favicon(), "notebook": self.notebook(page), "foot": self.foot(page), "cite": "yes" if self.citation else "",
            "after": "\n".join((self.proc / name).read_text(encoding="utf-8") for name in as_list(self.html.get("include-after-body"))),
        }
        args = ["--to=html5", f"--template={HERE / 'template.html'}", "--mathjax", "--metadata=link-citations"]
        args += ["--toc", f"--toc-depth={self.html.get('toc-depth', 3)}"]
        args += [f"--variable={k}={v}" for k, v in variables.items() if v]
        args += [f"--variable=style={name}" for name in [*as_list(self.html.get("css")), "site.css"]]
        text, problems = self.pandoc(page.markdown, args)
        text, target = with_its_marks(without_empty_headers(self.link_pages(text, page))), self.out / page.url
        for path, data in {target: text.encode(), **{target.parent / k: v for k, v in page.images.items()}}.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return [f"{page.source}: {problem}" for problem in problems]

    def pandoc(self, text: str, args: list[str]) -> tuple[str, list[str]]:
        """Run pandoc with the filter; returns the result and its warnings and errors."""
        command = [self.binary, "--from=markdown", f"--lua-filter={HERE / 'filter.lua'}", "--wrap=preserve"]
        command += [f"--bibliography={self.proc / name}" for name in as_list(self.config.get("bibliography"))]
        done = subprocess.run(command + args, input=text.encode(), capture_output=True, check=False)
        messages = re.sub(r"Scripting warning at .*?: ", "", done.stderr.decode()).split("[WARNING] ")
        return done.stdout.decode(), [m.strip() for m in messages if m.strip()]

    def link_pages(self, text: str, page: Page) -> str:
        """Turn links to notebooks into links to their pages."""
        urls, folder = {p.source: p.url for p in self.pages}, os.path.dirname(page.source)

        def link(match: re.Match) -> str:
            target = urls.get(os.path.normpath(os.path.join(folder, unquote(match[1]))))
            return f'href="{relative(target, page)}{match[2] or ""}"' if target else match[0]

        return re.sub(r'(?<!download )href="([^":?#]+\.ipynb)(#[^"]*)?"', link, text)

    def notebook(self, page: Page) -> str:
        """The name of a page's notebook; empty if the page is generated."""
        return Path(page.source).name if (self.source / page.source).is_file() else ""

    def favicon(self) -> str: return self.config["website"].get("favicon", "")

    def foot(self, page: Page) -> str:
        """The end of a page: its notebook, and how to cite it."""
        name, cite = self.notebook(page), ""
        if name: name = f'<p><a download href="{name}">The notebook of this page</a></p>\n'
        if self.citation:
            who = " and ".join(a.get("name") or f"{a['given-names']} {a['family-names']}" for a in self.citation["authors"])
            year, title = str(self.citation.get("date-released", ""))[:4], plain(page.title)  # no year before the first release
            about = f"{self.citation['title']}, version {self.citation['version']}"
            where = f", {self.address}/{page.url}" if self.address else ""
            url = f", url = {{{self.address}/{page.url}}}" if self.address else ""
            dated = f", year = {{{year}}}" if year else ""
            fields = f"author = {{{{{who}}}}}, title = {{{title}}}, howpublished = {{{about}}}{dated}{url}"
            bib = f"@misc{{{Path(page.url).stem}, {fields}}}"
            words = html.escape(f"{who}{year and f' ({year})'}. {title}. In {about}{where}.")
            told = f"<p>{words}</p>\n<pre><code>{html.escape(bib)}</code></pre>"
            cite = f'<details id="cite-page"><summary>To cite this page</summary>\n{told}\n</details>'
        return f'<aside class="foot" aria-label="About this page">{name}{cite}</aside>'

    def sidebar(self, here: Page) -> str:
        """The navigation as seen from one page: its part and its chapter are open; the reference stands alone, in groups."""
        aside = here.section == REFERENCE
        out = [f'<p><a href="{relative("index.html", here)}">← {html.escape(self.title)}</a></p>'] if aside else []
        for section in dict.fromkeys(page.section for page in self.pages if not aside or page.section == REFERENCE):
            pages, lines, chapter = [page for page in self.pages if page.section == section], [], None
            if section == REFERENCE and not aside: pages = pages[:1]
            for page in pages:
                if aside and page.chapter and page.chapter != chapter: lines.append(f"<li class=group>{html.escape(page.chapter)}</li>")
                inner = bool(page.chapter) and (aside or page.chapter == chapter)  # the groups of the reference are open
                if inner and page.chapter != here.chapter and not aside: continue
                words = self.name(page) if inner or not page.chapter else page.chapter
                current = ' aria-current="page"' if page is here else ""
                link = f'<a href="{relative(page.url, here)}"{current}>{html.escape(f"{page.number} {words}".strip())}</a>'
                lines.append(f'<li{" class=inner" if inner else ""}>{link}</li>')
                chapter = page.chapter
            text = f"<ul>\n{chr(10).join(lines)}\n</ul>"
            opened = " open" if here.section == section else ""
            out.append(text if not section else f"<details{opened}><summary>{html.escape(section)}</summary>\n{text}\n</details>")
        return "\n".join(out)

    def name(self, page: Page) -> str:
        """The title of a page within its chapter: without the chapter's name in front."""
        if not page.chapter or page.section == REFERENCE: return plain(page.title)
        words = plain(page.title).replace("&", "and").removeprefix(f"{page.chapter}: ")
        return words[:1].upper() + words[1:]

    def crumbs(self, here: Page) -> str:
        """Where a page stands: part, and for a chapter of several pages its first page."""
        first = next((page for page in self.pages if page.chapter == here.chapter and page.section == here.section), here)
        out = [html.escape(here.section)] if here.section else []
        if here.section == REFERENCE: out += [html.escape(here.chapter)] if here.chapter else []
        elif here.chapter and first is not here:
            out.append(f'<a href="{relative(first.url, here)}">{first.number} {html.escape(here.chapter)}</a>')
        return " › ".join(out)

    def turn(self, here: Page) -> str:
        """Links to the page before and the page after."""
        i, out = self.pages.index(here), []
        for rel, mark, near in (("prev", "← {}", self.pages[:i][-1:]), ("next", "{} →", self.pages[i + 1:][:1])):
            for page in near:
                words = mark.format(html.escape(plain(page.title)))
                out.append(f'<a rel="{rel}" href="{relative(page.url, here)}">{words}</a>')
        return "\n".join(out)

    def overview(self) -> str:
        """llms.txt: every page with its description."""
        out = [f"# {self.title}\n\n> {self.config['website'].get('description', '')}"]
        for section in dict.fromkeys(page.section for page in self.pages):
            out.append(f"\n## {section}\n")
            out += [f"- [{plain(p.title)}]({p.url}): {p.description}" for p in self.pages if p.section == section]
        return "\n".join(out) + "\n"

    def front(self) -> Page:
        """The front page."""
        page = next((p for p in self.pages if p.source == "index.ipynb"), None)
        if page is None: raise SystemExit("README.md: there is no nbs/index.ipynb in the navigation")
        return page

    def picture(self) -> bytes:
        """Its picture, which README.md shows from nbs/front.svg."""
        return next((data for name, data in self.front().images.items() if name.endswith(".svg")), b"")

    def readme(self) -> str:
        """README.md: the front page in GitHub's Markdown; what pandoc complains about is added to the problems."""
        page = self.front()
        text, problems = self.pandoc(page.markdown, ["--to=gfm-raw_html"])
        self.problems += [f"README.md: {problem}" for problem in problems]
        note = "<!-- Made from nbs/index.ipynb by `python -m website --readme`. -->"
        return f"{note}\n\n# {page.title}\n\n{page.description}\n\n{text}"


def settings(path: Path) -> dict:
    """The YAML file at `path` with its `metadata-files` merged in."""
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    for name in config.pop("metadata-files", []): config = settings(path.parent / name) | config
    return config


def navigation(contents: list, section: str = "", chapter: str = "") -> Iterator[Page]:
    """The pages of a sidebar in order; a section within a section is a chapter, whose first page is its front page."""
    for entry in contents:
        if isinstance(entry, dict):
            inner = (section, entry["section"]) if section else (entry["section"], "")
            yield from navigation(entry["contents"], *inner)
        else: yield Page(entry, section, chapter)


def number(pages: list[Page]) -> None:
    """Number the chapters of the parts, whose names begin with a Roman numeral, through the book, and their pages after the first."""
    chapters, inner, before = 0, 0, None
    for page in pages:
        if not re.match(r"[IVX]+ ", page.section): continue
        if page.chapter and page.chapter == before: inner += 1
        else: chapters, inner = chapters + 1, 0
        before = page.chapter
        page.number = f"{chapters}.{inner}" if inner else str(chapters)


def address(path: Path) -> str:
    """Where the site will be, without a slash at the end; empty while settings.ini names no host."""
    given = configparser.ConfigParser(interpolation=None)
    given.read(path, encoding="utf-8")
    values = given["DEFAULT"]
    return (values["doc_host"].rstrip("/") + "/" + values.get("doc_baseurl", "").strip("/")).rstrip("/") if values.get("doc_host") else ""


def as_list(value: str | list | None) -> list: return [value] if isinstance(value, str) else value or []


def plain(text: str) -> str: return re.sub(r"[$*`\\{}]", "", text)


def without_empty_headers(text: str) -> str: return re.sub(r"<th\b([^>]*)>\s*</th>", r"<td\1></td>", text)


def with_its_marks(text: str) -> str:
    """A page on which no line begins with the comma behind a formula."""
    return re.sub(r'\(?<span\s+class="math inline">[^<]*</span>[),.;:!?]+', r'<span class="together">\g<0></span>', text)


def relative(url: str, page: Page) -> str: return os.path.relpath(url, os.path.dirname(page.url) or ".")


def copy(source: Path, target: Path) -> None:
    """Copy a file or a folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    (shutil.copytree if source.is_dir() else shutil.copyfile)(source, target)


def provide_mathjax(folder: Path) -> None:
    """Put MathJax, one file without fonts or further parts, beside the notebooks; it comes inside a PyPI package."""
    script = next(f for f in files("sphinx-mathjax-offline") if f.name == "tex-svg-full.js")
    copy(Path(script.locate()), folder / script.name)


def processed() -> Path:
    """The folder with the notebooks as nbdev prepares them for a site, and the pages of the reference."""
    from nbdev.serve import proc_nbs

    proc = Path(proc_nbs(force=True, n_workers=0))  # here: a worker would read the package once more
    reference.write(proc)
    config = settings(proc / "_quarto.yml")
    contents = config["website"]["sidebar"]["contents"]
    groups = reference.groups({page.source: page.section for page in navigation(contents)})
    next(part for part in contents if part["section"] == REFERENCE)["contents"] = [f"{reference.FOLDER}/index.ipynb", *groups]
    (proc / "_quarto.yml").write_text(yaml.safe_dump(config, allow_unicode=True, sort_keys=False), encoding="utf-8")
    return proc
