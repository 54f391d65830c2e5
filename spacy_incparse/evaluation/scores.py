"""The scores of a run, over all sentences, by length and by label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from spacy_incparse.evaluation.brackets import Bracket, EvalbParams
from spacy_incparse.evaluation.summaries import (
    ERROR,
    SKIPPED,
    VALID,
    Agreement,
    Figures,
    LabelScore,
    SentenceScore,
    Summary,
    format_scores,
)

__all__ = [
    "ERROR",
    "SKIPPED",
    "VALID",
    "Agreement",
    "LabelCounts",
    "LabelScore",
    "Scores",
    "SentenceScore",
    "Summary",
]

_BIN, _LAST_BIN = 10, 61


@dataclass
class LabelCounts:
    """Brackets by label; a match counts for its gold and its parsed label, which may differ under EQ_LABEL."""

    gold: Counter[str] = field(default_factory=Counter)
    parsed: Counter[str] = field(default_factory=Counter)
    matched_gold: Counter[str] = field(default_factory=Counter)
    matched_parsed: Counter[str] = field(default_factory=Counter)

    def add(self, gold: Iterable[Bracket], parsed: Iterable[Bracket], matches: Iterable[tuple[str, str]]) -> None:
        """Count the brackets of one sentence."""
        self.gold.update([label for label, _, _ in gold])
        self.parsed.update([label for label, _, _ in parsed])
        self.matched_gold.update([label for label, _ in matches])
        self.matched_parsed.update([label for _, label in matches])

    def table(self) -> dict[str, LabelScore]:
        """Return the scores by label, the most frequent gold label first."""
        labels = sorted(self.gold | self.parsed, key=lambda label: (-self.gold[label], label))
        return {
            label: LabelScore(
                self.gold[label], self.parsed[label], self.matched_gold[label], self.matched_parsed[label]
            )
            for label in labels
        }


class Scores(Figures):
    """The result of a scoring run, also as a dict and as text."""

    @classmethod
    def of(cls, sentences: list[SentenceScore], labels: LabelCounts, params: EvalbParams) -> Scores:
        """Return the scores summed over the sentences."""
        short = (sentence for sentence in sentences if sentence.length <= params.cutoff_len)
        return cls(
            all=Summary.of(sentences),
            up_to_40=Summary.of(short),
            per_sentence=sentences,
            per_label=labels.table(),
            by_length=_by_length(sentences),
            params=params,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the summary of all sentences, `up_to_40`, `per_label` and `by_length` as a JSON-serializable dict."""
        return {
            **self.all.to_dict(),
            "up_to_40": self.up_to_40.to_dict(),
            "per_label": {label: score.to_dict() for label, score in self.per_label.items()},
            "by_length": {bin_name: summary.to_dict() for bin_name, summary in self.by_length.items()},
        }

    def format(self) -> str:
        """Return EVALB's summary, then tables by label and by sentence length, as text without a trailing newline."""
        return format_scores(self)


def _by_length(sentences: Iterable[SentenceScore]) -> dict[str, Summary]:
    bins: dict[int, list[SentenceScore]] = {}
    for sentence in sentences:
        first = min(_LAST_BIN, 1 + _BIN * ((max(sentence.length, 1) - 1) // _BIN))
        bins.setdefault(first, []).append(sentence)
    return {
        (f"{first}+" if first == _LAST_BIN else f"{first}-{first + _BIN - 1}"): Summary.of(bins[first])
        for first in sorted(bins)
    }
