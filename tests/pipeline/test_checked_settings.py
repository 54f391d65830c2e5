import pytest

import spacy_incparse
from spacy_incparse.errors import ConfigError, IncparseError, ModelError
from spacy_incparse.parsing.catalogue import check_search
from spacy_incparse.training.settings import TRAINING_DEFAULTS, check_training


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"foo": 1}, "there is no setting 'foo' of training: the settings are beam_size, .*, features, .*, tagger"),
        (
            {"kind": "generative", "table_bits": 18},
            "there is no setting 'table_bits' of training: .*, seed, tagger",
        ),
        ({"features": "rich", "n_folds": "x"}, "n_folds is 'x': it must be a whole number"),
        ({"seed": None}, "seed is None: it must be a whole number"),
        ({"tagger": {"layers": 1}}, "the tagger has no setting 'layers'"),
        ({"heads": {"rules": {}, "default": 3}}, "head table: default: expected a list of passes"),
    ],
)
def test_wrong_settings_of_training(settings, message):
    with pytest.raises(ConfigError, match=message):
        check_training(settings)


def test_files_are_not_read_by_the_check():
    check_training({"heads": "no/such/table.json", "clusters": "no/such/clusters.txt"})
    check_training({"kind": "generative", "heads": "no/such/table.json"})
    check_training(TRAINING_DEFAULTS)


@pytest.mark.parametrize("name", ["en", "en_accurate", "en_generative"])
def test_the_embedded_models_have_good_settings(name):
    component = spacy_incparse.load(name).get_pipe("incparse")
    check_training(component.training)
    check_search(component.search)


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


def test_settings_are_checked_when_they_are_set(nlp):
    component = nlp.get_pipe("incparse")
    with pytest.raises(ConfigError, match="incparse: tags = 'Doc' must be 'own' or 'doc'"):
        component.tags = "Doc"
    for name in ("spans_key", "required_key", "forbidden_key"):
        with pytest.raises(ConfigError, match=f"incparse: {name} = 3 must be a name, or None"):
            setattr(component, name, 3)
        assert getattr(component, name) is None


def test_an_empty_word_is_no_token(nlp):
    with pytest.raises(IncparseError, match=r"\(S \(A -EMPTY-\)\)\): the empty word \(-EMPTY-\) cannot be a token"):
        spacy_incparse.example(nlp, "(S (A -EMPTY-))")


@pytest.mark.parametrize("wrong", [3, None])
def test_a_pipeline_has_a_name(wrong):
    with pytest.raises(ModelError, match=f"{wrong} is no pipeline: pass its name or its path"):
        spacy_incparse.load(wrong)
