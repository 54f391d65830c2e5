import pytest

from spacy_incparse.errors import IncparseError
from tests.small_pipeline import pipeline, train

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
    nlp = pipeline(training={"kind": "generative"})
    train(nlp, 0, limit=60)
    session = pushed(nlp.get_pipe("incparse"), WORDS[:2])
    assert (session.look_ahead, session.answered) == (0, 2)
    assert session.best().tree.words == ("The", "old")
    assert session.measures().surprisal > 0


def test_without_weights_there_is_no_session():
    with pytest.raises(IncparseError, match="no weights"):
        pipeline().get_pipe("incparse").start()
