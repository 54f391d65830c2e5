"""Measure how much trees increase the size of `Doc.to_bytes`.

Docs are made from sentences of a treebank's dev part, with about 500 tokens and with one sentence each. Each Doc is
serialized with tags and sentence boundaries, and again with the trees as the component stores them. Ratios are means
over the bytes of all Docs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import common
import spacy
from results import Table, publish, spread
from spacy.tokens import Doc

from spacy_incparse.documents.conversion import trees_to_docs
from spacy_incparse.documents.stored_heads import heads_field
from spacy_incparse.documents.tree_storage import anchored_trees, clear_trees, write_tree
from spacy_incparse.trees.codec import encode
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

SCORE = 1234.56  # a score for stored trees; treebank trees have none

TABLE = Table(
    "Bytes of a Doc",
    (
        "ratio", "ratio range", "bytes a token with trees", "bytes a token without", "ratio, one sentence each", "Docs",
        "tokens a Doc", "sentences",
    ),
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> None:
    """Measure treebanks."""
    parser = common.argument_parser(__doc__, banks=["gum"])
    parser.add_argument("--tokens", type=int, default=500, help="tokens of a Doc, whole sentences; default: 500")
    arguments = parser.parse_args(argv)
    rows = {}
    for bank in arguments.banks:
        trees = common.read_part(arguments, bank, "dev")
        sizes = [_sizes(group) for group in groups(trees, arguments.tokens)]
        single = [_sizes([tree]) for tree in trees]
        n_tokens = sum(n for _, _, n in sizes)
        rows[f"bytes-{bank}"] = [
            f"{_ratio(sizes):.3f}",
            spread([with_trees / without for with_trees, without, _ in sizes], "{:.3f}"),
            f"{sum(with_trees for with_trees, _, _ in sizes) / n_tokens:.1f}",
            f"{sum(without for _, without, _ in sizes) / n_tokens:.1f}",
            f"{_ratio(single):.3f}",
            str(len(sizes)),
            f"{n_tokens / len(sizes):.0f}",
            str(len(trees)),
        ]
    publish(TABLE, rows, common.results_file(arguments), argv=argv)


def groups(trees: Sequence[Tree], n_tokens: int) -> Iterator[list[Tree]]:
    """Yield groups of consecutive sentences with at least this many tokens; the last group may be smaller."""
    group: list[Tree] = []
    for tree in trees:
        group.append(tree)
        if sum(len(tree.words) for tree in group) >= n_tokens:
            yield group
            group = []
    if group:
        yield group


VOCAB = spacy.blank("en").vocab


def _sizes(trees: Sequence[Tree]) -> tuple[int, int, int]:
    """Return the size of a Doc with trees, its size without trees, and its number of tokens."""
    doc = next(trees_to_docs(trees, VOCAB, natural_spacing=True, n_sents=len(trees)))
    _as_parsed(doc)
    with_trees = len(doc.to_bytes())
    clear_trees(doc)
    return with_trees, len(doc.to_bytes()), len(doc)


def _as_parsed(doc: Doc) -> None:
    """Store the gold trees with everything that the component stores."""
    heads = heads_field(HeadRules.from_name("en"))
    for found in anchored_trees(doc):
        value = encode(
            found.tree, found.char_starts, found.char_ends, score=SCORE, source="beam", more=[heads(found.tree.arrays)]
        )
        write_tree(doc, found.start_char, found.end_char, value)


def _ratio(sizes: Sequence[tuple[int, int, int]]) -> float:
    return sum(with_trees for with_trees, _, _ in sizes) / sum(without for _, without, _ in sizes)


if __name__ == "__main__":
    main()
