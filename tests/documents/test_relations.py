import gzip
import os
from itertools import islice

import pytest
import spacy
from spacy.tokens import Doc, Span

import spacy_incparse
from spacy_incparse.documents.relations import write_dependencies

TEXT = "Eva , whom Tom likes , did not want to sell it ."
TREE = (
    "(S (NP (NP (NNP Eva)) (, ,) (SBAR (WHNP (WP whom)) (S (NP (NNP Tom)) (VP (VBZ likes)))) (, ,)) (VP (VBD did)"
    " (RB not) (VP (VB want) (S (VP (TO to) (VP (VB sell) (NP (PRP it))))))) (. .))"
)


def parsed(*more: str) -> Doc:
    words = [*TEXT.split(), *more]
    doc = Doc(spacy.blank("en").vocab, words, sent_starts=[not i for i in range(len(words))])
    doc._.trees = [TREE]
    return doc


def test_relations_of_docs_spans_and_tokens():
    doc = parsed()
    want = [one for one in doc._.relations if one.verb.text == "want"]
    assert [(one.relation, one.head.text, one.understood, one.negated) for one in want] == [
        ("subject", "Eva", False, True),
        ("complement", "sell", False, True),
    ]
    assert isinstance(want[0].span, Span)
    assert str(want[0]) == "want subject Eva , whom Tom likes ,"
    assert [str(one) for one in doc[4:5]._.relations] == ["likes subject Tom", "likes object Eva"]
    assert doc[4]._.relations == doc[4:5]._.relations
    assert doc[0]._.relations == doc[5:6]._.relations == ()
    assert spacy.blank("en")("No tree.")._.relations == ()


def test_relations_after_tokens_were_merged_and_joined():
    doc = parsed()
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[3:6])
    assert [one.verb.text for one in doc._.relations[:2]] == ["Tom likes ,"] * 2
    assert doc._.relations[1].span.text == "Eva"
    both = Doc.from_docs([doc, doc.copy()])
    assert len(both._.relations) == 2 * len(doc._.relations)


def test_dependencies_are_written_to_tokens():
    doc = parsed()
    write_dependencies(doc)
    assert [(token.dep_, token.head.text) for token in doc if token.i in (0, 3, 4, 8, 10)] == [
        ("nsubj", "want"), ("nsubj", "likes"), ("acl:relcl", "Eva"), ("ROOT", "want"), ("xcomp", "want"),
    ]  # fmt: skip
    assert [sent.root.text for sent in doc.sents] == ["want"]
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[3:6])
    write_dependencies(doc)
    assert (doc[3].dep_, doc[3].head.text) == ("acl:relcl", "Eva")


def test_dependencies_of_blank_tokens_and_sentences_without_a_tree():
    doc = parsed(" ", "\n")
    write_dependencies(doc)
    assert [token.dep_ for token in doc[13:]] == ["dep", "dep"]
    plain = spacy.blank("en")("Nothing here.")
    write_dependencies(plain)
    assert [token.head.i for token in plain] == [0, 0, 1]


@pytest.mark.treebanks
@pytest.mark.slow
def test_relations_of_raw_text(treebanks):
    """Nothing raises, an existential "there" is no argument, and where there is no verb, there are no relations.

    INCPARSE_LINES is the number of lines; 50 if it is not set.
    """
    path = treebanks.parent / "text" / "ewt_train.txt.gz"
    if not path.exists():
        pytest.skip(f"needs the text {path}")
    with gzip.open(path, "rt", encoding="utf8") as file:
        lines = [line.strip() for line in islice(file, int(os.environ.get("INCPARSE_LINES", "50")))]
    for doc in spacy_incparse.load("en").pipe(lines):
        relations = doc._.relations
        write_dependencies(doc)
        for one in relations:
            assert one.head.tag_ != "EX" or one.relation not in ("subject", "object")
        if not any(token.tag_[:2] in ("VB", "MD") for token in doc) and not any(t.phrases("VP") for t in doc._.trees):
            assert not relations
