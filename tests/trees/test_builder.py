import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.builder import TreeBuilder, ink_ends, project, tree_of_phrases
from spacy_incparse.trees.tree import Tree
from tests.strategies import normalised_trees


@given(normalised_trees())
def test_a_tree_is_made_of_its_phrases(tree):
    assert tree_of_phrases(tree.spans(), tree.words, tree.tags) == tree
    leaf = tree.pos_nodes()[0]
    assert tree_of_phrases([], leaf.words, leaf.tags) == leaf


@pytest.mark.parametrize(
    ("phrases", "message"), [([], "one root"), ([("NP", 0, 1), ("VP", 1, 2)], "one root"), ([("NP", 0, 3)], "open")]
)
def test_phrases_that_are_no_tree(phrases, message):
    with pytest.raises(IncparseError, match=message):
        tree_of_phrases(phrases, ["it", "rains"], ["PRP", "VBZ"])


SENTENCE = Tree.from_string(
    "(TOP (S (NP (PRP We)) (VP (MD can) (RB not) (VP (VB go) (PP (TO to) (NP (NNP New) (NNP York)))))) (. .))"
)


@pytest.mark.parametrize(
    ("words", "n_lost", "last"),
    [
        ("We can not go to New York .", 0, "(VP (VB go) (PP (TO to) (NP (NNP New) (NNP York))))"),
        ("We can not go to New Yo rk .", 0, "(VP (VB go) (PP (TO to) (NP (NNP New) (NNP Yo) (NNP rk))))"),
        ("We can not go to NewYork .", 0, "(VP (VB go) (PP (TO to) (NP (NNP NewYork))))"),
        ("We cannotgo to New York .", 1, "(PP (TO to) (NP (NNP New) (NNP York)))"),  # a VP begins inside of a word
    ],
)
def test_a_tree_is_projected_onto_other_words(words, n_lost, last):
    projection = project(SENTENCE, words.split())
    assert (projection.n_phrases, projection.n_lost) == (6, n_lost)
    assert projection.tree.words == tuple(words.split())
    verb_phrase = projection.tree[0][1]
    assert (verb_phrase.label, verb_phrase.tags[0], str(verb_phrase[-1])) == ("VP", "MD", last)


def test_other_text_is_not_projected():
    assert project(SENTENCE, ["We", "could", "not", "go"]) is None
    assert project(SENTENCE, []) is None


@given(normalised_trees(), st.data())
def test_any_cut_keeps_the_text_and_only_phrases_of_the_tree(tree, data):
    text = "".join(tree.words)
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(text) - 1))))) if len(text) > 1 else []
    words = [text[i:j] for i, j in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    projection = project(tree, words)
    assert projection.tree.words == tuple(words)
    kept = spans_in_characters(projection.tree)
    assert len(kept) == projection.n_phrases - projection.n_lost + 1
    old = spans_in_characters(tree)
    for span in kept:
        old.remove(span)


def spans_in_characters(tree):
    ends = [0, *ink_ends(tree.words)]
    return [(label, ends[start], ends[end]) for label, start, end in tree.spans()]


def test_the_builder_refuses_what_is_no_tree():
    builder = TreeBuilder()
    with pytest.raises(IncparseError, match="empty tree"):
        builder.finish()
    builder.open("NP")
    with pytest.raises(IncparseError, match="1 phrases are still open"):
        builder.finish()
    with pytest.raises(IncparseError, match="'NP' has no children"):
        builder.close()
    builder = TreeBuilder()
    with pytest.raises(IncparseError, match="without an open phrase"):
        builder.close()
    builder.leaf("NN", "rain")
    with pytest.raises(IncparseError, match="one root"):
        builder.leaf("NN", "sun")
