"""The probabilities of the trees on a Doc and of their phrases.

A parser that sums over all trees knows them exactly; otherwise they are computed from the analyses of each sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from spacy.tokens import Doc

from spacy_incparse.documents.doc_analyses import Analyses, analyses_of
from spacy_incparse.documents.stored_fields import stored_probability
from spacy_incparse.documents.tree_storage import AnchoredTree
from spacy_incparse.errors import IncparseError
from spacy_incparse.parsers.nbest import phrase_probabilities, probabilities
from spacy_incparse.parsers.posterior import Posterior
from spacy_incparse.trees.arrays import Phrase


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
        found = _exact(analyses.trees, analyses.posterior)
    else:
        found = _listed(analyses.trees, analyses.temperature)
    _confidences.update(zip(analyses.trees, found, strict=True))
    return found


def _exact(trees: Sequence[AnchoredTree], posterior: Posterior) -> list[Confidence]:
    phrases = dict(posterior.phrases)
    return [Confidence(posterior.of_score(anchored.score or 0.0), phrases) for anchored in trees]


def _listed(trees: Sequence[AnchoredTree], temperature: float) -> list[Confidence]:
    """Return the confidences by the share of each analysis among all."""
    shares = probabilities([anchored.score or 0.0 for anchored in trees], temperature)
    phrases = phrase_probabilities([anchored.tree for anchored in trees], shares)
    return [Confidence(share, phrases) for share in shares]
