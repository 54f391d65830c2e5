"""Plot the measures of each word of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spacy.tokens import Doc, Span

from spacy_incparse.documents.word_measures import token_measures
from spacy_incparse.errors import ConfigError, IncparseError
from spacy_incparse.generative.measures import MEASURES
from spacy_incparse.viz.plot import plot

_IN_BITS = ("surprisal", "surprisal_syntactic", "surprisal_lexical", "entropy", "entropy_reduction", "prefix_logprob")


def plot_measures(span: Doc | Span, measures: str | Sequence[str] = "surprisal", **options: Any) -> str:
    """Return an SVG document with the measures of each word of a sentence; a question mark stands for a missing value.

    measures: one or several of `generative.measures.MEASURES`. options: the options of `viz.plot.plot` (style, title,
    width, ...). Raises ConfigError for an unknown measure, and IncparseError if the Doc has no measures: they come from
    a component with a generative model and `measures = true`.
    """
    names = [measures] if isinstance(measures, str) else list(measures)
    for name in names:
        if name not in MEASURES:
            raise ConfigError(f"unknown measure {name!r}: choose one of {', '.join(MEASURES)}")
    if not isinstance(span, Doc | Span):
        advice = "pass the Span of a sentence, such as tree.span for a tree"
        raise IncparseError(
            f"only the measures of a Doc or a Span can be drawn, not of a {type(span).__name__}: {advice}"
        )
    tokens = [token for token in span if not token.is_space]
    found = [token_measures(token) for token in tokens]
    series = {name.replace("_", " "): [getattr(values, name) for values in found] for name in names}
    unit = "bits" if all(name in _IN_BITS for name in names) else ""
    words = [token.text for token in tokens]
    return plot(words, series if len(names) > 1 else next(iter(series.values())), **{"unit": unit, **options})
