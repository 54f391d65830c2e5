"""The `search` command: find the nodes that match a pattern in files of trees."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path

import srsly
from typer import Argument, Option, echo

from spacy_incparse.cli.options import one_of, progress_bar, takes
from spacy_incparse.documents.rows import PARQUET, annotated_format, read_rows, sentence_files
from spacy_incparse.errors import IncparseError, TreebankError
from spacy_incparse.files import named_paths
from spacy_incparse.patterns import Match, Pattern
from spacy_incparse.treebanks.bracket_scanner import BracketReader
from spacy_incparse.treebanks.reader import LOOKED_FOR, SkipLog, expanded, files_in, read_forests, read_text, scanned
from spacy_incparse.trees.forest import Forest, Symbols
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.labels import TRACE_TAG, bare_label, label_problem
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.blocks import columns
from spacy_incparse.workers import run_in_order


@takes(
    pattern=Argument(metavar="PATTERN", help="The pattern, in quotes: see docs/search.md."),
    sources=Argument(metavar="FILE...", help="Bracket, .spacy, .parquet and .jsonl files, folders or globs."),
    normalize=Option("--normalize", help="Remove functions, traces and wrappers from trees of bracket files first."),
    raw_labels=Option("--raw-labels", help="A label such as NP does not match NP-SBJ."),
    heads=Option("--heads", metavar="NAME|FILE.json", help="Head rules for relations with '#': en, any, ..."),
    format_=one_of("kwic tree json", "--format", "-f", help="Keyword in context, the default, trees, or JSON lines."),
    context=Option("--context", "-c", min=0, metavar="N", help="Words on either side. Default: as many as fit."),
    every=Option("--every", help="One hit for each way to assign the pattern's names to nodes."),
    limit=Option("--limit", "-n", min=1, metavar="N", help="Stop after N hits."),
    timeout=Option("--timeout", min=0, metavar="SECONDS", help="Time limit for regular expressions, per file."),
    count=Option("--count", help="Print only the number of matching nodes."),
    by_label=Option("--by-label", help="Print how many nodes of each label match."),
    n_process=Option("--n-process", min=1, metavar="N", help="Files searched at once."),
)
def search_command(
    pattern: str, sources: list[str], normalize: bool = False, raw_labels: bool = False, heads: str = "en",
    format_: str | None = None, context: int | None = None, every: bool = False, limit: int | None = None,
    timeout: float = 60, count: bool = False, by_label: bool = False, n_process: int = 1, skip_bad: bool = False,
    no_tags: bool = False,
) -> None:  # fmt: skip
    """Search trees with a Tregex pattern.

    Bracket files may be gzipped, and their trees are searched without normalization; Parquet files are those of
    `annotate`, and JSON lines also those of `parse`. Patterns do not distinguish words from labels: NN < pumpkin finds
    the noun.

    \b
    Examples:
      spacy-incparse search "NP < (NN=head $.. PP)" wsj/
      spacy-incparse search "VP << /^NP-TMP/" train.mrg --format tree -n 5
      spacy-incparse search "@SBAR < (WHNP << which)" "more/*.mrg.gz" parsed.spacy --count
      spacy-incparse search "SBAR > NP" parsed/ --n-process 4 --format json
    """
    # Imported here, so that the other commands start faster.
    from spacy_incparse.patterns import compile

    compiled = compile(pattern, raw_labels=raw_labels, heads=HeadRules.find(heads), timeout=timeout)
    if (count or by_label) and (limit or every or format_ or context is not None or (count and by_label)):
        raise IncparseError("--count and --by-label exclude each other, --limit, --every, --format and --context")
    if context is not None and format_ not in (None, "kwic"):
        raise IncparseError(f"--context is for --format kwic, not for {format_}")
    files = [file for path in sources for file in _expand(path)]
    width, names = shutil.get_terminal_size().columns, max(len(path.name) for path in files) if len(files) > 1 else 0
    writers: dict[str, HitWriter] = {
        "kwic": partial(kwic, width, context, names),
        "tree": partial(tree_lines, width),
        "json": json_line,
    }
    search = FileSearch(
        compiled, None if count or by_label else writers[format_ or "kwic"], by_label, raw_labels, every, limit,
        normalized=normalize, skip_bad=skip_bad, tags=not no_tags,
    )  # fmt: skip
    total, n_left = FileResult(), limit
    is_shown = search.writer is None or not sys.stdout.isatty()
    with progress_bar(is_shown=is_shown, total=len(files), unit=" files") as progress:
        for result in search.results(files, n_process):
            for line in islice(result.lines, n_left):
                print(line)  # not echo, which flushes every line: there may be many hits
                n_left = None if n_left is None else n_left - 1
            total.add(result)
            progress.update(result.is_file)
            if n_left == 0:
                break
    for problem in filter(None, (label_problem(one, total.known, are_all=n_left != 0) for one in sorted(total.absent))):
        echo(f"Warning: {problem}", err=True)
    if search.writer is None:
        echo("\n".join(label_table(total.labels)) if by_label else total.count)
    if skip_bad:
        echo(str(total.skipped), err=True)
        if total.skipped and not total.n_trees:
            raise IncparseError(f"{' '.join(sources)}: no tree is left without the malformed ones")


DOCBIN, JSON_LINES = ".spacy", (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".json", ".json.gz")
_NO_TREES = "expected an object with trees, as `annotate --format jsonl` and `parse --format json` write them"
_DOCUMENTS = "documents"  # the folder of `annotate` with the files that have trees


def _expand(path: str) -> list[Path]:
    """Return the bracket files, `.spacy` files, Parquet files and JSON lines for a file, a folder or a glob.

    A corpus that `annotate` has made may have none. Raises IncparseError if another path does not exist or contains no
    such files.
    """
    named = named_paths(path)
    files = expanded(named, _files_in)
    if not files and not any(map(annotated_format, named)):
        others = f"{DOCBIN}, {PARQUET}, and the .jsonl files of `annotate`"
        raise IncparseError(f"{path}: no file with trees found; looked for {LOOKED_FOR}, {others}")
    return files


def _files_in(folder: Path) -> list[Path]:
    # Files of JSON lines with trees: in a folder, others may be anything, such as the input.
    found = ((file, file.absolute().parent) for file in folder.rglob("*.jsonl"))
    documents = [file for file, at in found if at.name == _DOCUMENTS and annotated_format(at.parent) == "jsonl"]
    return sorted([*files_in(folder), *folder.rglob("*" + DOCBIN), *sentence_files(folder), *documents])


def _json_trees(path: Path, symbols: Symbols, skip_bad: SkipLog | None) -> Forest:
    """Return the trees of the documents of `annotate`, or of the sentences of `parse`."""
    forest, reader, places, number = Forest(symbols=symbols), BracketReader(symbols), list[int](), 0
    for line_number, line in enumerate(read_text(path).split("\n"), start=1):
        for brackets in _brackets(line) if line.strip() else ():
            number += 1
            if brackets == "":
                continue
            try:
                if brackets is None:
                    raise TreebankError(path, line_number, 1, _NO_TREES)
                n_before = len(forest)
                if reader.read(brackets.encode(), forest) < 0 or len(forest) != n_before + 1:
                    try:
                        forest.add(Tree.from_string(brackets))  # it has a message for each mistake
                    except TreebankError as error:
                        what = f"a tree of this line is damaged: {error.what}"
                        raise TreebankError(path, line_number, 1, what) from None
                places.append(number - 1)
            except TreebankError as error:
                if skip_bad is None:
                    raise
                skip_bad.add(error, is_tree=True)
    forest.places = places
    return forest


def _brackets(line: str) -> Sequence[str | None]:
    """Return the trees of an object as brackets, "" for null, None for what else is no text or no such object."""
    try:
        row = json.loads(line)
        found = [row["tree"]] if "tree" in row else [sentence["brackets"] for sentence in row["sentences"]]
        found = [""] if found == [None] and "tree" in row else found
    except (ValueError, TypeError, KeyError, RecursionError):
        return [None]
    return [one if isinstance(one, str) else None for one in found]


def _stored_trees(path: Path, symbols: Symbols) -> Forest:
    # Imported here, so that searching bracket files does not need spaCy and starts quickly.
    from spacy.lang.xx import MultiLanguage
    from spacy.vocab import create_vocab

    from spacy_incparse.documents.storage import anchored_trees
    from spacy_incparse.pipeline.registered import read_docbin

    forest = Forest(symbols=symbols)
    vocab = create_vocab("xx", MultiLanguage.Defaults)  # an empty one does not know what whitespace is
    for doc in read_docbin(path, vocab):
        for found in anchored_trees(doc):
            forest.add(found.tree)
    return forest


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
            yield from self._results(files)
            return
        for _, found in run_in_order(partial(getattr, self, "of_file"), files, min(n_process, max(len(files), 1))):
            yield from found

    def of_file(self, path: Path) -> list[FileResult]:
        """Return the results of a file, with at most `limit` hits."""
        return [replace(result, lines=list(islice(result.lines, self.limit))) for result in self._results([path])]

    def _results(self, files: Sequence[Path]) -> Iterator[FileResult]:
        skipped, symbols = SkipLog() if self.skip_bad else None, Symbols()
        self.pattern.doubtful.clear()  # warnings about labels are those of the command, which sees all files
        for path in files:
            if path.suffix == DOCBIN:
                yield self._result(path, _stored_trees(path, symbols))
            elif path.suffix == PARQUET:
                trees = "\n".join(row["brackets"] or "" for row in read_rows(path, ["brackets"]))
                forest = scanned(trees, path, symbols) if trees.strip() else Forest(symbols=symbols)
                if forest is None:
                    raise IncparseError(f"{path}: the trees in the column 'brackets' are damaged")
                yield self._result(path, forest)
            elif path.name.endswith(JSON_LINES):
                yield self._result(path, _json_trees(path, symbols, skipped))
            else:
                found = read_forests(
                    [path], symbols=symbols, normalized=self.normalized, skip_bad=skipped, tags=self.tags
                )
                yield from (self._result(name, forest) for name, forest in found)
        if skipped is not None:
            yield FileResult(skipped=skipped)

    def _result(self, path: Path, forest: Forest) -> FileResult:
        symbols = forest.symbols  # a normalized forest has those of the published trees, too
        known = frozenset(map(bare_label, symbols.labels) if self.normalized else symbols.labels)
        absent = self.pattern.absent(known, symbols.word_numbers)
        return replace(self._found(path, forest), is_file=True, n_trees=len(forest), known=known, absent=absent)

    def _found(self, path: Path, forest: Forest) -> FileResult:
        if self.writer is not None:
            writer, matches = self.writer, self.pattern.search(forest, every=self.every)
            if forest.places is not None:  # the file's numbers of the trees, because the forest may omit some
                matches = (match._replace(number=forest.place(match.number)) for match in matches)
            return FileResult(writer(path, match) for match in matches)
        if not self.by_label:
            return FileResult(count=self.pattern.count(forest))
        category = str if self.raw_labels else bare_label
        matches = self.pattern.search(forest)
        labels = Counter(one.node.words[0] if one.is_word else category(one.node.label) for one in matches)
        return FileResult(labels=labels)


@dataclass
class FileResult:
    """What was found in a file; `lines` may be found while they are read; words count under their own text."""

    lines: Iterable[str] = ()
    labels: Counter[str] = field(default_factory=Counter)
    count: int = 0
    n_trees: int = 0
    skipped: SkipLog = field(default_factory=SkipLog)
    is_file: bool = False  # not only what was skipped
    known: frozenset[str] = frozenset()  # the labels of its trees, and of those before it in the same process
    absent: Set[str] = frozenset()  # those of the pattern that are not among them

    def add(self, other: FileResult) -> None:
        """Add what was found in another file, without its lines."""
        self.labels.update(other.labels)
        self.skipped.update(other.skipped)
        self.count, self.n_trees = self.count + other.count, self.n_trees + other.n_trees
        self.known |= other.known
        if other.is_file:
            self.absent, self.is_file = other.absent & self.absent if self.is_file else other.absent, True


HitWriter = Callable[[Path, Match], str]
"""Formats a match in a file, without a final newline."""

_LEAST = 8  # characters of context, and of a match, however narrow the terminal is


def kwic(width: int, n_words: int | None, names: int, path: Path, match: Match) -> str:
    """Return a match as keyword in context: the number of the tree, the words before the match, the match, the rest.

    width: the width of a line; with `n_words`, the context has this many words on either side, whatever the width.
    names: the number of characters for file names; 0: do not show them.
    """
    place = f"{path.name}:{match.number + 1}" if names else f"{match.number + 1}"
    place = f"{place:<{names + 6}}"
    node = match.node  # without traces around it
    before, behind = _words(node, 0, node.start), _words(node, node.end, len(node.arrays.words))
    inside = _words(node, node.start, node.end) or list(node.words)
    middle = f"[{' '.join(inside if match.is_word else [node.label, *inside])}]"
    if n_words is not None:
        return " ".join([place, *before[max(len(before) - n_words, 0) :], middle, *behind[:n_words]])
    room = max(width - len(place) - 3, 4 * _LEAST)
    before_width = room // 3
    most = room - before_width - _LEAST
    if columns(middle) > most:  # dots in place of words in the middle
        half, words = (most - 5) // 2, middle.split(" ")
        begin, end = " ".join(_fitting(words, half)), " ".join(_fitting(words[::-1], half)[::-1])
        middle = f"{begin or middle[:half]} ... {end or middle[-half:]}"
    left = " ".join(_fitting(before[::-1], before_width)[::-1])
    right = " ".join(_fitting(behind, room - before_width - columns(middle)))
    return f"{place} {' ' * (before_width - columns(left))}{left} {middle} {right}".rstrip()


def tree_lines(width: int, path: Path, match: Match) -> str:
    """Return a comment with the position and the named nodes, the tree on indented lines, and an empty line."""
    named = "".join(f"  {name}={node}" for name, node in match.groups.items())
    return f"# {path.name}:{match.number + 1}{named}\n{match.node.to_string(width=width)}\n"


def json_line(path: Path, match: Match) -> str:
    """Return a match as a JSON object on one line."""
    content = {"file": str(path), "number": match.number + 1, **_described(match.node), "is_word": match.is_word}
    content["groups"] = {name: _described(node) for name, node in match.groups.items()}
    return srsly.json_dumps(content)


def label_table(counts: Counter[str]) -> Iterator[str]:
    """Yield the lines of a table: labels, most frequent first, with numbers and percentages, and the total."""
    total = counts.total()
    width = max(map(len, ("total", *counts)))
    for label, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"{label:<{width}} {count:>10,} {100 * count / total:>6.2f} %"
    yield f"{'total':<{width}} {total:>10,}"


def _described(node: Tree) -> dict[str, object]:
    text = " ".join(_words(node, node.start, node.end))
    return {"label": node.label, "start": node.start, "end": node.end, "text": text, "tree": str(node)}


def _words(node: Tree, start: int, end: int) -> list[str]:
    """Return the words from `start` to `end` of the whole tree that are not traces."""
    arrays = node.arrays
    places = zip(arrays.words[start:end], arrays.leaves[start:end], strict=True)
    return [word for word, leaf in places if arrays.labels[leaf] != TRACE_TAG]


def _fitting(words: list[str], width: int) -> list[str]:
    """Return the longest prefix of the words that fits into a width when joined by spaces."""
    taken, length = [], -1
    for word in words:
        length += 1 + columns(word)
        if length > width:
            break
        taken.append(word)
    return taken
