"""The reasons why a grammar does not let the search build a tree, word by word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spacy_incparse.derivations.chains import Context, Decision, Grammar, tree_decisions
from spacy_incparse.derivations.grammar_labels import END, NO_SIBLING, SHIFT, STOP, UNKNOWN, Labels
from spacy_incparse.parsers.tree_scores import Violation
from spacy_incparse.trees.tree import Tree

TAG, CHAIN, TRIPLE, CONTEXT = "tag", "chain", "triple", "context"


def violations(tree: Tree, grammar: Grammar, seen: Mapping[Context, frozenset[int]]) -> list[Violation | None]:
    """Return why the search may not make the move for each word of a transformed tree, and for its end; None: it may.

    seen: the outcomes that contexts allow, see `seen_outcomes`.
    """
    found: list[Violation | None] = []
    for decisions, tag in zip(_by_word(tree_decisions(tree, grammar.labels)), [*tree.tags, None], strict=True):
        chain = [decision for decision in decisions if decision[3] != STOP]
        site = len(decisions) - len(chain)  # the decisions before it are closings
        violated = [_violated(decision, grammar, seen, n <= site) for n, decision in enumerate(decisions)]
        found.append(_lacking_chain(chain, tag, grammar) or next(filter(None, violated), None))
    return found


def seen_outcomes(grammar: Grammar, min_count: int, min_share: float) -> dict[Context, frozenset[int]]:
    """Return the outcomes that contexts seen at least `min_count` times allow; 0: contexts do not limit outcomes.

    Outcomes with a share below `min_share` do not count.
    """
    if not min_count:
        return {}
    totals = {context: sum(outcomes.values()) for context, outcomes in grammar.contexts.items()}
    return {
        context: frozenset(outcome for outcome, n in outcomes.items() if n >= min_share * totals[context])
        for context, outcomes in grammar.contexts.items()
        if totals[context] >= min_count
    }


def _by_word(decisions: Sequence[Decision]) -> list[list[Decision]]:
    """Split decisions after each word; the last part is the end of the sentence."""
    parts: list[list[Decision]] = [[]]
    for decision in decisions:
        parts[-1].append(decision)
        if decision[3] == SHIFT:
            parts.append([])
    return parts


def _lacking_chain(chain: Sequence[Decision], tag: str | None, grammar: Grammar) -> Violation | None:
    """Return a violation if the grammar lacks the chain that these decisions build."""
    if tag is None:
        return None
    labels = tuple(decision[3] for decision in chain[:-1])
    tag_id = grammar.labels.tag_ids.get(tag, UNKNOWN)
    if tag_id != UNKNOWN and labels in grammar.chains[tag_id]:
        return None
    path = " over ".join([*(_name(label, grammar.labels) for label in labels), tag])
    return Violation(CHAIN, f"no chain {path}" if labels else f"no {path} without its own phrase")


def _violated(
    decision: Decision, grammar: Grammar, seen: Mapping[Context, frozenset[int]], needs_triple: bool
) -> Violation | None:
    """Return why a decision may not be taken; inside a chain it needs no triple, since the chain has been seen."""
    parent, sibling, tag, outcome = decision
    labels = grammar.labels
    symbol = outcome if outcome != SHIFT else UNKNOWN if tag == UNKNOWN else labels.tag_symbol(tag)
    behind = "" if sibling == NO_SIBLING else f" after {_name(sibling, labels)}"
    inside = f"{_name(parent, labels)}{behind}"
    what = f"no end of {inside}" if outcome == STOP else f"no {_name(symbol, labels)} in {inside}"
    if needs_triple and (parent, sibling, symbol) not in grammar.triples:
        return Violation(TRIPLE, what)
    allowed = seen.get((parent, sibling, tag))
    if allowed is not None and outcome not in allowed:
        return Violation(CONTEXT, what + (" at the sentence's end" if tag == END else f" before {labels.tags[tag]}"))
    return None


def _name(symbol: int, labels: Labels) -> str:
    return "an unknown label" if symbol == UNKNOWN else labels.name(symbol)
