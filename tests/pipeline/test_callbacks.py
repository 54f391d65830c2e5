"""Callbacks of training."""

import spacy
from spacy.util import registry

from spacy_incparse.pipeline import callbacks


def test_memory_is_freed_now_and_then(monkeypatch):
    freed = []
    monkeypatch.setattr(callbacks, "release_memory", lambda: freed.append(step))
    free_memory = registry.callbacks.get("spacy_incparse.free_memory.v1")()
    nlp = spacy.blank("en")
    for step in range(101):
        free_memory(nlp, {"step": step, "epoch": 0})
    assert freed == [0, 50, 100]
