"""The public class for trees on a Doc."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from spacy_incparse.documents.analyses import Analyses, analyses_of
from spacy_incparse.documents.live_parsers import LiveParser, deciding_parser
from spacy_incparse.documents.storage import AnchoredTree, anchored_trees
from spacy_incparse.documents.stored_fields import stored_probability
from spacy_incparse.errors import IncparseError
from spacy_incparse.parsing.nbest import phrase_probabilities, probabilities
from spacy_incparse.parsing.parse import check_n_analyses
from spacy_incparse.treebanks.normalize import normalize
from spacy_incparse.trees.arrays import Phrase
from spacy_incparse.trees.tree import Tree

if TYPE_CHECKING:
    from spacy_incparse.parsing.parse import TreeScore


class DocTree(Tree):
    """A node of a sentence's tree on a Doc: a Tree that knows its tokens and its position in the text.

    `start` and `end` count the words of the sentence, as in every Tree; whitespace tokens do not count. `start_char`
    and `end_char` are character offsets in the Doc's text. A node keeps its Doc alive; a pickled copy is a Tree without
    a Doc. The words are those from the time of parsing, even if tokens were merged or split later.
    """

    __slots__ = ("_anchored", "_doc")

    def __init__(self, doc: Doc, anchored: AnchoredTree, index: int = 0):
        self._arrays, self._index = anchored.tree.arrays, index
        self._doc, self._anchored = doc, anchored

    @property
    def doc(self) -> Doc:
        """The Doc."""
        return self._doc

    @property
    def start_char(self) -> int:
        """The offset of the node's first character in the Doc's text."""
        return self._anchored.chars_of(self._index)[0]

    @property
    def end_char(self) -> int:
        """The offset after the node's last character in the Doc's text."""
        return self._anchored.chars_of(self._index)[1]

    @property
    def text(self) -> str:
        """The Doc's text that the node covers."""
        start, end = self._anchored.chars_of(self._index)
        origin = self._anchored.start_char
        return self._anchored.text[start - origin : end - origin]

    @property
    def span(self) -> Span | None:
        """The node's tokens as a Span with the node's label.

        None if tokens were merged after parsing, so that the node begins or ends inside a token.
        """
        start, end = self._anchored.chars_of(self._index)
        return self._doc.char_span(start, end, label=self.label)

    @property
    def tokens(self) -> Sequence[Any]:
        """The tokens of the node without whitespace: one per word, unless tokens were merged or split after parsing."""
        return tuple(token for token in self._covering(*self._anchored.chars_of(self._index)) if not token.is_space)

    @property
    def head(self) -> Token:
        """The token of the node's lexical head, by the head rules of the parser that produced the tree.

        For a given tree (not produced by a parser), the rules for the Doc's language apply. If the head was split
        after parsing, this is its first token.
        """
        word = self._anchored.head_words[self._index]
        start = self._anchored.start_char + self._anchored.char_starts[word]
        return self._covering(start, start + 1)[0]

    @property
    def score(self) -> float | None:
        """The score of the whole tree: a sum of weights, only comparable between trees of the same sentence.

        None for a given tree, which no parser produced.
        """
        return self._anchored.score

    @property
    def source(self) -> str:
        """The source of the whole tree: "beam", "chart", "relaxed" or "flat" (docs/formats.md); "" for a given tree."""
        return self._anchored.source

    @property
    def confidence(self) -> float | None:
        """The probability that the whole tree is right; below the root, that a phrase with this label has these words.

        It is the weighted share of the sentence's analyses (`doc._.parses`) that contain this tree or phrase. It is
        only as reliable as the model's scores (benchmarks/RESULTS.md reports the error). None for POS nodes, and if the
        parser failed or parsed the sentence in several charts, piece by piece. Raises IncparseError if the analyses are
        not stored on the Doc and no pipeline in this process produces its trees, or if the model has no temperature.
        """
        return node_confidence(self._doc, self._anchored, self._index)

    def _covering(self, start_char: int, end_char: int) -> Span:
        span = self._doc.char_span(start_char, end_char, alignment_mode="expand")
        assert span is not None  # trees are only decoded for characters within the Doc
        return span

    def _at(self, index: int) -> DocTree:
        return DocTree(self._doc, self._anchored, index)


# A parser that sums over all trees knows them exactly; otherwise they are computed from the analyses of each sentence.


@dataclass(frozen=True, slots=True)
class Confidence:
    """The probability of a tree, and of each phrase over the words of its sentence."""

    tree: float
    phrases: dict[Phrase, float]


_confidences: WeakKeyDictionary[AnchoredTree, Confidence] = WeakKeyDictionary()


def node_confidence(doc: Doc, found: AnchoredTree, index: int) -> float | None:
    """Return the probability of the whole tree for the root; for other phrases, that of the label over the words.

    Return None for POS nodes, flat trees, and trees that a chart parser parsed piece by piece. Raises IncparseError if
    no live pipeline gives the analyses, or the model has no temperature.
    """
    arrays = found.tree.arrays
    if found.source == "flat" or arrays.sizes[index] == 1:
        return None
    confidence = _confidences.get(found)
    if confidence is None and index == 0:
        stored = stored_probability(found.more)
        if stored is not None:
            return stored
    if confidence is None:
        analyses = analyses_of(doc, found)
        if not analyses.have_probabilities:
            return None
        known = confidences_of(analyses)
        if not known:
            raise IncparseError(
                "there is no temperature that turns scores into probabilities, as for a model that was trained "
                "without held-out trees, and a combination of parsers: fit one with the component's calibrate()"
            )
        confidence = known[0]
    if not index:
        return confidence.tree
    return confidence.phrases.get((arrays.labels[index], arrays.starts[index], arrays.ends[index]), 0.0)


def forget_confidences() -> None:
    """Clear the cached confidences, which an older temperature may have produced."""
    _confidences.clear()


def confidences_of(analyses: Analyses) -> list[Confidence]:
    """Return the confidence of each analysis, and cache it; [] if it is unknown, or the model has no temperature."""
    if analyses.temperature is None or not analyses.have_probabilities:
        return []
    if analyses.posterior:
        phrases = dict(analyses.posterior.phrases)
        found = [Confidence(analyses.posterior.of_score(anchored.score or 0.0), phrases) for anchored in analyses.trees]
    else:
        found = _listed(analyses.trees, analyses.temperature)
    _confidences.update(zip(analyses.trees, found, strict=True))
    return found


def _listed(trees: Sequence[AnchoredTree], temperature: float) -> list[Confidence]:
    """Return the confidences by the share of each analysis among all."""
    shares = probabilities([anchored.score or 0.0 for anchored in trees], temperature)
    phrases = phrase_probabilities([anchored.tree for anchored in trees], shares)
    return [Confidence(share, phrases) for share in shares]


class ScoredTree(NamedTuple):
    """An analysis of a sentence: the root of its tree, its score, and its probability among the analyses.

    Scores are sums of weights, and only comparable between trees of the same sentence. probability: None if the model
    has no temperature, or a chart parser parsed the sentence piece by piece.
    """

    tree: DocTree
    score: float
    probability: float | None


def doc_parses(doc: Doc, k: int = 10, *, nlp: Language | None = None) -> tuple[tuple[ScoredTree, ...], ...]:
    """Return up to k analyses for each sentence with a tree: the tree on the Doc, then the best others.

    The search finds at most 100 analyses; if the component has `nbest` set, the stored analyses are returned. With
    `nlp`, that pipeline parses the sentences, whatever the Doc has stored. Raises IncparseError if no pipeline can
    provide the analyses, or k is below 1.
    """
    check_n_analyses(k)
    component = None if nlp is None else _component_of(nlp)
    return tuple(tuple(_scored(doc, analyses_of(doc, found, component, k), k)) for found in anchored_trees(doc))


def _scored(doc: Doc, analyses: Analyses, k: int) -> Iterator[ScoredTree]:
    shares: Sequence[float | None]
    shares = [confidence.tree for confidence in confidences_of(analyses)] or [None] * len(analyses.trees)
    for anchored, share in islice(zip(analyses.trees, shares, strict=True), k):
        yield ScoredTree(DocTree(doc, anchored), anchored.score or 0.0, share)


def _component_of(nlp: Language) -> LiveParser:
    if not isinstance(nlp, Language):
        raise IncparseError(f"nlp is {nlp!r}: it must be a pipeline")
    return deciding_parser(nlp)


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
