"""The pipeline of a worker: what it keeps from one shard to the next."""

import json
import runpy

import pytest
import spacy
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_incparse.cli import app
from spacy_incparse.corpora.records import Document
from spacy_incparse.corpora.worker import Annotator
from tests.corpora.conftest import CODE


@pytest.fixture
def annotator(stub):
    return Annotator(str(stub), CODE)


def documents(*texts):
    return [Document(str(number), "", text) for number, text in enumerate(texts)]


def annotated(annotator, found):
    with annotator.zone(found):
        return [doc if isinstance(doc, str) else [token.text for token in doc] for _, doc in annotator.annotate(found)]


def test_the_tokenizer_remembers_the_first_documents_only(annotator):
    """A zone frees all new words; those of the first documents are there from then on."""
    assert annotated(annotator, documents("Grandmother's plums.")) == [["Grandmother", "'s", "plums", "."]]
    assert "plums" in annotator.nlp.vocab.strings
    assert annotated(annotator, documents("Quinces, plums.")) == [["Quinces", ",", "plums", "."]]
    assert "Quinces" not in annotator.nlp.vocab.strings


def test_documents_that_cannot_be_split_are_failures(annotator, monkeypatch):
    make_doc = spacy.language.Language.make_doc

    def make_or_exit(nlp, text):
        if text == "odd":
            raise SystemExit(3)
        return make_doc(nlp, text)

    monkeypatch.setattr(spacy.language.Language, "make_doc", make_or_exit)
    assert annotated(annotator, documents("odd", "Plums .")) == ["SystemExit: 3", ["Plums", "."]]


def test_documents_with_words_are_not_split(annotator):
    given = [Document("0", "", "Medlars ripen.", ("Medlars", "ripen."), (True, False), (True, False))]
    assert annotated(annotator, given) == [["Medlars", "ripen."]]
    assert "Medlars" not in annotator.nlp.vocab.strings


def test_numbers_of_other_fields_keep_all_their_digits(stub, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text":"Plums.","p":1e-12,"hash":123456789012345678901234567890}\n')
    words = ["annotate", tmp_path / "a.jsonl", tmp_path / "out", "--model", stub, "--code", CODE, "--format", "jsonl"]
    assert CliRunner().invoke(app, list(map(str, words))).exit_code == 0
    (line,) = next((tmp_path / "out" / "documents").iterdir()).read_text(encoding="utf8").splitlines()
    assert '"meta":{"p":1e-12,"hash":123456789012345678901234567890},"sentences":[{' in line
    assert json.loads(line)["text"] == "Plums."


def test_a_doc_that_cannot_be_written_is_put_aside(stub, tmp_path):
    """As one that cannot be parsed: neither ends the run."""
    code = tmp_path / "code.py"
    code.write_text(
        f"""
import runpy
from spacy.language import Language

runpy.run_path({str(CODE)!r})

@Language.component("unwritable")
def unwritable(doc):
    if "odd" in doc.text:
        doc.user_data["odd"] = object()
    return doc
"""
    )
    nlp = spacy.load(stub)
    runpy.run_path(str(code))
    nlp.add_pipe("unwritable")
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "a.lines").write_text("Plums.\nAn odd one.\nPears.\n")
    words = ["annotate", tmp_path / "a.lines", tmp_path / "out", "--model", tmp_path / "model", "--code", code]
    result = CliRunner().invoke(app, [*map(str, words), "--format", "docbin"])
    assert result.exit_code == 0, result.output
    assert "2 documents" in result.stdout
    (failed,) = (tmp_path / "out" / "failed").iterdir()
    assert json.loads(failed.read_text())["reason"] == "TypeError: can not serialize 'object' object"
    (docs,) = (tmp_path / "out" / "docs").iterdir()
    assert [doc.text for doc in DocBin().from_disk(docs).get_docs(nlp.vocab)] == ["Plums.", "Pears."]


def test_a_run_that_was_killed_as_it_began_can_begin_again(stub, tmp_path):
    (tmp_path / "a.lines").write_text("Plums.\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".manifest.json.123.tmp").write_text("{")
    words = ["annotate", tmp_path / "a.lines", tmp_path / "out", "--model", stub, "--code", CODE, "--format", "jsonl"]
    assert CliRunner().invoke(app, list(map(str, words))).exit_code == 0
    assert not (tmp_path / "out" / ".manifest.json.123.tmp").exists()
