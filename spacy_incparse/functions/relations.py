"""Grammatical relations: who did what to whom, read from a tree with functions and empty categories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spacy_incparse.functions.skeleton import CONJUNCT, Skeleton
from spacy_incparse.functions.tables import LanguageTable
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.empties import Empty
from spacy_incparse.trees.labels import bare_label, function_tags

SUBJECT, OBJECT, INDIRECT_OBJECT, AGENT = "subject", "object", "indirect_object", "agent"
COMPLEMENT, PREDICATE, MODIFIER, EXPLETIVE = "complement", "predicate", "modifier", "expletive"
RELATIONS = (SUBJECT, OBJECT, INDIRECT_OBJECT, AGENT, COMPLEMENT, PREDICATE, MODIFIER, EXPLETIVE)
"""The names of the relations; an expletive is an "it" or "there" that refers to nothing, or to a clause behind it."""

ADVERBIAL = frozenset(["TMP", "LOC", "DIR", "MNR", "PRP", "EXT", "ADV", "BNF", "VOC"])
_SAID = frozenset(["SBJ", "LGS", "PRD", "NOM", "TPC"])  # functions that a relation says by itself
_NO_OBJECT = ADVERBIAL | {"PRD", "LGS", "DTV", "SBJ", "TPC"}
TRACE, EXTRAPOSED = "*T*", "*EXP*"


class Relation(NamedTuple):
    """A phrase in a relation to a word; all are numbers in a tree.

    verb: a word: a verb, or an adjective or a noun with arguments. head: the word that is the head of the phrase, by
    the head rules of the language table. node: the phrase. function: its first function tag that `relation` does not
    say, or None. understood: whether the phrase stands elsewhere, as the subject of an infinitive does. negated:
    whether the verb is.
    """

    verb: int
    relation: str
    head: int
    node: int
    function: str | None
    understood: bool
    negated: bool


def read_relations(arrays: TreeArrays, table: LanguageTable) -> list[Relation]:
    """Return the relations of a tree with functions and empty categories, in the order of their verbs."""
    return _Reader(arrays, table).relations()


@dataclass(frozen=True)
class Frame:
    """A verb with the phrases around it, from the verb phrase that it heads up to the first other phrase."""

    verb: int  # a POS node
    path: tuple[int, ...]
    is_passive: bool
    is_negated: bool


def frames(skeleton: Skeleton) -> Iterator[Frame]:
    """Yield a frame for each verb that is not an auxiliary."""
    parents = skeleton.arrays.parents
    for node, nodes in enumerate(skeleton.children):
        if not nodes or not skeleton.is_a(node, "clausal") or skeleton.is_a(skeleton.heads[node], "verb_phrase"):
            continue
        path = [node]
        while skeleton.is_a(path[-1], "verb_phrase") and parents[path[-1]] >= 0:
            path.append(parents[path[-1]])
        is_negated = any(
            skeleton.is_a(above, "verbal_or_clause") and skeleton.has_word(one, "negation")
            for above in path
            for one in skeleton.children[above]
            if skeleton.arrays.ends[one] - skeleton.arrays.starts[one] == 1
        )
        verbs = [one for one in nodes if skeleton.is_a(one, "verb")]
        if not verbs and skeleton.is_a(node, "verb_phrase"):  # its head has a wrong tag, perhaps
            verbs = [one for one in (skeleton.heads[node],) if skeleton.is_a(one, "mistaken_verb")]
        for verb in verbs:
            yield Frame(verb, tuple(path), _is_passive(skeleton, verb, path), is_negated)


def _is_passive(skeleton: Skeleton, verb: int, path: Sequence[int]) -> bool:
    """Return whether a verb is a participle under a passive auxiliary, or one without any auxiliary."""
    categories = skeleton.table.categories
    if not skeleton.is_a(verb, "participle") or skeleton.has_word(verb, "never_passive"):
        return False
    for above in path[1:]:
        sorts = [skeleton.sorts[one] for one in skeleton.children[above] if not skeleton.children[one]]
        auxiliaries = [sort for sort in sorts if sort in categories["auxiliary"]]
        if auxiliaries:
            return auxiliaries[-1] in categories["passive"]
    return skeleton.is_a(verb, "bare_passive")


class _Item(NamedTuple):
    """A phrase in another one. node: -1 if it has no words; then `empty` is its number in the annotation."""

    category: str
    functions: tuple[str, ...]
    node: int
    empty: int = -1


class _Reader:
    def __init__(self, arrays: TreeArrays, table: LanguageTable):
        self.arrays, self.table, self.skeleton = arrays, table, Skeleton(arrays, table)
        self.empties: Sequence[Empty] = arrays.annotation.empties if arrays.annotation else ()
        self._inside: dict[int, list[int]] = {}  # node -> the numbers of the empties in it
        for number, one in enumerate(self.empties):
            self._inside.setdefault(one.parent, []).append(number)
        self._moved = {one.antecedent for one in self.empties if one.type in (TRACE, EXTRAPOSED)}

    def relations(self) -> list[Relation]:
        """Return all relations, sorted; a sentence without a verb has none."""
        skeleton, nodes = self.skeleton, range(len(self.arrays.sizes))
        if not any(skeleton.is_a(node, kind) for node in nodes for kind in ("verbal", "verb_phrase")):
            return []
        found = {one for frame in frames(skeleton) for one in self._of_verb(frame)} | {*self._without_verb()}
        return sorted(found, key=lambda one: (one.verb, RELATIONS.index(one.relation), one.node))

    def _items(self, node: int) -> list[_Item]:
        """Return the phrases in a phrase, with and without words, from left to right."""
        skeleton, found = self.skeleton, list[tuple[float, _Item]]()
        for place, child in enumerate(skeleton.children[node]):
            if skeleton.children[child]:
                found.append((place, _Item(skeleton.categories[child], skeleton.functions[child], child)))
        for number in self._inside.get(node, ()):
            one = self.empties[number]
            functions = tuple(filter(None, function_tags(one.label).split("-")))
            found.append((one.position - 0.5, _Item(bare_label(one.label), functions, -1, number)))
        return [item for _, item in sorted(found, key=lambda entry: entry[0])]

    def _target(self, item: _Item) -> int:
        """Return the phrase with words that an item stands for; -1 if there is none."""
        if item.node >= 0:
            return item.node
        one = self.empties[item.empty]
        while one.chain is not None:
            one = self.empties[one.chain]
        if one.antecedent is None:  # the wh-phrase may have no words: "the book I read"
            return self._noun_of(one.parent) if bare_label(one.label) in self.table.categories["wh"] else -1
        noun = self._noun_of(self.arrays.parents[one.antecedent]) if self._is_wh(one.antecedent) else -1
        return one.antecedent if noun < 0 else noun

    def _is_wh(self, node: int) -> bool:
        return self.skeleton.is_a(node, "wh") or self.skeleton.first_tag(node) in self.table.categories["wh_word"]

    def _noun_of(self, clause: int) -> int:
        """Return what a relative clause is about; -1 if the clause is none."""
        parents, skeleton = self.arrays.parents, self.skeleton
        while clause > 0 and skeleton.categories[parents[clause]] == skeleton.categories[clause]:  # a coordination
            clause = parents[clause]
        return self._modified(clause) if skeleton.is_a(clause, "relative") else -1

    def _modified(self, node: int) -> int:
        """Return the noun, or the noun phrase, that a phrase behind it belongs to; -1 if there is none."""
        above = self.arrays.parents[node]
        noun = self.skeleton.heads[above] if above >= 0 and self.skeleton.is_a(above, "nominal") else -1
        return noun if noun < node else -1

    def _of_verb(self, frame: Frame) -> Iterator[Relation]:
        own, clause = frame.path[0], frame.path[-1]
        items = self._items(own)
        shared = [(item, node) for node in frame.path[1:] for item in self._items(node) if item.node not in frame.path]
        around = items if own == clause else [item for item, node in shared if node == clause]
        subjects = [item for item in around if "SBJ" in item.functions]
        if subjects:
            yield from self._subjects(frame, subjects)
        elif own != clause and not frame.is_passive and (noun := self._modified(frame.path[-2])) >= 0:
            yield self._relation(frame, SUBJECT, noun, None, True)  # a reduced relative clause
        yield from self._arguments(frame, [item for item in items if item not in subjects])
        for item, node in shared:
            if item not in subjects and self.skeleton.is_a(node, "verbal_or_clause"):
                yield from self._modifier(frame, item)

    def _subjects(self, frame: Frame, subjects: Sequence[_Item]) -> Iterator[Relation]:
        is_shared = any(self.skeleton.kinds[node] == CONJUNCT for node in frame.path[:-1])
        for item in subjects:
            target, is_understood = self._target(item), item.node < 0 or is_shared
            if target < 0:
                continue
            extraposed = [self.empties[n] for n in self._inside.get(target, ()) if self.empties[n].type == EXTRAPOSED]
            if extraposed or self.skeleton.first_tag(target) in self.table.categories["existential"]:
                yield self._relation(frame, EXPLETIVE, target, item, is_understood)
                for one in extraposed:
                    if one.antecedent is not None:
                        yield self._relation(frame, SUBJECT, one.antecedent, None, False)
            elif not frame.is_passive:
                yield self._relation(frame, SUBJECT, target, item, is_understood)

    def _arguments(self, frame: Frame, items: Sequence[_Item]) -> Iterator[Relation]:
        objects = [item for item in items if self._is_nominal(item) and not _NO_OBJECT & set(item.functions)]
        is_existential = self.skeleton.is_existential[frame.verb]
        names = frame.is_passive and self.skeleton.has_word(frame.verb, "naming")
        title = next((item for item in items if names and item.node >= 0 and self._is_complement(item, objects)), None)
        for item in items:
            target, is_empty = self._target(item), item.node < 0
            if target < 0 and item in objects and frame.is_passive and len(frame.path) > 1:
                target = self._modified(frame.path[-2])  # "the book written by her"
            if target < 0:
                continue
            if item in objects and title is not None:  # "she was elected chair" says who the chair is
                if not is_empty:
                    relation = COMPLEMENT
                elif title in objects:
                    noun = self.arrays.leaves[self.skeleton.words[title.node]]
                    yield self._relation(Frame(noun, (), False, False), SUBJECT, target, item, True)
                    continue
                else:
                    continue
            elif item in objects:
                relation = INDIRECT_OBJECT if len(objects) > 1 and item is objects[0] else OBJECT
            elif "PRD" in item.functions:
                relation = SUBJECT if is_existential and self._is_nominal(item) else PREDICATE
            elif "DTV" in item.functions:
                relation, target = INDIRECT_OBJECT, self.skeleton.heads[target]
            elif frame.is_passive and (agent := self._agent(target)) >= 0:
                relation, target = AGENT, agent
            elif self._is_complement(item):
                relation = COMPLEMENT
                if not is_empty and target in self._moved:
                    continue
            else:
                yield from self._modifier(frame, item)
                continue
            yield self._relation(frame, relation, target, item, is_empty)

    def _is_complement(self, item: _Item, objects: Sequence[_Item] = ()) -> bool:
        is_clause = item.category in self.table.categories["complement"] and not ADVERBIAL & set(item.functions)
        return is_clause or item in objects

    def _modifier(self, frame: Frame, item: _Item) -> Iterator[Relation]:
        target, tags = self._target(item), set(item.functions)
        is_overt_wh = item.node >= 0 and self._is_wh(item.node)
        if target < 0 or is_overt_wh or "VOC" in tags or "SBJ" in tags or ("TPC" in tags and item.node in self._moved):
            return
        if item.category in self.table.categories["modifier"] or ADVERBIAL & tags:
            yield self._relation(frame, MODIFIER, target, item, item.node < 0)

    def _without_verb(self) -> Iterator[Relation]:
        """Yield the subjects of predicates without a verb, and the clauses that adjectives and nouns ask for."""
        skeleton = self.skeleton
        for node, nodes in enumerate(skeleton.children):
            head = skeleton.heads[node]
            frame = Frame(self.arrays.leaves[skeleton.words[head]], (head, node), False, False)
            if skeleton.is_a(node, "clause") and nodes:
                is_in_verb_phrase = node > 0 and skeleton.is_a(self.arrays.parents[node], "verb_phrase")
                if is_in_verb_phrase and "PRD" in skeleton.functions[head] and not skeleton.is_a(head, "verb_phrase"):
                    yield from self._subjects(frame, [item for item in self._items(node) if "SBJ" in item.functions])
            elif nodes and (skeleton.is_a(node, "nominal") or skeleton.is_a(node, "adjectival")):
                for item in self._items(node):
                    if item.node >= 0 and item.node != head and self._is_content(item.node):
                        yield self._relation(frame, COMPLEMENT, item.node, item, False)

    def _is_content(self, clause: int) -> bool:
        """Return whether a clause says what the noun beside it is, as in "the fact that it rains"."""
        skeleton, wh = self.skeleton, self.table.categories["wh"]
        if not skeleton.is_a(clause, "complement") or ADVERBIAL & set(skeleton.functions[clause]):
            return False
        if not skeleton.is_a(clause, "relative"):
            return skeleton.kinds[clause] != CONJUNCT
        empties = [self.empties[number] for number in self._inside.get(clause, ())]
        has_word = self.table.has_word("content", self.arrays.words[self.arrays.starts[clause]])
        is_word = not skeleton.children[skeleton.children[clause][0]]
        return (has_word and is_word) or any(one.position == 0 and bare_label(one.label) not in wh for one in empties)

    def _is_nominal(self, item: _Item) -> bool:
        return item.category in self.table.categories["nominal"] or "NOM" in item.functions

    def _agent(self, node: int) -> int:
        nodes = (node, *self.skeleton.children[node])
        return next((one for one in nodes if "LGS" in self.skeleton.functions[one]), -1)

    def _relation(self, frame: Frame, relation: str, node: int, item: _Item | None, understood: bool) -> Relation:
        tags = [] if item is None else [tag for tag in item.functions if tag not in _SAID]
        function = tags[0] if tags else None
        verb, head = self.arrays.starts[frame.verb], self.skeleton.words[node]
        if (
            relation != MODIFIER
            and self.arrays.labels[self.arrays.leaves[head]] in self.table.categories["existential"]
        ):
            relation = EXPLETIVE
        return Relation(verb, relation, head, node, function, understood, frame.is_negated)
