"""The `search` command: find the nodes that match patterns in files of trees."""

from __future__ import annotations

import json
import re
import shutil
import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from heapq import merge
from itertools import groupby, islice
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple

import srsly
from typer import Argument, Option, echo

from spacy_incparse.cli.options import (
    keep_inputs,
    one_of,
    output_option,
    progress_bar,
    takes,
    write_lines,
)
from spacy_incparse.documents.rows import PARQUET, annotated_format, read_rows, sentence_files
from spacy_incparse.errors import IncparseError, PatternError, TreebankError
from spacy_incparse.files import STDIN, named_paths
from spacy_incparse.patterns import Match, Pattern
from spacy_incparse.patterns.bounded_regex import bounded_regex
from spacy_incparse.patterns.syntax import Atom
from spacy_incparse.treebanks.bracket_scanner import BracketReader, normalized
from spacy_incparse.treebanks.dialects import Dialect, Dialects, find_dialect
from spacy_incparse.treebanks.formats import sentences_of_text
from spacy_incparse.treebanks.reader import (
    FAILED,
    LOOKED_FOR,
    SkipLog,
    expanded,
    files_in,
    forest_of,
    read_brackets,
    read_text,
)
from spacy_incparse.trees.brackets import skip_blank
from spacy_incparse.trees.forest import Forest, Symbols
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.labels import TRACE_TAG, bare_label, label_problem
from spacy_incparse.trees.tree import Tree
from spacy_incparse.viz.blocks import columns
from spacy_incparse.workers import run_in_order

BY = ("label", "word", "file", "document", "pattern")
"""What hits can be counted by, besides the named nodes."""


@takes(
    arguments=Argument(
        metavar="[PATTERN] FILE...",
        help="The pattern (docs/search.md); bracket, .spacy, .parquet and .jsonl files, folders, globs, or -.",
    ),
    patterns=Option("--pattern", "-e", metavar="[NAME: ]PATTERN", help="One of several; all arguments are files."),
    pattern_file=Option("--patterns", metavar="FILE", help="A file of patterns, each on a line, as for -e."),
    normalize=Option("--normalize", help="Remove functions, traces and wrappers from trees of bracket files first."),
    raw_labels=Option("--raw-labels", help="A label such as NP does not match NP-SBJ."),
    heads=Option("--heads", metavar="NAME|FILE.json", help="Head rules for relations with '#': en, any, ..."),
    format_=one_of(
        "kwic tree json tsv spans", "--format", "-f",
        help="Keyword in context, the default, trees, JSON lines, a table, or sentences with spans, to annotate.",
    ),
    template=Option("--template", metavar="TEXT", help="A line for each hit, with columns as in '{label}\\t{text}'."),
    context=Option("--context", "-c", min=0, metavar="N", help="Words on either side. Default: as many as fit."),
    every=Option("--every", help="One hit for each way to assign the pattern's names."),
    whole=Option("--whole", help="Each tree with a hit is one hit, as a whole."),
    limit=Option("--limit", "-n", min=1, metavar="N", help="Stop after N hits."),
    timeout=Option("--timeout", min=0, metavar="SECONDS", help="Time limit for regular expressions, per file."),
    count=Option("--count", help="Print only the number of hits."),
    by=Option("--by", metavar=f"{'|'.join(BY)}|NAME", help="Count hits, also per million words; NAME: by its words."),
    by_label=Option("--by-label", help="The same as --by label."),
    n_process=Option("--n-process", min=1, metavar="N", help="Files searched at once."),
    output=output_option("FILE", "Write to this file instead of standard output."),
)  # fmt: skip
def search_command(
    arguments: list[str], patterns: list[str] | None = None, pattern_file: Path | None = None, normalize: bool = False,
    raw_labels: bool = False, heads: str = "en", format_: str | None = None, template: str | None = None,
    context: int | None = None, every: bool = False, whole: bool = False, limit: int | None = None, timeout: float = 60,
    count: bool = False, by: str | None = None, by_label: bool = False, n_process: int = 1, skip_bad: bool = False,
    no_tags: bool = False, dialect: str | None = None, output: Path | None = None,
) -> None:  # fmt: skip
    """Search trees with Tregex patterns.

    Bracket files may be gzipped, and their trees are searched without normalization; Parquet files are those of
    `annotate`, and JSON lines also those of `parse`. Patterns do not distinguish words from labels: NN < pumpkin finds
    the noun.

    \b
    Examples:
      spacy-incparse search "NP < (NN=head $.. PP)" wsj/
      spacy-incparse search "NP < (NN=head $.. PP)" wsj/ --by head
      spacy-incparse search "VP << /^NP-TMP/" train.mrg --format tree -n 5
      spacy-incparse search "NP" parsed/ --format spans --output to-annotate.jsonl
      spacy-incparse search "SBAR > NP" parsed/ --n-process 4 --format tsv --output clauses.tsv
      spacy-incparse search -e "relative: SBAR > NP" -e "adverbial: SBAR > VP|S" parsed/ --by document
    """
    if patterns is None and pattern_file is None:
        patterns, arguments = arguments[:1], arguments[1:]
    if not arguments:
        raise IncparseError("Missing argument 'FILE...': name files, folders or globs to search, or - for a pipe")
    compiled = named_patterns(
        patterns or (), pattern_file, raw_labels=raw_labels, heads=HeadRules.find(heads), timeout=timeout
    )
    names = list(dict.fromkeys(name for pattern in compiled.values() for name in pattern.names))
    by = "label" if by_label else by and by.removeprefix("=")
    if (count or by) and (limit or every or format_ not in (None, "tsv") or context is not None or (count and by)):
        raise IncparseError("--count, --by and --by-label exclude each other, --limit, --every, --context and --format")
    if template is not None and (count or by or format_):
        raise IncparseError("--template excludes --format, --count, --by and --by-label")
    if by and by not in (*BY, *names):
        raise IncparseError(f"--by {by}: choose one of {', '.join((*BY, *names))}: the pattern has no other names")
    if context is not None and format_ not in (None, "kwic", "tsv"):
        raise IncparseError(f"--context is for --format kwic and tsv, not for {format_}")
    files = [file for path in arguments for file in expand_path(path)]
    keep_inputs(output, *files)
    n_columns = max(len(path.name) for path in files) if len(files) > 1 else 0
    header = [*COLUMNS, *(f"{name}_node" if name in COLUMNS else name for name in names)]
    writers: dict[str, Callable[[Iterable[Hit]], Iterable[str]]] = {
        "kwic": partial(map, partial(kwic, shutil.get_terminal_size().columns, context, n_columns, len(compiled) > 1)),
        "tree": partial(map, partial(tree_lines, shutil.get_terminal_size().columns)),
        "json": partial(map, json_line),
        "tsv": partial(map, partial(tsv_line, context, names)),
        "spans": partial(span_lines, len(compiled) > 1),
    }
    filler = None if template is None else partial(filled, read_template(template, header), context, names, header)
    writer = filler or writers[format_ or "kwic"]
    search = FileSearch(
        compiled, None if count or by else writer, by or ("pattern" if len(compiled) > 1 else ""),
        raw_labels, every, whole, limit, normalized=normalize, skip_bad=skip_bad, tags=not no_tags,
        dialect=None if dialect is None else find_dialect(dialect),
    )  # fmt: skip
    is_shown = search.writer is None or output is not None or not sys.stdout.isatty()
    with progress_bar(is_shown=is_shown, total=len(files), unit=" files") as progress:
        write_lines(output, search.lines(files, n_process, header if format_ == "tsv" else (), progress.update))


_NAMED = re.compile(r"([\w-]+):\s+(\S.*)")


def named_patterns(given: Sequence[str], file: Path | None, **options: Any) -> dict[str, Pattern]:
    """Return the patterns of a command and of a file, by their names; one without a name is its own name.

    options: those of `patterns.compile`. Raises IncparseError, with the line, for a mistake in a pattern.
    """
    # Imported here, so that the other commands start faster.
    from spacy_incparse.patterns import compile

    lines = [("", pattern) for pattern in given]
    for number, line in enumerate([] if file is None else read_text(file).split("\n"), start=1):
        if line.strip() and not line.startswith("#"):
            lines.append((f"{file}:{number}: ", line.strip()))
    found: dict[str, Pattern] = {}
    for place, line in lines:
        named = _NAMED.fullmatch(line)
        name, pattern = named.groups() if named else (line, line)
        if name in found:
            raise IncparseError(f"{place}there are two patterns with the name {name!r}: give them two")
        try:
            found[name] = compile(pattern, **options)
        except PatternError as error:
            raise IncparseError(f"{place}{error}") from None
    if not found:
        raise IncparseError(f"{file}: there is no pattern in it: write one on each line, as in 'relative: SBAR > NP'")
    return found


DOCBIN, JSON_LINES = ".spacy", (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".json", ".json.gz")
_NO_TREES = "expected an object with trees, as `annotate --format jsonl` and `parse --format json` write them"
_DOCUMENTS = "documents"  # the folder of `annotate` with the files that have trees


def expand_path(path: str) -> list[Path]:
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


class Origin(NamedTuple):
    """Where a tree is from: its number in the file, from 1, and what the file says of its sentence."""

    number: int
    id: str | None = None  # of the sentence
    document: str | None = None  # its id
    sentence: int | None = None  # its number in the document, as in the file
    start: int | None = None  # its first character in the document
    text: str | None = None  # as it was written
    source: str | None = None  # how its tree was found; "flat" if the parser failed


_COMMENT = re.compile(
    r"^#[ \t]*(?:sent_id\s*=\s*(.+)|sent (\S+) parse .*|(?:newdoc id\s*=|document \d+)\s*(.+))$", re.MULTILINE
)


_Row = tuple[int, Tree | str | None, Origin]
"""The number of a line, and a tree on it with its origin; "" for a failed parse, None for what is no tree."""


def read_forest(
    path: Path, reader: BracketReader, skip_bad: SkipLog | None, needs_origins: bool, needs_tokens: bool = False,
    dialects: Dialects | None = None, failed: str = "", **options: Any,
) -> tuple[Forest, Sequence[Origin]]:  # fmt: skip
    """Return the trees of a file of any kind, each with its origin; options: of `forest_of` for bracket files.

    failed: the brackets of a tree for each sentence without one, or that could not be parsed; "": there is none.
    """
    rows: Iterable[_Row]
    if path.suffix == DOCBIN:
        rows = _docbin_rows(path, needs_tokens, bool(failed))
    elif path.suffix == PARQUET:
        more = ("id", "sentence", "start", "text", "source") if needs_origins else ()
        found = enumerate(read_rows(path, ["brackets"], *more), start=1)
        rows = ((k, row["brackets"], _origin(row, row.get("id"))) for k, row in found if row["brackets"])
    else:
        is_json, dialects = path.name.endswith(JSON_LINES), dialects or Dialects()
        dialects.skips = skip_bad is not None
        text = read_text(path) if is_json else read_brackets(path, dialects, tags=options.get("tags", True))
        if (others := sentences_of_text(text, path, skip_bad)) is not None:
            forest, numbered = Forest(symbols=reader.symbols), list[Origin]()
            for one in others:
                forest.add(one.tree)
                numbered.append(Origin(len(forest) + (skip_bad.n_trees if skip_bad else 0), one.id))
            forest = normalized(forest) if options.get("is_normalized") else forest
            return forest, [numbered[forest.place(k)] for k in range(len(forest))]
        text = FAILED.sub(failed, text) if failed and FAILED.search(text) else text
        if not (is_json or (path == STDIN and text.lstrip().startswith("{"))):
            options["dialects"] = dialects
            comments = _COMMENT.finditer(text) if needs_origins else ()
            return _bracket_trees(text, path, list(comments), reader=reader, skip_bad=skip_bad, **options)
        lines = enumerate(text.split("\n"), start=1)
        rows = ((number, *one) for number, line in lines if line.strip() for one in _json_sentences(line))
    forest, origins = Forest(symbols=reader.symbols), list[Origin]()
    for number, (line_number, given, origin) in enumerate(rows, start=1):
        n_before, problem = len(forest), _NO_TREES if given is None else ""
        given = failed if failed and (given == "" or origin.source == "flat") else given
        if isinstance(given, Tree):
            forest.add(given)
        elif given and (reader.read(given.encode(), forest) < 0 or len(forest) > n_before + 1):
            if len(forest) > n_before:
                forest = Forest(map(forest.tree, range(n_before)), symbols=reader.symbols)
            try:
                forest.add(Tree.from_string(given))  # it has a message for each mistake
            except TreebankError as error:
                problem = f"a tree of this line is damaged: {error.problem}"
        if problem:
            bad = TreebankError(path, line_number, 1, problem)
            if skip_bad is None:
                raise bad
            skip_bad.add(bad, is_tree=True)
        if len(forest) > n_before:
            origins.append(origin._replace(number=number))
    return forest, origins


def _bracket_trees(
    text: str, path: Path, comments: list[re.Match[str]], **options: Any
) -> tuple[Forest, Sequence[Origin]]:
    """Return the trees of a bracket file, with the ids in its comments: of the sentence below, and of documents."""
    if not comments:
        forest = forest_of(text, path, **options)
        return forest, [Origin(forest.place(k) + 1) for k in range(len(forest))]
    positions: dict[int, int] = {}
    forest, known = forest_of(text, path, positions=positions, **options), dict[int, Origin]()
    comments.reverse()
    document, sentence = None, None
    for number, position in positions.items():
        own = None
        while comments and comments[-1].start() < position:
            comment = comments.pop()
            if comment[3]:
                document, sentence = comment[3].strip(), 0
            elif skip_blank(text, comment.end()) == position:  # and not the id of a tree that was skipped
                own = comment[comment.lastindex or 0].strip()
        known[number] = Origin(number + 1, own, document, sentence)
        sentence = None if sentence is None else sentence + 1
    return forest, [known[forest.place(k)] for k in range(len(forest))]


def _json_sentences(line: str) -> list[tuple[str | None, Origin]]:
    """Return the sentences of an object: of a document of `annotate`, or the one of `parse`."""
    try:
        row = json.loads(line)
        if "tree" in row:
            document = f"paragraph {row['paragraph']}" if "paragraph" in row else None
            tree = "" if row["tree"] is None else row["tree"]
            found = [(tree, _origin(row, document)._replace(sentence=row.get("sent")))]
        else:
            found = [(one["brackets"], _origin(one, row.get("id"), row.get("meta"))) for one in row["sentences"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        found = [(None, Origin(0))]
    return [(brackets if isinstance(brackets, str) else None, origin) for brackets, origin in found]


def _docbin_rows(path: Path, needs_tokens: bool, keeps_failed: bool) -> Iterator[_Row]:
    # Imported here, so that searching bracket files does not need spaCy and starts quickly.
    from spacy.lang.xx import MultiLanguage
    from spacy.vocab import create_vocab

    from spacy_incparse.documents.complexity import sentence_trees
    from spacy_incparse.documents.doc_tree import DocTree
    from spacy_incparse.documents.storage import anchored_trees
    from spacy_incparse.pipeline.registered import read_docbin

    vocab = create_vocab("xx", MultiLanguage.Defaults)  # an empty one does not know what whitespace is
    for doc in read_docbin(path, vocab):
        found: list[tuple[Tree | str, dict[str, Any]]] = []
        meta = json.loads(str(doc.user_data.get("meta", "{}")))
        if keeps_failed:
            found = [(tree or "", {}) for tree in sentence_trees(doc)]
        for one in () if keeps_failed else anchored_trees(doc):
            tree = DocTree(doc, one) if needs_tokens else one.tree.with_empties()
            found.append((tree, {"start": one.start_char, "text": one.text}))
        for number, (given, row) in enumerate(found):
            yield 1, given, _origin({"sentence": number, **row}, doc.user_data.get("id"), meta)


def _origin(sentence: Mapping[str, Any], document: Any, meta: Any = None) -> Origin:
    """Return what an object or a row says of its sentence, and `meta`, the document's other fields, of its id."""
    ids = meta.get("sent_ids") if isinstance(meta, dict) else None
    own = sentence.get("sent_id", sentence.get("id") if "tree" in sentence else None)
    own = ids[sentence["sentence"]] if ids else own
    own, document = (name if name is None else str(name) for name in (own, document))
    return Origin(0, own, document, *map(sentence.get, Origin._fields[3:]))


class Hit(NamedTuple):
    """A match of a pattern in a file, and where its tree is from."""

    path: Path
    pattern: str  # its name
    match: Match
    origin: Origin

    @property
    def id(self) -> str | None:
        """The id of the sentence, from a comment, or from a node ID below the root."""
        own = (child.words[0] for child in self.match.node.root.children if child.label == "ID" and child.is_leaf)
        return self.origin.id or next(own, None)

    def chars(self, node: Tree) -> tuple[int, int] | None:
        """Return the characters of a node in the text of the sentence; None if that is unknown or has other words."""
        text, start, place, arrays = self.origin.text, None, 0, node.arrays
        for k, word in enumerate(arrays.words[: node.end]):
            if text is None or arrays.labels[arrays.leaves[k]] == TRACE_TAG:
                continue
            found = text.find(word, place)
            if found < 0:
                return None
            start, place = found if start is None and k >= node.start else start, found + len(word)
        return None if start is None else (start, place)

    def context(self, n_words: int | None = None) -> tuple[list[str], list[str], list[str]]:
        """Return n words, or all, before the node, those in it, and n after it: as written, if known."""
        node, chars, text = self.match.node, self.chars(self.match.node), self.origin.text
        if chars and text is not None:
            before, inside, after = text[: chars[0]].split(), text[slice(*chars)].split(), text[chars[1] :].split()
        else:
            before, after = _words(node, 0, node.start), _words(node, node.end, len(node.arrays.words))
            inside = _words(node, node.start, node.end) or list(node.words)
        return before if n_words is None else before[max(len(before) - n_words, 0) :], inside, after[:n_words]

    def described(self, node: Tree) -> dict[str, Any]:
        """Return label, words and brackets of a node, its characters in the document, and its text as written."""
        chars, first = self.chars(node), self.origin.start or 0
        return {
            "label": node.label, "start": node.start, "end": node.end,
            "start_char": chars and first + chars[0], "end_char": chars and first + chars[1],
            "text": " ".join(_words(node, node.start, node.end)),
            "written": chars and (self.origin.text or "")[slice(*chars)], "tree": str(node),
        }  # fmt: skip

    def row(self, n_words: int | None = None) -> dict[str, Any]:
        """Return the values of `COLUMNS`, as far as they are known; the context has n words on either side, or all."""
        (before, _, after), (number, _, document, sentence, *_) = self.context(n_words), self.origin
        place = str(self.path), number, self.id, document, sentence, self.pattern
        context = {"before": " ".join(before), "after": " ".join(after)}
        return dict(zip(COLUMNS, place, strict=False)) | self.described(self.match.node) | context


COLUMNS = (
    "file", "number", "id", "document", "sentence", "pattern", "label", "start", "end", "start_char", "end_char",
    "text", "written", "tree", "before", "after",
)  # fmt: skip


@dataclass(frozen=True)
class FileSearch:
    """What to do with each file: write hits with `writer`, without newlines, or else count them, as `by` says."""

    patterns: Mapping[str, Pattern]
    writer: Callable[[Iterable[Hit]], Iterable[str]] | None = None
    by: str = ""  # "": count all of them; otherwise also count words
    raw_labels: bool = False
    every: bool = False
    whole: bool = False
    limit: int | None = None
    normalized: bool = False
    skip_bad: bool = False
    tags: bool = True
    dialect: Dialect | None = None

    def lines(
        self, files: Sequence[Path], n_process: int, header: Sequence[str], on_file: Callable[[int], object]
    ) -> Iterator[str]:
        """Yield what the command writes: the hits in files, or their counts; with a header, as a table.

        Then warn of labels that no file has, and list what was skipped, on standard error.
        """
        total, n_left = FileResult(), self.limit
        n_workers = 1 if STDIN in files else min(n_process, max(len(files), 1))  # other processes do not have it
        if header and self.writer:
            yield "\t".join(header)
        for _, result in run_in_order(partial(self.searcher, is_alone=n_workers == 1), files, n_workers):
            for line in islice(result.lines, n_left):
                yield line
                n_left = None if n_left is None else n_left - 1
            total.add(result)
            on_file(1)
            if n_left == 0:
                break
        problems = (
            (f"nothing here fits {one}" if n_left != 0 else None)
            if one.startswith("/")
            else label_problem(one, total.known, are_all=n_left != 0)
            for one in sorted(total.absent)
        )
        for problem in filter(None, problems):
            echo(f"Warning: {problem}", err=True)
        if self.writer is None:
            is_table, n_found = bool(self.by), str(total.counts.total())
            yield from count_table(self.by, total.counts, total.words, bool(header)) if is_table else [n_found]
        total.dialects.report(partial(echo, err=True))
        if self.skip_bad:
            echo(str(total.skipped), err=True)
            if total.skipped and not total.n_trees:
                raise IncparseError(f"{total.skipped.entries[0].path}: no tree is left without the malformed ones")

    def searcher(self, *, is_alone: bool) -> Callable[[Path], FileResult]:
        """Return a function that searches a file; unless it `is_alone` in its process, it looks for hits at once."""
        reader, dialects = BracketReader(Symbols()), Dialects(self.dialect)
        regexes, n_words = set[Atom](), 0  # that nothing has fitted yet, and how many words were tried
        for pattern in self.patterns.values():
            pattern.doubtful.clear()  # warnings about labels are those of the command, which sees all files
            regexes |= pattern.regexes

        def search_file(path: Path) -> FileResult:
            nonlocal n_words
            found, needs_origins = FileResult(), self.writer is not None or self.by == "document"
            options: dict[str, Any] = {"is_normalized": self.normalized, "tags": self.tags}
            log = found.skipped if self.skip_bad else None
            needs_tokens = any(pattern.asks_for_tokens for pattern in self.patterns.values())
            forest, origins = read_forest(path, reader, log, needs_origins, needs_tokens, dialects, **options)
            found.dialects.add(dialects)
            symbols = forest.symbols  # a normalized forest has those of the published trees, too
            found.n_trees = len(forest)
            found.known = frozenset(map(bare_label, symbols.labels) if self.normalized else symbols.labels)
            for pattern in self.patterns.values():
                found.absent |= pattern.absent(found.known, symbols.word_numbers)
            for one in list(regexes):
                fits = bounded_regex(one.text, one.ignores_case).search
                if any(map(fits, found.known)) or any(map(fits, symbols.words[n_words:])):
                    regexes.remove(one)
            n_words = len(symbols.words)
            found.absent |= {f"/{one.text}/" for one in regexes}
            if self.writer is None:
                self._count(found, path, forest, origins)
            else:
                lines = self.writer(self._hits(path, forest, origins))
                found.lines = lines if is_alone else list(islice(lines, self.limit))
            return found

        return search_file

    def _hits(self, path: Path, forest: Forest, origins: Sequence[Origin]) -> Iterator[Hit]:
        """Yield the hits of all patterns, tree by tree."""

        def hits_of(name: str, pattern: Pattern) -> Iterator[Hit]:
            found = pattern.search(forest, every=self.every)
            if self.whole:
                first = (next(group) for _, group in groupby(found, key=lambda match: match.number))
                found = (match._replace(node=match.node.root, is_word=False) for match in first)
            for match in found:
                yield Hit(path, name, match, origins[match.number])

        return merge(*map(hits_of, self.patterns, self.patterns.values()), key=lambda hit: hit.match.number)

    def _count(self, found: FileResult, path: Path, forest: Forest, origins: Sequence[Origin]) -> None:
        if self.by in ("", "pattern") and not self.whole:
            found.counts.update({name: pattern.count(forest) for name, pattern in self.patterns.items()})
        else:
            found.counts.update(map(self._key, self._hits(path, forest, origins)))
        if self.by == "document":
            for tree, origin in zip(forest, origins, strict=True):
                found.words[origin.document or str(path)] += len(tree.arrays.overt)
        elif self.by:
            # Imported here, so that the other commands start faster.
            from spacy_incparse.patterns import compile

            found.words[str(path) if self.by == "file" else ""] = compile("__ !< __ !> /^-NONE-$/").count(forest)

    def _key(self, hit: Hit) -> str:
        """Return what a hit counts under: words under their own text."""
        path, pattern, match, origin = hit
        if self.by == "label" and not match.is_word:
            return match.node.label if self.raw_labels else bare_label(match.node.label)
        if self.by in ("", "file", "document", "pattern"):
            return {"document": origin.document or str(path), "pattern": pattern}.get(self.by, str(path))
        node = match.node if self.by in BY else match.groups.get(self.by)
        return " ".join(_words(node, node.start, node.end) or node.words) if node else "(none)"


@dataclass
class FileResult:
    """What was found in a file; `lines` may be found while they are read."""

    lines: Iterable[str] = ()
    counts: Counter[str] = field(default_factory=Counter)
    n_trees: int = 0
    words: Counter[str] = field(default_factory=Counter)  # searched: by file or document, or all of them under ""
    skipped: SkipLog = field(default_factory=SkipLog)
    known: frozenset[str] = frozenset()  # the labels of its trees, and of those before it in the same process
    absent: Set[str] = frozenset()  # those of the patterns that are not among them
    dialects: Dialects = field(default_factory=Dialects)  # what was read

    def add(self, other: FileResult) -> None:
        """Add what was found in another file, without its lines."""
        self.counts.update(other.counts)
        self.words.update(other.words)
        self.skipped.update(other.skipped)
        self.n_trees += other.n_trees
        self.dialects.add(other.dialects)
        if other.known:  # not an empty file
            self.absent = other.absent & self.absent if self.known else other.absent
        self.known |= other.known


_LEAST = 8  # characters of context, and of a match, however narrow the terminal is


def kwic(width: int, n_words: int | None, names: int, shows_pattern: bool, hit: Hit) -> str:
    """Return a hit as keyword in context: where it is, the words before it, the hit, the rest.

    Where it is: the id of its sentence or its document, with characters; otherwise the number of the tree in its file.
    width: the width of a line; with `n_words`, the context has this many words on either side, whatever the width.
    names: the number of characters for file names; 0: do not show them.
    """
    (before, inside, behind), node, origin = hit.context(n_words), hit.match.node, hit.origin
    place = f"{hit.path.name}:{origin.number}" if names else str(origin.number)
    if (own := hit.id) or origin.document:
        place, chars, first = own or f"{origin.document}:{origin.sentence}", hit.chars(node), origin.start or 0
        place += f":{first + chars[0]}-{first + chars[1]}" if chars else ""
    place = f"{place:<{names + 6}}" + (f" {hit.pattern}:" if shows_pattern else "")
    middle = f"[{' '.join(inside if hit.match.is_word or not node.label else [node.label, *inside])}]"
    if n_words is not None:
        return " ".join([place, *before, middle, *behind])
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


def tree_lines(width: int, hit: Hit) -> str:
    """Return a comment with the position and the named nodes, the tree on indented lines, and an empty line."""
    named = "".join(f"  {name}={node}" for name, node in hit.match.groups.items())
    place = f"# sent_id = {hit.id}\n" if hit.id else ""
    return f"# {hit.path.name}:{hit.origin.number}{named}\n{place}{hit.match.node.to_string(width=width)}\n"


def json_line(hit: Hit) -> str:
    """Return a hit as a JSON object on one line, with its sentence."""
    root, groups = hit.match.node.root, {name: hit.described(node) for name, node in hit.match.groups.items()}
    text = hit.origin.text or " ".join(_words(root, 0, root.end))
    sentence = {"sentence_text": text, "sentence_tree": str(root), "tokens": list(root.words)}
    return srsly.json_dumps({**hit.row(), "is_word": hit.match.is_word, "groups": groups, **sentence})


def span_lines(by_pattern: bool, hits: Iterable[Hit]) -> Iterator[str]:
    """Yield a JSON object for each sentence with hits: its text, and spans with characters and labels, as for Prodigy.

    The label of a hit is the name of its pattern if there are several, and else its category; named nodes have their
    names. Traces are left out.
    """
    for _, group in groupby(hits, key=lambda hit: hit.match.number):
        first, *others = group
        root, spans = first.match.node.root, dict[tuple[int, int, str], None]()
        text = first.origin.text if first.chars(root) else None  # as it was written
        for hit in (first, *others):
            label = hit.pattern if by_pattern else bare_label(hit.match.node.label)
            for name, node in [(label, hit.match.node), *hit.match.groups.items()]:
                before, inside = (len(" ".join(_words(root, *of))) for of in ((0, node.start), (node.start, node.end)))
                start = before + bool(before)
                chars = (start, start + inside) if text is None else hit.chars(node)
                if inside and chars:
                    spans[chars[0], chars[1], name] = None
        shown = [{"start": start, "end": end, "label": label} for start, end, label in spans]
        place = ("file", "number", "id", "document", "sentence")
        meta = {key: value for key, value in first.row().items() if key in place and value is not None}
        meta |= {} if first.origin.start is None else {"start_char": first.origin.start}
        text = " ".join(_words(root, 0, root.end)) if text is None else text
        if shown:
            yield srsly.json_dumps({"text": text, "spans": shown, "meta": meta})


def read_template(text: str, header: Sequence[str]) -> str:
    """Return the template in an option. Raises IncparseError if it is not one, or names no column."""
    try:
        named = [name for _, name, _, _ in Formatter().parse(text) if name is not None]
    except ValueError as error:
        raise IncparseError(f"--template {text!r}: {error}; write {{{{ and }}}} for braces") from None
    known = ("hit", *header)
    if absent := [name for name in named if name not in known]:
        raise IncparseError(f"--template {text!r}: there is no {{{absent[0]}}}: choose from {', '.join(known)}")
    return text.replace("\\t", "\t").replace("\\n", "\n")


def filled(
    template: str, n_words: int | None, names: Sequence[str], header: Sequence[str], hits: Iterable[Hit]
) -> Iterator[str]:
    """Yield the template with the cells of each hit of a file, and its number, from 1, as `hit`."""
    for number, hit in enumerate(hits, start=1):
        cells = tsv_line(n_words, names, hit).split("\t")
        yield template.format_map({"hit": str(number)} | dict(zip(header, cells, strict=True)))


def tsv_line(n_words: int | None, names: Sequence[str], hit: Hit) -> str:
    """Return a hit as the cells of `COLUMNS` and the texts of the named nodes, separated by tabs."""
    nodes = (hit.match.groups.get(name) for name in names)
    described = (node and hit.described(node) for node in nodes)
    cells = [*hit.row(n_words).values(), *(one and (one["written"] or one["text"]) for one in described)]
    return "\t".join("" if cell is None else " ".join(str(cell).split()) for cell in cells)


def count_table(by: str, counts: Counter[str], words: Counter[str], is_tsv: bool) -> Iterator[str]:
    """Yield the lines of a table: what is counted, most frequent first, with percentages and hits per million words.

    Files and documents have their own numbers of words, and rows without hits.
    """
    own = by in ("file", "document")
    rows = sorted(((key, counts[key]) for key in (words if own else counts)), key=lambda row: (-row[1], row[0]))
    width = max(map(len, ("total", *(key for key, _ in rows))))
    if is_tsv:
        yield f"{by}\thits\twords\tper_million"
    for key, count in rows if is_tsv else [*rows, ("total", counts.total())]:
        n_words = words[key] if own and key in words else words.total()
        rate, percent = 1e6 * count / max(n_words, 1), 100 * count / max(counts.total(), 1)
        if is_tsv:
            yield f"{' '.join(key.split())}\t{count}\t{n_words}\t{rate:.2f}"
        else:
            yield f"{key:<{width}} {count:>10,} {percent:>6.2f} % {rate:>12,.1f} per million words"


def _words(node: Tree, start: int, end: int) -> list[str]:
    """Return the words from `start` to `end` of the whole tree that are not traces."""
    overt = node.arrays.overt
    return [node.arrays.words[i] for i in overt[bisect_left(overt, start) : bisect_left(overt, end)]]


def _fitting(words: list[str], width: int) -> list[str]:
    """Return the longest prefix of the words that fits into a width when joined by spaces."""
    taken, length = [], -1
    for word in words:
        length += 1 + columns(word)
        if length > width:
            break
        taken.append(word)
    return taken
