"""What all tests share: one hypothesis profile without randomness, the place of the repository, and calls of commands and of Python."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from typer.testing import CliRunner, Result

from oslr_nb.cli import app

hypothesis.settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=40)
hypothesis.settings.load_profile("fixed")

os.environ["OSLR_QUIET"] = "1"  # no word on compiling: it would stand on the pages

TOP = Path(__file__).parents[1]
NOTEBOOKS = sorted(p for p in (TOP / "nbs").rglob("*.ipynb") if not any(s.startswith((".", "_")) for s in p.parts))


@pytest.fixture(scope="session")
def top() -> Path: return TOP


def command(*args: Any, **how: Any) -> Result:
    "A command of `oslr`, run in this process."
    return CliRunner().invoke(app, [str(a) for a in args], **how)


def run(*words: Any, cwd: Path = TOP, expect: int = 0, **variables: Any) -> str:
    "What another process prints; with its errors where it is expected to fail."
    env = os.environ | {name: str(value) for name, value in variables.items()}
    done = subprocess.run([*map(str, words)], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == expect, f"{' '.join(map(str, words))[:300]}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr if expect else done.stdout


def python(code: str, *args: Any) -> str:
    "What a fresh process prints."
    return run(sys.executable, "-c", code, *args).strip()


def ask(service: Any, op: str, **fields: Any) -> Any:
    "The answer of a service in this process."
    return json.loads(service.answer(json.dumps({"op": op, **fields}).encode()))


def javascript(code: str) -> Any:
    "The value of the expression `answer` after this code."
    node = shutil.which("node") or pytest.skip("there is no node to run the script")
    code += "\nprocess.stdout.write(JSON.stringify(answer));"
    done = subprocess.run([node, "-"], input=code, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@contextmanager
def refused(words: str = "") -> Iterator[None]:
    "A refusal in one sentence, in which the regular expression is found."
    with pytest.raises(ValueError, match=words) as error: yield
    assert "\n" not in str(error.value)


def refusals(cases: Any, call: Any = lambda f, args=(): f(*args), words: str = "", form: str = "{}") -> Any:
    """A test that each case is refused. A case is what is called, with its arguments if it has some, or what `call` takes; and words of
    the sentence, if these are not the same for all. Of a dictionary the keys are names. In `form` the words are the braces."""
    rows = [(case, words) if words else (case[:-1] if len(case) > 2 else case[0], case[-1]) for case in
            (cases.values() if isinstance(cases, dict) else cases)]

    @pytest.mark.parametrize(("what", "said"), rows, ids=cases if isinstance(cases, dict) else [str(said)[:40] for _, said in rows])
    def test(what: Any, said: str) -> None:
        with refused(form.replace("{}", said)): call(*what) if isinstance(what, tuple) else call(what)

    return test


def files_of_the_project() -> list[str]:
    "Names of the files under version control; in an unpacked source distribution, which has none, of all files."
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
    names = done.stdout.split("\0")[:-1] if done.returncode == 0 else [p.relative_to(TOP).as_posix() for p in TOP.rglob("*") if p.is_file()]
    made = (".venv", "_", "PKG-INFO", ".pytest_cache/", ".hypothesis/", ".mypy_cache/")
    return sorted(n for n in names if (TOP / n).exists() and "__pycache__" not in n and (not n.startswith(made) or n == "_quarto.yml"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    "The longest test first, so that nobody waits for it in the end."
    items.sort(key=lambda item: item.name != "test_real_site")
