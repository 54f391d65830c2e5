import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from spacy_incparse import workers
from spacy_incparse.errors import IncparseError, ModelError
from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.parsing.catalogue import kind_of_config
from spacy_incparse.training.loop import TrainingState
from spacy_incparse.training.passes import uses_gold_tags
from spacy_incparse.training.preparation import TrainingTask
from spacy_incparse.treebanks.reader import read_treebank
from tests.pickled_pool import PickledPool
from tests.training_runs import HEADS, check_resumed, interrupt, train

TREES = read_treebank(Path(__file__).parents[2] / "assets" / "sample-train.mrg")[:70]
CONFIG = ParserConfig(features="paper", table_bits=16, train_beam_size=4)
THREE = {"max_epochs": 3}
# A run of its own, to be killed: it waits after the first pass, when the state of that pass is on disk.
PROGRAM = """
import sys, time
from pathlib import Path
from tests.training.test_training_loop import CONFIG, THREE, TREES, train
def wait(what, done, total):
    if what == "pass 2":
        print("in pass 2", flush=True)
        time.sleep(600)
train(TREES, CONFIG, Path(sys.argv[1]), progress=wait, **THREE)
"""


@pytest.fixture(scope="module")
def uninterrupted():
    return train(TREES, CONFIG, **THREE)


def test_a_killed_run_is_resumed_to_the_same_model(tmp_path, uninterrupted):
    with subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "in pass 2\n"
        process.send_signal(signal.SIGKILL)
    resumed = train(TREES, CONFIG, tmp_path, resume=True, **THREE)
    assert [(one.number, one.is_best, one.scores) for one in resumed.reports] == [(2, True, None), (3, True, None)]
    assert resumed.stored == uninterrupted.stored[1:]


@pytest.mark.parametrize("place", ["training the tagger", "jackknifing tags", "pass 1"])
def test_a_run_that_stopped_before_its_first_pass_ended_is_resumed_too(tmp_path, uninterrupted, place):
    kept = []
    with pytest.raises(KeyboardInterrupt):
        train(TREES, CONFIG, tmp_path, progress=interrupt(place), on_kept=kept.append, **THREE)
    assert kept == ([None, 0] if place == "pass 1" else [None])
    with pytest.raises(IncparseError, match="other trees or settings"):
        train(TREES, CONFIG, tmp_path, resume=True, seed=8)
    check_resumed(tmp_path, TREES, CONFIG, uninterrupted, at=place, **THREE)


def test_the_best_pass_is_the_first_with_the_highest_f():
    best = -1.0
    for report in train(TREES[:60], CONFIG, dev=TREES[60:], **THREE).reports:
        assert report.is_best == (report.scores["const_f"] > best)
        best = max(best, report.scores["const_f"])


def test_progress_names_what_is_done():
    seen = {}
    train(TREES, CONFIG, max_epochs=1, progress=lambda what, done, total: seen.update({what: (done, total)}))
    assert set(seen) == {"training the tagger", "jackknifing tags", "pass 1"}
    assert all(done == total for done, total in seen.values())


def test_a_state_of_other_trees_or_settings_is_refused(tmp_path):
    train(TREES, CONFIG, tmp_path, max_epochs=1)
    for trees, changed in ((TREES[1:], {}), (TREES, {"dev": TREES[:3]}), (TREES, {"seed": 8}), (TREES, {"n_folds": 3})):
        with pytest.raises(IncparseError, match="other trees or settings"):
            train(trees, CONFIG, tmp_path, resume=True, **changed)


def test_no_trees_no_state_and_a_damaged_state(tmp_path):
    with pytest.raises(IncparseError, match="no tree to train on"):
        train([], CONFIG)
    with pytest.raises(IncparseError, match="no training to resume"):
        train(TREES, CONFIG, tmp_path, resume=True)
    (tmp_path / "preparation.bin").write_bytes(b"broken")
    with pytest.raises(ModelError, match="start a new training"):
        train(TREES, CONFIG, tmp_path, resume=True)


def test_each_sentence_has_its_gold_tags_every_so_many_passes():
    assert [uses_gold_tags(4, number, 2) for number in range(1, 5)] == [False, True, False, True]
    assert [uses_gold_tags(5, number, 2) for number in range(1, 5)] == [True, False, True, False]
    assert not any(uses_gold_tags(index, number, 0) for index in range(3) for number in range(3))


def test_the_best_f_keeps_all_its_digits(tmp_path):
    """A later pass with the same F is not better, also after the run is resumed."""
    learner = Mock(state_to_bytes=lambda: b"state")
    state, best = TrainingState(tmp_path, "checksum"), 14 / 15
    state.begin()
    state.save_learner(learner, 3, best)
    assert state.load_learner(learner) == (3, best)
    learner.state_from_bytes.assert_called_once_with(b"state")


def test_taggers_are_the_same_from_processes(monkeypatch):
    monkeypatch.setattr(workers, "WorkerPool", PickledPool)
    config = ParserConfig(features="paper", table_bits=10)
    given = kind_of_config(config), TREES, config, HEADS, 2, {"n_epochs": 1}, 3
    alone, beside = TrainingTask(*given), TrainingTask(*given, n_process=2)
    reports = []
    prepared, expected = beside.prepare(lambda *report: reports.append(report)), alone.prepare()
    assert reports[-1] == ("training taggers", 3, 3)
    assert prepared.tags == expected.tags
    assert prepared.tagger.to_bytes() == expected.tagger.to_bytes()
    assert beside.contents() == alone.contents()
