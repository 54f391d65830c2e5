import bz2
import gzip
import json
import lzma

import pytest

from spacy_incparse.corpora.readers import READERS, SUFFIXES, Fields, input_files, read_files
from spacy_incparse.corpora.records import Document, Unreadable, split
from spacy_incparse.errors import IncparseError

CONLLU = """# newdoc id = letter
# sent_id = 1
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tdo\tdo\tAUX\t_\t_\t0\t_\t_\t_
2\tn't\tnot\tPART\t_\t_\t1\t_\t_\t_
3\tgo\tgo\tVERB\t_\t_\t1\t_\t_\tSpaceAfter=No
3.1\tgone\t_\t_\t_\t_\t_\t_\t_\t_
4\t.\t.\tPUNCT\t_\t_\t1\t_\t_\t_

1-2\tau\t_\t_\t_\t_\t_\t_\t_\t_
1\tà\tà\tADP\t_\t_\t0\t_\t_\t_
2\tle\tle\tDET\t_\t_\t1\t_\t_\t_

# newdoc
1\tbroken
"""


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Write a file and read it; ids are relative to its folder."""
    monkeypatch.chdir(tmp_path)

    def _read(name, data, reader=None, fields=Fields()):  # noqa: B008
        (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        paths = input_files([name], SUFFIXES, any_suffix=reader is not None)
        return [item for item, _ in read_files(paths, READERS.get(reader), fields)]

    return _read


@pytest.mark.parametrize("text", ["It rained.\nA lot.\n", "BZ is short for a city.", "BZ"])  # bzip2's begin with BZh
def test_text(read, text):
    assert read("a.txt", "\ufeff" + text) == read("a.txt", text) == [Document("a.txt", "a.txt", text)]


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)])
def test_compressed(read, suffix, pack):
    name = "a.txt" + suffix
    assert read(name, pack("Nuß.".encode())) == [Document(name, name, "Nuß.")]
    (damaged,) = read(name, pack(b"It rained. " * 99)[:40])
    assert isinstance(damaged, Unreadable)
    assert damaged.reason.startswith("the rest of the file cannot be read, it is damaged: ")


def test_lines(read):
    found = read("a.txt", b"One.\r\n\n \nTwo.\nbad \xff", "lines")
    assert found == [
        Document("a.txt:1", "a.txt", "One."),
        Document("a.txt:4", "a.txt", "Two."),
        Unreadable("a.txt:5", "a.txt", "byte 0xff at 4 is not UTF-8"),
    ]


def test_json_lines(read):
    lines = '{"body": "One.", "key": 7, "year": 1999}\n{"body": "Two."}\n{"key": 1}\n{"body": 5}\n{"body": null}\n[]\n'
    lines += '{"body": "\\ud800"}\n{'
    one, two, *bad = read("a.jsonl", lines, fields=Fields("body", "key"))
    assert one == Document("7", "a.jsonl", "One.", meta='{"year":1999}')
    assert two == Document("a.jsonl:2", "a.jsonl", "Two.")
    assert [item.reason.split(":")[0] for item in bad] == [
        "no text in 'body'; the object has nothing",
        "'body' is not a text",
        "'body' is null",
        "the line is JSON, but not an object {...}",
        "half a surrogate pair is no character",
        "the line is not JSON",
    ]


@pytest.mark.parametrize("number", ["3-1", "2-4", "-3", "3-", "1-2-3"])
def test_words_of_conllu_that_are_missing(read, number):
    lines = "1\tIt\t_\t_\t_\t_\t0\t_\t_\t_\n{}\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n2\tgo\t_\t_\t_\t_\t0\t_\t_\t_\n\n"
    bad, good = read("a.conllu", lines.format(number) + lines.format("2-2"))
    assert isinstance(bad, Unreadable)
    assert ("are missing" in bad.reason) != ("is no number of a word" in bad.reason)
    assert good.words == ("It", "don't")


@pytest.mark.parametrize(
    "line",
    ['{"text": "x", "title": "\\ud83d"}', '{"text": ["\\ud83d"]}', '{"id": "\\ud83d", "text": 5}', '{"\\ud83d": 1}'],
)
def test_half_a_surrogate_pair_anywhere_in_a_line(read, line):
    (found,) = read("a.jsonl", line + "\n")
    assert isinstance(found, Unreadable)
    assert found.id == "a.jsonl:1"
    assert "half a surrogate pair is no character" in found.reason


def test_deeply_nested_json(read):
    depth = 1010  # more than Python's own JSON reads and writes
    deep = "[" * depth + "%s" + "]" * depth
    found, whole, half = read(
        "a.jsonl",
        "".join('{"text": "One.", "x": ' + deep % f'"{text}"' + "}\n" for text in ("rain", r"\ud83d\ude00", r"\ud83d")),
    )
    assert isinstance(found, Document)
    assert isinstance(whole, Document)
    assert isinstance(half, Unreadable)


def test_names_that_are_not_utf8_are_escaped(read):
    sentence = b"# newdoc id = caf\xe9\n# sent_id = \xe9\n1\tRain\t_\t_\t_\t_\t0\t_\t_\t_\n\n"
    (found,) = read("a.conllu", sentence)
    assert (found.id, found.text, json.loads(found.meta)) == ("caf\\udce9", "Rain ", {"sent_ids": ["\\udce9"]})
    (found,) = read(b"caf\xe9.txt".decode("utf8", "surrogateescape"), "It rained.")
    assert found.id == found.file == "caf\\udce9.txt"


def test_conllu(read):
    letter, broken = read("a.conllu", CONLLU)
    assert letter == Document(
        "letter", "a.conllu", "don't go. au ", ("do", "n't", "go", ".", "au"), (False, True, False, True, True),
        (True, False, False, False, True), '{"sent_ids":["1",null]}',
    )  # fmt: skip
    assert broken == Unreadable("a.conllu:14", "a.conllu", "line 15 has 2 columns, not 10 separated by tabs")
    assert read("a.conllu", CONLLU.replace("\n", "\r")) == [letter, broken]


def test_conllu_without_documents(read):
    sentence = "# sent_id = {}\n1\tRain\t_\t_\t_\t_\t0\t_\t_\tSpaceAfter=No\n\n"
    assert [item.id for item in read("a.conllu", sentence.format("s1") + sentence.format("s2"))] == ["s1", "s2"]


def test_files_of_folders_and_globs(tmp_path):
    for name in ("b.txt", "a.jsonl.gz", "more/c.conllu", ".hidden.txt", ".git/d.txt", "image.png", "README.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    def names(*paths, **settings):
        found = input_files([str(tmp_path / path) for path in paths], SUFFIXES, **settings)
        return [file.relative_to(tmp_path).as_posix() for file in found]

    assert names("") == ["a.jsonl.gz", "b.txt", "more/c.conllu"]
    assert names("more", "*.txt") == ["more/c.conllu", "b.txt"]
    assert names("more/**") == ["more/c.conllu"]  # a folder and the files in it
    assert names("README.md", any_suffix=True) == ["README.md"]
    for paths, message in [
        (["README.md"], r"README.md: what it contains cannot be told from its name"),
        (["", "b.txt"], r"b.txt is given twice"),
        (["more/**", "more"], r"c.conllu is given twice"),
        (["absent"], r"absent: no such file or folder"),
        (["*.rtf"], r"no file to read; looked for .conllu .csv .jsonl "),
    ]:
        with pytest.raises(IncparseError, match=message):
            names(*paths)


def test_shards_end_with_the_document_that_fills_them():
    items = [(Document(str(i), "f", "x" * 4), 10 * (i + 1)) for i in range(5)]
    shards = list(split(items, 8))
    assert [(shard.number, shard.first, len(shard.items), shard.n_bytes) for shard in shards] == [
        (0, 0, 2, 20), (1, 2, 2, 20), (2, 4, 1, 10),
    ]  # fmt: skip
    assert str(shards[1]) == "shard 1 (2 to 3)"


def test_other_fields_keep_all_their_digits(read):
    """Also numbers that are larger or smaller than other readers of JSON can hold."""
    line = '{"text":"Rain.","id":1e-12,"p":1e-12,"pi":3.141592653589793,"hash":123456789012345678901234567890}'
    (found,) = read("a.jsonl", line + "\n")
    assert found.id == "1e-12"
    assert found.meta == '{"p":1e-12,"pi":3.141592653589793,"hash":123456789012345678901234567890}'
    found, other = read(
        "b.jsonl", '{"text":"Rain.","a":NaN,"b":[-1e400,"é"],"id":["a",1]}\n{"text": "x", "id": true}\n'
    )
    assert (found.id, found.meta) == ('["a",1]', '{"a":null,"b":[null,"é"]}')
    assert other.id == "true"


def test_tables(read):
    data = 'id;body;n\n7;"Rain; ""much""\nof it.";1\n\n;Sun.;2\nx;too;many;cells\n8;"a"b;3\n9;Wind.;4\n'
    fields = Fields("body", separator=";")
    one, two, wide, wrong, last = read("a.csv", data.encode("utf-8-sig"), fields=fields)
    assert (one.id, one.text, one.meta) == ("7", 'Rain; "much"\nof it.', '{"n":"1"}')
    assert (two.id.rpartition(":")[2], two.text) == ("5", "Sun.")
    assert wide.reason == "4 cells in a table of 3 columns"
    assert (wrong.id.rpartition(":")[2], "quotes are doubled" in wrong.reason, last.text) == ("7", True, "Wind.")
    (only,) = read("a.tsv", b"text\tid\nIt rained, again.\ta\n")
    assert (only.id, only.text) == ("a", "It rained, again.")
    long = "word " * 50_000
    assert read("b.csv", f"text\n{long}\n".encode())[0].text == long
    assert read("c.csv", b"text\n\xe9\n")[0].reason == "byte 0xe9 at 0 is not UTF-8"
    for header in (b"body\n", b"text,a,a\n", b""):
        with pytest.raises(IncparseError, match=r"d.csv:1: expected a header .*--text-field, .*--sep"):
            read("d.csv", header)
