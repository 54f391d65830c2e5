"""The grammar of a chart parser: states, and binary, unary, lexical and root rules as arrays of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from spacy_incparse.errors import IncparseError, ModelError, check_texts
from spacy_incparse.parsing.parse import Tag
from spacy_incparse.transforms.binarize import LabelParts, label_parts
from spacy_incparse.trees import arrays as walks
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.labels import ROOT

# Numbers of what is no rule of the treebank; the edges of a forest have them, too.
IDENTITY = -1  # no unary rule is applied to a state that could have one
GLUE = -2  # two neighbours, or one of them, under no phrase: see RuleTables
GLUE_ROOT = -3  # the root over neighbours
WRAP = -4  # WRAP - s: a phrase of state s over neighbours


WIDTHS = {"binary": 3, "unary": 2, "lexical": 1, "roots": 1}  # numbers of a rule, by kind


@dataclass(eq=False)
class Grammar:
    """The rules of markovized trees, numbered: first the binary ones, then the unary, lexical and root rules.

    A state is the label of a markovized tree, that of a POS node after "=". States and rules are sorted.

    binary: rows of parent, left and right state. unary: rows of parent and child. chains: the states between these.
    lexical: the states of words. roots: the states under the root. counts: how often each rule was seen; 0 for one that
    was added. first_unary, first_lexical, first_root, n_rules: the number of the first rule of each kind, and of all.
    """

    states: tuple[str, ...]
    binary: np.ndarray
    unary: np.ndarray
    chains: tuple[tuple[str, ...], ...]
    lexical: np.ndarray
    roots: np.ndarray
    counts: np.ndarray
    first_unary: int = field(init=False)
    first_lexical: int = field(init=False)
    first_root: int = field(init=False)
    n_rules: int = field(init=False)

    @classmethod
    def from_counts(cls, counts: Mapping[Rule, int]) -> Grammar:
        """Return the grammar of rules with their counts."""
        states = tuple(sorted({name for rule in counts for name in (rule.parent, *rule.right)} - {""}))
        ids = {name: number for number, name in enumerate(states)}
        kinds: dict[str, list[Rule]] = {kind: [] for kind in WIDTHS}
        for rule in sorted(counts):
            kinds[("lexical", "unary", "binary")[len(rule.right)] if rule.parent else "roots"].append(rule)
        rows = {
            kind: [ids[name] for rule in rules for name in (rule.parent, *rule.right) if name]
            for kind, rules in kinds.items()
        }
        all_counts = np.array([counts[rule] for rules in kinds.values() for rule in rules], np.int64)
        return cls.from_rows(states, rows, tuple(rule.chain for rule in kinds["unary"]), all_counts)

    @classmethod
    def from_rows(
        cls, states: tuple[str, ...], rows: Mapping[str, Sequence[int]], chains: tuple[Any, ...], counts: np.ndarray
    ) -> Grammar:
        """Return the grammar with rules as the numbers of their states, all those of a kind in one list."""
        found = {kind: np.array(rows[kind], np.int32).reshape((-1, width)[:width]) for kind, width in WIDTHS.items()}
        return cls(states=states, chains=chains, counts=counts, **found)

    def __post_init__(self) -> None:
        self.first_unary, self.first_lexical, self.first_root, self.n_rules = accumulate(
            len(getattr(self, kind)) for kind in WIDTHS
        )

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """All rules, by number."""
        names = self.states
        return (
            *(Rule(names[parent], (names[left], names[right])) for parent, left, right in self.binary.tolist()),
            *(
                Rule(names[parent], (names[child],), chain)
                for (parent, child), chain in zip(self.unary.tolist(), self.chains, strict=True)
            ),
            *(Rule(names[state], ()) for state in self.lexical.tolist()),
            *(Rule("", (names[state],)) for state in self.roots.tolist()),
        )

    @cached_property
    def rule_ids(self) -> dict[Rule, int]:
        """The number of each rule."""
        return {rule: number for number, rule in enumerate(self.rules)}

    @cached_property
    def commonest_tag(self) -> str:
        """The tag of most words that the grammar was read from."""
        return max(self.tags, key=lambda tag: self.counts[list(self.rules_of_tag[tag])].sum())

    @cached_property
    def state_ids(self) -> dict[str, int]:
        """The number of each state."""
        return {name: number for number, name in enumerate(self.states)}

    @cached_property
    def parts(self) -> tuple[LabelParts, ...]:
        """The parts of each state's label."""
        return tuple(label_parts(name.removeprefix(TAG_MARK)) for name in self.states)

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags of words, sorted."""
        return tuple(sorted({self.parts[state].categories[-1] for state in self.lexical.tolist()}))

    @cached_property
    def rules_of_tag(self) -> dict[str, tuple[int, ...]]:
        """The lexical rules of each tag: a POS node may be part of several chains."""
        rules: dict[str, list[int]] = {tag: [] for tag in self.tags}
        for number, state in enumerate(self.lexical.tolist(), start=self.first_lexical):
            rules[self.parts[state].categories[-1]].append(number)
        return {tag: tuple(numbers) for tag, numbers in rules.items()}

    def lexical_rules(self, tag: Tag) -> Sequence[int]:
        """Return the lexical rules of a word with a tag or several, ascending; see `ChartBuilder.build`.

        A tag that the grammar does not know counts as the commonest one; a word without a tag has the rules of all.
        """
        every = range(self.first_lexical, self.first_root)
        if isinstance(tag, str) and tag:
            return self.rules_of_tag.get(tag) or self.rules_of_tag[self.commonest_tag]
        return sorted({rule for name, _ in tag or () for rule in self.rules_of_tag.get(name, ())}) or every

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels of phrases, sorted, the root's among them."""
        return tuple(sorted({ROOT, *(label for labels in self._label_names for label in labels)}))

    @cached_property
    def state_labels(self) -> tuple[tuple[int, ...], ...]:
        """The phrases that each state stands for, from the top down; an active state stands for none."""
        ids = {label: number for number, label in enumerate(self.labels)}
        return tuple(tuple(ids[label] for label in self._labels_of(state)) for state in range(len(self.states)))

    @cached_property
    def rule_labels(self) -> tuple[tuple[int, ...], ...]:
        """The phrases that each rule makes, from the top down."""
        ids = {label: number for number, label in enumerate(self.labels)}
        return tuple(tuple(ids[label] for label in labels) for labels in self._label_names)

    @cached_property
    def _label_names(self) -> tuple[tuple[str, ...], ...]:
        return (
            *map(self._labels_of, self.binary[:, 0].tolist()),
            *(
                (*self._labels_of(parent), *(label_parts(name).categories[0] for name in chain))
                for (parent, _), chain in zip(self.unary.tolist(), self.chains, strict=True)
            ),
            *map(self._labels_of, self.lexical.tolist()),
            *(() if self.states[state] == ROOT else (ROOT,) for state in self.roots.tolist()),
        )

    def labels_made(self, rule: int) -> tuple[int, ...]:
        """Return the phrases that a rule, or what takes the place of one in a forest, makes from the top down."""
        if rule >= 0:
            return self.rule_labels[rule]
        if rule <= WRAP:
            return self.state_labels[WRAP - rule]
        return (self.labels.index(ROOT),) if rule == GLUE_ROOT else ()

    def steps(self, arrays: TreeArrays) -> list[tuple[int, int, int, int]] | None:
        """Return the rules of a markovized tree in pre-order, as `Forest.find` takes them.

        Each is a row of rule number, start, split and end. Returns None if the grammar lacks one of them.
        """
        found = [(self.rule_ids.get(step.rule, -1), *step[1:]) for step in tree_steps(arrays)]
        return None if any(row[0] < 0 for row in found) else found

    def _labels_of(self, state: int) -> tuple[str, ...]:
        parts = self.parts[state]
        if parts.is_active:
            return ()
        return parts.categories[:-1] if self.states[state].startswith(TAG_MARK) else parts.categories


def count_rules(trees: Iterable[TreeArrays]) -> Counter[Rule]:
    """Return how often each rule is in markovized trees."""
    return Counter(step.rule for arrays in trees for step in tree_steps(arrays))


def grammar_to_dict(grammar: Grammar) -> dict[str, Any]:
    """Return a grammar as a dict for JSON or msgpack."""
    names = [*grammar.states, *sorted({name for chain in grammar.chains for name in chain} - set(grammar.states))]
    ids = {name: number for number, name in enumerate(names)}
    return {
        "states": list(grammar.states),
        "passed_states": names[len(grammar.states) :],  # only within chains
        **{kind: getattr(grammar, kind).ravel().tolist() for kind in WIDTHS},
        "chains": [[ids[name] for name in chain] for chain in grammar.chains],
        "counts": grammar.counts.tolist(),
    }


def grammar_from_dict(data: dict[str, Any]) -> Grammar:
    """Return the grammar in a dict from `grammar_to_dict`. Raises ModelError for anything else."""
    _check(isinstance(data, dict), "it is no dict")
    for name in ("states", "passed_states", *WIDTHS, "chains", "counts"):
        _check(isinstance(data.get(name), list), f"its {name} are no list")
    check_texts(data["states"], "states")
    check_texts(data["passed_states"], "states")
    names = [*data["states"], *data["passed_states"]]
    for kind, width in WIDTHS.items():
        _check_numbers(data[kind], len(data["states"]), width, kind)
    for chain in data["chains"]:
        _check(isinstance(chain, list), "one of its chains is no list")
        _check_numbers(chain, len(names), 1, "chains")
    _check_numbers(data["counts"], 2**62, 1, "counts")
    chains = tuple(tuple(names[number] for number in chain) for chain in data["chains"])
    found = Grammar.from_rows(tuple(data["states"]), data, chains, np.array(data["counts"], np.int64))
    _check(len(chains) == len(found.unary), "it has not one chain per unary rule")
    _check(len(found.counts) == found.n_rules, "it has not one count per rule")
    return found


def _check_numbers(values: list[Any], limit: int, width: int, what: str) -> None:
    is_right = all(type(value) is int and 0 <= value < limit for value in values)
    _check(is_right and len(values) % width == 0, f"its {what} are not rows of {width} numbers below {limit}")


def _check(is_right: bool, what: str) -> None:
    if not is_right:
        raise ModelError(f"the model's grammar is damaged: {what}")


# A unary chain is a single rule, and none is applied to the result of another over the same words (Finkel et al. 2008,
# section 2). The root stands above every tree, so what it covers is a rule of its own kind.

TAG_MARK = "="  # begins the states of POS nodes: a phrase may have the same label


class Rule(NamedTuple):
    """A rule with states as labels of markovized trees, those of POS nodes after "=".

    right: two states for a binary rule, one for a unary one, none for a lexical one. chain: for a unary rule, the
    states between both. A root rule has the parent "".
    """

    parent: str
    right: tuple[str, ...]
    chain: tuple[str, ...] = ()

    def __str__(self) -> str:
        over = f" (over {' '.join(self.chain)})" if self.chain else ""
        return f"{self.parent or ROOT} -> {' '.join(self.right) or 'a word'}{over}"


class Step(NamedTuple):
    """A rule over the words from `start` to `end`; `split` is where a binary rule's second child begins, else `end`."""

    rule: Rule
    start: int
    split: int
    end: int


def tree_steps(arrays: TreeArrays) -> Iterator[Step]:
    """Yield the rules of a markovized tree in pre-order. Raises IncparseError unless its root is TOP."""
    if arrays.labels[0] != ROOT or len(arrays.sizes) == 1:
        raise IncparseError(f"the root of the tree is {arrays.labels[0]!r}, not {ROOT}: normalize the tree")
    n_words = len(arrays.words)
    top = 1 if arrays.sizes[1] + 1 == arrays.sizes[0] else 0
    yield Step(Rule("", (state(arrays, top),)), 0, n_words, n_words)
    node = top
    while node < len(arrays.sizes):
        start, end = arrays.starts[node], arrays.ends[node]
        lowest = node
        while arrays.sizes[lowest] > 1 and arrays.sizes[lowest + 1] + 1 == arrays.sizes[lowest]:
            lowest += 1
        if lowest > node:
            chain = tuple(state(arrays, k) for k in range(node + 1, lowest))
            yield Step(Rule(state(arrays, node), (state(arrays, lowest),), chain), start, end, end)
        if arrays.sizes[lowest] == 1:
            yield Step(Rule(state(arrays, lowest), ()), start, end, end)
        else:
            left, right = walks.children(arrays, lowest)
            rule = Rule(state(arrays, lowest), (state(arrays, left), state(arrays, right)))
            yield Step(rule, start, arrays.starts[right], end)
        node = lowest + 1


def state(arrays: TreeArrays, node: int) -> str:
    """Return the state of a node of a markovized tree."""
    label = arrays.labels[node]
    return label if arrays.sizes[node] > 1 else TAG_MARK + label
