"""kill -9 at many moments of `oslr run`, and of `oslr serve` with prices, groups, history and measurements that fail: what they leave is
what they leave undisturbed."""

import json
import os
import sys

import pytest
from conftest import run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.mark.parametrize("kind", ["run", "serve"])
def test_killed_at_many_moments(kind, tmp_path):
    "The comparison is made in kills.py; here is looked at whether the kills hit what they should."
    told = json.loads(run(sys.executable, "-m", "tests.kills", kind, tmp_path, 50))
    print(told)
    assert told["kills"] >= 50 and told["while writing"] >= 3 and len({min(3, int(4 * place)) for place in told["places"]}) == 4, told
