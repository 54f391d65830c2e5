import errno
import io
import subprocess
import sys
import zlib
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from spacy_incparse import files
from spacy_incparse.cli.options import write_json, write_lines
from spacy_incparse.errors import IncparseError, ModelError
from spacy_incparse.files import FREE_BYTES, check_writable, most_unpacked, unzip, whole_lines, write_bytes, write_file
from spacy_incparse.linear.weights import Weights


@contextmanager
def full_disk():
    """Let this process write no file of more than 4 kB; the signal that says so is ignored by Python.

    No longer than needed, since the output of the tests may be a file, too.
    """
    resource = pytest.importorskip("resource", reason="Windows has no limits on a process")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_is_written(tmp_path):
    (tmp_path / "model.tmp").write_text("precious")
    write_bytes(tmp_path / "model", b"1")
    write_bytes(tmp_path / "model", b"2")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"model": b"2", "model.tmp": b"precious"}


def test_what_cannot_be_written_is_named_and_leaves_what_was_there(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    with full_disk(), pytest.raises(IncparseError, match="model: cannot be written: "):
        write_bytes(path, bytes(10_000))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_rows_that_cannot_be_written_leave_no_file(tmp_path):
    with full_disk(), pytest.raises(IncparseError, match=r"rows.tsv: cannot be written: "):
        write_lines(tmp_path / "rows.tsv", ["a row"] * 10_000)
    with full_disk(), pytest.raises(IncparseError, match=r"scores.json: cannot be written: "):
        write_json(tmp_path / "scores.json", {"scores": list(range(10_000))})
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_explained(tmp_path):
    def fail(path):
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(IncparseError, match=r"corpus.spacy: cannot be written: No space left on device; free some"):
        write_file(tmp_path / "corpus.spacy", fail)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
def test_a_link_may_lead_anywhere(tmp_path, monkeypatch):
    """What is unfinished stands beside the file, not beside the link: perhaps on another disk."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "model")
    seen = []
    write_file(tmp_path / "link", lambda path: seen.append(path) or path.write_bytes(b"1"))
    assert [path.parent for path in seen] == [(tmp_path / "elsewhere").resolve()]
    assert (tmp_path / "link").is_symlink()
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["model"]


def test_what_can_be_written_is_checked_before(tmp_path, monkeypatch):
    file = tmp_path / "file"
    for path in (file, tmp_path / "new" / "file", tmp_path, Path("new_file")):
        check_writable(path)
    file.write_text("")
    with pytest.raises(IncparseError, match=r"file/tree.mrg cannot be written: .*file is a file, not a folder$"):
        check_writable(file / "tree.mrg")
    monkeypatch.setattr("os.access", lambda path, mode: path == file)
    check_writable(file)
    with pytest.raises(IncparseError, match=f"other cannot be written: you have no permission to write to {tmp_path}$"):
        check_writable(tmp_path / "other")


def test_compressed_data_unpack_to_what_they_may():
    data = zlib.compress(bytes(1000))
    assert unzip(data, "the weights are") == bytes(1000)
    assert unzip(data, "the weights are", 1000) == bytes(1000)
    assert len(unzip(data, "the weights are", 10)) == 11
    for damaged in (data[:-1], b"", data[:-1] + b"?"):
        with pytest.raises(ModelError, match="the weights are damaged"):
            unzip(damaged, "the weights are", 1000)
    assert most_unpacked(10) == FREE_BYTES


def test_a_table_larger_than_its_bytes_can_fill_is_not_made():
    data = Weights(4, 1).to_bytes()
    assert len(Weights.from_bytes(data, 4, 1, 1)) == 17
    with pytest.raises(ModelError, match="bytes cannot hold 2,147,483,650"):
        Weights.from_bytes(data, 30, 1, 1)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps a process to an address space")
def test_a_small_file_that_claims_gigabytes_takes_little_memory(tmp_path):
    code = f"""
import gzip, resource, sys, pathlib
from spacy_incparse.treebanks.reader import read_text
resource.setrlimit(resource.RLIMIT_AS, ({2**30}, {2**30}))
path = pathlib.Path(sys.argv[1])
path.write_bytes(b"".join([gzip.compress(bytes(2**20))] * 1200))
read_text(path)"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "text.gz")], capture_output=True, text=True, check=False
    )
    assert "MemoryError" not in done.stderr
    assert "hold more than" in done.stderr


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"a\nb\n", [b"a\n", b"b\n"]),
        (b"a\r\nb", [b"a\r\n", b"b"]),
        (b"a\rb\r\rc\r", [b"a\n", b"b\n", b"\n", b"c\n"]),
        (b"a\rb\nc\rd\n", [b"a\rb\n", b"c\rd\n"]),  # CR in lines with other ends
        (b"a\r\n", [b"a\r\n"]),
    ],
)
def test_lines_end_with_cr_only_where_nothing_else_ends_them(data, lines):
    assert list(whole_lines(io.BytesIO(data))) == lines


def test_lines_are_not_held_back():
    asked = []

    def slow():
        for line in (b"a\n", b"b\n"):
            asked.append(line)
            yield line

    lines = whole_lines(slow())
    assert (next(lines), asked) == (b"a\n", [b"a\n"])


def test_memory_is_given_back_where_the_c_library_can(monkeypatch):
    files.release_memory()
    kept = []
    libraries = [SimpleNamespace(malloc_trim=kept.append), SimpleNamespace()]
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(files.ctypes, "CDLL", lambda name: libraries.pop(0))
    files.release_memory()
    assert kept == [0]
    files.release_memory()
    monkeypatch.setattr(sys, "platform", "win32")
    files.release_memory()
    assert kept == [0]
    assert not libraries
