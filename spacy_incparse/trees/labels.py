"""The parts of a treebank's label: NP-SBJ-1 has the category NP, the function SBJ and the index 1."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from spacy_incparse.trees.arrays import TreeArrays

TRACE_TAG = "-NONE-"
ROOT = "TOP"
WRAPPERS = frozenset(["", "ROOT", "TOP", "VROOT", "S1"])  # root labels that treebanks put around a tree
TOP_NODE = "_ROOT_"  # the name of the top node in Tregex
ROOT_NAMES = WRAPPERS | {TOP_NODE}  # each of them finds the root, whatever its label
UNKNOWN_TAG = "X"  # the tag of words without tags

# In treebanks of the Penn-Helsinki family, IP-MAT and N-A are categories. Functions of the Chinese Treebank, as in
# IP-ADV and IP-IMP, are not among them.
_CLAUSE = r"IP-(?:MAT|SUB|INF|SMC|PPL|EMB|REL|NML|ABS)|CP-(?:THT|REL|CMP|QUE|DEG|EOP|CLF|FRL|EXL|CAR|FINAL|TMC)"
_INFLECTED = (
    r"(?:[A-Z]+\+)*(?:N(?:PR)?S?|PRO|D|ADJ[RS]?|Q[RS]?|NUM|ONES?|OTHERS?|SUCH|MAN|FP|WPRO|WD|WADJ|WQ|VAN|VAG)-[NADG]"
)
# A label that starts with a hyphen, such as -LRB-, does not match.
_BARE_LABEL = re.compile(rf"(?:{_CLAUSE}|{_INFLECTED})(?![^-=])|[^-=]+")
_SEPARATOR = re.compile(r"[-=]")


@lru_cache(maxsize=10_000)  # labels are few, nodes are many
def bare_label(label: str) -> str:
    """Return a label without function tags and indices; one that starts with a hyphen, such as -LRB-, stays whole."""
    match = _BARE_LABEL.match(label)
    return match.group() if match else label


@lru_cache(maxsize=10_000)
def function_tags(label: str) -> str:
    """Return the function tags of a label, joined by "-": LOC-PRD for NP-LOC-PRD-1, "" if there are none."""
    behind = label[len(bare_label(label)) :]
    return "-".join(part for part in _SEPARATOR.split(behind) if part and not part.isdigit())


class Term(NamedTuple):
    """The meaning of a label, and an example, in context if needed."""

    meaning: str
    example: str


PHRASES: dict[str, Term] = {
    "TOP": Term("root of a tree", "a whole sentence"),
    "S": Term("clause: declarative, imperative or without a finite verb", "**The bell rang.**"),
    "SBAR": Term("clause after a subordinating conjunction or a wh-word", "It broke **because it was old**."),
    "SBARQ": Term("question that begins with a wh-phrase", "**Who rang the bell?**"),
    "SINV": Term("inverted declarative clause, with the subject after the verb", "**Down came the rain.**"),
    "SQ": Term("yes/no question, or a wh-question without its wh-phrase", "**Did the bell ring?**"),
    "NP": Term("noun phrase", "**the old bridge**"),
    "VP": Term("verb phrase", "She **wrote a letter**."),
    "PP": Term("prepositional phrase", "**on the roof**"),
    "ADJP": Term("adjective phrase", "The soup is **too hot to eat**."),
    "ADVP": Term("adverb phrase", "**very slowly**"),
    "CONJP": Term("conjunction of several words", "cats **as well as** dogs"),
    "FRAG": Term("fragment: a clause with parts missing", "**Not today.**"),
    "INTJ": Term("interjection", "**Oh dear**, it is late."),
    "LST": Term("marker of a list item, with its punctuation", "**1.** Boil the water."),
    "NAC": Term("part of a noun phrase that is not a noun phrase itself", "the **Port of London** Authority"),
    "NML": Term("part of a noun phrase before its head", "**coffee shop** owners"),
    "NX": Term("one of several heads that share a noun phrase", "the **cups** and **plates** we bought"),
    "PRN": Term("parenthesis", "The bridge **(built in 1901)** fell."),
    "PRT": Term("particle of a verb", "He gave **up**."),
    "QP": Term("quantity of several words inside a noun phrase", "**more than forty** boats"),
    "RRC": Term("reduced relative clause", "a man **now in prison**"),
    "UCP": Term("coordination of different kinds of phrases", "She is **tired and in a hurry**."),
    "WHADJP": Term("wh-adjective phrase", "**how long** it takes"),
    "WHADVP": Term("wh-adverb phrase", "**when** it rains"),
    "WHNP": Term("wh-noun phrase", "**which letter** she read"),
    "WHPP": Term("wh-prepositional phrase", "the box **in which** it lay"),
    "X": Term("uncertain, unknown, or hard to bracket", "**The more**, the better."),
    "EDITED": Term("words that a speaker corrects (transcripts of speech)", "**I want** I need it."),
    "CAPTION": Term("caption of a figure or table (scientific articles)", "**Figure 1: the river**"),
    "CIT": Term("citation (scientific articles)", "It was shown before **[12]**."),
    "HEADING": Term("heading of a section (scientific articles)", "**Results**"),
    "TITLE": Term("title (scientific articles)", "**A study of rivers**"),
}
"""The labels of phrases in the Penn Treebank, its successors and CRAFT."""

ROOTS = ("ROOT", "S1", "VROOT")  # names for TOP in other treebanks

TAGS: tuple[str, ...] = (
    "CC", "CD", "DT", "EX", "FW", "IN", "JJ", "JJR", "JJS", "LS", "MD", "NN", "NNS", "NNP", "NNPS", "PDT", "POS", "PRP",
    "PRP$", "RB", "RBR", "RBS", "RP", "SYM", "TO", "UH", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "WDT", "WP", "WP$",
    "WRB", ".", ",", ":", "``", "''", "-LRB-", "-RRB-", "$", "#", "HYPH", "AFX", "ADD", "GW", "NFP", "XX",
)  # fmt: skip
"""The parts of speech of Penn-style treebanks that spaCy's glossary has."""

OTHER_TAGS = {
    "-NONE-": "trace or other empty element; never in parsed trees",
    "-LSB-": "left square bracket",
    "-RSB-": "right square bracket",
    "-LCB-": "left curly bracket",
    "-RCB-": "right curly bracket",
    '"': "quotation mark",
}
"""The parts of speech that spaCy's glossary lacks."""

FUNCTIONS: dict[str, Term] = {
    "SBJ": Term("subject", "**The bell** rang."),
    "LGS": Term("logical subject, the agent of a passive", "rung by **a boy**"),
    "PRD": Term("predicate that is not a verb phrase", "The soup is **hot**."),
    "DTV": Term("dative with a preposition", "She gave it **to Anna**."),
    "PUT": Term("place that the verb 'put' requires", "She put it **on the shelf**."),
    "TPC": Term("topic, moved to the front", "**That book** I know."),
    "VOC": Term("vocative", "Come in, **Anna**!"),
    "BNF": Term("benefactive", "He baked a cake **for us**."),
    "DIR": Term("direction", "They flew **to Oslo**."),
    "EXT": Term("extent", "Prices rose **two percent**."),
    "LOC": Term("place", "They live **in Oslo**."),
    "MNR": Term("manner", "She sings **well**."),
    "PRP": Term("purpose or reason", "He stayed **because it rained**."),
    "TMP": Term("time", "It rained **on Monday**."),
    "ADV": Term("adverbial that is not an adverb or prepositional phrase", "They met **the other way round**."),
    "NOM": Term("nominal use of a relative or infinitive clause", "**What you see** is old."),
    "CLR": Term("closely related to the verb", "He relies **on her**."),
    "CLF": Term("cleft sentence", "**It was Anna who rang.**"),
    "HLN": Term("headline", "**Ferry sinks**"),
    "TTL": Term("title of a work", "She read **The Old Bridge**."),
    "IMP": Term("imperative", "**Ring the bell!**"),
    "ETC": Term("end of an open-ended list", "bread, milk, **etc.**"),
    "FRM": Term("formula (scientific articles)", "**x = 2**"),
}
"""The function tags that follow labels in treebanks; parsed trees have none."""

_TAGS = frozenset([*TAGS, *OTHER_TAGS])


def is_penn_tag(label: str) -> bool:
    """Return whether a label is a Penn Treebank part of speech, with or without functions: NN, NN-HLN, JJ|VBG."""
    return all(part in _TAGS for part in bare_label(label).split("|"))


_PHRASES = frozenset([*PHRASES, *ROOTS, ""])
_PARTS = re.compile(r"[^-=|+/<>@]+")  # of labels that transforms make, such as S+VP or NP|<JJ-NN>
_IN_CAPITALS = re.compile(r"[A-Z][A-Z0-9]+(?:[-=|+][A-Z0-9]+)*")
_ALSO_WORDS = frozenset("add caption edited heading in root title to top uh".split())
_warned: set[str] = set()  # once for each label in a process


def warn_of_unknown_labels(
    arrays: TreeArrays, labels: str | Collection[str], *, phrases_only: bool, stacklevel: int
) -> None:
    """Warn about labels that no tree of this kind has, once each; see `label_problem`."""
    for label in [labels] if isinstance(labels, str) else labels:
        if label not in _warned and (function_tags(label) or not _is_plausible(label, phrases_only)):
            nodes = (node for node, size in enumerate(arrays.sizes) if size > 1 or not phrases_only)
            present = {arrays.full_label(node) for node in nodes}
            problem = label_problem(label, present, phrases_only)
            if problem is not None:
                _warned.add(label)
                warnings.warn(problem, UserWarning, stacklevel=stacklevel + 1)


def label_problem(
    label: str, present: Collection[str], phrases_only: bool = False, *, are_all: bool = False
) -> str | None:
    """Return why trees with the labels `present` have no such label, with similar ones; None if they may have it.

    Labels of Penn-style trees may just be absent here, unless the trees are all that there are, and so may any label
    where others are no Penn-style ones, unless it differs from one only by case.
    """
    bare = {bare_label(known) for known in present}
    if label in ROOT_NAMES or label in present or label in bare:
        return None
    if phrases_only and is_penn_tag(label):
        what = f"phrases({label!r}) finds nothing: {label!r} is a part of speech, and POS nodes are not phrases"
        return f"{what}; subtrees({label!r}) finds them"
    is_plausible = _is_plausible(label, phrases_only)
    if is_plausible and function_tags(label) and not any(map(function_tags, present)):
        return f"these trees have no function tags, and so no label {label!r}: look for {bare_label(label)!r}"
    is_penn_style = all(_is_plausible(known, phrases_only) for known in bare)
    known = sorted((_PHRASES if is_penn_style else frozenset()).union(bare) - {""})
    near = [other for other in known if other.casefold() == label.casefold()]
    if not are_all and (is_plausible or not (is_penn_style or near)):
        return None
    if label in known:  # one of the Penn Treebank, which may well be absent
        return f"no tree here has the label {label!r}"
    near = near or get_close_matches(label.upper(), known) or get_close_matches(bare_label(label).upper(), known)
    advice = f"did you mean {' or '.join(map(repr, near))}?" if near else "docs/labels.md lists the labels"
    return f"no tree {'here' if are_all else 'of this kind'} has the label {label!r}: {advice}"


def looks_like_label(text: str) -> bool:
    """Return whether a literal of a pattern looks like a label and not like a word."""
    is_like_one = _is_plausible(text.upper(), False) and text.lower() not in _ALSO_WORDS
    return len(text) > 1 and (is_like_one or _IN_CAPITALS.fullmatch(text) is not None)


def is_common(label: str) -> bool:
    """Return whether a label may occur in any Penn-style tree without functions, so that nothing is wrong with it."""
    return _is_plausible(label, False) and not function_tags(label)


def _is_plausible(label: str, phrases_only: bool) -> bool:
    """Return whether a label can occur in a Penn-style tree, as published or transformed."""
    if label in _PHRASES or (not phrases_only and is_penn_tag(label)):
        return True
    parts = _PARTS.findall(label)
    return len(parts) > 1 and all(part in _PHRASES or part in FUNCTIONS or part.isdigit() for part in parts)
