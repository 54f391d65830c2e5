"""Reading trees from Penn-style bracket files in all their variants."""

from __future__ import annotations

import codecs
import gzip
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, cast

from spacy_incparse.errors import ConfigError, IncparseError, TreebankError
from spacy_incparse.files import STDIN, gunzip, most_unpacked, named_paths, unix_lines
from spacy_incparse.treebanks import formats
from spacy_incparse.treebanks.bracket_scanner import (
    DROP_EMPTIES,
    MERGE_DOUBLED,
    ONE_TOP,
    STRIP_FUNCTIONS,
    BracketReader,
    normalized,
)
from spacy_incparse.treebanks.dialects import PENN, Dialect, Dialects, detect, places_of
from spacy_incparse.treebanks.formats import XML, TreeOfFile, format_of_text, sentences_of_file, sentences_of_text
from spacy_incparse.trees.brackets import (
    Layout,
    MalformedError,
    Places,
    TreeParser,
    count_words,
    label_at,
    located,
    skip_blank,
    without_backslashes,
)
from spacy_incparse.trees.empties import without_empties
from spacy_incparse.trees.forest import Forest, Symbols
from spacy_incparse.trees.labels import bare_label, function_tags
from spacy_incparse.trees.tree import Tree

Check = Callable[[Tree], "str | None"]
AnyDialect = str | Path | Dialect | Dialects | None


def read_treebank(
    paths: Path | str | Sequence[Path | str],
    *,
    skip_bad: SkipLog | None = None,
    steps: Sequence[Step] | None = None,
    check: Check | None = None,
    tags: bool = True,
    dialect: AnyDialect = None,
) -> list[Tree]:
    """Return the normalized trees of bracket files; trees that become empty are dropped.

    Arguments and errors are those of `read_trees`; `steps` replaces the standard normalization. check: returns the
    problem of a normalized tree, which then counts as malformed, or None.

    Files are read by the compiled scanner; a file that it does not understand is read again by the parser that has a
    message for each mistake. Labels are interpreted in normalize.py.
    """
    trees, dialects = list[Tree](), Dialects.of(dialect)
    for path in treebank_files(paths):
        text = read_brackets(path, dialects, tags=tags)
        forest = scanned(text, path, Symbols(), dialects=dialects) if tags else None
        found: list[Tree] | None = None
        if forest is not None and steps is None:
            found = list(normalized(forest))
        elif forest is not None:
            found = [tree for raw in forest if (tree := normalize(raw, steps)) is not None]
        if found is None or (check and any(map(check, found))):
            found = list(_checked_trees(text, path, skip_bad, steps, check, tags))
        trees += found
    dialects.report()
    return trees


def read_trees(
    paths: Path | str | Sequence[Path | str], *, skip_bad: SkipLog | None = None, tags: bool = True,
    dialect: AnyDialect = None,
) -> Iterator[Tree]:  # fmt: skip
    """Yield the trees of bracket files as published, with raw words; a wrapper without a label has label "".

    paths: a file, a folder, a glob, or several of them; see `treebank_files`.
    skip_bad: a log of malformed trees, which are then skipped; reading goes on where their brackets close, or where
        another tree seems to begin.
    tags: whether the brackets have parts of speech. If not, each word gets a POS node X.
    dialect: its name, a TOML file, or a `Dialects`, which counts what is read; default: as each file looks.

    Raises TreebankError at a malformed tree, another format, a wrong encoding or a file without trees.
    """
    return (one.tree for one in read_sentences(paths, skip_bad=skip_bad, tags=tags, dialect=dialect))


def read_sentences(
    paths: Path | str | Sequence[Path | str],
    *,
    skip_bad: SkipLog | None = None,
    tags: bool = True,
    dialect: AnyDialect = None,
) -> Iterator[TreeOfFile]:
    """Yield the trees of `read_trees`, each with its id and whether its branches crossed, if the format says it.

    Files in other formats than brackets are read sentence by sentence.
    """
    dialects = Dialects.of(dialect)
    for path in treebank_files(paths):
        others = sentences_of_file(path, skip_bad)
        if others is None:
            text = read_brackets(path, dialects, tags=tags)
            others = sentences_of_text(text, path, skip_bad)
        yield from others or map(TreeOfFile, trees_of_text(text, path, skip_bad, tags, dialects))
    dialects.report()


def trees_of_text(text: str, path: Path, skip_bad: SkipLog | None, tags: bool, dialects: Dialects) -> Iterator[Tree]:
    """Yield the trees of a file's text as published. Errors are those of `read_trees`."""
    forest = scanned(text, path, Symbols(), dialects=dialects) if tags else None
    if forest is not None:
        return map(forest.tree, range(len(forest)))
    return (tree for tree, _ in trees_of_file(text, path, skip_bad=skip_bad, tags=tags))


def read_numbered_trees(
    paths: Path | str | Sequence[Path | str], *, skip_bad: SkipLog | None = None, tags: bool = True,
    dialect: AnyDialect = None,
) -> Iterator[tuple[int, Tree]]:  # fmt: skip
    """Yield the trees of `read_trees`, each with its number in the input, from 1; skipped trees are counted."""
    log = SkipLog() if skip_bad is None else skip_bad
    n_before = log.n_trees
    for number, tree in enumerate(read_trees(paths, skip_bad=skip_bad, tags=tags, dialect=dialect), start=1):
        yield number + log.n_trees - n_before, tree


_NO_TREE = r"\([ \t]*(?:TOP|ROOT|VROOT|S1)?[ \t]*"
FAILED = re.compile(rf"^[ \t]*{_NO_TREE}(?:{_NO_TREE}\)[ \t]*)?\)[ \t]*$", re.MULTILINE)
_FAILED_OR_BLANK = re.compile(rf"{FAILED.pattern}|^[ \t]*(?=\n)", re.MULTILINE)
NO_TREE, STAND_IN = "\ue000", "(\ue000 \ue000)"  # a label of no treebank, and its tree in place of a failed parse


def read_parses(
    path: Path | str, n_sentences: int, *, skip_bad: SkipLog | None = None, tags: bool = True,
    dialect: AnyDialect = None,
) -> dict[int, Tree | None]:  # fmt: skip
    """Return a parser's trees for a number of sentences, as published, by their number from 1; None if it failed.

    A line `()`, `(())` or `(TOP)` is a failed parse, and so are blank lines if the trees are too few without them, and
    just enough with them. Skipped trees are counted, but left out. Errors are as in `read_trees`.
    """
    dialects = Dialects.of(dialect)
    texts = [(file, read_brackets(file, dialects, tags=tags)) for file in treebank_files(path)]
    dialects.report()

    def read(no_tree: re.Pattern[str]) -> tuple[dict[int, Tree | None], SkipLog, int]:
        found, log = dict[int, Tree | None](), SkipLog()
        for file, text in texts:
            given = no_tree.sub(STAND_IN, text) if no_tree.search(text) and not format_of_text(text) else text
            for tree in trees_of_text(given, file, None if skip_bad is None else log, tags, dialects):
                found[len(found) + log.n_trees + 1] = None if tree.label == NO_TREE else tree
        return found, log, len(found) + log.n_trees

    found, log, n_found = read(FAILED)
    if n_found < n_sentences and (longer := read(_FAILED_OR_BLANK))[2] == n_sentences:
        found, log, _ = longer
    if skip_bad is not None:
        skip_bad.update(log)
    return found


def _checked_trees(
    text: str, path: Path, skip_bad: SkipLog | None, steps: Sequence[Step] | None, check: Check | None, tags: bool
) -> Iterator[Tree]:
    """Yield the normalized trees of a file that may have mistakes."""
    for published, place in trees_of_file(text, path, skip_bad=skip_bad, tags=tags):
        tree = normalize(published, steps)
        if tree is None:
            continue
        what = check(tree) if check else None
        if what is None:
            yield tree
        elif skip_bad is None:
            raise place.error(what)
        else:
            skip_bad.add(place.error(what), text[place.position : place.end], is_tree=True)


# A line may hold several trees, and a tree may span many lines, with or without a wrapper around each tree.
class Place(NamedTuple):
    """Where a tree begins and ends."""

    path: Path | str
    places: Places
    position: int
    end: int

    def error(self, what: str) -> TreebankError:
        """Return an error about the tree."""
        return TreebankError(self.path, *self.places.line_and_column(self.position), what)


def parse_bracketed(
    text: str, *, path: Path | str = "<string>", skip_bad: SkipLog | None = None, tags: bool = True
) -> Iterator[Tree]:
    """Yield the trees in a bracketed text; `path` is for messages. The rest is as for `read_trees`."""
    return (tree for tree, _ in _placed_trees(text, path, skip_bad, tags))


def trees_of_file(
    text: str, path: Path, *, skip_bad: SkipLog | None = None, tags: bool = True
) -> Iterator[tuple[Tree, Place]]:
    """Yield the trees in a file's text, each with its place. Also raises TreebankError if the file has no trees."""
    if (others := sentences_of_text(text, path, skip_bad)) is not None:
        places = Places(text)
        yield from ((one.tree, Place(path, places, *2 * [places.line_start(one.line)])) for one in others)
        return
    n_skipped, has_trees = len(skip_bad or ()), False
    for placed in _placed_trees(text, path, skip_bad, tags):
        has_trees = True
        yield placed
    if not has_trees and n_skipped == len(skip_bad or ()):
        error = TreebankError(path, 1, 1, "the file has no trees; expected '(' and a tree in Penn bracketing")
        if skip_bad is None:
            raise error
        skip_bad.add(error)


def _placed_trees(text: str, path: Path | str, skip_bad: SkipLog | None, tags: bool) -> Iterator[tuple[Tree, Place]]:
    """Yield the trees in a bracketed text, each with its place.

    With `skip_bad`, a tree waits until it is clear that it is no part of one before it with a bracket too many.
    """
    refuse_other_formats(text, path)
    places, text = places_of(text), without_backslashes(text)
    position, is_checked = skip_blank(text, 0), False
    parser, layout = TreeParser(text, tags=tags), Layout(text)
    # A tree that begins before this place must end before another seems to begin. A malformed tree was already read up
    # to here; without this limit, each of many unclosed trees would be read to the same place.
    tried = 0
    head, waiting = 0, list[tuple[Tree, Place]]()  # where a tree begins of which those waiting may be parts
    passed = 0  # if that tree is malformed, the end of what is skipped of it
    while position < len(text):
        is_tree = text[position] == "("
        try:
            arrays, after = parser.read(position, layout.end(position) if is_tree and position < tried else len(text))
        except MalformedError as bad:
            tried, after = max(tried, bad.end), layout.end(position)
            if is_tree and after <= bad.end:
                try:
                    parser.read(position, after)
                except MalformedError as unclosed:
                    bad = unclosed
            error = located(bad, places, path)
            if skip_bad is None:
                raise error from None
            others = (label_at(text, place.position) != label_at(text, head) for _, place in waiting)
            is_part = text[position] == ")" and ("(" in text[position:after] or any(others))
            if is_tree:
                yield from waiting
                skip_bad.add(error, text[position:after], is_tree=True)
                head, waiting, passed = position, [], after
            elif passed and (is_part or not (waiting or not layout.may_be_part(position, head))):
                skip_bad.pass_over(text[passed:after])
                waiting, passed = [], after
            elif is_part and waiting:
                skip_bad.add(error, text[head:after], is_tree=True)
                waiting, passed = [], after
            else:
                skip_bad.add(error, text[position:after])
            position = skip_blank(text, after)
            continue
        if not is_checked:
            refuse_discontinuous(arrays.words, text[after:].partition("\n")[0], path)
            is_checked = len(arrays.words) > 1
        if not ((waiting or passed) and layout.may_be_part(position, head)):
            layout.learn(position, after)
            yield from waiting
            head, waiting, passed = position, [], 0
        waiting.append((Tree(arrays), Place(path, places, position, after)))
        if skip_bad is None:
            yield waiting.pop()
        position = skip_blank(text, after)
    yield from waiting


def forest_of(
    text: str, path: Path, reader: BracketReader | None = None, *, skip_bad: SkipLog | None = None,
    is_normalized: bool = False, tags: bool = True, positions: dict[int, int] | None = None,
    dialects: Dialects | None = None,
) -> Forest:  # fmt: skip
    """Return the trees of a bracket file's text, the same as from `read_trees`: as published, or normalized.

    reader: one for several files, whose forests then share their symbols.
    positions: gets the position in the text of each tree, by its number from 0, which takes five times as long.
    """
    reader = reader or BracketReader(Symbols())
    forest = scanned(text, path, reader.symbols, reader, dialects) if tags and positions is None else None
    if forest is None:  # the other parser has a message for each mistake and can skip malformed trees
        forest, places = Forest(symbols=reader.symbols), []
        log = SkipLog() if skip_bad is None else skip_bad
        n_before = log.n_trees
        for number, (tree, place) in enumerate(trees_of_file(text, path, skip_bad=skip_bad, tags=tags)):
            forest.add(tree)
            places.append(number + log.n_trees - n_before)
            if positions is not None:
                positions[places[-1]] = place.position
        forest.places = places
    return normalized(forest) if is_normalized else forest


def scanned(
    text: str, path: Path, symbols: Symbols, reader: BracketReader | None = None, dialects: Dialects | None = None
) -> Forest | None:
    """Return the trees of a file's text as published; None for unexpected text, which other readers can explain.

    reader: one with these symbols, to reuse its cache. dialects: warns of what seems to be no tree.
    """
    if format_of_text(text):
        return None
    refuse_other_formats(text, path)
    forest = Forest(symbols=symbols)
    data = without_backslashes(text).encode()
    first_end = (reader or BracketReader(symbols)).read(data, forest)
    if first_end < 0:
        return None
    refuse_discontinuous(forest.tree(0).words, data[first_end:].partition(b"\n")[0].decode(), path)
    all_words = (forest.tree(number).words for number in range(len(forest)))
    words = next((found for found in all_words if len(found) > 1), ())
    refuse_discontinuous(words, "", path)
    if dialects is not None:
        first = [forest.tree(number) for number in range(min(len(forest), _N_WATCHED))]
        dialects.warn(path, text, symbols.labels, [(tree.tags[-1], tree.words[-1]) for tree in first])
    return None if 2 * sum(" " in word for word in words) > len(words) else forest  # words with lemmas, perhaps


SUFFIXES = tuple(".mrg .ptb .prd .psd .gld .fid .tbf .txt .bracket .brackets .tree .trees .parse .penn".split())
_N_WATCHED = 20  # trees of a file
_ALSO = tuple(".export .negra .discbracket .dbr .tigerxml".split())  # in folders; .xml and .conllu only by name
LOOKED_FOR = f"{' '.join((*SUFFIXES, *_ALSO))}, each also with .gz"
GZIP_MAGIC = b"\x1f\x8b"


def treebank_files(paths: Path | str | Sequence[Path | str]) -> list[Path]:
    """Return the files for a path, a folder, a glob, or several of them.

    A folder means the treebank files in it and below it, sorted; other files, hidden files and READMEs are left out.
    Raises IncparseError if a path does not exist or a folder or glob has no treebank file.
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    if not given:
        raise IncparseError("no treebank file is given")
    found: list[Path] = []
    for path in given:
        files = expanded(named_paths(path), files_in)
        if not files:
            raise IncparseError(f"{path}: no treebank file found; looked for {LOOKED_FOR}")
        found += files
    return found


def read_brackets(path: Path, dialects: Dialects, *, tags: bool = True) -> str:
    """Return the text of a file as plain brackets; without tags, it is in no dialect unless one is given."""
    text = unix_lines(decoded_file(path, dialects)[0])
    return dialects.plain(text) if (tags or dialects.given) and not format_of_text(text) else text


def decoded_file(path: Path, dialects: Dialects) -> tuple[str, str]:
    """Return the text of a file, and its encoding: UTF-8, or one of its dialect. Raises TreebankError otherwise."""
    data, declared = _unpacked(path)
    if declared != "utf-8":
        return data.decode(declared), declared
    names = ["utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"]
    wrong: UnicodeDecodeError | None = None
    for name in names:
        try:
            return data.decode(name), name
        except UnicodeDecodeError as error:
            wrong = wrong or error
            if len(names) == 1:
                names += (dialects.given or detect(data.decode("latin-1"))).encodings
    assert wrong is not None
    before = data[: wrong.start].decode("utf-8", errors="replace")
    what = f"byte 0x{data[wrong.start]:02x} is not UTF-8: convert the file to UTF-8 first, for example with iconv"
    if path.suffix == ".spacy":
        what = "a file of spaCy's Docs, for `search` and the configs of `spacy train`; expected trees in brackets"
    raise TreebankError(path, *Places(before).line_and_column(len(before)), what)


def read_text(path: Path) -> str:
    """Return the text of a file, plain or gzipped, without a byte order mark, and with "\\n" at the end of each line.

    Raises TreebankError if it is not text.
    Encodings other than UTF-8 are rejected with the place of the first wrong byte.
    """
    return unix_lines(decoded_file(path, Dialects(PENN))[0])


def _unpacked(path: Path) -> tuple[bytes, str]:
    """Return the bytes of a file, and the encoding that XML declares if it is right; UTF-8 otherwise."""
    try:
        data = sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
        if data.startswith(GZIP_MAGIC):  # a small file can claim gigabytes
            packed, most = len(data), most_unpacked(len(data))
            data = gunzip(data, most)
            if len(data) > most:
                what = f"{packed:,} gzipped bytes hold more than {most:,}, as no text does"
                raise TreebankError(path, 1, 1, f"{what}: if it is right, unpack it first")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TreebankError(path, 1, 1, f"the gzip file is damaged: {error}") from None
    except OSError as error:
        raise IncparseError(f"{path}: cannot be read: {error.strerror}") from None
    with suppress(UnicodeDecodeError):
        encoding = formats.encoding_of(data[: formats.BEGINNING])
        if encoding != "utf-8":
            data.decode(encoding)
        return data, encoding
    return data, "utf-8"


def files_in(folder: Path) -> list[Path]:
    """Return the treebank files in a folder and below it, sorted."""
    return sorted(file for file in folder.rglob("*") if _is_treebank_file(file))


def expanded(named: Sequence[Path], files_in_folder: Callable[[Path], list[Path]]) -> list[Path]:
    """Return the files of paths, in their order and each once: `**` finds folders and the files in them."""
    files = (file for path in named for file in (files_in_folder(path) if path.is_dir() else [path]))
    return list(dict.fromkeys(files))


def _is_treebank_file(path: Path) -> bool:
    name = path.name.lower()
    if name.startswith((".", "readme", "license", "licence")) or not path.is_file():
        return False
    return name.removesuffix(".gz").endswith((*SUFFIXES, *_ALSO))


_JSON = re.compile(r'\s*\{\s*"')
_INDEXED_WORD = re.compile(r"(\d+)=.+", re.DOTALL)
_ADVICE = "`convert` and other commands read, as read_trees does; here brackets are expected: convert it first"


def refuse_other_formats(text: str, path: Path | str) -> None:
    """Raise TreebankError if a text is in one of `formats.FORMATS`, or in XML or JSON."""
    if other := format_of_text(text):
        raise TreebankError(path, 1, 1, f"this file is in {other.title}, which {_ADVICE}")
    if _JSON.match(text):
        what = "`search` reads JSON lines from files whose names end in .jsonl or .json"
        raise TreebankError(path, 1, 1, f"this file is JSON, and trees in brackets are expected; {what}")
    if XML.match(text):
        what = "this file is in XML that is not TIGER XML, which is not supported; convert it to brackets first"
        raise TreebankError(path, 1, 1, what)


def refuse_discontinuous(words: Sequence[str], rest_of_line: str, path: Path | str) -> None:
    """Raise TreebankError if the words of a tree are indices, as in discontinuous brackets.

    Two spellings exist: words like `0=Rain`, and bare indices with the sentence after the tree, on the same line. A
    single word like `0=Rain` proves nothing: the tree to check is the first one with two.
    """
    matches = [_INDEXED_WORD.fullmatch(word) for word in words]
    if len(matches) > 1 and all(matches):
        indices = [match.group(1) for match in matches if match]
    elif words and "(" not in rest_of_line and len(rest_of_line.split()) == len(words):
        indices = list(words)
    else:
        return
    if sorted(indices) == sorted(map(str, range(len(indices)))):
        raise TreebankError(path, 1, 1, f"this file has discontinuous brackets (words by index), which {_ADVICE}")


@dataclass
class SkipLog:
    """The malformed places that a reader skipped, in the order of the files."""

    entries: list[TreebankError] = field(default_factory=list)  # each with path, line, column and message
    n_trees: int = 0  # skipped trees; the other entries are text outside trees, or files without trees
    n_lines: int = 0  # on which skipped text is
    n_words: int = 0

    def add(self, error: TreebankError, text: str = "", *, is_tree: bool = False) -> None:
        """Add a skipped place and the text that is skipped there; `is_tree` says whether it is a tree."""
        self.entries.append(error)
        self.n_trees += is_tree
        self.n_lines += bool(text)
        self.pass_over(text)

    def pass_over(self, text: str) -> None:
        """Add text that follows what was skipped last."""
        self.n_lines += text.rstrip().count("\n")
        self.n_words += count_words(text)

    def update(self, other: SkipLog) -> None:
        """Add the places of another log behind these."""
        self.entries += other.entries
        self.n_trees += other.n_trees
        self.n_lines += other.n_lines
        self.n_words += other.n_words

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[TreebankError]:
        return iter(self.entries)

    def __str__(self) -> str:
        count = f"{len(self)} malformed tree{'' if len(self) == 1 else 's'} skipped"
        counts = ((self.n_lines, "line"), (self.n_words, "word"))
        passed = " with ".join(f"{n:,} {what}{'' if n == 1 else 's'}" for n, what in counts)
        size = [f"passed over: {passed}"] if self.entries else []
        return "\n  ".join([count + (":" if self.entries else ""), *map(str, self.entries), *size])


Step = Callable[[Tree], "Tree | None"]


def normalize(tree: Tree, steps: Sequence[Step] | None = None) -> Tree | None:
    """Apply the steps, by default STANDARD, in order; return None if nothing is left, as for a tree of traces only.

    Each step takes a tree and returns a new one, or None if nothing is left of it. The steps of this module are
    compiled (bracket_scanner.pyx) and can be mixed with any other functions on trees.
    """
    if steps is None:
        return _apply(tree)
    result: Tree | None = tree
    for step in steps:
        if result is None:
            return None
        result = step(result)
    return result


def normalized_tree(given: object) -> Tree:
    """Return a tree as `ANNOTATED` makes it, given as a Tree, brackets, or an object that prints brackets.

    Raises IncparseError if nothing is left, and TreebankError for what is no tree.
    """
    tree = Tree(given.arrays, given.index) if isinstance(given, Tree) else Tree.from_string(str(given))
    found = set_aside(tree)
    if found is None:
        raise IncparseError(f"the tree {tree} has no words except traces")
    return found


def drop_empties(tree: Tree) -> Tree | None:
    """Drop traces (POS nodes tagged -NONE-) and the phrases that have no other words."""
    return _apply(tree, DROP_EMPTIES)


def strip_functions(tree: Tree) -> Tree:
    """Remove function tags, co-indices and gap indices from all labels: NP-SBJ-1 and NP=2 become NP."""
    return cast("Tree", _apply(tree, STRIP_FUNCTIONS))


def with_separators(separators: str) -> Step:
    """Return a step that puts a hyphen in place of other separators of functions: with "_*", NP_SB becomes NP-SB.

    Labels that do not begin with a letter or digit stay as they are. Raises ConfigError if there are no separators, or
    if they may be in the names of categories and functions.
    """
    if not isinstance(separators, str) or not separators or any(one.isalnum() or one in " ()" for one in separators):
        what = "name the characters between a label and its functions, such as _* for NP_SB and ADJP*OC"
        raise ConfigError(f"separators is {separators!r}: {what}")
    table = str.maketrans(dict.fromkeys(separators, "-"))
    return lambda tree: tree.map_labels(lambda label: label.translate(table) if label[:1].isalnum() else label)


def drop_indices(tree: Tree) -> Tree:
    """Remove co-indices and gap indices from all labels, but keep function tags: NP-SBJ-1 becomes NP-SBJ."""
    return tree.map_labels(lambda label: "-".join(filter(None, (bare_label(label), function_tags(label)))), tags=False)


def one_top(tree: Tree) -> Tree:
    """Replace the wrappers of a tree by one root TOP; add it to a tree without a wrapper.

    All wrappers above the first branching are dropped, and below it every phrase labeled TOP or without a label.
    """
    return cast("Tree", _apply(tree, ONE_TOP))


def merge_doubled(tree: Tree) -> Tree:
    """Merge a phrase with its only child if that is a phrase with the same label; POS nodes stay."""
    return cast("Tree", _apply(tree, MERGE_DOUBLED))


def set_aside(tree: Tree) -> Tree | None:
    """Do what STANDARD does, but keep the functions and traces beside the tree, as `tree.functions` and `empties`."""
    kept = without_empties(tree.own_arrays, standard=True)
    return None if kept is None else Tree(kept)


STANDARD: tuple[Step, ...] = (drop_empties, strip_functions, one_top, merge_doubled)
WITH_FUNCTIONS: tuple[Step, ...] = (drop_empties, drop_indices, one_top, merge_doubled)
ANNOTATED: tuple[Step, ...] = (set_aside,)


def _apply(tree: Tree, *steps: int) -> Tree | None:
    forest = normalized(Forest([tree]), *steps)
    return forest.tree(0) if len(forest) else None
