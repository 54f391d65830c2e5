import re

import pytest

from spacy_incparse.errors import TreebankError
from spacy_incparse.treebanks.reader import SkipLog, forest_of, parse_bracketed, read_text, read_treebank, read_trees
from spacy_incparse.trees.tree import Tree

GOOD = "(S (NP (DT the) (NN cat)) (VP (VBD sat)))"
ADVICE = r"expected a POS node .*--no-tags \(in Python: tags=False"


@pytest.fixture
def write(tmp_path):
    def _write(text):
        path = tmp_path / "x.mrg"
        path.write_text(text, encoding="utf8")
        return path

    return _write


@pytest.mark.parametrize(
    ("tree", "column", "what"),
    [
        ("(S (NP the cat) (VP sat))", 4, "the node NP has 2 words, 'the cat'"),
        ("(S (NP (DT the) cat) (VP sat))", 17, "the node NP has the word 'cat' next to other nodes"),
        ("(S (VP sat (PP (IN on) (NP it))))", 8, "the node VP has both the word 'sat' and nodes in it"),
    ],
)
def test_words_without_pos_nodes_are_refused_everywhere(write, tree, column, what):
    path = write(f"{GOOD}\n{tree}\n")
    message = rf"{re.escape(str(path))}:2:{column}: {what}.*{ADVICE}"
    for read in (lambda: list(read_trees(path)), lambda: read_treebank(path), lambda: forest_of(read_text(path), path)):
        with pytest.raises(TreebankError, match=message):
            read()
    with pytest.raises(TreebankError, match=rf":1:{column}: {what}.*{ADVICE}"):
        Tree.from_string(tree)
    log = SkipLog()
    assert [str(read) for read in read_trees(path, skip_bad=log)] == [GOOD]
    assert [(error.line, error.column) for error in log] == [(2, column)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(S (NP the cat) (VP sat))", "(S (NP (X the) (X cat)) (VP (X sat)))"),
        ("(S (NP (DT the) cat) (VP sat on))", "(S (NP (DT (X the)) (X cat)) (VP (X sat) (X on)))"),
        ("(S (VP sat\n (PP on (NP it) -RRB-)))", "(S (VP (X sat) (PP (X on) (NP (X it)) (X -RRB-))))"),
        ("( (NP\tthe  cat ) )", "( (NP (X the) (X cat)))"),
        ("(NP per-U0020-cent)", "(NP (X per-U0020-cent))"),
    ],
)
def test_they_are_read_on_request(write, text, expected):
    path = write(f"{text}\n{text}")
    expected = expected.replace("( ", "(")
    assert str(Tree.from_string(text, tags=False)) == expected
    assert [str(tree) for tree in parse_bracketed(text, tags=False)] == [expected]
    assert [str(tree) for tree in read_trees(path, tags=False)] == [expected, expected]
    forest = forest_of(read_text(path), path, tags=False)
    assert [str(tree) for tree in forest] == [expected, expected]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("(S (NP (DT the) cat) (VP (VBD sat)))", "next to other nodes; expected a POS node for it"),
        ("(S (NP (DT the) (X big cat)) (VP (VBD sat) (RB down)))", "2 words, 'big cat'; expected a POS node for each"),
        ("(S (NP (DT the the) (NNS cats cat)) (VP (VBP sleep sleep)))", "'the the'; expected one: leave the lemmas"),
        ("(S (NP (ART die die) (N Hunde Hund)) (V bellen bellen))", "'die die'; expected one: leave the lemmas"),
        ("(S (NP (DT (the)) (NN (cat))))", "(the) is empty; expected a word, without brackets"),
    ],
)
def test_what_has_tags_is_not_to_be_read_without_them(write, text, what):
    """Their POS nodes would become phrases."""
    with pytest.raises(TreebankError) as caught:
        list(read_trees(write(f"{text}\n" + GOOD * ("lemmas" not in what))))
    assert what in str(caught.value)
    assert "--no-tags" not in str(caught.value)


def test_a_treebank_without_tags_is_normalized(write):
    path = write("( (S (NP-SBJ the cat) (VP sat)) )\n(X (X oh))")
    expected = ["(TOP (S (NP (X the) (X cat)) (VP (X sat))))", "(TOP (X (X oh)))"]
    assert [str(tree) for tree in read_treebank(path, tags=False)] == expected


@pytest.mark.parametrize("text", ["the (NP cat)", "(NP (X ))", "(NP cat", "(NP cat))", "(S (NP a) (()))"])
def test_without_tags_malformed_brackets_are_refused_too(text):
    with pytest.raises(TreebankError):
        list(parse_bracketed(text, tags=False))


@pytest.mark.parametrize("label", ["NN", "CD", "NN-HLN", "JJ|VBG", "NNP=2", "-NONE-", "``"])
def test_a_penn_tag_may_stand_over_a_word_with_blanks(label):
    assert Tree.from_string(f"(NP ({label} 1 1/2))").words == ("1 1/2",)


@pytest.mark.parametrize("label", ["CARD", "JJ|NP", "PP", "NNX"])
def test_another_label_needs_evidence_in_the_text(write, label):
    several = f"(NP ({label} 1 1/2))"
    single = f"(NP ( {label}\n 2 ) (NN cats))"
    with pytest.raises(TreebankError, match=f"the node {re.escape(label)} has 2 words"):
        list(read_trees(write("\n".join([several, *[single] * 8]))))
    trees = list(read_trees(write("\n".join([several, *[single] * 9]))))
    assert (trees[0].words, len(trees)) == (("1 1/2",), 10)
    over_nodes = f"(S ({label} (NN cats)))"
    with pytest.raises(TreebankError, match=f"the node {re.escape(label)} has 2 words"):
        list(read_trees(write("\n".join([several, *[single] * 20, over_nodes]))))
