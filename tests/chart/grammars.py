"""Small random grammars and sentences whose trees can all be listed."""

from hypothesis import assume
from hypothesis import strategies as st

from spacy_incparse.chart.charts import ChartBuilder
from spacy_incparse.chart.grammar import Grammar, count_rules
from spacy_incparse.chart.templates import NAMED_SETS
from spacy_incparse.papers.finkel_2008 import SETS
from spacy_incparse.transforms.binarize import BRANCHING, Markovization, markovize
from spacy_incparse.trees.heads import HeadRules
from tests.reference.chart import count_derivations
from tests.strategies import normalised_trees

HEADS = HeadRules.from_name("en")
PHRASES = ("NP", "S", "VP")
TREEBANKS = st.lists(normalised_trees(max_words=5, phrases=PHRASES, tags=("NN", "NN", "DT")), min_size=2, max_size=4)
MARKOVIZATIONS = st.builds(
    Markovization,
    branching=st.sampled_from(BRANCHING),
    horizontal=st.integers(0, 2),
    anchor=st.booleans(),
    vertical=st.integers(0, 2),
    annotate_tags=st.booleans(),
    collapse_unaries=st.booleans(),
)
MAX_TREES = 2_000
SHORT = {  # how much speaks for a phrase, whatever its label
    "rule": ("-> rule",),
    "span": ("W[i] SHORT -> any", "W[j-1] SHORT -> any", "W[i-1] W[i] SHORT -> any", "MIDDLE -> any"),
    "word": ("W[i] -> phrase", "W[i-1] W[i] -> phrase", "W[i] W[i+1] -> phrase"),
}
ALL_SETS = {**NAMED_SETS, **SETS, "short": (SHORT, {})}


def grammar_of(trees, settings=None):
    settings = settings or Markovization()
    return Grammar.from_counts(count_rules(markovize(tree.arrays, settings, HEADS) for tree in trees))


def lexical_rules(grammar, tags):
    """The lexical rules of each word."""
    return [grammar.rules_of_tag[tag] for tag in tags]


@st.composite
def cases(draw):
    """A grammar, the tags of a sentence of its treebank, and the sentence's forest."""
    trees = draw(TREEBANKS)
    grammar = grammar_of(trees, draw(MARKOVIZATIONS))
    tags = draw(st.sampled_from([tree.tags for tree in trees]))
    forest = ChartBuilder(grammar).build(tags).forest
    assume(count_derivations(forest) <= MAX_TREES)
    return grammar, tags, forest
