import pytest
from hypothesis import given, settings

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.brackets import COLLINS, EvalbParams
from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.options import EXTRA, MISSING, WRONG_LABEL
from spacy_incparse.viz.page import Picture, compare, compared, markup
from tests.evaluation.pairs import tree_pairs
from tests.viz.markup import texts

GOLD = Tree.from_string(
    "(TOP (S (NP (PRP We)) (VP (VBD saw) (NP (NP (DT the) (NN man)) (PP (IN with) (NP (DT a) (NN dog)))) "
    "(NP (NN yesterday))) (. .)))"
)
PARSED = Tree.from_string(
    "(TOP (S (NP (PRP We)) (VP (VBD saw) (NP (DT the) (NN man)) (PP (IN with) (NP (DT a) (NN dog) (NN yesterday)))) "
    "(. .)))"
)


def marked(tree, marks):
    return [(mark, tree.arrays.labels[i], " ".join(tree.root._at(i).words)) for i, mark in sorted(marks.items())]


def test_missing_and_extra_brackets():
    difference = compare(GOLD, PARSED)
    missing = [("NP", "the man with a dog"), ("PP", "with a dog"), ("NP", "a dog"), ("NP", "yesterday")]
    assert marked(GOLD, difference.gold) == [(MISSING, *node) for node in missing]
    extra = [("PP", "with a dog yesterday"), ("NP", "a dog yesterday")]
    assert marked(PARSED, difference.parsed) == [(EXTRA, *node) for node in extra]
    assert difference.summary == "4 missing, 2 too many · P 66.7 R 50.0 F 57.1"


def test_a_wrong_label_is_no_missing_bracket():
    other = Tree.from_string(str(GOLD).replace("(NP (NN yesterday))", "(ADVP (NN yesterday))"))
    difference = compare(GOLD, other)
    assert marked(GOLD, difference.gold) == [(WRONG_LABEL, "NP", "yesterday")]
    assert marked(other, difference.parsed) == [(WRONG_LABEL, "ADVP", "yesterday")]
    assert difference.summary == "1 with another label · P 87.5 R 87.5 F 87.5"


def test_what_evalb_takes_for_equal_is_no_difference():
    gold = Tree.from_string("(ROOT (S (NP-SBJ (PRP She)) (VP (VBD sat) (PRT (RP down)) (. .))))")
    parsed = Tree.from_string("(TOP (S (NP (PRP She)) (VP (VBD sat) (ADVP (RB down))) (. .)))")
    assert compare(gold, parsed).summary == "no difference · P 100.0 R 100.0 F 100.0"
    assert compare(GOLD, GOLD).gold == compare(GOLD, GOLD).parsed == {}


def test_traces_may_be_in_one_tree_only():
    gold = Tree.from_string(
        "(S (NP-SBJ-1 (PRP She)) (VP (VBD left) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB eat))))))"
    )
    parsed = Tree.from_string("(TOP (S (NP (PRP She)) (VP (VBD left) (S (VP (TO to) (NP (VB eat)))))))")
    difference = compare(gold, parsed)
    assert marked(gold, difference.gold) == [(WRONG_LABEL, "VP", "eat")]
    assert marked(parsed, difference.parsed) == [(WRONG_LABEL, "NP", "eat")]
    clause, other = GOLD[0][1], PARSED[0][1]  # compared by their own words
    assert marked(GOLD, compare(clause, other).gold) == marked(GOLD, compare(GOLD, PARSED).gold)


@given(tree_pairs())
@settings(max_examples=80, deadline=None)
def test_brackets_are_counted_as_evalb_does(pair):
    gold, parsed = pair
    for params in (COLLINS, EvalbParams(labeled=False), EvalbParams()):
        difference = compare(gold, parsed, params)
        scores = score_trees([gold], [parsed], params=params)
        n_wrong = sum(mark is WRONG_LABEL for mark in difference.gold.values())
        assert n_wrong == sum(mark is WRONG_LABEL for mark in difference.parsed.values())
        n_matched, n_gold, n_parsed = difference.agreement
        assert (len(difference.gold), len(difference.parsed)) == (n_gold - n_matched, n_parsed - n_matched)
        if scores.all.n_valid:
            assert difference.agreement == scores.all.brackets


def test_other_words_cannot_be_compared():
    other = Tree.from_string(str(GOLD).replace("dog", "cat"))
    with pytest.raises(IncparseError, match="word 7 is 'cat', and 'dog' in gold"):
        compare(GOLD, other)
    with pytest.raises(IncparseError, match="a tree of 1 words, 'We', cannot be compared with one of 9"):
        compare(GOLD, GOLD[0][0])


def test_differences_are_drawn_in_colour_and_with_a_sign():
    for style in ("tree", "spans"):
        picture = markup(Picture([compared(GOLD, PARSED)]), style)
        assert {"− NP", "− PP", "+ NP", "+ PP", "gold"} <= set(texts(picture))
        assert "parsed: 4 missing, 2 too many · P 66.7 R 50.0 F 57.1" in texts(picture)
        assert picture.count(MISSING.border) == 4
        assert picture.count(EXTRA.border) == 2
    assert "[+ PP" in markup(Picture([compared(GOLD, PARSED)]), "brackets")
