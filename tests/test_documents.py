"""The documents in docs/: code prints what stands there, links lead somewhere, pictures are up to date."""

import importlib.util
import re

import pytest

from tests.readme import CHECKOUT, run

FOLDER = CHECKOUT / "docs"
RUN = ("pictures.md", "search.md")  # documents with code


@pytest.mark.parametrize("name", RUN)
def test_code_of_documents_prints_what_stands_there(name, tmp_path):
    wrong = [
        f"{output.code}-- expected --\n{output.expected}-- printed --\n{output.actual}"
        for output in run((FOLDER / name).read_text(encoding="utf8"), tmp_path)
        if not output.fits
    ]
    assert not wrong, f"update with `python tests/readme.py docs/{name}`, or mend the code:\n\n" + "\n\n".join(wrong)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.md")), ids=lambda path: path.name)
def test_links_of_documents_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)", path.read_text(encoding="utf8")):
        assert target.startswith("https://") or (FOLDER / target).exists(), target


def test_pictures_are_those_of_the_embedded_pipeline():
    spec = importlib.util.spec_from_file_location("draw", FOLDER / "images" / "draw.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    drawn = module.draw()
    assert set(drawn) == {path.name for path in (FOLDER / "images").glob("*.svg")}
    for name, content in drawn.items():
        found = (FOLDER / "images" / name).read_text(encoding="utf8")
        assert found == content, f"draw {name} anew with `python docs/images/draw.py`"
