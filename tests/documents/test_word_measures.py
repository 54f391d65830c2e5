import json

import pytest
import spacy
from spacy.tokens import Doc

import spacy_incparse
from spacy_incparse.documents.storage import user_data
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.generative.measures import MEASURES
from tests.small_pipeline import pipeline, train

TEXT = "The old train was late. We didn't see it."


@pytest.fixture(scope="module")
def nlp():
    nlp = pipeline(training={"kind": "generative"}, measures=True, search={"measures_beam_size": 50})
    train(nlp, 0)
    return nlp


def test_every_token_has_them(nlp):
    doc = nlp(TEXT)
    for sentence in doc.sents:
        total = 0.0
        for token in sentence:
            measures = token._.incparse
            total += measures.surprisal
            assert measures.prefix_logprob == pytest.approx(-total, abs=1e-4)
    assert doc._.trees[1].words[2] == "n't"
    doc = nlp("The  train was late.")
    assert [token._.incparse is None for token in doc] == [token.is_space for token in doc]


def test_they_survive_what_is_done_with_docs(nlp):
    doc = nlp(TEXT)
    expected = [token._.incparse for token in doc]
    copies = [Doc(nlp.vocab).from_bytes(doc.to_bytes()), doc.copy()]
    assert all([token._.incparse for token in copy] == expected for copy in copies)
    both = Doc.from_docs([doc, doc])
    assert [token._.incparse for token in both] == 2 * expected
    second = list(doc.sents)[1].as_doc(copy_user_data=True)
    assert [token._.incparse for token in second] == expected[6:]


def test_what_is_not_made_of_whole_words_has_none(nlp):
    doc = nlp(TEXT)
    with doc.retokenize() as retokenizer:
        retokenizer.split(doc[2], ["tr", "ain"], heads=[doc[2], doc[2]])
    assert (doc[2]._.incparse, doc[3]._.incparse) == (None, None)
    assert doc[4]._.incparse.surprisal > 0
    doc = nlp(TEXT)
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[5:7])
    assert doc[5]._.incparse is None


def test_merged_tokens_have_joint_ones(nlp):
    doc = nlp(TEXT)
    parts = doc[7]._.incparse, doc[8]._.incparse
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[7:9])
    measures = doc[7]._.incparse
    assert measures.surprisal == pytest.approx(parts[0].surprisal + parts[1].surprisal)
    assert measures.entropy == parts[1].entropy
    assert "joined" in measures.flag


def test_a_doc_without_them_says_so(nlp):
    doc = nlp.make_doc(TEXT)
    with pytest.raises(IncparseError, match="'The' has no measures"):
        _ = doc[0]._.incparse


def test_a_perceptron_has_none(trained):
    nlp = pipeline(measures=True)
    nlp.get_pipe("incparse").model.from_bytes(trained.get_pipe("incparse").model.to_bytes())
    with pytest.raises(IncparseError, match="gives no probabilities"):
        nlp(TEXT)


@pytest.fixture
def measured():
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


def test_a_bar_a_word(measured):
    svg = spacy_incparse.plot_measures(measured, title="What it costs")
    assert svg.startswith("<svg")
    for text in ("Old", "trains", "&lt;run&gt;", "late", "What it costs", "bits", "?"):
        assert text in svg
    assert "<run>" not in svg
    svg = spacy_incparse.plot_measures(measured[0:3], ["surprisal_lexical", "surprisal_syntactic"], style="line")
    assert "surprisal lexical" in svg
    assert "surprisal syntactic" in svg


def test_mistakes(measured):
    with pytest.raises(ConfigError, match="unknown measure 'surprize'"):
        spacy_incparse.plot_measures(measured, "surprize")
    with pytest.raises(IncparseError, match="'Quiet' has no measures"):
        spacy_incparse.plot_measures(Doc(measured.vocab, words=["Quiet"]))
    with pytest.raises(IncparseError, match=r"not of a Tree: pass the Span of a sentence, such as tree\.span"):
        spacy_incparse.plot_measures(spacy_incparse.Tree.from_string("(S (NN rain))"))
