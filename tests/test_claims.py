"""Every claim is as expected, every control fails, every numbered row that should be there is there."""

import importlib
import itertools
import math
import re
import zlib
from fractions import Fraction

import numpy as np
import pytest
from conftest import TOP
from shake import salted

import oslr_nb as oslr
from oslr_nb.core.game.registry import module_of, papers
from oslr_nb.ledger.cesabianchi2010 import halves_estimate, weighted_draws
from oslr_nb.ledger.claims import (
    CLAIMS,
    QUICK,
    RED,
    Evidence,
    Ledger,
    claim_ids,
    failure,
    farthest_from_one,
    run_claim,
    worst_case,
)
from oslr_nb.ledger.ito2018 import estimate_moments
from oslr_nb.ledger.kale2017 import mean_estimate
from oslr_nb.papers.cesabianchi2010.baseline import pair_estimate

IDS = claim_ids([])
STORED = {r.id: r for r in Ledger.stored()}
SALT = zlib.crc32(oslr.__version__.encode())  # every release shakes all seeds in another way
EASY = [r.id for r in STORED.values() if r.seconds <= QUICK and r.tier != "search"]  # where an optimiser stops depends on the machine


@pytest.mark.parametrize("id", IDS)
def test_claim(id):
    "Each claim is as expected for other seeds than its own, what the pages show of it is what it is, and its own seeds give its numbers."
    with salted(SALT, shake=True): record = run_claim(id, CLAIMS[id].paper)
    assert record.as_expected, failure(record)
    assert record.controls and record.cases > 0 and record.statement
    assert record.resolution is None or not math.isnan(record.resolution), "write the inequality with two positive sides"
    for name in ("item", "statement", "corrected", "erratum", "proof", "page", "tier", "status", "level", "red", "cases"):
        assert getattr(record, name) == getattr(STORED[id], name), f"{name} of {id}: make store"
    assert record.controls.keys() == STORED[id].controls.keys()
    if id not in EASY: return
    record, stored = run_claim(id, CLAIMS[id].paper), STORED[id]  # with its own seeds, up to rounding
    assert record.op == stored.op, f"{id}: make store"
    assert [record.lhs, record.rhs] == pytest.approx([stored.lhs, stored.rhs], rel=0.01, abs=1e-5), f"{id}: make store"


def test_the_stored_ledger():
    "It is complete; 60 % of the rows would fail were their bound half as large; chances of a false red sum to a thousandth at most."
    assert list(STORED) == IDS and len(IDS) >= 540, "a row that goes is named in CHANGELOG.md"
    found = [r.resolution for r in STORED.values() if r.resolution is not None]
    assert len(found) > 50 and sum(r >= 0.5 for r in found) >= 0.6 * len(found)
    assert sum(r.red for r in STORED.values()) <= 1e-3 and all((r.level is not None) == (r.red >= RED / 10) for r in STORED.values())


@pytest.mark.parametrize("id", IDS)
def test_a_claim_leads_to_its_statement_and_an_erratum_to_its_place(id):
    claim = CLAIMS[id]
    text = (TOP / "nbs" / claim.page).read_text()
    assert claim.proof and re.search(rf'(#|id=\\"){re.escape(claim.proof)}\b', text), f"{claim.page} has no {claim.proof}"
    if claim.erratum:
        for name in ("place", "printed", "defence", "matters", "witness"): assert len(getattr(claim.erratum, name)) > 5, f"{name} of {id}"


def test_a_witness_says_what_its_check_finds():
    "The number in its words, where the check has no randomness; otherwise the value for the example that the words give."
    told = {"E-D11": (r"\frac14", 1 / 4), "E-F2": (r"\frac1{10}", 1 / 10), "E-H1": ("30.5", 30.5), "E-H2": (r"\frac14", 1 / 4),
            "E-A9": ("four", 4), "E-A8": (r"1.9\cdot10^8", 1.9e8), "E-C3": ("293", 294), "E-C9": ("18{,}776", 18776),
            "E-C8": ("42{,}900", 42900), "E-D6": (r"2\cdot10^{-4}", 2e-4), "E-C6": ("4730.0", 4730),
            "K9": ("0.0075", 0.0075), "K16": ("500{,}000", 500000), "E-K4": ("70", 70)}
    for id, (words, value) in told.items():
        assert words in CLAIMS[id].erratum.witness and STORED[id].lhs == pytest.approx(value, rel=0.02), id
    one, first = np.full(3, Fraction(1)), np.array([Fraction(1), *[Fraction(0)] * 3])
    assert mean_estimate(one, 2, "printed")[0, 1] == Fraction(3, 4)  # K4
    pairs = list(itertools.permutations(range(3), 2))
    assert sum(halves_estimate(one, [i], [j]) for i, j in pairs).tolist() == [[0, 9, 9], [9, 0, 9], [9, 9, 0]]  # E-D2, times 6
    form, w = pair_estimate(one, [(0, 2)])[0], np.array([1, 0, -1])
    assert w @ form @ w == -9  # E-D3
    w = np.array([Fraction(2, 3), Fraction(1, 3), Fraction(0), Fraction(0)])
    assert sum(p * sum(first[i] for i in I) / 2 for I, p in weighted_draws(w, 2, True)) == Fraction(1, 2)  # E-D5
    assert estimate_moments(one, 1, 0, 1, 2)[0][2] == 0 and estimate_moments(one, 1, 0, 1)[0][2] == 2  # E-C2
    assert STORED["E-A1"].lhs / STORED["E-A1"].rhs == pytest.approx(95, rel=0.01)


def test_evidence():
    "An infinite side shows nothing. Last digits, which are each processor's own, do not choose the worst case; what is worse does."
    for lhs, rhs in ((-math.inf, 1), (1, math.inf), (math.inf, 1), (math.nan, 1)):
        assert not Evidence(lhs, "<=", rhs).defined and not Evidence(lhs, "<=", rhs).holds and math.isnan(Evidence(lhs, "<=", rhs).ratio)
    noise = [1e-16, -1e-16, 2e-16]
    for tied in ([Evidence(1 + e, "<=", 1 + 1e-9) for e in noise], [Evidence(3 + e, "==", 3, tol=1e-9) for e in noise],
                 [Evidence(e, "==", 0.0, tol=1e-9) for e in noise]): assert all(worst_case(tied[i:]) is tied[i] for i in range(3))
    assert not farthest_from_one({"a": 1.0, "b": math.nan}).holds and farthest_from_one({"a": 1.0, "b": 1 + 1e-10}).holds
    a, b, c = Evidence(1, "<=", 2), Evidence(1.1, "<=", 2), Evidence(1, "==", 1.5, tol=1)
    assert worst_case([a, b]) is b and worst_case([a, c, b]) is b and worst_case([a, Evidence(3, "<=", 2), b]).lhs == 3


@pytest.mark.parametrize("paper", papers())
def test_completion_shows_no_claims(paper):
    "What a user sees of a paper: learners, bounds, estimators, textbook versions."
    module, checks = importlib.import_module(module_of(paper)), {id(c.check) for c in CLAIMS.values()}
    assert not {"np", "Claim", "Evidence", "Any"} & set(dir(module)) and not [v for v in vars(module).values() if id(v) in checks]
