"""Callbacks of training."""

import sys

import pytest
import spacy
from spacy.util import registry

from spacy_incparse.pipeline import callbacks


@pytest.fixture
def released(monkeypatch):
    calls = []
    monkeypatch.setattr(callbacks, "_release", lambda: calls.append)
    return calls


def test_memory_is_freed_now_and_then(released):
    free_memory = registry.callbacks.get("spacy_incparse.free_memory.v1")()
    nlp = spacy.blank("en")
    for step in range(101):
        free_memory(nlp, {"step": step, "epoch": 0})
    assert released == [0, 0, 0]


@pytest.mark.parametrize("release", [None, callbacks._release()])
def test_a_system_without_it_is_no_error(monkeypatch, release):
    monkeypatch.setattr(callbacks, "_release", lambda: release)
    callbacks.free_memory(spacy.blank("en"), {"step": 0, "epoch": 0})


@pytest.mark.skipif(sys.platform != "linux", reason="glibc is the C library of Linux")
def test_other_systems_are_not_asked(monkeypatch):
    callbacks._release.cache_clear()
    monkeypatch.setattr(sys, "platform", "win32")
    assert callbacks._release() is None
    callbacks._release.cache_clear()
