"""Measure the speed of a neural parser without its encoder: scores of spans, chart and trees, given vectors of words.

The words of a dev part first go through the components before the parser and the layer of word vectors. Only what comes
after that is timed, in batches of as many sentences as the pipeline's `batch_size`: words per CPU second of one
thread, the median of some runs after one that does not count.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from statistics import median
from typing import NoReturn

import common
from results import Table, publish, spread
from saved_pipeline import open_pipeline, sentence_docs
from spacy.language import Language
from spacy.util import minibatch
from timing import words_per_second

from spacy_incparse.documents.sentences import Sentence
from spacy_incparse.pipeline.annotate import annotate
from spacy_incparse.pipeline.chart_pipe import IncParserChart
from spacy_incparse.trees.tree import Tree

TABLE = Table(
    "Speed of neural parsers without the encoder",
    ("words/s", "words/s range", "words", "words a sentence", "labels", "hidden width", "width of vectors", "runs"),
)
COMPONENT = "incparse_chart"


def main(argv: Sequence[str] | None = None) -> None:
    """Measure one pipeline."""
    arguments = _arguments(argv)
    nlp = open_pipeline(arguments.model)
    component = nlp.get_pipe(COMPONENT)
    assert isinstance(component, IncParserChart)
    batches = _with_vectors(nlp, component, common.read_part(arguments, arguments.bank, "dev"))
    lengths = [len(sentence.words) for batch in batches for sentence in batch]

    def parse() -> None:
        for batch in batches:
            annotate(batch, component.decoder, _fail)

    parse()
    speeds = [words_per_second(parse, sum(lengths)) for _ in range(arguments.runs)]
    head = component.model.get_ref("head")
    cells = [
        f"{median(speeds):.0f}",
        spread(speeds, "{:.0f}"),
        str(sum(lengths)),
        f"{sum(lengths) / len(lengths):.1f}",
        *map(str, (len(component.label_data["labels"]), head.get_dim("nH"), head.get_dim("nI"), arguments.runs)),
    ]
    publish(TABLE, {f"spans-{arguments.bank}-{arguments.name}": cells}, common.results_file(arguments), argv=argv)


def _with_vectors(nlp: Language, component: IncParserChart, trees: Sequence[Tree]) -> list[list[Sentence]]:
    """Return the sentences of trees in batches, with the vectors of their words."""
    batches = []
    for docs in minibatch(sentence_docs(nlp, trees), nlp.batch_size):
        for _, before in nlp.pipeline[: nlp.pipe_names.index(COMPONENT)]:
            docs = list(before.pipe(docs))
        batches.append([sentence for group in component.sentences_by_doc(docs) for sentence in group])
    return batches


def _fail(sentence: Sentence, error: Exception) -> NoReturn:
    raise error


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = common.argument_parser(__doc__, bank="wsj", runs=5)
    parser.add_argument("--model", required=True, metavar="FOLDER", help="a trained neural pipeline")
    parser.add_argument("--name", required=True, help="its name for the row")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
