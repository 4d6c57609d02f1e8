"""The reference of the package: a page for each module, an index of all names, and links to both from every page.

Everything is read from the modules' text, without importing them: signatures, docstrings (numpy style), comments of
constants. `target` alone says which anchor documents a name; `write` makes the pages as notebooks beside the processed ones,
so that Quarto and the small renderer read them; `link_names` links the names that a page mentions.
"""

from __future__ import annotations

import ast
import io
import json
import os
import re
import subprocess
import textwrap
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import pypandoc
import yaml
from numpydoc.docscrape import NumpyDocString

FOLDER = "reference"
TOP = Path(find_spec("oslr_nb").origin).parent
FIELDS = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns")
Definition = ast.FunctionDef | ast.ClassDef


@dataclass
class Module:
    """A module as its file says it; `name` is how users write it after `oslr.`, `notebook` is relative to nbs/."""

    file: Path
    name: str = ""
    notebook: str = ""
    lines: list[str] = field(default_factory=list)
    nodes: dict[str, ast.AST] = field(default_factory=dict)
    public: list[str] = field(default_factory=list)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)
    passed_on: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        text = self.file.read_text(encoding="utf-8")
        parts = list(self.file.relative_to(TOP.parent).with_suffix("").parts)
        if parts[-1] == "__init__": parts.pop()
        self.name = name_of(parts)
        self.lines, tree, listed = text.splitlines(), ast.parse(text), []
        found = re.search(r"File to edit: \S*?/nbs/(\S+\.ipynb)", text)
        self.notebook = found[1] if found else ""
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                if node.targets[0].id == "__all__": listed = ast.literal_eval(node.value)
                self.nodes[node.targets[0].id] = node
            elif isinstance(node, ast.AnnAssign): self.nodes[node.target.id] = node
            elif isinstance(node, Definition): self.nodes[node.name] = node
            elif isinstance(node, ast.ImportFrom):
                package = parts if self.file.stem == "__init__" else parts[:-1]
                above = package[: len(package) + 1 - node.level] if node.level else []
                source = name_of([*above, *(node.module or "").split(".")])
                for alias in node.names: self.imported[alias.asname or alias.name] = (source, alias.name)
        self.public = [name for name in listed if name in self.nodes]
        self.passed_on = set(listed) - set(self.public)

    @property
    def page(self) -> str:
        """The notebook of the reference page, relative to the site's notebooks."""
        return f"{FOLDER}/{self.name or 'oslr_nb'}.ipynb"


def name_of(parts: list[str]) -> str: return ".".join(p for p in parts if p and p not in ("oslr_nb", "papers", "core", "practice"))


@cache
def modules() -> dict[str, Module]:
    """All modules of the package by name, floors below first as far as the folder's order allows."""
    files = sorted(f for f in TOP.rglob("*.py") if f.name != "_modidx.py")
    return {m.name: m for m in map(Module, files) if m.notebook}


@cache
def documented() -> dict[str, list[Module]]:
    """Every public name with the modules that define it."""
    found: dict[str, list[Module]] = {}
    for module in modules().values():
        for name in module.public: found.setdefault(name, []).append(module)
    return found


@cache
def home() -> dict[str, str]:
    """The names that `oslr.` gives directly, with their modules."""
    value = modules()[""].nodes["HOME"].value
    given = {name: name_of(module.split(".")) for module, names in ast.literal_eval(value).items() for name in names}
    return given | {"LEARNERS": "protocol"} | dict.fromkeys(modules()[""].public, "")


@cache
def found_alone() -> dict[str, str]:
    """Modules that `oslr.` finds by their name alone though their storey stands in the name of their page, such as `choice`."""
    last = {name.partition(".")[2]: name for name in modules() if name.split(".")[0] in ("own", "results")}
    return {short: name for short, name in last.items() if short and short not in modules()}


# --- names and anchors


def target(name: str, page: str = "") -> tuple[str, str] | None:
    """The page and the anchor that document `name` as it is written on `page`; None where that is nobody's or unclear.

    `RDA1`, `Learner.query`, `ito2017.RDA1`, `oslr.simulate`, `simulate(...)` and `oslr.designs` are understood. A name that
    several modules have means that of the page's own module, and otherwise has to be qualified.
    """
    found = re.fullmatch(r"(oslr_nb\.|oslr\.)?((?:[A-Za-z]\w*\.)*[A-Za-z]\w*)(\(.*\))?", name)
    if not found: return None
    top, dotted, called = found.groups()
    parts = re.sub(r"^(papers|core|practice)\.", "", dotted).split(".")
    if parts[0] in found_alone(): parts = [*found_alone()[parts[0]].split("."), *parts[1:]]
    module = modules().get(".".join(parts))
    if top and dotted not in home() and module and module.public: return module.page, ""
    here = [m for m in modules().values() if m.notebook == page or m.page == page]
    for n in range(len(parts) - 1, 0, -1):  # the longest qualification by a module or a paper
        prefix, rest = ".".join(parts[:n]), parts[n:]
        inside = [m for key, m in modules().items() if (key == prefix or key.startswith(prefix + ".")) and rest[0] in m.public]
        if len(inside) == 1: return anchor(inside[0], rest)
    if top: return anchor(modules()[home()[parts[0]]], parts) if parts[0] in home() else None
    known = documented().get(parts[0], [])
    own = [m for m in known if m in here]
    if len(chosen := own or known) != 1: return None
    if not own and len(parts) == 1 and method_names().get(parts[0], {chosen[0].name}) != {chosen[0].name}: return None
    bare = len(parts) == 1 and not called
    if bare and (len(dotted) < 3 or dotted in parameter_names(chosen[0]) or any(dotted in parameter_names(m) for m in here)): return None
    return anchor(chosen[0], parts)


def anchor(module: Module, parts: list[str]) -> tuple[str, str] | None:
    """Page and anchor of a name of a module, or of a member of a class, perhaps inherited."""
    if len(parts) == 1: return module.page, parts[0]
    for owner, node in lineage(module, parts[0]):
        if len(parts) == 2 and any(m.name == parts[1] for m in members(node)):
            return (owner.page, f"{node.name}.{parts[1]}") if node.name in owner.public else None
    return None


@cache
def _parameter_names(module: str) -> frozenset[str]:
    nodes = chain.from_iterable(map(ast.walk, modules()[module].nodes.values()))
    return frozenset(a.arg for node in nodes if isinstance(node, ast.arguments) for a in [*node.args, *node.kwonlyargs])


def parameter_names(module: Module) -> frozenset[str]:
    """What the functions of a module call their arguments: in prose such a name means the argument."""
    return _parameter_names(module.name)


@cache
def method_names() -> dict[str, set[str]]:
    """Names of public methods with the modules that have them: in prose such a name means the method."""
    found: dict[str, set[str]] = {}
    for module in modules().values():
        for node in (module.nodes[name] for name in module.public):
            for method in members(node) if isinstance(node, ast.ClassDef) else []: found.setdefault(method.name, set()).add(module.name)
    return found


def lineage(module: Module, name: str) -> Iterator[tuple[Module, ast.ClassDef]]:
    """A class and its bases within the package."""
    node = module.nodes.get(name)
    if isinstance(node, ast.ClassDef):
        yield module, node
        for base in node.bases:
            text = ast.unparse(base)
            if text in module.nodes: yield from lineage(module, text)
            elif text in module.imported and module.imported[text][0] in modules():
                source, original = module.imported[text]
                yield from lineage(modules()[source], original)


def members(node: ast.ClassDef) -> list[ast.FunctionDef]:
    """Public methods and properties that a class itself defines."""
    return [n for n in node.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]


def relative(url: str, page: str) -> str: return os.path.relpath(url, os.path.dirname(page) or ".")


PIECES = re.compile(
    r"(?P<skip>\[(?:[^\[\]]|\[[^\[\]]*\])*\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\]|\{[^}]*\})"  # links, spans
    r"|\$\$.*?\$\$|(?<![\\$])\$(?!\s)(?:\\.|[^$\\])+?\$|<[^<>\s][^<>]*>|``+.*?``+|`[^`\n]*`\{[^}]*\}|\\`)"
    r"|(?<!`)`(?P<name>[^`\n]+)`(?!`)", re.S)  # fmt: skip


def link_names(markdown: str, page: str) -> str:
    """The Markdown of a cell of `page` with links from back-ticked public names to the reference, one for each name.

    Code blocks, headings, links, formulas and attributes stay as they are; `page` is relative to the notebooks.
    """
    linked: set[tuple[str, str]] = set()

    def link(match: re.Match) -> str:
        place = match["name"] and target(match["name"], page)
        if not place or place in linked: return match[0]
        linked.add(place)
        where = relative(place[0], page) if place[0] != page else ""
        return f"[{match[0]}]({where}{'#' if place[1] else ''}{place[1]})" if where or place[1] else match[0]

    fence = r"^[ \t]*(```+|~~~+).*?^[ \t]*\2[`~]*[ \t]*$"
    kept = re.compile(rf"({fence}|^\#{{1,6}} [^\n]*$|^:::[^\n]*$|\A---\n.*?^---$)", re.S | re.M)
    out, end = [], 0
    for match in kept.finditer(markdown):
        out += [PIECES.sub(link, markdown[end:match.start()]), match[0]]
        end = match.end()
    return "".join([*out, PIECES.sub(link, markdown[end:])])


# --- docstrings and signatures


def documentation(node: ast.AST) -> NumpyDocString:
    """The docstring of a definition, parsed; a section that numpydoc does not know is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try: return NumpyDocString(ast.get_docstring(node) or "")
        except Exception as error: raise ValueError(f"docstring of {node.name}: {error}") from error


def summary(module: Module, name: str) -> str:
    """One line on a public name: of a definition its docstring's, of a constant the comment beside or above it."""
    node = module.nodes[name]
    if isinstance(node, Definition): return " ".join(documentation(node)["Summary"])
    return comment(module, node)


def comment(module: Module, node: ast.AST) -> str:
    """The comment at the end of an assignment's first line, or else the lines of comment right above it."""
    text = "\n".join(module.lines[node.lineno - 1 : node.end_lineno])
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    beside = next((t.string for t in tokens if t.type == tokenize.COMMENT and t.start[0] == 1), "")
    if beside and "fmt:" not in beside: return beside.lstrip("# ")
    above, i = [], node.lineno - 2
    while i >= 0 and module.lines[i].startswith("# ") and not module.lines[i].startswith("# %%"):
        above.insert(0, module.lines[i][2:])
        i -= 1
    return " ".join(above)


def decorators(node: Definition) -> set[str]: return {ast.unparse(d).partition("(")[0] for d in node.decorator_list}


def is_record(node: ast.ClassDef) -> bool: return "dataclass" in decorators(node) or "NamedTuple" in map(ast.unparse, node.bases)


def parameters(module: Module, node: Definition) -> list[tuple[str, str, str]]:
    """Name (with its stars), type and default of every parameter of a function, or of a class's constructor."""
    if isinstance(node, ast.ClassDef):
        for owner, base in lineage(module, node.name):
            if is_record(base): return fields(base)
            made = [n for n in base.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
            if made: return parameters(owner, made[0])
        return []
    args, out = node.args, []
    plain = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(plain) - len(args.defaults)) + args.defaults
    given = [*zip([""] * len(plain), plain, defaults, strict=True), *([("*", args.vararg, None)] if args.vararg else [])]
    given += zip([""] * len(args.kwonlyargs), args.kwonlyargs, args.kw_defaults, strict=True)
    given += [("**", args.kwarg, None)] if args.kwarg else []
    for stars, arg, default in given:
        if arg.arg in ("self", "cls"): continue
        out.append((stars + arg.arg, unparse(arg.annotation), unparse(default)))
        if arg is (args.posonlyargs or [None])[-1]: out.append(("/", "", ""))
    if args.kwonlyargs and not args.vararg:
        n = next(i for i, p in enumerate(out) if p[0] == args.kwonlyargs[0].arg)
        out.insert(n, ("*", "", ""))
    return out


def fields(node: ast.ClassDef) -> list[tuple[str, str, str]]:
    """The fields of a record."""
    own = [n for n in node.body if isinstance(n, ast.AnnAssign) and not unparse(n.annotation).startswith("ClassVar")]
    made = lambda text: re.sub(r"field\(default_factory=(\w+)\)", r"\1()", text)
    return [(n.target.id, unparse(n.annotation), made(unparse(n.value))) for n in own]


def unparse(node: ast.AST | None) -> str: return ast.unparse(node) if node else ""


def signature(module: Module, node: Definition, name: str) -> str:
    """The call with types and defaults, broken into lines where it is long."""
    one = [n + (f": {kind}" if kind else "") + (f" = {default}" if default else "") for n, kind, default in parameters(module, node)]
    returns = f" -> {unparse(node.returns)}" if isinstance(node, ast.FunctionDef) and node.returns else ""
    text = f"{name}({', '.join(one)}){returns}"
    return text if len(text) <= 80 else f"{name}(\n" + "".join(f"    {p},\n" for p in one) + f"){returns}"


def public_path(module: Module, name: str) -> str:
    """How a user writes a name after `import oslr_nb as oslr`."""
    if home().get(name) == module.name: return f"oslr.{name}"
    paper, _, inner = module.name.partition(".")
    front = modules().get(paper)
    chapter = front and (paper == "own" or front.file.parent.parent.name == "papers")
    short = inner and chapter and (name in front.passed_on or not front.passed_on)
    return f"oslr.{paper if short else module.name}.{name}"


# --- pages


def plain(text: str) -> str:
    """A docstring's words as Markdown: what stands between back-ticks is code, everything else is text."""
    parts = re.split(r"(`+[^`]+`+)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([\\*_^~<>$@#\[\]{}|'\"])", r"\\\1", p) for p in parts)


def prose(lines: list[str] | str) -> str: return plain(textwrap.dedent("\n".join(lines) if isinstance(lines, list) else lines).strip())


CLASS = re.compile(r"(?<![`\w.])[A-Z]\w+")


def marked(match: re.Match) -> str:
    """A class of the package in a type, as code, so that it becomes a link."""
    found = documented().get(match[0], [])
    return f"`{match[0]}`" if len(found) == 1 and isinstance(found[0].nodes[match[0]], ast.ClassDef) else match[0]


def listed(entries: list, given: dict[str, tuple[str, str]]) -> str:
    """A section of a docstring as a list of definitions; types and defaults that it leaves out are the signature's."""
    out = []
    for name, kind, lines in entries:
        names = [n.strip() for n in name.split(",") if n.strip()]
        known = given.get(names[0], ("", "")) if names else ("", "")
        words, default = kind or known[0], known[1]
        head = ", ".join(f"`{n}`" for n in names) + (" : " if names and words else "") + prose(CLASS.sub(marked, words))
        if default and "default" not in words and "optional" not in words: head += f", default `{default}`"
        body = textwrap.indent(prose(lines) or "\\ ", "    ").strip()
        out.append(f"{head}\n:   {body}")
    return "\n\n".join(out)


def sections(module: Module, node: Definition) -> str:
    """All of a docstring but its first line."""
    doc = documentation(node)
    given = {name.lstrip("*"): (kind, default) for name, kind, default in parameters(module, node)}
    notes = "\n".join(doc["Notes"]).split("\n\n")
    words = "\n".join(doc["Extended Summary"]).split("\n\n")
    sources = [p.removeprefix("Source:").strip() for p in words + notes if p.startswith("Source:")]
    parts = [prose(p) for p in words if not p.startswith("Source:")]
    for title in FIELDS:
        entries = doc[title]
        if title == "Raises" or title == "Warns": entries = [(e.name or e.type, "", e.desc) for e in entries]
        elif title in ("Returns", "Yields"): entries = [(e.name, e.type, e.desc) for e in entries]
        if entries: parts += [f"**{title}**", listed(entries, given if title == "Parameters" else {})]
    if any(notes): parts += ["**Notes**", *(prose(p) for p in notes if not p.startswith("Source:"))]
    if sources: parts.append("**Source.** " + " ".join(map(prose, sources)))
    if doc["See Also"]:
        also = [(", ".join(f"`{n}`" for n, _ in names), prose(text).rstrip(".")) for names, text in doc["See Also"]]
        parts.append("**See also** " + "; ".join(f"{n}{f' ({text})' if text else ''}" for n, text in also) + ".")
    if doc["References"]: parts += ["**References**", prose(doc["References"])]
    if doc["Examples"]: parts += ["**Examples**", fenced("\n".join(doc["Examples"]))]
    body = "\n\n".join(p for p in parts if p)
    return f"::: {{.reference}}\n\n{body}\n\n:::" if body else ""


def fenced(text: str) -> str: return f"```python\n{text}\n```"


def code(module: Module, node: ast.AST) -> str:
    """The text of a definition without its docstring."""
    first = min([d.lineno for d in getattr(node, "decorator_list", [])] + [node.lineno])
    lines = module.lines[first - 1 : node.end_lineno]
    inner = [node, *(n for n in ast.walk(node) if isinstance(n, Definition) and n is not node)] if isinstance(node, Definition) else []
    for part in sorted(inner, key=lambda n: -n.lineno):
        if ast.get_docstring(part) is not None and (len(part.body) > 1 or part is not node):
            text = part.body[0]
            del lines[text.lineno - first : text.end_lineno - first + 1]
            if len(part.body) == 1: lines.insert(text.lineno - first, " " * text.col_offset + "...")
    return re.sub(r"\n\s*\n(\s*\n)+", "\n\n", "\n".join(lines)).strip("\n")


def entry(module: Module, name: str, places: dict[int, tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """The cells of one public name."""
    node, path = module.nodes[name], public_path(module, name)
    text = [f"## {name} {{#{name}}}", prose(summary(module, name))]
    if isinstance(node, Definition):
        head = f"class {path}" if isinstance(node, ast.ClassDef) else path
        text += [fenced(signature(module, node, head)), sections(module, node)]
    else:
        value = unparse(node.value) if len(unparse(node.value)) <= 300 else "..."
        kind = f": {unparse(node.annotation)}" if isinstance(node, ast.AnnAssign) else ""
        text.append(fenced(f"{path}{kind} = {value}"))
    if isinstance(node, ast.ClassDef):
        for method in members(node): text += member(module, node, method)
        text += inherited(module, node)
    title, link = places.get(max((n for n in places if n <= node.lineno), default=0), ("", ""))
    if link: text.append(f"Derived and checked in [{title}]({relative(link, module.page)}).")
    yield markdown("\n\n".join(filter(None, text)), module.page)
    where = f"{module.file.relative_to(TOP.parent).as_posix()}, line {node.lineno}"
    yield folded(code(module, node), f"Code ({where})")


def member(module: Module, node: ast.ClassDef, method: ast.FunctionDef) -> list[str]:
    """A method or a property of a class."""
    short, words = f"{node.name}.{method.name}", decorators(method)
    if words & {"property", "cached_property"}: shown = f"{short}: {unparse(method.returns)}"
    else: shown = signature(module, method, ("classmethod " if "classmethod" in words else "") + short)
    doc = " ".join(documentation(method)["Summary"])
    for _, base in lineage(module, node.name):  # an overriding method may leave the words to the method it overrides
        if doc: break
        doc = next((" ".join(documentation(m)["Summary"]) for m in members(base) if m.name == method.name), "")
    return [f"### {method.name} {{#{short}}}", prose(doc), fenced(shown), sections(module, method)]


def inherited(module: Module, node: ast.ClassDef) -> list[str]:
    """What a class has from its bases, with links."""
    seen, out = {m.name for m in members(node)}, []
    for owner, base in list(lineage(module, node.name))[1:]:
        new = [m for m in members(base) if m.name not in seen and base.name in owner.public]
        seen |= {m.name for m in new}
        if not new: continue
        place = "" if owner is module else relative(owner.page, module.page)
        rows = [f"[`{m.name}`]({place}#{base.name}.{m.name})\n:   {prose(' '.join(documentation(m)['Summary']))}" for m in new]
        out += [f"**Inherited from** [`{base.name}`]({place}#{base.name})", "\n\n".join(rows)]
    return out


def markdown(text: str, page: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": link_names(text, page)}


def folded(text: str, label: str) -> dict[str, Any]:
    source = f"#| code-fold: true\n#| code-summary: {json.dumps(label)}\n{text}"
    return {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": source}


def notebook(title: str, description: str, cells: list[dict[str, Any]]) -> str:
    head = yaml.safe_dump({"title": title, "description": description}, allow_unicode=True)
    cells = [{"cell_type": "raw", "metadata": {}, "source": f"---\n{head}---"}, *cells]
    for i, cell in enumerate(cells): cell |= {"id": f"cell-{i}", "source": cell["source"].splitlines(keepends=True)}
    kernel = {"kernelspec": {"display_name": "python3", "language": "python", "name": "python3"}}
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, indent=1)


# --- where a name is derived


def headings(path: Path) -> tuple[str, dict[str, tuple[str, str]]]:
    """Title of a notebook, and for each code cell the nearest heading above it with its anchor, as pandoc makes it."""
    cells, texts = json.loads(path.read_text(encoding="utf-8"))["cells"], []
    meta: dict[str, Any] = {}
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "raw": meta |= yaml.safe_load(re.sub(r"\A---\s*\n|\n---\s*\Z", "", source))
        texts.append(source if cell["cell_type"] == "markdown" else f"<!--cell {cell.get('id', '')}-->")
    text = re.sub(r"^[ \t]*(```+|~~~+).*?^[ \t]*\1[`~]*[ \t]*$", "", "\n\n".join(texts[1:]), flags=re.S | re.M)
    text = "\n\n".join(re.findall(r"^(?:#{1,6} |:::|<!--cell).*", text, re.M))  # all that it takes, and pandoc is quick
    done = subprocess.run([pandoc_path(), "--from=markdown", "--to=json"], input=text.encode(), capture_output=True, timeout=60, check=True)
    found, now = {}, ("", "")

    def walk(blocks: list) -> None:
        nonlocal now
        for block in blocks:
            kind, content = block["t"], block.get("c")
            if kind == "Header": now = (words(content[2]), content[1][0])
            elif kind == "RawBlock":
                for match in re.findall(r"<!--cell (\S*)-->", content[1]): found[match] = now
            elif kind == "Div":
                box = re.match(r"(thm|lem|prp|cor|cnj|def|exm|exr|rem|alg)-", content[0][0]) or set(content[0][1]) - {"cell"}
                before = now
                walk(content[1])
                if box: now = before  # its heading becomes the title of a box, without an anchor
    walk(json.loads(done.stdout)["blocks"])
    return meta.get("title", path.stem), found


@cache
def pandoc_path() -> str: return pypandoc.get_pandoc_path()


def words(inlines: list) -> str:
    """A heading as Markdown."""
    out = []
    for item in inlines:
        kind, content = item["t"], item.get("c")
        if kind == "Str": out.append(plain(content))
        elif kind in ("Space", "SoftBreak"): out.append(" ")
        elif kind == "Math": out.append(f"${content[1]}$")
        elif kind == "Code": out.append(f"`{content[1]}`")
        elif kind in ("Emph", "Strong"): out.append(words(content))
        elif kind in ("Quoted", "Link", "Span", "Cite"): out.append(words(content[1]))
    return "".join(out)


def places(module: Module, notebooks: Path) -> tuple[str, dict[int, tuple[str, str]]]:
    """The page's title, and for each exported cell, by its first line in the module: words and target of the link to it."""
    file = notebooks / module.notebook
    if not file.is_file(): return "", {}
    title, found = headings(file)
    out = {}
    for number, line in enumerate(module.lines, 1):
        if cell := re.match(r"# %% \S+\.ipynb #(\w+)", line):
            heading, where = found.get(cell[1], ("", ""))
            out[number] = (heading if where else title, module.notebook + (f"#{where}" if where else ""))
    return title, out


# --- all pages


def shown() -> list[Module]:
    """The modules that have something to document."""
    return [m for m in modules().values() if m.public]


def write(proc: Path, notebooks: Path = Path("nbs")) -> None:
    """Write the pages of the reference into `proc`, the folder of processed notebooks."""
    (proc / FOLDER).mkdir(parents=True, exist_ok=True)
    for module in shown():
        title, found = places(module, notebooks)
        cells = list(chain.from_iterable(entry(module, name, found) for name in sorted(module.public, key=order(module))))
        path = ".".join(module.file.relative_to(TOP.parent).with_suffix("").parts).removesuffix(".__init__")
        text = f"The {len(module.public)} public names of the module `{path}`."
        if title: text += f" They are derived and checked in [{plain(title)}]({relative(module.notebook, module.page)})."
        page = notebook(module.name or "oslr_nb", f"Reference of {path}.", [markdown(text, module.page), *cells])
        (proc / module.page).write_text(page, encoding="utf-8")
    (proc / FOLDER / "index.ipynb").write_text(index(), encoding="utf-8")


def order(module: Module) -> Any:
    """Classes first, then functions, then constants, each as they stand in the module."""
    kinds = (ast.ClassDef, ast.FunctionDef)
    return lambda name: (next((i for i, k in enumerate(kinds) if isinstance(module.nodes[name], k)), 2), module.nodes[name].lineno)


def index() -> str:
    """The page with all names from A to Z."""
    page = f"{FOLDER}/index.ipynb"
    rows = sorted(((name, m) for name, ms in documented().items() for m in ms), key=lambda row: (row[0].lower(), row[1].name))
    cells = ["The modules: " + ", ".join(f"[`{m.name or 'oslr_nb'}`]({relative(m.page, page)})" for m in shown()) + "."]
    for letter, group in groupby(rows, key=lambda row: row[0][0].upper()):
        lines = [f"- [`{name}`]({relative(m.page, page)}#{name}) {plain(m.name or 'oslr_nb')}" for name, m in group]
        body = "\n".join(lines)
        cells.append(f"## {letter} {{#letter-{letter.lower()}}}\n\n::: {{.names}}\n\n{body}\n\n:::")
    found = [{"cell_type": "markdown", "metadata": {}, "source": text} for text in cells]
    return notebook("Index of names", f"All {len(rows)} public names of the package, from A to Z.", found)
