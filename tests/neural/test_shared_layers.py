"""A pipeline of tagger, ner and trees on one layer of word vectors, trained by spaCy's own training loop."""

import io
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin, Span
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config

from spacy_incparse.pipeline.readers import TreebankReader
from tests.neural.conftest import TOK2VEC
from tests.small_pipeline import ASSETS

CONFIG = Path(__file__).parents[2] / "configs" / "neural.cfg"
PIPES = ["sentencizer", "tok2vec", "tagger", "ner", "incparse_chart"]
LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": TOK2VEC["width"], "upstream": "tok2vec"}
TEXT = "The cat slept on the sofa."
# The floors are far above what the untrained pipeline has, and below what this short training reaches.
FLOORS = {"tag_acc": 0.6, "ents_f": 0.5, "const_f": 0.3}


def add_annotation(doc):
    """Names that can be learned: each NNP is one."""
    names = [token.i for token in doc if token.tag_ == "NNP"]
    doc.ents = [Span(doc, i, i + 1, "NAME") for i in names]


def write_corpus(path, name, limit):
    nlp = spacy.blank("en")
    docs = [example.reference for example in TreebankReader(ASSETS / name, limit=limit, natural_spacing=True)(nlp)]
    for doc in docs:
        add_annotation(doc)
    DocBin(store_user_data=True, docs=docs).to_disk(path)


def shared_config(folder):
    """The shipped config with a shared layer and spaCy's own components."""
    config = load_config(CONFIG)
    config["nlp"]["pipeline"] = PIPES
    config["components"]["tok2vec"] = {"factory": "tok2vec", "model": TOK2VEC}
    for name in ("tagger", "ner"):
        config["components"][name] = {"factory": name, "model": {"tok2vec": LISTENER}}
    config["components"]["tagger"]["model"]["@architectures"] = "spacy.Tagger.v2"
    config["components"]["ner"]["model"] |= {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "ner",
        "extra_state_tokens": False,
        "hidden_width": 32,
        "maxout_pieces": 2,
        "use_upper": True,
    }
    config["components"]["incparse_chart"]["model"]["tok2vec"] = LISTENER
    config["paths"] |= {"train": str(folder / "train.spacy"), "dev": str(folder / "dev.spacy")}
    config["training"] |= {"max_epochs": 16, "eval_frequency": 60, "score_weights": {"const_f": 1.0}}
    config["training"]["batcher"]["size"] = 150
    config["training"]["optimizer"] |= {"learn_rate": 0.01, "use_averages": False}
    config["training"]["before_to_disk"] = None
    return config


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    write_corpus(folder / "train.spacy", "sample-train.mrg", 120)
    write_corpus(folder / "dev.spacy", "sample-dev.mrg", 20)
    nlp = init_nlp(spacy.util.load_model_from_config(shared_config(folder), auto_fill=True).config)
    (folder / "out").mkdir()
    train(nlp, folder / "out", stdout=io.StringIO(), stderr=io.StringIO())
    return folder


@pytest.fixture
def nlp(folder):
    return spacy.load(folder / "out" / "model-best")


def read(nlp, folder, name="dev"):
    return list(TreebankReader(folder / f"{name}.spacy", limit=20)(nlp))


@pytest.mark.slow
def test_all_components_learn(nlp, folder):
    scores = nlp.evaluate(read(nlp, folder))
    assert {name: scores[name] > floor for name, floor in FLOORS.items()} == dict.fromkeys(FLOORS, True), {
        name: scores[name] for name in FLOORS
    }


@pytest.mark.slow
def test_a_component_can_have_the_layer_for_itself(nlp):
    before = str(nlp(TEXT)._.trees[0])
    nlp.replace_listeners("tok2vec", "incparse_chart", ["model.tok2vec"])
    assert str(nlp(TEXT)._.trees[0]) == before
    alone = spacy.blank("en")
    alone.add_pipe("sentencizer")
    alone.add_pipe("incparse_chart", source=nlp)
    assert str(alone(TEXT)._.trees[0]) == before


@pytest.mark.slow
def test_the_trees_may_be_frozen_while_others_learn(nlp, folder):
    component = nlp.get_pipe("incparse_chart")
    before = component.model.get_ref("head").to_bytes()
    found = read(nlp, folder, "train")
    optimizer = nlp.resume_training()
    losses = nlp.update(found, sgd=optimizer, exclude=["incparse_chart"], losses={})
    assert losses["tagger"] > 0
    assert component.model.get_ref("head").to_bytes() == before


@pytest.mark.slow
def test_others_may_be_frozen_while_trees_learn(nlp, folder):
    """The shared layer only annotates: its vectors are on the Docs."""
    found = read(nlp, folder, "train")
    optimizer = nlp.resume_training()
    frozen = ["tok2vec", "tagger", "ner"]
    before = nlp.get_pipe("tok2vec").model.to_bytes()
    losses = [
        nlp.update(found, sgd=optimizer, exclude=frozen, annotates=["tok2vec"], losses={})["incparse_chart"]
        for _ in range(5)
    ]
    assert losses[-1] < losses[0]
    assert nlp.get_pipe("tok2vec").model.to_bytes() == before


@pytest.mark.slow
def test_a_batch_without_trees_teaches_the_others(nlp):
    doc = nlp.make_doc("It rained")
    reference = doc.copy()
    for token in reference:
        token.tag_ = "NN"
    before = nlp.get_pipe("tok2vec").model.to_bytes()
    nlp.update([spacy.training.Example(doc, reference)], sgd=nlp.resume_training())
    assert nlp.get_pipe("tok2vec").model.to_bytes() != before
