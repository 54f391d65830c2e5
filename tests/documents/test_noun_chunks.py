import pytest
import spacy
from spacy.tokens import Doc

from spacy_incparse.documents.extensions import use_tree_chunks
from spacy_incparse.documents.gold import trees_to_docs
from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.tree import Tree
from tests.small_pipeline import pipeline

TEXT = "The old owl saw three mice in the farmer's barn. She ate them."
CHUNKS = ["The old owl", "three mice", "the farmer's barn", "She", "them"]


def texts(doc):
    return [chunk.text for chunk in doc.noun_chunks]


@pytest.fixture(scope="module")
def nlp():
    return pipeline(model="en", noun_chunks=True)


def chunks_of(brackets):
    nlp = spacy.blank("en")
    doc = next(trees_to_docs([Tree.from_string(f"(TOP {brackets})")], nlp.vocab))
    use_tree_chunks(doc)
    return texts(doc)


@pytest.mark.parametrize(
    ("brackets", "expected"),
    [
        ("(NP (DT the) (JJ old) (NN owl))", ["the old owl"]),
        ("(NP (NP (DT the) (NN owl)) (PP (IN in) (NP (DT the) (NN barn))))", ["the owl", "the barn"]),
        ("(NP (NP (DT the) (NN owl) (POS 's)) (NN barn))", ["the owl 's barn"]),
        ("(NP (NP (DT an) (NN owl)) (CC and) (NP (DT a) (NN mouse)))", ["an owl", "a mouse"]),
        ("(NP (PDT all) (DT the) (NNS owls))", ["all the owls"]),
        ("(NP (NN something) (JJ odd))", ["something"]),
        ("(NP (DT the) (JJ poor) (PP (IN of) (NP (NNP Leith))))", ["the poor", "Leith"]),
        ("(NP (QP ($ $) (CD 5) (CD million)))", ["$ 5 million"]),
        ("(NP (`` ``) (NN owl) ('' ''))", ["owl"]),
        ("(NP (ADJP (NP (CD two) (NNS years)) (JJ old)) (NNS owls))", ["two years old owls"]),
        ("(S (NP (EX There)) (VP (VBZ is) (NP (DT no) (NN owl))))", ["no owl"]),
        ("(SBAR (WHNP (WDT which) (NN owl)) (S (NP (PRP they)) (VP (VBD saw))))", ["which owl", "they"]),
        ("(NP (S (VP (VBG seeing) (NP (NNS owls)))))", ["owls"]),
        ("(VP (VB go))", []),
    ],
)
def test_base_noun_phrases(brackets, expected):
    assert chunks_of(brackets) == expected


def test_chunks_of_parsed_docs(nlp):
    doc = nlp(TEXT)
    assert texts(doc) == CHUNKS
    assert {chunk.label_ for chunk in doc.noun_chunks} == {"NP"}
    assert [chunk.text for chunk in doc[3:6].noun_chunks] == ["three mice"]
    assert texts(nlp("")) == texts(nlp("  \n")) == []


def test_merged_chunks(nlp):
    doc = nlp(TEXT)
    with doc.retokenize() as retokenizer:
        for chunk in doc.noun_chunks:
            retokenizer.merge(chunk)
    assert texts(doc) == CHUNKS
    assert texts(Doc(nlp.vocab).from_bytes(doc.to_bytes())) == CHUNKS


def test_with_another_vocab_it_takes_a_call(nlp):
    vocab = spacy.blank("en").vocab
    data = nlp(TEXT).to_bytes()
    with pytest.raises(ValueError, match="E029"):
        texts(Doc(vocab).from_bytes(data))
    use_tree_chunks(vocab)
    assert texts(Doc(vocab).from_bytes(data)) == CHUNKS


def test_the_setting_is_saved(nlp):
    assert texts(spacy.blank("en").from_config(nlp.config)(TEXT)) == CHUNKS
    other = spacy.blank("en")
    other.add_pipe("sentencizer")
    other.add_pipe("incparse", source=nlp)
    assert texts(other(TEXT)) == CHUNKS


def test_docs_without_trees_have_their_dependency_parse(nlp):
    words = ["The", "owl", "slept"]
    doc = Doc(nlp.vocab, words, heads=[1, 2, 2], deps=["det", "nsubj", "ROOT"], pos=["DET", "NOUN", "VERB"])
    assert texts(doc) == ["The owl"]
    with pytest.raises(IncparseError, match="has no trees, which noun chunks need"):
        texts(nlp.make_doc(TEXT))


def test_a_language_without_noun_chunks():
    nlp = spacy.blank("xx")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("incparse", config={"model": "en", "noun_chunks": True})
    assert texts(nlp("The owl slept."))[0] == "The owl"
    with pytest.raises(IncparseError, match="has no trees"):
        texts(nlp.make_doc("The owl slept."))
