import json


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
