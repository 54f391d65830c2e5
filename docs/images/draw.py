"""Draw the pictures of the documents, from parses of the embedded pipeline.

python docs/images/draw.py
"""

from __future__ import annotations

from pathlib import Path

import spacy_incparse

FOLDER = Path(__file__).parent
PAPER = {"color": "#1b1f24", "bg": "#ffffff"}  # readable on light and dark pages

SENTENCE = "The cat that we fed yesterday slept on the sofa."
AMBIGUOUS = "They watched the ship with binoculars."
GOLD = (
    "(TOP (S (NP (PRP They)) (VP (VBD watched) (NP (NP (DT the) (NN ship)) (PP (IN with) (NP (NNS binoculars))))) "
    "(. .)))"
)
LONG = (
    "When the old ferry that used to carry farmers and their animals across the wide brown river finally sank in the "
    "storm of last November, the people of the two villages, who had never agreed on anything before, met in the "
    "empty school and decided, after a long and noisy night, that they would build a bridge with their own hands."
)


def draw() -> dict[str, str]:
    """Return the pictures by file name."""
    nlp = spacy_incparse.load("en")
    doc, ambiguous, long = map(nlp, (SENTENCE, AMBIGUOUS, LONG))
    return {
        "tree.svg": _picture(doc),
        "spans.svg": _picture(doc, style="spans"),
        "triangles.svg": _picture(doc, collapse=["NP"], tags=False),
        "nbest.svg": _picture(ambiguous, nbest=2),
        "difference.svg": _picture(ambiguous, gold=GOLD),
        "long.svg": _picture(long, collapse_length=4),
    }


def _picture(doc, style: str = "tree", **options) -> str:
    return spacy_incparse.render(doc, style=style, options=PAPER | options, jupyter=False) + "\n"


if __name__ == "__main__":
    for name, content in draw().items():
        (FOLDER / name).write_text(content, encoding="utf8")
