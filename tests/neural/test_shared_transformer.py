"""A pipeline of tagger, parser, ner and trees on a small transformer, trained by `spacy train`."""

import numpy as np
import pytest
import spacy
from spacy.cli.train import train
from spacy.tokens import Doc, DocBin, Span
from thinc.api import Adam

from spacy_incparse.cli.train_neural import neural_config
from spacy_incparse.errors import IncparseError
from spacy_incparse.pipeline.registered import TreebankReader
from tests.neural.conftest import MODEL
from tests.neural.test_shared_layers import TEXT, read, trees
from tests.neural.tiny_encoder import WIDTH, needs_transformers
from tests.small_pipeline import ASSETS

pytestmark = [needs_transformers, pytest.mark.slow]
LAYER = "transformer"
LISTENER = {
    "@architectures": "spacy-curated-transformers.LastTransformerLayerListener.v1",
    "width": WIDTH,
    "upstream": LAYER,
    "pooling": {"@layers": "reduce_mean.v1"},
}
TRANSITIONS = {
    "@architectures": "spacy.TransitionBasedParser.v2",
    "extra_state_tokens": False,
    "hidden_width": 32,
    "maxout_pieces": 2,
    "use_upper": True,
}


def add_annotation(doc):
    """Entities and dependencies that can be learned: each noun is a thing, and all words depend on the second."""
    doc.ents = [Span(doc, token.i, token.i + 1, "THING") for token in doc if token.tag_.startswith("NN")]
    labels = [doc.vocab.strings.add(label) for label in ("ROOT", "next")]
    root = len(doc) > 1
    heads = [((root - i) % 2**64, labels[i != root]) for i in range(len(doc))]  # distances in 64 bits
    doc.from_array(["HEAD", "DEP"], np.array(heads, "uint64"))


def write_corpus(path, name, limit):
    nlp = spacy.blank("en")
    docs = [example.reference for example in TreebankReader(ASSETS / name, limit=limit, natural_spacing=True)(nlp)]
    for doc in docs:
        add_annotation(doc)
    DocBin(store_user_data=True, docs=docs).to_disk(path)


def base_config(encoder):
    """The shipped config, with a small transformer."""
    config = neural_config(encoder=str(encoder))
    config["components"]["incparse_neural"]["learn_rate_scale"] = 1.0  # the encoder is not pre-trained
    config["components"]["incparse_neural"]["model"]["tok2vec"] = LISTENER
    return config


def shared_config(folder, encoder):
    """The shipped config with spaCy's own components beside the trees."""
    config = base_config(encoder)
    config["nlp"]["pipeline"] = ["sentencizer", LAYER, "tagger", "parser", "ner", "incparse_neural"]
    tagger = {"@architectures": "spacy.Tagger.v2", "tok2vec": LISTENER}
    config["components"]["tagger"] = {"factory": "tagger", "model": tagger}
    for name in ("parser", "ner"):
        model = TRANSITIONS | {"state_type": name, "tok2vec": LISTENER}
        config["components"][name] = {"factory": name, "model": model}
    return short_training(config, folder, 12)


def short_training(config, folder, max_epochs):
    config["paths"] |= {"train": str(folder / "train.spacy"), "dev": str(folder / "dev.spacy")}
    config["training"] |= {"max_epochs": max_epochs, "eval_frequency": 24, "score_weights": {"const_f": 1.0}}
    config["training"]["batcher"]["size"] = 150
    config["training"]["optimizer"] |= {"learn_rate": 0.003, "use_averages": False}
    config["training"]["before_to_disk"] = None
    return config


def spacy_train(config, folder, name):
    """Do as `spacy train`, and return the folder of the best pipeline."""
    path = folder / f"{name}.cfg"
    config.to_disk(path)
    train(path, folder / name)
    return folder / name / "model-best"


@pytest.fixture(scope="module")
def folder(encoder_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp(LAYER)
    write_corpus(folder / "train.spacy", "sample-train.mrg", 120)
    write_corpus(folder / "dev.spacy", "sample-dev.mrg", 20)
    spacy_train(shared_config(folder, encoder_folder), folder, "out")
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


def test_trees_survive_a_docbin_and_analyses_need_the_vectors(nlp):
    doc = nlp(TEXT)
    assert len(doc._.parses(2)[0]) == 2
    doc.tensor = np.zeros(0, "float32")
    if doc.has_extension("trf_data"):
        doc._.trf_data = None
    (again,) = DocBin(store_user_data=True, docs=[doc]).get_docs(nlp.vocab)
    assert trees([again]) == trees([nlp(TEXT)])
    for without in (Doc(nlp.vocab).from_bytes(doc.to_bytes()), again):
        with pytest.raises(IncparseError, match=r"the Doc 'The cat .* has no word vectors"):
            without._.parses(2, nlp=nlp)


def test_components_can_be_sourced_and_frozen_in_a_config(nlp, folder, encoder_folder):
    """Trees are learned anew beside the others, on their layer; the old trees stay too.

    A transformer, of which spacy-curated-transformers wants gradients, goes on learning, and the frozen components have
    its old weights for themselves.
    """
    source = {"source": str(folder / "out" / "model-best")}
    alone = source | {"replace_listeners": ["model.tok2vec"]}
    config = base_config(encoder_folder)
    config["nlp"]["pipeline"] = ["sentencizer", LAYER, "tagger", "old_trees", "incparse_neural"]
    config["initialize"]["components"] = {}
    config["components"] |= {LAYER: source, "tagger": alone, "old_trees": alone | {"component": "incparse_neural"}}
    config["components"]["incparse_neural"]["model"] = MODEL | {"tok2vec": LISTENER}
    config["training"] |= {"frozen_components": ["tagger", "old_trees"], "annotating_components": ["tagger"]}
    again = spacy.load(spacy_train(short_training(config, folder, 6), folder, "sourced"))
    with again.select_pipes(disable="incparse_neural"):
        assert str(again(TEXT)._.trees[0]) == str(nlp(TEXT)._.trees[0])
        assert [token.tag_ for token in again(TEXT)] == [token.tag_ for token in nlp(TEXT)]
    assert again.evaluate(read(again, folder))["const_f"] > 0


def test_a_frozen_transformer_says_how_to_freeze_it(nlp, folder):
    found = read(nlp, folder)[:5]
    with pytest.raises(IncparseError, match=r"incparse_neural: .* set frozen = true in its own settings"):
        nlp.update(
            found, exclude=["transformer", "tagger", "parser", "ner"], annotates=["transformer"], sgd=Adam(0.001)
        )
    nlp.get_pipe("transformer").frozen = True
    nlp.update(found, exclude=["tagger", "parser", "ner"], annotates=["sentencizer"], sgd=Adam(0.001))
