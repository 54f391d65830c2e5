"""What reranking costs: both algorithms of Collins (2000), tables 1 and 2, greedy log loss, and the reranker."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import islice

from base_lists import BaseLists
from parts import Figures
from rerank_data import StudyData

from spacy_incparse.papers.collins_2000.learners import BoostLearner, GreedyLogLearner
from spacy_incparse.rerank.data import SECOND_SCORES, RerankerWeights, RerankingData
from spacy_incparse.rerank.lists import CandidateList
from spacy_incparse.rerank.reranker import Reranker, RerankerConfig

N_LISTS = 300  # whose time is measured


def algorithm_costs(data: RerankingData, rounds: int, greedy_rounds: int) -> dict[str, Figures]:
    """Return rounds, additions and CPU seconds of boosting by both algorithms, and of greedy log loss.

    Preparation is not counted. Greedy log loss is so slow that it gets fewer rounds.
    """
    found = {}
    for name in ("efficient", "naive"):
        _, boosting = BoostLearner(rounds=rounds, algorithm=name).start(data)
        found[name] = _cost(boosting, rounds)
        found[name]["same"] = found[name]["rounds"] == rounds
        del boosting
    _, greedy = GreedyLogLearner(rounds=greedy_rounds).start(data)
    return found | {"log-greedy": _cost(greedy, greedy_rounds)}


def sizes(data: RerankingData) -> Figures:
    """Return the numbers that section 2.4 reports: sentences, trees, features m, and the mean of B."""
    _, boosting = BoostLearner(rounds=1, algorithm="naive").start(data)
    boosting.run(1)
    n_pairs = data.n_candidates - data.n_lists
    return {
        "sentences": data.n_lists,
        "trees": data.n_candidates,
        "features": data.n_features,
        "b": boosting.n_additions / max(n_pairs, 1),
    }


def reranking_speed(
    data: StudyData, weights: RerankerWeights, lists: BaseLists, n: int, scores: Sequence[str] = ()
) -> Figures:
    """Return sentences per CPU second for features, scores and choice of lists in memory, and the bytes of the model.

    scores: names of those beside the parser's.
    """
    config = RerankerConfig(families=("all",), closed_tags=data.extractor.closed_tags, n=n)
    others = {name: SECOND_SCORES[name].train(lists.dev.train, lists.heads) for name in scores}
    reranker = Reranker(config, lists.heads, data.columns, weights, others=others).without_zeros()
    given = list(islice(lists.dev_lists(), N_LISTS))
    reranker.rerank(given[0].parses, given[0].temperature)  # makes the extractor
    seconds = _timed(lambda: _rerank(reranker, given))
    return {"sentences_per_second": len(given) / seconds, "bytes": len(reranker.to_bytes())}


def _rerank(reranker: Reranker, lists: Sequence[CandidateList]) -> None:
    for found in lists:
        reranker.rerank(found.parses, found.temperature)


def _cost(learning, rounds: int) -> Figures:
    seconds = _timed(lambda: learning.run(rounds))
    return {"rounds": learning.n_rounds, "additions": learning.n_additions, "seconds": seconds}


def _timed(function: Callable[[], object]) -> float:
    started = time.process_time()
    function()
    return time.process_time() - started
