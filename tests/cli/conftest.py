"""A small pipeline, trained once by the command itself, and a runner of commands."""

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spacy_incparse.cli import app
from tests.small_pipeline import ASSETS


def table(text):
    """The rows of a table of values."""
    return list(csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture
def run():
    """Run a command; the result has exit_code, stdout, stderr."""

    def _run(*args, stdin=None):
        result = CliRunner().invoke(app, [str(arg) for arg in args], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return _run


@pytest.fixture
def refused(run):
    """Run a command with a user's mistake; the message that it ends with."""

    def _refused(*args, stdin=None):
        result = run(*args, stdin=stdin)
        assert result.exit_code == 1
        return result.stderr

    return _refused


@pytest.fixture(scope="session")
def trained(tmp_path_factory) -> tuple[Path, str]:
    """The output folder of `train` after two passes, and what the command printed."""
    out_dir = tmp_path_factory.mktemp("trained")
    arguments = [ASSETS / "sample-train.mrg", ASSETS / "sample-dev.mrg", out_dir, "--max-epochs", "2"]
    result = CliRunner().invoke(app, ["train", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return out_dir, result.stdout


@pytest.fixture(scope="session")
def model(trained) -> Path:
    """The trained pipeline's folder."""
    return trained[0] / "model-best"


@pytest.fixture(scope="session")
def train_file() -> Path:
    return ASSETS / "sample-train.mrg"


@pytest.fixture(scope="session")
def dev_file() -> Path:
    return ASSETS / "sample-dev.mrg"


@pytest.fixture
def write(tmp_path):
    """Write a text to a new file and return its path."""

    def _write(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf8")
        return path

    return _write
