import pickle

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from thinc.api import Model, Ragged

from spacy_incparse.neural.encoder import PREPROCESS, UNKNOWN, create_sentence_pieces, join_sentences
from tests.neural.conftest import examples
from tests.neural.tiny_encoder import learned, needs_transformers, transformer_pipeline

BEGIN, END = 1, 2


class Output:
    def __init__(self, outputs):
        self.all_outputs = outputs


def encode(model, texts, is_train):
    """A number for each character of a token, between markers; none for a space."""
    found = []
    for text in texts:
        tokens = ["" if token.is_space else token.text for token in text]
        numbers = [BEGIN, *(ord(char) for token in tokens for char in token), END]
        found.append(Ragged(np.array(numbers, "i"), np.array([1, *map(len, tokens), 1], "i")))
    return found, lambda gradient: []


def cut(model, texts, is_train):
    """Two layers, in which a piece's vector depends on the length of its text."""
    rows = [np.stack([text.dataXd, 0 * text.dataXd + len(text.dataXd)], axis=1).astype("f") for text in texts]
    output = Output([[Ragged(x, text.lengths), Ragged(-x, text.lengths)] for x, text in zip(rows, texts, strict=True)])

    def backprop(gradient):
        model.attrs["gradient"] = gradient
        return []

    return output, backprop


def doc_of(*sentences, **settings):
    words = [word for sentence in sentences for word in sentence.split("_")]
    starts = [i == 0 for sentence in sentences for i in range(len(sentence.split("_")))]
    return Doc(spacy.blank("en").vocab, words=words, sent_starts=starts, **settings)


@pytest.fixture
def layers():
    return create_sentence_pieces(Model("pieces", encode)), join_sentences(Model("cut", cut))


def vectors(layers, docs, is_train=False):
    pieces, _ = layers[0](docs, is_train)
    return layers[1](pieces, is_train)


def test_long_words_are_unknown():
    """So that they take no time; parts between punctuation may be as long as BERT's tokenizer has them."""
    model = Model("pieces", encode, attrs={PREPROCESS: lambda token: token.split("-")})
    split = create_sentence_pieces(model).attrs[PREPROCESS]
    long, longer = "a" * 100, "b" * 101
    assert split(f"{long}-{longer}-c") == [long, UNKNOWN, "c"]
    assert split("-".join(["x"] * 500)) == ["x"] * 500
    assert split("-".join(["x"] * 501)) == [UNKNOWN]


@needs_transformers
def test_a_pipeline_with_long_words(encoder_folder):
    nlp = transformer_pipeline(encoder_folder, limit=5)
    doc = nlp(Doc(nlp.vocab, words=["cat", "a" * 100_000, "cat" * 34], sent_starts=[True, False, False]))
    assert len(doc._.trees) == 1
    assert doc._.trf_data.last_hidden_layer_state.lengths.tolist() == [1, 1, 1]
    assert [str(tree) for tree in pickle.loads(pickle.dumps(nlp))(doc.copy())._.trees] == [str(doc._.trees[0])]


def test_vectors_do_not_depend_on_other_sentences(layers):
    parts = ["The_owl", " _sleeps_on", "here"]
    together = vectors(layers, [doc_of(*parts)])[0].all_outputs
    alone = vectors(layers, [doc_of(part) for part in parts])[0].all_outputs
    for joined, *single in zip(*together, *alone, strict=False):
        rows = [layer.dataXd[1:-1] for layer in single]
        assert (joined.dataXd[1:-1] == np.concatenate(rows)).all()
        assert joined.dataXd[0].tolist() == single[0].dataXd[0].tolist()
        assert joined.dataXd[-1].tolist() == single[-1].dataXd[-1].tolist()
        assert joined.lengths.tolist() == [1, 3, 3, 0, 6, 2, 4, 1]


def test_each_sentence_has_its_part_of_the_gradient(layers):
    docs = [doc_of("The_owl", "is_here", "."), doc_of("Good")]
    output, backprop = vectors(layers, docs, is_train=True)
    backprop([[Ragged(x.dataXd * 10, x.lengths) for x in doc] for doc in output.all_outputs])
    gradient = layers[1].attrs["gradient"]
    sentences = [doc_of("The_owl"), doc_of("is_here"), doc_of("."), doc_of("Good")]
    expected = vectors(layers, sentences)[0].all_outputs
    between = {0: [-1], 1: [0, -1], 2: [0], 3: []}  # markers that the Doc's vectors lack
    for number, markers in between.items():
        for found, layer in zip(gradient[number], expected[number], strict=True):
            rows = layer.dataXd * 10
            rows[markers] = 0
            assert (found.dataXd == rows).all()


@pytest.mark.parametrize("n_sentences", [0, 1])
def test_docs_without_boundaries_are_one_sentence(layers, n_sentences):
    doc = Doc(spacy.blank("en").vocab, words=["The", "owl"] * n_sentences)
    (group,), _ = layers[0]([doc], False)
    assert [len(pieces.dataXd) for pieces in group] == [2 + 6 * n_sentences]


@needs_transformers
@pytest.mark.slow
def test_trees_of_a_doc_are_those_of_its_sentences(encoder_folder, tmp_path):
    """More sentences than fit into a window; the pipeline is saved and loaded, which keeps the encoder as it is."""
    learned(transformer_pipeline(encoder_folder, bfloat16=False)).to_disk(tmp_path / "model")
    nlp = spacy.load(tmp_path / "model")
    sentences = [example.reference for example in examples(nlp, "sample-dev.mrg", 40)]
    words = [token.text for doc in sentences for token in doc]
    starts = [token.i == 0 for doc in sentences for token in doc]
    together = nlp(Doc(nlp.vocab, words=words, sent_starts=starts))
    alone = nlp.pipe(Doc(nlp.vocab, words=[token.text for token in doc]) for doc in sentences)
    assert [str(tree) for tree in together._.trees] == [str(doc._.trees[0]) for doc in alone]
