from pathlib import Path

import pytest

from spacy_incparse.errors import ConfigError
from spacy_incparse.linear.words import Clusters, read_clusters
from spacy_incparse.tagging import Tagger
from spacy_incparse.tagging.words import (
    BOUNDARIES,
    CLUSTER_FIELDS,
    CLUSTER_TEMPLATES,
    FIELDS,
    TEMPLATES,
    TagDictionary,
    word_fields,
)
from tests.tagging.corpora import written_corpus

FILE = Path(__file__).parents[1] / "data" / "clusters.txt"


@pytest.fixture(scope="module")
def clusters():
    return read_clusters(FILE)


@pytest.fixture(scope="module")
def trained(clusters):
    return Tagger.train(*written_corpus(), clusters=clusters)


def fields_of(word, clusters):
    return dict(zip(FIELDS, word_fields(word, TagDictionary(), clusters), strict=True))


def test_fields_are_prefixes_of_the_path(clusters):
    fields = fields_of("Sweden", clusters)
    assert [fields[name] for name in CLUSTER_FIELDS] == ["1011", "10111", "10111", "10111"]
    long = Clusters.from_paths([("so", "001101011110")])
    assert [fields_of("so", long)[name] for name in CLUSTER_FIELDS] == [long.path("so")[:n] for n in (4, 6, 10, 12)]


def test_an_unknown_word_has_empty_fields_and_so_has_every_word_without_clusters(clusters):
    for fields in (fields_of("unheard-of", clusters), fields_of("Sweden", None)):
        assert [fields[name] for name in CLUSTER_FIELDS] == [""] * 4
    assert all(len(fields) == len(FIELDS) for fields in BOUNDARIES)


def test_words_of_a_cluster_are_tagged_alike(clusters):
    sentences = [["He", "saw", "Oslo", "."], ["She", "saw", "the", "dog", "."], ["She", "won", "."]] * 3
    tags = [["P", "V", "N", "."], ["P", "V", "D", "C", "."], ["P", "V", "."]] * 3
    informed = Tagger.train(sentences, tags, clusters=clusters, templates=["cluster[0]"])
    assert informed.tag(["Sweden", "fed", "a", "cat", "."]) == ["N", "V", "D", "C", "."]


def test_templates_join_with_clusters_unless_they_are_given(trained, clusters):
    assert trained.settings.templates == TEMPLATES + CLUSTER_TEMPLATES
    assert Tagger.train([["a"]], [["X"]]).settings.templates == TEMPLATES
    assert Tagger.train([["a"]], [["X"]], clusters=clusters, templates=["word[0]"]).settings.templates == ("word[0]",)


def test_clusters_are_read_from_what_a_config_names(trained, tmp_path):
    assert Tagger.train(*written_corpus(), clusters=str(FILE)).to_bytes() == trained.to_bytes()
    with pytest.raises(ConfigError, match="the clusters cannot be read"):
        Tagger.train(*written_corpus(), clusters=str(tmp_path / "none.txt"))
