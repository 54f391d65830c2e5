"""The custom attributes of Docs, Spans and Tokens."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import dropwhile, takewhile, zip_longest
from typing import Any

from spacy.tokens import Doc, Span, Token
from spacy.vocab import Vocab

from spacy_incparse.documents.doc_tree import DocTree, ScoredTree, doc_parses
from spacy_incparse.documents.relations import doc_relations, span_relations, token_relations
from spacy_incparse.documents.sentences import Sentence, split_sentences
from spacy_incparse.documents.storage import (
    ATTRIBUTE,
    MEASURES,
    AnchoredTree,
    anchored_tree_over,
    anchored_trees,
    keys,
    user_data,
    write_given,
)
from spacy_incparse.errors import IncparseError
from spacy_incparse.generative.measures import WordMeasures, joined, measuring_parser
from spacy_incparse.trees.tree import Tree

_VERSION = 1  # of stored measures
_DIGITS = 6  # decimal places of values in bits


def doc_trees(doc: Doc) -> tuple[DocTree, ...]:
    """Return the trees of the Doc's sentences in order; () if it has not been parsed.

    The root of each tree has the label TOP. `start` and `end` of a node count the words of its own sentence
    (`tree.words`), without whitespace tokens. Raises IncparseError if a stored tree is damaged or from an unsupported
    version.
    """
    return tuple(DocTree(doc, found) for found in anchored_trees(doc))


def span_tree(span: Span) -> DocTree | None:
    """Return the node that covers exactly the span: the outermost phrase of a unary chain, or else a POS node.

    Return None if the span is not a constituent, or its sentence has no tree. Whitespace tokens at the span's edges are
    ignored. A stored tree that cannot be read causes a warning, not an error.
    """
    found, start_char, end_char = _tree_and_chars(span)
    index = None if found is None else found.node_at(start_char, end_char)
    return None if found is None or index is None else DocTree(span.doc, found, index)


def span_phrase(span: Span) -> DocTree | None:
    """Return the smallest phrase that covers the span: the innermost one of a unary chain, and never a POS node.

    Return None if the span is in no single tree. White space and unreadable trees are as in `span_tree`.
    """
    found, start_char, end_char = _tree_and_chars(span)
    if found is None:
        return None
    phrases = [index for index in found.path_to(start_char, end_char) if found.tree.arrays.sizes[index] > 1]
    return DocTree(span.doc, found, phrases[-1]) if phrases else None


def _tree_and_chars(span: Span) -> tuple[AnchoredTree | None, int, int]:
    """Return the tree of a span's sentence, None without one, and the span's characters without white space."""
    words = [token for token in span if not token.is_space]
    if not words:
        return None, span.start_char, span.end_char
    return _sentence_tree(span), words[0].idx, words[-1].idx + len(words[-1])


def set_doc_trees(doc: Doc, trees: Iterable[Any] | None) -> None:
    """Store given trees, such as another parser's, as those of the Doc's sentences with words; None or () removes all.

    Each is as in `set_span_tree`. Raises IncparseError, and changes nothing, unless there is one for each sentence.
    """
    sentences = split_sentences(doc)
    is_one = isinstance(trees, Tree | str) or not isinstance(trees, Iterable | None)
    given = [trees] if is_one else list(trees or ())
    if given and len(given) != len(sentences):
        what = f"{len(given)} trees do not fit the Doc, which has {len(sentences)} sentences with words"
        raise IncparseError(f"{what}: pass one for each, None for a sentence without a tree")
    write_given(doc, zip_longest(sentences, given))


def set_span_tree(span: Span, tree: Any) -> None:
    """Store a given tree as that of a sentence; None removes its tree.

    tree: a Tree, brackets, or a tree of nltk or stanza. It is normalized, as those of a treebank are: without traces
    and functions, with the root TOP. Raises IncparseError, and changes nothing, if the span is not a sentence, or its
    words are not those of the tree.
    """
    tokens = [token.i for token in span if not token.is_space]
    found = [(one, tree) for one in split_sentences(span.doc) if list(one.tokens) == tokens]
    if not found:
        raise IncparseError(f"{span.text!r:.60} is no sentence: only a whole one (doc.sents) can be given a tree")
    write_given(span.doc, found)


def span_is_constituent(span: Span) -> bool:
    """Return whether some node of the tree, including POS nodes, covers exactly the span."""
    return span_tree(span) is not None


def token_tree_path(token: Token) -> tuple[DocTree, ...]:
    """Return the nodes that cover the token, from the root down to its POS node.

    For a token that was merged after parsing, the last node is the lowest one that covers it. Return () for whitespace,
    and if the sentence has no tree. As in `span_tree`, unreadable trees cause a warning, not an error.
    """
    found = None if token.is_space else _sentence_tree(token.doc[token.i : token.i + 1])
    if found is None:
        return ()
    return tuple(DocTree(token.doc, found, i) for i in found.path_to(token.idx, token.idx + len(token)))


def measure_sentence(parser: object, name: str, sentence: Sentence, tags: Sequence[Any]) -> str:
    """Return the string that stores the measures of a sentence's words.

    tags: the tags used in parsing. name: the name of the parser's component. Raises IncparseError if the parser is not
    generative.
    """
    found = measuring_parser(parser, name).measures(sentence.words, tags)
    origin = sentence.start_char
    stored = {
        "version": _VERSION,
        "starts": [start - origin for start in sentence.char_starts],
        "ends": [end - origin for end in sentence.char_ends],
        "rows": [
            [round(value, _DIGITS) if isinstance(value, float) else value for value in vars(word).values()]
            for word in found
        ],
    }
    return json.dumps(stored, separators=(",", ":"))


def token_measures(token: Token) -> WordMeasures | None:
    """Return the measures of a token; None for whitespace, and for tokens not made of whole words of one sentence.

    A token merged from several words has their joint measures; a token split from a word has none. Raises IncparseError
    if the token was not measured: measures come from a component `incparse` with a generative model and the setting
    `measures = true`.
    """
    if token.is_space:
        return None
    start, end = token.idx, token.idx + len(token)
    is_measured = False
    for key in keys(token.doc, MEASURES):
        is_measured = is_measured or (key[2] < end and start < key[3])
        if key[2] <= start and end <= key[3]:
            stored = _decode(user_data(token.doc)[key])
            bounds = zip(stored["starts"], stored["ends"], strict=True)
            inside = [i for i, (s, e) in enumerate(bounds) if start <= key[2] + s and key[2] + e <= end]
            if inside:
                return joined([WordMeasures(*stored["rows"][i]) for i in inside])
    if is_measured:
        return None
    raise IncparseError(
        f"{token.text!r} has no measures: parse with a generative model and its component's setting "
        f"measures = true, such as spacy_incparse.load('en_generative')"
    )


def _decode(value: str) -> dict[str, Any]:
    try:
        stored = json.loads(value)
        if stored["version"] == _VERSION:
            return stored
    except (ValueError, TypeError, KeyError) as error:
        raise IncparseError(f"the stored measures are damaged: {error}") from None
    raise IncparseError(f"the stored measures have version {stored['version']}, this program reads {_VERSION}")


def refuse(advice: str, owner: Any, value: object) -> None:
    """Raise AttributeError, as a setter: without one, spaCy stores a value where nobody looks for it."""
    raise AttributeError(f"this attribute cannot be assigned: {advice}")


refuse_of_tree = partial(refuse, "it is read off the trees, which doc._.trees = [...] sets")


def _stored(attribute: str, span: Span) -> str | None:
    return user_data(span.doc).get(("._.", attribute, span.start_char, span.end_char))


def _store(attribute: str, span: Span, value: object) -> None:
    """Store a string, as spaCy's `from_json` does."""
    if not isinstance(value, str):
        refuse("assign trees to doc._.trees or, for a sentence, span._.tree", span, value)
    user_data(span.doc)["._.", attribute, span.start_char, span.end_char] = value


def parses_of(doc: Doc) -> Callable[..., tuple[tuple[ScoredTree, ...], ...]]:
    """Return the method `doc._.parses`."""
    return partial(doc_parses, doc)


def register_extensions() -> None:
    """Register the attributes; if a name is already taken, keep the existing attribute and warn."""
    for name in (ATTRIBUTE, MEASURES):  # so that spaCy keeps the strings when it splits or joins Docs
        if not Span.has_extension(name):
            Span.set_extension(name, getter=partial(_stored, name), setter=partial(_store, name))
    attributes: tuple[tuple[Any, str, Callable, Callable], ...] = (
        (Doc, "trees", doc_trees, set_doc_trees),
        (Doc, "parses", parses_of, partial(refuse, "call doc._.parses(k); doc._.trees = [...] sets the trees")),
        (Doc, "relations", doc_relations, refuse_of_tree),
        (Span, "relations", span_relations, refuse_of_tree),
        (Token, "relations", token_relations, refuse_of_tree),
        (Span, "tree", span_tree, set_span_tree),
        (Span, "phrase", span_phrase, refuse_of_tree),
        (Span, "is_constituent", span_is_constituent, refuse_of_tree),
        (Token, "tree_path", token_tree_path, refuse_of_tree),
        (Token, ATTRIBUTE, token_measures, partial(refuse, "measures are those of a component with measures = true")),
    )
    for owner, name, getter, setter in attributes:
        if not owner.has_extension(name):
            owner.set_extension(name, getter=getter, setter=setter)
        elif getter not in owner.get_extension(name):
            warnings.warn(
                f"{owner.__name__}._.{name} is already registered by another package: use "
                f"spacy_incparse.documents.extensions.{getter.__name__}({owner.__name__.lower()}) in its place",
                stacklevel=2,
            )


def _sentence_tree(span: Span) -> AnchoredTree | None:
    try:
        return anchored_tree_over(span)
    except IncparseError as error:
        warnings.warn(f"no tree for {span.text!r}: {error}", stacklevel=3)
        return None


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
