"""The project workflow on the sample treebank, as `spacy project run all` does it.

The programs that it starts run in this process; one test lets spaCy do all by itself.
"""

import json
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import spacy

from spacy_incparse.treebanks.reader import read_treebank
from tests.commands import run_program

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project after a run with few passes."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "project.yml", folder)
    for name in ("assets", "configs", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name)
    run(folder, "all", ".", "--vars.max_epochs", "2")
    return folder


def run(folder, *arguments):
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        patched.setattr("weasel.cli.run.run_command", run_here)
        done = run_program(["python", "-m", "spacy", "project", "run", *arguments])
    assert done.code == 0, done.both
    return done.both


def run_here(command, *, capture):
    assert command[0] == sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # `spacy package` leaves files open
        done = run_program(["python", *command[1:]])
    print(done.both)
    assert done.code == 0, done.both


def test_it_leaves_a_pipeline_that_parses(project):
    nlp = spacy.load(project / "training" / "model-best")
    assert nlp("The rain stopped.")._.trees[0].words == ("The", "rain", "stopped", ".")


def test_it_leaves_scores(project):
    scores = json.loads((project / "metrics" / "scores.json").read_text(encoding="utf-8"))
    assert 0.3 < scores["const_f"] <= 1
    assert scores["sents"] == 50
    assert scores["failed"] == 0


def test_it_leaves_a_package_that_asks_for_this_one(project):
    package = project / "packages" / "en_incparse-0.1.0"
    meta = json.loads((package / "meta.json").read_text(encoding="utf-8"))
    assert meta["license"]
    assert meta["description"]
    assert any(requirement.startswith("spacy-incparse>=") for requirement in meta["requirements"])
    assert spacy.load(package / "en_incparse" / "en_incparse-0.1.0")("The rain stopped.")._.trees


def test_a_second_run_does_nothing_anew(project):
    command = [sys.executable, "-m", "spacy", "project", "run", "all", ".", "--vars.max_epochs", "2"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=True)
    assert done.stdout.count("Skipping") == 4


def test_the_paper_s_results_are_made_for_any_treebank(project):
    trees = read_treebank(project / "assets" / "sample-train.mrg")
    for name, part in (("train", trees[:20]), ("dev", trees[20:30])):
        (project / f"own-{name}.mrg").write_text("\n".join(map(str, part)), encoding="utf-8")
    variables = {"train": "own-train.mrg", "dev": "own-dev.mrg", "lang": "de", "max_epochs": 1}
    options = [word for name, value in variables.items() for word in (f"--vars.{name}", str(value))]
    printed = run(project, "reproduce", ".", *options)
    for table in ("Table 1", "Table 3", "Table 4", "Figure 5"):
        assert f"{table}: " in printed
    for table in ("folds/systems", "pruning", "thresholds", "lengths"):
        assert (project / "metrics" / "charts" / f"{table}.txt").exists()
    longer = (project / "metrics" / "charts-40" / "systems.txt").read_text(encoding="utf-8")
    assert "finkel-40-gold-generative" in longer
    words_only = (project / "metrics" / "charts-40" / "words" / "systems.txt").read_text(encoding="utf-8")
    assert "finkel-40-words-feature-based" in words_only
    assert printed.count("Here: trained on 20 sentences, scored on 10.") == 4
    for picture in ("paper/figure5.svg", "reranking/rounds.svg", "charts/by_pass.svg", "charts/by_time.svg"):
        assert "<svg" in (project / "metrics" / picture).read_text(encoding="utf-8")
