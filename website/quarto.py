"""The same site with Quarto, where it is installed; README.md is left alone, and a warning is a problem."""

import re
import shutil
import subprocess
import sys

from website.links import check
from website.render import Site

POLYFILL = r'\s*<script src="https://[^"]*polyfill[^"]*"[^>]*></script>'


def build(site: Site) -> list[str]:
    """Render the processed notebooks, move the result to the site's folder, finish and check it; returns the problems."""
    done = subprocess.run(["quarto", "render", "--no-execute"], cwd=site.proc, stderr=subprocess.PIPE, text=True, check=False)
    sys.stderr.write(done.stderr)
    if done.returncode: raise SystemExit(done.returncode)
    shutil.rmtree(site.out, ignore_errors=True)
    shutil.move(site.proc / site.config["project"]["output-dir"], site.out)
    finish(site)
    site.problems += warnings(done.stderr) + check_output(site)
    return site.problems


def warnings(text: str) -> list[str]:
    """What Quarto and pandoc complain about while they end with exit code 0."""
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()
    return [f"Quarto: {line.strip()}" for line in lines if re.match(r"\s*\[?(WARN|ERROR)", line)]


def finish(site: Site) -> None:
    """Add what our own pages have: the notebook, how to cite the page, nothing from outside. Twice changes nothing."""
    for page in site.pages:
        path = site.out / page.url
        text = re.sub(POLYFILL, "", path.read_text(encoding="utf-8"))  # for browsers without ES6
        if 'class="foot"' not in text: text = text.replace("</main>", f"{site.foot(page)}\n</main>", 1)
        path.write_text(text, encoding="utf-8")
    site.extras()


def check_output(site: Site) -> list[str]:
    """The problems of a finished site; only the main column is ours."""
    missing = [f"{page.source}: no page {page.url}" for page in site.pages if not (site.out / page.url).is_file()]
    there = [page for page in site.pages if (site.out / page.url).is_file()]
    return missing + check(there, site.proc, site.out, whole=False)
