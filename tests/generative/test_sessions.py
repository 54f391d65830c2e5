from concurrent.futures import ThreadPoolExecutor
from math import exp, log2

import pytest

import spacy_incparse
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.generative.kind import GenerativeConfig
from spacy_incparse.generative.parser import GenerativeParser
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

WORDS = "The old train was late because the driver slept .".split()


@pytest.fixture(scope="module")
def parser(sample_train):
    return GenerativeParser.train(sample_train, GenerativeConfig(measures_beam_size=200), HeadRules.from_name("en"))


def pushed(parser, words):
    session = parser.start()
    for word in words:
        session = session.push(word)
    return session


def test_surprisals_sum_to_the_prefix_probability_and_have_two_parts(parser):
    measures = parser.measures(WORDS)
    total = 0.0
    for word in measures:
        total += word.surprisal
        assert word.surprisal == pytest.approx(word.surprisal_syntactic + word.surprisal_lexical)
        assert word.surprisal_syntactic > 0
        assert word.surprisal_lexical > 0
        assert word.prefix_logprob == pytest.approx(-total)
        assert 0 <= word.best_survives <= 1 + 1e-9
        assert word.open_nodes >= word.depth > 0
        assert word.steps >= 2
    entropies = [0.0, *(word.entropy for word in measures)]
    assert sum(word.entropy_reduction for word in measures) == pytest.approx(-entropies[-1])


def test_entropy_is_that_of_the_analyses():
    noun = Tree.from_string("(TOP (S (NP (NNS fish)) (VP (VBP swim))))")
    verb = Tree.from_string("(TOP (S (VP (VB fish) (NP (NNS cod)))))")
    parser = GenerativeParser.train([noun, noun, verb] * 4, GenerativeConfig(), HeadRules.from_name("en"))
    for words in (["fish"], ["fish", "swim"]):
        session = pushed(parser, words)
        p = [exp(parse.score) for parse in session.nbest(9)]
        assert len(p) == 2
        expected = -sum(one / sum(p) * log2(one / sum(p)) for one in p)
        assert session.measures().entropy == pytest.approx(expected, abs=1e-4)


def test_nothing_of_later_words_reaches_an_answer(parser):
    session = parser.start()
    sessions = [session := session.push(word) for word in WORDS]
    sessions[-1].measures()  # all of them absorb their words now
    sessions[-1].best()
    for n, session in enumerate(sessions, 1):
        bare = pushed(parser, WORDS[:n])
        assert session.measures() == bare.measures()
        assert session.nbest(5) == bare.nbest(5)
        assert session.best(complete=True) == bare.best(complete=True)
        assert session.words == tuple(WORDS[:n])
        assert session.look_ahead == 0


def test_threads_share_a_prefix():
    """With a large model: the search of a small one is over before another thread comes to anything."""
    parser = spacy_incparse.load("en_generative").get_pipe("incparse").decoder.parser
    sentences = [
        WORDS,
        "She gave him many letters .".split(),
        "If it rains , we stay .".split(),
        "Trees grow .".split(),
    ]
    alone = [parser.measures(words) for words in sentences]

    def measured(session, words):
        sessions = [session := session.push(word) for word in words]
        return [session.measures() for session in sessions]

    for _ in range(4):
        start = parser.start()
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda words, start=start: measured(start, words), sentences))
        assert together == alone


def test_a_given_tag_is_kept(parser):
    session = parser.start().push("train", tag="VB").push("late")
    assert session.best().tree.tags[0] == "VB"
    assert session.measures() != pushed(parser, ["train", "late"]).measures()


def test_tags_that_training_has_not_seen_stay_the_trees(parser):
    for tag in ("ZZ", [("ZZ", 0.0)], [("ZZ", 0.0), ("YY", 1.0)]):
        assert parser.parse(["The", "train"], [tag, "NN"]).tree.tags == ("ZZ", "NN")
        assert parser.start().push("The", tag if isinstance(tag, list) else None).best().tree.tags


def test_trees_of_prefixes_cover_the_words(parser):
    session = parser.start()
    for n, word in enumerate(WORDS, 1):
        session = session.push(word)
        parses = session.nbest(4)
        assert all(parse.tree.words == tuple(WORDS[:n]) for parse in parses)
        assert len({parse.tree for parse in parses}) == len(parses)
        assert [p.score for p in parses] == sorted((p.score for p in parses), reverse=True)
    assert session.best(complete=True) == parser.nbest(WORDS)[0]


def test_unknown_words_are_flagged(parser):
    flags = [word.flag for word in parser.measures(["The", "Zyxgarble", "slept"])]
    assert "unknown" in flags[1]
    assert "unknown" not in flags[0]


def test_a_session_without_words_has_no_answers(parser):
    session = parser.start()
    for ask in (session.best, session.measures, lambda: session.nbest(2)):
        with pytest.raises(IncparseError, match="no words yet"):
            ask()
    with pytest.raises(IncparseError, match="not one word"):
        session.push("")
    with pytest.raises(IncparseError, match="not know the tag 'QQ'"):
        session.push("cat", "QQ")


@pytest.mark.parametrize(
    ("beam_size", "expected"),
    [
        (None, (200, 10**-13.5)),
        (20, (20, 10**-10.5)),
        (0, (0, 0)),
        (1, (1, 8e9 * 10**-16.5)),
    ],
)
def test_the_filter_of_measures_grows_and_shrinks_as_a_whole(parser, beam_size, expected):
    assert parser.config.measures_filter(beam_size) == pytest.approx(expected, rel=1e-9, abs=0)


def test_a_wrong_filter_is_refused(parser):
    for ask in (parser.start, lambda **settings: parser.measures(WORDS, **settings)):
        with pytest.raises(ConfigError, match=r"beam_size is 1\.5: it must be a whole number"):
            ask(beam_size=1.5)
        with pytest.raises(ConfigError, match="gamma is nan: it must be a number from 0 to 1"):
            ask(gamma=float("nan"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beam_size": -1}, "beam_size is -1: it must be at least 0"),
        ({"choose_temperature": 0}, "choose_temperature is 0: it must be a number from 0.01 to 1e\\+06, or None"),
        ({"choose": "risk"}, "choose is 'risk': it must be one of score, expected_f"),
        ({"gamma": 2}, "gamma is 2: it must be a number from 0 to 1, or None"),
    ],
)
def test_wrong_values_are_named(settings, message):
    with pytest.raises(ConfigError, match=message):
        GenerativeConfig(**settings)
