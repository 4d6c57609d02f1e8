"""Every claim is as expected, every control fails, every numbered row that should be there is there."""

import json

import pytest

import oslr_nb as oslr
from oslr_nb.claims import CLAIMS, Ledger, claim_ids
from oslr_nb.papers import ito2017

IDS = claim_ids([])


@pytest.mark.parametrize("id", IDS)
def test_claim(id):
    record = CLAIMS[id].run()
    assert record.as_expected, record
    assert record.controls and record.cases > 0 and record.statement


def test_rows_of_ito2017():
    wanted = ["A0a", "A0b", "A0c", "A0d", "A0e", *(f"A{n}" for n in range(1, 11)), "A14", "A15", "A16", "E-A1", "E-A7"]
    assert set(wanted) <= set(IDS)


def test_a_result_does_not_depend_on_the_number_of_jobs():
    one, two = oslr.verify("ito2017", jobs=1), oslr.verify("ito2017", jobs=2)
    plain = lambda ledger: [{k: v for k, v in r.items() if k != "seconds"} for r in json.loads(ledger.to_json())]
    assert plain(one) == plain(two) and isinstance(two, Ledger)


def test_tightness_of_the_bounds():
    "Golden ratios: a loosened bound or a worse learner moves them."
    _, (_, regret, sharp, printed) = ito2017.tightness(4, 3, 1, [2**12, 2**13])
    assert 8 < sharp / regret < 20, (regret, sharp)
    assert printed / sharp == pytest.approx(24 * 4 * 6**0.5 / (2 * 2**0.5 * 2.618034 * 3**0.5), rel=1e-3)
