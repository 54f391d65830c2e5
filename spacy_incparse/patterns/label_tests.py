"""Which labels and words fit the descriptions of a pattern: a bit mask for each, with a bit for each description."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from spacy_incparse.patterns.syntax import Atom, Description
from spacy_incparse.trees.labels import bare_label

Test = Callable[[str], object]


class LabelTests:
    """The descriptions of one pattern, tried on many labels or words at once.

    A literal fits a label with or without its functions; with `raw_labels` only the whole label. Words have none.
    """

    def __init__(self, descriptions: Sequence[Description], *, raw_labels: bool = False):
        self.descriptions = tuple(descriptions)
        self._raw_labels = raw_labels
        atoms = [atom for description in self.descriptions for atom in description.atoms]
        literals = sorted({atom.text for atom in atoms})
        # Where all is written out, a word's mask is one of these, or that of a word that no description mentions.
        self.known_words = dict(zip(literals, self.word_masks(literals), strict=True))
        unknown = next(text for k in range(len(literals) + 1) if (text := str(k)) not in self.known_words)
        is_open = any(atom.is_regex or atom.ignores_case for atom in atoms)
        self.other_words = None if is_open else self.word_masks([unknown])[0]  # None: each word has to be looked at

    def label_masks(self, labels: Sequence[str]) -> list[int]:
        """Return the mask of each label."""
        categories = [bare_label(label) for label in labels]
        found = [self._fitting_labels(description, labels, categories) for description in self.descriptions]
        return _masks(len(labels), found)

    def word_masks(self, words: Sequence[str]) -> list[int]:
        """Return the mask of each word."""
        return _masks(len(words), [_fitting(description, words) for description in self.descriptions])

    def captured(self, description: Description, group: int, texts: Sequence[str], *, words: bool) -> list[str | None]:
        """Return what a group of the description's last regular expression has found in each label or word."""
        search = _regex(description.atoms[-1]).search
        plain = texts if words or not description.by_category else [bare_label(text) for text in texts]
        return [match.group(group) if (match := search(text)) else None for text in plain]

    def _fitting_labels(
        self, description: Description, labels: Sequence[str], categories: Sequence[str]
    ) -> Iterable[object]:
        if description.is_leaf:
            return [False] * len(labels)
        if description.by_category:
            return _fitting(description, categories)
        if self._raw_labels:
            return _fitting(description, labels)
        tests = [_test(atom) for atom in description.atoms]
        literals = [test for test, atom in zip(tests, description.atoms, strict=True) if not atom.is_regex]
        negated = description.is_negated
        return [
            (any(test(label) for test in tests) or any(test(category) for test in literals) or not tests) != negated
            for label, category in zip(labels, categories, strict=True)
        ]


def _masks(n_texts: int, fitting: Sequence[Iterable[object]]) -> list[int]:
    """Return the masks of texts from whether they fit each description."""
    masks = [0] * n_texts
    for bit, found in enumerate(fitting):
        if bit == 0:
            masks = [1 if fits else 0 for fits in found]
        else:
            value = 1 << bit
            masks = [mask | value if fits else mask for mask, fits in zip(masks, found, strict=True)]
    return masks


def _fitting(description: Description, texts: Sequence[str]) -> Iterable[object]:
    """Return for each text whether it fits as it stands."""
    if not description.atoms:
        return [not description.is_negated] * len(texts)
    found: Iterable[object] = map(_test(description.atoms[0]), texts)
    if len(description.atoms) > 1:
        tests = [_test(atom) for atom in description.atoms]
        found = (any(test(text) for test in tests) for text in texts)
    return (not fits for fits in found) if description.is_negated else found


def _test(atom: Atom) -> Test:
    if atom.is_regex:
        return _regex(atom).search
    if atom.ignores_case:
        lowered = atom.text.casefold()
        return lambda text: text.casefold() == lowered
    return atom.text.__eq__


def _regex(atom: Atom) -> re.Pattern[str]:
    return re.compile(atom.text, re.IGNORECASE if atom.ignores_case else 0)
