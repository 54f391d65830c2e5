import json
import shutil

import pytest

from spacy_incparse.cli.train import learn_functions
from spacy_incparse.treebanks.reader import ANNOTATED, read_treebank
from tests.small_pipeline import ASSETS


@pytest.fixture(scope="module")
def annotating(model, tmp_path_factory):
    """The small pipeline with functions and empty categories, as `train --functions` leaves it."""
    folder = tmp_path_factory.mktemp("functions") / "model"
    shutil.copytree(model, folder)
    learn_functions(folder, read_treebank(ASSETS / "sample-train.mrg", steps=ANNOTATED))
    return folder


def test_parse_prints_functions_and_empties(run, annotating):
    words = ["parse", "--model", annotating, "--tokenized", "The rain stopped ."]
    tree = run(*words, "--functions", "--empties", "--format", "penn").stdout
    assert "(NP-SBJ (DT The) (NN rain))" in tree
    sentence = json.loads(run(*words, "--functions", "--format", "json").stdout)
    assert [span["function"] for span in sentence["spans"] if "function" in span] == ["SBJ"]
    assert len(sentence["tokens"]) == 4


def test_lists_have_none(refused, annotating):
    message = refused("parse", "--model", annotating, "It rained .", "--functions", "--nbest", 3)
    assert "--functions and --empties are for the best tree" in message


def test_evaluate_prints_their_scores(run, annotating, dev_file, tmp_path):
    text = run("evaluate", annotating, dev_file, "--output", tmp_path / "scores.json").stdout
    assert "functions, end to end: subjects" in text
    figures = json.loads((tmp_path / "scores.json").read_text())["annotations"]
    assert 0.5 < figures["functions, end to end: subjects"] <= figures["functions, phrases in both: subjects"] <= 1
    assert figures["empty categories with antecedents"] <= figures["empty categories"]
