import spacy
from hypothesis import given
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_incparse.documents.gold import trees_to_docs
from spacy_incparse.treebanks.reader import parse_bracketed
from tests.strategies import normalised_trees

VOCAB = Vocab()
TREES = """
(TOP (S (`` ") (NP (DT The) (NN owl)) (VP (VBZ does) (RB n't) (VP (VB sleep))) ('' ") (. .)))
(TOP (S (NP (NNS Mice)) (VP (VBD ran)) (. .)))
(TOP (NP (NN Weather)))
"""


def docs(**options):
    return list(trees_to_docs(parse_bracketed(TREES), VOCAB, **options))


def test_a_doc_has_trees_tags_and_bounds():
    assert [len(doc) for doc in docs()] == [8, 3, 1]
    first, second = docs(n_sents=2)
    assert first._.trees + second._.trees == tuple(parse_bracketed(TREES))
    assert [sentence._.tree for sentence in first.sents] == list(first._.trees)
    assert [token.tag_ for token in first] == ["``", "DT", "NN", "VBZ", "RB", "VB", "''", ".", "NNS", "VBD", "."]
    assert [token.text for token in first[:2]] == ['"', "The"]


def test_spaces_are_unknown_unless_asked_for():
    assert all(doc.has_unknown_spaces for doc in docs())
    doc = docs(natural_spacing=True, n_sents=3)[0]
    assert not doc.has_unknown_spaces
    assert doc.text == '"The owl doesn\'t sleep". Mice ran. Weather'
    assert doc._.trees == tuple(parse_bracketed(TREES))


def test_a_docbin_with_user_data_keeps_the_trees(tmp_path):
    DocBin(docs=docs(), store_user_data=True).to_disk(tmp_path / "trees.spacy")
    read = DocBin().from_disk(tmp_path / "trees.spacy").get_docs(spacy.blank("en").vocab)
    assert [doc._.trees for doc in read] == [doc._.trees for doc in docs()]


@given(normalised_trees())
def test_any_tree_comes_back(tree):
    for natural_spacing in (False, True):
        doc = next(trees_to_docs([tree], VOCAB, natural_spacing=natural_spacing))
        assert doc._.trees == (tree,)
        assert doc[:]._.tree == tree
