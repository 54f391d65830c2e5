import re
from collections import Counter
from pathlib import Path

import pytest

from spacy_incparse.treebanks.reader import normalize, read_trees
from spacy_incparse.trees.tree import Tree

ASSETS = Path(__file__).parents[1] / "assets"
TRAIN, DEV = ASSETS / "sample-train.mrg", ASSETS / "sample-dev.mrg"
PENN_TAGS = (
    "CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH "
    "VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB # $ . , : `` '' -LRB- -RRB- -NONE-"
)


@pytest.fixture(scope="module")
def train() -> list[Tree]:
    return list(read_trees(TRAIN))


@pytest.fixture(scope="module")
def dev() -> list[Tree]:
    return list(read_trees(DEV))


def sentence(tree: Tree) -> str:
    return " ".join(leaf.words[0] for leaf in tree.preterminals() if leaf.label != "-NONE-")


def traces(tree: Tree) -> list[str]:
    return [leaf.words[0] for leaf in tree.preterminals() if leaf.label == "-NONE-"]


def test_sentences_are_unique(train, dev):
    assert [text for text, n in Counter(map(sentence, train + dev)).items() if n > 1] == []


def test_tags_are_penn_tags(train, dev):
    assert {leaf.label for tree in train + dev for leaf in tree.preterminals()} <= set(PENN_TAGS.split())


def test_indices_of_traces_and_gaps_have_one_antecedent(train, dev):
    for tree in train + dev:
        phrases = [node.label for node in tree.preorder() if not node.is_preterminal]
        antecedents = Counter(match[1] for label in phrases if (match := re.search(r"-(\d+)(?:=|$)", label)))
        used = {match[1] for word in traces(tree) if (match := re.search(r"-(\d+)$", word))}
        used |= {match[1] for label in phrases if (match := re.search(r"=(\d+)$", label))}
        assert used == set(antecedents), sentence(tree)
        assert set(antecedents.values()) <= {1}, sentence(tree)


def test_normalising_keeps_the_words(train, dev):
    for tree in train + dev:
        assert " ".join(normalize(tree).words) == sentence(tree)
