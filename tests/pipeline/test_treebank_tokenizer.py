"""A tokenizer that learns abbreviations and clitics from the words of a treebank."""

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_incparse.errors import ConfigError

CONFIG = {"nlp": {"tokenizer": {"@tokenizers": "spacy_incparse.TreebankTokenizer.v1"}}}
GOLD = [
    "Rumah nya besar dan hanya itu milik nya .",
    "Kata nya buku itu hanya milik Dr. Tan .",
    "Teman nya membaca buku , dan suku itu buku ini , buku itu .",
    "Suku itu punya rumah di Jl. Melati , dan milik ku hilang .",
]


def learnt(sentences, **settings):
    nlp = spacy.blank("id", config=CONFIG)
    docs = [Doc(nlp.vocab, words=sentence.split()) for sentence in sentences]
    nlp.tokenizer.initialize(lambda: [Example(doc, doc) for doc in docs], nlp=nlp, **settings)
    return nlp


@pytest.fixture(scope="module")
def nlp():
    return learnt(GOLD, clitics=["nya", "ku"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Temannya hilang.", "Teman nya hilang ."),
        ("Pintunya (hanya itu).", "Pintu nya ( hanya itu ) ."),
        ("HANYA bukuku!", "HANYA buku ku !"),
        ("Sikuku besar", "Sikuku besar"),  # "siku" is not in the treebank, and "ku" is rare there
        ("Dr. Tan di Jl. Baru.", "Dr. Tan di Jl. Baru ."),
        ("Kantor Ny. Tan.", "Kantor Ny . Tan ."),
        ("Nya", "Nya"),
        ("nyanya", "nya nya"),
    ],
)
def test_words_are_those_of_the_treebank(nlp, text, words):
    doc = nlp(text)
    assert [token.text for token in doc] == words.split()
    assert doc.text == text


def test_it_is_stored_with_the_pipeline(nlp, tmp_path):
    nlp.to_disk(tmp_path)
    text = "Temannya membaca bukuku di Jl. Baru, hanya itu."
    assert [token.text for token in spacy.load(tmp_path)(text)] == [token.text for token in nlp(text)]


def test_without_clitics_it_learns_abbreviations():
    assert [token.text for token in learnt(GOLD)("Temannya di Jl. Baru.")] == ["Temannya", "di", "Jl.", "Baru", "."]


@pytest.mark.parametrize("clitics", [["n-"], [""], [5]])
def test_clitics_are_words(clitics):
    with pytest.raises(ConfigError, match="clitics"):
        learnt(GOLD, clitics=clitics)
