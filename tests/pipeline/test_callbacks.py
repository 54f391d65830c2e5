"""Callbacks of training."""

import pickle

import spacy
from spacy.util import registry

from spacy_incparse.pipeline import callbacks
from tests.small_pipeline import ASSETS


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
    reader = {"@readers": "spacy_incparse.TreebankReader.v1", "path": str(ASSETS / "sample-dev.mrg")}
    nlp.config["corpora"] = {"dev": reader}
    nlp.config["training"] |= {"dev_corpus": "corpora.dev", "frozen_components": []}
    parsed = []
    monkeypatch.setattr(type(nlp.get_pipe("trees")), "set_annotations", lambda *given: parsed.append(given))
    nlp.get_pipe("trees").model.temperature = None
    callbacks.calibrate(nlp)
    assert nlp.get_pipe("trees").decoder.temperature > 0
    assert not parsed
