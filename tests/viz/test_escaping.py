"""Words, labels and titles are always escaped, whatever they contain."""

import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings

from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.blocks import escape, visible
from spacy_incparse.viz.options import Options
from spacy_incparse.viz.page import STYLES, Entry, Picture, compared, markup, page, side_by_side
from spacy_incparse.viz.plot import plot
from tests.viz.markup import HOSTILE, elements, harmless_tree, hostile_text, hostile_tree, texts


def picture_of(tree: Tree, text: str) -> Picture:
    other = Tree(tree.arrays)
    rows = [[Entry(tree, text)], side_by_side([tree, other], [text, text]), compared(tree, other)]
    return Picture(rows, Options(lang=text, width=None), text)


HARMLESS = picture_of(harmless_tree(), "x")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_makes_an_element_or_an_attribute(style, text):
    hostile = picture_of(hostile_tree(text), text)
    assert elements(markup(hostile, style)) <= elements(markup(HARMLESS, style))
    assert elements(page([hostile], style, title=text)) <= elements(page([HARMLESS], style))


@given(hostile_text())
@settings(max_examples=50, deadline=None)
def test_random_texts_make_none_either(text):
    hostile = picture_of(hostile_tree(text), text)
    for style in STYLES:
        assert elements(markup(hostile, style)) <= elements(markup(HARMLESS, style))
    assert elements(page([hostile])) <= elements(page([HARMLESS]))


@pytest.mark.parametrize("text", HOSTILE)
def test_documents_stay_well_formed_and_show_the_text(text):
    shown = [word for word in texts(markup(picture_of(hostile_tree(text), text), "tree")) if word.endswith(" b")]
    assert shown
    if text.isprintable():
        assert f"{text} b" in shown


@pytest.mark.parametrize("text", HOSTILE)
def test_the_program_of_the_page_is_always_the_same(text):
    def program(html):
        return re.findall(r"<script>(.*?)</script>", html, re.DOTALL)

    assert program(page([picture_of(hostile_tree(text), text)], title=text)) == program(page([HARMLESS]))


@pytest.mark.parametrize("text", HOSTILE)
def test_labels_for_the_program_are_json(text):
    labels = []

    class Figures(HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag == "figure":
                labels.append(json.loads(dict(attrs)["data-labels"]))

    tree = hostile_tree(text)
    Figures().feed(page([Picture([[Entry(tree)]])]))
    assert labels == [[visible(label) for label in tree.arrays.labels]]


@pytest.mark.parametrize("text", HOSTILE)
def test_plots(text):
    hostile = plot([text, "b"], {text: [1.0, None]}, title=text, unit=text)
    assert elements(hostile) == elements(plot(["a", "b"], {"x": [1.0, None]}, title="x", unit="x"))
    assert escape(text) in hostile


def test_escaped_text_has_no_character_that_ends_it():
    assert not set(escape("".join(HOSTILE))) & set("<>\"'`\x00\n")
    assert escape("a&b") == "a&amp;b"


def test_the_page_allows_no_other_program():
    html = page([HARMLESS])
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)[1]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe-inline'; script-src 'sha256-" in policy
    assert not re.search(r"\b(?:src|href)=|@import|url\(|https?://(?!www\.w3\.org/2000/svg)", html)
    assert html.count("</script>") == 1
