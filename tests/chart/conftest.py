import pytest

from spacy_incparse.chart.charts import ChartBuilder
from spacy_incparse.trees.tree import Tree
from tests.chart.grammars import grammar_of

SENTENCES = (
    "(TOP (S (NP (DT the) (NN owl)) (VP (VBD saw) (NP (NP (DT a) (NN mouse)) (PP (IN in) (NP (NN grass)))))))",
    "(TOP (S (NP (NN grass)) (VP (VBD grew) (PP (IN on) (NP (DT a) (NN hill))))))",
    "(TOP (NP (NN rain)))",
    "(TOP (S (VP (VBD ran))))",
)


@pytest.fixture(scope="session")
def sample_trees():
    return [Tree.from_string(text) for text in SENTENCES]


@pytest.fixture(scope="session")
def sample_grammar(sample_trees):
    return grammar_of(sample_trees)


@pytest.fixture(scope="session")
def sample_forest(sample_grammar):
    """A forest with several trees."""
    return ChartBuilder(sample_grammar).build(["NN", "VBD", "NN", "IN", "NN", "IN", "DT", "NN"]).forest
