"""The documents in docs/: links lead somewhere, what the code says is up to date. `conftest.py` runs their code."""

import ast
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.packaging.test_project_files import PROJECT
from tests.readme import CHECKOUT, DOCS, WRITERS

FILES = sorted(DOCS.glob("*.md"))
GENERATE, DRAW = WRITERS
PACKAGE = CHECKOUT / "spacy_incparse"


def name_of(path: Path) -> str:
    return path.name


def program(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_links_of_documents_lead_somewhere(path):
    text = path.read_text(encoding="utf8")
    for target, _, anchor in re.findall(r"\]\(([^)#]*)(#([^)]*))?\)", text):
        if target.startswith("https://"):
            continue
        linked = DOCS / target if target else path
        assert linked.exists(), target
        if anchor:
            assert anchor in anchors(linked.read_text(encoding="utf8")), f"{target}#{anchor}"


def anchors(text: str) -> set[str]:
    """Return the anchors that GitHub makes of headings."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("room", sorted((PACKAGE / "papers").glob("*/__init__.py")), ids=lambda path: path.parent.name)
def test_code_that_a_paper_is_traced_to_exists(room):
    """The docstring of a paper's room names files and what is in them: `file`: `name`, `name`."""
    doc = ast.get_docstring(ast.parse(room.read_text(encoding="utf8"))) or ""
    files = set(re.findall(r"[\w/]+\.(?:pyx|py)\b", doc))
    assert files
    sources = {}
    for name in files:
        places = [place / name for place in (room.parent, PACKAGE, CHECKOUT, CHECKOUT / "tests" / "chart")]
        path = next((path for path in places if path.exists()), None)
        assert path is not None, name
        sources[name] = path.read_text(encoding="utf8")
    for name, found in re.findall(r"`?([\w/]+\.pyx?)`?: ((?:`[\w.]+`(?:, )?)+)", re.sub(r"\s+", " ", doc)):
        for member in re.findall(r"(\w+)`", found):
            assert re.search(rf"\b{member}\b", sources[name]), f"{name}: {member}"


@pytest.mark.parametrize("name", ["configuration.md", "labels.md"])
def test_documents_are_those_of_the_code(name):
    written = program(GENERATE).documents()[name]
    assert (DOCS / name).read_text(encoding="utf8") == written, f"write {name} anew with `python docs/generate.py`"


def test_all_that_is_registered_is_in_the_reference():
    text = (DOCS / "configuration.md").read_text(encoding="utf8")
    for group, points in PROJECT["entry-points"].items():
        if group != "spacy_cli":
            assert [name for name in points if name not in text] == [], group


def test_pictures_are_those_of_the_embedded_pipeline():
    drawn = program(DRAW).draw()
    assert set(drawn) == {path.name for path in DRAW.parent.glob("*.svg")}
    for name, content in drawn.items():
        found = (DRAW.parent / name).read_text(encoding="utf8")
        assert found == content, f"draw {name} anew with `python docs/images/draw.py`"
