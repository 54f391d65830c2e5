"""Random trees for property tests: small, unbalanced, with many unary chains and awkward words."""

from hypothesis import strategies as st

from spacy_incparse.parsing.parse import Constraint
from spacy_incparse.trees.builder import TreeBuilder, make_tree
from spacy_incparse.trees.tree import Tree

PHRASES = ("S", "NP", "VP", "PP", "SBAR", "ADJP", "FRAG")
TAGS = ("NN", "NNS", "DT", "VBD", "IN", "JJ", "CC", ",", ".", ":", "``", "''", "-LRB-", "-RRB-", "PRP$")
WORDS = ("the", "cat", "saw", "a", "dog", "of", "old", "and", ",", ".", '"', "'", "(", ")", "1/2", "été", "Ω", "*")
RAW_PHRASES = ("NP-SBJ", "NP-1", "NP=2", "NP-SBJ-12", "S-TPC-1", "NP-TMP=3", "ADVP|PRT", "WHNP-2", "ROOT")
RAW_TAGS = ("-NONE-", "PRP$-2", "NN-HL", "WP$")
ODD_WORDS = (
    "-LRB-", "-RRB", "a(b)", "``", "''", "`", r"\/", r"\*", "*T*-1", "0", "*",
    "a b", "", "-\\LRB-", "\\", "\u00a0",
)  # fmt: skip

_awkward_text = st.text(alphabet="()[]{}-LRBSC\\/*`'\" aU0020EMPTY\tΩ\u00a0", max_size=8)


def words() -> st.SearchStrategy[str]:
    """Plain raw words of a text: no whitespace, not empty."""
    return st.sampled_from(WORDS)


def odd_words() -> st.SearchStrategy[str]:
    """Raw words that a bracket file has trouble with: brackets, blanks, quotes, escapes, nothing at all."""
    return st.one_of(st.sampled_from(ODD_WORDS), _awkward_text, st.text(max_size=6), words())


def normalised_trees(max_words: int = 12, phrases=PHRASES, tags=TAGS) -> st.SearchStrategy[Tree]:
    """Trees under a root TOP without traces and without X over a single X."""
    return _forests(max_words, phrases, tags).map(lambda forest: make_tree("TOP", forest))


def raw_trees(max_words: int = 12) -> st.SearchStrategy[Tree]:
    """Trees as a treebank may have them: functions, indices, traces, wrappers, X over X, odd words."""
    forests = _forests(max_words, PHRASES + RAW_PHRASES, TAGS + RAW_TAGS, odd_words(), distinct=False)
    return forests.map(lambda forest: make_tree("", forest))


def deep_tree(depth: int, label: str = "S") -> Tree:
    """Return a right-branching tree of the given depth under TOP, one word a level."""
    builder = TreeBuilder()
    builder.open("TOP")
    for i in range(depth):
        builder.open((label, "VP")[i % 2])
        builder.leaf("NN", "dog")
    builder.leaf("VB", "run")
    for _ in range(depth + 1):
        builder.close()
    return builder.finish()


@st.composite
def constraints(draw, spans, n_words: int) -> list[Constraint]:
    """Draw phrases as they are, with other labels or with any, and phrases that need not be in any tree."""
    found = []
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            label, start, end = draw(st.sampled_from(spans))
        else:
            start = draw(st.integers(0, n_words - 1))
            end, label = draw(st.integers(start + 1, n_words)), draw(st.sampled_from(("NP", "S", "VP", "TOP", "QP")))
        label = draw(st.sampled_from((label, label, None)))
        found.append(Constraint(start, end, label, draw(st.booleans())))
    return found


@st.composite
def _forests(draw, max_words, phrases, tags, word=None, distinct=True):
    """Draw a list of trees by random bottom-up merges of neighbours; `distinct` forbids X over a single X."""
    leaf = st.builds(make_tree, st.sampled_from(tags), words() if word is None else word)
    forest = draw(st.lists(leaf, min_size=1, max_size=max_words))
    for _ in range(draw(st.integers(0, 2 * len(forest)))):
        start = draw(st.integers(0, len(forest) - 1))
        end = draw(st.integers(start + 1, min(len(forest), start + 4)))
        label = draw(st.sampled_from(phrases))
        if distinct and end == start + 1 and forest[start].label == label:
            continue
        forest[start:end] = [make_tree(label, forest[start:end])]
    return forest
