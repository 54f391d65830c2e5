import contextlib
import pickle
from dataclasses import asdict, replace

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse import integer_arrays
from spacy_incparse.errors import ModelError
from spacy_incparse.linear.words import Clusters
from spacy_incparse.tagging import Tagger
from spacy_incparse.tagging.tagger import (
    check_weights,
    pack_tagger,
    pack_weights,
    unpack_weights,
)
from tests.tagging.corpora import random_corpus, written_corpus


@pytest.fixture(scope="module")
def trained():
    return Tagger.train(*written_corpus(), n_epochs=5)


@pytest.mark.parametrize("clusters", [None, Clusters.from_paths([("dog", "0110"), ("cat", "0111"), ("saw", "10")])])
def test_a_copy_is_the_same_tagger(clusters):
    one, texts = Tagger.train(*written_corpus(), clusters=clusters), random_corpus(20, 1)[0] + written_corpus()[0]
    for made in (Tagger.from_bytes(one.to_bytes()), pickle.loads(pickle.dumps(one))):
        assert (made.settings, made.clusters) == (one.settings, clusters)
        assert made.to_bytes() == one.to_bytes()
        assert made.tag_batch(texts) == one.tag_batch(texts)
        assert [made.k_best(words, 3) for words in texts] == [one.k_best(words, 3) for words in texts]


@given(data=st.data())
def test_changed_bytes_are_refused_or_give_a_tagger_that_works(trained, data):
    whole = bytearray(trained.to_bytes())
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(ModelError):
        Tagger.from_bytes(bytes(whole)).tag(["the", "cat"])


@given(st.binary(max_size=60))
def test_other_bytes_are_refused(data):
    with pytest.raises(ModelError):
        Tagger.from_bytes(data)


@pytest.mark.parametrize(
    "change",
    [
        {"tags": lambda tags: tags - 1},
        {"tags": lambda tags: tags[:-1]},
        {"values": lambda values: values[:-1]},
        {"lengths": lambda lengths: lengths + 1},
        {"keys": lambda keys: keys[:-1]},
        {"keys": lambda keys: numpy.zeros_like(keys)},
    ],
)
def test_weights_that_do_not_fit_are_refused(trained, change):
    weights = replace(trained.weights, **{name: make(getattr(trained.weights, name)) for name, make in change.items()})
    with pytest.raises(ModelError):
        check_weights(weights, len(trained.labels))


def test_stored_tags_beyond_the_labels_are_refused(trained):
    weights = replace(trained.weights, tags=trained.weights.tags + 100)
    with pytest.raises(ModelError, match="has weights for tags beyond"):
        Tagger.from_bytes(pack_tagger(asdict(trained.settings), weights))


@pytest.mark.parametrize(
    ("name", "numbers", "message"),
    [
        ("lengths", lambda n: [0] * n, "contexts without a tag"),
        ("lengths", lambda n: [2] * n, "hold .* values, but the model needs"),
        ("lengths", lambda n: [2**31 - 1] * n, "cannot hold"),
        ("sums", lambda n: [2**15 + 2**20] * n, "values out of range"),
        ("sums", lambda n: [1] * (n - 1), "hold .* values, but the model needs"),
        ("first_tags", lambda n: [1] * (n + 1), "hold .* values, but the model needs"),
        ("values", lambda n: [], "hold 0 values, but the model needs"),
        ("tag_gaps", lambda n: [], "hold 0 values, but the model needs"),
    ],
)
def test_stored_arrays_that_do_not_fit_are_refused(trained, name, numbers, message):
    weights = trained.weights
    packed = pack_weights(weights.keys, weights.lengths, weights.tags, weights.values)
    packed[name] = integer_arrays.pack(numpy.array(numbers(len(weights.keys)), numpy.int32))
    with pytest.raises(ModelError, match=message):
        unpack_weights(packed)


@pytest.mark.parametrize(
    "change",
    [
        {"labels": ()},
        {"labels": None},
        {"labels": ("A",)},
        {"templates": ("nonsense",)},
        {"beam_size": 0},
        {"scale": 0},
        {"scale": "missing"},
        {"dictionary": {"classes": {}, "only_tags": {"a": "no such tag"}}},
        {"dictionary": {"sizes": {}}},
    ],
)
def test_settings_that_do_not_fit_are_refused(trained, change):
    settings = {name: value for name, value in (asdict(trained.settings) | change).items() if value != "missing"}
    with pytest.raises(ModelError):
        Tagger.from_bytes(pack_tagger(settings, trained.weights))
