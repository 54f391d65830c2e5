import pytest
import spacy
from spacy.cli.train import train
from spacy.util import load_config

from spacy_incparse.neural.training import NeuralPasses
from spacy_incparse.pipeline.registered import fit_steps
from spacy_incparse.training.passes import PassSelection
from tests.neural.conftest import examples
from tests.small_pipeline import ASSETS

CONFIG = ASSETS.parent / "configs" / "neural.cfg"
SCHEDULE = {"@schedules": "warmup_linear.v1", "warmup_steps": 7, "total_steps": 8, "initial_rate": 0.1}
CORPUS = {"@readers": "spacy_incparse.TreebankReader.v1", "path": str(ASSETS / "sample-train.mrg")}
BATCHER = {"@batchers": "spacy.batch_by_words.v1", "size": 100, "tolerance": 0.2, "discard_oversize": False}


def pipeline(**training):
    nlp = spacy.blank("en")
    config = nlp.config
    config["corpora"] = {"train": CORPUS, "dev": CORPUS | {"limit": 5}}
    config["training"] |= {"batcher": BATCHER, "max_epochs": 4, "max_steps": 0, "eval_frequency": 1000} | training
    config["training"]["optimizer"]["learn_rate"] = dict(SCHEDULE)
    nlp.config = config
    return nlp


def n_words():
    return sum(len(example.reference) for example in examples(spacy.blank("en")))


def fitted(**training):
    nlp = pipeline(**training)
    fit_steps(nlp)
    rate = nlp.config["training"]["optimizer"]["learn_rate"]
    return rate["total_steps"], rate["warmup_steps"], nlp.config["training"]["eval_frequency"]


def test_steps_are_the_batches_of_all_passes():
    nlp = pipeline()
    passes = NeuralPasses(nlp)
    total = nlp.config["training"]["optimizer"]["learn_rate"]["total_steps"]
    assert total == pytest.approx(4 * n_words() / 100, rel=0.15)
    done = sum(passes.learn(number, lambda done, of: None) for number in (1, 2))
    assert passes.optimizer.learn_rate == pytest.approx(0.1 * (total - done) / (0.95 * total), rel=0.03)
    done += sum(passes.learn(number, lambda done, of: None) for number in (3, 4))
    assert done == pytest.approx(total, rel=0.02)
    assert passes.optimizer.learn_rate == pytest.approx(0, abs=0.1 * 0.02)


def test_the_settings_that_limit_a_training():
    total, warm_up, every = fitted()
    assert (warm_up, every) == (round(0.05 * total), int(0.97 * total / 4))
    assert fitted(max_steps=10) == (10, 1, 9)
    assert fitted(max_steps=10**6) == (total, warm_up, every)
    assert fitted(max_epochs=0, max_steps=60) == (60, 3, every)
    assert fitted(eval_frequency=3) == (total, warm_up, 3)
    assert fitted(max_epochs=0) == (8, 7, every)  # without an end
    assert fitted(max_epochs=-1) == (8, 7, 1000)  # streamed


def test_only_the_extra_trees_of_a_pass_count():
    nlp = pipeline()
    n_own = len(examples(nlp)) // 2
    NeuralPasses(nlp, PassSelection(n_own, len(examples(nlp)) - n_own, 0.001))
    assert nlp.config["training"]["optimizer"]["learn_rate"]["total_steps"] < 0.7 * fitted()[0]


@pytest.mark.slow
def test_spacy_train_evaluates_near_the_end_of_training_on_a_small_treebank(tmp_path, capsys):
    """With the shipped config, whose own evaluations would be too rare."""
    paths = {f"paths.{part}": str(ASSETS / f"sample-{part}.mrg") for part in ("train", "dev")}
    small = {"training.max_epochs": 1, "training.batcher.size": 60, "corpora.dev.limit": 5}
    train(CONFIG, tmp_path, overrides=paths | small)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    steps = [int(row[1]) for row in rows if len(row) > 2 and row[0].isdigit() and row[1].isdigit()]
    config = load_config(tmp_path / "model-best" / "config.cfg")
    assert steps[1] == config["training"]["eval_frequency"]
    assert steps[-1] > 0.9 * n_words() / 60


def test_a_rate_without_steps_stays():
    nlp = pipeline()
    nlp.config["training"]["optimizer"]["learn_rate"] = 0.001
    fit_steps(nlp)
    assert nlp.config["training"]["optimizer"]["learn_rate"] == 0.001
    nlp.config["pretraining"] = {"optimizer": nlp.config["training"]["optimizer"]}
    nlp.config["training"]["optimizer"] = "${pretraining.optimizer}"
    fit_steps(nlp)
    assert nlp.config["training"]["optimizer"] == "${pretraining.optimizer}"
