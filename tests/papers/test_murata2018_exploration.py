"""Murata & Suzuki 2018, Exploration: what its page need not show."""

import numpy as np
from conftest import refusals

import oslr_nb as oslr
from oslr_nb.papers.murata2018 import exploration as page

RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 10))
Y = X[:, 3] - X[:, 7] + 0.1 * RNG.standard_normal(400)
test_refused = refusals({
    "top = budget": (lambda: page.Exploration(10, 4, 4, 0.1), r"top = 4: .*from 1 to 3 \(1 <= top < budget = 4"),
    "a block too wide": (lambda: page.Exploration(10, 4, 2, 0.1, width=3), r"width = 3: .*top \+ width <= budget: 2 \+ width <= 4"),
    "no step": (lambda: page.Exploration(10, 4), "eta = None: .*smoothness"),
    "a step beyond the stable range": (lambda: page.Exploration(10, 4, eta=1.0, smoothness=2.0), r"eta = 1\.0: it must be below 2/L = 1"),
    "a start with too many weights": (lambda: page.Exploration(10, 4, 2, 0.1, support=[1, 2, 3]), r"support = .*at most 2 .*\(top = 2"),
    "a start that does not fit": (lambda: page.Exploration(10, 4, 2, 0.1, support=[1], start=[1.0, 2.0]), "start"),
    "a start beyond all measure": (lambda: page.Exploration(10, 4, 2, 0.1, support=[1], start=[1e31]), "start = .*1e\\+30"),
    "too few examples": (lambda: page.textbook_exploration(X[:49], Y[:49], 4, 2, 0.1, batch=10),
                         r"number of examples = 49: it must be at least 50 \(update 1 takes ceil\(d / width\) batch = 5 \* 10 examples"),
    "too few for the updates": (lambda: page.textbook_exploration(X, Y, 4, 2, 0.1, batch=20, updates=5), "at least 500 .update 5"),
    "a start that is not sparse": (lambda: page.textbook_exploration(X, Y, 4, 2, 0.1, theta0=np.ones(10)), "nonzero .* theta0 = 10"),
    "blocks of unequal batches": (lambda: page.block_gradient(X[:7], Y[:7], np.zeros(10), 4), "number of examples = 7: .*multiple of 3"),
    "fewer kept than the truth has": (lambda: page.restricted_constants(np.eye(5), 1, 2), "top = 1"),
    "no restricted convexity": (lambda: page.stable_step(np.ones((4, 4)), 1, 1), "mu = 0.*rule='safe'"),
    "nothing to learn": (lambda: page.stable_step(np.zeros((4, 4)), 1, 1), "zero matrix"),
    "the end of the stable range": (lambda: page.contraction_factor(9, 2, 1, 1.0, 2.0, eta=1.0), r"below 2/L = 1"),
    "no contraction": (lambda: page.exploration_plan(0.1, page.SparseProblem(100, 2, 2, 1.0, 8.0), 8, 1.0), "contraction_factor = "),
    "a goal beyond the start": (lambda: page.exploration_plan(4.1, page.SparseProblem(100, 2, 2, 2.0, 2.0), 8, 1.0), "eps = 4.1"),
    "half an example": (lambda: page.bound_exploration([10, 2.5], page.SparseProblem(9, 2, 1, 2.0, 2.0), 1.0), r"batches\[1\] = 2.5"),
})


def test_a_plan_of_phases():
    "The engine plays outer rounds of two kinds, whose batches grow. By hand; and a step far too long ends in no infinities."
    lr, seen = page.HardThresholding(10, 6, 3, 3, page.Phases(0.1, (2, 3), (4, 5), 2.0), (None, None), None), []
    for x, y in zip(np.tile(X, (2, 1)), np.tile(Y, 2), strict=True):
        seen.append((int(lr._counts["phase"]), lr.batch_, len(S := lr.query())))
        lr.predict(x[S])
        lr.update(y)
    kinds = list(dict.fromkeys((phase, batch) for phase, batch, _ in seen))
    assert kinds[:4] == [(0, 3), (1, 5), (0, 6), (1, 10)]
    first = 2 * 4 * 3  # two updates, four blocks, three examples
    assert [s[0] for s in seen[: first + 20]] == [0] * first + [1] * 20 and seen[first + 20][:2] == (0, 6)
    assert max(n for phase, _, n in seen if phase) <= 3 and max(n for _, _, n in seen) <= 6
    lr = page.Exploration(10, 4, 2, 50.0, batch=1)
    with np.errstate(all="raise"): run = oslr.simulate(lr, np.tile(X, (20, 1)), np.tile(Y, 20))
    assert np.isfinite(run.predictions).all() and np.abs(lr.coef_).max() == page.WEIGHT_LIMIT
    fit = page.textbook_exploration(X, Y, 4, 2, 0.2, batch=10, updates=3)
    assert fit.path.shape == (4, 10) and fit.examples == 150 and fit.left == 250 and np.array_equal(fit.theta, fit.path[-1])
    assert fit.attributes <= 4 * 150 and fit.batches == [10, 10, 10]


def test_constants_are_certified():
    V = 0.5 * np.eye(6) + 0.5
    mu, L = page.restricted_constants(V, 2, 1)
    assert np.isclose(mu.lower, 1) and np.isclose(L.upper, 2 * (0.5 + 0.5 * 5)) and mu.exact
    assert np.isclose(page.stable_step(V, 2, 1), 2 / (L.upper + mu.lower)) and np.isclose(page.stable_step(V, 2, 1, "safe"), 1 / L.upper)
    assert page.least_top(3, 1.0) == 3 and page.least_top(1, 8.0) == 4 and page.least_top(1, 100.0) == 625
    assert page.least_top(576, 6) == 1226  # (35/24)^2 576 = 1225 exactly, which is not enough
