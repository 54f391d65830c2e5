import json

import pytest

from spacy_incparse.evaluation.evalb import score_trees
from spacy_incparse.treebanks.reader import parse_bracketed, read_treebank


@pytest.fixture
def evaluate(run, model, dev_file, tmp_path):
    def _evaluate(*options):
        result = run("evaluate", model, dev_file, "--output", tmp_path / "scores.json", *options)
        assert result.exit_code == 0, result.output
        return result.stdout, json.loads((tmp_path / "scores.json").read_text())

    return _evaluate


def test_figures(evaluate):
    text, figures = evaluate()
    assert "50 sentences, 511 words" in text
    assert (figures["sents"], figures["words"], figures["failed"]) == (50, 511, 0)
    assert 0 <= figures["relaxed"] <= 50
    assert figures["words_per_second"] > 0
    for key in ("const_p", "const_r", "const_f", "const_exact", "tag_acc"):
        assert 0 < figures[key] < 1
    assert figures["per_label"]["NP"]["n_gold"] == 162
    assert sum(summary["n_sents"] for summary in figures["by_length"].values()) == 50
    assert "token_f" not in figures


def test_same_figures_as_scoring_the_trees(evaluate, run, model, dev_file, write):
    gold = read_treebank(dev_file)
    lines = "".join(" ".join(tree.words) + "\n" for tree in gold)
    parsed = run("parse", "--model", model, "--tokenized", "--input", write("words.txt", lines)).stdout
    expected = score_trees(gold, parse_bracketed(parsed)).to_dict()
    _, figures = evaluate()
    for key in ("const_p", "const_r", "const_f", "const_exact", "tag_acc"):
        assert figures[key] == pytest.approx(expected[key])


def test_calibration(evaluate):
    text, figures = evaluate("--calibration")
    assert text.splitlines()[-1].startswith("confidence of trees ")
    for key in ("trees", "phrases"):
        found = figures["calibration"][key]
        assert 0 <= found["error"] <= 1
        assert found["right"] == pytest.approx(sum(right * n for _, right, n in found["bins"]) / found["n"])
    assert figures["calibration"]["trees"]["n"] == 50
    assert "calibration" not in evaluate()[1]


def test_raw_text(evaluate):
    text, figures = evaluate("--raw")
    assert text.splitlines()[1].startswith("Tokens")
    assert 0.8 < figures["token_f"] <= 1
    assert 0.5 < figures["sent_f"] <= 1
    assert 0 < figures["const_f"] < 1
    assert figures["failed"] == 0


def test_raw_text_is_the_treebanks_own_or_joined_by_rules(run, model, write, tmp_path):
    words = [("The", "DT", "(TOP(S(NP*"), ("dog", "NN", "*)"), ("sleeps", "VBZ", "(VP*)"), (".", ".", "*))")]
    rows = (f"{k}\t{word}\t_\t_\t{tag}\t_\t_\t_\t_\tTree={bits}\n" for k, (word, tag, bits) in enumerate(words, 1))
    table = f"# text = Thedog sleeps.\n{''.join(rows)}\n"
    brackets = "(TOP (S (NP (DT The) (NN dog)) (VP (VBZ sleeps)) (. .)))\n"
    scores = tmp_path / "scores.json"
    for name, text, more, n_right in (
        ("a.conllu", table, [], 2),
        ("b.conllu", table.replace("Thedog", "Adog"), [], 4),  # another text
        ("c.mrg", brackets, [], 4),
        ("d.mrg", brackets, ["--clitics", "dog x"], 2),
    ):
        assert run("evaluate", model, write(name, text), "--raw", "--output", scores, *more).exit_code == 0
        assert json.loads(scores.read_text())["token_f"] == pytest.approx(n_right / (4 if n_right == 4 else 3.5))


def test_parameter_file(evaluate, write):
    _, figures = evaluate("--prm", write("unlabelled.prm", "LABELED 0\nDELETE_LABEL TOP\n"))
    assert figures["const_f"] > evaluate()[1]["const_f"]
