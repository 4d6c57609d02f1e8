"""More cores and machines: numbers that do not depend on who works, runs that go on after an interruption, clear refusals."""

import json
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError
from pathlib import Path

import joblib
import psutil
import pytest
from conftest import command
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import threadpool_info, threadpool_limits

from oslr_nb.core.base import backends
from oslr_nb.ledger import claims
from oslr_nb.results import experiments

CLUSTERS = """
import sys

if __name__ == "__main__":
    from distributed import LocalCluster

    common = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "memory_limit": 0}
    hide = "import sys; sys.modules['oslr_nb'] = None"
    with LocalCluster(n_workers=2, **common) as two, LocalCluster(n_workers=0, **common) as none, \\
            LocalCluster(n_workers=1, preload=hide, **common) as without:
        print(two.scheduler_address, none.scheduler_address, without.scheduler_address, flush=True)
        sys.stdin.read()
"""
PIECES = 7  # of `small_plan`


def alive(processes): return [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


@pytest.fixture(scope="module")
def clusters(tmp_path_factory):
    """Addresses of clusters of another process: one of two workers, one of none, one whose worker lacks the package; and the seconds
    that they took to start, in which limits are counted."""
    script = tmp_path_factory.mktemp("clusters") / "clusters.py"
    script.write_text(CLUSTERS)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    begun = time.monotonic()
    with subprocess.Popen([sys.executable, script], text=True, **pipes) as process:
        addresses = dict(zip(("two", "none", "without"), process.stdout.readline().split(), strict=True))
        seconds = time.monotonic() - begun
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(backends, "SECONDS_TO_ANSWER", 20 * seconds)
            yield addresses | {"seconds": seconds}
        workers = psutil.Process(process.pid).children(recursive=True)
        process.stdin.close()
        assert len(workers) >= 3 and not alive(psutil.wait_procs(workers, timeout=20 * seconds)[1])


@pytest.fixture(scope="module", autouse=True)
def no_worker_stays():
    yield
    get_reusable_executor().shutdown(wait=True)
    tools = ("resource_tracker", "forkserver")  # of Python and joblib: they end with this process
    names = [" ".join(p.cmdline()) for p in alive(psutil.Process().children(recursive=True))]
    assert not [n for n in names if not any(t in n for t in tools)]


@pytest.fixture(scope="module", autouse=True)
def small_plan():
    "Five claims of four papers, and the first cell of each group of one section."
    whole, ids = experiments.plan, {"F14": "foster2016", "F12": "foster2016", "K17": "kale2017", "E-C8": "ito2018", "A15": "ito2017"}
    def plan(names=(), full=False):
        groups = whole(["ito2017"])["digits_report"]
        checked = [experiments.Cell("claim", {"id": i, "paper": paper}) for i, paper in ids.items()]
        return {"claims": {"claims": checked}, "digits_report": {group: cells[:1] for group, cells in groups.items()}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiments, "plan", plan)
        patch.setattr(claims, "claim_ids", lambda names: [claims.load_claims(ids[i]) or i for i in ids])
        yield


def timeless(rows): return [{k: v for k, v in row.items() if k != "seconds"} for row in rows]


def results(out: Path) -> dict:
    "Everything that a run writes, byte for byte, but the seconds that claims took."
    whole = [p for p in out.rglob("*") if p.is_file() and p.name != "claims.json" and not p.name.startswith("claim-")]
    cells = {p.name: timeless([json.loads(p.read_text())]) for p in out.glob("cells/claim-*.json")}
    return {"ledger": timeless(json.loads((out / "claims.json").read_text()))} | cells | {p.name: p.read_bytes() for p in whole}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    out = tmp_path_factory.mktemp("sequential")
    done = command("reproduce", "--backend", "sequential", "--out", out)
    assert done.exit_code == 0, done.output
    found = results(out)
    assert {"report.md", "digits.png", "digits.parquet"} <= found.keys() and len(list(out.glob("cells/*"))) == PIECES
    return found


def options(backend, clusters):
    if backend == "dask": return ["--backend", "dask", "--scheduler", clusters["two"]]
    name, _, jobs = backend.partition(" ")
    return ["--backend", name, "--jobs", jobs]


BACKENDS = ["multiprocessing 2", "threading 3", "loky 1", "loky 2", "dask"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_interrupted_resumed_and_equal(backend, clusters, expected, tmp_path, monkeypatch):
    "Interrupted behind the second result; the same command goes on, shows progress, and every file is that of one process."
    args, write, written = ["reproduce", "--out", tmp_path, *options(backend, clusters)], experiments.write_whole, []
    def interrupted_write(path, text):
        write(path, text)
        written.append(path)
        if len(written) == 2: raise KeyboardInterrupt
    monkeypatch.setattr(experiments, "write_whole", interrupted_write)
    done = command(*args)
    assert done.exit_code == 130 and "run the same command again" in done.output
    stored = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*") if p.is_file()}
    assert set(stored) == set(written) and len(stored) == 2
    done = command(*args)
    assert done.exit_code == 0 and f"{PIECES}/{PIECES}" in done.output, done.output
    assert all(p.stat().st_mtime_ns == t for p, t in stored.items()) and len(written) > PIECES and results(tmp_path) == expected


@pytest.mark.parametrize("backend", ["loky 2", "dask"])
def test_verify(backend, clusters, expected):
    done = command("verify", *options(backend, clusters))
    assert done.exit_code == 0 and len(done.output.splitlines()) == 6 and "5 claims, 5 as expected" in done.output, done.output
    with backends.use_backend("threading", jobs=2): assert timeless(json.loads(claims.verify().to_json())) == expected["ledger"]


def test_a_backend_that_is_set_outside():
    "What Python users write; nothing but joblib's own context. A piece starts no workers."
    with joblib.parallel_config("threading", n_jobs=2): names = dict(backends.hand_out(lambda: threading.current_thread().name, [()] * 4))
    assert set(names) == {0, 1, 2, 3} and threading.main_thread().name not in names.values()
    assert set(dict(backends.hand_out(lambda: threading.current_thread().name, [()] * 4)).values()) == {threading.current_thread().name}
    with joblib.parallel_config("threading", n_jobs=3):
        assert dict(backends.hand_out(lambda: joblib.effective_n_jobs(-1), [()] * 2)) == {0: 1, 1: 1}


def test_threads_share_the_limit_of_linear_algebra():
    "The first of two leaves while the second is inside: one thread until that has left too, and then what was before."
    threads = lambda: {lib["filepath"]: lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}
    with claims.one_thread(): pass  # loads what is limited
    with threadpool_limits(2, "blas"):
        before, first, second = threads(), claims.one_thread(), claims.one_thread()
        assert 2 in before.values()  # one of them may be built for a single thread
        first.__enter__(), second.__enter__()
        first.__exit__(None, None, None)
        assert set(threads().values()) == {1}
        second.__exit__(None, None, None)
        assert threads() == before


WRONG = {
    "unknown backend": (["--backend", "cloud"], "backend = 'cloud': it must be one of dask, loky, multiprocessing, sequential, threading."),
    "no address": (["--backend", "dask"], "scheduler = None: it must be the address of a running dask scheduler"),
    "no dask": (["--scheduler", "tcp://127.0.0.1:1"], "scheduler = 'tcp://127.0.0.1:1': it must be left out"),
    "jobs of a cluster": (["--backend", "dask", "--scheduler", "{two}", "--jobs", "2"], "jobs = 2: it must be left out"),
    "jobs of one process": (["--backend", "sequential", "--jobs", "2"], "jobs = 2: it must be left out"),
    "nobody listens": (["--backend", "dask", "--scheduler", "tcp://127.0.0.1:1"], "running dask scheduler (Timed out"),
    "no address at all": (["--backend", "dask", "--scheduler", "nonsense"], "running dask scheduler (missing port"),
    "no workers": (["--backend", "dask", "--scheduler", "{none}"], "a cluster with workers (there was none in "),
    "no package": (["--backend", "dask", "--scheduler", "{without}"], "this very oslr_nb (worker tcp"),
}


@pytest.mark.parametrize(("args", "sentence"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("name", ["verify", "reproduce"])
def test_refusals(name, args, sentence, clusters, tmp_path, monkeypatch):
    monkeypatch.setattr(backends, "SECONDS_TO_ANSWER", clusters["seconds"] / 5)
    out = ["--out", tmp_path / "out"] if name == "reproduce" else []
    done = command(name, *out, *(a.format(**clusters) for a in args))
    assert done.exit_code == 2 and sentence in done.output and len(done.output.strip().splitlines()) == 1, done.output
    assert not (tmp_path / "out").exists()


def test_no_dask_other_versions_and_what_ends_a_run(monkeypatch, clusters):
    "An error of a piece, a cluster that is lost."
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "distributed", None)
        done = command("verify", "--backend", "dask", "--scheduler", "tcp://127.0.0.1:1")
    assert done.exit_code == 2 and 'pip install "oslr_nb[dask]"' in done.output
    with monkeypatch.context() as patch:
        with backends.use_backend("dask", clusters["two"]):
            patch.setattr(backends, "source_digest", lambda: "another")  # a worker that comes later is found by its first piece
            with pytest.raises(ValueError, match="a worker has another oslr_nb"): list(backends.hand_out(int, [("1",)]))
        done = command("verify", "--backend", "dask", "--scheduler", clusters["two"])
    assert done.exit_code == 2 and "this very oslr_nb (worker tcp" in done.output and "its source is another" in done.output
    with backends.use_backend("dask", clusters["two"]), pytest.raises(ValueError, match="invalid literal"):
        list(backends.hand_out(int, [("1",), ("one",), ("2",)]))
    with pytest.raises(ValueError, match=r"lasts until the end \(gone; run the same again"), backends.use_backend("dask", clusters["two"]):
        raise CancelledError("gone")


def test_a_worker_that_dies(clusters, tmp_path):
    "Its pieces are done by another one, or by itself when it has been started again."
    def deadly(n, path=str(tmp_path / "once")):
        import os
        import signal
        if n == 2 and not os.path.exists(path):
            with open(path, "x"): os.kill(os.getpid(), signal.SIGKILL)
        return n * n
    with backends.use_backend("dask", clusters["two"]):
        assert dict(backends.hand_out(deadly, [(n,) for n in range(6)])) == {n: n * n for n in range(6)}
    assert (tmp_path / "once").exists()


@pytest.mark.parametrize("jobs", [0, -1, 1.5, True])
def test_wrong_numbers_of_jobs(jobs):
    for call in (lambda: backends.hand_out(int, [], jobs), lambda: claims.verify(jobs=jobs)):
        with pytest.raises(ValueError, match=r"jobs = .*: it must be an integer of at least 1"): call()
    with pytest.raises(ValueError, match="jobs = "), backends.use_backend(jobs=jobs): pass
