"""Features from the definitions: a partial tree is written out, each field is read off it, each template is hashed."""

from collections import defaultdict
from functools import cache
from typing import NamedTuple

from spacy_incparse.linear.templates import FIELDS, POSITION_FIELDS, STRUCTURE_FIELDS, compile_kind

MASK = (1 << 64) - 1
BEFORE, BEHIND = 1, 2  # the numbers of the words outside of a sentence
STOP, SHIFT = 0, 1  # columns of outcomes; nonterminals follow, then tags


class Child(NamedTuple):
    """A completed child; `head` is the position of its lexical head."""

    symbol: int
    start: int
    head: int


class Open(NamedTuple):
    """An open constituent with its completed children."""

    symbol: int
    start: int
    children: tuple[Child, ...]


class Sentence(NamedTuple):
    """Word numbers, class numbers, tag ids, and whether a question mark ends it.

    alternatives: by position the (tag, rank) of words with several tags. under: the one that the word about to be
    absorbed is read under, where it has several. clusters: numbers of clusters and of their groups; None: without.
    """

    words: list[int]
    classes: list[int]
    tags: list[int]
    is_question: bool
    alternatives: dict[int, list[tuple[int, int]]] = {}  # noqa: RUF012
    under: tuple[int, int] | None = None
    clusters: tuple[list[int], list[int]] | None = None

    def readings(self, position):
        """The sentence once for each tag of a word: (tag, sentence)."""
        for tag, rank in self.alternatives.get(position, [(self.tags[position], 0)]):
            yield tag, self._replace(under=(tag, rank))


class Facts:
    """What features know of symbols: 0 is none, 2 + nonterminal id, then tags."""

    def __init__(self, model, conjunctions):
        labels = model.grammar.labels
        self.n_nonterminals, self.n_tags = len(labels.nonterminals), len(labels.tags)
        self.names = ["", "", *labels.nonterminals, *labels.tags]
        self.heads = model.heads
        self.punctuation = set(model.punctuation)
        self.conjunctions = {k for k, name in enumerate(self.names) if k >= 2 and name in conjunctions}

    def tag_symbol(self, tag):
        return 2 + self.n_nonterminals + tag

    def head(self, constituent):
        """The position of an open constituent's lexical head so far; None where it has no children."""
        children = constituent.children
        if not children:
            return None
        names = [self.names[child.symbol] for child in children]
        return children[self.heads.head_index(self.names[constituent.symbol], names)].head


def mix64(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


class Context:
    """The place below the last of `stack`, the open constituents from the root down, before the word at `position`."""

    def __init__(self, stack, sentence, position, facts):
        self.stack, self.sentence, self.position, self.facts = stack, sentence, position, facts
        self._heads = {}  # by level

    def value(self, name):
        return READERS[name](self) & 0xFFFFFFFF

    # Words around the position

    def word(self, k):
        if k < 0:
            return BEFORE
        return self.sentence.words[k] if k < len(self.sentence.words) else BEHIND

    def word_class(self, k):
        return self.sentence.classes[k] if 0 <= k < len(self.sentence.words) else 0

    def cluster(self, k):
        """Cluster and group of a word; 0 outside of the sentence and where there are no clusters."""
        if self.sentence.clusters is None or k is None or not 0 <= k < len(self.sentence.words):
            return 0, 0
        return tuple(numbers[k] for numbers in self.sentence.clusters)

    def tag(self, k):
        return self.sentence.tags[k] if 0 <= k < len(self.sentence.words) else self.facts.n_tags

    def is_punctuation(self, k):
        return self.tag(k) in self.facts.punctuation

    def after_mark(self):
        """PUNCT1"""
        i = self.position
        if i == len(self.sentence.words):
            return 0
        is_mark = self.is_punctuation(i) or self.facts.tag_symbol(self.tag(i)) in self.facts.conjunctions
        return 1 + self.tag(i + 1) if is_mark else 0

    # The partial tree

    def open(self, level):
        """The open constituent `level` levels up: 1 is the parent; None above the root."""
        return self.stack[-level] if level <= len(self.stack) else None

    def label(self, level):
        return self.open(level).symbol if self.open(level) else 0

    def child(self, level, k):
        """The k-th last child of the open constituent that is `level` levels up; None where there is none."""
        constituent = self.open(level)
        return constituent.children[-k] if constituent and len(constituent.children) >= k else None

    def child_label(self, level, k):
        child = self.child(level, k)
        return child.symbol if child else 0

    def head(self, level):
        if level not in self._heads:
            self._heads[level] = self.facts.head(self.open(level)) if self.open(level) else None
        return self._heads[level]

    def commanding_head(self):
        heads = (self.head(level) for level in range(1, len(self.stack) + 1))
        return next((head for head in heads if head is not None), None)

    def sibling_head(self):
        return self.child(1, 1).head if self.child(1, 1) else None

    def head_word(self, k):
        return 0 if k is None else self.word(k)

    def head_tag(self, k):
        return 0 if k is None else 1 + self.tag(k)

    def conjunct_start(self, level):
        """Where the child before the conjunction starts; the constituent's start where nothing is before it."""
        before = self.child(level, 2)
        return before.start if before else self.open(level).start

    def conjunct(self):
        """CONJ"""
        if self.child_label(1, 1) not in self.facts.conjunctions:
            return 0
        return 1 + 1024 * self.child_label(1, 2) + self.tag(self.conjunct_start(1))

    def after_punctuation(self):
        """AFTERP"""
        sibling = self.child(1, 1)
        if sibling is None or sibling.start == 0 or not self.is_punctuation(sibling.start - 1):
            return 0
        return 1 + self.is_punctuation(self.position)

    # Spans

    def length(self):
        return bucket(self.position - self.open(1).start)

    def rule(self):
        h = 0
        for child in self.open(1).children:
            h = mix64((h << 16) ^ child.symbol) & 0xFFFFFFFF
        return h

    def shape(self):
        h = 0
        for k in range(self.open(1).start, self.position)[:6]:
            h = mix64(((h << 16) & MASK) ^ (1 + self.tag(k)))
        return h + self.length()

    def pair(self, describe):
        """PAIR, PAIRF, PAIRL: two conjuncts, the words [start, end) of the first and the parent."""
        if self.child_label(2, 1) not in self.facts.conjunctions:
            return 0
        is_equal = self.child_label(2, 2) == self.label(1)
        start, end = self.conjunct_start(2), self.child(2, 1).start
        return 1 + is_equal + 2 * describe(self, start, end)


def bucket(length):
    """0 to 5 by themselves, then 6-8, 9-11, 12-14, 15, 16-23, 24-39, 40 and more."""
    return sum(length >= limit for limit in (1, 2, 3, 4, 5, 6, 9, 12, 15, 16, 24, 40))


READERS = {
    **{f"L{k}0": lambda c, k=k: c.label(k) for k in (1, 2, 3, 4)},
    **{f"L0{k}": lambda c, k=k: c.child_label(1, k) for k in (1, 2, 3)},
    **{f"L1{k}": lambda c, k=k: c.child_label(2, k) for k in (1, 2)},
    "L21": lambda c: c.child_label(3, 1),
    "FIRST": lambda c: c.open(1).children[0].symbol if c.open(1).children else 0,
    "N": lambda c: min(4, len(c.open(1).children)),
    "CL": lambda c: c.head_word(c.head(1)),
    "CLP": lambda c: c.head_tag(c.head(1)),
    "CC": lambda c: c.head_word(c.commanding_head()),
    "CCP": lambda c: c.head_tag(c.commanding_head()),
    "S1": lambda c: c.head_word(c.sibling_head()),
    "S1P": lambda c: c.head_tag(c.sibling_head()),
    "G": lambda c: c.head_word(c.head(2)),
    "GP": lambda c: c.head_tag(c.head(2)),
    "CLK": lambda c: c.cluster(c.head(1))[0],
    "CLB": lambda c: c.cluster(c.head(1))[1],
    "CCK": lambda c: c.cluster(c.commanding_head())[0],
    "CCB": lambda c: c.cluster(c.commanding_head())[1],
    "S1K": lambda c: c.cluster(c.sibling_head())[0],
    "S1B": lambda c: c.cluster(c.sibling_head())[1],
    "GK": lambda c: c.cluster(c.head(2))[0],
    "GB": lambda c: c.cluster(c.head(2))[1],
    "CONJ": lambda c: c.conjunct(),
    "AFTERP": lambda c: c.after_punctuation(),
    "FW": lambda c: c.word(c.open(1).start),
    "FT": lambda c: c.tag(c.open(1).start),
    "BW": lambda c: c.word(c.open(1).start - 1),
    "BT": lambda c: c.tag(c.open(1).start - 1),
    "LEN": lambda c: c.length(),
    "RULE": lambda c: c.rule(),
    "SHAPE": lambda c: c.shape(),
    "PAIR": lambda c: c.pair(lambda c, start, end: bucket(end - start) + 16 * c.length()),
    "PAIRF": lambda c: c.pair(lambda c, start, end: c.tag(start) + 1024 * c.tag(c.open(1).start)),
    "PAIRL": lambda c: c.pair(lambda c, start, end: c.tag(end - 1) + 1024 * c.tag(c.position - 1)),
    "LK": lambda c: c.word(c.position),
    "LKP": lambda c: c.sentence.under[0] if c.sentence.under else c.tag(c.position),
    "TR": lambda c: c.sentence.under[1] if c.sentence.under else 0,
    **{f"W{k}": lambda c, k=k: c.word(c.position + k) for k in (-2, -1, 1, 2)},
    **{f"T{k}": lambda c, k=k: c.tag(c.position + k) for k in range(-3, 4)},
    **{f"C{k}": lambda c, k=k: c.word_class(c.position + k) for k in (-1, 0, 1)},
    **{f"K{k}": lambda c, k=k: c.cluster(c.position + k)[0] for k in (-1, 0, 1)},
    **{f"B{k}": lambda c, k=k: c.cluster(c.position + k)[1] for k in (-1, 0, 1)},
    "QUESTION": lambda c: c.sentence.is_question,
    "PUNCT1": lambda c: c.after_mark(),
}
assert set(READERS) == set(FIELDS)


@cache
def _compile(templates, kind):
    """Where the hash of each template of a kind begins; and of each field the templates that read it, each with the
    coefficient that the field's value has there.
    """
    table = compile_kind(templates, kind)
    terms = defaultdict(list)
    for fields, rows in ((STRUCTURE_FIELDS, table.structure), (POSITION_FIELDS, table.position)):
        for number, row in enumerate(rows):
            for k, coefficient in row:
                terms[fields[k].name].append((number, coefficient))
    return table.biases, dict(terms)


class Extractor:
    """The features of moves, as indices of a weight table of 2**bits rows."""

    def __init__(self, templates, facts, bits):
        self.facts, self.bits = facts, bits
        self._rows = {}
        self._templates = {
            kind: [template for template in templates if template.kind == kind]
            for kind in ("node", "word", "chain", "close")
        }
        self._tables = {kind: _compile(tuple(templates), kind) for kind in self._templates}

    def rows(self, kind, stack, sentence, position):
        """A row number a template: the multilinear hash of its fields' values, of which the highest bits count."""
        key = kind, stack, position, sentence.under, id(sentence.words)
        if key not in self._rows:
            context = Context(stack, sentence, position, self.facts)
            # The sentence is kept with the rows, so that its id is not given to another one.
            self._rows[key] = (self._hash(kind, context), sentence)
        return self._rows[key][0]

    def _hash(self, kind, context):
        hashes, terms = self._tables[kind]
        rows = list(hashes)
        for name, coefficients in terms.items():
            value = context.value(name)
            for number, coefficient in coefficients:
                rows[number] += coefficient * value
        return [(h & MASK) >> (64 - self.bits) for h in rows]

    def stop(self, stack, sentence, position):
        """The end of the lowest open constituent."""
        return [
            *(row + STOP for row in self.rows("node", stack, sentence, position)),
            *self.rows("close", stack, sentence, position),
        ]

    def opening(self, stack, symbol, sentence, position):
        """A new constituent below the lowest open one."""
        return [row + symbol for row in self.rows("node", stack, sentence, position)]

    def shift(self, stack, sentence, position):
        """The POS node, whose outcome names the tag unless the template reads it already, and the word under it."""
        symbol = self.facts.tag_symbol(sentence.under[0] if sentence.under else sentence.tags[position])
        rows = self.rows("node", stack, sentence, position)
        return [
            *(
                row + (SHIFT if "LKP" in template.fields else symbol)
                for row, template in zip(rows, self._templates["node"], strict=True)
            ),
            *self.rows("word", stack, sentence, position),
        ]

    def chain(self, stack, rank, sentence, position):
        """A whole chain at its attachment site; `rank` is its place among the chains of its tag."""
        return [row + rank for row in self.rows("chain", stack, sentence, position)]
