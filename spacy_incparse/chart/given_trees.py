"""The score of a given tree: the rules of its derivation, and their scores in the sentence's chart."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spacy_incparse.chart.chart_model import ChartModel
from spacy_incparse.chart.forests.scored_chart import ScoredChart
from spacy_incparse.chart.grammar.grammar import Grammar
from spacy_incparse.chart.grammar.tree_rules import TAG_MARK, Rule, Step, tree_steps
from spacy_incparse.derivations.oracle import check_words, reachable_tags, retag
from spacy_incparse.parsers.parse import Tags
from spacy_incparse.parsers.tree_scores import ScoredRule, TreeScore, Violation
from spacy_incparse.transforms.markovize import Markovization, markovize
from spacy_incparse.transforms.state_labels import label_parts
from spacy_incparse.trees.tree import Tree

MakeChart = Callable[[Tags, Sequence[Step]], ScoredChart | None]
"""Returns the chart under tags, in which the states of some rules are not pruned; None if there is none."""


def score_given_tree(
    model: ChartModel,
    settings: Markovization,
    words: Sequence[str],
    tags: Tags | None,
    tree: Tree,
    make_chart: MakeChart,
) -> TreeScore:
    """Return the log probability and the rules of a tree; see `ChartParser.score`."""
    check_words(words, tree)
    given: Tags = tree.tags if tags is None else tags  # words without tags have all those of the parser's choice
    known = [tag or own for tag, own in zip(given, tree.tags, strict=True)]
    shown = retag(tree, reachable_tags(tree, known))
    markovized = markovize(shown.arrays, settings, model.heads)
    steps = list(tree_steps(markovized))
    numbered = model.grammar.steps(markovized)
    chart = make_chart(given, steps) if numbered else None
    edges = chart.chart.forest.find(numbered) if chart is not None else None
    if chart is None or edges is None:
        rules = [_rule(step, None, model.grammar) for step in steps]
        return TreeScore(shown, None, (), tuple(rules))
    scores = _shares(chart, edges)
    rules = [_rule(step, score, model.grammar) for step, score in zip(steps, scores, strict=True)]
    return TreeScore(shown, chart.log_probability(chart.sum_of(edges)), (), tuple(rules))


def _shares(chart: ScoredChart, edges: Sequence[int]) -> list[float]:
    """Return the scores of a derivation's rules; that of having no unary rule counts for the rule below."""
    shares, waiting = [], 0.0
    for (rule, _), score in zip(chart.chart.forest.rules_of(edges).tolist(), chart.scores[edges].tolist(), strict=True):
        waiting += score
        if rule >= 0:
            shares.append(waiting)
            waiting = 0.0
    return shares


def _rule(step: Step, score: float | None, grammar: Grammar) -> ScoredRule:
    violation = None if step.rule in grammar.rule_ids else _violation(step.rule, grammar)
    return ScoredRule(str(step.rule), step.start, step.end, score, violation)


def _violation(rule: Rule, grammar: Grammar) -> Violation:
    tags = (label_parts(name[1:]).categories[-1] for name in (rule.parent, *rule.right) if name.startswith(TAG_MARK))
    unknown = next((tag for tag in tags if tag not in grammar.rules_of_tag), None)
    return Violation("rule", f"no rule {rule}") if unknown is None else Violation("tag", f"no tag {unknown}")
