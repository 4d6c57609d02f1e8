"""The package is what the notebooks export, imports little, keeps to its floors, and says nothing it should not."""

import ast
import configparser
import graphlib
import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml
from conftest import NOTEBOOKS, TOP, files_of_the_project, python, run

BIN, MODULES = Path(sys.executable).parent, sorted(p for p in (TOP / "oslr_nb").rglob("*.py") if p.name != "_modidx.py")
# the house: every import goes down, or stays on its storey
STOREYS = ("core.base", "core.mathematics", "core.game", "papers", "own", "practice", "ledger", "results", "")
NOTHING = ("oslr_nb", "oslr_nb.core.base.checks", "oslr_nb.core.base.kernels")  # modules that import none of the package


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    "A copy of the repository, exported and cleaned afresh."
    copy = tmp_path_factory.mktemp("copy")
    for name in ("nbs", "oslr_nb"):
        shutil.copytree(TOP / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", "mathjax"))
    for name in ("settings.ini", "pyproject.toml"): shutil.copy(TOP / name, copy)
    for command in ("nbdev_export", "nbdev_clean"): run(BIN / command, cwd=copy)
    return copy


def test_export_leaves_no_diff(exported):
    for path in [*MODULES, TOP / "oslr_nb" / "_modidx.py"]:
        assert (exported / path.relative_to(TOP)).read_text() == path.read_text(), f"{path.name} is behind its notebook"
    assert {p.relative_to(exported) for p in (exported / "oslr_nb").rglob("*.py")} == {
        p.relative_to(TOP) for p in (TOP / "oslr_nb").rglob("*.py")
    }


def test_clean_leaves_no_diff(exported):
    for path in NOTEBOOKS: assert (exported / path.relative_to(TOP)).read_text() == path.read_text(), f"run nbdev_clean on {path.name}"


def imported(path):
    "Modules that a file imports at its top or inside functions, not those that only a checker of types reads."
    tree = ast.parse(path.read_text())
    typing = {id(n) for t in ast.walk(tree) if isinstance(t, ast.If) and ast.unparse(t.test) == "TYPE_CHECKING" for n in ast.walk(t)}
    for node in (n for n in ast.walk(tree) if id(n) not in typing):
        if isinstance(node, ast.Import): yield from (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = path.relative_to(TOP).parts[: -node.level] if node.level else ()
            module = ".".join((*package, *([node.module] if node.module else [])))
            place = TOP.joinpath(*module.split("."))
            inner = {a.name for a in node.names if (place / f"{a.name}.py").exists() or (place / a.name / "__init__.py").exists()}
            yield from (f"{module}.{name}" for name in inner)
            if len(inner) < len(node.names): yield module


def name_of(path): return ".".join(path.relative_to(TOP).with_suffix("").parts).removesuffix(".__init__")


def room(name):
    "Storey and room of a module; a paper that is a folder is one room, and so are its checks."
    parts = [*name.split(".")[1:], "__init__"]
    if parts[0] == "core": parts[:2] = [".".join(parts[:2])]
    return (parts[0], parts[1]) if parts[0] in STOREYS else ("", parts[0])


def arrows(path):
    "Modules of the package that a module imports."
    return {n for n in imported(path) if n.split(".")[0] == "oslr_nb" and n != name_of(path)}


def test_a_module_imports_only_what_stands_below():
    "Nothing of the workshop, of the package only what the storeys allow; a module without imports would show that this is blind."
    graph = {name_of(path): arrows(path) for path in MODULES if name_of(path) != "oslr_nb"}  # the face hands on what stands below
    assert len(list(graphlib.TopologicalSorter(graph).static_order())) >= len(graph)  # raises where there is a circle
    rooms = {}
    for me, names in graph.items(): rooms.setdefault(room(me), set()).update({room(name) for name in names} - {room(me)})
    graphlib.TopologicalSorter(rooms).prepare()  # nor is there a circle of rooms
    found, workshop = [], {"nbdev", "fastcore", "execnb", "IPython", "pytest", "ghapi", "jupytext"}
    for path in MODULES:
        me, names = name_of(path), arrows(path)
        found += [f"{me} imports {name}" for name in imported(path) if name.split(".")[0] in workshop]
        if not names and path.read_text() and me not in NOTHING: found.append(f"{me} imports nothing")
        for name in names if me != "oslr_nb" else ():
            if STOREYS.index(room(name)[0]) > STOREYS.index(room(me)[0]): found.append(f"{me} imports {name}")
    assert not found


def test_no_private_attribute_of_a_library():
    "Every attribute and imported name with a leading underscore is one of the package's own; a NamedTuple's are public."
    own, used = {"_replace", "_asdict"}, set()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)): own.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store): own.add(node.id)
            elif isinstance(node, ast.Attribute): (own if isinstance(node.ctx, ast.Store) else used).add(node.attr)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                private = [a.name for a in node.names if re.match("_[^_]", a.name) and getattr(node, "level", 0)]
                assert not private, f"{path} imports {private}"
                used |= {part for a in node.names for part in f"{getattr(node, 'module', None) or ''}.{a.name}".split(".")}
    assert {name for name in used - own if re.match("_[^_]", name)} == set()


@pytest.mark.parametrize(("code", "heavy"), [
    ("import oslr_nb", "numba scipy sklearn matplotlib cvxpy joblib pyarrow sympy tqdm typer pooch"),
    ("import oslr_nb as oslr; oslr.auto(3, 2)", "sklearn pyarrow"),
    ("import oslr_nb.results.datasets", "pooch pyarrow requests sklearn tqdm"),
    ("import oslr_nb.results.catalogue", "numba pyarrow sklearn pooch joblib"),
])
def test_import_is_light(code, heavy): assert python(f"import sys\n{code}\nprint([m for m in {heavy.split()} if m in sys.modules])") == "[]"


def test_ruff(): run(BIN / "ruff", "check", ".")


def test_every_module_is_typed_and_comes_from_a_notebook():
    "Claims, controls and mended forms stand in the ledger, or with the experiments that they are about."
    assert (TOP / "oslr_nb" / "py.typed").exists()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                args = [a for a in node.args.args + node.args.kwonlyargs if a.arg not in ("self", "cls")]
                where = f"{path.name}: {node.name}"
                assert node.returns is not None and all(a.annotation for a in args), f"{where} lacks type hints"
    for path in MODULES:
        if path.read_text() and path.stem != "__main__":  # an empty __init__.py only marks a folder; __main__ only calls the command
            assert "AUTOGENERATED" in path.read_text()[:200], path
    for path in MODULES:
        checks = re.findall(r"^@(?:claim|\w+\.(?:control|corrected))\(", path.read_text(), re.M)
        assert not checks or path.relative_to(TOP / "oslr_nb").parts[0] in ("ledger", "results"), path


def test_one_version_and_a_lock():
    settings = configparser.ConfigParser()
    settings.read(TOP / "settings.ini")
    version = settings["DEFAULT"]["version"]
    assert python("import oslr_nb; print(oslr_nb.__version__)") == version
    assert f"version: {version}\n" in (TOP / "CITATION.cff").read_text()
    assert f"version = {{{version}}}" in python("import oslr_nb; print(oslr_nb.cite('oslr_nb'))")
    assert f"\n## {version}" in (TOP / "CHANGELOG.md").read_text()
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has none")
    project = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
    extras = {name: extra for name, extra in project["optional-dependencies"].items() if name != "peers"}  # only `make bench` looks at them
    wanted = project["dependencies"] + [r for extra in extras.values() for r in extra if not r.startswith("oslr_nb[")]
    pinned = set(re.findall(r"^([\w.-]+)(?:\[.*?\])?==", (TOP / "requirements.lock").read_text(), re.M))
    pinned = {p.lower().replace("_", "-") for p in pinned}
    for requirement in wanted:
        name = re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-")
        assert name in pinned, f"{name} is not in requirements.lock: run make lock"


def test_addresses_stand_in_settings_only():
    "The project has no public home yet: nothing outside settings.ini may point to one. And notebooks are written by hand."
    tracked = files_of_the_project()
    assert len(tracked) > 40
    for name in tracked:
        path = TOP / name
        if path.suffix in {".lock", ".svg", ".png"} or name in ("settings.ini", "LICENSE", "tests/test_repository.py"): continue
        text = path.read_text(encoding="utf8", errors="ignore") if path.exists() else ""
        for host in ("github.com", "github.io", "readthedocs", "pypi.org", "colab.research", "mybinder", "zenodo"):
            assert host not in text, f"{name} points to {host}"
    for path in TOP.rglob("*.py"):
        if ".venv" not in path.parts and path.name != "test_repository.py":
            assert not re.search(r"new_code_cell|new_notebook", path.read_text()), path


def test_every_step_of_a_workflow_is_a_target():
    "What the build server tests can be run anywhere, by the same words."
    targets = set(re.findall(r"^([\w-]+):", (TOP / "Makefile").read_text(), re.M))
    steps = [step for path in (TOP / ".github" / "workflows").glob("*.yml") for job in yaml.safe_load(path.read_text())["jobs"].values()
             for step in job["steps"] if "run" in step]
    for step in steps: assert step["run"].split()[:2][-1] in targets or step["run"].startswith("gh release"), step
    assert len(steps) > 8
