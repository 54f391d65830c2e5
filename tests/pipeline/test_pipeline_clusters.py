import shutil
from pathlib import Path

import pytest
import spacy

from spacy_incparse.errors import ConfigError, ModelError
from spacy_incparse.incremental.parser import PerceptronParser
from spacy_incparse.pipeline.model import unpack
from tests.small_pipeline import SMALL, train, untrained

FILE = Path(__file__).parents[1] / "data" / "clusters.txt"
TEXT = "The old horse saw a match. She fed the dogs in Sweden!"


@pytest.fixture(scope="module")
def clustered(tmp_path_factory):
    """A pipeline on disk whose cluster file is gone."""
    folder = tmp_path_factory.mktemp("clusters")
    source = shutil.copy(FILE, folder / "clusters.txt")
    nlp = untrained(training=SMALL | {"clusters": str(source)})
    train(nlp, 2)
    nlp.to_disk(folder / "pipeline")
    Path(source).unlink()
    return nlp, folder / "pipeline"


def test_a_loaded_pipeline_needs_no_cluster_file(clustered):
    nlp, folder = clustered
    loaded = spacy.load(folder)
    assert loaded(TEXT)._.trees == nlp(TEXT)._.trees
    assert len(loaded(TEXT)._.trees) == 2
    assert spacy.blank("en").from_config(loaded.config).from_bytes(nlp.to_bytes())(TEXT)._.trees == nlp(TEXT)._.trees


def test_tagger_and_parser_share_one_table(clustered):
    model = spacy.load(clustered[1]).get_pipe("incparse").model
    assert len(model.tagger.clusters) == len(FILE.read_text(encoding="utf8").splitlines())
    assert model.parser.clusters is model.tagger.clusters
    with pytest.raises(ModelError, match="word clusters are missing"):  # they are kept with the tagger alone
        PerceptronParser.from_bytes(unpack(model.to_bytes())["parser"])


def test_a_parser_whose_tagger_has_others_keeps_its_own(clustered, trained):
    model = spacy.load(clustered[1]).get_pipe("incparse").model
    parser, plain_tagger = model.parser, trained.get_pipe("incparse").model.tagger
    model.set_weights(plain_tagger, parser)
    assert type(model)().from_bytes(model.to_bytes()).parser.clusters == parser.clusters


def test_training_without_the_source_says_what_is_missing(tmp_path):
    with pytest.raises(ConfigError, match=r"gone.txt: the clusters cannot be read"):
        train(untrained(training=SMALL | {"clusters": str(tmp_path / "gone.txt")}), 1)
