import pytest
from hypothesis import given

from spacy_incparse.errors import TreebankError
from spacy_incparse.tokens import raw_to_penn
from spacy_incparse.treebanks.reader import parse_bracketed
from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.tree import Tree
from tests.strategies import deep_tree, raw_trees

QUOTE = make_tree("S", [make_tree("``", '"'), make_tree("NN", "pen(s)"), make_tree("''", '"'), make_tree(".", "1/2")])


def test_words_are_raw_or_in_penn_spelling():
    assert QUOTE.to_string() == "(S (`` \") (NN pen-LRB-s-RRB-) ('' \") (. 1/2))"
    assert QUOTE.to_string(ptb=True) == "(S (`` ``) (NN pen-LRB-s-RRB-) ('' '') (. 1\\/2))"
    assert QUOTE.to_string(width=30) == QUOTE.pretty(30)
    assert QUOTE.to_string(width=30, ptb=True).split("\n")[1] == "  (`` ``)"


@given(raw_trees())
def test_every_string_is_read_back(tree):
    for node in tree.preorder():
        for string in (str(node), node.pretty(30), node.to_string(ptb=True), node.to_string(width=20, ptb=True)):
            if not node.is_leaf or node.label:
                assert Tree.from_string(string) == node
    penn = tree.to_string(ptb=True)
    assert list(next(parse_bracketed(penn)).words) == list(tree.words)
    assert all(word in penn for word in raw_to_penn(tree.words, tree.tags))


def test_deep_strings_are_read_back():
    tree = deep_tree(5_000)
    assert Tree.from_string(str(tree)) == tree
    less_deep = deep_tree(1_000)  # the indentation alone would take megabytes
    assert Tree.from_string(less_deep.pretty()) == less_deep


@pytest.mark.parametrize(
    ("string", "place", "what"),
    [
        ("", "1:1", "found no tree; expected '(' and a tree"),
        ("\n# a comment\n", "3:1", "found no tree"),
        ("owl", "1:1", "the word 'owl' outside a tree; expected '('"),
        (")", "1:1", "')' without a '(' before it; expected '(' and a tree"),
        ("(S (NP (NN owl)) ())", "1:18", "a node without a label under S; expected a label after '('"),
        ("(S\n  (NP))", "2:6", "the node (NP) is empty; expected a word or nodes in it"),
        ("(S (DT the) owl)", "1:13", "has the word 'owl' next to other nodes; expected a POS node for it"),
        ("(NP the (NN owl))", "1:5", "has both the word 'the' and nodes in it; expected a POS node for it"),
        ("(S\n (NP (NN owl", "2:10", "the text ends after the word 'owl'; expected ')'"),
        ("(S (NP (NN owl)", "1:1", "2 closing brackets are missing in the tree that begins here; expected them before"),
        ("(S (NN owl)) (", "1:14", "'(' follows the tree; expected the end of the string"),
        ("(NN owl)\n(NN cat)", "2:1", "'(NN cat)' follows the tree"),
    ],
)
def test_a_broken_string_is_refused_with_its_place(string, place, what):
    with pytest.raises(TreebankError) as refused:
        Tree.from_string(string)
    assert str(refused.value).startswith(f"<string>:{place}: ")
    assert what in str(refused.value)
