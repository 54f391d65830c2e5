"""A given tree as the moves of a search, under the tags that the search uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spacy_incparse.incremental.grammar import (
    END,
    NO_SIBLING,
    SHIFT,
    STOP,
    UNKNOWN,
    Context,
    Decision,
    Grammar,
    Labels,
    derivation,
    tree_decisions,
)
from spacy_incparse.parsing.parse import ScoredMove, Tags, TreeScore, Violation, best_tag
from spacy_incparse.transforms.left_corner import transform
from spacy_incparse.trees.tree import Tree, TreeArrays


def encode_moves(
    tree: Tree, labels: Labels, leaf_numbers: Mapping[tuple[int, tuple[int, ...]], int]
) -> tuple[list[int], list[int]]:
    """Return the derivation of a transformed tree with known tags: each word's closings and the number of its chain.

    leaf_numbers: by tag and chain, see `Moves`; -1 is used for a missing chain.
    """
    n_closings, leaves = [], []
    for move, tag in zip(derivation(tree), tree.tags, strict=True):
        chain = tuple(labels.nonterminal_ids.get(label, UNKNOWN) for label in move.chain)
        n_closings.append(move.n_closings)
        leaves.append(leaf_numbers.get((labels.tag_ids[tag], chain), -1))
    return n_closings, leaves


def check_words(words: Sequence[str], tree: Tree) -> None:
    """Raise ValueError if the tree has other words."""
    if tuple(words) != tree.words:
        raise ValueError(f"the tree has other words than the sentence: {' '.join(tree.words[:8])!r}")


def as_searched(tree: Tree, tags: Sequence[str], labels: Labels) -> Tree:
    """Return the left-corner form of a tree under these tags; unknown tags are replaced by the most frequent one."""
    return transform(retag(tree, [tag if tag in labels.tag_ids else labels.tags[0] for tag in tags]))


def reachable_tags(own_tags: Sequence[str], tags: Tags) -> list[str]:
    """Return for each word its own tag if it is among the given tags, otherwise the first of these."""
    return [
        given if isinstance(given, str) else next((tag for tag, _ in given or () if tag == own), best_tag(given))
        for own, given in zip(own_tags, tags, strict=True)
    ]


def retag(tree: Tree, tags: Sequence[str]) -> Tree:
    """Return a whole tree with other tags, one per word. Raises ValueError for another number of tags."""
    arrays = tree.root.arrays
    if len(tags) != len(arrays.words):
        raise ValueError(f"{len(tags)} tags for the {len(arrays.words)} words of {' '.join(arrays.words[:8])!r}")
    given = iter(tags)
    labels = [next(given) if size == 1 else label for label, size in zip(arrays.labels, arrays.sizes, strict=True)]
    return Tree(TreeArrays.of(labels, arrays.sizes, arrays.words))


def tree_score(
    tree: Tree,
    transformed: Tree,
    scores: Sequence[tuple[float, float]],
    violated: Sequence[Violation | None],
    unit: float = 1,
) -> TreeScore:
    """Return the score of a tree and of its moves, word by word and for the end.

    transformed: the tree's left-corner form, with another tag where the grammar does not know the tree's. scores: of
    closings and of the chain, in fractions of `unit`; if there are fewer scores than moves, the rest are not known.
    """
    shares = [(of_closings / unit, of_chain / unit) for of_closings, of_chain in scores]
    pairs = [*shares, *[(None, None)] * (len(violated) - len(scores))]
    words = [*zip(tree.words, tree.tags, strict=True), (None, None)]
    known = [*transformed.tags, None]
    reasons = [
        violation if word[1] == tag else Violation(TAG, f"no tag {word[1]}")
        for word, tag, violation in zip(words, known, violated, strict=True)
    ]
    moves, open_labels = [], [transformed.label]
    for word, pair, violation, move in zip(words, pairs, reasons, [*derivation(transformed), None], strict=True):
        if move is None:  # the end closes all
            closings, chain = tuple(reversed(open_labels)), tuple[str, ...]()
        else:
            closings, chain = tuple(open_labels.pop() for _ in range(move.n_closings)), move.chain
            open_labels += chain
        moves.append(ScoredMove(*word, closings, chain, *pair, violation))
    # Sum whole numbers first: the sums are exact, so the score equals the search's to the last bit.
    return TreeScore(tree, sum(map(sum, scores)) / unit if len(scores) == len(violated) else None, tuple(moves))


TAG, CHAIN, TRIPLE, CONTEXT = "tag", "chain", "triple", "context"


def violations(tree: Tree, grammar: Grammar, seen: Mapping[Context, frozenset[int]]) -> list[Violation | None]:
    """Return why the search may not make the move for each word of a transformed tree, and for its end; None: it may.

    seen: the outcomes that contexts allow.
    """
    labels = grammar.labels
    found: list[Violation | None] = []
    parts: list[list[Decision]] = [[]]  # by word; the last part is the end of the sentence
    for decision in tree_decisions(tree, labels):
        parts[-1].append(decision)
        if decision[3] == SHIFT:
            parts.append([])
    for decisions, tag in zip(parts, [*tree.tags, None], strict=True):
        chain = tuple(decision[3] for decision in decisions if decision[3] not in (STOP, SHIFT))
        site = sum(decision[3] == STOP for decision in decisions)  # the decisions before it are closings
        if tag is not None and (tag not in labels.tag_ids or chain not in grammar.chains[labels.tag_ids[tag]]):
            path = " over ".join([*map(labels.name, chain), tag])
            found.append(Violation(CHAIN, f"no chain {path}" if chain else f"no {path} without its own phrase"))
            continue
        violated = (_violated(decision, grammar, seen, n <= site) for n, decision in enumerate(decisions))
        found.append(next(filter(None, violated), None))
    return found


def _violated(
    decision: Decision, grammar: Grammar, seen: Mapping[Context, frozenset[int]], needs_triple: bool
) -> Violation | None:
    """Return why a decision may not be taken; inside a chain it needs no triple, since the chain has been seen."""
    parent, sibling, tag, outcome = decision
    labels = grammar.labels
    symbol = labels.tag_symbol(tag) if outcome == SHIFT else outcome
    inside = labels.name(parent) + ("" if sibling == NO_SIBLING else f" after {labels.name(sibling)}")
    what = f"no end of {inside}" if outcome == STOP else f"no {labels.name(symbol)} in {inside}"
    if needs_triple and (parent, sibling, symbol) not in grammar.triples:
        return Violation(TRIPLE, what)
    allowed = seen.get((parent, sibling, tag))
    if allowed is not None and outcome not in allowed:
        return Violation(CONTEXT, what + (" at the sentence's end" if tag == END else f" before {labels.tags[tag]}"))
    return None
