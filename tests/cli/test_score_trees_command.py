import json

import pytest

from spacy_incparse.cli.score_trees import COLUMNS, MOVE_COLUMNS
from spacy_incparse.treebanks.reader import read_treebank
from tests.cli.conftest import table

TREES = """( (S (NP-SBJ (DT The) (NN rain)) (VP (VBD stopped)) (. .)) )
( (S (NP-SBJ (DT The) (NN rain)) (XX (VBD stopped)) (. .)) )
"""


@pytest.fixture
def trees(write):
    return write("trees.mrg", TREES)


def test_a_row_a_tree(run, model, dev_file):
    result = run("score-trees", dev_file, "--model", model)
    rows, trees = table(result.stdout), read_treebank(dev_file)
    assert result.stdout.splitlines()[0] == "\t".join(COLUMNS)
    assert [(row["tree"], row["words"]) for row in rows] == [
        (str(k), str(len(tree.words))) for k, tree in enumerate(trees, start=1)
    ]
    for row in rows:
        assert (row["missing"] == "") == (row["derived"] == "yes")
        if row["score"]:
            assert float(row["per_word"]) == pytest.approx(float(row["score"]) / int(row["words"]), abs=1e-5)
        if row["is_best"] == "yes":
            assert row["score"] == row["best"] or row["derived"] == "no"
    assert {row["is_best"] for row in rows} == {row["derived"] for row in rows} == {"yes", "no"}


def test_best_trees_are_those_of_parse(run, model, dev_file, tmp_path):
    lines = "".join(" ".join(tree.words) + "\n" for tree in read_treebank(dev_file))
    parsed = run("parse", "--model", model, "--tokenized", stdin=lines).stdout
    path = tmp_path / "parsed.mrg"
    path.write_text(parsed, encoding="utf8")
    rows = table(run("score-trees", path, "--model", model).stdout)
    assert {row["is_best"] for row in rows} == {"yes"}
    assert all(row["score"] == row["best"] for row in rows if row["derived"] == "yes")


def test_derivations_word_by_word(run, model, trees):
    rows = table(run("score-trees", trees, "--model", model, "--tags", "gold", "--derivation").stdout)
    assert tuple(rows[0]) == MOVE_COLUMNS
    first = [row for row in rows if row["tree"] == "1"]
    assert [(row["word"], row["text"], row["closings"], row["chain"]) for row in first] == [
        ("1", "The", "", "S NP"), ("2", "rain", "", ""), ("3", "stopped", "NP", "VP"), ("4", ".", "VP", ""),
        ("5", "", "S TOP", ""),
    ]  # fmt: skip
    whole = table(run("score-trees", trees, "--model", model, "--tags", "gold").stdout)
    assert sum(float(row["score"]) for row in first) == pytest.approx(float(whole[0]["score"]), abs=1e-4)
    assert whole[1]["score"] == ""
    assert whole[1]["missing"] == "word 3 'stopped': no chain an unknown label over VBD (chain)"
    assert rows[7]["missing"] == "no chain an unknown label over VBD (chain)"
    assert [row["score"] == "" for row in rows[5:]] == [False, False, True, True, True]


def test_json(run, model, trees, tmp_path):
    output = tmp_path / "out" / "scores.jsonl"
    result = run("score-trees", trees, "--model", model, "--format", "json", "--derivation", "--output", output)
    assert (result.exit_code, result.stdout) == (0, "")
    rows = [json.loads(line) for line in output.read_text(encoding="utf8").splitlines()]
    assert rows[0]["score"] == pytest.approx(sum(m["closing_score"] + m["chain_score"] for m in rows[0]["moves"]))
    assert rows[0]["best"]["source"] in ("beam", "relaxed")
    assert rows[1]["score"] is rows[1]["per_word"] is rows[1]["moves"][2]["chain_score"] is None
    assert rows[1]["moves"][2]["missing"]["kind"] == "chain"
    plain = run("score-trees", trees, "--model", model, "--format", "json").stdout.splitlines()
    assert "moves" not in json.loads(plain[0])


def test_skipped_trees_are_counted(run, model, write):
    good, other = TREES.splitlines()
    text = "\n".join([good[:-2], good, "(S (NP ))", other, good + ")", "( (S (NP (-NONE- *))) )", other])
    result = run("score-trees", write("bad.mrg", text), "--model", model, "--skip-bad")
    assert [row["tree"] for row in table(result.stdout)] == ["2", "4", "5", "7"]  # those of the file
    places = [line.split("bad.mrg:")[1].split(": ")[0] for line in result.stderr.splitlines()[1:-1]]
    assert places == ["1:1", "3:8", f"5:{len(good) + 1}"]
    assert result.stderr.endswith("  passed over: 3 lines with 4 words\n")


def test_malformed_trees(refused, model, write):
    path = write("bad.mrg", "(S (NP (NN rain) ()))\n" + TREES)
    assert "bad.mrg:1:" in refused("score-trees", path, "--model", model)
    assert "no trees with words were found" in refused(
        "score-trees", write("none.mrg", "( (S (NP (-NONE- *))) )\n"), "--model", model
    )


def test_words_of_whitespace_have_no_score(run, model, write):
    path = write("odd.mrg", "(S (NP (DT The) (NN \u00a0)) (VP (VBD stopped)))\n" + TREES)
    rows = table(run("score-trees", path, "--model", model).stdout)
    assert (rows[0]["score"], rows[0]["missing"]) == ("", "a word is whitespace")
    assert rows[1]["score"]
