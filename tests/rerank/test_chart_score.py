"""Scores of candidates by a chart: from the definitions, for trees that it lacks, in learning, and in storage."""

from dataclasses import replace
from math import exp, log

import pytest

from spacy_incparse.chart.config import ChartConfig
from spacy_incparse.chart.learner import ChartLearner
from spacy_incparse.chart.parser import MAX_WORDS
from spacy_incparse.errors import IncparseError, ModelError
from spacy_incparse.parsing.parse import Parse, flat_tree
from spacy_incparse.rerank.lists import CandidateList
from spacy_incparse.rerank.reranker import Reranker
from spacy_incparse.rerank.second_scores import LEAST, SECOND_SCORES, ChartScore, columns_of, read_second_scores
from spacy_incparse.rerank.training import learn_reranker
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

HEADS = HeadRules.from_name("en")
SETTINGS = {"choose": "score", "min_lists": 1, "learner": {"sigma": 1.0, "max_iterations": 5}, "families": ["rules"]}
LOW = "(TOP (S (NP (NN rain)) (VP (VBD hit) (NP (NP (NN grass)) (PP (IN on) (NP (NN hills)))))))"
HIGH = "(TOP (S (NP (NN rain)) (VP (VBD hit) (NP (NN grass)) (PP (IN on) (NP (NN hills))))))"
UNARY = "(TOP (S (NP (NN rain)) (VP (VBD hit) (NP (NP (NP (NN grass))) (PP (IN on) (NP (NN hills)))))))"
UNKNOWN = "(TOP (QUX (NP (NN rain)) (VBD hit) (NN grass) (IN on) (NN hills)))"


@pytest.fixture(scope="module")
def model():
    """A chart that is not pruned."""
    trees = [Tree.from_string(text) for text in (LOW, HIGH, HIGH)]
    config = ChartConfig(table_bits=14, pruning="off")
    learner = ChartLearner(trees, [tree.tags for tree in trees], config, HEADS)
    examples = [learner.encode(tree.words, tree.tags, tree) for tree in trees]
    for example in 20 * examples:
        learner.learn(example)
    return ChartScore(learner.parser())


def by_definition(parser, tree):
    """The columns of a tree, from all trees of its sentence with their probabilities."""
    parses = parser.nbest(tree.words, tree.tags, 100)
    assert 2 <= len(parses) < 100
    known = {}
    for parse in parses:
        for phrase in set(parse.tree.spans()):
            known[phrase] = known.get(phrase, 0.0) + exp(parse.score)
    found = [known.get(phrase, 0.0) for phrase in set(tree.spans())]
    bounded = [min(max(p, LEAST), 1 - LEAST) for p in found]
    expected_f = 2 * sum(found) / (len(found) + sum(known.values()))
    return [sum(found), 100 * expected_f, sum(log(p) - log(1 - p) for p in bounded)]


def test_the_scores_are_those_of_the_definitions(model):
    trees = [Tree.from_string(text) for text in (LOW, HIGH, UNARY)]
    scores = model.scores(trees)
    assert tuple(scores) == model.columns
    for row, tree in zip(zip(*scores.values(), strict=True), trees, strict=True):
        assert row == pytest.approx(by_definition(model.parser, tree))
    assert scores["chart-odds"][1] > scores["chart-odds"][0]  # HIGH is more frequent


def test_trees_that_the_chart_lacks_have_low_scores(model):
    trees = [Tree.from_string(text) for text in (LOW, UNKNOWN)]
    scores = model.scores(trees)
    for column in model.columns:
        assert scores[column][1] < scores[column][0]
    certain = log((1 - LEAST) / LEAST)
    assert scores["chart-odds"][1] == pytest.approx(certain)  # of TOP and NP; QUX has the opposite


def test_sentences_without_a_chart_have_no_scores(model):
    trees = [flat_tree(["rain"] * (MAX_WORDS + 1), ["NN"] * (MAX_WORDS + 1))]
    assert model.scores(trees) == {column: [0.0] for column in model.columns}


@pytest.fixture(scope="module")
def models():
    """Really trained models."""
    train = read_treebank("assets/sample-train.mrg")[:40]
    return {name: SECOND_SCORES[name].train(train, HEADS) for name in ("generative", "chart")}


@pytest.fixture(scope="module")
def lists(models):
    """Lists of two trees, whose base scores say nothing, with the scores of two models."""
    found = []
    for tree in read_treebank("assets/sample-dev.mrg")[:20]:
        trees = [flat_tree(tree.words, tree.tags), tree]
        parses = tuple(Parse(one, 0.0, "beam") for one in trees)
        others = {column: row for model in models.values() for column, row in model.scores(trees).items()}
        found.append(CandidateList(parses, 1.0, tree, others))
    return found


@pytest.fixture
def learn(models, lists, monkeypatch):
    """Learn a reranker with the models that are there, which saves time."""
    for name, kind in SECOND_SCORES.items():
        monkeypatch.setattr(kind, "train", lambda trees, heads, name=name: models[name])
    return lambda lists, **settings: learn_reranker(lists, HEADS, SETTINGS | settings)


@pytest.mark.parametrize("names", [["chart"], ["generative", "chart"]])
def test_a_reranker_with_a_chart(lists, learn, names):
    reranker = learn(lists, scores=names)
    assert list(reranker.others) == names
    assert len(reranker.weights.scores) == 1 + len(columns_of(names))
    trees = [parse.tree for parse in lists[0].parses]
    weights = dict(zip(columns_of(names), reranker.weights.scores[1:], strict=True))
    without = Reranker(
        reranker.config, HEADS, reranker.columns, reranker.weights._replace(scores=reranker.weights.scores[:1])
    )
    expected = without.scores(lists[0].parses, 1.0)
    for model in reranker.others.values():
        for column, row in model.scores(trees).items():
            expected = [value + weights[column] * score for value, score in zip(expected, row, strict=True)]
    assert reranker.scores(lists[0].parses, 1.0) == pytest.approx(expected)
    copy = Reranker.from_bytes(reranker.to_bytes())
    assert copy.to_bytes() == reranker.to_bytes()
    assert copy.scores(lists[0].parses, 1.0) == reranker.scores(lists[0].parses, 1.0)


def test_lists_that_have_the_scores_are_learned_from_with_them(lists, learn):
    assert list(learn(lists).others) == ["generative", "chart"]
    some = [replace(found, others={"chart-odds": found.others["chart-odds"]}) for found in lists]
    assert learn(some).others == {}
    with pytest.raises(IncparseError, match=r"list 1 has no chart-right scores: make them with .* --with chart`"):
        learn(some, scores=["chart"])


def test_damaged_models_are_refused(model):
    with pytest.raises(ModelError, match="not a chart parser"):
        read_second_scores({"chart": model.to_bytes()[:-9]})
