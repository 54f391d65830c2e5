"""All models whose scores of candidates may stand beside those of the base parser."""

from __future__ import annotations

from collections.abc import Iterable

from spacy_incparse.errors import ModelError
from spacy_incparse.rerank.chart_score import ChartScore
from spacy_incparse.rerank.generative_score import GenerativeScore
from spacy_incparse.rerank.second_score import SecondScore

SECOND_SCORES: dict[str, type[SecondScore]] = {score.name: score for score in (GenerativeScore, ChartScore)}
"""All second scores, by name."""


def columns_of(names: Iterable[str]) -> list[str]:
    """Return the columns of second scores in order."""
    return [column for name in names for column in SECOND_SCORES[name].columns]


def name_of(column: str) -> str:
    """Return the name of the second score that a column belongs to; the column's own if there is none."""
    return next((name for name, score in SECOND_SCORES.items() if column in score.columns), column)


def read_second_scores(contents: dict[str, bytes]) -> dict[str, SecondScore]:
    """Return models from their bytes by name. Raises ModelError for another name or damaged bytes."""
    for name in contents:
        if name not in SECOND_SCORES:
            raise ModelError(f"the reranker has a score {name!r:.40} that this version does not know")
    return {name: SECOND_SCORES[name].from_bytes(data) for name, data in contents.items()}
