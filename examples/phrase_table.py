"""List the noun phrases and clauses of a text as a table, ready for a spreadsheet or pandas.

usage: python examples/phrase_table.py TEXT_FILE > phrases.tsv

Each phrase has a row, in the order of their first words: the number of the sentence, the label, the start and end
character, the head word, the number of noun phrases and clauses around it, and the text.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

from spacy.tokens import Doc

import spacy_incparse

LABELS = {"NP", "S", "SBAR", "SBARQ", "SINV", "SQ"}
COLUMNS = ("sentence", "label", "start", "end", "head", "depth", "text")


def rows(doc: Doc) -> Iterator[tuple[int, str, int, int, str, int, str]]:
    """Yield the rows of a parsed Doc."""
    for number, tree in enumerate(doc._.trees, start=1):
        for phrase in tree.subtrees(where=lambda node: node.category in LABELS):
            depth, outer = 0, phrase.parent
            while outer is not None:
                depth, outer = depth + (outer.category in LABELS), outer.parent
            text = phrase.text.replace("\n", " ")
            yield number, phrase.category, phrase.start_char, phrase.end_char, phrase.head.text, depth, text


if __name__ == "__main__":
    table = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(rows(spacy_incparse.load("en")(Path(sys.argv[1]).read_text(encoding="utf8"))))
