"""The Indonesian package under models/: its words are those of the treebank, on raw text with every clitic."""

import re
from pathlib import Path

import pytest
import spacy

LINES = (Path(__file__).parent / "indonesian.txt").read_text(encoding="utf8").splitlines()
(FOLDER,) = (Path(__file__).parents[2] / "models").glob("id_icon-*/id_icon/id_icon-*")


@pytest.fixture(scope="module")
def nlp():
    return spacy.load(FOLDER)


def test_words_are_those_of_the_treebank(nlp):
    wrong = [line for line in LINES if [word.text for word in nlp.make_doc(line.replace("|", ""))] != words_of(line)]
    assert len(LINES) == 100
    assert len(wrong) <= 3, wrong


def words_of(line):
    """Return the words of a line, in which | separates those that are written together."""
    return [word for word in re.split(r"[ |]+", line) if word]


def test_sentences_get_trees(nlp):
    doc = nlp("Rumahnya besar. Ibu memasak nasi untuk anaknya, dan ayah membaca buku.")
    first, second = doc._.trees
    assert first.label == second.label == "TOP"
    assert str(first.phrases("NP")[0]) == "(NP (NNO Rumah) (ART nya))" or "nya" in first.words
    assert {"memasak", "membaca"} <= {word.text for word in doc if word.tag_.startswith("VB")}
