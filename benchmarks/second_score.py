"""A second score of the candidates for `reranking.py`: their log probability by a generative model.

The model of a fold is trained on the same trees as its parser, so it has not seen the fold's sentences either.
"""

from __future__ import annotations

import sys
import time
from itertools import chain

from base_lists import BaseLists, parser_recipe

from spacy_incparse.rerank.list_files import read_lists
from spacy_incparse.training.parser_folds import FoldTask

UNKNOWN = -1000.0  # of a tree that the model's grammar does not have


def generative_scores(lists: BaseLists, n: int, lang: str) -> dict[str, list[float]]:
    """Return the natural log probability of the first n candidates of all lists of both parts."""
    train = chain.from_iterable(_scores(fold, n, lang) for fold in lists.folds)
    return {"train": list(train), "dev": _scores(lists.dev, n, lang)}


def _scores(task: FoldTask, n: int, lang: str) -> list[float]:
    parser, started = parser_recipe("generative", lang=lang).train(task.train).parser, time.process_time()
    trees = [parse.tree for found in read_lists(task.path) for parse in found.parses[:n]]
    scores = [parser.score(tree.words, tree.tags, tree).score for tree in trees]
    seconds = time.process_time() - started
    print(f"generative scores: {len(trees):,} trees, {seconds:.1f} s", file=sys.stderr, flush=True)
    return [UNKNOWN if score is None else score for score in scores]
