import pickle
from pathlib import Path

import pytest
import spacy
import srsly
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from spacy_incparse.cli import app
from spacy_incparse.errors import ConfigError, IncparseError, ModelError
from spacy_incparse.parsing.catalogue import find_kind, kind_of
from spacy_incparse.parsing.combined_kind import COMBINED, CombinedConfig, CombinedLearner, CombinedParser
from spacy_incparse.parsing.nbest import NBestSearch
from spacy_incparse.parsing.parse import Constraint
from spacy_incparse.parsing.parser import TagRequest, requested_tags
from spacy_incparse.training.loop import train_parser
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.heads import HeadRules
from tests.strategies import words as any_words

ASSETS = Path(__file__).parents[2] / "assets"
WORDS = ("The", "old", "cat", "saw", "a", "dog", "in", "the", "garden", ".")
SMALL = {"recipe": "paper", "table_bits": 16, "train_beam_size": 8, "beam_size": 8, "max_epochs": 2}
SEVERAL = SMALL | {"n_tags": 2, "max_epochs": 1, "n_models": 2}
MEMBERS = {"several": SEVERAL, "one": SMALL, "generative": {}, "chart": {"table_bits": 14, "max_epochs": 1}}
HEADS = HeadRules.from_name("en")


def sample(n=100):
    return read_treebank(ASSETS / "sample-train.mrg")[:n]


def small_config(**settings):
    return CombinedConfig(**({"members": MEMBERS, "list_size": 20} | settings))


def run(trees, config, kind=COMBINED, max_epochs=2, dev=()):
    """Train; return the parser of the best pass (without `dev`, the last), and its tagger."""
    found = []

    def keep(report, tagger, parser):
        if report.is_best:
            found[:] = [parser, tagger]

    train_parser(
        trees, dev, kind=kind, config=config, heads=HEADS, n_folds=2, tagger_settings={"n_epochs": 2},
        max_epochs=max_epochs, seed=3, on_pass=keep,
    )  # fmt: skip
    return found


@pytest.fixture(scope="module")
def fitted():
    """A parser and its tagger; the temperatures are fitted."""
    return run(sample(), small_config(), dev=sample(115)[100:])


@pytest.fixture(scope="module")
def combined(fitted):
    return fitted[0]


@pytest.fixture(scope="module")
def tags(fitted):
    return fitted[1].candidate_tags([WORDS], *fitted[0].tag_request)[0]


def test_what_it_knows(combined):
    assert combined.tag_request == TagRequest(3, 80.0)
    assert set(combined.labels) >= {"NP", "S", "TOP", "VP"}
    assert "NN" in combined.tags
    temperatures = [combined.temperature, *(member.temperature for member in combined.members)]  # fitted
    assert min(temperatures) > 0
    assert len(set(temperatures)) > 2
    assert [member.kind for member in combined.members] == ["perceptron", "perceptron", "generative", "chart"]


def test_a_list(combined, tags):
    parses = combined.nbest(WORDS, tags, 30)
    assert parses[0] == combined.parse(WORDS, tags) == combined.nbest(WORDS, tags, 1)[0]
    assert len({parse.tree for parse in parses}) == len(parses) > 10
    assert combined.nbest(WORDS, tags, 5) == parses[:5]
    for parse in parses:
        assert combined.score(WORDS, tags, parse.tree).score == parse.score
    assert NBestSearch(combined).analyses(WORDS, tags, n=10)[0] == parses[0]
    found = {tuple(parse.tree.spans()) for parse in combined.nbest(WORDS, tags, 1000)}
    assert {tuple(parse.tree.spans()) for parse in combined.members[2].nbest(WORDS, tags, 5)} <= found


def test_probabilities(combined, tags):
    posterior = combined.posterior(WORDS, tags)
    parses = combined.nbest(WORDS, tags, 1000)
    assert sum(posterior.of_score(parse.score) for parse in parses) == pytest.approx(1)
    assert all(0 <= probability <= 1 + 1e-9 for probability in posterior.phrases.values())
    assert CombinedParser(combined.members, combined.config).posterior(WORDS, tags) is None
    members = [member.temperature for member in combined.members]
    try:
        for member in combined.members:
            member.temperature = 1e6
        flat = combined.posterior(WORDS, tags).phrases
    finally:
        for member, temperature in zip(combined.members, members, strict=True):
            member.temperature = temperature
    assert max(flat.values()) == pytest.approx(1)  # the root
    assert flat != posterior.phrases


@pytest.mark.parametrize(
    "constraint", [(3, 6), (3, 6, "NP"), (0, 3, "NP", False), (0, 3, None, False), (1, 4, "ADJP"), (0, 10, "TOP")]
)
def test_constraints(combined, tags, constraint):
    for parse in combined.nbest(WORDS, tags, 8, [constraint]):
        wanted = Constraint(*constraint)
        spans = parse.tree.spans()
        over = [label for label, *bounds in spans if tuple(bounds) == wanted[:2]]
        is_there = bool(over) if wanted.label is None else wanted.label in over
        assert (is_there == wanted.is_required) != (wanted in parse.unmet)


@settings(deadline=None, max_examples=25)
@given(st.data(), st.lists(any_words(), min_size=1, max_size=9))
def test_any_sentence_and_constraints(combined, data, words):
    tags = [data.draw(st.sampled_from(("NN", "VBD", "??", ".", "DT"))) for _ in words]
    n = len(words)
    drawn = st.tuples(st.integers(0, n - 1), st.integers(1, n), st.sampled_from((None, "NP", "??")), st.booleans())
    constraints = data.draw(st.lists(drawn.filter(lambda c: c[0] < c[1]), max_size=3))
    parse = combined.parse(words, tags, constraints)
    assert parse.tree.words == tuple(words)
    spans = set(parse.tree.spans())
    for start, end, label, is_required in set(constraints):
        wanted = Constraint(start, end, label, is_required)
        below = {phrase for phrase in spans if phrase[0] != "TOP" or is_required}
        is_there = (label, start, end) in below if label else any(phrase[1:] == (start, end) for phrase in below)
        assert is_there == is_required or wanted in parse.unmet
    assert combined.nbest(words, tags, 3, constraints)[0] == parse


def test_wrong_arguments(combined, tags):
    with pytest.raises(ValueError, match="one tag per word"):
        combined.parse(WORDS, tags[:3])
    with pytest.raises(ConfigError, match="outside the sentence"):
        combined.parse(WORDS, tags, [(3, 30)])
    with pytest.raises(ValueError, match="other words"):
        combined.score(WORDS, tags, sample(1)[0])
    with pytest.raises(IncparseError, match="only parses whole sentences"):
        combined.start()


def test_search_settings(combined, tags):
    sure, unsure = combined.with_search(threshold=0.95), combined.with_search(threshold=0.05)
    n_sure, n_unsure = (len(one.parse(WORDS, tags).tree.spans()) for one in (sure, unsure))
    assert n_sure < n_unsure
    assert len(combined.with_search(list_size=1).nbest(WORDS, tags, 100)) <= 4 + 10
    with pytest.raises(ConfigError, match="'beam_size' is not a search setting: choose from threshold, list_size"):
        combined.with_search(beam_size=3)
    with pytest.raises(ConfigError, match=r"'choose' is not a search setting of this kind .* `threshold` says"):
        combined.with_search(choose="expected_f")
    with pytest.raises(ConfigError, match=r"'choose_trees' is not .*: its name is `list_size`"):
        combined.with_search(choose_trees=3)


def test_bytes(combined, tags):
    data = combined.to_bytes()
    for copy in (CombinedParser.from_bytes(data), pickle.loads(pickle.dumps(combined))):
        assert copy.to_bytes() == data
        assert copy.nbest(WORDS, tags, 10) == combined.nbest(WORDS, tags, 10)
        assert copy.posterior(WORDS, tags) == combined.posterior(WORDS, tags)


def test_other_bytes_are_refused(combined):
    content = srsly.msgpack_loads(combined.to_bytes())
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


@pytest.fixture(scope="module")
def trees():
    return sample(60)


@pytest.fixture(scope="module")
def parser(trees):
    return run(trees, small_config())[0]


@pytest.mark.parametrize("place", [0, 2])  # a CRF depends on the order of sentences, and so on its number
def test_a_member_is_the_parser_that_it_would_be_alone(trees, parser, place):
    member = small_config().resolved[place]
    alone, _ = run(trees, member.config, member.kind, 1)
    assert parser.members[place].to_bytes() == alone.to_bytes()


def test_a_member_stops_after_its_passes(trees, parser):
    longer, _ = run(trees, small_config(), max_epochs=3)
    for found, before in zip(longer.members, parser.members, strict=True):
        assert found.to_bytes() == before.to_bytes()


def test_without_held_out_trees_usual_temperatures_are_taken(parser):
    assert [member.temperature for member in parser.members] == [None, None, 1.0, 1.0]
    assert parser.temperature is None
    words = sample(1)[0].words
    assert parser.parse(words, sample(1)[0].tags).tree.words == words


def learner_of(trees, **settings):
    return CombinedLearner(trees, [tree.tags for tree in trees], small_config(**settings), HEADS)


def test_the_state_is_restored(trees):
    trees = trees[:10]
    examples = lambda learner: [learner.encode(tree.words, tree.tags, tree) for tree in trees]  # noqa: E731
    first, second = learner_of(trees), learner_of(trees)
    for example in examples(first):
        for number in range(first.n_models):
            first.learn(example, number)
    second.state_from_bytes(first.state_to_bytes())
    for learner in (first, second):
        for example in examples(learner):
            assert learner.learn(example, 0) == 0  # its only pass is done
            learner.learn(example, 2)
    assert first.parser().to_bytes() == second.parser().to_bytes()
    assert first.parser() is first.parser()
    for data in (b"", first.state_to_bytes()[:-1], b"x" * 100):
        with pytest.raises(ModelError, match="state"):
            second.state_from_bytes(data)
    with pytest.raises(ModelError, match="state"):
        learner_of(trees, members={"one": SMALL}).state_from_bytes(first.state_to_bytes())


TAGS = ["NN", [("VBD", 0.0), ("VBN", 3.0), ("JJ", 30.0)], None]


def test_fewer_tags():
    assert requested_tags(TAGS, None) == TAGS
    assert requested_tags(TAGS, TagRequest()) == ["NN", "VBD", None]
    assert requested_tags(TAGS, TagRequest(2, 40.0)) == ["NN", [("VBD", 0.0), ("VBN", 3.0)], None]
    assert requested_tags(TAGS, TagRequest(3, 2.0)) == ["NN", [("VBD", 0.0)], None]


def test_settings_of_members():
    members = {"mine": {"recipe": "paper+punct", "margin": 3.0, "weight": 2, "temperature": 9.0}, "rich": {}}
    mine, rich = CombinedConfig(members=members, clusters="en", cluster_words=7).resolved
    assert (mine.kind.name, mine.config.features, mine.config.gamma, mine.config.margin) == (
        "perceptron", "paper+punct", 1e6, 3.0,
    )  # fmt: skip
    assert (mine.weight, mine.temperature, mine.max_epochs) == (2, 9.0, 12)
    assert (rich.config.features, rich.config.clusters) == ("rich", "en")
    assert (rich.weight, rich.temperature, rich.max_epochs) == (1.0, None, 10)
    assert kind_of({"kind": "combined"}).name == "combined"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"members": {}}, "members is {}: it must be a table"),
        ({"members": {"rich": 3}}, "members.rich is 3: it must be a table"),
        ({"members": {"a": {"recipe": "b"}}}, "members.a has the recipe 'b': it must be one of .*accurate"),
        ({"members": {"rich": {"foo": 1}}}, "members.rich: unknown setting 'foo'"),
        ({"members": {"rich": {"margin": -1}}}, "members.rich: margin is -1"),
        ({"members": {"rich": {"weight": 0}}}, "members.rich.weight is 0"),
        ({"members": {"rich": {"max_epochs": 0}}}, "members.rich.max_epochs is 0"),
        ({"members": {"rich": {"temperature": -1}}}, "members.rich.temperature is -1"),
        ({"members": {"rich": {"clusters": "en"}}}, "clusters is one setting of all members"),
        (
            {"members": {"a": SMALL | {"gold_tag_interval": 3}, "b": SMALL}},
            r"members have different values of gold_tag_interval \(\[2, 3\]\)",
        ),
        ({"clusters": 3}, "clusters is 3"),
        ({"threshold": 1.0}, "threshold is 1.0"),
        ({"list_size": 0}, "list_size is 0"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ConfigError, match=message):
        find_kind("combined").config(settings)


def test_the_command_trains_a_pipeline(tmp_path):
    members = {name: MEMBERS[name] for name in ("one", "generative")}
    settings = {"kind": "combined", "members": members, "list_size": 10, "n_folds": 2, "tagger": {"n_epochs": 2}}
    srsly.write_json(tmp_path / "small.json", settings | {"max_epochs": 2})
    arguments = [str(ASSETS / "sample-train.mrg"), str(ASSETS / "sample-dev.mrg"), str(tmp_path / "out")]
    result = CliRunner().invoke(app, ["train", *arguments, "--config", str(tmp_path / "small.json")])
    assert result.exit_code == 0, result.output
    nlp = spacy.load(tmp_path / "out" / "model-best")
    assert nlp.meta["performance"]["const_f"] > 0.5
    doc = nlp("The old cat saw a dog in the garden. It rained.")
    tree = doc._.trees[0]
    assert 0 < tree.confidence <= 1
    assert all(0 <= node.confidence <= 1 for node in tree.phrases())
    (first, *others), _ = doc._.parses(4)
    assert first.tree == tree
    assert len(others) == 3
    assert all(token.tag_ for token in doc)
