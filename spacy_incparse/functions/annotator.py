"""Function tags, empty categories and their antecedents for any tree, learnt from a treebank that has them."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from threading import Lock
from typing import Any

import numpy as np
import srsly

from spacy_incparse.errors import IncparseError, ModelError, check_texts, damaged
from spacy_incparse.files import unzip
from spacy_incparse.functions.classifier import SCALE, Examples, fit
from spacy_incparse.functions.engine import Engine
from spacy_incparse.functions.gold import LOST, Gold, on_parse, read_gold
from spacy_incparse.functions.templates import FIELDS
from spacy_incparse.linear.words import Clusters
from spacy_incparse.tagging.tagger import SparseWeights, check_weights, pack_weights, unpack_weights
from spacy_incparse.trees.arrays import children
from spacy_incparse.trees.empties import Empty, annotated, fragment_arrays
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.labels import TRACE_TAG, bare_label, function_tags
from spacy_incparse.trees.tree import Tree

KINDS = tuple(FIELDS)
FUNCTIONS, EMPTIES, ANTECEDENTS = range(3)  # the engine's numbers of them
GAP = "*T*"
PATIENCE = 3.0  # a phrase without a gap takes the best place for one if it is at most e^3 less likely than none
MIN_COUNT = 3  # of a set of functions, or of the empty categories of a place, to be learnt

Row = tuple[tuple[str, ...], tuple[int, ...]]
"""Categories, and the classes that are possible where they are."""


@dataclass(frozen=True)
class Inventory:
    """What a treebank has, and where. The first class of functions and of empties is none."""

    functions: tuple[str, ...]  # classes: sets of tags, joined by "-"
    function_rows: tuple[Row, ...]  # by the category of the phrase
    empties: tuple[tuple[str, ...], ...]  # classes: the elements of a place
    slot_rows: tuple[Row, ...]  # by the categories of the phrase and of the children before and behind the place
    fillers: tuple[str, ...]  # categories of phrases that have a gap
    gaps: tuple[tuple[str, int], ...]  # the category of a filler, and the class of a place that has its gap
    pairs: tuple[tuple[str, str], ...]  # an element, and the category of an antecedent
    cataphors: tuple[str, ...]  # elements whose antecedents stand inside of what follows
    given: tuple[str, ...] | None = None  # function tags; the others are clues only. None: all

    @classmethod
    def of(cls, golds: Sequence[Gold], all_golds: Sequence[Gold], given: tuple[str, ...] | None) -> Inventory:
        """Count classes in gold trees; collect where they are in these and in parses."""
        counts = Counter(text for gold in golds for text in gold.functions if text)
        functions = ("", *sorted(text for text, n in counts.items() if n >= MIN_COUNT))
        places = Counter(_class(elements) for gold in golds for elements in gold.slots.values())
        empties = ((), *sorted(found for found, n in places.items() if n >= MIN_COUNT))
        numbers = {text: number for number, text in enumerate(functions)}, {one: k for k, one in enumerate(empties)}
        possible: tuple[dict[str, set[int]], ...] = ({}, {})
        situations, pairs, gaps = set(), set(), set()
        n_phrases, n_fillers = Counter[str](), Counter[str]()
        n_cataphors, n_references = Counter[str](), Counter[str]()
        for gold in all_golds:
            arrays = gold.arrays
            labels = list(map(bare_label, arrays.labels))
            for node, text in enumerate(gold.functions):
                if arrays.sizes[node] > 1 and text is not None and text in numbers[0]:
                    possible[0].setdefault(labels[node], {0}).add(numbers[0][text])
                    n_phrases[labels[node]] += 1
            all_elements = [element for elements in gold.slots.values() for element in elements]
            for (node, place), elements in gold.slots.items():
                number = numbers[1].get(_class(elements))
                if number is None:
                    continue
                around = ["", *(labels[child] for child in children(arrays, node)), ""]
                situations.add((labels[node], around[place], around[place + 1]))
                possible[1].setdefault(labels[node], {0}).add(number)
                for text, antecedent in elements:
                    category, _, is_gap = _described(text)
                    n_phrases[category] += 1
                    if antecedent in (-1, LOST):
                        continue
                    other = labels[antecedent] if antecedent >= 0 else _described(all_elements[-2 - antecedent].text)[0]
                    pairs.add((text, other))
                    n_references[text] += 1
                    if is_gap:
                        n_fillers[other] += 1
                        gaps.add((other, number))
                    above = arrays.parents[antecedent] if antecedent >= 0 else node
                    n_cataphors[text] += not above <= node < above + arrays.sizes[above]
        fillers = {category for category, n in n_fillers.items() if 2 * n >= n_phrases[category]}
        rows = [{label: tuple(sorted(found)) for label, found in one.items()} for one in possible]
        return cls(
            functions, tuple(((label,), rows[0][label]) for label in sorted(rows[0])), empties,
            tuple((situation, rows[1][situation[0]]) for situation in sorted(situations)), tuple(sorted(fillers)),
            tuple(sorted(gap for gap in gaps if gap[0] in fillers)), tuple(sorted(pairs)),
            tuple(sorted(text for text, n in n_cataphors.items() if 2 * n >= n_references[text])), given,
        )  # fmt: skip

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Inventory:
        """Return the inventory in a dict from JSON. Raises ModelError if something in it does not fit."""
        check_texts(data["functions"], "functions")
        n_classes = len(data["functions"]), len(data["empties"])
        rows = [
            tuple((tuple(categories), tuple(classes)) for categories, classes in data[name])
            for name in ("function_rows", "slot_rows")
        ]
        are_fit = all(
            found and all(type(number) is int and 0 <= number < n for number in found)
            for n, some in zip(n_classes, rows, strict=True)
            for _, found in some
        )
        gaps = tuple((category, number) for category, number in data["gaps"])
        if not are_fit or not all(type(number) is int and 0 <= number < n_classes[1] for _, number in gaps):
            raise ModelError("the functions' model has classes that it does not name: train it again")
        empties = tuple(map(tuple, data["empties"]))
        pairs = tuple((text, category) for text, category in data["pairs"])
        for text in {*(text for one in empties for text in one), *(text for text, _ in pairs)}:
            fragment_arrays(text.lstrip("^"))
        return cls(
            tuple(data["functions"]), rows[0], empties, rows[1], tuple(data["fillers"]), gaps, pairs,
            tuple(data["cataphors"]), data["given"] and tuple(data["given"]),
        )  # fmt: skip

    @property
    def tags(self) -> tuple[str, ...]:
        """The function tags to give."""
        known = {tag for tags in self.functions for tag in tags.split("-") if tag}
        return tuple(sorted(known if self.given is None else known.intersection(self.given)))

    def engine(self, heads: HeadRules, clusters: Clusters | None, *, is_learning: bool = False) -> Engine:
        """Return an engine for these classes, without weights."""
        engine = Engine(heads, clusters, is_learning)
        engine.set_functions(self.functions)
        for kind, n_classes, rows in (
            (FUNCTIONS, len(self.functions), self.function_rows),
            (EMPTIES, len(self.empties), self.slot_rows),
            (ANTECEDENTS, 1, ()),
        ):
            engine.set_rows(kind, n_classes, rows)
        referring = {text for text, _ in self.pairs}
        elements = [
            [(text, *_described(text), text in referring, text in self.cataphors) for text in one]
            for one in self.empties
        ]
        engine.set_empties(elements, self.fillers, self.gaps, self.pairs, int(PATIENCE * SCALE))
        return engine


def _class(elements: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    return tuple(text for text, _ in elements)


def _described(text: str) -> tuple[str, str, bool]:
    """Return the category of an element, its functions, and whether it is a gap."""
    arrays = fragment_arrays(text.lstrip("^"))
    label = arrays.labels[0]
    return "" if label == TRACE_TAG else bare_label(label), function_tags(label), arrays.words[-1] == GAP


class Annotator:
    """Adds function tags and empty categories to trees. Immutable except for a cache; thread-safe."""

    def __init__(
        self, heads: HeadRules, inventory: Inventory, weights: Sequence[SparseWeights], clusters: Clusters | None = None
    ):
        for one, n_classes in zip(weights, (len(inventory.functions), len(inventory.empties), 1), strict=True):
            check_weights(one, n_classes)
        self.heads, self.inventory, self.weights, self.clusters = heads, inventory, tuple(weights), clusters
        self._engine = inventory.engine(heads, clusters)
        for kind, one in enumerate(weights):
            self._engine.set_weights(kind, *one.to_arguments())
        self._turn = Lock()  # the engine holds one tree at a time
        self._tags = [tuple(filter(inventory.tags.__contains__, text.split("-"))) for text in inventory.functions]

    @classmethod
    def train(
        cls,
        trees: Sequence[Tree],
        parses: Iterable[Tree] = (),
        *,
        heads: HeadRules,
        clusters: Clusters | None = None,
        keep: Iterable[str] | None = None,
        n_epochs: int = 8,
        seed: int = 0,
    ) -> Annotator:
        """Train on annotated trees; the same input and seed give the same annotator on a machine.

        trees: as `treebanks.reader.ANNOTATED` reads them. parses: of the same sentences, or some of them; what gold
        trees say of them is learnt, too, which helps on parses. clusters: of words, stored with the annotator. keep:
        the function tags to give, None: all; the others are only clues. Raises IncparseError if there are no trees.
        """
        if not trees:
            raise IncparseError("there are no trees to learn functions from")
        golds = [read_gold(tree.own_arrays) for tree in trees]
        of_words = {gold.arrays.words: gold for gold in golds}
        known = [parse.own_arrays for parse in parses if parse.words in of_words]
        all_golds = [*golds, *(on_parse(of_words[parse.words], parse, heads) for parse in known)]
        inventory = Inventory.of(golds, all_golds, None if keep is None else tuple(sorted(keep)))
        engine = inventory.engine(heads, clusters, is_learning=True)
        for gold in all_golds:
            _show(gold, engine, inventory)
        weights = []
        for kind, rows in enumerate((inventory.function_rows, inventory.slot_rows)):
            possible = np.zeros((len(rows), len((inventory.functions, inventory.empties)[kind])), np.int8)
            for row, (_, classes) in enumerate(rows):
                possible[row, list(classes)] = 1
            keys, targets, numbers = engine.examples(kind)
            weights.append(fit(Examples.of_classes(keys, targets, possible[numbers]), n_epochs=n_epochs, seed=seed))
        weights.append(fit(Examples.of_ranks(*engine.examples(ANTECEDENTS)), n_epochs=n_epochs, seed=seed))
        return cls(heads, inventory, weights, clusters)

    def annotate(self, tree: Tree, *, empties: bool = True) -> Tree:
        """Return a whole tree with its functions and, unless these are left out, empty categories.

        Labels count without functions.
        """
        arrays = tree.own_arrays
        with self._turn:
            self._engine.read(arrays)
            tags = list(map(self._tags.__getitem__, self._engine.find_functions()))
            slots, antecedents = self._engine.find_empties() if empties else ((), ())
        return Tree(annotated(arrays, tags, list(self._empties(slots, antecedents))))

    def _empties(self, slots: Iterable[tuple[int, int, int]], antecedents: Iterable[int]) -> Iterator[Empty]:
        following = iter(antecedents)
        for node, place, number in slots:
            for text in self.inventory.empties[number]:
                fragment, antecedent = text.lstrip("^"), next(following)
                overt, chain = None if antecedent < 0 else antecedent, -2 - antecedent if antecedent < -1 else None
                yield Empty(node, place, fragment, overt, chain, len(text) - len(fragment))

    def to_bytes(self) -> bytes:
        """Return the annotator as bytes; the same annotator has the same bytes."""
        settings = {"heads": self.heads.to_dict(), "inventory": asdict(self.inventory)}
        message: dict[str, Any] = {"settings": zlib.compress(json.dumps(settings).encode("ascii"), 9)}
        for kind, one in zip(KINDS, self.weights, strict=True):
            message[kind] = pack_weights(one.keys, one.lengths, one.tags, one.values)
        return srsly.msgpack_dumps(message | ({"clusters": self.clusters.to_bytes()} if self.clusters else {}))

    @classmethod
    def from_bytes(cls, data: bytes) -> Annotator:
        """Return the annotator in bytes from `to_bytes`. Raises ModelError for any other bytes."""
        with damaged("the bytes are not a model of functions: train it again"):
            message = srsly.msgpack_loads(data)
            settings = json.loads(unzip(message["settings"], "the settings of functions are"))
            weights = [SparseWeights(*unpack_weights(message[kind])) for kind in KINDS]
            clusters = Clusters.from_bytes(message["clusters"]) if "clusters" in message else None
            heads, inventory = HeadRules.from_dict(settings["heads"]), Inventory.from_dict(settings["inventory"])
            return cls(heads, inventory, weights, clusters)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)


def _show(gold: Gold, engine: Engine, inventory: Inventory) -> None:
    """Let an engine see what it learns from."""
    numbers = {text: number for number, text in enumerate(inventory.functions)}
    classes = {one: number for number, one in enumerate(inventory.empties)}
    slots, found, old = [], list[int](), 0
    new: dict[int, int] = {}  # of elements: those of rare classes are not shown
    unknown = set(gold.unknown)
    for (node, place), elements in gold.slots.items():
        number = classes.get(_class(elements))
        if number is None:
            unknown.add(node)
        else:
            slots.append((node, place, number))
            new |= {old + k: len(found) + k for k in range(len(elements))}
            found += [antecedent for _, antecedent in elements]
        old += len(elements)
    antecedents = [
        one if one >= -1 or one == LOST else -2 - new[-2 - one] if -2 - one in new else LOST for one in found
    ]
    engine.read(gold.arrays)
    engine.set_gold_functions([-1 if text is None else numbers.get(text, -1) for text in gold.functions])
    engine.set_gold_empties(slots, antecedents, sorted(unknown))
