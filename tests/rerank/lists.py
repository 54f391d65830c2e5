"""Random n-best lists."""

from hypothesis import strategies as st

from spacy_incparse.parsing.parse import Parse
from spacy_incparse.rerank.lists import CandidateList
from spacy_incparse.treebanks.normalize import normalize
from spacy_incparse.trees.builder import make_tree
from tests.strategies import raw_trees

_scores = st.floats(-1e300, 1e300)  # divided by a temperature, they stay finite


def raw_lists():
    """Lists of trees as a treebank may have them."""
    return _lists(raw_trees())


def normalized_lists():
    """Lists of normalized trees with odd words."""
    return _lists(raw_trees().map(normalize).filter(bool))


@st.composite
def _lists(draw, trees):
    tree = draw(trees)
    leaves = [make_tree(tag, word) for tag, word in zip(tree.tags, tree.words, strict=True)]
    variants = [tree, make_tree("TOP", leaves), make_tree("TOP", [make_tree("S", leaves)])]
    chosen = draw(st.lists(st.sampled_from(variants), min_size=1, max_size=4))
    parses = [Parse(t, draw(_scores), draw(st.sampled_from(["beam", "relaxed", "flat"]))) for t in chosen]
    temperature = draw(st.floats(1e-3, 1e3))
    return CandidateList(tuple(parses), temperature, draw(st.sampled_from([None, *variants])))
