from typing import Any

def pair_differences(feature_starts: Any, features: Any, better: Any, worse: Any) -> Any: ...

class GreedyRounds:
    weights: Any
    n_rounds: int
    def run(self, n_rounds: int) -> Any: ...

class Boosting(GreedyRounds):
    n_additions: int
    def __init__(self, pairs: Any, margins: Any, importances: Any, smoothing: float, is_naive: bool = ...) -> None: ...
    @property
    def loss(self) -> Any: ...

class GreedyLogLoss(GreedyRounds):
    n_scaled: int
    n_iterations: int
    n_additions: int
    def __init__(
        self, data: Any, values: Any, best: Any, smoothing: float, tolerance: float, max_iterations: int
    ) -> None: ...
    @property
    def loss(self) -> Any: ...

class RankingPerceptron:
    n_steps: int
    n_updates: int
    def __init__(self, data: Any, base: Any, best: Any) -> None: ...
    def learn(self, lists: Any) -> Any: ...
    def averaged(self) -> Any: ...
