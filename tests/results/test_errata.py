"""Errata and letters: every erratum has its card and stands in one letter, which can be pasted into a mail as it is."""
import re

import pytest
from conftest import command

from oslr_nb.core.game.registry import papers
from oslr_nb.ledger.claims import CLAIMS, ERRATA, claim_ids, typeset
from oslr_nb.results import errata
from oslr_nb.results.errata import PAPERS, card, cards, concedes, fields, in_order, in_words, letter, source

ROWS = errata.errata()
PARTS = ("In its defence", "To check by hand", "Our correction", "What depends on it")


def items(key):
    "The parts of a letter that are about one erratum each."
    return re.split(r"^\*\*\d+\. ", letter(key), flags=re.M)[1:]


def test_errata_are_claims_with_a_mend_a_card_and_a_letter():
    claim_ids([])
    assert ROWS and all(r.id in CLAIMS and r.corrected and r.controls and r.status != "holds" for r in ROWS)
    assert all((r.status == "refuted") == (r.erratum["kind"] == "false") for r in ROWS)
    all_cards, letters = "".join(map(cards, ERRATA)), [item for key in PAPERS for item in items(key)]
    for r in ROWS:
        assert all_cards.count(card(r)) == 1 and sum(f"> {in_words(r.erratum['printed'])}\n" in item for item in letters) == 1, r.id
    assert len(letters) == len(ROWS) and PAPERS.keys() == {source(r) for r in ROWS}


@pytest.mark.parametrize("key", PAPERS)
def test_a_letter_has_words_and_no_links(key):
    text, rows = letter(key), in_order(key)
    assert sorted(r.id for r in rows) == sorted(r.id for r in ROWS if source(r) == key)
    assert not re.search(r"\]\(|\.\./|\.ipynb|<a ", text), "a link, or a path to a file"
    assert text.startswith("Dear ") and fields(key)["title"] in text and "**Where have we misread you?**" in text
    for r, item in zip(rows, items(key), strict=True):
        told = [in_words(r.erratum[name]) for name in ("printed", "defence", "witness")]
        told += [in_words(typeset(r.corrected)), in_words(r.erratum["matters"])]
        assert all(words[1:] in item for words in told), r.id
        assert [item.index(title) for title in PARTS] == sorted(item.index(title) for title in PARTS)
        assert r.id in text and r.page.removesuffix(".ipynb") in text
    assert len(rows) > 3 or len(text) < 5400, "longer than a printed page"


@pytest.mark.parametrize("key", PAPERS)
def test_a_letter_opens_with_what_its_defence_does_not_concede(key):
    "What is unclear, what nothing depends on, and what is true as printed in the paper's range come last."
    given = [concedes(r) for r in in_order(key)]
    assert not given[0] and given == sorted(given)
    first = in_order(key)[0].erratum
    assert not first["matters"].lower().startswith("nothing") and "true as printed" not in first["defence"] and first["kind"] != "unclear"


def test_a_letter_follows_its_card_and_the_package(monkeypatch):
    "Its names are without TeX, its address is that of the package; an unknown paper is refused."
    before = letter("foster2016")
    monkeypatch.setitem(next(r for r in ROWS if r.id == "E-F2").erratum, "witness", "Toss a coin.")
    assert "*To check by hand.* Toss a coin.\n" in letter("foster2016") != before
    assert letter("kale2017").startswith("Dear Satyen Kale, Zohar Karnin, Tengyuan Liang and Dávid Pál,\n")
    class About(dict):
        def get_all(self, name, otherwise): return ["Issues, https://example.org/issues", "Source, https://example.org/oslr"]
    assert "http" not in letter("foster2016")
    monkeypatch.setattr(errata, "metadata", lambda name: About(Author="A. Author"))
    assert "https://example.org/oslr, with all proofs" in letter("foster2016") and letter("foster2016").endswith("\n\nA. Author\n")
    with pytest.raises(ValueError) as error: letter("li2025")
    assert str(error.value).count(".") == 1 and all(key in str(error.value) for key in PAPERS) and "li2025" in papers()
    assert command("letter", "li2025").exit_code == 2 and command("letter", "ito2017").output == letter("ito2017")
