import io

import pytest

from spacy_incparse.cli.parse import AnnotationProgress
from spacy_incparse.corpora.records import Counts, ShardRecord


class Clock:
    """A clock that is set by hand."""

    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def note(progress, n_bytes, words, *, is_new=True, failed=0):
    progress(n_bytes, ShardRecord(0, Counts(documents=1, words=words, failed=failed)), is_new=is_new)


def test_words_a_second_and_time_left(clock):
    """What an earlier run has finished takes no time."""
    progress = AnnotationProgress(6000, io.StringIO(), clock)
    note(progress, 3000, 9000, is_new=False)
    assert progress.line() == "50 %, 1 shards, 9,000 words"  # the speed of this run is not known yet
    clock.now += 10
    note(progress, 750, 1000)
    assert progress.line() == "62 %, 2 shards, 10,000 words, 100 words/s, 0:00:30 left"
    clock.now += 30
    note(progress, 1000, 1500, failed=2)
    expected = "79 %, 3 shards, 11,500 words, 62 words/s, 0:00:29 left, 2 documents put aside"
    assert progress.line() == expected
    note(progress, 1600, 10)  # more than expected
    assert ", 0:00:00 left, " in progress.line()


def test_a_log_gets_a_line_each_minute(clock):
    log = io.StringIO()
    with AnnotationProgress(8000, log, clock) as progress:
        for _ in range(8):
            clock.now += 25
            note(progress, 1000, 100)
    assert [line.partition(",")[0] for line in log.getvalue().splitlines()] == ["38 %", "75 %"]


def test_a_terminal_gets_one_line_that_is_renewed_and_removed(clock, monkeypatch):
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    lines = []
    with AnnotationProgress(3000, terminal, clock) as progress:
        for seconds, n_bytes in ((3600, 10), (1, 2990)):
            clock.now += seconds
            note(progress, n_bytes, 100)
            lines.append(progress.line())
    _, *shown, removed, end = terminal.getvalue().split("\r")
    assert [line.rstrip() for line in shown] == lines
    assert (removed.strip(), end) == ("", "")
