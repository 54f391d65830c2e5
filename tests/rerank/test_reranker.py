from itertools import pairwise

import numpy as np
import pytest
import srsly

from spacy_incparse.errors import ModelError
from spacy_incparse.integer_arrays import pack
from spacy_incparse.parsing.nbest import max_expected_f, probabilities
from spacy_incparse.parsing.parse import Parse, flat_tree
from spacy_incparse.rerank.data import RerankerWeights
from spacy_incparse.rerank.features import FeatureColumns
from spacy_incparse.rerank.reranker import Reranker, RerankerConfig
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

BRACKETS = [
    "(TOP (S (NP (PRP We)) (VP (VBD saw) (NP (NP (NNS ships)) (PP (IN with) (NP (NNS lights)))))))",
    "(TOP (S (NP (PRP We)) (VP (VBD saw) (NP (NNS ships)) (PP (IN with) (NP (NNS lights))))))",
    "(TOP (S (NP (PRP We)) (VP (VP (VBD saw) (NP (NNS ships))) (PP (IN with) (NP (NNS lights))))))",
    "(TOP (S (NP (PRP We)) (VP (VBD saw) (NP (NNS ships) (PP (IN with) (NP (NNS lights)))))))",
]
PARSES = [Parse(Tree.from_string(text), 8.0 - 2 * i, "beam") for i, text in enumerate(BRACKETS)]
CONFIG = RerankerConfig(families=["rules", "bigrams"])
HEADS = HeadRules.from_name("en")


def make(config=CONFIG, seed=0, temperature=2.0):
    _, keys = config.extractor(HEADS).keys([parse.tree for parse in PARSES])
    columns = FeatureColumns(np.unique(keys))
    weights = np.random.default_rng(seed).normal(size=len(columns)).round()
    return Reranker(config, HEADS, columns, RerankerWeights(np.array([0.5]), weights), temperature)


def slow_scores(reranker, parses, base_temperature):
    """F of each parse: sums over the keys in plain Python."""
    weights = dict(zip(reranker.columns.keys.tolist(), reranker.weights.features.tolist(), strict=True))
    starts, keys = reranker.extractor.keys([parse.tree for parse in parses])
    rows = [keys[start:end].tolist() for start, end in pairwise(starts)]
    return [
        0.5 * parse.score / base_temperature + sum(weights[key] for key in row)
        for parse, row in zip(parses, rows, strict=True)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_scores_order_and_probabilities(seed):
    reranker = make(seed=seed)
    scores = slow_scores(reranker, PARSES, 4.0)
    assert reranker.scores(PARSES, 4.0) == pytest.approx(scores)
    order = sorted(range(4), key=lambda i: -scores[i])
    ranked = reranker.rerank(PARSES, 4.0)
    assert [parse.tree for parse, _ in ranked] == [PARSES[i].tree for i in order]
    assert [parse.score for parse, _ in ranked] == pytest.approx([scores[i] for i in order])
    shares = probabilities(scores, 2.0)
    assert [share for _, share in ranked] == pytest.approx([shares[i] for i in order])


@pytest.mark.parametrize("seed", range(5))
def test_best_expected_f(seed):
    reranker = make(seed=seed).with_settings(choose="expected_f")
    plain = make(seed=seed).rerank(PARSES, 4.0)
    chosen, *others = reranker.rerank(PARSES, 4.0)
    assert chosen.parse.tree == max_expected_f([parse for parse, _ in plain], 1.0).tree
    assert [other.parse.score for other in others] == sorted((other.parse.score for other in others), reverse=True)


def test_only_n_candidates_are_looked_at_and_a_list_without_a_choice_stays():
    assert len(make().with_settings(n=2).rerank(PARSES, 1.0)) == 2
    flat = Parse(flat_tree(["We", "ran"], ["PRP", "VBD"]), 0.0, "flat")
    assert make().rerank([flat], 1.0) == [(flat, 1.0)]
    assert make().rerank(PARSES[:1], 1.0) == [(PARSES[0], 1.0)]


def test_features_without_weight_are_not_stored():
    reranker = make()
    small = reranker.without_zeros()
    assert 0 < len(small.columns) < len(reranker.columns)
    assert small.rerank(PARSES, 3.0) == reranker.rerank(PARSES, 3.0)


def damaged(**changes):
    content = srsly.msgpack_loads(make().to_bytes())
    return srsly.msgpack_dumps({key: value for key, value in (content | changes).items() if value is not None})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"junk", "not a reranker"),
        (damaged(weights=None), "its weights are None"),
        (damaged(temperature=float("nan")), "its temperature is nan"),
        (damaged(config={"families": ["nonsense"]}), "unknown family of features 'nonsense'"),
        (damaged(config={"n": 0}), "n is 0: it must be at least 1"),
        (damaged(config={"n": 10**9}), "n is 1000000000"),
        (damaged(config={"choose": "luck"}), "choose is 'luck': it must be one of score, expected_f"),
        (damaged(config={"closed_tags": "DT"}), "closed_tags is 'DT': it must be a list of labels"),
        (damaged(config={"with_better": 1}), "with_better is 1: it must be true or false"),
        (damaged(config={"base_temperature": 0}), "base_temperature is 0: it must be a number from"),
        (damaged(config={"families": 3}), "damaged"),
        (damaged(config={"what": 3}), "unknown setting 'what'"),
        (damaged(heads={"rules": 3}), "'rules' is missing or not an object"),
        (damaged(scores=b"1234"), "4 bytes cannot be its scores"),
        (damaged(scores=np.array([np.inf]).tobytes()), "not finite"),
        (damaged(weights=b"junk"), "the reranker's weights are damaged"),
        (damaged(columns=b"junk"), "the reranker's features are damaged"),
        (damaged(columns=pack(np.zeros(2, np.uint64))), "not in ascending order"),
        (damaged(weights=pack(np.zeros(2, np.uint32))), r"features, but 1 \+ 2 weights"),
        (damaged(weights=pack(np.full(2, np.inf, np.float32).view(np.uint32))), "not finite"),
    ],
)
def test_damaged_bytes(data, message):
    with pytest.raises(ModelError, match=message) as caught:
        Reranker.from_bytes(data)
    assert "\n" not in str(caught.value)
