"""Ito et al. 2018, Algorithm 2: what its page need not show."""


import numpy as np
import pytest
from conftest import refusals

import oslr_nb as oslr
from oslr_nb.core.game.driver import play, simulate
from oslr_nb.core.game.environment import Environment
from oslr_nb.ledger.ito2018 import oblique_stream
from oslr_nb.papers.ito2018 import linear as page

stream = oblique_stream(11, 4, 400, np.random.default_rng(1))


def learner(**kw):
    "schedule: one of the schedules, or \"adaptive\" for the step of that name."
    if kw.get("schedule") == "adaptive": kw = {name: v for name, v in kw.items() if name != "schedule"} | {"step": "adaptive"}
    return page.LinearProjection(**({"d": 11, "budget": 4, "radius": 0.8, "step": 3.0, "seed": 0} | kw))


def test_refusals_scales_and_sizes():
    "What was bought is named. A stream in other units is the same where the schedule knows them or needs none. Many directions."
    X, y, _ = stream
    lr = learner()
    with pytest.raises(ValueError, match=r"X\[\d+, 3\] = 1e\+70"): simulate(lr, np.where(np.arange(11) == 3, 1e70, X), y)
    lr.query()
    with pytest.raises(ValueError, match=r"values\[0\] = 0\.9: it must be of magnitude at most 0\.8"): lr.predict([0.9, 0, 0, 0])
    with pytest.raises(ValueError, match=r"norm of values\[1\] to values\[3\]"): lr.predict([0, 1, 1, 0])
    X, y, _ = oblique_stream(9, 3, 300, np.random.default_rng(2))
    for schedule in ("theorem", "adaptive"):
        a = simulate(learner(d=9, schedule=schedule), X, y).predictions
        b = simulate(learner(d=9, schedule=schedule, x_norm=8.0, y_max=0.25, radius=0.8 / 32), 8 * X, y / 4).predictions
        assert np.abs(a / 4 - b).max() < 1e-12
    a, b = (simulate(learner(d=9, step="adaptive", x_norm=v, y_max=v), X, y).predictions for v in (1.0, 50.0))
    assert (a == b).all()  # the declared scales are limits, no more
    lr = page.LinearProjection(60, 60, directions="orthonormal", seed=3)
    rows = lr.query()
    assert rows.shape == (60, 60) and np.abs(rows[1:] @ rows[1:].T - np.eye(59)).max() < 1e-13


@pytest.mark.parametrize("directions", page.DIRECTIONS)
def test_the_norm_is_kept_and_the_measurement_is_bought(directions):
    X, y, _ = stream
    play(lr := learner(directions=directions), env := Environment(X, y, 4))
    assert (env.n_observed == 4).all() and (env.purchases.sum() == 3 * 400) == (directions == "coordinates")
    assert abs(lr.num.view(page.SCALARS)[0]["norm2"] - lr.h @ lr.h) <= 1e-12 * (lr.h @ lr.h) and np.linalg.norm(lr.coef_) <= 0.8 + 1e-12


test_bad_arguments_are_refused = refusals([
    lambda: learner(x_norm=1e55),
    lambda: page.bound_projection_schedule([2.0, 1.0], 10, 3), lambda: page.bound_projection_schedule([], 10, 3),
    lambda: page.projection_gradient([1.0], [0, 1], 3, 0.0, 1.0), lambda: page.projection_gradient([1.0, 2.0], [0, 3], 3, 0.0, 1.0),
    lambda: page.linear_projection(np.ones((3, 4)), np.ones(3), np.zeros((2, 1), int)),
    lambda: page.linear_projection(np.ones((3, 4)), np.ones(3), np.zeros((3, 1), int), np.zeros(3)),
    lambda: oslr.oco.bound_adaptive(-1.0), lambda: oslr.oco.adaptive_regret_bound(np.ones(3)), lambda: oslr.oco.adaptive_factor(0),
    lambda: oslr.oco.adaptive_dual_averaging(lambda j, w: np.ones(2), 3, 4), lambda: oslr.oco.bound_self_bounding(1.0, 0.0),
], words="it must be")
