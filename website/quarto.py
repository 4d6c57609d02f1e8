"""The same site with Quarto, where it is installed; README.md is left alone, and a warning is a problem."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from website.links import check
from website.render import Site, without_empty_headers

POLYFILL = r'\s*<script src="https://[^"]*polyfill[^"]*"[^>]*></script>'


def build(site: Site) -> list[str]:
    """Render the processed notebooks, move the result to the site's folder, finish and check it; returns the problems."""
    said = render(site.proc)
    shutil.rmtree(site.out, ignore_errors=True)
    shutil.move(site.proc / site.config["project"]["output-dir"], site.out)
    finish(site)
    site.problems += warnings(said) + check_output(site)
    return site.problems


def render(folder: Path) -> list[str]:
    """Run Quarto and return the lines that it says, each passed on as it comes."""
    said = []
    with subprocess.Popen(["quarto", "render", "--no-execute"], cwd=folder, stderr=subprocess.PIPE, text=True, encoding="utf-8") as run:
        for line in run.stderr:
            sys.stderr.write(line)
            said.append(line)
    if run.returncode: raise SystemExit(run.returncode)
    return said


def warnings(lines: list[str]) -> list[str]:
    """What Quarto and pandoc complain about while they end with exit code 0, with the page that they were at."""
    page, found = "_quarto.yml", []
    for line in lines:
        line = re.sub(r"\x1b\[[0-9;]*m", "", line).strip()
        if turn := re.match(r"\[ *\d+/\d+\] (.+)", line): page = turn[1]
        elif re.match(r"\[?(WARN|ERROR)", line): found.append(f"{page}: Quarto: {line}")
    return found


def finish(site: Site) -> None:
    """Make the pages as ours are: the notebook, how to cite the page, no empty headers, nothing from outside. Twice changes nothing."""
    for page in site.pages:
        path = site.out / page.url
        text = re.sub(POLYFILL, "", path.read_text(encoding="utf-8"))  # for browsers without ES6
        if 'class="foot"' not in text: text = text.replace("</main>", f"{site.foot(page)}\n</main>", 1)
        text = re.sub(r'(<span class="menu-text">\w+\.)(?=\w)', r"\1<wbr>", text)  # where a long name of a module may be broken
        path.write_text(without_empty_headers(text), encoding="utf-8")
    site.extras()


def check_output(site: Site) -> list[str]:
    """The problems of a finished site; only the main column is ours."""
    missing = [f"{page.source}: no page {page.url}" for page in site.pages if not (site.out / page.url).is_file()]
    there = [page for page in site.pages if (site.out / page.url).is_file()]
    return missing + check(there, site.proc, site.out, whole=False)
