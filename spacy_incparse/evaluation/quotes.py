"""EVALB's repair of mistagged quotes (the version of 2006, parameter QUOTE_LABEL).

If the trees differ in length after deletion, a quote that only one tree deleted, such as `'` tagged POS in one and
`''` in the other, is restored. This follows the program step by step, even for two adjacent quotes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spacy_incparse.evaluation.evalb_brackets import Bracket, DeletedSide, Rules
from spacy_incparse.trees.tree import Tree

_QUOTES = frozenset(["'", '"', "/"])


@dataclass(slots=True)
class _Quote:
    word: str
    tag: str
    position: int  # among the remaining words
    n_opened: int  # phrases opened before the word
    open_phrases: list[int]  # numbers of the phrases around the word


def restore_quotes(gold: tuple[Tree, DeletedSide], parsed: tuple[Tree, DeletedSide], rules: Rules) -> None:
    """Restore the quotes that only one side deleted, in place."""
    gold_quotes, parsed_quotes = _quotes(gold[0], rules), _quotes(parsed[0], rules)
    for p, parsed_quote in enumerate(parsed_quotes):
        position = parsed_quote.position
        for g, gold_quote in enumerate(gold_quotes):
            if gold_quote.position != position or gold_quote.tag == parsed_quote.tag:
                continue
            gold_deleted, parsed_deleted = (q.tag in rules.deleted_tags for q in (gold_quote, parsed_quote))
            if gold_deleted and not parsed_deleted:
                _reinsert(gold_quotes, g, gold[1])
            elif parsed_deleted and not gold_deleted:
                _reinsert(parsed_quotes, p, parsed[1])


def _quotes(tree: Tree, rules: Rules) -> list[_Quote]:
    quotes: list[_Quote] = []
    path: list[tuple[int, int]] = []  # the open phrases, as (number, index after the subtree)
    n_opened = position = 0
    for node in tree.preorder():
        while path and path[-1][1] <= node.index:
            path.pop()
        if not node.is_preterminal:
            path.append((n_opened, node.index + node.size))
            n_opened += 1
            continue
        if node.label in rules.quote_tags and node.words[0] in _QUOTES:
            quotes.append(_Quote(node.words[0], node.label, position, n_opened, [number for number, _ in path]))
        position += node.label not in rules.deleted_tags
    return quotes


def _reinsert(quotes: Sequence[_Quote], which: int, side: DeletedSide) -> None:
    quote = quotes[which]
    side.words.insert(quote.position, quote.word)
    side.tags.insert(quote.position, quote.tag)
    around = set(quote.open_phrases)
    brackets: list[Bracket] = []
    for number, (label, start, end) in enumerate(side.brackets):
        behind = number >= quote.n_opened
        brackets.append((label, start + behind, end + (behind or number in around)))
    side.brackets = brackets
    for later in quotes[which:]:
        later.position += 1
