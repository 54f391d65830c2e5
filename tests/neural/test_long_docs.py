"""A sentence of 501 words in one chart and a Doc of 5,015 words need bounded memory, in parsing and in training.

As a script, it prints by how many MB each work raises the peak memory of this process, as JSON. A process of its own:
the peak of the one that runs the tests may be from another test, and PyTorch's memory and that of compiled code is not
seen by `tracemalloc`. Run as `python -m tests.neural.test_long_docs FOLDER_OF_PIPELINE`.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from spacy.training import Example

from tests.neural.tiny_encoder import needs_transformers, transformer_pipeline

SENTENCE = " ".join(["the cat and"] * 166) + " the cat."  # 501 words
TEXT = " ".join(["The cat slept on the sofa. She thinks that the letters are in the box."] * 295)  # 5,015 words
MOST_MB = 250  # beside a pipeline that has parsed and learned a short sentence; three times what was seen
STATUS = Path("/proc/self/status")
reads_peak = pytest.mark.skipif(not STATUS.exists(), reason="needs Linux, where a process can read its peak memory")


def growth(nlp, folder):
    """Save a pipeline, and return the MB of each work in a process of its own."""
    nlp.to_disk(folder)
    command = [sys.executable, "-W", "ignore", "-m", "tests.neural.test_long_docs", str(folder)]
    found = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    return json.loads(found.stdout)


def peak_megabytes():
    (line,) = (line for line in STATUS.read_text(encoding="utf8").splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def check(found):
    assert set(found) == {"parse sentence", "update sentence", "parse Doc", "update Doc"}
    assert 0 < max(found.values()) < MOST_MB, found


@reads_peak
@pytest.mark.slow
def test_a_convolutional_layer(nlp, tmp_path):
    check(growth(nlp, tmp_path))


@needs_transformers
@reads_peak
@pytest.mark.slow
def test_a_transformer(encoder_folder, tmp_path):
    check(growth(transformer_pipeline(encoder_folder), tmp_path))


def main(folder):
    nlp = spacy.load(folder)
    nlp.get_pipe("incparse_neural").max_length = 600  # the long sentence in one chart
    optimizer = nlp.resume_training()
    warm = nlp("The cat slept on the sofa.")
    nlp.update([Example(nlp.make_doc(warm.text), warm)], sgd=optimizer)
    found, peak = {}, peak_megabytes()
    for name, text in (("sentence", SENTENCE), ("Doc", TEXT)):
        doc = nlp(text)
        assert sum(len(tree.words) for tree in doc._.trees) == len(doc)
        found[f"parse {name}"] = peak_megabytes() - peak
        nlp.update([Example(nlp.make_doc(text), doc)], sgd=optimizer)
        found[f"update {name}"] = peak_megabytes() - peak
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
