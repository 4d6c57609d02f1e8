"""Sections of the report: the plan fits the stored results, the report writes them again, and its tables have no gaps."""
import json

import pytest
from conftest import command

from oslr_nb.practice.data import stored_result
from oslr_nb.results import experiments, ito2018, kale2017, murata2018

experiments.load_sections()


def by_row(by): return [dict(zip(by, row, strict=True)) for row in zip(*by.values(), strict=True)]


LAW = ito2018.FITTED
RESULTS = {  # section: its stored file, and how the results of its cells are read from it
    "ito2018_tables": ("ito2018_tables", lambda d: {law: by_row(by["fitted"]) for law, by in d.items()}
                       | {steps: by_row(by) for steps, by in d[LAW].items() if steps != "fitted"}),
    "ito2018_others": ("ito2018_others", lambda d: {n: list(by.values()) for n, by in d.items()}),
    "ito2018_figures": ("ito2018_figures", lambda d: {"figures": [d[n] for n in ito2018.FIGURES], "long": d["long"]}),
    "ito2018_ct_figure": ("ito2018_ct", lambda d: {"methods": list(d["methods"].values())}),
    "ito2018_compared": ("ito2018_rivals", lambda d: {n: list(by.values()) for n, by in d.items()}),
    "ito2018_timed": ("ito2018_times", lambda d: {"rows": d}),
    "kale2017_growing": ("kale2017_growth", lambda d: {"designs": list(d.values())}),
    "kale2017_sizing": ("kale2017_sizes", lambda d: {n: list(by.values()) for n, by in d.items()}),
    "kale2017_correlated": ("kale2017_designs", lambda d: {"designs": [{k: r[k] for k in r.keys() - {"design", "rho"}} for r in d]}),
    "kale2017_compared": ("kale2017_methods", lambda d: {n: [by[m] for m in kale2017.RIVALS] for n, by in d.items()}
                          | {"comparators": [by["comparators"] for by in d.values()]}),
    "kale2017_constants": ("kale2017_constant", lambda d: {"streams": d}),
    "murata2018_exponents": ("murata2018_slopes", lambda d: {n: by_row(d[n]) for n in murata2018.SLOPES}
                             | {n: d[n] for n in ("rda", "rda wide")}),
}


@pytest.mark.parametrize("name", RESULTS)
def test_sections_write_what_is_stored(name, tmp_path, monkeypatch):
    monkeypatch.setattr(ito2018, "ct_name", lambda: "ct_like")
    section, (file, read) = experiments.SECTIONS[name], RESULTS[name]
    results, cells = read(stored_result(file)), section.cells(1)
    assert section.cells(5).keys() == cells.keys() and {g: len(c) for g, c in cells.items()} == {g: len(r) for g, r in results.items()}
    text = section.report(results, tmp_path)
    assert "| --- " in text and "nan" not in text and "None" not in text
    assert json.loads((tmp_path / f"{file}.json").read_text()) == stored_result(file)


def test_tables_of_results_that_are_not_kept_whole(monkeypatch):
    "Of the comparisons of Murata & Suzuki only the chosen parameters are stored."
    monkeypatch.setattr(murata2018, "real_names", lambda: list(murata2018.DATA))
    made, real = stored_result("murata2018_synthetic"), {n: stored_result(f"murata2018_{n}") for n in murata2018.DATA}
    for text in (*(murata2018.table_synthetic(made, way) for way in ("separate", "paper")), murata2018.table_real(real)):
        assert "| --- " in text and "nan" not in text and "None" not in text
    cells = experiments.SECTIONS["murata2018_synthetic_figure"].cells(1)
    assert len(cells["judged"]) == len(made["floor"]) == 5 and len(cells["tuning"]) == 2
    for n, c in experiments.SECTIONS["murata2018_real_figure"].cells(1).items(): assert len(c) == len(real[n]["separate"]["Hybrid"]["test"])


@pytest.mark.parametrize(("claim", "paper", "section", "most", "config"), [
    ("E-C6", "ito2018", "ito2018_others", 9, {"count": 4}), ("K1", "kale2017", "kale2017_constants", 2, {}),
])
def test_the_command_runs(claim, paper, section, most, config, monkeypatch, tmp_path):
    "`oslr reproduce PAPER` with one claim and one section, with few cells or few instances."
    cut = lambda cells: [experiments.Cell(c.experiment, c.config | config) for c in cells[:most]]
    groups = {name: cut(cells) for name, cells in experiments.SECTIONS[section].cells(1).items()}
    work = {"claims": {"claims": [experiments.Cell("claim", {"id": claim, "paper": paper})]}, section: groups}
    monkeypatch.setattr(experiments, "plan", lambda names, full: work)
    done = command("reproduce", paper, "--jobs", 1, "--out", tmp_path)
    assert done.exit_code == 0 and experiments.SECTIONS[section].title in (tmp_path / "report.md").read_text()
    assert len(list(tmp_path.glob(f"{paper}_*.json"))) == 1
