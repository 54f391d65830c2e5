"""Functions and empty categories by rules, for trees that have none: passives, control, relative clauses, topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spacy_incparse.functions.relations import ADVERBIAL, Frame, frames
from spacy_incparse.functions.skeleton import Skeleton
from spacy_incparse.functions.tables import LanguageTable
from spacy_incparse.trees.arrays import TreeArrays
from spacy_incparse.trees.empties import Empty, annotated

_ADVERBIAL = ADVERBIAL | {"TPC"}

Found = tuple[int | None, int | None]  # a node, or the number of an empty category
NOTHING: Found = (None, None)

_PASSIVE, _CONTROLLED = "(NP (-NONE- *))", "(NP-SBJ (-NONE- *))"
_GAP, _SUBJECT_GAP, _PREPOSITIONAL_GAP = "(NP (-NONE- *T*))", "(NP-SBJ (-NONE- *T*))", "(PP (-NONE- *T*))"
_ADVERBIAL_GAP, _TOPIC_GAP = "(ADVP (-NONE- *T*))", "(S (-NONE- *T*))"
_NO_PRONOUN, _EXTRAPOSED = "(WHNP (-NONE- 0))", "(S (-NONE- *EXP*))"
_UNQUOTED_GAP = "(SBAR (-NONE- 0) (S (-NONE- *T*)))"
_UNIT, _NO_WORD = "(-NONE- *U*)", "(-NONE- 0)"


def with_rules(arrays: TreeArrays, table: LanguageTable) -> TreeArrays:
    """Return the tree with functions, adverbials and empty categories by rules, as far as it has none of a kind."""
    rules = _Rules(arrays, table)
    known = {tag for tags in rules.functions for tag in tags}
    if known & _ADVERBIAL and rules.given:
        return arrays
    if not known:
        rules.add_functions()
    if not known & _ADVERBIAL:
        rules.add_adverbials()
    if not rules.given:
        rules.add_empties()
    return annotated(arrays, [tuple(tags) for tags in rules.functions], rules.given or rules.empties)


def completed(arrays: TreeArrays, table: LanguageTable) -> TreeArrays:
    """Return an annotated tree with what some treebanks leave out, so that nothing learns it there.

    These are antecedents of the subjects of infinitives and participles; units of amounts of money, a "that" that is
    not said, and what somebody says. A phrase that already has an empty category of the same type gets no other.
    """
    rules = _Rules(arrays, table)
    functions = [tuple(tags) for tags in rules.functions]
    rules.add_adverbials()
    rules.find_controllers()
    for frame in rules.frames:
        rules.place_topic(frame)
    rules.place_units()
    known = {(one.parent, one.type) for one in rules.given}
    new = [one for one in rules.empties if (one.parent, one.type) not in known]
    return annotated(arrays, functions, [*rules.given, *new])


class _Rules:
    def __init__(self, arrays: TreeArrays, table: LanguageTable):
        self.arrays, self.table, self.skeleton = arrays, table, Skeleton(arrays, table)
        self.functions = [list(tags) for tags in self.skeleton.functions]
        self.frames = list(frames(self.skeleton))
        self.passive = {frame.path[0]: frame for frame in self.frames if frame.is_passive}
        self.empties: list[Empty] = []
        self.given = list(arrays.annotation.empties if arrays.annotation else ())
        subjects = {one.parent: number for number, one in enumerate(self.given) if one.label == "NP-SBJ"}
        self._empty_subjects = subjects  # clause -> the number of its subject

    def add_functions(self) -> None:
        """Find subjects, predicates, agents, and phrases of time and other circumstances."""
        for node in range(len(self.functions)):
            if self.skeleton.is_a(node, "clause"):
                self._find_subject(node)
        for frame in self.frames:
            self._find_predicate(frame)
            if frame.is_passive:
                self._find_agent(frame)

    def add_adverbials(self) -> None:
        """Find phrases of time and other circumstances, and topics, among those that have no function."""
        skeleton = self.skeleton
        for node, above in enumerate(self.arrays.parents):
            is_free = above >= 0 and not self.functions[node] and node != skeleton.heads[above]
            if is_free and skeleton.children[node] and skeleton.is_a(above, "verbal_or_clause"):
                self.functions[node] += self._adverbial(node, above)

    def add_empties(self) -> None:
        """Find the subjects of infinitives, and the gaps of wh-phrases, passives and topics."""
        skeleton = self.skeleton
        for node, nodes in enumerate(skeleton.children):
            if nodes and skeleton.is_a(node, "clause"):
                self._place_subject(node)
            elif nodes and (skeleton.is_a(node, "relative") or skeleton.is_a(node, "question")):
                self._place_gap(node)
        for frame in self.passive.values():
            self._place_passive(frame)
        for frame in self.frames:
            self.place_topic(frame)
            self._place_extraposed(frame)

    def _phrases(self, nodes: Sequence[int], *kinds: str) -> list[int]:
        skeleton = self.skeleton
        return [one for one in nodes if skeleton.children[one] and any(skeleton.is_a(one, kind) for kind in kinds)]

    def _begins_with(self, node: int, kind: str) -> bool:
        return self.table.has_word(kind, self.arrays.words[self.arrays.starts[node]])

    def _is_time(self, node: int) -> bool:
        return self.skeleton.has_word(node, "time")

    def _is_subject(self, node: int) -> bool:
        return "SBJ" in self.functions[node]

    def _find_subject(self, clause: int) -> None:
        skeleton, nodes = self.skeleton, self.skeleton.children[clause]
        verbs = [one for one in nodes if skeleton.is_a(one, "verb_phrase") or skeleton.is_a(one, "verbal")]
        if not verbs:
            self._find_small_clause(nodes)
            return
        place = nodes.index(verbs[0])
        nominals = self._phrases(nodes[:place], "nominal")
        found = [one for one in nominals if not self._is_time(one)][-1:] or nominals[-1:]
        found = found or [one for one in self._phrases(nodes[place + 1 :], "nominal") if not self._is_time(one)][:1]
        if not found and place:  # a clause is one, if no comma is behind it
            found = self._phrases(nodes[place - 1 : place], "complement")
        for one in found:
            self.functions[one].append("SBJ")

    def _find_small_clause(self, nodes: Sequence[int]) -> None:
        subject, *others = [one for one in nodes if self.skeleton.children[one]] or [-1]
        predicates = self._phrases(others[:1], "nominal", "adjectival", "prepositional")
        if predicates and self.skeleton.is_a(subject, "nominal"):
            self.functions[subject].append("SBJ")
            self.functions[predicates[0]].append("PRD")

    def _find_predicate(self, frame: Frame) -> None:
        skeleton, verb = self.skeleton, frame.verb
        behind = [one for one in skeleton.children[frame.path[0]] if one > verb and not self._is_subject(one)]
        best = self._phrases(behind, "nominal", "adjectival", "mixed")
        if self.table.word_class(skeleton.categories[verb], self.arrays.words[skeleton.words[verb]]) == "BE":
            best += self._phrases(behind, "complement", "prepositional", "adverbial")
        elif not skeleton.has_word(verb, "naming" if frame.is_passive else "copula"):
            return
        found = [one for one in best if not self._is_time(one)] or self._phrases(behind, "nominal")
        for one in found[:1]:
            self.functions[one].append("PRD")

    def _find_agent(self, frame: Frame) -> None:
        for one in self._phrases(self.skeleton.children[frame.path[0]], "prepositional"):
            for noun in self._phrases(self.skeleton.children[one], "nominal"):
                if self._begins_with(one, "agent") and not self._is_time(noun):
                    self.functions[noun].append("LGS")

    def _adverbial(self, node: int, above: int) -> list[str]:
        skeleton = self.skeleton
        if skeleton.is_a(node, "relative"):
            is_asked = skeleton.is_a(above, "verb_phrase") and skeleton.has_word(above, "asking")
            kinds = (("TMP", "temporal_clause"), ("PRP", "causal_clause"), ("ADV", "adverbial_clause"))
            return [tag for tag, kind in kinds if self._begins_with(node, kind) and not is_asked][:1]
        if skeleton.is_a(node, "complement"):
            return self._of_clause(node, above)
        if (
            skeleton.is_a(above, "verb_phrase")
            and skeleton.has_word(node, "extent")
            and skeleton.has_word(above, "change")
        ):
            return ["EXT"]
        return ["TMP"] if self._is_time(node) and not skeleton.is_a(node, "verb_phrase") else []

    def _of_clause(self, node: int, above: int) -> list[str]:
        """Return the function of a participle, of an infinitive of purpose, or of a clause that is said."""
        skeleton, siblings = self.skeleton, self.skeleton.children[above]
        has_subject = any(map(self._is_subject, skeleton.children[node]))
        if skeleton.is_a(above, "clause"):
            if skeleton.kinds[node] or not any(map(self._is_subject, siblings)):
                return []
            return ["TPC" if has_subject else "ADV"]
        before = siblings[: siblings.index(node)]
        has_object, is_passive = bool(self._phrases(before, "nominal")), above in self.passive
        if has_subject or not self._phrases(skeleton.children[node], "verb_phrase"):
            return []
        if self._begins_with(node, "infinitive"):
            is_complement = skeleton.has_word(above, "object_control")
            is_complement = is_complement or (is_passive and skeleton.has_word(above, "raising"))
            return ["PRP"] if (has_object or is_passive) and not is_complement else []
        has_comma = bool(before) and skeleton.sorts[before[-1]] == ","
        return ["ADV"] if has_object or is_passive or has_comma else []

    def _add(self, parent: int, position: int, fragment: str, found: Found, layer: int = 0) -> int:
        self.empties.append(Empty(parent, position, fragment, *found, layer))
        return len(self.empties) - 1

    def _subject_of(self, clause: int) -> Found:
        if clause in self._empty_subjects:
            return None, self._empty_subjects[clause]
        return next(filter(self._is_subject, self.skeleton.children[clause]), None), None

    def _place_subject(self, clause: int) -> None:
        """Give an infinitive or a participle a subject: that of the clause around it, or the object there."""
        verbs = self._phrases(self.skeleton.children[clause], "verb_phrase")
        if verbs and self._subject_of(clause) == NOTHING and (found := self._controller(clause)) != NOTHING:
            place = self.skeleton.children[clause].index(verbs[0])
            self._empty_subjects[clause] = self._add(clause, place, _CONTROLLED, found)

    def find_controllers(self) -> None:
        """Find antecedents of given subjects that have none, in clauses that belong to a verb: others are arbitrary."""
        for number, one in enumerate(self.given):
            above = self.arrays.parents[one.parent]
            is_free = one.fragment == _CONTROLLED and (one.antecedent, one.chain) == NOTHING
            if is_free and above >= 0 and self.skeleton.is_a(above, "verb_phrase"):
                antecedent, chain = self._controller(one.parent)
                self.given[number] = replace(one, antecedent=antecedent, chain=chain)

    def _controller(self, clause: int) -> Found:
        skeleton, parents = self.skeleton, self.arrays.parents
        node, above, coordinated = clause, parents[clause], {clause}
        while above >= 0 and not self._is_subject(node) and not skeleton.is_a(above, "nominal"):
            if node not in coordinated and skeleton.is_a(node, "clause"):
                break
            if skeleton.is_a(above, "verb_phrase") and node in coordinated and not self.functions[clause]:
                objects = self._phrases(skeleton.children[above], "nominal")
                objects = [one for one in objects if one < node and not self.functions[one]]
                if objects and not skeleton.has_word(above, "subject_control"):
                    return objects[0], None
            if skeleton.is_a(above, "clause"):
                found = self._subject_of(above)
                if skeleton.categories[above] != skeleton.categories[node] or found != NOTHING:
                    return NOTHING if found[0] is not None and self._is_it(found[0]) else found
                coordinated.add(above)
            node, above = above, parents[above]
        return NOTHING

    def _place_gap(self, clause: int) -> None:
        """Find the gap of a wh-phrase, or of a relative clause without one."""
        skeleton, nodes, above = self.skeleton, self.skeleton.children[clause], self.arrays.parents[clause]
        inner = next(iter(self._phrases(nodes, "clause")), -1)
        wh = next((one for one in nodes if one < inner and self._is_wh(one)), None)
        if inner >= 0 and wh is not None and not skeleton.is_a(wh, "nominal"):
            fragment = _PREPOSITIONAL_GAP if skeleton.is_a(wh, "prepositional") else _ADVERBIAL_GAP
            for parent, position in self._places(inner)[:1]:
                self._add(parent, position, fragment, (wh, None))
            return
        found: Found = (wh, None)
        has_subject = inner >= 0 and self._subject_of(inner) != NOTHING
        if wh is None:
            is_relative = above >= 0 and skeleton.is_a(above, "nominal") and skeleton.heads[above] < clause
            if not is_relative or nodes[0] != inner or not has_subject:
                return
            found = None, self._add(clause, 0, _NO_PRONOUN, NOTHING)
        if not has_subject and inner >= 0:
            self._empty_subjects[inner] = self._add(inner, 0, _SUBJECT_GAP, found)
            return
        for parent, position in self._places(inner)[-1:]:
            if skeleton.is_a(parent, "clause") and not skeleton.is_a(skeleton.heads[parent], "verb"):
                self._empty_subjects[parent] = self._add(parent, position, _SUBJECT_GAP, found)
            else:
                self._add(parent, position, _GAP, found)

    def _is_wh(self, node: int) -> bool:
        is_word = self.skeleton.first_tag(node) in self.table.categories["wh_word"]
        return self.skeleton.is_a(node, "wh") or (is_word and self.skeleton.is_a(node, "nominal"))

    def _places(self, clause: int) -> list[tuple[int, int]]:
        """Return the phrases at and below a clause that lack a noun phrase, each with its place among the children."""
        skeleton, places, node = self.skeleton, list[tuple[int, int]](), clause
        while node >= 0:
            nodes = skeleton.children[node]
            is_subordinate = node != clause and skeleton.is_a(self.arrays.parents[node], "relative")
            if is_subordinate and skeleton.is_a(node, "clause") and self._subject_of(node) == NOTHING:
                return [*places, (node, 0)]
            lower = self._phrases(nodes, "verb_phrase")
            verbs = [] if lower else [place for place, one in enumerate(nodes, 1) if skeleton.is_a(one, "verb")]
            if verbs:
                stranded = self._stranded(nodes)
                objects = self._phrases(nodes, "nominal")
                if stranded:
                    places.append((stranded[0], 1))
                elif all(self.functions[one] and "PRD" not in self.functions[one] for one in objects):
                    places.append((node, verbs[-1]))
                lower = [one for one in self._phrases(nodes, "complement") if not self.functions[one]]
            node = next(iter(lower or ([] if verbs else self._phrases(nodes, "clause"))), -1)
        return places

    def _stranded(self, nodes: Sequence[int]) -> list[int]:
        """Return the prepositional phrases that have nothing but their preposition."""
        return [one for one in self._phrases(nodes, "prepositional") if len(self.skeleton.children[one]) == 1]

    def _place_passive(self, frame: Frame) -> None:
        skeleton, (phrase, clause) = self.skeleton, (frame.path[0], frame.path[-1])
        nodes = skeleton.children[phrase]
        complements = [one for one in self._phrases(nodes, "complement") if not self.functions[one]]
        is_told = skeleton.has_word(frame.verb, "object_control") and not skeleton.has_word(frame.verb, "raising")
        if not self._stranded(nodes) and (is_told or all(skeleton.is_a(one, "relative") for one in complements)):
            found = NOTHING if skeleton.is_a(clause, "nominal") else self._subject_of(clause)
            self._add(phrase, nodes.index(frame.verb) + 1, _PASSIVE, found)

    def place_topic(self, frame: Frame) -> None:
        """Give a verb that has no complement the clause that stands before it, as in "It rains, he said"."""
        skeleton, clause, nodes = self.skeleton, frame.path[-1], self.skeleton.children[frame.path[0]]
        arguments = [one for one in self._phrases(nodes, "complement", "nominal") if not self.functions[one]]
        if clause == frame.path[0] or arguments:
            return
        topics = [one for one in skeleton.children[clause] if "TPC" in self.functions[one]]
        if not topics and skeleton.has_word(frame.verb, "saying"):
            parents = self.arrays.parents
            outer = [node for node in frame.path if node and not skeleton.kinds[node]]
            before = [one for node in outer for one in skeleton.children[parents[node]] if one < node]
            topics = [one for one in before if skeleton.is_a(one, "clause") and self._subject_of(one) != NOTHING]
            parenthesis = clause if skeleton.is_a(clause, "parenthesis") else parents[clause]
            if not topics and parenthesis > 0 and skeleton.is_a(parenthesis, "parenthesis"):
                topics = [self._whole_clause(parenthesis)]
        for topic in topics[:1]:
            beside = skeleton.children[self.arrays.parents[topic]] if topic else ()
            fragment = _TOPIC_GAP if any(skeleton.is_a(one, "quote") for one in beside) else _UNQUOTED_GAP
            self._add(frame.path[0], nodes.index(frame.verb) + 1, fragment, (topic, None))

    def place_units(self) -> None:
        """Put the unit behind amounts of money, and the word that is not there before clauses with a subject."""
        skeleton, categories = self.skeleton, self.table.categories
        for node, nodes in enumerate(skeleton.children):
            above = self.arrays.parents[node]
            is_bare = len(nodes) == 1 and skeleton.is_a(node, "relative") and not skeleton.is_a(above, "nominal")
            if is_bare and skeleton.is_a(nodes[0], "clause") and self._subject_of(nodes[0]) != NOTHING:
                self._add(node, 0, _NO_WORD, NOTHING)
            has_sign = [
                any(skeleton.is_a(one, "currency") for one in (child, *skeleton.children[child])) for child in nodes
            ]
            if any(has_sign) and not skeleton.is_a(node, "amount"):
                first = has_sign.index(True)
                numbers = [i for i in range(first, len(nodes)) if skeleton.categories[nodes[i]] in categories["number"]]
                if numbers:
                    self._add(node, numbers[-1] + 1, _UNIT, NOTHING)

    def _whole_clause(self, node: int) -> int:
        """Return the outermost clause around a parenthesis that no other phrase is between."""
        found = above = self.arrays.parents[node]
        while above > 0 and self.skeleton.is_a(above, "verbal_or_clause"):
            found, above = above, self.arrays.parents[above]
        return found

    def _place_extraposed(self, frame: Frame) -> None:
        """Find the clause for which an "it" stands that is the subject of a predicate."""
        subject, nodes = self._subject_of(frame.path[-1])[0], self.skeleton.children[frame.path[0]]
        has_predicate = any("PRD" in self.functions[one] for one in nodes)
        if (
            subject is not None
            and self._is_it(subject)
            and (has_predicate or self.skeleton.has_word(frame.verb, "seeming"))
        ):
            for one in [one for one in self._phrases(nodes, "complement") if not self.functions[one]][-1:]:
                self._add(subject, len(self.skeleton.children[subject]), _EXTRAPOSED, (one, None), layer=1)

    def _is_it(self, node: int) -> bool:
        is_word = self.arrays.ends[node] - self.arrays.starts[node] == 1
        return is_word and bool(self.skeleton.children[node]) and self.skeleton.has_word(node, "expletive")
