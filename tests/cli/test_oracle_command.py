import json

import pytest
import spacy

from spacy_incparse.rerank.lists import read_lists
from spacy_incparse.treebanks.reader import read_treebank

GOLD = "(TOP (S (NP (NN rain)) (VP (VBD fell))))"
BLLIP = f"""2 a
-12.5
(S1 (S (NN rain) (VBD fell)))
-13.5
{GOLD.replace("TOP", "S1")}
"""
NEEDS_GOLD = "list 1 has no gold tree: also name the treebank, as in oracle LISTS TREEBANK"


@pytest.fixture
def oracle(run, tmp_path):
    """Run the command; return its text and figures."""

    def _oracle(*arguments):
        result = run("oracle", *arguments, "--output", tmp_path / "oracle.json")
        assert result.exit_code == 0, result.output
        return result.stdout, json.loads((tmp_path / "oracle.json").read_text())

    return _oracle


def test_lists_of_a_model(oracle, run, model, dev_file, tmp_path):
    text, figures = oracle(model, dev_file, "--n", "5,1,2")
    assert text.splitlines()[-1] == "50 lists"
    rows = figures["oracle"]
    assert [row["n"] for row in rows] == [1, 2, 5]
    assert rows[0]["f"] < rows[1]["f"] < rows[2]["f"] < 1
    assert rows[0]["mean_rank"] == rows[0]["mean_length"] == 1
    assert figures["calibration"]["n"] <= figures["lists"] == 50
    scores = tmp_path / "scores.json"
    assert run("evaluate", model, dev_file, "--calibration", "--output", scores).exit_code == 0
    evaluated = json.loads(scores.read_text())
    assert rows[0]["f"] == pytest.approx(evaluated["const_f"])
    # The Docs of `evaluate` have scores of six digits.
    for key in ("mean", "right", "error"):
        assert figures["calibration"][key] == pytest.approx(evaluated["calibration"]["trees"][key], rel=1e-3)


def test_lists_of_a_file(oracle, write):
    lists, gold = write("lists.bllip", BLLIP), write("gold.mrg", GOLD)
    _, figures = oracle(lists, gold, "--n", "1,2,50")
    assert [row["f"] for row in figures["oracle"]] == [pytest.approx(2 / 4), 1, 1]
    assert figures["oracle"][2] == {"n": 50, "f": 1, "mean_rank": 2, "has_gold": 1, "mean_length": 2}
    assert figures["calibration"]["mean"] == pytest.approx(0.7310586)  # 1 / (1 + exp(-1))


def test_sentences_with_a_blank_word_are_left_out(run, model, write):
    path = write("gold.mrg", GOLD + "\n(TOP (NP (NN -U00A0-)))")
    result = run("oracle", model, path, "--n", "1")
    assert result.stdout.endswith("\n1 lists\n")
    assert result.stderr == "left out because a word is whitespace: 1 of 2 sentences\n"


def test_a_model_without_temperature_has_no_calibration(oracle, refused, model, dev_file, tmp_path):
    nlp = spacy.load(model)
    nlp.get_pipe("incparse").model.parser.temperature = None
    nlp.to_disk(tmp_path / "old")
    assert "no temperature" in refused("evaluate", tmp_path / "old", dev_file, "--calibration")
    text, figures = oracle(tmp_path / "old", dev_file, "--n", "1")
    assert "probability" not in text
    assert "calibration" not in figures


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], NEEDS_GOLD),
        (["gold.mrg", "--gold-tags"], "--gold-tags needs a pipeline: the lists of lists.bllip are already parsed"),
        (["other.mrg"], "lists.bllip:1:1: the gold tree has the word 'snow' in place 1, against 'rain'"),
        (["two.mrg"], "lists.bllip:1:1: there are more gold trees than lists (1)"),
    ],
)
def test_errors(run, write, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    write("lists.bllip", BLLIP)
    write("other.mrg", GOLD.replace("rain", "snow"))
    write("gold.mrg", GOLD)
    write("two.mrg", GOLD * 2)
    result = run("oracle", "lists.bllip", *options)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"Error: {message}" in result.stderr


def test_lists_that_parse_writes(run, model, dev_file, write):
    trees = read_treebank(dev_file)[:8]
    words = write("words.txt", "".join(" ".join(tree.words) + "\n" for tree in trees))

    def lists(format, n):
        arguments = ["parse", "--model", model, "--tokenized", "--input", words, "--nbest", n, "--format", format]
        return list(read_lists(write("lists", run(*arguments).stdout)))

    expected = lists("json", 4)
    temperature = expected[0].temperature
    assert temperature != 1
    assert [one.words for one in expected] == [tree.words for tree in trees]
    for format in ("lists", "penn", "pretty", "bllip"):
        found = lists(format, 4)
        assert {one.temperature for one in found} == {temperature if format == "lists" else 1}
        for one, other in zip(found, expected, strict=True):
            assert [parse.tree for parse in one.parses] == [parse.tree for parse in other.parses]
            scale = temperature if format == "bllip" else 1
            scores = [parse.score / scale for parse in other.parses]
            assert [parse.score for parse in one.parses] == pytest.approx(scores, rel=1e-5)
        if format in ("lists", "bllip"):  # the best tree alone has the scale of longer lists
            alone = lists(format, 1)
            assert [one.parses for one in alone] == [one.parses[:1] for one in found]
            assert [one.temperature for one in alone] == [one.temperature for one in found]
