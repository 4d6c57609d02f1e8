"""A guard of speed: ratios of pieces of work that are run in turn in one process, so that no machine is too slow for it.

A window is twenty turns; the fastest turn of each piece counts. A ratio is in order if it is so in one window of fifteen: a process
that takes the cores away disturbs some windows, but a kernel that has become slower is slower in all of them.
"""

import numpy as np
import pytest
from conftest import python
from measure import floor, in_turn, rounds_by_hand, rounds_of, stream, ten_calls, textbook

import oslr_nb as oslr

WINDOWS, TURNS = 15, 20
GUARDS = {  # (what, beside what): the largest ratio of seconds a round, some 1.6 times what was measured (in brackets)
    ("RDA1, d = 384", "floor"): 3.5,  # (2.1 to 2.3) a round does more than it did
    ("RDA1, d = 20000", "RDA1, d = 384"): 2.2,  # (1.4) a round costs O(d)
    ("AER, d = 20000", "AER, d = 384"): 2.6,  # (1.6) the same
    ("RDA1 adaptive, d = 384", "RDA1, d = 384"): 1.5,  # (1.0 to 1.1) the squares take a pass of their own
    ("RDA1, d = 20", "textbook"): 1 / 1700,  # (1/2700 to 1/3500) the compiled loop is left for Python
    ("by hand", "ten calls of numpy"): 1.5,  # (0.7 to 0.9) more checks, copies or hand-overs a round
}
APART = {"top_offer", "top_rescan"}  # kernels that stay functions of their own in the compiled loop of RDA1

def pieces():
    "The pieces of work by name, as (work, rounds); all their data stay in the cache."
    found = {}
    for d, n in ((20, 1000), (384, 100), (20_000, 6)):
        X, y = stream(d, n)
        rows = np.arange(5000) % n
        rda = lambda d=d: oslr.ito2017.RDA1(d, 10, top=5, step=2, seed=1)
        found[f"RDA1, d = {d}"] = rounds_of(rda(), X, y, rows, warm=50_000), 5000
        if d == 20: found |= {"textbook": (textbook(X, y, 5, 10, 4), 4), "by hand": (rounds_by_hand(rda(), X, y, 40), 40)}
        else:
            aer = oslr.cesabianchi2010.AER(d, 4, T=10**7, radius=8.0, lam=15.0, seed=1)
            found[f"AER, d = {d}"] = rounds_of(aer, X, y, rows[:2000], warm=50_000, score=False), 2000
        if d == 384:
            adaptive = oslr.ito2017.RDA1(d, 10, top=5, step="adaptive", seed=1)
            found[f"RDA1 adaptive, d = {d}"] = rounds_of(adaptive, X, y, rows, warm=50_000), 5000
        if d == 384: found["floor"] = floor(X, rows, 10)["distinct"], 5000
    return found | {"ten calls of numpy": (ten_calls(40), 40)}


def smallest_ratios(windows=WINDOWS, enough=True):
    "The smallest ratio of each guard over the windows; `enough`: stop when all are within their bounds."
    found, best = pieces(), dict.fromkeys(GUARDS, np.inf)
    for _ in range(windows):
        times = in_turn({name: work for name, (work, _) in found.items()}, TURNS)
        second = {name: seconds / found[name][1] for name, seconds in times.items()}
        best = {(a, b): min(ratio, second[a] / second[b]) for (a, b), ratio in best.items()}
        if enough and all(best[guard] <= bound for guard, bound in GUARDS.items()): break
    return best


@pytest.fixture(scope="module")
def ratios(): return smallest_ratios()


@pytest.mark.parametrize(("what", "beside"), GUARDS, ids=str)
def test_no_slower_than_it_was(what, beside, ratios):
    ratio, bound = ratios[what, beside], GUARDS[what, beside]
    assert ratio <= bound, f"a round of {what} takes {ratio:.3g} times as long as one of {beside}; {bound:.3g} is allowed"


LOOP = """
import re, sys
import numpy as np, oslr_nb.core.base.kernels
oslr_nb.core.base.kernels.kernel_folder = lambda: ""  # what comes from the disk cannot be looked into
import oslr_nb as oslr
oslr.simulate(lr := oslr.ito2017.RDA1(20, 10, top=5), np.ones((9, 20)) / 5, np.ones(9))
(code,) = lr._made[0].inspect_llvm().values()
called = {c for c in re.findall(r"call [^\\n]*?@([^( ]+)\\(", code) if "oslr" in c and "play_rounds" not in c}
print(*(re.search(r"\\d([a-z_]+)B\\d+v", c)[1] for c in called), "NRT" if "NRT_" in code else "")
"""


def test_the_loop_is_one_function():
    "A lost inlining, or references that are counted, cost too little for a clock on a busy machine; the compiled code shows them."
    assert set(python(LOOP).split()) == APART
