"""Slow measures of complexity of one tree, by definition: nodes are asked about their relatives, without patterns."""

from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.labels import WRAPPERS, bare_label

HEADS = HeadRules.from_name("en")
FINITE = ("MD", "VBZ", "VBP", "VBD")
CLAUSES = ("S", "SINV", "SQ")
SENTENCES = (*CLAUSES, "SBARQ")
FORMS = "am is are was were be been being get gets got gotten getting 'm 're 's".split()
KINDS = ("S", "SBAR", "NP", "VP", "PP", "ADJP", "ADVP", "other")


class Node:
    def __init__(self, label, parent, functions=()):
        self.label, self.parent, self.functions, self.children = label, parent, functions, []
        self.word = None

    def above(self):
        return [] if self.parent is None else [self.parent, *self.parent.above()]

    def below(self):
        return [self, *(node for child in self.children for node in child.below())]

    def head(self):
        labels = [child.label for child in self.children]
        return self.children[HEADS.head_index(self.label, labels)].label if labels else None

    def words(self):
        """The words without punctuation, as POS nodes."""
        leaves = (node for node in self.below() if node.word is not None)
        return [leaf for leaf in leaves if leaf.label[0].isalpha() and leaf.label not in ("HYPH", "NFP")]

    def has(self, *labels):
        return [child for child in self.children if child.label in labels]

    def sisters(self):
        """Those on the left and those on the right."""
        around = self.parent.children if self.parent else [self]
        place = next(k for k, child in enumerate(around) if child is self)
        return around[:place], around[place + 1 :]


def copied(tree):
    root = Node("ROOT", None)

    def copy(given, parent):
        node = Node(bare_label(given.label), parent, given.functions)
        parent.children.append(node)
        node.word = given.words[0] if given.is_leaf else None
        for child in given:
            copy(child, node)

    tree = tree.remove_empties()
    for child in tree if tree.label in WRAPPERS and not tree.is_leaf else [tree]:
        copy(child, root)
    return root


def is_clause(node):
    if node.label not in CLAUSES:
        return False
    first, at_top = node.children[0], node.parent.label == "ROOT"
    is_imperative = at_top and first.label == "VP" and first.head() == "VB"
    vps = node.has("VP")
    coordinated = any(vp.has("CC") and any(one.head() in FINITE for one in vp.has("VP")) for vp in vps)
    return is_imperative or node.head() in FINITE or any(vp.head() in FINITE for vp in vps) or coordinated


def is_t_unit(node):
    if node.label not in SENTENCES:
        return False
    after_one = any(sister.label in SENTENCES for sister in node.sisters()[0])
    return node.parent.label == "ROOT" or (
        after_one and not any(above.label in ("SBAR", "VP") for above in node.above())
    )


def is_dependent(node):
    return node.label == "SBAR" and any(map(is_clause, node.children))


def is_fragment_without(node, test):
    return node.label == "FRAG" and node.parent.label == "ROOT" and not any(map(test, node.below()))


def is_verb_phrase(node):
    is_question = node.label in FINITE and node.parent.label == "SQ" and not node.parent.has("VP")
    return (node.label == "VP" and node.parent.label in CLAUSES) or is_question


def is_nominal(node):
    right = node.sisters()[1]
    before_vp = bool(right) and right[0].label == "VP"
    if node.label == "NP" and node.parent.label != "NP":
        inside = node.below()[1:]
        in_row = [one for one in inside if one.label == "NP" and any(s.label == "NP" for s in one.sisters()[1])]
        apposed = any(one.sisters()[1][0].label != "CC" for one in in_row)
        return apposed or any(one.label in ("JJ", "POS", "PP", "S", "VBG") for one in inside)
    if node.label == "SBAR":
        head = node.children[HEADS.head_index("SBAR", [child.label for child in node.children])]
        is_that = head.label == "IN" and head.word in ("That", "that", "For", "for")
        is_kind = head.label == "WHNP" or is_that or node.children[0].label == "S"
        return is_kind and (before_vp or node.parent.label == "VP")
    return node.label == "S" and before_vp and any(vp.head() in ("VBG", "TO") for vp in node.has("VP"))


def is_passive(node):
    if node.label != "VP" or not node.children or node.head() != "VBN":
        return False
    participle = node.children[HEADS.head_index("VP", [child.label for child in node.children])]
    if participle.word in ("been", "had", "got"):
        return False
    for above in node.above():
        if above.label != "VP":
            return False
        if any(verb.word and verb.label.startswith("VB") and verb.word.lower() in FORMS for verb in above.children):
            return True
    return False


def main_verb(node):
    if node.word is not None:
        return node
    verbs = [child for child in node.children if child.label.startswith("VB") or child.label == "MD"]
    inner = node.has("VP") or verbs or node.has(*SENTENCES)
    return main_verb(inner[0]) if inner else None


def yngve(leaf):
    path = [leaf, *leaf.above()][:-1]
    return sum(sum(bool(sister.words()) for sister in node.sisters()[1]) for node in path)


def begun(leaf):
    return [node for node in leaf.above()[:-1] if node.words()[0] is leaf]


def with_shells(node):
    """A clause with the SBAR or the coordination around it."""
    above = node.parent
    is_shell = above.label == "SBAR" or (above.label in SENTENCES and not above.has("VP"))
    return with_shells(above) if is_shell else node


def degree(clause, kind):
    outside = [above for above in clause.above() if is_clause(above)]
    if not outside:
        return 0
    outer, inner = with_shells(outside[0]).words(), with_shells(clause).words()
    has_more, at_start = inner[-1:] != outer[-1:], inner[:1] == outer[:1]
    return degree(outside[0], kind) + (has_more and at_start == (kind == "left"))


def ratio(part, whole):
    return part / whole if whole else None


def slow_measures(tree):
    """All measures of a tree."""
    root = copied(tree)
    nodes, words = root.below()[1:], root.words()
    phrases = [node for node in nodes if node.word is None and node.words()]

    def count(test):
        return sum(map(test, nodes))

    w, t_units, clauses = len(words), list(filter(is_t_unit, nodes)), list(filter(is_clause, nodes))
    found = {
        "W": w, "S": 1, "VP": count(is_verb_phrase),
        "C": len(clauses) + count(lambda node: is_fragment_without(node, is_clause)),
        "T": len(t_units) + count(lambda node: is_fragment_without(node, is_t_unit)),
        "DC": count(is_dependent), "CT": sum(any(map(is_dependent, node.below())) for node in t_units),
        "CP": count(lambda node: node.label in ("ADJP", "ADVP", "NP", "VP") and bool(node.has("CC"))),
        "CN": count(is_nominal),
    }  # fmt: skip
    for name in "W/S W/T W/C C/S VP/T C/T DC/C DC/T T/S CT/T CP/T CP/C CN/T CN/C".split():
        part, whole = name.split("/")
        found[{"W/S": "MLS", "W/T": "MLT", "W/C": "MLC"}.get(name, name)] = ratio(found[part], found[whole])
    noun_phrases = [len(node.words()) for node in phrases if node.label == "NP" and node.parent.label != "NP"]
    subjects = [len(node.words()) for node in nodes if "SBJ" in node.functions]
    depths = list(map(yngve, words))
    frazier = [sum(1.5 if node.label in SENTENCES else 1 for node in begun(leaf)) for leaf in words]
    kinds = ["S" if node.label in SENTENCES else node.label for node in phrases]
    verbs = [(node, main_verb(node)) for node in t_units]
    before = [node.words().index(verb) for node, verb in verbs if verb]
    return found | {
        "MLNP": ratio(sum(noun_phrases), len(noun_phrases)), "fragments": int(not t_units), "without_tree": 0,
        "yngve_max": max(depths) if w else None, "yngve_mean": ratio(sum(depths), w),
        "frazier_max": max(frazier) if w else None, "frazier_mean": ratio(sum(frazier), w),
        "nodes": len(phrases), "nodes/W": ratio(len(phrases), w),
        **{f"nodes_{kind}": kinds.count(kind) for kind in KINDS[:-1]},
        "nodes_other": sum(kind not in KINDS for kind in kinds),
        **{f"{kind}_embedding": max([0, *(degree(one, kind) for one in clauses)]) if w else None
           for kind in ("left", "centre")},
        "words_before_verb": ratio(sum(before), len(before)), "subject_length": ratio(sum(subjects), len(subjects)),
        "passives": count(is_passive) if subjects else None,
    }  # fmt: skip
