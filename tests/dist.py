"""The distributions as strangers get them: `make test-dist` builds both and installs the wheel into clean environments.

They print sizes and seconds. PYTHON names the interpreter of these environments; the tests themselves run in that of the repository.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest
from conftest import TOP, files_of_the_project

PYTHON = os.environ.get("PYTHON", sys.executable)
EVERY_LEARNER = """
import oslr_nb
from oslr_nb.practice.warm import warm_learner
for key in oslr_nb.LEARNERS: warm_learner(key)
print(len(oslr_nb.LEARNERS))
"""
TABLE = """
import random
random.seed(1)
print("rooms,floor,age,area,noise,price")
for _ in range(600):
    x = [random.gauss(0, 1) for _ in range(5)]
    print(*(f"{v:.4f}" for v in (*x, 3 * x[3] - 2 * x[2] + random.gauss(0, 0.1))), sep=",")
"""
NOTEBOOK = """
import nbclient, nbformat, sys
nb = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(nb, kernel_name="python3").execute()
print(len(nb.cells))
"""


def run(*words, cwd, expect=0):
    "What a command prints in a folder, without the settings of this repository."
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "OSLR", "VIRTUAL"))}
    done = subprocess.run([str(w) for w in words], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == expect, f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr if expect else done.stdout


def install(folder, *what):
    "A new environment that holds these, with the seconds that it took; returns its folder of commands."
    start = time.perf_counter()
    run(PYTHON, "-m", "venv", folder, cwd=folder.parent)
    commands = folder / ("Scripts" if os.name == "nt" else "bin")
    run(commands / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what, cwd=folder.parent)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    print(f"pip install {' '.join(Path(w).name for w in what)}: {time.perf_counter() - start:.0f} s, {size / 2**20:.0f} MiB")
    return commands


def build(folder, *words):
    run(sys.executable, "-m", "build", "--outdir", folder, *words, cwd=TOP)
    return {path.name: path for path in sorted(folder.glob("oslr_nb-*"))}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    found = build(tmp_path_factory.mktemp("dist"))
    for name, path in found.items(): print(f"\n{name}: {path.stat().st_size / 1e6:.1f} MB", end="")
    print("\ninstalled with", run(PYTHON, "--version", cwd=TOP).strip())
    return found


@pytest.fixture(scope="module")
def wheel(built): return next(path for name, path in built.items() if name.endswith(".whl"))


@pytest.fixture(scope="module")
def lean(wheel, tmp_path_factory): return install(tmp_path_factory.mktemp("lean") / "env", wheel)


@pytest.fixture(scope="module")
def full(wheel, tmp_path_factory):
    return install(tmp_path_factory.mktemp("full") / "env", f"{wheel}[all]", "nbclient", "ipykernel", "pytest-xdist", "hypothesis")


def test_the_same_bytes_twice(built, tmp_path):
    "Once more, and the wheel from the tree instead of from the source archive."
    again, alone = build(tmp_path / "again"), build(tmp_path / "alone", "--wheel")
    assert len(built) == len(again) == 2 and len(alone) == 1
    for name, path in {**again, **alone}.items(): assert path.read_bytes() == built[name].read_bytes(), name


def test_contents(built, wheel):
    "The source archive holds every file of the project; the wheel is the package without nbdev's index."
    listed = set(files_of_the_project())
    with tarfile.open(next(path for name, path in built.items() if name.endswith(".tar.gz"))) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    assert names - {"PKG-INFO"} == listed
    with zipfile.ZipFile(wheel) as archive: names = {name for name in archive.namelist() if name.startswith("oslr_nb/")}
    assert names == {name for name in listed if name.startswith("oslr_nb/")} - {"oslr_nb/_modidx.py"}


def test_the_lean_core(lean, tmp_path):
    "The wheel alone: import, every learner, and a sentence for each missing extra; test_package.py runs the code of README."
    start = time.perf_counter()
    run(lean / "python", "-c", "import oslr_nb", cwd=tmp_path)
    print(f"import oslr_nb: {time.perf_counter() - start:.2f} s")
    assert int(run(lean / "python", "-c", EVERY_LEARNER, cwd=tmp_path)) >= 31
    for words, extra in {"verify C3": "ledger", "data digits --out a.csv": "adapters", "serve --features 4 --budget 2": "serve"}.items():
        assert f'pip install "oslr_nb[{extra}]"' in run(lean / "oslr", *words.split(), cwd=tmp_path, expect=2)


def test_the_commands(full, tmp_path):
    "`oslr verify` on a paper, `oslr run` on a table of one's own."
    out = run(full / "oslr", "verify", "ito2017", cwd=tmp_path)
    assert re.search(r"^(\d\d) claims, \1 as expected", out, re.M), out[-500:]
    (tmp_path / "flats.csv").write_text(run(full / "python", "-c", TABLE, cwd=tmp_path), encoding="utf8")
    out = run(full / "oslr", "run", "flats.csv", "--target", "price", "--budget", "3", cwd=tmp_path)
    assert "| area | " in out and (tmp_path / "oslr_run").is_dir(), out


def test_a_downloaded_notebook(full, tmp_path):
    "One page, copied to an empty folder, runs from top to bottom."
    page = shutil.copy(TOP / "nbs" / "papers" / "ito2017" / "01_algorithm1.ipynb", tmp_path)
    assert int(run(full / "python", "-c", NOTEBOOK, page, cwd=tmp_path).split()[-1]) > 50


def test_the_learners_tests(full, tmp_path):
    "The tests of all learners and of their saved files, on the installed package."
    shutil.copytree(TOP / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(TOP / "pyproject.toml", tmp_path)
    files = ["tests/test_learners.py", *(["tests/test_states.py"] if os.name != "nt" else [])]  # the latter sends signals to services
    out = run(full / "python", "-m", "pytest", "-n", "2", *files, cwd=tmp_path)
    print(out.strip().splitlines()[-1])
    assert " passed" in out.splitlines()[-1]


def test_addresses_come_from_one_setting(wheel, tmp_path):
    "Without a home the package has no addresses; with one, its links and those of README lead there."
    (tmp_path / "oslr_nb").mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "hatch_build.py", "oslr_nb/__init__.py"):
        shutil.copy(TOP / name, tmp_path / name)
    home = (TOP / "settings.ini").read_text(encoding="utf8")
    for name, value in {"git_url": "https://example.org/oslr", "doc_host": "https://oslr.example.org", "doc_baseurl": "/book/"}.items():
        home = re.sub(rf"^{name} =.*", f"{name} = {value}", home, flags=re.M)
    (tmp_path / "settings.ini").write_text(home, encoding="utf8")
    run(sys.executable, "-m", "build", "--wheel", cwd=tmp_path)
    with_home, without = (zipfile.ZipFile(path) for path in (next(tmp_path.glob("dist/*.whl")), wheel))
    with_home, without = (a.read(next(n for n in a.namelist() if n.endswith("METADATA"))).decode() for a in (with_home, without))
    assert "Project-URL: Source, https://example.org/oslr\n" in with_home and "](nbs/" not in with_home
    assert "Project-URL: Documentation, https://oslr.example.org/book\n" in with_home
    assert "](https://example.org/oslr/blob/main/nbs/own/05_choice.ipynb)" in with_home
    assert "](https://example.org/oslr/raw/main/nbs/front.svg)" in with_home
    assert "Project-URL:" not in without and "](nbs/own/05_choice.ipynb)" in without
