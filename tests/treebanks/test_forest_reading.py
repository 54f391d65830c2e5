import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.errors import TreebankError
from spacy_incparse.patterns import Forest
from spacy_incparse.treebanks.bracket_scanner import BracketReader, normalized
from spacy_incparse.treebanks.reader import SkipLog, forest_of, parse_bracketed, read_text, read_trees
from spacy_incparse.trees.brackets import without_backslashes
from spacy_incparse.trees.forest import Symbols
from tests.reference.normalize import normalize
from tests.strategies import deep_tree, normalised_trees, raw_trees

BETWEEN = st.sampled_from(("", " ", "\n", "\r\n\n", "\n# a (comment\n", "\n*x* Copyright\n", "\n  "))
PIECES = st.sampled_from(("(", ")", " ", "\n", "\n#", "a", "`", "``", "(`` `)", "*x*", "\u00a0", "\v", "é", "狗"))


def scan(text):
    """The trees that the fast way reads; None where it leaves them to the reader."""
    symbols = Symbols()
    forest = Forest(symbols=symbols)
    data = without_backslashes(text).encode()
    return list(forest) if BracketReader(symbols).read(data, forest) >= 0 else None


@given(st.lists(st.tuples(raw_trees(), BETWEEN), min_size=1, max_size=3))
def test_trees_are_read_the_fast_way(trees):
    text = "".join(f"{tree}{between}" for tree, between in trees)
    assert scan(text) == [tree for tree, _ in trees]


@settings(max_examples=200)
@given(
    st.lists(raw_trees(4), max_size=2), st.lists(st.tuples(st.integers(0, 200), st.integers(0, 5), PIECES), max_size=3)
)
def test_whatever_is_read_the_fast_way_is_what_the_reader_reads(trees, changes):
    text = "\n".join(map(str, trees))
    for place, length, piece in changes:
        text = text[:place] + piece + text[place + length :]
    read = scan(text)
    if read is not None:
        assert read == list(parse_bracketed(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing",
        "(S (NN a)",
        "(S (NN a)))",
        "(S (NN a) b)",
        "(S (NP))",
        "(S ((NN a)))",
        "(S (NN a)) b",
        "(S (NN a b (NN c)))",
        "(",
    ],
)
def test_the_rest_is_left_to_the_reader(text):
    symbols = Symbols()
    forest = Forest([next(parse_bracketed("(NP (NN before))"))], symbols=symbols)
    assert BracketReader(symbols).read(text.encode(), forest) == -1
    assert BracketReader(symbols).read(f"(UH oh) {text}".encode(), forest) in (-1, 7)
    assert [str(tree) for tree in forest] in (["(NP (NN before))"], ["(NP (NN before))", "(UH oh)"])
    assert forest.n_nodes in (3, 5)


def test_a_backquote_is_read_by_its_tag():
    text = "(S (`` `) (NN `) (`` `) (NN a  b))"
    assert [tree.words for tree in scan(text)] == [("'", "`", "'", "a b")]


def test_deep_trees():
    tree = deep_tree(5_000)
    assert scan(str(tree)) == [tree]
    assert list(normalized(Forest([tree]))) == [tree]


@settings(max_examples=100)
@given(st.lists(st.one_of(raw_trees(), normalised_trees()), max_size=4))
def test_normalising(trees):
    expected = [tree for tree in map(normalize, trees) if tree is not None]
    forest = normalized(Forest(trees))
    assert list(forest) == expected
    again = Forest(expected)
    assert (len(forest), forest.n_nodes) == (len(again), again.n_nodes)


def test_files(tmp_path):
    (tmp_path / "a.mrg").write_text("( (S (NP-SBJ (-NONE- *)) (VP (VB go))) )\n( (NP (-NONE- 0)) )")
    (tmp_path / "b.mrg.gz").write_bytes(gzip.compress("(FRAG (NN été))".encode()))
    files = sorted(tmp_path.iterdir())
    reader = BracketReader(Symbols())
    found = [forest_of(read_text(path), path, reader) for path in files]
    assert [tree for forest in found for tree in forest] == list(read_trees(files))
    assert found[0].symbols is found[1].symbols
    normal = [str(tree) for path in files for tree in forest_of(read_text(path), path, is_normalized=True)]
    assert normal == ["(TOP (S (VP (VB go))))", "(TOP (FRAG (NN été)))"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("(S (NN a)\n", "bad.mrg:1:1: 1 closing bracket is missing"),
        ("(TOP (S (NN a))\n(TOP (S (NN b)))\n(TOP (S (NN c))))\n", "bad.mrg:1:1: 1 closing bracket is missing"),
        ("( (S (NN a))\n( (S (NN b)) )\n( (S (NN c)) ))\n", "bad.mrg:1:1: 1 closing bracket is missing"),
        ("", "bad.mrg:1:1: the file has no trees"),
        ("#FORMAT 3\n(", r"bad\.mrg:2:1: '\(' outside a sentence"),
        ("(S (NN 0=a) (NN 1=b) (NN 1=c))", r"bad\.mrg:1:1: the index '1=c'"),
    ],
)
def test_mistakes_are_those_of_the_reader(tmp_path, text, what):
    with pytest.raises(TreebankError, match=what):
        forest_of(text, tmp_path / "bad.mrg")
    log = SkipLog()
    forest_of(text, tmp_path / "bad.mrg", skip_bad=log)
    assert len(log) >= 1


@pytest.mark.treebanks
@pytest.mark.parametrize("bank", ["wsj", "gum", "craft"])
def test_real_treebanks(treebanks, bank):
    path = treebanks / bank / "dev.mrg"
    text = "\n".join(path.read_text(encoding="utf8").splitlines(keepends=True)[:2_000])
    trees = scan(text[: text.rindex("\n(")])
    assert trees == list(parse_bracketed(text[: text.rindex("\n(")]))
    assert list(normalized(Forest(trees))) == [tree for tree in map(normalize, trees) if tree is not None]
