"""N-best lists as bracket files: each tree follows a comment with its sentence, rank and score.

This is also what `parse --nbest K` prints, and other readers of brackets find the trees alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from spacy_incparse.errors import TreebankError
from spacy_incparse.rerank.candidate_list import CandidateList
from spacy_incparse.rerank.list_lines import Line, score_of, temperature_of
from spacy_incparse.rerank.list_records import FOUND_BY_SEARCH, Brackets, ListRecord

_HEADING = re.compile(r"# sent (\S+) parse (\S+) score (\S+)(?: source (\S+))?\s*")
_ABOUT = re.compile(r"# sent (\S+) (temperature|gold) (.*\S)\s*")  # about the list as a whole
_LIKE_HEADING = re.compile(r"#\s*sent\s+\S+\s+parse\b")
_EXPECTED = "expected a line such as '# sent 1 parse 1 score -41.2' before each tree"


def read_bracket_lists(path: Path, lines: Iterable[Line]) -> Iterator[ListRecord]:
    """Yield the lists; lines that say nothing of a list are comments, and a tree may take several lines."""
    reader = _BracketListReader(path)
    for line in lines:
        finished = reader.take(line)
        if finished is not None:
            yield finished
    last = reader.finish()
    if last is not None:
        yield last


def write_bracket_list(found: CandidateList, number: int) -> Iterator[str]:
    """Yield the lines of a list."""
    if found.temperature != 1:
        yield f"# sent {number} temperature {found.temperature!r}"
    if found.gold is not None:
        yield f"# sent {number} gold {found.gold}"
    for rank, parse in enumerate(found.parses, start=1):
        source = "" if parse.source == FOUND_BY_SEARCH else f" source {parse.source}"
        yield f"# sent {number} parse {rank} score {parse.score!r}{source}"
        yield str(parse.tree)
    yield ""


class _BracketListReader:
    """The list that is being read, and the lines of its last tree."""

    def __init__(self, path: Path):
        self._path = path
        self._sent: str | None = None  # the name of the list's sentence
        self._record: ListRecord | None = None
        self._heading: tuple[int, float, str] | None = None  # of the tree that is being read: line, score, source
        self._lines: list[Line] = []  # of this tree

    def take(self, line: Line) -> ListRecord | None:
        """Read a line; return the list before it if another begins here."""
        text = line.text
        if text.startswith("#"):
            heading, about = _HEADING.fullmatch(text), _ABOUT.fullmatch(text)
            if heading:
                return self._take_heading(line.number, heading)
            if about:
                return self._take_about(line.number, about)
            if _LIKE_HEADING.match(text):
                raise TreebankError(self._path, line.number, 1, f"the line {text!r:.60} is incomplete; {_EXPECTED}")
        elif text and not text.isspace():
            if self._heading is None:
                raise TreebankError(self._path, line.number, 1, f"{text!r:.40} without a score; {_EXPECTED}")
            self._lines.append(line)
        return None

    def finish(self) -> ListRecord | None:
        """Return the list read so far, if there is one, and be ready for another."""
        self._close_tree()
        record, self._record, self._sent = self._record, None, None
        return record

    def _take_heading(self, number: int, heading: re.Match[str]) -> ListRecord | None:
        sent, rank, score, source = heading.groups()
        finished = self._begin(sent, number, is_new=rank == "1")
        assert self._record is not None
        expected = len(self._record.trees) + 1
        if rank != str(expected):
            what = f"this is parse {rank} of sentence {sent}; expected parse {expected}: is the file complete?"
            raise TreebankError(self._path, number, 1, what)
        self._heading = number, score_of(self._path, number, score), source or FOUND_BY_SEARCH
        return finished

    def _take_about(self, number: int, about: re.Match[str]) -> ListRecord | None:
        sent, key, value = about.groups()
        finished = self._begin(sent, number, is_new=True)
        assert self._record is not None
        if key == "gold":
            self._record.gold = Brackets(number, value, about.start(3) + 1)
        else:
            self._record.temperature = temperature_of(self._path, number, value)
        return finished

    def _begin(self, sent: str, number: int, *, is_new: bool) -> ListRecord | None:
        """Go on with the list of a sentence, or begin one and return the list before it.

        is_new: whether the line can only be the first of a list: two lists may have the same name.
        """
        self._close_tree()
        if sent == self._sent and self._record is not None and not (is_new and self._record.trees):
            return None
        finished = self.finish()
        self._sent, self._record = sent, ListRecord(number)
        return finished

    def _close_tree(self) -> None:
        if self._heading is None:
            return
        number, score, source = self._heading
        if not self._lines:
            raise TreebankError(self._path, number, 1, "no tree follows this line; is the file complete?")
        assert self._record is not None
        first = self._lines[0].number
        self._record.add(Brackets(first, "\n".join(line.text for line in self._lines)), score, source)
        self._heading, self._lines = None, []
