"""Telling words that contain blanks from phrases whose words have no tags."""

from __future__ import annotations

import re

from spacy_incparse.trees.penn_labels import is_penn_tag

_MIN_SINGLE = 9  # nodes with one word for each node with several


class MultiwordTags:
    """The labels of a text that may be tags of words that contain blanks, as in `(NN per cent)`.

    The brackets of `(NN per cent)` and `(NP the cat)` look alike: only the label tells a word from a phrase. The Penn
    Treebank's tags are tags. Any other label must be used as a tag in the same text: never over nodes, and over one
    word at least nine times for each time over several.
    """

    def __init__(self, text: str):
        self._text = text
        self._known: dict[str, bool] = {}

    def __contains__(self, label: str) -> bool:
        found = self._known.get(label)
        if found is None:
            found = self._known[label] = is_penn_tag(label) or _is_used_as_tag(label, self._text)
        return found


def _is_used_as_tag(label: str, text: str) -> bool:
    n_single = n_several = 0
    for node in re.finditer(rf"\(\s*{re.escape(label)}(?![^\s()])\s*(?:(\()|[^\s()]+\s*(\)?))", text):
        if node.group(1):
            return False
        if node.group(2):
            n_single += 1
        else:
            n_several += 1
    return n_single >= _MIN_SINGLE * n_several
