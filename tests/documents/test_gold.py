import pytest
import spacy
from hypothesis import given
from spacy.tokens import Doc
from spacy.training import Example

import spacy_incparse
from spacy_incparse.documents.gold import gold_sentences, trees_to_docs
from spacy_incparse.errors import IncparseError
from spacy_incparse.treebanks.reader import parse_bracketed
from spacy_incparse.trees.tree import Tree
from tests.strategies import normalised_trees

VOCAB = spacy.blank("en").vocab
BANK = """
(TOP (S (`` ") (NP (DT The) (NN owl)) (VP (VBZ does) (RB n't) (VP (VB sleep))) ('' ") (. .)))
(TOP (S (NP (NNS Mice)) (VP (VBD ran)) (. .)))
(TOP (NP (NN Weather)))
"""


def docs_of_bank(**options):
    return list(trees_to_docs(parse_bracketed(BANK), VOCAB, **options))


def test_a_doc_has_trees_tags_and_bounds():
    assert [len(doc) for doc in docs_of_bank()] == [8, 3, 1]
    first, second = docs_of_bank(n_sents=2)
    assert first._.trees + second._.trees == tuple(parse_bracketed(BANK))
    assert [sentence._.tree for sentence in first.sents] == list(first._.trees)
    assert [token.tag_ for token in first] == ["``", "DT", "NN", "VBZ", "RB", "VB", "''", ".", "NNS", "VBD", "."]
    assert [token.text for token in first[:2]] == ['"', "The"]


def test_spaces_are_unknown_unless_asked_for():
    assert all(doc.has_unknown_spaces for doc in docs_of_bank())
    doc = docs_of_bank(natural_spacing=True, n_sents=3)[0]
    assert not doc.has_unknown_spaces
    assert doc.text == '"The owl doesn\'t sleep". Mice ran. Weather'
    assert doc._.trees == tuple(parse_bracketed(BANK))


@given(normalised_trees())
def test_any_tree_comes_back(tree):
    for natural_spacing in (False, True):
        doc = next(trees_to_docs([tree], VOCAB, natural_spacing=natural_spacing))
        assert doc._.trees == (tree,)
        assert doc[:]._.tree == tree


TREES = """
(TOP (S (NP (PRP We)) (VP (MD can) (RB not) (VP (VB go)))) (. .))
(TOP (S (NP (DT The) (JJ old) (NN owl)) (VP (VBD slept) (PP (IN in) (NP (NN-NN half-light)))) (. .)))
"""


def example(words, spaces=None, n_sents=2):
    reference = next(iter(trees_to_docs(parse_bracketed(TREES), VOCAB, n_sents=n_sents)))
    return Example(Doc(VOCAB, words=words, spaces=spaces), reference)


GOLD_WORDS = ["We", "can", "not", "go", ".", "The", "old", "owl", "slept", "in", "half-light", "."]


def test_other_tokens_are_projected():
    words = ["We", "cannot", "go", ".", "The", "old", "owl", "slept", "in", "half", "-", "light", "."]
    gold = gold_sentences(example(words))
    assert gold.n_skipped == 0
    assert [first for first, _ in gold.trees] == [0, 4]
    assert str(gold.trees[0][1]) == "(TOP (S (NP (PRP We)) (VP (MD cannot) (VP (VB go)))) (. .))"
    assert gold.trees[1][1].words == tuple(words[4:])


def test_gold_tokens_give_the_gold_trees_and_whitespace_does_not_count():
    words = ["We", " ", "can", "not", "go", ".", "\n\n", "The", "old", "owl", "slept", "in", "half-light", ".", " "]
    for tokens in (GOLD_WORDS, words):
        gold = gold_sentences(example(tokens))
        assert (gold.trees, gold.n_skipped) == (tuple(zip([0, 5], parse_bracketed(TREES), strict=True)), 0)


def test_a_sentence_that_loses_much_is_skipped():
    words = ["Wecan", "not", "go", ".", "The", "old", "owl", "slept", "in", "half-light", "."]
    gold = gold_sentences(example(words))
    assert gold.n_skipped == 1  # of three phrases below S two begin or end inside "Wecan"
    assert [first for first, _ in gold.trees] == [4]


def test_a_token_across_a_sentence_bound_skips_both():
    words = ["We", "can", "not", "go", ".The", "old", "owl", "slept", "in", "half-light", "."]
    gold = gold_sentences(example(words))
    assert (gold.trees, gold.n_skipped) == ((), 2)


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


OWL = "(S (NP-SBJ (DT The) (JJ old) (NN owl)) (VP (VBD slept) (NP (-NONE- *T*-1))) (. .))"
MICE = "(TOP (S (NP (NNS Mice)) (VP (VBP run) (-LRB- -LRB-) (ADVP (RB fast)) (-RRB- -RRB-)) (. .)))"


@pytest.fixture
def nlp():
    return spacy.blank("en")


def words_of(doc):
    return [token.text for token in doc]


def test_an_example_has_the_normalized_tree_and_its_words(nlp):
    found = spacy_incparse.example(nlp, OWL)
    assert words_of(found.predicted) == words_of(found.reference) == ["The", "old", "owl", "slept", "."]
    assert [str(tree) for tree in found.reference._.trees] == [
        "(TOP (S (NP (DT The) (JJ old) (NN owl)) (VP (VBD slept)) (. .)))"
    ]
    assert [token.tag_ for token in found.reference] == ["DT", "JJ", "NN", "VBD", "."]
    assert found.predicted._.trees == ()
    assert words_of(spacy_incparse.example(nlp, MICE).predicted) == ["Mice", "run", "(", "fast", ")", "."]


def test_the_tokenizer_on_request(nlp):
    found = spacy_incparse.example(nlp, "(S (NP (PRP We)) (VP (MD ca) (RB n't) (VP (VB wait))) (. .))", tokenize=True)
    assert found.predicted.text == found.reference.text == "We can't wait."
    assert words_of(found.predicted) == words_of(nlp.make_doc("We can't wait."))
    assert not found.predicted.has_annotation("SENT_START")


@pytest.mark.parametrize("given", [[OWL, MICE], f"{OWL}\n{MICE}", [Tree.from_string(OWL), MICE], iter([OWL, MICE])])
def test_several_trees(nlp, given):
    assert [words_of(found.reference)[0] for found in spacy_incparse.examples(nlp, given)] == ["The", "Mice"]
    assert [len(spacy_incparse.examples(nlp, one)) for one in (OWL, Tree.from_string(OWL), [])] == [1, 1, 0]


def test_a_node_of_a_larger_tree(nlp):
    node = Tree.from_string(MICE).phrases("S")[0]
    assert str(spacy_incparse.example(nlp, node).reference._.trees[0]).startswith("(TOP (S (NP (NNS Mice))")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("", "'' contains no tree"),
        ("(S (NP (NN owl)", "<string>.*1"),
        ("(S (-NONE- *))", "no words except traces"),
        (OWL + MICE, "takes one tree, not 2: examples"),
        ("(S (A -EMPTY-))", r"the empty word \(-EMPTY-\) cannot be a token"),
        ([OWL, 3], "has to be a Tree, or brackets in a string, not 3"),
    ],
)
def test_what_is_no_tree(nlp, given, message):
    with pytest.raises(IncparseError, match=message):  # a TreebankError is one
        spacy_incparse.example(nlp, given)


def test_a_forgotten_pipeline():
    with pytest.raises(IncparseError, match=r"first argument has to be a pipeline, as in example\(nlp, "):
        spacy_incparse.example(OWL, MICE)
