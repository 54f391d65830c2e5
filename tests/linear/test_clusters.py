import gzip
import zlib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import srsly
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.errors import ConfigError, IncparseError, ModelError
from spacy_incparse.integer_arrays import pack
from spacy_incparse.linear import words as cluster_files
from spacy_incparse.linear.words import Clusters, as_clusters, read_clusters

PATHS = [("the", "0010"), ("Oslo", "1101"), ("dog", "10"), ("cat", "10"), ("May", "011"), ("may", "111")]

words = st.text(st.characters(exclude_categories=()), max_size=8)
tables = st.lists(st.tuples(words, st.text("01", min_size=1, max_size=20)), max_size=60)


@given(tables, st.lists(words))
def test_the_table_is_what_a_dict_would_be(pairs, others):
    clusters, expected = Clusters.from_paths(pairs), dict(reversed(pairs))
    for word in [word for word, _ in pairs] + others:
        assert clusters.path(word) == expected.get(word, expected.get(word.lower(), ""))


@given(tables, st.randoms())
def test_bytes_give_the_table_back_and_the_order_of_words_does_not_matter(pairs, chance):
    clusters = Clusters.from_paths(pairs)
    assert Clusters.from_bytes(clusters.to_bytes()) == clusters
    assert Clusters.from_bytes(clusters.to_bytes()).to_bytes() == clusters.to_bytes()
    mixed = list({word: (word, path) for word, path in reversed(pairs)}.values())
    chance.shuffle(mixed)
    assert Clusters.from_paths(mixed).to_bytes() == clusters.to_bytes()
    assert not pairs or Clusters.from_paths(mixed[1:]) != clusters


def test_damaged_bytes_are_refused():
    data = Clusters.from_paths(PATHS).to_bytes()
    few, content = pack(np.array([0, 1], np.uint32)), srsly.msgpack_loads(data)
    fewer_paths = srsly.msgpack_loads(Clusters.from_paths(PATHS[:1]).to_bytes())["paths"]
    wrong = [{"places": few}, {"checksums": few}, {"paths": fewer_paths}, {"paths": zlib.compress(b"")}]
    contents = [[], {}, {"paths": 1}, *(content | change for change in wrong), content | {"paths": 1}]
    for damaged in (data[:-3], b"", b"x" + data, *map(srsly.msgpack_dumps, contents)):
        with pytest.raises(ModelError, match="the word clusters of the model"):
            Clusters.from_bytes(damaged)


# Files, and spaCy's lookups package

FILE = Path(__file__).parents[1] / "data" / "clusters.txt"


def test_a_file_is_read_compressed_or_not_with_any_line_ends(tmp_path):
    clusters, path = read_clusters(FILE), tmp_path / "clusters"
    assert [clusters.path(word) for word in ("the", "Oslo", "WON", "mouse")] == ["00", "10111", "1100", ""]
    assert len(clusters) == len(FILE.read_text().splitlines())
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + FILE.read_bytes().replace(b"\n", b"\r\n\r\n")))
    assert read_clusters(str(FILE)) == clusters == read_clusters(path)


def test_the_most_frequent_words_are_kept_whatever_signs_but_tabs_they_have(tmp_path):
    path = tmp_path / "clusters.txt"
    path.write_text("0\trare\t1\n10\tNew York\t70\n11\t\x85\t9\n0\t#\t9\n", encoding="utf8")
    for max_words, last in ((2, ""), (3, "0")):
        kept = read_clusters(path, max_words=max_words)
        assert [kept.path(word) for word in ("New York", "\x85", "#", "rare")] == ["10", "11", last, ""]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("01\tdog", r"clusters.txt:2: .* found 2 columns: '01\\tdog'"),
        ("01\tdog\t3\t4", "clusters.txt:2: .* found 4 columns"),
        ("0a\tdog\t3", "clusters.txt:2: the path '0a'"),
        ("\tdog\t3", "clusters.txt:2: the path ''"),
        ("01\t\t3", r"clusters.txt:2: the word is missing: '01\\t\\t3'"),
        ("01\tdog\t-3", "clusters.txt:2: the count '-3'"),
        ("01\tdog\t²", "clusters.txt:2: the count '²'"),
        ("1\tcaf\udce9\t3", "clusters.txt:2: byte 0xe9 is not UTF-8"),
    ],
)
def test_a_malformed_line_is_named(tmp_path, line, message):
    path = tmp_path / "clusters.txt"
    path.write_text(f"0\tthe\t9\n{line}\n", encoding="utf8", errors="surrogateescape")
    with pytest.raises(IncparseError, match=message):
        read_clusters(path)


def test_files_that_hold_nothing_or_cannot_be_read(tmp_path):
    empty, cut = tmp_path / "empty.txt", tmp_path / "cut.gz"
    empty.write_text("\n")
    cut.write_bytes(gzip.compress(FILE.read_bytes())[:40])
    with pytest.raises(IncparseError, match="the file has no clusters"):
        read_clusters(empty)
    for path in (cut, tmp_path, tmp_path / "missing.txt"):
        with pytest.raises(ConfigError, match=f"{path}: the clusters cannot be read .*; give a language's code"):
            read_clusters(path)
    with pytest.raises(ConfigError, match="max_words is 0"):
        read_clusters(FILE, max_words=0)


def test_what_is_read_already_stays():
    clusters = read_clusters(FILE)
    assert as_clusters(clusters) is clusters
    assert as_clusters(None) is None
    assert as_clusters(str(FILE)) == clusters


def test_the_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(cluster_files, "entry_points", lambda group: ())
    with pytest.raises(ConfigError, match=r'pip install "spacy-incparse\[clusters\]"'):
        read_clusters("en")


class FakeEntry:
    def __init__(self, name, tables):
        self.name, self.tables = name, tables

    def load(self):
        return self.tables


@pytest.fixture
def packaged(monkeypatch, tmp_path):
    """A lookups package with clusters of Norwegian and none of Danish; tables are named without their .gz."""
    (tmp_path / "nb.json.gz").write_bytes(gzip.compress(b'{".": 8, "og": 4, "qqq": 0, "hund": 11}'))
    entries = (FakeEntry("nb", {"lexeme_cluster": tmp_path / "nb.json"}), FakeEntry("da", {}))
    monkeypatch.setattr(cluster_files, "entry_points", lambda group: entries)


@pytest.mark.usefixtures("packaged")
def test_paths_of_the_package_begin_at_the_lowest_bit():
    clusters = read_clusters("nb")
    assert [clusters.path(word) for word in (".", "og", "hund")] == ["0001", "0010", "1101"]
    assert clusters.path("qqq") == clusters.path("katt") == ""
    assert len(clusters) == 3
    assert [read_clusters("nb", max_words=2).path(word) for word in (".", "og", "hund")] == ["0001", "0010", ""]


@pytest.mark.usefixtures("packaged")
@pytest.mark.parametrize("lang", ["da", "fi"])
def test_a_language_without_clusters_is_named(lang):
    with pytest.raises(ConfigError, match=f'no clusters for the language "{lang}", only for nb'):
        read_clusters(lang)


@pytest.mark.skipif(find_spec("spacy_lookups_data") is None, reason="spacy-lookups-data is not installed")
def test_the_real_package():
    english = read_clusters("en")
    assert 99_900 < len(english) <= 100_000
    paths = [english.path(word) for word in ("Monday", "Tuesday", "walked", "jumped")]
    assert paths[0] == paths[1] != paths[2]
    assert paths[2][:6] == paths[3][:6]
    assert len(english.to_bytes()) < 400_000
