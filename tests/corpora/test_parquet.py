"""Parquet in and out, and searching it. Needs the extra parquet."""

import json
from datetime import date

import numpy as np
import pytest
import spacy
from typer.testing import CliRunner

from spacy_incparse.cli import app
from spacy_incparse.corpora.readers import Fields, read_files
from spacy_incparse.corpora.records import Unreadable
from spacy_incparse.documents.matcher import ConstituentMatcher
from spacy_incparse.errors import IncparseError
from tests.corpora.conftest import CODE

pytestmark = pytest.mark.extras
parquet = pytest.importorskip("pyarrow.parquet")
pyarrow = pytest.importorskip("pyarrow")

SENTENCES = ["The bridge was closed because the river had risen.", "We took the ferry.", "It rained."]


@pytest.fixture(scope="module")
def parsed(tmp_path_factory):
    """A folder with `texts.parquet`, and with what `annotate` makes of it as `parquet`, `jsonl` and `brackets`."""
    folder = tmp_path_factory.mktemp("parquet")
    rows = [{"name": i, "body": " ".join(SENTENCES[i % 3 :]), "share": 0.5} for i in range(12)]
    table = pyarrow.Table.from_pylist([*rows, {"name": 99, "body": None, "share": None}])
    parquet.write_table(table, folder / "texts.parquet", row_group_size=5)
    for format_ in ("parquet", "jsonl", "brackets"):
        result = annotate(folder / "texts.parquet", folder / format_, "--format", format_)
        assert result.exit_code == 0, result.output
    return folder


def annotate(*args):
    more = ["--text-field", "body", "--id-field", "name", "--shard-chars", "300"]
    return CliRunner().invoke(app, ["annotate", *map(str, args), *more])


def tables(folder):
    return [row for path in sorted(folder.glob("*.parquet")) for row in parquet.read_table(path).to_pylist()]


def test_the_tables_have_what_json_lines_have(parsed):
    documents = [
        json.loads(line)
        for path in sorted((parsed / "jsonl" / "documents").iterdir())
        for line in path.read_text().splitlines()
    ]
    rows = tables(parsed / "parquet" / "documents")
    assert [{**row, "meta": json.loads(row["meta"])} for row in rows] == [
        {key: value for key, value in document.items() if key != "sentences"} for document in documents
    ]
    sentences = [
        {"document": document["document"], "id": document["id"], **sentence}
        for document in documents
        for sentence in document["sentences"]
    ]
    assert tables(parsed / "parquet" / "sentences") == sentences
    assert (rows[3]["id"], rows[3]["text"], rows[3]["meta"]) == ("3", " ".join(SENTENCES), '{"share":0.5}')
    (path,) = (parsed / "parquet" / "failed").iterdir()
    assert json.loads(path.read_text())["reason"] == "no text in the column 'body': it is None"


def read(table, path):
    parquet.write_table(table, path)
    return [item for item, _ in read_files([path], None, Fields())]


def test_odd_columns(tmp_path):
    texts = pyarrow.array(["One.", "Two."]).dictionary_encode()
    ids = pyarrow.array([date(2020, 1, 1), None])
    one, two = read(pyarrow.table({"text": texts, "id": ids, "x": [float("nan"), 1.5]}), tmp_path / "odd.parquet")
    assert (one.id, one.text, one.meta) == ("2020-01-01", "One.", '{"x":null}')
    assert (two.id, two.text, two.meta) == (f"{tmp_path.as_posix()}/odd.parquet:2", "Two.", '{"x":1.5}')


def test_what_cannot_be_read_is_put_aside(tmp_path, monkeypatch):
    texts = pyarrow.array([b"One.", b"caf\xe9", b"Two."]).view(pyarrow.string())
    one, bad, two = read(pyarrow.table({"text": texts}), tmp_path / "bad.parquet")
    assert (one.text, two.text, isinstance(bad, Unreadable)) == ("One.", "Two.", True)
    assert bad.id.endswith("bad.parquet:2")
    assert bad.reason.startswith("a text is not UTF-8: ")
    (number,) = read(pyarrow.table({"text": [1]}), tmp_path / "numbers.parquet")
    assert number.reason == "no text in the column 'text': it is 1"

    def iter_batches(self, **settings):  # some damage is only found in the middle
        yield from self.read(columns=settings["columns"]).slice(0, 1).to_batches()
        raise pyarrow.lib.ArrowInvalid("Index not in dictionary bounds")

    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", iter_batches)
    one, rest = read(pyarrow.table({"text": ["One.", "Two."]}), tmp_path / "a.parquet")
    assert one.text == "One."
    assert rest.reason == "the rest of the file cannot be read, it is damaged: Index not in dictionary bounds"


def test_two_processes_write_the_same_bytes(parsed, tmp_path, contents):
    annotate(parsed / "texts.parquet", tmp_path / "two", "--n-process", "2")
    assert contents(tmp_path / "two") == contents(parsed / "parquet")


@pytest.mark.parametrize("more", [["--count"], ["--by-label"], ["--format", "tree", "-n", "5"]])
def test_search(parsed, more):
    def hits(folder, *args):
        result = CliRunner().invoke(app, ["search", "@SBAR|NP", str(parsed / folder), *more, *args])
        assert result.exit_code == 0, result.output
        return result.stdout

    one = hits("parquet")
    assert hits("parquet", "--n-process", "2") == one
    assert more != ["--count"] or hits("jsonl") == one != "0\n"
    named = str(parsed / "parquet" / "sentences"), str(parsed / "brackets" / "trees")
    assert one.replace(named[0], named[1]).replace(".parquet", ".mrg") == hits("brackets")


def test_matcher(parsed):
    matcher = ConstituentMatcher(spacy.blank("en").vocab)
    matcher.add("CLAUSE", "SBAR < (S < NP=subject)")
    found = list(matcher.search_files(parsed / "parquet"))
    assert len(found) == 4
    assert found[0].groups["subject"] == ("NP", 30, 39, "the river")
    assert found[1][:7] == ("CLAUSE", "3", 0, "SBAR", 22, 49, "because the river had risen")
    assert list(matcher.search_files([str(parsed / "parquet" / "sentences" / "*.parquet")], n_process=2)) == found
    assert list(matcher.search_files(parsed / "parquet", n_process=-1)) == found
    for n_process in (0, -2):
        with pytest.raises(IncparseError, match=f"n_process is {n_process}: it must be 1 or more, or -1"):
            list(matcher.search_files(parsed / "parquet", n_process=n_process))
    with pytest.raises(IncparseError, match="no Parquet file with sentences was found"):
        matcher.search_files(parsed / "brackets")


def test_a_corpus_without_sentences_is_searched(parsed, tmp_path):
    (tmp_path / "empty.jsonl").write_text('{"body": ""}')
    annotate(tmp_path / "empty.jsonl", tmp_path / "out")
    (file,) = (tmp_path / "out" / "sentences").iterdir()
    matcher = ConstituentMatcher(spacy.blank("en").vocab)
    matcher.add("NP", "NP")
    for _ in range(2):
        result = CliRunner().invoke(app, ["search", "NP", str(tmp_path / "out"), "--count"])
        assert (result.exit_code, result.stdout, result.stderr) == (0, "0\n", "")
        assert list(matcher.search_files(tmp_path / "out")) == []
        file.unlink(missing_ok=True)


def test_mistakes(parsed, tmp_path):
    result = CliRunner().invoke(app, ["annotate", str(parsed / "texts.parquet"), str(tmp_path / "out")])
    assert "there is no column 'text' with texts (it has name, body, share): name the right one" in result.stderr
    result = CliRunner().invoke(app, ["search", "NP", str(parsed / "texts.parquet")])
    assert "there is no column 'brackets': a table of sentences is expected" in result.stderr
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    assert "the file is not Parquet, or is damaged" in CliRunner().invoke(app, ["search", "NP", str(tmp_path)]).stderr


def test_a_batch_of_arrow_or_pandas(parsed):
    pytest.importorskip("pandas")
    from spacy_incparse.ray import Annotate

    table = pyarrow.table({"id": [1, 2], "text": ["It rained. We left.", None]})
    sentences = Annotate("en")(table)
    rows = sentences.to_pylist()
    assert [(row["id"], row["sentence"], row["error"]) for row in rows] == [
        ("2", None, "no text in the column 'text'"), ("1", 0, None), ("1", 1, None),
    ]  # fmt: skip
    parquet.write_table(sentences, parsed / "annotated.parquet")
    matcher = ConstituentMatcher(spacy.blank("en").vocab)
    matcher.add("NP", "NP")
    assert {match.id for match in matcher.search_files(parsed / "annotated.parquet")} == {"1"}
    (frame,) = Annotate("en").frames([table.to_pandas()])
    assert frame["brackets"].tolist()[1:] == [row["brackets"] for row in rows[1:]]
    with pytest.raises(IncparseError, match=r"the batch has no column 'body' \(it has id, text\)"):
        Annotate("en", text="body")(table)


def test_an_array_of_numpy(stub):
    from spacy_incparse.ray import Annotate

    found = Annotate(str(stub), code=str(CODE))({"text": np.array(["The owl slept."]), "id": np.array(["a"])})
    assert found.column("error").to_pylist() == [None]
    assert found.column("text").to_pylist() == ["The owl slept."]
