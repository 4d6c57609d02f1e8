"""Pages are run in forks of a process that has the libraries loaded, since most of a page's time is imports.

Each runs alone in an empty folder, as a copy does that somebody has downloaded.
"""

import multiprocessing
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

LIBRARIES = ["numpy", "scipy.stats", "scipy.optimize", "matplotlib.pyplot", "numba", "sklearn", "execnb.shell", "oslr_nb.ledger.claims"]
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(LIBRARIES)


def piece() -> float:
    "Seconds of processor time of a fixed piece of work, in which limits are counted: a loop of the interpreter and sorting with numpy."
    begun, total = time.process_time(), 0
    for i in range(2 * 10**5): total += i * i % 7
    np.sort(np.sin(np.arange(10**5)))
    return time.process_time() - begun


def run_cells(path: Path, answer: Any) -> None:
    """In the fork: run a notebook in an empty folder; send its cells with their outputs, the error if there is one, and the processor time
    in pieces of work, timed before and after."""
    from execnb.shell import CaptureShell, read_nb

    pieces, nb, error = [piece() for _ in range(3)], read_nb(path), ""
    begun = time.process_time()
    folder = tempfile.TemporaryDirectory()
    os.chdir(folder.name)
    shell = CaptureShell(path=".")
    for c in nb.cells:  # the shell drops what a cell prints whose last line ends so
        if c.cell_type == "code" and c.source.rstrip().endswith(";"): c.source += "\nNone"
    try: shell.run_all(nb, exc_stop=True)
    except BaseException as e: error = f"{type(e).__name__}: {e}"
    failed = [o for c in nb.cells for o in c.get("outputs", []) if o["output_type"] == "error"]
    if failed: error = error or "\n".join(failed[0]["traceback"])
    spent = time.process_time() - begun
    os.chdir("/")
    folder.cleanup()
    pieces += [piece() for _ in range(3)]
    answer.send(([(c["source"], c.get("outputs", [])) for c in nb.cells], error, spent / statistics.median(pieces)))


def run_page(path: Path) -> tuple[list[tuple[str, list[dict[str, Any]]]], str, float]:
    "Source and outputs of each cell of a page, the error if it has one, and its processor time in pieces of work."
    mine, its = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=run_cells, args=(path, its))
    process.start()
    its.close()
    try: return mine.recv()
    except EOFError: return [], f"the process ended with exit code {process.exitcode}", 0.0
    finally: process.join()
