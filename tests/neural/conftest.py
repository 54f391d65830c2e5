"""A small neural pipeline that is really trained, on the sample treebank; the tests that change it take a copy."""

import pytest
import spacy
from spacy.training.batchers import minibatch_by_words
from spacy.util import fix_random_seed

from spacy_incparse.pipeline.registered import TreebankReader
from tests.neural.tiny_encoder import write_encoder
from tests.small_pipeline import ASSETS

TOK2VEC = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "pretrained_vectors": None,
    "width": 48,
    "depth": 2,
    "embed_size": 500,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
}
MODEL = {"@architectures": "spacy_incparse.SpanScorer.v1", "hidden_width": 64, "tok2vec": TOK2VEC}
N_PASSES = 10
TEXT = "The cat slept on the sofa. She thinks that the letters are in the box."


def untrained(**config):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("incparse_neural", config={"model": MODEL, "set_tags": True} | config)
    return nlp


def examples(nlp, name="sample-train.mrg", limit=0):
    return list(TreebankReader(ASSETS / name, limit=limit)(nlp))


def trees(docs):
    return [[str(tree) for tree in doc._.trees] for doc in docs]


def learn(nlp, found, n_passes, drop=0.1, words=200):
    """Initialize a pipeline and train it; return the losses of each pass."""
    fix_random_seed(0)
    optimizer = nlp.initialize(lambda: found)
    optimizer.learn_rate = 0.005
    all_losses = []
    for _ in range(n_passes):
        losses = {}
        for batch in minibatch_by_words(found, words):
            nlp.update(batch, sgd=optimizer, losses=losses, drop=drop)
        all_losses.append(losses)
    return all_losses


@pytest.fixture(scope="session")
def losses_and_pipeline():
    nlp = untrained()
    return learn(nlp, examples(nlp), N_PASSES), nlp


@pytest.fixture(scope="session")
def pipeline_bytes(losses_and_pipeline):
    return losses_and_pipeline[1].to_bytes()


@pytest.fixture(scope="session")
def model(losses_and_pipeline, tmp_path_factory):
    """The folder of the trained pipeline."""
    folder = tmp_path_factory.mktemp("base") / "base"
    losses_and_pipeline[1].to_disk(folder)
    return folder


@pytest.fixture
def nlp(pipeline_bytes):
    """A copy of the trained pipeline."""
    return untrained().from_bytes(pipeline_bytes)


@pytest.fixture
def component(nlp):
    return nlp.get_pipe("incparse_neural")


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory):
    """The folder of a small transformer with random weights, which is read with PyTorch."""
    return write_encoder(tmp_path_factory.mktemp("encoder"))
