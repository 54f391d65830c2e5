"""The scores of a run: counts of each sentence, and measures of all sentences and of each label."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from spacy_incparse.evaluation.params import EvalbParams

VALID, ERROR, SKIPPED = 0, 1, 2
"""EVALB's status of a sentence: counted; words differ; no word left after deletion."""


class SentenceScore(NamedTuple):
    """The counts of one sentence, as in a line of EVALB's output; all 0 unless the status is VALID."""

    length: int  # gold words without traces
    status: int = VALID
    n_matched: int = 0  # brackets
    n_gold: int = 0
    n_parsed: int = 0
    n_crossing: int = 0  # parsed brackets that cross a gold one
    n_words: int = 0  # words left after deletion
    n_correct_tags: int = 0

    @property
    def is_exact(self) -> bool:
        """Whether all brackets match."""
        return self.n_gold == self.n_parsed == self.n_matched


class Agreement(NamedTuple):
    """The agreement of two multisets; the measures are fractions from 0 to 1, and 0 if there is nothing to count."""

    n_matched: int
    n_gold: int
    n_parsed: int

    @property
    def precision(self) -> float:
        """Share of the parsed items that match."""
        return _ratio(self.n_matched, self.n_parsed)

    @property
    def recall(self) -> float:
        """Share of the gold items that match."""
        return _ratio(self.n_matched, self.n_gold)

    @property
    def f(self) -> float:
        """Harmonic mean of precision and recall."""
        return _ratio(2 * self.n_matched, self.n_gold + self.n_parsed)


@dataclass(frozen=True)
class Summary:
    """Sums over sentences; the measures are fractions from 0 to 1 (`avg_crossing` is a number of brackets)."""

    n_sents: int
    n_errors: int
    n_skipped: int
    brackets: Agreement
    n_exact: int
    n_crossing: int
    n_without_crossing: int
    n_up_to_two_crossing: int
    n_words: int
    n_correct_tags: int

    @classmethod
    def of(cls, sentences: Iterable[SentenceScore]) -> Summary:
        """Return the sums; only valid sentences enter the measures."""
        sentences = list(sentences)
        valid = [sentence for sentence in sentences if sentence.status == VALID]
        return cls(
            n_sents=len(sentences),
            n_errors=sum(sentence.status == ERROR for sentence in sentences),
            n_skipped=sum(sentence.status == SKIPPED for sentence in sentences),
            brackets=Agreement(
                sum(sentence.n_matched for sentence in valid),
                sum(sentence.n_gold for sentence in valid),
                sum(sentence.n_parsed for sentence in valid),
            ),
            n_exact=sum(sentence.is_exact for sentence in valid),
            n_crossing=sum(sentence.n_crossing for sentence in valid),
            n_without_crossing=sum(sentence.n_crossing == 0 for sentence in valid),
            n_up_to_two_crossing=sum(sentence.n_crossing <= 2 for sentence in valid),
            n_words=sum(sentence.n_words for sentence in valid),
            n_correct_tags=sum(sentence.n_correct_tags for sentence in valid),
        )

    @property
    def n_valid(self) -> int:
        """Number of sentences that enter the measures."""
        return self.n_sents - self.n_errors - self.n_skipped

    @property
    def precision(self) -> float:
        """Labeled precision."""
        return self.brackets.precision

    @property
    def recall(self) -> float:
        """Labeled recall."""
        return self.brackets.recall

    @property
    def f(self) -> float:
        """Labeled F."""
        return self.brackets.f

    @property
    def exact(self) -> float:
        """Share of sentences with all brackets right (complete match)."""
        return _ratio(self.n_exact, self.n_valid)

    @property
    def avg_crossing(self) -> float:
        """Crossing brackets per sentence."""
        return _ratio(self.n_crossing, self.n_valid)

    @property
    def no_crossing(self) -> float:
        """Share of sentences without a crossing bracket."""
        return _ratio(self.n_without_crossing, self.n_valid)

    @property
    def two_or_less_crossing(self) -> float:
        """Share of sentences with at most two crossing brackets."""
        return _ratio(self.n_up_to_two_crossing, self.n_valid)

    @property
    def tag_accuracy(self) -> float:
        """Share of the words left after deletion that have the gold tag."""
        return _ratio(self.n_correct_tags, self.n_words)

    def to_dict(self) -> dict[str, float]:
        """Return all measures and the numbers of sentences and words, under the names that `evaluate` writes."""
        return {
            "const_p": self.precision,
            "const_r": self.recall,
            "const_f": self.f,
            "const_exact": self.exact,
            "tag_acc": self.tag_accuracy,
            "avg_crossing": self.avg_crossing,
            "no_crossing": self.no_crossing,
            "two_or_less_crossing": self.two_or_less_crossing,
            "n_sents": self.n_sents,
            "n_errors": self.n_errors,
            "n_skipped": self.n_skipped,
            "n_scored_words": self.n_words,
        }


class LabelScore(NamedTuple):
    """The brackets of one label, with measures as in Agreement."""

    n_gold: int
    n_parsed: int
    n_matched_gold: int
    n_matched_parsed: int

    @property
    def precision(self) -> float:
        """Share of the parsed brackets with this label that are right."""
        return _ratio(self.n_matched_parsed, self.n_parsed)

    @property
    def recall(self) -> float:
        """Share of the gold brackets with this label that were found."""
        return _ratio(self.n_matched_gold, self.n_gold)

    @property
    def f(self) -> float:
        """Share of the brackets of both sides that match: the harmonic mean of precision and recall.

        Under EQ_LABEL, where brackets of one label may match those of another, it is not that mean.
        """
        return _ratio(self.n_matched_gold + self.n_matched_parsed, self.n_gold + self.n_parsed)

    def to_dict(self) -> dict[str, float]:
        """Return the measures as p, r and f, spaCy's names for scores per type, and the two numbers of brackets."""
        return {
            "p": self.precision,
            "r": self.recall,
            "f": self.f,
            "n_gold": self.n_gold,
            "n_parsed": self.n_parsed,
        }


@dataclass(frozen=True)
class Figures:
    """All scores of a run.

    `up_to_40` covers the sentences of at most `params.cutoff_len` words, which is 40 unless a parameter file changes
    it. `by_length` has bins of ten words ("1-10", ..., "51-60", "61+"), without empty bins.
    """

    all: Summary
    up_to_40: Summary
    per_sentence: list[SentenceScore]
    per_label: dict[str, LabelScore]
    by_length: dict[str, Summary]
    params: EvalbParams


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
