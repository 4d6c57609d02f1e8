"""Faults that users of neighbouring tools met, each with inputs of its kind: nothing in a table may be silently wrong."""

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import oslr_nb
from oslr_nb.cli import app


def table(body, name="t.csv"):
    path = Path(tempfile.mkdtemp()) / name
    path.write_bytes(body if isinstance(body, bytes) else body.encode())
    return path


def cli(command, path, *words, out=None):
    "Exit code, what was said, results.json (None if there is none)."
    out = out or tempfile.mkdtemp() + "/out"
    folder = ("--out", out) if command == "run" else ()
    done = CliRunner().invoke(app, [command, str(path), "--target", "y", *map(str, words), *folder])
    found = Path(out, "results.json")
    return done.exit_code, done.output, json.loads(found.read_text()) if found.exists() else None


def ratio(r): return 1 - r["loss"] / r["loss_of_running_mean"]


def csv(names, *columns):
    "A CSV of columns."
    return "\n".join([names, *(",".join(map(str, row)) for row in zip(*columns, strict=True))]) + "\n"


# K1: no measure depends on where the zero of the label is, or on its unit.


def shifted(c, n=120, scale=1.0, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, 3))
    y = 3 * A[:, 0] - 2 * A[:, 1] + 0.1 * rng.normal(size=n)
    return table(csv("a,b,c,y", *A.T.tolist(), (scale * y + c).tolist()))


def test_A01():
    near, far = (ratio(cli("run", shifted(c), "--budget", 2)[2]) for c in (0, 300))
    assert abs(near - far) < 0.05, (near, far)


@pytest.mark.parametrize("words", [("--passes", 2), ("--option", "memory=50"), ("--impute",)])
def test_labels_far_from_0_in_other_runs(words):
    near, far = (cli("run", shifted(c, 60), "--budget", 2, *words)[2] for c in (0, -1e4))
    assert abs(ratio(near) - ratio(far)) < 0.1 and near["curve"]["rounds"][0] == far["curve"]["rounds"][0] == 0


def measures(said, r):
    "All numbers of a report and of results.json that judge, losses in units of the label's variance."
    unit = r["hindsight"]["variance"]
    lines = [line.split("|") for line in said.split("\n") if " as it went |" in line or " in hindsight |" in line]
    out = [v for row in lines for v in (float(row[3]) / unit, float(row[4]))]
    keys = ("loss", "loss_of_running_mean", "loss_last_tenth", "loss_of_running_mean_last_tenth")
    out += [r[key] / unit for key in keys] + [r["hindsight"][key] / unit for key in ("ridge", "sparse")]
    assert len(lines) >= 4
    return np.array(out + [v / unit for row in r["curve"]["losses"] for v in row])


@pytest.mark.parametrize(("learner", "rtol"), [(("--learner", "ito2017.RDA1", "--option", "step=adaptive"), 1e-4), ((), 0)])
def test_no_measure_depends_on_origin_or_unit(learner, rtol):
    "`auto` itself buys a little otherwise where labels are far from 0; its curve is not compared."
    found = {}
    for c, scale in ((0, 1), (300, 1), (1e6, 1), (-1e4, 1), (0, 1e3), (0, 1e-3), (300, 1e3)):
        _, said, r = cli("run", shifted(c, 500, scale), "--budget", 2, *learner)
        found[c, scale] = measures(said, r)
    base = found.pop((0, 1))
    for key, m in found.items():
        if learner: np.testing.assert_allclose(m, base, rtol=rtol, atol=1e-3, err_msg=str(key))
        else: np.testing.assert_allclose(m[:18], base[:18], rtol=rtol, atol=0.05, err_msg=str(key))


def test_recommend_stands_beside_the_mean():
    near, far = (cli("recommend", shifted(c, 500), "--budget", 2)[1] for c in (0, 1e4))
    losses = [[float(w) for w in said.split("Loss a round: ")[1].split("\n")[0].rstrip(".").replace(",", "").split() if w[0].isdigit()]
              for said in (near, far)]
    assert losses[0][:3] == losses[1][:3] and losses[0][0] == 1 and np.allclose(*losses, rtol=0.1, atol=0.01)
    assert "mean 1," in near and "predicting 0" not in near
    verdicts = [[line.split("|")[2] for line in said.split("\n") if line.startswith("|")] for said in (near, far)]
    assert verdicts[0] == verdicts[1]


def test_one_row_has_no_measure():
    code, said, r = cli("run", table("a,b,y\n1,2,300\n"), "--budget", 2)
    assert code == 0 and r["loss"] is None and r["loss_of_running_mean"] is None and "90000" not in said


def test_runs_print_no_first_round():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X[:, 0] + 1e3
    lr = oslr_nb.auto(4, 2, seed=0)
    run = oslr_nb.simulate(lr, X, y)
    blocks = oslr_nb.simulate_blocks(oslr_nb.auto(4, 2, seed=0), [(X[:1], y[:1]), (X[1:30], y[1:30]), (X[30:], y[30:])])
    for r in (run, blocks): assert f"mean loss after the first {run.losses[1:].mean():.4g}" in repr(r)


def test_an_old_checkpoint_is_refused(tmp_path):
    from oslr_nb.core.storage import read_file, write_file

    path, out = shifted(0), str(tmp_path)
    cli("run", path, "--budget", 2, out=out)
    header, arrays = read_file(tmp_path / "checkpoint.npz")
    del header["form"]
    write_file(tmp_path / "checkpoint.npz", header, arrays)
    code, said, _ = cli("run", path, "--budget", 2, "--resume", out=out)
    assert code == 2 and "counts otherwise" in said.strip().splitlines()[-1]
