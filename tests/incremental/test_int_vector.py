"""The moves of an analysis, which stay in compiled memory, are a sequence like any other."""

import pytest

from spacy_incparse.incremental.grammar import encode_moves
from spacy_incparse.transforms.left_corner import transform
from spacy_incparse.treebanks.reader import parse_bracketed
from tests.reference.engine import Learners

TREE = next(iter(parse_bracketed("(TOP (S (NP (DT the) (NN rain)) (VP (VBZ falls)) (. .)))")))


@pytest.fixture(scope="module")
def parser():
    return Learners([TREE], features="paper").learner.parser()


def test_the_moves_of_the_best_analysis(parser):
    sentence = parser.model.sentence(TREE.words, TREE.tags)
    ((_, n_closings, chain_ids),), _ = parser._beam.parse(sentence)
    closings, chains = encode_moves(transform(TREE), parser.model.grammar.labels, parser._moves.leaf_numbers)
    assert n_closings == closings
    assert chain_ids == chains
    assert (len(chain_ids), chain_ids[0], chain_ids[-1], list(chain_ids)) == (4, chains[0], chains[-1], chains)
    assert hash(chain_ids) == hash(tuple(chains))
    assert repr(chain_ids) == repr(chains)
    for index in (4, -5):
        with pytest.raises(IndexError, match="among 4"):
            chain_ids[index]
