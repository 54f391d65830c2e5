"""The programs and files in examples/ do what they say."""

import subprocess
import sys

from tests.readme import CHECKOUT

EXAMPLES = CHECKOUT / "examples"


def run(*arguments):
    result = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_every_example_is_described():
    described = (EXAMPLES / "README.md").read_text(encoding="utf8")
    for path in EXAMPLES.iterdir():
        assert path.name in described or path.name in ("README.md", "__pycache__")


def test_noun_phrases_have_their_places(tmp_path):
    text = "The dog barked.\n\n  A very old man opened the red door."
    (tmp_path / "text.txt").write_text(text)
    rows = [line.split("\t") for line in run(EXAMPLES / "noun_phrases.py", tmp_path / "text.txt").splitlines()]
    assert [row[3] for row in rows] == ["The dog", "A very old man", "the red door"]
    assert all(text[int(row[0]) : int(row[1])] == row[3] for row in rows)


def test_a_feature_set_of_ones_own_can_be_trained(tmp_path):
    assets = CHECKOUT / "assets"
    arguments = (assets / "sample-train.mrg", assets / "sample-dev.mrg", tmp_path, "--config", EXAMPLES / "small.json")
    printed = run("-m", "spacy_incparse", "train", *arguments)
    assert printed.count("\n") == 6  # two lines above, three passes, one below
    assert (tmp_path / "model-best" / "config.cfg").exists()
