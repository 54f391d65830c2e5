import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_incparse.documents.gold import gold_sentences, trees_to_docs
from spacy_incparse.treebanks.reader import parse_bracketed

VOCAB = spacy.blank("en").vocab
TREES = """
(TOP (S (NP (PRP We)) (VP (MD can) (RB not) (VP (VB go)))) (. .))
(TOP (S (NP (DT The) (JJ old) (NN owl)) (VP (VBD slept) (PP (IN in) (NP (NN-NN half-light)))) (. .)))
"""


def example(words, spaces=None, n_sents=2):
    reference = next(iter(trees_to_docs(parse_bracketed(TREES), VOCAB, n_sents=n_sents)))
    return Example(Doc(VOCAB, words=words, spaces=spaces), reference)


GOLD_WORDS = ["We", "can", "not", "go", ".", "The", "old", "owl", "slept", "in", "half-light", "."]


def test_gold_tokens_give_the_gold_trees():
    gold = gold_sentences(example(GOLD_WORDS))
    assert gold.n_skipped == 0
    assert gold.trees == tuple(zip([0, 5], parse_bracketed(TREES), strict=True))


def test_other_tokens_are_projected():
    words = ["We", "cannot", "go", ".", "The", "old", "owl", "slept", "in", "half", "-", "light", "."]
    gold = gold_sentences(example(words))
    assert gold.n_skipped == 0
    assert [first for first, _ in gold.trees] == [0, 4]
    assert str(gold.trees[0][1]) == "(TOP (S (NP (PRP We)) (VP (MD cannot) (VP (VB go)))) (. .))"
    assert gold.trees[1][1].words == tuple(words[4:])


def test_whitespace_tokens_do_not_count():
    words = ["We", " ", "can", "not", "go", ".", "\n\n", "The", "old", "owl", "slept", "in", "half-light", ".", " "]
    gold = gold_sentences(example(words))
    assert gold.trees == tuple(zip([0, 5], parse_bracketed(TREES), strict=True))


def test_a_sentence_that_loses_much_is_skipped():
    words = ["Wecan", "not", "go", ".", "The", "old", "owl", "slept", "in", "half-light", "."]
    gold = gold_sentences(example(words))
    assert gold.n_skipped == 1  # of three phrases below S two begin or end inside "Wecan"
    assert [first for first, _ in gold.trees] == [4]


def test_a_token_across_a_sentence_bound_skips_both():
    words = ["We", "can", "not", "go", ".The", "old", "owl", "slept", "in", "half-light", "."]
    gold = gold_sentences(example(words))
    assert (gold.trees, gold.n_skipped) == ((), 2)


def test_other_text_is_skipped():
    gold = gold_sentences(example(["We", "could", "not", "go", "."]))
    assert (gold.trees, gold.n_skipped) == ((), 2)


def test_no_gold_is_no_sentence():
    doc = Doc(VOCAB, words=["We", "go"])
    gold = gold_sentences(Example(doc.copy(), doc))
    assert (gold.trees, gold.n_skipped) == ((), 0)


def test_the_result_is_remembered_by_reference_and_tokens():
    first = example(GOLD_WORDS)
    again = Example(first.predicted.copy(), first.reference)
    assert gold_sentences(again) is gold_sentences(first)
    other = Example(Doc(VOCAB, words=["We", "cannot", *GOLD_WORDS[3:]]), first.reference)
    assert gold_sentences(other).trees[0][1].words == ("We", "cannot", "go", ".")


def test_other_trees_of_the_reference_are_seen():
    first = example(GOLD_WORDS)
    before = gold_sentences(first).trees
    (flat,) = parse_bracketed("(TOP (X (PRP We) (MD can) (RB not) (VB go) (. .)))")
    (other,) = trees_to_docs([flat, before[1][1]], VOCAB, n_sents=2)
    first.reference.user_data = other.user_data
    assert gold_sentences(first).trees == ((0, flat), before[1])
