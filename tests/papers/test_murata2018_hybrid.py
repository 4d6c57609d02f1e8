"Murata & Suzuki 2018, Algorithms 2 and 3: arguments, edges, and what the page need not show."


import numpy as np
import pytest
from conftest import refusals

import oslr_nb as oslr

M = oslr.murata2018
RNG = np.random.default_rng(5)
X = RNG.standard_normal((2000, 20))
y = X[:, 3] - X[:, 7] + 0.1 * RNG.standard_normal(2000)


@pytest.mark.parametrize(("arguments", "message"), [
    (dict(budget=6, top=3, width=4), "width = 4: .*top \\+ width <= budget"),
    (dict(budget=6, eta=1.0, smoothness=2.0), "eta = 1.0: it must be below 2/L = 1"), (dict(budget=6, eta=None), "eta = None"),
    (dict(budget=6, explore=(0, 5)), "updates of explore = 0: it must be an integer"),
    (dict(budget=6, exploit=(0, 5)), "updates of exploit = 0: it must be an integer"),
    (dict(budget=6, explore=5), "explore = 5: it must be a pair"),
    (dict(budget=6, exploit=(1, 2, 3)), "exploit = \\(1, 2, 3\\): it must be a pair"),
    (dict(budget=6, explore=(1, 0)), "batch of explore = 0"),
])
def test_hybrid_refuses(arguments, message):
    arguments = {"eta": 0.1} | arguments
    with pytest.raises(ValueError, match=message): M.Hybrid(20, **arguments)
    if "support" not in arguments:
        with pytest.raises(ValueError, match=message): M.textbook_hybrid(X, y, **arguments)


test_exploitation_refuses = refusals([
    (dict(support=[]), "size of the support = 0"), (dict(support=range(7)), "it must be at most 6 coordinates"),
    (dict(support=[1, 1]), "support"), (dict(support=[20]), "support"), (dict(support=[1, 2], start=[1.0]), "start"),
    (dict(support=[1], eta=3.0, smoothness=1.0), "below 2/L = 2"),
], lambda kw: M.Exploitation(20, 6, **{"eta": 0.1} | kw))


def test_what_a_run_uses():
    "Too few examples are refused."
    with pytest.raises(ValueError, match="number of examples = 119: it must be at least 120"):
        M.textbook_hybrid(X[:119], y[:119], 10, 5, 0.1, (1, 30), (1, 30))
    with pytest.raises(ValueError, match="number of examples = 29: it must be at least 30"):
        M.textbook_exploitation(X[:29], y[:29], [3], 0.1, 30)
    with pytest.raises(ValueError, match="at least 60"): M.textbook_exploitation(X[:59], y[:59], [3], 0.1, 30, updates=2)
    assert M.textbook_hybrid(X[:120], y[:120], 10, 5, 0.1, (1, 30), (1, 30)).left == 0
    with pytest.raises(ValueError, match="nonzero entries of theta0 = 6"):
        M.textbook_hybrid(X, y, 10, 5, 0.1, theta0=np.r_[np.ones(6), np.zeros(14)])
    with pytest.raises(ValueError, match="largest weight outside of S"): M.support_gradient(X, y, np.ones(20), [1])
    run = M.textbook_hybrid(X, y, 10, 5, 0.1, (2, 11), (3, 17), 1.5)
    assert run.batches[:8] == [11, 11, 17, 17, 17, 17, 17, 26]  # ceil(11 * 1.5), ceil(17 * 1.5)
    blocks, used = 4, 0
    for i, b in enumerate(run.batches): used += b * (blocks if i % 5 < 2 else 1)
    assert (used, run.left) == (run.examples, 2000 - used) and run.left < 11 * 1.5**3 * blocks
    assert all(np.count_nonzero(w) <= 5 for w in run.path)
    run = M.textbook_exploitation(X, y, [3, 7, 8], 0.1, 100, 2.0, start=[0.0, 1.0, 0.0])
    assert run.batches == [100, 200, 400, 800] and run.left == 500 and run.attributes == 3 * 1500
    assert set(np.flatnonzero(run.theta)) == {3, 7, 8} and run.path[0].tolist() == [float(i == 7) for i in range(20)]


def test_batches_and_support():
    "By default as many examples as an update of Exploration takes, one block with budget d; the support is frozen, and found."
    lr = M.Hybrid(20, 10, 5, 0.1, (1, 30))
    assert lr.params["exploit"] == [10, 120]
    oslr.simulate(lr, X[:120], y[:120])
    assert lr.updates_ == 1 and lr.batch_ == 120
    oslr.simulate(lr, X[:119], y[:119])
    assert lr.updates_ == 1 and lr.unfinished_ == 119
    lr = M.Hybrid(20, 20, 5, 0.2, (1, 50))
    run = oslr.simulate(lr, X, y)
    assert lr.width == 20 and lr.params["exploit"] == [10, 50] and run.n_observed.max() == 20
    assert np.abs(lr.coef_ - (np.eye(20)[3] - np.eye(20)[7])).max() < 0.05
    lr, seen = M.Hybrid(20, 10, 5, 0.2, (2, 20), (3, 60), 1.2), []
    while lr.updates_ < 2: oslr.simulate(lr, X[:1], y[:1])
    start = lr.support_.tolist()
    for t in range(180):
        seen.append(lr.query().tolist())
        lr.predict(X[t, seen[-1]])
        lr.update(y[t])
    assert all(sorted(S) == start for S in seen) and lr.updates_ == 5  # then it explores again
    oslr.simulate(lr, X, y)
    assert {3, 7} <= set(lr.support_) and abs(lr.coef_[3] - 1) < 0.1


def test_what_bounds_refuse():
    with pytest.raises(ValueError, match=r"K = 0\.5: it must be at least L / 2 = 1"): M.stable_exploitation_step(1, 2.0, 0.5)
    with pytest.raises(ValueError, match=r"trace = 30\.0"):
        M.bound_exploitation_excess(0, 3.0, 0.25, 100, M.SupportProblem(2.0, 2.0, 12.0, 10), 30.0)
    good = {"eps": 1e-3, "r_min": 0.5, "blocks": 50, "top": 8, "eta": 0.4, "explore": (3, 40), "exploit": (60, 2000), "growth": 2.0,
            "q": 0.3, "V": 9.0, "mu": 1.8, "L": 2.2, "K": 18.0, "sigma": 1.0, "first": 4.0}
    for change, message in (({"explore": (1, 40)}, "updates of explore = 1: it must be at least 2"),
                            ({"exploit": (60, 10)}, "batch of exploit"),
                            ({"eta": 0.6}, "eta = 0.6"), ({"growth": 1.0}, "growth"), ({"q": 1.0}, "q"), ({"eps": 1e-40}, "eps")):
        with pytest.raises(ValueError, match=message): M.bound_hybrid(**good | change)
    with pytest.raises(ValueError, match=r"contraction_factor = .*below 1"):
        M.exploration_rate(M.SparseProblem(1000, 40, 4, 1.0, 50.0, 0.5))
