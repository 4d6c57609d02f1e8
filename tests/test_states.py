"""What is kept goes on: files of releases, damaged files, pickles, copies and other processes."""

import contextlib
import copy
import io
import json
import os
import pickle
import shutil
import stat
import tempfile
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pytest
import states
from test_learners import KEYS, bought, every_learner, make, query, take

import oslr_nb as oslr
from oslr_nb.core.base.storage import VERSION, read_file, write_file
from oslr_nb.practice.data import sparse_linear
from oslr_nb.practice.scaling import Scaled
from tests.practice.test_service import ask, fresh, same_state, session

KEPT = sorted(p for p in states.HERE.glob("*/*.npz"))
READ = {name: read for name, _, read in states.kinds()}
S = sparse_linear(12, 2, 200, seed=3)


# --- files of releases
def test_every_learner_has_a_file(monkeypatch, tmp_path, capsys):
    "One for each learner, for options that change what is kept, for the commands; the command writes what is missing and nothing else."
    missing = [name for name in READ if not (states.FOLDER / f"{name}.json").exists()]
    assert not missing, f"no state file of {', '.join(missing)}: run `python -m tests.states` and commit what it writes"
    assert set(oslr.LEARNERS) <= {p.stem for p in KEPT} and sum(p.stat().st_size for p in states.HERE.rglob("*.*")) < 800_000
    assert near([1.0, None, "a"], [1.0 + 1e-15, None, "a"]) and near([1e3, 0.0], [1e3, 1e-7])
    assert not near([1.0, 0.0], [1.0, 1e-7]) and not near({"a": 1}, {"a": 2}) and not near(["a"], ["b"]) and not near([1.0], [1.0, 1.0])
    shutil.copytree(states.HERE, tmp_path / "states")
    monkeypatch.setattr(states, "HERE", tmp_path / "states")
    monkeypatch.setattr(states, "FOLDER", tmp_path / "states" / str(VERSION))
    before = {p.name: p.read_bytes() for p in states.FOLDER.iterdir()}
    for suffix in (".npz", ".json"): (states.FOLDER / f"own.CoinBetting{suffix}").unlink()
    states.main()
    assert "written: own.CoinBetting; " in capsys.readouterr().out and before.keys() == {p.name for p in states.FOLDER.iterdir()}
    assert all(p.read_bytes() == before[p.name] for p in states.FOLDER.iterdir() if not p.name.startswith("own.CoinBetting."))


def near(a, b, scale=1.0):
    "Equal answers in equal places, and numbers equal up to rounding, which is each processor's own."
    if isinstance(a, dict): return a.keys() == b.keys() and all(near(a[k], b[k]) for k in a)
    if isinstance(a, list):
        scale = max([scale, *(abs(v) for v in a if isinstance(v, float))])
        return len(a) == len(b) and all(near(v, w, scale) for v, w in zip(a, b, strict=True))
    return a == b or a != a or (isinstance(a, float) and abs(a - b) <= 1e-9 * scale)


@pytest.mark.parametrize("path", KEPT, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_kept_files_load_and_go_on(path):
    told = json.loads(path.with_suffix(".json").read_text())
    got = json.loads(json.dumps(READ[path.stem](path, told)))
    for name, value in got.items():
        expected = told[name]
        if name == "answers": value, expected = ([json.loads(line) for line in lines] for lines in (value, expected))
        assert near(expected, value), f"{path.name}: {name} differs"


def test_arguments_of_later_releases_have_their_defaults(tmp_path):
    "A checkpoint that was written before an argument existed goes on."
    header, arrays = read_file(states.FOLDER / "serve-auto.npz")
    del header["learner"]["params"]["prior"]
    write_file(tmp_path / "s.npz", header, arrays)
    (service := fresh(budget=4)).restore(tmp_path / "s.npz")
    assert service.rounds == header["rounds"] > 0
    (tmp_path / "out").mkdir()
    header, arrays = read_file(states.FOLDER / "run-auto.npz")
    del header["run"]["ignore"]
    write_file(tmp_path / "out" / "checkpoint.npz", header, arrays)
    told = json.loads((states.FOLDER / "run-auto.json").read_text())
    assert states.run(tmp_path, "run-auto", resume=True)["bought"] == told["bought"]


# --- written files
def test_files_are_on_the_disk_before_they_are_in_place(tmp_path, monkeypatch):
    "Whole file to the disk, move, folder to the disk; each under a name of its own."
    done, path, lr = [], tmp_path / "a.npz", oslr.auto(4, 2, seed=0)
    def forced(f, real=os.fsync):
        found = os.fstat(f)
        done.append("folder" if stat.S_ISDIR(found.st_mode) else found.st_size)
        real(f)
    def moved(a, b, real=os.replace):
        done.append((Path(a), Path(b)))
        real(a, b)
    monkeypatch.setattr(os, "fsync", forced)
    monkeypatch.setattr(os, "replace", moved)
    for _ in range(2): lr.save(path)
    (a, _), (b, _) = [what for what in done if isinstance(what, tuple)]
    assert done == [path.stat().st_size, (a, path), "folder", path.stat().st_size, (b, path), "folder"]
    assert a != b and a.parent == b.parent == tmp_path


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(call, tmp_path, monkeypatch):
    def full(*args): raise OSError("no space left on device")
    lr, path = oslr.auto(12, 4, seed=0), tmp_path / "a.npz"
    lr.save(path)
    before = path.read_bytes()
    oslr.simulate(lr, S.X, S.y)
    monkeypatch.setattr(os, call, full)
    with pytest.raises(OSError, match="no space left"): lr.save(path)
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["a.npz"]


# --- damaged files
def same_or_refused(path, whole, lr):
    "Whether a file is refused in one sentence; it may be accepted only if it says the same."
    try: got = oslr.load(path)
    except ValueError as e:
        assert "it must be a whole file written by save" in str(e) and "\n" not in str(e)
        return True
    assert repr(got.state(whole=True)) == whole and type(got) is type(lr)
    return False


def test_every_cut_and_changed_bytes(tmp_path):
    "Cut after each byte; one bit of each fifth byte flipped: refused, or (times and names in the archive) the same learner."
    lr, path = oslr.ito2017.GreedyRDA(4, 2, seed=0), tmp_path / "a.npz"
    oslr.simulate(lr, np.eye(4), np.ones(4) / 2)
    lr.save(path)
    data, whole, rng, refused = path.read_bytes(), repr(lr.state(whole=True)), np.random.default_rng(0), 0
    for i in range(len(data)):
        path.write_bytes(data[:i])
        assert same_or_refused(path, whole, lr), f"a file of {i} bytes was accepted"
        if i % 5: continue
        path.write_bytes(data[:i] + bytes([data[i] ^ (1 << int(rng.integers(8)))]) + data[i + 1 :])
        refused += same_or_refused(path, whole, lr)
    assert refused > 0.8 * len(data) / 5
    path.write_bytes(data)
    assert not same_or_refused(path, whole, lr)


@every_learner
@pytest.mark.parametrize("calls", ["between rounds", "after the query", "after the purchase"])
def test_no_place_leaves_its_array(key, calls, tmp_path):
    """A file with a right checksum and a place beyond its array is refused; with another integer it is refused or plays on.

    NUMBA_BOUNDSCHECK=1 makes this test stop at any access outside of an array.
    """
    lr, path, rng = make(key, seed=7), tmp_path / "a.npz", np.random.default_rng(0)
    oslr.simulate(lr, S.X[:50], S.y[:50])
    if calls != "between rounds": values = bought(S.X[50], query(lr))
    if calls == "after the purchase": take(lr, values)
    lr.save(path)
    header, arrays = read_file(path)
    for name, (_, n) in lr._places.items():
        for odd in (-1, n):
            other = copy.deepcopy(lr)
            place = other._places[name][0]
            if not isinstance(place, np.ndarray) or not place.size or not np.shares_memory(place, getattr(other, name, 0)): continue
            place.flat[0] = odd
            other.save(path)
            with pytest.raises(ValueError, match=f"an entry of {name} = {int(odd)}: it must be"): oslr.load(path)
    for name in arrays:
        for odd in (-1, 1, 2**62) if arrays[name].dtype.kind == "i" and arrays[name].size else ():
            changed = copy.deepcopy(arrays)
            changed[name].flat[rng.integers(changed[name].size)] = odd
            write_file(path, header, changed)
            try: again = oslr.load(path)
            except ValueError as e: assert "whole file written by save" in str(e)
            else:
                with contextlib.suppress(ValueError): oslr.simulate(again.skip() or again, S.X[:40], S.y[:40])


@pytest.mark.parametrize("command", ["serve", "run"])
def test_checkpoints_that_were_damaged(command, tmp_path):
    "Cut anywhere, of another version, without a part, with a part of another kind: a refusal in one sentence leaves the file as it is."
    name, path = f"{command}-auto", tmp_path / "s.npz" if command == "serve" else tmp_path / "out" / "checkpoint.npz"
    path.parent.mkdir(exist_ok=True)
    data, rng = (states.FOLDER / f"{name}.npz").read_bytes(), np.random.default_rng(1)
    header, arrays = read_file(states.FOLDER / f"{name}.npz")
    def attempt():
        before = path.read_bytes()
        with pytest.raises(ValueError) as e:
            if command == "serve": fresh(budget=4).restore(path)
            else: states.run(tmp_path, name, resume=True)
        assert str(e.value).count("\n") == 0 and "it must be" in str(e.value).replace("checkpoint.npz must be", "it must be")
        assert path.read_bytes() == before
    for i in [*rng.integers(0, len(data) - 1, 15), len(data) - 1]:
        path.write_bytes(data[:i])
        attempt()
    parts = {*header, *arrays} - {"kind", "tally.far", "tally.runs", "tally.spread"}  # which files of the first release do not have
    forged = [[{k: v for k, v in part.items() if k != gone} for part in (header, arrays)] for gone in sorted(parts)]
    forged += [(header | {key: "x"}, arrays) for key in header] + [(header, arrays | {k: np.zeros(a.size + 1)}) for k, a in arrays.items()]
    for parts in forged:
        write_file(path, *parts)
        attempt()
    with pytest.MonkeyPatch.context() as later:
        later.setattr(oslr.storage, "VERSION", VERSION + 1)
        write_file(path, header, arrays)
    attempt()
    oslr.auto(10, 4).save(path)
    attempt()


# --- pickles, copies, other processes
def through_joblib(thing):
    "As joblib writes it to a file and reads it."
    joblib.dump(thing, file := io.BytesIO())
    file.seek(0)
    return joblib.load(file)


WAYS = {"deepcopy": copy.deepcopy, "joblib": through_joblib, **{
    f"pickle {n}": lambda x, n=n: pickle.loads(pickle.dumps(x, protocol=n)) for n in (2, pickle.HIGHEST_PROTOCOL)}}


def through_a_file(lr):
    "As it is saved and loaded; what a query was answered is remembered by whoever asked."
    with tempfile.TemporaryDirectory() as folder:
        lr.save(Path(folder) / "a.npz")
        other = oslr.load(Path(folder) / "a.npz")
    other.asked = getattr(lr, "asked", None)
    return other


def through_a_map(lr):
    "Mapped into memory by joblib: arrays that may not be written, as in a report of users of neighbouring tools (A37)."
    with tempfile.TemporaryDirectory() as folder:
        joblib.dump(lr, Path(folder) / "m")
        return joblib.load(Path(folder) / "m", mmap_mode="r")


def out_of_band(lr):
    "The same, with the arrays as bytes of their own."
    data = pickle.dumps(lr, protocol=5, buffer_callback=(buffers := []).append)
    return pickle.loads(data, buffers=[bytes(b.raw()) for b in buffers])


PRICES = np.arange(1.0, 13.0)
PLAYERS = {key: partial(make, key, seed=5) for key in KEYS} | {
    "with prices": partial(oslr.own.PairwiseLeastSquares, 12, 20.0, costs=PRICES, seed=5),
    "with prices, rows of pairs": partial(oslr.own.PairwiseLeastSquares, 12, 20.0, costs=PRICES, seed=5, rows=12, memories=[100]),
    **{f"scaled {key}": partial(Scaled, 12, 6, key, options={"k": 2} | more, seed=5) for key, more in (
        ("ito2017.RDA1", {}), ("kale2017.OnlineGreedyOSLR", {"T": 200}))},
}


@pytest.mark.parametrize("start", [0, 39])  # 39: the last round in which scales are learnt
@pytest.mark.parametrize("name", PLAYERS)
def test_copies_go_on(name, start):
    "Taken after each call of a round: the copies and the original play on bit for bit like one that nobody has copied."
    def reached(call):
        lr = PLAYERS[name]()
        if start: oslr.simulate(lr, S.X[:start], S.y[:start])
        for c in range(call): step(lr, start, c)
        return lr
    ways = WAYS | {"file": through_a_file, "memory-mapped": through_a_map, "out of band": out_of_band}
    for call in range(len(reached(0).calls)):
        lr, wanted = reached(call), rest_of(reached(call), start, call)
        for way, through in ways.items():
            other = through(lr)
            assert type(other) is type(lr) and rest_of(other, start, call) == wanted, (way, call)
        assert rest_of(lr, start, call) == wanted


def step(lr, t, call):
    "One call of a round, and its answer; that of the query is remembered with the learner."
    name = lr.calls[call]
    if name == "query": lr.asked = lr.query()
    elif name == "commit": lr.commit()
    elif name == "update": lr.update(float(S.y[t]))
    else: return take(lr, bought(S.X[t], lr.asked))


def rest_of(lr, t, call):
    "What comes after `call` calls of a round: the rest of it and forty more."
    first, start = [step(lr, t, c) for c in range(call, len(lr.calls) if call else 0)], t + bool(call)
    run = oslr.simulate(lr, S.X[start : start + 40], S.y[start : start + 40])
    return first, run.predictions.tobytes(), np.asarray(lr.coef_).tobytes(), lr.intercept_, lr.rng.random()


@pytest.mark.parametrize("way", WAYS)
def test_other_objects_travel(way):
    through, run = WAYS[way], oslr.simulate(oslr.auto(12, 4, seed=0), S.X, S.y)
    other = through(run)
    assert np.array_equal(other.losses, run.losses) and (other.regret(np.ones(12)) == run.regret(np.ones(12))).all()
    assert np.array_equal(through(S).X, S.X) and np.array_equal(through(S).y, S.y)
    advice = oslr.recommend(S.X, S.y, budget=4)
    assert str(through(advice)) == str(advice) and through(advice) == advice
    env, lr = oslr.Environment(S.X, S.y, 4), oslr.auto(12, 4, seed=1)
    for _ in range(20): env.predict(lr.predict(env.observe(lr.query()))) and lr.skip()
    lr.skip()
    env.observe([3])
    twin, same = through((env, lr))
    for e, one in ((env, lr), (twin, same)):
        with pytest.raises(oslr.ProtocolError): e.observe([3])
        e.predict(0.0)
        oslr.play(one, e)
    assert np.array_equal(env.predictions, twin.predictions) and (env.purchases == twin.purchases).all()
    assert len(env.ledger) == len(twin.ledger)


@pytest.mark.parametrize("way", WAYS)
def test_a_service_travels(way):
    "With open examples; its answers are those of the original."
    service, lines, _, _ = session(n=20)
    ask(service, "query", id="open")
    other = WAYS[way](service)
    for line in lines[:80]: assert service.answer(line) == other.answer(line)
    same_state(service, other)
    assert other.learner is not service.learner
