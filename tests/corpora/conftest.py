"""A pipeline whose parser takes no time, and folders to compare."""

import json
import re
import runpy
from pathlib import Path

import pytest
import spacy
from spacy.language import Language

CODE = Path(__file__).parents[2] / "benchmarks" / "stub_parser.py"
KILLER = f"""
import os, runpy, signal
from spacy.language import Language

runpy.run_path({str(CODE)!r})

@Language.component("killer")
def kill(doc):
    if "bomb" in doc.text:
        os.kill(os.getpid(), signal.SIGKILL)
    return doc
"""


def without_progress(stderr: str) -> list[str]:
    """The lines of the error output but for those that tell each minute how far a run is."""
    return [line for line in stderr.splitlines() if not re.match(r"\d+ %, \d+ shards, ", line)]


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


@pytest.fixture
def bombs(stub, tmp_path):
    """The arguments of `annotate`, but for the output, for documents of which one kills its worker; and their file."""
    (tmp_path / "killer.py").write_text(KILLER)
    nlp = spacy.load(stub)
    if not Language.has_factory("killer"):  # spaCy refuses a second function of this name
        exec(KILLER, {})
    nlp.add_pipe("killer", first=True)
    nlp.to_disk(tmp_path / "pipeline")
    rows = [{"id": f"d{i}", "text": "a bomb here" if i == 4 else f"Rain came {i} times."} for i in range(12)]
    texts = tmp_path / "texts.jsonl"
    texts.write_text("\n".join(map(json.dumps, rows)))
    options = ["--model", tmp_path / "pipeline", "--code", tmp_path / "killer.py", "-f", "jsonl", "--shard-chars", "60"]
    return ["annotate", str(texts), *map(str, options)], texts
