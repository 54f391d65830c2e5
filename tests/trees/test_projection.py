from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.treebanks.reader import parse_bracketed
from spacy_incparse.trees.builder import ink_ends, project
from tests.strategies import deep_tree, normalised_trees


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


def test_whitespace_does_not_count():
    assert ink_ends(["a b", " ", "c"]) == [2, 2, 3]


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


def test_deep_trees():
    tree = deep_tree(5000)
    assert project(tree, [part for word in tree.words for part in (word[:1], word[1:])]).n_lost == 0


def spans_in_characters(tree):
    ends = [0, *ink_ends(tree.words)]
    return [(label, ends[start], ends[end]) for label, start, end in tree.spans()]
