import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.generative.hybrid import HybridModel, Jackknife, read_model
from spacy_incparse.generative.kind import GenerativeConfig
from spacy_incparse.generative.model import GenerativeModel
from spacy_incparse.incremental.beam import Beam
from spacy_incparse.incremental.grammar import Grammar, root_symbol
from spacy_incparse.incremental.parser import PerceptronParser, _ranked
from spacy_incparse.transforms.left_corner import transform
from spacy_incparse.treebanks.reader import parse_bracketed
from spacy_incparse.trees.heads import HeadRules
from tests.reference.engine import BITS, FEATURE_SETS, learner_of, random_parser, random_weights, teach
from tests.reference.generative import SlowGenerative
from tests.reference.search import SlowBeam
from tests.strategies import normalised_trees

TAGS = ("NN", "DT", "CC")
SMALL_TREES = normalised_trees(max_words=5, phrases=("S", "NP", "VP"), tags=TAGS)
TREEBANKS = st.lists(SMALL_TREES, min_size=2, max_size=4)
WEIGHT = 3.0
WEIGHTS = {"generative_weight": WEIGHT, "train_generative_weight": WEIGHT}
ALL = 10**6


def lattice(data, tree, trees):
    """Of each word its tag, or some of the tags that trees have, with their gaps: the first is the tagger's."""
    known = sorted({tag for other in trees for tag in other.tags})
    several = st.lists(st.sampled_from(known), min_size=1, max_size=3, unique=True)
    gaps = several.map(lambda names: [(name, 3.0 * k) for k, name in enumerate(names)])
    return [data.draw(st.one_of(st.just(tag), gaps)) for tag in tree.tags]


@settings(max_examples=20)
@given(st.data(), TREEBANKS, st.integers(0, 99))
def test_given_trees_and_constraints(data, trees, seed):
    """A tree has the score that the search gives it, and the search keeps to brackets, as with a perceptron alone."""
    parser = random_parser(
        trees, seed, 5, features="accurate", **WEIGHTS, generative_folds=0, gamma=None, beam_size=ALL
    )
    tree = data.draw(st.sampled_from(trees))
    for tags in (tree.tags, lattice(data, tree, trees)):
        for parse in parser.nbest(tree.words, tags, 50):
            if parse.source == "beam":
                scored = parser.score(tree.words, tags, parse.tree)
                assert (scored.score, scored.is_derived) == (parse.score, True)
    label, start, end = data.draw(st.sampled_from(tree.spans()))
    assert (label, start, end) in parser.parse(tree.words, tree.tags, [(start, end, label)]).tree.spans()


def slow_scores(model, config, trees, values, scale, words, tags):
    """All derivations with the sum of both scores: {(moves, tags): score in units of the table}, by the slow twins."""
    beam = SlowBeam(model, config, values, bits=BITS, beam_size=ALL, gamma=None, outcome_filter_min_count=0)
    tag_ids = model.grammar.labels.tag_ids
    ranked = [tag if isinstance(tag, str) else _ranked(tag, tag_ids) for tag in tags]
    perceptron, n_relaxed = beam.parse(beam.sentence(words, ranked), ALL, with_tags=True)
    generative = SlowGenerative(trees, model.generative, model.generative_config)
    kept, seen = generative.first(), []
    for number, tag in zip(model.generative.vocabulary.encode(words), ranked, strict=True):
        seen.append(number)
        ids = [tag_ids.get(tag, 0)] if isinstance(tag, str) else [number for number, _ in tag]
        kept, _ = generative.push(kept, seen, ids)
    logs = {
        (tuple((n, chain) for n, _, chain in moves), tuple(tag for _, tag, _ in moves)): score
        for score, moves in generative.finish(kept, seen)
    }
    return {(moves, tags): score + WEIGHT * scale * logs[moves, tags] for score, moves, tags in perceptron}, n_relaxed


@pytest.mark.parametrize("features", ["paper+punct", "clusters"])
@settings(max_examples=40)
@given(data=st.data(), trees=TREEBANKS, seed=st.integers(0, 99))
def test_scores_are_the_sum_of_both_models(features, data, trees, seed):
    learner = learner_of(trees, features=FEATURE_SETS[features], **WEIGHTS, generative_folds=0)
    model, config = learner.model, learner.config
    assert isinstance(model, HybridModel)
    moves = model.moves(0)
    weights, values = random_weights(moves.n_columns, seed, 5)
    beam = Beam(model.scorer(moves, weights, config), root_symbol(model.grammar), ALL, None)
    tree = min(trees, key=lambda tree: len(tree.words))
    tags = tree.tags if features == "paper+punct" else lattice(data, tree, trees)
    expected, n_relaxed = slow_scores(model, config, trees, values, weights.scale, tree.words, tags)
    found, fast_relaxed = beam.parse(model.sentence(tree.words, tags), ALL)
    assert fast_relaxed == n_relaxed
    scores = {}
    for score, closings, leaves in found:
        chosen = [moves.leaves[leaf] for leaf in leaves]
        key = tuple((n, chain) for n, (_, chain) in zip(closings, chosen, strict=True)), tuple(tag for tag, _ in chosen)
        scores[key] = score
    assert scores.keys() == expected.keys()
    for key, score in scores.items():
        # Each label, tag, word and end is rounded.
        n_decisions = 1 + sum(n_closings + len(chain) + 2 for n_closings, chain in key[0]) + len(key[0]) * 5
        assert score == pytest.approx(expected[key], abs=0.5 * n_decisions)


@pytest.fixture(scope="module")
def learner(sample_dev):
    learner = learner_of(sample_dev, features="paper+punct", **WEIGHTS, generative_folds=4, table_bits=16)
    teach(learner, sample_dev, 3)
    return learner


def test_a_training_sentence_is_scored_by_a_model_that_has_not_seen_it(sample_dev, learner):
    jackknife = learner.model.jackknife
    assert len(jackknife.probabilities) == 4
    for tree in sample_dev:
        sentence = learner.encode(tree.words, tree.tags, tree).sentence
        assert sentence.generative_model == jackknife.numbers[tree.words] + 1
        vocabulary = jackknife.vocabularies[jackknife.numbers[tree.words]]
        assert sentence.to_tuple()[-2] == vocabulary.encode(tree.words)
    # All others are scored by the model of all trees.
    assert learner.model.sentence(tree.words, tree.tags).generative_model == 0


def test_equal_sentences_are_in_one_stretch():
    text = "(TOP (S (NP (NN a)) (VP (VB b)))) (TOP (NP (NN c))) (TOP (S (NP (NN a)) (VP (VB b))))"
    trees = list(parse_bracketed(text))
    heads, grammar = HeadRules.from_name("en"), Grammar.from_trees([transform(tree) for tree in trees])
    jackknife = Jackknife.train(trees, 3, GenerativeConfig(), heads, grammar)
    assert jackknife.numbers == {("a", "b"): 0, ("c",): 1}
    others = GenerativeModel.train([trees[1]], GenerativeConfig(), heads, grammar)
    assert jackknife.vocabularies[0].to_dict() == others.vocabulary.to_dict()
    # All in one fold, with no others to learn from: its model learns from these.
    assert len(Jackknife.train(12 * trees[:1], 3, GenerativeConfig(), heads, grammar).vocabularies) == 3


def test_a_saved_parser_is_the_same(sample_dev, learner):
    parser = learner.parser()
    assert isinstance(parser.model, HybridModel)
    assert parser.model.jackknife is None  # of use in training alone
    again = PerceptronParser.from_bytes(parser.to_bytes(), read_model=read_model)
    for tree in sample_dev[:20]:
        assert again.nbest(tree.words, tree.tags, 3) == parser.nbest(tree.words, tree.tags, 3)
    assert again.to_bytes() == parser.to_bytes()


def test_without_a_weight_it_is_a_perceptron(sample_dev):
    tree, learner = sample_dev[0], learner_of(sample_dev, features="paper")
    assert not isinstance(learner.parser().model, HybridModel)
    assert learner.encode(tree.words, tree.tags, tree).sentence.to_tuple()[-2] is None


@pytest.mark.parametrize("rule", ["early", "max_violation", "full"])
def test_it_learns_by_every_rule_and_from_cached_candidates(sample_dev, rule):
    settings_ = WEIGHTS | {"update": rule, "cache_size": 50, "cache_interval": 20, "table_bits": 16}
    learner = learner_of(sample_dev, features="paper+punct", generative_folds=2, **settings_)
    wrong = teach(learner, sample_dev, 4)
    assert wrong[-1] < wrong[0]
    parser = learner.parser()
    right = sum(parser.parse(tree.words, tree.tags).tree == tree for tree in sample_dev)
    assert right > len(sample_dev) / 2
