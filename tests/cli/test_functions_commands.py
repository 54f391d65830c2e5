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
    assert figures["with antecedents"] <= figures["empty categories"]
    assert figures["with antecedents: NP *T*"] <= figures["empty categories: NP *T*"]
    assert min(figures["relations"], figures["relations: nonlocal"]) > 0.5
    assert not any(name.startswith("dependencies") for name in figures)


def test_evaluate_compares_with_dependencies(run, refused, annotating, tmp_path):
    tokenized = ["--model", annotating, "--tokenized", "The rain stopped ."]
    file = tmp_path / "gold.conllu"
    file.write_text(run("parse", *tokenized, "--functions", "--format", "conllu").stdout, encoding="utf8")
    (line,) = (line for line in run("evaluate", annotating, file).stdout.splitlines() if "LAS" in line)
    assert line.split()[-3:] == ["100.00"] * 3
    trees = tmp_path / "gold.mrg"
    trees.write_text(run("parse", *tokenized, "--format", "penn").stdout, encoding="utf8")
    file.write_text(file.read_text(encoding="utf8").replace("nsubj", "obj"), encoding="utf8")
    run("evaluate", annotating, trees, "--dependencies", file, "--output", tmp_path / "scores.json")
    figures = json.loads((tmp_path / "scores.json").read_text())["annotations"]
    assert figures["dependencies: LAS"] < figures["dependencies: UAS"] == 1
    message = refused("evaluate", annotating, trees, "--dependencies", file, "--raw")
    assert "--dependencies exclude each other" in message
