"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest


def _folder(variable: str, default: str) -> Path:
    path = Path(os.environ.get(variable, Path(__file__).parents[1] / default))
    if not path.is_dir():
        pytest.skip(f"needs the folder {path} (environment variable {variable})")
    return path


@pytest.fixture(scope="session")
def treebanks() -> Path:
    """The folder of real treebanks: wsj, gum and craft, each with train.mrg and dev.mrg."""
    return _folder("INCPARSE_TREEBANKS", "../shared/treebanks")


@pytest.fixture(scope="session")
def evalb_files() -> Path:
    """The folder with the real EVALB program's output: gold.mrg, parsed.mrg, evalb.txt, evalb-goldtags.txt."""
    return _folder("INCPARSE_EVALB", "../shared/evalb")


@pytest.fixture(scope="session")
def trained():
    """A pipeline trained on the sample treebank. Read only: copy it with `from_bytes` before you change it."""
    from tests.small_pipeline import train, untrained  # spaCy is loaded only where a test wants it

    nlp = untrained()
    train(nlp, 3)
    return nlp
