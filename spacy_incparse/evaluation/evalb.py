"""Score parsed trees against gold trees with EVALB's measures, and compare two parsers."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import accumulate, count, starmap, zip_longest
from typing import Any, NamedTuple

import numpy as np

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.brackets import (
    COLLINS,
    Bracket,
    DeletedSide,
    EvalbParams,
    Rules,
    counted_brackets,
    crossing_test,
    delete_words,
    match_brackets,
    restore_quotes,
    without_wrapper,
)
from spacy_incparse.evaluation.summaries import (
    ERROR,
    SKIPPED,
    VALID,
    Agreement,
    LabelCounts,
    Scores,
    SentenceScore,
    format_evalb,
)
from spacy_incparse.trees.tree import Tree


def score_trees(
    gold: Iterable[Tree],
    parsed: Iterable[Tree | None],
    *,
    params: EvalbParams = COLLINS,
    as_evalb: bool = False,
    numbers: Iterable[int] | None = None,
) -> Scores:
    """Compare two lists of trees, sentence by sentence, without normalizing them; None is a parse that failed.

    By default the gold tags first replace the parsed ones, so that both sides delete the same punctuation and every
    sentence counts; the tagging accuracy is computed before that. Traces (tags in both DELETE_LABEL and
    DELETE_LABEL_FOR_LENGTH) may be on one side only, and a root without a label, ROOT, VROOT or S1 counts as TOP.
    With `as_evalb` the result is the same as the program's: each side deletes by its own tags, sentences that then
    differ in length or words are errors and left out, as are failed parses, and root labels get no special treatment.

    Sentences with no words after deletion are skipped in both modes. numbers: of the sentences, if they are not counted
    from 1. Raises IncparseError if the numbers of trees differ; by default also if the words differ; with `as_evalb` if
    there are more errors than MAX_ERROR allows.
    """
    rules = Rules(params)
    prepare = _prepare_as_evalb if as_evalb else _prepare
    sentences: list[SentenceScore] = []
    labels = LabelCounts()
    n_errors, failed = 0, list[int]()
    gold, parsed = list(gold), list(parsed)
    if len(gold) != len(parsed):
        raise IncparseError(
            f"{len(gold)} gold trees but {len(parsed)} parsed trees: there must be one parsed tree for each gold tree, "
            "in the same order; a parse that failed is a line (()), and a blank line is no gold tree"
        )
    for gold_tree, parsed_tree, number in zip(gold, parsed, numbers or count(1), strict=False):
        score = _score_sentence(gold_tree, parsed_tree, rules, labels, number, prepare)
        failed += [number] * (parsed_tree is None)
        n_errors += score.status == ERROR
        if params.max_error is not None and n_errors > params.max_error + 1:
            limit = f"stopped at sentence {number}: {n_errors} sentences differ from the gold ones in length or words"
            raise IncparseError(f"{limit}, and MAX_ERROR is {params.max_error}; raise it in the parameter file")
        sentences.append(score)
    return Scores.of(sentences, labels, params, failed)


_Prepare = Callable[[Tree, Tree, Rules, int], tuple[DeletedSide, DeletedSide, int]]


def _score_sentence(
    gold_tree: Tree, parsed_tree: Tree | None, rules: Rules, labels: LabelCounts, number: int, prepare: _Prepare
) -> SentenceScore:
    length = rules.length(gold_tree.tags)
    gold, parsed, n_correct_tags = prepare(gold_tree, parsed_tree or gold_tree, rules, number)
    if parsed_tree is None:  # nothing of it counts; the program skips the sentence, since no word of the parse is left
        parsed, n_correct_tags = DeletedSide(gold.words * (prepare is _prepare), [], []), 0
    if not parsed.words:
        return SentenceScore(length, SKIPPED)
    if len(gold.words) != len(parsed.words) or not all(map(rules.same_word, gold.words, parsed.words)):
        return SentenceScore(length, ERROR)
    gold_brackets = counted_brackets(gold.brackets, rules)
    parsed_brackets = counted_brackets(parsed.brackets, rules)
    matches = match_brackets(gold_brackets, parsed_brackets, rules)
    labels.add(gold_brackets, parsed_brackets, matches)
    gold_spans, n_crossing = {bracket[1:] for bracket in gold_brackets}, 0
    if suspects := [bracket[1:] for bracket in parsed_brackets if bracket[1:] not in gold_spans]:
        n_crossing = sum(starmap(crossing_test(gold_brackets), suspects))
    counts = len(matches), len(gold_brackets), len(parsed_brackets), n_crossing, len(gold.words), n_correct_tags
    return SentenceScore(length, VALID, *counts)


def _prepare_as_evalb(
    gold_tree: Tree, parsed_tree: Tree, rules: Rules, number: int
) -> tuple[DeletedSide, DeletedSide, int]:
    gold = delete_words(gold_tree, rules.tags(gold_tree), rules.deleted_tags)
    parsed = delete_words(parsed_tree, rules.tags(parsed_tree), rules.deleted_tags)
    if rules.quote_tags and parsed.words and len(gold.words) != len(parsed.words):
        restore_quotes((gold_tree, gold), (parsed_tree, parsed), rules)
    return gold, parsed, sum(map(rules.same_label, gold.tags, parsed.tags))


def _prepare(gold_tree: Tree, parsed_tree: Tree, rules: Rules, number: int) -> tuple[DeletedSide, DeletedSide, int]:
    gold_tags, parsed_tags = rules.tags(gold_tree), rules.tags(parsed_tree)
    aligned = _align(gold_tags, parsed_tags, rules)
    if aligned is None:
        sizes = f"{len(gold_tags)} words in the gold tree, {len(parsed_tags)} in the parsed one"
        raise IncparseError(f"sentence {number}: {sizes}; {_ADVICE}")
    new_tags, own_tags = list(parsed_tags), []
    for gold_index, parsed_index in aligned:
        new_tags[parsed_index] = gold_tags[gold_index]
        if gold_tags[gold_index] not in rules.deleted_tags:
            own_tags.append(parsed_tags[parsed_index])
    gold = delete_words(gold_tree, gold_tags, rules.deleted_tags)
    parsed = delete_words(parsed_tree, new_tags, rules.deleted_tags)
    for gold_word, parsed_word in zip(gold.words, parsed.words, strict=True):
        if not rules.same_word(gold_word, parsed_word):
            words = f"the word {gold_word!r} of the gold tree is {parsed_word!r} in the parsed one"
            raise IncparseError(f"sentence {number}: {words}; {_ADVICE}")
    gold.brackets, parsed.brackets = without_wrapper(gold.brackets), without_wrapper(parsed.brackets)
    return gold, parsed, sum(map(rules.same_label, gold.tags, own_tags))


def _align(gold_tags: Sequence[str], parsed_tags: Sequence[str], rules: Rules) -> Iterable[tuple[int, int]] | None:
    """Pair the word indices of the two sides, without traces if only one side has them."""
    traces = rules.deleted_tags & rules.not_in_length
    gold_words = [i for i, tag in enumerate(gold_tags) if tag not in traces]
    parsed_words = [i for i, tag in enumerate(parsed_tags) if tag not in traces]
    if len(gold_words) == len(parsed_words):
        return zip(gold_words, parsed_words, strict=True)
    if len(gold_tags) == len(parsed_tags):  # a real word was tagged as a trace
        return ((i, i) for i in range(len(gold_tags)))
    return None


_ADVICE = "both must be trees over the same words (EVALB's own mode, as_evalb or --as-evalb, leaves such sentences out)"


@dataclass(frozen=True)
class Bootstrap:
    """The difference in labeled F between two parsers, as fractions; positive if the second is better."""

    difference: float
    low: float  # the 95% interval of the difference
    high: float
    p_value: float  # two-sided
    n_samples: int

    def to_dict(self) -> dict[str, float]:
        """Return all fields as a JSON-serializable dict."""
        return asdict(self)

    def format(self) -> str:
        """Return the difference in points of F (percent), as one line."""
        points = f"{100 * self.difference:+.2f} (95 %: {100 * self.low:+.2f} to {100 * self.high:+.2f})"
        return f"Difference in F {points}, p = {self.p_value:.4f}, {self.n_samples} samples"


def compare(a: Scores, b: Scores, *, n: int = 1000, seed: int = 0) -> Bootstrap:
    """Compare two runs by paired bootstrap: `n` samples of the sentences, of equal size, drawn with replacement.

    See Efron and Tibshirani (1993) and Koehn (2004).

    The p-value is the share of samples whose difference is at least as far from the observed one as that is from 0
    (with 1 added to both counts, so that it is never 0). Sentences that either run leaves out are left out of both.
    Raises IncparseError if the runs differ in their number of sentences or `n` is below 1.
    """
    if len(a.per_sentence) != len(b.per_sentence):
        sizes = f"{len(a.per_sentence)} and {len(b.per_sentence)} sentences"
        raise IncparseError(f"cannot compare runs over {sizes}: both must be scored against the same gold trees")
    if n < 1:
        raise IncparseError(f"the bootstrap needs at least 1 sample, not {n}")
    pairs = zip(a.per_sentence, b.per_sentence, strict=True)
    rows = [[*x[2:5], *y[2:5]] for x, y in pairs if x.status == y.status == VALID]  # matched, gold and parsed brackets
    counts = np.array(rows, dtype=np.int64).reshape(-1, 6)
    difference = float(_difference(counts.sum(axis=0)))
    generator = np.random.default_rng(seed)
    size = len(counts)
    draws = (generator.integers(size, size=size) if size else np.zeros(0, np.int64) for _ in range(n))
    samples = np.array([_difference(counts[draw].sum(axis=0)) for draw in draws])
    # Swapped runs must get the same p-value, so rounding must not decide ties.
    n_as_far = int(np.sum(np.abs(samples - difference) >= abs(difference) - 1e-12))
    low, high = np.quantile(samples, [0.025, 0.975])
    return Bootstrap(difference, float(low), float(high), (n_as_far + 1) / (n + 1), n)


def _difference(counts: np.ndarray) -> float:
    matched_a, gold_a, parsed_a, matched_b, gold_b, parsed_b = counts
    return 2 * matched_b / max(1, gold_b + parsed_b) - 2 * matched_a / max(1, gold_a + parsed_a)


@dataclass(frozen=True)
class ScoreReport:
    """The result of `score`; `second` and `bootstrap` are None unless requested."""

    first: Scores | TextScores
    second: Scores | TextScores | None = None
    bootstrap: Bootstrap | None = None
    as_evalb: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the dict of the first scores, the second's under "second", the comparison under "bootstrap"."""
        result = self.first.to_dict()
        if self.second is not None:
            result["second"] = self.second.to_dict()
        if self.bootstrap is not None:
            result["bootstrap"] = self.bootstrap.to_dict()
        return result

    def format(self) -> str:
        """Return the report as text: EVALB's summary and the tables, or in EVALB mode the program's output."""
        first, *second = (
            format_evalb(scores) if self.as_evalb and isinstance(scores, Scores) else scores.format()
            for scores in (self.first, self.second)
            if scores
        )
        if not second:
            return first
        comparison = [self.bootstrap.format()] if self.bootstrap is not None else []
        return "\n\n".join(["##### First", first, "##### Second", *second, *comparison])


def report_scores(
    gold: Iterable[Tree],
    parsed: Iterable[Tree | None],
    parsed2: Iterable[Tree | None] | None = None,
    *,
    params: EvalbParams = COLLINS,
    as_evalb: bool = False,
    numbers: Sequence[int] | None = None,
    by_characters: bool = False,
    n_bootstrap: int = 0,
    seed: int = 0,
) -> ScoreReport:
    """Score the trees of one or two parsers and, if `n_bootstrap` is above 0, compare the two.

    Raises IncparseError as `score_trees` does, or `score_by_characters`, and if a comparison is requested without a
    second parser.
    """
    score: Callable[..., Scores | TextScores] = partial(score_by_characters, params=params)
    if not by_characters:
        score = partial(score_trees, params=params, as_evalb=as_evalb, numbers=numbers)
    if n_bootstrap and parsed2 is None:
        raise IncparseError("the bootstrap compares two parsers: give a second file of parsed trees")
    gold = list(gold)
    first, second = score(gold, parsed), None if parsed2 is None else score(gold, parsed2)
    rows: Any = [getattr(one, "scores", one) for one in (first, second)]
    comparison = compare(*rows, n=n_bootstrap, seed=seed) if n_bootstrap else None
    return ScoreReport(first, second, comparison, as_evalb)


class PlacedTree(NamedTuple):
    """A sentence's tree with the character offsets of its words in a text, ends exclusive."""

    tree: Tree
    starts: Sequence[int]  # one per word of the tree; a trace has start == end
    ends: Sequence[int]

    @property
    def words(self) -> list[tuple[tuple[int, int], str]]:
        """Start and end of each word, with its tag."""
        return list(zip(zip(self.starts, self.ends, strict=True), self.tree.tags, strict=True))


@dataclass(frozen=True)
class TextScores:
    """The result of `score_texts`: EVALB scores in character space, and the agreement of tokens and sentences."""

    scores: Scores
    tokens: Agreement
    sentences: Agreement

    def to_dict(self) -> dict[str, Any]:
        """Return the dict of `scores`, and token_p, token_r, token_f, sent_p, sent_r, sent_f (fractions)."""
        result = self.scores.to_dict()
        for name, agreement in (("token", self.tokens), ("sent", self.sentences)):
            result[f"{name}_p"] = agreement.precision
            result[f"{name}_r"] = agreement.recall
            result[f"{name}_f"] = agreement.f
        return result

    def format(self) -> str:
        """Return token and sentence agreement in percent, then the tables of `scores`."""
        lines = [f"{'':<12} {'Recall':>7} {'Prec.':>7} {'F':>7}"]
        for name, agreement in (("Tokens", self.tokens), ("Sentences", self.sentences)):
            measures = (agreement.recall, agreement.precision, agreement.f)
            lines.append(f"{name:<12} " + " ".join(f"{100 * measure:7.2f}" for measure in measures))
        return "\n".join([*lines, "", self.scores.format()])


def score_texts(
    gold: Iterable[Sequence[PlacedTree]], parsed: Iterable[Sequence[PlacedTree]], *, params: EvalbParams = COLLINS
) -> TextScores:
    """Compare parsed texts with gold texts; each text is a sequence of trees, one per sentence in order.

    A parsed bracket belongs to the gold sentence that contains its first counted character. A tag is right if the
    gold and the parsed token have the same boundaries and tag. Raises IncparseError if the numbers of texts differ.

    Every bracket is reduced to the characters that count: those inside gold words that are not deleted. Its ends are
    counted in these characters, so that with equal tokens and sentences the scores equal those of `score_trees`.
    """
    rules = Rules(params)
    rows: list[SentenceScore] = []
    labels = LabelCounts()
    tokens, sentences = Agreement(0, 0, 0), Agreement(0, 0, 0)
    for number, (gold_text, parsed_text) in enumerate(zip_longest(gold, parsed), start=1):
        if gold_text is None or parsed_text is None:
            raise IncparseError(
                f"text {number} is missing on one side: there must be one parsed text for each gold one"
            )
        rows += _score_text(gold_text, parsed_text, rules, labels)
        words, bounds = [], []
        for text in (gold_text, parsed_text):
            words.append([place for placed in text for place, _ in placed.words if place[0] < place[1]])
            bounds.append([(min(placed.starts), max(placed.ends)) for placed in text])
        tokens, sentences = _added(tokens, *words), _added(sentences, *bounds)
    return TextScores(Scores.of(rows, labels, params), tokens, sentences)


def score_by_characters(
    gold: Iterable[Tree], parsed: Iterable[Tree | None], *, params: EvalbParams = COLLINS
) -> TextScores:
    """Compare trees over the same characters, spaces apart, that may have other words and sentences.

    None is a parse that failed, of the gold tree with its number. Raises IncparseError where the characters differ.
    """
    rules, gold_trees = Rules(params), list(gold)
    traces = rules.deleted_tags & rules.not_in_length
    texts, placed, failed = list[str](), list[list[PlacedTree]](), list[int]()
    for trees in (gold_trees, list(parsed)):
        text, found = "", list[PlacedTree]()
        for k, tree in enumerate(trees):
            over = tree or gold_trees[min(k, len(gold_trees) - 1)]
            pairs = zip(over.words, over.tags, strict=True)
            words = ["" if tag in traces else "".join(word.split()) for word, tag in pairs]
            places = list(accumulate(map(len, words), initial=len(text)))
            text += "".join(words)
            if tree is None:
                failed.append(k + 1)
            else:
                found.append(PlacedTree(tree, places[:-1], places[1:]))
        texts.append(text)
        placed.append(found)
    if texts[0] != texts[1]:
        at = next(k for k, (one, other) in enumerate(zip_longest(*texts)) if one != other)
        number = sum(min(tree.starts) <= at for tree in placed[0])
        sides = " and the parsed one ".join(repr(text[max(at - 10, 0) : at + 10]) for text in texts)
        raise IncparseError(f"sentence {number}: the gold text has {sides}: both files must have the same characters")
    scored = score_texts(placed[:1], placed[1:], params=params)
    return replace(scored, scores=replace(scored.scores, failed=tuple(failed)))


def _score_text(
    gold: Sequence[PlacedTree], parsed: Sequence[PlacedTree], rules: Rules, labels: LabelCounts
) -> list[SentenceScore]:
    kept = [
        [pair for pair, tag in zip(placed.words, rules.tags(placed.tree), strict=True) if tag not in rules.deleted_tags]
        for placed in gold
    ]
    is_counted = bytearray(max((end for placed in (*gold, *parsed) for end in placed.ends), default=0))
    for words in kept:
        for (start, end), _ in words:
            is_counted[start:end] = b"\1" * (end - start)
    position = [0, *accumulate(is_counted)]  # the number of counted characters before each
    gold_brackets = [_brackets(placed, position, rules) for placed in gold]
    first = [position[min(placed.starts)] for placed in gold]
    parsed_brackets: list[list[Bracket]] = [[] for _ in gold]
    for placed in parsed:
        for bracket in _brackets(placed, position, rules):
            # Skipped sentences have no counted character, so the next sentence begins at the same place.
            parsed_brackets[bisect_right(first, bracket[1]) - 1].append(bracket)
    crosses = crossing_test([bracket for sentence in gold_brackets for bracket in sentence])
    parsed_tags = {place: tag for placed in parsed for place, tag in placed.words}
    rows = []
    for placed, words, here, found in zip(gold, kept, gold_brackets, parsed_brackets, strict=True):
        length = rules.length(placed.tree.tags)
        if not words:
            rows.append(SentenceScore(length, SKIPPED))
            continue
        matches = match_brackets(here, found, rules)
        labels.add(here, found, matches)
        n_crossing = sum(crosses(start, end) for _, start, end in found)
        n_correct_tags = sum(rules.same_label(tag, parsed_tags.get(place, "")) for place, tag in words)
        counts = len(matches), len(here), len(found), n_crossing, len(words), n_correct_tags
        rows.append(SentenceScore(length, VALID, *counts))
    return rows


def _brackets(placed: PlacedTree, position: Sequence[int], rules: Rules) -> list[Bracket]:
    tree, starts, ends = placed
    offset = tree.start
    spans = [
        (label, position[starts[start - offset]], position[ends[end - 1 - offset]])
        for label, start, end in tree.spans()
    ]
    return counted_brackets(without_wrapper(spans), rules)


def _added(before: Agreement, gold: Sequence[Hashable], parsed: Sequence[Hashable]) -> Agreement:
    n_matched = (Counter(gold) & Counter(parsed)).total()
    return Agreement(before.n_matched + n_matched, before.n_gold + len(gold), before.n_parsed + len(parsed))
