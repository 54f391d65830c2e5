import pytest

from spacy_incparse.chart.charts import ChartBuilder, ChartExample, ChartSentence
from spacy_incparse.chart.crf import EdgeFeatures
from spacy_incparse.chart.templates import resolve
from spacy_incparse.linear.words import Lexicon
from spacy_incparse.transforms.binarize import Markovization, markovize
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


@pytest.fixture(scope="module")
def examples(sample_trees, sample_grammar):
    """Sentences with several tags a word, their forests and their gold trees."""
    found = []
    for tree in sample_trees:
        tags = [[(tag, 0.0), ("NN", 2.0), ("IN", 9.0)] for tag in tree.tags]
        forest = ChartBuilder(sample_grammar).build(tags).forest
        gold = forest.find(sample_grammar.steps(markovize(tree.arrays, Markovization())))
        found.append(ChartExample(ChartSentence(tree.words, tags), forest, gold))
    return found


@pytest.fixture(scope="module")
def features(sample_trees, sample_grammar):
    lexicon = Lexicon.from_sentences([tree.words for tree in sample_trees])
    return EdgeFeatures(sample_grammar, resolve("span"), lexicon, table_bits=12)
