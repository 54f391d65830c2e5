import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.generative.kind import GenerativeConfig
from spacy_incparse.generative.parser import ALL, GenerativeParser
from spacy_incparse.incremental.grammar import retag
from spacy_incparse.parsing.parse import Constraint
from spacy_incparse.treebanks.reader import parse_bracketed
from spacy_incparse.trees.heads import HeadRules
from tests.reference.constraints import check_constrained
from tests.reference.engine import min_counts
from tests.strategies import constraints, normalised_trees

FEW = {"phrases": ("NP", "S", "VP"), "tags": ("NN", "NN", "DT", "CC")}
TREEBANKS = st.lists(normalised_trees(max_words=5, **FEW), min_size=2, max_size=5)
HEADS = HeadRules.from_name("en")


def train(trees, *, beam_size=0, gamma=0.0, **more):
    config = GenerativeConfig(beam_size=beam_size, gamma=gamma)
    with min_counts(class_min_count=2, **more):
        return GenerativeParser.train(trees, config, HEADS)


@settings(max_examples=60)
@given(data=st.data(), treebank=TREEBANKS)
def test_trees_have_the_probabilities_that_the_search_gives(data, treebank):
    parser = train(treebank)
    tree = data.draw(st.sampled_from(treebank))
    parses = parser.nbest(tree.words, tree.tags, 200)
    for parse in parses:
        if parse.source == "beam":
            scored = parser.score(tree.words, tree.tags, parse.tree)
            assert scored.score == pytest.approx(parse.score, abs=1e-9)
            assert scored.is_derived
            assert sum(move.score for move in scored.moves) == pytest.approx(parse.score, abs=1e-9)
    assert parser.score(tree.words, None, tree) == parser.score(tree.words, tree.tags, tree)


@settings(max_examples=60)
@given(data=st.data(), treebank=TREEBANKS, chain_min_count=st.integers(1, 2), triple_min_count=st.integers(1, 2))
def test_what_is_derived_is_what_the_search_finds(data, treebank, **grammar):
    parser = train(treebank, **grammar)
    tree = data.draw(st.one_of(normalised_trees(max_words=4, **FEW), st.sampled_from(treebank)))
    tree = retag(tree, [tag if tag in parser.tags else parser.tags[0] for tag in tree.tags])
    found = {parse.tree for parse in parser.nbest(tree.words, tree.tags, ALL) if parse.source == "beam"}
    scored = parser.score(tree.words, None, tree)
    if found or scored.is_derived:
        assert scored.is_derived == (tree in found)
    known = set(parser.model.grammar.nonterminals)
    unknown = [k for k, move in enumerate(scored.moves) if not known >= set(move.chain)]
    assert (scored.score is None) == bool(unknown)
    assert not unknown or scored.moves[unknown[0]].violation.kind == "chain"


@settings(max_examples=60)
@given(data=st.data(), treebank=TREEBANKS, has_tags=st.booleans())
def test_the_best_of_all_analyses_that_satisfy_constraints(data, treebank, has_tags):
    parser = train(treebank)
    tree = data.draw(st.sampled_from(treebank))
    words, tags = tree.words[:4], tree.tags[:4] if has_tags else None
    everything = parser.nbest(words, tags, ALL)
    spans = [span for parse in everything[:5] for span in parse.tree.spans()]
    wanted = data.draw(constraints(spans, len(words)))
    check_constrained(parser, words, tags, everything, wanted, abs=1e-9)


@settings(max_examples=40)
@given(data=st.data(), treebank=TREEBANKS, beam_size=st.sampled_from((1, 3, 20)))
def test_a_narrow_beam_meets_all_brackets_of_a_training_tree(data, treebank, beam_size):
    parser = train(treebank, beam_size=beam_size, gamma=1e-4)
    tree = data.draw(st.sampled_from(treebank))
    wanted = [Constraint(start, end, label) for label, start, end in tree.spans()]
    parse = parser.parse(tree.words, tree.tags, wanted)
    assert parse.unmet == ()
    assert set(parse.tree.spans()) >= set(tree.spans())


def test_measures_do_not_see_constraints():
    trees = list(parse_bracketed("(TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog)))))"))
    parser = train(trees)
    words = trees[0].words
    before = parser.measures(words), parser.nbest(words, None, 10)
    assert parser.parse(words, None, [(0, 2, "XX")]).unmet == (Constraint(0, 2, "XX"),)
    parser.parse(words, None, [(2, 5, "VP", False)])
    assert (parser.measures(words), parser.nbest(words, None, 10)) == before


def test_there_must_be_as_many_tags_as_words():
    trees = list(parse_bracketed("(TOP (S (NP (NN cats)) (VP (VB sleep))))" * 2))
    with pytest.raises(ValueError, match=r"longer|shorter"):
        train(trees).score(trees[0].words, ["NN", "VB", "NN"], trees[0])
