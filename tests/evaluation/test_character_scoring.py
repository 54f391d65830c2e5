import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.evalb import PlacedTree, score_by_characters, score_texts, score_trees
from tests.evaluation.pairs import TAGS, tree_pairs
from tests.reference.evalb import tree_of


def place(trees, text):
    """Find the words of the trees in the text, from left to right."""
    placed, behind = [], 0
    for tree in trees:
        starts, ends = [], []
        for word in tree.words:
            starts.append(text.index(word, behind))
            behind = starts[-1] + len(word)
            ends.append(behind)
        placed.append(PlacedTree(tree, starts, ends))
    return placed


@settings(max_examples=40)
@given(st.lists(tree_pairs(gold_tags=(*TAGS, "-NONE-")), max_size=4), st.integers(0, 2))
def test_equal_tokens_and_sentences_give_the_default_figures(pairs, n_spaces):
    gold, parsed = [gold for gold, _ in pairs], [parsed for _, parsed in pairs]
    text = (" " * n_spaces).join(word for tree in gold for word in tree.words)
    result = score_texts([place(gold, text)], [place(parsed, text)])
    assert result.scores == score_trees(gold, parsed)
    assert result.tokens.n_matched == result.tokens.n_gold == result.tokens.n_parsed
    assert result.sentences == (len(pairs), len(pairs), len(pairs))


def test_other_tokens_and_sentence_bounds():
    text = "Dr. Ash can't stay. He left."
    gold = [
        tree_of("(TOP (S (NP (NNP Dr.) (NNP Ash)) (VP (MD ca) (RB n't) (VP (VB stay))) (. .)))"),
        tree_of("(TOP (S (NP (PRP He)) (VP (VBD left)) (. .)))"),
    ]
    parsed = [
        tree_of("(TOP (NP (NNP Dr.)))"),
        tree_of("(TOP (S (NP (NNP Ash)) (VP (MD can't) (VP (VB stay.))) (NP (PRP He)) (VP (VBD left)) (. .)))"),
    ]
    result = score_texts([place(gold, text)], [place(parsed, text)])
    assert result.tokens == (5, 9, 7)
    assert result.sentences == (0, 2, 2)
    # Right: both inner VPs and the last sentence's NP; "stay." is the VP "stay", since the full stop does not count.
    assert result.scores.per_sentence[0] == (6, 0, 2, 4, 5, 1, 5, 2)
    assert result.scores.per_sentence[1] == (3, 0, 2, 3, 2, 0, 2, 2)
    figures = result.to_dict()
    assert figures["token_r"] == pytest.approx(5 / 9)
    assert figures["const_p"] == pytest.approx(4 / 7)
    assert "Sentences       0.00" in result.format()


def test_traces_have_no_width():
    gold, parsed = tree_of("(TOP (S (NP (-NONE- *)) (VP (VB go))))"), tree_of("(TOP (S (VP (VB go))))")
    result = score_texts([[PlacedTree(gold, [0, 0], [0, 2])]], [[PlacedTree(parsed, [0], [2])]])
    assert result.scores.per_sentence == [(1, 0, 2, 2, 2, 0, 1, 1)]
    assert result.tokens == (1, 1, 1)


def test_texts_are_apart_and_must_be_as_many():
    tree = tree_of("(TOP (NP (NN ox)))")
    text = [PlacedTree(tree, [0], [2])]
    assert score_texts([text, text, []], [text, text, []]).scores.all.brackets == (2, 2, 2)
    with pytest.raises(IncparseError, match="text 2 is missing on one side"):
        score_texts([text], [text, text])


def test_files_with_other_words_and_sentences_are_placed_by_their_characters():
    gold = [
        tree_of("(TOP (S (NP (-NONE- *) (NNP Ash)) (VP (MD ca) (RB n't) (VP (VB stay))) (. .)))"),
        tree_of("(TOP (S (NP (PRP He)) (VP (VBD left)) (. .)))"),
        tree_of("(TOP (S (NP (PRP We)) (VP (VBD slept))))"),
    ]
    parsed = [
        tree_of("(TOP (S (NP (NNP Ash)) (VP (MD can't) (VP (VB stay.)))))"),
        tree_of("(TOP (S (NP (PRP He)) (VP (VBD left)) (. .)) (S (NP (PRP We)) (VP (VBD slept))))"),
    ]
    result = score_by_characters(gold, parsed)
    assert [row[2:5] for row in result.scores.per_sentence] == [(4, 4, 4), (3, 3, 3), (3, 3, 3)]
    assert (result.tokens, result.sentences) == ((6, 10, 8), (1, 3, 2))
    failed = score_by_characters(gold, [parsed[0], None, gold[2]])
    assert [row[2:5] for row in failed.scores.per_sentence] == [(4, 4, 4), (0, 3, 0), (3, 3, 3)]
    assert failed.scores.failed == (2,)
    with pytest.raises(
        IncparseError, match=r"sentence 2: the gold text has .*Heleft\.Wes.* and the parsed one .*Heran"
    ):
        score_by_characters(gold, [gold[0], tree_of("(TOP (S (NP (PRP He)) (VP (VBD ran))))")])
