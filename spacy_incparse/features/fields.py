"""The fields that templates can use: parts of a node's left context, and the words around the position.

Notation of Collins & Roark (2004), section 3.2: L_ij is the label i levels above the node that is about to be built
and j nodes to the left, so L10 is its parent and L01 its left sibling.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Field:
    """One value of a context; `look_ahead` counts the words it needs beyond the one about to be absorbed.

    `look_ahead` is -1 if the word about to be absorbed is not used, None if all words must be known.
    `needs_span`: the value depends on where constituents begin, so only closing templates may use it.
    """

    name: str
    meaning: str
    look_ahead: int | None = -1
    needs_span: bool = False


# The compiled extraction numbers the fields in this order (derivations/left_context.pxd); a test compares the two.
STRUCTURE_FIELDS = (
    Field("L10", "label of the parent: the constituent in which the node is built, or that is closed"),
    Field("L20", "label of the parent's parent"),
    Field("L30", "label three levels up"),
    Field("L40", "label four levels up"),
    Field("L01", "label of the left sibling: the last child built so far"),
    Field("L02", "label of the child before that"),
    Field("L03", "label of the third-to-last child"),
    Field("L11", "left sibling of the parent"),
    Field("L12", "the sibling before that"),
    Field("L21", "left sibling of the parent's parent"),
    Field("FIRST", "label of the parent's first child"),
    Field("N", "number of children so far, at most 4"),
    Field("CL", "lexical head of the parent so far"),
    Field("CLP", "its tag"),
    Field("CC", "c-commanding lexical head: the nearest head to the left, the parent's own if it has one"),
    Field("CCP", "its tag"),
    Field("S1", "lexical head of the left sibling"),
    Field("S1P", "its tag"),
    Field("G", "lexical head, so far, of the parent's parent: the governor"),
    Field("GP", "its tag"),
    Field("CONJ", "after a conjunction: label and first tag of the conjunct before it"),
    Field("AFTERP", "if the left sibling directly follows punctuation: whether the next word is punctuation", 0),
    Field("CLK", "cluster of the parent's lexical head so far"),
    Field("CLB", "its group: a short prefix of the cluster's path"),
    Field("CCK", "cluster of the c-commanding lexical head"),
    Field("CCB", "its group"),
    Field("S1K", "cluster of the left sibling's lexical head"),
    Field("S1B", "its group"),
    Field("GK", "cluster of the governor"),
    Field("GB", "its group"),
    Field("FW", "first word of the parent", -1, True),
    Field("FT", "its tag", -1, True),
    Field("BW", "word before the parent", -1, True),
    Field("BT", "its tag", -1, True),
    Field("LEN", "length of the parent in words, in buckets", -1, True),
    Field("RULE", "labels of all children of the parent", -1, True),
    Field("SHAPE", "tags of the words in the parent, up to 6 and the length beyond", -1, True),
    Field("PAIR", "if the parent follows a conjunction: whether both labels are equal, and both lengths", -1, True),
    Field("PAIRF", "the same with the conjuncts' first tags", -1, True),
    Field("PAIRL", "the same with the conjuncts' last tags", -1, True),
)  # fmt: skip

# These are 0 where the parent has no child yet, as all constituents of a chain that is being opened.
CHILD_FIELDS = (
    "L01", "L02", "L03", "FIRST", "N", "CL", "CLP", "S1", "S1P", "CONJ", "AFTERP", "CLK", "CLB", "S1K", "S1B",
)  # fmt: skip

POSITION_FIELDS = (
    Field("W-2", "the word before the last absorbed one"),
    Field("W-1", "the last absorbed word"),
    Field("LK", "look-ahead word: the word about to be absorbed", 0),
    Field("W1", "the word after it", 1),
    Field("W2", "the word after that", 2),
    Field("T-3", "tag three words back"),
    Field("T-2", "tag of the word before the last absorbed one"),
    Field("T-1", "tag of the last absorbed word"),
    Field("LKP", "tag of the look-ahead word", 0),
    Field("T1", "tag of the word after it", 1),
    Field("T2", "tag of the second word after it", 2),
    Field("T3", "tag of the third word after it", 3),
    Field("C0", "shape and suffix of the look-ahead word if it is rare", 0),
    Field("C-1", "shape and suffix of the last absorbed word if it is rare"),
    Field("C1", "shape and suffix of the word after the look-ahead if it is rare", 1),
    Field("QUESTION", "whether the sentence ends in a question mark", None),
    Field("PUNCT1", "if the look-ahead is punctuation or a conjunction: the tag of the word after it", 1),
    Field("T0", "the tagger's choice for the look-ahead word; LKP may be another of its tags", 0),
    Field("TR", "LKP relative to the tagger's choice: 0 the only tag, else first or other, and the distance", 0),
    Field("K0", "cluster of the look-ahead word", 0),
    Field("K-1", "cluster of the last absorbed word"),
    Field("K1", "cluster of the word after the look-ahead", 1),
    Field("B0", "group of the look-ahead word's cluster: a short prefix of its path", 0),
    Field("B-1", "group of the last absorbed word's cluster"),
    Field("B1", "group of the cluster of the word after the look-ahead", 1),
)

FIELDS = {field.name: field for field in (*STRUCTURE_FIELDS, *POSITION_FIELDS)}
