import re
from math import inf, nan

import pytest

from spacy_incparse.errors import IncparseError
from spacy_incparse.linear.templates import FIELDS
from tests.reference.engine import Engines, learner_of, teach

WORDS = "The old train was late because the driver slept .".split()
TAGS = "DT JJ NN VBD JJ IN DT NN VBD .".split()
OTHER_WORDS = "A dog and , green stop because ? he slept".split()
OTHER_TAGS = "JJ DT CC , NN . VBD NN IN JJ".split()
LOOKS_FAR = {"node": ["L10 LKP", "L10 L01 LKP T1", "L10 LKP T2"], "word": ["LK L10"]}


class Tagger:
    """Tags that depend only on a word and the two words after it; END if there are none."""

    look_ahead = 2

    def candidate_tags(self, sentences, n_tags, margin):
        assert n_tags == 1
        return [[self.tag((*words, "", "")[k : k + 3]) for k in range(len(words))] for words in sentences]

    def tag(self, window):
        return TAGS[sum(len(word) for word in window) % len(TAGS)]


def parser_of(trees, features, **settings):
    learner = learner_of(trees, features=features, **settings)
    teach(learner, trees)
    return learner.parser()


@pytest.fixture(scope="module")
def paper(sample_dev):
    return parser_of(sample_dev, "paper")


def pushed(session, words, tags=()):
    for word, tag in zip(words, tags or [None] * len(words), strict=False):
        session = session.push(word, tag)
    return session


@pytest.mark.parametrize("generative_weight", [0.0, 3.0])
@pytest.mark.parametrize(("features", "look_ahead"), [("paper", 0), (LOOKS_FAR, 2)])
def test_answers_come_as_late_as_the_features_look_ahead(sample_dev, features, look_ahead, generative_weight):
    settings = {"generative_weight": generative_weight, "train_generative_weight": generative_weight}
    parser = parser_of(sample_dev, features, generative_folds=0, **settings)
    assert parser.start().look_ahead == look_ahead
    for n in range(1, len(WORDS) + 1):
        session = pushed(parser.start(), WORDS[:n], TAGS)
        assert session.answered == max(0, n - look_ahead)
        if not session.answered:
            with pytest.raises(IncparseError, match="words ahead"):
                session.best()
            continue
        parses = session.nbest(3)
        assert parses[0].tree.words == session.words[: session.answered]
        # With all other words there the answer for these is the same: none of them is looked at.
        assert parses == parser.prefix(WORDS, TAGS, session.answered, 3)


@pytest.mark.parametrize("name", [name for name, field in FIELDS.items() if field.look_ahead is not None])
def test_no_field_looks_farther_than_it_says(sample_dev, name):
    """With random weights, the beam does not depend on words beyond the look-ahead."""
    kind = "close" if FIELDS[name].needs_span else "node"
    features = {"node": ["L10 L01"], kind: [name, "L10 L01"]}
    engines = Engines(sample_dev[:20], features=features, beam_size=4)
    for n in range(1, len(WORDS) - 3):
        n_seen = n + max(0, FIELDS[name].look_ahead)
        sentences = [
            (WORDS[:n_seen], TAGS[:n_seen]),
            (WORDS, TAGS),
            (WORDS[:n_seen] + OTHER_WORDS[n_seen:], TAGS[:n_seen] + OTHER_TAGS[n_seen:]),
        ]
        found = [engines.beam.prefix(engines.model.sentence(*sentence), n, 4) for sentence in sentences]
        assert found[0] == found[1] == found[2]


def test_words_without_tags_get_those_that_later_words_will_not_change(sample_dev):
    parser, tagger = parser_of(sample_dev, LOOKS_FAR), Tagger()
    all_tags = tagger.candidate_tags([WORDS], 1, 0.0)[0]
    assert parser.start(tagger).look_ahead == 4
    for n in range(1, len(WORDS) + 1):
        session = pushed(parser.start(tagger), WORDS[:n])
        assert session.answered == max(0, n - 4)
        if session.answered:
            assert session.nbest(3) == parser.prefix(WORDS, all_tags, session.answered, 3)
        own = tagger.candidate_tags([WORDS[:n]], 1, 0.0)[0]
        assert session.best(complete=True) == parser.parse(WORDS[:n], own)


def test_a_given_tag_need_not_be_waited_for(paper):
    session = pushed(paper.start(Tagger()), WORDS[:3])
    assert session.answered == 1
    late, known = session.push("was"), session.push("was", "VBD")
    assert (late.answered, known.answered) == (2, 2)
    assert (late.push("late", "JJ").answered, known.push("late", "JJ").answered) == (3, 5)
    assert known.push("late", "JJ").best().tree.tags[3:] == ("VBD", "JJ")


def test_branches_leave_each_other_alone(paper):
    prefix = pushed(paper.start(), WORDS[:3], TAGS)
    before = prefix.nbest(2)
    assert prefix.push("stopped", "VBD").words[-1] == "stopped"
    assert prefix.push("was", "VBD").best() == pushed(paper.start(), WORDS[:4], TAGS).best()
    assert prefix.nbest(2) == before
    assert prefix.push("was", "VBD").previous is prefix  # undo is going back to it


def test_features_that_see_the_end_answer_for_whole_sentences_alone(sample_dev):
    session = pushed(parser_of(sample_dev, "paper+punct").start(), WORDS[:4], TAGS)
    assert session.look_ahead is None
    assert session.answered == 0
    with pytest.raises(IncparseError, match="end of the sentence"):
        session.best()
    assert session.best(complete=True).tree.words == tuple(WORDS[:4])


@pytest.mark.parametrize(
    ("word", "tag", "message"),
    [
        ("The", None, "'The' has no tag"),
        *((word, "DT", f"{word!r} is not one word") for word in ("", " ", "the old", "the\told", "the\nold")),
        (3, "DT", "has to be a string, not 3"),
        *(
            ("The", tag, f"{tag!r} is not a tag (for 'The'): ")
            for tag in (5, b"NN", ("NN", "VB"), ["NN"], [], [("NN", "x")], [("NN", nan)], [("NN", 0), ("VB", inf)])
        ),
        ("The", "dt", "not know the tag 'dt' (for 'The'): "),
    ],
)
def test_what_is_no_word_and_no_tag_is_told(paper, word, tag, message):
    with pytest.raises(IncparseError, match=re.escape(message)):
        paper.start().push(word, tag)


def test_what_a_session_cannot_do_is_told(paper):
    session = paper.start()
    with pytest.raises(IncparseError, match="no words yet"):
        session.best()
    session = session.push("the\u00a0old", "DT")
    assert session.words == ("the\u00a0old",)
    for n, message in ((0, "1 or more"), (1.5, r"a whole number, not 1\.5"), (10**12, "not 1000000000000")):
        with pytest.raises(IncparseError, match=message):
            session.nbest(n)
    with pytest.raises(IncparseError, match="no word probabilities"):
        session.measures()
