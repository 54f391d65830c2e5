import numpy as np
import pytest

from spacy_incparse.chart.charts import ChartSentence
from spacy_incparse.chart.config import ChartConfig
from spacy_incparse.chart.grammar import tree_steps
from spacy_incparse.chart.learner import ChartLearner
from spacy_incparse.chart.pruner import SpanClassifier, SpanClassifierSettings
from spacy_incparse.errors import IncparseError
from spacy_incparse.linear.words import Clusters
from spacy_incparse.papers.finkel_2008 import CrfConfig
from spacy_incparse.papers.finkel_2008.system import FinkelLearner
from spacy_incparse.papers.taskar_2004 import MaxMarginConfig
from spacy_incparse.tagging.tagger import fold_numbers
from tests.training_runs import HEADS, check_resumed, train

SMALL = {"table_bits": 14}


@pytest.fixture(autouse=True)
def folds(monkeypatch):
    monkeypatch.setattr("spacy_incparse.chart.learner.PRUNING_FOLDS", 2)


@pytest.fixture(scope="module")
def trees(sample_train):
    return sample_train[:60]


def learner_of(trees, **settings):
    return ChartLearner(trees, [tree.tags for tree in trees], ChartConfig(**(SMALL | settings)), HEADS)


def test_training_sentences_are_pruned_by_models_that_have_not_seen_them(trees, monkeypatch):
    trees = trees[:20]
    monkeypatch.setattr("spacy_incparse.chart.learner.PRUNING_FOLDS", 4)
    learner, numbers = learner_of(trees), fold_numbers(trees, 4)
    assert learner.pruners.of(trees[0].words) is learner.pruners.of(trees[1].words)
    assert learner.pruners.of(trees[0].words) is not learner.pruners.of(trees[-1].words)
    assert learner.pruners.of(["unseen"]) is learner.pruners.final
    rest = [tree for tree, number in zip(trees, numbers, strict=True) if number != numbers[0]]
    arrays, tags = [learner._markovized(tree) for tree in rest], [tree.tags for tree in rest]
    other = SpanClassifier.train(arrays, tags, learner.grammar)
    words, row, gold = trees[0].words, trees[0].tags, list(tree_steps(learner._markovized(trees[0])))
    found = learner.pruners.of(words).masks(row, words, gold)
    np.testing.assert_array_equal(found[0]().to_mask(), other.masks(row, words, gold)[0]().to_mask())


def test_gold_trees_are_in_their_forests(trees, monkeypatch):
    train = SpanClassifier.train
    strict = SpanClassifierSettings(thresholds=(0.5,))
    monkeypatch.setattr(SpanClassifier, "train", lambda *given: train(*given, strict))
    learner = learner_of(trees[:30])
    for tree in trees[:30]:
        example = learner.encode(tree.words, tree.tags, tree)
        found = learner._build(example)
        assert found.forest.find(learner.grammar.steps(example.arrays)) is not None


def test_long_sentences_are_left_out(trees):
    tags = [tree.tags for tree in trees]
    learner = FinkelLearner(trees, tags, CrfConfig(max_length=8, table_bits=14), HEADS)
    short = [tree for tree in trees if len(tree.words) <= 8]
    assert learner.grammar.counts[learner.grammar.first_root :].sum() == len(short)
    long = next(tree for tree in trees if len(tree.words) > 8)
    assert learner.encode(long.words, long.tags, long) is None
    assert learner.learn(None) == 0
    with pytest.raises(IncparseError, match="raise max_length"):
        FinkelLearner(trees, tags, CrfConfig(max_length=1), HEADS)


def test_the_right_tag_of_several_is_learned(trees):
    tree, *trees = trees[:20]
    tags = [[("XX", 0.0), (tag, 1.0)] for tag in tree.tags]
    rest = [one.tags for one in trees]
    learner = ChartLearner([tree, *trees], [tags, *rest], ChartConfig(**SMALL, n_tags=2), HEADS)
    assert "XX" not in learner.grammar.tags
    tags = ["XX", *tree.tags[1:]]
    learner = ChartLearner([tree, *trees], [tags, *rest], ChartConfig(**SMALL), HEADS)
    assert "XX" in learner.grammar.tags
    assert set(learner.parser().tags) == set(learner.grammar.tags)
    for row in (tags, tree.tags):
        assert learner.grammar.steps(learner.encode(tree.words, row, tree).arrays) is not None


@pytest.mark.parametrize(
    ("config", "least_f"),
    [
        (ChartConfig(table_bits=16), 0.5),
        (ChartConfig(table_bits=14, features={"rule": ["-> rule"], "span": ["T[i] T[j-1] -> rule"]}), 0.2),
        (CrfConfig(table_bits=14, max_length=12, horizontal=1, relaxed_rules=False), 0.2),
        (MaxMarginConfig(max_length=12, grammar="paper"), 0.2),
    ],
)
def test_grammars_and_features(trees, sample_dev, config, least_f):
    training = train(trees, config, dev=sample_dev[:20])
    assert training.reports[-1].scores["const_f"] > least_f
    assert training.stored[0] != training.stored[1]
    if isinstance(config, ChartConfig):
        assert training.reports[0].n_updates == len(trees)


@pytest.mark.parametrize("config", [ChartConfig(table_bits=14), CrfConfig(batch_size=7, max_length=12, table_bits=14)])
def test_a_resumed_run_gives_the_same_models(trees, tmp_path, config):
    expected = train(trees, config, max_epochs=3)
    check_resumed(tmp_path, trees, config, expected, at="pass 2", more_than=25, max_epochs=3)


def test_forests_are_read_from_disk_or_built_again_where_there_is_no_room_for_them(trees, monkeypatch):
    config = ChartConfig(table_bits=14)
    models = train(trees[:25], config).stored
    monkeypatch.setattr("spacy_incparse.chart.learner.MAX_KEPT_EDGES", 1000)
    n_built, build = 0, ChartLearner._build

    def counted(learner, encoded):
        nonlocal n_built
        n_built += 1
        return build(learner, encoded)

    monkeypatch.setattr(ChartLearner, "_build", counted)
    assert train(trees[:25], config).stored == models
    assert n_built == 25

    def is_full(*arguments, **options):
        raise OSError("no space left on device")

    monkeypatch.setattr("spacy_incparse.chart.learner.TemporaryFile", is_full)
    assert train(trees[:25], config).stored == models
    assert n_built > 50


def test_an_unseen_word_is_read_by_its_cluster(trees):
    """Classes of distributional similarity are word clusters, where the setting `clusters` names some."""
    found, trees = {}, trees[:30]
    for clusters in (None, Clusters.from_paths([("The", "0110"), ("xlap", "0110")])):
        config = CrfConfig(clusters=clusters and "given", max_length=0, batch_size=1)
        learner = FinkelLearner(trees, [tree.tags for tree in trees], config, HEADS, clusters)
        examples = [learner.encode(tree.words, tree.tags, tree) for tree in trees if tree.words[0] == "The"]
        for example in examples:
            learner.learn(example)
        edges, forest = learner.parser().model.edges, examples[0].example.forest
        words, tags = trees[0].words, trees[0].tags
        rows = [ChartSentence((word, *words[1:]), tags) for word in ("xlap", "ylap")]
        found[clusters is not None] = [edges.scores(row, forest).tolist() for row in rows]
    assert found[False][0] == found[False][1]
    assert found[True][0] != found[True][1]
