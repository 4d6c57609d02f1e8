"""The Dantzig selector, its path, and greedy choices: what they refuse, and where they could go wrong."""

import numpy as np
import pytest
from conftest import refusals, refused

from oslr_nb.core.mathematics.sparse import dantzig_selector as ds
from oslr_nb.core.mathematics.sparse.dantzig_selector import dantzig, dantzig_certificate, dantzig_path
from oslr_nb.core.mathematics.sparse.selectors import forward_selection, omp

EYE, C = np.eye(3), np.array([1.0, -0.5, 0.2])


test_refused = refusals([
    *((f, (bad, C, 0.1), words) for f in (dantzig, dantzig_path) for bad, words in
      ((np.ones((3, 2)), "shape of G"), (np.triu(np.ones((3, 3))), "must be symmetric"), (1e61 * EYE, "G"),
       (1e-70 * EYE, "largest entry of G"))),
    *((f, (EYE, C, bad), "radius|least") for f in (dantzig, dantzig_path) for bad in (-0.1, None, True)),
    (dantzig, (EYE, [1e-70, 0, 0], 0.1), "largest entry of c"), (dantzig, (EYE, C, 0.1, "simplex"), "method"),
    (dantzig, (EYE, C, 0.1, "path", -1), "most_pivots"), (dantzig_path, (EYE, C, 0.1, -1.0), "most_norm"),
    (dantzig_certificate, (EYE, C, 0.1, C[:2], C), "shape of w"),
    *((f, (EYE, C, *bad), words) for f in (omp, forward_selection) for bad, words in
      (((4,), "k = 4"), ((-1,), "k"), ((1, -0.1), "least"), ((1, 1.1), "least"))),
])


def test_small_cases():
    "And a path refuses what it does not hold."
    path = dantzig_path(EYE, C, 0.3)
    for call, bad, words in ((path.at, 0.2, "radius"), (path.dual_at, 0.2, "radius"), (path.at, -1.0, "radius"), (path.corner, 9, "k = 9")):
        with refused(words): call(bad)
    assert not path.at(1.0).any() and not path.at(7.0).any() and not path.dual_at(7.0).any()
    one = dantzig([[-2.0]], [3.0], 1.0)
    assert one.status == "optimal" and one.w.tolist() == [-1.0] and one.certificate.holds and one.gap == one.violation == 0
    for method in ("path", "highs"):
        assert dantzig(EYE, np.zeros(3), 0.0, method).norm == 0
        assert dantzig(EYE, C, 1.0, method).norm == 0 and dantzig(EYE, C, 50.0, method).norm == 0
        none = dantzig(np.zeros((3, 3)), C, 0.5, method)
        assert none.status == "infeasible" and none.radius == 1.0 and none.certificate.least_norm == np.inf
        part = dantzig(np.diag([1.0, 0, 1]), C, 0.3, method)
        assert part.status == "infeasible" and np.isclose(part.radius, 0.5) and part.violation > 0 and not part.certificate.holds
    assert np.allclose(dantzig(EYE, C, 0.0).w, C, atol=1e-15)


def test_ways_to_end():
    "A state can be used again, as a learner does: for one programme after the other, and without a record."
    rng = np.random.default_rng(0)
    A = rng.standard_normal((60, 30))
    G, c = A.T @ A / 60, rng.standard_normal(30)
    whole = dantzig_path(G, c, 0.0)
    assert whole.status == "reached" and whole.radii[-1] == 0 and whole.ray is None and whole.norms[0] == 0
    short = dantzig_path(G, c, 0.0, most_norm=1.0)
    assert short.status == "norm" and np.isclose(short.norms[-1], 1.0)
    assert np.allclose(short.at(short.radii[-1]), whole.at(short.radii[-1]), atol=1e-12)
    assert dantzig_path(G, c, 0.0, most_norm=0.0).norms.tolist() == [0.0]
    few = dantzig_path(G, c, 0.0, most_pivots=5)
    assert few.status == "pivots" and few.pivots == 5 and (few.radii == whole.radii[: few.radii.size]).all()
    capped = dantzig(G, c, 0.0, most_pivots=5)  # HiGHS answers instead
    assert capped.method == "highs" and capped.status == "optimal" and np.isclose(capped.norm, whole.norms[-1])
    rng, state, none = np.random.default_rng(3), ds.dantzig_state(20, 20), ds.dantzig_record(0, 0)
    for _ in range(5):
        A = rng.standard_normal((30, 20))
        G, c = A.T @ A, rng.standard_normal(20)
        ds.dantzig_start(G, c, state)
        assert ds.dantzig_follow(G, c, 0.1, np.inf, 1e9, state, none) == ds.REACHED
        w, m = np.zeros(20), int(state.num[0]["active"])
        w[state.cols[:m]] = state.w[:m]
        assert np.allclose(w, dantzig(G, c, 0.1).w, atol=1e-14)


@pytest.mark.parametrize("scale", [1e-55, 1e-8, 1e8, 1e55])
def test_units(scale):
    "Another unit of the features and of the label changes nothing but the units."
    rng = np.random.default_rng(1)
    A = rng.standard_normal((20, 10))
    G, c = A.T @ A, rng.standard_normal(10)
    here, there = dantzig_path(G, c, 0.01), dantzig_path(G * scale, c, 0.01)
    assert here.pivots == there.pivots and np.allclose(here.radii, there.radii, rtol=1e-9)
    assert np.allclose(there.at(0.01) * scale, here.at(0.01), rtol=1e-9)
    found = dantzig(G, c * scale, 0.01 * scale)
    assert found.status == "optimal" and np.allclose(found.w / scale, here.at(0.01), rtol=1e-9)
    assert np.allclose(omp(G * scale, c, 4).w * scale, omp(G, c, 4).w, rtol=1e-9)
    assert forward_selection(G, c * scale, 4).support.tolist() == forward_selection(G, c, 4).support.tolist()


@pytest.mark.parametrize("d", [6, 40, 90])
def test_ties(d):
    "Signs, equal columns, equal entries of c, zero columns: every radius has its certificate, in few pivots."
    rng = np.random.default_rng(d)
    for n in (2, d // 2, 2 * d):
        X = rng.choice([-1.0, 1.0], (n, d))
        X[:, 1], X[:, 2] = X[:, 0], -X[:, 0]
        X[:, 3] = 0
        for c in (np.ones(d), rng.integers(-2, 3, d).astype(float), X.T @ X[:, 0], X.T @ X @ rng.integers(-1, 2, d)):
            if not c.any(): continue
            for r in (0.5, 0.1, 1e-3, 0.0):
                found = dantzig(X.T @ X, c, r * np.abs(c).max())
                assert found.status in ("optimal", "infeasible") and found.pivots < 50 * d
                if found.status == "infeasible": assert found.radius >= r * np.abs(c).max() and found.certificate.least_norm > 1e5


def test_the_path_grows():
    "More corners and more active columns than there is room for at first; the same path as with much room."
    rng = np.random.default_rng(2)
    A = rng.standard_normal((150, 100))
    G, c = A.T @ A / 150, rng.standard_normal(100)
    path = dantzig_path(G, c, 0.0)
    assert path.radii.size > 64 and np.diff(path.record.first).max() == 100
    state, record = ds.dantzig_state(100, 100), ds.dantzig_record(10**4, 10**6)
    ds.dantzig_start(G, c, state)
    ds.dantzig_note(state, record)
    assert ds.dantzig_follow(G, c, 0.0, np.inf, 1e9, state, record) == ds.REACHED
    assert np.allclose(record.radii[: path.radii.size], path.radii, rtol=1e-9, atol=1e-12)
    for r in (path.radii[:-1] + path.radii[1:]) / 2: assert dantzig_certificate(G, c, r, path.at(r), path.dual_at(r)).holds


@pytest.mark.parametrize("kind", ["normal", "signs"])
def test_blands_rule(kind):
    "A path on which every tie is broken by Bland's rule has the same norms."
    rng = np.random.default_rng(5)
    X = rng.standard_normal((40, 25)) if kind == "normal" else rng.choice([-1.0, 1.0], (40, 25))
    G, c, none = X.T @ X, X.T @ X[:, :3].sum(1) + rng.integers(-1, 2, 25), ds.dantzig_record(0, 0)
    least, state, done = 0.01 * np.abs(c).max(), ds.dantzig_state(25, 25), ds.PIVOTS
    ds.dantzig_start(G, c, state)
    num = state.num[0]
    while done == ds.PIVOTS and num["steps"] < 5000:
        num["stalled"] = 1000
        done = ds.dantzig_follow(G, c, least, np.inf, num["steps"] + 1, state, none)
    assert done == ds.REACHED and np.isclose(np.abs(state.w[: int(num["active"])]).sum(), dantzig(G, c, least).norm)


def test_edges():
    "Of greedy choices; Hilbert's matrix, units that differ by eight digits: the answer is certified, or says that it is not."
    for method in (omp, forward_selection):
        assert method(EYE, C, 0).support.size == 0 and method(EYE, np.zeros(3), 3).support.size == 0
        assert method(EYE, C, 3).support.tolist() == [0, 1, 2]
        copies = method(np.ones((3, 3)), np.ones(3), 3)
        assert copies.support.tolist() == [0] and copies.skipped.tolist() == [1, 2] and copies.w.tolist() == [1, 0, 0]
        hollow = method(np.diag([1.0, 0.0, -1.0]), C, 3)
        assert hollow.support.tolist() == [0] and hollow.skipped.tolist() == [1, 2]
        exact = method(np.array([[2.0, 1], [1, 2]]), np.array([2.0, 1]), 2)  # nothing is left after the first choice
        assert exact.support.tolist() == [0] and np.allclose(exact.w, [1, 0], rtol=1e-14, atol=0) and exact.skipped.size == 0
    rng = np.random.default_rng(4)
    for n in range(12):
        d = 25
        X = rng.standard_normal((d, d)) * 10 ** rng.uniform(-4, 4, d)
        G = 1 / (1.0 + np.add.outer(range(d), range(d))) if n % 2 else X.T @ X
        found = dantzig(G, rng.standard_normal(d), 10.0 ** -(n // 2))
        assert np.isfinite(found.w).all() and (found.status != "optimal" or found.certificate.holds)
