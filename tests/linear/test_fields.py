from functools import lru_cache

import pytest

from spacy_incparse.linear.templates import FIELDS
from spacy_incparse.treebanks.reader import parse_bracketed
from tests.reference.engine import Learners

# Commas and conjunctions, so that the fields about them have values; each word twice, so that all are known.
TEXT = (
    """
(TOP (S (PP (IN under) (NP (NN rain))) (, ,) (NP (NP (DT the) (NN crow)) (CC and) (NP (NN wren))) (VP (VBD sat)
  (ADVP (RB still)) (, ,) (CC but) (VP (VBD sang) (ADVP (RB low)))) (. .)))
"""
    * 2
)
LIMITED = {name: field.look_ahead for name, field in FIELDS.items() if field.look_ahead is not None}
CHANGES = (("sang", "VBD"), ("?", ","), ("Unseen", "CC"))


def one_field(name):
    """A set of one template with the field alone; a set needs one for nodes besides."""
    return {"node": ("L10",), "close": (name,)} if FIELDS[name].needs_span else {"node": (name,)}


@lru_cache(maxsize=1)
def learners_of(name):
    trees = list(parse_bracketed(TEXT))
    return trees[0], Learners(trees, features=one_field(name))


def features_by_word(name, change=None):
    """Features of the gold derivation, a list for each word and one for the end; `change` = (position, word, tag)."""
    tree, learners = learners_of(name)
    words, tags = list(tree.words), list(tree.tags)
    moves = learners.gold(tree)
    closings, leaves = learners.leaves(tags, moves)
    if change:
        position, words[position], tags[position] = change
    found = learners.perceptron.features_of(learners.model.sentence(words, tags), closings, leaves)
    n_stop = 2 if FIELDS[name].needs_span else 1
    sizes = [n_stop * n_closings + len(chain) + 1 for n_closings, chain in moves]
    return [[found.pop(0) for _ in range(size)] for size in sizes] + [found]


def contexts(features, position):
    """The features of the words before a position, and those at it but for the POS node's, whose outcome is the tag."""
    return features[:position], features[position][:-1]


@pytest.mark.parametrize(("name", "look_ahead"), [(n, k) for n, k in LIMITED.items() if k >= 0 and n != "TR"])
def test_no_field_declares_more_than_it_looks_at(name, look_ahead):
    """That none looks farther is a test of sessions; TR is the same in all sentences of one tag a word."""
    plain = features_by_word(name)
    assert any(
        contexts(features_by_word(name, (here + look_ahead, word, tag)), here) != contexts(plain, here)
        for here in range(len(plain) - 1 - look_ahead)
        for word, tag in CHANGES
    )


def test_a_question_is_known_from_the_start():
    assert FIELDS["QUESTION"].look_ahead is None
    plain = features_by_word("QUESTION")
    changed = features_by_word("QUESTION", (len(plain) - 2, "?", "."))
    assert all(one != other for one, other in zip(plain, changed, strict=True))
