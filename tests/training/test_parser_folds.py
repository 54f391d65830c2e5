import shutil
from dataclasses import replace

import pytest

from spacy_incparse.errors import IncparseError
from spacy_incparse.incremental.config import ParserConfig
from spacy_incparse.rerank import list_folders as parser_folds
from spacy_incparse.rerank.data import SECOND_SCORES, columns_of
from spacy_incparse.rerank.list_folders import (
    ListOrigin,
    TrainingLists,
    fold_numbers,
    fold_tasks,
    make_lists,
    sentence_key,
)
from spacy_incparse.rerank.lists import read_lists
from spacy_incparse.training.settings import ParserRecipe
from spacy_incparse.treebanks.reader import read_treebank
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree
from tests.small_pipeline import ASSETS

TREES = read_treebank(ASSETS / "sample-train.mrg")[:30]
RECIPE = ParserRecipe(
    "perceptron",
    ParserConfig(table_bits=16, train_beam_size=4, beam_size=4),
    HeadRules.from_name("en"),
    n_tag_folds=2,
    tagger_settings={"n_epochs": 2},
    n_passes=1,
)


def make(folder, **options):
    recipe = options.pop("recipe", RECIPE)
    return list(make_lists(options.pop("trees", TREES), recipe, folder, **{"n_folds": 3, "n": 4} | options))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("folds")
    reports = make(folder)
    assert [report.number for report in reports] == [1, 2, 3]
    assert all(0 < report.f <= report.oracle_f <= 1 and report.seconds > 0 for report in reports)
    return folder


def test_each_sentence_has_a_list_with_its_gold_tree(folder):
    lists = list(TrainingLists(folder))
    assert sorted(str(found.gold) for found in lists) == sorted(map(str, TREES))
    assert all(1 <= len(found.parses) <= 4 and found.temperature > 0 for found in lists)
    assert any(len(found.parses) == 4 for found in lists)


def test_better_trees_change_the_lists_alone(folder, tmp_path):
    make(tmp_path, with_better=False)
    n_better = 0
    for found, without in zip(TrainingLists(folder), TrainingLists(tmp_path), strict=True):
        kept = [parse for parse in found.parses if parse.score <= found.parses[0].score]
        assert list(without.parses[: len(kept)]) == kept
        n_better += len(found.parses) - len(kept)
    assert n_better
    with pytest.raises(IncparseError, match="was made with other trees or settings"):
        make(tmp_path)


def test_better_trees_have_no_part_in_the_temperature(monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(parser_folds, "best_temperature", lambda scores, is_right: seen.append(scores) or 1.0)
    make(tmp_path)
    assert all(score <= row[0] for scores in seen for row in scores for score in row)


def test_no_parser_has_seen_a_sentence_of_its_fold(folder):
    for path in sorted(folder.glob("*.jsonl.gz")):
        origin = ListOrigin.read(path)
        inside = {sentence_key(found.words) for found in read_lists(path)}
        assert not inside & origin.trained_on
        assert inside | origin.trained_on == {sentence_key(tree.words) for tree in TREES}


def test_finished_folds_are_not_made_again(folder, tmp_path):
    path = folder / "fold-002.jsonl.gz"
    before, times = path.read_bytes(), {file: file.stat().st_mtime_ns for file in folder.iterdir()}
    path.unlink()
    reports = make(folder)
    assert [(report.number, report.seconds > 0) for report in reports] == [(1, False), (3, False), (2, True)]
    assert path.read_bytes() == before
    assert (folder / "fold-001.jsonl.gz").stat().st_mtime_ns == times[folder / "fold-001.jsonl.gz"]


def test_the_number_of_processes_changes_nothing(folder, tmp_path):
    assert len(make(tmp_path, n_process=2)) == 3
    for path in folder.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    "change", [{"trees": TREES[1:]}, {"n": 5}, {"n_folds": 2}, {"recipe": replace(RECIPE, seed=1)}], ids=str
)
def test_lists_of_another_run_are_refused(folder, change):
    with pytest.raises(IncparseError, match=r"fold-001.jsonl.gz was made with other trees or settings: name another"):
        make(folder, **change)


def test_lists_of_another_run_beside_those_of_this_one(folder, tmp_path):
    """A reranker would learn from them, too."""
    shutil.copy(folder / "fold-002.jsonl.gz", tmp_path / "fold-005.jsonl.gz")
    with pytest.raises(IncparseError, match=r"fold-005.jsonl.gz has lists of another run: move it"):
        make(tmp_path)


def test_folds_are_contiguous_but_equal_sentences_stay_together():
    trees = [Tree.from_string(f"(TOP (NP (NN {word})))") for word in "a b c a d e".split()]
    assert fold_numbers(trees, 3) == [0, 0, 1, 0, 2, 2]


def test_too_little_to_jackknife(tmp_path):
    with pytest.raises(IncparseError, match="at least two folds with different sentences, not 1"):
        list(fold_tasks(TREES[:1] * 4, RECIPE, tmp_path, 3, 4))


class Lengths:
    """In place of a trained model: the number of nodes of each tree in all of its columns."""

    def __init__(self, name):
        self.columns = columns_of([name])

    def scores(self, trees):
        return {column: [float(tree.size) for tree in trees] for column in self.columns}


def test_scores_of_several_models_are_added_to_finished_lists(folder, tmp_path, monkeypatch):
    for name, kind in SECOND_SCORES.items():
        monkeypatch.setattr(kind, "train", lambda trees, heads, name=name: Lengths(name))
    copy = shutil.copytree(folder, tmp_path / "copy")
    names, added = ["generative", "chart"], columns_of(["generative", "chart"])
    assert all(report.seconds > 0 for report in make(copy, scores=names))
    for path in sorted(folder.glob("*.jsonl.gz")):
        found = list(read_lists(copy / path.name))
        assert [replace(one, others={}) for one in found] == list(read_lists(path))
        assert all(list(one.others) == added for one in found)
        assert ListOrigin.read(copy / path.name).scores == ("chart", "generative")
    assert not any(report.seconds for report in make(copy, scores=["chart"]))
