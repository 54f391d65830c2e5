from spacy_incparse.incremental.grammar import Labels
from spacy_incparse.treebanks.reader import parse_bracketed

TREES = list(parse_bracketed("(TOP (S (X (X oh)) (VP (VB go)) (NP (NN home)))) (TOP (NP (NN rain)))"))


def test_labels_are_sorted_by_frequency_then_name():
    labels = Labels.from_trees(TREES)
    assert labels.nonterminals == ("NP", "TOP", "S", "VP", "X")
    assert labels.tags == ("NN", "VB", "X")
    assert Labels.from_trees(reversed(TREES)) == labels


def test_a_tag_and_a_phrase_of_the_same_name_are_different_symbols():
    labels = Labels.from_trees(TREES)
    phrase, tag = labels.nonterminal_ids["X"], labels.tag_symbol(labels.tag_ids["X"])
    assert phrase != tag
    assert labels.name(phrase) == labels.name(tag) == "X"
