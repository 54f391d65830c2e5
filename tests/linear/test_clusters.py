import random
import zlib

import numpy as np
import pytest
import srsly
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.errors import ModelError
from spacy_incparse.integer_arrays import pack
from spacy_incparse.linear.clusters import Clusters

PATHS = [("the", "0010"), ("Oslo", "1101"), ("dog", "10"), ("cat", "10"), ("May", "011"), ("may", "111")]

words = st.text(st.characters(exclude_categories=()), max_size=8)
tables = st.lists(st.tuples(words, st.text("01", min_size=1, max_size=20)), max_size=60)


def test_a_word_has_its_path():
    clusters = Clusters.from_paths(PATHS)
    assert [clusters.path(word) for word, _ in PATHS] == [path for _, path in PATHS]
    assert len(clusters) == len(PATHS)


def test_an_unknown_word_has_none_unless_its_lower_case_form_is_known():
    clusters = Clusters.from_paths(PATHS)
    assert [clusters.path(word) for word in ("DOG", "The", "oslo", "mouse", "", "\ud800")] == ["10", "0010"] + [""] * 4
    assert [clusters.path(word) for word in ("May", "may", "MAY")] == ["011", "111", "111"]


def test_of_equal_words_the_first_counts():
    assert Clusters.from_paths([("run", "01"), ("run", "10")]).path("run") == "01"


@given(tables, st.lists(words))
def test_the_table_is_what_a_dict_would_be(pairs, others):
    clusters, expected = Clusters.from_paths(pairs), dict(reversed(pairs))
    for word in [word for word, _ in pairs] + others:
        assert clusters.path(word) == expected.get(word, expected.get(word.lower(), ""))


@given(tables)
def test_bytes_give_the_table_back(pairs):
    clusters = Clusters.from_paths(pairs)
    assert Clusters.from_bytes(clusters.to_bytes()) == clusters
    assert Clusters.from_bytes(clusters.to_bytes()).to_bytes() == clusters.to_bytes()


def test_the_order_of_words_does_not_matter():
    mixed = random.Random(1).sample(PATHS, len(PATHS))
    assert Clusters.from_paths(mixed) == Clusters.from_paths(PATHS)
    assert Clusters.from_paths(mixed).to_bytes() == Clusters.from_paths(PATHS).to_bytes()
    assert Clusters.from_paths(PATHS[1:]) != Clusters.from_paths(PATHS)


def test_a_word_takes_a_few_bytes():
    generator = random.Random(0)
    pairs = [(f"word{number}", f"{generator.randrange(500, 1000):b}") for number in range(50_000)]
    assert len(Clusters.from_paths(pairs).to_bytes()) < 5 * 50_000


@pytest.mark.parametrize("change", [lambda data: data[:-3], lambda data: b"", lambda data: b"x" + data])
def test_damaged_bytes_are_refused(change):
    with pytest.raises(ModelError, match="word clusters of the model are damaged"):
        Clusters.from_bytes(change(Clusters.from_paths(PATHS).to_bytes()))


def test_parts_that_do_not_fit_are_refused():
    content = srsly.msgpack_loads(Clusters.from_paths(PATHS).to_bytes())
    few = pack(np.array([0, 1], np.uint32))
    for wrong in ({"places": few}, {"checksums": few}, {"paths": zlib.compress(b"0")}, {"paths": zlib.compress(b"")}):
        with pytest.raises(ModelError, match="damaged"):
            Clusters.from_bytes(srsly.msgpack_dumps(content | wrong))
    for wrong in ([], {}, {"paths": 1}, content | {"paths": 1}):
        with pytest.raises(ModelError, match="damaged"):
            Clusters.from_bytes(srsly.msgpack_dumps(wrong))
