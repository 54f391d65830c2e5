"""The features of functions, empty categories and antecedents as data: conjunctions of fields."""

from __future__ import annotations

from spacy_incparse.linear.templates import KindTable, hash_text

# Fields that all three decisions read. The phrase is the one that gets a function, or that has the empty category. Its
# verb is its lexical head, found through the first child of the same category, or else the head child. engine.pyx has
# all fields in the same order.
PHRASE_FIELDS = (
    "L",  # category of the phrase
    "P", "G",  # of the one above, and of the one above that
    "F", "FP",  # functions of the phrase, and of the one above
    "HW", "HT",  # its head: word and tag
    "PW", "PT", "GW",  # heads of the one above, and of the one above that
    "VW", "VT", "UW", "UT", "YW",  # verbs of the phrase, of the one above and of the one above that
    "FW", "FT",  # first word and its tag
    "RULE",  # categories of the phrase and its children
)  # fmt: skip
FIELDS = {
    "functions": (
        *PHRASE_FIELDS,
        "HC", "OC",  # shapes and suffixes of the head and of the object
        "HK", "HB", "OK", "OB", "UK", "UB",  # word clusters of head, object and UW, and groups of clusters
        "L1", "L2", "R1", "R2",  # categories of siblings, to the left and right
        "LH", "RH",  # heads of the next siblings
        "D",  # place beside the head: so many children before or behind it, at most 3
        "OW", "OT",  # the object, or the last child that is not the head: its verb, and the tag of this
        "EW", "ET", "BW", "BT", "AW", "AT",  # the last word, those before and after the phrase
        "RP",  # RULE of the one above
        "LEN",
        "FL", "FA",  # functions of the last sibling to the left that has any, and of all of them
        "C1", "CN",  # categories of the first and last children
    ),
    "empties": (
        *PHRASE_FIELDS,
        "A", "A2", "B", "B2",  # categories of the children before and after the place
        "FA", "FB",  # functions of these
        "AW", "BW",  # their verbs
        "FS", "FPS",  # functions of all children, and of all children of the one above
        "LW", "LT", "NW", "NT",  # the words before and after the place
        "D",  # place beside the head
        "WH", "WW", "WF", "WP",  # open wh-phrase: category, head, whether its gap is filled, categories down to here
        "WD",  # and how many
        "I", "IP",  # empties inserted before in this phrase, and in the one above
        "QUOTED",  # whether the one above has a topic
        "VK", "UK", "YK",  # groups of clusters of the verbs
    ),
    "antecedents": (
        *PHRASE_FIELDS,
        "E",  # the empty category
        "C", "CF", "CW", "CT",  # the candidate: category, functions, head; for an empty one, itself and nothing
        "UP",  # how many phrases above the place its parent is
        "SIDE",  # on which side of the place, 0 for no candidate
        "NTH",  # how many candidates of its category are nearer
        "A", "AV",  # category and verb of its parent
        "DOWN",  # categories of the phrases between
        "CLAUSES",  # how often the verb changes on the way up
        "MARK",  # whether it is itself empty
        "FG",  # functions of the phrase above the one above
        "CK", "YK",  # groups of clusters of the candidate's head and of YW
    ),
}  # fmt: skip
TEMPLATES = {
    "functions": (
        "", "P", "P G", "P D", "P L1 R1", "P L1 L2", "P R1 R2", "RULE", "RP D", "HW", "HT P", "HW P", "PW", "PW HW",
        "PT HT P", "PW D P", "HW OW", "OW P", "OT P", "HW OT", "PW OW", "PW HW OT", "VW P", "VT P", "VT PW", "FW P",
        "FT ET", "EW", "LEN P", "FP P", "FP HW", "FP HT D", "FL P", "FA P D", "FL PW", "GW PT HW", "GW PT P D", "UW D",
        "UW HW", "UW UT P HW", "UT GW P D", "BW P", "AW P", "BT AT P", "HC P", "OC HW", "OC P", "C1 CN P", "LH HW",
        "RH D", "FA HT P", "G FP D", "UW D FA", "VW FW", "C1 VT P", "HK P", "HB P D", "HB PW", "OK P", "OK HW",
        "OB HW", "OB HW UB", "UK D", "UK HW", "UB HW OB", "UB HB D", "UB HT D P", "HK UB",
    ),
    "empties": (
        "", "A B", "A2 A B B2", "P A B", "F A B", "F FP A B", "G P A B", "RULE D", "RULE D P", "HW A B", "HT A B",
        "HT D GW", "HT GW P A", "VW D", "VW A B", "VT PW D", "UW A B", "UW P F", "UW FW A B", "YW P A B", "FA FB A B",
        "FS D", "FS FPS D", "FS HT A", "FPS VW D", "FPS HT D", "LW B", "NW A", "LW NW", "LT NT A B", "LW NT D",
        "NW LT D", "AW B", "BW A", "WH WF D", "WH WF A B", "WH WF WP D", "WH WF WP A B", "WH WW WF D", "WH WF VW D",
        "WH WF FS D", "WH WD WF D", "WW WH WP WF D", "I D", "I A B", "IP A B", "IP HT D", "IP VW D", "IP GW D",
        "QUOTED VW D", "QUOTED HT A B", "FW FT A B", "VW VT GW D", "UW UT P D", "WH WF HT D NT", "P UW VT A",
        "VK D GW", "VK A B HT", "UK A B F", "YK P A B F",
    ),
    "antecedents": (
        "C", "C CF", "C UP SIDE", "C CF UP SIDE", "C CF NTH", "C NTH SIDE", "CT SIDE", "CW SIDE", "C A SIDE",
        "C CF A DOWN", "C DOWN", "DOWN", "C CF CLAUSES", "C CLAUSES NTH", "CF YW", "CF AV CLAUSES", "YW C UP",
        "AV C CF", "AV CW", "L P C CF", "L P G C CF", "FP C CF UP", "FP G C CF", "VW C CF", "VT C CF UP", "UW C CF UP",
        "UW FG C CF", "FT C CF CLAUSES", "FW FT P C CF CLAUSES", "FG C CF UP", "FG YW C CF", "MARK C A", "MARK C DOWN",
        "C CF NTH CLAUSES SIDE", "YW CF CLAUSES CT", "P FP FT C CLAUSES NTH", "CK YK", "CK C CF UP", "YK C CF UP",
        "YK CF CLAUSES NTH",
    ),
}  # fmt: skip
ALWAYS = {"functions": "L", "empties": "L", "antecedents": "E"}  # a field that is in each conjunction


def table(kind: str) -> KindTable:
    """Return the templates of a kind of decision for `linear.extraction.Templates`."""
    numbers = {name: number for number, name in enumerate(FIELDS[kind])}
    biases, position = [], []
    for text in TEMPLATES[kind]:
        key = f"{kind} {text}"
        biases.append(hash_text(key))
        names = (ALWAYS[kind], *text.split())
        position.append(tuple((numbers[name], hash_text(f"{key} {name}") | 1) for name in names))
    n = len(biases)
    return KindTable(tuple(biases), ((),) * n, tuple(position), (False,) * n)
