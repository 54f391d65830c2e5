"""Train a pipeline on your own treebank, in a language other than English, and parse with it.

usage: python examples/own_treebank.py OUT_DIR

The treebank is in data/: 32 German sentences for training and 9 to choose the best pass, with their own tags and
labels, and a table that defines the head of each phrase. It is only a demonstration: a useful parser needs several
thousand sentences. The script runs

    spacy-incparse train TRAIN.mrg DEV.mrg OUT_DIR --lang de --heads HEADS.json --config examples/small.json
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import spacy_incparse

HERE = Path(__file__).parent
DATA = HERE / "data"
SENTENCE = "Der alte Lehrer liest ein Buch über die Vögel im Garten."


def train(out_dir: Path) -> Path:
    """Train, and return the folder of the pipeline."""
    command = [sys.executable, "-m", "spacy_incparse", "train"]
    arguments = [DATA / "german-train.mrg", DATA / "german-dev.mrg", out_dir]
    options = ["--lang", "de", "--heads", DATA / "german-heads.json", "--config", HERE / "small.json", "--force"]
    subprocess.run([*command, *map(str, [*arguments, *options])], check=True)
    return out_dir / "model-best"


if __name__ == "__main__":
    nlp = spacy_incparse.load(train(Path(sys.argv[1])))
    (tree,) = nlp(SENTENCE)._.trees
    print(tree)
    for phrase in tree.phrases("NP"):
        print(phrase.text, "- head:", phrase.head)
