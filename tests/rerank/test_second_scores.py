from dataclasses import replace
from functools import partial
from math import exp, log

import pytest

from spacy_incparse.chart.config import ChartConfig
from spacy_incparse.chart.learner import ChartLearner
from spacy_incparse.chart.parser import MAX_WORDS
from spacy_incparse.errors import ConfigError, IncparseError, ModelError
from spacy_incparse.parsing.parse import Parse, flat_tree
from spacy_incparse.rerank.data import LEAST, SECOND_SCORES, ChartScore, columns_of, read_second_scores
from spacy_incparse.rerank.lists import CandidateList, read_lists, write_lists
from spacy_incparse.rerank.reranker import Reranker
from spacy_incparse.rerank.training import check_reranking, learn_reranker
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree
from tests.reference.engine import teach

HEADS = HeadRules.from_name("en")
SETTINGS = {"choose": "score", "min_lists": 1, "learner": {"sigma": 1.0, "max_iterations": 5}, "families": ["rules"]}
LOW = "(TOP (S (NP (NN rain)) (VP (VBD hit) (NP (NP (NN grass)) (PP (IN on) (NP (NN hills)))))))"
HIGH = "(TOP (S (NP (NN rain)) (VP (VBD hit) (NP (NN grass)) (PP (IN on) (NP (NN hills))))))"
UNARY = "(TOP (S (NP (NN rain)) (VP (VBD hit) (NP (NP (NP (NN grass))) (PP (IN on) (NP (NN hills)))))))"
UNKNOWN = "(TOP (QUX (NP (NN rain)) (VBD hit) (NN grass) (IN on) (NN hills)))"


@pytest.fixture(scope="module")
def chart():
    """A chart that is not pruned."""
    trees = [Tree.from_string(text) for text in (LOW, HIGH, HIGH)]
    config = ChartConfig(table_bits=14, pruning="off")
    learner = ChartLearner(trees, [tree.tags for tree in trees], config, HEADS)
    teach(learner, trees, 20)
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


def test_the_scores_are_those_of_the_definitions(chart):
    trees = [Tree.from_string(text) for text in (LOW, HIGH, UNARY)]
    scores = chart.scores(trees)
    assert tuple(scores) == chart.columns
    for row, tree in zip(zip(*scores.values(), strict=True), trees, strict=True):
        assert row == pytest.approx(by_definition(chart.parser, tree))
    assert scores["chart-odds"][1] > scores["chart-odds"][0]  # HIGH is more frequent


def test_trees_that_the_chart_lacks_have_low_scores(chart):
    trees = [Tree.from_string(text) for text in (LOW, UNKNOWN)]
    scores = chart.scores(trees)
    for column in chart.columns:
        assert scores[column][1] < scores[column][0]
    certain = log((1 - LEAST) / LEAST)
    assert scores["chart-odds"][1] == pytest.approx(certain)  # of TOP and NP; QUX has the opposite


def test_sentences_without_a_chart_have_no_scores(chart):
    trees = [flat_tree(["rain"] * (MAX_WORDS + 1), ["NN"] * (MAX_WORDS + 1))]
    assert chart.scores(trees) == {column: [0.0] for column in chart.columns}


@pytest.fixture(scope="module")
def models():
    """Really trained models."""
    train = read_treebank("assets/sample-train.mrg")[:40]
    return {name: SECOND_SCORES[name].train(train, HEADS) for name in ("generative", "chart")}


@pytest.fixture(scope="module")
def lists(models):
    """Lists of two trees, whose base scores say nothing, with the scores of both models."""
    found = []
    for tree in read_treebank("assets/sample-dev.mrg")[:30]:
        trees = [flat_tree(tree.words, tree.tags), tree]
        others = {column: row for model in models.values() for column, row in model.scores(trees).items()}
        found.append(CandidateList(tuple(Parse(one, 0.0, "beam") for one in trees), 1.0, tree, others))
    return found


def test_the_generative_score_is_that_of_given_trees(models):
    model = models["generative"]
    for tree in read_treebank("assets/sample-dev.mrg")[:20]:
        trees = [tree, flat_tree(tree.words, tree.tags), Tree.from_string(str(tree).replace("(NN ", "(UNSEEN "))]
        expected = [model.parser.score(one.words, one.tags, one).score for one in trees]
        assert model.parser.log_probabilities(trees) == expected
        lowest = min((score for score in expected if score is not None), default=0.0)
        assert model.scores(trees) == {"generative": [lowest if score is None else score for score in expected]}


def test_lists_keep_their_scores_in_files(lists, tmp_path):
    path = tmp_path / "lists.jsonl"
    write_lists(path, lists)
    assert list(read_lists(path)) == lists
    assert lists[0].first(1).others == {name: scores[:1] for name, scores in lists[0].others.items()}


@pytest.mark.parametrize("scores", ["[]", '{"generative": 1}', '{"generative": [1]}', '{"generative": ["x", 1]}'])
def test_damaged_scores_name_the_line(lists, tmp_path, scores):
    path = tmp_path / "lists.jsonl"
    write_lists(path, [replace(lists[0], others={})])
    path.write_text(path.read_text(encoding="utf8").replace('"nbest"', f'"scores": {scores}, "nbest"'), encoding="utf8")
    with pytest.raises(IncparseError, match=r"lists\.jsonl:1:"):
        list(read_lists(path))


@pytest.fixture
def learn(models, lists, monkeypatch):
    """Learn a reranker with the models that are there, which saves time."""

    def model(name, trees, heads):
        assert (trees[:30], heads) == ([found.gold for found in lists], HEADS)
        return models[name]

    for name, kind in SECOND_SCORES.items():
        monkeypatch.setattr(kind, "train", partial(model, name))
    return lambda lists, **settings: learn_reranker(lists, HEADS, SETTINGS | settings)


@pytest.mark.parametrize("names", [["generative"], ["generative", "chart"]])
def test_a_reranker_with_other_scores(lists, learn, names):
    reranker, parses = learn(lists, scores=names), lists[0].parses
    assert list(reranker.others) == names
    weights = dict(zip(columns_of(names), reranker.weights.scores[1:], strict=True))
    only_first = reranker.weights._replace(scores=reranker.weights.scores[:1])
    expected = Reranker(reranker.config, HEADS, reranker.columns, only_first).scores(parses, 1.0)
    for model in reranker.others.values():
        for column, row in model.scores([parse.tree for parse in parses]).items():
            expected = [value + weights[column] * score for value, score in zip(expected, row, strict=True)]
    assert reranker.scores(parses, 1.0) == pytest.approx(expected)
    copy = Reranker.from_bytes(reranker.to_bytes())
    assert copy.to_bytes() == reranker.to_bytes()
    assert copy.scores(parses, 1.0) == reranker.scores(parses, 1.0)
    assert copy.with_settings(n=1).others == copy.others


def test_lists_that_have_the_scores_are_learned_from_with_them(lists, learn):
    assert list(learn(lists).others) == ["generative", "chart"]
    assert learn(lists, scores=[]).others == {}
    some = [replace(found, others={"chart-odds": found.others["chart-odds"]}) for found in lists]
    assert learn([*lists, some[0]]).others == learn(some).others == {}
    with pytest.raises(IncparseError, match=r"list 1 has no chart-right scores: .* --with chart`"):
        learn(some, scores=["chart"])


def test_damaged_and_unknown_models_are_refused(models):
    for name, model in models.items():
        with pytest.raises(ModelError):
            read_second_scores({name: model.to_bytes()[:-9]})
    with pytest.raises(ModelError, match="a score 'later'"):
        read_second_scores({"later": b""})


@pytest.mark.parametrize("families", [[["coordination-length"], ["rules"]], [["rules"], ["coordination-length"]]])
def test_the_better_families_are_taken(lists, families):
    """Each choice is learned from by itself, and the one of the highest F in cross-validation is taken."""
    lines = []
    settings = SETTINGS | {"learner": {"sigma": 0.1, "max_iterations": 10}, "n_folds": 2, "scores": []}
    reranker = learn_reranker(lists, HEADS, settings | {"families": families}, lines.append)
    assert [line.rpartition(" of ")[2] for line in lines if "features of" in line] == ["".join(one) for one in families]
    gains = [float(line.split(": ")[-1].split()[0]) for line in lines if "scale" in line]
    assert gains[0] != gains[1]
    chosen = families[gains.index(max(gains))]
    assert list(reranker.config.families) == chosen
    assert reranker.to_bytes() == learn_reranker(lists, HEADS, settings | {"families": chosen}).to_bytes()


def test_settings():
    check_reranking({"scores": [], "loss": "boost"})
    check_reranking({"loss": ["risk", "log"], "scores": ["generative"], "families": [["rules"], ["collins", "edges"]]})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scores": "generative"}, "scores is 'generative'"),
        ({"scores": ["nonsense"]}, "scores is 'nonsense'"),
        ({"scores": ["generative"], "loss": ["risk", "boost"]}, "'boost'.*scores"),
        *[({"loss": loss}, "loss") for loss in ([], ["risk", "risk"], ["risk", "nonsense"], 3)],
        *[({"families": families}, "nonsense") for families in ([["rules"], ["nonsense"]], [["rules"], "nonsense"])],
        *[({"families": families}, r"famil.* 3") for families in (3, [3], [["rules"], 3])],
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ConfigError, match=message):
        check_reranking(settings)
