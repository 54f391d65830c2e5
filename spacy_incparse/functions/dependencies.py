"""Dependencies of a tree: a head and a label of Universal Dependencies for each word, from phrases and functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from spacy_incparse.functions.relations import ADVERBIAL, EXTRAPOSED, TRACE, frames, read_relations
from spacy_incparse.functions.rules import with_rules
from spacy_incparse.functions.skeleton import Skeleton
from spacy_incparse.functions.tables import Features, LanguageTable
from spacy_incparse.trees.arrays import TreeArrays, bracket_bits
from spacy_incparse.trees.heads import HeadRules, head_children, head_words
from spacy_incparse.trees.labels import function_tags

ROOT, FIXED = "root", "fixed"


class Dependency(NamedTuple):
    """What a word depends on; head: the number of a word, -1 for the root. label: of Universal Dependencies."""

    head: int
    label: str


def dependencies(arrays: TreeArrays, table: LanguageTable) -> list[Dependency]:
    """Return the dependency of each word of a tree.

    Heads are those of the table's head rules, labels those of the first of its rules that fits. Functions that the tree
    lacks are found by rules.
    """
    return _Labels(with_rules(arrays, table), table).dependencies()


def enhanced_dependencies(arrays: TreeArrays, table: LanguageTable) -> list[tuple[int, Dependency]]:
    """Return the dependencies that a tree has beside those of `dependencies`: (word, dependency).

    They are the relations to a phrase that stands elsewhere, as between an infinitive and its subject.
    """
    arrays = with_rules(arrays, table)
    names, passive = table.enhanced, _passive_verbs(Skeleton(arrays, table))
    found = []
    for one in read_relations(arrays, table):
        name = names.get(f"{one.relation}:passive" if one.verb in passive else one.relation, names.get(one.relation))
        if one.understood and name is not None:
            found.append((one.head, Dependency(one.verb, name)))
    return found


def _passive_verbs(skeleton: Skeleton) -> set[int]:
    return {skeleton.words[frame.verb] for frame in frames(skeleton) if frame.is_passive}


class _Labels:
    def __init__(self, arrays: TreeArrays, table: LanguageTable):
        self.arrays, self.table, self.skeleton = arrays, table, Skeleton(arrays, table)
        self.tags = [arrays.labels[leaf] for leaf in arrays.leaves]
        self.lower = [word.lower() for word in arrays.words]
        self.passive = _passive_verbs(self.skeleton)
        self._functions = self._with_gaps()

    def _with_gaps(self) -> list[tuple[str, ...]]:
        """Return the functions of all nodes; a wh-phrase also has those of its gap.

        EXP is added to those of an expletive, and EXTRAPOSED to those of the clause for which it stands.
        """
        functions = list(self.skeleton.functions)
        empties = self.arrays.annotation.empties if self.arrays.annotation else ()
        for one in empties:
            if one.antecedent is not None and one.type == TRACE and self.skeleton.is_a(one.antecedent, "wh"):
                functions[one.antecedent] += tuple(function_tags(one.label).split("-"))
            elif one.antecedent is not None and one.type == EXTRAPOSED:
                functions[one.parent] += ("EXP",)
                functions[one.antecedent] += ("EXTRAPOSED",)
        return functions

    def dependencies(self) -> list[Dependency]:
        skeleton = self.skeleton
        found = [Dependency(-1, ROOT)] * len(self.tags)
        for node, governor in enumerate(skeleton.governors):
            if governor >= 0:
                label = self.table.label(self._features(node, governor))
                found[skeleton.words[node]] = Dependency(skeleton.words[governor], label)
        for node, subject, verb in self._raised():
            found[skeleton.words[subject]] = Dependency(skeleton.words[verb], self.table.raised[0])
            found[skeleton.words[node]] = Dependency(found[skeleton.words[node]].head, self.table.raised[1])
        for phrase in self.table.fixed:
            self._join_fixed(phrase, found)
        return found

    def _features(self, node: int, governor: int) -> Features:
        """Return what the conditions of a rule for labels can ask, of a phrase and of the one that it depends on."""
        skeleton, arrays = self.skeleton, self.arrays
        above, children = arrays.parents[node], skeleton.children
        inner, beside, word, head = children[node], children[governor], skeleton.words[node], skeleton.words[governor]
        labels = (*(arrays.full_label(one) for one in inner), self.tags[arrays.starts[node]])
        nominals = [one for one in children[above] if skeleton.sorts[one] == "NP" and one > governor]
        is_copular = any(skeleton.sorts[one] == "BE" for one in beside)
        has_clause = any(skeleton.is_a(one, "complement") for one in beside)
        return (
            ("kind", skeleton.kinds[node]),
            ("child", skeleton.categories[node] if inner else skeleton.sorts[node]),
            ("functions", self._functions[node] or ("",)),
            ("parent", skeleton.categories[above]),
            ("head", skeleton.sorts[governor]),
            ("side", "left" if node < governor else "right"),
            ("tag", self.tags[word]),
            ("word", self.lower[word]),
            ("governor", self.tags[head]),
            ("verb", self.lower[head]),
            ("voice", "passive" if head in self.passive else "active"),
            ("inside", labels),
            ("first", skeleton.categories[inner[0]] if inner else ""),
            ("begins", self.lower[arrays.starts[node]]),
            ("below", skeleton.sorts[beside[0]] if beside else ""),
            ("order", "first" if len(nominals) > 1 and nominals[0] == node else ""),
            ("subject", "yes" if any("SBJ" in skeleton.functions[one] for one in inner) else "no"),
            ("clausal", "yes" if is_copular and self._is_clausal(beside) else "no"),
            ("beside", "clause" if has_clause else ""),
        )

    def _is_clausal(self, nodes: Iterable[int]) -> bool:
        return any(self.skeleton.is_a(one, "complement") and self.skeleton.governors[one] < 0 for one in nodes)

    def _raised(self) -> list[tuple[int, int, int]]:
        """Return (clause, subject, verb) where the subject of an infinitive or participle is an object of the verb."""
        skeleton, found = self.skeleton, []
        for node, nodes in enumerate(skeleton.children):
            above = self.arrays.parents[node]
            if not nodes or above < 0 or not skeleton.is_a(node, "clause") or ADVERBIAL & set(skeleton.functions[node]):
                continue
            verb = next((one for one in skeleton.children[above] if skeleton.is_a(one, "verb")), -1)
            subject = next((one for one in nodes if skeleton.is_a(one, "nominal") and skeleton.children[one]), -1)
            lower = next((one for one in nodes if skeleton.is_a(one, "verb_phrase")), -1)
            is_finite = lower >= 0 and self._first_verb(lower) not in self.table.categories["nonfinite"]
            is_first = 0 <= subject < skeleton.heads[node]
            if skeleton.is_a(above, "verb_phrase") and 0 <= verb < node and is_first and not is_finite:
                found.append((node, subject, verb))
        return found

    def _first_verb(self, node: int) -> str:
        """Return the tag of the first verb, modal verb or "to" below a node; "" if there is none."""
        verbal = self.table.categories["verbal"] | self.table.categories["infinitive_mark"]
        tags = self.tags[self.arrays.starts[node] : self.arrays.ends[node]]
        return next((tag for tag in tags if tag in verbal), "")

    def _join_fixed(self, phrase: Sequence[str], found: list[Dependency]) -> None:
        """Make the first word of each occurrence of a fixed expression the head of the others."""
        n = len(phrase)
        for start in range(len(self.lower) - n + 1):
            if tuple(self.lower[start : start + n]) != tuple(phrase):
                continue
            words = range(start, start + n)
            outer = [word for word in words if found[word].head not in words]
            dependents = [word for word, one in enumerate(found) if word not in words and one.head in words]
            if dependents or found[outer[0]].head < 0:
                continue
            found[start] = found[outer[-1]]
            for word in words[1:]:
                found[word] = Dependency(start, FIXED)


def conllu_lines(
    arrays: TreeArrays, words: Sequence[str], no_space: Sequence[bool], heads: HeadRules, table: LanguageTable
) -> Iterator[str]:
    """Yield a line of CoNLL-U for each word: number, word, tag, head, label, enhanced dependencies, and brackets.

    A tree without functions has the heads of a head table, and `_` for the labels. The brackets are those around the
    word in MISC, with `*` for the word: `Tree=(S(NP*)`. words: as they are to be written. no_space: whether the next
    word follows without a space.
    """
    found = dependencies(arrays, table) if arrays.annotation else _unlabelled(arrays, heads)
    more: list[list[Dependency]] = [[] for _ in words]
    for word, one in enhanced_dependencies(arrays, table) if arrays.annotation else ():
        more[word].append(one)
    brackets = bracket_bits(arrays)
    for i, (text, leaf) in enumerate(zip(words, arrays.leaves, strict=True)):
        basic, tag = found[i], arrays.labels[leaf]
        graph = (
            "|".join(f"{head + 1}:{label}" for head, label in sorted({basic, *more[i]})) if arrays.annotation else "_"
        )
        misc = "SpaceAfter=No|" * no_space[i] + f"Tree={brackets[i].replace('|', '/')}"
        form = " ".join(text.split()) or "_"
        yield "\t".join([str(i + 1), form, "_", "_", tag, "_", str(basic.head + 1), basic.label, graph, misc])


def _unlabelled(arrays: TreeArrays, rules: HeadRules) -> list[Dependency]:
    words = head_words(arrays, head_children(arrays, rules))
    found = [Dependency(-1, "_")] * len(arrays.words)
    for node, above in enumerate(arrays.parents):
        if above >= 0 and words[node] != words[above]:
            found[words[node]] = Dependency(words[above], "_")
    return found
