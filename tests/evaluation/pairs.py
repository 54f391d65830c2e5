"""Random pairs of trees over the same words."""

from hypothesis import strategies as st

from spacy_incparse.trees.builder import make_tree

TAGS = ("NN", "VB", "RB", ",", ".", "ADVP", "PRT")
PHRASES = ("S", "NP", "NP-SBJ", "VP=2", "ADVP", "PRT", "TOP", "-X", "XP")


@st.composite
def tree_pairs(draw, gold_tags=TAGS, labels=PHRASES):
    """Two trees over the same words; brackets and tags differ."""
    words = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=9))
    return tuple(_tree_over(draw, words, tags, labels) for tags in (gold_tags, TAGS))


def _tree_over(draw, words, tags, labels):
    forest = [make_tree(draw(st.sampled_from(tags)), word) for word in words]
    for _ in range(draw(st.integers(0, 2 * len(words)))):
        start = draw(st.integers(0, len(forest) - 1))
        end = draw(st.integers(start + 1, min(len(forest), start + 3)))
        forest[start:end] = [make_tree(draw(st.sampled_from(labels)), forest[start:end])]
    return make_tree("TOP", forest)
