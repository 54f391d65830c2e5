"""The scores of a run: counts of each sentence, and measures of all sentences and of each label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from spacy_incparse.evaluation.brackets import Bracket, EvalbParams

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
        sums = SentenceScore(*map(sum, zip(*valid, strict=True))) if valid else SentenceScore(0)
        return cls(
            n_sents=len(sentences),
            n_errors=sum(sentence.status == ERROR for sentence in sentences),
            n_skipped=sum(sentence.status == SKIPPED for sentence in sentences),
            brackets=Agreement(sums.n_matched, sums.n_gold, sums.n_parsed),
            n_exact=sum(sentence.is_exact for sentence in valid),
            n_crossing=sums.n_crossing,
            n_without_crossing=sum(sentence.n_crossing == 0 for sentence in valid),
            n_up_to_two_crossing=sum(sentence.n_crossing <= 2 for sentence in valid),
            n_words=sums.n_words,
            n_correct_tags=sums.n_correct_tags,
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
        return {"p": self.precision, "r": self.recall, "f": self.f, "n_gold": self.n_gold, "n_parsed": self.n_parsed}


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
        counts = self.gold, self.parsed, self.matched_gold, self.matched_parsed
        return {label: LabelScore(*(count[label] for count in counts)) for label in labels}


@dataclass(frozen=True)
class Scores:
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
    failed: tuple[int, ...] = ()  # the numbers of the sentences without a parse

    @classmethod
    def of(
        cls, sentences: list[SentenceScore], labels: LabelCounts, params: EvalbParams, failed: Sequence[int] = ()
    ) -> Scores:
        """Return the scores summed over the sentences."""
        short = Summary.of(sentence for sentence in sentences if sentence.length <= params.cutoff_len)
        bins: dict[int, list[SentenceScore]] = {}
        for sentence in sentences:
            bins.setdefault(min(6, (max(sentence.length, 1) - 1) // 10), []).append(sentence)
        by_length = {"61+" if b == 6 else f"{10 * b + 1}-{10 * b + 10}": Summary.of(bins[b]) for b in sorted(bins)}
        return cls(Summary.of(sentences), short, sentences, labels.table(), by_length, params, tuple(failed))

    def to_dict(self) -> dict[str, Any]:
        """Return the summary of all sentences and the fields but `params` as a JSON-serializable dict."""
        return {
            **self.all.to_dict(),
            "failed_parses": list(self.failed),
            "up_to_40": self.up_to_40.to_dict(),
            "per_label": {label: score.to_dict() for label, score in self.per_label.items()},
            "by_length": {bin_name: summary.to_dict() for bin_name, summary in self.by_length.items()},
        }

    def format(self) -> str:
        """Return EVALB's summary, failed parses, and tables by label and sentence length, without a trailing newline.

        A dash stands for a recall without gold brackets, and for a precision without parsed ones.
        """
        lines = [_format_summary(self), ""]
        if self.failed:
            lines[1:] = [f"Failed parses: {len(self.failed)}, of the sentences {', '.join(map(str, self.failed))}", ""]
        lines.append(f"{'Label':<12} {'Recall':>7} {'Prec.':>7} {'F':>7} {'gold':>7} {'parsed':>7}")
        for label, score in self.per_label.items():
            recall = f"{100 * score.recall:7.2f}" if score.n_gold else f"{'-':>7}"
            precision = f"{100 * score.precision:7.2f}" if score.n_parsed else f"{'-':>7}"
            counts = f"{score.n_gold:>7} {score.n_parsed:>7}"
            lines.append(f"{label or '(none)':<12} {recall} {precision} {100 * score.f:7.2f} {counts}")
        lines += ["", f"{'Words':<12} {'Recall':>7} {'Prec.':>7} {'F':>7} {'Compl.':>7} {'sents':>7}"]
        for bin_name, summary in self.by_length.items():
            measures = (summary.recall, summary.precision, summary.f, summary.exact)
            shown = " ".join(f"{100 * measure:7.2f}" for measure in measures)
            lines.append(f"{bin_name:<12} {shown} {summary.n_valid:>7}")
        return "\n".join(lines)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


_RULE = "=" * 76
_HEAD = f"""\
  Sent.                        Matched  Bracket   Cross        Correct Tag
 ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy
{_RULE}"""


def format_evalb(scores: Scores) -> str:
    """Return the output of the EVALB program, exact to the character, except `0.00` where it prints `-nan`."""
    lines = [_HEAD]
    for number, sentence in enumerate(scores.per_sentence, start=1):
        length, status, matched, gold, parsed, n_crossing, n_words, n_tags = sentence
        lines.append(
            f"{number:4d}  {length:3d}    {status:d}  {_percent(matched, gold)} {_percent(matched, parsed)}   "
            f"{matched:3d}    {gold:3d}  {parsed:3d}    {n_crossing:3d}   {n_words:4d}  {n_tags:4d}   "
            f"{_percent(n_tags, n_words)}"
        )
    everything = scores.all
    matched, gold, parsed = everything.brackets
    total = f"  {everything.n_words:5d} {everything.n_correct_tags:5d}   "
    total += _percent(everything.n_correct_tags, everything.n_words)
    if gold and parsed:
        measures = f"{_percent(matched, gold)} {_percent(matched, parsed)} {matched:6d} {gold:5d} {parsed:5d}"
        total = f"{'':16}{measures}  {everything.n_crossing:5d}{total}"
    return "\n".join([*lines, _RULE, total, "=== Summary ===", "", _format_summary(scores)])


def _format_summary(scores: Scores) -> str:
    """Return the two blocks of measures at the end of EVALB's output."""
    short = _summary_block(f"len<={scores.params.cutoff_len}", scores.up_to_40)
    return f"{_summary_block('All', scores.all)}\n\n{short}"


def _summary_block(title: str, summary: Summary) -> str:
    counts = [
        ("Number of sentence", summary.n_sents),
        ("Number of Error sentence", summary.n_errors),
        ("Number of Skip  sentence", summary.n_skipped),
        ("Number of Valid sentence", summary.n_valid),
    ]
    matched, gold, parsed = summary.brackets
    measures = [
        ("Bracketing Recall", _percent(matched, gold)),
        ("Bracketing Precision", _percent(matched, parsed)),
        ("Bracketing FMeasure", f"{100 * summary.f:6.2f}"),
        ("Complete match", _percent(summary.n_exact, summary.n_valid)),
        ("Average crossing", f"{summary.avg_crossing:6.2f}"),
        ("No crossing", _percent(summary.n_without_crossing, summary.n_valid)),
        ("2 or less crossing", _percent(summary.n_up_to_two_crossing, summary.n_valid)),
        ("Tagging accuracy", _percent(summary.n_correct_tags, summary.n_words)),
    ]
    lines = [f"{name:<25} = {count:6d}" for name, count in counts]
    lines += [f"{name:<25} = {measure}" for name, measure in measures]
    return "\n".join([f"-- {title} --", *lines])


def _percent(part: int, whole: int) -> str:
    return f"{100.0 * part / whole if whole else 0.0:6.2f}"
