"""The package as strangers meet it: what is installed, compiled code, versions, first words, two writers."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import TOP

import oslr_nb as oslr
from oslr_nb.core.base.checks import EXTRAS

CLAIM = "from oslr_nb.ledger.claims import run_claim; import oslr_nb.papers.ito2017; print(run_claim('A19', 'ito2017').as_expected)"
PLAY = """
import numpy as np, oslr_nb as oslr
run = oslr.simulate(oslr.ito2017.GreedyRDA(4, 2, x_norm=2), np.eye(4), np.ones(4))
print(run.n_observed.sum())
"""


def python(code, root=TOP, **env):
    "What a fresh process prints; `root` is where the package is found."
    variables = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "PYTHONPATH": str(root), **env}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=variables, cwd="/")
    assert done.returncode == 0, done.stderr
    return done


ALONE = f"""
import importlib, pkgutil, sys
for name in {(*EXTRAS, "distributed", "pandas", "polars", "river")}: sys.modules[name] = None
import numpy as np, oslr_nb as oslr
"""
EVERY_LEARNER = """
from oslr_nb.practice.warm import warm_learner
for key in oslr.LEARNERS: warm_learner(key)
oslr.auto(8, 4).save({path!r})
print(oslr.load({path!r}).d)
"""
EVERY_MODULE = """
for found in pkgutil.walk_packages(oslr.__path__, "oslr_nb."):
    try: importlib.import_module(found.name)
    except ModuleNotFoundError: print(found.name)
"""
USES = {  # of each optional library
    "pyarrow": "oslr.tables", "cvxpy": "oslr.geometry.compatibility(np.eye(3), [0])", "sympy": "oslr.claims.run_claim('C3', 'ito2018')",
    "matplotlib": "oslr.digits.plot_digits([], [])", "sklearn": "oslr.OSLRRegressor", "orjson": "oslr.service",
    "tornado": "oslr.web",
}
COMMANDS = {"serve --features 4 --budget 2": "orjson", "serve --features 4 --budget 2 --http 0": "tornado", "verify C3": "sympy",
            "run a.csv --target y --budget 2": "pyarrow"}


def sentence(library): return f'{library} is not installed: pip install "oslr_nb[{EXTRAS[library]}]" brings it.'


def test_learners_need_no_extra_and_each_brings_its_libraries(tmp_path):
    assert python(ALONE + EVERY_LEARNER.format(path=str(tmp_path / "a.npz"))).stdout == "8\n"
    optional = "adapters", "classes", "columns", "models", "reading", "report", "service", "tables", "web"
    assert python(ALONE + EVERY_MODULE).stdout.split() == [f"oslr_nb.practice.{name}" for name in optional]
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has none")
    extras = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    distributions = {"sklearn": "scikit-learn", "markdown_it": "markdown-it-py"}
    for library, extra in EXTRAS.items():
        assert distributions.get(library, library) in [re.match(r"[\w-]+", r)[0] for r in extras[extra]]
        assert re.search(rf"[\[,]{extra}[\],]", extras["all"][0])


def test_the_code_of_the_readme_needs_no_extra_and_what_is_missing_is_named_with_its_own():
    text = (TOP / "README.md").read_text()
    code = "".join(re.findall(r"^``` python\n(.*?)^```$", text, re.M | re.S))
    shown = re.findall(r"^    (.*)", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M)
    assert len(shown) == 6 and python(ALONE + code).stdout.splitlines() == shown
    code = "for use in {uses}:\n    try: eval(use)\n    except ModuleNotFoundError as error: print(error)"
    assert python(ALONE + code.format(uses=list(USES.values()))).stdout.splitlines() == [sentence(library) for library in USES]
    code = "from typer.testing import CliRunner\nfrom oslr_nb.cli import app\nfor words in {commands}:\n"
    code += "    done = CliRunner().invoke(app, words)\n    print(done.exit_code, done.output.splitlines()[-1])"
    said = python(ALONE + code.format(commands=list(COMMANDS))).stdout.splitlines()
    assert said == [f"2 {sentence(library)}" for library in COMMANDS.values()]


@pytest.fixture
def copy_of_package(tmp_path):
    shutil.copytree(TOP / "oslr_nb", tmp_path / "oslr_nb", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_a_claim_sees_a_changed_kernel_of_another_module(copy_of_package):
    "With warm caches: numba alone would go on with the old `draw_outside` inside the kernels of Algorithm 1."
    kernels = copy_of_package / "oslr_nb" / "__pycache__"
    assert python(CLAIM, copy_of_package).stdout.strip() == "True"
    first, path = set(kernels.glob("kernels-*")), copy_of_package / "oslr_nb" / "core" / "mathematics" / "designs.py"
    text = path.read_text()
    changed = text.replace("np.int64(uniform(words) * d)\n", "np.int64(uniform(words) ** 2 * d)\n")
    assert changed.count("** 2 * d") == 1
    path.write_text(changed)
    assert python(CLAIM, copy_of_package).stdout.strip() == "False" and len(first) == 1 and len(set(kernels.glob("kernels-*"))) == 2
    path.write_text(text)
    assert python(CLAIM, copy_of_package).stdout.strip() == "True"


def nowhere(root):
    "Variables with which nothing can be kept, by root either: files stand where the folders should be."
    pycache = root / "oslr_nb" / "__pycache__"
    shutil.rmtree(pycache, ignore_errors=True)
    pycache.write_text("a file")
    return {"HOME": str(pycache), "XDG_CACHE_HOME": "", "PYTHONDONTWRITEBYTECODE": "1"}


def test_a_word_while_compiling_and_an_installation_that_cannot_be_written(copy_of_package):
    code = "import numpy as np, oslr_nb as oslr; oslr.simulate(oslr.auto(8, 5), np.eye(8), np.ones(8))"
    assert python(code, copy_of_package).stderr == "oslr_nb: compiling, once for this version; `oslr warm` does it ahead.\n"
    assert python(code, copy_of_package).stderr == ""
    assert python(PLAY, copy_of_package, **nowhere(copy_of_package), OSLR_QUIET="1").stdout.strip() == "8"
    for name, folder in (("XDG_CACHE_HOME", "cache"), ("NUMBA_CACHE_DIR", "numba")):
        assert python(PLAY, copy_of_package, **{name: str(copy_of_package / folder)}).stdout.strip() == "8"
        assert list((copy_of_package / folder).rglob("kernels-*/**/*.nbi"))


EDITS = {  # of a module: what stood there, what stands there now, whether compiled code is still right
    "a comment in the command line": ("cli.py", "import", "# a word\nimport", True),
    "another command": ("cli.py", "def letter", "def epistle", True),
    "a comment above a kernel": ("own/moments/sums.py", "@kernel\ndef deviation", "# a word\n@kernel\ndef deviation", True),
    "a docstring": ("own/moments/sums.py", "Standard deviation of the labels of a table.", "Deviation of the labels.", True),
    "a check": ("ledger/own/adaptive.py", "import", "import os\nimport", True),
    "a number in a kernel": ("own/moments/sums.py", "1e-13", "1e-12", False),
    "a constant that kernels use": ("own/moments/sums.py", "TOGETHER = 30.0", "TOGETHER = 31.0", False),
    "a module that kernels import from": ("core/base/checks.py", "SMALLEST = 1e-60", "SMALLEST = 1e-61", False),
    "a kernel of a check": ("ledger/core.py", "@kernel", "@kernel  # type: ignore\n@kernel", False),
}


@pytest.mark.parametrize(("module", "old", "new", "same"), EDITS.values(), ids=EDITS)
def test_what_recompiles(module, old, new, same, tmp_path):
    from oslr_nb.core.base import kernels
    shutil.copytree(TOP / "oslr_nb", tmp_path / "oslr_nb", ignore=shutil.ignore_patterns("__pycache__", "stored"))
    path, before = tmp_path / "oslr_nb" / module, kernels.kernel_digest(tmp_path / "oslr_nb")
    assert before == kernels.kernel_digest(TOP / "oslr_nb") and old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    assert (kernels.kernel_digest(tmp_path / "oslr_nb") == before) == same


def test_old_compiled_code_is_cleared_away(tmp_path, monkeypatch):
    from oslr_nb.core.base import kernels
    "And nothing else that stands beside it."
    monkeypatch.setattr(kernels, "cache_bases", lambda: iter([tmp_path]))
    others = [tmp_path / name for name in ("kernels-backup", "kernels-0123456789abcdef", "kernels-")]
    for other in others:
        (other / "sub").mkdir(parents=True)
        (other / "sub" / "thesis.tex").write_text("mine")
        os.utime(other, (1, 1))
    for n in range(6):
        monkeypatch.setenv("OSLR_KERNELS", str(n))
        assert kernels.kernel_folder.__wrapped__() == str(tmp_path / f"kernels-{n}")
        os.utime(tmp_path / f"kernels-{n}", (n, n))
    monkeypatch.setenv("OSLR_KERNELS", "last")
    kernels.kernel_folder.__wrapped__()
    assert {*tmp_path.iterdir()} == {*others, *(tmp_path / f"kernels-{name}" for name in (4, 5, "last"))}
    assert all((other / "sub" / "thesis.tex").exists() for other in others)


def test_version_module_and_mode_of_files(tmp_path):
    for command in (["-m", "oslr_nb", "--version"], ["-m", "oslr_nb.cli", "--version"]):
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, cwd=TOP)
        assert done.stdout.strip() == f"oslr_nb {oslr.__version__}", done.stderr
    (tmp_path / "other").write_text("")
    oslr.ito2017.GreedyRDA(4, 2).save(tmp_path / "a.npz")
    assert (tmp_path / "a.npz").stat().st_mode == (tmp_path / "other").stat().st_mode
