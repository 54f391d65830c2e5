"""Constituency parsing in spaCy with the incremental parser of Collins & Roark (2004)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy_incparse.documents.complexity import complexity
    from spacy_incparse.documents.display import plot_measures, render, serve, set_render_wrapper
    from spacy_incparse.documents.gold import example, examples
    from spacy_incparse.documents.matcher import ConstituentMatcher
    from spacy_incparse.documents.rows import trees_to_json
    from spacy_incparse.glossary import explain
    from spacy_incparse.measuring.comparison import tree_distance, tree_similarity
    from spacy_incparse.pipeline.loading import Parser, load
    from spacy_incparse.trees.tree import Tree

    __version__: str

__all__ = [
    "ConstituentMatcher",
    "Parser",
    "Tree",
    "__version__",
    "complexity",
    "example",
    "examples",
    "explain",
    "load",
    "plot_measures",
    "render",
    "serve",
    "set_render_wrapper",
    "tree_distance",
    "tree_similarity",
    "trees_to_json",
]

# Imported on first access, to keep `import spacy_incparse` cheap.
_LAZY = {
    "ConstituentMatcher": "spacy_incparse.documents.matcher",
    "Parser": "spacy_incparse.pipeline.loading",
    "Tree": "spacy_incparse.trees.tree",
    "complexity": "spacy_incparse.documents.complexity",
    "example": "spacy_incparse.documents.gold",
    "examples": "spacy_incparse.documents.gold",
    "explain": "spacy_incparse.glossary",
    "load": "spacy_incparse.pipeline.loading",
    "plot_measures": "spacy_incparse.documents.display",
    "render": "spacy_incparse.documents.display",
    "serve": "spacy_incparse.documents.display",
    "set_render_wrapper": "spacy_incparse.documents.display",
    "tree_distance": "spacy_incparse.measuring.comparison",
    "tree_similarity": "spacy_incparse.measuring.comparison",
    "trees_to_json": "spacy_incparse.documents.rows",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("spacy-incparse")
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
