"""Training a combination: each member learns what it would learn alone."""

from pathlib import Path

import pytest
import spacy
import srsly
from spacy.cli.train import train as spacy_train
from spacy.util import load_config
from typer.testing import CliRunner

from spacy_incparse.cli import app
from spacy_incparse.cli.recipe import read_recipe
from spacy_incparse.errors import ConfigError, ModelError
from spacy_incparse.parsing.catalogue import find_kind, kind_of
from spacy_incparse.parsing.combined_kind import CombinedConfig, CombinedLearner
from spacy_incparse.parsing.parser import TagRequest, common_request, requested_tags
from spacy_incparse.training.settings import TRAINING_DEFAULTS
from tests.parsing.small_combination import ASSETS, HEADS, MEMBERS, SMALL, run, sample, small_config


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


def test_a_common_request():
    assert common_request([None, TagRequest(3, 10.0), TagRequest(2, 40.0)]) == TagRequest(3, 40.0)
    assert common_request([None, None]) is None


def test_needs():
    needs = small_config().needs
    assert needs.tag_request == TagRequest(3, 80.0)
    assert needs.gold_tag_interval == 2
    assert CombinedConfig(members={"generative": {}}).needs.tag_request is None


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
        ({"members": ["rich"]}, "members is .*: it must be a table"),
        ({"members": {"rich": 3}}, "members.rich is 3: it must be a table"),
        ({"members": {"best": {}}}, "members.best has the recipe 'best': it must be one of"),
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


def test_the_recipe_is_the_default():
    assert read_recipe("best").parser_config == CombinedConfig()
    passes = [member.max_epochs for member in CombinedConfig().resolved]
    assert read_recipe("best").max_epochs == max(passes)


def test_the_config_is_the_recipe_and_names_every_setting():
    config = Path(__file__).parents[2] / "configs" / "best.cfg"
    component = load_config(config).interpolate()["components"]["incparse"]
    names = set(component["training"]) | set(component["search"])
    assert names == set(CombinedConfig().to_dict()) | set(TRAINING_DEFAULTS)
    assert set(component["search"]) == set(CombinedConfig.SEARCH)
    found = read_recipe(str(config))
    assert found.parser_config == CombinedConfig()
    assert list(found.parser_config.members) == list(CombinedConfig().members)
    assert found.max_epochs == read_recipe("best").max_epochs


def test_spacy_trains_a_pipeline(tmp_path):
    prefix = "components.incparse.training"
    overrides = {
        "paths.train": str(ASSETS / "sample-train.mrg"),
        "paths.dev": str(ASSETS / "sample-dev.mrg"),
        "corpora.train.limit": 60,
        "corpora.dev.limit": 15,
        "training.max_epochs": 1,
        f"{prefix}.members": {"one": SMALL, "generative": {}},
        f"{prefix}.n_folds": 2,
        f"{prefix}.tagger": {"n_epochs": 2},
    }
    spacy_train(Path(__file__).parents[2] / "configs" / "best.cfg", tmp_path, overrides=overrides)
    component = spacy.load(tmp_path / "model-best").get_pipe("incparse")
    assert [member.kind for member in component.model.parser.members] == ["perceptron", "generative"]
    assert all(member.temperature > 0 for member in (component.model.parser, *component.model.parser.members))


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
