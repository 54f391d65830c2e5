import pickle
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import exp, fsum

import pytest
import srsly
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.chart.config import ChartConfig
from spacy_incparse.chart.forest_builder import ForestBuilder
from spacy_incparse.chart.learner import ChartLearner
from spacy_incparse.chart.parser import MAX_UNPRUNED_WORDS, MAX_WORDS, ChartParser
from spacy_incparse.chart.pruner import SpanClassifier, SpanClassifierSettings
from spacy_incparse.errors import ConfigError, IncparseError, ModelError
from spacy_incparse.parsing.parse import Constraint
from spacy_incparse.trees.tree import Tree
from tests.chart.grammars import HEADS, TREEBANKS
from tests.reference.engine import teach

PP = "(TOP (S (NP (DT the) (NN owl)) (VP (VBD saw) (NP (NP (DT a) (NN mouse)) (PP (IN in) (NP (NN grass)))))))"
LOW = "(TOP (S (NP (NN rain)) (VP (VBD fell) (PP (IN on) (NP (NN grass))))))"
HIGH = "(TOP (S (NP (NN rain)) (VP (VBD hit) (NP (NN grass)) (PP (IN on) (NP (NN hills))))))"
WORDS = ("an", "owl", "saw", "rain", "on", "grass", "in", "summer")
TAGS = ("DT", "NN", "VBD", "NN", "IN", "NN", "IN", "NN")


class Small(ChartLearner):
    """Its one pruner, for training and for the parser, is quickly trained."""

    is_jackknifed = False

    def _train_pruner(self, trees, arrays, tags):
        settings = SpanClassifierSettings(n_epochs=1, gate_bits=8, tree_bits=8, label_bits=8)
        return SpanClassifier.train(arrays, tags, self.grammar, settings)


def parser_of(trees, n_passes=5, **settings):
    """A parser that prunes nothing."""
    config = ChartConfig(**({"table_bits": 14, "pruning": "off"} | settings))
    learner = Small(trees, [tree.tags for tree in trees], config, HEADS)
    teach(learner, trees, n_passes)
    return learner.parser()


@pytest.fixture(scope="module")
def trees():
    return [Tree.from_string(text) for text in (PP, PP, LOW, HIGH)]


@pytest.fixture(scope="module")
def parser(trees):
    return parser_of(trees)


@settings(max_examples=25)
@given(TREEBANKS, st.data())
def test_all_trees_have_probabilities_that_sum_to_one(trees, data):
    parser = parser_of(trees, n_passes=data.draw(st.integers(0, 2)))
    tree = data.draw(st.sampled_from(trees))
    parses = parser.nbest(tree.words, tree.tags, 1000)
    if len(parses) == 1000 or parses[0].source != "chart":
        return
    assert len({parse.tree for parse in parses}) == len(parses)
    assert all(better.score >= worse.score for better, worse in pairwise(parses))
    assert fsum(exp(parse.score) for parse in parses) == pytest.approx(1)
    posterior = parser.posterior(tree.words, tree.tags)
    for phrase in {phrase for parse in parses for phrase in parse.tree.spans()}:
        expected = fsum(exp(parse.score) * parse.tree.spans().count(phrase) for parse in parses)
        assert posterior.phrases.get(phrase, 0.0) == pytest.approx(min(expected, 1.0), abs=2e-6)
    assert posterior.of_score(parses[0].score) == pytest.approx(exp(parses[0].score))


@pytest.mark.parametrize("has_tags", [True, False])
@settings(max_examples=25)
@given(TREEBANKS, st.data())
def test_a_tree_has_the_score_that_the_parser_gives_it(has_tags, trees, data):
    parser = parser_of(trees, n_tags=2 if has_tags else 0)
    tree = data.draw(st.sampled_from(trees))
    tags = tree.tags if has_tags else [None] * len(tree.words)
    for parse in parser.nbest(tree.words, tags, 20):
        if parse.source == "chart":
            scored = parser.score(tree.words, tags, parse.tree)
            assert (scored.score, scored.is_derived, scored.tree) == (parse.score, True, parse.tree)
    scored = parser.score(tree.words, None, tree)
    assert scored.is_derived
    assert scored.score <= 0


def test_decodings(parser):
    best = parser.with_search(decoding="viterbi").parse(WORDS, TAGS)
    assert best == parser.nbest(WORDS, TAGS, 1)[0]
    decoded, scores = parser.parse(WORDS, TAGS), {parse.tree: parse.score for parse in parser.nbest(WORDS, TAGS, 100)}
    assert (decoded.score, decoded.source) == (scores[decoded.tree], "chart")
    shallow = parser.with_search(threshold=1.0).parse(WORDS, TAGS)
    deep = parser.with_search(threshold=0.0).parse(WORDS, TAGS)
    assert len(shallow.tree.spans()) < len(deep.tree.spans())
    assert parser.with_search(decoding="max_rule").parse(WORDS, TAGS).tree.words == WORDS
    assert not parser.answers_with_best
    assert parser.with_search(decoding="viterbi").answers_with_best
    with pytest.raises(ConfigError, match=r"'choose_trees' is not .*: a chart parser knows the probabilities of all"):
        parser.with_search(choose_trees=3)


def test_a_temperature_flattens_probabilities(parser):
    hot = ChartParser(parser.model, parser.config, 4.0)
    parses = parser.nbest(WORDS, TAGS, 1000)
    posterior = hot.posterior(WORDS, TAGS)
    total = fsum(exp(parse.score / 4) for parse in parses)
    assert posterior.of_score(parses[0].score) == pytest.approx(exp(parses[0].score / 4) / total)
    assert ChartParser(parser.model, parser.config).posterior(WORDS, TAGS) is None


def test_batches_are_what_single_sentences_are(parser, trees):
    sentences = [(tree.words, tree.tags) for tree in trees] + [(WORDS, TAGS, [(3, 6)])]
    assert parser.parse_batch(sentences) == [parser.parse(*sentence) for sentence in sentences]


@pytest.mark.parametrize("constraint", [(3, 6, "NP"), (3, 6, "NP", False), (4, 8, None, False), (0, 8, "S")])
def test_constraints(parser, constraint):
    for parse in [parser.parse(WORDS, TAGS, [constraint]), *parser.nbest(WORDS, TAGS, 5, [constraint])]:
        wanted = Constraint(*constraint)
        found = [phrase for phrase in parse.tree.spans()[1:] if phrase[1:] == wanted[:2]]
        found = [phrase for phrase in found if wanted.label in (None, phrase[0])]
        assert bool(found) == wanted.is_required
        assert parse.unmet == ()


def test_constraints_that_cannot_be_met_are_told(parser):
    parse = parser.parse(WORDS, TAGS, [(3, 6, "NP"), (5, 8, "NP"), (0, 2, "XX")])
    assert parse.unmet == (Constraint(5, 8, "NP"), Constraint(0, 2, "XX"))
    with pytest.raises(ConfigError, match="outside the sentence"):
        parser.parse(WORDS, TAGS, [(0, 9)])


def test_wrong_sentences_are_told(parser):
    for words, tags in ((), ()), (WORDS, TAGS[1:]):
        with pytest.raises(ValueError, match="needs words and one tag per word"):
            parser.parse(words, tags)
    with pytest.raises(ValueError, match="has to be 1 or more"):
        parser.nbest(WORDS, TAGS, 0)
    with pytest.raises(IncparseError, match="only parses whole sentences"):
        parser.start()


def test_words_choose_among_tags(trees):
    parser = parser_of(trees, n_tags=0)
    assert parser.tag_request is None
    assert parser.parse(("the", "owl", "saw", "grass")).tree.tags == ("DT", "NN", "VBD", "NN")
    some = [[("NN", 0.0), ("DT", 3.0)], "NN", "VBD", None]
    assert parser.parse(("the", "owl", "saw", "grass"), some).tree.tags == ("DT", "NN", "VBD", "NN")
    relaxed = parser.parse(("owl", "saw"), [[], "VBD"])
    assert (relaxed.tree.words, relaxed.source) == (("owl", "saw"), "relaxed")


def test_unknown_tags_are_kept_and_count_as_the_commonest_one(parser):
    """Then, too, the scores of trees are the logarithms of their probabilities."""
    words, tags = ("rain", "fell", "on", "grass"), ["FOO", "VBD", "IN", "NN"]
    parses, known = parser.nbest(words, tags, 1000), parser.nbest(words, ["NN", "VBD", "IN", "NN"], 1000)
    assert parses[0].source == "chart"
    assert [parse.score for parse in parses] == [parse.score for parse in known]
    assert fsum(exp(parse.score) for parse in parses) == pytest.approx(1)
    assert all(parse.tree.tags == tuple(tags) for parse in parses)
    scored = parser.score(words, None, parses[0].tree)
    assert (scored.score, scored.is_derived, scored.reason) == (None, False, "word 1: no tag FOO (tag)")


def test_what_the_grammar_lacks_is_told(parser):
    tree = Tree.from_string("(TOP (S (VP (VBD saw) (NP (NN rain)))))")
    scored = parser.score(tree.words, tree.tags, tree)
    assert scored.score is None
    assert scored.reason == "words 1 to 2: no rule S -> VP (rule)"
    assert [rule.rule for rule in scored.rules][1:3] == ["S -> VP", "VP -> =VBD NP"]
    with pytest.raises(ValueError, match="has other words"):
        parser.score(WORDS, None, tree)


def test_shares_of_rules_add_up(parser):
    parse = parser.parse(WORDS, TAGS)
    scored = parser.score(WORDS, TAGS, parse.tree)
    other = parser.score(WORDS, TAGS, parser.nbest(WORDS, TAGS, 3)[-1].tree)
    gap = fsum(rule.score for rule in scored.rules) - fsum(rule.score for rule in other.rules)
    assert gap == pytest.approx(scored.score - other.score)


def test_long_sentences_are_parsed_in_pieces(parser):
    n = 2 * MAX_WORDS // len(WORDS) + 1
    words, tags = WORDS * n, TAGS * n
    constraints = [(3, 6, "NP"), (10, 2 * MAX_WORDS, "NP"), (0, len(words))]
    parse = parser.parse(words, tags, constraints)
    assert (parse.source, parse.tree.words, parse.tree.tags) == ("relaxed", words, tags)
    assert ("NP", 3, 6) in parse.tree.spans()
    assert parse.unmet == (Constraint(10, 2 * MAX_WORDS, "NP"),)
    assert parser.nbest(words, tags, 3) == [parser.parse(words, tags)]
    assert parser.posterior(words, tags) is None
    assert parser.score(words, tags, parse.tree).score is None


def test_sentences_whose_charts_are_too_large_are_parsed_in_pieces(trees, monkeypatch):
    monkeypatch.setattr("spacy_incparse.chart.charts.ForestBuilder", partial(ForestBuilder, max_edges=1000))
    parser = parser_of(trees)
    words, tags = WORDS * 18, TAGS * 18
    assert MAX_UNPRUNED_WORDS < len(words) <= parser.max_words
    parse = parser.parse(words, tags)
    assert (parse.source, parse.tree.words) == ("relaxed", words)
    assert len(parse.tree.spans()) > len(words) / 3
    assert parser.posterior(words, tags) is None


def test_the_more_states_the_shorter_are_the_sentences_of_one_chart(parser, monkeypatch):
    monkeypatch.setattr("spacy_incparse.chart.parser.MAX_CELLS", 50 * len(parser.model.grammar.states))
    assert ChartParser(parser.model, parser.config).max_words == 10


def test_it_is_stored_and_read(parser):
    for restored in (ChartParser.from_bytes(parser.to_bytes()), pickle.loads(pickle.dumps(parser))):
        assert restored.to_bytes() == parser.to_bytes()
        assert restored.nbest(WORDS, TAGS, 10) == parser.nbest(WORDS, TAGS, 10)
        assert (restored.tags, restored.labels, restored.temperature) == (parser.tags, parser.labels, 1.0)
    words = parser_of([Tree.from_string(PP)], n_tags=0)
    assert ChartParser.from_bytes(words.to_bytes()).parse(WORDS) == words.parse(WORDS)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["grammar", "binary"], [1]),
        (["grammar", "states"], [3]),
        (["tags"], ["NN"]),
        (["pruner"], b""),
        (["edges"], b"\xc1"),
        (["heads"], 3),
        (["config", "n_tags"], -7),
        (["config", "horizontl"], 1),
        (["temperature"], -1),
    ],
)
def test_damaged_models_are_told(parser, path, value):
    data = srsly.msgpack_loads(parser.to_bytes())
    (data if len(path) == 1 else data[path[0]])[path[-1]] = value
    for wrong in (srsly.msgpack_dumps(data), b"abc"):
        with pytest.raises(ModelError):
            ChartParser.from_bytes(wrong)


def test_loose_pruning_begins_with_the_second_threshold_if_there_is_one(parser):
    pruner = parser.model.pruner

    def nbest(pruning, *thresholds):
        pruner.settings = replace(pruner.settings, thresholds=thresholds)
        return parser.with_search(pruning=pruning).nbest(WORDS, TAGS, 50)

    assert nbest("normal", 0.9) == nbest("loose", 0.9)
    assert nbest("loose", 0.9, 1e-9) == nbest("normal", 1e-9) != nbest("normal", 0.9)
