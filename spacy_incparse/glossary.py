"""The meaning of tree labels: `explain` and its tables."""

from __future__ import annotations

from spacy_incparse.errors import check_type
from spacy_incparse.trees.labels import FUNCTIONS, OTHER_TAGS, PHRASES, ROOTS, TAGS, Term, bare_label, function_tags

__all__ = ["FUNCTIONS", "OTHER_TAGS", "PHRASES", "ROOTS", "TAGS", "Term", "explain"]


def explain(label: str) -> str | None:
    """Return the meaning of a tree's label, or None if it is unknown.

    `label` is a phrase ("SBAR"), a part of speech ("VBZ"), a function tag ("SBJ"), or a whole label of a treebank
    ("NP-SBJ-1"), whose parts are explained one by one. A name that is both a label and a function tag is taken as a
    label, or with a hyphen before it ("-PRP") as a function tag. spaCy's glossary explains other terms.
    """
    check_type("label", label, str, "a string, such as 'NP'")
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
    from spacy.glossary import GLOSSARY  # used directly: `spacy.explain` warns about unknown terms

    return GLOSSARY
