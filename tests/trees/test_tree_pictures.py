import re
from xml.etree import ElementTree

import pytest

from spacy_incparse.trees.tree import Tree

pytest.importorskip("spacy_incparse.viz.svg", reason="the pictures are not there")
TREE = Tree.from_string("(S (NP (DT the) (NN owl)) (VP (VBD saw) (NP (NN <b>&amp;</b>))))")


def test_a_tree_draws_itself_in_characters():
    drawn = TREE.draw()
    assert not drawn.isascii()
    plain = TREE.draw(ascii=True)
    assert plain.isascii()
    for picture in (drawn, plain):
        assert all(word in picture for word in TREE.words)
        assert "NP" in picture
    assert "\n" in TREE[0].draw()


def test_a_tree_is_a_picture_in_a_notebook():
    for markup in (TREE.to_svg(), TREE._repr_svg_(), TREE._repr_html_()):
        root = ElementTree.fromstring(markup)
        texts = {text.strip() for element in root.iter() for text in (element.text or "", element.tail or "")}
        assert {"the", "owl", "saw", "<b>&amp;</b>"} <= texts
    assert re.match("<svg", TREE.to_svg())
