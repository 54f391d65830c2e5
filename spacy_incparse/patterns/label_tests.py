"""Tests of labels and words against the descriptions of a pattern: bit masks with a bit for each description."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import monotonic

from spacy_incparse.errors import IncparseError
from spacy_incparse.patterns.bounded_regex import bounded_regex
from spacy_incparse.patterns.syntax import Atom, Description
from spacy_incparse.trees.labels import bare_label

Test = Callable[[str], object]


class LabelTests:
    """The descriptions of one pattern, tested on many labels or words at once.

    A literal fits a label with or without its functions; with `raw_labels` only the whole label. Words have none.
    timeout: seconds that regular expressions may take for the labels or words of one call; None: no limit.
    """

    def __init__(self, descriptions: Sequence[Description], *, raw_labels: bool = False, timeout: float | None = None):
        self.descriptions = tuple(descriptions)
        self._raw_labels, self._timeout = raw_labels, timeout
        atoms = [atom for description in self.descriptions for atom in description.atoms]
        literals = sorted({atom.text for atom in atoms})
        # If all descriptions are literals, a word's mask is one of these, or that of any word not mentioned.
        self.known_words = dict(zip(literals, self._word_masks(literals), strict=True))
        unknown = next(text for k in range(len(literals) + 1) if (text := str(k)) not in self.known_words)
        is_open = any(atom.is_regex or atom.ignores_case for atom in atoms)
        self.other_words = None if is_open else self._word_masks([unknown])[0]  # None: each word must be tested

    def label_masks(self, labels: Sequence[str]) -> list[int]:
        """Return the mask of each label."""
        categories = [bare_label(label) for label in labels]
        deadline = self._deadline()
        found = [self._fitting_labels(description, labels, categories, deadline) for description in self.descriptions]
        return _masks(len(labels), found)

    def word_masks(self, words: Sequence[str]) -> list[int]:
        """Return the mask of each word."""
        return self._word_masks(words, self._deadline())

    def _word_masks(self, words: Sequence[str], deadline: Deadline | None = None) -> list[int]:
        return _masks(len(words), [_fitting(description, words, deadline) for description in self.descriptions])

    def captured(self, description: Description, group: int, texts: Sequence[str], *, words: bool) -> list[str | None]:
        """Return the match of a group of the description's last regular expression in each label or word."""
        atom = description.atoms[-1]
        regex = bounded_regex(atom.text, atom.ignores_case)
        plain = texts if words or not description.by_category else [bare_label(text) for text in texts]
        return regex.groups(group, plain)

    def _deadline(self) -> Deadline | None:
        return None if self._timeout is None else Deadline(self._timeout)

    def _fitting_labels(
        self, description: Description, labels: Sequence[str], categories: Sequence[str], deadline: Deadline | None
    ) -> Iterable[object]:
        if description.is_leaf:
            return [False] * len(labels)
        if description.by_category:
            return _fitting(description, categories, deadline)
        if self._raw_labels:
            return _fitting(description, labels, deadline)
        tests = [_test(atom, labels, deadline) for atom in description.atoms]
        literals = [test for test, atom in zip(tests, description.atoms, strict=True) if not atom.is_regex]
        negated = description.is_negated
        return [
            (any(test(label) for test in tests) or any(test(category) for test in literals) or not tests) != negated
            for label, category in zip(labels, categories, strict=True)
        ]


def _masks(n_texts: int, fitting: Sequence[Iterable[object]]) -> list[int]:
    """Return the masks of texts, given which texts fit each description."""
    masks = [0] * n_texts
    for bit, found in enumerate(fitting):
        if bit == 0:
            masks = [1 if fits else 0 for fits in found]
        else:
            value = 1 << bit
            masks = [mask | value if fits else mask for mask, fits in zip(masks, found, strict=True)]
    return masks


def _fitting(description: Description, texts: Sequence[str], deadline: Deadline | None) -> Iterable[object]:
    """Return for each text whether it fits unchanged."""
    if not description.atoms:
        return [not description.is_negated] * len(texts)
    found: Iterable[object] = map(_test(description.atoms[0], texts, deadline), texts)
    if len(description.atoms) > 1:
        tests = [_test(atom, texts, deadline) for atom in description.atoms]
        found = (any(test(text) for test in tests) for text in texts)
    return (not fits for fits in found) if description.is_negated else found


def _test(atom: Atom, texts: Sequence[str], deadline: Deadline | None) -> Test:
    if atom.is_regex:
        search = bounded_regex(atom.text, atom.ignores_case).test_for(texts)
        return deadline.guarded(search, atom.text) if deadline else search
    if atom.ignores_case:
        lowered = atom.text.casefold()
        return lambda text: text.casefold() == lowered
    return atom.text.__eq__


class Deadline:
    """A time after which no more labels or words are tested."""

    def __init__(self, seconds: float):
        self._seconds, self._end = seconds, monotonic() + seconds

    def guarded(self, test: Callable[[str], object], regex: str) -> Callable[[str], object]:
        """Return the test of a regular expression such that it raises IncparseError after the deadline."""

        def _test(text: str) -> object:
            if monotonic() > self._end:
                raise IncparseError(
                    f"the regular expressions took more than {self._seconds:g} seconds, and got as far as "
                    f"/{regex}/ on {text[:40]!r}: write them with fewer repetitions, or raise --timeout (in Python: "
                    f"timeout=)"
                )
            return test(text)

        return _test
