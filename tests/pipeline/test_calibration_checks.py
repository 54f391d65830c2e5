"""What `calibrate` and the settings of a component refuse."""

import pytest

import spacy_incparse
from spacy_incparse.errors import ConfigError, IncparseError, ModelError


@pytest.fixture(scope="module")
def nlp():
    return spacy_incparse.load("en")


@pytest.mark.parametrize("given", ["dev.mrg", [5]])
def test_calibrate_takes_examples(nlp, given):
    with pytest.raises(IncparseError, match="is no Example: pass Examples with gold trees"):
        nlp.get_pipe("incparse").calibrate(given)


def test_calibrate_says_that_there_are_no_trees(nlp):
    before = nlp.get_pipe("incparse").decoder.temperature
    with pytest.warns(UserWarning, match="incparse: no example has a gold tree"):
        assert nlp.get_pipe("incparse").calibrate([]) is None
    assert nlp.get_pipe("incparse").decoder.temperature == before


@pytest.mark.parametrize("name", ["spans_key", "required_key", "forbidden_key"])
def test_names_of_groups_are_checked_when_they_are_set(nlp, name):
    with pytest.raises(ConfigError, match=f"incparse: {name} = 3 must be a name, or None"):
        setattr(nlp.get_pipe("incparse"), name, 3)
    assert getattr(nlp.get_pipe("incparse"), name) is None


@pytest.mark.parametrize("wrong", [3, None, b"(S (A b))"])
def test_examples_take_trees(nlp, wrong):
    with pytest.raises(IncparseError, match="a gold tree has to be a Tree, or brackets in a string, not "):
        spacy_incparse.example(nlp, wrong)


def test_an_empty_word_is_no_token(nlp):
    with pytest.raises(IncparseError, match=r"\(S \(A -EMPTY-\)\)\): the empty word \(-EMPTY-\) cannot be a token"):
        spacy_incparse.example(nlp, "(S (A -EMPTY-))")


@pytest.mark.parametrize("wrong", [3, None])
def test_a_pipeline_has_a_name(wrong):
    with pytest.raises(ModelError, match=f"{wrong} is no pipeline: pass its name or its path"):
        spacy_incparse.load(wrong)
