"""What relations and dependencies need to know of a language and of its treebank, as data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import srsly

from spacy_incparse.errors import ConfigError
from spacy_incparse.trees.heads import HeadRules

FORMAT = "spacy-incparse relations 1"
NAMES = ("en",)

Conditions = tuple[tuple[str, re.Pattern[str]], ...]
Features = tuple[tuple[str, str | tuple[str, ...]], ...]


@dataclass(frozen=True)
class LanguageTable:
    """Classes of words and of phrases, heads that are content words, and rules for the labels of dependencies.

    word_classes: names for the tags of some words, such as BE: (name, tags, words), where tags and words are regular
        expressions. words: lists of words that rules ask for, in lower case. categories: sets of labels.
    """

    name: str
    word_classes: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]
    words: dict[str, re.Pattern[str]]
    categories: dict[str, frozenset[str]]
    heads: HeadRules
    head_functions: dict[str, str]  # what a phrase of a clause with this function is called in the head table
    alike: tuple[frozenset[str], ...]  # labels that can be coordinated
    labels: tuple[tuple[str, Conditions], ...]
    enhanced: dict[str, str]  # relation -> the label of an enhanced dependency
    raised: tuple[str, str]  # the labels of the subject of an infinitive under a verb, and of the infinitive
    fixed: tuple[tuple[str, ...], ...]  # expressions of several words, in lower case
    _labels: dict[Features, str] = field(default_factory=dict, repr=False, compare=False)
    _classes: dict[tuple[str, str], str] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def find(cls, name_or_path: str | Path) -> LanguageTable:
        """Return a built-in table by its name ("en"), or read one from a JSON file.

        Raises ConfigError with the file and the entry that is wrong.
        """
        known = str(name_or_path) in NAMES
        path = Path(__file__).parent / "tables" / f"{name_or_path}.json" if known else Path(name_or_path)
        try:
            data = srsly.read_json(path)
        except OSError as error:
            raise ConfigError(
                f"there is no table of relations {str(name_or_path)!r} ({error.strerror}): choose from "
                f"{', '.join(NAMES)}, or give a JSON file"
            ) from None
        except ValueError as error:
            raise ConfigError(f"{path}: invalid JSON in the table of relations: {error}") from None
        return cls.from_dict(data, where=str(path))

    @classmethod
    def from_dict(cls, data: Any, *, where: str = "table of relations") -> LanguageTable:
        """Return the table in a dict from JSON; the message of a ConfigError begins with `where`."""
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise ConfigError(f"{where}: expected an object with the format {FORMAT!r}")
        entry = ""
        try:
            read = {}
            for entry, convert in _ENTRIES.items():
                read[entry] = convert(data[entry])
        except KeyError as error:
            raise ConfigError(f"{where}: {str(error)!s} is missing in {entry!r}") from None
        except (AttributeError, TypeError, ValueError, re.error) as error:
            raise ConfigError(f"{where}: {entry!r} is not as expected: {error}") from None
        return cls(str(data.get("name", where)), heads=HeadRules.from_dict(data.get("heads"), where=where), **read)

    def word_class(self, tag: str, word: str) -> str:
        """Return the class of a word, or its tag if it is in none."""
        key = tag, word.lower()
        if key not in self._classes:
            found = (name for name, tags, words in self.word_classes if tags.fullmatch(tag) and words.fullmatch(key[1]))
            self._classes[key] = next(found, tag)
        return self._classes[key]

    def label(self, features: Features) -> str:
        """Return the label of a dependency: that of the first rule whose conditions hold; "dep" if there is none."""
        if features not in self._labels:
            known = dict(features)
            fits = (label for label, conditions in self.labels if all(_holds(known, *one) for one in conditions))
            self._labels[features] = next(fits, "dep")
        return self._labels[features]

    def has_word(self, kind: str, word: str) -> bool:
        """Return whether a word is in one of the lists of `words`."""
        return self.words[kind].fullmatch(word.lower()) is not None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_classes": {}, "_labels": {}}


@cache
def english() -> LanguageTable:
    """Return the built-in table for English."""
    return LanguageTable.find("en")


def _holds(features: Mapping[str, str | tuple[str, ...]], name: str, pattern: re.Pattern[str]) -> bool:
    """Return whether a feature, or one of its values, is what a condition asks for."""
    value = features[name]
    return any(map(pattern.fullmatch, (value,) if isinstance(value, str) else value))


def _label_rule(row: str) -> tuple[str, Conditions]:
    """Return the label and the conditions in a line such as "nsubj child=NP functions=SBJ"."""
    label, *conditions = row.split()
    pairs = (condition.split("=", 1) for condition in conditions)
    return label, tuple((name, re.compile(pattern)) for name, pattern in pairs)


_ENTRIES: dict[str, Any] = {
    "word_classes": lambda rows: tuple((name, re.compile(tags), re.compile(words)) for name, tags, words in rows),
    "words": lambda lists: {name: re.compile(words) for name, words in lists.items()},
    "categories": lambda sets: {name: frozenset(labels) for name, labels in sets.items()},
    "head_functions": dict,
    "alike": lambda sets: tuple(map(frozenset, sets)),
    "labels": lambda rows: tuple(map(_label_rule, rows)),
    "enhanced": dict,
    "raised": tuple,
    "fixed": lambda phrases: tuple(tuple(phrase.split()) for phrase in phrases),
}
