"""The command line and the main job: exit codes and resuming; that jobs change no number is in test_backends.py."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from conftest import command as oslr
from conftest import run

from oslr_nb.ledger import claims
from oslr_nb.results import experiments

SMALL = """
import sys
from oslr_nb.results import experiments
whole = experiments.plan
short = ("claims", "digits_report")
experiments.plan = lambda names=(), full=False: {
    name: {group: cells[:2] for group, cells in groups.items()} for name, groups in whole(names, full).items() if name in short
}
"""


def test_a_full_run_needs_mnist(monkeypatch):
    "With the images the plan has all pairs and splits, and a cell runs; without them one sentence says what is missing."
    from sklearn.datasets import load_digits

    from oslr_nb.results import cesabianchi2010 as pages
    bunch = load_digits()
    monkeypatch.setattr(pages, "mnist", lambda download=False: ((bunch.data * 15.9).astype("uint8"), bunch.target))
    monkeypatch.setattr(pages, "images", pages.images.__wrapped__)
    groups = experiments.plan(["cesabianchi2010"], full=True)["cesabianchi2010_mnist"]
    assert {name: len(cells) for name, cells in groups.items()} == {"pairs": 45 * pages.SPLITS, "curves": pages.CURVES, "pixels": 1}
    found = experiments.run_cell(groups["pairs"][0])["errors"]
    assert found.keys() == pages.METHODS.keys() and found["Ridge"][0] < 0.1
    monkeypatch.setattr(pages, "mnist", lambda download=False: (_ for _ in ()).throw(FileNotFoundError("mnist: not there")))
    full = oslr("reproduce", "cesabianchi2010", "--full")
    assert full.exit_code == 2 and "--full needs MNIST: mnist: not there" in full.output
    assert "cesabianchi2010_mnist" not in experiments.plan(["cesabianchi2010"])


def test_interrupted_and_resumed(tmp_path):
    code = SMALL + "from oslr_nb.cli import app\napp(['reproduce', 'ito2017', '--jobs', '1', '--out', sys.argv[1]])"
    hear = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # a parent in the background may have it ignored
    command = [sys.executable, "-c", code, tmp_path]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hear)
    while not list(tmp_path.glob("cells/*.json")) and process.poll() is None: time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    stored = {p.name: p.stat().st_mtime_ns for p in tmp_path.glob("cells/*.json")}
    assert process.returncode == 130 and "run the same command again" in err, err
    assert 0 < len(stored) < 10 and not (tmp_path / "report.md").exists()
    run(*command)
    assert all((tmp_path / "cells" / name).stat().st_mtime_ns == t for name, t in stored.items())


def test_verify_fails_when_a_claim_fails_or_a_control_passes(monkeypatch):
    claims.claim_ids([])  # loads them
    monkeypatch.setattr(claims, "claim_ids", lambda names: ["A15"])
    assert oslr("verify", "--jobs", 1).exit_code == 0
    with monkeypatch.context() as patch:
        patch.setattr(claims.CLAIMS["A15"], "controls", {"broken": claims.CLAIMS["A15"].check})
        failed = oslr("verify", "--jobs", 1)
    assert failed.exit_code == 1 and "a control passes" in failed.output
    monkeypatch.setattr(claims.CLAIMS["A15"], "check", lambda case, **broken: claims.Evidence(2, "<=", 1))
    failed = oslr("verify", "--jobs", 1)
    assert failed.exit_code == 1 and "A15    fails" in failed.output and "not as expected" in failed.output
    for words in ("1 claims, 0 as expected", "2 <= 1 within 0", "default_rng([", "To see all cases of a row: oslr verify A15", "numpy 2"):
        assert words in failed.output


def test_verify_one_claim_or_page():
    "Of one claim all cases with their seeds; a page by its place. The command is installed."
    one = oslr("verify", "A5")
    assert one.exit_code == 0 and one.output.count("  case ") >= 5 and "default_rng([" in one.output and "1 claims, 1 as" in one.output
    page = oslr("verify", "core/mathematics/13_foundations", "--jobs", 1)
    assert page.exit_code == 0 and "G1 " in page.output and "A5 " not in page.output
    assert "reproduce" in run(Path(sys.executable).parent / "oslr", "--help")
