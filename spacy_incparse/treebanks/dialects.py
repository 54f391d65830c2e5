"""Dialects of brackets: what treebanks add to those of the Penn Treebank, as data, and their texts as plain brackets.

A dialect is a section of dialects.toml, or a file of the user. Its texts are rewritten in one pass: mark-up is left
out, words and empty categories get the form of the Penn Treebank. All readers then work on plain brackets, and
`PlainText` knows where each part of them is from.
"""

from __future__ import annotations

import configparser
import json
import re
import warnings
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, NamedTuple

from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.tokens import raw_word
from spacy_incparse.trees.brackets import BLANK, Places, label_at, next_tree, without_backslashes
from spacy_incparse.trees.labels import TRACE_TAG

PENN = "penn"
SHIPPED = Path(__file__).with_name("dialects.toml")
_N_LEAVES = 1_000  # nodes over words that are looked at to find the dialect of a file
_BEGINNING = 100_000  # characters, in which dialects have their signs
_LEAST_LEAVES = 4  # of which a share says anything
_LEAF = re.compile(rf"\({BLANK}*([^()\s]+{BLANK}+[^()\s][^()]*?){BLANK}*\)")
_BLANKS = re.compile(rf"{BLANK}+")
_BRACKET = re.compile(r"[()]")
_HOLLOW = re.compile(rf"{BLANK}*\)")
_ESCAPED = ("\ue010\ue011", "\ue010\ue012")  # of the same length as \\( and \\), and without brackets
_LINE_BRACKET = re.compile(r"^[ \t]*\(", re.MULTILINE)


@dataclass(frozen=True)
class Dialect:
    """What a treebank adds to Penn brackets, mostly as regular expressions. docs/formats.md has the table."""

    name: str = PENN
    title: str = ""  # for people
    base: str = ""  # a shipped dialect that has all other settings
    begins: str = ""  # how a file begins
    signs: tuple[str, ...] = ()  # texts, one of which is in the file
    leaves: tuple[tuple[str, float], ...] = ()  # what at least this share of nodes over words is, "TAG word"
    encodings: tuple[str, ...] = ("utf-8",)  # in the order in which they are tried
    between: str = ""  # lines between trees, from their beginning; groups `id` and `document`
    markup: str = ""  # labels of nodes that are no words, or "TAG word"
    sentence_id: str = ""  # in the mark-up; its first group is the id
    empty: str = ""  # words that are empty categories, wherever they stand
    word: str = ""  # all that stands behind a tag; its group `word` is the word
    word_share: float = 0.0  # the least share of words that are like `word`; in files with fewer, it is not used
    strip: str = ""  # what is taken off a word
    hollow: str = ""  # labels of nodes that are left out if there is nothing in them
    labels: tuple[tuple[str, str], ...] = ()  # what is replaced in labels, and by what

    def fits(self, text: str) -> bool:
        """Return whether a text looks like the dialect."""
        if not (self.begins or self.signs or self.leaves) or (self.begins and not re.match(self.begins, text)):
            return False
        if self.signs and not any(sign in text for sign in self.signs):
            return False
        leaves = _leaves(text) if self.leaves else []
        enough = not self.leaves or len(leaves) >= _LEAST_LEAVES
        return enough and all(_share(pattern, leaves) >= least for pattern, least in self.leaves)


def _share(pattern: str, leaves: Sequence[str]) -> float:
    fitting = re.compile(pattern).fullmatch
    return sum(fitting(leaf) is not None for leaf in leaves) / max(1, len(leaves))


def _leaves(text: str) -> list[str]:
    return [_BLANKS.sub(" ", leaf[1]) for leaf in islice(_LEAF.finditer(text), _N_LEAVES)]


@lru_cache(maxsize=1)
def shipped() -> Mapping[str, Dialect]:
    """Return the dialects of the package by name, in the order in which they are tried."""
    found = _sections(SHIPPED)
    return {name: _made(SHIPPED, name, found.get(str(own.get("base")), {}) | own, {}) for name, own in found.items()}


def find_dialect(given: str | Path | Dialect) -> Dialect:
    """Return a dialect, given itself, its name or a TOML file with one section.

    Raises IncparseError if there is none of the name, and ConfigError for wrong settings in a file.
    """
    if isinstance(given, Dialect):
        return given
    if str(given) in shipped():
        return shipped()[str(given)]
    path = Path(given)
    if path.suffix != ".toml":
        known = ", ".join(shipped())
        raise IncparseError(f"there is no dialect {str(given)!r}: name one of {known}, or a file that ends in .toml")
    if len(sections := _sections(path)) != 1:
        raise ConfigError(f"{path} has {len(sections)} sections: expected one, such as [mine], with a dialect")
    return _made(path, *sections.popitem(), shipped())


def _sections(path: Path) -> dict[str, dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        try:
            import tomllib
        except ImportError:  # Python 3.10
            return _json_sections(text)
        found = tomllib.loads(text)
    except OSError as error:
        raise IncparseError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, configparser.Error) as error:
        raise ConfigError(f"{path} is no TOML: {' '.join(str(error).split())}") from None
    if loose := [name for name, section in found.items() if not isinstance(section, dict)]:
        raise ConfigError(f"{path}: {loose[0]!r} is in no section: begin the dialect with its name, as in [mine]")
    return found


def _json_sections(text: str) -> dict[str, dict[str, Any]]:
    """Return the sections of TOML whose values are written as in JSON."""
    parser = configparser.RawConfigParser(delimiters=("=",), comment_prefixes=("#",), default_section="")
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    return {name: {key: json.loads(value) for key, value in parser.items(name)} for name in parser.sections()}


def _made(path: Path, name: str, section: dict[str, Any], known: Mapping[str, Dialect]) -> Dialect:
    """Return the dialect of a section. Raises ConfigError for unknown keys and wrong values."""
    kinds = {field.name: type(getattr(Dialect(), field.name)) for field in fields(Dialect)}
    base = section.get("base", "")
    if known and base and base not in known:
        raise ConfigError(f"{path}: [{name}] has base {base!r}: name one of {', '.join(known)}")
    values = {key: getattr(known[base], key) for key in kinds} if known and base else {}
    for key, value in section.items():
        if key not in kinds or key == "name":
            raise ConfigError(f"{path}: [{name}] has the key {key!r}; its keys are {', '.join(list(kinds)[1:])}")
        kind, pair = kinds[key], {"labels": (str, str), "leaves": (str, float)}.get(key)
        if kind is tuple and isinstance(value, list):
            value = tuple(tuple(one) if isinstance(one, list) else one for one in value)
            is_right = all(tuple(map(type, one)) == pair if pair else isinstance(one, str) for one in value)
        else:
            is_right = kind is not tuple and isinstance(value, kind)
        if not is_right:
            raise ConfigError(f"{path}: [{name}] has {key} = {value!r:.60}, which is of the wrong type")
        values[key] = value
    made = Dialect(**{"title": name, **values, "name": name})
    for key in ("begins", "between", "markup", "sentence_id", "empty", "word", "strip", "hollow", "leaves", "labels"):
        given = getattr(made, key)
        for pattern in [given] if isinstance(given, str) else [one[0] for one in given]:
            try:
                groups = re.compile(pattern).groupindex
            except re.error as error:
                raise ConfigError(f"{path}: [{name}] has the wrong pattern {pattern!r} for {key}: {error}") from None
            if key == "word" and pattern and "word" not in groups:
                raise ConfigError(f"{path}: [{name}] has the pattern {pattern!r} for word, without (?P<word>...)")
    return made


def detect(text: str) -> Dialect:
    """Return the dialect that a text looks like; Penn if none of the others fits."""
    beginning = text[:_BEGINNING]
    return next((one for one in shipped().values() if one.fits(beginning)), shipped()[PENN])


class Unit(NamedTuple):
    """A bracket at the beginning of a text's line, and all up to the one that closes it: a tree, or only mark-up."""

    begin: int
    end: int
    id: str | None
    has_words: bool


class PlainText(str):
    """Plain brackets, made from a text of some dialect. Ids of sentences are comments: `# sent_id = ...`."""

    source: str
    dialect: Dialect
    units: list[Unit]
    counts: Counter[str]  # of WORD, EMPTY, MARKUP and IDS
    begins: array[int]  # of the pieces in this text, and of what each was made of in the source
    sources: array[int]

    def source_position(self, position: int) -> int:
        """Return where in the source something is from."""
        number = bisect_right(self.begins, position) - 1
        behind = [*self.sources[number + 1 : number + 2], len(self.source)][0]
        first = self.sources[number]
        return min(first + position - self.begins[number], max(behind - 1, first))


def places_of(text: str) -> Places:
    """Return what finds lines and columns in a text, or in what a plain text was made from."""
    return Places(text.source, text.source_position) if isinstance(text, PlainText) else Places(text)


class Piece(NamedTuple):
    """A part of a tree's source: mark-up, a word or an empty category with its tag, or a phrase."""

    kind: str
    begin: int
    end: int
    label: str  # as in the plain brackets
    first: int  # number of leaves before it
    behind: int  # and before what follows it


_WORDS, _OPEN, _CLOSE, _ATOM = 2, 3, 4, 5  # numbers of the last group of a piece that matched
MARKUP, WORD, EMPTY, PHRASE, IDS = "markup", "words", "empties", "phrase", "ids"


_REPORTED = {EMPTY: "empty categories", IDS: "ids kept as sentence ids", MARKUP: "nodes of mark-up left out"}


class _Open(NamedTuple):
    """An open phrase: where it is in the new text and in the old one, and what was before it."""

    place: int
    n_removed: int
    label: str
    begin: int
    n_leaves: int


class Rewriter:
    """Rewrites a text of a dialect as plain brackets; `record` gets the parts of the trees."""

    def __init__(self, dialect: Dialect, text: str, record: list[Piece] | None = None):
        self._source, self._text, self._record = text, without_backslashes(text, _ESCAPED), record
        self._dialect = dialect
        s, atom = BLANK, r"[^ \t\r\n\f\v()]+"
        inner = rf"(?:{s}*\({s}*(?:{dialect.markup})(?:{s}+{atom})+{s}*\))*" if dialect.markup else ""
        self._piece = re.compile(
            rf"\({s}*({atom}){s}+({atom}(?:{s}+{atom})*){inner}{s}*\)|\({s}*({atom})?|(\))|({atom})"
        )
        between = rf"^(?:{dialect.between})" if dialect.between else "(?!)"
        self._between = re.compile(between, re.MULTILINE)
        self._gap = re.compile(rf"(?:{between}|^(?:#|\*x\*)[^\n]*|{s})*", re.MULTILINE)
        self._markup, self._empty, self._id, self._strip, self._word, self._hollow = (
            re.compile(pattern) if pattern else None
            for pattern in map(dialect.__getattribute__, ("markup", "empty", "sentence_id", "strip", "word", "hollow"))
        )
        if dialect.word_share:
            no_words = rf"(?:{dialect.markup or '(?!)'})(?: .*)?|\S+ (?:{dialect.empty or '(?!)'})"
            words = [leaf for leaf in _leaves(text) if not re.fullmatch(no_words, leaf)]
            self._word = self._word if _share(rf"\S+ (?:{dialect.word})", words) >= dialect.word_share else None
        self._replaced = [(re.compile(pattern), by) for pattern, by in dialect.labels]
        self._labels, self._leaves = dict[str, str](), dict[str, tuple[str, str]]()
        self._out, self._sources = list[str](), list[int]()
        self._counts = Counter[str]()
        self._n_removed = self._n_leaves = 0  # in the tree that is being read; leaves are counted for the record

    def rewritten(self, skips: bool = False) -> PlainText:
        """Return the text as plain brackets. What is no tree stays as it is, so that readers find the mistake."""
        text, out, units = self._text, self._out, list[Unit]()
        position, tried, has_unclosed = 0, 0, False
        while True:  # a tree, or what is none
            begin = self._gap.match(text, position).end()  # type: ignore[union-attr]  # it always matches
            own_id = self._copy_gap(position, begin)
            if begin == len(text):
                break
            slot, end, found, counts = len(out), None, [own_id], self._counts.copy()
            self._add("", begin)
            if text[begin] == "(":
                # A tree that begins in what was already read in vain must end before another seems to begin.
                behind = len(text) if begin >= tried else next_tree(text, begin, len(text)) or len(text)
                end, tried = self._tree(begin, behind, found)
            if end is None:
                if text[begin] == "(":
                    has_unclosed, position = True, next_tree(text, begin, len(text)) or len(text)
                    self._add_unclosed(begin, position)
                else:
                    line = _LINE_BRACKET.search(text, begin + 1)
                    position = line.end() - 1 if line else len(text)
                    raw = re.sub("|".join(_ESCAPED), "]]", text[begin:position])
                    # An unclosed tree stays unclosed: no bracket behind it may close it.
                    self._add(_BRACKET.sub("]", raw) if has_unclosed else raw, begin)
                self._counts = counts
                continue
            position, has_words = end, len(out) > slot + 1
            name = found[-1]
            if name is not None and has_words and (skips or not has_unclosed):  # it would be in the unclosed one
                self._counts[IDS] += 1
                is_new = not "".join(out[max(0, slot - 2) : slot])[-1:].strip("\n")
                out[slot] = f"{'' if is_new else chr(10)}# sent_id = {_BLANKS.sub(' ', name)}\n"
            units.append(Unit(begin, end, name, has_words))
        if text is not self._source:
            out[:] = [piece.replace(_ESCAPED[0], "-LRB-").replace(_ESCAPED[1], "-RRB-") for piece in out]
        self._add("", len(text))
        made = PlainText("".join(out))
        made.source, made.dialect, made.units, made.counts = self._source, self._dialect, units, self._counts
        made.begins = array("q", accumulate(map(len, out[:-1]), initial=0))
        made.sources = array("q", self._sources)
        return made

    def _add(self, piece: str, source: int) -> None:
        self._out.append(piece)
        self._sources.append(source)

    def _copy_gap(self, begin: int, end: int) -> str | None:
        """Copy what is between trees, without the dialect's lines; return the id that these have for the next tree."""
        name = None
        for line in self._between.finditer(self._text, begin, end):
            if begin < line.start():
                self._add(self._text[begin : line.start()], begin)
            begin = line.end()
            groups = line.groupdict()
            name = groups.get("id") or name
            if document := groups.get("document"):
                self._add(f"# newdoc id = {document}", line.start())
        if begin < end:
            self._add(self._text[begin:end], begin)
        return name

    def _tree(self, begin: int, behind: int, ids: list[str | None], keep: bool = False) -> tuple[int | None, int]:
        """Add a tree, or with `keep` the beginning of one; return its end, or None, and how far the text was read."""
        n_before, n_sources, stop = len(self._out), len(self._sources), behind
        opened = list[_Open]()
        self._n_removed, self._n_leaves, until = 0, 0, 0
        for piece in self._piece.finditer(self._text, begin, behind):
            place, kind = piece.start(), piece.lastindex
            if place < until:
                continue
            if kind == _WORDS:
                self._add_leaf(piece, ids)
            elif kind == _CLOSE:
                self._close(opened.pop(), piece)  # a tree begins with what opens it
            elif kind == _ATOM:
                self._add_atom(piece, opened[-1])
            else:
                label = piece[_OPEN] or ""
                if not label and opened and opened[-1].label:  # another tree, wherever the missing bracket belongs
                    stop = place
                    break
                is_markup = label and self._markup is not None and self._markup.fullmatch(label)
                if not is_markup or _HOLLOW.match(self._text, piece.end()):  # (CODE) <x> is a mistake
                    opened.append(_Open(len(self._out), self._n_removed, self._label(label), place, self._n_leaves))
                    self._add(f"({opened[-1].label}", place)
                    continue
                closed = self._closing(place, behind)
                if closed is None:
                    break
                until = closed
                self._remove(place, closed, ids)
            if not opened:
                end = max(until, piece.end())
                return end, end
        if not keep:
            del self._out[n_before:], self._sources[n_sources:]
        return None, stop

    def _add_unclosed(self, begin: int, behind: int) -> None:
        """Add the beginning of a tree whose end is missing."""
        n_before = len(self._out)
        _, stop = self._tree(begin, behind, [], keep=True)
        if len(self._out) == n_before:
            self._add(f"({label_at(self._text, begin)}", begin)
        if stop < behind:
            self._add("(", stop)
        self._add("\n", behind - 1)

    def _add_leaf(self, piece: re.Match[str], ids: list[str | None]) -> None:
        done = self._leaves.get(piece[0])
        text, kind = done or self._leaves.setdefault(piece[0], self._leaf(piece[1], piece[2]))
        if kind == MARKUP:
            self._remove(piece.start(), piece.end(), ids)
            return
        self._counts[kind] += 1
        self._out.append(text)
        self._sources.append(piece.start())
        if self._record is not None:
            self._n_leaves += 1
            self._note(kind, *piece.span(), self._label(piece[1]), self._n_leaves - 1)
            if kind == EMPTY and piece[1] != TRACE_TAG:
                self._note(PHRASE, *piece.span(), self._label(piece[1]), self._n_leaves - 1)

    def _add_atom(self, piece: re.Match[str], parent: _Open) -> None:
        """Add a word next to other nodes: a trace, or a word whose mark-up was taken out."""
        if not parent.label and len(self._out) == parent.place + 1:
            self._add("()", piece.start())  # a mistake, and not the label
        text, kind = self._leaf("", piece[0])
        self._counts[kind] += 1
        self._add(f" {text}", piece.start())
        self._n_leaves += 1
        self._note(kind, *piece.span(), "", self._n_leaves - 1)

    def _close(self, opening: _Open, piece: re.Match[str]) -> None:
        may_be_hollow = self._n_removed > opening.n_removed or (self._hollow and self._hollow.fullmatch(opening.label))
        if may_be_hollow and len(self._out) == opening.place + 1:
            self._n_removed += 1
            del self._out[opening.place :], self._sources[opening.place :]
        else:
            self._add(")", piece.start())
            self._note(PHRASE, opening.begin, piece.end(), opening.label, opening.n_leaves)

    def _remove(self, begin: int, end: int, ids: list[str | None]) -> None:
        """Leave mark-up out."""
        self._counts[MARKUP] += 1
        self._n_removed += 1
        if self._id is not None and (found := self._id.search(self._text, begin, end)):
            ids.append(found[1])
        self._note(MARKUP, begin, end, "", self._n_leaves)

    def _note(self, kind: str, begin: int, end: int, label: str, first: int) -> None:
        if self._record is not None:
            self._record.append(Piece(kind, begin, end, label, first, self._n_leaves))

    def _closing(self, begin: int, behind: int) -> int | None:
        depth = 0
        for bracket in _BRACKET.finditer(self._text, begin, behind):
            depth += 1 if bracket[0] == "(" else -1
            if not depth:
                return bracket.end()
        return None

    def _label(self, label: str) -> str:
        if label not in self._labels:
            found = label
            for pattern, by in self._replaced:
                found = pattern.sub(by, found) or found
            self._labels[label] = found
        return self._labels[label]

    def _leaf(self, label: str, words: str) -> tuple[str, str]:
        """Return a node over words in plain brackets, and what it is; "" is the label of words next to other nodes."""
        words = _BLANKS.sub(" ", words)
        is_markup = self._markup.fullmatch if label and self._markup is not None else None
        if is_markup and (is_markup(label) or is_markup(f"{label} {words}")):
            return "", MARKUP
        kind, word = WORD, words
        found = None if self._word is None else self._word.fullmatch(words)
        if label == TRACE_TAG or (self._empty is not None and self._empty.fullmatch(words)):
            kind = EMPTY
        elif found and found["word"]:
            word = found["word"].strip()
            if self._empty is not None and self._empty.fullmatch(word):
                kind = EMPTY
            word = word.replace(" ", "-U0020-")
        if kind == EMPTY and label != TRACE_TAG:
            word = f"({TRACE_TAG} {word})"
        elif kind == WORD and self._strip is not None:
            word = self._strip.sub("", word) or word
        return (f"({self._label(label)} {word})" if label else word), kind


def rewritten(text: str, dialect: Dialect, record: list[Piece] | None = None, skips: bool = False) -> PlainText:
    """Return a text of a dialect as plain brackets; `record` gets the parts of its trees."""
    return Rewriter(dialect, text, record).rewritten(skips)


class Dialects:
    """Which dialects the files of a treebank are in: a given one, or what each looks like; counts what is found.

    notify: gets a line for each dialect other than Penn whenever a treebank has been read.
    """

    def __init__(self, given: str | Path | Dialect | None = None, notify: Callable[[str], object] | None = None):
        self.given = None if given is None else find_dialect(given)  # whatever the files look like
        self._notify, self._is_suspicious, self.skips = notify, False, False  # whether readers skip malformed trees
        self._counts = dict[str, Counter[str]]()

    @classmethod
    def of(cls, given: str | Path | Dialect | Dialects | None) -> Dialects:
        """Return the dialects for an argument `dialect`. Raises the errors of `find_dialect`."""
        return given if isinstance(given, Dialects) else cls(given)

    def plain(self, text: str) -> str:
        """Return the text of a file as plain brackets; text of the Penn dialect stays as it is."""
        return text if (self.given or detect(text)).name == PENN else self.rewritten(text)

    def rewritten(self, text: str) -> PlainText:
        """Return the text of a file as plain brackets, whatever its dialect."""
        made = rewritten(text, self.given or detect(text), skips=self.skips)
        if made.dialect.name != PENN:
            self._counts.setdefault(made.dialect.title, Counter()).update({"files": 1, **made.counts})
        return made

    def add(self, other: Dialects) -> None:
        """Move the counts of others here."""
        while other._counts:
            title, counts = other._counts.popitem()
            self._counts.setdefault(title, Counter()).update(counts)

    def report(self, notify: Callable[[str], object] | None = None) -> None:
        """Say what was read since the last call, to `notify` or as always."""
        notify = notify or self._notify
        for title, counts in self._counts.items():
            found = [f"{counts['files']:,} file{'s' if counts['files'] > 1 else ''}", f"{counts[WORD]:,} words"]
            found += [f"{counts[kind]:,} {what}" for kind, what in _REPORTED.items() if counts[kind]]
            if notify is not None:
                notify(f"read as {title}: {', '.join(found)}")
        self._counts.clear()

    def warn(self, path: Path, text: str, labels: Iterable[str], ends: Sequence[tuple[str, str]]) -> None:
        """Warn, once, of what seems to be mark-up, by published labels, and tags and words at the ends of trees."""
        if not self._is_suspicious and (what := _suspicion(text, labels, ends)):
            self._is_suspicious = True
            advice = "--dialect (in Python: dialect=) says how it is to be read; docs/formats.md lists the dialects"
            warnings.warn(f"{path}: {what}; {advice}", UserWarning, stacklevel=3)


_NO_WORDS = frozenset(["ID", "CODE", "META", "METADATA", "COMMENT", "-DFL-", "lemma"])
_ANNOTATED_LABEL = re.compile(r"\w.*(?:##|=[^\d-])")
_TEXT = re.compile(r"^#[ \t]*text[ \t]*=[ \t]*(.+)\n(?:#[^\n]*\n)*([^#\n][^#]*)", re.MULTILINE)
_LETTERS = re.compile(r"[^\W_]")
_IS_ID = re.compile(r"\w.*\d")
_N_TEXTS = 20


def _suspicion(text: str, labels: Iterable[str], ends: Sequence[tuple[str, str]]) -> str | None:
    """Return what seems wrong with the trees of a text, or None."""
    known = set(labels)
    if found := sorted(known & _NO_WORDS):
        return f"there are nodes {found[0]}, which are mark-up in other treebanks, and were read as words or phrases"
    if len(odd := sorted(filter(_ANNOTATED_LABEL.search, known))) > 2:
        return f"there are {len(odd)} labels such as {odd[0]!r}, whose ends seem to be annotations"
    tags, words = ({end[k] for end in ends} for k in (0, 1))
    is_word = len(words) == 1 and any(map(str.isalnum, ends[0][1]))
    if len(ends) >= _N_TEXTS and (is_word or (len(tags) == 1 and all(map(_IS_ID.search, words)))):
        return f"every sentence ends in a word such as {ends[0][1]!r}, tagged {ends[0][0]}"
    beside = list(islice(_TEXT.finditer(text[:_BEGINNING]), _N_TEXTS))
    wrong = [one for one in beside if _LETTERS.findall(one[1]) != _LETTERS.findall(_words(one[2]))]
    if 2 * len(wrong) > len(beside):
        return f"the words of a tree do not fit the text beside it, {wrong[0][1]!r:.60}"
    return None


def _words(brackets: str) -> str:
    found = (leaf[1].split(None, 1) for leaf in _LEAF.finditer(brackets))
    return " ".join(raw_word(word, tag) for tag, word in found if tag != TRACE_TAG)
