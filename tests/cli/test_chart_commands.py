import json

import pytest

from spacy_incparse.cli.score_trees import RULE_COLUMNS
from tests.cli.conftest import ASSETS, table

SETTINGS = {
    "kind": "chart", "n_folds": 2, "tagger": {"n_epochs": 2}, "table_bits": 14, "max_epochs": 1,
}  # fmt: skip
TREES = """( (S (NP-SBJ (DT The) (NN rain)) (VP (VBD stopped)) (. .)) )
( (S (NP-SBJ (DT The) (NN rain)) (XX (VBD stopped)) (. .)) )
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("chart")


@pytest.fixture
def chart_model(folder, run, write):
    if not (folder / "out" / "model-best").exists():
        (folder / "settings.json").write_text(json.dumps(SETTINGS))
        lines = (ASSETS / "sample-train.mrg").read_text().splitlines(keepends=True)[:120]
        (folder / "train.mrg").write_text("".join(lines))
        arguments = folder / "train.mrg", ASSETS / "sample-dev.mrg", folder / "out"
        run("train", *arguments, "--config", folder / "settings.json")
        result = run("train", *arguments, "--config", folder / "settings.json", "--max-epochs", 2, "--resume")
        assert result.exit_code == 0, result.output
    return folder / "out" / "model-best"


@pytest.fixture
def trees(write):
    return write("trees.mrg", TREES)


def test_derivations_have_rules(run, chart_model, trees):
    arguments = "score-trees", trees, "--model", chart_model, "--tags", "gold", "--derivation"
    rows = table(run(*arguments).stdout)
    assert tuple(rows[0]) == RULE_COLUMNS
    first = [row for row in rows if row["tree"] == "1"]
    assert [(row["start"], row["end"], row["rule"]) for row in first[:3]] == [
        ("1", "4", "TOP -> S"), ("1", "4", "S -> NP S|<>"), ("1", "2", "NP -> =DT =NN"),
    ]  # fmt: skip
    assert all(row["score"] for row in first)
    objects = [json.loads(line) for line in run(*arguments, "--format", "json").stdout.splitlines()]
    assert [(rule["start"], rule["rule"]) for rule in objects[0]["rules"][:2]] == [(1, "TOP -> S"), (1, "S -> NP S|<>")]
    assert [rule["missing"]["kind"] for rule in objects[1]["rules"] if rule["missing"]] == ["rule", "rule"]


def test_phrases_are_relabelled(run, chart_model, write, tmp_path):
    lines = (ASSETS / "sample-train.mrg").read_text().splitlines(keepends=True)[:60]
    wrong = write("wrong.mrg", "".join(lines).replace("(PP ", "(ADVP ").replace("(ADJP ", "(PP "))
    once, twice, report = tmp_path / "once.mrg", tmp_path / "twice.mrg", tmp_path / "once.mrg.changes.tsv"
    options = "--rules", "english", "--parser", chart_model, "--sure", 0.8
    result = run("repair", wrong, once, *options)
    assert result.exit_code == 0, result.output
    rows = [row for row in table(report.read_text()) if row["rule"] == "parser"]
    assert {(row["before"].split()[0], row["after"].split()[0]) for row in rows} >= {("(ADVP", "(PP")}
    assert all(0.8 <= float(row["probability"]) <= 1 for row in rows)
    assert result.stdout.splitlines()[-2].split()[:2] == ["parser", str(len(rows))]
    dry = tmp_path / "dry.tsv"
    run("repair", wrong, *options, "--dry-run", "--report", dry)
    assert dry.read_bytes() == report.read_bytes()
    assert run("repair", once, twice, *options).stdout.splitlines()[-1].split()[:2] == ["total", "0"]
    assert twice.read_bytes() == once.read_bytes()
    some = run("repair", wrong, *options, "--pairs", "NP>VP VP>NP", "--dry-run", "--report", dry)
    assert some.stdout.splitlines()[-2].split()[:2] == ["parser", "0"]
    result = run("repair", wrong, *options, "--pairs", "NP>QQ", "--dry-run", "--report", dry)
    assert (result.exit_code, "does not know the label 'QQ'" in result.stderr) == (1, True)
