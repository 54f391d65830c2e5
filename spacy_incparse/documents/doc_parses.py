"""The public interface to the analyses of a Doc's sentences: trees with tokens, the tree on the Doc first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from spacy.language import Language
from spacy.tokens import Doc

from spacy_incparse.documents.confidences import confidences_of
from spacy_incparse.documents.doc_analyses import Analyses, analyses_of
from spacy_incparse.documents.doc_tree import DocTree
from spacy_incparse.documents.live_parsers import LiveParser, deciding_parser
from spacy_incparse.documents.tree_storage import anchored_trees
from spacy_incparse.errors import IncparseError
from spacy_incparse.parsers.pushed_words import check_n_analyses


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
    return tuple(tuple(_scored(doc, analyses_of(doc, found, component), k)) for found in anchored_trees(doc))


def _scored(doc: Doc, analyses: Analyses, k: int) -> Iterator[ScoredTree]:
    shares: Sequence[float | None]
    shares = [confidence.tree for confidence in confidences_of(analyses)] or [None] * len(analyses.trees)
    for anchored, share in islice(zip(analyses.trees, shares, strict=True), k):
        yield ScoredTree(DocTree(doc, anchored), anchored.score or 0.0, share)


def _component_of(nlp: Language) -> LiveParser:
    if not isinstance(nlp, Language):
        raise IncparseError(f"nlp is {nlp!r}: it must be a pipeline")
    return deciding_parser(nlp)
