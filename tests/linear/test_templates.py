from functools import lru_cache

import pytest

from spacy_incparse.errors import ConfigError
from spacy_incparse.linear.templates import (
    FIELDS,
    KINDS,
    Template,
    compile_kind,
    look_ahead,
    resolve,
)
from spacy_incparse.treebanks.reader import parse_bracketed
from tests.reference.engine import Learners

NODE = {"node": ("L10 LKP",)}


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ("poor", "unknown feature set 'poor': choose one of paper, paper\\+punct, rich"),
        (NODE | {"nodes": ("L10",)}, "unknown kind of template 'nodes': choose from node, word, chain, close"),
        ({"node": ("L10 L99",)}, "unknown field 'L99' \\(in the node template 'L10 L99'\\)"),
        ({"node": ("L10", " ")}, "a template of the kind 'node' is empty"),
        (NODE | {"chain": ("L10 LEN",)}, "the field LEN \\(in the chain template 'L10 LEN'\\) belongs to .* 'close'"),
        ({"word": ("LK",)}, "at least one template of the kind 'node'"),
        ({}, "at least one template of the kind 'node'"),
    ],
)
def test_what_a_user_may_write_wrong(features, message):
    with pytest.raises(ConfigError, match=message):
        resolve(features)


@pytest.mark.parametrize(("text", "reach"), [("L10 LKP", 0), ("T-1 W1 T2", 2), ("T3 LK", 3), ("L10 QUESTION T1", None)])
def test_a_template_looks_as_far_as_its_farthest_field(text, reach):
    assert look_ahead(resolve({"node": (text,)})) == look_ahead(resolve({"node": ("L10", text)})) == reach


def test_look_ahead_of_closings_and_of_the_named_sets():
    """All but closings score an outcome that the next word decides."""
    assert look_ahead([Template("close", ("L10",))]) == -1
    assert look_ahead([Template("close", ("L10", "W1"))]) == 1
    assert look_ahead(resolve("paper")) == 0
    assert look_ahead([template for template in resolve("rich") if "QUESTION" not in template.fields]) == 3


def test_coefficients_differ_and_stay_the_same():
    """A model's weights lie where its hashes say, in every version: these numbers never change."""
    templates = resolve("rich")
    tables = {kind: compile_kind(templates, kind) for kind in KINDS}
    assert tables == {kind: compile_kind(templates, kind) for kind in KINDS}
    drawn = [bias for table in tables.values() for bias in table.biases]
    drawn += [c for table in tables.values() for row in (*table.structure, *table.position) for _, c in row]
    assert len(set(drawn)) == len(drawn)
    assert all(0 < number < 1 << 64 for number in drawn)
    first = compile_kind(resolve({"node": ("L10 LKP",)}), "node")
    assert (first.biases, first.structure, first.position) == (
        (1181853762151044926,),
        (((0, 12667196456501598327),),),
        (((8, 6882090419355404461),),),
    )


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
