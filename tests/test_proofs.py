"""Lemmas in Coq: `tests/proofs` compiles, rests on the axioms of the reals alone, and the pages say what is checked there."""

import json
import re
import shutil

import pytest
from conftest import NOTEBOOKS, TOP, run

FOLDER = TOP / "tests" / "proofs"
# File: the page, the label of its statement, the theorems that say the same, and those that show that a smaller constant is false.
PROOFS = {
    "pair": ("book/02_random", "thm-pair", ["chance_of_one", "chance_of_a_pair", "unbiased", "mean_square", "no_product_without_the_pair"],
             ["half_of_the_mean_square_is_false", "with_the_pair_a_rule_exists"]),
    "averaging": ("core/mathematics/08_oco", "thm-rda", ["dual_averaging", "ball_convex"], ["smaller_is_false"]),
    "cut": ("core/mathematics/07_geometry", "lem-truncation", ["truncation", "golden"], ["smaller_is_false"]),
    "aggregation": ("own/moments/02_experts", "lem-mix", ["mixed_loss_is_attained", "regret"],
                    ["twice_the_rate_is_false", "half_of_the_price_is_false"]),
}
# What Coq's own library of the reals and its analysis assume; a gap in a proof (`Admitted`) would be another axiom.
AXIOMS = {"ClassicalDedekindReals.sig_not_dec", "ClassicalDedekindReals.sig_forall_dec",
          "FunctionalExtensionality.functional_extensionality_dep", "Classical_Prop.classic"}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    "A folder with the compiled file that the others import."
    if not shutil.which("coqc"): pytest.skip("there is no coqc to check the proofs (make coq installs it on Debian and Ubuntu)")
    folder = tmp_path_factory.mktemp("proofs")
    for path in FOLDER.glob("*.v"): shutil.copy(path, folder)
    run("coqc", "-Q", folder, "proofs", folder / "sums.v", cwd=folder)
    return folder


def check(folder, name, text=None):
    "What Coq prints of a file, or of another text in its place."
    path = folder / f"{name}.v"
    if text is not None:
        path = folder / f"{name}_other.v"
        path.write_text(text)
    return run("coqc", "-Q", folder, "proofs", path, cwd=folder, expect=int(text is not None))


@pytest.mark.parametrize("name", PROOFS)
def test_a_file_is_proved_from_the_axioms_of_the_reals(compiled, name):
    text, (_, _, theorems, controls) = (FOLDER / f"{name}.v").read_text(), PROOFS[name]
    printed = check(compiled, name)
    for theorem in theorems + controls:
        assert re.search(rf"^Theorem {theorem}\b", text, re.M) and f"Print Assumptions {theorem}." in text, theorem
    blocks = printed.split("Axioms:\n")[1:]
    assert len(blocks) == len(theorems + controls)
    assert all(set(re.findall(r"^(\S+)(?: :|$)", block, re.M)) <= AXIOMS for block in blocks), printed


WRONG = [  # a changed constant in a statement: its proof must not go through
    ("pair", "/ (INR (S (S d)) * INR (S d)).\nProof", "/ (INR (S (S d)) * INR (S (S d))).\nProof"),
    ("pair", "Rsqr (x i * x j) / pair law i j.\nProof", "Rsqr (x i * x j) / pair law i j / 2.\nProof"),
    ("averaging", "<= sum n (fun j => sq d (g j) / (2 * lam j)) +", "<= sum n (fun j => sq d (g j) / (4 * lam j)) +"),
    ("averaging", "+ lam (pred n) / 2 * sq d u.\nProof", "+ lam (pred n) / 4 * sq d u.\nProof"),
    ("cut", "(3 + sqrt 5) / 2 * distance d w u.\nProof", "(3 + sqrt 5) / 4 * distance d w u.\nProof"),
    ("cut", "Definition nu : R := 1 + (rho + sqrt", "Definition nu : R := 1 + (rho + 1 / 2 * sqrt"),
    ("aggregation", "lost T s + 2 * (Y l h * Y l h) * ln (INR n).", "lost T s + 1 * (Y l h * Y l h) * ln (INR n)."),
    ("aggregation", "(l + h) / 2 + (g l - g h) / (4 * Y).", "(l + h) / 2 + (g l - g h) / (2 * Y)."),
]


@pytest.mark.parametrize(("name", "right", "wrong"), WRONG)
def test_a_wrong_statement_is_not_proved(compiled, name, right, wrong):
    text = (FOLDER / f"{name}.v").read_text()
    assert text.count(right) == 1
    assert "Error" in check(compiled, name, text.replace(right, wrong))


@pytest.mark.parametrize("name", PROOFS)
def test_the_page_says_that_a_statement_is_checked(name):
    page, label = PROOFS[name][:2]
    path = next(p for p in NOTEBOOKS if p.as_posix().endswith(f"nbs/{page}.ipynb"))
    text = "\n".join("".join(cell["source"]) for cell in json.loads(path.read_text())["cells"])
    box = re.search(rf'<blockquote id="{label}">(.*?)</blockquote>', text, re.S)[1]
    assert f"Checked in Coq: `tests/proofs/{name}.v`" in box
    assert f"{page}.ipynb" in (FOLDER / f"{name}.v").read_text()


def test_every_file_is_named():
    assert {p.stem for p in FOLDER.glob("*.v")} == {*PROOFS, "sums"}
