import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.cli.parse import ParsedSentence, json_line
from spacy_incparse.errors import IncparseError, TreebankError
from spacy_incparse.parsing.parse import Parse
from spacy_incparse.tokens import raw_to_penn
from spacy_incparse.treebanks.reader import parse_bracketed
from spacy_incparse.trees.builder import make_tree
from spacy_incparse.trees.export import escape
from spacy_incparse.trees.tree import Tree
from tests.strategies import raw_trees

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


@pytest.mark.parametrize(
    ("string", "place", "what"),
    [
        ("", "1:1", "found no tree; expected '(' and a tree"),
        ("owl", "1:1", "the word 'owl' outside a tree; expected '('"),
        (")", "1:1", "')' without a '(' before it; expected '(' and a tree"),
        ("(S (NP (NN owl)) ())", "1:18", "a node without a label under S; expected a label after '('"),
        ("(S\n  (NP))", "2:6", "the node (NP) is empty"),
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


RAIN = Tree.from_string("(TOP (S (NP (PRP It)) (VP (VBZ rains))))")


def test_a_tree_is_described_by_tokens_and_spans():
    assert RAIN.to_dict() == {
        "text": "It rains",
        "tokens": [
            {"text": "It", "start": 0, "end": 2, "tag": "PRP"},
            {"text": "rains", "start": 3, "end": 8, "tag": "VBZ"},
        ],
        "spans": [
            {"label": "TOP", "start": 0, "end": 2},
            {"label": "S", "start": 0, "end": 2},
            {"label": "NP", "start": 0, "end": 1},
            {"label": "VP", "start": 1, "end": 2},
        ],
    }


@given(raw_trees())
def test_every_node_comes_back(tree):
    for node in tree.preorder():
        data = json.loads(json.dumps(node.to_dict()))
        assert Tree.from_dict(data) == node
        for token in data["tokens"]:
            assert data["text"][token["start"] : token["end"]] == token["text"]


def test_what_the_parse_command_prints_is_read():
    sentence = ParsedSentence(1, 0, "It  rains", [0, 4], [2, 9], [Parse(RAIN, 1.5, "beam")])
    printed = json_line(1, sentence, True, True)
    assert Tree.from_dict(json.loads(printed)) == RAIN


def spans(*triples):
    return [{"label": label, "start": start, "end": end} for label, start, end in triples]


TOKENS = [{"text": "It", "tag": "PRP"}, {"text": "rains", "tag": "VBZ"}]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "needs a list 'tokens'"),
        ({"tokens": TOKENS, "spans": "S"}, "needs a list 'spans'"),
        ({"tokens": [TOKENS[0], {"text": "rains"}], "spans": []}, r"tokens\[1\] needs 'tag', which is a str"),
        ({"tokens": TOKENS, "spans": [{"label": "S", "start": 0, "end": True}]}, r"spans\[0\] needs 'end'.* a int"),
        ({"tokens": [], "spans": []}, "at least one token"),
        ({"tokens": TOKENS, "spans": []}, "expected one that covers all 2 tokens"),
        (
            {"tokens": TOKENS, "spans": spans(("S", 0, 1))},
            r"spans\[0\] \(S 0-1\) is the first; expected one that covers",
        ),
        ({"tokens": TOKENS, "spans": spans(("S", 0, 2), ("NP", 1, 3))}, r"spans\[1\] .* is not within the 2 tokens"),
        ({"tokens": TOKENS, "spans": spans(("S", 0, 2), ("NP", 1, 1))}, "is not within"),
        ({"tokens": TOKENS, "spans": spans(("S", 0, 2), ("VP", 1, 2), ("NP", 0, 1))}, "expected pre-order"),
        ({"tokens": TOKENS, "spans": spans(("S", 0, 2), ("NP", 0, 1), ("X", 0, 2))}, "crosses the end of NP 0-1"),
    ],
)
def test_a_dict_that_is_no_tree_is_refused_by_its_entry(data, message):
    with pytest.raises(IncparseError, match=message):
        Tree.from_dict(data)


COMMANDS = {
    r"\textbackslash": "\\", r"\textasciitilde": "~", r"\textasciicircum": "^", r"\textless": "<",
    r"\textgreater": ">", r"\textbar": "|", r"\char34": '"',
}  # fmt: skip
TREE = Tree.from_string("(S (NP-SBJ (PRP$ My) (NN owl)) (VP (VBD ate) (NP (CD 50) (NN %))) (: --))")


def plain(match):
    command = match.group()
    return COMMANDS.get(command.removesuffix("{}"), command.removeprefix("\\").replace("{}", ""))


def test_latex():
    assert TREE.to_latex() == (
        "% \\usepackage{forest}\n"
        "\\begin{forest}\n"
        "  where n children=0{tier=word}{}\n"
        "[{S}\n"
        "  [{NP-SBJ} [{PRP\\$} [{My}]] [{NN} [{owl}]]]\n"
        "  [{VP} [{VBD} [{ate}]] [{NP} [{CD} [{50}]] [{NN} [{\\%}]]]]\n"
        "  [{:} [{-{}-}]]]\n"
        "\\end{forest}\n"
    )
    assert TREE[0].to_latex("qtree").split("\n")[1:3] == ["\\Tree", "[.{NP-SBJ} [.{PRP\\$} {My} ] [.{NN} {owl} ] ]"]
    with pytest.raises(IncparseError, match="'tikz': it must be one of forest, qtree"):
        TREE.to_latex("tikz")


@given(st.text())
def test_escaped_text_is_read_back(text):
    """Blanks are spaces then, and control characters nothing."""
    expected = re.sub(r"[\x00-\x1f\x7f-\x9f]", "", re.sub(r"\s+", " ", text))
    assert re.sub(rf"(?:{'|'.join(map(re.escape, COMMANDS))})\{{\}}|\{{\}}|\\.", plain, escape(text)) == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("50%", "50\\%"),
        ("a_b{c}", "a\\_b\\{c\\}"),
        ("\\input{x}", "\\textbackslash{}input\\{x\\}"),
        ("``", "`{}`"),
        ("a\n\nb\x00", "a b"),
        ("日本語", "日本語"),
    ],
)
def test_what_means_something_to_latex_is_escaped(text, code):
    assert escape(text) == code
