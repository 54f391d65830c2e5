"""Parse a folder of texts with several processes, search the trees, and print a table of the hits.

usage: python examples/corpus_search.py FOLDER [PATTERN ...] > hits.tsv

The script reads all .txt files in the folder and its subfolders. By default, it searches for relative clauses and for
clauses with a conjunction. Each hit has a row: the file, the pattern's name (for your own patterns, its number), the
start and end character, the text, and the nodes that have names in the pattern. docs/search.md describes the patterns.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import spacy_incparse
from spacy_incparse import ConstituentMatcher

N_PROCESS = 2
PATTERNS = {
    "relative": "NP=noun $.. (SBAR=clause < /^WH|^NP$|^IN$/) > NP",
    "conjunction": "SBAR < IN=conjunction < (S < NP=subject) !> NP",
}
COLUMNS = ("file", "pattern", "start", "end", "text", "groups")


def search(
    folder: Path, patterns: Mapping[str, str], *, n_process: int = N_PROCESS
) -> Iterator[tuple[str, str, int, int, str, str]]:
    """Yield the rows of the table, file by file in alphabetical order."""
    nlp = spacy_incparse.load("en")
    matcher = ConstituentMatcher(nlp.vocab)
    for name, pattern in patterns.items():
        matcher.add(name, pattern)  # done first, to report a mistake in a pattern before parsing
    paths = sorted(folder.rglob("*.txt"))
    texts = ((path.read_text(encoding="utf8"), path.relative_to(folder).as_posix()) for path in paths)
    for doc, name in nlp.pipe(texts, as_tuples=True, n_process=n_process):
        for match in matcher(doc):
            groups = "; ".join(f"{key}: {one_line(span.text)}" for key, span in match.groups.items())
            span = match.span
            yield name, span.label_, span.start_char, span.end_char, one_line(span.text), groups


def one_line(text: str) -> str:
    """Return the text with spaces in place of newlines and tabs."""
    return " ".join(text.split())


# With "spawn" and "forkserver", worker processes import this file: the code that starts them must be guarded.
if __name__ == "__main__":
    given = {str(number): pattern for number, pattern in enumerate(sys.argv[2:], start=1)}
    table = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(search(Path(sys.argv[1]), given or PATTERNS))
