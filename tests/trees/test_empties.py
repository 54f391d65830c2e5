import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_incparse.errors import IncparseError
from spacy_incparse.treebanks.reader import ANNOTATED, normalize, read_trees
from spacy_incparse.trees.codec import decode, encode
from spacy_incparse.trees.empties import Empty
from spacy_incparse.trees.tree import Tree
from tests.strategies import raw_trees

WANTS = Tree.from_string(
    "(TOP (S (NP-SBJ-1 (PRP She)) (VP (VBZ wants) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB go))))) (. .)))"
)
RELATIVE = Tree.from_string(
    "(NP (NP (DT the) (NN boat)) (SBAR (WHNP-1 (WDT which)) (S (NP-SBJ-2 (-NONE- *T*-1)) (VP (VBD was)"
    " (VP (VBN sold) (NP (-NONE- *-2)))))))"
)


def test_functions_and_empties_stand_beside_the_tree():
    tree = normalize(WANTS, ANNOTATED)
    assert str(tree) == "(TOP (S (NP (PRP She)) (VP (VBZ wants) (S (VP (TO to) (VP (VB go))))) (. .)))"
    subject = tree[0][0]
    assert (subject.label, subject.functions, subject.full_label) == ("NP", ("SBJ",), "NP-SBJ")
    assert list(tree.subtrees("NP-SBJ")) == [subject]
    (trace,) = tree.empties
    assert (trace.type, trace.label, trace.functions, trace.start) == ("*", "NP", ("SBJ",), 2)
    assert (trace.parent.words, trace.position) == (("to", "go"), 0)
    assert trace.antecedent == trace.overt == subject
    assert subject.traces == (trace,)
    assert str(tree.with_empties()) == str(WANTS)


def test_a_trace_may_stand_for_another():
    noun_phrase = RELATIVE.remove_empties()
    subject, passive = noun_phrase.empties
    assert passive.antecedent == subject
    assert passive.overt.words == ("which",)
    assert passive.overt.antecedent.words == ("the", "boat")
    assert noun_phrase[0].antecedent is None
    clause = noun_phrase[1][1]
    assert [one.stored.chain for one in Tree(clause.own_arrays).empties] == [None, 0]
    assert str(noun_phrase.with_empties()) == str(RELATIVE)


@pytest.mark.parametrize(
    "text",
    [
        "(S (NP-SBJ (NP (PRP it)) (S (-NONE- *EXP*-1))) (VP (VBZ rains) (S-1 (VP (VB go)))))",  # a phrase in its like
        "(NP (NP (NP (NN a)) (-NONE- *U*)) (S (-NONE- *ICH*)))",
        "(VP (VBZ says) (SBAR (-NONE- 0) (S (-NONE- *T*))) (NP (-NONE- *)))",
        "(S (VP (VB go) (NP-TMP (-NONE- *T*)) (ADVP (-NONE- *))))",
    ],
)
def test_what_goes_can_come_back(text):
    assert str(Tree.from_string(text).remove_empties().with_empties()) == text


def test_indices_may_stand_on_phrases():
    craft = (
        str(RELATIVE)
        .replace("*T*-1", "*T*")
        .replace("NP-SBJ-2", "NP-SBJ-1")
        .replace("(NP (-NONE- *-2", "(NP-1 (-NONE- *")
    )
    assert Tree.from_string(craft).remove_empties().arrays.annotation == RELATIVE.remove_empties().arrays.annotation


FRAGMENTS = ["(NP-SBJ (-NONE- *))", "(-NONE- 0)", "(SBAR (-NONE- 0) (S (-NONE- *T*)))", "(X|~ (-NONE- %))"]
FUNCTIONS = [(), (), ("SBJ",), ("LOC", "PRD"), ("A~|%",)]


@given(raw_trees(8), st.randoms(use_true_random=True))
def test_annotations_survive_storage_and_the_way_through_brackets(raw, random):
    tree = normalize(raw, ANNOTATED)
    assert tree == normalize(raw)
    if tree is not None:
        phrases = tree.phrases()
        empties = []
        for _ in range(random.randrange(4)):
            parent, antecedent = random.choice(phrases), random.choice([None, *phrases])
            place = parent.index, random.randint(0, len(parent)), random.choice(FRAGMENTS)
            empties.append(Empty(*place, antecedent and antecedent.index))
        functions = [() if node.is_leaf else random.choice(FUNCTIONS) for node in tree.preorder()]
        n_words = len(tree.words)
        for one in (tree, tree.annotate(functions, empties)):
            stored = decode(encode(one, range(n_words), range(1, n_words + 1))).tree("x" * n_words)
            for copy in (one.with_empties().remove_empties(), pickle.loads(pickle.dumps(one)), stored):
                assert copy.arrays.annotation == one.arrays.annotation


@pytest.mark.parametrize("name", ["wsj", "craft", "masc", "gum"])
def test_trees_of_treebanks_come_back(treebanks, name):
    for raw in list(read_trees(treebanks / name / "dev.mrg"))[:700]:
        tree = normalize(raw, ANNOTATED)
        assert tree == normalize(raw)
        if tree is not None:
            whole = tree.with_empties()
            again = whole.remove_empties()
            assert (again, again.arrays.annotation) == (tree, tree.arrays.annotation)
            assert _traces(whole) == _traces(raw)


def _traces(tree):
    return sorted(re.sub(r"-\d+", "", word) for word, tag in zip(tree.words, tree.tags, strict=True) if tag == "-NONE-")


@pytest.mark.parametrize(
    ("functions", "empties", "message"),
    [
        ([()], [], "functions of 1 nodes, but the tree has 12"),
        ([], [Empty(3, 0, "(-NONE- 0)")], "in node 3, which is no phrase"),
        ([], [Empty(1, 4, "(-NONE- 0)")], "at place 4 of a phrase with 3 children"),
        ([], [Empty(1, 1, "(-NONE- 0)", layer=1)], "at place 1"),
        ([], [Empty(1, 1, "(NP (NN a))")], "other words than traces"),
        ([], [Empty(1, 1, "(NP")], "is no tree"),
        ([], [Empty(1, 1, "(-NONE- *)", antecedent=40)], "has the antecedent 40"),
        ([], [Empty(1, 1, "(NP (-NONE- *))", chain=0)], "refers to the empty category 0"),
    ],
)
def test_what_does_not_fit_is_refused(functions, empties, message):
    with pytest.raises(IncparseError, match=message):
        normalize(WANTS, ANNOTATED).annotate(functions, empties)


@pytest.mark.parametrize(
    "field", ["f=2", "f=40 SBJ", "f=x SBJ", "e=1", "e=1.0", "e=1.9 (-NONE- *)", "e=1.0.e4 (-NONE- *)"]
)
def test_damaged_fields_are_refused(field):
    tree = normalize(WANTS)
    value = encode(tree, range(5), range(1, 6), more=[field])
    with pytest.raises(IncparseError, match="stored functions or empty categories are damaged"):
        decode(value).tree("xxxxx")


@pytest.mark.parametrize(
    "pattern",
    [
        "NP-SBJ=n",
        "/^NP-SBJ/ < __",
        r"-NONE- > (NP > S=n)",
        r"/^\*-1$/ >> VP",
        "NP < (-NONE- < /^\\*-([0-9])$/#1%i) .. S|VP",
    ],
)
def test_patterns_find_what_stands_beside_a_tree(pattern):
    from spacy_incparse.patterns import compile

    tree, found = normalize(WANTS, ANNOTATED), compile(pattern)
    beside, inside = list(found.search([tree])), list(found.search(Tree.from_string(str(WANTS))))
    assert found.count(tree) == len(inside) > 0
    assert all(match.node.root == tree for match in beside)
    spoken = [
        [w for w, tag in zip(match.node.words, match.node.tags, strict=True) if tag != "-NONE-"] for match in inside
    ]
    assert {tuple(words) for words in spoken if words} <= {match.node.words for match in beside}
