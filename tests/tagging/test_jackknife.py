import pytest

from spacy_incparse.errors import ConfigError
from spacy_incparse.tagging import Tagger, jackknife_tags
from tests.tagging.corpora import random_corpus


def test_every_fold_is_tagged_by_a_tagger_of_the_others():
    sentences, tags = random_corpus(20, 7)
    tagged = jackknife_tags(sentences, tags, n_folds=3, n_epochs=2, seed=4)
    rest = Tagger.train(sentences[7:], tags[7:], n_epochs=2, seed=4)
    assert tagged[:7] == rest.tag_batch(sentences[:7])
    assert [len(row) for row in tagged] == [len(words) for words in sentences]


def test_its_own_tags_never_reach_a_sentence():
    sentences, tags = random_corpus(12, 8)
    changed = [["D"] * len(tags[0]), *tags[1:]]
    tagged, again = (jackknife_tags(sentences, given, n_folds=13, n_epochs=2) for given in (tags, changed))
    assert tagged[0] == again[0]


def test_the_same_input_gives_the_same_tags_and_progress_counts_folds():
    corpus, seen = random_corpus(12, 9), []
    first = jackknife_tags(*corpus, n_folds=4, n_epochs=1, progress=lambda done, n_folds: seen.append((done, n_folds)))
    assert first == jackknife_tags(*corpus, n_folds=4, n_epochs=1)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_more_folds_than_sentences():
    assert jackknife_tags([["a"], ["b"]], [["X"], ["Y"]], n_folds=10) == [["Y"], ["X"]]


@pytest.mark.parametrize(("sentences", "n_folds"), [([], 10), ([["a"]], 10), ([["a"], ["b"]], 1)])
def test_too_little_to_jackknife(sentences, n_folds):
    with pytest.raises(ConfigError, match="two folds"):
        jackknife_tags(sentences, [["X"] for _ in sentences], n_folds=n_folds)
