"""Measure the speed of a whole pipeline: tagger and parser with `nlp.pipe`, against spaCy's own tagger and parser.

Both get the tokenized sentences of a treebank's dev part, one Doc each. In each run, both are timed at the batch sizes
64, 256 and 1024, and the best counts; the runs alternate, and the ratio is the median over the runs. Speeds are words
per CPU second on one thread. Our pipeline is reloaded each time, so that its tagger starts with an empty cache. F is
that of the same pipeline on the same sentences. spacy_baseline.py has spaCy's pipeline.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import common
from results import Table, percent, publish, spread
from saved_pipeline import open_pipeline, score_docs, sentence_docs, short_name, word_docs
from spacy.language import Language
from spacy_baseline import baseline
from timing import pipe_speed

from spacy_incparse.trees.tree import Tree

TABLE = Table(
    "Speed of the pipeline",
    ("ratio", "ratio range", "words/s", "spaCy words/s", "F", "tags", "flat", "runs", "components"),
)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure one pipeline on one treebank."""
    arguments = common.argument_parser(__doc__, bank="gum", model="en", runs=5).parse_args(argv)
    dev = common.read_part(arguments, arguments.bank, "dev")
    nlp = open_pipeline(arguments.model)
    scores = score_docs(dev, list(nlp.pipe(sentence_docs(nlp, dev))))
    speeds = _measure(arguments.model, dev, arguments.runs)
    ratios = [ours / theirs for ours, theirs in speeds]
    cells = [
        f"{median(ratios):.2f}",
        spread(ratios),
        *(f"{median(speed):,.0f}" for speed in zip(*speeds, strict=True)),
        percent(scores["const_f"]),
        percent(scores["tag_acc"]),
        str(scores["flat"]),
        str(arguments.runs),
        ", ".join(nlp.pipe_names),
    ]
    name = f"pipeline-{arguments.bank}-{short_name(arguments.model)}"
    publish(TABLE, {name: cells}, common.results_file(arguments), argv=argv)


def _measure(model: str, dev: Sequence[Tree], runs: int) -> list[tuple[float, float]]:
    """Return the speeds of ours and of spaCy's by run; every other run starts with spaCy's."""
    spacy_nlp = baseline()
    n_words = sum(len(tree.words) for tree in dev)

    def ours() -> float:
        return pipe_speed(lambda: _warmed_up(open_pipeline(model)), lambda nlp: sentence_docs(nlp, dev), n_words)

    def theirs() -> float:
        return pipe_speed(lambda: spacy_nlp, lambda nlp: word_docs(nlp, dev), n_words)

    theirs()  # fills spaCy's vocabulary
    speeds = []
    for number in range(runs):
        if number % 2:
            other, own = theirs(), ours()
        else:
            own, other = ours(), theirs()
        speeds.append((own, other))
    return speeds


def _warmed_up(nlp: Language) -> Language:
    """Trigger lazy loading."""
    nlp("The owl had watched them for an hour.")
    return nlp


if __name__ == "__main__":
    main()
