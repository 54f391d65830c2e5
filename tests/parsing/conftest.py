import pytest

from spacy_incparse.generative.kind import GenerativeConfig
from spacy_incparse.generative.parser import GenerativeParser
from spacy_incparse.trees.heads import HeadRules


@pytest.fixture(scope="session")
def generative(sample_train):
    return GenerativeParser.train(sample_train, GenerativeConfig(), HeadRules.from_name("en"))
