"""Exact worst-case regret of dual averaging and gradient descent for a few rounds, by PEPit (`pip install pepit`).

The largest regret over all gradients of norm at most 1, in any dimension, over all convex sets in the unit ball that hold 0, and over all
comparators in the set, is the value of a semidefinite programme (performance estimation). `python -m tests.worst` writes it for 1 to 10
rounds and several schedules to oslr_nb/stored/worst_cases.json, which the page on gradient descent sets beside its bounds.
"""

import json
import sys
from pathlib import Path

import numpy as np

from oslr_nb.core.mathematics import oco

STORED = Path(oco.__file__).parents[2] / "stored" / "worst_cases.json"
SCHEDULES = {  # the engine, and its weights or steps for n rounds
    "RDA, known n": ("rda", lambda n: np.full(n, np.sqrt(n))),
    "RDA, anytime": ("rda", lambda n: oco.rda_schedule(n, 1.0)),
    "RDA, weights that grow linearly": ("rda", lambda n: np.arange(1.0, n + 1)),
    "OGD, known n": ("ogd", lambda n: np.full(n, 1 / np.sqrt(n))),
    "OGD, anytime": ("ogd", lambda n: oco.ogd_schedule(n, 1.0)),
    "OGD, steps that fall like 1/j": ("ogd", lambda n: 2 / np.arange(1.0, n + 1)),
}


def exact(name: str, n: int) -> float:
    "The worst case, from PEPit."
    from PEPit import PEP, Expression, Point
    from PEPit.functions import ConvexIndicatorFunction
    from PEPit.primitive_steps import proximal_step

    engine, schedule = SCHEDULES[name]
    weights, problem, origin = schedule(n), PEP(), Point(is_leaf=False, decomposition_dict={})
    members = problem.declare_function(ConvexIndicatorFunction, R=1, center=origin)
    members.add_point((origin, origin, Expression()))  # 0 is in the set
    u = proximal_step(Point(), members, 1)[0]  # any point of the set
    w = h = origin
    regret = 0
    for j, a in enumerate(weights):
        if engine == "rda" and j: w = proximal_step(h * (-1 / a), members, 1)[0]  # the minimiser of <h, w> + a/2 |w|^2 over the set
        g = Point()
        problem.add_constraint(g**2 <= 1)
        regret += g * (w - u)
        h += g
        if engine == "ogd" and j < n - 1: w = proximal_step(w - a * g, members, 1)[0]
    problem.set_performance_metric(regret)
    return float(problem.solve(verbose=0))


def main() -> int:
    table = {name: [round(exact(name, n), 4) for n in range(1, 11)] for name in SCHEDULES}
    STORED.write_text(json.dumps(table, indent=1) + "\n")
    for name, values in table.items(): print(name, *(f"{v:.3f}" for v in values))
    return 0


if __name__ == "__main__": sys.exit(main())
