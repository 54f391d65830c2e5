import pickle
from dataclasses import asdict, replace

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.errors import ModelError
from spacy_incparse.tagging import Tagger
from spacy_incparse.tagging.tagger_storage import MAGIC, pack, unpack
from tests.tagging.corpora import random_corpus, written_corpus


@pytest.fixture(scope="module")
def trained():
    return Tagger.train(*written_corpus(), n_epochs=5)


@pytest.mark.parametrize("copy", [lambda t: Tagger.from_bytes(t.to_bytes()), lambda t: pickle.loads(pickle.dumps(t))])
def test_a_copy_is_the_same_tagger(trained, copy):
    made, texts = copy(trained), random_corpus(20, 1)[0] + written_corpus()[0]
    assert made.settings == trained.settings
    assert made.to_bytes() == trained.to_bytes()
    assert made.tag_batch(texts) == trained.tag_batch(texts)
    assert [made.k_best(words, 3) for words in texts] == [trained.k_best(words, 3) for words in texts]


def test_a_folder_keeps_the_tagger(trained, tmp_path):
    trained.to_disk(tmp_path / "new" / "tagger")
    assert Tagger.from_disk(tmp_path / "new" / "tagger").to_bytes() == trained.to_bytes()


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ModelError, match=r"absent.*cannot be read"):
        Tagger.from_disk(tmp_path / "absent")


def test_a_damaged_file_is_named(trained, tmp_path):
    trained.to_disk(tmp_path)
    (tmp_path / "tagger.bin").write_bytes(trained.to_bytes()[:-1])
    with pytest.raises(ModelError, match=r"tagger\.bin: .*checksum"):
        Tagger.from_disk(tmp_path)


@given(data=st.data())
def test_any_changed_byte_is_noticed(trained, data):
    whole = bytearray(trained.to_bytes())
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(ModelError):
        Tagger.from_bytes(bytes(whole))


@given(st.binary(max_size=60), st.booleans())
def test_other_bytes_are_refused(data, with_magic):
    with pytest.raises(ModelError):
        Tagger.from_bytes(MAGIC + data if with_magic else data)


def test_another_version_is_named(trained):
    with pytest.raises(ModelError, match="version 9"):
        Tagger.from_bytes(MAGIC[:-1] + b"\x09" + trained.to_bytes()[len(MAGIC) :])


@pytest.mark.parametrize(
    "change",
    [
        {"tags": lambda tags: tags + 100},
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
        Tagger.from_bytes(pack(asdict(trained.settings), weights))


@pytest.mark.parametrize(
    "change",
    [
        {"labels": ()},
        {"labels": None},
        {"labels": ("A",)},
        {"templates": ("nonsense",)},
        {"beam_size": 0},
        {"scale": 0},
        {"dictionary": {"classes": {}, "only_tags": {"a": "no such tag"}}},
        {"dictionary": {"sizes": {}}},
    ],
)
def test_settings_that_do_not_fit_are_refused(trained, change):
    with pytest.raises(ModelError):
        Tagger.from_bytes(pack({**asdict(trained.settings), **change}, trained.weights))


def test_a_missing_setting_is_refused(trained):
    kept = {name: value for name, value in asdict(trained.settings).items() if name != "scale"}
    with pytest.raises(ModelError, match="scale"):
        Tagger.from_bytes(pack(kept, trained.weights))


def test_unpack_inverts_pack(trained):
    stored, weights, clusters = unpack(trained.to_bytes())
    assert tuple(stored["labels"]) == trained.labels
    assert clusters is None
    assert unpack(pack(stored, weights, b"paths"))[2] == b"paths"
    for name in ("keys", "lengths", "tags", "values"):
        assert (getattr(weights, name) == getattr(trained.weights, name)).all()
