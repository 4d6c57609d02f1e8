"""The stored worst cases of the page on gradient descent are those that PEPit finds, where it is installed."""

import json

import pytest
from worst import SCHEDULES, STORED, bound, exact


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_stored_worst_cases_are_exact(name):
    pytest.importorskip("PEPit", reason="PEPit is not installed (pip install pepit)")
    for n in (1, 2, 3, 5): assert exact(name, n) == pytest.approx(json.loads(STORED.read_text())[name][n - 1], abs=1e-3)


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_bound_is_above_the_worst_case(name):
    values = json.loads(STORED.read_text())[name]
    assert len(values) == 10 and sorted(json.loads(STORED.read_text())) == sorted(SCHEDULES)
    for n, value in enumerate(values, 1): assert value <= bound(name, n) + 2e-3
