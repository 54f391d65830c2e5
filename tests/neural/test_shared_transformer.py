"""A pipeline of tagger and trees on a small transformer, trained by `spacy train`."""

import pytest
import spacy
from spacy.cli.train import train
from thinc.api import Adam

from spacy_incparse.cli.train_neural import neural_config
from spacy_incparse.errors import IncparseError
from tests.neural.conftest import trees
from tests.neural.test_shared_layers import TEXT, read, write_corpus
from tests.neural.tiny_encoder import WIDTH, needs_transformers

pytestmark = [needs_transformers, pytest.mark.slow]
LISTENER = {
    "@architectures": "spacy-curated-transformers.LastTransformerLayerListener.v1",
    "width": WIDTH,
    "upstream": "transformer",
    "pooling": {"@layers": "reduce_mean.v1"},
}


@pytest.fixture(scope="module")
def folder(encoder_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("transformer")
    write_corpus(folder / "train.spacy", "sample-train.mrg", 60)
    write_corpus(folder / "dev.spacy", "sample-dev.mrg", 20)
    config = neural_config(encoder=str(encoder_folder))
    config["components"]["incparse_neural"]["learn_rate_scale"] = 1.0  # the encoder is not pre-trained
    config["components"]["incparse_neural"]["model"]["tok2vec"] = LISTENER
    config["nlp"]["pipeline"] = ["senter", "transformer", "tagger", "incparse_neural"]
    tagger = {"@architectures": "spacy.Tagger.v2", "tok2vec": LISTENER}
    config["components"]["tagger"] = {"factory": "tagger", "model": tagger}
    config["paths"] |= {"train": str(folder / "train.spacy"), "dev": str(folder / "dev.spacy")}
    config["training"] |= {"max_epochs": 6, "eval_frequency": 24, "score_weights": {"const_f": 1.0}}
    config["training"]["batcher"]["size"] = 150
    config["training"]["optimizer"] |= {"learn_rate": 0.003, "use_averages": False}
    config["training"]["before_to_disk"] = None
    config.to_disk(folder / "config.cfg")
    train(folder / "config.cfg", folder / "out")
    return folder


@pytest.fixture
def nlp(folder):
    return spacy.load(folder / "out" / "model-best")


def test_trees_are_the_same_when_loaded_again_and_in_other_processes(nlp, tmp_path):
    texts = [TEXT, "", "It rained.", TEXT] * 2
    expected = trees(nlp.pipe(texts))
    nlp.to_disk(tmp_path)
    assert trees(spacy.load(tmp_path).pipe(texts, batch_size=3)) == expected
    assert trees(spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes()).pipe(texts)) == expected
    assert trees(nlp.pipe(texts, n_process=2, batch_size=3)) == expected


def test_a_frozen_transformer_says_how_to_freeze_it(nlp, folder):
    found = read(nlp, folder)[:5]
    with pytest.raises(IncparseError, match=r"incparse_neural: .* set frozen = true in its own settings"):
        nlp.update(found, exclude=["transformer", "tagger"], annotates=["transformer"], sgd=Adam(0.001))
    nlp.get_pipe("transformer").frozen = True
    nlp.update(found, exclude=["tagger"], annotates=["senter"], sgd=Adam(0.001))
