"""Compiled code on disk: what is compiled ahead is what rounds by hand and streams use."""

import os
import subprocess
import sys

from conftest import TOP

WARM = """
from pathlib import Path
import numpy as np, oslr_nb as oslr
from oslr_nb.core import checks, driver
oslr.foster2016
driver.warm("foster2016")
files = lambda: sorted(Path(checks.kernel_folder()).rglob("*.nbc"))
before = files()
lr = oslr.foster2016.FKK(9, 5, k=3, T=50, radius=2.0, seed=1)
oslr.play(lr, oslr.Environment(np.zeros((5, 9)), np.zeros(5), 5))
oslr.simulate(lr, np.zeros((5, 9)), np.zeros(5))
print(len(before) > 10, files() == before)
"""


def test_compiled_ahead(tmp_path):
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", WARM], env=env, capture_output=True, text=True, cwd=TOP, check=False)
    assert (done.stdout, done.stderr) == ("True True\n", "")
