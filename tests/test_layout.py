"""The architecture's rules, read off the source files: who may import whom, and how long a function may be.

`.ci/lint style` holds imports among Python files to the order in pyproject.toml; here are those of compiled modules.
"""

import ast
import re
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest

from tests.conftest import QUICK
from tests.packaging.test_project_files import SETTINGS

PACKAGE = Path(__file__).parents[1] / "spacy_incparse"
(CONTRACT,) = SETTINGS["tool"]["importlinter"]["contracts"]
# A module imports only from its own package and from packages before it.
ORDER = tuple(reversed(CONTRACT["layers"]))
ROOTS = ("pipeline", "neural", "corpora", "workbench", "server", "cli")  # may import everything
ON_DOCS = ("documents", *ROOTS)
# What users call on a tree is a method of it, whichever package does the work.
FACADE = {("trees/tree.py", "spacy_incparse.transforms"), ("trees/tree.py", "spacy_incparse.viz")}
FOREIGN_LAYOUTS = {"spacy", "thinc", "preshed", "cymem", "numpy", "murmurhash", "blis"}  # change between releases
PYTHON = sorted(PACKAGE.rglob("*.py"))
CYTHON = sorted([*PACKAGE.rglob("*.pyx"), *PACKAGE.rglob("*.pxd")])
COMPILED = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in CYTHON}
MAX_LINES = 60
WALKS_TREES = (
    "trees", "treebanks", "transforms", "evaluation", "incremental", "generative", "chart", "rerank", "functions",
    "measuring", "repair", "viz", "documents", "neural",
)  # fmt: skip


def place(path: Path) -> str:
    """Return the name in `ORDER` of the package (or module) that a file belongs to; "" for the package's own files."""
    first = path.relative_to(PACKAGE).parts[0]
    return "" if first in ("__init__.py", "__init__.pxd", "__main__.py") else first.split(".")[0]


def imports(path: Path) -> list[tuple[str, bool]]:
    """Return the absolute names of all modules that a file imports, each with whether it is a cimport."""
    text = path.read_text(encoding="utf8")
    if path.suffix != ".py":
        found = re.findall(r"^\s*(?:from\s+([\w.]+)\s+)?(c?import)\s+([\w.]+)", text, re.MULTILINE)
        return [(source or name, kind == "cimport") for source, kind, name in found]
    names = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            names.append(node.module or "")
            if node.module == "spacy_incparse":
                names += [f"spacy_incparse.{alias.name}" for alias in node.names]
    return [(name, False) for name in names]


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", PYTHON + CYTHON, ids=name_of)
def test_compiled_modules_are_in_the_order_too(path):
    here = place(path)
    if not here:
        return
    for name, _ in imports(path):
        parts = name.split(".")
        if (name_of(path), ".".join(parts[:2])) in FACADE:
            continue
        if (path.suffix != ".py" or name in COMPILED) and parts[0] == "spacy_incparse" and parts[1:2] != []:
            assert ORDER.index(parts[1]) <= ORDER.index(here), f"{here} imports {name}"


@pytest.mark.parametrize("path", PYTHON + CYTHON, ids=name_of)
def test_spacy_is_imported_by_the_composition_roots_only(path):
    if place(path) in ("", *ON_DOCS, "data", "compat", "glossary"):
        return
    assert not {name.split(".")[0] for name, _ in imports(path)} & {"spacy", "thinc"}


@pytest.mark.parametrize("path", CYTHON, ids=name_of)
def test_no_binary_layout_of_others_is_compiled_in(path):
    assert not {name.split(".")[0] for name, is_cimport in imports(path) if is_cimport} & FOREIGN_LAYOUTS


def test_each_room_has_quick_tests():
    assert all(path.exists() for path in QUICK)
    rooms = {path.parent.name for path in (PACKAGE.parent / "tests").glob("*/test_*.py")}
    assert {path.parent.name for path in QUICK} >= rooms


@pytest.mark.parametrize("path", [*PYTHON, *(path for path in CYTHON if path.suffix == ".pyx")], ids=name_of)
def test_functions_are_short(path):
    """From the signature to the last line that is indented."""
    lines = path.read_text(encoding="utf8").splitlines()
    for number, line in enumerate(lines):
        match = re.match(r"( *)(?:def|cdef|cpdef) (?!class )[^=]*?(\w+)\(", line)
        if match:
            inside = re.compile(rf" {{{len(match[1]) + 1}}}|\s*\)|\s*$")
            body = "\n".join(takewhile(inside.match, lines[number + 1 :])).rstrip()
            assert len(body.splitlines()) < MAX_LINES, f"{match[2]} has more than {MAX_LINES} lines"


@pytest.mark.parametrize("path", [path for path in PYTHON if place(path) in WALKS_TREES], ids=name_of)
def test_no_function_that_walks_trees_calls_itself(path):
    """Trees may be 5,000 deep."""
    tree = ast.parse(path.read_text(encoding="utf8"))
    methods = {child for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for child in node.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            itself = f"self.{node.name}" if node in methods else node.name
            called = {ast.unparse(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)}
            assert itself not in called, f"{node.name} calls itself"


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("spacy_incparse", "spacy numpy thinc typer srsly"),
        ("spacy_incparse.evaluation.evalb", "spacy thinc typer"),
        ("spacy_incparse.viz.page", "spacy numpy thinc typer srsly"),
        ("spacy_incparse.incremental.parser", "spacy thinc typer"),
        ("spacy_incparse.training.loop", "spacy thinc typer"),
        ("spacy_incparse.cli", "spacy pyarrow ray pandas"),
        ("spacy_incparse.ray", "spacy pyarrow ray pandas"),
        ("spacy_incparse.workers", "spacy numpy typer srsly"),
    ],
)
def test_import_is_light(module, absent):
    code = f"import sys, {module}; print(*sorted(set({absent.split()!r}) & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert result.stderr == ""
    assert result.stdout == "\n"
