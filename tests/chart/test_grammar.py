import json

import numpy as np
import pytest
from hypothesis import given, settings

from spacy_incparse.chart.grammar import Grammar, count_rules, grammar_from_dict, grammar_to_dict
from spacy_incparse.errors import IncparseError, ModelError
from spacy_incparse.papers.finkel_2008.system import relaxed
from spacy_incparse.transforms.binarize import Markovization, markovize
from spacy_incparse.trees.tree import Tree
from tests.chart.grammars import MARKOVIZATIONS, TREEBANKS, grammar_of

TREE = Tree.from_string("(TOP (S (NP (DT a) (JJ gray) (NN owl)) (VP (VBD ate))))")


def rules_of(*texts, **options):
    settings = Markovization(**options)
    return count_rules([markovize(Tree.from_string(text).arrays, settings) for text in texts])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {},
            "NP -> =DT NP|<>; NP|<> -> =JJ =NN; S -> NP VP; VP -> =VBD; =DT -> a word; =JJ -> a word; =NN -> a word; "
            "=VBD -> a word; TOP -> S",
        ),
        (
            {"collapse_unaries": True, "vertical": 1, "horizontal": 1, "annotate_tags": True},
            "NP^S -> =DT^NP NP^S|<DT>; NP^S|<DT> -> =JJ^NP =NN^NP; S^TOP -> NP^S =VP+VBD^S; =DT^NP -> a word; "
            "=JJ^NP -> a word; =NN^NP -> a word; =VP+VBD^S -> a word; TOP -> S^TOP",
        ),
    ],
)
def test_the_rules_of_a_tree(options, expected):
    grammar = grammar_of([TREE], Markovization(**options))
    assert "; ".join(map(str, grammar.rules)) == expected
    assert grammar.tags == ("DT", "JJ", "NN", "VBD")
    assert grammar.labels == ("NP", "S", "TOP", "VP")


@settings(max_examples=30)
@given(TREEBANKS, MARKOVIZATIONS)
def test_rules_are_numbered_by_kind(trees, options):
    grammar = grammar_of(trees, options)
    kinds = [4 if not rule.parent else (3, 2, 1)[len(rule.right)] for rule in grammar.rules]
    assert kinds == sorted(kinds)
    assert len(grammar.rules) == grammar.n_rules == len(grammar.counts) == len(grammar.rule_ids)
    firsts = [grammar.first_unary, grammar.first_lexical, grammar.first_root]
    assert firsts == [sum(kind < limit for kind in kinds) for limit in (2, 3, 4)]


def test_a_phrase_and_a_tag_with_the_same_label():
    tree = Tree.from_string("(TOP (X (X a) (X (X b) (NN c))))")
    assert [str(rule) for rule in grammar_of([tree]).rules[:2]] == ["X -> =X =NN", "X -> =X X"]


def test_trees_without_the_root_are_refused():
    with pytest.raises(IncparseError, match="the root of the tree is 'S', not TOP: normalize the tree"):
        Grammar.from_counts(count_rules([Tree.from_string("(S (NN owl))").arrays]))


def test_the_relaxed_grammar_changes_the_ancestor_of_the_parent_alone():
    counts = rules_of(
        "(TOP (S (NP (DT a) (JJ b) (NN c)) (VP (VB d) (NP (NP (NN e)) (NN f)))))", vertical=1, annotate_tags=True
    )
    added = {str(rule) for rule, count in relaxed(counts).items() if not count}
    assert added == {
        "NP^VP -> =DT^NP NP^VP|<>",
        "NP^NP -> =DT^NP NP^NP|<>",
        "NP^VP|<> -> =JJ^NP =NN^NP",
        "NP^NP|<> -> =JJ^NP =NN^NP",
        "NP^S -> NP^NP =NN^NP",
        "NP^NP -> NP^NP =NN^NP",
        "NP^S -> =NN^NP",
        "NP^VP -> =NN^NP",
    }
    assert all(relaxed(counts)[rule] == count for rule, count in counts.items())
    plain = rules_of(str(TREE))  # without ancestors there is nothing to relax
    assert relaxed(plain) == plain


@settings(max_examples=20)
@given(TREEBANKS, MARKOVIZATIONS)
def test_stored_grammars_are_the_same(trees, options):
    grammar = grammar_of(trees, options)
    other = grammar_from_dict(json.loads(json.dumps(grammar_to_dict(grammar))))
    assert (other.rules, other.states, other.labels) == (grammar.rules, grammar.states, grammar.labels)
    np.testing.assert_array_equal(other.counts, grammar.counts)
    assert [array.dtype for array in vars(other).values() if isinstance(array, np.ndarray)] == [
        array.dtype for array in (grammar.binary, grammar.unary, grammar.lexical, grammar.roots, grammar.counts)
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"binary": [0, 1]}, "its binary are not rows of 3 numbers"),
        ({"roots": [99]}, "its roots are not rows of 1 numbers below 8"),
        ({"lexical": [-1]}, "its lexical are not rows"),
        ({"lexical": [True]}, "its lexical are not rows"),
        ({"chains": []}, "not one chain per unary rule"),
        ({"chains": [[0], [99]]}, "its chains are not rows"),
        ({"counts": [1]}, "not one count per rule"),
        ({"unary": None}, "its unary are no list"),
        ({"states": [1]}, "among its states there is 1"),
    ],
)
def test_damaged_grammars_are_refused(sample_grammar, change, message):
    with pytest.raises(ModelError, match=message):
        grammar_from_dict(grammar_to_dict(sample_grammar) | change)
    with pytest.raises(ModelError, match="it is no dict"):
        grammar_from_dict([])
