import json

import numpy as np
import pytest
from hypothesis import given, settings

from spacy_incparse.chart.grammar import grammar_from_dict, grammar_to_dict
from spacy_incparse.errors import ModelError
from tests.chart.grammars import MARKOVIZATIONS, TREEBANKS, grammar_of


@settings(max_examples=20, deadline=None)
@given(TREEBANKS, MARKOVIZATIONS)
def test_stored_grammars_are_the_same(trees, options):
    grammar = grammar_of(trees, options)
    other = grammar_from_dict(json.loads(json.dumps(grammar_to_dict(grammar))))
    assert (other.rules, other.states, other.labels) == (grammar.rules, grammar.states, grammar.labels)
    np.testing.assert_array_equal(other.counts, grammar.counts)
    assert [array.dtype for array in vars(other).values() if isinstance(array, np.ndarray)] == [
        array.dtype for array in (grammar.binary, grammar.unary, grammar.lexical, grammar.roots, grammar.counts)
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"binary": [0, 1]}, "its binary are not rows of 3 numbers"),
        ({"roots": [99]}, "its roots are not rows of 1 numbers below 8"),
        ({"lexical": [-1]}, "its lexical are not rows"),
        ({"lexical": [True]}, "its lexical are not rows"),
        ({"chains": []}, "not one chain per unary rule"),
        ({"chains": [[0], [99]]}, "its chains are not rows"),
        ({"counts": [1]}, "not one count per rule"),
        ({"unary": None}, "its unary are no list"),
        ({"states": [1]}, "among its states there is 1"),
    ],
)
def test_damaged_grammars_are_refused(sample_grammar, change, message):
    with pytest.raises(ModelError, match=message):
        grammar_from_dict(grammar_to_dict(sample_grammar) | change)
    with pytest.raises(ModelError, match="it is no dict"):
        grammar_from_dict([])
