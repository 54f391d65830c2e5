import pytest
import spacy
from typer.testing import CliRunner

from spacy_incparse import example
from spacy_incparse.cli import app
from spacy_incparse.cli.train_neural import last_parser
from spacy_incparse.trees.tree import Tree
from tests.neural.conftest import examples, untrained
from tests.neural.test_resumed_training import contents, interrupt
from tests.neural.tiny_encoder import needs_transformers, write_encoder
from tests.small_pipeline import ASSETS

TRAIN, DEV = ASSETS / "sample-train.mrg", ASSETS / "sample-dev.mrg"
NEW = "(TOP (HEADING (NP (FOO Gnus) (BAR everywhere))))\n"


def train(*arguments):
    return CliRunner().invoke(app, ["train", *map(str, arguments)])


def dev_f(nlp):
    return nlp.evaluate(examples(nlp, DEV.name))["const_f"]


@pytest.fixture
def new(tmp_path):
    path = tmp_path / "new.mrg"
    path.write_text(NEW * 8, encoding="utf8")
    return path


def test_a_trained_model_learns_a_label_that_is_added(nlp, component):
    doc = nlp("The cat slept on the sofa.")
    old = str(doc._.trees[0])
    assert (component.add_label("HEADING"), component.add_label("HEADING")) == (1, 0)
    assert str(nlp("The cat slept on the sofa.")._.trees[0]) == old
    gold = nlp("Gnus everywhere")
    tree = "(TOP (HEADING (NP (NNS Gnus) (RB everywhere))))"
    component.add_labels_of([Tree.from_string(tree)])
    found = [example(nlp, tree)]
    optimizer = nlp.resume_training()
    optimizer.learn_rate = 0.005
    for _ in range(40):
        nlp.update(found, sgd=optimizer)
    assert "HEADING" in str(nlp("Gnus everywhere")._.trees[0])
    assert "HEADING" not in str(gold._.trees[0])
    again = untrained().from_bytes(nlp.to_bytes())
    assert str(again("Gnus everywhere")._.trees[0]) == str(nlp("Gnus everywhere")._.trees[0])


@pytest.mark.slow
def test_train_from_a_neural_pipeline(model, losses_and_pipeline, new, tmp_path):
    old = losses_and_pipeline[1]
    result = train(TRAIN, DEV, tmp_path / "out", "--from", model, "--max-epochs", 2, "--extra", new)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("234 sentences and 8 extra ones to train on")
    tuned = spacy.load(tmp_path / "out" / "model-best")
    labels = tuned.get_pipe("incparse_neural").label_data
    known = old.get_pipe("incparse_neural").label_data
    assert labels["labels"] == [*known["labels"], ["HEADING", "NP"]]
    assert labels["tags"] == [*known["tags"], "BAR", "FOO"]
    assert tuned.meta["description"].endswith("trained on sample-train.mrg, after base")
    result = train(TRAIN, DEV, model / "more", "--from", model)
    assert (result.exit_code, f"would write into {model}" in result.stderr) == (1, True)
    tuned_folder = tmp_path / "out" / "model-best"
    result = train(TRAIN, DEV, tmp_path / "out", "--from", tuned_folder, "--force")
    assert (result.exit_code, f"would write into {tuned_folder}" in result.stderr) == (1, True)
    result = train(TRAIN, DEV, tmp_path / "out", "--from", model, "--extra", "gone.mrg", "--resume-or-start")
    assert (result.exit_code, "The training is finished" in result.stdout) == (0, True)
    assert dev_f(tuned) > dev_f(old) - 0.02


@pytest.mark.slow
def test_a_fine_tuning_is_resumed_with_the_same_base(model, tmp_path, monkeypatch):
    options = ["--from", model, "--max-epochs", 2]
    assert train(DEV, DEV, tmp_path / "whole", *options).exit_code == 0
    with monkeypatch.context() as patch:
        interrupt(patch, 1)
        assert train(DEV, DEV, tmp_path / "out", *options).exit_code == 130
    other = spacy.load(model)
    other.get_pipe("incparse_neural").add_label("XP")
    other.to_disk(tmp_path / "other")
    refused = train(DEV, DEV, tmp_path / "out", "--from", tmp_path / "other", "--max-epochs", 2, "--resume")
    assert (refused.exit_code, "other trees or settings" in refused.stderr) == (1, True)
    assert train(DEV, DEV, tmp_path / "out", *options, "--resume").exit_code == 0
    assert contents(tmp_path / "out" / "model-best") == contents(tmp_path / "whole" / "model-best")


@pytest.mark.slow
def test_what_the_parser_does_not_need_is_left_out(model, new, tmp_path):
    """A disabled component, to whose settings others refer; boundaries and a scorer are what is missing."""
    nlp = spacy.load(model, config={"components": {"incparse_neural": {"scorer": None}}})
    nlp.add_pipe("entity_ruler", first=True)
    nlp.disable_pipe("entity_ruler")
    nlp.remove_pipe("sentencizer")
    nlp.to_disk(tmp_path / "base")
    path = tmp_path / "base" / "config.cfg"
    config = path.read_text(encoding="utf8")
    refers = "noun_chunks = ${components.entity_ruler.overwrite_ents}"
    path.write_text(config.replace("noun_chunks = false", refers), encoding="utf8")
    result = train(new, DEV, tmp_path / "out", "--from", tmp_path / "base", "--max-epochs", 1)
    assert result.exit_code == 0, result.output
    assert result.stderr.splitlines()[:2] == [
        f"The new pipeline will not have the components entity_ruler of {tmp_path / 'base'}",
        "Sentence boundaries in the new pipeline are learnt from the trees",
    ]
    (row,) = (line.split() for line in result.stdout.splitlines() if line.split()[:1] == ["1"])
    assert float(row[4]) > 50
    assert spacy.load(tmp_path / "out" / "model-best").component_names == ["senter", "incparse_neural"]


@pytest.mark.parametrize("neural_is_disabled", [True, False])
def test_a_disabled_parser_does_not_count(tmp_path, neural_is_disabled):
    nlp = untrained()
    nlp.add_pipe("incparse", **({"before": "incparse_neural"} if neural_is_disabled else {"last": True}))
    nlp.disable_pipe("incparse_neural" if neural_is_disabled else "incparse")
    nlp.to_disk(tmp_path)
    assert last_parser(tmp_path)["factory"] == ("incparse" if neural_is_disabled else "incparse_neural")


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--config", "neural", "a pipeline that is fine-tuned keeps its settings"),
        ("--init-tok2vec", DEV, "a pipeline that is fine-tuned has weights"),
        ("--n-process", 2, "a pipeline that is fine-tuned is trained in one process"),
    ],
)
def test_options_that_a_neural_pipeline_does_not_take(model, tmp_path, option, value, reason):
    result = train(TRAIN, DEV, tmp_path / "out", "--from", model, option, value)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"Error: {option} {value} cannot be used with --from {model}: {reason}")


@pytest.mark.parametrize(
    ("content", "message"), [("[nlp\n", "config.cfg: the config cannot be read"), ("", "Could not read meta.json")]
)
def test_a_pipeline_that_cannot_be_fine_tuned(tmp_path, content, message):
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "config.cfg").write_text(content, encoding="utf8")
    result = train(TRAIN, DEV, tmp_path / "out", "--from", tmp_path / "base")
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr
    untrained().to_disk(tmp_path / "base")
    assert "has no weights yet" in train(TRAIN, DEV, tmp_path / "out", "--from", tmp_path / "base").stderr


@needs_transformers
@pytest.mark.slow
def test_a_pipeline_on_an_encoder_is_fine_tuned_without_the_encoders_folder(new, tmp_path):
    (tmp_path / "encoder").mkdir()
    encoder = write_encoder(tmp_path / "encoder")
    options = ["--config", "neural", "--encoder", encoder, "--max-epochs", 1]
    assert train(TRAIN, DEV, tmp_path / "base", *options).exit_code == 0
    encoder.rename(tmp_path / "moved")
    options = ["--from", tmp_path / "base" / "model-best", "--max-epochs", 1, "--extra", new]
    result = train(TRAIN, DEV, tmp_path / "out", *options)
    assert result.exit_code == 0, result.output
    tuned = spacy.load(tmp_path / "out" / "model-best")
    assert tuned.pipe_names == ["senter", "transformer", "incparse_neural"]
    assert "HEADING" in tuned.get_pipe("incparse_neural").labels
