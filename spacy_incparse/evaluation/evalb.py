"""Score parsed trees against gold trees with EVALB's measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import starmap, zip_longest

from spacy_incparse.errors import IncparseError
from spacy_incparse.evaluation.brackets import (
    COLLINS,
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
from spacy_incparse.evaluation.summaries import ERROR, SKIPPED, VALID, LabelCounts, Scores, SentenceScore
from spacy_incparse.trees.tree import Tree


def score_trees(
    gold: Iterable[Tree], parsed: Iterable[Tree], *, params: EvalbParams = COLLINS, as_evalb: bool = False
) -> Scores:
    """Compare two lists of trees, sentence by sentence, without normalizing them.

    By default the gold tags first replace the parsed ones, so that both sides delete the same punctuation and every
    sentence counts; the tagging accuracy is computed before that. Traces (tags in both DELETE_LABEL and
    DELETE_LABEL_FOR_LENGTH) may be on one side only, and a root without a label, ROOT, VROOT or S1 counts as TOP.
    With `as_evalb` the result is the same as the program's: each side deletes by its own tags, sentences that then
    differ in length or words are errors and left out, and root labels get no special treatment.

    Sentences with no words after deletion are skipped in both modes. Raises IncparseError if the numbers of trees
    differ; by default also if the words differ; with `as_evalb` if there are more errors than MAX_ERROR allows.
    """
    rules = Rules(params)
    prepare = _prepare_as_evalb if as_evalb else _prepare
    sentences: list[SentenceScore] = []
    labels = LabelCounts()
    n_errors = 0
    for number, (gold_tree, parsed_tree) in enumerate(_pairs(gold, parsed), start=1):
        score = _score_sentence(gold_tree, parsed_tree, rules, labels, number, prepare)
        n_errors += score.status == ERROR
        if params.max_error is not None and n_errors > params.max_error + 1:
            limit = f"stopped at sentence {number}: {n_errors} sentences differ from the gold ones in length or words"
            raise IncparseError(f"{limit}, and MAX_ERROR is {params.max_error}; raise it in the parameter file")
        sentences.append(score)
    return Scores.of(sentences, labels, params)


_Prepare = Callable[[Tree, Tree, Rules, int], tuple[DeletedSide, DeletedSide, int]]


def _score_sentence(
    gold_tree: Tree, parsed_tree: Tree, rules: Rules, labels: LabelCounts, number: int, prepare: _Prepare
) -> SentenceScore:
    length = rules.length(gold_tree.tags)
    gold, parsed, n_correct_tags = prepare(gold_tree, parsed_tree, rules, number)
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
    gold = delete_words(gold_tree, gold_tree.tags, rules.deleted_tags)
    parsed = delete_words(parsed_tree, parsed_tree.tags, rules.deleted_tags)
    if rules.quote_tags and parsed.words and len(gold.words) != len(parsed.words):
        restore_quotes((gold_tree, gold), (parsed_tree, parsed), rules)
    return gold, parsed, sum(map(rules.same_label, gold.tags, parsed.tags))


def _prepare(gold_tree: Tree, parsed_tree: Tree, rules: Rules, number: int) -> tuple[DeletedSide, DeletedSide, int]:
    gold_tags, parsed_tags = gold_tree.tags, parsed_tree.tags
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


def _align(gold_tags: tuple[str, ...], parsed_tags: tuple[str, ...], rules: Rules) -> Iterable[tuple[int, int]] | None:
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


def _pairs(gold: Iterable[Tree], parsed: Iterable[Tree]) -> Iterator[tuple[Tree, Tree]]:
    n_gold = n_parsed = 0
    for gold_tree, parsed_tree in zip_longest(gold, parsed):
        n_gold += gold_tree is not None
        n_parsed += parsed_tree is not None
        if n_gold == n_parsed:
            yield gold_tree, parsed_tree
    if n_gold != n_parsed:
        raise IncparseError(
            f"{n_gold} gold trees but {n_parsed} parsed trees: there must be one parsed tree for each gold tree, "
            "in the same order"
        )
