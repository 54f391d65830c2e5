"""What the labels of Penn-style trees mean: phrases, parts of speech, function tags."""

from __future__ import annotations

from typing import NamedTuple

from spacy_incparse.trees.labels import bare_label, function_tags


class Term(NamedTuple):
    """What a label means, and an example, in context if needed."""

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
"""The labels of phrases, by what the Penn Treebank, its successors and articles in CRAFT use them for."""

ROOTS = ("ROOT", "S1", "VROOT")  # what other treebanks call TOP

TAGS: tuple[str, ...] = (
    "CC", "CD", "DT", "EX", "FW", "IN", "JJ", "JJR", "JJS", "LS", "MD", "NN", "NNS", "NNP", "NNPS", "PDT", "POS", "PRP",
    "PRP$", "RB", "RBR", "RBS", "RP", "SYM", "TO", "UH", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "WDT", "WP", "WP$",
    "WRB", ".", ",", ":", "``", "''", "-LRB-", "-RRB-", "$", "#", "HYPH", "AFX", "ADD", "GW", "NFP", "XX",
)  # fmt: skip
"""The parts of speech of Penn-style treebanks that spaCy's glossary has."""

OTHER_TAGS = {
    "-NONE-": "trace or other empty element; never in a parsed tree",
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
"""The function tags that follow labels. Treebanks have them; parsed trees do not."""


def explain(label: str) -> str | None:
    """Return what a label of a tree means, or None where it is not known.

    `label` is a phrase ("SBAR"), a part of speech ("VBZ"), a function tag ("SBJ"), or a whole label of a treebank
    ("NP-SBJ-1"), of which the parts are explained one by one. What is both a label and a function tag counts as a
    label; with a hyphen before it ("-PRP") as a function tag. Other terms are looked up in `spacy.explain`'s glossary.
    """
    meaning = _label(label) or _meaning(FUNCTIONS, label.removeprefix("-"))
    if meaning is not None:
        return meaning
    categories = [_label(part) for part in bare_label(label).split("|")]
    if None in categories:
        return _glossary().get(label)
    functions = [_meaning(FUNCTIONS, tag) or tag for tag in function_tags(label).split("-") if tag]
    return "; ".join([" or ".join(filter(None, categories)), *functions])


def _label(label: str) -> str | None:
    """Return the meaning of a phrase or a part of speech of Penn-style trees."""
    if label in TAGS:
        return _glossary().get(label)
    return OTHER_TAGS.get(label) or _meaning(PHRASES, "TOP" if label in ROOTS else label)


def _meaning(terms: dict[str, Term], name: str) -> str | None:
    return terms[name].meaning if name in terms else None


def _glossary() -> dict[str, str]:
    from spacy.glossary import GLOSSARY  # read here: `spacy.explain` warns of what it does not know

    return GLOSSARY
