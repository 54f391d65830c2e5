"""Measure n-best lists: the F of their best trees, their speed alone, and with a reranker that chooses from them.

Lists are those of the component `incparse`, for tags that are there already. For a pipeline with a reranker, `nlp.pipe`
is timed without the component `incparse`, whose own trees it does not need, so tags, lists, features and choice are
included. F is that of the pipeline's trees. Speeds are per CPU second on one thread, the medians over the runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median

import common
from results import Table, percent, publish
from saved_pipeline import open_pipeline, score_docs, sentence_docs, short_name
from spacy.language import Language

from spacy_incparse.documents.live_parsers import deciding_parser
from spacy_incparse.evaluation.nbest import Oracle
from spacy_incparse.parsing.parse import Parse
from spacy_incparse.trees.tree import Tree

TABLE = Table(
    "Speed of n-best lists",
    ("50 trees: words/s", "20 trees: words/s", "20 trees: sentences/s", "reranked: sentences/s", "F", "runs"),
)


ORACLE = Table("Best trees of n-best lists", ("10 trees: F", "20 trees: F", "50 trees: F", "50 trees: mean length"))
SIZES = (10, 20, 50)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure one pipeline on one treebank."""
    arguments = common.argument_parser(__doc__, bank="wsj", model="en", runs=3).parse_args(argv)
    dev = common.read_part(arguments, arguments.bank, "dev")
    nlp = open_pipeline(arguments.model)
    n_words = sum(len(tree.words) for tree in dev)
    runs = range(arguments.runs)
    seconds_50, seconds_20 = (median(_list_seconds(nlp, dev, n) for _ in runs) for n in (50, 20))
    cells = [f"{n_words / seconds_50:,.0f}", f"{n_words / seconds_20:,.0f}", f"{len(dev) / seconds_20:.0f}"]
    if deciding_parser(nlp).is_reranker:
        cells += [f"{len(dev) / median(_pipe_seconds(nlp, dev) for _ in runs):.0f}"]
    else:
        cells += ["-"]
    scores = score_docs(dev, list(nlp.pipe(sentence_docs(nlp, dev))))
    cells += [percent(scores["const_f"]), str(arguments.runs)]
    name = f"{arguments.bank}-{short_name(arguments.model)}"
    publish(TABLE, {f"lists-{name}": cells}, common.results_file(arguments), argv=argv)
    publish(ORACLE, {f"oracle-{name}": _oracle_cells(nlp, dev)}, common.results_file(arguments), argv=argv)


def _oracle_cells(nlp: Language, dev: Sequence[Tree]) -> list[str]:
    oracle = Oracle(SIZES)
    for tree, parses in zip(dev, _lists(nlp, dev, max(SIZES))(), strict=True):
        oracle.add(tree, [parse.tree for parse in parses])
    scores = oracle.report().scores
    return [*(percent(score.f) for score in scores), f"{scores[-1].mean_length:.1f}"]


def _list_seconds(nlp: Language, dev: Sequence[Tree], n: int) -> float:
    """Return the CPU time of the lists of all sentences."""
    return _timed(_lists(nlp, dev, n))


def _lists(nlp: Language, dev: Sequence[Tree], n: int) -> Callable[[], list[list[Parse]]]:
    """Return a function that makes the lists of all sentences, which are tagged already."""
    decoder = nlp.get_pipe("incparse").decoder
    request = decoder.parser.tag_request
    words = [tree.words for tree in dev]
    tags = [[None] * len(row) for row in words]
    if request is not None:
        tags = decoder.tagger.candidate_tags(words, *request)
    search = decoder.nbest_search
    return lambda: [search.analyses(row, given, n=n) for row, given in zip(words, tags, strict=True)]


def _pipe_seconds(nlp: Language, dev: Sequence[Tree]) -> float:
    docs = sentence_docs(nlp, dev)
    with nlp.select_pipes(disable=["incparse"]):
        return _timed(lambda: list(nlp.pipe(docs)))


def _timed(function: Callable[[], object]) -> float:
    started = time.process_time()
    function()
    return max(time.process_time() - started, 1e-9)


if __name__ == "__main__":
    main()
