import pickle
from pathlib import Path

import pytest

from spacy_incparse.errors import ConfigError
from spacy_incparse.linear.clusters import Clusters, read_clusters
from spacy_incparse.tagging import Tagger, jackknife_tags
from spacy_incparse.tagging.words import (
    BOUNDARIES,
    CLUSTER_FIELDS,
    CLUSTER_TEMPLATES,
    FIELDS,
    TEMPLATES,
    TagDictionary,
    parse_template,
    word_fields,
)
from tests.reference.tagger import SlowTagger
from tests.tagging.corpora import random_corpus, written_corpus

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
    assert [fields_of("so", long)[name] for name in CLUSTER_FIELDS] == [
        "0011",
        "001101",
        "0011010111",
        "001101011110",
    ]


def test_an_unknown_word_has_empty_fields_and_so_has_every_word_without_clusters(clusters):
    for fields in (fields_of("unheard-of", clusters), fields_of("Sweden", None)):
        assert [fields[name] for name in CLUSTER_FIELDS] == [""] * 4
    assert all(len(fields) == len(FIELDS) for fields in BOUNDARIES)


def test_words_of_a_cluster_are_tagged_alike(clusters):
    sentences = [["He", "saw", "Oslo", "."], ["She", "saw", "the", "dog", "."], ["She", "won", "."]] * 3
    tags = [["P", "V", "N", "."], ["P", "V", "D", "C", "."], ["P", "V", "."]] * 3
    informed = Tagger.train(sentences, tags, clusters=clusters, templates=["cluster[0]"])
    assert informed.tag(["Sweden", "fed", "a", "cat", "."]) == ["N", "V", "D", "C", "."]


@pytest.mark.parametrize("seed", [0, 1])
def test_the_slow_twin_learns_and_tags_the_same(seed):
    corpus, other = random_corpus(12, seed), random_corpus(8, seed + 100)[0]
    known = sorted({word for words in corpus[0] + other for word in words})[::2]
    clusters = Clusters.from_paths([(word, f"{number * 7919 % 60:06b}" * 2) for number, word in enumerate(known)])
    settings = {"n_epochs": 3, "seed": seed, "beam_size": 4, "margin": 20, "clusters": clusters}
    fast, slow = Tagger.train(*corpus, **settings), SlowTagger(*corpus, **settings)
    cells = zip(fast.weights.tags.tolist(), fast.weights.values.tolist(), strict=True)
    assert sorted((fast.labels[tag], value) for tag, value in cells) == sorted(
        (tag, value) for (_, tag), value in slow.weights.items()
    )
    for words in corpus[0] + other:
        assert fast.tag(words) == slow.tag(words)
        assert fast.k_best(words, 3) == slow.k_best(words, 3)


def test_a_copy_needs_no_cluster_file(trained):
    texts = random_corpus(20, 1)[0] + written_corpus()[0] + [["Sweden", "fed", "the", "horse"]]
    for copy in (Tagger.from_bytes(trained.to_bytes()), pickle.loads(pickle.dumps(trained))):
        assert copy.clusters == trained.clusters
        assert copy.to_bytes() == trained.to_bytes()
        assert copy.tag_batch(texts) == trained.tag_batch(texts)


def test_a_tagger_without_clusters_holds_nothing_of_them():
    plain = Tagger.train(*written_corpus())
    assert plain.clusters is None
    assert plain.settings.templates == TEMPLATES
    assert Tagger.from_bytes(plain.to_bytes()).clusters is None


def test_templates_join_with_clusters_unless_they_are_given(trained, clusters):
    assert trained.settings.templates == TEMPLATES + CLUSTER_TEMPLATES
    assert Tagger.train([["a"]], [["X"]], clusters=clusters, templates=["word[0]"]).settings.templates == ("word[0]",)


def test_cluster_templates_are_distinct_and_exist():
    assert len(set(TEMPLATES + CLUSTER_TEMPLATES)) == len(TEMPLATES) + len(CLUSTER_TEMPLATES)
    assert all(parse_template(text) for text in CLUSTER_TEMPLATES)


def test_clusters_are_read_from_what_a_config_names(trained, tmp_path):
    assert Tagger.train(*written_corpus(), clusters=str(FILE)).to_bytes() == trained.to_bytes()
    with pytest.raises(ConfigError, match="the clusters cannot be read"):
        Tagger.train(*written_corpus(), clusters=str(tmp_path / "none.txt"))


def test_jackknifing_uses_them(clusters):
    sentences, tags = written_corpus()
    expected = []
    for fold in range(len(sentences)):
        rest = [k for k in range(len(sentences)) if k != fold]
        tagger = Tagger.train([sentences[k] for k in rest], [tags[k] for k in rest], n_epochs=5, clusters=clusters)
        expected.append(tagger.tag(sentences[fold]))
    assert jackknife_tags(sentences, tags, clusters=str(FILE)) == expected
