import pytest

from spacy_incparse.generative.kind import GenerativeConfig
from spacy_incparse.generative.parser import GenerativeParser
from spacy_incparse.trees.heads import HeadRules
from tests.reference.engine import learner_of, teach


@pytest.fixture(scope="session")
def generative(sample_train):
    return GenerativeParser.train(sample_train, GenerativeConfig(), HeadRules.from_name("en"))


@pytest.fixture(scope="module")
def calibrated(sample_train):
    """A parser with a temperature whose training has seen the first 80 trees."""
    learner = learner_of(sample_train[:80], table_bits=16)
    teach(learner, sample_train[:80])
    parser = learner.parser()
    parser.temperature = 10_000.0
    return parser
