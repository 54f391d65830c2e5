from xml.etree import ElementTree

import pytest

from tests.viz.markup import elements, texts

TEXT = "The rain stopped. It (still) is cold."


def test_drawings(run, model):
    result = run("parse", TEXT, "--model", model, "--format", "draw")
    assert result.exit_code == 0
    drawings = result.stdout.split("\n\n")
    assert [drawing.splitlines()[-1].split() for drawing in drawings[:2]] == [
        ["The", "rain", "stopped", "."],
        ["It", "(", "still", ")", "is", "cold", "."],
    ]
    listed = run("parse", TEXT, "--model", model, "--format", "draw", "--nbest", "2", "--ptb").stdout
    assert listed.startswith("# sent 1 parse 1 score ")
    assert "-LRB- still -RRB-" in listed


def test_one_picture_of_all_sentences(run, model):
    picture = run("parse", TEXT, "--model", model, "--format", "svg").stdout
    assert {"rain", "cold", "("} <= set(texts(picture))
    listed = run("parse", TEXT, "--model", model, "--format", "svg", "--nbest", "2", "--ptb").stdout
    assert any(text.startswith("2 · score ") for text in texts(listed))
    assert "-LRB-" in texts(listed)
    ElementTree.fromstring(run("parse", "", "--model", model, "--format", "svg").stdout)


@pytest.mark.parametrize("nbest", [1, 2])
def test_a_page(run, model, nbest):
    page = run("parse", TEXT, "--model", model, "--format", "html", "--nbest", nbest).stdout
    assert page.startswith("<!DOCTYPE html>")
    assert page.rstrip().endswith("</html>")
    assert page.count("<section") == 2
    assert page.count("<figure") >= 2 * nbest - 1
    assert ("figure", "data-sizes") in elements(page)
