"""Public functions with arguments of wrong types: each raises an error of the package's own kind."""

import pytest

import spacy_incparse
from spacy_incparse import ConstituentMatcher, Tree, patterns
from spacy_incparse.errors import IncparseError

BRACKETS = "(TOP (S (NP (DT the) (NN owl)) (VP (VBZ sleeps))))"


@pytest.fixture(scope="module")
def nlp():
    return spacy_incparse.load("en")


@pytest.mark.parametrize(
    ("name", "arguments", "settings"),
    [
        ("explain", [5], {}),
        ("load", [5], {}),
        ("Parser", [5], {}),
        ("examples", [5, 5], {}),
        ("example", [5, 5], {}),
        ("render", [5], {}),
        ("serve", [5], {}),
        ("plot_measures", [5], {}),
        ("set_render_wrapper", [5], {}),
        ("trees_to_json", [5], {}),
        ("complexity", [5], {}),
        ("tree_distance", [5, 5], {}),
        ("tree_similarity", [5, 5], {}),
    ],
)
def test_functions_of_the_package(name, arguments, settings):
    with pytest.raises(IncparseError):
        list(getattr(spacy_incparse, name)(*arguments, **settings))


@pytest.mark.parametrize(
    ("name", "arguments", "settings"),
    [
        ("from_string", [5], {}),
        ("from_dict", [5], {}),
        ("from_nltk", [5], {}),
        ("subtrees", [5], {}),
        ("phrases", [5], {}),
        ("phrases", ["NP", 5], {}),
        ("lca", [1.5, 2], {}),
        ("path", ["a", None], {}),
        ("template", ["x"], {}),
        ("annotate", [5], {}),
        ("annotate", [(), 5], {}),
        ("collapse_unaries", [5], {}),
        ("expand_unaries", [5], {}),
        ("binarize", [5], {}),
        ("binarize", [], {"marker": 5}),
        ("binarize", [], {"horizontal": "x"}),
        ("unbinarize", [], {"marker": 5}),
        ("map_labels", [5], {}),
        ("map_labels", [lambda label: 5], {}),
        ("to_string", [], {"width": "x"}),
        ("pretty", ["x"], {}),
        ("to_latex", [5], {}),
        ("to_svg", [], {"distance": "x"}),
        ("draw", [], {"width": "x"}),
    ],
)
def test_methods_of_trees(name, arguments, settings):
    with pytest.raises(IncparseError):
        list(getattr(Tree.from_string(BRACKETS), name)(*arguments, **settings))


def test_patterns(nlp):
    pattern, doc = patterns.compile("NP"), nlp("It rained.")
    for wrong in (lambda: patterns.compile(None), lambda: patterns.compile("NP", heads=5),
                  lambda: patterns.compile("NP", timeout="x"), lambda: list(pattern.search(doc)),
                  lambda: list(pattern.search(5)), lambda: pattern.count(None),
                  lambda: ConstituentMatcher(5), lambda: ConstituentMatcher(nlp.vocab).add("x", [5])):  # fmt: skip
        with pytest.raises(IncparseError):
            wrong()


@pytest.mark.parametrize(
    ("name", "value"),
    [("search", 5), ("search", {"foo": 1}), ("search", {"beam_size": "x"}), ("tags", 5), ("nbest", "x"),
     ("set_tags", "x"), ("noun_chunks", 1), ("measures", "x"), ("ptb_words", "x"), ("spans_key", 5)],
)  # fmt: skip
def test_settings_of_components(nlp, name, value):
    with pytest.raises(IncparseError):
        setattr(nlp.get_pipe("incparse"), name, value)


def test_sentences_of_a_parser():
    parser = spacy_incparse.Parser("en")
    for arguments in ([5], [["a"], 5]):
        with pytest.raises(IncparseError):
            parser.parse(*arguments)
    for arguments in ([5], [[["a"]], 5]):
        with pytest.raises(IncparseError):
            list(parser.parse_sents(*arguments))
