"""The commands of the workbench that change a tree, and the phrases that a change says are right or wrong."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from spacy_incparse.errors import IncparseError
from spacy_incparse.repair.relabelling import numbered_phrases
from spacy_incparse.repair.repair import EditError, delete, emptied, excise, insert, move
from spacy_incparse.tokens import escape_label
from spacy_incparse.trees.arrays import Phrase, TreeArrays, children, lowest_common, replaced
from spacy_incparse.trees.builder import tree_of_phrases
from spacy_incparse.trees.labels import ROOT, TRACE_TAG, WRAPPERS
from spacy_incparse.trees.tree import Tree

_INDEX = re.compile(r"-(\d+)(?=[-=]|$)")
_BLANKS = re.compile(r"[ \t\r\n\v\f]")


def edited(tree: Tree, action: Mapping[str, Any]) -> Tree:
    """Return the tree after an action, such as {"do": "wrap", "first": 2, "last": 5, "label": "NP"}.

    Nodes are given by their numbers in pre-order. Words, traces apart, stay and keep their order. Raises IncparseError,
    saying why, if the action is impossible or would change nothing.
    """
    arrays = tree.own_arrays
    try:
        found = EDITS[action["do"]](arrays, action)
    except EditError as error:
        raise IncparseError(f"{error}") from None
    except (KeyError, TypeError) as error:
        raise IncparseError(f"the action {dict(action)!r:.200} is unknown or incomplete ({error})") from None
    if found == arrays:
        raise IncparseError("this would change nothing")
    return Tree(found)


def node_of(arrays: TreeArrays, action: Mapping[str, Any], key: str = "node") -> int:
    """Return the node that an action names. Raises IncparseError if there is no such node."""
    node = action.get(key)
    if type(node) is not int or not 0 <= node < len(arrays.sizes):
        raise IncparseError(f"{key} is {node!r:.40}: the tree has the nodes 0 to {len(arrays.sizes) - 1}")
    return node


def _label(action: Mapping[str, Any], key: str = "label") -> str:
    label = action[key]
    if not isinstance(label, str) or not label or _BLANKS.search(label) or escape_label(label) != label:
        raise IncparseError(f"{label!r:.40} is no label: it needs letters, and neither blanks nor brackets")
    if label == TRACE_TAG:
        raise IncparseError(f"the tag {TRACE_TAG} is for traces, and words and phrases have others: no word gets lost")
    return label


def _named(arrays: TreeArrays, node: int) -> str:
    words = " ".join(arrays.words[arrays.starts[node] : arrays.ends[node]])
    return f"{arrays.labels[node]} over {words!r:.60}"


def _relabel(arrays: TreeArrays, action: Mapping[str, Any]) -> TreeArrays:
    node, label = node_of(arrays, action), _label(action)
    if node == 0 and arrays.labels[0] in WRAPPERS:
        raise IncparseError("the root stands around the tree: its label is that of the treebank")
    if arrays.sizes[node] == 1 and arrays.labels[node] == TRACE_TAG:
        raise IncparseError(f"{_named(arrays, node)} is a trace, whose tag is always {TRACE_TAG}")
    return _with(arrays, {node: label})


def _with(arrays: TreeArrays, labels: Mapping[int, str], words: Mapping[int, str] | None = None) -> TreeArrays:
    new = [labels.get(i, label) for i, label in enumerate(arrays.labels)]
    return TreeArrays.of(new, arrays.sizes, [(words or {}).get(i, word) for i, word in enumerate(arrays.words)])


def _wrap(arrays: TreeArrays, action: Mapping[str, Any]) -> TreeArrays:
    first, last = sorted((node_of(arrays, action, "first"), node_of(arrays, action, "last")))
    label = _label(action)
    if action.get("force"):  # what crosses the new phrase goes
        span = "", arrays.starts[first], arrays.ends[last]
        spans = [("", *pair) for pair in zip(arrays.starts, arrays.ends, strict=True)]
        for node in reversed([k for k, one in enumerate(spans) if crosses(one, span)]):
            arrays = excise(arrays, node).arrays
        first, last = arrays.leaves[span[1]], arrays.leaves[span[2] - 1]
    top = lowest_common(arrays, first, last)
    if top == 0 and 0 in (first, last) and arrays.labels[0] not in WRAPPERS:
        return TreeArrays.of((label, *arrays.labels), (len(arrays.sizes) + 1, *arrays.sizes), arrays.words)
    if top not in (first, last):
        below = list(children(arrays, top))
        left, right = (next(c for c in below if c <= one < c + arrays.sizes[c]) for one in (first, last))
        for whole, is_cut in (
            (left, arrays.starts[left] != arrays.starts[first]), (right, arrays.ends[right] != arrays.ends[last])
        ):  # fmt: skip
            if is_cut:
                raise IncparseError(f"the phrase would cross {_named(arrays, whole)}: Shift+W dissolves that one")
        first, last = left, right
    else:
        first = last = top
    return insert(arrays, first, last, label).arrays


def _dissolve(arrays: TreeArrays, action: Mapping[str, Any]) -> TreeArrays:
    node = node_of(arrays, action)
    if arrays.sizes[node] == 1:
        raise IncparseError(f"{_named(arrays, node)} is a word with its tag: only phrases can be dissolved")
    if node == 0:
        raise IncparseError("the root cannot be dissolved: the tree would fall apart")
    return excise(arrays, node).arrays


def _move(arrays: TreeArrays, action: Mapping[str, Any]) -> TreeArrays:
    node, to = node_of(arrays, action), node_of(arrays, action, "to")
    if arrays.sizes[to] == 1:
        raise IncparseError(f"{_named(arrays, to)} is a word: move to a phrase, or wrap the word first")
    if to == arrays.parents[node]:
        raise IncparseError(f"it is already in {_named(arrays, to)}")
    if node <= to < node + arrays.sizes[node]:
        raise IncparseError("a phrase cannot be moved into itself")
    reason = ""
    for number in range(1, sum(1 for _ in children(arrays, to)) + 2):
        try:
            return _merged(arrays, move(arrays, node, f">{number}", to).arrays)
        except EditError as error:
            reason = str(error)
    raise IncparseError(f"{_named(arrays, node)} cannot go into {_named(arrays, to)}: {reason}")


def _merged(before: TreeArrays, after: TreeArrays) -> TreeArrays:
    """Merge phrases that a move has left alone in one of their own label."""
    old, node = Counter(Tree(before).spans()), 0
    while node + 1 < len(after.sizes):
        is_alone = after.sizes[node] == after.sizes[node + 1] + 1 and after.sizes[node + 1] > 1
        if is_alone and after.labels[node] == after.labels[node + 1]:
            phrase = after.labels[node], after.starts[node], after.ends[node]
            if Counter(Tree(after).spans())[phrase] > max(old[phrase], 1):
                after = excise(after, node + 1).arrays
                continue
        node += 1
    return after


def _split(arrays: TreeArrays, action: Mapping[str, Any]) -> TreeArrays:
    node, at = _word_node(arrays, action), action["at"]
    word, tag = arrays.words[arrays.starts[node]], arrays.labels[node]
    if type(at) is not int or not 0 < at < len(word):
        raise IncparseError(f"{word!r:.40} has {len(word)} characters: it cannot be split after {at!r:.20}")
    if node == 0:
        raise IncparseError("a tree of one tag has no room for two words: wrap it first")
    return replaced(arrays, arrays.parents[node], node, 1, [(tag, 1, word[:at]), (tag, 1, word[at:])])


def _join(arrays: TreeArrays, action: Mapping[str, Any]) -> TreeArrays:
    node = _word_node(arrays, action)
    start = arrays.starts[node] + 1
    if start == len(arrays.words) or arrays.labels[top := arrays.leaves[start]] == TRACE_TAG:
        raise IncparseError(f"no word follows {arrays.words[start - 1]!r:.40} immediately")
    top = emptied(arrays, top)
    joined = _with(arrays, {}, {start - 1: arrays.words[start - 1] + arrays.words[start]})
    return replaced(joined, arrays.parents[top], top, arrays.sizes[top], [])


def _word_node(arrays: TreeArrays, action: Mapping[str, Any]) -> int:
    node = node_of(arrays, action)
    if arrays.sizes[node] > 1 or arrays.labels[node] == TRACE_TAG:
        raise IncparseError(f"{_named(arrays, node)} is no word")
    return node


def _trace(arrays: TreeArrays, action: Mapping[str, Any]) -> TreeArrays:
    """Put a trace, such as *T*, under a phrase, as its child number `at` from 0, in a phrase of its own if labelled."""
    parent, at, kind = node_of(arrays, action), action["at"], _label(action, "type")
    if arrays.sizes[parent] == 1:
        raise IncparseError(f"{_named(arrays, parent)} is a word: a trace stands in a phrase")
    places = [*children(arrays, parent), parent + arrays.sizes[parent]]
    if type(at) is not int or not 0 <= at < len(places):
        raise IncparseError(f"at is {at!r:.20}: {_named(arrays, parent)} has the places 0 to {len(places) - 1}")
    new = [(_label(action), 2, ""), (TRACE_TAG, 1, kind)] if action.get("label") else [(TRACE_TAG, 1, kind)]
    return replaced(arrays, parent, places[at], 0, new)


def _coindex(arrays: TreeArrays, action: Mapping[str, Any]) -> TreeArrays:
    """Give a trace the index of its antecedent, which gets one if it has none; without antecedent, take it away."""
    node = node_of(arrays, action)
    if arrays.sizes[node] > 1 or arrays.labels[node] != TRACE_TAG:
        raise IncparseError(f"{_named(arrays, node)} is no trace: the index of a phrase is part of its label")
    start = arrays.starts[node]
    word = re.sub(r"(?<=.)-\d+$", "", arrays.words[start])
    if action.get("to") is None:
        return _with(arrays, {}, {start: word})
    to = node_of(arrays, action, "to")
    if to <= node < to + arrays.sizes[to] or to == 0 or arrays.sizes[to] == 1:
        raise IncparseError("the antecedent of a trace is a phrase that it is not in")
    label = arrays.labels[to]
    found = _INDEX.search(label, 1)
    used = [int(one[1]) for one in (_INDEX.search(label, 1) for label in arrays.labels) if one]
    index = found[1] if found else str(max(used, default=0) + 1)
    return _with(arrays, {} if found else {to: f"{label}-{index}"}, {start: f"{word}-{index}"})


EDITS: dict[str, Callable[[TreeArrays, Mapping[str, Any]], TreeArrays]] = {
    "relabel": _relabel, "wrap": _wrap, "dissolve": _dissolve, "move": _move, "split": _split, "join": _join,
    "trace": _trace, "coindex": _coindex,
    "delete": lambda arrays, action: delete(arrays, node_of(arrays, action)).arrays,
}  # fmt: skip
RETOKENIZING, TRACING = ("split", "join"), ("trace", "delete")


def words_and_tags(tree: Tree) -> tuple[list[str], list[str]]:
    """Return the words that are no traces, and their tags."""
    overt, tags = tree.own_arrays.overt, tree.tags
    return [tree.words[i] for i in overt], [tags[i] for i in overt]


Forbidden = tuple[str | None, int, int]


def learned(
    before: Tree, after: Tree, required: Collection[Phrase], forbidden: Collection[Forbidden]
) -> tuple[list[Phrase], list[Forbidden]]:
    """Return the required and the forbidden phrases after a person has changed a tree: the last word counts."""
    old, new = (Counter(phrase for _, phrase in numbered_phrases(tree)) for tree in (before, after))
    added, removed = [*(new - old)], [*(old - new)]
    spans = {phrase[1:] for phrase in new}
    kept = [phrase for phrase in required if phrase not in removed and not any(crosses(phrase, one) for one in added)]
    banned = [one for one in forbidden if not any(one[1:] == add[1:] and one[0] in (None, add[0]) for add in added)]
    gone: list[Forbidden] = [(label if (a, b) in spans else None, a, b) for label, a, b in removed]
    return list(dict.fromkeys([*kept, *added])), list(dict.fromkeys([*banned, *gone]))


def crosses(one: tuple[Any, int, int], other: tuple[Any, int, int]) -> bool:
    """Return whether two spans of words overlap, and neither is in the other."""
    return one[1] < other[1] < one[2] < other[2] or other[1] < one[1] < other[2] < one[2]


def forced(tree: Tree, required: Sequence[Phrase], forbidden: Sequence[Forbidden], tags: Mapping[int, str]) -> Tree:
    """Return a parser's tree with all required phrases, in their order where several are over the same words, and
    without those that cross them or are forbidden; `tags` replace those of the parser.
    """  # fmt: skip
    needed: dict[tuple[int, int], list[str]] = {}
    for label, start, end in required:
        needed.setdefault((start, end), []).append(label)
    banned, found = set(forbidden), dict[tuple[int, int], list[str]]()
    for label, start, end in tree.spans()[1:]:
        is_banned = (label, start, end) in banned or (None, start, end) in banned
        is_crossing = any(crosses((label, start, end), one) for one in required)
        if label in needed.get((start, end), ()) or not (is_banned or is_crossing):
            found.setdefault((start, end), []).append(label)
    for place, chain in needed.items():
        if [label for label in found.get(place, ()) if label in chain] != chain:
            found[place] = chain
    spans = sorted(found, key=lambda span: (span[0], -span[1]))
    phrases = [(label, *span) for span in spans for label in found[span]]
    tags_of = [tags.get(i, tag) for i, tag in enumerate(tree.tags)]
    return tree_of_phrases([(ROOT, 0, len(tree.words)), *phrases], tree.words, tags_of)
