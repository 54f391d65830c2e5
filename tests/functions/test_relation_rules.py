import pytest
from hypothesis import given

from spacy_incparse.functions.dependencies import dependencies
from spacy_incparse.functions.relations import read_relations
from spacy_incparse.functions.rules import completed, with_rules
from spacy_incparse.functions.tables import LanguageTable
from spacy_incparse.treebanks.reader import ANNOTATED, read_treebank
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.tree import Tree
from tests.strategies import deep_tree, raw_trees

EN = LanguageTable.find("en")


def found(arrays: TreeArrays) -> str:
    """Return the relations as VERB RELATION HEAD, with ~ for understood, ! for negated, and the function."""
    words = arrays.words
    return "; ".join(
        f"{words[one.verb]} {'!' * one.negated}{'~' * one.understood}{one.relation} {words[one.head]}"
        + f"-{one.function}" * (one.function is not None)
        for one in read_relations(arrays, EN)
    )


# From the annotation, and by rules without it; what only the annotation knows is behind a bar.
SENTENCES = [
    (  # passive with an agent; negation
        "(S (NP-SBJ-1 (DT The) (NN boat)) (VP (VBD was) (RB n't) (VP (VBN sold) (NP (-NONE- *-1)) (PP (IN by)"
        " (NP-LGS (PRP$ her) (NN uncle))))))",
        "sold !~object boat; sold !agent uncle",
    ),
    (  # two objects; what is shared by two verbs
        "(S (NP-SBJ (NNP Eva)) (VP (VP (VBD gave) (NP (PRP him)) (NP (DT a) (NN map))) (CC and) (VP (VBD left))))",
        "gave subject Eva; gave object map; gave indirect_object him; left ~subject Eva",
    ),
    (  # control by an object, and by a subject
        "(S (NP-SBJ-1 (NNP Eva)) (VP (VBD wanted) (S (NP-SBJ-2 (-NONE- *-1)) (VP (TO to) (VP (VB ask) (NP-3 (NNP Tom))"
        " (S (NP-SBJ (-NONE- *-3)) (VP (TO to) (VP (VB come)))))))))",
        "wanted subject Eva; wanted complement ask; ask ~subject Eva; ask object Tom; ask complement come;"
        " come ~subject Tom",
    ),
    (  # raising of a passive
        "(S (NP-SBJ-1 (NNP Eva)) (VP (VBZ is) (VP (VBN expected) (S (NP-SBJ (-NONE- *-1)) (VP (TO to)"
        " (VP (VB win)))))))",
        "expected complement win; win ~subject Eva",
    ),
    (  # a relative clause
        "(NP (NP (DT the) (NN boat)) (SBAR (WHNP-1 (WDT which)) (S (NP-SBJ (NNP Tom)) (VP (VBD built)"
        " (NP (-NONE- *T*-1))))))",
        "built subject Tom; built ~object boat",
    ),
    (  # one without a pronoun, with a gap in a clause of its clause
        "(NP (NP (DT the) (NN boat)) (SBAR (WHNP-1 (-NONE- 0)) (S (NP-SBJ (NNP Tom)) (VP (VBD said) (SBAR (-NONE- 0)"
        " (S (NP-SBJ (PRP he)) (VP (VBD built) (NP (-NONE- *T*-1)))))))))",
        "said subject Tom; said complement built; built subject he; built ~object boat",
    ),
    (  # reduced relative clauses
        "(NP (NP (DT the) (NNS nets)) (VP (VBN mended) (NP (-NONE- *)) (PP (IN by) (NP-LGS (DT the) (NN girl)))))",
        "mended ~object nets; mended agent girl",
    ),
    ("(NP (NP (DT the) (NN girl)) (VP (VBG mending) (NP (NNS nets))))", "mending ~subject girl; mending object nets"),
    (  # a question
        "(SBARQ (WHNP-1 (WP What)) (SQ (VBD did) (NP-SBJ (NNP Tom)) (VP (VB build) (NP (-NONE- *T*-1)))))",
        "build subject Tom; build ~object What",
    ),
    (  # expletives
        "(S (NP-SBJ (NP (PRP It)) (SBAR (-NONE- *EXP*-1))) (VP (VBZ is) (ADJP-PRD (JJ true)) (SBAR-1 (IN that)"
        " (S (NP-SBJ (EX there)) (VP (VBZ is) (NP-PRD (NN hope)))))))",
        "is subject is; is predicate true; is expletive It; is subject hope; is expletive there",
    ),
    (  # what somebody said; time
        "(S (S-TPC-1 (NP-SBJ (PRP It)) (VP (VBD rained))) (, ,) (NP-SBJ (PRP he)) (VP (VBD said) (S (-NONE- *T*-1))"
        " (NP-TMP (NN yesterday))))",
        "rained subject It; said subject he; said ~complement rained; said modifier yesterday-TMP",
    ),
    ("(S (NP-SBJ (PRP It)) (VP (VBD rained)))", "rained subject It"),
    (  # a noun with an argument
        "(NP (NP (DT the) (NN fact)) (SBAR (IN that) (S (NP-SBJ (PRP it)) (VP (VBZ rains)))))",
        "fact complement rains; rains subject it",
    ),
    ("(FRAG (NP (DT No) (NN wind)) (ADVP (RB today)))", ""),
]  # fmt: skip


@pytest.mark.parametrize(("brackets", "expected"), SENTENCES)
def test_relations(brackets, expected):
    annotated = Tree.from_string(brackets).remove_empties().arrays
    assert found(annotated) == expected
    assert found(with_rules(Tree(annotated).strip_functions().arrays, EN)) == expected


def checked(arrays: TreeArrays, *, annotated: bool) -> None:
    arrays = arrays if annotated else Tree(arrays).strip_functions().arrays
    relations = read_relations(with_rules(arrays, EN), EN)
    heads = [one.head for one in dependencies(arrays, EN)]
    assert heads.count(-1) == 1
    for word in range(len(heads)):  # a tree
        steps = 0
        while word >= 0:
            word, steps = heads[word], steps + 1
        assert steps <= len(heads)
    for one in relations:
        assert arrays.starts[one.node] <= one.head < arrays.ends[one.node]
    assert len(set(relations)) == len(relations)
    tags = {arrays.labels[leaf][:2] for leaf in arrays.leaves}
    if not tags & {"VB", "MD"} and not {"VP"} & {label.split("-")[0] for label in arrays.labels}:
        assert not relations


@given(raw_trees())
def test_all_trees_have_relations_and_one_root(tree):
    if (removed := tree.remove_empties()) is not None:
        checked(removed.arrays, annotated=True)
        checked(removed.arrays, annotated=False)


def test_deep_trees():
    checked(deep_tree(5000).arrays, annotated=True)


@pytest.mark.treebanks
@pytest.mark.slow
@pytest.mark.parametrize("bank", ["wsj", "craft", "masc", "gum"])
def test_relations_of_treebanks(treebanks, bank):
    for tree in read_treebank(treebanks / bank / "dev.mrg", steps=ANNOTATED)[:300]:
        checked(tree.arrays, annotated=True)
        checked(tree.arrays, annotated=False)


COMPLETED = [  # the tree, and what is added to it
    ("(S (NP-SBJ (PRP It)) (VP (VBD cost) (NP ($ $) (CD 5))))", "(CD 5) (-NONE- *U*))"),
    ("(S (NP-SBJ (PRP It)) (VP (VBD cost) (NP (QP (IN about) ($ $) (CD 5) (CD million)))))", "million)) (-NONE- *U*))"),
    ("(S (NP-SBJ (PRP We)) (VP (VBP know) (SBAR (S (NP-SBJ (PRP it)) (VP (VBD sank))))))", "(SBAR (-NONE- 0) (S"),
    (
        "(S (`` ``) (S (NP-SBJ (PRP It)) (VP (VBD sank))) (, ,) ('' '') (NP-SBJ (PRP she)) (VP (VBD said)))",
        "(VP (VBD said) (S (-NONE- *T*-1)))",
    ),
    (
        "(S (S (NP-SBJ (PRP It)) (VP (VBD sank))) (, ,) (NP-SBJ (PRP she)) (VP (VBD said)))",
        "(VP (VBD said) (SBAR (-NONE- 0) (S (-NONE- *T*-1))))",
    ),
    (
        "(S (NP-SBJ (NNP Eva)) (VP (VBZ wants) (S (NP-SBJ (-NONE- *)) (VP (TO to) (VP (VB go))))))",
        "(S (NP-SBJ (-NONE- *-1)) (VP (TO to)",
    ),
    ("(S (NP-SBJ (PRP It)) (VP (VBD sank) (PP (IN in) (NP (CD 1920)))))", ""),
    ("(S (S (NP-SBJ (PRP It)) (VP (VBD rained))) (CC and) (S (NP-SBJ (PRP she)) (VP (VBD left))))", ""),
    ("(NP (NP (DT the) (NN day)) (SBAR (S (NP-SBJ (PRP she)) (VP (VBD left)))))", ""),
]


@pytest.mark.parametrize(("brackets", "expected"), COMPLETED)
def test_what_treebanks_leave_out_is_added(brackets, expected):
    arrays = Tree.from_string(brackets).remove_empties().arrays
    printed = str(Tree(completed(arrays, EN)).with_empties())
    assert expected in printed
    assert printed.count("-NONE-") == max(expected.count("-NONE-"), brackets.count("-NONE-"))
    again = completed(completed(arrays, EN), EN)
    assert again.annotation == completed(arrays, EN).annotation


@given(raw_trees())
def test_adding_keeps_the_tree_and_what_is_given(tree):
    if (removed := tree.remove_empties()) is not None:
        before = removed.arrays.annotation
        arrays = completed(removed.arrays, EN)
        back = Tree(arrays).with_empties().remove_empties()
        assert (back.arrays.labels, back.arrays.sizes, back.words) == (arrays.labels, arrays.sizes, removed.words)
        given_empties = before.empties if before else ()
        places = [(one.parent, one.position, one.fragment) for one in arrays.annotation.empties]
        for one in given_empties:
            places.remove((one.parent, one.position, one.fragment))
