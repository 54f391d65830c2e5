"""A pipeline of tagger, parser, ner and trees on one layer of word vectors, trained by `spacy train`."""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.cli.package import package
from spacy.cli.train import train
from spacy.tokens import DocBin, Span
from spacy.util import load_config
from thinc.api import Adam

from spacy_incparse.pipeline.readers import TreebankReader
from tests.neural.conftest import MODEL, TOK2VEC
from tests.small_pipeline import ASSETS

CONFIG = Path(__file__).parents[2] / "configs" / "neural.cfg"
PIPES = ["sentencizer", "tok2vec", "tagger", "parser", "ner", "incparse_chart"]
LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": TOK2VEC["width"], "upstream": "tok2vec"}
TRANSITIONS = {
    "@architectures": "spacy.TransitionBasedParser.v2",
    "extra_state_tokens": False,
    "hidden_width": 32,
    "maxout_pieces": 2,
    "use_upper": True,
    "tok2vec": LISTENER,
}
TEXT = "The cat slept on the sofa."
# The floors are far above what the untrained pipeline has, and below what this short training reaches.
FLOORS = {"tag_acc": 0.6, "dep_uas": 0.5, "ents_f": 0.5, "const_f": 0.3}


def add_annotation(doc):
    """Names and dependencies that can be learned: each NNP is a name, and all words depend on the second."""
    doc.ents = [Span(doc, token.i, token.i + 1, "NAME") for token in doc if token.tag_ == "NNP"]
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


def shared_config(folder):
    """The shipped config with a shared layer and spaCy's own components."""
    config = load_config(CONFIG)
    config["nlp"]["pipeline"] = PIPES
    config["components"]["tok2vec"] = {"factory": "tok2vec", "model": TOK2VEC}
    tagger = {"@architectures": "spacy.Tagger.v2", "tok2vec": LISTENER}
    config["components"]["tagger"] = {"factory": "tagger", "model": tagger}
    for name in ("parser", "ner"):
        config["components"][name] = {"factory": name, "model": TRANSITIONS | {"state_type": name}}
    config["components"]["incparse_chart"]["model"]["tok2vec"] = LISTENER
    return short_training(config, folder, 12)


def short_training(config, folder, max_epochs):
    config["paths"] |= {"train": str(folder / "train.spacy"), "dev": str(folder / "dev.spacy")}
    config["training"] |= {"max_epochs": max_epochs, "eval_frequency": 24, "score_weights": {"const_f": 1.0}}
    config["training"]["batcher"]["size"] = 150
    config["training"]["optimizer"] |= {"learn_rate": 0.01, "use_averages": False}
    config["training"]["before_to_disk"] = None
    return config


def spacy_train(config, folder, name):
    """Do as `spacy train`, and return the folder of the best pipeline."""
    path = folder / f"{name}.cfg"
    config.to_disk(path)
    train(path, folder / name)
    return folder / name / "model-best"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    write_corpus(folder / "train.spacy", "sample-train.mrg", 120)
    write_corpus(folder / "dev.spacy", "sample-dev.mrg", 20)
    spacy_train(shared_config(folder), folder, "out")
    return folder


@pytest.fixture
def nlp(folder):
    return spacy.load(folder / "out" / "model-best")


def weights(nlp, name):
    """The weights of a component, by place and name; `to_bytes` would also have the dropout."""
    layers = enumerate(nlp.get_pipe(name).model.walk())
    return {
        (place, name): layer.get_param(name).tobytes()
        for place, layer in layers
        for name in layer.param_names
        if layer.has_param(name)
    }


def learn_one_batch(nlp, found, exclude=()):
    """Do as the loop of `spacy train`, but without weight decay: only gradients change weights."""
    losses, optimizer = nlp.update(found, sgd=False, exclude=exclude, losses={}), Adam(0.001, L2=0)
    for name, component in nlp.pipeline:
        if name not in exclude and hasattr(component, "finish_update"):
            component.finish_update(optimizer)
    return losses


def read(nlp, folder, name="dev"):
    return list(TreebankReader(folder / f"{name}.spacy", limit=20)(nlp))


@pytest.mark.slow
def test_all_components_learn(nlp, folder):
    scores = nlp.evaluate(read(nlp, folder))
    assert {name: scores[name] > floor for name, floor in FLOORS.items()} == dict.fromkeys(FLOORS, True), {
        name: scores[name] for name in FLOORS
    }


@pytest.mark.slow
def test_it_can_be_packaged_and_installed_elsewhere(nlp, folder, monkeypatch):
    pytest.importorskip("setuptools")
    expected, target = str(nlp(TEXT)._.trees[0]), folder / "installed"
    (folder / "packages").mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # `spacy package` leaves files open
        package(folder / "out" / "model-best", folder / "packages", name="shared", create_sdist=False)
    (source,) = (folder / "packages").iterdir()
    # These commands need no network and no package `wheel`, as pip does.
    commands = ["--quiet", "install_lib", "--install-dir", target, "install_egg_info", "--install-dir", target]
    subprocess.run([sys.executable, "setup.py", *map(str, commands)], cwd=source, check=True, capture_output=True)
    monkeypatch.syspath_prepend(target)
    installed = spacy.load("en_shared")
    assert Path(sys.modules["en_shared"].__file__).is_relative_to(target)
    assert str(installed(TEXT)._.trees[0]) == expected


@pytest.mark.slow
def test_components_can_be_sourced_and_frozen_in_a_config(nlp, folder):
    """Trees are learned anew beside the others, on their layer, which only annotates; the old trees stay too."""
    source = {"source": str(folder / "out" / "model-best")}
    config = load_config(CONFIG)
    config["nlp"]["pipeline"] = ["sentencizer", "tok2vec", "tagger", "old_trees", "incparse_chart"]
    config["components"]["tok2vec"] = config["components"]["tagger"] = source
    config["components"]["old_trees"] = source | {"component": "incparse_chart", "replace_listeners": ["model.tok2vec"]}
    config["components"]["incparse_chart"]["model"] = MODEL | {"tok2vec": LISTENER}
    config["training"] |= {
        "frozen_components": ["tok2vec", "tagger", "old_trees"],
        "annotating_components": ["tok2vec", "tagger"],
    }
    again = spacy.load(spacy_train(short_training(config, folder, 4), folder, "sourced"))
    for name in ("tok2vec", "tagger"):
        assert again.get_pipe(name).model.to_bytes() == nlp.get_pipe(name).model.to_bytes()
    with again.select_pipes(disable="incparse_chart"):
        assert str(again(TEXT)._.trees[0]) == str(nlp(TEXT)._.trees[0])
    assert again.evaluate(read(again, folder))["const_f"] > 0.1


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
    frozen = ["tok2vec", "tagger", "parser", "ner"]
    before = nlp.get_pipe("tok2vec").model.to_bytes()
    losses = [
        nlp.update(found, sgd=optimizer, exclude=frozen, annotates=["tok2vec"], losses={})["incparse_chart"]
        for _ in range(5)
    ]
    assert losses[-1] < losses[0]
    assert nlp.get_pipe("tok2vec").model.to_bytes() == before


@pytest.mark.slow
def test_trees_alone_move_the_shared_layer(nlp, folder):
    before, found = weights(nlp, "tok2vec"), read(nlp, folder, "train")
    losses = learn_one_batch(nlp, found, exclude=["tagger", "parser", "ner"])
    assert losses["incparse_chart"] > 0
    after = weights(nlp, "tok2vec")
    assert [name for name in before if after[name] == before[name]] == []


@pytest.mark.slow
def test_a_batch_without_trees_teaches_the_others(nlp):
    doc = nlp.make_doc("It rained")
    reference = doc.copy()
    for token in reference:
        token.tag_ = "NN"
    before = weights(nlp, "tok2vec")
    learn_one_batch(nlp, [spacy.training.Example(doc, reference)])
    assert weights(nlp, "tok2vec") != before
