"""A trained combination: its trees and lists, constraints, confidences and storage."""

import pickle

import pytest
import srsly
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_incparse.errors import ConfigError, IncparseError, ModelError
from spacy_incparse.parsing.combined_kind import CombinedParser
from spacy_incparse.parsing.nbest import NBestSearch
from spacy_incparse.parsing.parse import Constraint
from spacy_incparse.parsing.parser import TagRequest
from tests.parsing.small_combination import run, sample, small_config
from tests.strategies import words

WORDS = ("The", "old", "cat", "saw", "a", "dog", "in", "the", "garden", ".")


@pytest.fixture(scope="module")
def trained():
    return run(sample(), small_config(), dev=sample(115)[100:])


@pytest.fixture(scope="module")
def parser(trained):
    return trained[0]


@pytest.fixture(scope="module")
def tags(trained):
    return trained[1].candidate_tags([WORDS], *trained[0].tag_request)[0]


def test_what_it_knows(parser):
    assert parser.tag_request == TagRequest(3, 80.0)
    assert set(parser.labels) >= {"NP", "S", "TOP", "VP"}
    assert "NN" in parser.tags
    assert parser.answers_with_best
    assert (parser.has_posterior, parser.has_exact_probabilities) == (True, False)
    assert [member.has_posterior for member in parser.members] == [False, False, False, True]
    assert parser.clusters is None
    assert [member.kind for member in parser.members] == ["perceptron", "perceptron", "generative", "chart"]


def test_members_and_the_combination_have_fitted_temperatures(parser):
    assert parser.temperature > 0
    assert all(member.temperature > 0 for member in parser.members)
    assert len({member.temperature for member in parser.members}) > 2


def test_a_list(parser, tags):
    parses = parser.nbest(WORDS, tags, 30)
    assert parses[0] == parser.parse(WORDS, tags) == parser.nbest(WORDS, tags, 1)[0]
    assert len({parse.tree for parse in parses}) == len(parses) > 10
    assert parser.nbest(WORDS, tags, 5) == parses[:5]
    for parse in parses:
        assert parser.score(WORDS, tags, parse.tree).score == parse.score
    assert NBestSearch(parser).analyses(WORDS, tags, n=10)[0] == parses[0]


def test_it_contains_what_its_members_find(parser, tags):
    found = {tuple(parse.tree.spans()) for parse in parser.nbest(WORDS, tags, 1000)}
    generative = parser.members[2]
    assert {tuple(parse.tree.spans()) for parse in generative.nbest(WORDS, tags, 5)} <= found


def test_probabilities(parser, tags):
    posterior = parser.posterior(WORDS, tags)
    parses = parser.nbest(WORDS, tags, 1000)
    assert sum(posterior.of_score(parse.score) for parse in parses) == pytest.approx(1)
    assert all(0 <= probability <= 1 + 1e-9 for probability in posterior.phrases.values())
    assert CombinedParser(parser.members, parser.config).posterior(WORDS, tags) is None
    members = [member.temperature for member in parser.members]
    try:
        for member in parser.members:
            member.temperature = 1e6
        flat = parser.posterior(WORDS, tags).phrases
    finally:
        for member, temperature in zip(parser.members, members, strict=True):
            member.temperature = temperature
    assert max(flat.values()) == pytest.approx(1)  # the root
    assert flat != posterior.phrases


@pytest.mark.parametrize(
    "constraint", [(3, 6), (3, 6, "NP"), (0, 3, "NP", False), (0, 3, None, False), (1, 4, "ADJP"), (0, 10, "TOP")]
)
def test_constraints(parser, tags, constraint):
    for parse in parser.nbest(WORDS, tags, 8, [constraint]):
        wanted = Constraint(*constraint)
        spans = parse.tree.spans()
        over = [label for label, *bounds in spans if tuple(bounds) == wanted[:2]]
        is_there = bool(over) if wanted.label is None else wanted.label in over
        assert (is_there == wanted.is_required) != (wanted in parse.unmet)


@settings(deadline=None, max_examples=25)
@given(st.data(), st.lists(words(), min_size=1, max_size=9))
def test_any_sentence_and_constraints(parser, data, words):
    tags = [data.draw(st.sampled_from(("NN", "VBD", "??", ".", "DT"))) for _ in words]
    n = len(words)
    drawn = st.tuples(st.integers(0, n - 1), st.integers(1, n), st.sampled_from((None, "NP", "??")), st.booleans())
    constraints = data.draw(st.lists(drawn.filter(lambda c: c[0] < c[1]), max_size=3))
    parse = parser.parse(words, tags, constraints)
    assert parse.tree.words == tuple(words)
    spans = set(parse.tree.spans())
    for start, end, label, is_required in set(constraints):
        wanted = Constraint(start, end, label, is_required)
        below = {phrase for phrase in spans if phrase[0] != "TOP" or is_required}
        is_there = (label, start, end) in below if label else any(phrase[1:] == (start, end) for phrase in below)
        assert is_there == is_required or wanted in parse.unmet
    assert parser.nbest(words, tags, 3, constraints)[0] == parse


def test_long_sentences(parser):
    words, tags = ["cat", "saw"] * 40, ["NN", "VBD"] * 40
    assert parser.parse(words, tags).tree.words == tuple(words)


def test_wrong_arguments(parser, tags):
    with pytest.raises(ValueError, match="one tag per word"):
        parser.parse(WORDS, tags[:3])
    with pytest.raises(ConfigError, match="outside the sentence"):
        parser.parse(WORDS, tags, [(3, 30)])
    with pytest.raises(ValueError, match="other words"):
        parser.score(WORDS, tags, sample(1)[0])
    with pytest.raises(IncparseError, match="only parses whole sentences"):
        parser.start()


def test_search_settings(parser, tags):
    sure, unsure = parser.with_search(threshold=0.95), parser.with_search(threshold=0.05)
    n_sure, n_unsure = (len(one.parse(WORDS, tags).tree.spans()) for one in (sure, unsure))
    assert n_sure < n_unsure
    assert len(parser.with_search(list_size=1).nbest(WORDS, tags, 100)) <= 4 + 10
    with pytest.raises(ConfigError, match="'beam_size' is not a search setting: choose from threshold, list_size"):
        parser.with_search(beam_size=3)
    with pytest.raises(ConfigError, match=r"'choose' is not a search setting of this kind .* `threshold` says"):
        parser.with_search(choose="expected_f")
    with pytest.raises(ConfigError, match=r"'choose_trees' is not .*: its name is `list_size`"):
        parser.with_search(choose_trees=3)


def test_bytes(parser, tags):
    data = parser.to_bytes()
    for copy in (CombinedParser.from_bytes(data), pickle.loads(pickle.dumps(parser))):
        assert copy.to_bytes() == data
        assert copy.nbest(WORDS, tags, 10) == parser.nbest(WORDS, tags, 10)
        assert copy.posterior(WORDS, tags) == parser.posterior(WORDS, tags)


def test_other_bytes_are_refused(parser):
    content = srsly.msgpack_loads(parser.to_bytes())
    damaged = [
        {"members": content["members"][:2]},
        {"members": content["members"][::-1]},
        {"temperature": -1.0},
        {"config": content["config"] | {"members": {"nobody": {}}}},
        {"members": [[kind, b"?"] for kind, _ in content["members"]]},
    ]
    for change in damaged:
        with pytest.raises(ModelError):
            CombinedParser.from_bytes(srsly.msgpack_dumps(content | change))
    with pytest.raises(ModelError, match="not a combination"):
        CombinedParser.from_bytes(b"")
