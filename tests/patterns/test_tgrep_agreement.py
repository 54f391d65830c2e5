"""The same hits as nltk's tgrep on the operators that both read. Needs nltk with pyparsing; skipped where they are not.

tgrep knows no label without its functions, hence `raw_labels`. Its words have no parents (see nltk's documentation), so
that nodes with a constraint must not be words here.
"""

import functools
import random
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.patterns import compile
from spacy_incparse.treebanks.reader import read_trees
from tests import strategies

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


def test_every_pattern_has_hits_somewhere(sample):
    assert [pattern for pattern in FIGURES + OPERATORS if not compile(pattern).count(sample[0])] == []


@pytest.mark.treebanks
@pytest.mark.parametrize("bank", ["wsj", "gum", "craft"])
def test_real_treebanks(treebanks, bank):
    trees = random.Random(0).sample(list(read_trees(treebanks / bank / "dev.mrg")), 40)
    nltk_trees = [to_nltk(tree) for tree in trees]
    for pattern in FIGURES + OPERATORS:
        assert_agreement(pattern, trees, nltk_trees)


LABELS = st.sampled_from(
    ("S", "NP", "VP", "PP", "NN", "DT", "VBD", "NP|VP", "/^N/", "/P$/", 'i@"np"', '"NP"', "NP-SBJ")
)
ENDS = st.one_of(LABELS, st.sampled_from(("__", "the", "/^c/", 'i@"THE"')))
SYMBOLS = st.sampled_from("< > << >> <, <- <: >: $. $, $.. $,, . , .. ,, $ >, >- <1 <2 <-2 >2 >-2 <<, <<: >>:".split())


@st.composite
def tgrep_patterns(draw, depth=2):
    """Patterns that tgrep and Tregex read alike: a chain of relations, some of them negated or alternatives."""
    text = draw(LABELS)
    for number in range(draw(st.integers(1, 2))):
        target = draw(ENDS)
        if depth and draw(st.booleans()):
            target = f"({draw(tgrep_patterns(depth - 1))})"
        relation = f"{draw(SYMBOLS)} {target}"
        if draw(st.integers(0, 3)) == 0:
            relation = f"[{relation} | {draw(SYMBOLS)} {draw(ENDS)}]"
        text += f" {draw(st.sampled_from(('', '!', '& ')[: 2 + number]))}{relation}"
    return text


def has_no_word_like_a_label(tree):
    return not set("".join(tree.words)) & set("SNVPD")


@settings(max_examples=60, deadline=None)
@given(
    tgrep_patterns(),
    st.one_of(strategies.normalised_trees(8), strategies.raw_trees(8)).filter(has_no_word_like_a_label),
)
def test_random_patterns(pattern, tree):
    assert_agreement(pattern, [tree], [to_nltk(tree)])
