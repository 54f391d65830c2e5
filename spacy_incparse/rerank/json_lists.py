"""N-best lists as JSON lines: one object for each sentence."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy_incparse.errors import TreebankError
from spacy_incparse.rerank.candidate_list import CandidateList
from spacy_incparse.rerank.list_lines import Line, score_of, temperature_of
from spacy_incparse.rerank.list_records import FOUND_BY_SEARCH, Brackets, ListRecord

_EXPECTED = 'expected an object such as {"nbest": [{"tree": "(TOP ...)", "score": -41.2}]}'


def read_json_lists(path: Path, lines: Iterable[Line]) -> Iterator[ListRecord]:
    """Yield the lists of JSON lines, also of those that `parse --nbest K --format json` writes."""
    for number, text in lines:
        if not text or text.isspace():
            continue
        yield _record(path, number, _object(path, number, text))


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


def _object(path: Path, number: int, text: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        what = f"the line is not JSON, or truncated: {error.msg}; {_EXPECTED}"
        raise TreebankError(path, number, error.colno, what) from None
    except (RecursionError, ValueError):  # a number of thousands of digits
        raise TreebankError(
            path, number, 1, f"the JSON is nested too deeply, or has a huge number; {_EXPECTED}"
        ) from None
    if not isinstance(content, dict):
        raise TreebankError(path, number, 1, f"{text!r:.40} is no object; {_EXPECTED}")
    return content


def _record(path: Path, number: int, content: dict[str, Any]) -> ListRecord:
    analyses = content.get("nbest")
    if not isinstance(analyses, list):
        what = "no list" if "nbest" not in content else f"{analyses!r:.40}, no list,"
        raise TreebankError(path, number, 1, f'there is {what} under "nbest"; {_EXPECTED}')
    record = ListRecord(number, words=_words(path, number, content.get("words")))
    for analysis in analyses:
        if not isinstance(analysis, dict):
            raise TreebankError(path, number, 1, f'{analysis!r:.40} under "nbest" is no object; {_EXPECTED}')
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


def _words(path: Path, number: int, value: object) -> list[str] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise TreebankError(path, number, 1, f'there is {value!r:.40} under "words"; expected a list of words')
    return value
