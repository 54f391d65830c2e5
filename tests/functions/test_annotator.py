import pickle

import pytest

from spacy_incparse.errors import IncparseError, ModelError
from spacy_incparse.evaluation.annotations import AnnotationScores
from spacy_incparse.functions.annotator import Annotator
from spacy_incparse.functions.gold import on_parse, read_gold
from spacy_incparse.linear.words import Clusters
from spacy_incparse.treebanks.reader import ANNOTATED, normalize
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree
from tests.reference.functions import Twin

HEADS = HeadRules.from_name("en")
CLUSTERS = Clusters.from_paths([("bell", "0000001"), ("boat", "0000000"), ("sank", "1100001"), ("rang", "1100000")])
FRAMES = (
    "(S (NP-SBJ-1 (DT the) (NN {0})) (VP (VBD was) (VP (VBN {1}) (NP (-NONE- *-1)) (PP-TMP (IN at) (NP (NN dawn)))))"
    " (. .))",
    "(S (NP-SBJ-1 (PRP she)) (VP (VBD wanted) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB see) (NP (DT the)"
    " (NN {0})))))))",
    "(S (NP-SBJ (NP (DT the) (NN {0})) (SBAR (WHNP-1 (WDT which)) (S (NP-SBJ (PRP he)) (VP (VBD {1})"
    " (NP (-NONE- *T*-1)))))) (VP (VBD sank)))",
    "(S (NP-SBJ (PRP he)) (VP (VBD said) (SBAR (-NONE- 0) (S (NP-SBJ (DT the) (NN {0})) (VP (VBD {1})"
    " (PP-LOC (IN in) (NP (NN port))))))))",
    "(S (NP-SBJ (NP (PRP it)) (S (-NONE- *EXP*-1))) (VP (VBD was) (ADJP-PRD (JJ good)) (S-1 (NP-SBJ (-NONE- *))"
    " (VP (TO to) (VP (VB find) (NP (DT the) (NN {0}))))) (PP-MNR (IN with) (NP (NN care)))))",
    "(S (NP-SBJ (DT the) (NN place) (SBAR (WHNP-1 (-NONE- 0)) (S (NP-SBJ (PRP we)) (VP (VBD {1})"
    " (NP (-NONE- *T*-1)))))) (VP (VBD was) (NP-LOC-PRD (DT a) (NN {0}))))",
)
WORDS = [(noun, verb) for noun in ("boat", "bell", "house", "map") for verb in ("found", "sank", "rang")]
TREES = [normalize(Tree.from_string(f"(TOP {frame.format(*words)})"), ANNOTATED) for words in WORDS for frame in FRAMES]
ANNOTATOR = Annotator.train(TREES[6:], TREES[6:], heads=HEADS, clusters=CLUSTERS, n_epochs=4)


def bare(tree):
    return Tree(tree.strip_functions().arrays)


def scores(annotator, trees):
    found = AnnotationScores()
    for tree in trees:
        found.add(tree, annotator.annotate(bare(tree)))
    return found


def test_what_was_learnt_comes_back_on_new_sentences():
    found = scores(ANNOTATOR, TREES[:6])
    assert found.whole.total().f == found.empties.total().f == found.linked.total().f == 1.0


@pytest.mark.parametrize("n_trees", [12, 30, 72])
def test_the_engine_decides_as_its_twin(n_trees):
    annotator = Annotator.train(TREES[:n_trees:5] * 3, heads=HEADS, clusters=CLUSTERS, n_epochs=1)
    mixed = [bare(tree) for tree in TREES[:24]]
    mixed += [Tree.from_string(str(tree).replace("VP", "S").replace("NP", "VP")) for tree in mixed[:12]]
    mixed += [Tree.from_string(f"(TOP {a} {b} {a})") for a, b in zip(mixed[:6], mixed[5:11], strict=True)]
    n_empties = 0
    for tree in mixed:
        twin = Twin(annotator, tree)
        engine = annotator._engine
        engine.read(tree.arrays)
        assert engine.find_functions() == twin.tag()
        slots, antecedents = engine.find_empties()
        expected = twin.insert()
        assert slots == [(twin.number[node], place, number) for node, place, number, _ in expected]
        assert antecedents == twin.link(expected)
        n_empties += len(antecedents)
    assert n_empties > 20


def test_steps_can_be_left_out():
    tree = bare(TREES[0])
    both = ANNOTATOR.annotate(tree)
    assert ANNOTATOR.annotate(tree, empties=False).arrays.annotation.functions == both.arrays.annotation.functions
    assert not ANNOTATOR.annotate(tree, empties=False).empties


def test_training_and_storage_repeat_to_the_bit():
    again = Annotator.train(TREES[6:], TREES[6:], heads=HEADS, clusters=CLUSTERS, n_epochs=4)
    data = ANNOTATOR.to_bytes()
    assert (
        again.to_bytes()
        == data
        == Annotator.from_bytes(data).to_bytes()
        == pickle.loads(pickle.dumps(again)).to_bytes()
    )
    assert scores(Annotator.from_bytes(data), TREES[:6]).linked.total().f == 1.0


def test_damaged_bytes_and_no_trees_are_refused():
    data = ANNOTATOR.to_bytes()
    for damaged in (b"", data[:-9], data[: len(data) // 2], b"x" + data):
        with pytest.raises(ModelError):
            Annotator.from_bytes(damaged)
    with pytest.raises(IncparseError, match="no trees"):
        Annotator.train([], heads=HEADS)


@pytest.mark.parametrize("empty", ["(NP (-NONE- *))", ""])
def test_a_treebank_without_antecedents_or_empty_categories(empty):
    text = f"(S (NP-SBJ (NN rain)) (VP (VBZ falls) {empty}) (. .))"
    annotator = Annotator.train([normalize(Tree.from_string(text), ANNOTATED)] * 3, heads=HEADS, n_epochs=1)
    assert annotator.annotate(Tree.from_string("(S (NP (NN rain)) (VP (VBZ falls)) (. .))"))[0].function == "SBJ"


def test_other_labels_and_single_words_get_nothing():
    for text in ("(TOP (XX (YY a)))", "(NN bell)"):
        assert str(ANNOTATOR.annotate(Tree.from_string(text)).with_empties()) == text


def test_tags_that_are_not_kept_are_not_given():
    annotator = Annotator.train(TREES[6:], heads=HEADS, keep=("SBJ",))
    for one in (annotator, Annotator.from_bytes(annotator.to_bytes())):
        found = scores(one, TREES[:6])
        assert found.whole["SBJ"].f == found.linked.total().f == 1.0
        assert found.whole.total().n_found == found.whole["SBJ"].n_found


def test_what_a_gold_tree_says_of_a_parse():
    gold = read_gold(TREES[0].arrays)
    flat = bare(TREES[0]).arrays
    same = on_parse(gold, flat, HEADS)
    assert (same.slots, same.unknown) == (gold.slots, gold.unknown)
    assert [text or "" for text in same.functions] == gold.functions
    parse = Tree.from_string(
        "(TOP (S (NP (DT the) (NN boat)) (VP (VBD was) (VP (VBN found)) (PP (IN at) (NP (NN dawn)))) (. .)))"
    )
    found = on_parse(gold, parse.arrays, HEADS)
    by_label = {label: text for label, text in zip(parse.arrays.labels, found.functions, strict=True) if text}
    assert by_label == {"NP": "SBJ", "PP": "TMP"}
    (((node, place), ((text, antecedent),)),) = found.slots.items()
    assert (parse.arrays.labels[node], place, text, antecedent) == ("VP", 1, "(NP (-NONE- *))", 2)
