"""Scores as text: EVALB's own layout, and tables by label and by sentence length."""

from __future__ import annotations

from spacy_incparse.evaluation.summaries import Figures, SentenceScore, Summary

_RULE = "=" * 76
_HEAD = f"""\
  Sent.                        Matched  Bracket   Cross        Correct Tag
 ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy
{_RULE}"""


def format_scores(scores: Figures) -> str:
    """Return EVALB's summary of all sentences and of the short ones, then tables by label and by length."""
    return "\n\n".join([format_summary(scores), format_labels(scores), format_lengths(scores)])


def format_evalb(scores: Figures) -> str:
    """Return the output of the EVALB program, exact to the character, except `0.00` where it prints `-nan`."""
    lines = [_sentence_line(number, sentence) for number, sentence in enumerate(scores.per_sentence, start=1)]
    return "\n".join([_HEAD, *lines, _RULE, _total_line(scores.all), "=== Summary ===", "", format_summary(scores)])


def format_summary(scores: Figures) -> str:
    """Return the two blocks of measures at the end of EVALB's output."""
    short = _summary_block(f"len<={scores.params.cutoff_len}", scores.up_to_40)
    return f"{_summary_block('All', scores.all)}\n\n{short}"


def format_labels(scores: Figures) -> str:
    """Return a line per label, the most frequent first: recall, precision and F in percent, and bracket counts.

    A dash stands for a recall without gold brackets, and for a precision without parsed ones.
    """
    lines = [f"{'Label':<12} {'Recall':>7} {'Prec.':>7} {'F':>7} {'gold':>7} {'parsed':>7}"]
    for label, score in scores.per_label.items():
        recall = _percents(score.recall) if score.n_gold else f"{'-':>7}"
        precision = _percents(score.precision) if score.n_parsed else f"{'-':>7}"
        measures = f"{recall} {precision} {_percents(score.f)}"
        lines.append(f"{label or '(none)':<12} {measures} {score.n_gold:>7} {score.n_parsed:>7}")
    return "\n".join(lines)


def format_lengths(scores: Figures) -> str:
    """Return a line per bin of sentence lengths (in words): recall, precision, F and complete match in percent."""
    lines = [f"{'Words':<12} {'Recall':>7} {'Prec.':>7} {'F':>7} {'Compl.':>7} {'sents':>7}"]
    for bin_name, summary in scores.by_length.items():
        measures = _percents(summary.recall, summary.precision, summary.f, summary.exact)
        lines.append(f"{bin_name:<12} {measures} {summary.n_valid:>7}")
    return "\n".join(lines)


def _percents(*fractions: float) -> str:
    return " ".join(f"{100 * fraction:7.2f}" for fraction in fractions)


def _sentence_line(number: int, sentence: SentenceScore) -> str:
    recall = _percent(sentence.n_matched, sentence.n_gold)
    precision = _percent(sentence.n_matched, sentence.n_parsed)
    accuracy = _percent(sentence.n_correct_tags, sentence.n_words)
    return (
        f"{number:4d}  {sentence.length:3d}    {sentence.status:d}  {recall} {precision}   {sentence.n_matched:3d}    "
        f"{sentence.n_gold:3d}  {sentence.n_parsed:3d}    {sentence.n_crossing:3d}   {sentence.n_words:4d}  "
        f"{sentence.n_correct_tags:4d}   {accuracy}"
    )


def _total_line(summary: Summary) -> str:
    matched, gold, parsed = summary.brackets
    tags = f"  {summary.n_words:5d} {summary.n_correct_tags:5d}   {_percent(summary.n_correct_tags, summary.n_words)}"
    if not gold or not parsed:
        return tags
    measures = f"{_percent(matched, gold)} {_percent(matched, parsed)}"
    return f"{'':16}{measures} {matched:6d} {gold:5d} {parsed:5d}  {summary.n_crossing:5d}{tags}"


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
