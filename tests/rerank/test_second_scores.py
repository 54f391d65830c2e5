"""Scores of candidates by other models: their values, in lists, in learning, and in the reranker."""

from dataclasses import replace

import numpy as np
import pytest

from spacy_incparse.errors import ConfigError, IncparseError, ModelError
from spacy_incparse.parsing.parse import Parse
from spacy_incparse.rerank.lists import CandidateList, read_lists, write_lists
from spacy_incparse.rerank.reranker import Reranker
from spacy_incparse.rerank.second_scores import SECOND_SCORES, read_second_scores
from spacy_incparse.rerank.training import check_reranking, learn_reranker
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

HEADS = HeadRules.from_name("en")
SETTINGS = {"choose": "score", "min_lists": 1, "learner": {"sigma": 1.0, "max_iterations": 5}, "families": ["rules"]}
UNKNOWN_LABEL = "(TOP (QUX (NN salt)))"


@pytest.fixture(scope="module")
def model():
    return SECOND_SCORES["generative"].train(read_treebank("assets/sample-train.mrg")[:60], HEADS)


def flattened(tree):
    leaves = " ".join(f"({tag} {word})" for tag, word in zip(tree.tags, tree.words, strict=True))
    return Tree.from_string(f"(TOP (S {leaves}))")


@pytest.fixture(scope="module")
def lists(model):
    """Lists of two trees, whose base scores say nothing."""
    found = []
    for tree in read_treebank("assets/sample-dev.mrg")[:30]:
        trees = [flattened(tree), tree]
        parses = tuple(Parse(one, 0.0, "beam") for one in trees)
        found.append(CandidateList(parses, 1.0, tree, model.scores(trees)))
    return found


def test_the_generative_score_is_that_of_given_trees(model):
    parser = model.parser
    for tree in read_treebank("assets/sample-dev.mrg")[:40]:
        trees = [tree, flattened(tree), Tree.from_string(str(tree).replace("(NN ", "(UNSEEN "))]
        expected = [parser.score(one.words, one.tags, one).score for one in trees]
        assert parser.log_probabilities(trees) == expected
        lowest = min((score for score in expected if score is not None), default=0.0)
        assert model.scores(trees) == {"generative": [lowest if score is None else score for score in expected]}


def test_trees_without_a_probability_get_the_lowest_score_of_the_list(model):
    known = Tree.from_string("(TOP (NP (NN salt)))")
    unknown = Tree.from_string(UNKNOWN_LABEL)
    assert model.parser.log_probabilities([unknown]) == [None]
    (score,) = model.scores([known])["generative"]
    assert model.scores([unknown, known]) == {"generative": [score, score]}
    assert model.scores([unknown]) == {"generative": [0.0]}


def test_lists_keep_their_scores_in_files(lists, tmp_path):
    path = tmp_path / "lists.jsonl"
    write_lists(path, lists)
    assert list(read_lists(path)) == lists
    assert lists[0].first(1).others == {"generative": lists[0].others["generative"][:1]}


@pytest.mark.parametrize("scores", ["[]", '{"generative": 1}', '{"generative": [1]}', '{"generative": ["x", 1]}'])
def test_damaged_scores_name_the_line(lists, tmp_path, scores):
    path = tmp_path / "lists.jsonl"
    write_lists(path, [replace(lists[0], others={})])
    path.write_text(path.read_text(encoding="utf8").replace('"nbest"', f'"scores": {scores}, "nbest"'), encoding="utf8")
    with pytest.raises(IncparseError, match=r"lists\.jsonl:1:"):
        list(read_lists(path))


def test_a_reranker_with_a_generative_score(lists):
    reranker = learn_reranker(lists, HEADS, SETTINGS)
    assert list(reranker.others) == ["generative"]
    assert reranker.weights.scores.shape == (2,)
    trees = [parse.tree for parse in lists[0].parses]
    without = Reranker(
        reranker.config, HEADS, reranker.columns, reranker.weights._replace(scores=reranker.weights.scores[:1])
    )
    other = reranker.others["generative"].scores(trees)["generative"]
    expected = np.array(without.scores(lists[0].parses, 1.0)) + reranker.weights.scores[1] * np.array(other)
    assert reranker.scores(lists[0].parses, 1.0) == pytest.approx(expected.tolist())
    copy = Reranker.from_bytes(reranker.to_bytes())
    assert copy.to_bytes() == reranker.to_bytes()
    assert copy.scores(lists[0].parses, 1.0) == reranker.scores(lists[0].parses, 1.0)
    assert copy.with_settings(n=1).others == copy.others


def test_scores_that_the_lists_lack(lists):
    bare = [replace(found, others={}) for found in lists]
    assert learn_reranker(bare, HEADS, SETTINGS).others == {}
    assert learn_reranker([*lists, bare[0]], HEADS, SETTINGS).others == {}
    assert learn_reranker(lists, HEADS, SETTINGS | {"scores": []}).others == {}
    with pytest.raises(IncparseError, match="list 1 has no generative scores: make them with"):
        learn_reranker(bare, HEADS, SETTINGS | {"scores": ["generative"]})


def test_settings():
    assert tuple(SECOND_SCORES) == ("generative", "chart")
    for scores, loss in (("generative", "risk"), (["nonsense"], "risk"), (["generative"] * 2, "log")):
        with pytest.raises(ConfigError, match="scores"):
            check_reranking({"scores": scores, "loss": loss})
    with pytest.raises(ConfigError, match="the loss 'boost' learns no weights of scores"):
        check_reranking({"scores": ["generative"], "loss": "boost"})
    check_reranking({"scores": [], "loss": "boost"})


def test_unknown_scores_of_a_stored_reranker(model):
    with pytest.raises(ModelError, match="a score 'later' that this version does not know"):
        read_second_scores({"later": b""})
    with pytest.raises(ModelError):
        read_second_scores({"generative": model.to_bytes()[:-9]})


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


def test_several_losses_and_families():
    check_reranking({"loss": ["risk", "log"], "scores": ["generative"], "families": [["rules"], ["collins", "edges"]]})
    for settings in ({"loss": []}, {"loss": ["risk", "risk"]}, {"loss": ["risk", "nonsense"]}, {"loss": 3}):
        with pytest.raises(ConfigError, match="loss"):
            check_reranking(settings)
    with pytest.raises(ConfigError, match="the loss 'boost' learns no weights of scores"):
        check_reranking({"scores": ["generative"], "loss": ["risk", "boost"]})
    for families in ([["rules"], ["nonsense"]], [["rules"], "nonsense"]):
        with pytest.raises(ConfigError, match="nonsense"):
            check_reranking({"families": families})
    for families in (3, [3], [["rules"], 3]):
        with pytest.raises(ConfigError, match=r"famil.* 3"):
            check_reranking({"families": families})
