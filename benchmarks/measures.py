"""Measure the accuracy and speed of word measures: surprisal of the default beam against wider and complete search.

One row compares the default beam with one ten times as wide, on random sentences of a treebank's dev part. The other
row compares search without a filter with the slow reference implementation of the tests, which enumerates all analyses,
on grammars of two small trees each.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from math import log

import common
from results import Table, publish
from saved_pipeline import open_pipeline, short_name

from spacy_incparse.generative.kind import GenerativeConfig
from spacy_incparse.generative.measures import WordMeasures, measuring_parser
from spacy_incparse.generative.parser import GenerativeParser
from spacy_incparse.pipeline.loading import find_parser
from spacy_incparse.trees.heads import HeadRules
from spacy_incparse.trees.tree import Tree

sys.path.append(str(common.CHECKOUT))  # for the slow twin

TABLE = Table(
    "Measures word by word",
    (
        "surprisal, bits a word", "mean difference", "largest difference", "words", "sentences", "words/s",
        "compared with", "words/s of that", "search",
    ),
)  # fmt: skip
WIDER = 10
MAX_WORDS = 4  # per sentence, for the slow twin
MAX_HYPOTHESES = 3000  # the slow twin stops at this number


def main(argv: Sequence[str] | None = None) -> None:
    """Compare the default beam with a wider one, and search without a filter with the slow twin."""
    arguments = _arguments(argv)
    parser = measuring_parser(find_parser(open_pipeline(arguments.model), arguments.model).decoder.parser, "model")
    dev = common.read_part(arguments, arguments.bank, "dev")
    rng = random.Random(arguments.seed)
    rows = {
        f"measures-{arguments.bank}-{short_name(arguments.model)}": _against_wider(
            parser, rng.sample(dev, min(arguments.sentences, len(dev)))
        ),
        "measures-twin": _against_twin(rng, arguments.grammars),
    }
    publish(TABLE, rows, common.results_file(arguments), seed=str(arguments.seed), argv=argv)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = common.argument_parser(__doc__, bank="gum", model="en_generative")
    parser.add_argument("--sentences", type=int, default=120, help="drawn from the dev part; default: 120")
    parser.add_argument("--grammars", type=int, default=20, help="for the slow twin; default: 20")
    parser.add_argument("--seed", type=int, default=0, help="seed for random choices")
    return parser.parse_args(argv)


def _against_wider(parser: GenerativeParser, trees: Sequence[Tree]) -> list[str]:
    """Return the cells for the default beam and one ten times as wide."""
    beam_size = parser.config.measures_beam_size
    narrow, speed = _surprisals(parser, trees, beam_size)
    wide, wide_speed = _surprisals(parser, trees, WIDER * beam_size)
    search = f"measures_beam_size={beam_size}"
    return _cells(narrow, wide, len(trees), speed, f"{WIDER} times the beam", wide_speed, search)


def _surprisals(parser: GenerativeParser, trees: Sequence[Tree], beam_size: int) -> tuple[list[float], float]:
    """Return the surprisal of every word, and the words per CPU second."""
    started = time.process_time()
    found = [word for tree in trees for word in parser.measures(tree.words, beam_size=beam_size)]
    return _bits(found), len(found) / max(time.process_time() - started, 1e-9)


def _bits(words: Sequence[WordMeasures]) -> list[float]:
    return [float("nan") if word.surprisal is None else word.surprisal for word in words]


def _against_twin(rng: random.Random, n_grammars: int) -> list[str]:
    """Return the cells for search without a filter and the slow twin, on grammars of pairs of sample trees."""
    sample = common.read_part(argparse.Namespace(limit=None), common.SAMPLE, "train")
    fast: list[float] = []
    slow: list[float] = []
    fast_time = slow_time = 0.0
    for _ in range(n_grammars):
        trees = rng.sample(sample, 2)
        config = GenerativeConfig()
        parser = GenerativeParser.train(trees, config, HeadRules.from_name("en"))
        words = trees[0].words[:MAX_WORDS]
        started = time.process_time()
        exact = list(_twin_surprisals(parser, trees, words))
        slow_time += time.process_time() - started
        started = time.process_time()
        fast += _bits(parser.measures(words[: len(exact)], beam_size=0))
        fast_time += time.process_time() - started
        slow += exact
    speeds = [len(fast) / max(seconds, 1e-9) for seconds in (fast_time, slow_time)]
    return _cells(fast, slow, n_grammars, speeds[0], "the slow twin", speeds[1], "no filter")


def _twin_surprisals(parser: GenerativeParser, trees: Sequence[Tree], words: Sequence[str]) -> Iterator[float]:
    """Yield the surprisal of each word, until there are too many analyses."""
    from tests.reference.generative import SlowGenerative

    twin = SlowGenerative(trees, parser.model, parser.config)
    kept, seen = twin.first(), []
    for text, (number, tags) in zip(words, parser.model.nodes_of(words, None), strict=True):
        seen.append(number)
        kept, (word, *_) = twin.push(kept, seen, tags)
        if not parser.model.vocabulary.is_known(number):
            word += parser.spelling.log_probability(text, number, len(seen) == 1)
        yield -word / log(2)
        if len(kept) > MAX_HYPOTHESES:
            return


def _cells(
    found: Sequence[float], compared: Sequence[float], n_sentences: int, speed: float, with_what: str,
    compared_speed: float, search: str,
) -> list[str]:  # fmt: skip
    differences = [abs(a - b) for a, b in zip(found, compared, strict=True)]
    return [
        f"{sum(found) / len(found):.4f}",
        f"{sum(differences) / len(differences):.4g}",
        f"{max(differences):.2g}",
        f"{len(found):,}",
        f"{n_sentences:,}",
        f"{speed:,.0f}",
        with_what,
        f"{compared_speed:,.0f}",
        search,
    ]


if __name__ == "__main__":
    main()
