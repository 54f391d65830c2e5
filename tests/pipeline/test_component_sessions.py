import pytest
import spacy

from spacy_incparse.errors import IncparseError
from spacy_incparse.pipeline.registered import TreebankReader
from tests.small_pipeline import ASSETS

WORDS = "The old train was late .".split()


def pushed(component, words):
    session = component.start()
    for word in words:
        session = session.push(word)
    return session


def test_a_perceptron_takes_its_own_taggers_tags_and_answers_late(trained):
    component = trained.get_pipe("incparse")
    reach = component.model.tagger.look_ahead
    assert component.start().look_ahead == reach == 2
    session = pushed(component, WORDS)
    assert session.answered == len(WORDS) - reach
    assert session.best().tree.words == tuple(WORDS[:-reach])
    (tree,) = trained(" ".join(WORDS))._.trees
    assert str(session.best(complete=True).tree) == str(tree)


def test_given_tags_win_over_the_own_taggers(trained):
    session = trained.get_pipe("incparse").start().push("train", tag="VB")
    assert session.answered == 1
    assert session.best().tree.tags == ("VB",)


def test_a_generative_model_answers_at_once():
    nlp = spacy.blank("en")
    component = nlp.add_pipe("incparse", config={"training": {"kind": "generative"}})
    reader = TreebankReader(ASSETS / "sample-train.mrg")
    nlp.initialize(lambda: reader(nlp))
    session = pushed(component, WORDS[:2])
    assert (session.look_ahead, session.answered) == (0, 2)
    assert session.best().tree.words == ("The", "old")
    assert session.measures().surprisal > 0


def test_without_weights_there_is_no_session():
    with pytest.raises(IncparseError, match="no weights"):
        spacy.blank("en").add_pipe("incparse").start()
