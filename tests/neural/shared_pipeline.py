"""What the tests of pipelines whose components share a layer of word vectors have in common."""

import subprocess
import sys
import warnings

import pytest
from spacy.cli.package import package

from spacy_incparse.pipeline.registered import TreebankReader

TEXT = "The cat slept on the sofa."


def trees(docs):
    return [[str(tree) for tree in doc._.trees] for doc in docs]


def read(nlp, folder, name="dev"):
    return list(TreebankReader(folder / f"{name}.spacy", limit=20)(nlp))


def install_elsewhere(folder, name):
    """Package the pipeline of a training, and return the folder where its package `en_NAME` is installed."""
    pytest.importorskip("setuptools")
    target = folder / "installed"
    (folder / "packages").mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # `spacy package` leaves files open
        package(folder / "out" / "model-best", folder / "packages", name=name, create_sdist=False)
    (source,) = (folder / "packages").iterdir()
    # These commands need no network and no package `wheel`, as pip does.
    commands = ["--quiet", "install_lib", "--install-dir", target, "install_egg_info", "--install-dir", target]
    subprocess.run([sys.executable, "setup.py", *map(str, commands)], cwd=source, check=True, capture_output=True)
    return target
