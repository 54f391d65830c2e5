import csv
import json
import os
import runpy
import signal
import subprocess
import sys
import time
import warnings

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_incparse.cli import app
from spacy_incparse.corpora import worker as shard_worker
from spacy_incparse.corpora.annotate import MOST_SHARDS, REASON, GivenUp
from spacy_incparse.corpora.records import Document, OutputFolder, Shard, Unreadable
from spacy_incparse.errors import IncparseError
from spacy_incparse.treebanks.reader import read_trees
from spacy_incparse.trees.tree import Tree
from tests.corpora.conftest import CODE, without_progress


@pytest.fixture
def run(stub):
    """Run `annotate` with the stub; the result has exit_code, stdout, stderr."""

    def _run(*args, model=stub):
        result = CliRunner().invoke(app, arguments(model, *args))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return _run


def arguments(model, *args, code=CODE):
    return ["annotate", *map(str, args), "--model", str(model), "--code", str(code), "--shard-chars", "300"]


def read_json_lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf8").splitlines()]


def test_memory_is_released_after_each_shard(run, texts, tmp_path, monkeypatch):
    released = []
    monkeypatch.setattr(shard_worker, "release_memory", lambda: released.append(1))
    run(texts, tmp_path / "out", "--format", "jsonl", "--n-process", "1")
    assert len(released) == len(list((tmp_path / "out" / "shards").iterdir())) > 1


def test_a_text_whose_lines_seem_to_be_documents_is_told_so(run, tmp_path):
    for name, text in (("lines.txt", "It rained.\nIt snowed.\n"), ("prose.txt", "It rained.\n\nIt snowed.\n")):
        (tmp_path / name).write_text(text)
        result = run(tmp_path / name, tmp_path / name[:5], "--format", "brackets")
        assert (f"{name} has a line for each sentence" in result.stderr) is (name == "lines.txt")
        assert ("--input-format lines" in result.stderr) is (name == "lines.txt")
    assert run(tmp_path / "lines.txt", tmp_path / "n", "--input-format", "lines", "--format", "brackets").stderr == ""


def test_json_lines(run, texts, tmp_path):
    out = tmp_path / "out"
    result = run(texts, out, "--format", "jsonl")
    assert (result.exit_code, result.stderr) == (0, "")
    summary = f"{out}: 58 documents, 116 sentences, 522 words with trees; put aside in {out / 'failed'}: 2 documents"
    assert result.stdout.strip() == summary
    rows = [row for path in sorted((out / "documents").iterdir()) for row in read_json_lines(path)]
    assert [row["document"] for row in rows] == [i for i in range(60) if i not in (20, 40)]
    row = rows[7]
    assert (row["id"], row["file"], row["meta"]) == ("d7", texts.as_posix(), {"year": 7})
    first, second = row["sentences"]
    shown = [row["text"][token["start"] : token["end"]] for token in second["tokens"]]
    assert shown == "The cat number 7 slept .".split()
    assert first["spans"] == [{"label": "TOP", "start": 0, "end": 3, "parent": -1, "function": ""}]
    assert str(Tree.from_dict(second)) == second["brackets"]
    assert (second["score"], second["source"], second["probability"]) == (-1.5, "beam", None)
    failed = [row for path in sorted((out / "failed").iterdir()) for row in read_json_lines(path)]
    assert [(row["document"], row["id"]) for row in failed] == [(20, "bad"), (40, f"{texts.as_posix()}:41")]
    assert failed[0]["reason"] == "RuntimeError: something is wrong here"
    assert failed[1]["reason"].startswith("the line is not JSON: ")
    totals = json.loads((out / "totals.json").read_text())
    assert totals == {"shards": 7, "documents": 58, "failed": 2, "sentences": 116, "words": 522, "flat": 0}


def test_a_corpus_whose_documents_are_all_put_aside_is_an_error(run, texts, tmp_path):
    out = tmp_path / "out"
    args = [texts, out, "--format", "jsonl", "--text-field", "body"]
    result = run(*args)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "the first, d0: no text in 'body'; the object has text, year: name the right field" in result.stderr
    assert "--text-field. All of them (60) are in" in result.stderr
    assert str(out / "failed") in result.stderr
    assert not (out / "totals.json").exists()
    assert (run(*args).exit_code, run(*args).stderr) == (1, result.stderr)  # with all shards from the first run
    assert run(texts, out, "--format", "jsonl", "--overwrite").exit_code == 0


LEAVING = {"SystemExit": SystemExit(3), "KeyboardInterrupt": KeyboardInterrupt()}


@Language.component("leaver")
def leave(doc):
    """Raise what the first word says."""
    if doc[0].text in LEAVING:
        raise LEAVING[doc[0].text]
    return doc


@pytest.fixture
def leaver(stub, tmp_path):
    """The folder of a pipeline that leaves Python at some texts."""
    nlp = spacy.load(stub)
    nlp.add_pipe("leaver", first=True)
    nlp.to_disk(tmp_path / "leaver")
    return tmp_path / "leaver"


def test_a_document_that_leaves_python_is_put_aside_and_an_interrupt_is_none(run, leaver, tmp_path):
    (tmp_path / "a.lines").write_text("It rained.\nSystemExit\nIt snowed.\n")
    result = run(tmp_path / "a.lines", tmp_path / "out", "--format", "jsonl", model=leaver)
    assert result.stdout.startswith(f"{tmp_path / 'out'}: 2 documents, 2 sentences, 6 words with trees")
    (failed,) = read_json_lines(tmp_path / "out" / "failed" / "part-000000.jsonl")
    assert (failed["document"], failed["reason"]) == (1, "SystemExit: 3")
    (tmp_path / "a.lines").write_text("It rained.\nKeyboardInterrupt\n")
    result = run(tmp_path / "a.lines", tmp_path / "new", "--format", "jsonl", model=leaver)
    assert result.exit_code == 130
    assert result.stderr == f"Interrupted: the same command goes on where {tmp_path / 'new'} stops\n"


def test_brackets_and_docbin(run, texts, tmp_path):
    run(texts, tmp_path / "trees", "--format", "brackets")
    trees = list(read_trees(tmp_path / "trees"))
    assert len(trees) == 116
    run(texts, tmp_path / "docs", "--format", "docbin")
    docs = DocBin().from_disk(tmp_path / "docs" / "docs" / "part-000000.spacy")
    doc = next(docs.get_docs(spacy.blank("en").vocab))
    assert list(doc._.trees) == trees[:2]
    assert (doc.user_data["id"], doc.user_data["meta"]) == ("d0", '{"year":0}')
    assert CliRunner().invoke(app, ["search", "TOP", str(tmp_path / "docs"), "--count"]).stdout == "116\n"


@pytest.mark.parametrize("format_", ["brackets", "docbin"])
def test_a_corpus_without_sentences_is_searched(run, tmp_path, format_):
    (tmp_path / "a.jsonl").write_text('{"text": ""}\n')
    assert run(tmp_path / "a.jsonl", tmp_path / "out", "--format", format_).exit_code == 0
    for more, shown in ([], ""), (["--count"], "0\n"), (["--n-process", "2"], ""):
        result = CliRunner().invoke(app, ["search", "X", str(tmp_path / "out"), *more])
        assert (result.exit_code, result.stdout, result.stderr) == (0, shown, "")


def test_bracket_files_of_a_corpus_have_trees(run, tmp_path):
    rows = [{"text": "It rained. " + "x" * 300}, {"text": 5}, {"text": ""}]  # the second shard has no sentence
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    out = tmp_path / "out"
    for _ in range(2):
        assert run(tmp_path / "a.jsonl", out, "--format", "brackets").exit_code == 0
        assert sorted(path.name for path in (out / "shards").iterdir()) == ["part-000000.json", "part-000001.json"]
        assert [path.name for path in (out / "trees").iterdir()] == ["part-000000.mrg"]
    assert CliRunner().invoke(app, ["search", "TOP", str(out), "--count"]).stdout == "2\n"


def test_a_table_of_measures_has_a_row_for_each_document(run, texts, tmp_path):
    out = tmp_path / "out"
    assert run(texts, out, "--format", "jsonl").exit_code == 0
    assert "was begun with other complexity" in run(texts, out, "--format", "jsonl", "--complexity").stderr
    assert run(texts, out, "--format", "jsonl", "--complexity", "--overwrite").exit_code == 0
    tables = [path.read_text(encoding="utf8").splitlines() for path in sorted((out / "complexity").iterdir())]
    found = [row for header, *table in tables for row in csv.DictReader([header, *table])]
    (whole,) = csv.DictReader(CliRunner().invoke(app, ["complexity", str(out), "--by", "all"]).stdout.splitlines())
    assert len(found) == 58
    assert (sum(int(row["W"]) for row in found), found[0]["id"]) == (int(whole["W"]), "d0")


def test_tokens_of_conllu_are_kept(run, tmp_path):
    rows = [f"{i}\t{word}\t_\t_\t_\t_\t_\t_\t_\t_" for i, word in enumerate("can not . stop".split(), start=1)]
    (tmp_path / "a.conllu").write_text("# newdoc id = one\n" + "\n".join(rows) + "\n\n" + rows[0] + "\n")
    run(tmp_path / "a.conllu", tmp_path / "out", "--format", "brackets")
    lines = (tmp_path / "out" / "trees" / "part-000000.mrg").read_text().splitlines()
    assert lines == ["# document 0 one", "(TOP (X can) (X not) (X .) (X stop))", "(TOP (X can))"]


def test_penn_spelling_is_told_and_read(run, tmp_path):
    rows = [f"{i}\t{word}\t_\t_\t_\t_\t_\t_\t_\t_" for i, word in enumerate(["It", "-LRB-", "1\\/2"], start=1)]
    (tmp_path / "a.conllu").write_text("\n".join(rows) + "\n\n")
    (tmp_path / "b.txt").write_text("It -LRB- 1\\/2\n")
    for options, n_warnings, tree in (([], 1, "(X -\\LRB-) (X 1\\\\/2)"), (["--ptb"], 0, "(X -LRB-) (X 1/2)")):
        out = tmp_path / f"out{n_warnings}"
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            result = run(tmp_path / "a.conllu", tmp_path / "b.txt", out, "--format", "brackets", *options)
        assert result.stderr.count("words such as '-LRB-' look like the spelling of the Penn Treebank") == n_warnings
        lines = (out / "trees" / "part-000000.mrg").read_text().splitlines()
        assert [line for line in lines if line[0] == "("] == [f"(TOP (X It) {tree})"] * 2
    assert json.loads((out / "manifest.json").read_text())["ptb"] is True


def test_two_processes_write_the_same_bytes(run, texts, tmp_path, contents):
    run(texts, tmp_path / "one", "--format", "docbin")
    run(texts, tmp_path / "two", "--format", "docbin", "--n-process", "2")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_killed_and_started_again(run, stub, texts, tmp_path, contents):
    run(texts, tmp_path / "whole", "--format", "jsonl")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "spacy_incparse", *arguments(stub, texts, out, "--format", "jsonl")]
    process = subprocess.Popen([*command, "--n-process", "2"], env={**os.environ, "STUB_SECONDS": "0.05"})
    while not list(out.glob("shards/*.json")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    finished = {path: path.stat().st_mtime_ns for path in out.glob("shards/*.json")}
    assert not (out / "totals.json").exists()
    assert run(texts, out, "--format", "jsonl").exit_code == 0
    assert contents(out) == contents(tmp_path / "whole")
    assert {path: path.stat().st_mtime_ns for path in finished} == finished  # not done again


def test_a_worker_is_killed_in_the_middle(run, stub, texts, tmp_path, contents):
    run(texts, tmp_path / "whole", "--format", "jsonl")
    command = [sys.executable, "-m", "spacy_incparse", *arguments(stub, texts, tmp_path / "out", "--format", "jsonl")]
    command += ["--n-process", "2"]
    environment = {**os.environ, "STUB_KILL": str(tmp_path / "mark")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "mark").exists()  # made by the worker before it killed itself
    assert "58 documents, 116 sentences, 522 words with trees; put aside" in done.stdout
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_two_runs_do_not_write_to_one_folder(run, texts, tmp_path, contents):
    out = tmp_path / "out"
    with OutputFolder(out).claimed():
        for options in ((), ("--overwrite",)):
            result = run(texts, out, "--format", "jsonl", *options)
            assert (result.exit_code, result.stdout) == (1, "")
            assert f"another run of `annotate` is writing to {out}" in result.stderr
    assert contents(out) == {}
    assert run(texts, out, "--format", "jsonl").exit_code == 0


def test_what_is_lost_or_damaged_is_made_again(run, texts, tmp_path, contents):
    out = tmp_path / "out"
    run(texts, out, "--format", "jsonl")
    before = contents(out)
    documents = out / "documents"
    (documents / "part-000002.jsonl").unlink()
    os.truncate(documents / "part-000003.jsonl", 100)
    altered = documents / "part-000005.jsonl"
    altered.write_bytes(altered.read_bytes().replace(b"slept", b"swept"))  # of the same size
    (out / "shards" / "part-000004.json").write_text("{")
    (out / "shards" / ".part-000004.json.77.tmp").touch()
    times = modified(out)
    run(texts, out, "--format", "jsonl")
    assert contents(out) == before
    assert {name for name, time in modified(out).items() if time != times.get(name)} == {
        "totals.json",
        *(f"documents/part-00000{i}.jsonl" for i in (2, 3, 4, 5)),
        *(f"shards/part-00000{i}.json" for i in (2, 3, 4, 5)),
        *(name for name in before if name.startswith("failed/") and name[-7] in "2345"),
    }


def modified(folder):
    return {
        path.relative_to(folder).as_posix(): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()
    }


def test_another_input_is_not_mixed_with_it(run, texts, tmp_path, contents):
    run(texts, tmp_path / "out", "--format", "jsonl")
    texts.write_text('{"text": "Another one."}')
    result = run(texts, tmp_path / "out", "--format", "brackets")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {tmp_path / 'out'} was begun with other input, output format: ")
    assert run(texts, tmp_path / "out", "--format", "brackets", "--overwrite").exit_code == 0
    run(texts, tmp_path / "new", "--format", "brackets")
    assert contents(tmp_path / "out") == contents(tmp_path / "new")


def test_a_damaged_manifest_can_be_replaced_also_behind_a_link(run, texts, tmp_path, contents):
    (tmp_path / "disk").mkdir()
    out = tmp_path / "out"
    out.symlink_to(tmp_path / "disk", target_is_directory=True)
    run(texts, out, "--format", "jsonl")
    for manifest in ("", "[1, 2]", '{"name": "no format"}'):
        (out / "manifest.json").write_text(manifest)
        (out / "shards" / ".part-000000.json.77.tmp").touch()
        result = run(texts, out, "--format", "brackets")
        assert result.exit_code == 1
        assert result.stderr.startswith(f"Error: {out / 'manifest.json'} is damaged (")
        assert "--overwrite" in result.stderr
    assert run(texts, out, "--format", "brackets", "--overwrite").exit_code == 0
    run(texts, tmp_path / "new", "--format", "brackets")
    assert out.is_symlink()
    assert contents(out) == contents(tmp_path / "new")


def test_files_of_others_are_not_removed(run, texts, tmp_path, contents):
    out = tmp_path / "out"
    (out / "shards").mkdir(parents=True)
    (out / "manifest.json").write_text('{"name": "a web page"}')
    (out / "shards" / "page.html").touch()
    before = contents(out)
    result = run(texts, out, "--format", "brackets", "--overwrite")
    assert result.exit_code == 1
    assert f"{out} exists, and is no annotated corpus" in result.stderr
    assert contents(out) == before
    new = tmp_path / "new"
    run(texts, new, "--format", "jsonl")
    (new / "notes.txt").write_text("My notes.")
    before = contents(new)
    result = run(texts, new, "--format", "brackets", "--overwrite")
    assert result.exit_code == 1
    assert f"{new / 'notes.txt'} is no file of an annotation" in result.stderr
    assert contents(new) == before


def test_a_run_that_finishes_nothing_leaves_nothing(run, stub, texts, tmp_path):
    out, wrong = tmp_path / "out", tmp_path / "wrong.py"
    for code, error in (
        ("absent", "NameError: name 'absent' is not defined"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ):
        wrong.write_text(code)
        result = CliRunner().invoke(app, arguments(stub, texts, out, "--format", "jsonl", code=wrong))
        assert (result.exit_code, result.stderr) == (1, f"Error: {wrong}: the code cannot be run: {error}\n")
        assert not out.exists()
    assert run(texts, out, "--format", "brackets").exit_code == 0


@pytest.mark.parametrize(
    ("library", "args", "extra"),
    [
        ("pyarrow.parquet", ["texts.parquet", "--format", "brackets"], "parquet"),
        ("pyarrow.parquet", [], "parquet"),
        ("ray", ["--ray", "local", "--format", "brackets"], "ray"),
    ],
)
def test_nothing_is_overwritten_without_what_is_needed(
    run, texts, tmp_path, contents, monkeypatch, library, args, extra
):
    monkeypatch.chdir(tmp_path)
    run(texts, "out", "--format", "jsonl")
    before = contents(tmp_path / "out")
    (tmp_path / "texts.parquet").touch()
    monkeypatch.setitem(sys.modules, library, None)
    result = run(texts, *args, "out", "--overwrite")
    assert (result.exit_code, f'pip install "spacy-incparse[{extra}]"' in result.stderr) == (1, True)
    assert contents(tmp_path / "out") == before


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["texts.jsonl"], "what to read or where to write is missing: only 'texts.jsonl' is given"),
        (["absent.txt", "out"], "absent.txt: no such file or folder"),
        (["texts.jsonl", "texts.jsonl"], "texts.jsonl is a file: the last argument is the folder to write"),
        ([".", "out"], "the output out is inside the input ., and would be read as input next time"),
        (["texts.jsonl", "full"], "full exists, and is no annotated corpus: name a new folder"),
        (["-", "out"], "standard input (-) cannot be read again"),
        (["texts.jsonl", "out", "--input-format", "xml"], "no input format is called 'xml'; there are auto, text, "),
        (["texts.jsonl", "out", "--format", "jsonl", "--model", "absent"], "cannot find the pipeline 'absent'"),
        (["texts.jsonl", "out", "--code", "absent.py"], "absent.py: no such file"),
        (["empty.txt", "out", "--format", "jsonl", "--input-format", "lines"], "the input has no documents"),
    ],
)
def test_mistakes(texts, tmp_path, monkeypatch, args, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.txt").touch()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").touch()
    more = [] if "--format" in args else ["--format", "jsonl"]
    result = CliRunner().invoke(app, ["annotate", *args, *more])
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {message}")
    assert result.stderr.count("\n") == 1


def test_a_pipeline_that_does_not_parse(texts, tmp_path):
    spacy.blank("en").to_disk(tmp_path / "blank")
    args = ["annotate", texts, tmp_path / "out", "--format", "jsonl", "--model", tmp_path / "blank"]
    result = CliRunner().invoke(app, list(map(str, args)))
    assert (result.exit_code, "has no component that parses" in result.stderr) == (1, True)


UNWRITABLE = f"""
import runpy
from spacy.language import Language

runpy.run_path({str(CODE)!r})

@Language.component("unwritable")
def unwritable(doc):
    if "odd" in doc.text:
        doc.user_data["odd"] = object()
    return doc
"""


def test_a_doc_that_cannot_be_written_is_put_aside(stub, tmp_path):
    """As one that cannot be parsed: neither ends the run."""
    code = tmp_path / "code.py"
    code.write_text(UNWRITABLE)
    nlp = spacy.load(stub)
    runpy.run_path(str(code))
    nlp.add_pipe("unwritable")
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "a.lines").write_text("Plums.\nAn odd one.\nPears.\n")
    args = arguments(tmp_path / "model", tmp_path / "a.lines", tmp_path / "out", "--format", "docbin", code=code)
    result = CliRunner().invoke(app, args)
    assert (result.exit_code, "2 documents" in result.stdout) == (0, True)
    (failed,) = (tmp_path / "out" / "failed").iterdir()
    assert json.loads(failed.read_text())["reason"] == "TypeError: can not serialize 'object' object"
    (docs,) = (tmp_path / "out" / "docs").iterdir()
    assert [doc.text for doc in DocBin().from_disk(docs).get_docs(nlp.vocab)] == ["Plums.", "Pears."]


def test_a_run_that_was_killed_as_it_began_can_begin_again(run, texts, tmp_path):
    unfinished = tmp_path / "out" / ".manifest.json.123.tmp"
    unfinished.parent.mkdir()
    unfinished.write_text("{")
    assert run(texts, tmp_path / "out", "--format", "jsonl").exit_code == 0
    assert not unfinished.exists()


def shard(number, first, names):
    return Shard(number, first, tuple(Document(name, "a.txt", name) for name in names.split()), 10)


def kill_all(shards, on_killed):
    for one in shards:
        if "bomb" in one.items[0].text:
            on_killed(one, IncparseError("again"))


def test_documents_that_kill_are_put_aside():
    given_up = GivenUp()
    given_up.note(shard(3, 7, "rain bomb snow"), IncparseError("three"))
    given_up.note(shard(5, 20, "long"), IncparseError("five"))  # a single document needs no trial
    given_up.note(shard(6, 21, "hail fog"), IncparseError("six"))  # none of them alone
    found = given_up.without_killers(kill_all)
    aside = [[isinstance(item, Unreadable) for item in one.items] for one in found]
    assert aside == [[False, True, False], [True], [False, False]]
    assert [(one.number, one.first, one.n_bytes) for one in found] == [(3, 7, 10), (5, 20, 10), (6, 21, 10)]


def test_a_pipeline_that_always_dies_is_an_error():
    given_up = GivenUp()
    given_up.note(shard(0, 0, "bomb bomb"), IncparseError("the first"))
    with pytest.raises(IncparseError, match="the first"):
        given_up.without_killers(kill_all)
    given_up.n_finished = 1
    assert len(given_up.without_killers(kill_all)) == 1


def test_too_many_shards_that_kill_are_an_error():
    given_up = GivenUp()
    for number in range(MOST_SHARDS):
        given_up.note(shard(number, number, "bomb"), IncparseError("few"))
    with pytest.raises(IncparseError, match="the last"):
        given_up.note(shard(9, 9, "bomb"), IncparseError("the last"))
    given_up.n_finished = 10
    given_up.note(shard(10, 10, "bomb"), IncparseError("few"))


def test_the_command_puts_them_aside(bombs, tmp_path):
    arguments, texts = bombs
    command = [sys.executable, "-m", "spacy_incparse", *arguments, str(tmp_path / "out"), "--n-process", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, without_progress(done.stderr)) == (0, [])
    assert "11 documents, 11 sentences" in done.stdout
    (failed,) = (tmp_path / "out" / "failed").iterdir()
    found = json.loads(failed.read_text())
    assert found == {"document": 4, "id": "d4", "file": texts.as_posix(), "reason": REASON}


def test_relations_are_a_table(tmp_path):
    file, out = tmp_path / "a.lines", tmp_path / "out"
    file.write_text("The boat was not sold (by them). He wants to go.\nRain.\nShe left him.\n", encoding="utf8")
    command = ["annotate", str(file), str(out), "--relations", "--format"]
    assert CliRunner().invoke(app, [*command, "jsonl"]).exit_code == 0
    documents = [json.loads(line) for line in (out / "documents" / "part-000000.jsonl").read_text().splitlines()]
    rows = [json.loads(line) for line in (out / "relations" / "part-000000.jsonl").read_text().splitlines()]
    assert {row["document"] for row in rows} == {0, 2}
    found = []
    for row in rows:
        text, sentence = documents[row["document"]]["text"], documents[row["document"]]["sentences"][row["sentence"]]
        verb, head = (sentence["tokens"][row[name]]["text"] for name in ("verb", "head"))
        assert head in text[row["start"] : row["end"]]
        span = sentence["spans"][row["span"]]
        assert sentence["tokens"][span["start"]]["start"] <= row["start"]
        assert row["end"] <= sentence["tokens"][span["end"] - 1]["end"]
        found.append((verb, row["relation"], head, row["understood"], row["negated"]))
    assert {("sold", "object", "boat", True, True), ("go", "subject", "He", True, False)} <= set(found)
    assert "--format brackets has no tables" in CliRunner().invoke(app, [*command, "brackets"]).stderr
