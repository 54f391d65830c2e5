"""Function tags, empty categories and antecedents in plain Python, decided as the compiled engine does."""

from spacy_incparse.functions.annotator import ANTECEDENTS, EMPTIES, FUNCTIONS, KINDS, PATIENCE, _described
from spacy_incparse.functions.classifier import SCALE
from spacy_incparse.functions.templates import ALWAYS, TEMPLATES
from spacy_incparse.linear.templates import hash_text
from spacy_incparse.linear.words import GROUP_LENGTH, word_class_of
from tests.reference.features import MASK
from tests.reference.reranking_features import BINS, TreeReader, key, text_value


def low(value):
    """A field's value: text, tuple, or a number as it is."""
    if value is None or value == ():
        return 0
    if isinstance(value, int):
        return value
    return (text_value(value) if isinstance(value, str) else key(value)) >> 32


def score(annotator, kind, fields):
    """The score of each class that has one."""
    one, name, scores = annotator.weights[kind], KINDS[kind], {}
    starts = dict(zip(one.keys.tolist(), (one.lengths.cumsum() - one.lengths).tolist(), strict=True))
    lengths = dict(zip(one.keys.tolist(), one.lengths.tolist(), strict=True))
    for template in TEMPLATES[name]:
        text = f"{name} {template}"
        h = hash_text(text)
        for field in (ALWAYS[name], *template.split()):
            h += (hash_text(f"{text} {field}") | 1) * low(fields[field])
        found = max((h & MASK) >> 32, 1)
        for cell in range(starts.get(found, 0), starts.get(found, 0) + lengths.get(found, 0)):
            tag = int(one.tags[cell])
            scores[tag] = scores.get(tag, 0) + int(one.values[cell])
    return scores


class Twin:
    """Annotates one tree. Nodes are known by their numbers in pre-order."""

    def __init__(self, annotator, tree):
        self.annotator, self.inventory = annotator, annotator.inventory
        self.reader = TreeReader(tree, annotator.heads, ())
        self.raw, self.nodes = tree.words, self.reader.nodes
        self.functions = dict.fromkeys(self.nodes)
        self.number = {node: number for number, node in enumerate(self.nodes)}

    def verb(self, node):
        while not node.is_pos:
            node = next((child for child in node.children if child.label == node.label and not child.is_pos), node.head)
        return node.start

    def word(self, position):
        return self.reader.word_at(position)

    def cluster(self, position, length=None):
        path = self.annotator.clusters.path(self.raw[position]) if self.annotator.clusters else ""
        return path[:length] or None

    def group(self, node):
        return None if node is None else self.cluster(self.verb(node), GROUP_LENGTH)

    def all_functions(self, node):
        return () if node is None else tuple(self.functions[c] for c in node.children if self.functions[c])

    def phrase_fields(self, node):
        above = node.above
        top = above and above.above
        of = {"L": node, "P": above, "G": top}
        fields = {name: one and one.label for name, one in of.items()}
        fields |= {"F": self.functions[node], "FP": above and self.functions[above]}
        for name, one in zip("HPG", of.values(), strict=True):
            fields |= {f"{name}W": one and one.word, f"{name}T": one and one.tag}
        for name, one in zip("VUY", of.values(), strict=True):
            position = -1 if one is None else self.verb(one)
            fields |= {f"{name}W": self.word(position), f"{name}T": self.reader.tag_at(position)}
        return fields | {"FW": self.word(node.start), "FT": self.reader.tag_at(node.start), "RULE": node.rule}

    def function_fields(self, node):
        above, place = node.above, node.above.children.index(node)
        around = [None, None, *above.children, None, None]
        left2, left, _, right, right2 = around[place : place + 5]
        others = [child for child in node.children if child is not node.head and not child.is_mark]
        inner, verb = others[-1] if others else None, self.verb(above)
        position, given = inner and self.verb(inner), [self.functions[c] for c in above.children[:place]]
        given = [text for text in given if text]
        words = node.end - node.start
        return self.phrase_fields(node) | {
            "HC": word_class_of(self.raw[node.head_position]), "HK": self.cluster(node.head_position),
            "HB": self.cluster(node.head_position, GROUP_LENGTH), "UK": self.cluster(verb),
            "UB": self.cluster(verb, GROUP_LENGTH), "OC": inner and word_class_of(self.raw[position]),
            "OK": inner and self.cluster(position), "OB": inner and self.group(inner),
            "OW": inner and self.word(position), "OT": inner and inner.tag,
            "L1": left and left.label, "L2": left2 and left2.label, "R1": right and right.label,
            "R2": right2 and right2.label, "LH": left and left.word, "RH": right and right.word,
            "D": beside(place - above.head_number), "RP": above.rule,
            "EW": self.word(node.end - 1), "ET": self.reader.tag_at(node.end - 1),
            "BW": self.word(node.start - 1), "BT": self.reader.tag_at(node.start - 1),
            "AW": self.word(node.end), "AT": self.reader.tag_at(node.end),
            "LEN": max(least for least in BINS if least <= words) + 1,
            "FL": given[-1] if given else None, "FA": tuple(given),
            "C1": node.children[0].label, "CN": node.children[-1].label,
        }  # fmt: skip

    def best(self, kind, scores, row):
        return max(row, key=lambda number: (scores.get(number, 0), -row.index(number)))

    def tag(self):
        """Find the functions; return their classes."""
        rows, found = dict(self.inventory.function_rows), [0] * len(self.nodes)
        for above in self.nodes:
            for node in above.children:
                if not node.is_pos and (node.label,) in rows:
                    scores = score(self.annotator, FUNCTIONS, self.function_fields(node))
                    number = self.best(FUNCTIONS, scores, rows[node.label,])
                    found[self.number[node]] = number
                    self.functions[node] = self.inventory.functions[number] or None
        return found

    # Empty categories. A filler is a dict; `paths` has the labels from a filler's clause down to a node.

    def insert(self):
        """Find the empty categories: (node, place, class, filler) in order, and the fillers that are empty."""
        rows = dict(self.inventory.slot_rows)
        slots, fillers, open_fillers, paths = [], [], {self.nodes[0]: None}, {}
        inserted = dict.fromkeys(self.nodes, ())
        for node in self.nodes:
            if node.is_pos:
                continue
            filler = open_fillers.get(node)
            around = [None, None, *node.children, None, None]
            for place in range(len(node.children) + 1):
                before2, before, after, after2 = around[place : place + 4]
                row, number = rows.get((node.label, before.label if before else "", after.label if after else "")), 0
                if row:
                    fields = self.slot_fields(node, place, (before2, before, after, after2), inserted)
                    is_inherited = filler is not None and filler is open_fillers.get(node)
                    fields |= {
                        "WH": filler and filler["label"], "WW": filler and filler["word"],
                        "WF": 1 + filler["filled"] if filler else 0,
                        "WP": paths[node] if is_inherited else None, "WD": len(paths[node]) if is_inherited else 0,
                    }  # fmt: skip
                    scores = score(self.annotator, EMPTIES, fields)
                    number = self.best(EMPTIES, scores, row)
                    if filler and not number and not filler["filled"]:
                        for gap in row:
                            margin = scores.get(gap, 0) - scores.get(0, 0)
                            if (filler["label"], gap) in self.inventory.gaps and margin > filler["best"][0]:
                                filler["best"] = margin, (node, place, gap, filler)
                if number:
                    inserted[node] += (number,)
                    is_gap = filler and not filler["filled"] and (filler["label"], number) in self.inventory.gaps
                    slots.append((node, place, number, filler if is_gap else None))
                    if is_gap:
                        filler["filled"] = True
                    for text in self.inventory.empties[number]:
                        if _described(text)[0] in self.inventory.fillers:
                            filler = new_filler(_described(text)[0], None, slots[-1])
                            fillers.append(filler)
                            break
                if after is not None and after.label in self.inventory.fillers and not after.is_pos:
                    filler = new_filler(after.label, after.word, after)
                    fillers.append(filler)
                elif after is not None:
                    open_fillers[after] = filler
                    paths[after] = (*(paths[node] if filler is open_fillers.get(node) and filler else ()), after.label)
        for filler in fillers:
            if not filler["filled"] and filler["best"][0] >= -int(PATIENCE * SCALE):
                slots.append(filler["best"][1])
        return sorted(slots, key=lambda slot: (self.number[slot[0]], slot[1]))

    def slot_fields(self, node, place, around, inserted):
        before2, before, after, after2 = around
        above = node.above
        next_word = after.start if after else node.end
        topics = [child for child in above.children if self.functions[child] == "TPC"] if above else []
        return self.phrase_fields(node) | {
            "A": before and before.label, "A2": before2 and before2.label, "B": after and after.label,
            "B2": after2 and after2.label, "FA": before and self.functions[before],
            "FB": after and self.functions[after], "AW": before and self.word(self.verb(before)),
            "BW": after and self.word(self.verb(after)), "FS": self.all_functions(node),
            "FPS": self.all_functions(above), "LW": self.word(next_word - 1),
            "LT": self.reader.tag_at(next_word - 1), "NW": self.word(next_word), "NT": self.reader.tag_at(next_word),
            "D": beside(place - node.head_number), "I": inserted[node], "IP": above and inserted[above],
            "QUOTED": int(bool(topics)), "VK": self.group(node), "UK": self.group(above),
            "YK": self.group(above and above.above),
        }  # fmt: skip

    # Antecedents: a number of a node, or -2 - k for an empty category.

    def link(self, slots):
        """Find the antecedent of each element of the slots."""
        elements = [(slot, text) for slot in slots for text in self.inventory.empties[slot[2]]]
        return [self.antecedent(number, elements) for number in range(len(elements))]

    def antecedent(self, number, elements):
        (node, _, _, filler), text = elements[number]
        if text not in {one for one, _ in self.inventory.pairs}:
            return -1
        if filler and _described(text)[2]:
            if filler["at"] in self.number:
                return self.number[filler["at"]]
            return next(
                -2 - k
                for k, (slot, other) in enumerate(elements)
                if slot is filler["at"] and _described(other)[0] == filler["label"]
            )
        found = [(-1, {"C": None, "UP": 1, "SIDE": 0, "CLAUSES": 1, "A": node.label, "above": node, "DOWN": ()})]
        found += self.candidates(number, elements)
        seen, best = [], None
        for name, fields in found:
            above = node.above and node.above.above
            fields |= {
                "E": text,
                "NTH": min(1 + seen.count(fields["C"]), 5),
                "AV": self.word(self.verb(fields["above"])),
            }
            fields |= {"FG": above and self.functions[above], "YK": self.group(above)}
            fields |= dict.fromkeys(("CF", "CW", "CT", "MARK", "CK"))
            if name >= 0:
                one = self.nodes[name]
                fields |= {"CF": self.functions[one], "CW": one.word, "CT": one.tag}
                fields["CK"] = self.cluster(one.head_position, GROUP_LENGTH)
            elif name < -1:
                other = elements[-2 - name][1]
                fields |= {"CF": _described(other)[1] or None, "MARK": other}
            seen += [fields["C"]] if name != -1 else []
            total = score(self.annotator, ANTECEDENTS, self.phrase_fields(node) | fields).get(0, 0)
            if best is None or total > best[0]:
                best = total, name
        return best[1]

    def candidates(self, number, elements):
        """Yield (name, fields) of c-commanding phrases and empty categories with a possible category."""
        (node, place, *_), text = elements[number]
        below, down, up, clauses = None, (), 0, 0
        while node is not None:
            own = place if below is None else node.children.index(below)
            left, right = [], []
            for k, child in enumerate(node.children):
                is_left = k < own
                fields = {"A": node.label, "above": node, "UP": 1 + min(up, 6), "CLAUSES": 1 + min(clauses, 4)}
                fields |= {"DOWN": down, "SIDE": 2 if is_left else 3, "C": child.label}
                if child is not below and not child.is_pos:
                    (left if is_left else right).append((self.number[child], fields))
                    if not is_left and text in self.inventory.cataphors:
                        right += self.inside(child, fields)
            found = left[::-1] + right
            for k, ((other, other_place, *_), other_text) in enumerate(elements):
                category = _described(other_text)[0]
                if k != number and other is node and category:
                    fields = {"A": node.label, "above": node, "UP": 1 + min(up, 6), "CLAUSES": 1 + min(clauses, 4)}
                    fields |= {"DOWN": down, "SIDE": 2 if other_place <= own else 3, "C": category}
                    found.append((-2 - k, fields))
            yield from ((name, fields) for name, fields in found if (text, fields["C"]) in self.inventory.pairs)
            down = (*down, node.label)
            below, node = node, node.above
            up += 1
            clauses += node is not None and self.verb(node) != self.verb(below)

    def inside(self, node, fields):
        while not node.is_pos:
            inner = node.head
            for child in node.children:
                if child.label == node.label:
                    inner = child
                elif self.number[child] > self.number[inner] and not child.is_pos:
                    place = {"A": node.label, "above": node, "SIDE": 4, "C": child.label, "DOWN": (node.label,)}
                    yield self.number[child], fields | place
            node = inner


def new_filler(label, word, at):
    return {"label": label, "word": word, "at": at, "filled": False, "best": (-(1 << 30), None)}


def beside(distance):
    return 4 + max(-3, min(3, distance))
