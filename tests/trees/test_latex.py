import re

import pytest
from hypothesis import given

from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.builder import TreeBuilder, make_tree
from spacy_incparse.trees.export import escape
from spacy_incparse.trees.tree import Tree
from tests.strategies import deep_tree, raw_trees

COMMANDS = {
    r"\textbackslash": "\\", r"\textasciitilde": "~", r"\textasciicircum": "^", r"\textless": "<",
    r"\textgreater": ">", r"\textbar": "|", r"\char34": '"',
}  # fmt: skip
TREE = Tree.from_string("(S (NP-SBJ (PRP$ My) (NN owl)) (VP (VBD ate) (NP (CD 50) (NN %))) (: --))")


def unescape(text):
    text = re.sub(r"\\(?:textbackslash|textascii\w+|textless|textgreater|textbar|char34)\{\}|\{\}|\\.", plain, text)
    return text


def plain(match):
    command = match.group()
    return COMMANDS.get(command.removesuffix("{}"), command.removeprefix("\\").replace("{}", ""))


def typeset(text):
    """Return what is left of a word: blanks are spaces, control characters nothing."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", "", re.sub(r"\s+", " ", text))


def read_back(code):
    """Read a picture as LaTeX would: nodes in brackets, their text in braces, by counting."""
    builder, stack, position = TreeBuilder(), [], code.index("[")
    while position < len(code):
        if code[position] == "[":
            position = code.index("{", position)
            label, position = group(code, position)
            stack.append((label, []))
        elif code[position] == "{":  # a word of qtree
            word, position = group(code, position)
            stack[-1][1].append(word)
        elif code[position] == "]":
            label, children = stack.pop()
            if not stack:
                return as_tree(label, children)
            stack[-1][1].append((label, children))
            position += 1
        else:
            assert code[position].isspace()
            position += 1
    raise AssertionError(f"not closed: {builder}")


def group(code, position):
    depth, begin = 0, position
    while True:
        if code[position] == "\\":
            position += 1
        elif code[position] in "{}":
            depth += 1 if code[position] == "{" else -1
        position += 1
        if not depth:
            return unescape(code[begin + 1 : position - 1]), position


def as_tree(label, children):
    if not children:
        return label
    made = [child if isinstance(child, str) else as_tree(*child) for child in children]
    return make_tree(label, made[0] if isinstance(made[0], str) else made)


def test_forest():
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


def test_qtree():
    assert TREE[0].to_latex("qtree").split("\n")[1:3] == [
        "\\Tree",
        "[.{NP-SBJ} [.{PRP\\$} {My} ] [.{NN} {owl} ] ]",
    ]


def test_any_other_style_is_refused():
    with pytest.raises(IncparseError, match="'tikz'; expected one of forest, qtree"):
        TREE.to_latex("tikz")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("50%", "50\\%"),
        ("a_b{c}", "a\\_b\\{c\\}"),
        ("\\input{x}", "\\textbackslash{}input\\{x\\}"),
        ("``", "`{}`"),
        ("?`", "?{}`"),
        ("a\n\nb\x00", "a b"),
        ("], [x=1", "], [x=1"),
        ("שלום", "שלום"),
        ("日本語", "日本語"),
    ],
)
def test_what_means_something_to_latex_is_escaped(text, code):
    assert escape(text) == code


@given(raw_trees())
def test_what_is_drawn_is_the_tree(tree):
    expected = str(rewritten(tree))
    assert str(read_back(tree.to_latex().split("{}\n", 1)[1])) == expected
    assert str(read_back(tree.to_latex("qtree").split("\\Tree\n", 1)[1])) == expected


def rewritten(tree):
    builder, behind = TreeBuilder(), []
    for node in tree.preorder():
        if node.is_leaf:
            builder.leaf(typeset(node.label), typeset(node.words[0]))
        else:
            builder.open(typeset(node.label))
            behind.append(node.index + node.size)
        while behind and behind[-1] == node.index + 1:
            builder.close()
            behind.pop()
    return builder.finish()


def test_deep_trees():
    code = deep_tree(5_000).to_latex()
    assert code.count("[") == code.count("]")
