"""Functions and empty categories on a Doc survive what trees survive."""

import pickle

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_incparse import ConstituentMatcher, trees_to_json
from spacy_incparse.documents.rows import row_tree, sentence_rows

BRACKETS = "(TOP (S (NP-SBJ-1 (PRP She)) (VP (VBZ wants) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB go))))) (. .)))"


@pytest.fixture
def doc():
    made = Doc(
        spacy.blank("en").vocab, words="She wants to go . It rains .".split(), sent_starts=[1, 0, 0, 0, 0, 1, 0, 0]
    )
    made._.trees = [BRACKETS, "(S (NP-SBJ (PRP It)) (VP (VBZ rains)) (. .))"]
    return made


def merged(doc):
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:4])
    return doc


STORED = {
    "as it is": lambda doc: doc,
    "copy": lambda doc: doc.copy(),
    "bytes": lambda doc: Doc(doc.vocab).from_bytes(doc.to_bytes()),
    "pickle": lambda doc: pickle.loads(pickle.dumps(doc)),
    "DocBin": lambda doc: next(DocBin(store_user_data=True, docs=[doc]).get_docs(doc.vocab)),
    "from_docs": lambda doc: Doc.from_docs([Doc(doc.vocab, words=["Oh"], sent_starts=[1]), doc]),
    "as_doc": lambda doc: doc[0:5].as_doc(copy_user_data=True),
    "JSON": lambda doc: Doc(doc.vocab).from_json(doc.to_json(underscore=["incparse"])),
    "merging": merged,
}


@pytest.mark.parametrize("way", STORED)
def test_they_survive(doc, way):
    tree = STORED[way](doc)._.trees[0]
    assert str(tree.with_empties()) == BRACKETS
    (trace,) = tree.empties
    assert trace.overt.text == "She"
    assert trace.overt.traces == (trace,)
    assert str(pickle.loads(pickle.dumps(tree)).with_empties()) == BRACKETS


def test_they_are_in_rows_and_json(doc):
    first, second = sentence_rows(doc)
    assert str(row_tree(first).with_empties()) == first["brackets"] == BRACKETS
    assert row_tree(second).phrases("NP-SBJ")[0].words == ("It",)
    assert [span["function"] for span in first["spans"]] == ["", "", "SBJ", "", "", "", ""]
    clause = trees_to_json(doc)[0]["tree"]["children"][0]
    assert clause["children"][0]["functions"] == ["SBJ"]
    (empty,) = clause["children"][1]["children"][1]["empties"]
    assert (empty["type"], empty["antecedent"]) == ("*", {"start": 0, "end": 3})


def test_matchers_find_them(doc):
    matcher = ConstituentMatcher(doc.vocab)
    matcher.add("clause without a subject of its own", ["S < (NP-SBJ < -NONE-)"])
    assert [match.span.text for match in matcher(doc)] == ["to go"]
