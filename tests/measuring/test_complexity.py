import pytest
import spacy

import spacy_incparse
from spacy_incparse import Tree, complexity
from spacy_incparse.documents.gold import trees_to_docs
from spacy_incparse.errors import IncparseError
from spacy_incparse.measuring.complexity import MEASURES, word_depths
from spacy_incparse.treebanks.reader import read_trees
from tests.reference.complexity import slow_measures

# Counted by hand: W VP C T DC CT CP CN; Yngve and Frazier depths of all words together, and the largest; phrases; noun
# phrases and their words; clauses embedded left and in the centre; words before the main verbs and T-units with one.
BY_HAND = """
(TOP (S (NP (DT The) (NN bell)) (VP (VBD rang)) (. .)))
3 1 1 1 0 0 0 0  3 2  3.5 2.5  3  1 2  0 0  2 1

(TOP (S (S (NP (NNP Anna)) (VP (VBD sang))) (CC and) (S (NP (NNP Ben)) (VP (VBD danced))) (. .)))
5 2 2 2 0 0 0 0  7 3  8.5 4  7  2 2  0 0  2 2

(TOP (S (NP (NP (DT The) (NN woman)) (SBAR (WHNP (WP who)) (S (VP (VBD called))))) (VP (VBZ is) (NP (PRP$ my)
  (NN aunt))) (. .)))
7 2 2 1 1 1 0 1  10 3  10 3.5  9  2 6  0 1  4 1

(TOP (S (SBAR (WHADVP (WRB When)) (S (NP (PRP it)) (VP (VBD rained)))) (, ,) (NP (PRP we)) (VP (VBD stayed) (ADVP
  (RB inside))) (. .)))
6 2 2 1 1 1 0 0  10 3  10 3.5  9  2 2  1 0  4 1

(TOP (S (NP (PRP I)) (VP (VBP think) (SBAR (IN that) (S (NP (PRP she)) (VP (VBD left))))) (. .)))
5 2 2 1 1 1 0 1  4 1  8 2.5  7  2 2  0 0  1 1

(TOP (S (VP (VB Ring) (NP (DT the) (NN bell))) (. !)))
3 1 1 1 0 0 0 0  2 1  3.5 2.5  3  1 2  0 0  0 1

(TOP (SQ (VBZ Is) (NP (DT the) (NN soup)) (ADJP (JJ hot)) (. ?)))
4 1 1 1 0 0 0 0  5 2  3.5 1.5  3  1 2  0 0  0 1

(TOP (SBARQ (WHNP (WP What)) (SQ (VBD did) (NP (PRP you)) (VP (VB see))) (. ?)))
4 1 1 1 0 0 0 0  4 2  6 2.5  5  1 1  0 0  3 1

(TOP (S (NP (NP (JJ Old) (NNS boats)) (CC and) (NP (JJ new) (NNS ferries))) (VP (VBP need) (S (VP (TO to) (VP
  (VB be) (VP (VBN painted)))))) (. .)))
9 2 1 1 0 0 1 1  15 4  10 3.5  9  1 5  0 0  5 1

(TOP (S (NP (NP (NP (NNP Lena) (POS 's)) (NN house)) (PP (IN on) (NP (DT the) (NN hill)))) (VP (VBD was) (VP
  (VBN sold) (PP (IN by) (NP (PRP$ her) (NN son))))) (. .)))
11 1 1 1 0 0 0 1  18 4  10.5 4.5  10  3 10  0 0  7 1

(TOP (S (SBAR (WHNP (WP What)) (S (NP (PRP he)) (VP (VBD said)))) (VP (VBD surprised) (NP (DT the) (JJ young)
  (NN teacher))) (. .)))
7 2 2 1 1 1 0 2  9 2  9 3.5  8  2 4  1 0  3 1

(TOP (S (S (VP (VBG Saving) (NP (NN water)))) (VP (VBZ helps)) (. .)))
3 2 1 1 0 0 0 1  3 2  6 4  5  1 1  0 0  2 1

(TOP (FRAG (RB Not) (NP (NN today)) (. .)))
2 0 1 1 0 0 0 0  1 1  2 1  2  1 1  0 0  0 0

(TOP (NP (NP (NNS Reports)) (PP (IN from) (NP (DT the) (NN coast)))))
4 0 0 0 0 0 0 1  3 1  4 2  4  2 6  0 0  0 0

(TOP (S (NP (NP (DT The) (NN letter)) (SBAR (WHNP (WDT that)) (S (NP (NP (DT the) (NN clerk)) (SBAR (WHNP
  (WP who)) (S (NP (DT the) (NN mayor)) (VP (VBZ trusts))))) (VP (VBD lost))))) (VP (VBD was) (NP (PRP mine))) (. .)))
12 3 3 1 2 1 0 2  28 4  17.5 3.5  16  4 19  0 2  10 1
"""
SENTENCES = [block.rsplit("\n", 1) for block in BY_HAND.strip().split("\n\n")]
TREES = [Tree.from_string(brackets) for brackets, _ in SENTENCES]


@pytest.mark.parametrize(("brackets", "counts"), SENTENCES, ids=[" ".join(tree.words) for tree in TREES])
def test_sentences_counted_by_hand(brackets, counts):
    *structures, depths, deepest, local, most, nodes, n_nps, np_words, left, centre, before, verbs = map(
        float, counts.split()
    )
    found, n_words = complexity(Tree.from_string(brackets)), structures[0]
    assert [found[name] for name in "W VP C T DC CT CP CN".split()] == structures
    counted = dict(zip("W VP C T DC CT CP CN".split(), structures, strict=True)) | {"S": 1}
    for ratio in "W/S W/T W/C C/S VP/T C/T DC/C DC/T T/S CT/T CP/T CP/C CN/T CN/C".split():
        first, second = map(counted.__getitem__, ratio.split("/"))
        assert found[{"W/S": "MLS", "W/T": "MLT", "W/C": "MLC"}.get(ratio, ratio)] == (
            first / second if second else None
        )
    assert (found["yngve_mean"], found["yngve_max"]) == (depths / n_words, deepest)
    assert (found["frazier_mean"], found["frazier_max"]) == (local / n_words, most)
    assert (found["nodes"], found["MLNP"]) == (nodes, np_words / n_nps)
    assert (found["left_embedding"], found["centre_embedding"]) == (left, centre)
    assert found["words_before_verb"] == (before / verbs if verbs else None)


def test_a_text_is_measured_as_a_whole_and_fragments_may_be_left_out():
    found = complexity([*TREES, None])
    assert list(found) == list(MEASURES)
    assert (found["S"], found["W"], found["T"], found["fragments"], found["without_tree"]) == (15, 85, 15, 2, 1)
    assert (found["MLS"], found["C/T"], found["yngve_max"], found["centre_embedding"]) == (85 / 15, 21 / 15, 4, 2)
    without = complexity([*TREES, None], fragments=False)
    assert [without[name] for name in ("S", "W", "T", "fragments", "without_tree")] == [13, 79, 14, 2, 1]
    assert set(complexity([]).values()) == {0, None}


def test_the_slow_twin_measures_the_same(sample_train):
    for tree in [*TREES, *sample_train[:60]]:
        assert complexity(tree) == slow_measures(tree), tree


@pytest.mark.treebanks
@pytest.mark.parametrize("bank", ["wsj", "gum", "masc", "craft"])
def test_the_patterns_and_the_slow_twin_agree_on_treebanks(treebanks, bank):
    for tree in list(read_trees(treebanks / bank / "dev.mrg"))[::2][:125]:
        assert complexity(tree) == slow_measures(tree), tree


def test_function_tags_tell_subjects_and_passives():
    tree = Tree.from_string(
        "( (S (NP-SBJ-1 (DT The) (JJ old) (NN house)) (VP (VBZ has) (VP (VBN been) (VP (VBN sold) (NP (-NONE- *-1)))))"
        " (CC and) (S (NP-SBJ (PRP it)) (VP (VBZ 's) (VP (VBN got) (NP (NNS owners))))) (. .)))"
    )
    assert (complexity(tree)["subject_length"], complexity(tree)["passives"]) == (2, 1)
    assert complexity(tree.strip_functions())["passives"] is None
    assert complexity(tree) == slow_measures(tree)


def test_words_have_their_own_depths():
    tree = Tree.from_string("(TOP (S (`` ``) (NP (PRP I)) (VP (VBP do) (RB n't) (VP (VB know))) (. .)))")
    quote, *words, stop = word_depths(tree.arrays)
    assert quote is stop is None
    assert words == [(1, 2.5, 2, 1), (2, 1, 1, 0), (1, 0, 0, 0), (0, 1, 1, 3)]


def test_docs_sentences_and_files(tmp_path):
    (doc,) = trees_to_docs(TREES[:2], spacy.blank("en").vocab, n_sents=2)
    first, second = doc.sents
    assert complexity(doc) == complexity(TREES[:2]) == complexity([first, second])
    assert complexity(second) == complexity(TREES[1])
    doc._.trees = [None, TREES[1]]
    assert (complexity(doc)["S"], complexity(doc)["without_tree"]) == (1, 1)
    (tmp_path / "a.mrg").write_text(f"{TREES[0]}\n()\n{TREES[1]}\n", encoding="utf8")
    assert complexity(tmp_path) == complexity([TREES[0], None, TREES[1]])
    for wrong in (5, [5], doc[1:2], tmp_path / "none.mrg"):
        with pytest.raises(IncparseError, match=r"cannot be measured|no whole sentence|no such file"):
            complexity(wrong)


def test_very_deep_trees_are_measured():
    deep = Tree.from_string("(S (VP " * 3000 + "(VB go)" + "))" * 3000)
    assert complexity(deep)["nodes"] == 6000
    assert spacy_incparse.tree_distance(deep, TREES[0]) > 5990


def test_trees_without_words_have_no_measures():
    assert complexity(Tree.from_string("(TOP (X (. .)))"))["yngve_max"] is None
