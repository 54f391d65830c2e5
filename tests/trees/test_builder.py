"""Trees from the spans of their phrases."""

import pytest

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.builder import tree_of_phrases
from spacy_incparse.trees.tree import Tree


@pytest.mark.parametrize(
    "text",
    [
        "(TOP (S (NP (DT The) (NN rain)) (VP (VBZ stops))))",
        "(TOP (NP (NP (NP (NN rain)))))",
        "(TOP (NN rain) (, ,) (X (Y (NN snow)) (Y (NN hail))))",
    ],
)
def test_a_tree_is_made_of_its_phrases(text):
    tree = Tree.from_string(text)
    assert tree_of_phrases(tree.spans(), tree.words, tree.tags) == tree


def test_a_word_without_phrases_is_a_pos_node():
    assert tree_of_phrases([], ["rain"], ["NN"]) == Tree.from_string("(NN rain)")


def test_several_words_need_a_root():
    for phrases in ([], [("NP", 0, 1), ("VP", 1, 2)]):
        with pytest.raises(IncparseError, match="one root"):
            tree_of_phrases(phrases, ["it", "rains"], ["PRP", "VBZ"])


def test_a_phrase_ends_at_the_last_word_or_before():
    with pytest.raises(IncparseError, match="open"):
        tree_of_phrases([("NP", 0, 3)], ["it", "rains"], ["PRP", "VBZ"])
