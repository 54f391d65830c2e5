"""Search files one after another, or several at once in processes; the results are the same, in the same order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path

from spacy_incparse.cli.corpora import read_corpus
from spacy_incparse.cli.hits import HitWriter, LabelCounts
from spacy_incparse.patterns import Forest, Match, Pattern
from spacy_incparse.treebanks.skip_log import SkipLog
from spacy_incparse.workers import run_in_order


@dataclass(frozen=True)
class FileSearch:
    """What to do with each file: write hits with `writer`, or else count the nodes, by label if `by_label` is set."""

    pattern: Pattern
    writer: HitWriter | None = None
    by_label: bool = False
    raw_labels: bool = False
    every: bool = False
    limit: int | None = None
    normalized: bool = False
    skip_bad: bool = False
    tags: bool = True

    def results(self, files: Sequence[Path], n_process: int) -> Iterator[FileResult]:
        """Yield the result of each file, in their order; the last one may have only what was skipped."""
        if n_process == 1:
            yield from self._searched(files)
            return
        for _, found in run_in_order(partial(_prepared, self), files, min(n_process, max(len(files), 1))):
            yield from found

    def search_file(self, path: Path) -> list[FileResult]:
        """Return the results of a file, with at most `limit` hits."""
        return [replace(result, lines=list(islice(result.lines, self.limit))) for result in self._searched([path])]

    def _searched(self, files: Sequence[Path]) -> Iterator[FileResult]:
        skipped = SkipLog() if self.skip_bad else None
        for path, forest in read_corpus(files, normalized=self.normalized, skip_bad=skipped, tags=self.tags):
            yield self._result(path, forest)
        if skipped is not None:
            yield FileResult(LabelCounts(), skipped=skipped)

    def _result(self, path: Path, forest: Forest) -> FileResult:
        result = FileResult(LabelCounts(raw_labels=self.raw_labels), is_file=True)
        if self.writer is not None:
            result.lines = self._lines(self.writer, path, forest)
        elif self.by_label:
            for match in self.pattern.search(forest):
                result.labels.add(match)
        else:
            result.count = self.pattern.count(forest)
        return result

    def _lines(self, writer: HitWriter, path: Path, forest: Forest) -> Iterator[str]:
        return (writer(path, match) for match in _placed(self.pattern, forest, self.every))


@dataclass
class FileResult:
    """What was found in a file; `lines` may be found while they are read."""

    labels: LabelCounts
    lines: Iterable[str] = ()
    count: int = 0
    skipped: SkipLog = field(default_factory=SkipLog)
    is_file: bool = False  # not only what was skipped


def _prepared(search: FileSearch) -> Callable[[Path], list[FileResult]]:
    return search.search_file


def _placed(pattern: Pattern, forest: Forest, every: bool) -> Iterator[Match]:
    """Yield the matches, each with the number of its tree in the file, because the forest may omit trees."""
    matches = pattern.search(forest, every=every)
    if forest.places is None:
        return matches
    return (match._replace(number=forest.place(match.number)) for match in matches)
