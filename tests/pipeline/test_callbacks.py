import pickle

import pytest
import spacy
from spacy.language import Language
from spacy.util import registry

from spacy_incparse.errors import IncparseError
from spacy_incparse.pipeline import registered as callbacks
from tests.small_pipeline import ASSETS

DEV = ASSETS / "sample-dev.mrg"


def calibrated(nlp):
    """Calibrate on the sample's dev part."""
    nlp.config["corpora"] = {"dev": {"@readers": "spacy_incparse.TreebankReader.v1", "path": str(DEV), "limit": 20}}
    nlp.config["training"] |= {"dev_corpus": "corpora.dev", "frozen_components": []}
    callbacks.calibrate(nlp)


def test_memory_is_freed_now_and_then(monkeypatch):
    freed = []
    monkeypatch.setattr(callbacks, "release_memory", lambda: freed.append(step))
    free_memory = registry.callbacks.get("spacy_incparse.free_memory.v1")()
    nlp = spacy.blank("en")
    for step in range(101):
        free_memory(nlp, {"step": step, "epoch": 0})
    assert freed == [0, 50, 100]


def test_calibration_needs_no_trees(trained, monkeypatch):
    nlp = pickle.loads(pickle.dumps(trained))
    nlp.rename_pipe("incparse", "trees")
    parsed = []
    monkeypatch.setattr(type(nlp.get_pipe("trees")), "set_annotations", lambda *given: parsed.append(given))
    nlp.get_pipe("trees").model.temperature = None
    calibrated(nlp)
    assert nlp.get_pipe("trees").decoder.temperature > 0
    assert not parsed


@Language.factory("label_reader")
class LabelReader:
    """A component that fails on sentences without trees."""

    def __init__(self, nlp, name):
        self.n_docs = 0

    def __call__(self, doc):
        self.n_docs += 1
        assert all(sentence._.tree.label for sentence in doc.sents)
        return doc


@pytest.mark.parametrize("is_between", [False, True])
def test_components_run_only_between_two_parsers_and_find_trees(trained, is_between):
    nlp = pickle.loads(pickle.dumps(trained))
    nlp.get_pipe("incparse").set_tags = False
    reader = nlp.add_pipe("label_reader")
    if is_between:
        nlp.add_pipe("incparse", name="second", source=pickle.loads(pickle.dumps(trained)))
    calibrated(nlp)
    assert reader.n_docs == 20 * is_between
    assert nlp.get_pipe(nlp.pipe_names[-1 if is_between else -2]).decoder.temperature > 0


@pytest.mark.parametrize("given", ["dev.mrg", [5]])
def test_calibrate_takes_examples(trained, given):
    with pytest.raises(IncparseError, match="is no Example: pass Examples with gold trees"):
        trained.get_pipe("incparse").calibrate(given)


def test_one_batch_has_all():
    batch_by_pass = spacy.registry.get("batchers", "spacy_incparse.batch_by_pass.v1")()
    assert list(batch_by_pass(iter(range(5)))) == [[0, 1, 2, 3, 4]]
    assert list(batch_by_pass([])) == []
