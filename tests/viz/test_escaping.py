import json
import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.blocks import columns, escape, is_right_to_left, visible
from spacy_incparse.viz.options import Options
from spacy_incparse.viz.page import STYLES, Entry, Picture, compared, markup, page, side_by_side
from spacy_incparse.viz.plot import plot
from tests.viz.markup import HOSTILE, elements, harmless_tree, hostile_tree, texts


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


@pytest.mark.parametrize("text", HOSTILE)
def test_the_program_of_the_page_stays_and_texts_are_shown(text):
    """Labels are read as JSON."""
    html = page([picture_of(hostile_tree(text), text)], title=text)
    program = r"<script>(.*?)</script>"
    assert re.findall(program, html, re.DOTALL) == re.findall(program, page([HARMLESS]), re.DOTALL)
    labels = [json.loads(unescape(found)) for found in re.findall(r'<figure[^>]* data-labels="([^"]*)"', html)]
    assert labels == [[visible(label) for label in hostile_tree(text).arrays.labels]] * 5
    assert f"{visible(text)} b" in texts(markup(picture_of(hostile_tree(text), text), "tree"))
    hostile = plot([text, "b"], {text: [1.0, None]}, title=text, unit=text)
    assert elements(hostile) == elements(plot(["a", "b"], {"x": [1.0, None]}, title="x", unit="x"))
    assert escape(text) in hostile


def test_the_page_allows_no_other_program():
    html = page([HARMLESS])
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)[1]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe-inline'; script-src 'sha256-" in policy
    assert not re.search(r"\b(?:src|href)=|@import|url\(|https?://(?!www\.w3\.org/2000/svg)", html)
    assert html.count("</script>") == 1


def test_columns_of_a_terminal():
    # Combining accents, wide letters, half width, a syllable in parts, vowel signs, a space of no width, a picture.
    found = [
        columns(text) for text in ("e\u0301te\u0301", "孩子ＮＰ", "ｱ", "\u1112\u1161\u11ab", "שָׁלוֹם", "a\u200bb", "😀กำ")
    ]
    assert found == [3, 8, 1, 2, 4, 2, 4]


def test_controls_are_shown_by_their_pictures():
    assert visible("a\tb\x1b[31m\x7f") == "a␉b␛[31m␡"
    assert visible("a\r\nb\u2028") == "a␍␊b␤"
    assert visible("\x85\ud800\ufffe\ufdd0\u202e\u2066\u200f") == "\ufffd" * 7


@given(st.text(max_size=20))
def test_what_is_visible_can_stand_in_xml(text):
    shown = visible(text)
    assert len(shown) == len(text)
    assert visible(shown) == shown
    assert all(c >= " " and c != "\x7f" and not "\ud800" <= c <= "\udfff" and ord(c) & 0xFFFE != 0xFFFE for c in shown)


def test_direction_is_that_of_most_letters():
    assert is_right_to_left(["שלום", "עולם", "!", "OK"])
    assert is_right_to_left(["مرحبا"])
    assert not is_right_to_left(["hello", "world", "שלום"])
    assert not is_right_to_left(["1", "."])
