import warnings

import pytest
import spacy

import spacy_incparse

GERMAN = "Der alte Kapitän wollte gestern Abend noch einmal seinen Hund im Garten suchen."

ENGLISH = (
    "The old captain wanted to look for his dog in the garden again last night. Nobody had seen it, and the neighbours "
    "could not help him. When it got dark, he went home tired, sat down at the table and wrote a long letter, which he "
    "never sent, because he did not have the right address."
)
LONGER = (
    f"{GERMAN} Niemand hatte ihn gesehen, und die Nachbarn konnten ihm nicht helfen. Als es dunkel wurde, ging er müde "
    "nach Hause, setzte sich an den Tisch und schrieb einen langen Brief, den er aber nie abschickte, weil ihm die "
    "richtige Adresse fehlte."
)


@pytest.mark.parametrize("name", ["en", "en_accurate", "en_generative"])
def test_words_that_are_mostly_unknown_cause_one_warning(name):
    nlp = spacy_incparse.load(name, config={"components": {"incparse": {"measures": False}}})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp("The old captain wanted to look for his dog in the garden again last night.")
    with pytest.warns(UserWarning, match="most words are unknown to the parser, such as .*Kapitän") as found:
        list(nlp.pipe([GERMAN, GERMAN], batch_size=1))
    assert len(found) == 1


def test_a_parser_without_words_warns_of_text_without_stop_words():
    nlp = spacy_incparse.load("en_neural")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp(ENGLISH)
        nlp("Anna Berg, Otto Kahn, Emil Rabe. Cook rice. Melt butter.")
    with pytest.warns(UserWarning, match="words are among the most common ones") as found:
        list(nlp.pipe([LONGER, LONGER], batch_size=1))
    assert len(found) == 1


def test_a_model_of_another_language_causes_a_warning():
    with pytest.warns(UserWarning, match="the model 'en' is for 'en', the pipeline for 'de'"):
        spacy.blank("de").add_pipe("incparse", config={"model": "en"})
