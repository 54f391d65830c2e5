"""Closed classes and prepositional phrases, whatever the treebank's labels."""

import pytest

from spacy_incparse.rerank.features import closed_class_tags, is_prepositional
from spacy_incparse.trees.tree import Tree


def test_closed_classes_have_few_new_words():
    trees = [
        Tree.from_string(f"(S (D {'the' if k % 3 else 'A'}) (N noun{k}) (V{'-X' * (k % 2)} is))") for k in range(99)
    ]
    assert closed_class_tags(trees) == ("D", "V")
    assert closed_class_tags(trees, max_productivity=1) == ("D", "N", "V")
    assert closed_class_tags(trees[:1]) == ()
    assert closed_class_tags([]) == ()
    many = [Tree.from_string(f"(S (N noun{k % 201}) (D d{k % 200}))") for k in range(500)]
    assert closed_class_tags(many) == ("D",)


@pytest.mark.parametrize(
    ("label", "expected"), [("PP", True), ("WHPP", True), ("sp", True), ("NP", False), ("VP", False), ("", False)]
)
def test_prepositional_phrases_are_known_by_their_label(label, expected):
    assert is_prepositional(label) == expected
