import warnings

import pytest
from spacy.glossary import GLOSSARY

import spacy_incparse
from spacy_incparse import explain
from spacy_incparse.data import embedded_names
from spacy_incparse.glossary import FUNCTIONS, OTHER_TAGS, PHRASES
from spacy_incparse.treebanks.reader import read_trees
from tests.readme import CHECKOUT


@pytest.mark.parametrize(
    ("label", "meaning"),
    [
        ("SBAR", PHRASES["SBAR"].meaning),
        ("VBZ", GLOSSARY["VBZ"]),
        ("-NONE-", OTHER_TAGS["-NONE-"]),
        ("NP-SBJ-1", "noun phrase; subject"),
        ("PP-LOC-CLR", "prepositional phrase; place; closely related to the verb"),
        ("NP-NEW-3", "noun phrase; NEW"),
        ("ADVP|PRT", "adverb phrase or particle of a verb"),
        ("-PRP", FUNCTIONS["PRP"].meaning),
    ],
)
def test_explain(label, meaning):
    assert explain(label) == meaning


@pytest.mark.parametrize("label", ["QQ", "", "-", "-QQ", "|", "np", "S+VP"])
def test_what_is_not_known_has_no_meaning_and_no_warning(label):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert explain(label) is None


def test_all_labels_of_the_sample_treebank_are_explained():
    trees = read_trees(CHECKOUT / "assets" / "sample-train.mrg")
    labels = {node.label for tree in trees for node in tree.preorder() if node.label}
    assert not [label for label in labels if explain(label) is None]


def test_all_labels_of_the_embedded_pipeline_are_explained():
    if "en" not in embedded_names():
        pytest.skip("this checkout has no embedded pipeline: spacy_incparse/data/en")
    model = spacy_incparse.load("en").get_pipe("incparse").model
    assert not [label for label in (*model.labels, *model.tags) if explain(label) is None]
