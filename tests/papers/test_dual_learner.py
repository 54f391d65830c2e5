from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import srsly

from spacy_incparse.cli.train import pass_line
from spacy_incparse.errors import ConfigError, IncparseError, ModelError
from spacy_incparse.papers.taskar_2004 import FEATURES, MaxMarginConfig
from spacy_incparse.papers.taskar_2004.dual import DualEdges, FactoredDual, MaxMarginLearner, MaxMarginParser
from spacy_incparse.treebanks.reader import read_treebank
from tests.training_runs import HEADS, check_resumed, train

ASSETS = Path(__file__).parents[2] / "assets"
DUAL = {"features": "taskar-lexical", "max_length": 12}
PLAIN = {"n_folds": 0, "max_epochs": 20}  # gold tags


@pytest.fixture(scope="module")
def trees():
    return read_treebank(ASSETS / "sample-train.mrg")[:40]


def config_of(**settings):
    return MaxMarginConfig(**(DUAL | settings))


def learner_of(trees, **settings):
    learner = MaxMarginLearner(trees, [tree.tags for tree in trees], config_of(**settings), HEADS)
    return learner, [learner.encode(tree.words, tree.tags, tree) for tree in trees]


@pytest.fixture(scope="module")
def trained(trees):
    return {features: train(trees, config_of(features=features), **PLAIN) for features in FEATURES}


@pytest.mark.parametrize("features", FEATURES)
def test_training_ends_when_the_gap_is_small(trained, features):
    reports = trained[features].reports
    gaps = [float(report.note.removesuffix(" %").rpartition(" ")[2]) for report in reports]
    assert gaps[-1] < 2 <= gaps[-2]
    assert len(gaps) < 12
    assert "dual" in pass_line(reports[0])


@pytest.mark.parametrize("features", FEATURES)
def test_storage(trees, trained, features):
    _, parser = trained[features].models[-1]
    data = parser.to_bytes()
    restored = MaxMarginParser.from_bytes(data)
    assert restored.to_bytes() == data
    for tree in trees[:8]:
        parse = parser.parse(tree.words, tree.tags)
        assert restored.parse(tree.words, tree.tags) == parse
        scored = parser.score(tree.words, tree.tags, parse.tree)
        assert (scored.score, scored.is_derived) == ((parse.score, True) if parse.source == "chart" else (None, False))


def test_lexical_features_and_predictions_count(trees, trained):
    parsers, others = [run.models[-1][1] for run in trained.values()], read_treebank(ASSETS / "sample-dev.mrg")
    of_others = [[parser.parse(tree.words, tree.tags).tree for tree in others] for parser in parsers]
    assert of_others[0] != of_others[1] != of_others[2]
    parses = [[parser.parse(tree.words, tree.tags).tree for tree in trees] for parser in parsers]
    n_right = [sum(found == tree for found, tree in zip(row, trees, strict=True)) for row in parses]
    assert n_right[0] < n_right[1]


def test_weights_are_those_of_the_dual(trees):
    learner, examples = learner_of(trees[:20])
    edges = learner._edges
    examples = [example for example in examples if example is not None]
    expected = FactoredDual(list(map(replace, edges.dual.examples)), len(edges.reader.numbers), edges.dual.c)
    for gap in expected.passes(max_passes=2):
        for example in examples:
            learner.learn(example)
        edges.finish_batch()
        assert edges.gap == gap
    np.testing.assert_array_equal(edges.dual.weights, expected.weights)
    model = edges.model()
    sentence, forest = examples[3].sentence, examples[3].example.forest
    kept = edges.reader.read(forest, sentence.words).scores(expected.weights)
    np.testing.assert_allclose(
        model.scores(sentence, forest), kept + edges.pcfg.word_scores(forest, sentence.words), atol=1e-12
    )


def test_a_resumed_run_gives_the_same_models(trees, trained, tmp_path):
    expected, config = trained["taskar-lexical"], config_of(features="taskar-lexical")
    resumed = check_resumed(tmp_path, trees, config, expected, at="pass 2", **PLAIN)
    assert [report.note for report in resumed.reports] == [report.note for report in expected.reports][1:]
    assert train(trees, config, tmp_path, resume=True, **PLAIN).reports == []


def test_a_state_of_other_sentences_is_refused(trees):
    learner, _ = learner_of(trees[:5])
    state = learner.state_to_bytes()
    other, _ = learner_of(trees[:15])
    with pytest.raises(ModelError, match="belongs to other sentences"):
        other.state_from_bytes(state)
    for damaged in (b"", state[:-9]):
        with pytest.raises(ModelError, match="training state is damaged"):
            other.state_from_bytes(damaged)


def test_a_damaged_model_is_refused(trained):
    model = trained["taskar-lexical+aux"].models[-1][1].model.edges
    content = srsly.msgpack_loads(model.to_bytes())
    for change in ({"weights": b""}, {"features": None}, {"flat": {"features": [["a"]], "weights": b""}}, {"words": 3}):
        with pytest.raises(ModelError, match="damaged"):
            DualEdges.from_bytes(srsly.msgpack_dumps(content | change), model.grammar)


def test_sentences_have_to_fit_into_memory(trees, monkeypatch):
    monkeypatch.setattr("spacy_incparse.papers.taskar_2004.dual.MAX_EDGES", 1000)
    with pytest.raises(IncparseError, match=r"more than 1,000 edges.* lower max_length"):
        learner_of(trees)


def test_halves_are_predicted_by_one_another(trees):
    learner, examples = learner_of(trees[:10], features="taskar-lexical+aux")
    predictors = learner._edges.predictors
    first, second = predictors.folds
    seen = [set(predictor.flat.numbers.features) for predictor in (first, second)]
    example = next(found for found in examples if found is not None)
    sentence = example.sentence
    long = ("all tags", *next(tree.tags for tree in trees if tree.words == sentence.words))
    assert long not in seen[0]
    assert long in seen[1]
    found = predictors.of(sentence.words).of(sentence, example.example.forest)
    assert set(found) == {"generative", "flat"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"features": "span"}, "features is 'span': it must be one of taskar-basic"),
        ({"grammar": "x-bar"}, "grammar is 'x-bar': it must be one of categories, paper"),
        ({"slack_cost": -1}, "slack_cost"),
    ],
)
def test_settings_that_do_not_go_together(settings, message):
    with pytest.raises(ConfigError, match=message):
        config_of(**settings)
