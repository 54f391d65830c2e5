import warnings

import pytest
from spacy.glossary import GLOSSARY

import spacy_incparse
from spacy_incparse import explain
from spacy_incparse.data import embedded_names
from spacy_incparse.glossary import FUNCTIONS, OTHER_TAGS, PHRASES, TAGS
from spacy_incparse.treebanks.reader import read_trees
from tests.readme import CHECKOUT


@pytest.mark.parametrize(
    ("label", "meaning"),
    [
        ("SBAR", PHRASES["SBAR"].meaning),
        ("ROOT", PHRASES["TOP"].meaning),
        ("VBZ", GLOSSARY["VBZ"]),
        ("-LRB-", GLOSSARY["-LRB-"]),
        ("-NONE-", OTHER_TAGS["-NONE-"]),
        ("SBJ", "subject"),
        ("NP-SBJ-1", "noun phrase; subject"),
        ("NP=2", "noun phrase"),
        ("PP-LOC-CLR", "prepositional phrase; place; closely related to the verb"),
        ("NP-NEW-3", "noun phrase; NEW"),
        ("ADVP|PRT", "adverb phrase or particle of a verb"),
        ("PRP", GLOSSARY["PRP"]),
        ("-PRP", FUNCTIONS["PRP"].meaning),
        ("NOUN", GLOSSARY["NOUN"]),
    ],
)
def test_explain(label, meaning):
    assert explain(label) == meaning


@pytest.mark.parametrize("label", ["QQ", "", "-", "-QQ", "|", "np", "S+VP"])
def test_what_is_not_known_has_no_meaning_and_no_warning(label):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert explain(label) is None


def test_tags_are_those_that_spacy_explains():
    assert set(TAGS) <= set(GLOSSARY)
    assert not set(TAGS) & (set(PHRASES) | set(OTHER_TAGS))


def test_examples_show_the_phrase():
    for terms in (PHRASES, FUNCTIONS):
        for label, term in terms.items():
            assert term.example.count("**") in (2, 4) or label == "TOP", label


def test_all_labels_of_the_sample_treebank_are_explained():
    trees = read_trees(CHECKOUT / "assets" / "sample-train.mrg")
    labels = {node.label for tree in trees for node in tree.preorder() if node.label}
    assert not [label for label in labels if explain(label) is None]


def test_all_labels_of_the_embedded_pipeline_are_explained():
    if "en" not in embedded_names():
        pytest.skip("this checkout has no embedded pipeline: spacy_incparse/data/en")
    model = spacy_incparse.load("en").get_pipe("incparse").model
    assert not [label for label in (*model.labels, *model.tags) if explain(label) is None]
