"""The stored worst cases of the page on gradient descent are those that PEPit finds, where it is installed."""

import json

import pytest
from worst import SCHEDULES, STORED, exact


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_stored_worst_cases_are_exact(name):
    pytest.importorskip("PEPit", reason="PEPit is not installed (pip install pepit)")
    for n in (1, 2, 3, 5): assert exact(name, n) == pytest.approx(json.loads(STORED.read_text())[name][n - 1], abs=1e-3)
