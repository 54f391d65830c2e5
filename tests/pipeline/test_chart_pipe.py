import pytest
import spacy

from spacy_incparse.chart.parser import MAX_WORDS
from spacy_incparse.errors import IncparseError
from tests.small_pipeline import pipeline, train

SETTINGS = {"kind": "chart", "n_folds": 2, "tagger": {"n_epochs": 3}, "table_bits": 16}
TEXT = "The old owl saw the mice in the barn. She ate them with a spoon."


@pytest.fixture(scope="module")
def nlp():
    nlp = pipeline(training=SETTINGS)
    train(nlp, 1, limit=120)
    return nlp


def test_analyses_and_exact_confidences(nlp, tmp_path):
    nlp.to_disk(tmp_path)
    doc = spacy.load(tmp_path)(TEXT)
    assert [tree.source for tree in doc._.trees] == ["chart", "chart"]
    assert doc._.trees == nlp(TEXT)._.trees
    for tree, parses in zip(doc._.trees, doc._.parses(1000), strict=True):
        assert parses[0].tree == tree
        scored = nlp.get_pipe("incparse").score(doc, tree)
        assert (scored.score, scored.moves) == (pytest.approx(tree.score, rel=1e-4), ())
        assert sum(parse.probability for parse in parses) <= 1 + 1e-9
        assert tree.confidence == parses[0].probability
        for node in tree.phrases()[1:]:
            share = sum(
                parse.probability for parse in parses if (node.label, node.start, node.end) in parse.tree.spans()
            )
            assert share - 1e-9 <= node.confidence <= 1
            assert node.confidence >= tree.confidence - 1e-9


def test_confidences_of_sentences_in_pieces_are_unknown(nlp):
    doc = nlp("the old owl saw the mice " * 84)
    (tree,) = doc._.trees
    assert len(tree.words) == 504 > MAX_WORDS
    assert {node.confidence for node in tree.phrases()} == {None}
    assert [[parse.probability for parse in parses] for parses in doc._.parses(3)] == [[None]]


def test_what_it_cannot_do_is_told(nlp):
    with pytest.raises(IncparseError, match="a chart parser only parses whole sentences, not word by word"):
        nlp.get_pipe("incparse").start()
    with pytest.raises(IncparseError, match="a chart parser cannot be fine-tuned"):
        pipeline(training=SETTINGS).from_bytes(nlp.to_bytes()).get_pipe("incparse").update([])
