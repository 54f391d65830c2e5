import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.viz.blocks import advance, columns, is_right_to_left, visible


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("cat", 3),
        ("été", 3),
        ("e\u0301te\u0301", 3),  # combining accents
        ("孩子", 4),
        ("ＮＰ", 4),  # full width
        ("ｱ", 1),  # half width
        ("한국", 4),
        ("\u1112\u1161\u11ab", 2),  # the same syllable in parts
        ("שָׁלוֹם", 4),  # with vowel signs
        ("a\u200bb", 2),  # a space of no width
        ("😀", 2),
        ("กำ", 2),
    ],
)
def test_columns_of_a_terminal(text, expected):
    assert columns(text) == expected


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


@given(st.text(max_size=10), st.text(max_size=10))
def test_more_text_takes_more_room(a, b):
    assert columns(a + b) == columns(a) + columns(b)
    assert advance(a + b, 16) >= advance(a, 16) > 0


def test_direction_is_that_of_most_letters():
    assert is_right_to_left(["שלום", "עולם", "!", "OK"])
    assert is_right_to_left(["مرحبا"])
    assert not is_right_to_left(["hello", "world", "שלום"])
    assert not is_right_to_left(["1", "."])
