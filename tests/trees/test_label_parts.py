import pytest

from spacy_incparse.treebanks.reader import parse_bracketed
from spacy_incparse.trees.labels import bare_label, function_tags


@pytest.mark.parametrize(
    ("label", "category", "function"),
    [
        ("NP", "NP", ""),
        ("NP-SBJ", "NP", "SBJ"),
        ("NP-SBJ-12", "NP", "SBJ"),
        ("PP-LOC-PRD-3", "PP", "LOC-PRD"),
        ("NP=2", "NP", ""),
        ("NP-TMP=3", "NP", "TMP"),
        ("ADVP|PRT-CLR", "ADVP|PRT", "CLR"),
        ("NN-HL", "NN", "HL"),
        ("-NONE-", "-NONE-", ""),
        ("-LRB-", "-LRB-", ""),
        ("", "", ""),
        ("=", "=", ""),
    ],
)
def test_a_label_has_a_category_and_functions(label, category, function):
    assert bare_label(label) == category
    assert function_tags(label) == function


def test_a_node_has_them_too():
    subject = next(parse_bracketed("(S (NP-SBJ-1 (NN rain)) (VP (VBZ falls)))"))[0]
    assert (subject.label, subject.category, subject.function) == ("NP-SBJ-1", "NP", "SBJ")
