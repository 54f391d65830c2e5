import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.incremental.grammar import retag
from spacy_incparse.incremental.parser import PerceptronParser
from spacy_incparse.treebanks.reader import parse_bracketed
from spacy_incparse.trees.tree import Tree
from tests.reference.engine import FEATURE_SETS, Engines, learner_of, random_parser, random_weights, teach
from tests.strategies import normalised_trees

ALL = 100_000
ALL_TREES = {"features": "paper", "gamma": None, "beam_size": ALL}
FEW = {"phrases": ("NP", "S", "VP"), "tags": ("NN", "NN", "DT")}
TREEBANKS = st.lists(normalised_trees(max_words=6, **FEW), min_size=2, max_size=5)


@pytest.mark.parametrize("features", ["paper", "every field", "accurate"])
@settings(max_examples=25)
@given(data=st.data(), treebank=TREEBANKS, seed=st.integers(0, 1000), outcome_filter_min_count=st.sampled_from((0, 2)))
def test_trees_have_the_scores_that_the_search_gives(features, data, treebank, seed, outcome_filter_min_count):
    settings = ALL_TREES | {"features": FEATURE_SETS[features], "outcome_filter_min_count": outcome_filter_min_count}
    parser = random_parser(treebank, seed, **settings)
    tree = data.draw(st.sampled_from(treebank))
    tags = [[(tag, 0.0), *((other, 2.0) for other in parser.tags if other != tag)][:2] for tag in tree.tags]
    for given_tags in (tree.tags, tags):
        for parse in parser.nbest(tree.words, given_tags, 300):
            if parse.source == "beam":
                scored = parser.score(tree.words, given_tags, parse.tree)
                assert (scored.score, scored.tree, scored.is_derived) == (parse.score, parse.tree, True)
                assert sum(move.score for move in scored.moves) == pytest.approx(parse.score, abs=1e-9)


@settings(max_examples=40)
@given(
    data=st.data(),
    treebank=TREEBANKS,
    outcome_filter_min_count=st.sampled_from((0, 1, 2, 3)),
    outcome_filter_min_share=st.sampled_from((0.0, 0.3)),
    chain_min_count=st.integers(1, 2),
    triple_min_count=st.integers(1, 2),
)
def test_what_is_derived_is_what_the_search_finds(data, treebank, **grammar):
    parser = random_parser(treebank, 0, **ALL_TREES, **grammar)
    tree = data.draw(st.one_of(normalised_trees(max_words=5, **FEW), st.sampled_from(treebank)))
    tree = retag(tree, [tag if tag in parser.tags else parser.tags[0] for tag in tree.tags])
    parses = parser.nbest(tree.words, tree.tags, ALL)
    found = {parse.tree for parse in parses if parse.source == "beam"}
    scored = parser.score(tree.words, None, tree)
    assert (scored.reason == "") == scored.is_derived
    if found:  # or the search needed more than the grammar
        assert scored.is_derived == (tree in found)
    elif scored.is_derived:
        raise AssertionError(f"the search was relaxed, though the grammar derives {tree}")


@settings(max_examples=40)
@given(data=st.data(), treebank=TREEBANKS, seed=st.integers(0, 1000))
def test_relaxed_trees_are_scored_by_their_features(data, treebank, seed):
    engines = Engines(treebank, features="rich", seed=seed, largest=20)
    weights, _ = random_weights(engines.moves.n_columns, seed, 20)
    parser = PerceptronParser(engines.model, weights, engines.config, engines.moves)
    tree = data.draw(normalised_trees(max_words=6, **FEW))
    gold = engines.gold(tree)
    scored = parser.score(tree.words, None, tree)
    if None in [chain for _, chain in gold]:
        first = [chain for _, chain in gold].index(None)
        assert scored.score is None
        assert scored.moves[first].violation.kind == ("chain" if tree.tags[first] in parser.tags else "tag")
        assert [move.score is None for move in scored.moves] == [k >= first for k in range(len(scored.moves))]
    else:
        slow = engines.slow
        expected = slow.score(slow.features(slow.sentence(tree.words, tree.tags), gold, True))
        assert scored.score == expected


@pytest.fixture(scope="module")
def parser():
    trees = list(
        parse_bracketed("""
        (TOP (S (NP (NP (DT the) (NN cat)) (PP (IN in) (NP (DT a) (NN box)))) (VP (VBD slept)) (. .)))
        (TOP (S (NP (NNS cats)) (PP (IN in) (NP (DT a) (NN box))) (VP (VBD slept)) (. .)))
        (TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog))) (. .)))""")
    )
    learner = learner_of(trees, features="paper", outcome_filter_min_count=1, known_min_count=1)
    teach(learner, trees, 3)
    return learner.parser()


def test_moves_are_named(parser):
    tree = Tree.from_string(
        "(TOP (S (NP (NP (DT the) (NN cat)) (PP (IN in) (NP (DT a) (NN box)))) (VP (VBD slept)) (. .)))"
    )
    scored = parser.score(tree.words, tree.tags, tree)
    assert [(move.word, move.tag, move.closings, move.chain) for move in scored.moves] == [
        ("the", "DT", (), ("S", "NP")),
        ("cat", "NN", (), ()),
        ("in", "IN", (), ("NP/NP", "PP")),
        ("a", "DT", (), ("NP",)),
        ("box", "NN", (), ()),
        ("slept", "VBD", ("NP", "PP", "NP/NP", "NP"), ("VP",)),
        (".", ".", ("VP",), ()),
        (None, None, ("S", "TOP"), ()),
    ]
    assert scored.is_derived
    assert scored.reason == ""


@pytest.mark.parametrize(
    ("text", "reason", "is_scored"),
    [
        ("(TOP (S (VP (NP (DT a) (NN cat)))))", "word 1 'a': no chain S over VP over NP over DT (chain)", False),
        ("(TOP (S (NP (QQ the) (NN cat)) (VP (VBD slept)) (. .)))", "word 1 'the': no tag QQ (tag)", True),
        ("(TOP (NP (DT the) (NN cat)))", "word 1 'the': no NP in TOP (triple)", True),
        ("(TOP (S (NP (DT the) (NN cat)) (VP (VBD slept))))", "the end: no end of S after VP (triple)", True),
        (
            "(TOP (S (NP (DT the)) (VP (VBD slept)) (. .)))",
            "word 2 'slept': no end of NP after DT (triple)",
            True,
        ),
        ("(TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (ADJP (DT a))) (. .)))", "an unknown label over DT", False),
        ("(TOP (S (NP (DT a) (NN dog) (NN cat)) (VP (VBD saw)) (. .)))", "word 3 'cat': no NN in NP after NN", True),
        (
            "(TOP (S (NP (DT the) (NN cat)) (PP (IN in) (NP (DT a) (NN box))) (VP (VBD slept)) (. .)))",
            "word 3 'in': no end of NP after NN before IN (context)",
            True,
        ),
    ],
)
def test_what_the_grammar_lacks_is_named(parser, text, reason, is_scored):
    tree = Tree.from_string(text)
    scored = parser.score(tree.words, None, tree)
    assert reason in scored.reason
    assert (scored.score is not None, scored.tree, scored.is_derived) == (is_scored, tree, False)


def test_trees_are_scored_under_the_tags_of_the_parse(parser):
    tree = Tree.from_string("(TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog))) (. .)))")
    given_tags = ["DT", "NN", "NN", "DT", "NN", "."]
    scored = parser.score(tree.words, given_tags, tree)
    assert list(scored.tree.tags) == given_tags
    assert not scored.is_derived
    odd = retag(tree, ["UNSEEN", *tree.tags[1:]])
    assert parser.score(tree.words, None, odd).tree.tags == odd.tags
    with pytest.raises(ValueError, match="other words than the sentence"):
        parser.score(["a", *tree.words[1:]], None, tree)


def test_a_long_tree_is_scored_in_linear_memory(parser):
    clause = "(S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog))) (. .))"
    tree = Tree.from_string(f"(TOP {' '.join([clause] * 500)})")
    scored = parser.score(tree.words, None, tree)
    assert len(scored.moves) == 3001
    assert scored.score is not None
