import json

TREES = """( (NP (NP (NN cat)) (SBAR (NP-SBJ-1 (WP who)) (S (NP (-NONE- *T*-1)) (VP (VBD slept))))))
( (NP (-LRB- -LRB-) (NN rain)) )
"""
AFTER = "((NP (NP (NN cat)) (SBAR (WHNP-SBJ-1 (WP who)) (S (NP (-NONE- *T*-1)) (VP (VBD slept))))))"


def test_trees_and_report(run, write, tmp_path):
    path, output = write("trees.mrg", TREES), tmp_path / "new" / "repaired.mrg"
    result = run("repair", path, output, "--rules", "english", "--rules", "craft")
    assert result.exit_code == 0
    assert output.read_text().splitlines() == [AFTER, "((NP (-LRB- -LRB-) (NN rain)))"]
    header, line = (tmp_path / "new" / "repaired.mrg.changes.tsv").read_text().splitlines()
    assert header.split("\t") == ["file", "tree", "rule", "start", "end", "before", "after", "probability"]
    assert line.split("\t")[1:] == ["1", "wh-noun-phrase", "1", "2", "(NP-SBJ-1 (WP who))", "(WHNP-SBJ-1 (WP who))", ""]
    shown = [line.split() for line in result.stdout.splitlines()]
    assert shown[1][:4] == ["wh-noun-phrase", "1", "1", "10.000%"]
    assert " ".join(shown[1][4:]).startswith("A noun phrase with a wh-word that begins")  # the reason
    assert shown[-1] == ["total", "1", "1", "10.000%"]


def test_a_second_run_and_a_dry_run(run, write, tmp_path):
    once, twice = tmp_path / "once.mrg", tmp_path / "twice.mrg"
    run("repair", write("trees.mrg", TREES), once, "--rules", "english")
    assert run("repair", once, twice, "--rules", "english").stdout.splitlines()[-1].split()[1] == "0"
    assert twice.read_bytes() == once.read_bytes()
    report = tmp_path / "report.tsv"
    run("repair", tmp_path / "trees.mrg", tmp_path / "none.mrg", "--rules", "english", "--dry-run", "--report", report)
    assert report.read_bytes() == (tmp_path / "once.mrg.changes.tsv").read_bytes()
    assert not (tmp_path / "none.mrg").exists()


def test_rules_of_your_own(run, write, tmp_path):
    rule = {"name": "mine", "reason": "a test", "pattern": "NN=x > NP", "action": "insert NX x"}
    rules = write("mine.json", json.dumps({"rules": [rule]}))
    output = tmp_path / "out.mrg"
    assert run("repair", write("trees.mrg", TREES), output, "--rules", rules, "--ptb").exit_code == 0
    assert output.read_text().splitlines()[1] == "((NP (-LRB- -LRB-) (NX (NN rain))))"


def test_only_some_parsers_have_probabilities(refused, model, write, tmp_path):
    assert "a perceptron parser does not compute the probabilities of phrases" in refused(
        "repair", write("trees.mrg", TREES), tmp_path / "out.mrg", "--parser", model
    )
    assert not (tmp_path / "out.mrg").exists()


def test_mistakes(run, write, tmp_path):
    path = write("trees.mrg", TREES)
    output = tmp_path / "out.mrg"
    for arguments, message in [
        ([path, output], "name the rules"),
        ([path, "--rules", "english"], "name a file for the repaired trees"),
        ([path, "--rules", "english", "--dry-run"], "name a file for it with --report"),
        ([path, output, "--rules", "english", "--rules", "english"], "two of the rules are named 'wh-noun-phrase'"),
        ([path, output, "--rules", "english", "--report", output], "they need two files"),
        ([path, path, "--rules", "english"], "is the input"),
        ([path.parent, output, "--rules", "english"], "is inside the treebank"),
        ([path, output, "--rules", "nothing"], "no such file of rules"),
        ([path, output, "--rules", "english", "--pairs", "NP>PP"], "--pairs is for --parser"),
        ([path, output, "--rules", "english", "--sure", "0.9"], "--sure is for --parser"),
        ([path, output, "--parser", "none", "--pairs", "NP"], "pass pairs of labels separated by blanks"),
    ]:
        result = run("repair", *arguments)
        assert (result.exit_code, result.stdout) == (1, "")
        assert message in result.stderr
    assert not output.exists()


def test_other_formats_than_brackets_are_refused(refused, write, tmp_path):
    path = write("a.export", "#FORMAT 4\n#BOS 1\nJa\t--\tITJ\t--\t--\t0\n#EOS 1\n")
    assert "the NEGRA export format" in refused("repair", path, tmp_path / "b.mrg", "--rules", "english")
