"""The features of span classifiers: which words and tags are seen together, as data.

An atom is a place and what is seen there: "t" the tag, "w" the word. Places are counted from the two ends of a span:
"lo1" is the word outside to the left of it, "li1" its first and "li2" its second word, "ri1" its last word, "ro1" the
word outside to the right. "length" is the number of words, in steps that grow, and "shape" are the tags of all words,
or of the first and last ones.
"""

from __future__ import annotations

PADDING = 3  # words before and behind a sentence that features may see
SIDES = ("lo", "li", "ri", "ro")
ATOMS = (
    *(f"{side}{k}.{what}" for side in SIDES for k in range(1, PADDING + 1) for what in "tw"),
    "length",
    "shape",
)

_ONE_END = (
    "o1.t i1.t", "o1.t i1.t i2.t", "o2.t o1.t i1.t", "o2.t o1.t i1.t i2.t", "i1.t i2.t i3.t", "o3.t o2.t o1.t",
    "i1.w", "o1.w", "i1.w o1.t", "o1.w i1.t", "o1.w i1.w",
)  # fmt: skip
BEGIN = tuple(" ".join(f"l{atom}" for atom in template.split()) for template in _ONE_END)
END = tuple(" ".join(f"r{atom}" for atom in template.split()) for template in _ONE_END)
GATE = (
    "", "length", "li1.t ri1.t", "lo1.t ro1.t", "li1.t ro1.t", "lo1.t ri1.t", "lo1.t li1.t ri1.t ro1.t",
    "length li1.t", "length ri1.t", "length lo1.t", "length ro1.t", "shape",
)  # fmt: skip
SPAN = (
    *GATE, "lo1.t li1.t ri1.t", "lo1.t li1.t ro1.t", "lo1.t ri1.t ro1.t", "li1.t ri1.t ro1.t",
    "li1.t li2.t ri1.t ro1.t", "lo1.t li1.t ro1.t ro2.t", "length li1.t ri1.t", "length lo1.t ro1.t",
    "shape lo1.t ro1.t", "lo1.w ro1.t", "lo1.t ro1.w", "lo1.w ri1.t", "lo1.t ri1.w", "li1.w ro1.t", "li1.t ro1.w",
    "li1.w ri1.t", "li1.t ri1.w", "lo1.w ro1.w", "li1.w ro1.w",
)  # fmt: skip
WORD = (
    "", "li1.t", "li1.w", "li1.w li1.t", "lo1.t li1.t", "li1.t ro1.t", "lo1.t li1.t ro1.t", "lo2.t lo1.t li1.t",
    "li1.t ro1.t ro2.t", "lo2.t lo1.t li1.t ro1.t", "lo1.t li1.t ro1.t ro2.t", "lo1.w li1.t", "li1.t ro1.w",
    "lo1.w li1.w", "li1.w ro1.w", "lo1.w li1.t ro1.t", "lo1.t li1.t ro1.w",
)  # fmt: skip
GROUPS = (BEGIN, END, GATE, SPAN, WORD)
