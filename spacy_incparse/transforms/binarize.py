"""Added nodes and their inverse: binarization, and markovization, where labels tell some of their context."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from spacy_incparse.errors import ConfigError, IncparseError, check_type
from spacy_incparse.settings import check_choice
from spacy_incparse.trees import arrays as walks
from spacy_incparse.trees.arrays import ArraysBuilder, TreeArrays, compress_nodes, expand_unaries
from spacy_incparse.trees.heads import HeadRules, head_children, head_words

MARKER = "|"
DIRECTIONS = ("right", "left")

Node = tuple[int, int, str]  # first node, one after the last, label


def binarize(
    arrays: TreeArrays, direction: str = "right", *, marker: str = MARKER, horizontal: int | None = None
) -> TreeArrays:
    """Return a tree in which no node has more than two children.

    direction: "right" splits off the first child and branches to the right; "left" splits off the last child.
    marker: separates the phrase's label from its children's in the labels of added nodes.
    horizontal: the most children that such a label names; None: all.

    Raises IncparseError if a label of the tree looks like an added one, since `unbinarize` would remove it.

    The added nodes have the labels that treebank tools use for Chomsky normal form: `NP|<JJ-NN>` is the part of an NP
    that contains JJ and NN. With `horizontal=h` a label names only the h children nearest to the one split off, so that
    rules are shared (horizontal markovization, Klein & Manning 2003, section 2).
    """
    check_type("marker", marker, str, "a string, such as '|'")
    check_type("horizontal", horizontal, int | None, "a whole number, or None")
    check_choice("direction", direction, DIRECTIONS)
    if not marker:
        raise IncparseError("the marker is empty")
    is_put_in = _put_in_pattern(marker)
    for label, size in zip(arrays.labels, arrays.sizes, strict=True):
        if size > 1 and is_put_in.search(label):
            raise IncparseError(f"the label {label!r} looks like one that {marker!r} marks: choose another marker")

    def between(node: int, children: Sequence[int]) -> Iterator[Node]:
        for n_split_off in range(1, len(children) - 1):
            group = children[n_split_off:] if direction == "right" else children[: len(children) - n_split_off]
            n_named = len(group) if horizontal is None else min(horizontal, len(group))
            named = group[:n_named] if direction == "right" else group[len(group) - n_named :]
            names = "-".join(arrays.labels[child] for child in named)
            yield group[0], group[-1] + arrays.sizes[group[-1]], f"{arrays.labels[node]}{marker}<{names}>"

    return with_added(arrays, between)


def unbinarize(arrays: TreeArrays, *, marker: str = MARKER) -> TreeArrays:
    """Return the tree as it was before `binarize` with the same marker."""
    check_type("marker", marker, str, "a string, such as '|'")
    labels, sizes = arrays.labels, arrays.sizes
    is_put_in = _put_in_pattern(marker)
    kept = [size == 1 or not is_put_in.search(label) for label, size in zip(labels, sizes, strict=True)]
    kept[0] = True
    return TreeArrays.of(*compress_nodes(labels, sizes, kept), arrays.words)


def with_added(arrays: TreeArrays, between: Callable[[int, Sequence[int]], Iterable[Node]]) -> TreeArrays:
    """Return a tree with added nodes: `between` gives those between a phrase and its children, from the top down."""
    builder, words = ArraysBuilder(), iter(arrays.words)
    waiting: dict[int, list[Node]] = {}  # first node -> nodes added above it, the outermost first
    behind: list[int] = []  # of the open phrases
    for i, (label, size) in enumerate(zip(arrays.labels, arrays.sizes, strict=True)):
        while behind and behind[-1] <= i:
            behind.pop()
            builder.close()
        for _, last, added in waiting.pop(i, ()):
            builder.open(added)
            behind.append(last)
        if size == 1:
            builder.leaf(label, next(words))
            continue
        builder.open(label)
        behind.append(i + size)
        if size > 3:  # it may have three children
            for node in between(i, list(walks.children(arrays, i))):
                waiting.setdefault(node[0], []).append(node)
    for _ in behind:
        builder.close()
    return builder.arrays()


def _put_in_pattern(marker: str) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(marker)}<.*>\Z", re.DOTALL)


# The labels (state_labels.py) are the states of a chart parser's grammar (Klein & Manning 2003, section 2)::
#
# (NP (DT an) (JJ old) (NN owl))   <->   (NP^S (DT an) (NP^S|<DT> (JJ old) (NN owl)))

BRANCHING = ("right", "left", "head")
MAX_ORDER = 2


@dataclass(frozen=True)
class Markovization:
    """How trees become binary, and what their labels tell.

    branching: "right" splits off the first child and branches to the right; "left" splits off the last one; "head"
    splits off the children before the head, then those after it, from the outside in.
    horizontal: the number of children that an active label names: the last that were split off; with "head", the
    outermost that were not.
    anchor: whether active labels also name the child that the chain of active nodes begins or ends with: the first one
    for "right", the last one for "left", the head for "head".
    vertical: the number of ancestors in the labels of phrases.
    annotate_tags: whether POS nodes have ancestors, too.
    head_tag_labels: categories of phrases whose labels have the tag of the head word.
    collapse_unaries: whether a unary chain becomes one node, the POS node included. If not, it stays as it is.
    """

    branching: str = "right"
    horizontal: int = 0
    anchor: bool = False
    vertical: int = 0
    annotate_tags: bool = False
    head_tag_labels: tuple[str, ...] = ()
    collapse_unaries: bool = False

    def __post_init__(self) -> None:
        check_choice("branching", self.branching, BRANCHING)
        for name in ("horizontal", "vertical"):
            if getattr(self, name) not in range(MAX_ORDER + 1):
                raise ConfigError(f"{name} is {getattr(self, name)!r}: choose a whole number from 0 to {MAX_ORDER}")

    @property
    def needs_heads(self) -> bool:
        """Whether head rules are needed."""
        return self.branching == "head" or bool(self.head_tag_labels)


def markovize(arrays: TreeArrays, settings: Markovization, heads: HeadRules | None = None) -> TreeArrays:
    """Return the markovized tree, in time linear in its nodes. The root is never part of a collapsed chain.

    Raises ValueError if the settings need head rules and there are none.
    """
    if settings.needs_heads and heads is None:
        raise ValueError(f"branching={settings.branching!r} and head_tag_labels need head rules")
    sizes = arrays.sizes
    is_joined = [settings.collapse_unaries and i > 1 and sizes[i - 1] == size + 1 for i, size in enumerate(sizes)]
    labels = list(_annotated_labels(arrays, is_joined, settings, heads))
    _, kept_sizes = compress_nodes(arrays.labels, sizes, [not joined for joined in is_joined])
    kept = TreeArrays.of(labels, kept_sizes, arrays.words)
    return with_added(kept, lambda node, children: _active_nodes(kept, node, children, settings, heads))


def unmarkovize(arrays: TreeArrays) -> TreeArrays:
    """Return the tree as it was before `markovize`, whatever the settings."""
    labels, sizes = compress_nodes(arrays.labels, arrays.sizes, [ACTIVE not in label for label in arrays.labels])
    plain = expand_unaries(TreeArrays.of(list(map(chain_of, labels)), sizes, arrays.words), CHAIN)
    return TreeArrays.of(list(map(unquote, plain.labels)), plain.sizes, plain.words)


def _annotated_labels(
    arrays: TreeArrays, is_joined: Sequence[bool], settings: Markovization, heads: HeadRules | None
) -> Iterator[str]:
    """Yield the labels of the nodes that are kept."""
    head_tags = _head_tags(arrays, heads) if settings.head_tag_labels and heads else ()
    bounds = [node for node, joined in enumerate(is_joined) if not joined]
    for node, after in zip(bounds, [*bounds[1:], len(is_joined)], strict=True):
        chain, is_phrase = arrays.labels[node:after], arrays.sizes[node] > 1
        ancestors = _ancestors(arrays, node, settings.vertical) if is_phrase or settings.annotate_tags else ()
        has_head_tag = is_phrase and any(label in settings.head_tag_labels for label in chain)
        yield passive_label(chain, ancestors, head_tags[node] if has_head_tag else None)


def _ancestors(arrays: TreeArrays, node: int, n: int) -> Iterator[str]:
    node = arrays.parents[node]
    while n > 0 and node >= 0:
        yield arrays.labels[node]
        node, n = arrays.parents[node], n - 1


def _head_tags(arrays: TreeArrays, heads: HeadRules) -> list[str]:
    """Return the tag of each node's head word."""
    return [arrays.labels[arrays.leaves[word]] for word in head_words(arrays, head_children(arrays, heads))]


def _active_nodes(
    arrays: TreeArrays, parent: int, children: Sequence[int], settings: Markovization, heads: HeadRules | None
) -> Iterator[Node]:
    """Yield the active nodes between a phrase and its children, from the top down."""
    if len(children) < 3:
        return
    names = [chain_of(arrays.labels[child]) for child in children]
    head = _head_index(arrays.labels[parent], names, heads) if settings.branching == "head" and heads else 0
    anchor = {"right": 0, "left": len(names) - 1, "head": head}[settings.branching]
    for first, last, side, named in _groups(len(names), settings, head):
        context = "-".join(names[named])
        if settings.anchor:
            context = f"{names[anchor]}..{context}"
        behind = children[last - 1] + arrays.sizes[children[last - 1]]
        yield children[first], behind, active_label(arrays.labels[parent], side, context)


def _groups(n: int, settings: Markovization, head: int) -> Iterator[tuple[int, int, str, slice]]:
    """Yield the children under each active node as (first, one past the last), its side, and the children it names.

    Only "head" has sides: what has children before the head differs from what has not, because the former must not
    become the latter again.
    """
    h = settings.horizontal
    if settings.branching == "right":
        for k in range(1, n - 1):
            yield k, n, "", slice(max(k - h, 0), k)
    elif settings.branching == "left":
        for k in range(n - 1, 1, -1):
            yield 0, k, "", slice(k, k + h)
    else:
        for k in range(1, min(head, n - 2) + 1):
            yield (k, n, "l", slice(k, k + h)) if k < head else (k, n, "r", slice(max(n - h, k), n))
        for k in range(n - 1, head + 1, -1):
            yield head, k, "r", slice(max(k - h, head), k)


def _head_index(parent: str, names: Sequence[str], heads: HeadRules) -> int:
    """Return the index of the head child. A chain is its lowest category as a parent, its highest one as a child."""
    return heads.head_index(label_parts(parent).categories[-1], [label_parts(name).categories[0] for name in names])


# A label is a category, or the categories of a unary chain that has become one node, then the ancestors, then the tag
# of the head word. The label of an *active* node, which stands between a phrase and some of its children, begins with
# the phrase's and names other children::
#
# NP    S+VP    NP^S    VP^S[VBZ]    NP^S|<DT>    NP^S|<DT..JJ>
#
# Characters of a treebank's label that have a meaning here are written as `%` and two hexadecimal digits.
CHAIN, ANCESTOR, HEAD_TAG, ACTIVE = "+", "^", "[", "|"
_RESERVED = re.compile(r"[%+^|\[=]")  # "=" begins the names of tags among a grammar's states


@dataclass(frozen=True)
class LabelParts:
    """The parts of a label that say which phrases a node stands for."""

    categories: tuple[str, ...]  # of a chain, from the top down
    ancestors: tuple[str, ...]  # the parent first
    is_active: bool


@lru_cache(maxsize=100_000)
def label_parts(label: str) -> LabelParts:
    """Return the parts of a label of a markovized tree."""
    ancestors = label.partition(ACTIVE)[0].partition(HEAD_TAG)[0].split(ANCESTOR)[1:]
    return LabelParts(
        categories=tuple(map(unquote, chain_of(label).split(CHAIN))),
        ancestors=tuple(map(unquote, ancestors)),
        is_active=ACTIVE in label,
    )


def passive_label(chain: Iterable[str], ancestors: Iterable[str] = (), head_tag: str | None = None) -> str:
    """Return the label of a node that is no active one."""
    label = CHAIN.join(map(escape, chain)) + "".join(ANCESTOR + escape(label) for label in ancestors)
    return label if head_tag is None else f"{label}{HEAD_TAG}{escape(head_tag)}]"


def active_label(phrase: str, side: str, context: str) -> str:
    """Return the label of an active node of a phrase, whose own label is given."""
    return f"{phrase}{ACTIVE}{side}<{context}>"


def with_furthest_ancestor(label: str, ancestor: str) -> str:
    """Return a label with another furthest ancestor; the label must have one."""
    chain = chain_of(label)
    passive = label.partition(ACTIVE)[0].partition(HEAD_TAG)[0]
    ancestors = passive[len(chain) :].split(ANCESTOR)[1:-1]
    changed = "".join(ANCESTOR + name for name in [*ancestors, escape(ancestor)])
    return chain + changed + label[len(passive) :]


def chain_of(label: str) -> str:
    """Return the categories in a label, escaped and joined by `CHAIN`."""
    return label.partition(ACTIVE)[0].partition(HEAD_TAG)[0].partition(ANCESTOR)[0]


@lru_cache(maxsize=10_000)
def escape(label: str) -> str:
    """Return a treebank's label without the characters that have a meaning here."""
    return _RESERVED.sub(lambda match: f"%{ord(match[0]):02X}", label)
