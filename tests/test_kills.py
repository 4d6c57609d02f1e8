"""kill -9 at many moments of `oslr run`, of `oslr serve`, and of the latter with prices, groups, history and measurements that fail:
what they leave is what they leave undisturbed."""

import json
import os
import sys

import pytest
from conftest import run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.mark.parametrize(("kind", "kills", "writing", "quarters"), [("run", 50, 3, 4), ("serve", 12, 1, 2), ("rich", 50, 3, 4)])
def test_killed_at_many_moments(kind, kills, writing, quarters, tmp_path):
    "The comparison is made in kills.py; here is looked at whether the kills hit what they should."
    told = json.loads(run(sys.executable, "-m", "tests.kills", kind, tmp_path, kills))
    print(told)
    assert told["kills"] >= kills and told["while writing"] >= writing, told
    assert len({min(3, int(4 * place)) for place in told["places"]}) >= quarters, told
