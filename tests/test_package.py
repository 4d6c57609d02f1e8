"""The package as strangers meet it: compiled code, installations that cannot be written, versions, first words, two writers."""

import os
import shutil
import subprocess
import sys
import tarfile

import numpy as np
import pytest
from conftest import TOP, files_of_the_project

import oslr_nb as oslr

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


@pytest.fixture
def copy_of_package(tmp_path):
    shutil.copytree(TOP / "oslr_nb", tmp_path / "oslr_nb", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_a_claim_sees_a_changed_kernel_of_another_module(copy_of_package):
    "With warm caches: numba alone would go on with the old `draw_outside` inside the kernels of Algorithm 1."
    kernels = copy_of_package / "oslr_nb" / "__pycache__"
    assert python(CLAIM, copy_of_package).stdout.strip() == "True"
    first = set(kernels.glob("kernels-*"))
    path = copy_of_package / "oslr_nb" / "core" / "designs.py"
    text = path.read_text()
    changed = text.replace("i = np.int64(uniform(words) * d)\n", "i = np.int64(uniform(words) ** 2 * d)\n")
    assert changed.count("** 2 * d") == 1
    path.write_text(changed)
    assert python(CLAIM, copy_of_package).stdout.strip() == "False"
    assert len(first) == 1 and len(set(kernels.glob("kernels-*"))) == 2
    path.write_text(text)
    assert python(CLAIM, copy_of_package).stdout.strip() == "True"


def nowhere(root):
    "Variables with which nothing can be kept, by root either: files stand where the folders should be."
    pycache = root / "oslr_nb" / "__pycache__"
    shutil.rmtree(pycache, ignore_errors=True)
    pycache.write_text("a file")
    return {"HOME": str(pycache), "XDG_CACHE_HOME": "", "PYTHONDONTWRITEBYTECODE": "1"}


def test_an_installation_that_cannot_be_written(copy_of_package):
    "Without a home nothing is kept; with one, the compiled code goes there; NUMBA_CACHE_DIR is tried first."
    assert python(PLAY, copy_of_package, **nowhere(copy_of_package), OSLR_QUIET="1").stdout.strip() == "8"
    for name, folder in (("XDG_CACHE_HOME", "cache"), ("NUMBA_CACHE_DIR", "numba")):
        assert python(PLAY, copy_of_package, **{name: str(copy_of_package / folder)}).stdout.strip() == "8"
        assert list((copy_of_package / folder).rglob("kernels-*/**/*.nbi"))


def test_a_word_while_compiling(copy_of_package):
    code = "import numpy as np, oslr_nb as oslr; oslr.simulate(oslr.auto(8, 5), np.eye(8), np.ones(8))"
    assert python(code, copy_of_package).stderr == "oslr_nb: compiling, once for this version; `oslr warm` does it ahead.\n"
    assert python(code, copy_of_package).stderr == ""


def test_old_compiled_code_is_cleared_away(tmp_path, monkeypatch):
    from oslr_nb.core import checks

    monkeypatch.setattr(checks, "cache_bases", lambda: iter([tmp_path]))
    for n in range(6):
        monkeypatch.setenv("OSLR_KERNELS", str(n))
        assert checks.kernel_folder.__wrapped__() == str(tmp_path / f"kernels-{n}")
        os.utime(tmp_path / f"kernels-{n}", (n, n))
    monkeypatch.setenv("OSLR_KERNELS", "last")
    checks.kernel_folder.__wrapped__()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kernels-4", "kernels-5", "kernels-last"]


def test_version_and_module():
    for command in (["-m", "oslr_nb", "--version"], ["-m", "oslr_nb.cli", "--version"]):
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, cwd=TOP)
        assert done.stdout.strip() == f"oslr_nb {oslr.__version__}", done.stderr


def test_modules_say_what_they_are():
    papers = [f".papers.{name}" for name in ("ito2017", "hazan2012", "foster2016", "cesabianchi2010")]
    for name in ("", ".core.environment", ".practice.data", *papers):
        code = f"import importlib; print(importlib.import_module('oslr_nb{name}').__doc__)"
        assert len(python(code).stdout.strip().splitlines()[0]) > 5, name


def test_what_objects_print():
    lr = oslr.ito2017.RDA2(8, 3, seed=0)
    assert repr(lr).startswith("RDA2(d=8, budget=3") and "array" not in repr(lr)
    X = np.eye(8)
    assert repr(oslr.simulate(lr, X, np.ones(8))).startswith("Run(8 rounds, d=8, mean loss after the first 1, 24 numbers bought)")
    assert repr(oslr.Environment(X, np.ones(8), 3)) == "Environment(T=8, d=8, budget=3, protocol='OSLR'; 0 rounds played)"


def test_a_saved_file_is_as_readable_as_any_other(tmp_path):
    (tmp_path / "other").write_text("")
    oslr.ito2017.GreedyRDA(4, 2).save(tmp_path / "a.npz")
    assert (tmp_path / "a.npz").stat().st_mode == (tmp_path / "other").stat().st_mode


WRITERS = """
import os, random, signal, sys, time
import oslr_nb as oslr

path, random_ = sys.argv[1], random.Random(0)
lr, children = oslr.ito2017.GreedyRDA(40, 3, seed=0), []
lr.save(path)
for kill in range(50):
    while len(children) < 2:
        children.append(os.fork())
        if children[-1] == 0:
            while True: lr.save(path)
    time.sleep(random_.random() / 50)
    for _ in range(3): assert oslr.load(path).d == 40
    os.kill(victim := children.pop(0), signal.SIGKILL)
    os.waitpid(victim, 0)
    assert oslr.load(path).d == 40
os.kill(children[0], signal.SIGKILL)
print("always whole")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_two_writers_killed_at_fifty_moments(tmp_path):
    "Whoever reads finds a whole file, and no one else's leavings stand in the way."
    done = subprocess.run([sys.executable, "-c", WRITERS, tmp_path / "a.npz"], capture_output=True, text=True, check=False, cwd=TOP)
    assert done.stdout.strip() == "always whole", done.stderr


def test_the_source_distribution_can_be_tested(tmp_path):
    "It holds notebooks, tests, their configuration and the lock."
    tree = tmp_path / "tree"
    listed = files_of_the_project()
    for name in listed:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TOP / name, tree / name)
    code = "import setuptools.build_meta as b, sys; print(b.build_sdist(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", code, tmp_path], cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    wanted = {n for n in listed if not n.startswith((".ci", ".git"))}
    assert wanted <= names, sorted(wanted - names)[:10]
