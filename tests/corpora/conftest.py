"""A pipeline whose parser takes no time, and folders to compare."""

import runpy
from pathlib import Path

import pytest
import spacy

CODE = Path(__file__).parents[2] / "benchmarks" / "stub_parser.py"


@pytest.fixture(scope="session")
def stub(tmp_path_factory) -> Path:
    """The folder of a pipeline that needs the code in `CODE`."""
    runpy.run_path(str(CODE))
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("stub_parser")
    folder = tmp_path_factory.mktemp("stub") / "pipeline"
    nlp.to_disk(folder)
    return folder


@pytest.fixture
def contents():
    """A function that returns the files of a folder with their bytes."""

    def _contents(folder: Path) -> dict[str, bytes]:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}

    return _contents


@pytest.fixture
def texts(tmp_path) -> Path:
    """A file of JSON lines: 60 documents, of which one fails and one line is not JSON."""
    path = tmp_path / "texts.jsonl"
    lines = [f'{{"id": "d{i}", "text": "Rain came. The cat number {i} slept.", "year": {i}}}' for i in range(58)]
    lines[20:20] = ['{"id": "bad", "text": "We crash here."}']
    lines[40:40] = ["no JSON"]
    path.write_text("\n".join(lines), encoding="utf8")
    return path
