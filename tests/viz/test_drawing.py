import re
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spacy_incparse.errors import ConfigError
from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.blocks import columns, visible
from spacy_incparse.viz.text_tree import draw
from tests.strategies import deep_tree, normalised_trees, raw_trees

TREE = Tree.from_string("(TOP (S (NP (DT The) (NN dog)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .)))")

DRAWN = """\
            TOP
             │
             S
   ┌────────┬┴─────────┐
  NP       VP          │
 ┌─┴─┐   ┌──┴──┐       │
 │   │   │    PP       │
 │   │   │   ┌─┴──┐    │
 │   │   │   │   NP    │
 │   │   │   │  ┌─┴─┐  │
DT  NN  VBD IN DT  NN  .
The dog sat on the mat ."""


def without_marks(text):
    return text.replace("\u200e", "")


def test_from_the_top_down():
    assert draw(TREE) == DRAWN
    assert TREE.draw() == DRAWN
    assert draw(TREE, width=24) == DRAWN


def test_what_is_too_wide_is_an_outline_of_numbered_parts():
    drawn = draw(TREE, width=20)
    assert draw(TREE, width=23) != DRAWN
    assert max(map(len, drawn.splitlines())) <= 20
    assert all(drawn.count(f"[{number}]") == 2 for number in (1, 2, 3))  # where a part is, and where it is missing


def test_roofs_in_ascii():
    drawn = draw(TREE, ascii=True, collapse_depth=2)
    assert drawn.isascii()
    assert re.split(r"\s{2,}", drawn.splitlines()[-1].strip()) == ["The dog", "sat on the mat", "."]


def test_right_to_left():
    tree = Tree.from_string("(TOP (S (NP (DT ה) (NN ילד)) (VP (VB אכל) (NP (NN תפוח) (JJ אדום))) (. .)))")
    drawn = draw(tree)
    assert without_marks(drawn).splitlines()[-1].split() == [*tree.words[::-1]]
    # The marks keep each word apart from its neighbours, whatever a terminal does about directions.
    assert "\u200eתפוח\u200e" in drawn
    tree = Tree.from_string("(S (NP (NN rain)) (VP (VB falls)))")
    assert draw(tree, direction="ltr") == draw(tree) != draw(tree, direction="rtl")
    assert "falls rain" in draw(tree, direction="rtl")


def test_wide_scripts_and_combining_characters():
    tree = Tree.from_string("(TOP (S (NP (NN 孩子)) (VP (VB 吃) (NP (NN 苹果))) (. 。)))")
    assert draw(tree).splitlines()[-2:] == [" NN  VB  NN   .", "孩子 吃 苹果 。"]
    lines = draw(make_tree("S", [make_tree("NN", "e\u0301te\u0301"), make_tree("VB", "va")])).splitlines()
    assert columns(lines[-1]) == len("été va")
    assert lines[-2].index("VB") == 4


@example(Tree.from_string(f"(TOP {TREE[0]} {TREE[0]})"), False, 40)
@given(raw_trees(), st.booleans(), st.sampled_from([None, 30, 80]))
@settings(max_examples=60, deadline=None)
def test_all_words_and_labels_are_there(tree, ascii, width):
    drawn = without_marks(draw(tree, ascii=ascii, width=width))
    for piece in [*tree.words, *(node.label for node in tree.preorder())]:
        assert without_marks(visible(piece)).strip() in drawn
    assert all(line == line.rstrip() for line in drawn.splitlines())
    assert not set(drawn) & set("\t\r\x1b\x0b\x0c\x85\u2028")


@given(normalised_trees(max_words=8))
@settings(max_examples=60, deadline=None)
def test_every_edge_ends_somewhere(tree):
    """Below what goes down there is a label or more of the edge, and above what comes from above, too."""
    rows = draw(tree, width=None).splitlines()
    width = max(map(len, rows))
    rows = [row.ljust(width) for row in rows]
    for above, below in pairwise(rows):
        for a, b in zip(above, below, strict=True):
            if a in "│┌┐┬┼├┤":
                assert b != " "
            if b in "│┴┼├┤└┘":
                assert a != " "


@pytest.mark.parametrize("width", [40, 80, None])
def test_deep_trees(width):
    drawn = draw(deep_tree(5_000), width=width)
    assert drawn.count("dog") == 5_000
    assert len(drawn) < 10_000_000
    tree = make_tree("S", [make_tree("NN", "word") for _ in range(5_000)])
    assert draw(tree, width=width).count("word") == 5_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"collapse_length": 1}, '"collapse_length" is 1'),
        ({"width": -5}, '"width" is -5; it must be a whole number from 1, or None'),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        draw(TREE, **options)
