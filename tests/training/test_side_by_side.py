"""The tagger and those of jackknifing, trained in several processes."""

from pathlib import Path

from spacy_incparse import workers
from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.parsing.catalogue import kind_of_config
from spacy_incparse.training.preparation import TrainingTask
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.heads import HeadRules
from tests.pickled_pool import PickledPool

TRAIN = read_treebank(Path(__file__).parents[2] / "assets" / "sample-train.mrg")[:70]


def test_taggers_are_the_same_from_processes(monkeypatch):
    monkeypatch.setattr(workers, "WorkerPool", PickledPool)
    config = ParserConfig(features="paper", table_bits=10)
    given = kind_of_config(config), TRAIN, config, HeadRules.from_name("en"), 2, {"n_epochs": 1}, 3
    alone, beside = TrainingTask(*given), TrainingTask(*given, n_process=2)
    reports = []
    prepared, expected = beside.prepare(lambda *report: reports.append(report)), alone.prepare()
    assert reports[-1] == ("training taggers", 3, 3)
    assert prepared.tags == expected.tags
    assert prepared.tagger.to_bytes() == expected.tagger.to_bytes()
    assert beside.contents() == alone.contents()
