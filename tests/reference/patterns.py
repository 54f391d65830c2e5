"""Slow pattern matching by definition: every two nodes are asked whether they are related, all choices are tried.

Words are nodes. Solutions come in the order in which the nodes stand in the pattern and, for each, in the tree.
"""

import re

from spacy_incparse.patterns.pattern_parser import parse_pattern
from spacy_incparse.patterns.syntax import And, Description, Maybe, Node, Not, Or, Reference, Relation, Step, parts_of
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.labels import bare_label

HEADS = HeadRules.from_name("en")
WRAPPERS = ("", "ROOT", "TOP", "VROOT", "S1")
BACKWARD = (Step.PARENT, Step.NTH_CHILD_OF, Step.ONLY_CHILD_OF, Step.HEAD_OF, Step.PREVIOUS, Step.PREVIOUS_SISTER)


class SlowNode:
    """A phrase, POS node or word; `code` is twice the index in the Tree, for words that of the POS node and 1 more."""

    def __init__(self, text, code, parent):
        self.text, self.code, self.parent, self.children = text, code, parent, []
        self.first = self.last = None  # number of the first and the last word
        if parent is not None:
            parent.children.append(self)

    @property
    def is_word(self):
        return self.code % 2 == 1

    @property
    def category(self):
        return self.text if self.is_word else bare_label(self.text)

    def head(self):
        if not self.children or self.children[0].is_word:
            return self.children[0] if self.children else None
        return self.children[HEADS.head_index(self.category, [child.category for child in self.children])]


def names_root(test):
    """Whether a description has a name of the root."""
    literals = [atom for atom in test.atoms if not atom.is_regex] if isinstance(test, Description) else []
    names = [atom.text.upper() if atom.ignores_case else atom.text for atom in literals]
    return any(name in (*WRAPPERS, "_ROOT_") for name in names)


def slow_nodes(tree, has_root):
    """All nodes of a tree in pre-order; `has_root`: with a root above a tree without one."""
    nodes, path = [], []
    if has_root and (tree.label not in WRAPPERS or tree.is_preterminal):
        nodes.append(SlowNode("TOP", 0, None))
        path.append((nodes[0], tree.index + tree.size))
    for node in tree.preorder():
        while path and path[-1][1] <= node.index:
            path.pop()
        nodes.append(SlowNode(node.label, 2 * (node.index - tree.index), path[-1][0] if path else None))
        path.append((nodes[-1], node.index + node.size))
        if node.is_preterminal:
            nodes.append(SlowNode(node.words[0], nodes[-1].code + 1, nodes[-1]))
            nodes[-1].token = node.tokens[0]
    for number, word in enumerate(node for node in nodes if node.is_word):
        above = word
        while above is not None:
            above.first, above.last = number if above.first is None else above.first, number
            above = above.parent
    return nodes


class SlowPattern:
    def __init__(self, pattern, raw_labels=False):
        self.alternatives, self.raw_labels = parse_pattern(pattern), raw_labels

    def search(self, tree):
        """Return (code of the node, {name: code}) for every solution, each once."""
        parts = [part for node in self.alternatives for part in parts_of(node)]
        tests = [part.test if isinstance(part, Node) else getattr(part, "chain", None) for part in parts]
        self.nodes = slow_nodes(tree, any(map(names_root, tests)))
        self.roots = [self.nodes[0]]
        while not self.roots[-1].children[0].is_word and self.roots[-1].text in WRAPPERS:
            (below, *others) = self.roots[-1].children
            if others or below.text not in WRAPPERS or below.children[0].is_word:
                break
            self.roots = [below]
        self.tops = [node for node in self.nodes if node.code == 0][1:]  # below a root that was added
        found = []
        for node in self.nodes:
            for alternative in self.alternatives:
                for names, _ in self._node(alternative, node, {}, {}):
                    solution = (node.code, {name: named.code for name, named in names.items()})
                    if solution not in found:
                        found.append(solution)
        return found

    def _node(self, wanted, node, names, variables):
        test = wanted.test
        if isinstance(test, Reference):
            if test.name not in names or self._refers(test, names[test.name], node) == test.is_negated:
                return
        elif not self._fits(test, node):
            return
        else:
            variables = self._captured(test, node, variables)
            if variables is None:
                return
        if wanted.name is not None:
            names = {**names, wanted.name: node}
        if wanted.constraint is None:
            yield names, variables
        else:
            yield from self._constraint(wanted.constraint, node, names, variables)

    def _refers(self, test, named, node):
        if not test.by_label:
            return named is node
        same_kind = named.is_word == node.is_word
        return same_kind and (named.text == node.text if self.raw_labels else named.category == node.category)

    def _fits(self, description, node):
        if description.attributes:
            fits = [self._fits_value(value, node, name) for name, value in description.attributes if node.is_word]
            return (node.is_word and all(fits)) != description.is_negated
        if description.is_leaf:
            return node.is_word
        found = not description.atoms or any(self._fits_atom(atom, description, node) for atom in description.atoms)
        found = found or (node in self.roots and names_root(description))
        literals = [atom.text for atom in description.atoms if not atom.is_regex]
        found = found or (node in self.tops and "_ROOT_" in literals)
        return found != description.is_negated

    def _fits_value(self, description, node, name):
        token = node.token
        value = {"LEMMA": token.lemma_, "POS": token.pos_, "IS_TITLE": str(token.is_title), "_.mark": str(token._.mark)}
        found = not description.atoms
        for atom in description.atoms:
            found = found or (re.search(atom.text, value[name]) if atom.is_regex else atom.text == value[name])
        return bool(found) != description.is_negated

    def _fits_atom(self, atom, description, node):
        if atom.is_regex:
            text = node.category if description.by_category else node.text
            return re.search(atom.text, text, re.IGNORECASE if atom.ignores_case else 0) is not None
        texts = {node.category} if description.by_category else {node.text, node.category}
        if self.raw_labels and not description.by_category:
            texts = {node.text}
        return atom.text.casefold() in map(str.casefold, texts) if atom.ignores_case else atom.text in texts

    def _captured(self, description, node, variables):
        for group, variable in description.captures:
            match = re.search(description.atoms[-1].text, node.category if description.by_category else node.text)
            value = match and match.group(group)
            if value is None or variables.get(variable, value) != value:
                return None
            variables = {**variables, variable: value}
        return variables

    def _constraint(self, part, node, names, variables):
        if isinstance(part, Relation):
            for other in self.nodes:
                if self._related(part, node, other):
                    yield from self._node(part.target, other, names, variables)
        elif isinstance(part, And):
            yield from self._all(part.parts, node, names, variables)
        elif isinstance(part, Or):
            for inner in part.parts:
                yield from self._constraint(inner, node, names, variables)
        else:
            solutions = list(self._constraint(part.part, node, names, variables))
            if isinstance(part, Maybe) and solutions:
                yield from solutions
            elif isinstance(part, Maybe) or (isinstance(part, Not) and not solutions):
                yield names, variables

    def _all(self, parts, node, names, variables):
        if not parts:
            yield names, variables
            return
        for inner_names, inner_variables in self._constraint(parts[0], node, names, variables):
            yield from self._all(parts[1:], node, inner_names, inner_variables)

    def _related(self, relation, node, other):
        """Whether one step leads from a node to the other, or a path of steps where the relation is repeated."""
        if relation.chain is None:
            return self._is_step(relation, node, other)
        reached, pending = set(), [node]
        while pending:
            here = pending.pop()
            for there in self.nodes:
                if there not in reached and self._is_step(relation, here, there):
                    reached.add(there)
                    if self._fits(relation.chain, there):
                        pending.append(there)
        return other in reached

    def _is_step(self, relation, a, b):
        step, number = relation.step, relation.number
        if step in BACKWARD:
            a, b, step = b, a, step.inverse
        sisters = b.parent.children if b.parent is not None else [b]
        place = sisters.index(b)
        is_child = b.parent is a
        return {
            Step.SELF: a is b,
            Step.ANY: True,
            Step.SISTER: a is not b and a.parent is not None and a.parent is b.parent,
            Step.CHILD: is_child,
            Step.NTH_CHILD: is_child and number in (place + 1, place - len(sisters)),
            Step.ONLY_CHILD: is_child and len(sisters) == 1,
            Step.HEAD: is_child and a.head() is b,
            Step.NEXT_SISTER: place > 0 and sisters[place - 1] is a,
            Step.NEXT: b.first == a.last + 1,
        }[step]
