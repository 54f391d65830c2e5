import pickle

import pytest
import spacy
from thinc.api import NumpyOps, set_current_ops
from typer.testing import CliRunner

from spacy_incparse.cli import app
from tests import small_pipeline
from tests.neural.conftest import MODEL, examples, learn, untrained
from tests.neural.device_arrays import DeviceArray, use_device
from tests.neural.test_resumed_training import DEV, TRAIN, contents, interrupt
from tests.neural.tiny_encoder import learned, needs_transformers, transformer_pipeline

TOLERANCE = 1e-3  # of the scores of trees, in single precision


@pytest.fixture(autouse=True)
def processor_again():
    yield
    set_current_ops(NumpyOps())


@pytest.fixture
def on_device(monkeypatch):
    """A function that moves the computations to the device."""
    return lambda: use_device(monkeypatch)


def parsed(nlp, limit=40):
    """Docs of one sentence or two."""
    found = [example.reference.text for example in examples(nlp, "sample-dev.mrg", limit)]
    texts = [*found[: limit // 2], *map(" ".join, zip(found[limit // 2 :: 2], found[limit // 2 + 1 :: 2], strict=True))]
    return list(nlp.pipe(texts, batch_size=16))


def analyses(nlp):
    """The best analyses of sentences, their trees with tags and their scores."""
    found = [parses[0] for doc in parsed(nlp) for parses in doc._.parses(1, nlp=nlp)]
    return [str(parse.tree) for parse in found], [parse.score for parse in found]


def assert_alike(found, expected):
    """The same trees, with nearly the same scores."""
    assert found[0] == expected[0]
    assert found[1] == pytest.approx(expected[1], abs=TOLERANCE)


def params(model):
    return [node.get_param(name) for node in model.walk() for name in node.param_names if node.has_param(name)]


@pytest.mark.parametrize("loss", ["max-margin", "crf", "local"])
def test_training(on_device, loss):
    found = examples(untrained(), limit=40)
    expected = learn(untrained(loss=loss), found, 3)
    on_device()
    nlp = untrained(loss=loss)
    losses = learn(nlp, found, 3)
    assert [one["incparse_neural"] for one in losses] == pytest.approx(
        [one["incparse_neural"] for one in expected], rel=1e-3
    )
    assert all(isinstance(param, DeviceArray) for param in params(nlp.get_pipe("incparse_neural").model))


def test_a_pipeline_gives_the_same_trees_on_both(on_device, tmp_path):
    nlp = untrained(model=MODEL | {"form_width": 8})
    learn(nlp, examples(nlp, limit=80), 3)
    nlp.to_disk(tmp_path / "from-processor")
    expected = analyses(nlp)
    on_device()
    there = spacy.load(tmp_path / "from-processor")
    assert all(isinstance(param, DeviceArray) for param in params(there.get_pipe("incparse_neural").model))
    assert_alike(analyses(there), expected)
    there.get_pipe("incparse_neural").nbest = 3
    assert [len(parses) for doc in parsed(there, 12) for parses in doc._.parses(3)] == [3] * 12
    there.to_disk(tmp_path / "from-device")
    set_current_ops(NumpyOps())
    models = [tmp_path / name / "incparse_neural" / "model" for name in ("from-device", "from-processor")]
    assert models[0].read_bytes() == models[1].read_bytes()


@pytest.mark.slow
def test_a_combination_with_a_parser_of_the_processor(on_device, losses_and_pipeline, trained, tmp_path):
    losses_and_pipeline[1].to_disk(tmp_path / "neural")
    on_device()
    nlp = spacy.load(tmp_path / "neural")
    nlp.add_pipe("incparse", source=small_pipeline.untrained().from_bytes(trained.to_bytes()))
    nlp.add_pipe("incparse_combiner")
    assert nlp.evaluate(examples(nlp, "sample-dev.mrg", 40))["const_f"] > 0.8
    found = [str(doc._.trees[0]) for doc in parsed(nlp)]
    assert [str(doc._.trees[0]) for doc in parsed(pickle.loads(pickle.dumps(nlp)))] == found
    doc = nlp("The cat slept.")
    neural = nlp.get_pipe("incparse_neural")
    best = neural.decoder.parser.parse(*neural.input_of(neural.sentences_of(doc)[0]))
    assert neural.score(doc, doc._.trees[0]).score <= best.score + TOLERANCE
    assert doc.copy()._.trees == doc._.trees


@pytest.mark.slow
def test_a_training_on_a_gpu_that_is_resumed(on_device, tmp_path, monkeypatch):
    """It computes there, with fitted temperature, and its pipeline works elsewhere."""
    chosen, folder = [], tmp_path / "out" / "model-best"
    monkeypatch.setattr("spacy.cli._util.require_gpu", lambda number: chosen.append(number) or on_device())

    def train(*options):
        arguments = ["train", TRAIN, DEV, tmp_path / "out", *"--config neural --gpu 0 --max-epochs 2".split(), *options]
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == 0, result.output
        return contents(folder)

    with monkeypatch.context() as patch:
        interrupt(patch, 1)
        with pytest.raises(AssertionError, match="--resume continues"):
            train()
    assert train("--resume") == train("--force")
    assert chosen == [0] * 3
    nlp = spacy.load(folder)
    component = nlp.get_pipe("incparse_neural")
    assert component.decoder.temperature is not None
    assert all(isinstance(param, DeviceArray) for param in params(component.model))
    found = analyses(nlp)
    set_current_ops(NumpyOps())
    assert_alike(found, analyses(spacy.load(folder)))


@needs_transformers
@pytest.mark.slow
def test_a_transformer_gives_the_same_trees_on_both(on_device, encoder_folder, tmp_path):
    on_device()
    nlp = transformer_pipeline(encoder_folder, freeze_embeddings=False, bfloat16=False)
    found = analyses(learned(nlp, 4, 20))
    assert isinstance(nlp("A cat.")._.trf_data.last_hidden_layer_state.dataXd, DeviceArray)
    nlp.to_disk(tmp_path / "pipeline")
    assert_alike(analyses(spacy.load(tmp_path / "pipeline")), found)
    set_current_ops(NumpyOps())
    assert_alike(analyses(spacy.load(tmp_path / "pipeline")), found)
