"""Grammatical relations of a Doc, and dependencies on its tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from spacy.attrs import DEP, HEAD
from spacy.tokens import Doc, Span, Token

from spacy_incparse.documents.doc_tree import DocTree
from spacy_incparse.documents.storage import AnchoredTree, anchored_trees
from spacy_incparse.functions.dependencies import Dependency, dependencies
from spacy_incparse.functions.relations import Relation, read_relations
from spacy_incparse.functions.rules import with_rules
from spacy_incparse.functions.tables import LanguageTable, english


@dataclass(frozen=True)
class DocRelation:
    """A phrase in a relation to a word of the same sentence.

    verb: a verb, or an adjective or a noun with arguments. head: the word of the phrase that says most: a noun, not its
    preposition; a verb, not its auxiliary. relation: one of `functions.relations.RELATIONS`. function: a function tag
    of the Penn Treebank, such as TMP, or None. understood: whether the phrase stands elsewhere in the sentence, as the
    subject of an infinitive does. negated: whether the verb is.
    """

    verb: Token
    relation: str
    head: Token
    node: DocTree
    function: str | None
    understood: bool
    negated: bool

    @property
    def span(self) -> Span | None:
        """The phrase, with all that belongs to it; None if it begins or ends inside a token that was merged."""
        return self.node.span

    def __str__(self) -> str:
        return f"{self.verb.text} {self.relation} {self.node.text}"


def doc_relations(doc: Doc, table: LanguageTable | None = None) -> tuple[DocRelation, ...]:
    """Return the relations of a Doc in the order of their verbs; () if it has no trees.

    They are read off the functions and empty categories of its trees, and what these lack is found by rules. table: the
    rules, words and labels of the language; English if None. Raises IncparseError if a stored tree is damaged.
    """
    return tuple(one for found in anchored_trees(doc) for one in _relations_on(doc, found, table))


def span_relations(span: Span) -> tuple[DocRelation, ...]:
    """Return the relations of the verbs in a span."""
    start, end = span.start_char, span.end_char
    trees = [one for one in anchored_trees(span.doc) if one.start_char < end and start < one.end_char]
    relations = (one for found in trees for one in _relations_on(span.doc, found))
    return tuple(one for one in relations if span.start <= one.verb.i < span.end)


def token_relations(token: Token) -> tuple[DocRelation, ...]:
    """Return the relations of a verb; () for other words."""
    return span_relations(token.doc[token.i : token.i + 1])


_read: WeakKeyDictionary[AnchoredTree, tuple[LanguageTable, list[Relation]]] = WeakKeyDictionary()


def tree_relations(found: AnchoredTree, table: LanguageTable | None = None) -> list[Relation]:
    """Return the relations of a tree, which are kept with it until another table is asked for."""
    table = table or english()
    if found not in _read or _read[found][0] is not table:
        _read[found] = table, read_relations(with_rules(found.tree.arrays, table), table)
    return _read[found][1]


def _relations_on(doc: Doc, found: AnchoredTree, table: LanguageTable | None = None) -> Iterator[DocRelation]:
    leaves = found.tree.arrays.leaves
    for one in tree_relations(found, table):
        verb, head = (DocTree(doc, found, leaves[word]).tokens[0] for word in (one.verb, one.head))
        node = DocTree(doc, found, one.node)
        yield DocRelation(verb, one.relation, head, node, one.function, one.understood, one.negated)


def write_dependencies(doc: Doc, table: LanguageTable | None = None) -> None:
    """Write a head and a label of Universal Dependencies to each token: `token.head` and `token.dep_`.

    They replace those of a dependency parser. The label of the root is ROOT, as in spaCy's own pipelines. A token of
    several words depends on what their head depends on; a token without a word, on the one before it. Arguments are as
    in `doc_relations`.
    """
    heads = [max(i - 1, 0) if token.is_space or i else i for i, token in enumerate(doc)]
    labels = ["dep"] * len(doc)
    for found in anchored_trees(doc):
        tokens = [DocTree(doc, found, leaf).tokens[0].i for leaf in found.tree.arrays.leaves]
        written = dependencies(found.tree.arrays, table or english())
        for _, word in sorted(((depth, word) for word, depth in enumerate(_depths(written))), reverse=True):
            head, label = written[word]
            heads[tokens[word]] = tokens[word if head < 0 else head]
            labels[tokens[word]] = label if head >= 0 else "ROOT"
    offsets = [head - i for i, head in enumerate(heads)]
    ids = [doc.vocab.strings.add(label) for label in labels]
    columns = [np.array(offsets, dtype="int64").astype("uint64"), np.array(ids, dtype="uint64")]
    values: Any = np.column_stack(columns)
    doc.from_array([HEAD, DEP], values)


def _depths(written: Sequence[Dependency]) -> list[int]:
    """Return the number of steps from each word to the root."""
    depths = []
    for word in range(len(written)):
        steps, head = 0, written[word].head
        while head >= 0:
            steps, head = steps + 1, written[head].head
        depths.append(steps)
    return depths
