"""A new learner is one page, one entry for it in `_quarto.yml` and, with claims, one stub: nothing else has to be edited."""

import json
import os
import shutil
import sys
from functools import partial

import conftest
import pytest
from conftest import TOP

PAGE = [  # of a small learner: Markdown and code by turns
    "<!-- front matter\n-->\n# First features\n\n> The first features, whatever they are.",
    "#| default_exp own.first",
    '''#| export
"""First features: a learner that looks nowhere else."""
from __future__ import annotations

import numpy as np

from oslr_nb.core.game.learner import Learner
from oslr_nb.core.base.parameters import Budget, Features, Seed, validated
from oslr_nb.core.game.registry import linear, register''',
    '## The learner\n\n<blockquote id="prp-first">\n\n**Proposition ?** (Blind)\n\nIts other weights are zero.\n\n</blockquote>\n\n'
    "*Proof.* No other is bought. ∎",
    '''#| exports
@register("own", needs="Any", theorem="own/06_first.ipynb#prp-first", least=(1, 0), bound_of=linear, budget=r"`budget` $\\ge1$",
          assumptions="none", bound="linear (baseline)", cost="$O(k')$")
class FirstFeatures(Learner):
    """Normalised gradient descent on the first features.

    Notes
    -----
    Source: ours; `nbs/own/06_first.ipynb`.

    See Also
    --------
    CoinBetting : looks elsewhere too.
    """

    arrays = ("w", "values")

    @validated
    def __init__(self, d: Features, budget: Budget, *, seed: Seed = None):
        super().__init__(d, budget, seed)
        self.w, self.values = np.zeros(self.budget), np.zeros(self.budget)

    @property
    def coef_(self) -> np.ndarray:
        "Current weights (d,)."
        return np.concatenate([self.w, np.zeros(self.d - self.budget)])

    def _query(self) -> np.ndarray: return np.arange(self.budget)

    def _predict(self, values: np.ndarray) -> float:
        self.values[:] = values
        return float(self.w @ values)

    def _update(self, y: float) -> None:
        length = max(float(self.values @ self.values), 1e-300)
        self.w += 0.1 * (y - self.w @ self.values) / length * self.values''',
    "## Its claim",
    '''#| export ledger.own.first
import numpy as np

from oslr_nb.core.game.driver import simulate
from oslr_nb.ledger.claims import Evidence, claim''',
    '''#| exporti ledger.own.first
@claim("own", "blind", id="N1", tier="exact", proof="prp-first", tex=r"w_{-1}=0", controls={"the first": {"place": 0}})
def blind(case, place=-1):
    simulate(learner := FirstFeatures(4, 2), np.ones((9, 4)), np.ones(9))
    return Evidence(float(learner.coef_[place]), "==", 0)''',
]  # fmt: skip
STUB = ["<!-- front matter\n-->\n# The checks of own/06_first\n\n> The notebook that makes their module.",
        "#| default_exp ledger.own.first",
        '#| export\n"""The ledger of own/06_first."""\nfrom __future__ import annotations\n\nfrom oslr_nb.own.first import FirstFeatures']
USES = """
import numpy as np, oslr_nb as oslr
entry, X = oslr.LEARNERS["own.FirstFeatures"], np.random.default_rng(0).standard_normal((200, 4))
told = oslr.recommend(X, X[:, 0] + X[:, 3], budget=2).theory
assert "| own.FirstFeatures | - | none below 5e14 |" in told, told
assert oslr.own.FirstFeatures is entry.cls and np.isfinite(oslr.simulate(entry.cls(4, 2), X, X[:, 0]).losses).all()
from website import reference
assert reference.target("own.FirstFeatures") == ("reference/own.first.ipynb", "FirstFeatures")
import yaml, website.render
pages = [p.source for p in website.render.navigation(yaml.safe_load(open("_quarto.yml"))["website"]["sidebar"]["contents"])]
use = reference.groups({p: "III Our learners" for p in pages})
assert any("reference/own.first.ipynb" in group["contents"] for group in use)
"""
TESTS = [f"tests/{name}" for name in (
    "test_repository.py::test_a_module_imports_only_what_stands_below", "test_repository.py::test_ruff",
    "test_types.py::test_the_face_and_chapters",
    "test_claims.py::test_claim[N1]", "test_claims.py::test_the_stored_ledger",
    "test_states.py::test_kept_files_load_and_go_on[2/own.FirstFeatures]",
    "core/test_protocol.py::test_facts_in_a_line", "core/test_protocol.py::test_learners_name_assumptions_and_theorem",
)]  # fmt: skip


def notebook(cells):
    "The text of a notebook."
    kind = lambda text: "code" if text.startswith("#|") else "markdown"
    made = [{"cell_type": kind(text), "id": f"first{i}", "metadata": {}, "source": text.splitlines(keepends=True)}
            | ({"execution_count": None, "outputs": []} if kind(text) == "code" else {}) for i, text in enumerate(cells)]
    kernel = {"kernelspec": {"display_name": "python3", "language": "python", "name": "python3"}}
    return json.dumps({"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, indent=1)


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    "A copy of the repository with one learner more."
    copy, ignored = tmp_path_factory.mktemp("house"), shutil.ignore_patterns("__pycache__", ".*", "mathjax")
    for name in ("nbs", "oslr_nb", "tests", "website"): shutil.copytree(TOP / name, copy / name, ignore=ignored)
    for name in ("settings.ini", "pyproject.toml", "_quarto.yml"): shutil.copy(TOP / name, copy)
    (copy / "nbs/own/06_first.ipynb").write_text(notebook(PAGE))
    (copy / "nbs/ledger/own/00_first.ipynb").write_text(notebook(STUB))
    pages, line = (copy / "_quarto.yml").read_text(), "          - own/02_parameter_free.ipynb\n"
    (copy / "_quarto.yml").write_text(pages.replace(line, line + line.replace("02_parameter_free", "06_first")))
    return copy


def test_nothing_else_has_to_be_edited(house):
    "Export, imports, registry, reference, `recommend`, its row of the ledger, its state, the common tests of learners."
    path = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"
    run = partial(conftest.run, cwd=house, PYTHONPATH=house, PATH=path)
    before = {p: p.read_bytes() for name in ("tests", "website") for p in (house / name).rglob("*") if p.is_file()}
    run(sys.executable, "-m", "website", "--numbers")
    run("nbdev_export")
    stored = json.loads((house / "oslr_nb/claims.json").read_text())
    run(sys.executable, "-m", "tests.store", "nbs/own/06_first.ipynb")
    rows = json.loads((house / "oslr_nb/claims.json").read_text())
    assert [r for r in rows if r["id"] != "N1"] == stored and len(rows) == len(stored) + 1
    assert "written: own.FirstFeatures; " in run(sys.executable, "-m", "tests.states")
    run(sys.executable, "-c", USES)
    assert "own.FirstFeatures\n  OSLR; features a round: budget >= 1; " in run(sys.executable, "-m", "oslr_nb", "list")
    for chosen in (TESTS, ["tests/test_learners.py", "-k", "FirstFeatures and not long_run"]):
        run(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *chosen)
    assert {p: p.read_bytes() for p in before} == before
