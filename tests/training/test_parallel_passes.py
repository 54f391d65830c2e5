"""Passes in several processes: the same bytes in whatever order they end, after a kill, and after an interruption."""

import multiprocessing
import pickle
import socket
from pathlib import Path

import pytest

from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.hybrid.hybrid_parser import HybridModel
from spacy_incparse.parsers.catalogue import find_kind, kind_of_config
from spacy_incparse.perceptron.perceptron_config import ParserConfig
from spacy_incparse.training import parallel_passes
from spacy_incparse.training.parallel_passes import (
    Counts,
    HeldOut,
    LearnPart,
    Material,
    ParsePiece,
    PartWorker,
    n_rounds,
)
from spacy_incparse.training.passes import learn_pass
from spacy_incparse.training.preparation import TrainingTask
from spacy_incparse.training.temperature import fit_temperature
from spacy_incparse.training.training_loop import score_parser, train_parser
from spacy_incparse.treebanks.penn_reader import read_treebank
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.workers import Workers
from tests.pickled_pool import PickledPool

TREES = read_treebank(Path(__file__).parents[2] / "assets" / "sample-train.mrg")
TRAIN, DEV = TREES[:70], TREES[70:90]
HEADS = HeadRules.from_name("en")
CONFIG = ParserConfig(features="paper", table_bits=14, train_beam_size=4, beam_size=8)


def run(state_dir=None, **more):
    """Train in two processes; give the reports and the last model."""
    reports, models = [], []

    def note(report, tagger, parser):
        reports.append((report.number, report.n_updates, report.scores, report.is_best))
        parser.temperature = None
        models[:] = [parser.to_bytes()]

    settings = {"config": CONFIG, "heads": HEADS, "n_folds": 0, "tagger_settings": {"n_epochs": 1}, "max_epochs": 2}
    settings |= {"seed": 3, "n_process": 2, "state_dir": state_dir, "on_pass": note}
    train_parser(TRAIN, DEV, **(settings | more))
    return reports, models


def task_of(config=CONFIG, **settings):
    workers = Workers(2, PickledPool)
    return TrainingTask(
        kind_of_config(config), TRAIN, config, HEADS, 2, {"n_epochs": 1}, 3, workers=workers, **settings
    )


def in_this_process(folder, *orders):
    """Learn two passes, each round's parts one after the other in some order, by one copy of a learner; give both."""
    task = task_of()
    tags = [tree.tags for tree in TRAIN]
    mixer = task.kind.mixer(task.learner(tags), folder)
    material = Material(
        mixer.copier(), TRAIN, tags, task.needs.gold_tag_interval, task.seed, HeldOut(DEV, [tree.tags for tree in DEV]),
        2 * len(orders), Counts(folder, 2 * len(orders)),
    )  # fmt: skip
    material.done.reset()
    worker = PartWorker(material)
    for number in (1, 2):
        for order in orders:
            mixer.start_round()
            written = {part: worker(LearnPart(number, part))[1] for part in order}
            mixer.finish_round([written[part] for part in sorted(written)])
    return mixer, worker


def test_the_order_of_the_parts_has_no_effect(tmp_path):
    states = []
    for name, order in (("a", (0, 1)), ("b", (1, 0, 1))):  # a part that is learned again, too
        (tmp_path / name).mkdir()
        mixer, worker = in_this_process(tmp_path / name, order)
        states.append(mixer.learner.state_to_bytes())
    assert states[0] == states[1]
    assert worker.material.done.total() == 70
    held_out = worker.material.held_out
    parser, written = mixer.learner.parser(), mixer.write_parser()
    assert mixer.read_parser(written).to_bytes() == parser.to_bytes()
    found = ParsePiece(2, slice(0, 20), written)(worker)
    assert found == [parse.tree for parse in parser.parse_batch((t.words, t.tags) for t in DEV)]
    assert len(ParsePiece(2, slice(5, 8), written, analyses=True)(worker).scores) == 3
    assert score_parser(parser, *held_out)["const_f"] > 0.3
    assert fit_temperature(parser, *held_out) > 0


def test_a_large_treebank_has_rounds(monkeypatch, tmp_path):
    """After each round, the weights are mixed: it is another model, and the same in whatever processes."""
    assert [n_rounds(n, 2) for n in (1, 2_712, 6_100, 15_000)] == [1, 1, 3, 8]
    monkeypatch.setattr(parallel_passes, "ROUND_SENTENCES", 12)
    _, models = run(make_pool=PickledPool)
    mixer, worker = in_this_process(tmp_path, (1, 0), (2, 3), (5, 4))
    assert models == [mixer.learner.parser().to_bytes()]
    assert worker.material.done.total() == 70
    monkeypatch.undo()
    assert run(make_pool=PickledPool)[1] != models


def test_parts_have_all_examples_once():
    class Noting:
        n_models = 2

        def __init__(self):
            self.seen = []

        def learn(self, example, number):
            self.seen.append((number, example))
            return 0

    whole, parts = Noting(), Noting()
    learn_pass(range(10), whole, 0, 1)
    for part in range(3):
        learn_pass(range(10), parts, 0, 1, part=part, n_parts=3)
    assert parts.seen != whole.seen
    assert sorted(parts.seen) == sorted(whole.seen) == [(number, k) for number in (0, 1) for k in range(10)]


def test_killed_and_interrupted_is_as_at_once(tmp_path):
    killed, folder, noted = [], tmp_path / "state", []

    def disturb(what, done, total):
        assert done <= total
        if what == "pass 1" and done and not killed:
            killed.append(multiprocessing.active_children()[0])
            killed[0].kill()
        if what == "pass 2":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(folder, progress=disturb, on_pass=lambda report, *_: noted.append(report.number))
    assert (noted, len(killed), multiprocessing.active_children()) == ([1], 1, [])
    assert {path.name for path in folder.iterdir()} == {"begun.bin", "learner.bin", "preparation.bin"}
    reports, models = run(folder, resume=True, make_pool=PickledPool)
    assert [report[0] for report in reports] == [2]
    mixer, _ = in_this_process(tmp_path, (0, 1))
    assert models == [mixer.learner.parser().to_bytes()]
    with pytest.raises(IncparseError, match="other trees or settings"):
        run(folder, resume=True, n_process=3)


def test_a_machine_that_does_not_see_the_folder_is_named(tmp_path):
    counts = Counts(tmp_path / "elsewhere", 2)
    with pytest.raises(IncparseError, match=f"{socket.gethostname()} does not see .*elsewhere: train into a folder"):
        counts.check()


def test_another_number_of_processes_is_another_training():
    assert task_of().contents()["n_process"] == 2
    single = TrainingTask(find_kind("perceptron"), TRAIN, CONFIG, HEADS)
    assert "n_process" not in single.contents()


def test_a_cache_belongs_to_one_process():
    cached = ParserConfig(features="paper", table_bits=14, cache_size=10)
    with pytest.raises(ConfigError, match="cache_size is 10, but several processes"):
        run(config=cached)


def test_taggers_and_generative_models_are_the_same_from_processes(tmp_path):
    config = ParserConfig(features="paper", table_bits=10, train_generative_weight=5.0, generative_folds=2)
    reports = []
    prepared = task_of(config).prepare(lambda *report: reports.append(report))
    alone = TrainingTask(kind_of_config(config), TRAIN, config, HEADS, 2, {"n_epochs": 1}, 3).prepare()
    assert reports[-1] == ("training taggers", 3, 3)
    assert prepared.tags == alone.tags
    assert prepared.tagger.to_bytes() == alone.tagger.to_bytes()
    model = prepared.learner.model
    assert isinstance(model, HybridModel)
    for found, expected in zip(model.jackknife.models, alone.learner.model.jackknife.models, strict=True):
        assert found.vocabulary.to_dict() == expected.vocabulary.to_dict()
    mixer = task_of(config).kind.mixer(prepared.learner, tmp_path)
    copy = pickle.loads(pickle.dumps(mixer.copier()))()
    assert copy.learner.model.jackknife.numbers == model.jackknife.numbers
