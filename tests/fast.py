"""What a change of a page can break, in a minute: `make test-fast`.

The pages that differ from the last commit (in a clean tree: that the last commit changed) are run, with their claims, the tests of their
modules, the linter, the export and the processing of all pages. `make test` runs everything.
"""

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[1]
ALWAYS = ["tests/test_repository.py", "tests/test_notebooks.py::test_committed_pages_are_fit_for_the_site",
          "tests/test_pages.py", "tests/test_reference.py"]
PROTOCOL = ("environment", "registry", "saving", "learner", "run", "driver")  # modules of the core with one file of tests


def git(*args: str) -> list[str]:
    "Lines of an answer of git."
    return subprocess.run(["git", *args], cwd=TOP, capture_output=True, text=True, check=True).stdout.splitlines()


def changed() -> list[str]:
    "Files that differ from the last commit, or that it changed."
    files = git("diff", "--name-only", "HEAD") + git("ls-files", "--others", "--exclude-standard")
    return sorted(set(files or git("diff", "--name-only", "HEAD~1", "HEAD")))


def tests_of(files: list[str]) -> list[str]:
    "Names of tests for pytest."
    from oslr_nb.ledger.claims import CLAIMS, claim_ids

    claim_ids([])
    found = [f for f in files if f.startswith("tests/") and Path(f).name.startswith("test_") and f.endswith(".py") and (TOP / f).exists()]
    pages = [f.removeprefix("nbs/") for f in files if f.endswith(".ipynb") and (TOP / f).exists()]
    beside = [p for page in pages for p in (TOP / "nbs" / page).parent.glob(f"{Path(page).stem}_*.ipynb")]  # proofs of a chapter
    pages = list(dict.fromkeys([*pages, *(p.relative_to(TOP / "nbs").as_posix() for p in beside)]))
    if "oslr_nb/claims.json" in files:  # the pages that show the ledger
        asks = re.compile(r"ledger\.claims import .*(Ledger|claim_ids)")
        told = [p for p in sorted((TOP / "nbs").rglob("*.ipynb")) if asks.search(p.read_text("utf-8"))]
        found += [f"tests/test_notebooks.py::test_runs_and_shows_what_is_committed[{p.relative_to(TOP / 'nbs').as_posix()}]" for p in told]
    for page in pages:
        found.append(f"tests/test_notebooks.py::test_runs_and_shows_what_is_committed[{page}]")
        found += [f"tests/test_claims.py::test_claim[{i}]" for i, c in CLAIMS.items() if c.page == page]
    for module in (Path(f) for f in files if f.startswith("oslr_nb/") and f.endswith(".py")):
        own = [f"{module.parent.parent.name}_{module.parent.name}", f"{module.parent.name}_{module.stem}",
               module.parent.name, module.stem, f"{module.stem}_results"]
        if module.stem in PROTOCOL: own.append("protocol")
        found += [p.relative_to(TOP).as_posix() for name in own for p in (TOP / "tests").rglob(f"test_{name}.py")]
    return list(dict.fromkeys([*ALWAYS, *found]))


if __name__ == "__main__":
    files = changed()
    print("changed: " + (", ".join(f for f in files if f.endswith(".ipynb")) or "no page"), flush=True)
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "worksteal", *tests_of(files)]
    sys.exit(subprocess.run(command, cwd=TOP, check=False).returncode)
