"""N-best lists, and files of them in the formats that docs/formats.md describes."""

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
from math import isfinite, nan
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from spacy_incparse.errors import IncparseError, TreebankError
from spacy_incparse.files import write_file
from spacy_incparse.parsing.parse import Parse
from spacy_incparse.treebanks.bracket_scanner import BracketReader, normalized
from spacy_incparse.treebanks.reader import GZIP_MAGIC, normalize, read_treebank
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.brackets import parse_one
from spacy_incparse.trees.forest import Forest, Symbols
from spacy_incparse.trees.labels import ROOT, TRACE_TAG
from spacy_incparse.trees.tree import Tree

LONGEST_LINE = 2**26  # bytes; a list of 100 long trees on one line takes a hundredth of this
FOUND_BY_SEARCH = "beam"  # the source of a tree of which the file says nothing


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


def _bllip_lines(found: CandidateList, number: int) -> Iterator[str]:
    """The format has no temperature, so scores are divided by it: their softmax is then the same at temperature 1."""
    yield f"{len(found.parses)} {number}"
    for parse in found.parses:
        yield repr(parse.score / found.temperature)
        tree, arrays = parse.tree, parse.tree.own_arrays
        if tree.label == ROOT and tree.size > 1:
            tree = Tree(TreeArrays.of(("S1", *arrays.labels[1:]), arrays.sizes, arrays.words))
        yield tree.to_string(ptb=True)
    yield ""


def _bracket_lines(found: CandidateList, number: int) -> Iterator[str]:
    if found.temperature != 1:
        yield f"# sent {number} temperature {found.temperature!r}"
    if found.gold is not None:
        yield f"# sent {number} gold {found.gold}"
    for rank, parse in enumerate(found.parses, start=1):
        source = "" if parse.source == FOUND_BY_SEARCH else f" source {parse.source}"
        yield f"# sent {number} parse {rank} score {parse.score!r}{source}"
        yield str(parse.tree)
    yield ""


def _json_line(found: CandidateList, number: int) -> Iterator[str]:
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
    "json": _json_line, "brackets": _bracket_lines, "bllip": _bllip_lines,
}  # fmt: skip
"""For each format the function from a list and its number, from 1, to the lines that it takes."""


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
    reader = _ListReader(Path(path), normalized)
    records = reader.records()
    if gold is None:
        yield from map(reader.built, records)
        return
    trees = iter(read_treebank(gold) if isinstance(gold, Path | str) else gold)
    advice = "there must be one gold tree for each list, in the same order"
    line, n_lists = 1, 0
    for record in records:
        tree = next(trees, None)
        if tree is None:
            raise reader.error(record.line, f"there are more lists than gold trees ({n_lists}); {advice}")
        yield reader.built(record, tree)
        line, n_lists = record.line, n_lists + 1
    if next(trees, None) is not None:
        raise reader.error(line, f"there are more gold trees than lists ({n_lists}); {advice}")


class _Line(NamedTuple):
    """A line without its end, and its number, from 1."""

    number: int
    text: str


@dataclass
class _Candidate:
    """A tree in brackets, with the line and column where it begins; column 0: it is a part of a JSON object."""

    line: int
    text: str
    score: float = nan
    source: str = FOUND_BY_SEARCH
    column: int = 1


@dataclass
class _Record:
    """A list whose trees are still brackets; `line` is where it begins, `words` what the file says of its words."""

    line: int
    trees: list[_Candidate] = field(default_factory=list)
    temperature: float = 1.0
    gold: _Candidate | None = None
    words: Sequence[str] | None = None
    others: dict[str, list[float]] = field(default_factory=dict)


# BLLIP: a line with the number of trees and the name of the sentence, then for each tree two lines: its log
# probability, and its brackets, with root S1 and words in Penn spelling. An empty line ends the list. In lists that its
# reranker has sorted, the reranker's score stands before the log probability.
_HEADER = re.compile(r"\s*(\d{1,9})\s+(\S+)\s*")
# Brackets: this is also what `parse --nbest K` prints, and other readers of brackets find the trees alone.
_HEADING = re.compile(r"# sent (\S+) parse (\S+) score (\S+)(?: source (\S+))?\s*")
_ABOUT = re.compile(r"# sent (\S+) (temperature|gold) (.*\S)\s*")  # about the list as a whole
_LIKE_HEADING = re.compile(r"#\s*sent\s+\S+\s+parse\b")
_EXPECTED_BRACKETS = "expected a line such as '# sent 1 parse 1 score -41.2' before each tree"
_EXPECTED_JSON = 'expected an object such as {"nbest": [{"tree": "(TOP ...)", "score": -41.2}]}'


class _ListReader:
    """Reads the records of a file, and turns them into lists; normalized: as in `read_lists`."""

    def __init__(self, path: Path, is_normalized: bool):
        self._path, self._is_normalized = path, is_normalized
        self._symbols = Symbols()
        self._scanner = BracketReader(self._symbols)

    def error(self, line: int, what: str, column: int = 1) -> TreebankError:
        return TreebankError(self._path, line, column, what)

    def records(self) -> Iterator[_Record]:
        """Read the file in the format to which its first line belongs."""
        lines = self._lines()
        first = next((line for line in lines if line.text.strip()), None)
        if first is None:
            raise self.error(1, "the file has no n-best lists; it is empty")
        text, lines = first.text.lstrip(), chain([first], lines)
        if text.startswith("{"):
            found = (self._json_record(line) for line in lines if line.text.strip())
            return (record for record in found if record is not None)
        if text.startswith(("#", "(")):
            return self._bracket_records(lines)
        if _HEADER.fullmatch(text):
            return self._bllip_records(line for line in lines if line.text.strip())
        expected = "JSON lines ('{'), brackets with scores ('# sent 1 parse 1 score -41.2') or lists of BLLIP"
        what = f"{text!r:.40} begins no known format of n-best lists; expected {expected} ('50 sent_1')"
        raise self.error(first.number, what)

    def _lines(self) -> Iterator[_Line]:
        """Yield the lines of a file in UTF-8, plain or gzipped (recognized by content)."""
        number = 0
        try:
            with self._path.open("rb") as file:
                is_gzipped = file.peek(2).startswith(GZIP_MAGIC)
                stream = cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if is_gzipped else file
                while data := stream.readline(LONGEST_LINE + 1):
                    number += 1
                    if len(data) > LONGEST_LINE:
                        raise self.error(
                            number, f"the line has more than {LONGEST_LINE:,} bytes: this is no n-best list"
                        )
                    yield _Line(number, data.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n"))
        except UnicodeDecodeError as error:
            what = f"byte 0x{error.object[error.start]:02x} is not UTF-8: convert the file to UTF-8 first, for example"
            raise self.error(number, f"{what} with iconv", error.start + 1) from None
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self.error(number + 1, f"the gzip file is damaged or truncated: {error}") from None
        except OSError as error:
            raise IncparseError(f"{self._path}: cannot be read: {error.strerror}") from None

    def _bllip_records(self, lines: Iterator[_Line]) -> Iterator[_Record]:
        """Yield the lists; their temperature is 1, because scores are log probabilities."""
        for line in lines:
            header = _HEADER.fullmatch(line.text)
            if header is None:
                expected = "expected the number of trees and the name of a sentence, such as '50 sent_1'"
                what = f"{line.text!r:.40} is no beginning of a list: {expected}; are there more trees than announced?"
                raise self.error(line.number, what)
            record, last, n_trees = _Record(line.number), line.number, int(header[1])
            pair: list[_Line] = []
            while len(record.trees) < n_trees:
                found = next(lines, None)
                if found is None or _HEADER.fullmatch(found.text):
                    place, seen = (last, "the file ends") if found is None else (found.number, "another list begins")
                    what = f"the list of line {line.number} has {n_trees} trees by its header, but {seen} after"
                    raise self.error(place, f"{what} {len(record.trees)}; is the file complete?")
                pair, last = [*pair, found], found.number
                if len(pair) == 2:
                    (number, text), tree = pair
                    numbers, pair = text.split(), []
                    if len(numbers) == 2:  # the reranker's score stands before the parser's
                        self._number(number, numbers.pop(0), "score of the reranker")
                    score = self._number(number, " ".join(numbers), "log probability")
                    record.trees.append(_Candidate(tree.number, tree.text, score))
            yield record

    def _bracket_records(self, lines: Iterable[_Line]) -> Iterator[_Record]:
        """Yield the lists; lines that say nothing of a list are comments, and a tree may take several lines."""
        sent: str | None = None  # the name of the list's sentence
        record: _Record | None = None
        tree: _Candidate | None = None  # that of the heading before
        for number, text in lines:
            heading, about = _HEADING.fullmatch(text), _ABOUT.fullmatch(text)
            match = heading or about
            if match is None:
                if _LIKE_HEADING.match(text):
                    raise self.error(number, f"the line {text!r:.60} is incomplete; {_EXPECTED_BRACKETS}")
                if not text.startswith("#") and text.strip():
                    if tree is None:
                        raise self.error(number, f"{text!r:.40} without a score; {_EXPECTED_BRACKETS}")
                    if tree.text:
                        tree.text += f"\n{text}"
                    else:
                        tree.line, tree.text = number, text
                continue
            # A list that has trees ends where another begins, even one of the same name.
            is_new = heading is None or heading[2] == "1"
            if record is None or match[1] != sent or (is_new and record.trees):
                if record is not None:
                    yield record
                sent, record = match[1], _Record(number)
            tree = None
            if heading:
                if heading[2] != str(expected := len(record.trees) + 1):
                    what = f"this is parse {heading[2]} of sentence {sent}; expected parse {expected}"
                    raise self.error(number, f"{what}: is the file complete?")
                tree = _Candidate(number, "", self._number(number, heading[3]), heading[4] or FOUND_BY_SEARCH)
                record.trees.append(tree)
            elif match[2] == "gold":
                record.gold = _Candidate(number, match[3], column=match.start(3) + 1)
            else:
                record.temperature = self._temperature(number, match[3])
        if record is not None:
            yield record

    def _json_record(self, line: _Line) -> _Record | None:
        """Return the list of a JSON line, also of `parse --nbest K --format json`; None for that of an empty line."""
        number, text = line
        try:
            content = json.loads(text)
        except json.JSONDecodeError as error:
            what = f"the line is not JSON, or truncated: {error.msg}; {_EXPECTED_JSON}"
            raise self.error(number, what, error.colno) from None
        except (RecursionError, ValueError):  # a number of thousands of digits
            what = f"the JSON is nested too deeply, or has a huge number; {_EXPECTED_JSON}"
            raise self.error(number, what) from None
        if not isinstance(content, dict):
            raise self.error(number, f"{text!r:.40} is no object; {_EXPECTED_JSON}")
        analyses, words, others = content.get("nbest"), content.get("words"), content.get("scores")
        if analyses is None and "nbest" in content:
            return None
        if not isinstance(analyses, list):
            what = "no list" if "nbest" not in content else f"{analyses!r:.40}, no list,"
            raise self.error(number, f'there is {what} under "nbest"; {_EXPECTED_JSON}')
        if words is not None and (not isinstance(words, list) or not all(isinstance(word, str) for word in words)):
            raise self.error(number, f'there is {words!r:.40} under "words"; expected a list of words')
        record = _Record(number, words=words)
        for analysis in analyses:
            if not isinstance(analysis, dict):
                raise self.error(number, f'{analysis!r:.40} under "nbest" is no object; {_EXPECTED_JSON}')
            tree = self._json_tree(number, analysis.get("tree"), "tree")
            tree.score, tree.source = (
                self._number(number, analysis.get("score")),
                str(analysis.get("source", tree.source)),
            )
            record.trees.append(tree)
        if content.get("temperature") is not None:
            record.temperature = self._temperature(number, content["temperature"])
        if others is not None:
            if not isinstance(others, dict):
                raise self.error(number, f'there is {others!r:.40} under "scores"; expected lists of scores by name')
            for name, scores in others.items():
                if not isinstance(scores, list) or len(scores) != len(analyses):
                    expected = f"expected a list of {len(analyses)} scores"
                    raise self.error(number, f'there is {scores!r:.40} under "{name:.40}" of "scores"; {expected}')
                record.others[name] = [self._number(number, score) for score in scores]
        if content.get("gold") is not None:
            record.gold = self._json_tree(number, content["gold"], "gold")
        return record

    def _json_tree(self, number: int, value: object, key: str) -> _Candidate:
        if not isinstance(value, str):
            raise self.error(number, f'there is {value!r:.40} under "{key}"; expected a tree in brackets')
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise self.error(number, f'half a surrogate pair, which is no character, under "{key}": {value!r:.40}')
        return _Candidate(number, value.replace("\n", " "), column=0)

    def _number(self, line: int, value: object, what: str = "score") -> float:
        """Return a score given as text or number, if it is a finite number."""
        score = nan
        if isinstance(value, int | float | str) and not isinstance(value, bool):
            with suppress(ValueError, OverflowError):
                score = float(value)
        if not isfinite(score):
            raise self.error(line, f"the {what} {value!r:.40} is not a number; expected one such as -41.2")
        return score

    def _temperature(self, line: int, value: object) -> float:
        temperature = self._number(line, value, "temperature")
        if temperature <= 0:
            raise self.error(line, f"the temperature {value!r:.40} is not above 0")
        return temperature

    def built(self, record: _Record, gold: Tree | None = None) -> CandidateList:
        """Return the list, with another gold tree than that of the file if one is given; it may have other traces."""
        if not record.trees:
            raise self.error(record.line, "the list has no trees; expected at least one")
        trees = self._trees(record.trees)
        words = trees[0].words if record.words is None else tuple(record.words)
        for number, (tree, candidate) in enumerate(zip(trees, record.trees, strict=True), start=1):
            if tree.words != words:
                source = "the first tree" if record.words is None else 'the list\'s "words"'
                what = f"tree {number} has {_difference(tree.words, words)} {source}"
                raise self._error_in(candidate, f"{what}; all trees of a list are over the same words")
        if gold is None and record.gold is not None:
            (gold,) = self._trees([record.gold])
        if gold is not None and (own := _words(trees[0])) != (others := _words(gold)):
            what = f"the gold tree has {_difference(others, own)} the trees of the list"
            raise self.error(record.line, f"{what}; expected gold trees of the same sentences in the same order")
        parses = (Parse(tree, one.score, one.source) for tree, one in zip(trees, record.trees, strict=True))
        return CandidateList(tuple(parses), record.temperature, gold, record.others)

    def _trees(self, given: Sequence[_Candidate]) -> list[Tree]:
        """Return the trees; what the fast scanner does not expect is read again for a message about the mistake."""
        forest = Forest(symbols=self._symbols)
        for number, one in enumerate(given, start=1):
            if self._scanner.read(one.text.encode(), forest) < 0 or len(forest) != number:
                return list(map(self._read_slowly, given))
        found = list(normalized(forest) if self._is_normalized else forest)
        return found if len(found) == len(given) else list(map(self._read_slowly, given))

    def _read_slowly(self, given: _Candidate) -> Tree:
        if not given.text and given.column:
            raise self.error(given.line, "no tree follows this line; is the file complete?")
        try:
            tree = Tree(parse_one(given.text))
        except TreebankError as error:
            if given.column == 0:
                what = f"{error.problem}; in column {error.column} of the tree {given.text!r:.60}"
                raise self._error_in(given, what) from None
            column = error.column + (given.column - 1 if error.line == 1 else 0)
            raise self.error(given.line + error.line - 1, error.problem, column) from None
        kept = normalize(tree) if self._is_normalized else tree
        if kept is None:
            raise self._error_in(given, "the tree has no words besides traces; expected a tree over a sentence")
        return kept

    def _error_in(self, given: _Candidate, what: str) -> TreebankError:
        return self.error(given.line, what, max(given.column, 1))


def _words(tree: Tree) -> tuple[str, ...]:
    return tuple(word for word, tag in zip(tree.words, tree.tags, strict=True) if tag != TRACE_TAG)


def _difference(words: Sequence[str], expected: Sequence[str]) -> str:
    """Describe how words differ from those that were expected, up to the name of where the latter are."""
    if len(words) != len(expected):
        return f"{len(words)} words, against {len(expected)} of"
    i = next(i for i, (word, other) in enumerate(zip(words, expected, strict=True)) if word != other)
    return f"the word {words[i]!r} in place {i + 1}, against {expected[i]!r} of"
