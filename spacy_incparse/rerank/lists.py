"""Files of n-best lists, in the formats that docs/formats.md describes."""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from spacy_incparse.errors import IncparseError, TreebankError
from spacy_incparse.files import write_file
from spacy_incparse.parsing.parse import Parse
from spacy_incparse.treebanks.bracket_scanner import BracketReader
from spacy_incparse.treebanks.bracket_scanner import normalized as normalized_forest
from spacy_incparse.treebanks.normalize import normalize
from spacy_incparse.treebanks.reader import GZIP_MAGIC, read_treebank
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.brackets import parse_one
from spacy_incparse.trees.forest import Forest, Symbols
from spacy_incparse.trees.labels import ROOT, TRACE_TAG
from spacy_incparse.trees.tree import Tree


@dataclass(frozen=True)
class CandidateList:
    """The candidate trees of one sentence, all over the same words.

    The parser's own tree is the first; the others follow, best first by the base parser's score, which may be higher.

    temperature: that of the base parser; probabilities are proportional to exp(score / temperature). gold: the right
    tree, if it is known; it need not be among the candidates. others: scores of the candidates by other models, by name
    (see `second_scores.SECOND_SCORES`).
    """

    parses: tuple[Parse, ...]
    temperature: float = 1.0
    gold: Tree | None = None
    others: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the sentence."""
        return self.parses[0].tree.words

    @property
    def has_better(self) -> bool:
        """Whether a tree scores higher than the first, the parser's own."""
        return any(parse.score > self.parses[0].score for parse in self.parses)

    def first(self, n: int) -> CandidateList:
        """Return the list without the candidates after the first n."""
        others = {name: scores[:n] for name, scores in self.others.items()}
        return replace(self, parses=tuple(self.parses[:n]), others=others)


def write_bllip_list(found: CandidateList, number: int) -> Iterator[str]:
    """Yield the lines of a list.

    The format has no temperature, so scores are divided by it: their softmax is then the same at temperature 1.
    """
    yield f"{len(found.parses)} {number}"
    for parse in found.parses:
        yield repr(parse.score / found.temperature)
        tree, arrays = parse.tree, parse.tree.own_arrays
        if tree.label == ROOT and tree.size > 1:
            tree = Tree(TreeArrays.of(("S1", *arrays.labels[1:]), arrays.sizes, arrays.words))
        yield tree.to_string(ptb=True)
    yield ""


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


def write_json_list(found: CandidateList, number: int) -> Iterator[str]:
    """Yield the line of a list."""
    content: dict[str, Any] = {"words": list(found.words), "temperature": found.temperature}
    if found.gold is not None:
        content["gold"] = str(found.gold)
    if found.others:
        content["scores"] = {name: list(scores) for name, scores in found.others.items()}
    content["nbest"] = [
        {"tree": str(parse.tree), "score": parse.score, "source": parse.source} for parse in found.parses
    ]
    yield json.dumps(content, ensure_ascii=False)


LIST_WRITERS: dict[str, Callable[[CandidateList, int], Iterator[str]]] = {
    "json": write_json_list,
    "brackets": write_bracket_list,
    "bllip": write_bllip_list,
}
"""For each format the function from a list and its number, from 1, to the lines that it takes."""


def read_lists(
    path: Path | str, gold: Path | str | Iterable[Tree] | None = None, *, normalized: bool = True
) -> Iterator[CandidateList]:
    """Yield the n-best lists of a file, one at a time; the format is recognized by the first line.

    gold: the gold trees, one for each list, or the treebank that they are read from; they replace those of the file.
    normalized: whether the trees of the file are normalized, as those of treebanks are, so that trees of other parsers
    have the same root and labels.

    Raises TreebankError, with the line, for an unknown format, a malformed or truncated list, trees over different
    words, and gold trees that do not fit.
    """
    path = Path(path)
    builder = ListBuilder(path, normalized=normalized)
    records = _records(path)
    if gold is None:
        yield from map(builder.build, records)
        return
    trees = iter(read_treebank(gold) if isinstance(gold, Path | str) else gold)
    line, n_lists = 1, 0
    for record in records:
        tree = next(trees, None)
        if tree is None:
            what = f"there are more lists than gold trees ({n_lists}); {_ADVICE}"
            raise TreebankError(path, record.line, 1, what)
        record.gold = None
        yield with_gold(builder.build(record), tree, path, record.line)
        line, n_lists = record.line, n_lists + 1
    if next(trees, None) is not None:
        raise TreebankError(path, line, 1, f"there are more gold trees than lists ({n_lists}); {_ADVICE}")


def write_lists(path: Path | str, lists: Iterable[CandidateList], format: str = "json") -> None:
    """Write n-best lists to a file, completely or not at all; the file is gzipped if its name ends in .gz.

    format: "json", "brackets", or "bllip", which has no place for temperatures and gold trees. Raises IncparseError for
    another format, or if the file cannot be written.
    """
    if format not in LIST_WRITERS:
        raise IncparseError(f"unknown format of n-best lists {format!r}: choose from {', '.join(LIST_WRITERS)}")
    path, write = Path(path), LIST_WRITERS[format]

    def write_all(unfinished: Path) -> None:
        with unfinished.open("wb") as file:
            # Neither name nor time in a gzipped file, so that the same lists give the same bytes.
            is_gzipped = path.suffix == ".gz"
            packed = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) if is_gzipped else file
            with io.TextIOWrapper(cast("IO[bytes]", packed), encoding="utf8", newline="") as text:
                for number, found in enumerate(lists, start=1):
                    text.writelines(f"{line}\n" for line in write(found, number))

    write_file(path, write_all)


_ADVICE = "there must be one gold tree for each list, in the same order"


def _records(path: Path) -> Iterator[ListRecord]:
    """Read a file in the format to which its first line belongs."""
    lines = read_lines(path)
    first = next((line for line in lines if line.text and not line.text.isspace()), None)
    if first is None:
        raise TreebankError(path, 1, 1, "the file has no n-best lists; it is empty")
    text, lines = first.text.lstrip(), chain([first], lines)
    if text.startswith("{"):
        return read_json_lists(path, lines)
    if text.startswith(("#", "(")):
        return read_bracket_lists(path, lines)
    if HEADER.fullmatch(text):
        return read_bllip_lists(path, lines)
    raise TreebankError(
        path, first.number, 1,
        f"{text!r:.40} begins no known format of n-best lists; expected JSON lines ('{{'), brackets with scores "
        f"('# sent 1 parse 1 score -41.2') or lists of BLLIP ('50 sent_1')",
    )  # fmt: skip


# A line with the number of trees and the name of the sentence, then for each tree two lines: its log probability, and
# its brackets, with root S1 and words in Penn spelling. An empty line ends the list. In lists that its reranker has
# sorted, the reranker's score stands before the log probability.

HEADER = re.compile(r"\s*(\d{1,9})\s+(\S+)\s*")
_EXPECTED_BLLIP = "expected the number of trees and the name of a sentence, such as '50 sent_1'"


def read_bllip_lists(path: Path, lines: Iterable[Line]) -> Iterator[ListRecord]:
    """Yield the lists; their temperature is 1, because scores are log probabilities."""
    filled = (line for line in lines if line.text and not line.text.isspace())
    for line in filled:
        header = HEADER.fullmatch(line.text)
        if header is None:
            what = (
                f"{line.text!r:.40} is no beginning of a list: {_EXPECTED_BLLIP}; are there more trees than announced?"
            )
            raise TreebankError(path, line.number, 1, what)
        yield _read_list(path, line.number, int(header[1]), filled)


def _read_list(path: Path, first: int, n_trees: int, lines: Iterator[Line]) -> ListRecord:
    record, last = ListRecord(first), first
    for k in range(n_trees):
        score_line, tree_line = next(lines, None), next(lines, None)
        for line in (score_line, tree_line):
            if line is None or HEADER.fullmatch(line.text):
                place = last if line is None else line.number
                seen = "the file ends" if line is None else "another list begins"
                what = f"the list of line {first} has {n_trees} trees by its header, but {seen} after {k}"
                raise TreebankError(path, place, 1, f"{what}; is the file complete?")
            last = line.number
        assert score_line is not None
        assert tree_line is not None
        numbers = score_line.text.split()
        if len(numbers) == 2:  # the reranker's score stands before the parser's
            score_of(path, score_line.number, numbers.pop(0), "score of the reranker")
        score = score_of(path, score_line.number, " ".join(numbers), "log probability")
        record.add(Brackets(tree_line.number, tree_line.text), score)
    return record


# This is also what `parse --nbest K` prints, and other readers of brackets find the trees alone.

_HEADING = re.compile(r"# sent (\S+) parse (\S+) score (\S+)(?: source (\S+))?\s*")
_ABOUT = re.compile(r"# sent (\S+) (temperature|gold) (.*\S)\s*")  # about the list as a whole
_LIKE_HEADING = re.compile(r"#\s*sent\s+\S+\s+parse\b")
_EXPECTED_BRACKETS = "expected a line such as '# sent 1 parse 1 score -41.2' before each tree"
_Pending = tuple[int, float, str, "list[Line]"]  # a tree: the line, score and source of its heading, and its lines


def read_bracket_lists(path: Path, lines: Iterable[Line]) -> Iterator[ListRecord]:
    """Yield the lists; lines that say nothing of a list are comments, and a tree may take several lines."""
    sent: str | None = None  # the name of the list's sentence
    record: ListRecord | None = None
    pending: _Pending | None = None
    for line in lines:
        number, text = line
        if not text.startswith("#"):
            if text and not text.isspace():
                if pending is None:
                    raise TreebankError(path, number, 1, f"{text!r:.40} without a score; {_EXPECTED_BRACKETS}")
                pending[-1].append(line)
            continue
        heading, about = _HEADING.fullmatch(text), _ABOUT.fullmatch(text)
        match = heading or about
        if match is None:
            if _LIKE_HEADING.match(text):
                raise TreebankError(path, number, 1, f"the line {text!r:.60} is incomplete; {_EXPECTED_BRACKETS}")
            continue
        _add_tree(path, record, pending)
        pending = finished = None
        # A list that has trees ends where another begins, even one of the same name.
        is_new = heading is None or heading[2] == "1"
        if record is None or match[1] != sent or (is_new and record.trees):
            finished, sent, record = record, match[1], ListRecord(number)
        if heading:
            expected = len(record.trees) + 1
            if heading[2] != str(expected):
                what = (
                    f"this is parse {heading[2]} of sentence {sent}; expected parse {expected}: is the file complete?"
                )
                raise TreebankError(path, number, 1, what)
            pending = number, score_of(path, number, heading[3]), heading[4] or FOUND_BY_SEARCH, []
        elif match[2] == "gold":
            record.gold = Brackets(number, match[3], match.start(3) + 1)
        else:
            record.temperature = temperature_of(path, number, match[3])
        if finished is not None:
            yield finished
    _add_tree(path, record, pending)
    if record is not None:
        yield record


def _add_tree(path: Path, record: ListRecord | None, pending: _Pending | None) -> None:
    """Add a tree that is complete, if there is one, to its list."""
    if record is not None and pending is not None:
        number, score, source, lines = pending
        if not lines:
            raise TreebankError(path, number, 1, "no tree follows this line; is the file complete?")
        record.add(Brackets(lines[0].number, "\n".join(line.text for line in lines)), score, source)


_EXPECTED_JSON = 'expected an object such as {"nbest": [{"tree": "(TOP ...)", "score": -41.2}]}'


def read_json_lists(path: Path, lines: Iterable[Line]) -> Iterator[ListRecord]:
    """Yield the lists of JSON lines, also of those that `parse --nbest K --format json` writes."""
    for number, text in lines:
        if not text or text.isspace():
            continue
        try:
            content = json.loads(text)
        except json.JSONDecodeError as error:
            what = f"the line is not JSON, or truncated: {error.msg}; {_EXPECTED_JSON}"
            raise TreebankError(path, number, error.colno, what) from None
        except (RecursionError, ValueError):  # a number of thousands of digits
            what = f"the JSON is nested too deeply, or has a huge number; {_EXPECTED_JSON}"
            raise TreebankError(path, number, 1, what) from None
        if not isinstance(content, dict):
            raise TreebankError(path, number, 1, f"{text!r:.40} is no object; {_EXPECTED_JSON}")
        yield _record(path, number, content)


def _record(path: Path, number: int, content: dict[str, Any]) -> ListRecord:
    analyses = content.get("nbest")
    if not isinstance(analyses, list):
        what = "no list" if "nbest" not in content else f"{analyses!r:.40}, no list,"
        raise TreebankError(path, number, 1, f'there is {what} under "nbest"; {_EXPECTED_JSON}')
    words = content.get("words")
    if words is not None and (not isinstance(words, list) or not all(isinstance(word, str) for word in words)):
        raise TreebankError(path, number, 1, f'there is {words!r:.40} under "words"; expected a list of words')
    record = ListRecord(number, words=words)
    for analysis in analyses:
        if not isinstance(analysis, dict):
            raise TreebankError(path, number, 1, f'{analysis!r:.40} under "nbest" is no object; {_EXPECTED_JSON}')
        source = analysis.get("source", FOUND_BY_SEARCH)
        tree = _brackets(path, number, analysis.get("tree"), "tree")
        record.add(tree, score_of(path, number, analysis.get("score")), str(source))
    if content.get("temperature") is not None:
        record.temperature = temperature_of(path, number, content["temperature"])
    if content.get("scores") is not None:
        record.others = _others(path, number, content["scores"], len(analyses))
    if content.get("gold") is not None:
        record.gold = _brackets(path, number, content["gold"], "gold")
    return record


def _others(path: Path, number: int, value: object, n: int) -> dict[str, list[float]]:
    """Return the scores of n trees by other models, by name."""
    if not isinstance(value, dict):
        raise TreebankError(path, number, 1, f'there is {value!r:.40} under "scores"; expected lists of scores by name')
    for name, scores in value.items():
        if not isinstance(scores, list) or len(scores) != n:
            what = f'there is {scores!r:.40} under "{name:.40}" of "scores"; expected a list of {n} scores'
            raise TreebankError(path, number, 1, what)
    return {name: [score_of(path, number, score) for score in scores] for name, scores in value.items()}


def _brackets(path: Path, number: int, value: object, key: str) -> Brackets:
    if not isinstance(value, str):
        raise TreebankError(path, number, 1, f'there is {value!r:.40} under "{key}"; expected a tree in brackets')
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise TreebankError(
            path, number, 1, f'half a surrogate pair, which is no character, under "{key}": {value!r:.40}'
        )
    return Brackets(number, value.replace("\n", " "), column=0)


LONGEST_LINE = 2**26  # bytes; a list of 100 long trees on one line takes a hundredth of this


class Line(NamedTuple):
    """A line without its end, and its number, from 1."""

    number: int
    text: str


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the lines of a file in UTF-8, plain or gzipped (recognized by content).

    Raises TreebankError, naming the line, if the file is damaged, in another encoding, or has no lines of text.
    Raises IncparseError if the file cannot be opened.
    """
    number = 0
    try:
        with path.open("rb") as file:
            is_gzipped = file.peek(2).startswith(GZIP_MAGIC)
            stream = cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if is_gzipped else file
            while data := stream.readline(LONGEST_LINE + 1):
                number += 1
                yield Line(number, _text(path, number, data))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TreebankError(path, number + 1, 1, f"the gzip file is damaged or truncated: {error}") from None
    except OSError as error:
        raise IncparseError(f"{path}: cannot be read: {error.strerror}") from None


def _text(path: Path, number: int, data: bytes) -> str:
    if len(data) > LONGEST_LINE:
        raise TreebankError(path, number, 1, f"the line has more than {LONGEST_LINE:,} bytes: this is no n-best list")
    try:
        return data.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        what = f"byte 0x{data[error.start]:02x} is not UTF-8: convert the file to UTF-8 first, for example with iconv"
        raise TreebankError(path, number, error.start + 1, what) from None


def score_of(path: Path, number: int, value: object, what: str = "score") -> float:
    """Return a score given as text or number. Raises TreebankError unless it is a finite number."""
    score = float("nan")
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError):
            score = float(value)
    if not isfinite(score):
        raise TreebankError(path, number, 1, f"the {what} {value!r:.40} is not a number; expected one such as -41.2")
    return score


def temperature_of(path: Path, number: int, value: object) -> float:
    """Return a temperature given as text or number. Raises TreebankError unless it is a number above 0."""
    temperature = score_of(path, number, value, "temperature")
    if temperature <= 0:
        raise TreebankError(path, number, 1, f"the temperature {value!r:.40} is not above 0")
    return temperature


FOUND_BY_SEARCH = "beam"  # the source of a tree of which the file says nothing


class Brackets(NamedTuple):
    """A tree in brackets, with the line and column where it begins; column 0: it is a part of a JSON object."""

    line: int
    text: str
    column: int = 1


@dataclass
class ListRecord:
    """An n-best list whose trees are still brackets; `line` is where it begins.

    words: those that the trees must have, if the file says so. others: scores by other models.
    """

    line: int
    trees: list[Brackets] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    temperature: float = 1.0
    gold: Brackets | None = None
    words: Sequence[str] | None = None
    others: dict[str, list[float]] = field(default_factory=dict)

    def add(self, tree: Brackets, score: float, source: str = FOUND_BY_SEARCH) -> None:
        """Add a tree at the end of the list."""
        self.trees.append(tree)
        self.scores.append(score)
        self.sources.append(source)


class ListBuilder:
    """Turns the records of a file into candidate lists.

    normalized: whether trees are normalized as those of treebanks are (treebanks/normalize.py).
    """

    def __init__(self, path: Path, *, normalized: bool = True):
        self._path, self._normalized = path, normalized
        self._symbols = Symbols()
        self._reader = BracketReader(self._symbols)

    def build(self, record: ListRecord) -> CandidateList:
        """Return the list. Raises TreebankError if it is empty, or a tree is malformed or over other words."""
        if not record.trees:
            raise TreebankError(self._path, record.line, 1, "the list has no trees; expected at least one")
        trees = self._trees(record.trees)
        words = trees[0].words if record.words is None else tuple(record.words)
        for number, (tree, brackets) in enumerate(zip(trees, record.trees, strict=True), start=1):
            if tree.words != words:
                source = "the first tree" if record.words is None else 'the list\'s "words"'
                raise self._error(
                    brackets, f"tree {number} has {_difference(tree.words, words)} {source}; {_RECORD_ADVICE}"
                )
        parses = tuple(map(Parse, trees, record.scores, record.sources))
        gold = None if record.gold is None else self._trees([record.gold])[0]
        built = CandidateList(parses, record.temperature, gold, record.others)
        return built if gold is None else with_gold(built, gold, self._path, record.line)

    def _trees(self, texts: Sequence[Brackets]) -> list[Tree]:
        """Return the trees; what the fast scanner does not expect is read again for a message about the mistake."""
        forest = Forest(symbols=self._symbols)
        for number, brackets in enumerate(texts, start=1):
            if self._reader.read(brackets.text.encode(), forest) < 0 or len(forest) != number:
                return [self._read_slowly(brackets) for brackets in texts]
        found = list(normalized_forest(forest) if self._normalized else forest)
        return found if len(found) == len(texts) else [self._read_slowly(brackets) for brackets in texts]

    def _read_slowly(self, brackets: Brackets) -> Tree:
        try:
            tree = Tree(parse_one(brackets.text))
        except TreebankError as error:
            if brackets.column == 0:
                what = f"{error.what}; in column {error.column} of the tree {brackets.text!r:.60}"
                raise self._error(brackets, what) from None
            column = error.column + (brackets.column - 1 if error.line == 1 else 0)
            raise TreebankError(self._path, brackets.line + error.line - 1, column, error.what) from None
        kept = normalize(tree) if self._normalized else tree
        if kept is None:
            raise self._error(brackets, "the tree has no words besides traces; expected a tree over a sentence")
        return kept

    def _error(self, brackets: Brackets, what: str) -> TreebankError:
        return TreebankError(self._path, brackets.line, max(brackets.column, 1), what)


def with_gold(found: CandidateList, gold: Tree, path: Path, line: int) -> CandidateList:
    """Return a list with its gold tree. Raises TreebankError if the gold tree has other words; traces may differ."""
    words, gold_words = (_words(tree) for tree in (found.parses[0].tree, gold))
    if words != gold_words:
        what = f"the gold tree has {_difference(gold_words, words)} the trees of the list"
        raise TreebankError(path, line, 1, f"{what}; expected gold trees of the same sentences in the same order")
    return replace(found, gold=gold)


_RECORD_ADVICE = "all trees of a list are over the same words"


def _words(tree: Tree) -> tuple[str, ...]:
    if TRACE_TAG not in tree.tags:
        return tree.words
    return tuple(word for word, tag in zip(tree.words, tree.tags, strict=True) if tag != TRACE_TAG)


def _difference(words: Sequence[str], expected: Sequence[str]) -> str:
    """Describe how words differ from those that were expected, up to the name of where the latter are."""
    if len(words) != len(expected):
        return f"{len(words)} words, against {len(expected)} of"
    i = next(i for i, (word, other) in enumerate(zip(words, expected, strict=True)) if word != other)
    return f"the word {words[i]!r} in place {i + 1}, against {expected[i]!r} of"
