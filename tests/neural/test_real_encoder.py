"""A published encoder, all-MiniLM-L6-v2 (docs/neural.md says where it is): pieces, vectors, and what is learned.

Its vectors are compared with the definition of BERT (Devlin et al. 2019) in plain NumPy.
"""

import json
import os
from pathlib import Path

import pytest
from spacy.training.batchers import minibatch_by_words

from spacy_incparse.neural.encoder import read_safetensors
from tests.neural.conftest import examples
from tests.neural.test_encoder_types import vectors
from tests.neural.tiny_encoder import needs_transformers, transformer_pipeline

VARIABLE = "INCPARSE_ENCODER"
N_HEADS = 12
LEAST_F = 0.65  # on held-out sentences, after one pass over 234 short ones
pytestmark = [
    needs_transformers,
    pytest.mark.slow,
    pytest.mark.skipif(VARIABLE not in os.environ, reason=f"needs the folder of all-MiniLM-L6-v2 in {VARIABLE}"),
]


@pytest.fixture(scope="module")
def folder():
    return Path(os.environ[VARIABLE])


@pytest.fixture(scope="module")
def nlp(folder):
    return transformer_pipeline(folder, bfloat16=False)


@pytest.fixture(scope="module")
def numbers(folder):
    """The number of each piece."""
    return json.loads((folder / "tokenizer.json").read_text(encoding="utf8"))["model"]["vocab"]


def pieces_of(nlp, doc):
    ((found,),) = nlp.get_pipe("transformer").model.get_ref("piece_encoder").predict([doc])  # one sentence
    return found.dataXd.tolist(), found.lengths.tolist()


def test_words_are_cut_into_the_right_pieces(nlp, numbers):
    pieces, lengths = pieces_of(nlp, nlp.make_doc("The unaffable CAT sat in a Café."))
    expected = "[CLS] the una ##ffa ##ble cat sat in a cafe . [SEP]".split()
    assert pieces == [numbers[piece] for piece in expected]
    assert lengths == [1, 1, 3, 1, 1, 1, 1, 1, 1, 1]
    assert (pieces[0], pieces[1], pieces[-1]) == (101, 1996, 102)  # as in every English uncased BERT


def test_vectors_are_those_of_the_definition(nlp, folder):
    doc = nlp.make_doc("The old lighthouse keeper, whose name nobody remembered, waved at every passing ship.")
    (found,) = nlp.get_pipe("transformer").predict([doc]).last_hidden_layer_states
    expected = vectors(read_safetensors(folder / "model.safetensors"), pieces_of(nlp, doc)[0], 0, N_HEADS)
    assert found.dataXd == pytest.approx(expected[1:-1], abs=1e-4)


def test_a_parser_on_it_learns_fast(nlp):
    optimizer = nlp.resume_training()
    optimizer.learn_rate = 0.0005
    for batch in minibatch_by_words(examples(nlp), 100):
        nlp.update(batch, sgd=optimizer, drop=0.1)
    scores = nlp.evaluate(examples(nlp, "sample-dev.mrg"))
    assert scores["const_f"] > LEAST_F
