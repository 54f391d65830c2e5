"""How probable the trees on a Doc are, and their phrases: the shares that the analyses of a sentence give them."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from spacy.tokens import Doc

from spacy_incparse.documents.doc_analyses import Analyses, analyses_of
from spacy_incparse.documents.tree_storage import AnchoredTree
from spacy_incparse.errors import IncparseError

Phrase = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Confidence:
    """How probable a tree is, and each phrase over the words of its sentence."""

    tree: float
    phrases: dict[Phrase, float]


_confidences: WeakKeyDictionary[AnchoredTree, Confidence] = WeakKeyDictionary()


def node_confidence(doc: Doc, found: AnchoredTree, index: int) -> float | None:
    """Return the probability of the whole tree at its root, at another phrase that of its label over its words.

    None at POS nodes and for flat trees. Raises IncparseError where there is no pipeline to ask or no temperature.
    """
    arrays = found.tree.arrays
    if found.source == "flat" or arrays.sizes[index] == 1:
        return None
    confidence = _confidences.get(found)
    if confidence is None:
        known = confidences_of(analyses_of(doc, found))
        if not known:
            raise IncparseError(
                "the model has no temperature to make probabilities of its scores: it was trained without held-out "
                "trees; the component's calibrate() fits one"
            )
        confidence = known[0]
    return (
        confidence.phrases[arrays.labels[index], arrays.starts[index], arrays.ends[index]] if index else confidence.tree
    )


def forget_confidences() -> None:
    """Forget what was computed with an older temperature."""
    _confidences.clear()


def confidences_of(analyses: Analyses) -> list[Confidence]:
    """Return the confidence of each analysis, and remember it; [] where the model has no temperature."""
    if analyses.temperature is None:
        return []
    # Imported here: compiled modules stay unloaded until they are needed.
    from spacy_incparse.parsers.nbest import phrase_probabilities, probabilities

    shares = probabilities([anchored.score or 0.0 for anchored in analyses.trees], analyses.temperature)
    phrases = phrase_probabilities([anchored.tree for anchored in analyses.trees], shares)
    found = [Confidence(share, phrases) for share in shares]
    _confidences.update(zip(analyses.trees, found, strict=True))
    return found
