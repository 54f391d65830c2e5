import json

import pytest

UNTAGGED = """\
(S (NP the old cat) (VP slept (PP on (NP the sofa))))
(S (NP a dog) (VP barked (ADVP loudly)))
(S (NP the dog) (VP saw (NP a cat)))
"""


@pytest.fixture
def untagged(write):
    return write("untagged.mrg", UNTAGGED)


COMMANDS = """convert FILE OUT/x.spacy|train FILE FILE OUT|evaluate en FILE|score FILE FILE|score-trees FILE
search NP FILE|stats FILE|repair FILE OUT/out.mrg --rules english""".replace("\n", "|").split("|")


@pytest.mark.parametrize("command", COMMANDS)
def test_brackets_without_tags_are_refused_with_place_and_advice(run, untagged, tmp_path, command):
    result = run(*(part.replace("FILE", str(untagged)).replace("OUT", str(tmp_path)) for part in command.split()))
    assert result.exit_code == 1
    assert f"{untagged}:1:4: the node NP has 3 words, 'the old cat'" in result.stderr
    assert ("--no-tags" in result.stderr) is not command.startswith("repair")  # which lacks it
    assert "repair" not in command or "`repair` looks at parts of speech" in result.stderr


def test_convert_search_score_and_stats(run, untagged, tmp_path):
    assert "3 sentences, 16 words" in run("convert", untagged, tmp_path / "x.spacy", "--no-tags").stdout
    assert run("search", "X < cat", untagged, "--no-tags", "--count").stdout == "2\n"
    assert run("search", "X < cat", tmp_path / "x.spacy", "--count").stdout == "2\n"
    assert "Bracketing FMeasure       = 100.00" in run("score", untagged, untagged, "--no-tags").stdout
    output = tmp_path / "stats.json"
    assert run("stats", untagged, "--no-tags", "--output", output).exit_code == 0
    assert json.loads(output.read_text())["n_sentences"] == 3


def test_train_evaluate_and_score_trees(run, untagged, tmp_path):
    out = tmp_path / "out"
    assert run("train", untagged, untagged, out, "--max-epochs", "2", "--no-tags").exit_code == 0
    result = run("evaluate", out / "model-best", untagged, "--no-tags")
    assert result.exit_code == 0
    assert "Number of sentence        =      3" in result.stdout
    rows = run("score-trees", untagged, "--model", out / "model-best", "--no-tags").stdout.splitlines()
    assert len(rows) == 4


@pytest.mark.parametrize(
    "command", [["evaluate", "en", "FILE", "--gold-tags"], ["score-trees", "FILE", "--tags", "gold"]]
)
def test_there_are_no_gold_tags_then(refused, untagged, command):
    assert "--no-tags exclude each other" in refused(
        *(part.replace("FILE", str(untagged)) for part in command), "--no-tags"
    )
