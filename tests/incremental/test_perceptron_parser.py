import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
import srsly
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.errors import ModelError
from spacy_incparse.incremental.grammar import Move, derivation
from spacy_incparse.incremental.parser import PerceptronParser
from spacy_incparse.linear.weights import Weights
from spacy_incparse.transforms.left_corner import restore, transform
from spacy_incparse.treebanks.reader import parse_bracketed
from spacy_incparse.trees.builder import make_tree
from tests.reference.engine import BITS, learner_of, teach
from tests.reference.left_corner_moves import build_tree
from tests.reference.search import SlowBeam
from tests.strategies import deep_tree, odd_words

MAX_CLOSINGS = 64  # as in incremental/beam.pyx
BEYOND = 10**9  # an id that no label has


def train(trees, n_passes, **settings):
    learner = learner_of(trees, **settings)
    teach(learner, trees, n_passes)
    return learner.parser()


@pytest.fixture(scope="module")
def parser(sample_train):
    return train(sample_train[:120], 3, table_bits=16)


def slow_nbest(parser, words, tags, k):
    """(tree, score) of the k best analyses, equal trees once, by the slow search; and whether triples were left out."""
    config, weights = parser.config, parser.weights
    values = [weights[index] for index in range(len(weights))]
    gamma = None if config.gamma is None else config.gamma * weights.scale
    beam = SlowBeam(
        parser.model, config, values, bits=config.table_bits, beam_size=config.beam_size, gamma=gamma,
        outcome_filter_min_count=config.outcome_filter_min_count,
    )  # fmt: skip
    analyses, n_relaxed = beam.parse(beam.sentence(words, tags), k)
    names = parser.model.grammar.nonterminals
    found = {}
    for score, moves in analyses:
        named = [Move(n_closings, tuple(names[label] for label in chain)) for n_closings, chain in moves]
        found.setdefault(restore(build_tree(named, words, tags)), score / weights.scale)
    return list(found.items()), n_relaxed > 0


FILTERED, PLAIN = {"gamma": 2.0, "outcome_filter_min_count": 4}, {"gamma": None, "beam_size": 3}


@pytest.mark.parametrize(("features", "search"), [("paper", PLAIN), ("paper+punct", FILTERED), ("rich", FILTERED)])
def test_nbest_as_the_slow_twin(features, search, sample_train, sample_dev):
    parser = train(sample_train[:25], 2, features=features, table_bits=BITS).with_search(**{"beam_size": 4} | search)
    for tree in sorted(sample_dev, key=lambda tree: len(tree.words))[3:18]:
        expected, is_relaxed = slow_nbest(parser, tree.words, tree.tags, 4)
        parses = parser.nbest(tree.words, tree.tags, 4)
        assert [(parse.tree, parse.score) for parse in parses] == expected
        assert {parse.source for parse in parses} == {"relaxed" if is_relaxed else "beam"}


@settings(max_examples=40)
@given(data=st.data())
def test_any_sentence_gets_a_tree(parser, data):
    odd = st.sampled_from(("", "\n", "\ud800", "😀", "a" * 10_000))
    words = data.draw(st.lists(st.one_of(odd_words(), odd), min_size=1, max_size=12))
    tags = [data.draw(st.sampled_from([*parser.tags, "UNSEEN", "", "NP", "(", "é"])) for _ in words]
    parse = parser.parse(words, tags)
    assert (parse.tree.words, parse.tree.tags, parse.tree.label) == (tuple(words), tuple(tags), "TOP")
    assert parse.source in ("beam", "relaxed")


def test_2000_words(parser, sample_dev):
    words, tags = [], []
    while len(words) < 2000:
        for tree in sample_dev:
            words += tree.words
            tags += tree.tags
    parse = parser.parse(words[:2000], tags[:2000])
    assert len(parse.tree.words) == 2000
    assert parse.source != "flat"
    assert parser.parse(["otter"] * 2000, ["NN"] * 2000).tree.words == ("otter",) * 2000


def test_words_and_tags_that_do_not_fit(parser):
    for words, tags in (([], []), (["a"], []), (["a", "b"], ["DT"]), ([], ["DT"])):
        with pytest.raises(ValueError, match=f"not {len(words)} words and {len(tags)} tags"):
            parser.parse(words, tags)
    with pytest.raises(ValueError, match="has to be 1 or more, not 0"):
        parser.nbest(["otter"], ["NN"], 0)


def test_tags_that_training_has_not_seen_stay_the_trees(parser, sample_dev):
    for tags in (["ZZ", "NN"], [[("ZZ", 0.0)], "NN"], [[("ZZ", 0.0), ("YY", 2.0)], [("NN", 0.0), ("QQ", 1.0)]]):
        assert parser.parse(["The", "otter"], tags).tree.tags == ("ZZ", "NN")
    tags = [[("ZZ", 0.0), ("DT", 1.0)], *sample_dev[0].tags[1:]]
    assert parser.parse(sample_dev[0].words, tags).tree.tags == ("DT", *sample_dev[0].tags[1:])
    with pytest.raises(ValueError, match="a word has no tag"):
        parser.parse(["The", "otter"], [[], "NN"])


def test_batches_and_threads_give_what_single_sentences_do(parser, sample_dev):
    sentences = [(tree.words, tree.tags) for tree in sample_dev]
    expected = [parser.parse(*sentence) for sentence in sentences]
    assert parser.parse_batch(iter(sentences)) == expected
    assert parser.parse_batch([]) == []
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda sentence: parser.parse(*sentence), sentences * 5)) == expected * 5


def test_storage(parser, sample_dev):
    data = parser.to_bytes()
    for again in (PerceptronParser.from_bytes(data), pickle.loads(pickle.dumps(parser))):
        assert again.config == parser.config
        assert (again.tags, again.labels) == (parser.tags, parser.labels)
        assert again.to_bytes() == data
        for tree in sample_dev:
            assert again.nbest(tree.words, tree.tags, 5) == parser.nbest(tree.words, tree.tags, 5)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content.pop("scale"),
        lambda content: content["model"]["grammar"].pop("chains"),
        lambda content: content.update(weights=content["weights"][:-20]),
        lambda content: content.update(n_columns=content["n_columns"] + 1),
        lambda content: content["config"].update(table_bits=10),
        lambda content: content["config"].update(beam_size=0),
        lambda content: content["config"].update(no_setting=0),
        lambda content: content.update(temperature=0.0),
        lambda content: content.update(model=5),
        # ids that no label has
        lambda content: content["model"]["grammar"]["chains"][0].append([1, BEYOND]),
        lambda content: content["model"]["grammar"]["chains"].pop(),
        lambda content: content["model"]["grammar"]["triples"].append([BEYOND, 0, 0, 1]),
        lambda content: content["model"]["grammar"]["triples"].append([0, -2, 0, 1]),
        lambda content: content["model"]["grammar"]["triples"].append([0, 0, BEYOND, 1]),
        lambda content: content["model"]["grammar"]["contexts"].append([0, 0, BEYOND, 0, 1]),
        lambda content: content["model"]["grammar"]["contexts"].append([0, 0, 0, BEYOND, 1]),
        lambda content: content["model"]["punctuation"].append(BEYOND),
        lambda content: content["model"]["grammar"].update(local_trees={}),
        lambda content: content["model"]["grammar"]["local_trees"].append(["NP", 1]),
        lambda content: content["model"]["grammar"]["local_trees"].append(["NP"]),
        # weights of another grammar
        lambda content: content.update(n_columns=1, weights=Weights(content["config"]["table_bits"], 1).to_bytes()),
    ],
)
def test_damaged_models(parser, damage):
    content = srsly.msgpack_loads(parser.to_bytes())
    damage(content)
    for data in (srsly.msgpack_dumps(content), parser.to_bytes()[:1000], b"", b"no model", b"\xff\xff"):
        with pytest.raises(ModelError):
            PerceptronParser.from_bytes(data)


def test_deep_trees_without_recursion():
    tree = deep_tree(3000)
    parser = train([tree], 2, features="paper", train_beam_size=2)
    assert parser.with_search(beam_size=2).parse(tree.words, tree.tags).tree == tree


def test_long_chains_without_recursion():
    tree = make_tree("NN", "otter")
    for k in range(1500):
        tree = make_tree("SVPNP"[k % 2], [tree])
    tree = make_tree("TOP", [tree])
    parser = train([tree], 2, features="paper")
    assert parser.parse(tree.words, tree.tags).tree == tree


def nested(depth):
    """Sentences in sentences, with a full stop at the very end that belongs to the outermost."""
    inside = "(NP (PRP she)) (VP (VBD ran))"
    for _ in range(depth):
        inside = f"(NP (PRP he)) (VP (VBD said) (S {inside}))"
    return next(parse_bracketed(f"(TOP (S {inside} (. .)))"))


def test_a_word_ends_a_bounded_number_of_constituents():
    """Each is an attachment site: without a bound, time would be quadratic in the depth of the tree."""
    parser = train([nested(k) for k in range(5)], 5, features="paper", table_bits=16)
    for depth, found in ((MAX_CLOSINGS // 2 - 1, True), (MAX_CLOSINGS // 2, False), (300, False)):
        tree = nested(depth)
        parse = parser.parse(tree.words, tree.tags)
        assert parse.tree.words == tree.words
        assert (parse.tree == tree) == found
        assert max(move.n_closings for move in derivation(transform(parse.tree))[:-1]) <= MAX_CLOSINGS
