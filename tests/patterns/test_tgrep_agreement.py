"""The same hits as nltk's tgrep on the operators that both read. Needs nltk with pyparsing; skipped where they are not.

tgrep knows no label without its functions, hence `raw_labels`. Its words have no parents (see nltk's documentation), so
that nodes with a constraint must not be words here.
"""

import functools
import warnings
from pathlib import Path

import pytest

from spacy_incparse.patterns import compile
from spacy_incparse.treebanks.reader import read_trees

pytest.importorskip("pyparsing", reason="nltk's tgrep needs pyparsing")
nltk_tree = pytest.importorskip("nltk.tree", reason="nltk is not installed")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    tgrep = pytest.importorskip("nltk.tgrep")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ASSETS = Path(__file__).parents[2] / "assets"
FIGURES = (
    "NP < PP", "VP << NP", "S < NP < VP", "NP !< DT", "PP > VP", "NP $. VP", "SBAR << (NP < CD)", "NP <: NN",
    "VP < (VB $.. NP)", "/^W/ > SBAR",
)  # fmt: skip
OPERATORS = (
    "NP < NN", "NN > NP", "S << PP", "PP >> VP", "NP <, DT", "NP <- NN", "NP <: NNP", "NNP >: NP", "NP $. VP",
    "VP $, NP", "DT $.. NN", "NN $,, DT", "NN . IN", "IN , NN", "NP !<< PP", "NP !> PP", "S !$. __", "/^VB/ > VP",
    "NP < /^NN/", "NP|VP < PP", "NP [< NN | < NNS] !< DT", "NP < (DT $. NN) > VP", "S .. VP", "VP ,, NP", "NP $ PP",
    "NP >, S", "VP >- S", "NP <2 NN", "NP <-2 JJ", "NN >2 NP", "NP <<, DT", "NP <<: NN", "NN >>: NP", "NN < /ing$/",
    "IN < of", 'S < ("." !$. __)', "/-SBJ/ $.. VP", "-NONE- < /^\\*/", "__ < -NONE-", 'i@"np" < i@/^nn$/',
)  # fmt: skip


@functools.cache
def tgrep_compiled(pattern):
    return tgrep.tgrep_compile(pattern)


def to_nltk(tree):
    if tree.is_preterminal:
        return nltk_tree.ParentedTree(tree.label, [tree.words[0]])
    return nltk_tree.ParentedTree(tree.label, [to_nltk(child) for child in tree])


def position(node, is_word):
    path = [0] if is_word else []
    while node.parent is not None:
        path.append([child.index for child in node.parent].index(node.index))
        node = node.parent
    return tuple(path[::-1])


def hits(pattern, trees):
    found = [[] for _ in trees]
    for match in compile(pattern, raw_labels=True).search(trees):
        found[match.number].append(position(match.node, match.is_word))
    return found


def assert_agreement(pattern, trees, nltk_trees):
    expected = [sorted(positions) for positions in tgrep.tgrep_positions(tgrep_compiled(pattern), nltk_trees)]
    assert [sorted(positions) for positions in hits(pattern, trees)] == expected, pattern


@pytest.fixture(scope="module")
def sample():
    trees = list(read_trees([ASSETS / "sample-dev.mrg"]))
    return trees, [to_nltk(tree) for tree in trees]


@pytest.mark.parametrize("pattern", FIGURES + OPERATORS)
def test_sample_treebank(sample, pattern):
    assert_agreement(pattern, *sample)
