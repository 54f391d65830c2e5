"""A transformer in single precision and in bfloat16: trees and scores on all batch sizes, to the stated tolerance."""

import pytest
import spacy

from spacy_incparse.neural import encoder as sorted_spans
from tests.neural.conftest import examples, untrained
from tests.neural.tiny_encoder import learned, needs_transformers, transformer_pipeline

TOLERANCES = {False: 1e-3, True: 1.0}  # in single precision and in bfloat16, as docs/neural.md says
pytestmark = [needs_transformers, pytest.mark.slow]


@pytest.fixture(scope="module")
def saved(encoder_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("half") / "pipeline"
    learned(transformer_pipeline(encoder_folder)).to_disk(folder)
    return folder


@pytest.fixture
def nlp(saved):
    return spacy.load(saved)


@pytest.fixture
def compute_in_bfloat16(monkeypatch):
    """A function that says whether the processor computes in bfloat16; without instructions for that it is emulated."""
    return lambda answer: monkeypatch.setattr(sorted_spans, "computes_in_bfloat16", lambda: answer)


def parsed(nlp, batch_size=60):
    texts = [example.reference.text for example in examples(nlp, "sample-dev.mrg")]
    return list(nlp.pipe(texts, batch_size=batch_size))


def compared(found, expected):
    """The differences of scores where trees are the same, and the number of other trees."""
    pairs = [
        pair for docs in zip(found, expected, strict=True) for pair in zip(*(d._.trees for d in docs), strict=True)
    ]
    same = [abs(a.score - b.score) for a, b in pairs if str(a) == str(b)]
    return same, len(pairs) - len(same)


@pytest.mark.parametrize("bfloat16", [False, True])
@pytest.mark.parametrize("batch_size", [1, 7, 200])
def test_trees_do_not_depend_on_the_size_of_batches(nlp, compute_in_bfloat16, bfloat16, batch_size):
    compute_in_bfloat16(bfloat16)
    differences, n_other = compared(parsed(nlp, batch_size), parsed(nlp))
    assert max(differences) <= TOLERANCES[bfloat16]
    assert n_other <= bfloat16  # one tree, where two are nearly equally good


def test_a_tree_is_known_when_sums_are_rounded_in_another_way(nlp, compute_in_bfloat16):
    """On another processor, or in another batch, for a parser that does not read the vectors on the Doc."""
    weights = nlp.get_pipe("incparse_neural").model.get_ref("head").get_ref("labels").get_param("W")
    weights *= 10  # scores as large as those of a parser that was trained for long
    nlp.replace_listeners("transformer", "incparse_neural", ["model.tok2vec"])
    compute_in_bfloat16(True)
    docs = parsed(nlp)
    compute_in_bfloat16(False)
    again = parsed(nlp)
    differences, n_other = compared(again, docs)
    assert 2e-2 < max(differences) <= TOLERANCES[True]
    assert n_other <= 0.1 * len(docs)
    for doc, other in zip(docs, again, strict=True):
        if trees_of(doc) == trees_of(other):
            assert [str(parses[0].tree) for parses in doc._.parses(2)] == trees_of(doc)


def trees_of(doc):
    return [str(tree) for tree in doc._.trees]


def test_parsers_on_a_transformer_have_the_larger_tolerance(nlp):
    component = nlp.get_pipe("incparse_neural")
    assert component.decoder.parser.score_tolerance == TOLERANCES[True]
    component.search = {"threshold": 0.4}
    assert component.decoder.parser.score_tolerance == TOLERANCES[True]
    other = untrained()
    found = examples(other, limit=5)
    other.initialize(lambda: found)
    assert TOLERANCES[False] < other.get_pipe("incparse_neural").decoder.parser.score_tolerance < TOLERANCES[True]
