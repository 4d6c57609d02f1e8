"""Sets that come with the package: those with prices, and those that the stories simulate."""

import json

import numpy as np
import pytest

from oslr_nb.practice import data
from oslr_nb.results import datasets

PUBLISHED = {  # digest of the features (-1 where missing), of the classes, and how many are ill
    "heart": ("afc096108d53d47cee8d93f89cfc79fe036ee36eaf62bbd16154dddb29e4fa0f",
              "370b80f62d7daa76b333e83a904b617bb6d2850a9f1fa326d77d3608c1a87eab", 139),
    "hepatitis": ("bb3f1ca346feffc21623dd4cc4104bd54aeb33ebab4778646b32ebf0a67617f1",
                  "3acb3feff6b7420ce7732e68d612195a7d59edfac0557a3ba6ae8879e6853296", 32),
    "thyroid": ("6f538af150abd7c27eef2decbcf89b0ea404e8d231c19afbbaca0d9529fa86a5",
                "0454ad1c49b79f526731d73786b09b1d1b5c8bc30fc28153c74fd03c15fd2fd4", 534),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_priced_sets_are_whole(name):
    s, (features, classes, ill) = data.priced(name), PUBLISHED[name]
    assert datasets._digest(np.nan_to_num(s.X, nan=-1.0)) == features and datasets._digest(s.classes) == classes and s.y.sum() == ill
    assert s.X.shape[1] == len(s.names) == len(s.costs) == len(s.discounted) and set(np.unique(s.y)) == {0, 1} and s.w is None
    shared = np.isin(s.names, [feature for group in s.groups for feature in group])
    assert (s.discounted[~shared] == s.costs[~shared]).all() and (1 <= s.discounted[shared]).all()
    assert (s.discounted[shared] < s.costs[shared]).all() and (s.costs >= 1).all()
    whole, gone = data.priced(name, impute=True), np.isnan(s.X)
    assert (whole.X[~gone] == s.X[~gone]).all() and np.allclose(whole.X.mean(axis=0), np.nanmean(s.X, axis=0))


@pytest.mark.parametrize(("args", "message"), [
    (("pima",), "one of heart, hepatitis, thyroid"), ((None,), "name"), (("heart", "yes"), "impute = 'yes'"),
])
def test_priced_refuses(args, message):
    with pytest.raises(ValueError, match=message): data.priced(*args)


def test_a_priced_set_stays_one_when_shuffled():
    s = data.priced("hepatitis")
    t = data.shuffled(s, 3)
    assert isinstance(t, data.PricedStream) and t.names == s.names and (t.costs == s.costs).all()
    order = np.random.default_rng(3).permutation(155)
    assert np.array_equal(t.X, s.X[order], equal_nan=True) and (t.y == s.y[order]).all() and (t.classes == s.classes[order]).all()


@pytest.mark.parametrize(("page", "name"), [("sensor", "machine"), ("provider", "lender"), ("survey", "survey")])
def test_simulated_tables_are_what_their_page_makes(page, name, top):
    cells = json.loads((top / f"nbs/start/{page}.ipynb").read_text())["cells"]
    [source] = [source for cell in cells if "def made():" in (source := "".join(cell["source"]))]
    exec(source[: source.index("\n\n")], space := {"np": np})
    (columns, rows), (table, names) = space["made"](), data.simulated(name)
    assert [*names] == columns[:-1] and np.array_equal(np.column_stack([table.X, table.y]), rows, equal_nan=True)
    assert np.isnan(table.X).any() == (name == "survey")
