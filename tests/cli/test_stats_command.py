import json

import pytest


def test_table_and_json(run, train_file, dev_file, tmp_path):
    output = tmp_path / "stats.json"
    result = run("stats", train_file, dev_file, "--output", output)
    assert result.exit_code == 0
    assert "left corner" in result.stdout
    assert "root not counted" in result.stdout
    figures = json.loads(output.read_text())
    assert (figures["n_sentences"], figures["held_out_sentences"], len(figures["rows"])) == (234, 50, 2)


def test_held_out_trees_may_be_missing_and_the_root_be_counted(run, train_file):
    result = run("stats", train_file, "--with-top")
    assert result.exit_code == 0
    assert "root counted" in result.stdout


def test_differences_between_treebanks(run, train_file, dev_file, tmp_path):
    output = tmp_path / "differences.json"
    result = run("stats", train_file, "--against", dev_file, "-n", 3, "--kind", "production", "--output", output)
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["kind", "decision", "first", "second", "log", "odds", "at", "least"]
    assert len(lines) == 4
    assert lines[1].startswith("production  NP -> DT NN")
    rows = json.loads(output.read_text())["differences"]
    assert (rows[0]["context"], rows[0]["outcome"], len(rows)) == ("NP", "DT NN", 3)


def test_differences_with_functions_as_a_table_of_values(run, train_file, dev_file):
    result = run("stats", train_file, "--against", dev_file, "--functions", "--format", "tsv", "-n", 500)
    header, *rows = (line.split("\t") for line in result.stdout.splitlines())
    assert header[:4] == ["kind", "context", "outcome", "count"]
    assert any(row[1] == "NP-SBJ" for row in rows)
    assert all(len(row) == 9 for row in rows)


@pytest.mark.parametrize("options", [["--kind", "tag"], ["--functions"], ["-n", "5"], ["--format", "tsv"]])
def test_options_of_comparisons_need_another_treebank(refused, train_file, options):
    assert "name the other one with --against" in refused("stats", train_file, *options)


def test_differences_exclude_held_out_trees(run, train_file, dev_file):
    result = run("stats", train_file, dev_file, "--against", dev_file)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "--against excludes HELD_OUT" in result.stderr
