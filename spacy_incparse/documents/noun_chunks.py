"""Base noun phrases from the trees on a Doc, for `doc.noun_chunks`, which otherwise needs a dependency parse."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import dropwhile, takewhile

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_incparse.documents.doc_tree import DocTree
from spacy_incparse.documents.extensions import doc_trees
from spacy_incparse.errors import IncparseError
from spacy_incparse.trees.tree import Tree

LABEL = "NP"  # the label of all chunks, as in spaCy
NOUN_PHRASES = ("NP", "WHNP")
NOUNS = ("NN", "NNS", "NNP", "NNPS", "PRP", "WP", "NML", "NX", "NAC", "NOUN", "PROPN", "PRON")
POSTMODIFIERS = ("PP", "WHPP", "S", "SBAR", "SBARQ", "SINV", "SQ", "VP", "RRC", "PRN")
POSSESSIVE = "POS"  # the tag at the end of a possessive noun phrase, which belongs to the noun after it
EXISTENTIAL = "EX"  # the tag of existential "there"
MARKS = ("-LRB-", "-RRB-", "HYPH", "NFP")  # punctuation tags that contain letters
SYMBOLS = ("$", "#")

Chunks = Iterator[tuple[int, int, int]]
ChunkIterator = Callable[[Doc | Span], Chunks]


class TreeChunks:
    """A picklable function for `Vocab.get_noun_chunks` and `Doc.noun_chunks_iterator`.

    fallback: the language's own function, for Docs without trees.
    """

    def __init__(self, fallback: ChunkIterator | None = None):
        self.fallback = fallback

    def __call__(self, doclike: Doc | Span) -> Chunks:
        """Return (start token, end token, label) of each base noun phrase in text order.

        Raises IncparseError if the Doc has neither trees nor a dependency parse.
        """
        doc = doclike.doc
        trees = doc_trees(doc)
        if trees or all(token.is_space for token in doc):
            label = doc.vocab.strings.add(LABEL)
            first, after = (0, len(doc)) if isinstance(doclike, Doc) else (doclike.start, doclike.end)
            spans = (span for tree in trees for span in base_noun_phrases(tree))
            return ((one.start, one.end, label) for one in spans if first <= one.start and one.end <= after)
        if self.fallback is not None and doc.has_annotation("DEP"):
            return self.fallback(doclike)
        raise IncparseError(
            "the Doc has no trees, which noun chunks need: run a pipeline with the component 'incparse' on it first"
        )


def use_tree_chunks(target: Vocab | Doc) -> None:
    """Make `doc.noun_chunks` use the trees, for one Doc or for all Docs created with a vocab from now on.

    A component with `noun_chunks = true` calls this on the vocab of its pipeline. The setting is not saved with a Doc:
    call this function on Docs loaded with another vocab. Docs without trees keep the noun chunks of their dependency
    parse.
    """
    name = "noun_chunks_iterator" if isinstance(target, Doc) else "get_noun_chunks"
    known = getattr(target, name)
    if not isinstance(known, TreeChunks):
        setattr(target, name, TreeChunks(known))


def base_noun_phrases(tree: DocTree) -> Iterator[Span]:
    """Yield the base noun phrases of a tree: noun phrases up to their noun that contain no other noun phrase.

    A possessive belongs to the phrase of its noun. Phrases that begin or end inside a merged token are skipped.
    """
    after = 0
    for node in tree.phrases(NOUN_PHRASES):
        inner = [child for child in node if not child.is_leaf and child.category in NOUN_PHRASES]
        is_base = node.start >= after and all(child.tags[-1] == POSSESSIVE for child in inner)
        words = _up_to_noun(node) if is_base else ()
        if words and [word.label for word in words] != [EXISTENTIAL]:
            after = words[-1].end
            span = tree.doc.char_span(words[0].start_char, words[-1].end_char, label=LABEL)
            if span is not None:
                yield span


def _up_to_noun(node: Tree) -> Sequence[Tree]:
    """Return the words of a noun phrase up to its last noun; without a noun, up to the first postmodifier."""
    children = list(node)
    nouns = [i for i, child in enumerate(children) if child.category in NOUNS]
    kept = children[: nouns[-1] + 1] if nouns else list(takewhile(lambda c: c.category not in POSTMODIFIERS, children))
    words = [leaf for child in kept for leaf in child.pos_nodes()]
    while words and _is_mark(words[-1]):
        words.pop()
    return list(dropwhile(_is_mark, words))


def _is_mark(word: Tree) -> bool:
    """Return whether a word is punctuation."""
    tag = word.label
    return tag in MARKS or not (tag in SYMBOLS or any(character.isalnum() for character in tag))
