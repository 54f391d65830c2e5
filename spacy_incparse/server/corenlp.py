"""The protocol of CoreNLP's server: its properties, its formats, and search with Tregex."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from math import inf
from time import monotonic
from typing import Any
from urllib.parse import unquote_plus

from spacy_incparse.errors import IncparseError
from spacy_incparse.functions.dependencies import Dependency, conllu_lines, dependencies, enhanced_dependencies
from spacy_incparse.functions.tables import english
from spacy_incparse.patterns import Pattern
from spacy_incparse.server.parsing import Sentence, Service, Wanted
from spacy_incparse.server.protobuf import GRAPHS, document
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

ANNOTATORS = ("tokenize", "ssplit", "pos", "lemma", "parse", "depparse")
FORMATS = {
    "json": "application/json", "text": "text/plain", "conllu": "text/plain", "serialized": "application/x-protobuf",
}  # fmt: skip
_ENCODINGS = ("utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1")
_WIDTH = 60  # of brackets


def read_request(query: Mapping[str, str], language: str) -> Wanted:
    """Return what the parameters of a URL ask for; unknown ones are ignored.

    All may also stand in `properties`, a JSON object or a Python dict. Raises IncparseError for what cannot be done.
    """
    given, is_english = dict(query) | _properties(query.get("properties", "{}").strip()), language == "en"
    form, known = given.get("outputFormat", "json").lower(), ANNOTATORS if is_english else ANNOTATORS[:-1]
    names = frozenset(re.findall(r"[^,\s]+", given.get("annotators", ",".join(known))))
    for kind, values, allowed in (
        ("annotator", names, known),
        ("outputFormat", {form}, FORMATS if is_english else FORMATS.keys() - {"conllu"}),
        ("inputFormat", {given.get("inputFormat", "text")}, ["text"]),
        ("pipelineLanguage", {given.get("pipelineLanguage", language).lower()}, [language, *["english"] * is_english]),
    ):
        if wrong := sorted(values - set(allowed)):
            raise IncparseError(f"the {kind} {wrong[0]!r:.60} does not exist here: choose from {', '.join(allowed)}")
    is_set = {name for name, value in given.items() if value.lower() == "true"}
    by_line, is_one = "ssplit.eolonly" in is_set, "ssplit.isOneSentence" in is_set
    breaks = "always" if by_line else given.get("ssplit.newlineIsSentenceBreak", "")
    separator = None if is_one else {"always": r"\r\n?|\n", "two": r"\n\s*\n"}.get(breaks)
    trees, functions = form == "conllu" or not names <= {"tokenize", "ssplit"}, "depparse" in names
    cut = (trees, functions, separator, by_line or is_one, "tokenize.whitespace" in is_set)
    timeout = re.fullmatch("[0-9]{1,9}", given.get("timeout", ""))  # in milliseconds
    more = (query.get("pattern", ""), int(timeout[0]) / 1000 if timeout else inf)
    return Wanted(*cut, names, form, "tokenize.codepoint" in is_set, *more)


def _properties(text: str) -> dict[str, str]:
    values: Any = None
    with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        try:
            values = json.loads(text)
        except ValueError:
            values = ast.literal_eval(text[:10_000])
    texts = [*values, *values.values()] if isinstance(values, dict) else [None]
    if not all(isinstance(one, str | int | float) for one in texts):
        raise IncparseError(f"properties is {text!r:.60}: it must be a JSON object of texts, numbers and booleans")
    return {str(name): str(value) for name, value in values.items()}


def read_text(body: bytes, content_type: str) -> str:
    """Return the text of a body as CoreNLP does, which unquotes forms. Raises IncparseError if it is none."""
    kind, _, rest = content_type.partition(";")
    found = re.search(r"charset\s*=\s*[\"']?([^\s;\"']+)", rest, re.IGNORECASE)
    name = found[1].lower() if found else "utf-8"
    if name not in _ENCODINGS:
        raise IncparseError(f"the charset is {name!r:.60}: send UTF-8")
    try:
        text = body.decode(name)
    except UnicodeDecodeError as error:
        raise IncparseError(f"byte {error.start} of the text, 0x{body[error.start]:02x}, is not {name}") from None
    is_form = kind.strip().lower() in ("", "application/x-www-form-urlencoded")
    return unquote_plus(text) if is_form and not re.search(r"%(?![\da-fA-F]{2})", text) else text


def _places(before: Sequence[int], start: int, end: int, codepoints: bool) -> dict[str, int]:
    found = {"characterOffsetBegin": before[start], "characterOffsetEnd": before[end]}
    return found | ({"codepointOffsetBegin": start, "codepointOffsetEnd": end} if codepoints else {})


def annotate(service: Service, text: str, asked: Wanted, deadline: float) -> bytes:
    """Return the annotation of a text in the format that is asked for."""
    sentences = service.sentences(text, asked, deadline)
    rows = list(_rows(sentences, text, asked))
    if asked.format == "serialized":
        return document(text, rows, [one.tree if "parse" in asked.annotators else None for one in sentences])
    if asked.format == "json":
        found = [{name: value for name, value in row.items() if name != "text"} for row in rows]
        return json.dumps({"sentences": found}, ensure_ascii=False).encode()
    lines = _lines if asked.format == "text" else _conllu
    return "".join(f"{line}\n" for row, one in zip(rows, sentences, strict=True) for line in lines(row, one)).encode()


def _rows(sentences: Sequence[Sentence], text: str, asked: Wanted) -> Iterator[dict[str, Any]]:
    """Yield each sentence as CoreNLP's JSON has it, and with its text."""
    number, before = 0, [0, *accumulate(1 + (char > "\uffff") for char in text)]  # as Java counts
    ends = [0, *(end for one in sentences for end in one.ends)]  # of the word before each word
    starts = [*(start for one in sentences for start in one.starts), len(text)]
    for index, one in enumerate(sentences):
        row: dict[str, Any] = {"index": index, "text": text[one.starts[0] : one.ends[-1]]}
        if one.tree and "parse" in asked.annotators:
            row["parse"] = one.tree.to_string(width=_WIDTH)
        if one.tree and "depparse" in asked.annotators:
            basic = list(enumerate(dependencies(one.tree.arrays, english())))
            enhanced = {*basic, *enhanced_dependencies(one.tree.arrays, english())}
            graphs = zip(GRAPHS, (basic, enhanced, enhanced), strict=True)
            row |= {name: _edges(one.words, found) for name, found in graphs}
        row["tokens"] = tokens = list[dict[str, Any]]()
        for i, (word, start, end) in enumerate(zip(one.words, one.starts, one.ends, strict=True)):
            token: dict[str, Any] = {"index": i + 1, "word": word, "originalText": text[start:end]}
            token |= {"lemma": "_"} if "lemma" in asked.annotators else {}  # none is known: as in CoNLL-U
            token |= _places(before, start, end, asked.codepoints) | ({"pos": one.tree.tags[i]} if one.tree else {})
            tokens.append(token | {"before": text[ends[number] : start], "after": text[end : starts[number + 1]]})
            number += 1
        yield row


def _edges(words: Sequence[str], found: Iterable[tuple[int, Dependency]]) -> list[dict[str, Any]]:
    """Return dependencies as objects, the roots first."""
    names, glosses = ("dep", "governor", "governorGloss", "dependent", "dependentGloss"), ["ROOT", *words]
    edges = sorted((head + 1, word + 1, label if head >= 0 else "ROOT") for word, (head, label) in found)
    values = ((label, head, glosses[head], word, glosses[word]) for head, word, label in edges)
    return [dict(zip(names, one, strict=True)) for one in values]


def _lines(row: Mapping[str, Any], _: Sentence) -> Iterator[str]:
    """Yield a sentence as lines for people."""
    names = {"Text": "word", "PartOfSpeech": "pos", "Lemma": "lemma"}
    names |= {f"C{name}": f"c{name}" for name in ("haracterOffsetBegin", "haracterOffsetEnd")}
    yield from (f"Sentence #{row['index'] + 1} ({len(row['tokens'])} tokens):", row["text"], "", "Tokens:")
    for token in row["tokens"]:
        yield f"[{' '.join(f'{name}={token[key]}' for name, key in names.items() if key in token)}]"
    if "parse" in row:
        yield from ("", "Constituency parse: ", row["parse"])
    if GRAPHS[-1] in row:
        yield from ("", "Dependency Parse (enhanced plus plus dependencies):")
    for edge in row.get(GRAPHS[-1], ()):
        label = edge["dep"] if edge["governor"] else "root"
        yield f"{label}({edge['governorGloss']}-{edge['governor']}, {edge['dependentGloss']}-{edge['dependent']})"
    yield ""


def _conllu(row: Mapping[str, Any], one: Sentence) -> Iterator[str]:
    yield f"# text = {' '.join(row['text'].split())}"
    no_space = [not token["after"] for token in row["tokens"]]
    if one.tree:
        yield from conllu_lines(one.tree.arrays, one.words, no_space, HeadRules.from_name("en"), english())
    yield ""


def search(service: Service, text: str, asked: Wanted, deadline: float) -> bytes:
    """Return, as JSON, the matches of a pattern in the trees of a text. Raises IncparseError if it is wrong."""
    pattern = Pattern(asked.pattern, timeout=max(deadline - monotonic(), 0))
    pattern.doubtful = set()  # a label that no tree of a short text has is no mistake
    sentences = service.sentences(text, asked._replace(trees=True), deadline)
    found, before = [dict[str, Any]() for _ in sentences], [0, *accumulate(1 + (char > "\uffff") for char in text)]

    def shown(node: Tree, number: int, *, is_word: bool = False) -> dict[str, Any]:
        brackets = node.words[0] if is_word else node.to_string(width=_WIDTH)
        bounds = sentences[number].starts[node.start], sentences[number].ends[node.end - 1]
        place: dict[str, Any] = {**_places(before, *bounds, asked.codepoints)}
        return place | {"match": f"{brackets}\n", "spanString": " ".join(node.words)}

    for node, groups, is_word, number in pattern.search((one.tree for one in sentences if one.tree), every=True):
        named = [{name: shown(one, number)} for name, one in groups.items()]
        whole = {"sentIndex": number, **shown(node, number, is_word=is_word), "namedNodes": named}
        found[number][str(len(found[number]))] = whole
    return json.dumps({"sentences": found}, ensure_ascii=False).encode()
