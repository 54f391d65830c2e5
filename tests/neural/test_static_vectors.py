"""The neural parser on a table of static vectors, trained as docs/neural.md says."""

from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.cli.train import train

from tests.neural.conftest import examples
from tests.small_pipeline import ASSETS

CONFIG = Path(__file__).parents[2] / "configs" / "neural.cfg"
LAYER = "components.incparse_neural.model.tok2vec"
SHORT = {
    "training.max_epochs": 1,
    "corpora.train.limit": 60,
    "corpora.dev.limit": 5,
    f"{LAYER}.width": 32,
    f"{LAYER}.depth": 1,
    f"{LAYER}.embed_size": 200,
}
TEXT = "The cat slept on the sofa."
WIDTH = 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a table of vectors, one for each word of the sample treebank, and of the pipeline trained on it."""
    folder, nlp = tmp_path_factory.mktemp("vectors"), spacy.blank("en")
    generator = np.random.default_rng(0)
    words = sorted({token.text for example in examples(nlp) for token in example.reference})
    nlp.vocab.reset_vectors(width=WIDTH)
    for word in words:
        nlp.vocab.set_vector(word, generator.normal(size=WIDTH).astype("float32"))
    nlp.to_disk(folder / "table")
    paths = {"paths.train": str(ASSETS / "sample-train.mrg"), "paths.dev": str(ASSETS / "sample-dev.mrg")}
    vectors = {f"{LAYER}.pretrained_vectors": True, "initialize.vectors": str(folder / "table")}
    train(CONFIG, folder / "out", overrides=SHORT | paths | vectors)
    return folder


@pytest.fixture
def nlp(folder):
    return spacy.load(folder / "out" / "model-best")


def score(nlp):
    (tree,) = nlp(TEXT)._.trees
    return tree.score


@pytest.mark.slow
def test_scores_depend_on_the_vectors_which_are_saved(nlp, folder, tmp_path):
    table = spacy.load(folder / "table").vocab.vectors
    assert (nlp.vocab.get_vector("cat") == table[nlp.vocab.strings["cat"]]).all()
    before = score(nlp)
    nlp.vocab.set_vector("piano", -nlp.vocab.get_vector("cat"))
    assert score(nlp) == before  # the text does not have this word
    nlp.vocab.set_vector("cat", -nlp.vocab.get_vector("cat"))
    changed = score(nlp)
    assert abs(changed - before) > 1e-3
    nlp.to_disk(tmp_path)
    assert score(spacy.load(tmp_path)) == changed
