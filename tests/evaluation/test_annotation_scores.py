import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.evaluation.annotations import SAME_TYPES, AnnotationScores, Counts
from spacy_incparse.treebanks.reader import ANNOTATED, normalize
from spacy_incparse.trees.tree import Tree

GOLD = (
    "(TOP (S (NP-SBJ-1 (PRP She)) (VP (VBD tried) (S (NP-SBJ (-NONE- *PRO*-1)) (VP (TO to) (VP (VB leave) (NP-TMP (NN"
    " today))))) (SBAR-ADV (-NONE- 0) (S (NP-SBJ (PRP he)) (VP (VBD slept))))) (. .)))"
)
FOUND = (
    "(TOP (S (NP-SBJ (PRP She)) (VP (VBD tried) (S (NP-SBJ (-NONE- *)) (VP (TO to) (VP (VB leave) (NP (NN today)))))"
    " (S-ADV (NP-SBJ-TMP (PRP he)) (VP (VBD slept)))) (. .)))"
)


def annotated(text):
    return normalize(Tree.from_string(text), ANNOTATED)


def counts(one):
    return one.n_gold, one.n_found, one.n_right


def test_a_sentence_counted_by_hand():
    scores = AnnotationScores()
    scores.add(annotated(GOLD), annotated(FOUND))
    assert {name: counts(one) for name, one in scores.whole.items()} == {
        "SBJ": (2, 2, 2), "TMP": (1, 1, 0), "ADV": (1, 1, 0),
    }  # fmt: skip
    assert {name: counts(one) for name, one in scores.matched.items()} == {
        "SBJ": (2, 2, 2), "TMP": (1, 1, 0), "ADV": (0, 1, 0),
    }  # fmt: skip
    assert {name: counts(one) for name, one in scores.empties.items()} == {"NP *": (1, 1, 1), "0": (1, 0, 0)}
    assert {name: counts(one) for name, one in scores.linked.items()} == {"NP *": (1, 1, 0), "0": (1, 0, 0)}
    assert scores.whole.total(["SBJ", "TMP"]).f == pytest.approx(2 / 3)
    assert Counts().f == Counts().precision == Counts().recall == 1.0


def slow_tags(tree):
    """Each tag with its phrase: category, words, and how many phrases like it are above."""
    found = []
    for node in tree.preorder():
        over, n_above = node.parent, 0
        while over is not None and (over.start, over.end) == (node.start, node.end):
            n_above += over.category == node.category
            over = over.parent
        if not node.is_leaf:
            found += [((node.category, node.start, node.end, n_above), tag) for tag in node.functions]
    return found


def slow_empties(tree):
    """Read off the tree with its traces: name, place, and the antecedent's category and words."""
    found = []
    for one in tree.empties:
        antecedent = one.antecedent
        if antecedent is not None:
            end = antecedent.end if hasattr(antecedent, "end") else antecedent.start
            antecedent = getattr(antecedent, "category", None) or antecedent.label, antecedent.start, end
        found.append((SAME_TYPES.get(one.type, one.type), one.start, antecedent))
    return found


def overlap(some, others):
    left, n = list(others), 0
    for item in some:
        if item in left:
            left.remove(item)
            n += 1
    return n


@settings(max_examples=60)
@given(st.data())
def test_totals_are_those_of_the_twin(data):
    trees = []
    for _ in range(2):
        tags = [data.draw(st.sampled_from(["SBJ-1", "TMP-1", "LOC-TMP-1"])) for _ in range(2)]
        one, two, three = (
            data.draw(st.sampled_from(["(NP (-NONE- *-1))", "(ADVP (-NONE- *T*-1))", ""])) for _ in "123"
        )
        verb = f"({data.draw(st.sampled_from(['VP', 'S']))}-{tags[1]} {one} (VB b) {two} (VP (VB c) {three}))"
        trees.append(annotated(f"(TOP (S (NP-{tags[0]} (NN a)) {verb}))"))
    gold, found = trees
    scores = AnnotationScores()
    scores.add(gold, found)
    some, others = slow_tags(gold), slow_tags(found)
    assert counts(scores.whole.total()) == (len(some), len(others), overlap(some, others))
    some, others = slow_empties(gold), slow_empties(found)
    assert counts(scores.linked.total()) == (len(some), len(others), overlap(some, others))
    some, others = [item[:2] for item in some], [item[:2] for item in others]
    assert counts(scores.empties.total()) == (len(some), len(others), overlap(some, others))
