"""Loaders of the papers' data: faults of files and of the network, the cache, and what the stand-in promises. No file is needed."""

import gzip
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from oslr_nb.results import datasets as data


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    "An empty cache folder, and nobody reaches the network unless a test says how."
    folder = tmp_path / "cache"
    monkeypatch.setenv("OSLR_DATA", str(folder))
    pooch = data._pooch()
    monkeypatch.setattr(pooch, "retrieve", lambda *a, **k: pytest.fail("the network was asked"))
    return folder


@pytest.fixture
def rows():
    "Three rows of a CT-slice file; column 5 has the mark of a bin outside the image."
    values = np.round(np.random.default_rng(0).uniform(0, 1, (3, 386)), 6)
    values[:, 0], values[:, 5], values[:, -1] = 7, -0.25, (30.5, 20.25, 10.125)
    return values


def text(values, header=data.CT_HEADER) -> str:
    return "\n".join([",".join(header), *(",".join(map(str, row)) for row in values.tolist())]) + "\n"


def known(values) -> dict: return {"rows": len(values), "labels": data._digest(values[:, -1]), "head": data._digest(values[:682, 1:-1])}


def packed(folder, name="slice_localization_data.zip", **members):
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items(): archive.writestr(f"{member}.csv", content)
    return folder / name


def small(monkeypatch, values):
    "Let `ct_slice` expect these rows instead of the published ones."
    monkeypatch.setattr(data._read_ct, "__defaults__", tuple(known(values).values()))


def test_files_that_are_there(cache, rows, monkeypatch, tmp_path):
    "A cache hit needs no network; line ends of Windows and quotes are harmless."
    small(monkeypatch, rows)
    packed(cache, slice_localization_data=text(rows))
    for stream in (data.ct_slice(), data.ct_slice(download=True), data.ct_slice(cache)):
        assert (stream.y == rows[:, -1]).all() and (stream.X[:, 4] == 0).all() and stream.w is None
    assert (data.ct_slice(zero_outside=False).X == rows[:, 1:-1]).all()
    file, quoted = tmp_path / "a.csv", text(rows, [f'"{name}"' for name in data.CT_HEADER])
    file.write_bytes(b"\xef\xbb\xbf" + quoted.replace("\n", "\r\n").encode())
    assert (data._read_ct(file, **known(rows))[1] == rows[:, -1]).all()


@pytest.mark.parametrize("load", [data.ct_slice, data.blog_feedback, data.mnist])
def test_missing_file_says_how_to_get_it(load, cache, tmp_path):
    for path in (None, tmp_path / "nowhere.zip", str(tmp_path)):
        with pytest.raises(FileNotFoundError, match=r"Get it from https://.* pass path=.*download=True") as e: load(path)
        assert str(cache) in str(e.value) and load.__name__ in str(e.value)
    assert not cache.exists()


@pytest.mark.parametrize("harm", [
    lambda z: b"", lambda z: z[:100], lambda z: z[:-1], lambda z: z[: len(z) // 2] + bytes([z[len(z) // 2] ^ 255]) + z[len(z) // 2 + 1 :],
], ids=["empty", "short", "cut", "changed inside"])
def test_a_damaged_zip(harm, tmp_path, rows):
    file = packed(tmp_path, slice_localization_data=text(rows))
    file.write_bytes(harm(file.read_bytes()))
    with pytest.raises(ValueError, match="not a whole zip file"): data._read_ct(file, **known(rows))


@pytest.mark.parametrize(("edit", "message"), [
    (lambda t: t.replace("value7,", ""), "385 columns instead of 386"),
    (lambda t: t.replace("value7,value8", "value8,value7"), "order matters"),
    (lambda t: t.replace("30.5\n", "30.5,1\n"), "386 numbers in each row"), (lambda t: t.replace("30.5", ""), r"\[0, 385\] = nan"),
    (lambda t: t.replace("30.5", "inf"), r"\[0, 385\] = inf"), (lambda t: t.replace("30.5", "30.500001"), "labels of .* other numbers"),
    (lambda t: t.replace("-0.25", "-0.2"), "features of rows 0 to 681 .* other numbers"),
    (lambda t: t.replace("-0.25", "-25"), "in \\[-0.25, 1\\]"), (lambda t: t[: t.rindex("\n", 0, -1) + 1], "shape of .*2, 386"),
    (lambda t: t.split("\n")[0], "Empty CSV"), (lambda t: "", "header"),
])
def test_every_fault_of_a_table_is_named(edit, message, tmp_path, rows):
    file = tmp_path / "a.csv"
    file.write_text(text(rows))
    data._read_ct(file, **known(rows))
    assert edit(text(rows)) != text(rows), "the edit changes nothing: this test is blind"
    file.write_text(edit(text(rows)))
    with pytest.raises(ValueError, match=message): data._read_ct(file, **known(rows))


@pytest.mark.parametrize("half", [True, False])
def test_what_is_no_whole_zip_is_not_kept(half, rows, monkeypatch, tmp_path):
    "Pooch keeps nothing of a download that fails."
    content = packed(tmp_path, slice_localization_data=text(rows)).read_bytes()
    get = lambda **how: lambda url, output, pooch_: Path(output).write_bytes(content[: len(content) // 2] if half else content)
    monkeypatch.setattr(data._pooch(), "HTTPDownloader", get)
    if not half: data._whole_zip("", tmp_path / "b.zip", None)
    else:
        with pytest.raises(OSError, match="not a whole zip file"): data._whole_zip("", tmp_path / "b.zip", None)


@pytest.mark.parametrize(("error", "kind", "message"), [
    (OSError("no route"), ConnectionError, "no route.*Try again"), (ValueError("hash"), ValueError, "SHA-256 .* nothing was kept"),
    (KeyboardInterrupt(), KeyboardInterrupt, None),
])
def test_what_pooch_raises_becomes_a_sentence(error, kind, message, monkeypatch):
    def broken(*args, **options): raise error
    monkeypatch.setattr(data._pooch(), "retrieve", broken)
    with pytest.raises(kind, match=message) as e: data.blog_feedback(download=True)
    assert e.value.__cause__ is None and (e.value.__suppress_context__ or kind is KeyboardInterrupt)


def test_downloads_only_when_asked_and_with_the_known_digest(cache, rows, monkeypatch, tmp_path):
    small(monkeypatch, rows)
    asked = []
    def retrieve(url, digest, name, folder, **options):
        asked.append((url, digest))
        return packed(folder, name, slice_localization_data=text(rows))
    monkeypatch.setattr(data._pooch(), "retrieve", retrieve)
    with pytest.raises(FileNotFoundError): data.ct_slice()
    with pytest.raises(FileNotFoundError): data.ct_slice(tmp_path / "gone", download=True)
    assert asked == []
    for _ in range(2): assert len(data.ct_slice(download=True).y) == 3
    assert asked == [(data.SOURCES["ct_slice"].url, None)]
    with pytest.raises(ValueError): data.blog_feedback(download=True)
    assert asked[1:] == [(data.SOURCES["blog_feedback"].url, data.SOURCES["blog_feedback"].sha256)]


@pytest.mark.parametrize("kind", ["npz", "idx"])
def test_mnist_refuses_other_contents(kind, tmp_path):
    arrays = {"x_train": np.zeros((2, 28, 28), "u1"), "y_train": np.zeros(2, "u1"),
              "x_test": np.zeros((1, 28, 28), "u1"), "y_test": np.zeros(1, "u1")}
    if kind == "npz": np.savez(tmp_path / "mnist.npz", **arrays)
    else:
        for key, (name, _) in data.MNIST_PARTS.items(): (tmp_path / f"{name}.gz").write_bytes(gzip.compress(data._to_idx(arrays[key])))
    with pytest.raises(ValueError, match=r"train-images-idx3-ubyte.*other numbers"): data.mnist(tmp_path)
    for file in tmp_path.iterdir(): file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(ValueError, match="damaged"): data.mnist(tmp_path)
    objects = io.BytesIO()
    np.savez(objects, **arrays | {"y_test": np.array([None])})
    (tmp_path / "mnist.npz").write_bytes(objects.getvalue())
    with pytest.raises(ValueError, match="allow_pickle"): data.mnist(tmp_path)


def test_stand_in_and_blog_feedback(tmp_path):
    "The stand-in says what it is; blog feedback is in the order of time or not at all."
    a = data.ct_like(3000, seed=5)
    assert (a.X[:, data.CT_CONSTANT] == 0).all()
    assert 0.12 < (a.X > 0).mean() < 0.27 and abs(a.y.mean() - 47) < 1.5 and np.abs(np.diff(a.y)).max() < 8
    assert "NOT the data set" in data.ct_like.__doc__
    values = np.arange(4 * 281.0).reshape(4, 281)
    line, name = [",".join(map(str, row)) for row in values.tolist()], "blogData_test-2012.02.0{}.00_00"
    digests = {"rows": (2, 2), "labels": data._digest(values[:, -1]), "features": data._digest(values[:, :-1], "<f4")}
    good = {"blogData_train": "\n".join(line[:2]), name.format(2): line[3], name.format(1): line[2]}
    stream = data._read_blog(packed(tmp_path, "a.zip", **good), **digests)
    assert (stream.X == values[:, :-1]).all() and (stream.y == values[:, -1]).all()
    for bad in ({"blogData_train": "\n".join(line[:2])}, good | {name.format(1): line[3], name.format(2): line[2]},
                good | {name.format(3): line[2]}, good | {name.format(1): line[2][:-3]}):
        with pytest.raises(ValueError): data._read_blog(packed(tmp_path, "b.zip", **bad), **digests)
