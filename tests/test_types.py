"""mypy finds nothing wrong with the types of the package, and in the program of a user exactly what is wrong."""

import ast
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import TOP

import oslr_nb as oslr
from oslr_nb.core.game.registry import papers

OLD = np.lib.NumpyVersion(np.__version__) < "2.4.0"
ARRAY = r"numpy\.ndarray\[([^][]|\[[^][]*\])*\]"  # the type of an array, whatever the version of numpy says of shape and kind


def mypy(*options):
    "The lines that mypy prints."
    command = [sys.executable, "-m", "mypy", "--no-pretty", "--no-error-summary", *map(str, options)]
    done = subprocess.run(command, cwd=TOP, env=os.environ | {"MYPYPATH": str(TOP)}, capture_output=True, text=True, check=False)
    assert done.returncode < 2 and not done.stderr, done.stdout + done.stderr
    return done.stdout.splitlines()


def verdicts(folder, lines):
    "What mypy says of each line of a program that imports the package: the type that it reveals, the code of its error, or nothing."
    program, found = folder / "program.py", [""] * len(lines)
    program.write_text("\n".join(["import numpy as np", "import oslr_nb as oslr", *lines, ""]))
    for said in mypy("--config-file=", "--strict", "--follow-imports=silent", "--cache-dir=.mypy_cache/users", program):
        if match := re.fullmatch(r'.*?:(\d+): (?:note: Revealed type is "|error: .*\[)(.*)["\]]', said):
            found[int(match[1]) - 3] = re.sub(ARRAY, "array", match[2])
    return found


@pytest.mark.skipif(OLD, reason="the types of earlier versions of numpy are other ones")
def test_the_package(): assert mypy() == []


def test_the_face_and_chapters():
    "Names of `oslr_nb` and its folders are told to checkers of types, and are what is fetched; a chapter lists what it hands on."
    face = [n for n in ast.walk(ast.parse((TOP / "oslr_nb/__init__.py").read_text())) if isinstance(n, ast.ImportFrom)]
    told = {alias.asname: node.module for node in face if node.module.startswith("oslr_nb") for alias in node.names}
    found = [p for storey in ("", *oslr.STOREYS) for p in (TOP / "oslr_nb").joinpath(*storey.split(".")).iterdir()]
    modules = {p.stem for p in found if p.stem[0] != "_" and (p.suffix == ".py" or (p / "__init__.py").exists())}
    assert told.keys() == {name for names in oslr.HOME.values() for name in names} | modules | {"LEARNERS"}
    for name, module in told.items():
        thing = vars(importlib.import_module(module)).get(name) or importlib.import_module(f"{module}.{name}")
        assert getattr(oslr, name) is thing
    for module in [getattr(oslr, name) for name in (*papers(), "sparse", "moments") if name != "core"]:
        if not hasattr(module, "__path__"): continue
        given = {name for name in module.__all__ if not inspect.ismodule(getattr(module, name))}
        inner = [importlib.import_module(f"{module.__name__}.{m.name}") for m in pkgutil.iter_modules(module.__path__) if not m.ispkg]
        assert given >= {name for one in inner if vars(one).get("own") is not module for name in one.__all__}, module


def shown(value): return f"np.array({value.tolist()})" if isinstance(value, np.ndarray) else repr(value)


def call(key, without="", **changed):
    "The line that makes a learner."
    cls = oslr.LEARNERS[key].cls
    arguments = {n: v for n, v in ({"d": 12, "budget": 6} | cls.example).items() if n in inspect.signature(cls).parameters and n != without}
    return f"oslr.{key}({', '.join(f'{name}={shown(value)}' for name, value in (arguments | changed).items())})"


def names():
    "Every class and function that papers and our own pages give under their names, of which nothing is to be said."
    modules = {paper: getattr(oslr, paper) for paper in (*papers(), "moments", "sparse")}
    return {f"oslr.{paper}.{name}": "" for paper, module in modules.items() for name in getattr(module, "__all__", 0) or vars(module)
            if name[0] != "_" and getattr(getattr(module, name), "__module__", "").startswith("oslr_nb")}


def right_calls():
    "Lines, and the types that mypy reveals."
    return {f"reveal_type({call(key)})": f"{e.cls.__module__}.{e.cls.__name__}" for key, e in oslr.LEARNERS.items()} | {
        "X, y, lr = np.zeros((4, 12)), [0.0] * 4, oslr.hazan2012.AERR(12, 6)": "",
        "reveal_type(lr.query())": "array | Any", "reveal_type(lr.predict(X[0][lr.query()]))": "float", "reveal_type(lr.coef_)": "array",
        "run = oslr.simulate(lr, X, y, seed=0)": "", "reveal_type(run)": "oslr_nb.core.game.run.Run", "reveal_type(run.losses)": "array",
        "reveal_type(oslr.best_sparse(X, y, 2))": "oslr_nb.core.game.run.Comparator", "reveal_type(lr.budget)": "int",
        "reveal_type(oslr.auto(12, 6))": "oslr_nb.core.game.learner.Learner", "reveal_type(oslr.cite('ito2017'))": "str",
        "reveal_type(oslr.play(lr, oslr.Environment(X, y, 6)).regret(lr.coef_))": "array",
        "reveal_type(oslr.hazan2012.bound_aerr(100, 12, 6))": "float",
    }


def wrong_calls():
    "Lines, and the codes of their errors."
    wrong = {"oslr.hazan2021": "attr-defined", "oslr.hazan2012.AER": "attr-defined", "oslr.simulate(X=1)": "call-arg",
             "oslr.simulate(lr, X, y, score='no')": "arg-type", "oslr.cite(2017)": "arg-type", "lr.qurey()": "attr-defined"}
    for key, entry in oslr.LEARNERS.items():
        needed = [n for n, p in inspect.signature(entry.cls).parameters.items() if p.default is p.empty]
        whole = "budget" if "budget" in needed else "T"
        wrong |= {call(key, **{whole: "six"}): "arg-type", call(key, nothing=1): "call-arg", call(key, without=needed[-1]): "call-arg"}
    return wrong


def test_programs_of_users(tmp_path):
    expected = names() | right_calls() | wrong_calls()
    assert len(expected) > 300 and dict(zip(expected, verdicts(tmp_path, list(expected)), strict=True)) == expected
