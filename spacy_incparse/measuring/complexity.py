"""Measures of syntactic complexity; docs/complexity.md has their definitions and sources."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from spacy_incparse.patterns import Forest, Pattern
from spacy_incparse.trees.arrays import TreeArrays, children
from spacy_incparse.trees.labels import WRAPPERS, bare_label
from spacy_incparse.trees.tree import Tree

_CLAUSE = (
    "S|SINV|SQ [> ROOT <, (VP <# VB) | <# MD|VBZ|VBP|VBD | < (VP [<# MD|VBP|VBZ|VBD | < CC < (VP <# MD|VBP|VBZ|VBD)])]"
)
_T_UNIT = "S|SBARQ|SINV|SQ [> ROOT | [$-- S|SBARQ|SINV|SQ !>> SBAR|VP]]"
_AUXILIARY = "/^VB/ < /^(?i:am|is|are|was|were|be|been|being|get|gets|got|gotten|getting|'m|'re|'s)$/"
PATTERNS: dict[str, tuple[str, ...]] = {
    "VP": ("VP > S|SINV|SQ", "MD|VBZ|VBP|VBD > (SQ !< VP)"),
    "C": (_CLAUSE, f"FRAG > ROOT !<< ({_CLAUSE})"),
    "T": (_T_UNIT, f"FRAG > ROOT !<< ({_T_UNIT})"),
    "DC": (f"SBAR < ({_CLAUSE})",),
    "CT": (f"{_T_UNIT} << (SBAR < ({_CLAUSE}))",),
    "CP": ("ADJP|ADVP|NP|VP < CC",),
    "CN": (
        "NP !> NP [<< JJ|POS|PP|S|VBG | << (NP $++ NP !$+ CC)]",
        "SBAR [<# WHNP | <# (IN < That|that|For|for) | <, S] & [$+ VP | > VP]",
        "S < (VP <# VBG|TO) $+ VP",
    ),
    "noun phrases": ("NP !> NP",),
    "passives": (f"VP <# (VBN !< been|had|got) >+(VP) (VP < ({_AUXILIARY}))",),
}
"""Tregex patterns, whose matches are added: those of L2SCA (Lu 2010) as published, and two of ours."""

SENTENCES = frozenset(["S", "SINV", "SQ", "SBARQ"])
KINDS = ("S", "SBAR", "NP", "VP", "PP", "ADJP", "ADVP", "other")  # of phrases; S stands for all of `SENTENCES`
_RATIOS = {
    "MLS": ("W", "S"), "MLT": ("W", "T"), "MLC": ("W", "C"),
    **{name: tuple(name.split("/")) for name in "C/S VP/T C/T DC/C DC/T T/S CT/T CP/T CP/C CN/T CN/C nodes/W".split()},
    "MLNP": ("words of noun phrases", "noun phrases"), "yngve_mean": ("yngve", "W"), "frazier_mean": ("frazier", "W"),
    "words_before_verb": ("words before verbs", "verbs"), "subject_length": ("words of subjects", "subjects"),
}  # fmt: skip
_LARGEST = ("yngve_max", "frazier_max", "left_embedding", "centre_embedding")
MEASURES = (
    *"W S VP C T DC CT CP CN MLS MLT MLC C/S VP/T C/T DC/C DC/T T/S CT/T CP/T CP/C CN/T CN/C MLNP".split(),
    "fragments", "without_tree", "yngve_max", "yngve_mean", "frazier_max", "frazier_mean",
    "nodes", "nodes/W", *(f"nodes_{kind}" for kind in KINDS),
    "left_embedding", "centre_embedding", "words_before_verb", "subject_length", "passives",
)  # fmt: skip
"""The names of all measures, in the order of tables."""

Sums = Counter[str]  # over the sentences of a text, and the largest values in any of them, by name


def measures(sentences: Iterable[Sums], *, fragments: bool = True) -> dict[str, float | None]:
    """Return the values of `MEASURES` for several sentences; None where there is nothing to divide by, or to measure.

    fragments: whether sentences without a T-unit count; how many there are is told anyway.
    """
    sums: Sums = Counter()
    for one in sentences:
        if one["fragments"] and not fragments:
            sums["fragments"] += 1
            continue
        largest = {name: max(sums[name], one[name]) for name in _LARGEST}
        sums = Counter({**(sums + one), **largest})
    found: dict[str, float | None] = {}
    for name in MEASURES:
        part, whole = _RATIOS.get(name, (name, ""))
        needed = whole or {"passives": "subjects", **dict.fromkeys(_LARGEST, "W")}.get(name)
        found[name] = None if needed and not sums[needed] else sums[part] / sums[whole] if whole else sums[part]
    return found


def cells(found: Mapping[str, float | None]) -> list[str]:
    """Return measures as the cells of a table; "" for None."""
    return ["" if one is None else str(one) if isinstance(one, int) else f"{one:.6f}" for one in found.values()]


def sentence_sums(trees: Iterable[Tree | None]) -> list[Sums]:
    """Return the sums of each sentence. None: a sentence without a tree. Traces are left out."""
    whole = [tree and tree.remove_empties() for tree in trees]
    known = [tree for tree in whole if tree is not None]
    nodes: list[defaultdict[str, list[int]]] = [defaultdict(list) for _ in known]
    forest = Forest(known)
    for name, pattern in _compiled():
        for match in pattern.search(forest):
            nodes[match.number][name].append(match.node.index)
    found = map(_sums, (tree.arrays for tree in known), nodes)
    return [Counter(without_tree=1) if tree is None else next(found) for tree in whole]


@lru_cache(maxsize=1)
def _compiled() -> list[tuple[str, Pattern]]:
    found = [(name, Pattern(pattern)) for name, patterns in PATTERNS.items() for pattern in patterns]
    for _, pattern in found:
        pattern.doubtful.clear()  # that trees lack a label is no mistake here
    return found


def _sums(arrays: TreeArrays, nodes: Mapping[str, Sequence[int]]) -> Sums:
    """Return the sums of a sentence. nodes: those that match the patterns of each name."""
    labels, n_before = list(map(bare_label, arrays.labels)), _words_before(arrays)
    clauses, t_units = ([node for node in nodes[name] if labels[node] in SENTENCES] for name in ("C", "T"))
    subjects = [node for node in range(len(labels)) if "SBJ" in arrays.functions_of(node)]
    verbs = [(node, verb) for node in t_units if (verb := _main_verb(arrays, labels, node)) is not None]
    lengths = [n_before[end] - n_before[start] for start, end in zip(arrays.starts, arrays.ends, strict=True)]
    words: list[Any] = [one for one in word_depths(arrays) if one is not None]
    kinds = ["S" if labels[node] in SENTENCES else labels[node] for node in _phrases(arrays, n_before)]
    left, centre = _embedding(arrays, labels, clauses, n_before)
    return Counter({
        **{name: len(matching) for name, matching in nodes.items()},
        "W": len(words), "S": 1, "fragments": int(not t_units), "nodes": len(kinds),
        **Counter(f"nodes_{kind if kind in KINDS else 'other'}" for kind in kinds),
        "words of noun phrases": sum(lengths[node] for node in nodes["noun phrases"]),
        "subjects": len(subjects), "words of subjects": sum(lengths[node] for node in subjects), "verbs": len(verbs),
        "words before verbs": sum(n_before[arrays.starts[verb]] - n_before[arrays.starts[k]] for k, verb in verbs),
        "yngve": sum(word.yngve for word in words), "yngve_max": max((word.yngve for word in words), default=0),
        "frazier": sum(word.frazier for word in words), "frazier_max": max((word.frazier for word in words), default=0),
        "left_embedding": left, "centre_embedding": centre,
    })  # fmt: skip


def _words_before(arrays: TreeArrays) -> list[int]:
    """Return for each place between the tree's words how many are before it, without punctuation and traces."""
    tags = [bare_label(arrays.labels[leaf]) for leaf in arrays.leaves]
    return list(accumulate((tag[:1].isalpha() and tag not in ("HYPH", "NFP") for tag in tags), initial=0))


def _phrases(arrays: TreeArrays, n_before: Sequence[int]) -> list[int]:
    """Return the phrases with words in them, without a wrapper at the top."""
    first, bounds = int(arrays.labels[0] in WRAPPERS), zip(arrays.starts, arrays.ends, arrays.sizes, strict=True)
    has_words = [size > 1 and n_before[start] < n_before[end] for start, end, size in bounds]
    return [node for node in range(first, len(has_words)) if has_words[node]]


class WordDepth(NamedTuple):
    """The measures of a word in the tree of its sentence."""

    yngve: int  # Yngve (1960): branches to the right of the path from the root
    frazier: float  # Frazier (1985): phrases that begin with the word, clauses counted one and a half times
    nodes_opened: int  # phrases that begin with the word
    nodes_closed: int  # phrases that end with it


def word_depths(arrays: TreeArrays) -> list[WordDepth | None]:
    """Return the measures of each word of a tree; None for punctuation and traces, which count for no other word."""
    n_before, depths = _words_before(arrays), [0] * len(arrays.sizes)
    opened, closed, sentences = ([0] * n_before[-1] for _ in range(3))
    for node in range(len(depths)):
        inside = [k for k in children(arrays, node) if n_before[arrays.starts[k]] < n_before[arrays.ends[k]]]
        for n_right, child in enumerate(reversed(inside)):
            depths[child] = depths[node] + n_right
    for node in _phrases(arrays, n_before):
        first = n_before[arrays.starts[node]]
        opened[first] += 1
        sentences[first] += bare_label(arrays.labels[node]) in SENTENCES
        closed[n_before[arrays.ends[node]] - 1] += 1
    return [
        WordDepth(depths[leaf], opened[k] + sentences[k] / 2, opened[k], closed[k]) if n_before[i + 1] > k else None
        for i, (leaf, k) in enumerate(zip(arrays.leaves, n_before, strict=False))
    ]


def _main_verb(arrays: TreeArrays, labels: Sequence[str], node: int) -> int | None:
    """Return the main verb of a clause, in coordination that of the first part; None if there is no verb."""
    while arrays.sizes[node] > 1:
        below = list(children(arrays, node))
        inner = [k for k in below if labels[k] == "VP"] or [k for k in below if labels[k][:2] in ("VB", "MD")]
        inner = inner or [k for k in below if labels[k] in SENTENCES]
        if not inner:
            return None
        node = inner[0]
    return node


def _embedding(arrays: TreeArrays, labels: list[str], clauses: list[int], n_before: list[int]) -> tuple[int, int]:
    """Return how many clauses are embedded in one another at most, at the left edge and in the centre.

    After Karlsson (2007): in the centre, words of the clause around it are on both sides. An SBAR over a clause, or a
    coordination of clauses, is one with it.
    """
    shells = {node for node, label in enumerate(labels) if label in SENTENCES}
    shells -= {arrays.parents[node] for node, label in enumerate(labels) if label == "VP"}
    shells |= {node for node, label in enumerate(labels) if label == "SBAR"}
    found, path = [(0, 0)], [(0, 0, 0, 0, len(labels))]  # of the open clauses: words, degrees, the node behind
    for node in clauses:
        outer = node
        while (above := arrays.parents[outer]) in shells:
            outer = above
        first, behind = n_before[arrays.starts[outer]], n_before[arrays.ends[outer]]
        while node >= path[-1][4]:
            path.pop()
        start, end, left, centre, _ = path[-1]
        if behind < end:
            left, centre = left + (first == start), centre + (first > start)
        found.append((left, centre))
        path.append((first, behind, left, centre, node + arrays.sizes[node]))
    return max(left for left, _ in found), max(centre for _, centre in found)
