from dataclasses import replace

import pytest

from spacy_incparse import Tree
from spacy_incparse.parsing.parse import Posterior
from spacy_incparse.repair.relabelling import Relabeller, phrases_by_span, relabel_trees
from spacy_incparse.repair.repair import make_rules

LABELS = frozenset(["NP", "VP", "S", "PP", "ADVP", "WHNP"])
TREE = Tree.from_string(
    "( (S-1 (NP-SBJ (NP (PRP it)) (S (-NONE- *EXP*-2))) (VP (VBD rained) (NP-TMP (RB there)) (X (IN on)))) )"
)  # words: it rained there on


def relabeller(phrases, sure=0.9, seen=None, free=None):
    """Return a relabeller that finds these probabilities in each sentence, and adds what it was asked to `seen`.

    free: those without constraints, if they are others.
    """

    def analyse(sentences):
        for sentence in sentences:
            if seen is not None:
                seen.append(sentence)
            found = phrases if sentence[1] or free is None else free
            yield None if phrases is None else Posterior(1.0, 0.0, found)

    return Relabeller(analyse, LABELS, sure=sure)


def test_phrases_without_traces():
    assert phrases_by_span(TREE) == {(0, 4): [1], (0, 1): [2, 3], (1, 4): [7], (2, 3): [9], (3, 4): [11]}
    assert phrases_by_span(Tree.from_string("(TOP (ROOT (NP (NN rain))))")) == {(0, 1): [2]}
    traces = Tree.from_string("(TOP (NP (-NONE- *)))")
    assert phrases_by_span(traces) == {}
    assert relabel_trees([traces], relabeller(None)) == ([traces], [], 0)


def test_all_phrases_are_required():
    seen = []
    relabel_trees([TREE], relabeller({}, seen=seen))
    ((tree, constraints),) = seen
    assert (tree.words, tree.tags) == (("it", "rained", "there", "on"), ("PRP", "VBD", "RB", "IN"))
    assert {constraint[:2] for constraint in constraints} == set(phrases_by_span(TREE))
    assert {constraint[2:] for constraint in constraints} == {(None, True)}


def test_a_sure_label_replaces_another():
    (tree,), (change,), n_left = relabel_trees([TREE], relabeller({("ADVP", 2, 3): 0.96, ("NP", 2, 3): 0.04}))
    assert str(tree) == str(TREE).replace("NP-TMP", "ADVP-TMP")
    assert (change.tree, change.rule, change.start, change.end) == (0, "parser", 3, 4)  # the trace is a word here
    assert (change.before, change.after) == ("(NP-TMP (RB there))", "(ADVP-TMP (RB there))")
    assert (change.probability, n_left) == (0.96, 0)


@pytest.mark.parametrize(
    "phrases",
    [
        {("ADVP", 2, 3): 0.89},  # not sure
        {("ADVP", 2, 3): 0.96, ("NP", 2, 3): 0.5},  # both, in a unary chain
        {("NP", 2, 3): 0.99},  # the label that it has
        {("ADVP", 0, 1): 0.99},  # two phrases over these words
        {("ADVP", 3, 4): 0.99},  # X is a label that the parser does not know
        {("TOP", 0, 4): 1.0},
        {},
        None,
    ],
)
def test_other_labels_stay(phrases):
    trees, changes, n_left = relabel_trees([TREE], relabeller(phrases))
    assert (trees, changes) == ([TREE], [])
    assert n_left == (phrases is None)


def test_phrases_must_be_likely_without_requirements():
    """The parser may have no choice but to give a phrase that it does not believe in some label."""
    sure = {("ADVP", 2, 3): 1.0}
    for free, n_changes in [({("ADVP", 2, 3): 0.49}, 0), ({}, 0), ({("ADVP", 2, 3): 0.5}, 1)]:
        assert len(relabel_trees([TREE], relabeller(sure, free=free)).changes) == n_changes


def test_only_some_changes():
    for pairs, n_changes in [({("NP", "ADVP")}, 1), ({("ADVP", "NP"), ("NP", "PP")}, 0)]:
        some = replace(relabeller({("ADVP", 2, 3): 1.0}), pairs=frozenset(pairs))
        assert len(relabel_trees([TREE], some).changes) == n_changes


def test_rules_have_the_last_word():
    """One change would make a rule apply, unless another one is made first."""
    rules = make_rules(
        [{"name": "a", "reason": "b", "pattern": "ADVP=x <: RB > (VP > (S < NP))", "action": "excise x"}]
    )
    tree = Tree.from_string("(TOP (S (NP (PRP it)) (VP (VBD rained) (NP (RB there)))))")
    both = {("ADVP", 2, 3): 0.95, ("PP", 0, 1): 0.99}
    assert relabel_trees([tree], relabeller({("ADVP", 2, 3): 0.95}), rules) == ([tree], [], 0)
    (relabelled,), changes, _ = relabel_trees([tree], relabeller(both), rules)
    assert str(relabelled) == "(TOP (S (PP (PRP it)) (VP (VBD rained) (ADVP (RB there)))))"
    assert [change.probability for change in changes] == [0.99, 0.95]
    assert relabel_trees([relabelled], relabeller(both), rules).changes == []
