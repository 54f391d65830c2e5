"""Measure how reliable the confidence of trees and phrases is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from spacy.tokens import Doc

from spacy_incparse.documents.doc_tree import DocTree
from spacy_incparse.documents.extensions import doc_trees
from spacy_incparse.evaluation.nbest import Calibration, calibration
from spacy_incparse.trees.tree import Tree


@dataclass(frozen=True)
class ConfidenceScores:
    """The calibration of whole trees (right or wrong as a whole) and of the phrases below their roots."""

    trees: Calibration
    phrases: Calibration

    def to_dict(self) -> dict[str, Any]:
        """Return both calibrations as a JSON-serializable dict."""
        return {"trees": self.trees.to_dict(), "phrases": self.phrases.to_dict()}

    def format(self) -> str:
        """Return both calibrations as a line of text."""
        return (
            f"confidence of trees {_percent(self.trees)}, of phrases {_percent(self.phrases)}; "
            f"calibration error {100 * self.trees.error:.2f} and {100 * self.phrases.error:.2f}"
        )


def score_confidence(gold: Iterable[Tree], docs: Iterable[Doc]) -> ConfidenceScores | None:
    """Return the calibration of the confidences of parsed Docs, given the gold tree of each Doc.

    Return None if no tree has a confidence. Raises IncparseError if the pipeline that parsed the Docs no longer exists,
    or its model has no temperature.
    """
    trees: list[tuple[float, bool]] = []
    phrases: list[tuple[float, bool]] = []
    for expected, doc in zip(gold, docs, strict=True):
        right = set(expected.spans())
        for tree in doc_trees(doc):
            if tree.confidence is not None:
                trees.append((tree.confidence, tree.spans() == expected.spans()))
                phrases += [
                    (node.confidence, (node.label, node.start, node.end) in right)
                    for node in tree.phrases()[1:]
                    if isinstance(node, DocTree) and node.confidence is not None
                ]
    of_trees, of_phrases = _calibration(trees), _calibration(phrases)
    return None if of_trees is None or of_phrases is None else ConfidenceScores(of_trees, of_phrases)


def _calibration(pairs: Sequence[tuple[float, bool]]) -> Calibration | None:
    return calibration([confidence for confidence, _ in pairs], [is_right for _, is_right in pairs])


def _percent(found: Calibration) -> str:
    return f"{100 * found.mean:.1f} where {100 * found.right:.1f} are right"
