"""The families of reranking features in plain Python: for each tree, tuples that can be read.

Slow twin of the compiled families in spacy_incparse/rerank. A tuple is the family's name and its fields; `key` hashes
it, `indicators` are the keys of one tree.
"""

from collections import Counter
from functools import cache
from itertools import pairwise

from spacy_incparse.incremental.config import CONJUNCTIONS
from spacy_incparse.rerank.features import is_prepositional
from tests.reference.features import MASK, mix64

LEXICALIZED = "lexicalized-"
BINS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30)


@cache
def text_value(text):
    """FNV-1a."""
    h = 0xCBF29CE484222325 ^ mix64(0)
    for byte in text.encode("utf8", "surrogatepass"):
        h = (h ^ byte) * 0x100000001B3 & MASK
    return mix64(h)


def key(fields):
    h = 0
    for field in fields:
        h = mix64(((h ^ _value(field)) + 0x9E3779B97F4A7C15) & MASK)
    return h


def _value(field):
    if field is None:
        return 0
    if isinstance(field, int):
        return (field + 1) & MASK
    return text_value(field) if isinstance(field, str) else key(field)


class Node:
    """A node of a tree with what the families read. `tree` is the TreeReader."""

    def __init__(self, node, above, tree):
        self.above, self.tree = above, tree
        self.start, self.end = node.start - tree.offset, node.end - tree.offset
        self.label, self.is_pos = node.category, len(node) == 0
        self.shown = self.label  # in the second pass with the head
        self.children = []
        self.head_number = 0 if self.is_pos else tree.heads.head_index(self.label, [c.category for c in node])
        self.is_mark = self.label in tree.heads.punctuation
        self.joins = self.label in CONJUNCTIONS

    @property
    def head(self):
        return self.children[self.head_number]

    @property
    def head_position(self):
        node = self
        while not node.is_pos:
            node = node.head
        return node.start

    @property
    def word(self):
        return self.tree.words[self.head_position]

    @property
    def tag(self):
        return self.tree.tags[self.head_position]

    @property
    def rule(self):
        return (self.shown, *(child.shown for child in self.children))

    @property
    def is_top(self):
        return self.above is None or self.above.head is not self

    @property
    def top(self):
        node = self
        while not node.is_top:
            node = node.above
        return node

    def modifiers(self):
        return [child for child in self.children if child is not self.head]

    def side(self, child):
        return "left" if child.start < self.head.start else "right"


class TreeReader:
    def __init__(self, tree, heads, closed_tags):
        self.heads, self.offset = heads, tree.start
        self.words = [word.lower() for word in tree.words]
        self.tags = []
        self.nodes = []
        waiting = [(tree, None)]
        while waiting:
            given, above = waiting.pop()
            node = Node(given, above, self)
            self.nodes.append(node)
            if above is not None:
                above.children.append(node)
            if node.is_pos:
                self.tags.append(node.label)
            waiting += [(child, node) for child in reversed(list(given))]
        self.leaves = [node for node in self.nodes if node.is_pos]
        contents = [leaf.start for leaf in self.leaves if not leaf.is_mark]
        self.last_content = contents[-1] if contents else -1
        self.augmented = {node: (node.label, node.word) for node in self.nodes if node.tag in closed_tags}

    def show(self, lexicalized):
        for node in self.nodes:
            node.shown = self.augmented.get(node, node.label) if lexicalized else node.label

    def word_at(self, k):
        return self.words[k] if 0 <= k < len(self.words) else None

    def tag_at(self, k):
        return self.tags[k] if 0 <= k < len(self.tags) else None


def shown(node):
    return None if node is None else node.shown


def rules(node):
    yield (node.rule,)


def neighbours_outwards(node):
    """Each child beside the head with its side and the next child in that direction."""
    number = node.head_number
    for side, outwards in (("left", node.children[:number][::-1]), ("right", node.children[number + 1 :])):
        for child, following in pairwise([*outwards, None] if outwards else []):
            yield side, child, following


def bigrams(node):
    for side, child, following in neighbours_outwards(node):
        yield side, node.shown, child.shown, shown(following)


def lexical_bigrams(node):
    for side, child, following in neighbours_outwards(node):
        word = following.word if following else None
        yield side, node.shown, child.shown, shown(following), child.word, word


def grandparent_rules(node):
    if node.above:
        yield node.above.shown, node.rule


def grandparent_bigrams(node):
    for bigram in bigrams(node) if node.above else ():
        yield node.above.shown, *bigram


def two_level_rules(node):
    if node.above:
        yield node.above.rule, node.rule


def two_level_bigrams(node):
    for bigram in bigrams(node) if node.above else ():
        yield node.above.rule, *bigram


def trigrams(node):
    labels = [(child.shown, "!") if child is node.head else child.shown for child in node.children]
    padded = [None, *labels, None]
    for k in range(len(labels)):
        yield node.shown, *padded[k : k + 3]


def head_modifiers(node):
    for child in node.modifiers():
        feature = node.side(child), node.shown, node.head.shown, child.shown
        yield feature
        yield shown(node.above), *feature


def prepositional_phrases(node):
    for child in node.modifiers():
        arguments = [] if child.is_pos else [inner for inner in child.modifiers() if not inner.is_mark]
        if is_prepositional(child.label) and arguments:
            labels = node.shown, node.head.shown, child.shown, arguments[-1].shown
            yield *labels, node.head.word, child.word, arguments[-1].word
            yield *labels, child.word, arguments[-1].word


def distance_head_modifiers(node):
    for child in node.modifiers():
        distance = min(10, abs(child.head_position - node.head_position) - 1)
        labels = node.shown, node.head.shown, child.shown
        yield *labels, distance
        for x in range(10):
            if distance <= x:
                yield *labels, "<=", x
            if distance >= x > 0:
                yield *labels, ">=", x


def length(node):
    return max(number for number in BINS if number <= node.end - node.start)


def right_branch(node):
    yield (int(node.start <= node.tree.last_content < node.end),)


def heavy(node):
    leaves = node.tree.leaves
    before_mark = node.end < len(leaves) and leaves[node.end].is_mark
    yield node.shown, length(node), int(all(leaf.is_mark for leaf in leaves[node.end :])), int(before_mark)


def neighbours(node):
    before, behind = node.tree.tag_at(node.start - 1), node.tree.tag_at(node.end)
    yield node.shown, length(node), before, behind
    yield node.shown, length(node), node.tree.tag_at(node.start - 2), before, behind


def edges(node):
    for side, k in (("left", node.start), ("right", node.end)):
        for kind, at in (("words", node.tree.word_at), ("tags", node.tree.tag_at)):
            yield node.shown, side, length(node), kind, at(k - 1), at(k)


def word_edges(node):
    yield node.shown, node.end - node.start, node.tree.word_at(node.start - 1), node.tree.word_at(node.end)


def word(leaf):
    labels, node = [], leaf
    while node and len(labels) < 3:
        labels.append(node.shown)
        yield leaf.word, *labels
        node = node.above


def word_projections(leaf):
    top = leaf.top
    above = top.above.top.shown if top.above else None
    yield leaf.tag, top.shown, above
    yield leaf.word, leaf.tag, top.shown
    yield leaf.word, leaf.tag, top.shown, above


def heads(node):
    top = node.top
    for child in node.modifiers():
        tags = node.shown, node.tag, child.tag
        yield tags
        yield *tags, node.word, None
        yield *tags, None, child.word
        yield *tags, node.word, child.word
        yield *tags, top.above.tag if top.above else None


def ngram_rules(node):
    padded = [None, *(child.shown for child in node.children), None]
    for n in (2, 3):
        for k in range(len(padded) - n + 1):
            yield shown(node.above), node.shown, *padded[k : k + n]


def annotated_rules(node):
    yield node.rule, node.tag
    yield node.rule, node.tag, node.word
    if node.above:
        yield node.rule, None, node.above.shown, shown(node.above.above)


def conjuncts(node):
    """Pairs of conjuncts that follow one another."""
    last, is_separated = None, False
    for child in node.children if any(child.joins for child in node.children[1:]) else ():
        if child.joins or child.is_mark:
            is_separated = True
            continue
        if last and is_separated:
            yield last, child
        last, is_separated = child, False


def shape(node, n_levels):
    return node.label, [shape(child, n_levels - 1) for child in node.children] if n_levels > 1 else None


def coordination_parallelism(node):
    for first, second in conjuncts(node):
        for n in (1, 2, 3, 4):
            yield n, int(shape(first, n) == shape(second, n))


def coordination_length(node):
    for first, second in conjuncts(node):
        longer = (second.end - second.start) - (first.end - first.start)
        rest = node.children[node.children.index(second) + 1 :]
        yield max(-5, min(5, longer)), int(all(child.joins or child.is_mark for child in rest))


def way_up(leaf, top):
    """The nodes from a leaf up to below `top`."""
    while leaf is not top:
        yield leaf
        leaf = leaf.above


def ngram_trees(node):
    for n in (2, 3):
        for start in range(node.start, node.end - n + 1):
            if any(child.start <= start and start + n <= child.end for child in node.children):
                continue  # a child is above all of these words
            leaves = node.tree.leaves[start : start + n]
            ways = [list(way_up(leaf, node)) for leaf in leaves]
            feature = node.shown, *(tuple(map(shown, way)) for way in ways)
            if n == 3:
                feature += len({*ways[0]} & {*ways[1]}), len({*ways[1]} & {*ways[2]})
            yield feature
            yield *feature, *(leaf.word for leaf in leaves)


def head_trees(node):
    if node.is_top:
        fields, below = [], node
        while not below.is_pos:
            fields += [below.rule, below.head_number]
            below = below.head
        yield *fields, below.tag
        yield *fields, below.tag, below.word


PHRASE_FAMILIES = (
    rules, bigrams, grandparent_rules, grandparent_bigrams, lexical_bigrams, two_level_rules, two_level_bigrams,
    trigrams, head_modifiers, prepositional_phrases, distance_head_modifiers, right_branch, heavy, neighbours, edges,
    word_edges, heads, ngram_rules, annotated_rules, coordination_parallelism, coordination_length, ngram_trees,
    head_trees,
)  # fmt: skip
WORD_FAMILIES = (word, word_projections)
FUNCTIONS = {function.__name__.replace("_", "-"): function for function in (*PHRASE_FAMILIES, *WORD_FAMILIES)}


def features(tree, family, heads, closed_tags=()):
    """Count the features of one family in a tree, as tuples."""
    reader, counts = TreeReader(tree, heads, closed_tags), Counter()
    function = FUNCTIONS[family.removeprefix(LEXICALIZED)]
    for node in reader.nodes:
        if node.is_pos == (function in WORD_FAMILIES):
            reader.show(False)
            plain = list(function(node))
            reader.show(family.startswith(LEXICALIZED))
            found = list(function(node))
            if family.startswith(LEXICALIZED):
                found = [feature for feature, without in zip(found, plain, strict=True) if feature != without]
            counts.update((family, *feature) for feature in found)
    return counts


def indicators(tree, family, heads, closed_tags=(), max_count=4):
    """The keys of one family in a tree."""
    most = 100 if family == "right-branch" else max_count
    counts = features(tree, family, heads, closed_tags)
    return {key((*feature, n)) for feature, count in counts.items() for n in range(1, min(count, most) + 1)}
