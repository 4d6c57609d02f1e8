"""Compiled code on disk: what is compiled ahead is what rounds by hand and streams use."""

import sys

import pytest
from conftest import python, run

PLAY = """
import numpy as np, oslr_nb as oslr
lr = oslr.foster2016.FKK(9, 5, k=3, T=50, radius=2.0, seed=1)
oslr.play(lr, oslr.Environment(np.zeros((5, 9)), np.zeros(5), 5))
oslr.simulate(lr, np.zeros((5, 9)), np.zeros(5))
"""
RUN = """
import tempfile
from pathlib import Path
import numpy as np
from oslr_nb.practice.tables import run_table
with tempfile.TemporaryDirectory() as folder:
    table, rows = Path(folder) / "table.csv", np.random.default_rng(0).standard_normal((60, 9)).tolist()
    table.write_text("\\n".join(",".join(map(str, row)) for row in [[*"abcdefgh", "y"], *rows]))
    run_table(table, target="y", budget=4, out=Path(folder) / "out")
"""


@pytest.mark.parametrize(("learner", "use"), [("foster2016", ["-c", PLAY]), ("own.PairwiseLeastSquares", ["-c", RUN])])
def test_compiled_ahead(tmp_path, learner, use):
    for command in (["-m", "oslr_nb", "warm", learner, "--jobs", "2"], use):
        before = set(tmp_path.rglob("*.nbc"))
        run(sys.executable, *command, NUMBA_CACHE_DIR=tmp_path)
    assert len(before) > 10 and before == set(tmp_path.rglob("*.nbc"))


SIGNATURES = """
import gc
from numba import types
from numba.core.dispatcher import Dispatcher
from oslr_nb.core.game.registry import all_learners
from oslr_nb.practice.warm import warm_learner
for key in all_learners(): warm_learner(key)
found = [f for f in gc.get_objects() if isinstance(f, Dispatcher) and f.py_func.__module__.startswith("oslr_nb")]
forms = {f.py_func.__name__: {tuple(map(types.unliteral, s)) for s in f.signatures} for f in found}
print(sum(map(len, forms.values())) > 25,  # of kernels that come from the disk only the outer ones are counted
      [name for name, those in forms.items() if len(those) > 1])
"""


def test_rounds_by_hand_and_compiled_rounds_share_their_kernels():
    "Each kernel is compiled for one form of arguments (numba makes one more of a number that stands in the text)."
    assert python(SIGNATURES) == "True []"
