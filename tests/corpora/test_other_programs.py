"""Programs that query the trees or run the pipeline: the examples of docs/annotate.md, as they are.

Needs the extras parquet and ray, and DuckDB, Polars and Spark (with Java); each test is skipped without its program.
"""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from textwrap import indent

import pytest
from typer.testing import CliRunner

from spacy_incparse.cli import app

pytestmark = pytest.mark.extras
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

CHECKOUT = Path(__file__).parents[2]
SMALL_SPARK = {
    "SPARK_LOCAL_IP": "127.0.0.1",
    "PYSPARK_PYTHON": sys.executable,  # otherwise its workers are the first python3 on the path
    "PYSPARK_SUBMIT_ARGS": "--master local[1] --conf spark.ui.enabled=false pyspark-shell",
}
RAY = "import ray\nray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)\n"
TEXTS = {
    "a": "The bridge was closed because the river had risen. We took the ferry.",
    "b": None,
    "c": "Anna saw the ferry.",
}


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """A folder with `texts/`, a table with id and text."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "texts").mkdir()
    rows = [{"id": name, "text": text} for name, text in TEXTS.items()]
    parquet.write_table(pyarrow.Table.from_pylist(rows), folder / "texts" / "all.parquet")
    return folder


@pytest.fixture(scope="module")
def trees(texts):
    """The same folder, with `trees/`, too: what `annotate` makes of the texts."""
    done = CliRunner().invoke(app, ["annotate", str(texts / "texts"), str(texts / "trees"), "--relations"])
    assert done.exit_code == 0, done.output
    return texts


def example(language, word):
    """Return the block of docs/annotate.md that has a word in it."""
    blocks = (CHECKOUT / "docs" / "annotate.md").read_text(encoding="utf8").split(f"```{language}\n")[1:]
    (found,) = [code for code, _, _ in (block.partition("```") for block in blocks) if word in code]
    return found


def labels_of(folder):
    rows = parquet.read_table(folder / "trees" / "sentences").to_pylist()
    return Counter(span["label"] for row in rows for span in row["spans"])


def run(folder, code):
    """Run a program in a process of its own, which ends all that it starts."""
    script = folder / "script.py"
    script.write_text(f"if __name__ == '__main__':\n{indent(code, '    ')}", encoding="utf8")
    path = os.pathsep.join([str(CHECKOUT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, **SMALL_SPARK}
    command = [sys.executable, script.name]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr


def rows_of(table):
    found = [(row["id"], row["sentence"], row["brackets"], row["error"]) for row in table.to_pylist()]
    return sorted(found, key=lambda row: (row[0], row[1] or 0))


def test_duckdb(trees, monkeypatch):
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(trees)
    labels, subjects, relations = (duckdb.sql(one).fetchall() for one in example("sql", "DuckDB").split(";")[:3])
    assert dict(labels) == labels_of(trees)
    assert [count for _, count in labels] == sorted((count for _, count in labels), reverse=True)
    assert sorted(subjects) == [("a", "The bridge"), ("a", "We"), ("a", "the river"), ("c", "Anna")]
    assert sorted(relations) == [("risen", "river", "NP"), ("saw", "Anna", "NP"), ("took", "We", "NP")]


def test_polars(trees, monkeypatch):
    pytest.importorskip("polars")
    monkeypatch.chdir(trees)
    names = {}
    exec(example("py", "polars"), names)
    assert dict(names["labels"].rows()) == labels_of(trees)


@pytest.mark.parametrize(
    ("module", "start", "word", "end"),
    [
        ("ray.data", RAY, "map_batches", "ray.shutdown()\n"),  # an actor loads the pipeline once
        ("pyspark", "", "mapInPandas", "spark.stop()\n"),  # it starts Java
    ],
)
def test_engines(texts, tmp_path, module, start, word, end):
    pytest.importorskip(module)
    from spacy_incparse.ray import Annotate

    (tmp_path / "texts").symlink_to(texts / "texts")
    run(tmp_path, start + example("py", word) + end)
    expected = rows_of(Annotate("en")({"id": list(TEXTS), "text": list(TEXTS.values())}))
    assert [row[:2] for row in expected] == [("a", 0), ("a", 1), ("b", None), ("c", 0)]
    assert rows_of(parquet.read_table(tmp_path / "sentences")) == expected
