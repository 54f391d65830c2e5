"""The tags that a parser requests, out of those that another one does."""

from spacy_incparse.parsing.parser import TagRequest, common_request, requested_tags
from spacy_incparse.tagging.tagger import Tagger
from tests.parsing.small_combination import sample

TAGS = ["NN", [("VBD", 0.0), ("VBN", 3.0), ("JJ", 30.0)], None]


def test_fewer_tags():
    assert requested_tags(TAGS, None) == TAGS
    assert requested_tags(TAGS, TagRequest()) == ["NN", "VBD", None]
    assert requested_tags(TAGS, TagRequest(2, 40.0)) == ["NN", [("VBD", 0.0), ("VBN", 3.0)], None]
    assert requested_tags(TAGS, TagRequest(3, 2.0)) == ["NN", [("VBD", 0.0)], None]


def test_a_common_request():
    assert common_request([None, TagRequest(3, 10.0), TagRequest(2, 40.0)]) == TagRequest(3, 40.0)
    assert common_request([None, None]) is None


def test_the_tags_of_a_tagger():
    trees = sample(60)
    tagger = Tagger.train([tree.words for tree in trees[:40]], [tree.tags for tree in trees[:40]], n_epochs=2)
    for tree in trees[40:]:
        (several,), (one,) = (tagger.candidate_tags([tree.words], *request) for request in ((3, 40.0), (1, 0.0)))
        assert requested_tags(several, TagRequest()) == one
