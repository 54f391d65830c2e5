"""The grammar that limits the search, and given trees as its moves: chains, triples, outcomes that training has seen.

Collins & Roark (2004), section 3.1. All of it is read off transformed trees and stored as ids (see `Labels`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain as joined
from typing import Any, NamedTuple

from spacy_incparse.errors import IncparseError, ModelError, check_texts
from spacy_incparse.parsing.local_trees import LocalTree, read_local_trees
from spacy_incparse.parsing.parse import ScoredMove, Tags, TreeScore, Violation, best_tag
from spacy_incparse.transforms.left_corner import transform
from spacy_incparse.trees.labels import ROOT
from spacy_incparse.trees.tree import Tree, TreeArrays

# All chains up to this length, including the tag, are kept (section 3.1).
SHORT_CHAIN = 2

Chain = tuple[int, ...]
Triple = tuple[int, int, int]
Context = tuple[int, int, int]
Decision = tuple[int, int, int, int]


@dataclass(frozen=True)
class Grammar:
    """The chains, the triples and the outcomes seen in training, with their counts.

    `chains`: for each tag id, the chains that lead to the tag, most frequent first. A chain holds the ids of its
    nonterminals from the top down, without the root and the tag itself.
    `triples`: (parent, left sibling or NO_SIBLING, next symbol or STOP); siblings and next symbols are symbol ids.
    `contexts`: maps (parent, left sibling or NO_SIBLING, tag id of the next word or END) to the outcomes seen there,
    most frequent first: STOP, SHIFT or the nonterminal that was opened.
    `local_trees`: those of the trees before their transformation; empty if they are unknown. They limit no search.
    """

    labels: Labels
    chains: tuple[dict[Chain, int], ...]
    triples: dict[Triple, int]
    contexts: dict[Context, dict[int, int]]
    chain_min_count: int = 1
    triple_min_count: int = 1
    local_trees: frozenset[LocalTree] = frozenset()

    @property
    def nonterminals(self) -> tuple[str, ...]:
        """The phrase labels, including slash labels, by id."""
        return self.labels.nonterminals

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags by id."""
        return self.labels.tags

    @classmethod
    def from_trees(
        cls,
        *taggings: Iterable[Tree],
        labels: Labels | None = None,
        chain_min_count: int = 1,
        triple_min_count: int = 1,
        local_trees: frozenset[LocalTree] = frozenset(),
    ) -> Grammar:
        """Read the grammar off transformed trees. Of the same trees under several taggings, the highest counts count.

        Chains longer than two (including the tag, without the root) are dropped if they were seen less than
        `chain_min_count` times (the paper: 2), and triples if seen less than `triple_min_count` times (the paper: 1).
        labels: include all labels of the trees; None: are those of the trees.
        """
        treebanks = [list(trees) for trees in taggings]
        labels = labels or Labels.from_trees(joined(*treebanks))
        decisions: Counter[Decision] = Counter()
        chains: list[Counter[Chain]] = [Counter() for _ in labels.tags]
        for trees in treebanks:
            here: Counter[Decision] = Counter()
            counts: list[Counter[Chain]] = [Counter() for _ in labels.tags]
            for tree in trees:
                made = tree_decisions(tree, labels)
                here.update(made)
                for tag, chain in _chains(made):
                    counts[tag][chain] += 1
            decisions |= here
            chains = [highest | own for highest, own in zip(chains, counts, strict=True)]
        triples: Counter[Triple] = Counter()
        contexts: dict[Context, dict[int, int]] = {}
        for decision in sorted(decisions):
            triples[_triple(decision, labels)] += decisions[decision]
            contexts.setdefault(decision[:3], {})[decision[3]] = decisions[decision]
        return cls(
            labels=labels,
            chains=tuple(_most_frequent_first(_without_rare(counts, chain_min_count)) for counts in chains),
            triples={triple: triples[triple] for triple in sorted(triples) if triples[triple] >= triple_min_count},
            contexts={context: _most_frequent_first(outcomes) for context, outcomes in contexts.items()},
            chain_min_count=chain_min_count,
            triple_min_count=triple_min_count,
            local_trees=local_trees,
        )

    def extended(self, taggings: Sequence[Sequence[Tree]], local_trees: frozenset[LocalTree] = frozenset()) -> Grammar:
        """Return a grammar with the counts of more transformed trees added.

        All ids and the order of the chains stay the same. New ones come after them. Local trees are added to those that
        are known; if these are not, they stay unknown.
        """
        labels = self.labels.extended(Labels.from_trees(joined(*taggings)))
        # Rare chains and triples are dropped as in the first treebank, except those that it already has.
        cuts: dict[str, Any] = {"chain_min_count": self.chain_min_count, "triple_min_count": self.triple_min_count}
        new = Grammar.from_trees(*taggings, labels=labels, **cuts)
        chains = [*self.chains, *({} for _ in labels.tags[len(self.chains) :])]
        return replace(
            self,
            labels=labels,
            chains=tuple(_added(old, more) for old, more in zip(chains, new.chains, strict=True)),
            triples=_added(self.triples, new.triples),
            contexts=self.contexts
            | {context: _added(self.contexts.get(context, {}), outcomes) for context, outcomes in new.contexts.items()},
            local_trees=self.local_trees and self.local_trees | local_trees,
        )

    def without_rare_chains(self, min_count: int) -> Grammar:
        """Return this grammar with a higher `chain_min_count`."""
        kept = tuple(_without_rare(chains, min_count) for chains in self.chains)
        return replace(self, chains=kept, chain_min_count=max(min_count, self.chain_min_count))

    def missing(self, tree: Tree) -> tuple[bool, bool]:
        """Return whether a transformed tree needs a chain, and whether it needs a triple, that the grammar lacks.

        Triples are checked after a left sibling and at the first node below the root. All other first children are
        covered by the chains.
        """
        decisions = tree_decisions(tree, self.labels)
        missing_chain = any(tag == UNKNOWN or chain not in self.chains[tag] for tag, chain in _chains(decisions))
        checked = decisions[:1] + [decision for decision in decisions[1:] if decision[1] != NO_SIBLING]
        missing_triple = any(_triple(decision, self.labels) not in self.triples for decision in checked)
        return missing_chain, missing_triple

    def to_dict(self) -> dict[str, Any]:
        """Return the grammar as lists of strings and ids, for JSON or msgpack."""
        return {
            "nonterminals": list(self.nonterminals),
            "tags": list(self.tags),
            "chain_min_count": self.chain_min_count,
            "triple_min_count": self.triple_min_count,
            "chains": [[[count, *one] for one, count in chains.items()] for chains in self.chains],
            "triples": [[*triple, count] for triple, count in self.triples.items()],
            "contexts": [[*context, *joined(*outcomes.items())] for context, outcomes in self.contexts.items()],
            "local_trees": [list(labels) for labels in sorted(self.local_trees)],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Grammar:
        """Undo `to_dict`. Raises ModelError for ids without a label, since compiled code does not check them."""
        for name in ("nonterminals", "tags"):
            check_texts(data[name], name)
        grammar = cls(
            labels=Labels(tuple(data["nonterminals"]), tuple(data["tags"])),
            chains=tuple({tuple(chain): count for count, *chain in chains} for chains in data["chains"]),
            triples={(parent, sibling, symbol): count for parent, sibling, symbol, count in data["triples"]},
            contexts={
                (parent, sibling, tag): dict(zip(outcomes[::2], outcomes[1::2], strict=True))
                for parent, sibling, tag, *outcomes in data["contexts"]
            },
            chain_min_count=data["chain_min_count"],
            triple_min_count=data["triple_min_count"],
            local_trees=read_local_trees(data.get("local_trees", [])),
        )
        n_nonterminals, n_tags, n_symbols = len(grammar.nonterminals), len(grammar.tags), grammar.labels.n_symbols
        if len(grammar.chains) != n_tags:
            raise ModelError(f"the model is damaged: it has chains of {len(grammar.chains)} tags, not of {n_tags}")
        places = [*grammar.triples, *grammar.contexts]
        for ids, least, behind in (
            ({number for chains in grammar.chains for chain in chains for number in chain}, 0, n_nonterminals),
            ({parent for parent, _, _ in places}, 0, n_nonterminals),
            ({sibling for _, sibling, _ in places}, NO_SIBLING, n_symbols),
            ({symbol for _, _, symbol in grammar.triples}, STOP, n_symbols),
            ({tag for _, _, tag in grammar.contexts}, END, n_tags),
            ({outcome for outcomes in grammar.contexts.values() for outcome in outcomes}, SHIFT, n_nonterminals),
        ):
            check_ids(ids, least, behind)
        return grammar


def root_symbol(grammar: Grammar) -> int:
    """Return the search's symbol for the root label."""
    return FIRST_SYMBOL + grammar.labels.nonterminal_ids[ROOT]


def check_ids(ids: Iterable[int], least: int, behind: int) -> None:
    """Raise ModelError for ids that no label has: below `least`, or `behind` and above."""
    for number in ids:
        if not least <= number < behind:
            raise ModelError(f"the model is damaged: there is no label with the id {number}")


def tree_decisions(tree: Tree, labels: Labels) -> list[Decision]:
    """Return all decisions in the derivation of a whole transformed tree, in order.

    Each entry is (parent, left sibling or NO_SIBLING, tag id of the next word or END, outcome). The outcome is STOP,
    SHIFT or a nonterminal id. Labels that are not in `labels` are UNKNOWN.
    """
    arrays, ids = tree.arrays, labels.nonterminal_ids
    tags = [labels.tag_ids.get(tag, UNKNOWN) for tag in tree.tags]
    decisions: list[Decision] = []
    parents, siblings, ends = [ids.get(tree.label, UNKNOWN)], [NO_SIBLING], [tree.end]
    for node in range(1, len(arrays.labels)):
        start = arrays.starts[node]
        tag = tags[start]
        while ends[-1] <= start:
            decisions.append((parents.pop(), siblings.pop(), tag, STOP))
            ends.pop()
        is_phrase = arrays.sizes[node] > 1
        symbol = ids.get(arrays.labels[node], UNKNOWN) if is_phrase else labels.tag_symbol(tag)
        decisions.append((parents[-1], siblings[-1], tag, symbol if is_phrase else SHIFT))
        siblings[-1] = symbol
        if is_phrase:
            parents.append(symbol)
            siblings.append(NO_SIBLING)
            ends.append(arrays.ends[node])
    while parents:
        decisions.append((parents.pop(), siblings.pop(), END, STOP))
    return decisions


def _chains(decisions: Iterable[Decision]) -> Iterator[tuple[int, Chain]]:
    """Yield the tag id and the chain of each word."""
    chain: list[int] = []
    for _, _, tag, outcome in decisions:
        if outcome == SHIFT:
            yield tag, tuple(chain)
            chain = []
        elif outcome != STOP:
            chain.append(outcome)


def _without_rare(chains: dict[Chain, int], min_count: int) -> dict[Chain, int]:
    return {chain: count for chain, count in chains.items() if len(chain) + 1 <= SHORT_CHAIN or count >= min_count}


def _triple(decision: Decision, labels: Labels) -> Triple:
    """Return a decision's triple; its symbol comes after the left sibling, and for SHIFT is the next word's tag."""
    parent, sibling, tag, outcome = decision
    return parent, sibling, labels.tag_symbol(tag) if outcome == SHIFT else outcome


def _most_frequent_first(counts: dict[Any, int]) -> dict[Any, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _added(counts: dict[Any, int], more: dict[Any, int]) -> dict[Any, int]:
    """Return the sum of two counts; new entries come last."""
    return counts | {key: counts.get(key, 0) + count for key, count in more.items()}


# A phrase and a word may have the same label in a treebank. A *symbol*, which may be either, therefore has its own id:
# nonterminals keep theirs, and tags come after them.
#
# Weights belong to ids. Labels that a trained model learns later (`Labels.extended`) therefore get ids after all
# others. Ids that already had another meaning keep it: the one after the tags, which marks the end of the sentence,
# and those of the tags' symbols. `NOBODY` fills their places.

# These take the place of an id if there is no symbol.
NO_SIBLING = -1  # as a left sibling: the next symbol is the first child
STOP = -1  # as the next symbol: the constituent ends
SHIFT = -2  # as an outcome: the word itself comes next, whatever its tag
END = -1  # as a look-ahead tag: there are no more words
UNKNOWN = -3  # for a label that is not among these labels

FIRST_SYMBOL = 2  # of the nonterminals, in the search (state.pxd)
NOBODY = ""  # in the place of an id that no label may have
SPARE_TAGS = 100  # more than there are: room for tags that come after the first new nonterminal


@dataclass(frozen=True)
class Labels:
    """The nonterminals (including slash labels and the root's) and tags of a treebank; an id is a position."""

    nonterminals: tuple[str, ...]
    tags: tuple[str, ...]

    @classmethod
    def from_trees(cls, trees: Iterable[Tree]) -> Labels:
        """Collect the labels of trees, sorted by decreasing frequency, then by name."""
        phrases: Counter[str] = Counter()
        words: Counter[str] = Counter()
        for tree in trees:
            arrays = tree.arrays
            for label, size in zip(arrays.labels, arrays.sizes, strict=True):
                (phrases if size > 1 else words)[label] += 1
        return cls(tuple(_most_frequent_first(phrases)), tuple(_most_frequent_first(words)))

    def extended(self, other: Labels) -> Labels:
        """Return labels that also include those of `other`; all existing labels keep their ids.

        Raises IncparseError if there is no room for all tags.
        """
        tags = [tag for tag in other.tags if tag not in self.tag_ids]
        nonterminals = [label for label in other.nonterminals if label not in self.nonterminal_ids]
        end = [NOBODY] if tags and NOBODY not in self.tags else []
        all_tags = (*self.tags, *end, *tags)
        spare = [NOBODY] * (len(all_tags) + SPARE_TAGS) if nonterminals and NOBODY not in self.nonterminals else []
        n_spare = len(spare) or self.nonterminals.count(NOBODY)
        if n_spare and len(all_tags) > n_spare:
            raise IncparseError(
                f"the model has no room for {len(tags)} more tags, such as {tags[0]!r}: train a new one on all trees"
            )
        return Labels((*self.nonterminals, *spare, *nonterminals), all_tags)

    @cached_property
    def nonterminal_ids(self) -> dict[str, int]:
        """The id of each phrase label."""
        return {label: k for k, label in enumerate(self.nonterminals) if label != NOBODY}

    @cached_property
    def tag_ids(self) -> dict[str, int]:
        """The id of each tag among the tags."""
        return {tag: k for k, tag in enumerate(self.tags) if tag != NOBODY}

    @cached_property
    def end_tag(self) -> int:
        """The number that replaces a tag id before and after the sentence."""
        return self.tags.index(NOBODY) if NOBODY in self.tags else len(self.tags)

    @cached_property
    def first_tag(self) -> int:
        """The symbol id of the first tag."""
        return self.nonterminals.index(NOBODY) if NOBODY in self.nonterminals else len(self.nonterminals)

    @property
    def n_symbols(self) -> int:
        """The number after the last symbol id."""
        return max(len(self.nonterminals), self.first_tag + len(self.tags))

    def tag_symbol(self, tag_id: int) -> int:
        """Return the symbol id of a tag; `UNKNOWN` stays as it is."""
        return UNKNOWN if tag_id == UNKNOWN else self.first_tag + tag_id

    def name(self, symbol: int) -> str:
        """Return the label of a symbol id; `NOBODY` for an id without a label."""
        if symbol == UNKNOWN:
            return "an unknown label"
        place = symbol - self.first_tag
        nonterminal = self.nonterminals[symbol] if symbol < len(self.nonterminals) else NOBODY
        return nonterminal or (self.tags[place] if 0 <= place < len(self.tags) else NOBODY)


# The parser has a stack of open constituents, at first only the root. To absorb a word, it closes some of them, which
# makes the next one the attachment site. It then puts a chain of left children on the site, down to the word's tag.
# All constituents that are open after the last word are closed, so that needs no move.


class Move(NamedTuple):
    """How one word is absorbed: `n_closings` open constituents are closed, then `chain` is put on the lowest open one.

    `chain` holds the nonterminals below the attachment site, from the highest to the one above the word's tag. It is
    ``()`` if the tag itself attaches.
    """

    n_closings: int
    chain: tuple[str, ...]


def derivation(tree: Tree) -> list[Move]:
    """Return the moves that build a tree, one per word; the root is the frame that the parser starts with."""
    if tree.is_preterminal:
        raise ValueError(f"a derivation starts from a phrase, not from the word {tree.words[0]!r} alone")
    moves: list[Move] = []
    open_ends: list[int] = [tree.end]
    chain: list[str] = []
    n_closings = 0
    arrays = tree.arrays
    for node in range(tree.index + 1, tree.index + arrays.sizes[tree.index]):
        while open_ends[-1] <= arrays.starts[node]:
            open_ends.pop()
            n_closings += 1
        if arrays.sizes[node] > 1:
            chain.append(arrays.labels[node])
            open_ends.append(arrays.ends[node])
        else:
            moves.append(Move(n_closings, tuple(chain)))
            chain, n_closings = [], 0
    return moves


# A given tree as the moves of a search, under the tags that the search uses.


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
