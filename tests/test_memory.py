"""Memory that the C library holds back."""

import sys

import pytest

from spacy_incparse import files as memory
from spacy_incparse.files import release_memory


@pytest.fixture
def trim():
    """The function that finds that of the C library, once."""
    function = memory._trim
    function.cache_clear()
    yield function
    function.cache_clear()


def test_all_of_it_is_given_back(monkeypatch):
    kept = []
    monkeypatch.setattr(memory, "_trim", lambda: kept.append)
    release_memory()
    assert kept == [0]


def test_a_c_library_without_it_is_no_error(monkeypatch, trim):
    trim()
    release_memory()
    monkeypatch.setattr(memory, "_trim", lambda: None)
    release_memory()


@pytest.mark.skipif(sys.platform != "linux", reason="glibc is the C library of Linux")
def test_other_systems_are_not_asked(monkeypatch, trim):
    monkeypatch.setattr(sys, "platform", "win32")
    assert trim() is None
