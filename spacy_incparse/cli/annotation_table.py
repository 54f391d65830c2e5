"""The table of `stats --against`: where two treebanks annotate differently."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, fields
from enum import Enum

from spacy_incparse.treebanks.annotation_differences import Difference
from spacy_incparse.trees.edits import JOINT


class DecisionKind(str, Enum):
    """What can be compared."""

    production = "production"
    chain = "chain"
    tag = "tag"
    word = "word"


class TableFormat(str, Enum):
    """The output formats of the table."""

    text = "text"
    tsv = "tsv"


_DECISIONS: dict[str, Callable[[Difference], str]] = {
    "production": lambda row: f"{row.context} -> {row.outcome}",
    "chain": lambda row: f"{row.outcome}{JOINT}{row.context}",
    "tag": lambda row: f"{row.context} in {row.outcome}",
    "word": lambda row: f"{row.context} as {row.outcome}",
}


def table_lines(rows: Sequence[Difference], format_: TableFormat) -> Iterator[str]:
    """Yield the lines of the table."""
    if format_ is TableFormat.tsv:
        yield "\t".join(field.name for field in fields(Difference))
        for row in rows:
            yield "\t".join(f"{value:.4f}" if isinstance(value, float) else str(value) for value in astuple(row))
        return
    decisions = [_DECISIONS[row.kind](row) for row in rows]
    width = max(map(len, ["decision", *decisions]))
    yield f"{'kind':<10}  {'decision':<{width}}  {'first':>15}  {'second':>15}  log odds  at least"
    for row, decision in zip(rows, decisions, strict=True):
        first, second = f"{row.count:,}/{row.total:,}", f"{row.other_count:,}/{row.other_total:,}"
        figures = f"{first:>15}  {second:>15}  {row.log_odds:>+8.2f}  {row.at_least:>8.2f}"
        yield f"{row.kind:<10}  {decision:<{width}}  {figures}"
