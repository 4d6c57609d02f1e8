"""kill -9 at fifty moments of `oslr run` and fifty of `oslr serve`: what they leave is what they leave undisturbed."""

import json
import os
import subprocess
import sys

import pytest
from conftest import TOP

KILLS = 50
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.mark.parametrize("kind", ["run", "serve"])
def test_killed_at_fifty_moments(kind, tmp_path):
    "The comparison is made in kills.py; here is looked at whether the kills hit what they should."
    command = [sys.executable, "-m", "tests.kills", kind, tmp_path, str(KILLS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=TOP)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    print(told)
    assert told["kills"] >= KILLS and told["while writing"] >= 3, told
    quarters = {min(3, int(4 * place)) for place in told["places"]}
    assert quarters == {0, 1, 2, 3}, told
    if kind == "serve": assert told["answered again"] > KILLS
