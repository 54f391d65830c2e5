from typing import Any

from spacy_incparse.incremental.scorer import Scorer

class ScoreMemo:
    lock: Any
    def __init__(self) -> None: ...

class GenerativeScores:
    memo: ScoreMemo
    def __init__(self, probabilities: Any, unit: float, memo: ScoreMemo, number: int = ...) -> None: ...

class HybridScorer(Scorer):
    def __init__(self, moves: Any, templates: Any, weights: Any, models: Any) -> None: ...
