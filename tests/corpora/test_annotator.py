"""The pipeline of a worker: what it keeps from one shard to the next."""

import pytest
import spacy

from spacy_incparse.corpora.annotator import Annotator
from spacy_incparse.corpora.records import Document
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
