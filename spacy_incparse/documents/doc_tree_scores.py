"""Score a given tree of a Doc's sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spacy.tokens import Doc

from spacy_incparse.documents.doc_tree import DocTree
from spacy_incparse.documents.live_parsers import LiveParser
from spacy_incparse.errors import IncparseError
from spacy_incparse.treebanks.normalize import normalize
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.parsers.tree_scores import TreeScore


def score_doc_tree(component: LiveParser, doc: Doc, tree: Tree | str, *, gold_tags: bool = False) -> TreeScore:
    """Return the score that the component's parser assigns to a tree (or its brackets) of one of the Doc's sentences.

    For a tree of this Doc, that is its own sentence; otherwise it is the first sentence with the words of the
    normalized tree. The tags are those that the component would parse with, or with `gold_tags` the tree's. Raises
    IncparseError if no sentence matches.
    """
    if not isinstance(doc, Doc):
        raise IncparseError(
            f"score takes a Doc and a tree of one of its sentences, not a {type(doc).__name__}: {doc!r}"
        )
    if not isinstance(tree, Tree | str):
        raise IncparseError(f"score takes a Tree or its brackets as a string, not {tree!r}")
    given = normalize(Tree.from_string(tree) if isinstance(tree, str) else Tree(tree.arrays, tree.index))
    words = [] if given is None else list(given.words)
    start = tree.start_char if isinstance(tree, DocTree) and tree.doc is doc else None
    found = [sentence for sentence in component.sentences_of(doc) if sentence.words == words]
    sentence = min(found, key=lambda one: one.char_starts[0] != start, default=None)
    if given is None or sentence is None:
        raise IncparseError(f"no sentence of the Doc has the words of the tree: {' '.join(words[:8])!r}")
    tags = None if gold_tags else component.tags_for(sentence)
    return component.decoder.parser.score(given.words, tags, given)
