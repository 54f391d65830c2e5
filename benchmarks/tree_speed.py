"""Measure the time for attaching trees to a Doc, and for reading them the first time.

Gold trees of a treebank's dev part are put on Docs of about 500 tokens. Attaching writes each sentence's tree, whose
character offsets are known, to the Doc, as the component does after parsing. The first read accesses label, start and
end of every phrase on a copy of the Doc without cached trees: once node by node with `phrases()`, once with `spans()`,
and node by node again on the same copy. Each figure is the CPU time of the fastest run on a Doc, and the median over
the Docs.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import median

import common
import spacy
from results import Table, publish, spread
from spacy.tokens import Doc

from spacy_incparse.documents.extensions import register_extensions
from spacy_incparse.documents.sentences import split_sentences
from spacy_incparse.documents.storage import clear_trees, write_tree
from spacy_incparse.trees.codec import encode, named_heads
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

TABLE = Table(
    "Trees on a Doc",
    (
        "attach ms", "attach range", "first read ms", "first read range", "first spans() ms", "second read ms", "Docs",
        "tokens", "sentences", "phrases", "runs",
    ),
)  # fmt: skip
STEPS = ("attach", "first read", "first spans()", "second read")


def main(argv: Sequence[str] | None = None) -> None:
    """Measure on one treebank."""
    arguments = _arguments(argv)
    register_extensions()
    groups = list(_groups(common.read_part(arguments, arguments.bank, "dev"), arguments.tokens))
    times = [_measure(trees, arguments.runs) for trees in groups]
    columns = {step: [1000 * row[step] for row in times] for step in STEPS}
    cells = [
        f"{median(columns['attach']):.3f}",
        spread(columns["attach"], "{:.3f}"),
        f"{median(columns['first read']):.3f}",
        spread(columns["first read"], "{:.3f}"),
        f"{median(columns['first spans()']):.3f}",
        f"{median(columns['second read']):.3f}",
        str(len(groups)),
        f"{median(sum(len(tree.words) for tree in trees) for trees in groups):.0f}",
        f"{median(map(len, groups)):.0f}",
        f"{median(sum(len(tree.spans()) for tree in trees) for trees in groups):.0f}",
        str(arguments.runs),
    ]
    publish(TABLE, {f"trees-{arguments.bank}": cells}, common.results_file(arguments), argv=argv)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = common.argument_parser(__doc__, bank="gum", runs=20)
    parser.add_argument("--tokens", type=int, default=500, help="tokens of a Doc, whole sentences; default: 500")
    return parser.parse_args(argv)


def _groups(trees: Sequence[Tree], n_tokens: int) -> Iterator[list[Tree]]:
    """Yield groups of consecutive sentences with at least this many tokens; an incomplete last group is dropped."""
    group: list[Tree] = []
    for tree in trees:
        group.append(tree)
        if sum(len(tree.words) for tree in group) >= n_tokens:
            yield group
            group = []


def _measure(trees: Sequence[Tree], runs: int) -> dict[str, float]:
    """Return the seconds of each step on one Doc, each the minimum over all runs."""
    doc = _doc(trees)
    sentences, heads = split_sentences(doc), named_heads(HeadRules.from_name("en"))

    def attach() -> None:
        clear_trees(doc)
        for sentence, tree in zip(sentences, trees, strict=True):
            value = encode(
                tree, sentence.char_starts, sentence.char_ends, origin=sentence.start_char, score=-41.25,
                source="beam", more=[heads],
            )  # fmt: skip
            write_tree(doc, sentence.start_char, sentence.end_char, value)

    rows = []
    for _ in range(runs):
        attached = _seconds(attach)
        nodes, spans = doc.copy(), doc.copy()
        reads = partial(_read, nodes), partial(_read_spans, spans), partial(_read, nodes)
        rows.append([attached, *map(_seconds, reads)])
    return dict(zip(STEPS, map(min, zip(*rows, strict=True)), strict=True))


def _doc(trees: Sequence[Tree]) -> Doc:
    words = [word for tree in trees for word in tree.words]
    starts: list[bool | int | None] = [i == 0 for tree in trees for i in range(len(tree.words))]
    return Doc(VOCAB, words=words, sent_starts=starts)


def _read(doc: Doc) -> list[tuple[str, int, int]]:
    return [(node.label, node.start, node.end) for tree in doc._.trees for node in tree.phrases()]


def _read_spans(doc: Doc) -> list[tuple[str, int, int]]:
    return [span for tree in doc._.trees for span in tree.spans()]


def _seconds(run: Callable[[], object]) -> float:
    gc.disable()
    started = time.process_time()
    run()
    seconds = time.process_time() - started
    gc.enable()
    return seconds


VOCAB = spacy.blank("en").vocab


if __name__ == "__main__":
    main()
