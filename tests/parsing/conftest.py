"""Parsers that several tests of this folder ask."""

from pathlib import Path

import pytest

from spacy_incparse.generative.kind import GenerativeConfig
from spacy_incparse.generative.parser import GenerativeParser
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.heads import HeadRules

ASSETS = Path(__file__).parents[2] / "assets"


@pytest.fixture(scope="session")
def generative():
    trees = read_treebank(ASSETS / "sample-train.mrg")
    return GenerativeParser.train(trees, GenerativeConfig(), HeadRules.from_name("en"))


@pytest.fixture(scope="session")
def held_out():
    return read_treebank(ASSETS / "sample-dev.mrg")
