"""What the modules on Cesa-Bianchi et al. 2010 refuse, and plumbing that its pages do not show."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from conftest import refusals

import oslr_nb as oslr
from oslr_nb.core.game.driver import simulate
from oslr_nb.ledger import cesabianchi2010 as ledger
from oslr_nb.papers.cesabianchi2010 import aer, baseline, compiled_aer, lower_bounds, solvers
from oslr_nb.papers.cesabianchi2010 import prediction_time as prediction_time
from oslr_nb.results import cesabianchi2010 as experiments
from oslr_nb.results.experiments import SECTIONS, load_sections

HALF = Fraction(1, 2)
test_refused = refusals({
    "odd budget for pairs": (lambda: baseline.moment_factors(5, 3), "it must be even"),
    "too many faces": (lambda: solvers.minimise_faces(np.eye(9), np.ones(9), 1.0), r"3\^d faces"),
    "Baseline, odd budget": (lambda: solvers.Baseline(6, 5), "it must be even"),
    "Baseline, memory": (lambda: solvers.Baseline(20_000, 4), "at least 6400000000 bytes"),
    "AER, odd budget": (lambda: compiled_aer.AER(10, 3, T=100), "it must be even"),
    "AER, step too long": (lambda: compiled_aer.AER(10, 4, T=100, step=1e12), "radii long"),
    "AER, step too short": (lambda: compiled_aer.AER(10, 4, T=100, lam=1e30, step=1e-29, x_max=1e-29, y_max=1e-29), "radii long"),
    "AER, radius_2 above radius": (lambda: compiled_aer.AER(10, 4, T=100, radius_2=2.0), "at most radius"),
    "AER, nothing learns": (lambda: compiled_aer.AER(10, 4, T=100, calibrate=1.0), "two have to learn"),
    "AER, five rounds of calibration": (lambda: compiled_aer.AER(10, 4, T=50, calibrate=0.1), "fewer than 10"),
    "bound with delta and x_norm": (lambda: aer.bound_aer(10, 4, 100, delta=0.1, x_norm=1.0), "x_norm"),
    "printed bound, d = 3": (lambda: lower_bounds.bound_examples(3, 1, 0.01, printed=True), "d >= 4"),
    "tree too large": (lambda: ledger.look_tree(5, 1, 3), "states are enumerated"),
    "halving six": (lambda: ledger.halving_success(6, 0.01, 10, 10, np.random.default_rng(0)), "power of 2"),
    "unread, more than d": (lambda: ledger.unread_variance([1, 1], 3), "from 0 to 2"),
    "chances below one": (lambda: prediction_time.check_law([((1,), 1, HALF), ((0,), 1, Fraction(1, 3))], 1), "exactly 1"),
    "a negative chance": (lambda: prediction_time.check_law([((1,), 1, 2), ((0,), 1, -1)], 1), "at least 0"),
    "depth above d": (lambda: prediction_time.check_law([((1,), 1, HALF), ((0,), 1, HALF)], 2), "from 0 to 1"),
    "two lengths": (lambda: prediction_time.check_law([((1,), 1, HALF), ((0, 1), 1, HALF)], 1), "as in outcome 0"),
    "an infinite label": (lambda: prediction_time.check_law([((1,), math.inf, 1)], 1), "y = inf"),
    "no triples": (lambda: prediction_time.check_law([1, 2], 1), "a list of triples"),
    "an empty law": (lambda: prediction_time.best_policy([], 0), "at least one outcome"),
    "chances for another d": (lambda: prediction_time.sign_law([1, 2], [1, 0]), "3 numbers"),
    "a = 0": (lambda: prediction_time.hard_chances(4, 0), "positive"),
})


def test_weights_are_renewed_at_powers_of_two_and_forgotten_with_a_refused_run():
    lr = solvers.Baseline(4, 2, y_max=2, seed=0)
    assert (lr.coef_ == 0).all() and lr._renew() == 1 and lr.y_limit == ("y_max", 2.0)
    num = lr.num.view(solvers.SCALARS)[0]
    num["rounds"] = 5
    assert lr._renew() == 3 and num["solved"] == 5
    X = np.random.default_rng(0).uniform(-1, 1, (8, 4))
    lr, wrong = solvers.Baseline(4, 4, seed=0), X.copy()
    wrong[5] = 9.0
    oslr.simulate(lr, X[:1], X[:1, 0])
    with pytest.raises(ValueError, match=r"X\[5, "): oslr.simulate(lr, wrong, X[:, 0])  # solved after four rounds, then taken back
    oslr.simulate(lr, X[:3], np.ones(3), score=False)
    assert (lr.coef_ == solvers.solve_baseline(lr.A, lr.v, 1.0)).all()


def test_small_policies_and_scores():
    "Where a weight meets no number the run stops and names it. And the strength of a centred learner."
    stump = prediction_time.Policy(Fraction(0), HALF, 1, {Fraction(1): prediction_time.Policy(Fraction(0), Fraction(3))})
    assert stump.predict([math.nan, 1]) == 3 and stump.predict([math.nan, 7]) == HALF and str(stump) == "x[1]: 1 -> (3)"
    assert prediction_time.check_law([((1,), 2.5, 1)], 1) == [((1,), Fraction(5, 2), 1)]
    assert prediction_time.sign_law([1]) == [((1,), 1, HALF), ((-1,), -1, HALF)]
    assert sum(c for _, _, c in prediction_time.sign_law([1, 2], [0, 1, 0])) == 1
    assert prediction_time.sign_law([1, 2], [0, 1, 0])[1] == ((1, -1), -1, HALF)
    assert prediction_time.hard_chances(10, 1) == [Fraction(1, 11)] * 11 and sum(prediction_time.hard_chances(9, Fraction(3, 2))) == 1
    assert prediction_time.test_time_floor(3, 3) == 0 and np.isclose(prediction_time.test_time_floor(2), 3 - 2 * math.sqrt(2))
    X, y = np.ones((40, 4)), np.ones(40)
    for lr in (solvers.Baseline(4, 2, seed=0), compiled_aer.AER(4, 2, T=40, seed=0)):
        simulate(lr, X, y)
        spoilt = X.copy()
        spoilt[5:] = np.nan
        with pytest.raises(ValueError, match=r"X\[5, \d\] = nan"): simulate(lr, spoilt, y)
    make = lambda **kw: compiled_aer.AER(10, 4, T=400, radius=2.0, radius_2=0.5, step=2.0, **kw)
    assert math.isclose(make().lam, aer.aer_lambda(10, 4, 400, 2.0, 0.5) / 2)
    assert math.isclose(make(centre=True, calibrate=0.1).lam, aer.aer_lambda(10, 4, 360, 2.0, 0.5, 2.0, 2.0) / 2)


def test_the_report(tmp_path, top):
    "Losses are judged and gathered, the report is written, its sections are known."
    assert experiments.judge((np.zeros(64), 0.5), (np.zeros((2, 64)), np.array([1.0, -1.0]))) == (1.25, 0.5)
    one = {"errors": dict.fromkeys(experiments.METHODS, (0.25, 0.1)), "chosen": dict.fromkeys(experiments.METHODS, 0)}
    assert experiments.gather([one] * 4, 2)["Ridge"]["mse"] == [0.25] * 2
    stored = json.loads((top / "oslr_nb" / "stored" / "cesabianchi2010_digits.json").read_text())
    one = {"errors": dict.fromkeys(experiments.METHODS, (0.25, 0.1)), "chosen": dict.fromkeys(experiments.METHODS, 0)}
    results = {"pairs": [one] * 45, "curves": stored["curves"][:2], "pixels": [experiments.cesabianchi2010_pixels("digits")]}
    text = experiments.report(results, tmp_path, "digits", 64)
    assert {f.suffix for f in tmp_path.iterdir()} == {".json", ".parquet", ".png"} and "| Ridge |" in text
    load_sections()
    found = [n for n, part in SECTIONS.items() if part.paper == "cesabianchi2010"]
    assert found == ["cesabianchi2010_digits", "cesabianchi2010_mnist"]


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1.0])
def test_tiny_labels_have_tiny_weights(size):
    X, lr = np.random.default_rng(0).choice([-1.0, 1.0], (500, 4)), solvers.Baseline(4, 4, seed=0)
    assert np.isfinite(simulate(lr, X, size * X[:, 0]).predictions).all() and lr.coef_[0] > 0.5 * size
