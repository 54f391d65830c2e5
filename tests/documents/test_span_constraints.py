import pickle
import warnings

import pytest
import spacy
from spacy.tokens import Span

import spacy_incparse
from spacy_incparse.documents.sentences import constrained, split_sentences
from spacy_incparse.errors import ConfigError
from tests.small_pipeline import pipeline, untrained

TEXT = "They watched the ship with binoculars. It rained."
KEYS = {"required_key": "must", "forbidden_key": "not"}
HIGH = "(VP (VBD watched) (NP (DT the) (NN ship)) (PP (IN with) (NP (NNS binoculars))))"
LOW = "(VP (VBD watched) (NP (NP (DT the) (NN ship)) (PP (IN with) (NP (NNS binoculars)))))"


@pytest.fixture(scope="module")
def nlp():
    return pipeline(model="en", **KEYS)


def doc_with(nlp, text=TEXT, **groups):
    """Return a Doc with spans as (start token, end token, label) by group."""
    doc = nlp.make_doc(text)
    for key, spans in groups.items():
        doc.spans[key.rstrip("_")] = [Span(doc, *span) for span in spans]
    return doc


def test_required_and_forbidden_phrases(nlp):
    assert HIGH in str(nlp(doc_with(nlp))._.trees[0])
    for groups in ({"must": [(2, 6, "NP")]}, {"must": [(2, 6, "")]}, {"must": [(2, 4, ""), (2, 6, "NP")]}):
        doc = nlp(doc_with(nlp, **groups))
        assert LOW in str(doc._.trees[0])
        assert str(doc._.trees[1]) == "(TOP (S (NP (PRP It)) (VP (VBD rained)) (. .)))"
        for span in doc.spans["must"]:
            assert span._.is_constituent
    doc = nlp(doc_with(nlp, not_=[(2, 4, "NP")]))
    assert doc[2:4]._.tree is None
    assert nlp(doc_with(nlp, not_=[(4, 6, "NP")]))._.trees == nlp(doc_with(nlp))._.trees  # it is no NP anyway


def test_streams(nlp):
    docs = [doc_with(nlp, must=[(2, 6, "NP")]), doc_with(nlp), doc_with(nlp, must=[])]
    found = [str(doc._.trees[0]) for doc in nlp.pipe(docs, n_process=2)]
    assert [LOW in tree for tree in found] == [True, False, False]


def test_settings_are_saved_with_the_pipeline(trained, tmp_path):
    nlp = untrained(**KEYS).from_bytes(trained.to_bytes())
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    for other in (loaded, spacy.blank("en").from_config(nlp.config), pickle.loads(pickle.dumps(nlp))):
        component = other.get_pipe("incparse")
        assert (component.required_key, component.forbidden_key) == ("must", "not")
    assert loaded(doc_with(loaded, must=[(2, 6, "NP")]))[2:6]._.tree.label == "NP"


def test_other_analyses_satisfy_them_too(nlp):
    doc = nlp(doc_with(nlp, must=[(2, 6, "NP")]))
    (analyses, _) = doc._.parses(10)
    assert analyses[0].tree == doc._.trees[0]
    assert all(("NP", 2, 6) in parse.tree.spans() for parse in analyses)
    assert [parse.tree for parse in doc._.parses(10, nlp=nlp)[0]] == [parse.tree for parse in analyses]
    assert 0 < doc._.trees[0].confidence <= 1
    stored = spacy_incparse.load("en", config={"components": {"incparse": {"required_key": "must", "nbest": 5}}})
    doc = stored(doc_with(stored, must=[(2, 6, "NP")]))
    assert all(("NP", 2, 6) in parse.tree.spans() for parse in doc._.parses(10)[0])


@pytest.mark.parametrize("root", ["TOP", "ROOT", "S1", "_ROOT_"])
def test_each_name_of_the_root_is_met_by_it(nlp, root):
    free = nlp(doc_with(nlp))._.trees[0]
    assert nlp(doc_with(nlp, must=[(0, len(free.words), root)]))._.trees[0] == free  # warnings are errors


def test_spans_across_sentences_are_warned_of_once(nlp):
    component = nlp.get_pipe("incparse")
    component._warned.clear()
    docs = [doc_with(nlp, must=[(5, 8, "NP")]) for _ in range(2)]
    with pytest.warns(
        UserWarning, match="cross sentence boundaries, .* are ignored as constraints, such as 'binoculars. It'"
    ):
        nlp(docs[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert HIGH in str(nlp(docs[1])._.trees[0])


def test_what_cannot_be_met_is_warned_of_by_name(nlp):
    doc = doc_with(nlp, must=[(2, 6, "NP"), (1, 3, "VP"), (0, 1, "XX")])
    with pytest.warns(UserWarning, match="no tree was found with VP over 'watched the', XX over 'They': dropped"):
        doc = nlp(doc)
    assert LOW in str(doc._.trees[0])


def test_groups_must_differ(nlp):
    for keys in ({"required_key": "a", "forbidden_key": "a"}, {"required_key": "a", "spans_key": "a"}):
        with pytest.raises(ConfigError, match="must name different groups"):
            nlp.create_pipe("incparse", config={"model": "en", **keys})


def test_tokens_that_were_merged_in_the_meantime(nlp):
    """spaCy's groups keep the indices of the tokens before: the spans are found by their characters."""
    doc = nlp.make_doc("The big old owl saw a small brown mouse in the dark forest.")
    doc.spans["req"] = [Span(doc, 5, 9, label="NP"), Span(doc, 12, 13, label="NP"), Span(doc, 0, 3, label="NP")]
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:4])
        retokenizer.merge(doc[9:13])
    sentences, outside = constrained(doc, split_sentences(doc), "req", None)
    assert [tuple(one) for one in sentences[0].constraints] == [(2, 6, "NP", True)]
    assert outside == ["forest", "The big old"]  # inside of a token, or ends there


def test_whitespace_at_the_borders_does_not_count(nlp):
    doc = nlp.make_doc("They watched  the ship \n .")
    doc.spans["req"] = [Span(doc, 2, 6, "NP")]
    sentences, _ = constrained(doc, split_sentences(doc), "req", None)
    assert [tuple(one) for one in sentences[0].constraints] == [(2, 4, "NP", True)]
