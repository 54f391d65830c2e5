"""The picture of what words cost."""

import json

import pytest
import spacy
from spacy.tokens import Doc

import spacy_incparse
from spacy_incparse.documents.storage import user_data
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.generative.measures import MEASURES


@pytest.fixture
def doc():
    """A Doc with measures: the n-th word costs n bits, the last one cannot be had."""
    spacy.blank("en").add_pipe("incparse")  # declares the attributes
    doc = Doc(spacy.blank("en").vocab, words=["Old", "trains", "<run>", "late"])
    rows = [[float(i + 1)] * len(MEASURES) + [""] for i in range(3)] + [[None] * len(MEASURES) + ["empty"]]
    stored = {
        "version": 1,
        "starts": [token.idx for token in doc],
        "ends": [token.idx + len(token) for token in doc],
        "rows": rows,
    }
    user_data(doc)["._.", "incparse_measures", 0, len(doc.text)] = json.dumps(stored)
    return doc


def test_a_bar_a_word(doc):
    svg = spacy_incparse.plot_measures(doc, title="What it costs")
    assert svg.startswith("<svg")
    for text in ("Old", "trains", "&lt;run&gt;", "late", "What it costs", "bits", "?"):
        assert text in svg
    assert "<run>" not in svg


def test_several_measures_are_named(doc):
    svg = spacy_incparse.plot_measures(doc[0:3], ["surprisal_lexical", "surprisal_syntactic"], style="line")
    assert "surprisal lexical" in svg
    assert "surprisal syntactic" in svg


def test_mistakes(doc):
    with pytest.raises(ConfigError, match="unknown measure 'surprize'"):
        spacy_incparse.plot_measures(doc, "surprize")
    with pytest.raises(IncparseError, match="'Quiet' has no measures"):
        spacy_incparse.plot_measures(Doc(doc.vocab, words=["Quiet"]))
    with pytest.raises(IncparseError, match=r"not of a Tree: pass the Span of a sentence, such as tree\.span"):
        spacy_incparse.plot_measures(spacy_incparse.Tree.from_string("(S (NN rain))"))
