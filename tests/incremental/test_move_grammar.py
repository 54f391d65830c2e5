import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.incremental.grammar import (
    END,
    NO_SIBLING,
    SHIFT,
    STOP,
    Grammar,
    Labels,
    derivation,
)
from spacy_incparse.transforms.left_corner import transform
from spacy_incparse.treebanks.reader import parse_bracketed
from tests.reference.left_corner_moves import build_tree
from tests.strategies import normalised_trees


def trees(text):
    return [transform(tree) for tree in parse_bracketed(text)]


SIMPLE = "(TOP (S (NP (DT A) (NN frog)) (VP (VBD sang))))"
TWO = SIMPLE + "(TOP (S (NP (NN Rain)) (VP (VBD fell) (ADVP (RB hard)))))"


def named_triples(grammar):
    def name(symbol, missing):
        return missing if symbol < 0 else grammar.labels.name(symbol)

    return {
        (name(parent, ""), name(sibling, "-"), name(symbol, "STOP")): count
        for (parent, sibling, symbol), count in grammar.triples.items()
    }


def test_chains_with_counts():
    grammar = Grammar.from_trees(trees(TWO))
    chains = {
        tag: {tuple(grammar.nonterminals[label] for label in chain): count for chain, count in counts.items()}
        for tag, counts in zip(grammar.tags, grammar.chains, strict=True)
    }
    assert chains == {
        "DT": {("S", "NP"): 1},
        "NN": {(): 1, ("S", "NP"): 1},
        "VBD": {("VP",): 2},
        "RB": {("ADVP",): 1},
    }


def test_triples_with_counts():
    assert named_triples(Grammar.from_trees(trees(SIMPLE))) == {
        ("TOP", "-", "S"): 1,
        ("S", "-", "NP"): 1,
        ("NP", "-", "DT"): 1,
        ("NP", "DT", "NN"): 1,
        ("NP", "NN", "STOP"): 1,
        ("S", "NP", "VP"): 1,
        ("VP", "-", "VBD"): 1,
        ("VP", "VBD", "STOP"): 1,
        ("S", "VP", "STOP"): 1,
        ("TOP", "S", "STOP"): 1,
    }


def test_contexts_of_a_derivation():
    grammar = Grammar.from_trees(trees(TWO))
    ids, tags = grammar.labels.nonterminal_ids, grammar.labels.tag_ids
    noun, verb = (grammar.labels.tag_symbol(tags[tag]) for tag in ("NN", "VBD"))
    assert grammar.contexts[ids["NP"], noun, tags["VBD"]] == {STOP: 2}
    assert grammar.contexts[ids["NP"], NO_SIBLING, tags["NN"]] == {SHIFT: 1}
    assert grammar.contexts[ids["S"], ids["NP"], tags["VBD"]] == {ids["VP"]: 2}
    assert grammar.contexts[ids["VP"], verb, END] == {STOP: 1}
    assert grammar.contexts[ids["VP"], verb, tags["RB"]] == {ids["ADVP"]: 1}
    assert grammar.contexts[ids["TOP"], ids["S"], END] == {STOP: 2}


def test_rare_long_chains_are_dropped_and_short_ones_kept():
    text = "(TOP (S (NP (NN Rain))))" + "(TOP (FRAG (NN Rain)))" + "(TOP (S (VP (VB Go))))" * 2
    grammar = Grammar.from_trees(trees(text), chain_min_count=2)
    long_chains = [chain for chains in grammar.chains for chain in chains if len(chain) > 1]
    assert [[grammar.nonterminals[label] for label in chain] for chain in long_chains] == [["S", "VP"]]
    assert sum(map(len, grammar.chains)) == 2
    assert Grammar.from_trees(trees(text)).without_rare_chains(2) == grammar


def test_rare_triples_are_dropped():
    triples = named_triples(Grammar.from_trees(trees(TWO), triple_min_count=2))
    assert set(triples.values()) == {2}
    assert ("S", "NP", "VP") in triples


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("(TOP (S (NP (DT A) (NN frog)) (VP (VBD fell) (ADVP (RB hard)))))", (False, False)),
        ("(TOP (NP (DT A) (NN frog)))", (True, True)),
        ("(TOP (S (NP (JJ Wet) (NN frog)) (VP (VBD sang))))", (True, True)),  # a tag that training does not have
        ("(TOP (S (NP (NN Rain) (NN frog)) (VP (VBD sang))))", (False, True)),
        ("(TOP (S (NP (NN Rain))))", (False, True)),  # S may not end after NP
        ("(TOP (ADVP (RB hard)))", (False, True)),  # the chain is known, but not as a start
        ("(TOP (S (NP (NN Rain) (QP (CD six)))))", (True, True)),
    ],
)
def test_what_a_tree_needs_and_the_grammar_lacks(text, missing):
    assert Grammar.from_trees(trees(TWO)).missing(*trees(text)) == missing


@settings(max_examples=50)
@given(st.lists(normalised_trees(), min_size=1, max_size=5), st.integers(1, 2), st.integers(1, 2))
def test_a_grammar_derives_its_own_trees_and_is_stored(plain, chain_min_count, triple_min_count):
    transformed = [transform(tree) for tree in plain]
    grammar = Grammar.from_trees(transformed)
    assert {grammar.missing(tree) for tree in transformed} == {(False, False)}
    cut = Grammar.from_trees(transformed, chain_min_count=chain_min_count, triple_min_count=triple_min_count)
    again = Grammar.from_dict(json.loads(json.dumps(cut.to_dict())))
    assert again == cut
    assert again.to_dict() == cut.to_dict() == Grammar.from_dict(again.to_dict()).to_dict()


def test_a_tag_and_a_phrase_of_the_same_name_are_different_symbols():
    labels = Labels.from_trees(parse_bracketed("(TOP (S (X (X oh)) (VP (VB go)) (NP (NN home)))) (TOP (NP (NN rain)))"))
    assert (labels.nonterminals, labels.tags) == (("NP", "TOP", "S", "VP", "X"), ("NN", "VB", "X"))
    phrase, tag = labels.nonterminal_ids["X"], labels.tag_symbol(labels.tag_ids["X"])
    assert phrase != tag
    assert labels.name(phrase) == labels.name(tag) == "X"


def test_moves_of_a_sentence():
    tree = next(parse_bracketed("(TOP (S (NP (NN Rain)) (VP (MD may) (VP (VB fall) (RB soon))) (. .)))"))
    assert derivation(tree) == [(0, ("S", "NP")), (1, ("VP",)), (0, ("VP",)), (0, ()), (2, ())]
    phrase = tree[0][1]  # a part of a tree has moves of its own
    assert build_tree(derivation(phrase), phrase.words, phrase.tags, root_label="VP") == phrase
    with pytest.raises(ValueError, match="'Rain' alone"):
        derivation(tree[0][0][0])


@given(normalised_trees())
def test_moves_build_the_tree_again(plain):
    tree = transform(plain)
    moves = derivation(tree)
    assert len(moves) == len(tree.words)
    assert build_tree(moves, tree.words, tree.tags) == tree
