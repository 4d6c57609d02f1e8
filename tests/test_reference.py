"""The reference: every public name has an entry, those that a user types a complete one, and names in prose become the right links."""

import ast
import re

import pytest
from conftest import TOP

import oslr_nb as oslr
from website import reference

# Names that a user types have full docstrings: those of the face, the learners, and these. The others have a sentence and the facts.
TYPED = {
    *reference.home(), *(e.cls.__name__ for e in oslr.LEARNERS.values()),
    "OpenCase", "Scaled", "make_learner", "Classifier", "SeveralLabels",  # around learners
    "reproduce", "run_table", "export", "use_backend",  # behind the commands
    "sparse_linear", "digits_pair", "priced", "ct_slice", "ct_like", "blog_feedback", "mnist", "mnist_pair", "use_data_folder",  # data
    "best_subset",
}  # fmt: skip
MODULES = reference.modules()
SHOWN = reference.shown()
SOURCE = re.compile(r"Source:|[Oo]urs\b|[Bb]ase class of|\b(19|20)\d\d\b")


def definitions(module):
    "Public functions and classes of a module and the public methods of its classes: name, definition."
    for name in module.public:
        node = module.nodes[name]
        if isinstance(node, reference.Definition): yield name, node
        if isinstance(node, ast.ClassDef): yield from ((f"{name}.{m.name}", m) for m in reference.members(node))


def overrides(module, name):
    "Is this a method that a base class documents?"
    cls, _, method = name.partition(".")
    return method and any(m.name == method for _, base in list(reference.lineage(module, cls))[1:] for m in reference.members(base))


def raises(node):
    "Does the body raise an error of another kind than ValueError? That a bad argument raises that goes without saying."
    made = [n for n in getattr(node, "body", []) if isinstance(n, ast.FunctionDef) and n.name in ("__init__", "__post_init__")]
    calls = [n.exc for part in (made if isinstance(node, ast.ClassDef) else [node]) for n in ast.walk(part)
             if isinstance(n, ast.Raise) and isinstance(n.exc, ast.Call)]
    return any(ast.unparse(call.func) != "ValueError" for call in calls)


def faults(module):
    "What docstrings lack: summaries, sources, and of names that a user types parameters, what is returned and what is raised."
    for name in module.public:
        node = module.nodes[name]  # a constant needs no source, and a kernel has that of its learner
        text = ast.get_docstring(node) if isinstance(node, reference.Definition) and "kernel" not in reference.decorators(node) else "ours"
        if not reference.summary(module, name).strip(): yield f"{name} lacks a summary"
        room = module.file.relative_to(TOP / "oslr_nb").parts[0]  # what stands in the room of a paper is the paper's
        if room == "own" and not SOURCE.search(text): yield f"{name}: which paper, or is it ours?"
    for name, node in definitions(module):
        doc, inherited, typed = reference.documentation(node), overrides(module, name), name.split(".")[0] in TYPED
        if not (doc["Summary"] or inherited): yield f"{name} lacks a summary"
        full = any(doc[part] for part in ("Parameters", "Attributes", "Returns", "Yields", "Raises", "See Also"))
        if not typed and full: yield f"{name}: a sentence and the facts, or add it to TYPED"
        if not typed or module.name == "cli": continue  # the commands of the terminal have their help beside each argument
        said = [part.strip().lstrip("*") for p in doc["Parameters"] for part in p.name.split(",")]
        taken = [p[0].lstrip("*") for p in reference.parameters(module, node) if p[1] or p[0].strip("*/")]
        if sorted(said) != sorted(taken) and (said or not inherited): yield f"{name}: documented {said}, taken {taken}"
        yield from (f"{name}: {p.name} without words" for p in doc["Parameters"] if not "".join(p.desc).strip())
        if inherited: continue
        if isinstance(node, ast.FunctionDef) and not reference.decorators(node) & {"property", "cached_property"}:
            kind = reference.unparse(node.returns)
            if bool(doc["Returns"] or doc["Yields"]) == (kind in ("None", "NoReturn")): yield f"{name}: Returns does not fit {kind}"
        if raises(node) and not doc["Raises"]: yield f"{name} raises another error than ValueError and does not say so"


def test_docstrings_are_complete(): assert not [f"{m.name}.{fault}" for m in SHOWN for fault in faults(m)]


def test_learners_have_their_methods_and_names_their_places():
    "An unclear name is that of its own page, or the method of other classes; nothing of a docstring becomes markup by accident."
    for module in reference.shown():
        for name in module.public:
            bases = [base.name for _, base in reference.lineage(module, name)]
            if bases[1:] and bases[-1] == "Learner":
                text = "\n".join(reference.inherited(module, module.nodes[name]))
                for method in ("query", "update", "save"): assert f"#Learner.{method})" in text, f"{name} lacks {method}"
                assert reference.target(f"{name}.query")[1] == "Learner.query"
    known = {name for module in MODULES.values() for name in module.public}
    assert TYPED - {"HOME", "STOREYS"} <= known and len(TYPED) > 60
    assert reference.target("claim", "results/experiments.ipynb") == ("reference/results.experiments.ipynb", "claim")
    assert reference.target("claim", "ledger/claims.ipynb") == ("reference/claims.ipynb", "claim")
    assert "observe" in MODULES["ito2017.algorithm1"].public and reference.target("observe", "core/game/00_environment.ipynb") is None
    assert reference.target("best_sparse", ITO) == ("reference/run.ipynb", "best_sparse")
    assert reference.plain("|w|_1 <= r, x^T y^2 and `a_b`") == r"\|w\|\_1 \<= r, x\^T y\^2 and `a_b`"


ITO, DRIVER = "papers/ito2017/01_algorithm1.ipynb", "reference/driver.ipynb"


@pytest.mark.parametrize(("name", "page", "anchor"), [
    ("RDA1", "reference/ito2017.algorithm1.ipynb", "RDA1"), ("ito2017.RDA1", "reference/ito2017.algorithm1.ipynb", "RDA1"),
    ("oslr.ito2017.RDA1(d=3, budget=2)", "reference/ito2017.algorithm1.ipynb", "RDA1"), ("simulate", DRIVER, "simulate"),
    ("oslr.simulate(lr, X, y)", DRIVER, "simulate"), ("oslr_nb.core.game.driver.simulate", DRIVER, "simulate"),
    ("Learner.query", "reference/learner.ipynb", "Learner.query"), ("RDA1.save", "reference/learner.ipynb", "Learner.save"),
    ("oslr.verify", "reference/claims.ipynb", "verify"), ("cli.verify", "reference/cli.ipynb", "verify"),
    ("claims.case", "reference/claims.ipynb", "case"), ("oslr.designs", "reference/designs.ipynb", ""),
    ("LEARNERS", "reference/registry.ipynb", "LEARNERS"),
])
def test_a_name_has_one_place(name, page, anchor): assert reference.target(name, ITO) == (page, anchor)


@pytest.mark.parametrize("name", ["verify", "case", "np.sqrt", "radius", "oslr.nothing", "RDA1.nothing", "a b", "k", "x[S]", "simulate.py"])
def test_what_is_no_name_or_unclear_has_none(name): assert reference.target(name, ITO) is None


LINK = "[`simulate`](../../reference/driver.ipynb#simulate)"


@pytest.mark.parametrize(("text", "linked"), [
    ("Use `simulate` or `play`.", f"Use {LINK} or [`play`](../../reference/driver.ipynb#play)."),
    ("`simulate`, then `simulate`.", f"{LINK}, then `simulate`."),
    ("## The `simulate` call\n\nIt is `simulate`.", f"## The `simulate` call\n\nIt is {LINK}."),
    ("```python\n`simulate`\n```\n\n`simulate`", f"```python\n`simulate`\n```\n\n{LINK}"),
    ("~~~\n`simulate`\n~~~\n", "~~~\n`simulate`\n~~~\n"),
    ("[see `simulate` there](x.ipynb#a) and [`simulate`]{.code}", "[see `simulate` there](x.ipynb#a) and [`simulate`]{.code}"),
    ("$a `simulate` b$ and $$ `simulate` $$ {#eq-a}", "$a `simulate` b$ and $$ `simulate` $$ {#eq-a}"),
    ("::: {#thm-a title='`simulate`'}\n\n`simulate`\n\n:::", f"::: {{#thm-a title='`simulate`'}}\n\n{LINK}\n\n:::"),
    ("``simulate`` and `simulate`{.python} and `d` and `budget`", "``simulate`` and `simulate`{.python} and `d` and `budget`"),
    ("| `simulate` | $x$ |\n|---|---|", f"| {LINK} | $x$ |\n|---|---|"),
])
def test_links_in_prose(text, linked): assert reference.link_names(text, ITO) == linked


def test_signatures_speak_of_types_and_an_example_comes_first():
    "The declaration of a parameter stands below, in words; the signature says int or None."
    module = MODULES["ito2017.algorithm1"]
    shown = reference.signature(module, module.nodes["RDA1"], "RDA1")
    assert "d: int," in shown and "k: int or None = None" in shown and "step: float or str = 1.0" in shown
    declared = {name for m in MODULES.values() for name, node in m.nodes.items() if reference.is_parameter(node)}
    for module in SHOWN:
        for name, node in definitions(module):
            kinds = {word for p in reference.parameters(module, node) for word in re.findall(r"\w+", p[1])}
            assert not kinds & {*declared, "Annotated"}, f"{module.name}.{name}"
    module = MODULES["ito2017.algorithm1"]
    text = "".join(next(reference.entry(module, "RDA1", {}))["source"])
    assert text.index("**Example**") < text.index("**Parameters**") and text.count(">>> lr = RDA1(") == 1


def test_three_groups():
    "What one uses, the learners, and what is inside; each module once."
    parts = {module.notebook: "I First chapters" for module in SHOWN}
    found = reference.groups(parts)
    assert [part["section"] for part in found] == ["Use", "Papers", "Inside"]
    pages = [page for part in found for page in part["contents"]]
    assert len(pages) == len(set(pages)) == len(SHOWN)
    assert found[0]["contents"][0] == "reference/oslr_nb.ipynb" and "reference/li2025.ipynb" in found[1]["contents"]
    assert "reference/oco.ipynb" in found[2]["contents"]
