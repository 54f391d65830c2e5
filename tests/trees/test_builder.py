import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.errors import IncparseError
from spacy_incparse.treebanks.reader import parse_bracketed
from spacy_incparse.trees.builder import TreeBuilder, ink_ends, project, tree_of_phrases
from spacy_incparse.trees.tree import Tree
from tests.strategies import normalised_trees


@pytest.mark.parametrize(
    "text",
    [
        "(TOP (S (NP (DT The) (NN rain)) (VP (VBZ stops))))",
        "(TOP (NP (NP (NP (NN rain)))))",
        "(TOP (NN rain) (, ,) (X (Y (NN snow)) (Y (NN hail))))",
    ],
)
def test_a_tree_is_made_of_its_phrases(text):
    tree = Tree.from_string(text)
    assert tree_of_phrases(tree.spans(), tree.words, tree.tags) == tree


def test_a_word_without_phrases_is_a_pos_node():
    assert tree_of_phrases([], ["rain"], ["NN"]) == Tree.from_string("(NN rain)")


def test_several_words_need_a_root():
    for phrases in ([], [("NP", 0, 1), ("VP", 1, 2)]):
        with pytest.raises(IncparseError, match="one root"):
            tree_of_phrases(phrases, ["it", "rains"], ["PRP", "VBZ"])


def test_a_phrase_ends_at_the_last_word_or_before():
    with pytest.raises(IncparseError, match="open"):
        tree_of_phrases([("NP", 0, 3)], ["it", "rains"], ["PRP", "VBZ"])


def tree_of(text):
    return next(iter(parse_bracketed(text)))


SENTENCE = tree_of(
    "(TOP (S (NP (PRP We)) (VP (MD can) (RB not) (VP (VB go) (PP (TO to) (NP (NNP New) (NNP York)))))) (. .))"
)


def test_the_same_words_give_the_same_tree():
    projection = project(SENTENCE, ["We", "can", "not", "go", "to", "New", "York", "."])
    assert projection.tree == SENTENCE
    assert (projection.n_phrases, projection.n_lost) == (6, 0)


def test_a_split_word_has_its_tag_in_all_parts():
    projection = project(SENTENCE, ["We", "can", "not", "go", "to", "New", "Yo", "rk", "."])
    assert projection.n_lost == 0
    assert str(projection.tree).endswith("(NP (NNP New) (NNP Yo) (NNP rk)))))) (. .))")


def test_joined_words_inside_a_phrase_lose_nothing():
    projection = project(SENTENCE, ["We", "can", "not", "go", "to", "New York", "."])
    assert projection.n_lost == 0
    assert str(projection.tree).endswith("(NP (NNP New York)))))) (. .))".replace("New York", "New-U0020-York"))


def test_phrases_with_a_bound_inside_a_word_are_lost_and_counted():
    projection = project(SENTENCE, ["We", "cannotgo", "to", "New", "York", "."])
    assert projection.n_lost == 1  # the lower VP, which begins with "go"
    assert str(projection.tree) == (
        "(TOP (S (NP (PRP We)) (VP (MD cannotgo) (PP (TO to) (NP (NNP New) (NNP York))))) (. .))"
    )


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
