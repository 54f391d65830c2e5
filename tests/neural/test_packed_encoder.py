"""A transformer without PyTorch: the same vectors and trees as with it."""

import numpy as np
import pytest
import spacy
from typer.testing import CliRunner

from spacy_incparse.cli import app
from spacy_incparse.cli.recipe import save_pipeline
from spacy_incparse.errors import ModelError
from spacy_incparse.neural.packed import SCALE, create_packed_encoder, export_encoder, packed
from tests.neural.test_encoder_types import write_mpnet
from tests.neural.tiny_encoder import learned, needs_transformers, transformer_pipeline, write_encoder

TEXTS = [
    "The cat saw a dog.",
    "",
    "A\n\nnaïve Mr. O'Brien-Smith's co-op: 'yes' -- 3.5% of U.S. firms!",
    "the " * 150 + "cat slept.",
    "x" * 1200 + " a" + "b" * 150 + " \0.",
]


@pytest.fixture(scope="module", params=[write_encoder, write_mpnet], ids=["bert", "mpnet"])
def trained(request, tmp_path_factory):
    written = request.param(tmp_path_factory.mktemp("encoder"))
    folder = written if request.param is write_encoder else written[0]
    return learned(transformer_pipeline(folder, bfloat16=False), n_passes=4)


@needs_transformers
def test_vectors_are_those_of_pytorch(trained):
    docs = list(trained.pipe(TEXTS))
    layer = export_encoder(trained.get_pipe("transformer").model, in_8_bits=False)
    pooled = trained.get_pipe("incparse_neural").model.get_ref("tok2vec").predict(docs)
    for doc, expected in zip(docs, pooled, strict=True):
        if len(doc):
            found = [layer.predict([sentence.as_doc()])[0] for sentence in doc.sents]
            assert np.abs(np.concatenate(found) - expected).max() < 1e-4


def encoder_of(nlp):
    return nlp.get_pipe("incparse_neural").model.get_ref("tok2vec")


@needs_transformers
@pytest.mark.parametrize("bits", [[], ["--int8"]])
def test_exported_pipelines_parse_alike(trained, tmp_path, bits):
    save_pipeline(trained, tmp_path / "model")
    run = CliRunner().invoke(app, ["export", str(tmp_path / "model"), str(tmp_path / "out"), *bits])
    assert run.exit_code == 0, run.output
    nlp = spacy.load(tmp_path / "out")
    assert "transformer" not in nlp.pipe_names
    docs = [doc for doc in nlp.pipe(TEXTS, batch_size=2) if len(doc)]
    if not bits:
        expected = [str(tree) for doc in trained.pipe(TEXTS) if len(doc) for tree in doc._.trees]
        assert [str(tree) for doc in docs for tree in doc._.trees] == expected
    again = spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert [str(doc._.trees) for doc in docs] == [str(again(doc.text)._.trees) for doc in docs]
    before = {name: array.copy() for name, array in encoder_of(nlp).attrs["weights"].items()}
    weights_id = nlp.get_pipe("incparse_neural").weights_id
    learned(nlp, n_passes=2, limit=10)  # the layers above
    assert all((encoder_of(nlp).attrs["weights"][name] == array).all() for name, array in before.items())
    assert nlp.get_pipe("incparse_neural").weights_id != weights_id
    same = CliRunner().invoke(app, ["export", str(tmp_path / "model"), str(tmp_path / "out")])
    assert same.exit_code == 1
    assert f"{tmp_path / 'out'} exists" in same.output


def test_what_cannot_be_exported_is_said(tmp_path):
    run = CliRunner().invoke(app, ["export", "en", str(tmp_path / "out")])
    assert run.exit_code == 1
    assert "incparse_neural" in run.output


def test_a_layer_without_weights_is_an_error():
    with pytest.raises(ModelError, match="export"):
        create_packed_encoder(8).predict([spacy.blank("en")("A cat")])


def test_rows_in_8_bits():
    rows = np.random.default_rng(0).normal(size=(50, 30)) * np.logspace(-3, 3, 50)[:, None]
    rows[7] = 0
    found = packed({"a": rows, "b": rows[0]}, in_8_bits=True)
    assert found["a"].dtype == np.int8
    error = np.abs(found["a"] * found["a" + SCALE] - rows)
    assert (error <= np.abs(rows).max(axis=1, keepdims=True) / 254 * 1.001).all()
    assert (found["b"] == rows[0].astype(np.float32)).all()
