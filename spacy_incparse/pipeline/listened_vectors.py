"""Whether Docs have the vectors that listeners read: layers without weights, which share those of another component.

For a Doc without vectors a listener returns zeros, and a parser would make a tree of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from spacy.tokens import Doc
from thinc.api import Model

from spacy_incparse.errors import IncparseError


def check_listened(layer: Model, docs: Iterable[Doc], name: str) -> None:
    """Raise IncparseError if a listener in a layer finds no vectors on one of the Docs.

    name: of the component whose layer it is, for the message.
    """
    places = {place for node in layer.walk() for place, reads in _LISTENERS.items() if reads(node)}
    for doc in docs:
        for place in sorted(places):
            if len(doc) and not _HAS_VECTORS[place](doc):
                start = " ".join(token.text for token in doc[:8])
                raise IncparseError(
                    f"{name}: the Doc {start!r} has no word vectors ({place}). The component that computes them has to "
                    f"run before {name}, in training as one of the annotating_components. If it did, they are gone: "
                    f"doc_cleaner removes them, and a DocBin does not keep all of them. Process the text again"
                )


def reads_transformer(layer: Model) -> bool:
    """Return whether a layer is a listener to the transformer of another component."""
    return layer.name == "transformer-listener" or "_TRANSFORMER_LISTENER" in layer.attrs


def _has_transformer_data(doc: Doc) -> bool:
    return Doc.has_extension("trf_data") and doc._.trf_data is not None


# Those of spaCy, of spacy-transformers and of spacy-curated-transformers, without a transformer of their own. They are
# known by names, since these packages may not be installed.
_LISTENERS: dict[str, Callable[[Model], bool]] = {
    "doc.tensor": lambda node: node.name == "tok2vec-listener",
    "doc._.trf_data": reads_transformer,
}
_HAS_VECTORS: dict[str, Callable[[Doc], bool]] = {
    "doc.tensor": lambda doc: doc.tensor.size > 0,
    "doc._.trf_data": _has_transformer_data,
}
