import pickle
import signal
import threading
import warnings

import pytest

from spacy_incparse.patterns import Forest, compile
from spacy_incparse.treebanks.reader import parse_bracketed
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree
from tests.strategies import deep_tree

PUMPKIN = """(TOP (S (NP-SBJ-1 (DT the) (JJ old) (NN gardener)) (VP (VBD grew) (NP (NP (DT a) (NN pumpkin)) (PP (IN on)
(NP (DT the) (NN roof)))) (PP-TMP (IN in) (NP (NNP May)))) (. .)))"""
QUESTION = "(TOP (SBARQ (WHNP-1 (WP what)) (SQ (VBD did) (NP (PRP she)) (VP (VB see) (NP (-NONE- *T*-1)))) (. ?)))"


def tree(text) -> Tree:
    return next(parse_bracketed(text))


def texts(pattern, text=PUMPKIN, **options):
    """The words under each match, after its label or, if a word matches, a dash."""
    matches = compile(pattern, **options).search(tree(text))
    return [f"{'-' if m.is_word else m.node.label} {' '.join(m.node.words)}" for m in matches]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("NP < PP", ["NP a pumpkin on the roof"]),
        ("NN > (NP < JJ)", ["NN gardener"]),
        ("VP << roof", ["VP grew a pumpkin on the roof in May"]),
        ("PP <, IN", ["PP on the roof", "PP-TMP in May"]),
        ("IN >, (PP <- (NP <: NNP))", ["IN in"]),
        ("NP <2 JJ", ["NP-SBJ-1 the old gardener"]),
        ("NP <-2 DT", ["NP a pumpkin", "NP the roof"]),
        ("VP <<, grew", ["VP grew a pumpkin on the roof in May"]),
        ("NP <<- roof", ["NP a pumpkin on the roof", "NP the roof"]),
        ("NP >>- VP", ["NP May"]),
        ("NP <<: May", ["NP May"]),
        ("__ >>: NP", ["NNP May", "- May"]),
        ("NP $ PP", ["NP a pumpkin on the roof", "NP a pumpkin"]),
        ("__ $+ VP", ["NP-SBJ-1 the old gardener"]),
        ("__ $- VP", [". ."]),
        ("DT $++ NN", ["DT the", "DT a", "DT the"]),
        ("PP $-- VBD", ["PP-TMP in May"]),
        ("NN . VBD", ["NN gardener"]),
        ("PP , NN", ["PP on the roof", "PP-TMP in May"]),
        ("NN .. NNP", ["NN gardener", "NN pumpkin", "NN roof"]),
        ("NNP ,, PP", ["NNP May"]),
        ("S == __", ["S the old gardener grew a pumpkin on the roof in May ."]),
        ("NP|NNP <= NNP", ["NP May", "NNP May"]),
        ("TOP : NNP", ["TOP the old gardener grew a pumpkin on the roof in May ."]),
        ("TOP : NNPS", []),
        ("VP <+(NP|PP) NN", ["VP grew a pumpkin on the roof in May"]),
        ("NN >+(NP) VP", ["NN pumpkin"]),
        ("DT .+(JJ|NN) VBD", ["DT the"]),
        ("NNP ,+(IN) NN", ["NNP May"]),
        ("NP <... {DT; NN}", ["NP a pumpkin", "NP the roof"]),
        ("PP <<< /^[A-Z]/", ["PP-TMP in May"]),
        ("NP !< DT", ["NP a pumpkin on the roof", "NP May"]),
        ("NP !< DT !< NP", ["NP May"]),
        ("NP [< JJ | < NNP]", ["NP-SBJ-1 the old gardener", "NP May"]),
        ("NP ![< DT | < NP]", ["NP May"]),
        ("NP < !DT|NN", ["NP-SBJ-1 the old gardener", "NP a pumpkin on the roof", "NP May"]),
        ("JJ | NNP", ["JJ old", "NNP May"]),
    ],
)
def test_relations(pattern, expected):
    assert texts(pattern) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("NP > S", ["NP-SBJ-1 the old gardener"]),
        ("@NP > S", ["NP-SBJ-1 the old gardener"]),
        ("NP-SBJ-1", ["NP-SBJ-1 the old gardener"]),
        ("/-SBJ/", ["NP-SBJ-1 the old gardener"]),
        ("@/^NP$/ > S", ["NP-SBJ-1 the old gardener"]),
        ("i@np > S", ["NP-SBJ-1 the old gardener"]),
        ("old", ["- old"]),
        ("NN < pumpkin", ["NN pumpkin"]),
        ("NN < /k/", ["NN pumpkin"]),
        ('"."', [". .", "- ."]),
        ("the . old", ["- the"]),
    ],
)
def test_labels_and_words(pattern, expected):
    assert texts(pattern) == expected


def test_raw_labels():
    assert texts("NP > S", raw_labels=True) == []
    assert texts("@NP > S", raw_labels=True) == texts("NP-SBJ-1", raw_labels=True) == ["NP-SBJ-1 the old gardener"]


def test_names():
    (match,) = compile("S < NP=subject < (VP=predicate < (VBD=verb $+ NP=object))").search(tree(PUMPKIN))
    assert {name: " ".join(node.words) for name, node in match.groups.items()} == {
        "subject": "the old gardener",
        "predicate": "grew a pumpkin on the roof in May",
        "verb": "grew",
        "object": "a pumpkin on the roof",
    }
    assert match.groups["verb"] == match.groups["predicate"][0]


def test_a_node_comes_once_or_once_for_each_way_to_give_names():
    pattern = compile("VP << NN=noun")
    assert [match.groups["noun"].words for match in pattern.search(tree(PUMPKIN))] == [("pumpkin",)]
    every = pattern.search(tree(PUMPKIN), every=True)
    assert [match.groups["noun"].words for match in every] == [("pumpkin",), ("roof",)]
    assert pattern.count(tree(PUMPKIN)) == 1
    assert len(list(compile("VP << NN").search(tree(PUMPKIN), every=True))) == 1


def test_optional_relations():
    pattern = compile("NP ?< JJ=adjective")
    found = [match.groups.get("adjective") for match in pattern.search(tree(PUMPKIN))]
    assert [node and node.words for node in found] == [("old",), None, None, None, None]
    with_reference = compile("NP ?< JJ=x < (NN , =x)")
    assert [match.node.label for match in with_reference.search(tree(PUMPKIN))] == ["NP-SBJ-1"]


def test_references_and_links():
    assert texts("NP=x << (NN , (DT >, =x))") == ["NP a pumpkin", "NP the roof"]
    assert texts("NP=x < ~x") == ["NP a pumpkin on the roof"]
    assert texts("PP=x .. ~x") == ["PP on the roof"]
    assert texts("PP=x .. ~x", raw_labels=True) == []
    assert texts("NP=x $ !~x") == texts("NP")
    assert texts("NP=x !$ !~x") == []
    assert texts("S < (NP=x .. (NP=y !< JJ)) << (DT > =y)") == [texts("S")[0]]
    assert texts("NP=x !.. (NP !== =x)") == ["NP May"]
    assert texts("S < NP=x <- !=x") == texts("S")


def test_variables():
    pattern = "WHNP $++ (SQ << (-NONE- < /^\\*T\\*-([0-9]+)$/#1%i)) == /-([0-9]+)$/#1%i"
    assert texts(pattern, QUESTION) == ["WHNP-1 what"]
    assert texts(pattern, QUESTION.replace("*T*-1", "*T*-2")) == []


def test_heads():
    assert texts("NP <# NN") == ["NP-SBJ-1 the old gardener", "NP a pumpkin", "NP the roof"]
    assert texts("NN ># (NP > S)") == ["NN gardener"]
    assert texts("S <<# grew") == ["S the old gardener grew a pumpkin on the roof in May ."]
    assert texts("pumpkin >># (NP < PP)") == ["- pumpkin"]
    leftmost = HeadRules.from_dict({"rules": {"NP": [["left", ["*"]]]}})
    assert texts("NP <# DT") == []
    assert texts("NP <# DT", heads=leftmost) == ["NP-SBJ-1 the old gardener", "NP a pumpkin", "NP the roof"]
    assert texts("NP <# DT", heads="any") == []


def test_a_node_is_a_root_for_its_matches():
    noun_phrase = next(compile("NP < PP").search(tree(PUMPKIN))).node
    assert compile("NP > VP").count(noun_phrase) == 0
    (match,) = compile("NP=x > PP").search(noun_phrase)
    assert match.node.words == ("the", "roof")
    assert match.node.parent.parent.index == noun_phrase.index
    assert match.groups["x"] is not None
    assert Forest([noun_phrase]).tree(0) is noun_phrase
    assert [m.node for m in compile("NP > PP").search(Forest([noun_phrase]))] == [match.node]


def test_matches_know_their_tree():
    trees = [tree(PUMPKIN), tree(QUESTION), tree(PUMPKIN)]
    pattern = compile("JJ")
    assert [match.number for match in pattern.search(trees)] == [0, 2]
    assert [match.number for match in pattern.search(Forest(trees))] == [0, 2]
    assert [str(match) for match in compile("old | JJ").search(trees[:1])] == ["(JJ old)", "old"]


def test_nodes_are_of_the_kind_that_the_tree_is():
    class Special(Tree):
        def _at(self, index):
            return Special(self.arrays, index)

    special = Special(tree(PUMPKIN).arrays)
    for trees in (special, Forest([special])):
        (match,) = compile("NP < JJ=x").search(trees)
        assert type(match.node) is type(match.groups["x"]) is Special


def test_forests():
    trees = [tree(PUMPKIN), tree(QUESTION), tree("(UH oh)")]
    forest = pickle.loads(pickle.dumps(Forest(trees)))
    assert list(forest) == trees
    assert (len(forest), forest.n_nodes) == (3, sum(t.size + len(t.words) for t in trees))
    assert forest[-1] == trees[-1]
    with pytest.raises(IndexError):
        forest.tree(3)
    assert compile("NP").count(Forest()) == compile("NP").count([]) == 0
    pattern = compile("NP|UH")
    before = pattern.count(forest)
    forest.add(tree("(NP (NEW word))"))
    assert pattern.count(forest) == before + 1
    assert compile("NEW < word").count(forest) == 1
    shared = Forest([tree("(NP (NN new))")], symbols=forest.symbols)
    assert (pattern.count(shared), pattern.count(forest)) == (1, before + 1)


def test_new_labels_and_words_do_not_need_a_new_pattern():
    pattern = compile("/^N/ < /^[a-m]/ | @XP")
    found = [pattern.count(tree(f"(S (NN {word}) (XP-1 (Y z)))")) for word in ("dog", "zebra", "cat")]
    assert found == [2, 1, 2]


INSIDE = "(S (NP (PRP She)) (VP (VBD slept)) (. .))"
ROOTED = [f"({label} {INSIDE})" for label in ("TOP", "ROOT", "S1", "VROOT", "")]


@pytest.mark.parametrize("root", ["ROOT", "TOP", "S1", "VROOT", '""', "@ROOT", "i@root", "_ROOT_"])
@pytest.mark.parametrize(
    ("pattern", "label", "n_above"),  # the label of the only match, or how many nodes are above it
    [
        ("{}", None, 0),
        ("{} !> __", None, 0),
        ("{} < S", None, 0),
        ("{} <# S", None, 0),
        ("S > {}", "S", 1),
        ("S|SINV|SQ [> {} <, (VP <# VB) | <# MD|VBZ|VBP|VBD | < (VP <# MD|VBP|VBZ|VBD)]", "S", 1),
        ("VP > (S > {})", "VP", 2),
        ("PRP !> {}", "PRP", 3),
        ("FRAG > {}", "", -1),
        ("S !> {}", "", -1),
        ("!{} < S", "", -1),
    ],
)
def test_the_root_has_many_names_and_labels_and_may_be_left_out(root, pattern, label, n_above):
    compiled = compile(pattern.format(root), raw_labels=True)
    for text in [*ROOTED, INSIDE]:
        whole = tree(text)
        expected = [(whole.label if label is None else label, max(n_above - (text == INSIDE), 0))] * (n_above >= 0)
        assert [(match.node.label, match.node.depth) for match in compiled.search(whole)] == expected
        assert [match.node for match in compiled.search(Forest([whole]))] == [m.node for m in compiled.search(whole)]
        assert compiled.count(whole) == compiled.count(Forest([whole])) == len(expected)


def test_names_and_every_match_at_a_root_that_is_left_out():
    whole = tree(INSIDE)
    (match,) = compile("ROOT=r < S=s").search(whole)
    assert match.groups == {"r": whole, "s": whole}
    assert compile("_ROOT_|S < __=child").count(whole) == len(list(compile("_ROOT_|S < __=child").search(whole))) == 1
    assert [match.groups["child"].label for match in compile("_ROOT_ < __=child").search(whole, every=True)] == [
        "S", "NP", "VP", "."
    ]  # fmt: skip
    assert compile("NP > ROOT").count(whole[0]) == 1  # a given node is a root


@pytest.mark.parametrize(
    ("pattern", "problems"),
    [
        ("np < pp", ["'np': did you mean 'NP'", "'pp': did you mean 'PP'"]),
        ("NP !<< pp", ["'pp': did you mean 'PP'"]),
        ("NPP|NP", ["'NPP': did you mean"]),
        ("NP-SBJ < NP", ["no label 'NP-SBJ': look for 'NP'"]),
        ("XYZ < abc", ["'XYZ': docs/labels.md"]),
        ("SBARQ|SINV !> ROOT < zebra < i@np < /np/", []),
        ("NN < ROOF", []),  # a word of the tree
    ],
)
def test_labels_that_no_tree_has_are_warned_of_once(pattern, problems):
    trees = [tree("(TOP (S (NP (DT the) (NN ROOF)) (VP (VBD fell))))")] * 2
    for look in (lambda one: one.count(trees), lambda one: list(one.search(Forest(trees))), lambda one: next(
        one.search(trees), None)):  # fmt: skip
        compiled = compile(pattern)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            look(compiled)
            look(compiled)
        assert len(caught) == len(problems)
        assert all(part in str(one.message) for part, one in zip(problems, caught, strict=True))


@pytest.mark.parametrize(
    "pattern", ["__ << (__ << (__ << x))", "S=a << (~a !<< S)", "S <+(S|VP) run", "NN . (VP !, S)"]
)
def test_deep_trees(pattern):
    deep = deep_tree(5_000)
    assert compile(pattern.replace("S=a", "TOP=a")).count(deep) == compile(pattern.replace("S=a", "TOP=a")).count(
        [deep]
    )
    (match,) = compile("VB=x < run >> (S !>> S)").search(deep)
    assert match.groups["x"].index == deep.size - 1


def test_several_threads_may_use_a_pattern():
    trees = [tree(PUMPKIN.replace("old", f"old{i}")) for i in range(300)]
    pattern = compile("NP < (JJ < /^old/) | /^x/")
    counts = []
    threads = [threading.Thread(target=lambda: counts.append(pattern.count(trees))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [300] * 4


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers as in POSIX")
@pytest.mark.parametrize("as_forest", [True, False])
def test_a_pattern_that_takes_for_ever_can_be_interrupted(as_forest):
    wide = tree(f"(S {'(NN a) ' * 300})")
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            compile("S < __=a < __=b < __=c < __=d < (__ == =a !== =a)").count(Forest([wide]) if as_forest else wide)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
