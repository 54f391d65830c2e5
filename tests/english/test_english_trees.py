"""The trees of English people write are Penn trees, a sentence each, by construction, half of them for the end."""

from collections import Counter
from pathlib import Path

import pytest

from spacy_incparse.treebanks.reader import normalize, read_trees
from spacy_incparse.trees.labels import PHRASES, TAGS
from spacy_incparse.trees.tree import Tree

FOLDER = Path(__file__).parent
PARTS = ("seen", "unseen")
HEADING = "# construction: "
OTHERS = {"TOP", "NML", "EDITED", "CAPTION", "CIT", "HEADING", "TITLE", "HYPH", "AFX", "ADD", "GW", "NFP", "XX"}
PENN = {*PHRASES, *TAGS} - OTHERS


def lines(part: str) -> list[str]:
    return (FOLDER / f"{part}.mrg").read_text(encoding="utf8").splitlines()


@pytest.fixture(scope="module", params=PARTS)
def pairs(request) -> list[tuple[str, Tree]]:
    """Each tree of a part, without the wrapper, with its line."""
    trees = read_trees(FOLDER / f"{request.param}.mrg")
    return [(line, tree.children[0]) for line, tree in zip(lines(request.param)[1::2], trees, strict=True)]


def test_each_construction_has_as_many_trees_in_both_parts():
    seen, unseen = (Counter(line.removeprefix(HEADING) for line in lines(part)[::2]) for part in PARTS)
    assert seen == unseen
    assert seen.total() == 75
    assert min(seen.values()) >= 3
    assert all(line.startswith(HEADING) for part in PARTS for line in lines(part)[::2])


def test_trees_are_written_as_they_are_read_and_normalised(pairs):
    for line, tree in pairs:
        assert line == f"( {tree.to_string(ptb=True)} )"
        assert str(normalize(tree)) == f"(TOP {tree.to_string()})", line


def test_labels_and_tags_are_the_penn_treebanks(pairs):
    for line, tree in pairs:
        assert {node.label for node in tree.preorder() if not node.is_preterminal} <= PENN - set(TAGS), line
        assert {leaf.label for leaf in tree.preterminals()} <= PENN & set(TAGS), line


def test_no_two_sentences_are_alike():
    """Nor is one in the sample treebank, which models may learn from."""
    paths = [*(FOLDER / f"{part}.mrg" for part in PARTS), *FOLDER.parents[1].glob("assets/*.mrg")]
    words = Counter(" ".join(normalize(tree).words).casefold() for path in paths for tree in read_trees(path))
    assert [text for text, n in words.items() if n > 1] == []
