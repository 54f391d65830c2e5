"""A pipeline of tagger, parser, ner and trees on one layer of word vectors, trained from the shipped config."""

from itertools import islice
from pathlib import Path

import pytest
import spacy
from spacy.cli.train import train
from spacy.tokens import Doc, DocBin
from spacy.training import Corpus
from spacy.util import load_config
from typer.testing import CliRunner

from spacy_incparse.cli import app
from spacy_incparse.documents.gold import trees_to_docs
from spacy_incparse.pipeline.registered import TreebankReader
from spacy_incparse.treebanks.reader import normalize, read_trees
from tests.neural.conftest import MODEL
from tests.small_pipeline import ASSETS

CONFIGS = Path(__file__).parents[2] / "configs"
LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96, "upstream": "tok2vec"}
TEXT = "The cat slept on the sofa."
# The floors are far above what the untrained pipeline has, and below what this short training reaches.
FLOORS = {"tag_acc": 0.6, "dep_uas": 0.5, "ents_f": 0.5, "sents_f": 0.5, "const_f": 0.4}


def read(nlp, folder, name="dev"):
    return list(TreebankReader(folder / f"{name}.spacy", limit=20)(nlp))


def annotated(doc):
    """Names and dependencies that can be learned: all words depend on the second one of their sentence."""
    roots = {token: sentence[min(1, len(sentence) - 1)].i for sentence in doc.sents for token in sentence}
    return Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        tags=[token.tag_ for token in doc],
        heads=[roots[token] for token in doc],
        deps=["ROOT" if roots[token] == token.i else "next" for token in doc],
        ents=["B-NAME" if token.tag_ in ("NNP", "PRP") else "O" for token in doc],
        user_data=doc.user_data,
    )


def write_corpus(path, source, limit):
    """Docs of three sentences, as in a text, with all that the components learn."""
    gold = [normalize(tree) for tree in islice(read_trees(ASSETS / source), limit)]
    docs = trees_to_docs(gold, spacy.blank("en").vocab, natural_spacing=True, n_sents=3)
    DocBin(store_user_data=True, docs=map(annotated, docs)).to_disk(path)


def overrides(folder, max_epochs):
    """What has to change in a config for a short training: paths, length and learning rate."""
    return {
        "paths.train": str(folder / "train.spacy"),
        "paths.dev": str(folder / "dev.spacy"),
        "training.max_epochs": max_epochs,
        "training.eval_frequency": 24,
        "training.optimizer.learn_rate": 0.005,
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shared")
    write_corpus(folder / "train.spacy", "sample-train.mrg", 120)
    write_corpus(folder / "dev.spacy", "sample-dev.mrg", 20)
    train(CONFIGS / "neural_shared.cfg", folder / "out", overrides=overrides(folder, 6))
    return folder


@pytest.fixture
def nlp(folder):
    return spacy.load(folder / "out" / "model-best")


@pytest.mark.slow
def test_all_components_learn(nlp, folder):
    scores = nlp.evaluate(read(nlp, folder))
    assert {name: scores[name] > floor for name, floor in FLOORS.items()} == dict.fromkeys(FLOORS, True), {
        name: scores[name] for name in FLOORS
    }


@pytest.mark.slow
def test_components_can_be_sourced_and_frozen_in_a_config(nlp, folder):
    """Trees are learned anew beside the others, on their layer, which only annotates; the old trees stay too."""
    source = {"source": str(folder / "out" / "model-best")}
    config = load_config(CONFIGS / "neural.cfg")
    config["nlp"]["pipeline"] = ["senter", "tok2vec", "tagger", "old_trees", "incparse_neural"]
    config["components"]["tok2vec"] = config["components"]["tagger"] = source
    config["components"]["old_trees"] = source | {
        "component": "incparse_neural",
        "replace_listeners": ["model.tok2vec"],
    }
    config["components"]["incparse_neural"]["model"] = MODEL | {"tok2vec": LISTENER}
    config["training"] |= {
        "frozen_components": ["tok2vec", "tagger", "old_trees"],
        "annotating_components": ["tok2vec", "tagger"],
    }
    config["training"]["batcher"]["size"] = 150
    config["training"]["optimizer"]["use_averages"] = False
    config.to_disk(folder / "sourced.cfg")
    train(folder / "sourced.cfg", folder / "sourced", overrides=overrides(folder, 4))
    again = spacy.load(folder / "sourced" / "model-best")
    for name in ("tok2vec", "tagger"):
        assert again.get_pipe(name).model.to_bytes() == nlp.get_pipe(name).model.to_bytes()
    with again.select_pipes(disable="incparse_neural"):
        assert str(again(TEXT)._.trees[0]) == str(nlp(TEXT)._.trees[0])
    assert again.evaluate(read(again, folder))["const_f"] > 0.1


@pytest.mark.slow
def test_a_component_can_have_the_layer_for_itself(nlp, tmp_path):
    """It has learned from whole Docs, and reads them as before, also if it is saved and loaded."""

    def scores(nlp):
        return [tree.score for tree in nlp(f"{TEXT} She thinks that the letters are in the box. {TEXT}")._.trees]

    before = scores(nlp)
    assert before[0] != before[2]
    nlp.replace_listeners("tok2vec", "incparse_neural", ["model.tok2vec"])
    assert scores(nlp) == pytest.approx(before, abs=1e-3)
    nlp.to_disk(tmp_path)
    assert scores(spacy.load(tmp_path)) == pytest.approx(before, abs=1e-3)
    alone = spacy.blank("en")
    alone.add_pipe("sentencizer")
    alone.add_pipe("incparse_neural", source=nlp)
    (found,), (expected,) = alone(TEXT)._.trees, nlp(TEXT)._.trees
    # Tags that are nearly as probable may differ from processor to processor, as the sizes of batches differ.
    assert (found.words, found.spans()) == (expected.words, expected.spans())
    assert found.score == pytest.approx(expected.score, abs=1e-3)


@pytest.mark.slow
def test_fine_tuning_leaves_out_what_shares_the_layer(nlp, tmp_path):
    """The trees show the tagger's tags, and the entity recognizer is disabled."""
    nlp.disable_pipe("ner")
    nlp.to_disk(tmp_path / "base")
    paths = [ASSETS / "sample-train.mrg", ASSETS / "sample-dev.mrg", tmp_path / "out"]
    options = ["--from", tmp_path / "base", "--max-epochs", 1]
    result = CliRunner().invoke(app, ["train", *map(str, [*paths, *options])])
    assert result.exit_code == 0, result.output
    tuned = spacy.load(tmp_path / "out" / "model-best")
    assert set(tuned.component_names) == {"senter", "tok2vec", "incparse_neural"}
    assert all(token.tag_ for token in tuned(TEXT))
    before, after = (parser.get_pipe("tok2vec").model.to_bytes() for parser in (nlp, tuned))
    assert before != after


@pytest.mark.slow
def test_some_docs_may_have_no_trees(nlp, folder):
    """spaCy's reader takes them, and keeps the trees of the others; so do the losses."""
    docs = list(DocBin().from_disk(folder / "dev.spacy").get_docs(nlp.vocab))[:4]
    docs[0].user_data.clear()
    DocBin(store_user_data=True, docs=docs).to_disk(folder / "mixed.spacy")
    found = list(Corpus(folder / "mixed.spacy")(nlp))
    assert [len(example.reference._.trees) for example in found] == [0, 3, 3, 3]
    assert nlp.update(found[:1], sgd=False, losses={})["incparse_neural"] == 0
    assert nlp.update(found, sgd=False, losses={})["incparse_neural"] > 0
